//! Operations of the IR.
//!
//! An instruction is an [`Op`] (a small `Copy` value that carries immediates), a list of argument
//! values and zero or more results. Arguments and results of each operation:
//!
//! | op | args | results |
//! |---|---|---|
//! | `Const(bits)` | - | 1: any type, `bits` zero-extended to 64 |
//! | `Un`, `Bin`, `Tern`, `Icmp`, `Fcmp`, `Select`, `Cast` | 1, 2, 3, 2, 2, 3 (`cond, a, b`), 1 | 1 |
//! | `Pos` | - | 1: `i32`; clocks `i64`, `KernargPtr` `ptr.constant`, buffers of the runtime `ptr.global` |
//! | `GlobalAddr`, `SlotAddr` | - | 1: a pointer |
//! | `FuncAddr` | - | 1: `i64`; no function has the address 0 |
//! | `PtrAdd` | pointer, byte offset of the pointer's width (signed, wraps) | 1: the pointer's type |
//! | `PtrAddZ` | 64-bit pointer, `i32` byte offset, zero-extended | 1: the pointer's type |
//! | `Load` | pointer | `count` consecutive elements of one type |
//! | `Store` | pointer, `count` values | - |
//! | `AtomicRmw` | pointer, value | 1: the old value |
//! | `AtomicCas` | pointer, expected, new | 1: the old value |
//! | `Fence`, `Barrier`, `WaveBarrier` | - | - |
//! | `Wave(op)` | see [`WaveOp`] | 1 |
//! | `Call` | the callee's parameters | the callee's results |
//! | `CallIndirect` | `i64` address of the callee, its parameters | its results |
//! | `Assume` | a bool | - |
//! | `Trap`, `Sleep` | - | - |
//! | `Interrupt` | `i32`, uniform | - |
//! | `Jump` | the target's parameters | - |
//! | `Br` | bool, `then`'s parameters, `otherwise`'s parameters | - |
//! | `Switch` | an integer or bool, the parameters of each successor, the default's first | - |
//! | `Ret` | the function's results | - |
//! | `Unreachable` | - | - |

use crate::constraints::UNUSED;
use crate::entity::{Block, FuncId, Global, SigId, Slot, Switch};
use crate::types::{MemTy, Space, Type};

/// One-operand arithmetic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are self-explanatory; `docs/ir.md` gives the meaning of each
pub enum UnOp {
    /// Bitwise complement; logical not on `bool`.
    Not,
    /// Integer negation.
    Neg,
    FNeg,
    FAbs,
    FSqrt,
    /// The four roundings to an integer: towards -inf, towards +inf, towards zero, and to the nearest even
    /// number.
    FFloor,
    FCeil,
    FTrunc,
    FRound,
    /// `x - floor(x)`, like `v_fract`.
    FFract,
    /// Hardware approximations without refinement, for the built-in functions with names that begin with
    /// `native_`.
    NativeRcp,
    NativeRsq,
    NativeSqrt,
    NativeExp2,
    NativeLog2,
    /// The argument is in revolutions, as for `v_sin_f32`.
    NativeSin,
    NativeCos,
    /// `Popcount`, `Clz` and `Ctz` give an `i32`, whatever the width of the operand.
    Popcount,
    /// Number of leading zeros (`Clz`) or trailing zeros (`Ctz`). For an operand of 0, the width of the
    /// operand.
    Clz,
    Ctz,
    ReverseBits,
    /// Exponent (`i32`) and mantissa, as returned by `frexp`.
    FrexpExp,
    FrexpMant,
}

