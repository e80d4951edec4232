//! The debugger's side: compares the values that the debugger finds at each statement of the compiled code
//! with the trace.

use super::trace::{Event, Known, Meaning, Trace};
use super::{Count, MOST, Planted, item_of, lanes, number_of};
use crate::program::Shape;
use debug::{AddressCache, StopVariables};
use kernc::sim::{Debugger, Fault, Go, Report, Stopped};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A compiled program.
pub(super) struct Object<'a> {
    /// Bytes of the object file.
    pub(super) bytes: &'a [u8],
    info: dwarf::DebugInfo,
    frames: Option<dwarf::Frames>,
    /// Numbers of the places of statements, by the address where the statement begins.
    statements: FxHashMap<u64, u32>,
}

impl<'a> Object<'a> {
    pub(super) fn read(bytes: &'a [u8], meaning: &Meaning<'_>) -> Result<Object<'a>, String> {
        let object = codeobj::CodeObject::parse(bytes).map_err(|error| error.to_string())?;
        let info = dwarf::DebugInfo::read(&object).map_err(|error| error.to_string())?;
        let frames = dwarf::Frames::read(&object).ok();
        let mut statements = FxHashMap::default();
        for (address, place) in codeobj::disasm::Lines::read(&object).rows_of_statements() {
            match meaning.place_number((place.line, place.column)) {
                Some(number) => statements.insert(address, number),
                // A function has a row before its first statement, which is not in the table.
                None => statements.remove(&address),
            };
        }
        Ok(Object { bytes, info, frames, statements })
    }

    /// Returns the variables by address, for reading.
    pub(super) fn sights(&self) -> AddressCache<'_> {
        AddressCache::new(&self.info, self.frames.as_ref())
    }
}

/// Compares the values that the debugger finds with the trace.
pub(super) struct Looker<'a> {
    object: &'a Object<'a>,
    meaning: &'a Meaning<'a>,
    shape: &'a Shape,
    traces: Vec<Trace<'a>>,
    state: Mutex<State<'a>>,
}

struct State<'a> {
    sights: AddressCache<'a>,
    /// By address: the index of the variable that each name means there.
    by_name: FxHashMap<u64, Arc<[Option<usize>]>>,
    reads: Reads,
    /// Position of each work-item in its trace.
    next: Vec<usize>,
    count: Count,
    wrong: Option<String>,
}

/// Values of variables for one lane, each read when it is first needed.
#[derive(Default)]
struct Reads {
    by_variable: Vec<Read>,
    /// Number of lanes read so far, which identifies the current lane.
    turn: u64,
    planted: Planted,
}

/// Number of lanes that are read before an injected error begins.
const GOOD: u64 = 1000;

#[derive(Default)]
struct Read {
    bytes: Vec<u8>,
    there: Vec<bool>,
    is_whole: bool,
    /// The lane (as `Reads::turn`) to which the value belongs.
    turn: u64,
}

impl Reads {
    fn get(&mut self, sight: &StopVariables<'_>, lane: u32, variable: usize) -> &Read {
        if self.by_variable.len() <= variable {
            self.by_variable.resize_with(variable + 1, Read::default);
        }
        let read = &mut self.by_variable[variable];
        if read.turn != self.turn {
            sight.read(variable, lane, (&mut read.bytes, &mut read.there));
            read.is_whole = !read.there.contains(&false);
            read.turn = self.turn;
            if self.planted == Planted::Bit && self.turn > GOOD {
                read.bytes.iter_mut().take(1).for_each(|byte| *byte ^= 1);
            }
        }
        read
    }
}

impl Read {
    /// Returns the value of a fragment, if all its bytes have a location.
    fn fragment(&self, offset: u32, size: u8) -> Option<u64> {
        let range = offset as usize..offset as usize + usize::from(size);
        let bytes = self.bytes.get(range.clone())?;
        if !self.is_whole && self.there.get(range)?.contains(&false) {
            return None;
        }
        match bytes {
            &[a, b, c, d] => Some(u32::from_le_bytes([a, b, c, d]).into()),
            bytes => Some(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))),
        }
    }
}

