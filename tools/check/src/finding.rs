//! Findings of the checker.

use crate::counters::{self, Class, Counter};
use crate::hazards::Rule;
use isa::RegRange;
use std::fmt;

/// Number of an instruction in a [`crate::Code`], from 0.
pub type Site = u32;

/// Number that stands for the caller of a function, in place of an instruction. It marks the operations that
/// the caller had in flight at the call.
pub const CALLER: Site = Site::MAX;

/// How the second instruction accesses the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// The instruction reads a register that an outstanding operation has not written yet.
    Reads,
    /// The instruction writes a register that an outstanding operation will overwrite later.
    Writes,
    /// The instruction overwrites a register that an outstanding operation has not read yet.
    Overwrites,
    /// The instruction returns from the function while an outstanding operation has not written its registers
    /// yet.
    Returns,
}

/// How certain a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Advice: the code may be right, but is worth a look.
    Advice,
    /// The manuals require that code obeys the rule, but code that has been in use for years breaks it
    /// without a visible error.
    Manual,
    /// The manuals require the rule, and code in use obeys it.
    Certain,
}

impl Level {
    /// Returns the name of the level.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Advice => "advice",
            Level::Manual => "by the manual",
            Level::Certain => "certain",
        }
    }
}

/// Why the code may be right in practice: an operation may be complete although the waits do not guarantee
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hope {
    /// No reason.
    None,
    /// So many operations were issued after the operation that the counter is at its maximum. The operation
    /// must be complete if the hardware stalls operations that it cannot count any more.
    Limit,
    /// Two counters count the operation. The code waits for only one of them, and this wait may have
    /// completed it.
    OtherCounter,
    /// The operation is a flat access. The wait would be sufficient if flat accesses completed in the order
    /// of their issue.
    FlatOrder,
}

/// What is wrong with the code.
#[derive(Clone, Copy, Debug)]
pub enum Problem {
    /// An instruction accesses a register too early: a memory operation has not written or read the register
    /// yet.
    InFlight {
        /// Class of the operation that is in flight.
        class: Class,
        /// Second class of the operation, if the code must wait for this class as well.
        also: Option<Class>,
        /// How the instruction accesses the register.
        access: Access,
        /// Number of operations of the counter that may be in flight.
        outstanding: u32,
        /// Count for which the code should wait.
        count: u8,
        /// Why the code may be correct in practice.
        hope: Hope,
    },
    /// There are too few wait states between two instructions.
    Hazard {
        /// The rule.
        rule: &'static Rule,
        /// Number of wait states that the code has between the instructions.
        found: u8,
    },
    /// A hazard that wait states do not mitigate.
    Event {
        /// The rule.
        rule: &'static EventRule,
    },
}

/// A rule that is not about wait states. It is either about a hazard that particular instructions mitigate,
/// or about an instruction that is wrong by itself.
#[derive(Debug)]
pub struct EventRule {
    /// Short name that identifies the rule.
    pub id: &'static str,
    /// Name of the rule for messages.
    pub name: &'static str,
    /// Instruction or change of the code that mitigates the hazard.
    pub mitigation: &'static str,
    /// Document from which the rule comes.
    pub source: &'static str,
    /// How certain a finding of the rule is.
    pub level: Level,
}

/// A finding.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// Instruction where the problem begins. If an instruction is wrong by itself, this is the same as
    /// `second`.
    pub first: Site,
    /// Instruction at which the wrong result would show.
    pub second: Site,
    /// Registers that the finding is about, if any.
    pub registers: Option<RegRange>,
    /// What it is.
    pub problem: Problem,
    /// Whether the hazard is doubtful. There are two reasons. The two instructions may be in different
    /// functions, while compilers look at one function at a time. Or the instructions between the two may
    /// take longer than the manuals and LLVM assume, so that enough time passes.
    pub is_doubtful: bool,
}

impl Finding {
    /// Returns how certain the finding is.
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

    /// Returns the short name that identifies the rule.
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

    /// Returns the name of the rule for messages.
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

    /// Returns the wait counter that the finding is about, if any.
    pub fn counter(&self) -> Option<Counter> {
        match self.problem {
            Problem::InFlight { class, .. } => Some(class.info().counter),
            _ => None,
        }
    }

    /// Returns the text of the instruction that removes the problem if it is inserted before the second
    /// instruction.
    pub fn mitigation(&self) -> String {
        match self.problem {
            Problem::InFlight { class, also, count, .. } => match also {
                Some(also) => {
                    format!("{} {}(0)", counters::wait(class.info().counter, 0), also.info().counter.name())
                }
                None => counters::wait(class.info().counter, count),
            },
            Problem::Hazard { rule, found } => nops(rule.states.saturating_sub(found)),
            Problem::Event { rule } => rule.mitigation.to_owned(),
        }
    }

    /// Merges another finding into this one, if both have the same rule and the same instructions. Such
    /// findings come from different paths through the code; the worse of the two is kept. Returns whether
    /// they were merged.
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

/// Returns `s_nop` instructions that together provide a number of wait states. Each provides at most eight,
/// which is the limit of GFX6 and GFX7.
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
            write!(f, " ({})", range.name())?;
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
