//! A debugger for kernels that run in the emulator.
//!
//! A [`Session`] is asked by the emulator before each instruction of each wave ([`sim::Debugger`]). It knows from the object what the
//! instruction belongs to ([`Program`]), keeps the calls of each wave, and decides whether somebody wants to stop there: a breakpoint, a
//! step that has come to another line, a watched place that has changed. A [`FrontEnd`] is told then, looks at what it likes, and says how
//! to go on.
//!
//! The way back is the way forward, again: a dispatch with a debugger runs on one thread, so that its n-th instruction is the same each
//! time. To go back to an instruction, whoever runs the session runs it anew ([`Session::wants_again`]).

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
