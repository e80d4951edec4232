//! Single instructions on the emulator and what clang's CPU code makes of the same inputs.

#![allow(dead_code)] // each test uses a part

pub mod cases;
pub mod compare;
pub mod harness;
pub mod kernel;
pub mod model;
pub mod native;
pub mod output;
pub mod rows;
pub mod scalar_kernel;
pub mod shuffle;
pub mod variant;

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

/// MODE: rounding and denormals, IEEE, DX10 clamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// The FP_ROUND and FP_DENORM fields: rounding of f32 and of the others, 0 nearest, 1 up, 2 down, 3 towards zero; a bit
    /// each for denormals of f32 as inputs and outputs, and of the others.
    pub float: u32,
    /// Signalling NaNs become quiet.
    pub ieee: bool,
    /// `clamp` makes zero of NaN.
    pub dx10: bool,
    /// FP16_OVFL (GFX9 and later): finite f16 results do not become infinite.
    pub fp16_overflow: bool,
}

impl Mode {
    /// To the nearest, denormals kept, IEEE.
    pub const USUAL: Mode = Mode { float: 0xf0, ieee: true, dx10: true, fp16_overflow: false };

    /// Whether results of that many bits may be denormals.
    pub fn keeps_output_denormals(self, bits: u32) -> bool {
        self.float >> if bits == 32 { 5 } else { 7 } & 1 != 0
    }
}
