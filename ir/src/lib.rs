//! SSA intermediate representation: entities, types, text form, verifier, analyses, passes, interpreter.

pub mod analysis;
pub mod build;
pub mod constraints;
pub mod describe;
pub mod edit;
pub mod entity;
pub mod func;
pub mod half;
pub mod interp;
pub mod mnemonic;
pub mod op;
pub mod parse;
pub mod passes;
pub mod semantics;
pub mod state;
pub mod text;
pub mod track;
pub mod types;
pub mod verify;

pub use entity::{Block, FuncId, Global, Inst, SigId, Slot, Switch, Value};
pub use func::{
    Access, Case, Format, Function, GlobalData, Inline, InstData, KernelInfo, KernelParam, Linkage, Module,
    Opaque, ParamKind, Signature, SlotData, SrcLoc, SwitchData, SwitchEdge, UnrollHint, ValueData, ValueDef,
    ValueList, Values,
};
pub use op::{
    BinOp, CastOp, FloatCc, IntCc, Mem, MemFlags, Op, Order, Pos, RmwOp, Scope, Spaces, TernOp, UnOp, WaveOp,
};
pub use state::{Denormals, Exceptions, InitialState};
pub use types::{MemTy, Space, Type};