/// Two-operand arithmetic operations. Shift counts are `i32` or of the shifted type, and are taken modulo the
/// width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// High half of the unsigned or signed product.
    UMulHi,
    SMulHi,
    /// Division by zero gives an unspecified value and never traps.
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
    UMin,
    UMax,
    SMin,
    SMax,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
    /// IEEE-754 2008 minNum / maxNum.
    FMin,
    FMax,
    /// `x * 2^n`, with `n` an `i32`.
    Ldexp,
    /// The low 32 bits of the product of the low 24 bits of both operands, which are unsigned numbers
    /// (`UMul24`) or signed numbers.
    UMul24,
    SMul24,
    /// Packed operations: an `i32` operand holds two f16 values or two 16-bit integers, and the operation
    /// applies to each half separately. Shift counts are taken modulo 16.
    PkFAdd,
    PkFMul,
    PkFMin,
    PkFMax,
    PkAdd,
    PkSub,
    PkMul,
    PkShl,
    PkLShr,
    PkAShr,
    PkUMin,
    PkUMax,
    PkSMin,
    PkSMax,
}

/// Three-operand arithmetic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TernOp {
    /// Fused multiply-add, one rounding.
    Fma,
    /// Funnel shift: the low 32 bits of `{a:b} >> (c & 31)`, where `a` is the high half (`v_alignbit_b32`).
    /// `fshr(x, x, n)` rotates right.
    Fshr,
    /// `(a & b) | (!a & c)`.
    Bfi,
    /// Unsigned bit-field extract `a[b +: c]`.
    Ubfe,
    /// Signed bit-field extract.
    Sbfe,
    /// [`TernOp::Fma`] on both halves of an `i32`.
    PkFma,
    /// Dot products: the operands are vectors of signed (`S`) or unsigned (`U`) parts of 16, 8 or 4 bits. The
    /// third operand is added to the sum of the products.
    SDot2,
    UDot2,
    SDot4,
    UDot4,
    SDot8,
    UDot8,
    /// Byte permutation (`v_perm_b32`). Each byte of `c` is a selector for the byte of the result at the same
    /// position. A selector from 0 to 7 gives a byte of `{a:b}`, where `b` is the low half. A selector from 8
    /// to 11 gives the sign bit of byte 1, 3, 5 or 7, repeated eight times. The selector 12 gives 0, and
    /// greater selectors give 0xff.
    Perm,
}

/// Integer comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntCc {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

/// Floating-point comparisons: `O` comparisons are false for NaN, `U` comparisons are true for NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FloatCc {
    Oeq,
    One,
    Olt,
    Ole,
    Ogt,
    Oge,
    Ord,
    Ueq,
    Une,
    Ult,
    Ule,
    Ugt,
    Uge,
    Uno,
}

/// Conversions. The result type is the type of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CastOp {
    /// Truncation, from i64 to i32.
    Trunc,
    /// Zero extension, from i32 to i64 or from bool to i32 or i64.
    Zext,
    Sext,
    /// The low 8 or 16 bits of an i32, extended to 32.
    Zext8,
    Sext8,
    Zext16,
    Sext16,
    /// The same bits as another type of the same width.
    Bitcast,
    /// `HalfBits` gives the bits of an f16, zero-extended to i32. `BitsHalf` gives the f16 with the low 16
    /// bits of an i32.
    HalfBits,
    BitsHalf,
    SToF,
    UToF,
    /// Saturating conversion; NaN gives 0.
    FToS,
    FToU,
    /// Conversion to a wider or a narrower floating-point type.
    FExt,
    FTrunc,
    /// Conversion between integer and pointer of the same width.
    PtrToInt,
    IntToPtr,
    /// Conversion of a pointer to another address space (generic <-> specific, global <-> constant).
    SpaceCast,
}

