//! Description of the machine: processors, registers, instruction table, encoder, decoder, assembler syntax.

pub mod abi;
pub mod addressing;
mod archive;
pub mod decode;
mod dump;
pub mod effects;
pub mod encode;
pub mod func;
mod graphics;
pub mod hidden;
pub mod inst;
mod layout;
pub mod legal;
mod modifiers;
pub mod names;
pub mod occupancy;
pub mod operand;
pub mod print;
mod processors;
pub mod products;
pub mod reg;
mod regset;

pub mod replay;
pub mod shrink;
mod slots;
mod spare;
pub mod special;
pub mod spelling;
pub mod subtarget;
pub mod table;
pub mod target;
pub mod target_id;
pub mod text;
mod tolerant;
pub mod track;
pub mod wait;

pub use abi::{AbiInput, AbiSlot};
pub use addressing::{Addressing, Apertures, FlatScratch, Offsets};
pub use archive::Archive;
pub use decode::{DecodeError, Decoder, decode};
pub use encode::{EncodeError, encode, size_in_words};
pub use func::{
    Abi, ArgRange, CALL_PINS, CallSite, Callee, Distance, Edge, Edges, FuncRole, MBlock, MachBlock, MachFunc,
    MemId, MemRef, Note, NoteId, Referent, RelocRef, SpaceSet, SpareLists, SpillCount, SyncOrder, SyncScope,
    TAIL_TARGET,
};
pub use graphics::names as graphics_names;
pub use hidden::{Hidden, HiddenArg, HiddenArgs};
pub use inst::{Form, Lane, MachInst, ModFlags, Mods, SdwaSel};
pub use legal::{constant_bus_limit, constant_bus_ok};
pub use modifiers::is_dpp_ctrl;
pub use occupancy::{Occupancy, OccupancyLimit, Usage};
pub use operand::{Operand, RegRange, Scattered, Tuple, inline_half};
pub use print::{write_block_label, write_inst, write_inst_with};
pub use reg::{Reg, RegClass, VReg};
pub use regset::RegSet;
pub use shrink::{choose_form, swapped};
pub use spare::Spare;
pub use subtarget::{CodeObjectVersion, Os, Setting, Subtarget};
pub use table::{Opcode, Role, Row, op};
pub use target::{CodeEnd, Feature, Generation, PROCESSORS, Target};
pub use target_id::{ModeError, Modes, Spelling, TargetId, combinations};
pub use wait::{Counter, Counts, WaitCount, WaitInst};
