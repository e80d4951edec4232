//! Description of the machine. It consists of the processors, registers, instruction table, encoder, decoder
//! and assembler syntax.

pub mod abi;
pub mod addressing;
pub mod decode;
pub mod effects;
pub mod encode;
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
pub mod products;
pub mod reg;
mod regset;

pub mod replay;
pub mod scratch;
pub mod shrink;
mod slots;
pub mod special;
pub mod spelling;
pub mod subtarget;
pub mod system;
pub mod table;
pub mod target;
pub mod target_id;
mod tolerant;
mod view;
pub mod wait;

pub use abi::{Abi, AbiInput, AbiSlot};
pub use addressing::{Addressing, Apertures, FlatScratch, Offsets};
pub use decode::{DecodeError, Decoder, decode};
pub use encode::{EncodeError, encode, size_in_words};
pub use graphics::names as graphics_names;
pub use hidden::{Hidden, HiddenArg, HiddenArgs};
pub use inst::{Form, Lane, MachInst, MemId, ModFlags, Mods, NoteId, SdwaSel};
pub use legal::{constant_bus_limit, constant_bus_ok};
pub use modifiers::is_dpp_ctrl;
pub use occupancy::{Occupancy, OccupancyLimit, Usage};
pub use operand::{MBlock, Operand, RegRange, Scattered, Tuple, inline_half};
pub use print::write_inst;
pub use reg::{Reg, RegClass, VReg};
pub use regset::RegSet;
pub use scratch::{PrivateAccess, ScratchAccess};
pub use shrink::{choose_form, swapped};
pub use subtarget::{CodeObjectVersion, Os, Setting, Subtarget};
pub use system::{DataAddress, KernelHeader, LaunchSizes, ScratchSetUp, System};
pub use table::{Opcode, Role, Row, op};
pub use target::{
    Arch, ArchId, ArchSet, CacheLevels, CodeEnd, DescriptorFacts, DescriptorFields, Fact, Feature, FlatOrder,
    Hazard, Hazards, MemoryModel, PROCESSORS, Registers, StoreCounter, Target, UnknownFact,
};
pub use target_id::{ModeError, Modes, Spelling, TargetId, combinations};
pub use view::FuncView;
pub use wait::{Counter, Counts, WaitCount, WaitInst, Waits};