/// Position of a work-item and other properties of the dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Pos {
    LocalId(u8),
    GroupId(u8),
    LocalSize(u8),
    NumGroups(u8),
    GlobalSize(u8),
    /// `group_id * local_size + local_id`; never wraps because a grid has 32-bit sizes.
    GlobalId(u8),
    /// Low half of OpenCL's global offset; a hidden argument.
    GlobalOffset(u8),
    LaneId,
    WaveSize,
    /// The kernel's arguments; only in kernels.
    KernargPtr,
    /// The hidden arguments, which follow the explicit arguments.
    ImplicitArgPtr,
    /// The packet of the dispatch.
    DispatchPtr,
    /// The queue that contains the packet of the dispatch.
    QueuePtr,
    /// Buffer into which `printf` writes; a hidden argument.
    PrintfBuffer,
    /// Buffer of packets for host calls; a hidden argument.
    HostcallBuffer,
    DispatchId,
    Clock,
    Realtime,
}

/// Atomic read-modify-write operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RmwOp {
    Add,
    Sub,
    SMin,
    UMin,
    SMax,
    UMax,
    And,
    Or,
    Xor,
    Xchg,
    /// `old >= v ? 0 : old + 1`
    Inc,
    /// `old == 0 || old > v ? v : old - 1`
    Dec,
    /// Floating-point addition, rounded to nearest. The pass `float_atomics` expands it into a
    /// compare-and-swap loop.
    FAdd,
    /// Floating-point minimum and maximum. Like `BinOp::FMin`, they prefer a number to a NaN.
    FMin,
    FMax,
    /// Atomic `BinOp::PkFAdd`: adds both f16 halves of an `i32` as one atomic operation.
    PkFAdd,
}

impl Pos {
    /// Returns the type of the value.
    pub const fn ty(self) -> Type {
        match self {
            Pos::KernargPtr | Pos::ImplicitArgPtr | Pos::DispatchPtr => Type::Ptr(Space::Constant),
            Pos::QueuePtr | Pos::PrintfBuffer | Pos::HostcallBuffer => Type::Ptr(Space::Global),
            Pos::Clock | Pos::Realtime => Type::I64,
            _ => Type::I32,
        }
    }
}

impl BinOp {
    /// Returns, for a packed operation, the operation that applies to each half and the type of the halves.
    /// Integer halves are extended to `i32`. `None` for other operations.
    pub const fn of_halves(self) -> Option<(BinOp, Type)> {
        Some(match self {
            BinOp::PkFAdd => (BinOp::FAdd, Type::F16),
            BinOp::PkFMul => (BinOp::FMul, Type::F16),
            BinOp::PkFMin => (BinOp::FMin, Type::F16),
            BinOp::PkFMax => (BinOp::FMax, Type::F16),
            BinOp::PkAdd => (BinOp::Add, Type::I32),
            BinOp::PkSub => (BinOp::Sub, Type::I32),
            BinOp::PkMul => (BinOp::Mul, Type::I32),
            BinOp::PkShl => (BinOp::Shl, Type::I32),
            BinOp::PkLShr => (BinOp::LShr, Type::I32),
            BinOp::PkAShr => (BinOp::AShr, Type::I32),
            BinOp::PkUMin => (BinOp::UMin, Type::I32),
            BinOp::PkUMax => (BinOp::UMax, Type::I32),
            BinOp::PkSMin => (BinOp::SMin, Type::I32),
            BinOp::PkSMax => (BinOp::SMax, Type::I32),
            _ => return None,
        })
    }
}

impl TernOp {
    /// Returns, for a dot product, the width of a vector element in bits and whether the elements are signed.
    /// `None` for other operations.
    pub const fn of_parts(self) -> Option<(u32, bool)> {
        Some(match self {
            TernOp::SDot2 => (16, true),
            TernOp::UDot2 => (16, false),
            TernOp::SDot4 => (8, true),
            TernOp::UDot4 => (8, false),
            TernOp::SDot8 => (4, true),
            TernOp::UDot8 => (4, false),
            _ => return None,
        })
    }
}

impl RmwOp {
    /// Returns whether it is a floating-point operation.
    pub const fn is_float(self) -> bool {
        matches!(self, RmwOp::FAdd | RmwOp::FMin | RmwOp::FMax | RmwOp::PkFAdd)
    }
}

