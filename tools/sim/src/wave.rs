//! A wavefront: its registers and its program counter.

use crate::descriptor::{Descriptor, Registers};
use crate::exec::poll::LastFound;
use crate::op::{Code, Src};
use crate::watch::Space;
use isa::Target;

/// Values of a VGPR, one dword for each lane.
pub(crate) type Lanes = [u32; 64];

/// Indices of registers in `Wave::sgpr`.
pub(crate) mod reg {
    pub(crate) const VCC: usize = 106;
    pub(crate) const M0: usize = 124;
    pub(crate) const EXEC: usize = 126;
    /// Index in `sgpr` at which FLAT_SCRATCH is kept if no operand of an instruction can name this register.
    pub(crate) const HIDDEN_FLAT_SCRATCH: usize = 192;
    /// Index in `sgpr` at which XNACK_MASK of GFX10 is kept. On GFX10, no operand of an instruction can name
    /// this register.
    pub(crate) const HIDDEN_XNACK_MASK: usize = 194;
    /// Index in `sgpr` of the value that the operand `src_lds_direct` has while the current instruction runs.
    pub(crate) const HIDDEN_LDS_DIRECT: usize = 195;
}

/// Upper half of the generic addresses of LDS (the shared aperture). The next constant is the upper half of
/// the generic addresses of scratch. ROCm sets both in `SH_MEM_BASES`.
pub(crate) const SHARED_APERTURE: u32 = 0x0001_0000;
pub(crate) const PRIVATE_APERTURE: u32 = 0x0002_0000;

/// Base address of scratch memory. Allocations never reach this address.
pub(crate) const SCRATCH_BASE: u64 = 0x7000_0000_0000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaveState {
    Ready,
    AtBarrier,
    Done,
}

/// Fields of the MODE register (Vega ISA, "Mode register"). GFX10 does not have the bits above bit 26.
pub(crate) mod mode {
    pub(crate) const DX10_CLAMP: u32 = 1 << 8;
    pub(crate) const IEEE: u32 = 1 << 9;
    /// Mask of the exceptions that call the trap handler.
    pub(crate) const EXCEPTIONS: u32 = 0x1ff << 12;
    /// Bit on GFX9 and GFX10: a result that overflows f16 becomes the largest f16 instead of an infinity.
    pub(crate) const FP16_OVERFLOW: u32 = 1 << 23;
    /// Bit on GFX8 and GFX9 that enables VGPR indexing.
    pub(crate) const GPR_IDX_EN: u32 = 1 << 27;
    /// Bit on GFX6 to GFX9: vector instructions are skipped.
    pub(crate) const VSKIP: u32 = 1 << 28;
    /// Field on GFX6 to GFX9: the depth of the stack that the `s_cbranch_*_fork` instructions use, in
    /// entries.
    pub(crate) const CSP: u32 = 7 << 29;
}

