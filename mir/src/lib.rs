//! Machine code as a program: functions, blocks, the two control-flow graphs, the reasons of instructions,
//! and the text form. The instructions themselves and the registers are those of the crate `isa`.
//!
//! Not here: passes. Each pass over machine code is in the crate of its stage.

mod archive;
mod dump;
pub mod flow;
mod func;
pub mod legal;
mod spare;
pub mod text;
pub mod track;
mod view;

pub use archive::Archive;
pub use func::{
    ArgRange, CALL_PINS, CallSite, Callee, Distance, Edge, Edges, FuncRole, MachBlock, MachFunc, MemRef,
    Note, Referent, RelocRef, SPACE_GLOBAL, SPACE_PRIVATE, SPACE_SHARED, SpaceSet, SpareLists, SpillCount,
    SyncOrder, SyncScope, TAIL_TARGET,
};
pub use spare::Spare;
