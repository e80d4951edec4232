//! Strict mode: a shadow of the emulated state that finds errors which hardware often hides.
//!
//! The handlers in `exec` execute the instructions in this mode, too. Strict mode observes them: it is called
//! before and after each instruction, and at each access to memory.
//!
//! | file | finds |
//! |---|---|
//! | `hazards` | registers in flight, wait states: the scoreboard of crate `check` |
//! | `defined` | dependence on registers, LDS or scratch that were never written |
//! | `races`, `whole`, `lds` | accesses of two waves without order; reads of stale cached data |
//! | `order`, `cells`, `marks`, `polls`, `late` | (state and rules that `races` uses) |
//! | `meetings` | (memory that several groups use, in runs on several threads) |
//! | `lanes`, `flow` | accesses of lanes of one wave without order |
//! | `transfers` | accesses to LDS by a wave whose loads to LDS, or stores from LDS, are in flight |
//! | `writeback` | scalar stores that stay in the scalar cache |
//! | `calls` | functions that do not preserve registers; uses of registers that a call has changed |
//! | `scramble` | uses of registers that a call may change but happens to preserve |
//! | `restricts` | accesses to one location through two arguments, one of which is `restrict` |
//! | `bounds` | accesses that are out of range of a buffer resource |
//! | `access` | misaligned accesses, missing set-up of M0 and FLAT_SCRATCH |
//! | `report` | (the form of findings) |
//! | `reading` | (the code, decoded once for all dispatches) |
//!
//! `docs/strict-mode.md` describes the rules and their limits.

mod access;
mod barrier;
mod bounds;
mod calls;
mod cells;
mod clock;
mod defined;
mod findings;
mod flight;
mod flow;
mod hazards;
mod lanes;
mod late;
mod lds;
mod marks;
mod meetings;
mod order;
mod polls;
mod races;
mod reading;
mod report;
mod restricts;
mod rules;
mod scramble;
mod start;
mod touch;
mod transfers;
mod whole;
mod writeback;

pub use check::Level;
pub use report::{FaultClass, Report};
pub use rules::{Rule, rules};
pub use scramble::{Agreement, Scramble};

pub(crate) use calls::{Link, Rules as CallRules};
pub(crate) use findings::split_place;
pub(crate) use marks::Marks;
pub(crate) use reading::Reading;
pub(crate) use restricts::Restricts;
pub(crate) use start::{Shape, Shared};

use crate::debug::Dword;
use crate::exec::{Cx, Flow, dpp, ds_lanes};
use crate::fault::{Access, Trap};
use crate::launch::Launch;
use crate::memory::Memory;
use crate::op::Op;
use crate::watch::{CacheOp, MemAccess, OutOfRange, Space, Watch};
use crate::wave::Lanes;
use barrier::Barrier;
use calls::{Calls, Transfer};
use cells::{LdsAtomics, LdsCell, LdsWrite, Stamp};
use defined::{Defined, Depends, Origin};
use findings::Finding;
use isa::ModFlags;
use lanes::{Stored, Together};
use meetings::Use;
use order::{Handed, Order};
use restricts::Labels;
use std::collections::HashMap;
use touch::{Class, Plain, Shuffle, Touch};

/// How a dispatch is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Fast mode: every instruction completes at once, and nothing is checked.
    #[default]
    Fast,
    /// Strict mode: the run is checked for errors that hardware often hides.
    Strict {
        /// Whether the run continues after a finding.
        keep_going: bool,
    },
    /// Weak mode: the memory system behaves as loosely as the hardware may. Caches hold stale data, and
    /// memory operations complete out of order, as a random generator chooses (`docs/weak-memory.md`). The
    /// whole dispatch runs on one host thread, so that the same seed gives the same run on every host.
    Weak {
        /// Seed of the random generator that makes all choices.
        seed: u64,
    },
}

impl Mode {
    /// Strict mode that ends with the first finding.
    pub const STRICT: Mode = Mode::Strict { keep_going: false };
}

