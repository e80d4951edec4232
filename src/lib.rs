//! A compiler for GPU kernels that emits AMD GPU code objects without using LLVM.
//!
//! [`Compiler::compile`] turns source text into a [`CodeObject`] that AMD's runtimes load. The emulator,
//! `kernc::sim` with the feature `sim`, runs the object on a machine without a GPU:
//!
#![cfg_attr(feature = "sim", doc = "```")]
#![cfg_attr(not(feature = "sim"), doc = "```ignore")]
//! let source = "
//!     #[workgroup_size(256)]
//!     kernel saxpy(n: u32, a: f32, x: *const global f32, y: *global f32) {
//!         let i = global_id(0);
//!         if i < n {
//!             y[i] = a * x[i] + y[i];
//!         }
//!     }";
//! let target = kernc::Target::by_name("gfx906").expect("a known processor");
//! let mut compiler = kernc::Compiler::new(target);
//! let object = compiler.compile(source, &kernc::Options::default()).expect("a correct kernel");
//! assert_eq!(object.kernels()[0].name, "saxpy");
//!
//! // Run it in the emulator.
//! let mut device = kernc::sim::Device::new();
//! let module = device.load(&kernc::sim::CodeObject::load(object.bytes()).unwrap()).unwrap();
//! let (x, y) = (device.alloc(4000).unwrap(), device.alloc(4000).unwrap());
//! for i in 0..1000u32 {
//!     device.write(x + u64::from(i) * 4, &(i as f32).to_le_bytes()).unwrap();
//!     device.write(y + u64::from(i) * 4, &1f32.to_le_bytes()).unwrap();
//! }
//! let args = object.kernels()[0]
//!     .pack(&[kernc::Arg::U32(1000), kernc::Arg::F32(2.0), kernc::Arg::Pointer(x), kernc::Arg::Pointer(y)])
//!     .unwrap();
//! let dispatch = kernc::sim::Dispatch {
//!     kernel: "saxpy",
//!     grid: [1000, 1, 1],
//!     group: [256, 1, 1],
//!     kernarg: args,
//!     dynamic_lds: 0,
//!     limits: kernc::sim::Limits::default(),
//!     ..kernc::sim::Dispatch::default()
//! };
//! device.run(module, &dispatch).unwrap();
//! let mut last = [0; 4];
//! device.read(y + 999 * 4, &mut last).unwrap();
//! assert_eq!(f32::from_le_bytes(last), 2.0 * 999.0 + 1.0);
//! ```
//!
//! # Stability
//! Version numbers follow semantic versioning: before 1.0, a minor version may change the interface, and a
//! patch version only adds to it. This holds for everything in this crate except the modules that the feature
//! `unstable` adds (`ir`, `isa`, `mir`), their types, and the functions that take these types, such as
//! [`Compiler::compile_module`] and [`Observer::ir`]: any release may change them. Enumerations and structs
//! that are marked as non-exhaustive grow in patch versions. The packages `kernc-*` are parts of kernc, not
//! interfaces.

mod calls;
mod code_object;
mod error;
mod files;
mod fingerprint;
mod handwritten;
mod limits;
mod machine;
mod models;
mod options;
mod parallel;
mod passes;
mod pipeline;
mod pool;
mod processor;
mod program;
mod register_limit;
mod shared;
mod warn;

pub use callconv::Convention;
pub use code_object::{Arg, CodeObject, KernelArg, KernelInfo, PackError, Reason, Resources};
pub use emit::Language;
pub use error::{Error, Place};
pub use files::Directories;
pub use fingerprint::Fingerprint;
pub use frontend::{
    Diagnostic, Diagnostics, Documented, File, Files, Level, Printf, Severity, SourceText, UsedFile,
    Warnings, documentation, explain,
};
/// The intermediate representation. It is the input of [`Compiler::compile_module`], and an [`Observer`] can
/// look at it.
#[cfg(feature = "unstable")]
pub use ir;
pub use ir::{Denormals, Exceptions, InitialState};
/// Description of the target machine: processors, registers, instructions.
#[cfg(feature = "unstable")]
pub use isa;
pub use isa::{
    CodeObjectVersion, ModeError, Modes, Os, PROCESSORS, Setting, Subtarget, Target, combinations,
};
pub use isa::{Occupancy, OccupancyLimit};
pub use limits::{Limits, Resource};
/// Machine code as an [`Observer`] sees it.
#[cfg(feature = "unstable")]
pub use mir;
pub use options::{DebugInfo, Dialect, Dwarf, DwarfVersion, OptLevel, Options};
pub use passes::{Form, PassRange, passes};
pub use pipeline::{Compiler, KeepIr, Observer};
pub use pool::{Pool, PooledCompiler};
pub use program::{Program, TextOptions};
pub use register_limit::{VgprLimit, VgprLimitReason};
/// The emulator.
#[cfg(feature = "sim")]
pub use sim;
