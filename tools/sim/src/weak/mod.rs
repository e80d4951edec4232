//! Weak-memory mode: caches that go stale, memory operations that complete out of order.
//!
//! The handlers of `exec` stay the only meaning of instructions. A memory instruction is *issued*: the registers it reads
//! are copied. It is *performed*, in parts of a cache line, and it *returns*, which changes its registers. When, within what
//! the guide's memory model allows (seed 000, lines 3078-3135), is a choice: of a seed ([`Mode::Weak`]), or each of them in
//! turn ([`Device::explore`]).
//!
//! | file | what |
//! |---|---|
//! | `machine` | what does not change, and one step of a wave |
//! | `issue`, `perform`, `returns` | the life of a memory instruction |
//! | `state` | all that choices change |
//! | `watchers` | through which handlers meet it |
//! | `registers` | contents of registers, kept aside |
//! | `cache` | lines |
//! | `l2` | what agents keep of memory that is not theirs alone |
//! | `info` | what is needed of an instruction |
//! | `schedule` | one run by a seed |
//! | `debugging` | what a debugger sees of it |
//! | `explore`, `search` | all runs of a small program |
//!
//! `docs/weak-memory.md` has the model and what it leaves out.
//!
//! [`Mode::Weak`]: crate::Mode::Weak
//! [`Device::explore`]: crate::Device::explore

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

/// Upper half of the addresses through which flat instructions reach LDS.
pub const LDS_APERTURE: u32 = crate::wave::SHARED_APERTURE;

pub(crate) use schedule::run;
pub(crate) use search::search;