/// The shadow state of a wave.
pub(crate) struct WaveShadow {
    defined: Defined,
    order: Order,
    board: check::Scoreboard,
    /// Undefined bits of the wave's scratch, for each dword.
    scratch: Vec<u32>,
    /// Whether the wave has written FLAT_SCRATCH. Only used on GFX10, where FLAT_SCRATCH is not an SGPR, so
    /// that `defined` does not track it.
    flat_scratch: bool,
    barrier: Barrier,
    calls: Calls,
    together: Together,
    /// For each register, the pointer arguments from which its value is computed. `None` if `restrict`
    /// pointers are not checked.
    labels: Option<Labels>,
    /// Dwords of scratch to which the program has saved a register that a call had changed before. The keys
    /// are indices of dwords, and the values name the call. A load from one of these dwords makes its
    /// destination undefined.
    lost_scratch: HashMap<u32, Origin>,
}

/// The shadow state of a group.
pub(crate) struct GroupShadow {
    waves: Vec<WaveShadow>,
    /// Shadow cells of LDS, which hold the last accesses to each dword. This vector, `lds_writes`,
    /// `lds_atomics` and `lds_bits` have one element for each dword of LDS.
    lds: Vec<LdsCell>,
    lds_writes: Vec<LdsWrite>,
    lds_atomics: Vec<LdsAtomics>,
    /// Undefined bits of each dword of LDS.
    lds_bits: Vec<u32>,
    /// What atomics on each dword of LDS have released: the knowledge of which operations of other waves are
    /// complete. A wave that acquires the dword learns this.
    lds_releases: Vec<Option<Box<Handed>>>,
    /// The instruction and the wave that have last changed a dword of LDS, for the dwords that atomics use.
    /// Keys are byte addresses.
    lds_changes: HashMap<u64, Change>,
    /// Whether a finding about LDS is kept until the end of the dispatch. It is kept because a later access
    /// may show that it is harmless (see `late`).
    lds_waits: bool,
    /// Number of the group's first wave.
    first_wave: u32,
    now: Now,
    findings: Vec<Finding>,
}

/// The last change of a dword: the code position of the instruction that made the change, and the number of
/// its wave (counted from 1).
type Change = (u32, u32);

/// What the checks know about the current instruction.
struct Now {
    wave: usize,
    /// Code position of the instruction: see [`findings::code_position`].
    place: u32,
    /// Number that the current instruction has among the wave's memory operations.
    number: u32,
    m0: u32,
    /// Stamp of the current instruction for an access to a whole dword. A stamp is what a shadow cell records
    /// about an access.
    stamp: Stamp,
    /// The last write to LDS of which the check has shown that it happened before the current instruction.
    /// Dwords that the same write has stored need no further check.
    ordered: Stamp,
    /// How often atomics of the wave had changed memory when the current instruction began. If the number is
    /// larger after the instruction, the instruction has changed memory.
    changes: u32,
    /// Address that the first active lane reads.
    first_read: Option<u64>,
    /// For each lane, how many bytes of the instruction's data the checks have already processed. The handler
    /// may report one access in several parts, and the next part continues there.
    cursor: [u16; 64],
    /// Whether all data that the instruction stores is defined.
    data_defined: bool,
    /// Bits that the instruction has loaded from memory and that are undefined. Each entry has the lane, the
    /// byte offset in the loaded data, the number of bytes, the mask of undefined bits, and the cause.
    loaded: Vec<(u8, u16, u8, u32, Origin)>,
    reads: Vec<MemAccess>,
    /// Stores of single lanes by the current instruction, which are compared with each other when the
    /// instruction has run. They are recorded only if several lanes may store to one location.
    stored: Vec<Stored>,
    exec: u64,
    /// Mask of the pointer arguments from which the address of the current access is computed.
    through: u64,
    /// A load of all lanes that the fast path has permitted.
    load: whole::Load,
    hazards: Vec<check::Finding>,
    /// Whether a finding was already reported for the instruction. Further findings for the same instruction
    /// are not reported.
    reported: bool,
    /// Whether the finding for this instruction ends the run.
    stops: bool,
}

