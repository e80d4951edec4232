//! A debugger for kernels that run in the emulator.
//!
//! Before each instruction of each wave, the emulator calls a [`Session`] ([`sim::Debugger`]). The session
//! looks up the instruction in the object ([`Program`]), keeps the call stack of each wave, and decides
//! whether the wave stops there: for a breakpoint, for a step that has reached another line, or for a watched
//! location in memory whose value has changed. When a wave stops, the session calls a [`FrontEnd`], which
//! inspects the wave and returns how the dispatch goes on.
//!
//! Stepping backwards is done by running the dispatch again from its beginning. A dispatch with a debugger
//! runs on one thread, so its n-th instruction is the same in each run. The caller that runs the session runs
//! it again when [`Session::wants_again`] returns true.

mod assign;
mod breakpoints;
mod expr;
mod format;
mod gate;
mod hits;
mod instruction;
mod lanes;
mod letter;
mod log;
mod machine;
mod pending;
mod places;
mod presence;
mod program;
mod session;
mod sight;
mod spot;
mod stop;
mod unwinding;
mod variables;
mod waves;
mod write;

pub use breakpoints::{Breakpoint, Breakpoints, LeftOut, Wanted, Watchpoint};
pub use expr::{Language, Parts, Problem, Shown};
pub use gate::Gate;
pub use hits::Hits;
pub use lanes::{Lanes, LanesAt, Position, lanes};
pub use letter::Letter;
pub use program::{Function, Line, Program};
pub use session::{Action, FrontEnd, Session, Step};
pub use sight::{Seen, Sight, Sights};
pub use sim::Stopped;
pub use spot::{Place, Spot};
pub use stop::{Frame, Reason, Space, Stop, Variables};
pub use waves::Who;
