//! What linking found: where everything is, and what each kernel needs and why.

use crate::stack::Unknown;
use rustc_hash::FxHashMap;
use std::fmt;

/// A function or a symbol, and the file that it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// The file.
    pub object: String,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} in {}", self.name, self.object)
    }
}

/// What a kernel needs of something because of code in other objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// `VGPRs`, `AGPRs`, `SGPRs`, `LDS`.
    pub name: &'static str,
    /// How much.
    pub needed: u64,
    /// Who needs the most.
    pub by: Part,
    /// What the descriptor allotted.
    pub allotted: u64,
    /// What it allots now.
    pub now: u64,
}

/// Scratch memory of a kernel that reaches code of other objects; bytes of each lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scratch {
    /// What the descriptor allotted.
    pub allotted: u64,
    /// What it allots now.
    pub now: u64,
    /// What kernel and callees take: all, or, if something is unknown, at least.
    pub known: u64,
    /// The deepest calls, with what each takes.
    pub chain: Vec<(Part, u64)>,
    /// Of what it cannot be told how much it takes.
    pub unknown: Option<(Part, Unknown)>,
    /// Whether the descriptor leaves the size to the runtime.
    pub is_dynamic: bool,
}

/// What was found of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelReport {
    /// The kernel.
    pub name: String,
    /// The file that it is of.
    pub object: String,
    /// Code that it reaches.
    pub functions: Vec<Part>,
    /// Registers that code in other objects needs.
    pub registers: Vec<Count>,
    /// LDS symbols that it reaches; what is needed is where they end.
    pub lds: Vec<Count>,
    /// Scratch memory, if it reaches code of other objects.
    pub scratch: Option<Scratch>,
}

/// A piece of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Of the output.
    pub section: String,
    /// Where it is loaded; the offset in its section if it is not.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// The section that it was, and its file.
    pub part: Part,
}

/// What linking found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Kernels in the order of their objects.
    pub kernels: Vec<KernelReport>,
    /// Where sections of the objects are.
    pub rows: Vec<Row>,
    /// What is suspicious, a sentence each.
    pub warnings: Vec<String>,
}

impl Report {
    /// Adds addresses of the output's sections to the offsets of rows. Where sections are: address and offset, by name.
    pub(crate) fn place(&mut self, file: &[u8]) -> FxHashMap<String, (u64, u64)> {
        let sections = codeobj::CodeObject::parse(file).map(|file| file.sections).unwrap_or_default();
        // Of several with one name the first.
        let places: FxHashMap<String, (u64, u64)> = sections
            .iter()
            .rev()
            .map(|section| (section.name.to_owned(), (section.address, section.offset)))
            .collect();
        for row in &mut self.rows {
            row.address += places.get(&row.section).map_or(0, |place| place.0);
        }
        places
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Unknown::Unbounded => "computes addresses in its frame, whose size its code does not say",
            Unknown::Dynamic => "moves the stack pointer by what is not constant",
            Unknown::Indirect => "calls what a register says",
            Unknown::Recursive => "is called again before it returns",
            Unknown::Code => "cannot be followed",
        })
    }
}

impl fmt::Display for KernelReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "kernel {} in {}", self.name, self.object)?;
        for function in &self.functions {
            writeln!(f, "  reaches {function}")?;
        }
        for Count { name, needed, by, allotted, now } in self.registers.iter().chain(&self.lds) {
            write!(f, "  {name}: {needed} of {by}; ")?;
            match now > allotted {
                true => writeln!(f, "raised from {allotted} to {now}")?,
                false => writeln!(f, "{allotted} were allotted")?,
            }
        }
        let Some(scratch) = &self.scratch else { return Ok(()) };
        let least = if scratch.unknown.is_some() { "at least " } else { "" };
        write!(f, "  scratch: {least}{} bytes", scratch.known)?;
        for (n, (part, bytes)) in scratch.chain.iter().enumerate() {
            write!(f, "{}{bytes} of {part}", if n == 0 { ", " } else { " + " })?;
        }
        writeln!(f)?;
        if let Some((part, why)) = &scratch.unknown {
            writeln!(f, "    {part} {why}")?;
        }
        match scratch.now == scratch.allotted {
            true => write!(f, "    {} bytes were allotted", scratch.allotted)?,
            false => write!(f, "    {} bytes are allotted, {} were", scratch.now, scratch.allotted)?,
        }
        writeln!(f, "{}", if scratch.is_dynamic { ", the rest is left to the runtime" } else { "" })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut section = None;
        for row in &self.rows {
            if section != Some(&row.section) {
                writeln!(f, "{}", row.section)?;
                section = Some(&row.section);
            }
            writeln!(f, "  {:#012x} {:#10x} {}", row.address, row.size, row.part)?;
        }
        for kernel in &self.kernels {
            write!(f, "\n{kernel}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "\nwarning: {warning}")?;
        }
        Ok(())
    }
}