/// Cross-lane operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaveOp {
    /// Operand: a bool. Result: the i64 mask of the active lanes in which the operand is true.
    Ballot,
    /// Operand: an i32 or f32 value. Result: the value of the first active lane, which is uniform.
    ReadFirstLane,
    /// Operands: a value and an i32 lane number, which is uniform. Result: the value of that lane.
    ReadLane,
    /// Operands: a value and an i32 lane number, which may differ between lanes. Result: the value of the
    /// lane with that number, unspecified if that lane is inactive.
    Shuffle,
    /// Operands: a value, and the i32 number of the lane to which the value is sent; the numbers may differ
    /// between lanes. Result: the value that an active lane has sent to this lane, 0 if no lane has, and one
    /// of the values if several lanes have.
    Permute,
    /// Operand: an i64 mask. Result: the number of bits that are set in the mask below the bit of this lane.
    Mbcnt,
}

/// Memory ordering (LLVM's names; `Relaxed` is monotonic).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[allow(missing_docs)]
pub enum Order {
    #[default]
    NotAtomic,
    Unordered,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// Synchronisation scope (LLVM's AMDGPU guide, seed 000, line 318).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[allow(missing_docs)]
pub enum Scope {
    SingleThread,
    Wavefront,
    Workgroup,
    Agent,
    #[default]
    System,
}

bitflags::bitflags! {
    /// Set of address spaces. The space `space` has the bit `1 << space as u8`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Spaces: u8 {
        /// Device memory.
        const GLOBAL = 1 << 1;
        /// LDS.
        const SHARED = 1 << 3;
        /// Scratch.
        const PRIVATE = 1 << 5;
        /// The address spaces that a plain fence orders.
        const ALL = Self::GLOBAL.bits() | Self::SHARED.bits() | Self::PRIVATE.bits();
    }

    /// Properties and requirements of a memory access.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct MemFlags: u8 {
        /// The access may not be merged, moved or removed.
        const VOLATILE = 1;
        /// Hint: the data is not used again.
        const NONTEMPORAL = 2;
        /// Nobody writes the memory while the kernel runs (`constant`, kernarg, `const restrict`). Uniform
        /// loads may therefore use the scalar cache and be moved anywhere.
        const INVARIANT = 4;
        /// For atomic accesses: the memory order holds only among accesses to one address space (LLVM's
        /// `one-as` synchronisation scopes).
        const ONE_AS = 8;
    }
}

/// Attributes of a load, store or atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mem {
    /// Element type in memory.
    pub ty: MemTy,
    /// Address space of the pointer.
    pub space: Space,
    /// Alignment in bytes that the address (pointer + offset) is known to have, a power of two up to 16.
    pub align: u8,
    /// Properties and requirements; see [`MemFlags`].
    pub flags: MemFlags,
    /// Memory order; `NotAtomic` for plain accesses.
    pub order: Order,
    /// Synchronisation scope; only used if `order` is atomic.
    pub scope: Scope,
    /// Constant byte offset that is added to the pointer.
    pub offset: i32,
    /// Alias class: accesses with two different non-zero classes never overlap. `restrict` parameters and
    /// distinct variables have different classes.
    pub alias: u16,
}

