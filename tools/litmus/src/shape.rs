//! Parses the text of a shape.

use crate::matrix::{Scope, Space};
use std::collections::BTreeSet;
use std::fmt;

/// Memory order of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// Not atomic.
    Plain,
    /// Monotonic.
    Relaxed,
    /// Acquire.
    Acquire,
    /// Release.
    Release,
    /// Acquire and release.
    AcqRel,
    /// Sequentially consistent.
    SeqCst,
}

impl Order {
    /// Returns the name of the order.
    pub fn name(self) -> &'static str {
        match self {
            Order::Plain => "plain",
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acq_rel",
            Order::SeqCst => "seq_cst",
        }
    }

    fn parse(text: &str) -> Option<Order> {
        use Order::*;
        [Plain, Relaxed, Acquire, Release, AcqRel, SeqCst].into_iter().find(|order| order.name() == text)
    }
}

/// Memory order of an operation, and its scope if that differs from the scope of the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Semantics {
    /// Order.
    pub order: Order,
    /// Scope; `None` for the scope of the case.
    pub scope: Option<Scope>,
}

impl Semantics {
    /// Parses `acquire` or `acquire@agent`.
    fn parse(text: &str) -> Option<Semantics> {
        let Some((order, scope)) = text.split_once('@') else {
            return Some(Semantics { order: Order::parse(text)?, scope: None });
        };
        let scope = Scope::ALL.into_iter().find(|known| known.name() == scope)?;
        Some(Semantics { order: Order::parse(order)?, scope: Some(scope) })
    }
}

impl fmt::Display for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.order.name())?;
        self.scope.map_or(Ok(()), |scope| write!(f, "@{}", scope.name()))
    }
}

/// How a read-modify-write changes the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Replaces the value by the operand.
    Swap,
    /// Adds the operand to the value.
    Add,
    /// Compare-and-swap: replaces the variable's value by the operand if the value is the expected value.
    Cas {
        /// The expected value.
        expected: u32,
    },
}

/// A step of a thread. Variables are given by their index in [`Shape::variables`]; register number `n` is
/// named `rn` in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Statement {
    Load {
        register: usize,
        how: Semantics,
        variable: usize,
    },
    Store {
        how: Semantics,
        variable: usize,
        value: u32,
    },
    /// Stores the value of a register plus one.
    StoreNext {
        how: Semantics,
        variable: usize,
        register: usize,
    },
    /// A read-modify-write; without a register it returns nothing.
    Rmw {
        register: Option<usize>,
        change: Change,
        how: Semantics,
        variable: usize,
        value: u32,
    },
    /// A fence. If it names an address space, it orders only accesses to this space.
    Fence {
        how: Semantics,
        space: Option<Space>,
    },
    Barrier,
    /// A target for [`Statement::Until`].
    Label(String),
    /// Jumps back to the label unless the register has this value.
    Until {
        register: usize,
        value: u32,
        label: String,
    },
    /// Machine code. It is copied unchanged except that `{x}` becomes the VGPRs with the address of variable
    /// `x`, and `{r0}` the VGPR of register `r0`.
    Code(String),
}

/// A condition on an outcome: the values that registers and variables have at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Indices of registers, with their values.
    pub registers: Vec<(usize, u32)>,
    /// Indices of variables, with their values.
    pub variables: Vec<(usize, u32)>,
    /// The condition as it was written.
    pub text: String,
}

/// A litmus test: threads, and conditions on their outcomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Its name.
    pub name: String,
    /// Names of the variables; all variables are initially 0.
    pub variables: Vec<String>,
    /// Statements of each thread.
    pub threads: Vec<Vec<Statement>>,
    /// Thread of each register.
    pub registers: Vec<usize>,
    /// Conditions that no outcome may meet.
    pub forbidden: Vec<Condition>,
    /// Conditions that some outcome has to meet.
    pub allowed: Vec<Condition>,
    /// Outcomes that LLVM's memory model forbids but the code sequences of the hardware allow. A test checks
    /// that each of these outcomes really occurs in some case on each processor.
    pub gaps: Vec<Condition>,
    /// Whether all threads must be able to end even if caches never evict their lines.
    pub progress: bool,
    /// Work-group of each thread; empty if the shape does not say.
    pub groups: Vec<u32>,
    /// Names of the scopes for which the shape makes sense; all scopes if empty.
    pub scopes: Vec<String>,
    /// Names of the layouts for which the shape makes sense; all layouts if empty.
    pub layouts: Vec<String>,
    /// Whether atomics weaker than sequentially consistent order accesses to only one address space, as
    /// OpenCL's atomics do.
    pub one_as: bool,
    /// Processors, families (`gfx9`) or modes (`gfx10-cu`) for which the shape is meant; all if empty.
    pub processors: Vec<String>,
}

/// An error in the text of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Largest number of registers and of threads. Half as many variables are allowed. The generated code
/// reserves machine registers for these numbers.
pub(crate) const MAX: usize = 8;

