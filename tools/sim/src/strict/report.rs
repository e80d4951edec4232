//! The findings of strict mode, and their text form.

use crate::fault::Location;
use std::fmt;

/// Kinds of stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultClass {
    /// The hardware would fault, or do something that the program cannot intend.
    Fault,
    /// A register is accessed too early: while it is in flight, or before enough wait states have passed.
    Hazard,
    /// Two waves access memory without order, or a wave reads data of which a cache may hold an older state.
    Race,
    /// The program depends on a value that was never initialised.
    Uninitialised,
    /// The emulator does not support the instruction.
    Unsupported,
    /// The program uses more registers, LDS or memory than there are.
    Resource,
    /// A function does not preserve what a call has to preserve, or its caller relies on a register that a
    /// call does not preserve.
    Convention,
    /// Waves wait for one another.
    Deadlock,
    /// The limit on instructions was reached.
    Budget,
}

impl FaultClass {
    /// Returns the name of the class.
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
    /// Location of the instruction at which the error was detected.
    pub at: Location,
    /// Short description of what this instruction did.
    pub at_label: String,
    /// Location of the other instruction, and a short description of what it did.
    pub other: Option<(Location, String)>,
    /// Additional notes, such as the state of counters.
    pub notes: Vec<String>,
    /// A suggested fix.
    pub fix: Option<String>,
}

impl Report {
    /// Returns whether the other report has the same rule and the same instructions, regardless of the waves.
    pub(crate) fn same_code(&self, other: &Report) -> bool {
        let place = |report: &Report| report.other.as_ref().map(|(at, _)| at.offset);
        self.rule == other.rule && self.at.offset == other.at.offset && place(self) == place(other)
    }
}

/// Writes one place: the instruction, what it did, and the group, wave and lane.
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
