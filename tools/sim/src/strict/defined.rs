//! Tracks which bits of registers are undefined (were never written), and how undefined bits propagate
//! through instructions.
//!
//! Each VGPR has a mask of the lanes that hold undefined bits; the bits themselves are stored only for these
//! lanes. If all inputs of an instruction are defined, its results are defined as well. This is so for nearly
//! all executed instructions, so the check is cheap.
//!
//! If an active lane has an undefined input, the emulator's handler of the instruction runs several times
//! with different patterns in the undefined bits. A result bit that differs between these runs depends on an
//! undefined bit, and becomes undefined itself. This has three advantages. No instruction needs a second
//! implementation for undefined values. Moves and masks of partly undefined values are tracked bit by bit.
//! And every dependence that is reported was observed in such a run.

use super::touch::{Class, Plain, Runs, Touch};
use crate::exec::{Cx, Flow};
use crate::op::{Op, Src};
use crate::wave::{ActiveLanes, Lanes};

/// Number of trial runs of an instruction's handler. Each run has different values in the undefined bits of
/// the inputs: see [`Filler`].
const TRIALS: u32 = 6;
/// Maximum number of VGPRs that are saved before the trial runs and restored after them. This is enough for a
/// matrix instruction. If an instruction accesses more VGPRs, its results are taken as defined.
const MAX_REGISTERS: usize = 72;

/// Says which bits of a wave's registers are defined.
pub(super) struct Defined {
    /// For each VGPR, the lanes that have undefined bits.
    vector: Vec<u64>,
    /// The undefined bits in the lanes of VGPRs. They are valid only for the lanes in the masks of the field
    /// `vector`.
    vector_bits: Vec<Lanes>,
    /// Mask of the SGPRs that have undefined bits.
    scalar: u128,
    /// The undefined bits of SGPRs. They are valid only for the registers in the mask `scalar`.
    scalar_bits: [u32; 128],
    scc: bool,
    /// Why VGPRs are undefined, for reports. The next fields are the same for SGPRs and SCC.
    vector_from: Vec<Origin>,
    scalar_from: [Origin; 128],
    scc_from: Origin,
}

/// Why a value is undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Origin {
    /// The program has never written the value.
    #[default]
    Unwritten,
    /// The value was undefined in memory, and the load at this code position has loaded it.
    Load(u32),
    /// A call has changed the register. The number is an index in `Calls::changes`, the list of all registers
    /// of the wave that calls have changed.
    Call(u32),
    /// The instruction at this code position has read the value from a lane that was inactive, so that the
    /// value is arbitrary.
    Inactive(u32),
}

/// What depends on an undefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depends {
    /// The direction of control flow, such as that of a branch.
    Control,
    /// The mask of active lanes, EXEC.
    Exec,
}

impl Defined {
    /// Creates the state in which all registers are undefined.
    pub(super) fn new(vgprs: usize) -> Defined {
        Defined {
            vector: vec![u64::MAX; vgprs],
            vector_bits: vec![[u32::MAX; 64]; vgprs],
            scalar: u128::MAX >> 2,
            scalar_bits: [u32::MAX; 128],
            scc: true,
            vector_from: vec![Origin::Unwritten; vgprs],
            scalar_from: [Origin::Unwritten; 128],
            scc_from: Origin::Unwritten,
        }
    }

    /// Records why a loaded VGPR is undefined.
    pub(super) fn loaded(&mut self, register: usize, origin: Origin) {
        if let Some(from) = self.vector_from.get_mut(register) {
            *from = origin;
        }
    }

    /// Marks an SGPR as undefined because a call has changed it.
    pub(super) fn lose_scalar(&mut self, code: usize, change: u32) {
        self.set_scalar_bits(code, u32::MAX);
        self.scalar_from[code] = Origin::Call(change);
    }

    /// Marks SCC as undefined because a call has changed it.
    pub(super) fn lose_scc(&mut self, change: u32) {
        (self.scc, self.scc_from) = (true, Origin::Call(change));
    }

    /// Marks the given lanes of a VGPR as undefined, because the instruction at code position `place` has
    /// read their values from inactive lanes.
    pub(super) fn take_inactive(&mut self, register: usize, lanes: u64, place: u32) {
        for lane in ActiveLanes(lanes) {
            self.set_vector_bits(register, lane, u32::MAX);
        }
        self.loaded(register, Origin::Inactive(place));
    }

    /// Marks the given lanes of a VGPR as undefined, because a call has changed them. `change` is the index
    /// of the change in `Calls::changes`.
    pub(super) fn lose_vector(&mut self, register: usize, lanes: u64, change: u32) {
        for lane in ActiveLanes(lanes) {
            self.set_vector_bits(register, lane, u32::MAX);
        }
        self.loaded(register, Origin::Call(change));
    }