impl Shape {
    /// Returns all values that a load can return: each value that some thread may write, and 0.
    pub fn values(&self) -> BTreeSet<u32> {
        let mut values = BTreeSet::from([0]);
        for statement in self.threads.iter().flatten() {
            let before: Vec<u32> = values.iter().copied().collect();
            match statement {
                Statement::Rmw { change: Change::Add, value, .. } => {
                    values.extend(before.iter().map(|old| old.wrapping_add(*value)));
                }
                Statement::StoreNext { .. } => values.extend(before.iter().map(|old| old.wrapping_add(1))),
                Statement::Store { value, .. } | Statement::Rmw { value, .. } => {
                    values.insert(*value);
                }
                _ => {}
            }
        }
        values
    }

    /// Returns the text of a statement, as it is written in a shape.
    pub fn statement_text(&self, statement: &Statement) -> String {
        let name = |variable: usize| &self.variables[variable];
        match statement {
            Statement::Load { register, how, variable } => {
                format!("r{register} = load {how} {}", name(*variable))
            }
            Statement::Store { how, variable, value } => format!("store {how} {} {value}", name(*variable)),
            Statement::StoreNext { how, variable, register } => {
                format!("store {how} {} r{register}+1", name(*variable))
            }
            Statement::Rmw { register, change, how, variable, value } => {
                let result = register.map_or(String::new(), |register| format!("r{register} = "));
                let variable = name(*variable);
                match change {
                    Change::Swap => format!("{result}swap {how} {variable} {value}"),
                    Change::Add => format!("{result}add {how} {variable} {value}"),
                    Change::Cas { expected } => format!("{result}cas {how} {variable} {expected} {value}"),
                }
            }
            Statement::Fence { how, space: None } => format!("fence {how}"),
            Statement::Fence { how, space: Some(space) } => format!("fence {how} {}", space.name()),
            Statement::Barrier => "barrier".into(),
            Statement::Label(label) => format!("label {label}"),
            Statement::Until { register, value, label } => {
                format!("until r{register} is {value} goto {label}")
            }
            Statement::Code(text) => format!("code {text}"),
        }
    }