#[derive(Clone)]
pub(crate) struct Wave {
    /// Index in `Code::ops` of the instruction that runs next.
    pub(crate) pc: u32,
    /// Index of the instruction that was started last.
    pub(crate) last: u32,
    /// Index of the code range in which the program counter (`pc`) is.
    pub(crate) range: u32,
    /// Values of SGPRs and special registers, by their codes, which are below 128. Further elements are a
    /// sink that is only written (`op::SINK`), and registers that no operand can name. The array has 256
    /// elements so that an eight-bit index needs no bounds check.
    pub(crate) sgpr: [u32; 256],
    pub(crate) scc: bool,
    /// VGPRs from index 0 on, and accumulation VGPRs from index 256 on. Accumulation VGPRs exist only on some
    /// processors.
    pub(crate) vgpr: Vec<Lanes>,
    /// Numbers of VGPRs, accumulation VGPRs and SGPRs of the wave.
    pub(crate) vgprs: u16,
    pub(crate) agprs: u16,
    pub(crate) sgprs: u16,
    /// Number of lanes, 32 or 64. Each VGPR has room for 64 lanes. In a wave of 32 lanes, the upper half is
    /// never active.
    pub(crate) lanes: u32,
    /// Mask with a bit for each lane of the wave.
    all_lanes: u64,
    /// Index in `sgpr` of the first register of FLAT_SCRATCH.
    pub(crate) flat_scratch: u8,
    mode: u32,
    /// Whether f32 denormals are flushed to zero: first in sources, second in results.
    pub(crate) flush32: (bool, bool),
    /// Whether f16 and f64 denormals are flushed to zero: first in sources, second in results.
    pub(crate) flush64: (bool, bool),
    /// Whether denormal sources of any format are flushed.
    pub(crate) flushes: bool,
    pub(crate) ieee: bool,
    pub(crate) dx10_clamp: bool,
    pub(crate) fp16_overflow: bool,
    pub(crate) gpr_idx: bool,
    pub(crate) vskip: bool,
    /// Whether vector instructions must take a slower path. They must if MODE enables VGPR indexing
    /// (`gpr_idx`) or `vskip`.
    pub(crate) unusual: bool,
    /// Priority that `s_setprio` has set.
    pub(crate) priority: u8,
    /// The register TRAPSTS. Only the wave itself sets its bits, with `s_setreg`.
    pub(crate) trap_status: u32,
    /// Number of executed `s_trap 3` instructions.
    pub(crate) debug_traps: u64,
    /// Code range and index of the first `s_trap 3`.
    pub(crate) debug_trap: (u32, u32),
    pub(crate) target: &'static Target,
    /// Vector extensions of the host that the handlers may use.
    pub(crate) arch: pulp::Arch,
    pub(crate) state: WaveState,
    /// Address of this wave's scratch. The next field has the contents of the scratch: dword `n` of lane `l`
    /// has the index `lanes * n + l`.
    pub(crate) scratch_base: u64,
    pub(crate) scratch: Vec<u32>,
    /// Number of the wave in the group.
    pub(crate) id: u32,
    /// Number of waves of the group.
    pub(crate) group_waves: u32,
    /// Position of the group in the order in which groups start.
    pub(crate) group_number: u64,
    /// Whether the waves of the group may run on both compute units of a work-group processor.
    pub(crate) wgp_mode: bool,
    /// Results of the wave's last atomics and polling loads. From these, `exec::poll` sees whether the wave
    /// waits in a loop.
    pub(crate) found: LastFound,
    /// The last change of memory by an atomic of the wave: kind of memory, address, and lane. `None` if no
    /// atomic has changed memory. The next field counts these changes.
    pub(crate) changed: Option<(Space, u64, u32)>,
    pub(crate) changes: u32,
}

impl Wave {
    /// Returns a copy of the wave without its scratch memory.
    pub(crate) fn without_scratch(&self) -> Wave {
        Wave { scratch: Vec::new(), vgpr: self.vgpr.clone(), ..*self }
    }

    pub(crate) fn new(id: u32, descriptor: &Descriptor, target: &'static Target) -> Wave {
        let Registers { vgprs, agprs, sgprs } = descriptor.registers(target);
        let places = if agprs == 0 { vgprs } else { 256 + agprs };
        let mut wave = Wave {
            pc: 0,
            last: 0,
            range: 0,
            sgpr: [0; 256],
            scc: false,
            vgpr: vec![[0; 64]; usize::from(places)],
            vgprs,
            agprs,
            sgprs,
            lanes: target.wave_size,
            all_lanes: u64::MAX >> (64 - target.wave_size),
            flat_scratch: match target.arch.registers.flat_scratch {
                Some(register) => register.0 as u8,
                None => reg::HIDDEN_FLAT_SCRATCH as u8,
            },
            mode: 0,
            flush32: (false, false),
            flush64: (false, false),
            flushes: false,
            ieee: false,
            dx10_clamp: false,
            fp16_overflow: false,
            gpr_idx: false,
            vskip: false,
            unusual: false,
            priority: 0,
            trap_status: 0,
            debug_traps: 0,
            debug_trap: (0, 0),
            target,
            arch: pulp::Arch::new(),
            state: WaveState::Ready,
            scratch_base: SCRATCH_BASE,
            scratch: Vec::new(),
            id,
            group_waves: 1,
            group_number: 0,
            wgp_mode: descriptor.wgp_mode(),
            found: LastFound::default(),
            changed: None,
            changes: 0,
        };
        let clamp = if descriptor.dx10_clamp() { mode::DX10_CLAMP } else { 0 };
        let ieee = if descriptor.ieee_mode() { mode::IEEE } else { 0 };
        let has_overflow = target.arch.mode.fp16_overflow && descriptor.fp16_overflow();
        let overflow = if has_overflow { mode::FP16_OVERFLOW } else { 0 };
        wave.set_mode(descriptor.float_mode() | clamp | ieee | overflow);
        wave
    }

    /// Returns whether this state of the wave equals another one in everything that decides how the wave
    /// continues.
    pub(crate) fn is_as(&self, other: &Wave) -> bool {
        let place = |wave: &Wave| (wave.range, wave.pc, wave.scc, wave.mode, wave.trap_status);
        place(self) == place(other)
            && self.sgpr == other.sgpr
            && self.vgpr == other.vgpr
            && self.scratch == other.scratch
    }

