//! What strict mode has to say, and how it is put.

use crate::fault::Location;
use std::fmt;

/// Kinds of stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultClass {
    /// The machine would fault, or do something the program cannot have meant.
    Fault,
    /// A register is touched too early: while it is in flight, or before enough wait states have passed.
    Hazard,
    /// Two waves access memory without order, or one reads what a cache may hold in an older state.
    Race,
    /// Something depends on what nobody has written.
    Uninitialised,
    /// The emulator has no meaning for it.
    Unsupported,
    /// More than there is: of registers, LDS, memory.
    Resource,
    /// A function does not leave what a call preserves, or its caller relies on what a call does not preserve.
    Convention,
    /// Waves wait for one another.
    Deadlock,
    /// The limit on instructions.
    Budget,
}

impl FaultClass {
    /// Its name.
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

/// Something that strict mode found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Kind.
    pub class: FaultClass,
    /// The rule that is broken, by a name that does not change.
    pub rule: String,
    /// How sure it is.
    pub level: check::Level,
    /// What happened, in one sentence.
    pub message: String,
    /// The instruction at which it shows.
    pub at: Location,
    /// What it has done, in a few words.
    pub at_label: String,
    /// The other instruction, and what it has done.
    pub other: Option<(Location, String)>,
    /// State of counters and the like.
    pub notes: Vec<String>,
    /// What would mend it.
    pub fix: Option<String>,
}

impl Report {
    /// Whether it says the same of the same code, whichever wave it was.
    pub(crate) fn same_code(&self, other: &Report) -> bool {
        let place = |report: &Report| report.other.as_ref().map(|(at, _)| at.offset);
        self.rule == other.rule && self.at.offset == other.at.offset && place(self) == place(other)
    }
}

/// One place: the instruction, what it did, and by whom.
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
        // In the order of time.
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
