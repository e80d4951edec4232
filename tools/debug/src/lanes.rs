//! Positions of the lanes of a wave in the code, as the object's debug information describes them
//! (`DW_AT_LLVM_active_lane`, `DW_AT_LLVM_lane_pc`). Parked lanes (inactive lanes that wait at a later block)
//! have a position too.

use crate::machine::Frame;
use dwarf::{
    Content, DebugInfo, Encoding, Frames, Goal, Location, Machine, Reason, Register, Storage, evaluate,
};
use sim::Stopped;

/// Number of bits of the code address that a location expression computes for a lane. The addresses are
/// elements of the generic type (LLVM's AMDGPU guide, seed 000, line 1450).
const LOCATION_BITS: u64 = 64;

/// Where a lane is in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Address in the object file of the instruction that the lane executes, or at which it will become
    /// active again.
    At(u64),
    /// The lane has not entered the function.
    Outside,
    /// The object does not say where the lane is.
    Unknown,
}

/// The lanes of a wave in its innermost function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Mask of the active lanes.
    pub active: u64,
    /// Position by lane.
    pub positions: Vec<Position>,
}

/// Returns the positions of a stopped wave's lanes. `None` if the debug information does not describe the
/// lanes in the current function.
pub fn lanes(info: &DebugInfo, frames: Option<&Frames>, at: &Stopped<'_>) -> Option<Lanes> {
    LanesAt::new(info, frames, at.address()).map(|said| said.positions_in(at))
}

/// The bytes of an expression, and their encoding.
type Expression<'a> = (&'a [u8], Encoding);

/// The debug information about lanes at one address. It is looked up once, for all waves that reach the
/// address.
pub struct LanesAt<'a> {
    info: &'a DebugInfo,
    frames: Option<&'a Frames>,
    unit: usize,
    base: Option<Expression<'a>>,
    active: Option<Expression<'a>>,
    lane_pc: Option<Expression<'a>>,
}

impl<'a> LanesAt<'a> {
    /// Looks up the debug information about lanes at an address of the object file. `None` if it does not
    /// describe the lanes in the function there.
    pub fn new(info: &'a DebugInfo, frames: Option<&'a Frames>, address: u64) -> Option<LanesAt<'a>> {
        let path = info.around(address);
        let mut dies = path.iter().rev().map(|&at| &info.entries[at]);
        let die = dies.find(|die| die.tag == "DW_TAG_subprogram")?;
        die.get("DW_AT_LLVM_lane_pc")?;
        let encoding = info.units[die.unit].encoding;
        let at = |name| info.expression_at(die, name, address).map(|bytes| (bytes, encoding));
        let base = match die.get("DW_AT_frame_base") {
            Some(Content::Expression(bytes)) => Some((bytes.as_slice(), encoding)),
            _ => None,
        };
        let (active, lane_pc) = (at("DW_AT_LLVM_active_lane"), at("DW_AT_LLVM_lane_pc"));
        Some(LanesAt { info, frames, unit: die.unit, base, active, lane_pc })
    }

    /// Returns the positions of the lanes of a wave that has stopped at the address.
    pub fn positions_in(&self, at: &Stopped<'_>) -> Lanes {
        let mut frame = Frame::new((at, 0), (self.info, self.frames), self.unit);
        frame.base = self.base;
        let active = self.active.and_then(|expression| active(expression, &frame));
        let positions = self.lane_pc.and_then(|expression| positions(expression, at.lanes(), &frame));
        Lanes {
            active: active.unwrap_or_else(|| at.exec()),
            positions: positions.unwrap_or_else(|| vec![Position::Unknown; at.lanes() as usize]),
        }
    }
}

fn active((expression, encoding): Expression<'_>, frame: &Frame<'_>) -> Option<u64> {
    let outcome = evaluate(expression, encoding, Goal::Value, frame, &[]).ok()?;
    outcome.value()?.unsigned().ok().map(|mask| mask as u64)
}

fn positions((expression, encoding): Expression<'_>, lanes: u32, frame: &Frame<'_>) -> Option<Vec<Position>> {
    let outcome = evaluate(expression, encoding, Goal::Location, frame, &[]).ok()?;
    elements(outcome.location()?, lanes, frame).ok()
}

/// Returns the elements of a vector of program locations.
fn elements(vector: &Location, lanes: u32, machine: &dyn Machine) -> Result<Vec<Position>, Reason> {
    let mut positions = Vec::with_capacity(lanes as usize);
    // The position of all active lanes is in the same register, so the register's value is read only once.
    let mut last: Option<(Register, Position)> = None;
    for part in vector.parts(u128::from(LOCATION_BITS) * u128::from(lanes))? {
        // Adjacent elements without a location are one part.
        let count = (part.bits / u128::from(LOCATION_BITS)) as usize;
        let register = match part.location.storage {
            Storage::Register(register) if part.location.bit == 0 => Some(register),
            _ => None,
        };
        if let Some((_, position)) = last.filter(|last| Some(last.0) == register) {
            positions.extend(std::iter::repeat_n(position, count));
            continue;
        }
        let position = match part.location.read(LOCATION_BITS, machine) {
            Ok(bytes) => {
                Position::At(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
            }
            Err(Reason::Undefined) => Position::Outside,
            Err(_) => Position::Unknown,
        };
        last = register.map(|register| (register, position)).or(last);
        positions.extend(std::iter::repeat_n(position, count));
    }
    positions.resize(lanes as usize, Position::Unknown);
    Ok(positions)
}
