//! Single instructions on the emulator and what clang's CPU code makes of the same inputs.

pub mod cases;
pub mod kernel;
pub mod native;

/// What an instruction finds in its registers: the layout of `In` in `meanings/meaning.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Three sources of 64, 64 and 128 bits, and the old destination of 128.
    pub words: [u32; 12],
    /// The lane's bit of the mask that is read.
    pub carry: u32,
    /// The lane's number.
    pub lane: u32,
}

/// Dwords of an input in memory.
pub const INPUT: usize = 16;
/// Dwords of an output in memory.
pub const OUTPUT: usize = 8;
/// Where the sources begin, and the old destination.
pub const SOURCES: [usize; 3] = [0, 2, 4];
/// Where the old destination begins.
pub const OLD: usize = 8;

impl Input {
    /// As it lies in memory.
    pub fn dwords(&self) -> [u32; INPUT] {
        let mut all = [0; INPUT];
        all[..12].copy_from_slice(&self.words);
        all[12] = self.carry;
        all[13] = self.lane;
        all
    }
}

/// MODE: rounding and denormals of each size, IEEE, DX10 clamp; and the modifier `clamp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// 0 nearest, 1 up, 2 down, 3 towards zero; of f32 and of the others.
    pub round: u32,
    /// Whether denormals are kept.
    pub denormals: bool,
    /// Signalling NaNs become quiet.
    pub ieee: bool,
    /// The instruction's `clamp`.
    pub clamp: bool,
}

impl Mode {
    /// To the nearest, denormals kept, IEEE.
    pub const USUAL: Mode = Mode { round: 0, denormals: true, ieee: true, clamp: false };

    /// The FP_ROUND and FP_DENORM fields.
    pub fn float_mode(&self) -> u32 {
        (self.round * 5) | if self.denormals { 0xf0 } else { 0 }
    }
}
