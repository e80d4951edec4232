//! What is found.

use crate::counters::{self, Class, Counter};
use crate::hazards::Rule;
use isa::{Reg, RegRange};
use std::fmt;

/// Place of an instruction in a [`crate::Code`].
pub type Site = u32;

/// Stands for what the caller of a function did.
pub const CALLER: Site = Site::MAX;

/// How the second instruction meets the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// It reads what is not there yet.
    Reads,
    /// It writes what will be overwritten.
    Writes,
    /// It overwrites what is still to be read.
    Overwrites,
    /// It hands the register to its caller.
    Returns,
}

/// How sure it is that something goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Worth a look.
    Advice,
    /// The manuals ask for it, but code that has run for years does without.
    Manual,
    /// Manuals and practice agree.
    Certain,
}

impl Level {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Advice => "advice",
            Level::Manual => "by the manual",
            Level::Certain => "certain",
        }
    }
}

/// Why an operation that the waits do not promise may be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hope {
    /// There is none.
    None,
    /// At least as many operations followed as the counter counts: it cannot count this one any more, if hardware holds
    /// back what it could not count.
    Limit,
    /// It counts on two counters, and one of them was waited for.
    OtherCounter,
    /// A flat access, and a wait that is enough if flat accesses complete in the order of their issue.
    FlatOrder,
}

/// What is wrong.
#[derive(Clone, Copy, Debug)]
pub enum Problem {
    /// A register is touched while a memory operation has it in flight.
    InFlight {
        /// Class of the operation.
        class: Class,
        /// Its other class, if it is to be waited for too.
        also: Option<Class>,
        /// How it is touched.
        access: Access,
        /// Operations of the counter that may be under way.
        outstanding: u32,
        /// What to wait for.
        count: u8,
        /// Why the code may be right all the same.
        hope: Hope,
    },
    /// Too few wait states.
    Hazard {
        /// The row.
        rule: &'static Rule,
        /// How many there are.
        found: u8,
    },
    /// A hazard that wait states do not mend.
    Event {
        /// The row.
        rule: &'static EventRule,
    },
}

/// A hazard that is mended by particular instructions in between, or an instruction that is wrong wherever it stands.
#[derive(Debug)]
pub struct EventRule {
    /// Short name, for machines.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// What mends it.
    pub mend: &'static str,
    /// Where it is from.
    pub source: &'static str,
    /// How sure it is.
    pub level: Level,
}

/// A finding.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// Where it begins; the same as `second` where one instruction is wrong by itself.
    pub first: Site,
    /// Where it shows.
    pub second: Site,
    /// The registers, where it is about some.
    pub registers: Option<RegRange>,
    /// What it is.
    pub problem: Problem,
    /// Whether a hazard is less than certain: the two instructions are in different functions, of which compilers look at one at a time,
    /// or the instructions between them take longer than the wait states that manuals and LLVM count for them.
    pub is_doubtful: bool,
}

impl Finding {
    /// How sure it is.
    pub fn level(&self) -> Level {
        match self.problem {
            Problem::InFlight { .. } => {
                crate::rules::find(self.id()).map_or(Level::Certain, |rule| rule.level)
            }
            Problem::Hazard { rule: &Rule { level, .. }, .. }
            | Problem::Event { rule: &EventRule { level, .. } } => {
                if self.is_doubtful {
                    level.min(Level::Manual)
                } else {
                    level
                }
            }
        }
    }

