//! The findings of strict mode, and their text form.

use crate::fault::Location;
use std::fmt;

/// Classes of findings, and other reasons for which a run may stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultClass {
    /// The instruction would cause a fault on hardware, or it does something that the program cannot intend.
    Fault,
    /// An instruction accesses a register too early: a memory operation on the register is still in flight,
    /// or required wait states are missing.
    Hazard,
    /// Two waves access the same memory location without order, or a wave may read an old copy of the data
    /// from a cache.
    Race,
    /// The program depends on a value that was never initialised.
    Uninitialised,
    /// The emulator does not support the instruction.
    Unsupported,
    /// The program uses more registers, LDS or memory than the dispatch has reserved for it.
    Resource,
    /// The calling convention is broken: a function does not preserve a register that it must preserve, or a
    /// caller relies on a register that the callee may change.
    Convention,
    /// Waves wait for one another.
    Deadlock,
    /// The limit on instructions was reached.
    Budget,
}

impl FaultClass {
    /// Returns the name of the class for display.
    pub fn name(self) -> &'static str {
        match self {
            FaultClass::Fault => "fault",
            FaultClass::Hazard => "hazard",
            FaultClass::Race => "race",
            FaultClass::Uninitialised => "uninitialised",
            FaultClass::Unsupported => "unsupported",
            FaultClass::Resource => "resource",
            FaultClass::Convention => "calling convention",
            FaultClass::Deadlock => "deadlock",
            FaultClass::Budget => "budget",
        }
    }
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A finding of strict mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Class of the finding.
    pub class: FaultClass,
    /// Name of the rule that is broken. Names of rules are stable.
    pub rule: String,
    /// How certain the finding is.
    pub level: check::Level,
    /// Description of the error in one sentence.
    pub message: String,
    /// Location of the instruction at which the error was found.
    pub at: Location,
    /// Short description of what this instruction did.
    pub at_label: String,
    /// Location of the other instruction that takes part in the error, if any, and a short description of
    /// what this instruction did.
    pub other: Option<(Location, String)>,
    /// Additional notes about the error, such as the state of wait counters.
    pub notes: Vec<String>,
    /// A suggested fix of the program.
    pub fix: Option<String>,
}

impl Report {
    /// Returns whether another report is about the same rule and the same instructions. The waves may differ.
    pub(crate) fn same_code(&self, other: &Report) -> bool {
        let place = |report: &Report| report.other.as_ref().map(|(at, _)| at.offset);
        self.rule == other.rule && self.at.offset == other.at.offset && place(self) == place(other)
    }
}

/// Writes one location of a report: the instruction, what it did (`label`), and its group, wave and lane.
fn write_place(f: &mut fmt::Formatter<'_>, at: &Location, label: &str, mark: char) -> fmt::Result {
    let underline: String = std::iter::repeat_n(mark, at.text.chars().count().max(1)).collect();
    writeln!(f, "{:>8x} | {}", at.offset, at.text)?;
    writeln!(f, "{:>8} | {underline} {label}", "")?;
    let [x, y, z] = at.group;
    write!(f, "{:>8} | in group ({x}, {y}, {z}), wave {}", "", at.wave)?;
    if let Some(lane) = at.lane {
        write!(f, ", lane {lane}")?;
    }
    if let Some(source) = &at.source {
        write!(f, ", {source}")?;
    }
    writeln!(f)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} [{}]", self.class, self.message, self.rule)?;
        writeln!(f, "{:>8}--> {}", "", self.at.kernel)?;
        // The earlier instruction is written first.
        if let Some((at, label)) = &self.other {
            write_place(f, at, label, '-')?;
            writeln!(f, "     ... |")?;
        }
        write_place(f, &self.at, &self.at_label, '^')?;
        for call in &self.at.calls {
            writeln!(f, "{:>8} = note: {call}", "")?;
        }
        for note in &self.notes {
            writeln!(f, "{:>8} = note: {note}", "")?;
        }
        if let Some(fix) = &self.fix {
            writeln!(f, "{:>8} = help: {fix}", "")?;
        }
        Ok(())
    }
}