    /// Makes this wave a copy of another wave. Reuses the memory in which this wave has its registers and
    /// scratch.
    pub(crate) fn begin_as(&mut self, other: &Wave) {
        let (mut vgpr, mut scratch) = (std::mem::take(&mut self.vgpr), std::mem::take(&mut self.scratch));
        vgpr.clone_from(&other.vgpr);
        scratch.clone_from(&other.scratch);
        *self = Wave { vgpr, scratch, ..*other };
    }

    pub(crate) fn mode(&self) -> u32 {
        self.mode
    }

    /// Writes MODE. Also updates the fields of the wave that repeat parts of MODE, which exist because these
    /// parts are read often.
    pub(crate) fn set_mode(&mut self, mode: u32) {
        self.mode = mode;
        // The pair says whether denormals are flushed in sources and in results. The encoding is that of
        // LLVM's AMDGPU guide (seed 000, "Floating Point Denorm Mode Enumeration Values").
        let flush = |bits: u32| match bits & 3 {
            0 => (true, true),
            1 => (false, true),
            2 => (true, false),
            _ => (false, false),
        };
        self.flush32 = flush(mode >> 4);
        self.flush64 = flush(mode >> 6);
        self.flushes = self.flush32.0 || self.flush64.0;
        self.dx10_clamp = mode & mode::DX10_CLAMP != 0;
        self.ieee = mode & mode::IEEE != 0;
        let has = &self.target.arch.mode;
        self.fp16_overflow = has.fp16_overflow && mode & mode::FP16_OVERFLOW != 0;
        self.gpr_idx = has.gpr_idx && mode & mode::GPR_IDX_EN != 0;
        self.vskip = has.vskip && mode & mode::VSKIP != 0;
        self.unusual = self.gpr_idx || self.vskip;
    }

    /// Returns the mask of active lanes.
    #[inline(always)]
    pub(crate) fn exec(&self) -> u64 {
        self.pair(reg::EXEC) & self.all_lanes
    }

    #[inline(always)]
    pub(crate) fn vcc(&self) -> u64 {
        self.pair(reg::VCC) & self.all_lanes
    }

    /// Sets the mask of active lanes. In a wave of 32 lanes, EXEC_HI is an ordinary register and keeps its
    /// value.
    pub(crate) fn set_exec(&mut self, mask: u64) {
        self.set_mask(reg::EXEC, mask);
    }

    /// Returns the value of FLAT_SCRATCH. The processor's family decides where the value is kept.
    pub(crate) fn flat_scratch(&self) -> u64 {
        self.pair(usize::from(self.flat_scratch))
    }

    /// Writes a scalar destination of 32 bits.
    #[inline(always)]
    pub(crate) fn set_scalar(&mut self, code: u16, value: u32) {
        self.sgpr[usize::from(code & 255)] = value;
    }

    #[inline(always)]
    pub(crate) fn pair(&self, code: usize) -> u64 {
        u64::from(self.sgpr[code & 255]) | u64::from(self.sgpr[(code + 1) & 255]) << 32
    }

    #[inline(always)]
    pub(crate) fn set_pair(&mut self, code: usize, value: u64) {
        self.sgpr[code & 255] = value as u32;
        self.sgpr[(code + 1) & 255] = (value >> 32) as u32;
    }

    /// Writes a lane mask to a pair of SGPRs. In a wave of 32 lanes, writes it to one SGPR.
    #[inline(always)]
    pub(crate) fn set_mask(&mut self, code: usize, mask: u64) {
        self.sgpr[code & 255] = mask as u32;
        if self.lanes == 64 {
            self.sgpr[(code + 1) & 255] = (mask >> 32) as u32;
        }
    }

    /// Returns the value of a source operand that is a lane mask.
    #[inline(always)]
    pub(crate) fn mask(&self, src: Src) -> u64 {
        self.scalar64(src) & self.all_lanes
    }

    /// Returns the 32-bit value of a scalar source. If the source is a VGPR, returns the value of the first
    /// active lane.
    pub(crate) fn scalar(&self, src: Src) -> u32 {
        match src {
            Src::S(code) => self.sgpr[usize::from(code)],
            Src::K(value) => value as u32,
            Src::V(code) => self.vgpr.get(usize::from(code)).map_or(0, |lanes| lanes[self.first_lane()]),
            Src::Special(code) => self.special(code) as u32,
            Src::None => 0,
        }
    }

    /// Returns the 64-bit value of a scalar source.
    pub(crate) fn scalar64(&self, src: Src) -> u64 {
        match src {
            Src::S(code) => self.pair(usize::from(code)),
            Src::K(value) => value,
            Src::V(_) => u64::from(self.scalar(src)),
            Src::Special(code) => self.special(code),
            Src::None => 0,
        }
    }

