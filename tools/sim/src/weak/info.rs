//! Facts about instructions that weak mode needs in addition to their handlers, such as which wait counter
//! counts an instruction. They are computed when a wave first reaches the instruction.

use super::state::Transfer;
use crate::op::Code;
use check::counters::Class;
use check::effects::Waits;
use check::{Effects, Kinds};
use isa::decode::Decoder;
use isa::table::Role;
use isa::{Operand, Reg, Target};

/// How weak mode treats an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The instruction completes at once, because it does not access memory.
    Local,
    /// The instruction blocks its wave until the wait counters are low enough.
    Wait,
    /// Vector memory instruction, which accesses the first-level cache of the compute unit.
    Vector,
    /// LDS instruction. The LDS operations of a wave are performed in order.
    Lds,
    /// Scalar memory instruction. Scalar operations are performed in any order.
    Scalar,
}

impl Kind {
    /// Returns whether an instruction of this kind stays outstanding after its issue, until it returns.
    pub(super) fn is_memory(self) -> bool {
        matches!(self, Kind::Vector | Kind::Lds | Kind::Scalar)
    }
}

/// Facts about one instruction.
#[derive(Clone, Debug)]
pub(super) struct Info {
    pub(super) kind: Kind,
    pub(super) waits: Waits,
    /// Class of the wait counter that counts the instruction until it is complete.
    pub(super) class: Option<Class>,
    /// Second class of wait counters that may count a flat instruction. On GFX6 to GFX9, the kind of memory
    /// that the instruction accesses decides which of the two classes counts it. On GFX10, both classes count
    /// it.
    pub(super) other: Option<Class>,
    /// Whether the instruction is a read-modify-write of memory.
    pub(super) atomic: bool,
    /// Whether the instruction loads to LDS or stores from LDS.
    pub(super) transfer: Transfer,
    /// Whether the instruction stores through the scalar cache.
    pub(super) scalar_store: bool,
    /// Whether the instruction writes the scalar cache back.
    pub(super) writes_back: bool,
    /// Registers that the instruction reads. Their values are copied when the instruction is issued, because
    /// the registers may change before it is performed. A register is given by its code in `isa::Reg`: scalar
    /// registers are below 128, and VGPRs are from 256 on.
    pub(super) sources: Vec<u16>,
    /// Registers that the instruction writes.
    pub(super) results: Vec<u16>,
    /// Union of `sources` and `results`.
    pub(super) touched: Vec<u16>,
    /// Whether some bits of the results keep their old values.
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

    fn from_code(target: &'static Target, code: &Code, pc: u32) -> Info {
        let words = code.words.get(pc as usize..).unwrap_or(&[]);
        let Some(decoder) = Decoder::new(target) else { return Info::local() };
        let read = decoder.decode(words).or_else(|_| decoder.decode_tolerant(words));
        let Ok((inst, _)) = read else { return Info::local() };
        let effects = Effects::from_inst(target, &inst);
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
        // A tied destination is a register that the instruction also reads: a `d16` load, for example, keeps
        // one half of its register. When the loaded data arrives, it is merged into the register, so the old
        // value is not copied at issue.
        let mut tied = Vec::new();
        inst.for_each_reg(|role, operand| {
            if let (Role::DefUse, Operand::Reg(range)) = (role, operand) {
                tied.extend((0..u16::from(range.len)).map(|at| range.first.0 + at));
            }
        });
        // The data operand of an atomic counts as a source, although the atomic overwrites the register.
        let atomic = inst.op.row().flags.contains(isa::table::Flags::ATOMIC);
        if atomic {
            tied.clear();
        }
        // EXEC is excluded here, because it is saved separately.
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

/// Facts about the instructions of a program. The outer index is the code range, the inner index the
/// instruction.
#[derive(Default)]
pub(super) struct Program {
    ranges: Vec<Vec<Option<Box<Info>>>>,
}

impl Program {
    /// Computes the facts about the instruction at `pc` of a code range, unless they are already known.
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
            *info = Some(Box::new(Info::from_code(target, here, pc as u32)));
        }
    }

    /// Returns the facts about an instruction, if they have been computed.
    pub(super) fn info(&self, range: u32, pc: u32) -> Option<&Info> {
        self.ranges.get(range as usize)?.get(pc as usize)?.as_deref()
    }
}