    /// Parses a shape.
    ///
    /// # Errors
    /// The first line that cannot be parsed.
    pub fn parse(text: &str) -> Result<Shape, ParseError> {
        let mut shape = Shape::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            shape.line(line).map_err(|message| ParseError { line: number + 1, message })?;
        }
        let end = |message: &str| ParseError { line: text.lines().count(), message: message.into() };
        if shape.threads.is_empty() || shape.name.is_empty() {
            return Err(end("no name, or no thread"));
        }
        if !shape.groups.is_empty() && shape.groups.len() != shape.threads.len() {
            return Err(end("`groups` wants a number for each thread"));
        }
        Ok(shape)
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["name", name] => self.name = name.into(),
            ["scopes", ..] => self.scopes = words[1..].iter().map(|word| (*word).into()).collect(),
            ["processors", ..] => self.processors = words[1..].iter().map(|word| (*word).into()).collect(),
            ["groups", ..] => {
                self.groups = words[1..].iter().map(|word| number(word)).collect::<Result<_, _>>()?;
            }
            ["layout", ..] => self.layouts.push(words[1..].join(" ")),
            ["language", "opencl"] => self.one_as = true,
            ["progress"] => self.progress = true,
            ["thread"] if self.threads.len() < MAX => self.threads.push(Vec::new()),
            ["forbidden", ..] => {
                let condition = self.condition(&words[1..])?;
                self.forbidden.push(condition);
            }
            ["allowed", ..] => {
                let condition = self.condition(&words[1..])?;
                self.allowed.push(condition);
            }
            ["gap", ..] => {
                let condition = self.condition(&words[1..])?;
                self.gaps.push(condition);
            }
            _ => {
                let statement = self.statement(line, &words)?;
                self.threads.last_mut().ok_or("a statement before the first `thread`")?.push(statement);
            }
        }
        Ok(())
    }

    fn statement(&mut self, line: &str, words: &[&str]) -> Result<Statement, String> {
        let parse = |text: &str| Semantics::parse(text).ok_or(format!("`{text}` is no memory order"));
        Ok(match *words {
            [register, "=", "load", how, variable] => Statement::Load {
                register: self.define(register)?,
                how: parse(how)?,
                variable: self.variable(variable)?,
            },
            ["store", how, variable, value] if value.ends_with("+1") => Statement::StoreNext {
                how: parse(how)?,
                variable: self.variable(variable)?,
                register: self.register(value.trim_end_matches("+1"))?,
            },
            ["store", how, variable, value] => Statement::Store {
                how: parse(how)?,
                variable: self.variable(variable)?,
                value: number(value)?,
            },
            ["add", how, variable, value] => Statement::Rmw {
                register: None,
                change: Change::Add,
                how: parse(how)?,
                variable: self.variable(variable)?,
                value: number(value)?,
            },
            [register, "=", change @ ("swap" | "add"), how, variable, value] => Statement::Rmw {
                register: Some(self.define(register)?),
                change: if change == "swap" { Change::Swap } else { Change::Add },
                how: parse(how)?,
                variable: self.variable(variable)?,
                value: number(value)?,
            },
            [register, "=", "cas", how, variable, expected, value] => Statement::Rmw {
                register: Some(self.define(register)?),
                change: Change::Cas { expected: number(expected)? },
                how: parse(how)?,
                variable: self.variable(variable)?,
                value: number(value)?,
            },
            ["fence", how] => Statement::Fence { how: parse(how)?, space: None },
            ["fence", how, "global"] => Statement::Fence { how: parse(how)?, space: Some(Space::Global) },
            ["fence", how, "local"] => Statement::Fence { how: parse(how)?, space: Some(Space::Local) },
            ["barrier"] => Statement::Barrier,
            ["label", name] => Statement::Label(name.into()),
            ["until", register, "is", value, "goto", label] => Statement::Until {
                register: self.register(register)?,
                value: number(value)?,
                label: label.into(),
            },
            ["code", ..] => Statement::Code(line["code".len()..].trim().into()),
            _ => return Err(format!("`{line}` is no statement")),
        })
    }

    /// Returns the number of a register that the current thread writes.
    fn define(&mut self, name: &str) -> Result<usize, String> {
        let number = register_number(name)?;
        let thread = self.threads.len().checked_sub(1).ok_or("a statement before the first `thread`")?;
        match self.registers.len() {
            len if len == number => self.registers.push(thread),
            len if number < len && self.registers[number] == thread => {}
            _ => return Err(format!("{name}: registers are numbered in their order, each in one thread")),
        }
        Ok(number)
    }

    fn register(&self, name: &str) -> Result<usize, String> {
        let number = register_number(name)?;
        (number < self.registers.len()).then_some(number).ok_or(format!("{name} has no value"))
    }

    fn variable(&mut self, name: &str) -> Result<usize, String> {
        if let Some(found) = self.variables.iter().position(|other| other == name) {
            return Ok(found);
        }
        if self.variables.len() == MAX / 2 {
            return Err(format!("{name}: more than {} variables", MAX / 2));
        }
        self.variables.push(name.into());
        Ok(self.variables.len() - 1)
    }

    fn condition(&mut self, words: &[&str]) -> Result<Condition, String> {
        let mut condition = Condition { text: words.join(" "), ..Condition::default() };
        for word in words {
            let (name, value) = word.split_once('=').ok_or(format!("`{word}` is no `name=value`"))?;
            let value = number(value)?;
            match self.register(name) {
                Ok(register) => condition.registers.push((register, value)),
                Err(_) => {
                    let known = self.variables.iter().position(|other| other == name);
                    condition.variables.push((known.ok_or(format!("{name} is not used"))?, value));
                }
            }
        }
        Ok(condition)
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn register_number(name: &str) -> Result<usize, String> {
    let number = name.strip_prefix('r').and_then(|digits| digits.parse().ok());
    number.filter(|number| *number < MAX).ok_or(format!("`{name}` is not r0 to r{}", MAX - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_passing() {
        let text = "name MP\nthread\nstore plain x 1 # data\nstore release y 1\nthread\n\
                    r0 = load acquire y\nr1 = load plain x\nforbidden r0=1 r1=0";
        let shape = Shape::parse(text).unwrap();
        assert_eq!(shape.variables, ["x", "y"]);
        assert_eq!(shape.registers, [1, 1]);
        let how = Semantics { order: Order::Release, scope: None };
        assert_eq!(shape.threads[0][1], Statement::Store { how, variable: 1, value: 1 });
        assert_eq!(shape.forbidden[0].registers, [(0, 1), (1, 0)]);
    }

    #[test]
    fn scopes_of_single_operations() {
        let text =
            "name X\ngroups 0 0\nthread\nadd release@agent x 1\nthread\nfence acquire@workgroup\ngap x=1";
        let shape = Shape::parse(text).unwrap();
        let how = Semantics { order: Order::Release, scope: Some(Scope::Agent) };
        let rmw = Statement::Rmw { register: None, change: Change::Add, how, variable: 0, value: 1 };
        assert_eq!(shape.threads[0], [rmw]);
        assert_eq!(shape.groups, [0, 0]);
        assert_eq!(shape.gaps[0].variables, [(0, 1)]);
    }

    #[test]
    fn mistakes_have_lines() {
        for (text, line) in [
            ("name X\nstore plain x 1", 2),
            ("name X\nthread\nr1 = load plain x", 3),
            ("name X\nthread\nload x", 3),
            ("name X\nthread\nforbidden q=1", 3),
            ("thread", 1),
            ("name X\nthread\nstore release@planet x 1", 3),
            ("name X\nthread\nswap relaxed x 1", 3),
            ("name X\ngroups 0 1\nthread", 3),
        ] {
            assert_eq!(Shape::parse(text).unwrap_err().line, line, "{text}");
        }
    }
}