    fn special(&self, code: u16) -> u64 {
        let aperture = |high: u32| u64::from(high) << 32;
        match code {
            235 => aperture(SHARED_APERTURE),
            236 => aperture(SHARED_APERTURE) | 0xffff_ffff,
            237 => aperture(PRIVATE_APERTURE),
            238 => aperture(PRIVATE_APERTURE) | 0xffff_ffff,
            251 => u64::from(self.vcc() == 0),
            252 => u64::from(self.exec() == 0),
            253 => u64::from(self.scc),
            _ => 0,
        }
    }

    /// Returns the lowest active lane, or 0 if no lane is active.
    pub(crate) fn first_lane(&self) -> usize {
        match self.exec() {
            0 => 0,
            exec => exec.trailing_zeros() as usize,
        }
    }

    /// Returns the address of the next instruction.
    pub(crate) fn next_address(&self, code: &[Code]) -> u64 {
        code.get(self.range as usize).map_or(0, |range| range.base.wrapping_add(u64::from(self.pc) * 4))
    }

    /// Sets the program counter to an address. Returns whether there is code at this address.
    pub(crate) fn jump(&mut self, code: &[Code], address: u64) -> bool {
        for (range, code) in code.iter().enumerate() {
            if let Some(index) = code.index(address) {
                (self.range, self.pc) = (range as u32, index);
                return true;
            }
        }
        false
    }
}

/// Expands a lane mask: each bit becomes a dword that is all-ones or zero. The function is inlined, like
/// [`collect`], into code that is compiled for the host's vector extensions.
#[inline(always)]
pub(crate) fn expand(mask: u64) -> Lanes {
    let mut lanes = [0; 64];
    let (low, high) = lanes.split_at_mut(32);
    for (half, bits) in [(low, mask as u32), (high, (mask >> 32) as u32)] {
        for (lane, value) in half.iter_mut().enumerate() {
            *value = 0u32.wrapping_sub(bits >> lane & 1);
        }
    }
    lanes
}

/// Calls [`expand`] with the host's vector extensions. This function is for callers that are not compiled for
/// these extensions.
pub(crate) fn expand_on(arch: pulp::Arch, mask: u64) -> Lanes {
    arch.dispatch(|| expand(mask))
}

/// Returns the mask of the lanes whose dword is not zero.
#[inline(always)]
pub(crate) fn collect(lanes: &Lanes) -> u64 {
    let mut halves = [0u32; 2];
    for (half, bits) in halves.iter_mut().enumerate() {
        for lane in 0..32 {
            *bits |= u32::from(lanes[half * 32 + lane] != 0) << lane;
        }
    }
    u64::from(halves[0]) | u64::from(halves[1]) << 32
}

/// Number of lanes in a row. The hardware processes the lanes of a row at the same time.
pub(crate) const ROW: usize = 16;

/// How the values in the lanes of a row are related. A row is 16 lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// The lanes of this row have the same values as the lanes of the previous row.
    Again,
    /// All lanes have the same value.
    One,
    Each,
}

/// Finds out for each row of 16 lanes how the values of its lanes are related. The caller uses this for
/// addresses, which often repeat those of the previous row, or are the same in a whole row.
pub(crate) fn rows(lanes: &Lanes) -> [Row; 64 / ROW] {
    let mut before: &[u32] = &[];
    std::array::from_fn(|row| {
        let lanes = &lanes[row * ROW..(row + 1) * ROW];
        let again = std::mem::replace(&mut before, lanes) == lanes;
        match lanes.iter().fold(0, |apart, lane| apart | lane ^ lanes[0]) {
            _ if again => Row::Again,
            0 => Row::One,
            _ => Row::Each,
        }
    })
}

/// Iterator over the numbers of the lanes in a mask.
pub(crate) struct ActiveLanes(pub(crate) u64);

impl Iterator for ActiveLanes {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lane = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_round_trip() {
        for mask in [0, 1, !0, 0x8000_0001_0000_0003, 0xaaaa_5555_0f0f_f0f0] {
            assert_eq!(collect(&expand(mask)), mask);
            assert_eq!(ActiveLanes(mask).fold(0, |bits, lane| bits | 1u64 << lane), mask);
        }
    }

    #[test]
    fn rows_are_told_apart() {
        let of = |lane: fn(usize) -> usize| rows(&std::array::from_fn(|at| lane(at) as u32));
        assert_eq!(of(|_| 7), [Row::One, Row::Again, Row::Again, Row::Again]);
        assert_eq!(of(|lane| lane / 16), [Row::One; 4]);
        assert_eq!(of(|lane| lane % 16), [Row::Each, Row::Again, Row::Again, Row::Again]);
        assert_eq!(of(|lane| lane), [Row::Each; 4]);
        assert_eq!(of(|lane| if lane == 63 { 1 } else { 0 })[3], Row::Each);
    }
}
