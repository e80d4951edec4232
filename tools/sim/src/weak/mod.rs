//! Weak-memory mode: caches can be stale, and memory operations can complete out of order.
//!
//! The handlers in `exec` execute the instructions in this mode, too, but a memory instruction has three
//! stages. First it is *issued*: the registers that it reads are copied. Then it is *performed*, in parts of
//! one cache line each. At last it *returns*, and its result registers change. The time between the stages is
//! a choice within the limits of the memory model in LLVM's AMDGPU guide (seed 000, lines 3078-3135). In
//! [`Mode::Weak`], a random generator with a given seed makes the choices. [`Device::explore`] tries all
//! choices.
//!
//! | file | contents |
//! |---|---|
//! | `machine` | the fixed part of a run, and one step of a wave |
//! | `issue`, `perform`, `returns` | the stages of a memory instruction |
//! | `state` | the state that choices change |
//! | `watchers` | watchers that connect handlers to this model |
//! | `registers` | saved contents of registers |
//! | `cache` | cache lines |
//! | `l2` | the L2 caches of several agents |
//! | `info` | decoded facts about instructions |
//! | `schedule` | one run from a seed |
//! | `debugging` | the view of a debugger |
//! | `explore`, `search` | all runs of a small program |
//!
//! `docs/weak-memory.md` describes the model and its limits.
//!
//! [`Mode::Weak`]: crate::Mode::Weak [`Device::explore`]: crate::Device::explore

mod cache;
mod debugging;
mod explore;
mod info;
mod issue;
mod l2;
mod machine;
mod perform;
mod registers;
mod returns;
mod schedule;
mod search;
mod state;
mod watchers;

pub use l2::{Grain, Range};
pub use search::{End, Exploration, Outcome, Place, Register, Search, Thread};

/// Upper half of the generic addresses with which flat instructions access LDS.
pub const LDS_APERTURE: u32 = crate::wave::SHARED_APERTURE;

pub(crate) use schedule::run;
pub(crate) use search::search;