/// The watcher of strict mode. It works on the shadow state of a group.
pub(crate) struct Watcher<'a> {
    shared: &'a Shared,
    group: &'a mut GroupShadow,
    touch: Option<&'a Touch>,
}

impl<'a> Watcher<'a> {
    pub(crate) fn new(shared: &'a Shared, group: &'a mut GroupShadow) -> Watcher<'a> {
        Watcher { shared, group, touch: None }
    }

    fn wave(&mut self) -> &mut WaveShadow {
        &mut self.group.waves[self.group.now.wave]
    }

    /// Returns an error, which ends the run, if the current instruction has a finding that ends the run. A
    /// finding does not end the run if `keep_going` is set, or if a later finding may explain the error
    /// better.
    fn verdict(&self) -> Result<(), Trap> {
        if self.group.now.stops && !self.shared.keep_going { Err(Trap::Watched) } else { Ok(()) }
    }

    /// Records a read. Its order is checked after the instruction.
    #[inline(never)]
    fn read_anything(&mut self, access: &MemAccess) -> Result<Option<u32>, Trap> {
        self.check_access(access);
        self.note_loaded(access);
        let reads = &mut self.group.now.reads;
        let again = reads.last().is_some_and(|last| MemAccess { lane: access.lane, ..*last } == *access);
        if access.space != Space::Scratch && !again {
            reads.push(*access);
        }
        self.verdict().map(|()| None)
    }

    /// Updates which bits of registers are defined, for an instruction that is about to run.
    #[inline]
    fn step_registers(&mut self, cx: &mut Cx<'_>, op: &Op, touch: &Touch) {
        let wave = &mut self.group.waves[self.group.now.wave];
        if let Some(depends) = wave.defined.step(cx, op, touch) {
            self.report_dependence(cx, touch, depends == Depends::Exec);
        }
    }

    /// Fast path for a plain instruction, which accesses only registers (see `touch::Plain`). If the checks
    /// of definedness are the only ones that are needed and all inputs are defined, marks the results as
    /// defined and returns true. Otherwise returns false, and the caller must run all checks.
    #[inline(always)]
    fn steps_plainly(&mut self, cx: &Cx<'_>, plain: &Plain) -> bool {
        let wave = &mut self.group.waves[self.group.now.wave];
        let is_watched = cx.wave.gpr_idx || wave.calls.is_inside() || self.shared.restricts.is_some();
        !is_watched && wave.defined.step_plain(plain, cx.wave.exec())
    }

    /// Handles an instruction whose registers are selected by M0 (register indexing). The checks do not know
    /// which registers these are. They take all registers that the instruction reads as defined, and mark all
    /// registers that it may write as defined.
    #[cold]
    fn step_indexed(&mut self, cx: &Cx<'_>, touch: &Touch) {
        let exec = cx.wave.exec();
        let m0 = cx.wave.sgpr[crate::wave::reg::M0];
        let defined = &mut self.wave().defined;
        defined.define_results(touch, exec);
        for offset in [m0, m0 & 0xff] {
            for register in touch.writes.registers() {
                defined.define_vector(register.wrapping_add(offset as usize), exec);
            }
            if offset < 128 {
                defined.define_scalars(touch.scalar_writes << offset);
            }
        }
    }

    /// Marks values that come from inactive lanes as undefined.
    #[cold]
    fn note_inactive(&mut self, cx: &mut Cx<'_>, op: &Op, touch: &Touch) {
        let lanes = match touch.shuffle {
            Shuffle::None => 0,
            Shuffle::Backward => ds_lanes::reads_inactive(cx, op, true),
            Shuffle::Swizzle => ds_lanes::reads_inactive(cx, op, false),
            Shuffle::Dpp { is_move } => dpp::reads_inactive(op, cx.wave.exec(), is_move),
        };
        if lanes != 0 {
            let place = self.group.now.place;
            let defined = &mut self.wave().defined;
            touch.writes.registers().for_each(|register| defined.take_inactive(register, lanes, place));
        }
    }

    fn wait(&mut self, touch: &Touch) {
        let first = self.group.first_wave;
        let me = self.group.now.wave;
        let order = &mut self.group.waves[me].order;
        order.flight.wait(touch.left);
        order.scalar_stores.wait(touch.left);
        if order.merge_completed_acquires() {
            let clock = order.learned(first);
            self.shared.publish_far(first + me as u32, clock);
        }
    }
}