    /// Short name, for machines.
    pub fn id(&self) -> &'static str {
        match self.problem {
            Problem::InFlight { hope: Hope::Limit, .. } => "counter-at-limit",
            Problem::InFlight { hope: Hope::OtherCounter, .. } => "flat-partial-wait",
            Problem::InFlight { hope: Hope::FlatOrder, .. } => "flat-in-order",
            Problem::InFlight { access: Access::Reads, .. } => "read-in-flight",
            Problem::InFlight { access: Access::Writes, .. } => "write-in-flight",
            Problem::InFlight { access: Access::Overwrites, .. } => "overwrite-unread",
            Problem::InFlight { access: Access::Returns, .. } => "return-in-flight",
            Problem::Hazard { rule, .. } => rule.id,
            Problem::Event { rule } => rule.id,
        }
    }

    /// Name for people.
    pub fn name(&self) -> &'static str {
        match self.problem {
            Problem::InFlight { access: Access::Reads, .. } => "register is read before it has arrived",
            Problem::InFlight { access: Access::Writes, .. } => {
                "register is written while a load to it is under way"
            }
            Problem::InFlight { access: Access::Overwrites, .. } => {
                "register is overwritten before it has been read"
            }
            Problem::InFlight { access: Access::Returns, .. } => "function returns while a load is under way",
            Problem::Hazard { rule, .. } => rule.name,
            Problem::Event { rule } => rule.name,
        }
    }

    /// The counter it is about.
    pub fn counter(&self) -> Option<Counter> {
        match self.problem {
            Problem::InFlight { class, .. } => Some(class.info().counter),
            _ => None,
        }
    }

    /// What has to stand before the second instruction.
    pub fn mend(&self) -> String {
        match self.problem {
            Problem::InFlight { class, also, count, .. } => match also {
                Some(also) => {
                    format!("{} {}(0)", counters::wait(class.info().counter, 0), also.info().counter.name())
                }
                None => counters::wait(class.info().counter, count),
            },
            Problem::Hazard { rule, found } => nops(rule.states.saturating_sub(found)),
            Problem::Event { rule } => rule.mend.to_owned(),
        }
    }

    /// Takes in what another path has for the same rule and the same instructions: the worse of the two. Whether it is about the same.
    pub(crate) fn merge(&mut self, other: &Finding) -> bool {
        if (self.first, self.second, self.id()) != (other.first, other.second, other.id()) {
            return false;
        }
        self.is_doubtful &= other.is_doubtful;
        match (&mut self.problem, other.problem) {
            (Problem::Hazard { found, .. }, Problem::Hazard { found: theirs, .. }) => {
                *found = (*found).min(theirs);
            }
            (
                Problem::InFlight { outstanding, count, .. },
                Problem::InFlight { outstanding: more, count: less, .. },
            ) => (*outstanding, *count) = ((*outstanding).max(more), (*count).min(less)),
            _ => {}
        }
        true
    }
}

/// `s_nop` instructions for so many wait states: eight at most each, which is what GFX6 and GFX7 can.
fn nops(mut states: u8) -> String {
    let mut text = String::new();
    while states > 0 {
        let part = states.min(8);
        if !text.is_empty() {
            text.push_str("; ");
        }
        text.push_str(&format!("s_nop {}", part - 1));
        states -= part;
    }
    text
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if let Some(range) = self.registers {
            write!(f, " ({})", registers(range))?;
        }
        match self.problem {
            Problem::InFlight { class, outstanding, .. } => {
                let info = class.info();
                write!(f, ": {} operation, {} up to {outstanding}", info.name, info.counter.name())
            }
            Problem::Hazard { rule, found } => {
                write!(f, ": {found} wait states between the two, {} needed", rule.states)
            }
            Problem::Event { .. } => Ok(()),
        }
    }
}

/// A group of registers as an assembler writes it.
pub fn registers(range: RegRange) -> String {
    let one = |reg: Reg| match reg.0 {
        106 => "vcc_lo".to_owned(),
        107 => "vcc_hi".to_owned(),
        124 => "m0".to_owned(),
        126 => "exec_lo".to_owned(),
        127 => "exec_hi".to_owned(),
        192..=223 => format!("hwreg {}", reg.0 - 192),
        _ => format!("{reg:?}"),
    };
    match (range.first.0, range.len) {
        (106, 2) => "vcc".to_owned(),
        (126, 2) => "exec".to_owned(),
        (_, 1) => one(range.first),
        (first, len) => {
            let name = format!("{:?}", range.first);
            let number = range.first.number();
            let _ = first;
            format!("{}[{number}:{}]", &name[..1], number + u16::from(len) - 1)
        }
    }
}
