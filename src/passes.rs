//! Names and order of the passes, and ranges of passes.

use crate::machine::MACHINE;
use crate::options::OptLevel;
use std::ops::Range;

/// Form of the program that a pass works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Form {
    /// Source text.
    Source,
    /// The intermediate representation of a module.
    Ir,
    /// Machine IR of each kernel.
    MachineIr,
}

/// Returns the names of the passes of an optimisation level in order. If a pass runs several times, its name
/// is listed several times.
pub fn passes(level: OptLevel) -> impl Iterator<Item = &'static str> {
    let optimiser = ir::passes::pipeline(level.number());
    std::iter::once("frontend")
        .chain(optimiser)
        .chain(MACHINE.map(|(name, _)| name))
        .chain(std::iter::once("emit"))
}

/// A range of consecutive passes of an optimisation level, as chosen by `--start-at` and `--stop-after`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassRange {
    /// Range of indices into [`passes`].
    range: Range<usize>,
    /// Index of the first pass of [`MACHINE`] in [`passes`].
    machine: usize,
}

impl PassRange {
    /// Returns the range of all passes of a level.
    pub fn all(level: OptLevel) -> PassRange {
        let machine = 1 + ir::passes::pipeline(level.number()).count();
        PassRange { range: 0..machine + MACHINE.len() + 1, machine }
    }

    /// Returns the range from pass `start` to pass `stop`, both included. If `start` is `None`, the range
    /// begins with the first pass; if `stop` is `None`, it ends with the last pass. If a pass runs several
    /// times, its name means the first run and `NAME.2` the second. `optimize` stands for all passes of the
    /// optimiser.
    ///
    /// # Errors
    /// A name is unknown, or the range is empty.
    pub fn new(level: OptLevel, start: Option<&str>, stop: Option<&str>) -> Result<PassRange, String> {
        let mut all = PassRange::all(level);
        if let Some(name) = start {
            all.range.start = all.find(level, name)?.start;
        }
        if let Some(name) = stop {
            all.range.end = all.find(level, name)?.end;
        }
        match (start, stop) {
            (Some(start), Some(stop)) if all.range.is_empty() => {
                Err(format!("pass `{stop}` runs before pass `{start}`"))
            }
            _ => Ok(all),
        }
    }

    fn find(&self, level: OptLevel, name: &str) -> Result<Range<usize>, String> {
        if name == "optimize" {
            return Ok(1..self.machine);
        }
        let (plain, which) = match name.rsplit_once('.') {
            Some((plain, number)) => (plain, number.parse().unwrap_or(0)),
            None => (name, 1_usize),
        };
        let places = passes(level).enumerate().filter(|(_, pass)| *pass == plain).map(|(place, _)| place);
        let places: Vec<usize> = places.collect();
        match (which.checked_sub(1).and_then(|n| places.get(n)), places.len()) {
            (Some(&place), _) => Ok(place..place + 1),
            (None, 0) => {
                let mut names = Vec::new();
                passes(level).for_each(|pass| {
                    if !names.contains(&pass) {
                        names.push(pass)
                    }
                });
                Err(format!(
                    "there is no pass `{name}` at -O{}; the passes are: {}",
                    level.number(),
                    names.join(", ")
                ))
            }
            (None, count) => Err(format!("pass `{plain}` runs {count} times at -O{}", level.number())),
        }
    }

    /// Returns the form of the program that the first pass takes.
    pub fn input(&self) -> Form {
        match self.range.start {
            0 => Form::Source,
            // `machine` is the index of instruction selection, the last pass that takes IR. The passes after
            // it take machine IR.
            start if start <= self.machine => Form::Ir,
            _ => Form::MachineIr,
        }
    }

    /// Returns the range without the frontend, or `None` if the frontend is the only pass of the range.
    pub fn from_ir(&self) -> Option<PassRange> {
        let range = self.range.start.max(1)..self.range.end;
        (!range.is_empty()).then_some(PassRange { range, machine: self.machine })
    }

    /// Returns the optimiser passes of the range, as a range of indices into [`ir::passes::pipeline`].
    pub(crate) fn optimiser(&self) -> Range<usize> {
        let within = |place: usize| place.clamp(1, self.machine) - 1;
        within(self.range.start)..within(self.range.end)
    }

    /// Returns the range of passes of [`MACHINE`].
    pub(crate) fn machine(&self) -> Range<usize> {
        let within = |place: usize| place.clamp(self.machine, self.machine + MACHINE.len()) - self.machine;
        within(self.range.start)..within(self.range.end)
    }

    /// Returns whether the range includes writing the object.
    pub(crate) fn has_emit(&self) -> bool {
        self.range.end > self.machine + MACHINE.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: &str, stop: &str) -> Result<PassRange, String> {
        let name = |text| Some(text).filter(|text: &&str| !text.is_empty());
        PassRange::new(OptLevel::O2, name(start), name(stop))
    }

    #[test]
    fn names_say_which_passes_run() {
        let all = range("", "").expect("all");
        assert_eq!(all, PassRange::all(OptLevel::O2));
        assert!(all.has_emit() && all.input() == Form::Source);
        assert_eq!(range("licm", "licm").expect("one").optimiser().len(), 1);
        assert_eq!(range("optimize", "optimize").expect("some").optimiser(), all.optimiser());
        let (first, second) = (range("gvn", "gvn").expect("first"), range("gvn.2", "gvn.2").expect("second"));
        assert!(first.optimiser().end <= second.optimiser().start);
        assert_eq!(range("isel", "").expect("rest").input(), Form::Ir);
        let rest = range("regalloc", "waits").expect("four");
        assert_eq!((rest.input(), rest.machine().len(), rest.has_emit()), (Form::MachineIr, 4, false));
        assert!(rest.optimiser().is_empty());
        let emit = range("emit", "").expect("the last");
        assert!(emit.input() == Form::MachineIr && emit.machine().is_empty() && emit.has_emit());
    }

    #[test]
    fn wrong_names_are_told() {
        assert_eq!(range("isel", "licm").unwrap_err(), "pass `licm` runs before pass `isel`");
        assert_eq!(range("licm.2", "").unwrap_err(), "pass `licm` runs 1 times at -O2");
        let unknown = range("", "no").unwrap_err();
        assert!(unknown.starts_with("there is no pass `no` at -O2; the passes are: frontend, inline, "));
        // There is no such pass at level 0.
        assert!(PassRange::new(OptLevel::O0, Some("licm"), None).is_err());
    }
}
