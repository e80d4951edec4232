//! Tests debug information against execution: compares the values of variables at the beginning of
//! statements. The interpreter gives the expected values from the frontend's IR; the debugger reads the
//! values from the compiled code in the emulator.
//!
//! Both produce a trace of each work-item: the statements that it reaches, with its variables at each.
//! Optimised code may reach fewer statements. The statements that it reaches have to be a subsequence of the
//! interpreter's, and each variable for which it has a location has to have the right value. [`Count`] counts
//! how many variables have locations, also among those whose values are still needed.

mod arrived;
mod look;
mod trace;

use crate::launch::{emulate_debugged, interpret_watched};
use crate::program::Shape;
use arrived::Arrivals;
use ir::SrcLoc;
use kernc::sim::Mode;
use kernc::{Compiler, DebugInfo, Dialect, Dwarf, OptLevel, Options, Subtarget};
use look::{Looker, Object};
use trace::{Meaning, Tracer};

/// Largest number of statements of a work-item that are compared.
const MOST: usize = 400;

/// A work-item: its group, and its position in the group with 10 bits per dimension.
pub(crate) type Item = ([u32; 3], u32);

/// Number of variables at all stops, and of those whose value the debugger finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Scalars of variables that are in scope and have a value, summed over the stops.
    pub all: u64,
    /// Scalars among `all` for which the debugger finds a value.
    pub there: u64,
    /// Scalars among `all` whose value is read later.
    pub live: u64,
    /// Scalars among `live` for which the debugger finds a value.
    pub live_there: u64,
    /// Number of stops.
    pub stops: u64,
}

impl Count {
    /// Returns the sum of two counts.
    pub fn plus(self, other: Count) -> Count {
        Count {
            all: self.all + other.all,
            there: self.there + other.there,
            live: self.live + other.live,
            live_there: self.live_there + other.live_there,
            stops: self.stops + other.stops,
        }
    }
}

/// An error that is injected on purpose, to test that the comparison finds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planted {
    /// No error.
    #[default]
    Nothing,
    /// After some stops, one bit of each variable's value is flipped.
    Bit,
    /// A load that only other lanes have issued counts as a load of the lane that is examined.
    Lanes,
}

/// Compares the variables of the kernels of a source.
///
/// # Errors
/// The first variable for which the debugger gives a wrong value.
pub fn check(
    source: &str,
    kernels: &[&str],
    shape: &Shape,
    how: (Subtarget, OptLevel, Dialect),
) -> Result<Count, String> {
    check_planted(source, kernels, shape, how, Planted::Nothing)
}

/// Compares the variables as [`check`] does, with an injected error.
///
/// # Errors
/// As [`check`].
pub fn check_planted(
    source: &str,
    kernels: &[&str],
    shape: &Shape,
    (target, level, dialect): (Subtarget, OptLevel, Dialect),
    planted: Planted,
) -> Result<Count, String> {
    let dwarf = Dwarf { dialect, ..Dwarf::default() };
    let options = Options {
        opt_level: level,
        debug: DebugInfo::Full,
        dwarf,
        file_name: "test.k".to_owned(),
        ..Options::default()
    };
    let mut meant = Meant::default();
    let object = match Compiler::new(target).compile_observed(source, &options, &mut meant) {
        Ok(object) => object,
        // A program that does not fit the processor is skipped.
        Err(_) => return Ok(Count::default()),
    };
    let Meant(module) = meant;
    let plain = Options { debug: DebugInfo::Lines, ..options };
    let plain = Compiler::new(target).compile(source, &plain).map_err(|error| error.to_string())?;
    if text(plain.bytes())? != text(object.bytes())? {
        return Err("code is another one with debug information".to_owned());
    }
    let meaning = Meaning::new(&module, source);
    let object = Object::read(object.bytes(), &meaning)?;
    let mut count = Count::default();
    for kernel in kernels {
        let tracer = Tracer::new(&meaning, shape);
        interpret_watched(&module, kernel, shape, target.wave_size, Some(&tracer))
            .map_err(|error| format!("interpreter: {error}"))?;
        let looker = Looker::new(&object, &meaning, shape, (tracer.traces(), planted));
        let ran = emulate_debugged(Mode::Fast, object.bytes, kernel, shape, &looker);
        let (found, wrong) = looker.into_found();
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        ran.map_err(|error| format!("emulator: {error}"))?;
        count = count.plus(found);
    }
    Ok(count)
}

