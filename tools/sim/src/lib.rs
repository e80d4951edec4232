//! Loads a code object and executes it.
//!
//! The emulator takes its knowledge of the processor from the manuals, not from the compiler. It reads the
//! ELF file, sets up registers as the kernel descriptor asks, and runs work-groups on the host's threads. The
//! library's interface follows HIP's:
//!
//! | HIP | here |
//! |-|-|
//! | `hipModuleLoadData` | [`CodeObject::load`], [`Device::load`] |
//! | `hipModuleGetFunction` | [`CodeObject::kernel`] |
//! | `hipModuleGetGlobal` | [`Device::symbol`] |
//! | `hipMalloc`, `hipFree` | [`Device::alloc`], [`Device::free`] |
//! | `hipMemcpy`, `hipMemset` | [`Device::write`], [`Device::read`], [`Device::copy`], [`Device::fill`] |
//! | `hipModuleLaunchKernel` and its `kernelParams` | [`Device::run`] with a [`Dispatch`], [`KernelInfo::pack`] |
//! | `hsa_queue_create`, packets, `hsa_signal_store` of the doorbell | [`Device::create_queue`], [`Device::submit`], [`Device::process`] |
//! | `hsa_signal_create`, `hsa_signal_load` | [`Device::signal`], [`Device::signal_value`] |
//! | text of `printf` | [`Device::take_printed`] |
//!
//! ```
//! use sim::{Arg, CodeObject, Device, Dispatch};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // saxpy(const float *x, float *y, float a, int n), as clang compiles it for gfx906.
//! let object = CodeObject::load(include_bytes!("../tests/data/saxpy.co"))?;
//! let kernel = object.kernel("saxpy").ok_or("no such kernel")?;
//!
//! let mut device = Device::new();
//! let module = device.load(&object)?;
//! let x = device.alloc(4 * 1000)?;
//! let y = device.alloc(4 * 1000)?;
//! device.write(x, &2.5f32.to_le_bytes().repeat(1000))?;
//! device.fill(y, 0, 4 * 1000)?;
//!
//! let dispatch = Dispatch {
//!     kernel: "saxpy",
//!     grid: [1024, 1, 1],
//!     group: [256, 1, 1],
//!     kernarg: kernel.pack(&[Arg::from(x), Arg::from(y), Arg::from(4.0f32), Arg::from(1000)])?,
//!     ..Dispatch::default()
//! };
//! let stats = device.run(module, &dispatch)?;
//! assert_eq!((stats.groups, stats.waves), (4, 16));
//!
//! let mut last = [0; 4];
//! device.read(y + 4 * 999, &mut last)?;
//! assert_eq!(f32::from_le_bytes(last), 10.0);
//! # Ok(())
//! # }
//! ```

pub mod args;
mod banks;
mod buffer;
pub mod compare;
mod conversion;
mod deadlock;
mod debug;
mod descriptor;
mod device;
mod estimate;
mod exec;
mod fault;
mod fidelity;
mod flight;
mod float;
mod functions;
mod group;
mod hidden;
mod hostcall;
pub mod idle_waits;
mod launch;
mod memory;
mod metadata;
mod names;
mod npy;
mod object;
mod observe;
mod op;
mod pack;
mod packet;
mod pal;
mod prepare;
mod printf;
mod progress;
mod queue;
mod random;
mod schedule;
mod scratch;
mod soft;
mod stack;
mod stalled;
mod stats;
mod strict;
mod time_slices;
mod trap;
mod watch;
mod wave;
pub mod weak;
mod write;

pub use codeobj::disasm::SourcePlace;

pub use args::{ArgError, ArgValue, Conversion, Layout, Placed, parse_arg};
pub use buffer::{Buffer, Number};
pub use debug::{Debugger, Dword, FlatAddress, Go, Registers, Stopped};
pub use descriptor::Descriptor;
pub use device::{Device, DevicePtr, ModuleId};
pub use estimate::Estimate;
pub use fault::{Access, Called, Fault, Location};
pub use fidelity::{Fidelity, fidelity};
pub use flight::{InFlight, Operation};
pub use hostcall::message_text;
pub use launch::{Dispatch, Limits};
pub use metadata::{ArgInfo, ArgKind, Scalar};
pub use npy::{NpyError, read_npy, write_npy};
pub use object::{CodeObject, KernelInfo, LoadError, Symbol};
pub use observe::{Executed, Observe, Profile, Traffic};
pub use pack::Arg;
pub use packet::{Fence, KernelPacket, Packet, PacketKind};
pub use printf::printf_text;
pub use progress::Progress;
pub use queue::{QueueError, QueueId, QueueState};
pub use stats::RunStats;
pub use strict::{Agreement, FaultClass, Level, Mode, Report, Rule, Scramble, rules};
pub use write::Write;
