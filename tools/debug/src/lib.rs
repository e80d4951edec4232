//! A debugger for kernels that run in the emulator.
//!
//! Before each instruction of each wave, the emulator calls a [`Session`] ([`sim::Debugger`]). The session
//! looks up the instruction in the object ([`Program`]), keeps the call stack of each wave, and decides
//! whether the wave stops there. A wave stops for a breakpoint, for a step that has reached another line, or
//! when a watched value in memory has changed. When a wave stops, the session calls a [`FrontEnd`], which
//! inspects the wave and returns how the dispatch continues.
//!
//! A step backwards runs the dispatch again from its beginning. A dispatch with a debugger runs on one
//! thread, so its n-th instruction is the same in each run. The caller that runs the session runs it again
//! when [`Session::wants_again`] returns true.

mod arrival_filter;
mod assign;
mod breakpoint_places;
mod breakpoints;
mod expr;
mod format;
mod hits;
mod instruction;
mod lanes;
mod log;
mod machine;
mod memory_value;
mod number_format;
mod pending;
mod presence;
mod program;
mod session;
mod stop;
mod stop_variables;
mod unwinding;
mod variables;
mod waves;
mod write;

pub use arrival_filter::ArrivalFilter;
pub use breakpoints::{Breakpoint, Breakpoints, LeftOut, Wanted, Watchpoint};
pub use expr::{Language, Parts, Problem, Shown};
pub use hits::Hits;
pub use lanes::{Lanes, LanesAt, Position, lanes};
pub use memory_value::{MemoryLocation, MemoryValue};
pub use number_format::NumberFormat;
pub use program::{Function, Line, Program};
pub use session::{Action, FrontEnd, Session, Step};
pub use sim::Stopped;
pub use stop::{Frame, Reason, Space, Stop, Variables};
pub use stop_variables::{AddressCache, ScopeVariable, StopVariables};
pub use waves::WaveId;