    /// Returns why a VGPR is undefined.
    pub(super) fn vector_origin(&self, register: usize) -> Origin {
        self.vector_from.get(register).copied().unwrap_or_default()
    }

    /// Returns why an input of an instruction is undefined: the cause of the first register that the
    /// instruction reads and that has undefined bits in one of `lanes`.
    pub(super) fn origin(&self, touch: &Touch, lanes: u64) -> Origin {
        let scalars = touch.scalar_address | touch.scalar_reads;
        let vector =
            |runs| self.undefined_vector(runs, lanes).map(|(register, _)| self.vector_from[register]);
        let from = self
            .undefined_scalar(scalars)
            .map(|code| self.scalar_from[code as usize])
            .or_else(|| vector(&touch.address))
            .or_else(|| vector(&touch.reads))
            .or_else(|| (self.scc && touch.reads_scc).then_some(self.scc_from));
        from.unwrap_or_default()
    }

    pub(super) fn define_vector(&mut self, register: usize, lanes: u64) {
        if let Some(undefined) = self.vector.get_mut(register) {
            *undefined &= !lanes;
        }
    }

    pub(super) fn define_scalars(&mut self, bits: u128) {
        self.scalar &= !bits;
    }

    pub(super) fn set_vector_bits(&mut self, register: usize, lane: usize, bits: u32) {
        let Some(undefined) = self.vector.get_mut(register) else { return };
        if bits == 0 {
            *undefined &= !(1 << lane);
        } else {
            *undefined |= 1 << lane;
            self.vector_bits[register][lane] = bits;
        }
    }

    /// Returns the undefined bits of a lane of a VGPR.
    pub(super) fn vector_bits(&self, register: usize, lane: usize) -> u32 {
        match self.vector.get(register) {
            Some(undefined) if undefined >> lane & 1 != 0 => self.vector_bits[register][lane],
            _ => 0,
        }
    }

    /// Returns the undefined bits of an SGPR.
    pub(super) fn scalar_bits(&self, code: usize) -> u32 {
        match code < 128 && self.scalar >> code & 1 != 0 {
            true => self.scalar_bits[code],
            false => 0,
        }
    }

    fn set_scalar_bits(&mut self, code: usize, bits: u32) {
        if bits == 0 {
            self.scalar &= !(1 << code);
        } else {
            self.scalar |= 1 << code;
            self.scalar_bits[code] = bits;
        }
    }

    /// Searches the VGPRs in `runs`, which is a list of ranges, for one that has an undefined bit in one of
    /// `lanes`. Returns the first such VGPR and the number of the lane.
    pub(super) fn undefined_vector(&self, runs: &Runs, lanes: u64) -> Option<(usize, u32)> {
        runs.registers().find_map(|register| {
            let found = self.vector.get(register)? & lanes;
            (found != 0).then(|| (register, found.trailing_zeros()))
        })
    }

    /// Returns the first SGPR that has an undefined bit.
    pub(super) fn undefined_scalar(&self, registers: u128) -> Option<u32> {
        let found = self.scalar & registers;
        (found != 0).then(|| found.trailing_zeros())
    }

    /// Updates which registers are undefined. Must be called before the instruction runs, and only for
    /// instructions that do not access memory. Returns an error if control flow or EXEC depends on an
    /// undefined value; the error says which of the two.
    #[inline]
    pub(super) fn step(&mut self, cx: &mut Cx<'_>, op: &Op, touch: &Touch) -> Option<Depends> {
        let exec = cx.wave.exec();
        let lanes = touch.lanes_read(exec);
        let mut undefined = 0;
        for register in touch.reads.registers() {
            undefined |= self.vector.get(register).copied().unwrap_or(0) & lanes;
        }
        let scalars = self.scalar & touch.scalar_reads != 0 || self.scc && touch.reads_scc;
        if undefined == 0 && !scalars {
            self.define_results(touch, exec);
            return None;
        }
        self.try_out(cx, op, touch)
    }

    /// Updates which registers are undefined, for a plain instruction (see [`Plain`]). If all inputs of the
    /// instruction are defined, marks its results as defined and returns true. Otherwise returns false, and
    /// changes nothing.
    #[inline(always)]
    pub(super) fn step_plain(&mut self, plain: &Plain, exec: u64) -> bool {
        let mut undefined = 0;
        for register in plain.reads {
            undefined |= self.vector.get(usize::from(register)).copied().unwrap_or(0);
        }
        let scalars = self.scalar & plain.scalar_reads != 0 || self.scc && plain.reads_scc;
        if undefined & exec != 0 || scalars {
            return false;
        }
        for register in plain.writes {
            self.define_vector(usize::from(register), exec);
        }
        self.scalar &= !plain.scalar_writes;
        self.scc &= !plain.writes_scc;
        true
    }

