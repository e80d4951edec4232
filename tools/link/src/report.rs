//! The report of a link: where everything is in the output, and what each kernel needs and why.

use crate::stack::Unknown;
use rustc_hash::FxHashMap;
use std::fmt;

/// Function or symbol, and the file that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name of the function or symbol.
    pub name: String,
    /// Name of the file.
    pub object: String,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} in {}", self.name, self.object)
    }
}

/// Amount of a resource that a kernel needs because of code in other objects, with the part of the program
/// that needs the most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Name of the resource: `VGPRs`, `AGPRs`, `SGPRs` or `LDS`.
    pub name: &'static str,
    /// Amount that is needed.
    pub needed: u64,
    /// Function or symbol that needs the most.
    pub by: Part,
    /// Amount that the descriptor allocated originally.
    pub allotted: u64,
    /// Amount that the descriptor allocates in the output.
    pub now: u64,
}

/// Scratch memory of a kernel that reaches code of other objects, in bytes of each lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scratch {
    /// Amount that the descriptor allocated originally.
    pub allotted: u64,
    /// Amount that the descriptor allocates in the output.
    pub now: u64,
    /// Number of bytes that the kernel and its callees take, as far as their code shows it. If some amount is
    /// unknown, this is a lower bound.
    pub known: u64,
    /// The chain of calls that needs most stack. Each function in the chain has the number of bytes that it
    /// takes.
    pub chain: Vec<(Part, u64)>,
    /// Function whose amount is unknown, and the reason.
    pub unknown: Option<(Part, Unknown)>,
    /// Whether the descriptor leaves the size to the runtime.
    pub is_dynamic: bool,
}

/// Facts about a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelReport {
    /// Name of the kernel.
    pub name: String,
    /// File that contains the kernel.
    pub object: String,
    /// Functions that the kernel reaches.
    pub functions: Vec<Part>,
    /// Registers that code in other objects needs.
    pub registers: Vec<Count>,
    /// LDS symbols that the kernel reaches. The amount of each is the LDS up to the end of the symbol, which
    /// the kernel needs.
    pub lds: Vec<Count>,
    /// Scratch memory that the kernel needs, if the kernel reaches code of other objects.
    pub scratch: Option<Scratch>,
}

/// Part of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Output section.
    pub section: String,
    /// Address in memory. For a section that is not loaded, this is the offset in the output section.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// Input section, and its file.
    pub part: Part,
}

/// Result of linking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Kernels in the order of their objects.
    pub kernels: Vec<KernelReport>,
    /// Positions of the input sections.
    pub rows: Vec<Row>,
    /// Suspicious facts, one sentence each.
    pub warnings: Vec<String>,
}

impl Report {
    /// Completes the rows of the report: adds the address of the output section to each offset. Returns the
    /// address and the file offset of each section, by name.
    pub(crate) fn add_addresses(&mut self, file: &[u8]) -> FxHashMap<String, (u64, u64)> {
        let sections = codeobj::CodeObject::parse(file).map(|file| file.sections).unwrap_or_default();
        // If several sections have the same name, the report has the address of the first one.
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
