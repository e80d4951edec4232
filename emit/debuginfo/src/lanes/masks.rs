//! What instructions do to lane masks, a dword of them at a time.

use crate::expression;
use isa::table::Family;
use isa::track::Cell;
use isa::{MachInst, Operand, Reg, op};

/// A dword that holds a part of a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A scalar register.
    Scalar(Reg),
    /// A lane of a vector register, to which the allocator has moved it.
    Lane(Reg, u8),
}

impl Place {
    /// Whether DWARF has a number for the register.
    pub fn has_number(self) -> bool {
        expression::number(self.register(), 64).is_some()
    }

    /// What holds it.
    pub const fn cell(self) -> Cell {
        match self {
            Place::Scalar(reg) => Cell::Reg(reg),
            Place::Lane(reg, lane) => Cell::Lane(reg, lane),
        }
    }

    /// The register that it is in.
    pub fn register(self) -> Reg {
        match self {
            Place::Scalar(reg) | Place::Lane(reg, _) => reg,
        }
    }
}

/// Lanes, out of a dword of a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// All that are in it.
    All(Place),
    /// Those that are in the other as well.
    Both(Place, Place),
    /// Those that are not in the other.
    Without(Place, Place),
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The same dword of EXEC.
    Exec,
    /// No lane.
    Zero,
    /// What a place holds.
    At(Place),
    /// Something else.
    Other,
}

/// What a dword is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Copy(Source),
    Or(Source, Source),
    And(Source, Source),
    AndNot(Source, Source),
    /// Some of the active lanes.
    Active,
    Other,
}

/// Nobody knows which lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl Value {
    /// Of the lanes in it those that are not active: terms are added that hold at least these, in front of the instruction. A lane too many is one that is
    /// active there.
    fn add_terms(self, terms: &mut Vec<Term>) -> Result<(), Lost> {
        match self.0 {
            Kind::Copy(source) => add_source(source, terms)?,
            Kind::Or(a, b) => {
                add_source(a, terms)?;
                add_source(b, terms)?;
            }
            Kind::And(a, b) => match (a, b) {
                (Source::Exec | Source::Zero, _) | (_, Source::Exec | Source::Zero) => {}
                (Source::At(a), Source::At(b)) => add(Term::Both(a, b), terms),
                _ => return Err(Lost),
            },
            Kind::AndNot(a, b) => match (a, b) {
                (Source::Exec | Source::Zero, _) => {}
                (Source::At(a), Source::Exec | Source::Zero) => add(Term::All(a), terms),
                (Source::At(a), Source::At(b)) => add(Term::Without(a, b), terms),
                _ => return Err(Lost),
            },
            Kind::Active => {}
            Kind::Other => return Err(Lost),
        }
        Ok(())
    }

    /// The place that it is a copy of.
    pub fn copied(self) -> Option<Place> {
        match self.0 {
            Kind::Copy(Source::At(place)) => Some(place),
            _ => None,
        }
    }

    /// Whether it has no lane but active ones.
    fn is_active(self) -> bool {
        matches!(self.0, Kind::Active | Kind::Copy(Source::Exec | Source::Zero))
    }

    /// Whether it is EXEC, as it was.
    pub fn is_exec(self) -> bool {
        self.0 == Kind::Copy(Source::Exec)
    }

    /// The value that nobody knows.
    pub const OTHER: Value = Value(Kind::Other);
}

fn add(term: Term, terms: &mut Vec<Term>) {
    if !terms.contains(&term) {
        terms.push(term);
    }
}

fn add_source(source: Source, terms: &mut Vec<Term>) -> Result<(), Lost> {
    match source {
        Source::Exec | Source::Zero => {}
        Source::At(place) => add(Term::All(place), terms),
        Source::Other => return Err(Lost),
    }
    Ok(())
}

impl Term {
    /// Its places.
    pub fn places(self) -> impl Iterator<Item = Place> {
        let (first, second) = match self {
            Term::All(place) => (place, None),
            Term::Both(place, other) | Term::Without(place, other) => (place, Some(other)),
        };
        std::iter::once(first).chain(second)
    }

    /// Adds what it is in front of an instruction that sets places as `set` says. Lanes that are active there may be in it or not.
    fn before(self, set: &dyn Fn(Place) -> Option<Value>, terms: &mut Vec<Term>) -> Result<(), Lost> {
        let now = |place| match set(place) {
            None => Ok(Some(place)),
            Some(value) if value.is_active() => Ok(None),
            Some(value) => value.copied().map(Some).ok_or(Lost),
        };
        match self {
            Term::All(place) => match set(place) {
                None => add(self, terms),
                Some(value) => value.add_terms(terms)?,
            },
            Term::Both(place, other) => {
                if let (Some(place), Some(other)) = (now(place)?, now(other)?) {
                    add(Term::Both(place, other), terms);
                }
            }
            Term::Without(place, other) => match (now(place)?, now(other)?) {
                (None, _) => {}
                (Some(place), None) => add(Term::All(place), terms),
                (Some(place), Some(other)) => add(Term::Without(place, other), terms),
            },
        }
        Ok(())
    }
}