    /// Marks all results of an instruction as defined.
    #[inline]
    pub(super) fn define_results(&mut self, touch: &Touch, exec: u64) {
        let lanes = if touch.ignores_exec { u64::MAX } else { exec };
        for register in touch.writes.registers() {
            self.define_vector(register, lanes);
        }
        self.scalar &= !touch.scalar_writes;
        self.scc &= !touch.writes_scc;
    }

    #[cold]
    fn try_out(&mut self, cx: &mut Cx<'_>, op: &Op, touch: &Touch) -> Option<Depends> {
        let exec = cx.wave.exec();
        match touch.class {
            Class::Jump => return Some(Depends::Control),
            Class::Pure | Class::Branch if self.count(touch) <= MAX_REGISTERS => {}
            _ => {
                self.define_results(touch, exec);
                return None;
            }
        }
        let trials = self.run_trials(cx, op, touch);
        let from = self.origin(touch, touch.lanes_read(exec));
        let lanes = if touch.ignores_exec { u64::MAX } else { exec };
        for (register, differs) in touch.writes.registers().zip(&trials.vectors) {
            for lane in ActiveLanes(lanes) {
                self.set_vector_bits(register, lane, differs[lane]);
            }
            if let Some(place) = self.vector_from.get_mut(register) {
                *place = from;
            }
        }
        for code in Codes(touch.scalar_writes) {
            self.set_scalar_bits(code, trials.scalars[code]);
            self.scalar_from[code] = from;
        }
        if touch.writes_scc {
            (self.scc, self.scc_from) = (trials.scc, from);
        }
        if touch.writes_exec && self.scalar & super::touch::EXEC_BITS != 0 {
            self.scalar &= !super::touch::EXEC_BITS;
            return Some(Depends::Exec);
        }
        trials.control.then_some(Depends::Control)
    }

    fn count(&self, touch: &Touch) -> usize {
        touch.reads.registers().count() + touch.writes.registers().count()
    }

    fn run_trials(&self, cx: &mut Cx<'_>, op: &Op, touch: &Touch) -> Trials {
        let registers: Vec<usize> = touch.reads.registers().chain(touch.writes.registers()).collect();
        let saved = Saved::take(cx, &registers);
        let mut trials = Trials::default();
        let mut first: Option<Outcome> = None;
        for trial in 0..TRIALS {
            self.set_inputs(cx, op, touch, &saved, trial);
            // The trial ignores the offsets of VGPR indexing. This is correct because no trials are made for
            // instructions with VGPR indexing, which have the class `Indexed`.
            let flow = (op.run)(cx, op);
            cx.trap = None;
            let outcome = Outcome::take(cx, touch, flow);
            match &first {
                Some(first) => trials.compare(first, &outcome, touch),
                None => first = Some(outcome),
            }
            saved.restore(cx, &registers);
        }
        trials
    }

    fn set_inputs(&self, cx: &mut Cx<'_>, op: &Op, touch: &Touch, saved: &Saved, trial: u32) {
        let filler = Filler { trial, op };
        for (register, part) in touch.reads.parts() {
            let undefined = self.vector.get(register).copied().unwrap_or(0);
            if register >= cx.wave.vgpr.len() {
                continue;
            }
            for lane in ActiveLanes(undefined) {
                let bits = self.vector_bits[register][lane];
                let value = filler.value(cx, register * 64 + lane, part, lane);
                let place = &mut cx.wave.vgpr[register][lane];
                *place = *place & !bits | value & bits;
            }
        }
        for code in Codes(touch.scalar_reads & self.scalar) {
            let (old, bits) = (saved.scalars[code], self.scalar_bits[code]);
            let value = filler.value(cx, 1 << 16 | code, code & 1, 0);
            cx.wave.sgpr[code] = old & !bits | value & bits;
        }
        if self.scc && touch.reads_scc {
            cx.wave.scc = trial & 1 != 0;
        }
    }
}

/// Chooses the values that the undefined input bits get in one trial run of an instruction's handler. One
/// trial uses zeros, one uses ones, and two use mixed patterns. The other trials use the values of the
/// instruction's other sources, so that a comparison for equality is true in some trial.
struct Filler<'a> {
    trial: u32,
    op: &'a Op,
}

