//! Effects of instructions on lane masks, one dword at a time.

use crate::expression;
use isa::table::Family;
use isa::{MachInst, Operand, Reg, op};
use mir::track::Cell;

/// Place that holds one dword of a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A scalar register.
    Scalar(Reg),
    /// A lane of a vector register. The register allocator has moved a dword of the mask there for lack of
    /// scalar registers.
    Lane(Reg, u8),
}

impl Place {
    /// Returns whether DWARF has a number for the register.
    pub fn has_number(self) -> bool {
        expression::number(self.register(), 64).is_some()
    }

    /// Returns the cell that holds the dword.
    pub const fn cell(self) -> Cell {
        match self {
            Place::Scalar(reg) => Cell::Reg(reg),
            Place::Lane(reg, lane) => Cell::Lane(reg, lane),
        }
    }

    /// Returns the register that holds the dword.
    pub fn register(self) -> Reg {
        match self {
            Place::Scalar(reg) | Place::Lane(reg, _) => reg,
        }
    }
}

/// Set of lanes, given by the dwords of masks at places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// The lanes of the dword.
    All(Place),
    /// The lanes that are in both dwords.
    Both(Place, Place),
    /// The lanes of the first dword that are not in the second.
    Without(Place, Place),
}

/// Operand of an instruction that computes a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The same dword of EXEC.
    Exec,
    /// Zero: no lane.
    Zero,
    /// The value at a place.
    At(Place),
    /// Any other value.
    Other,
}

/// Value that an instruction writes to a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Copy(Source),
    Or(Source, Source),
    And(Source, Source),
    AndNot(Source, Source),
    /// A subset of the active lanes.
    Active,
    Other,
}

/// Error: the lanes are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl Value {
    /// Adds terms (parts of a mask) that describe the inactive lanes in this value by the registers before
    /// the instruction. Together, the terms must contain each lane of the value that is inactive before the
    /// instruction. They may also contain lanes that are active before the instruction, but no others.
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

    /// Returns the place of which the value is a copy.
    pub fn copied(self) -> Option<Place> {
        match self.0 {
            Kind::Copy(Source::At(place)) => Some(place),
            _ => None,
        }
    }

    /// Returns whether the value contains only active lanes.
    fn is_active(self) -> bool {
        matches!(self.0, Kind::Active | Kind::Copy(Source::Exec | Source::Zero))
    }

    /// Returns whether the value is a copy of EXEC.
    pub fn is_exec(self) -> bool {
        self.0 == Kind::Copy(Source::Exec)
    }

    /// The unknown value.
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
    /// Returns the places of the term.
    pub fn places(self) -> impl Iterator<Item = Place> {
        let (first, second) = match self {
            Term::All(place) => (place, None),
            Term::Both(place, other) | Term::Without(place, other) => (place, Some(other)),
        };
        std::iter::once(first).chain(second)
    }

    /// Converts a term (part of a mask) that holds after an instruction to terms that hold before it. The new
    /// terms describe the same lanes by the values that registers have before the instruction. Only lanes
    /// that are inactive before the instruction must be the same; active lanes may be added or missing. `set`
    /// returns the value that the instruction writes to a place, or `None` if it does not write there.
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

/// The dwords of a lane mask. Each dword is a list of terms and contains the lanes of all of them.
pub type Dwords = [Vec<Term>; 2];

/// Converts a mask that holds after an instruction to the mask that holds before it. `set` returns the value
/// that the instruction writes to a place, or `None` if it does not write there.
pub fn before(mask: &Dwords, set: &dyn Fn(Place) -> Option<Value>) -> Result<Dwords, Lost> {
    let mut all = Dwords::default();
    for (own, terms) in mask.iter().zip(&mut all) {
        own.iter().try_for_each(|term| term.before(set, terms))?;
    }
    Ok(all)
}

/// Operation of an instruction that computes a mask.
#[derive(Clone, Copy)]
enum Operation {
    Copy,
    Or,
    And,
    AndNot,
    /// This operation and the next three save EXEC in the destination, and then change EXEC. `SaveAnd` sets
    /// EXEC to the lanes that are in both EXEC and the source, and `SaveOr` to the lanes in at least one of
    /// them. `SaveWithout` sets it to the lanes of EXEC that are not in the source, and `SaveOnly` to the
    /// lanes of the source that are not in EXEC.
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
        // Only zero is recognised as a constant. An inline constant is sign-extended to the size of the
        // operand, so the dwords of other constants can differ.
        operand if operand.const_u32() == Some(0) => Source::Zero,
        _ => Source::Other,
    }
}

/// Returns whether a scalar register may hold a lane mask: a numbered SGPR or VCC.
pub fn is_scalar(reg: Reg) -> bool {
    reg.0 < Reg::VCC.0 + 2
}

/// Returns what is known about the value that an instruction writes to dword number `dword` of its
/// destination, the first operand.
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
        // A comparison clears the bits of inactive lanes.
        None if inst.op.family() == Family::Vopc => Kind::Active,
        None => Kind::Other,
    })
}

/// Returns the lane of a vector register that `v_writelane_b32` writes, and what is known about the value.
/// Returns `None` for other instructions.
pub fn lane_written(inst: &MachInst) -> Option<(Place, Value)> {
    match (inst.op, inst.ops) {
        (op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2, [Operand::Reg(to), _, lane, ..]) => {
            let lane = lane.const_u32().filter(|&lane| lane < 64)?;
            Some((Place::Lane(to.first, lane as u8), Value(Kind::Copy(source(inst, 1, 0)))))
        }
        _ => None,
    }
}