/// A wrong value that the debugger gave.
#[derive(Clone, Copy)]
struct Wrong {
    name: u32,
    offset: u32,
    found: u64,
    meant: u64,
}

/// A lane at a stop.
struct Lane<'a> {
    sight: &'a StopVariables<'a>,
    by_name: &'a [Option<usize>],
    lane: u32,
}

impl Lane<'_> {
    /// Compares all variables of the lane with a visit of the trace. Returns the counts, or the first wrong
    /// value.
    fn agrees(&self, trace: &Trace<'_>, event: &Event, reads: &mut Reads) -> Result<Count, Wrong> {
        let mut count = Count { stops: 1, ..Count::default() };
        for known in trace.known_at(event) {
            let variable = self.by_name.get(known.name as usize).copied().flatten();
            let read = variable.map(|variable| reads.get(self.sight, self.lane, variable));
            compare(trace, known, read, &mut count)?;
        }
        Ok(count)
    }
}

/// Compares the fragments of a variable.
fn compare(
    trace: &Trace<'_>,
    known: &Known<'_>,
    read: Option<&Read>,
    count: &mut Count,
) -> Result<(), Wrong> {
    for (fragment, &(offset, size)) in trace.fragments_of(known).iter().zip(known.fragments) {
        let found = read.and_then(|read| read.fragment(offset, size));
        count.all += 1;
        count.there += u64::from(found.is_some());
        count.live += u64::from(fragment.is_live);
        count.live_there += u64::from(fragment.is_live && found.is_some());
        let Some(found) = found else { continue };
        let meant = fragment.bits & u64::MAX >> (64 - 8 * u32::from(size));
        if found != meant
            && !(known.in_memory && fragment.bits == 0)
            && !(is_nan(found, size) && is_nan(meant, size))
        {
            return Err(Wrong { name: known.name, offset, found, meant });
        }
    }
    Ok(())
}

/// Returns whether the bits are a NaN as a float of this size. NaNs are not compared, because their bits are
/// not specified.
fn is_nan(bits: u64, bytes: u8) -> bool {
    match bytes {
        2 => bits & 0x7fff > 0x7c00,
        4 => f32::from_bits(bits as u32).is_nan(),
        8 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

impl<'a> Looker<'a> {
    pub(super) fn new(
        object: &'a Object<'a>,
        meaning: &'a Meaning<'a>,
        shape: &'a Shape,
        (traces, planted): (Vec<Trace<'a>>, Planted),
    ) -> Looker<'a> {
        let state = State {
            sights: object.sights(),
            by_name: FxHashMap::default(),
            reads: Reads { planted, ..Reads::default() },
            next: vec![0; traces.len()],
            count: Count::default(),
            wrong: None,
        };
        Looker { object, meaning, shape, traces, state: Mutex::new(state) }
    }

    /// Returns the counts, and the first error.
    pub(super) fn into_found(self) -> (Count, Option<String>) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state.count, state.wrong)
    }

    fn look(&self, at: &Stopped<'_>, place: u32) -> Result<(), String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { sights, by_name, reads, next, count, .. } = &mut *state;
        let sight = sights.variables_at(at);
        let by_name = by_name.entry(at.address()).or_insert_with(|| self.by_name(&sight)).clone();
        for lane in lanes(at.exec()) {
            let lane = lane as u32;
            let item = item_of(self.shape, at.group(), at.wave() * at.lanes() + lane);
            let number = number_of(self.shape, item);
            let Some(trace) = self.traces.get(number).filter(|trace| !trace.events.is_empty()) else {
                continue;
            };
            reads.turn += 1;
            let here = Lane { sight: &sight, by_name: &by_name, lane };
            let mut first = None;
            let rest = trace.events.iter().enumerate().skip(next[number]);
            let mut same = rest.filter(|(_, event)| event.place == place);
            let found = same.find_map(|(n, event)| match here.agrees(trace, event, reads) {
                Ok(more) => Some((n, more)),
                Err(wrong) => {
                    first.get_or_insert(wrong);
                    None
                }
            });
            match found {
                Some((n, more)) => {
                    next[number] = n + 1;
                    *count = count.plus(more);
                }
                // The trace was cut at its largest length, so the visit may come later.
                None if trace.events.len() >= MOST => next[number] = MOST,
                None => {
                    let (line, column) = self.meaning.place_of(place);
                    let why = self.why(first);
                    return Err(format!("{:#x}, line {line}:{column}, item {item:?}: {why}", at.address()));
                }
            }
        }
        Ok(())
    }

    /// Returns the index of the variable that each name means.
    fn by_name(&self, sight: &StopVariables<'_>) -> Arc<[Option<usize>]> {
        let mut by_name = vec![None; self.meaning.names()];
        for (at, seen) in sight.variables().iter().enumerate() {
            if let Some(name) = self.meaning.name(seen.name) {
                by_name[name as usize] = Some(at);
            }
        }
        by_name.into()
    }

    fn why(&self, wrong: Option<Wrong>) -> String {
        match wrong {
            Some(Wrong { name, offset, found, meant }) => {
                format!("`{}` at {offset}: {found:x}, not {meant:x}", self.meaning.name_of(name))
            }
            None => "no statement there is executed any more".to_owned(),
        }
    }
}

