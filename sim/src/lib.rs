//! Loads a code object and executes it.
//!
//! The emulator knows the processor from its manuals and nothing of the compiler: it reads the ELF file, sets up
//! registers as the kernel descriptor asks, and runs work-groups on the host's threads. It is functional: every
//! instruction completes at once, and there is one copy of memory.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let object = sim::CodeObject::load(&std::fs::read("saxpy.co")?)?;
//! let mut device = sim::Device::new();
//! let module = device.load(&object)?;
//! let y = device.alloc(4096)?;
//! let stats = device.run(
//!     module,
//!     &sim::Dispatch {
//!         kernel: "fill",
//!         grid: [1024, 1, 1],
//!         group: [256, 1, 1],
//!         kernarg: y.to_le_bytes().to_vec(),
//!         dynamic_lds: 0,
//!         limits: sim::Limits::default(),
//!     },
//! )?;
//! println!("{} instructions", stats.instructions);
//! # Ok(())
//! # }
//! ```

pub mod args;
mod buffer;
mod descriptor;
mod device;
mod exec;
mod fault;
mod float;
mod group;
mod launch;
mod memory;
mod metadata;
mod npy;
mod object;
mod op;
mod stats;
mod strict;
mod watch;
mod wave;

pub use args::{ArgValue, Placed, parse_arg};
pub use buffer::{Buffer, Number};
pub use descriptor::Descriptor;
pub use device::{Device, DevicePtr, ModuleId};
pub use fault::{Access, Fault, Location};
pub use launch::{Dispatch, Limits};
pub use metadata::{ArgInfo, ArgKind, Scalar};
pub use npy::{NpyError, read_npy, write_npy};
pub use object::{CodeObject, KernelInfo, LoadError, Symbol};
pub use stats::RunStats;
pub use strict::{FaultClass, Mode, Report};
