//! Where the lanes of a wave are, also those that wait: what the object says of it (`DW_AT_LLVM_active_lane`, `DW_AT_LLVM_lane_pc`).

use crate::variables::Scope;
use dwarf::{Die, Frames, Goal, Location, Machine, Reason, evaluate};
use sim::Stopped;

/// Bits of a program location (seed 000, line 1450: elements of the generic type).
const LOCATION_BITS: u64 = 64;

/// Where a lane is in the function at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// At that address of the file: it is active, or goes on there.
    At(u64),
    /// It has not come into the function.
    Outside,
    /// The object does not say it.
    Unknown,
}

/// The lanes of a wave in its innermost function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Those that are active.
    pub active: u64,
    /// By lane.
    pub positions: Vec<Position>,
}

/// What an object says of a stopped wave's lanes; none if it says nothing of them in the function.
pub fn lanes(info: &dwarf::DebugInfo, frames: Option<&Frames>, at: &Stopped<'_>) -> Option<Lanes> {
    let scope = Scope::new((info, frames), at, 0);
    let die = scope.function()?;
    die.get("DW_AT_LLVM_lane_pc")?;
    let active = active(&scope, die, at).unwrap_or_else(|| at.exec());
    let positions = match positions(&scope, die, at) {
        Some(positions) => positions,
        None => vec![Position::Unknown; at.lanes() as usize],
    };
    Some(Lanes { active, positions })
}

fn active(scope: &Scope<'_>, die: &Die, at: &Stopped<'_>) -> Option<u64> {
    let expression = scope.info.expression_at(die, "DW_AT_LLVM_active_lane", at.address())?;
    let machine = scope.frame(0, die.unit);
    let encoding = scope.info.units[die.unit].encoding;
    let outcome = evaluate(expression, encoding, Goal::Value, &machine, &[]).ok()?;
    outcome.value()?.unsigned().ok().map(|mask| mask as u64)
}

fn positions(scope: &Scope<'_>, die: &Die, at: &Stopped<'_>) -> Option<Vec<Position>> {
    let expression = scope.info.expression_at(die, "DW_AT_LLVM_lane_pc", at.address())?;
    let machine = scope.frame(0, die.unit);
    let encoding = scope.info.units[die.unit].encoding;
    let outcome = evaluate(expression, encoding, Goal::Location, &machine, &[]).ok()?;
    elements(outcome.location()?, at.lanes(), &machine).ok()
}

/// The elements of a vector of program locations.
fn elements(vector: &Location, lanes: u32, machine: &dyn Machine) -> Result<Vec<Position>, Reason> {
    let mut positions = Vec::with_capacity(lanes as usize);
    for part in vector.parts(u128::from(LOCATION_BITS) * u128::from(lanes))? {
        // Neighbours that are nowhere are one part.
        let count = (part.bits / u128::from(LOCATION_BITS)) as usize;
        let position = match part.location.read(LOCATION_BITS, machine) {
            Ok(bytes) => {
                Position::At(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
            }
            Err(Reason::Undefined) => Position::Outside,
            Err(_) => Position::Unknown,
        };
        positions.extend(std::iter::repeat_n(position, count));
    }
    positions.resize(lanes as usize, Position::Unknown);
    Ok(positions)
}