/// A mask's dwords.
pub type Dwords = [Vec<Term>; 2];

/// What a mask is in front of an instruction.
pub fn before(mask: &Dwords, set: &dyn Fn(Place) -> Option<Value>) -> Result<Dwords, Lost> {
    let mut all = Dwords::default();
    for (own, terms) in mask.iter().zip(&mut all) {
        own.iter().try_for_each(|term| term.before(set, terms))?;
    }
    Ok(all)
}

/// What instructions do.
#[derive(Clone, Copy)]
enum Operation {
    Copy,
    Or,
    And,
    AndNot,
    /// EXEC to the destination, and EXEC with the source to EXEC: by `And`, by `Or`, without the source, the source without EXEC.
    SaveAnd,
    SaveOr,
    SaveWithout,
    SaveOnly,
    ReadLane,
}

fn operation(inst: &MachInst) -> Option<Operation> {
    Some(match inst.op {
        op::S_MOV_B32 | op::S_MOV_B64 => Operation::Copy,
        op::S_OR_B32 | op::S_OR_B64 => Operation::Or,
        op::S_AND_B32 | op::S_AND_B64 => Operation::And,
        op::S_ANDN2_B32 | op::S_ANDN2_B64 => Operation::AndNot,
        op::S_AND_SAVEEXEC_B32 | op::S_AND_SAVEEXEC_B64 => Operation::SaveAnd,
        op::S_OR_SAVEEXEC_B32 | op::S_OR_SAVEEXEC_B64 => Operation::SaveOr,
        op::S_ANDN1_SAVEEXEC_B32 | op::S_ANDN1_SAVEEXEC_B64 => Operation::SaveWithout,
        op::S_ANDN2_SAVEEXEC_B32 | op::S_ANDN2_SAVEEXEC_B64 => Operation::SaveOnly,
        op::V_READLANE_B32 | op::V_READLANE_B32_VOP2 => Operation::ReadLane,
        _ => return None,
    })
}

fn source(inst: &MachInst, operand: usize, dword: u16) -> Source {
    match inst.ops[operand] {
        Operand::Reg(range) => {
            let reg = range.first.offset(dword);
            match reg {
                _ if dword >= u16::from(range.len) => Source::Other,
                _ if reg == Reg::EXEC.offset(dword) => Source::Exec,
                _ if is_scalar(reg) => Source::At(Place::Scalar(reg)),
                _ => Source::Other,
            }
        }
        // Small numbers are extended to the size of the operand.
        operand if operand.const_u32() == Some(0) => Source::Zero,
        _ => Source::Other,
    }
}

/// Whether a register may hold a mask: one with a number, or VCC.
pub fn is_scalar(reg: Reg) -> bool {
    reg.0 < Reg::VCC.0 + 2
}

/// What an instruction sets a dword of its first operand to.
pub fn value(inst: &MachInst, dword: u16) -> Value {
    let from = |operand| source(inst, operand, dword);
    Value(match operation(inst) {
        Some(Operation::Copy) => Kind::Copy(from(1)),
        Some(Operation::Or) => Kind::Or(from(1), from(2)),
        Some(Operation::And) => Kind::And(from(1), from(2)),
        Some(Operation::AndNot) => Kind::AndNot(from(1), from(2)),
        Some(Operation::ReadLane) => match (inst.ops[1], inst.ops[2].const_u32()) {
            (Operand::Reg(range), Some(lane @ 0..64)) => {
                Kind::Copy(Source::At(Place::Lane(range.first, lane as u8)))
            }
            _ => Kind::Other,
        },
        Some(_) => Kind::Copy(Source::Exec),
        // Bits of inactive lanes are 0.
        None if inst.op.family() == Family::Vopc => Kind::Active,
        None => Kind::Other,
    })
}

/// What `v_writelane_b32` writes, and to which lane of which register.
pub fn lane_written(inst: &MachInst) -> Option<(Place, Value)> {
    match (inst.op, inst.ops) {
        (op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2, [Operand::Reg(to), _, lane, ..]) => {
            let lane = lane.const_u32().filter(|&lane| lane < 64)?;
            Some((Place::Lane(to.first, lane as u8), Value(Kind::Copy(source(inst, 1, 0)))))
        }
        _ => None,
    }
}