impl Filler<'_> {
    /// Returns the value that undefined bits get in a trial run, in dword `part` of a source.
    fn value(&self, cx: &Cx<'_>, place: usize, part: usize, lane: usize) -> u32 {
        let mixed = (place as u32 + 1).wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
        let source = match self.trial {
            0 => return 0,
            1 => return u32::MAX,
            2 => return mixed,
            3 => return !mixed,
            trial => self.op.src[trial as usize - 4],
        };
        match source {
            Src::V(register) => {
                cx.wave.vgpr.get(usize::from(register) + part).map_or(0, |values| values[lane])
            }
            Src::S(code) => cx.wave.sgpr[(usize::from(code) + part) & 127],
            Src::K(value) => value.checked_shr(32 * part as u32).unwrap_or(0) as u32,
            _ => mixed.rotate_left(7),
        }
    }
}

/// Iterator over the numbers of the set bits.
struct Codes(u128);

impl Iterator for Codes {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let code = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (code < 128).then_some(code as usize)
    }
}

/// Returns the values of the scalar registers whose definedness is tracked.
fn first_scalars(cx: &Cx<'_>) -> [u32; 128] {
    let mut scalars = [0; 128];
    scalars.copy_from_slice(&cx.wave.sgpr[..128]);
    scalars
}

/// Registers that are saved before the trial runs.
struct Saved {
    vectors: Vec<Lanes>,
    scalars: [u32; 128],
    scc: bool,
    pc: u32,
    range: u32,
}

impl Saved {
    fn take(cx: &Cx<'_>, registers: &[usize]) -> Saved {
        let vector = |&register: &usize| cx.wave.vgpr.get(register).copied().unwrap_or([0; 64]);
        Saved {
            vectors: registers.iter().map(vector).collect(),
            scalars: first_scalars(cx),
            scc: cx.wave.scc,
            pc: cx.wave.pc,
            range: cx.wave.range,
        }
    }

    fn restore(&self, cx: &mut Cx<'_>, registers: &[usize]) {
        for (&register, values) in registers.iter().zip(&self.vectors) {
            if let Some(place) = cx.wave.vgpr.get_mut(register) {
                *place = *values;
            }
        }
        cx.wave.sgpr[..128].copy_from_slice(&self.scalars);
        (cx.wave.scc, cx.wave.pc, cx.wave.range) = (self.scc, self.pc, self.range);
    }
}

/// The results of a trial run.
struct Outcome {
    vectors: Vec<Lanes>,
    scalars: [u32; 128],
    scc: bool,
    place: (u32, u32),
    flow: Flow,
}

impl Outcome {
    fn take(cx: &Cx<'_>, touch: &Touch, flow: Flow) -> Outcome {
        let vector = |register: usize| cx.wave.vgpr.get(register).copied().unwrap_or([0; 64]);
        Outcome {
            vectors: touch.writes.registers().map(vector).collect(),
            scalars: first_scalars(cx),
            scc: cx.wave.scc,
            place: (cx.wave.range, cx.wave.pc),
            flow,
        }
    }
}

/// The result bits that differ between trial runs, and therefore depend on undefined bits.
struct Trials {
    vectors: Vec<Lanes>,
    scalars: [u32; 128],
    scc: bool,
    control: bool,
}

impl Default for Trials {
    fn default() -> Trials {
        Trials { vectors: Vec::new(), scalars: [0; 128], scc: false, control: false }
    }
}

impl Trials {
    fn compare(&mut self, first: &Outcome, other: &Outcome, touch: &Touch) {
        self.vectors.resize(first.vectors.len(), [0; 64]);
        for ((differs, one), two) in self.vectors.iter_mut().zip(&first.vectors).zip(&other.vectors) {
            for lane in 0..64 {
                differs[lane] |= one[lane] ^ two[lane];
            }
        }
        for code in Codes(touch.scalar_writes) {
            self.scalars[code] |= first.scalars[code] ^ other.scalars[code];
        }
        self.scc |= first.scc != other.scc;
        self.control |= first.place != other.place || first.flow != other.flow;
    }
}

impl Defined {
    /// Returns the name of the first register that an instruction reads and that has undefined bits in one of
    /// the lanes of `exec`. Error messages use the name.
    pub(super) fn name_undefined(&self, touch: &Touch, exec: u64) -> String {
        let lanes = touch.lanes_read(exec);
        if let Some(code) = self.undefined_scalar(touch.scalar_reads) {
            return super::findings::scalar_name(code);
        }
        match self.undefined_vector(&touch.reads, lanes) {
            Some((register, _)) => super::findings::vector_name(register),
            None => "scc".into(),
        }
    }
}
