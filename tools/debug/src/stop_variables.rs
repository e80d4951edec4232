//! Reads all variables of all lanes at one address after the other. Made for tests of debug information,
//! which compare all these values.
//!
//! The debug information for an address is looked up once, when the first wave reaches the address. The
//! location of a variable is computed once for all lanes, unless it depends on the lane.

use crate::machine::{Frame, StateUse};
use crate::variables::{Expression, Variable, VariableEntry, frame_base, variables};
use dwarf::{DebugInfo, Encoding, Frames, Location, Row, Storage};
use isa::Reg;
use rustc_hash::FxHashMap;
use sim::Stopped;
use std::cell::{OnceCell, RefCell};
use std::sync::{Arc, OnceLock};

/// A variable that is in scope at an address.
pub struct ScopeVariable<'a> {
    /// Its name.
    pub name: &'a str,
    /// The line of its declaration.
    pub line: u64,
    /// Size of its type in bytes.
    size: u64,
    unit: usize,
    said: Option<VariableEntry<'a>>,
    /// Cache of the variable's location in each lane. A location is kept here only if it is the same for all
    /// waves, because it depends on nothing but the lane.
    always: OnceLock<Box<[Always]>>,
}

/// Location of a variable in one lane, which is the same for each wave that reaches the address.
type Always = OnceLock<Location>;

/// Limit on the number of parts of a composite location description. Larger descriptions are not kept.
const PARTS: usize = 16;

/// Largest number of lanes of a wave.
const LANES: usize = 64;

impl<'a> ScopeVariable<'a> {
    fn new(info: &'a DebugInfo, variable: Variable<'a>, address: u64) -> ScopeVariable<'a> {
        let ty = variable.ty();
        ScopeVariable {
            name: variable.name,
            line: variable.line(),
            size: ty.map_or(0, |ty| crate::format::size(info, ty)),
            unit: variable.die.unit,
            said: ty.and_then(|_| variable.said(info, address).ok()),
            always: OnceLock::new(),
        }
    }
}

/// An address, and the debug information for it that does not depend on registers or memory.
struct AddressInfo<'a> {
    seen: Vec<ScopeVariable<'a>>,
    base: Option<(&'a [u8], Encoding)>,
    row: Option<Row>,
}

impl<'a> AddressInfo<'a> {
    fn new((info, frames): (&'a DebugInfo, Option<&'a Frames>), address: u64) -> AddressInfo<'a> {
        let path = info.around(address);
        let seen =
            variables(info, &path).into_iter().map(|variable| ScopeVariable::new(info, variable, address));
        AddressInfo {
            seen: seen.collect(),
            base: frame_base(info, &path),
            row: frames.and_then(|frames| frames.row(address).ok().flatten()),
        }
    }
}

/// A cache of debug information, by the addresses of an object that waves have reached.
pub struct AddressCache<'a> {
    info: &'a DebugInfo,
    frames: Option<&'a Frames>,
    places: FxHashMap<u64, Arc<AddressInfo<'a>>>,
}

impl<'a> AddressCache<'a> {
    /// Creates an empty cache for an object. `frames` is the call frame information, which is needed to find
    /// variables in a call frame.
    pub fn new(info: &'a DebugInfo, frames: Option<&'a Frames>) -> AddressCache<'a> {
        AddressCache { info, frames, places: FxHashMap::default() }
    }

    /// Returns the variables at the address where a wave has stopped.
    pub fn variables_at<'s>(&mut self, at: &'s Stopped<'s>) -> StopVariables<'s>
    where
        'a: 's,
    {
        let (info, frames) = (self.info, self.frames);
        let place = self.places.entry(at.address());
        let place =
            place.or_insert_with_key(|&address| Arc::new(AddressInfo::new((info, frames), address))).clone();
        let located = place.seen.iter().map(|_| OnceCell::new()).collect();
        StopVariables { info, frames, at, place, located }
    }
}

/// The location of a variable.
struct Found {
    place: Location,
    /// Whether the location depends on nothing but the lane.
    is_always: bool,
}

/// Where a variable is at a stop.
enum Located {
    Nowhere,
    /// The variable is at this location. The location is the same for all lanes, or consists of a part for
    /// each lane.
    At(Found),
    /// At a location that differs from lane to lane.
    ByLane,
}

/// The variables of the innermost function that are in scope where a wave has stopped.
pub struct StopVariables<'a> {
    info: &'a DebugInfo,
    frames: Option<&'a Frames>,
    at: &'a Stopped<'a>,
    place: Arc<AddressInfo<'a>>,
    /// Location by variable; computed when it is first needed.
    located: Vec<OnceCell<Located>>,
}