/// What an instruction that writes EXEC sets a dword of it to.
fn exec_value(inst: &MachInst, dword: u16, dwords: u8) -> Value {
    let from = || source(inst, 1, dword);
    Value(match operation(inst) {
        Some(Operation::SaveAnd) => Kind::And(Source::Exec, from()),
        Some(Operation::SaveOr) => Kind::Or(Source::Exec, from()),
        Some(Operation::SaveWithout) => Kind::AndNot(Source::Exec, from()),
        Some(Operation::SaveOnly) => Kind::AndNot(from(), Source::Exec),
        _ if inst.ops[0] == Operand::regs(Reg::EXEC, dwords) => return value(inst, dword),
        // `v_cmpx` takes lanes away.
        None if inst.op.family() == Family::Vopc => Kind::Active,
        _ => Kind::Other,
    })
}

/// The lanes that an instruction adds to EXEC.
pub fn woken(inst: &MachInst, dwords: u8) -> Result<Dwords, Lost> {
    let mut all = Dwords::default();
    for (dword, terms) in (0..u16::from(dwords)).zip(&mut all) {
        exec_value(inst, dword, dwords).add_terms(terms)?;
    }
    Ok(all)
}

/// Whether an instruction switches all lanes on.
pub fn switches_all_on(inst: &MachInst) -> bool {
    let all = inst.ops[1] == Operand::int(-1);
    match operation(inst) {
        Some(Operation::SaveOr) => all,
        Some(Operation::Copy) => all && matches!(inst.ops[0], Operand::Reg(to) if to.first == Reg::EXEC),
        _ => false,
    }
}

/// What EXEC is a copy of, behind an instruction that copies it from scalar registers.
pub fn restored(inst: &MachInst, dwords: u8) -> Option<Reg> {
    match (operation(inst)?, inst.ops) {
        (Operation::Copy, [to, Operand::Reg(from), ..]) => {
            (to == Operand::regs(Reg::EXEC, dwords) && is_scalar(from.first)).then_some(from.first)
        }
        _ => None,
    }
}

/// Whether an instruction takes lanes out of EXEC by a mask: whether those stay that the mask has, or the others.
pub fn narrows(inst: &MachInst, dwords: u8) -> Option<bool> {
    let by = |dword: u16| match exec_value(inst, dword, dwords).0 {
        Kind::And(Source::Exec, Source::At(_)) | Kind::And(Source::At(_), Source::Exec) => Some(true),
        Kind::AndNot(Source::Exec, Source::At(_)) => Some(false),
        _ => None,
    };
    by(0).filter(|_| (1..u16::from(dwords)).all(|dword| by(dword) == by(0)))
}

/// The registers that an instruction sets to a mask of a kind.
pub fn set_to(inst: &MachInst, dwords: u8, is_so: impl Fn(Value) -> bool) -> Option<Reg> {
    match inst.ops[0] {
        Operand::Reg(to) if to.len == dwords && is_scalar(to.first) => {
            (0..u16::from(dwords)).all(|dword| is_so(value(inst, dword))).then_some(to.first)
        }
        _ => None,
    }
}

/// The registers that an instruction sets to a mask with active lanes only.
pub fn active(inst: &MachInst, dwords: u8) -> Option<Reg> {
    let is_active = |value: Value| {
        let mut terms = Vec::new();
        value.add_terms(&mut terms).is_ok() && terms.is_empty()
    };
    set_to(inst, dwords, is_active)
}

/// Where the dwords of a mask are; of a mask with one dword both are the same.
pub type Pair = [Place; 2];

/// What all dwords of a mask have in common, of those that it has.
fn both<T: Copy>(mask: &Dwords, dwords: u8, of: impl Fn(&[Term]) -> Option<T>) -> Option<[T; 2]> {
    let low = of(&mask[0])?;
    Some([low, if dwords == 2 { of(&mask[1])? } else { low }])
}

/// Where a mask is that is all of one.
pub fn whole(mask: &Dwords, dwords: u8) -> Option<Pair> {
    both(mask, dwords, |terms| match *terms {
        [Term::All(place)] => Some(place),
        _ => None,
    })
}

/// Where a mask is, where those of its lanes are meant that are in a second or not in it; whether the others are those in it.
pub fn parted(mask: &Dwords, dwords: u8) -> Option<(Pair, bool)> {
    let of = |terms: &[Term]| match *terms {
        [Term::Both(place, _)] => Some((place, false)),
        [Term::Without(place, _)] => Some((place, true)),
        _ => None,
    };
    let [(low, keeps), (high, also_keeps)] = both(mask, dwords, of)?;
    (keeps == also_keeps).then_some(([low, high], keeps))
}

/// The lanes of a mask; without those of another, if there is one.
pub fn of_places((all, without): (Pair, Option<Pair>), dwords: u8) -> Dwords {
    let mut mask = Dwords::default();
    for (dword, terms) in mask.iter_mut().enumerate().take(dwords.into()) {
        terms.push(match without {
            Some(other) => Term::Without(all[dword], other[dword]),
            None => Term::All(all[dword]),
        });
    }
    mask
}