impl Watch for Watcher<'_> {
    fn found(&self, launch: &Launch<'_>) -> Option<Report> {
        let last = self.group.findings.last().filter(|_| self.group.now.reported)?;
        Some(last.clone().report(self.group.first_wave, self.shared.locate(launch)))
    }

    fn in_flight(&self, wave: u32) -> Option<crate::flight::InFlight> {
        self.under_way(wave)
    }

    fn undefined(&self, wave: u32, dword: Dword) -> u32 {
        let Some(shadow) = self.group.waves.get(wave as usize) else { return 0 };
        match dword {
            Dword::Scalar(code) => shadow.defined.scalar_bits(code.into()),
            Dword::Vector(number, lane) => shadow.defined.vector_bits(number.into(), lane as usize & 63),
            Dword::Lds(number) => self.group.lds_bits.get(number).copied().unwrap_or(0),
            Dword::Scratch(number) => shadow.scratch.get(number).copied().unwrap_or(0),
            Dword::Private(..) => 0,
        }
    }

    fn define(&mut self, wave: u32, dword: Dword, defined: u32) {
        let GroupShadow { waves, lds_bits, .. } = &mut *self.group;
        let Some(shadow) = waves.get_mut(wave as usize) else { return };
        let bits = match dword {
            Dword::Scalar(code) if code < 128 => return shadow.defined.define_scalars(1 << code),
            Dword::Vector(number, lane) => {
                return shadow.defined.define_vector(number.into(), 1 << (lane & 63));
            }
            Dword::Lds(number) => lds_bits.get_mut(number),
            Dword::Scratch(number) => shadow.scratch.get_mut(number),
            Dword::Scalar(_) | Dword::Private(..) => None,
        };
        if let Some(bits) = bits {
            *bits &= !defined;
        }
    }

    fn before(&mut self, cx: &mut Cx<'_>, op: &Op) -> Result<(), Trap> {
        let touch = self.shared.touch(cx.wave.range, cx.wave.last);
        self.touch = Some(touch);
        let now = &mut self.group.now;
        now.wave = cx.wave.id as usize;
        now.place = findings::code_position(cx.wave.range, cx.wave.last);
        (now.reported, now.stops) = (false, false);
        self.issue(cx, touch);
        if let Some(plain) = &touch.plain
            && self.steps_plainly(cx, plain)
        {
            return self.verdict();
        }
        if self.group.waves[self.group.now.wave].calls.is_inside() {
            self.note_overwritten(cx, op, touch);
        }
        match touch.class {
            Class::Pure | Class::Branch | Class::Jump | Class::Other => {
                if cx.wave.gpr_idx && op.class == crate::op::Class::Valu {
                    self.step_indexed(cx, touch);
                } else {
                    self.step_registers(cx, op, touch);
                }
                self.wave().flat_scratch |= touch.sets_flat_scratch;
            }
            Class::Memory(_) => self.before_memory(cx, touch),
            Class::Wait => self.wait(touch),
            Class::Indexed => self.step_indexed(cx, touch),
            Class::Barrier => self.arrive(cx.wave.exec()),
        }
        if touch.ends {
            self.end_scalar_stores();
        }
        if self.shared.restricts.is_some() {
            self.follow_arguments(touch, cx.wave.exec());
        }
        if touch.shuffle != Shuffle::None {
            self.note_inactive(cx, op, touch);
        }
        self.verdict()
    }

    fn after(&mut self, cx: &mut Cx<'_>, op: &Op, flow: Flow) -> Result<(), Trap> {
        let Some(touch) = self.touch.filter(|touch| touch.plain.is_none()) else { return Ok(()) };
        if let Class::Memory(kind) = touch.class {
            if matches!(flow, Flow::Next | Flow::Poll) {
                self.after_memory(cx, touch, kind);
            }
            return self.verdict();
        }
        if touch.writes_exec && !touch.adds_lanes_to_flip {
            let wave = self.wave();
            wave.together.change(wave.order.flight.issued(), cx.wave.exec());
        }
        if touch.transfer != Transfer::None && flow == Flow::Next {
            self.transfer(cx, op, touch);
            return self.verdict();
        }
        Ok(())
    }

    fn read(&mut self, memory: &Memory, access: &MemAccess) -> Result<Option<u32>, Trap> {
        self.meet(memory, access, Use::Read);
        self.group.now.first_read.get_or_insert(access.address);
        if self.read_whole_lds(access) {
            return Ok(None);
        }
        self.check_restrict(access, false);
        self.read_anything(access)
    }

    fn read_lds(&mut self, addresses: &[u32; 64], exec: u64, offsets: &[u32]) -> bool {
        let lane = exec.trailing_zeros() as usize & 63;
        let first = u64::from(addresses[lane].wrapping_add(offsets.first().copied().unwrap_or(0)));
        let whole = self.reads_whole_lds(addresses, exec, offsets);
        if whole && exec != 0 {
            self.group.now.first_read.get_or_insert(first);
        }
        whole
    }

    fn read_memory(&mut self, addresses: &[u64; 64], exec: u64, dwords: u32, flags: ModFlags) -> bool {
        self.group.now.through == 0 && self.loads(addresses, exec, dwords, flags)
    }

    fn write_memory(
        &mut self,
        memory: &Memory,
        addresses: &[u64; 64],
        exec: u64,
        data: &[Lanes],
        flags: ModFlags,
    ) -> bool {
        self.group.now.through == 0 && self.stores(memory, addresses, exec, data, flags)
    }

    fn write_lds(&mut self, addresses: &Lanes, exec: u64, offset: u32, data: &[Lanes]) -> bool {
        self.stores_lds(addresses, exec, offset, data)
    }

    fn write(&mut self, memory: &Memory, access: &MemAccess, value: u32) -> Result<bool, Trap> {
        self.meet(memory, access, Use::Write);
        self.check_access(access);
        self.check_barrier(access);
        self.check_restrict(access, true);
        self.note_stored(access);
        match access.space {
            Space::Lds => self.lds_write(access, value),
            Space::Global => self.global_write(memory, access, value),
            _ => {}
        }
        self.verdict().map(|()| false)
    }

    fn atomic(&mut self, memory: &Memory, access: &MemAccess) -> Result<(), Trap> {
        let returns = self.touch.is_some_and(|touch| touch.returns);
        self.meet(memory, access, if returns { Use::Write } else { Use::Add });
        self.check_access(access);
        self.note_atomic(access);
        self.check_restrict(access, true);
        match access.space {
            Space::Lds => self.lds_atomic(access),
            Space::Global => self.global_atomic(memory, access),
            _ => {}
        }
        if returns && access.space != Space::Scratch {
            self.group.now.reads.push(MemAccess { kind: Access::Atomic, ..*access });
        }
        self.verdict()
    }

    fn out_of_range(&mut self, memory: &Memory, access: &OutOfRange) -> Result<(), Trap> {
        self.report_out_of_range(memory, access);
        self.verdict()
    }

    fn cache(&mut self, _: &Memory, operation: CacheOp) -> Result<(), Trap> {
        let caches = self.shared.caches;
        let order = &mut self.wave().order;
        match operation {
            CacheOp::InvalidateL1 { .. } | CacheOp::InvalidateGl0 => order.invalidate(caches),
            CacheOp::InvalidateGl1 => order.invalidate_middle(),
            CacheOp::InvalidateScalar { .. } => order.scalar_fresh = true,
            CacheOp::WriteBackScalar { .. } => self.write_back_scalar(),
            _ => {}
        }
        Ok(())
    }
}
