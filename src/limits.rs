//! Limits on the resources of a compilation, for services that compile untrusted programs.

use crate::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

/// Limits of a compilation. `None` means no limit.
///
/// The limits on sizes also bound the memory: the compiler needs a few kilobytes for each IR instruction or
/// machine instruction, whichever are more. The time is checked between passes, and each pass takes time in
/// proportion to the size. A compilation whose time has run out therefore ends soon, but not immediately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest number of bytes of source text.
    pub source_bytes: Option<u64>,
    /// Largest number of IR instructions, after any pass.
    pub ir_instructions: Option<u64>,
    /// Largest number of machine instructions of all kernels together.
    pub machine_instructions: Option<u64>,
    /// Longest time of the whole compilation.
    pub time: Option<Duration>,
}

impl Limits {
    /// Returns limits that suit a service for many users: a megabyte of source, 200,000 instructions, ten
    /// seconds.
    pub const fn service() -> Limits {
        Limits {
            source_bytes: Some(1 << 20),
            ir_instructions: Some(200_000),
            machine_instructions: Some(200_000),
            time: Some(Duration::from_secs(10)),
        }
    }
}

/// Resource that a limit applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Resource {
    SourceBytes,
    IrInstructions,
    MachineInstructions,
    Milliseconds,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::SourceBytes => "bytes of source",
            Resource::IrInstructions => "IR instructions",
            Resource::MachineInstructions => "machine instructions",
            Resource::Milliseconds => "ms of time",
        })
    }
}

/// Limits of one compilation and its start time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limits: Limits,
    began: Option<Instant>,
}

impl Budget {
    pub fn start(limits: Limits) -> Budget {
        Budget { limits, began: limits.time.map(|_| Instant::now()) }
    }

    pub fn source(&self, bytes: usize) -> Result<(), Error> {
        within(Resource::SourceBytes, self.limits.source_bytes, bytes)
    }

    /// Checks the limits after a pass over the IR.
    pub fn ir(&self, module: &ir::Module) -> Result<(), Error> {
        if self.limits.ir_instructions.is_some() {
            let of_function = |func: &ir::Function| {
                func.layout.iter().map(|&block| func.blocks[block].insts().len()).sum::<usize>()
            };
            let all = module.funcs.values().map(of_function).sum();
            within(Resource::IrInstructions, self.limits.ir_instructions, all)?;
        }
        self.time()
    }

    /// Checks the limits after a pass over machine code. `instructions` is the number of machine instructions
    /// that exist after the pass.
    pub fn machine(&self, instructions: usize) -> Result<(), Error> {
        within(Resource::MachineInstructions, self.limits.machine_instructions, instructions)?;
        self.time()
    }

    pub fn time(&self) -> Result<(), Error> {
        match (self.limits.time, self.began) {
            (Some(allowed), Some(began)) if began.elapsed() > allowed => {
                Err(Error::Limit { resource: Resource::Milliseconds, allowed: allowed.as_millis() as u64 })
            }
            _ => Ok(()),
        }
    }
}

fn within(resource: Resource, allowed: Option<u64>, needed: usize) -> Result<(), Error> {
    match allowed {
        Some(allowed) if needed as u64 > allowed => Err(Error::Limit { resource, allowed }),
        _ => Ok(()),
    }
}
