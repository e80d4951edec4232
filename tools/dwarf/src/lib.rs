//! Debug information of AMD GPU code objects: reading, evaluating and printing.
//!
//! LLVM's AMDGPU guide extends DWARF because standard DWARF cannot describe optimised GPU code (seed 000,
//! lines 554-2168). In the extended dialect, a location description may be an entry of the expression stack.
//! The location may be in any address space, a lane's part of a vector register, or a composite whose parts a
//! mask selects. Readers of standard DWARF cannot process such expressions.
//!
//! [`evaluate`] implements the guide's definition, with a [`Machine`] that supplies the contents of registers
//! and memory. [`DebugInfo`] reads the entries of a file, and [`DebugInfo::at`] prints what the debug
//! information says about an address. [`Frames`] reads call frame information. [`Caller`] is the state of the
//! machine as the caller of the current function sees it.
//!
//! ```
//! use dwarf::{Encoding, Goal, Lanes, assemble, evaluate};
//!
//! // Lane 3's dword of v7, in waves of 64.
//! let encoding = Encoding::default();
//! let text = "DW_OP_regx v7.64; DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul; DW_OP_LLVM_offset";
//! let expression = assemble(text, encoding).unwrap();
//! let result = evaluate(&expression, encoding, Goal::Location, &Lanes { lane: 3 }, &[]).unwrap();
//! assert_eq!(result.location().unwrap().to_string(), "v7 + 96 bits");
//! ```

mod entry_state;
mod error;
mod eval;
mod frame;
mod index;
mod info;
mod llvm;
mod location;
mod machine;
mod names;
mod op;
mod show;
mod show_frame;
mod text;
mod type_names;
mod unwind;
mod value;

pub use entry_state::{CallSites, EntryState, LoadedProgram, parameter};
pub use error::{Error, Need, Reason};
pub use eval::{Entry, Goal, Outcome, evaluate, frame_base};
pub use frame::{Cfa, Common, Frame, FrameError, Frames, Row, Rule};
pub use index::{Named, Names};
pub use info::{Attribute, Content, DebugInfo, Die, Listed, ReadError, Unit};
pub use llvm::marked;
pub use location::{Composite, ImplicitPointer, Location, Part, Storage};
pub use machine::{Found, Lanes, Machine, Procedure};
pub use names::{AddressClass, AddressSpace, Bank, Register};
pub use op::{Arg, Encoding, Numbering, Op, Opcode, Operand, Ops, ParseError};
pub use show::{Known, expression};
pub use text::{TextError, assemble};
pub use unwind::{Caller, ReturnAddress};
pub use value::{BaseType, Kind, Type, Value};
