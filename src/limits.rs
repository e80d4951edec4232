//! How much a program may ask of the compiler, for those who compile what strangers send them.

use crate::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

/// What a compilation may use; `None` is as much as it takes.
///
/// Memory follows from the sizes: the compiler needs a few kilobytes for each instruction, of the IR or the machine,
/// whichever are more. Time is looked at between passes, each of which takes time in proportion to the size: a
/// compilation ends soon after its time is over, not at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of source text.
    pub source_bytes: Option<u64>,
    /// Instructions of the IR, after any pass.
    pub ir_instructions: Option<u64>,
    /// Machine instructions of all kernels.
    pub machine_instructions: Option<u64>,
    /// Time from start to end.
    pub time: Option<Duration>,
}

impl Limits {
    /// What suits a service: a megabyte of source, 200,000 instructions, ten seconds.
    pub const fn service() -> Limits {
        Limits {
            source_bytes: Some(1 << 20),
            ir_instructions: Some(200_000),
            machine_instructions: Some(200_000),
            time: Some(Duration::from_secs(10)),
        }
    }
}

/// What a limit is of.
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

/// The limits of one compilation, and when it began.
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

    /// After a pass over the IR.
    pub fn ir(&self, module: &ir::Module) -> Result<(), Error> {
        if self.limits.ir_instructions.is_some() {
            let of_function = |func: &ir::Function| {
                func.layout.iter().map(|&block| func.blocks[block].insts.len()).sum::<usize>()
            };
            let all = module.funcs.values().map(of_function).sum();
            within(Resource::IrInstructions, self.limits.ir_instructions, all)?;
        }
        self.time()
    }

    /// After a pass over machine code, of which there are so many instructions.
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
