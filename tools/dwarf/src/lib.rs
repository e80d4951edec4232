//! Debug information of AMD GPU code objects: read, evaluated and shown.
//!
//! The guide extends DWARF so that optimised code for GPUs can be described at all (seed 000, lines 554-2168): a location description may
//! be an entry of the stack, in any address space, a lane's part of a vector register, or a composite that a mask selects. Readers of
//! standard DWARF stop at such expressions; [`evaluate`] is the guide's definition of them, over a [`Machine`] that says what registers
//! and memory hold. [`DebugInfo`] reads the entries of a file, [`DebugInfo::at`] says what is in force at an address. [`Frames`] reads call
//! frame information, and [`Caller`] is the machine as the function's caller has it.
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

mod error;
mod eval;
mod frame;
mod given;
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

pub use error::{Error, Need, Reason};
pub use eval::{Entry, Goal, Outcome, evaluate, frame_base};
pub use frame::{Cfa, Common, Frame, FrameError, Frames, Row, Rule};
pub use given::{Calls, Given, Loaded, parameter};
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