/// Checks that no variable has its location in a register that an outstanding operation has yet to write, at
/// each instruction. Returns the number of registers that were checked.
///
/// # Errors
/// The first variable that has such a location.
pub fn check_arrived(
    source: &str,
    kernels: &[&str],
    shape: &Shape,
    (target, opt_level, dialect): (Subtarget, OptLevel, Dialect),
    planted: Planted,
) -> Result<u64, String> {
    let dwarf = Dwarf { dialect, ..Dwarf::default() };
    let options = Options { opt_level, debug: DebugInfo::Full, dwarf, ..Options::default() };
    let mut meant = Meant::default();
    // A program that does not fit the processor is skipped.
    let Ok(object) = Compiler::new(target).compile_observed(source, &options, &mut meant) else {
        return Ok(0);
    };
    let Meant(module) = meant;
    let meaning = Meaning::new(&module, source);
    let object = Object::read(object.bytes(), &meaning)?;
    let mut looked = 0;
    for kernel in kernels {
        let arrivals = Arrivals::new(&object, planted == Planted::Lanes);
        let ran = emulate_debugged(Mode::Strict { keep_going: true }, object.bytes, kernel, shape, &arrivals);
        let (more, wrong) = arrivals.into_found();
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        ran.map_err(|error| format!("emulator: {error}"))?;
        looked += more;
    }
    Ok(looked)
}

/// Keeps the IR that the frontend has generated, which defines the meaning of the program.
#[derive(Default)]
pub(crate) struct Meant(pub(crate) ir::Module);

impl kernc::Observer for Meant {
    fn ir(&mut self, pass: &'static str, module: &ir::Module) {
        if pass == "frontend" {
            self.0 = module.clone();
        }
    }
}

fn text(object: &[u8]) -> Result<Vec<u8>, String> {
    let object = codeobj::CodeObject::parse(object).map_err(|error| error.to_string())?;
    object.section(".text").map(|section| section.data.to_vec()).ok_or_else(|| "no code".to_owned())
}

/// Returns the line and column of a source location.
pub(crate) fn line_and_column(source: &str, loc: SrcLoc) -> (u32, u32) {
    let at = (loc.0 as usize).saturating_sub(1).min(source.len());
    let before = &source[..at];
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = at - before.rfind('\n').map_or(0, |newline| newline + 1) + 1;
    (line as u32, column as u32)
}

/// Returns the lanes in a mask.
pub(crate) fn lanes(mask: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |lane| mask >> lane & 1 == 1)
}

/// Returns the work-item with a linear number in its group.
pub(crate) fn item_of(shape: &Shape, group: [u32; 3], linear: u32) -> Item {
    let size = |d: usize| {
        let first = group[d] * shape.group[d];
        shape.group[d].min(shape.grid[d].saturating_sub(first)).max(1)
    };
    let (x, rest) = (linear % size(0), linear / size(0));
    let (y, z) = (rest % size(1), rest / size(1));
    (group, x | y << 10 | z << 20)
}

/// Returns the linear number of a work-item in its dispatch.
fn number_of(shape: &Shape, (group, local): Item) -> usize {
    let [x, y, z] = [local & 0x3ff, local >> 10 & 0x3ff, local >> 20];
    let along = |d: usize| shape.grid[d].div_ceil(shape.group[d]);
    let group = (group[2] * along(1) + group[1]) * along(0) + group[0];
    let [width, height, depth] = shape.group;
    (((group * depth + z) * height + y) * width + x) as usize
}