impl Debugger for Looker<'_> {
    fn before(&self, at: &Stopped<'_>) -> Go {
        let Some(&place) = self.object.statements.get(&at.address()) else { return Go::On };
        match self.look(at, place) {
            Ok(()) => Go::On,
            Err(wrong) => {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.wrong.get_or_insert(wrong);
                Go::End
            }
        }
    }

    fn found(&self, _: &Stopped<'_>, _: &Report) -> Go {
        Go::On
    }

    fn trapped(&self, _: &Stopped<'_>, _: &Fault) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a variable of two fragments: one byte with the value 0x11, and four bytes with the value
    /// `meant`.
    fn compare_both(bytes: &[Option<u8>], meant: u64, in_memory: bool) -> Result<Count, u64> {
        let (trace, known) = Trace::of_one(0, &[(0, 1), (4, 4)], &[0x11, meant], in_memory);
        let read = Read {
            bytes: bytes.iter().map(|byte| byte.unwrap_or(0)).collect(),
            there: bytes.iter().map(Option::is_some).collect(),
            is_whole: !bytes.contains(&None),
            turn: 0,
        };
        let mut count = Count::default();
        compare(&trace, &known, Some(&read), &mut count).map_err(|wrong| wrong.found)?;
        Ok(count)
    }

    #[test]
    fn wrong_values_are_noticed() {
        let of = |value: u32| {
            let mut bytes = [Some(0x11); 8];
            bytes.iter_mut().skip(4).zip(value.to_le_bytes()).for_each(|(to, byte)| *to = Some(byte));
            bytes
        };
        assert_eq!(compare_both(&of(7), 7, false).map(|count| (count.all, count.there)), Ok((2, 2)));
        // A value wider than its fragment is compared by its low bytes.
        assert!(compare_both(&of(7), 7 | 1 << 32, false).is_ok());
        assert_eq!(compare_both(&of(8), 7, false), Err(8));
        assert_eq!(compare_both(&of(8), 0, false), Err(8));
        assert!(compare_both(&of(8), 0, true).is_ok());
        assert_eq!(compare_both(&of(8), 7, true), Err(8));
        assert!(compare_both(&of(0x7fc0_0001), 0xffc0_0000, false).is_ok());
        assert_eq!(compare_both(&of(0x7fc0_0001), 0x7f80_0000, false), Err(0x7fc0_0001));
        let mut first = of(7);
        first[0] = Some(0x12);
        assert_eq!(compare_both(&first, 7, false), Err(0x12));
    }

    #[test]
    fn what_is_nowhere_is_counted_as_that() {
        let mut bytes = [Some(0x11); 8];
        bytes[6] = None;
        assert_eq!(compare_both(&bytes, 7, false).map(|count| (count.all, count.there)), Ok((2, 1)));
        assert_eq!(compare_both(&bytes[..4], 7, false).map(|count| (count.all, count.there)), Ok((2, 1)));
        assert_eq!(compare_both(&[], 7, false).map(|count| (count.all, count.there)), Ok((2, 0)));
    }
}