/// An operation. The table at the beginning of this module lists the arguments and results of each operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Op {
    Const(u64),
    Un(UnOp),
    Bin(BinOp),
    Tern(TernOp),
    Icmp(IntCc),
    Fcmp(FloatCc),
    Select,
    Cast(CastOp),
    Pos(Pos),
    GlobalAddr(Global),
    FuncAddr(FuncId),
    SlotAddr(Slot),
    PtrAdd,
    PtrAddZ,
    Load {
        mem: Mem,
        count: u8,
    },
    Store {
        mem: Mem,
        count: u8,
    },
    AtomicRmw {
        op: RmwOp,
        mem: Mem,
    },
    /// Compare-and-swap. `mem.order` is the memory order if the new value is stored, `fail` the order if it
    /// is not.
    AtomicCas {
        mem: Mem,
        fail: Order,
    },
    Fence {
        order: Order,
        scope: Scope,
        spaces: Spaces,
    },
    /// A barrier of the work-group (`s_barrier`). With `fence`, the barrier also orders accesses to all
    /// address spaces, as an acq_rel fence at work-group scope does.
    Barrier {
        fence: bool,
    },
    WaveBarrier,
    Wave(WaveOp),
    Call(FuncId),
    /// Calls through an address. Lanes may call different functions; all lanes that call the same function
    /// execute it together.
    CallIndirect(SigId),
    Assume,
    /// Ends the dispatch with an error. With `debug`, calls the debugger if there is one, and continues.
    Trap {
        debug: bool,
    },
    /// Pauses the wave for some cycles so that other waves can run; used in loops that wait.
    Sleep,
    /// Notifies the host that the event with this number has occurred (ROCm's code object ABI, seed 002:
    /// `amd_signal_t`).
    Interrupt,
    Jump(Block),
    Br {
        then: Block,
        otherwise: Block,
        then_args: u16,
    },
    /// Branches to the successor of the case that contains the operand; see
    /// [`SwitchData`](crate::SwitchData).
    Switch(Switch),
    Ret,
    Unreachable,
}

impl Op {
    /// Returns whether the operation ends a block.
    pub const fn is_terminator(self) -> bool {
        matches!(self, Op::Jump(_) | Op::Br { .. } | Op::Switch(_) | Op::Ret | Op::Unreachable)
    }

    /// Returns whether the operation is a call, direct or through an address.
    pub const fn is_call(self) -> bool {
        matches!(self, Op::Call(_) | Op::CallIndirect(_))
    }

    /// Returns whether the operation writes memory, synchronises, or must not be removed for another reason
    /// when its results are unused.
    pub const fn has_side_effect(self) -> bool {
        match self {
            Op::Store { .. }
            | Op::AtomicRmw { .. }
            | Op::AtomicCas { .. }
            | Op::Fence { .. }
            | Op::Barrier { .. }
            | Op::WaveBarrier
            | Op::Call(_)
            | Op::CallIndirect(_)
            | Op::Trap { .. }
            | Op::Sleep
            | Op::Interrupt
            | Op::Assume => true,
            Op::Load { mem, .. } => !UNUSED.takes(&mem),
            _ => self.is_terminator(),
        }
    }

    /// Returns whether the result depends only on the arguments. An instruction with such an operation may be
    /// merged with an equal one, removed, and moved to any point that its arguments dominate.
    pub const fn is_pure(self) -> bool {
        match self {
            Op::Const(_)
            | Op::Un(_)
            | Op::Bin(_)
            | Op::Tern(_)
            | Op::Icmp(_)
            | Op::Fcmp(_)
            | Op::Select
            | Op::Cast(_)
            | Op::GlobalAddr(_)
            | Op::FuncAddr(_)
            | Op::SlotAddr(_)
            | Op::PtrAdd
            | Op::PtrAddZ => true,
            Op::Pos(p) => !matches!(p, Pos::Clock | Pos::Realtime),
            _ => false,
        }
    }

    /// Returns the memory operand of an operation that reads or writes memory.
    pub const fn mem(&self) -> Option<&Mem> {
        match self {
            Op::Load { mem, .. }
            | Op::Store { mem, .. }
            | Op::AtomicRmw { mem, .. }
            | Op::AtomicCas { mem, .. } => Some(mem),
            _ => None,
        }
    }

    /// Like [`Op::mem`], for modification.
    pub const fn mem_mut(&mut self) -> Option<&mut Mem> {
        match self {
            Op::Load { mem, .. }
            | Op::Store { mem, .. }
            | Op::AtomicRmw { mem, .. }
            | Op::AtomicCas { mem, .. } => Some(mem),
            _ => None,
        }
    }
}