/// Returns what is known about the value that an instruction writes to dword number `dword` of EXEC. The
/// caller has checked that the instruction writes EXEC.
fn exec_value(inst: &MachInst, dword: u16, dwords: u8) -> Value {
    let from = || source(inst, 1, dword);
    Value(match operation(inst) {
        Some(Operation::SaveAnd) => Kind::And(Source::Exec, from()),
        Some(Operation::SaveOr) => Kind::Or(Source::Exec, from()),
        Some(Operation::SaveWithout) => Kind::AndNot(Source::Exec, from()),
        Some(Operation::SaveOnly) => Kind::AndNot(from(), Source::Exec),
        _ if inst.ops[0] == Operand::regs(Reg::EXEC, dwords) => return value(inst, dword),
        // `v_cmpx` only removes lanes.
        None if inst.op.family() == Family::Vopc => Kind::Active,
        _ => Kind::Other,
    })
}

/// Returns the lanes that an instruction adds to EXEC.
pub fn woken(inst: &MachInst, dwords: u8) -> Result<Dwords, Lost> {
    let mut all = Dwords::default();
    for (dword, terms) in (0..u16::from(dwords)).zip(&mut all) {
        exec_value(inst, dword, dwords).add_terms(terms)?;
    }
    Ok(all)
}

/// Returns whether an instruction turns all lanes on.
pub fn switches_all_on(inst: &MachInst) -> bool {
    let all = inst.ops[1] == Operand::int(-1);
    match operation(inst) {
        Some(Operation::SaveOr) => all,
        Some(Operation::Copy) => all && matches!(inst.ops[0], Operand::Reg(to) if to.first == Reg::EXEC),
        _ => false,
    }
}

/// Returns the first scalar register of the copy from which an instruction restores EXEC. Returns `None` for
/// other instructions.
pub fn restored(inst: &MachInst, dwords: u8) -> Option<Reg> {
    match (operation(inst)?, inst.ops) {
        (Operation::Copy, [to, Operand::Reg(from), ..]) => {
            (to == Operand::regs(Reg::EXEC, dwords) && is_scalar(from.first)).then_some(from.first)
        }
        _ => None,
    }
}

/// For an instruction that removes lanes from EXEC: returns `true` if the lanes that are in a mask remain,
/// and `false` if the lanes that are not in the mask remain. Returns `None` for other instructions.
pub fn narrows(inst: &MachInst, dwords: u8) -> Option<bool> {
    let by = |dword: u16| match exec_value(inst, dword, dwords).0 {
        Kind::And(Source::Exec, Source::At(_)) | Kind::And(Source::At(_), Source::Exec) => Some(true),
        Kind::AndNot(Source::Exec, Source::At(_)) => Some(false),
        _ => None,
    };
    by(0).filter(|_| (1..u16::from(dwords)).all(|dword| by(dword) == by(0)))
}

/// Returns the first register of the destination of an instruction, if the destination has the size of a lane
/// mask and `is_so` returns true for each dword that the instruction writes.
pub fn set_to(inst: &MachInst, dwords: u8, is_so: impl Fn(Value) -> bool) -> Option<Reg> {
    match inst.ops[0] {
        Operand::Reg(to) if to.len == dwords && is_scalar(to.first) => {
            (0..u16::from(dwords)).all(|dword| is_so(value(inst, dword))).then_some(to.first)
        }
        _ => None,
    }
}

/// Returns the first register of the destination of an instruction that writes a lane mask with active lanes
/// only. Returns `None` for other instructions.
pub fn active(inst: &MachInst, dwords: u8) -> Option<Reg> {
    let is_active = |value: Value| {
        let mut terms = Vec::new();
        value.add_terms(&mut terms).is_ok() && terms.is_empty()
    };
    set_to(inst, dwords, is_active)
}

/// The two places that hold the dwords of a lane mask. In a wave of 32 lanes, a mask has one dword, and both
/// places are the same.
pub type Pair = [Place; 2];

/// Calls `of` for each dword of a mask, and returns the results. Returns `None` if `of` returns `None` for a
/// dword.
fn map_dwords<T: Copy>(mask: &Dwords, dwords: u8, of: impl Fn(&[Term]) -> Option<T>) -> Option<[T; 2]> {
    let low = of(&mask[0])?;
    Some([low, if dwords == 2 { of(&mask[1])? } else { low }])
}

/// If a mask is just the value of one register or register pair (`Term::All` in each dword), returns the
/// places of its dwords.
pub fn plain_copy(mask: &Dwords, dwords: u8) -> Option<Pair> {
    map_dwords(mask, dwords, |terms| match *terms {
        [Term::All(place)] => Some(place),
        _ => None,
    })
}

/// Recognises a mask of the form `M & N` or `M & !N`, where `M` and `N` are masks in registers. Returns the
/// places of `M`, and a flag that is true for `M & !N`. Returns `None` for other masks.
pub fn parted(mask: &Dwords, dwords: u8) -> Option<(Pair, bool)> {
    let of = |terms: &[Term]| match *terms {
        [Term::Both(place, _)] => Some((place, false)),
        [Term::Without(place, _)] => Some((place, true)),
        _ => None,
    };
    let [(low, keeps), (high, also_keeps)] = map_dwords(mask, dwords, of)?;
    (keeps == also_keeps).then_some(([low, high], keeps))
}

/// Returns the lane mask that consists of the lanes of the mask stored at the places `all`, one place for
/// each dword. If `without` is given, the lanes of the mask stored at these places are left out.
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