impl<'a> StopVariables<'a> {
    /// Returns the variables, innermost first, each name once.
    pub fn variables(&self) -> &[ScopeVariable<'a>] {
        &self.place.seen
    }

    /// Reads the value of a variable in a lane. `bytes` receives the value, and `there` receives for each
    /// byte whether the byte has a location. Both are empty afterwards if the variable has no value.
    pub fn read(&self, variable: usize, lane: u32, (bytes, there): (&mut Vec<u8>, &mut Vec<bool>)) {
        let read = self.try_read(variable, lane, (bytes, there));
        if read.is_none() {
            bytes.clear();
            there.clear();
        }
    }

    fn try_read(
        &self,
        variable: usize,
        lane: u32,
        (bytes, there): (&mut Vec<u8>, &mut Vec<bool>),
    ) -> Option<()> {
        let seen = self.place.seen.get(variable)?;
        let expression = match seen.said.as_ref()? {
            VariableEntry::Constant(constant) => {
                bytes.clone_from(constant);
                there.clear();
                there.resize(bytes.len(), true);
                return Some(());
            }
            VariableEntry::At(expression) => expression,
        };
        let frame = self.frame(lane, seen.unit);
        let mut read = |place: &Location| place.read_into(8 * seen.size, &frame, (bytes, there)).ok();
        if let Some(place) = seen.always.get().and_then(|always| always.get(lane as usize)?.get()) {
            return read(place);
        }
        let own;
        let found = match self.located[variable].get_or_init(|| self.locate(expression, lane)) {
            Located::Nowhere => return None,
            Located::At(found) => found,
            Located::ByLane => {
                own = self.find(expression, lane).0?;
                &own
            }
        };
        let part = expression.of_lane(&found.place, lane);
        let done = read(part.as_ref().unwrap_or(&found.place));
        if found.is_always {
            let always = seen.always.get_or_init(|| (0..LANES).map(|_| OnceLock::new()).collect());
            let part = || part.unwrap_or_else(|| found.place.clone());
            always.get(lane as usize).map(|own| own.get_or_init(part));
        }
        done
    }

    /// Returns the registers that hold a variable's value in a lane, and the registers from which its
    /// location is computed.
    pub fn registers(&self, variable: usize, lane: u32) -> Vec<Reg> {
        let read = RefCell::default();
        let Some(seen) = self.place.seen.get(variable) else { return Vec::new() };
        let Some(VariableEntry::At(expression)) = &seen.said else { return Vec::new() };
        let mut frame = self.frame(lane, seen.unit);
        frame.read = Some(&read);
        if let Ok(place) = expression.evaluate_location(&mut frame) {
            let place = expression.of_lane(&place, lane).unwrap_or(place);
            // Only the registers that the evaluation has read matter here. An error can be ignored, because a
            // part of the variable without a location uses no register.
            let _ = place.read_into(8 * seen.size, &frame, (&mut Vec::new(), &mut Vec::new()));
        }
        read.take()
    }

    /// Evaluates a location expression for `lane`. If the evaluation has read no state that depends on the
    /// lane, the result is marked as valid for all lanes.
    fn locate(&self, expression: &Expression<'_>, lane: u32) -> Located {
        match self.find(expression, lane) {
            (_, StateUse { lane: true, .. }) => Located::ByLane,
            (Some(found), _) => Located::At(found),
            (None, _) => Located::Nowhere,
        }
    }

    /// Evaluates a location expression for a lane. Returns the location, and which kinds of state (the lane,
    /// registers, memory) the evaluation has read.
    fn find(&self, expression: &Expression<'_>, lane: u32) -> (Option<Found>, StateUse) {
        let mut frame = self.frame(lane, expression.unit);
        let place = expression.evaluate_location(&mut frame).ok();
        let asked = frame.state_use();
        // Composite location descriptions with many parts are not kept, because they would take too much
        // memory.
        let is_small = |place: &Location| match &place.storage {
            Storage::Composite(composite) => composite.parts().len() <= PARTS,
            _ => true,
        };
        let is_always = !asked.state && !expression.is_static && place.as_ref().is_some_and(is_small);
        (place.map(|place| Found { place, is_always }), asked)
    }

    fn frame(&self, lane: u32, unit: usize) -> Frame<'_> {
        let mut frame = Frame::new((self.at, lane), (self.info, self.frames), unit);
        frame.base = self.place.base;
        frame.row = self.place.row.as_ref();
        frame
    }
}
