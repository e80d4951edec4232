//! What the weak run has to know of an instruction beside its handler, worked out when it is first met.

use super::state::Transfer;
use crate::op::Code;
use check::counters::Class;
use check::effects::Waits;
use check::{Effects, Kinds};
use isa::decode::Decoder;
use isa::table::Role;
use isa::{Operand, Reg, Target};

/// How an instruction is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Completes at once.
    Local,
    /// Lets the wave go on when counters are low enough.
    Wait,
    /// Vector memory: goes through the cache of its compute unit.
    Vector,
    /// LDS: in order of the wave's LDS operations.
    Lds,
    /// Scalar memory: in any order.
    Scalar,
}

impl Kind {
    /// Whether it is under way for a while.
    pub(super) fn is_memory(self) -> bool {
        matches!(self, Kind::Vector | Kind::Lds | Kind::Scalar)
    }
}

/// Facts of one instruction.
#[derive(Clone, Debug)]
pub(super) struct Info {
    pub(super) kind: Kind,
    pub(super) waits: Waits,
    /// Counted as one of these until it is complete.
    pub(super) class: Option<Class>,
    /// Flat: its path decides on which counter it is; on GFX10 it is on both.
    pub(super) other: Option<Class>,
    /// Read-modify-write of memory.
    pub(super) atomic: bool,
    /// Whether it loads to LDS or stores from LDS.
    pub(super) transfer: Transfer,
    /// Stores to the scalar cache.
    pub(super) scalar_store: bool,
    /// Writes the scalar cache back.
    pub(super) writes_back: bool,
    /// Registers that are copied at issue: codes of `isa::Reg` below 128 and from 256 on.
    pub(super) sources: Vec<u16>,
    /// Registers that it writes.
    pub(super) results: Vec<u16>,
    /// Both.
    pub(super) touched: Vec<u16>,
    /// Whether bits of the results stay as they are.
    pub(super) tied: bool,
}

impl Info {
    fn local() -> Info {
        Info {
            kind: Kind::Local,
            waits: Waits::NONE,
            class: None,
            other: None,
            atomic: false,
            transfer: Transfer::None,
            scalar_store: false,
            writes_back: false,
            sources: Vec::new(),
            results: Vec::new(),
            touched: Vec::new(),
            tied: false,
        }
    }

    fn of(target: &'static Target, code: &Code, pc: u32) -> Info {
        let words = code.words.get(pc as usize..).unwrap_or(&[]);
        let Some(decoder) = Decoder::new(target) else { return Info::local() };
        let read = decoder.decode(words).or_else(|_| decoder.decode_tolerant(words));
        let Ok((inst, _)) = read else { return Info::local() };
        let effects = Effects::of(target, &inst);
        let kinds = effects.kinds;
        let kind = if kinds.contains(Kinds::WAIT) {
            Kind::Wait
        } else if kinds.intersects(Kinds::VMEM | Kinds::FLAT) {
            Kind::Vector
        } else if kinds.contains(Kinds::DS) {
            Kind::Lds
        } else if kinds.contains(Kinds::SMEM) {
            Kind::Scalar
        } else {
            return Info::local();
        };
        // What a tied destination holds when data arrive is merged with them, not what it held at issue.
        let mut tied = Vec::new();
        inst.for_each_reg(|role, operand| {
            if let (Role::DefUse, Operand::Reg(range)) = (role, operand) {
                tied.extend((0..u16::from(range.len)).map(|at| range.first.0 + at));
            }
        });
        // The data of an atomic are a source although they are replaced.
        let atomic = inst.op.row().flags.contains(isa::table::Flags::ATOMIC);
        if atomic {
            tied.clear();
        }
        // EXEC is kept apart.
        let plain = |reg: &Reg| reg.0 < 126 || (256..768).contains(&reg.0);
        let sources = effects.reads.iter().filter(plain).map(|reg| reg.0);
        let touched = effects.reads.or(&effects.writes);
        Info {
            kind,
            waits: effects.waits,
            class: effects.classes.done[0],
            other: effects.classes.done[1],
            atomic,
            transfer: match (kinds.contains(Kinds::TRANSFER), kinds.contains(Kinds::STORES)) {
                (true, false) => Transfer::Load,
                (true, true) => Transfer::Store,
                (false, _) => Transfer::None,
            },
            scalar_store: kinds.contains(Kinds::SCALAR_STORE),
            writes_back: kinds.contains(Kinds::WRITE_BACK),
            sources: sources.filter(|code| !tied.contains(code)).collect(),
            results: effects.writes.iter().filter(plain).map(|reg| reg.0).collect(),
            touched: touched.iter().filter(plain).map(|reg| reg.0).collect(),
            tied: !tied.is_empty(),
        }
    }
}

/// The facts of a program, by range and index.
#[derive(Default)]
pub(super) struct Program {
    ranges: Vec<Vec<Option<Box<Info>>>>,
}

impl Program {
    /// The facts of the instruction at `pc`, worked out if it is new.
    pub(super) fn learn(&mut self, target: &'static Target, code: &[Code], range: u32, pc: u32) {
        let (range, pc) = (range as usize, pc as usize);
        let Some(here) = code.get(range) else { return };
        if self.ranges.len() <= range {
            self.ranges.resize_with(range + 1, Vec::new);
        }
        let infos = &mut self.ranges[range];
        if infos.is_empty() {
            infos.resize_with(here.ops.len(), || None);
        }
        if let Some(info @ None) = infos.get_mut(pc) {
            *info = Some(Box::new(Info::of(target, here, pc as u32)));
        }
    }

    /// The facts of an instruction that has been met.
    pub(super) fn info(&self, range: u32, pc: u32) -> Option<&Info> {
        self.ranges.get(range as usize)?.get(pc as usize)?.as_deref()
    }
}
