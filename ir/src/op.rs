//! Operations of the IR.
//!
//! An instruction is an [`Op`] (a small `Copy` value that carries immediates), a list of argument
//! values and zero or more results. Arguments and results of each operation:
//!
//! | op | args | results |
//! |---|---|---|
//! | `Const(bits)` | - | 1: any type, `bits` zero-extended to 64 |
//! | `Un`, `Bin`, `Tern`, `Icmp`, `Fcmp`, `Select`, `Cast` | 1, 2, 3, 2, 2, 3 (`cond, a, b`), 1 | 1 |
//! | `Pos` | - | 1: `i32` (`KernargPtr`: `ptr.constant`, `PrintfBuffer`, `HostcallBuffer`: `ptr.global`, clocks: `i64`) |
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

/// One-operand arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names say it; `docs/ir.md` has the meaning of each
pub enum UnOp {
    /// Bitwise complement; logical not on `bool`.
    Not,
    /// Integer negation.
    Neg,
    FNeg,
    FAbs,
    FSqrt,
    /// Round to -inf, +inf, zero, nearest even.
    FFloor,
    FCeil,
    FTrunc,
    FRound,
    /// `x - floor(x)`, as `v_fract`.
    FFract,
    /// Bare hardware approximations (the `native_` built-ins).
    NativeRcp,
    NativeRsq,
    NativeSqrt,
    NativeExp2,
    NativeLog2,
    /// Argument in revolutions, as `v_sin_f32`.
    NativeSin,
    NativeCos,
    /// `i32` whatever the operand's width, as `Clz` and `Ctz`.
    Popcount,
    /// Leading / trailing zeros; the width for 0.
    Clz,
    Ctz,
    ReverseBits,
    /// `frexp` exponent (i32) and mantissa.
    FrexpExp,
    FrexpMant,
}

/// Two-operand arithmetic. Shift counts are `i32` or of the shifted type, taken modulo the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// High half of the unsigned / signed product.
    UMulHi,
    SMulHi,
    /// Division by zero gives an unspecified value, never a trap.
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
    /// `x * 2^n`, `n: i32`.
    Ldexp,
    /// Product of the low 24 bits (unsigned / signed), low 32 bits of it.
    UMul24,
    SMul24,
    /// On both halves of an `i32`, each for itself: two f16, two 16-bit integers. Shift counts are modulo 16.
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

/// Three-operand arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TernOp {
    /// Fused multiply-add, one rounding.
    Fma,
    /// `{a:b} >> (c & 31)`, low 32 bits: `a` is the high half (`v_alignbit_b32`). `fshr(x, x, n)` rotates right.
    Fshr,
    /// `(a & b) | (!a & c)`.
    Bfi,
    /// Unsigned bit-field extract `a[b +: c]`.
    Ubfe,
    /// Signed bit-field extract.
    Sbfe,
    /// [`TernOp::Fma`] on both halves of an `i32`.
    PkFma,
    /// Sum of the products of signed or unsigned 16-, 8- or 4-bit parts, and the third operand.
    SDot2,
    UDot2,
    SDot4,
    UDot4,
    SDot8,
    UDot8,
    /// Each byte is one of `{a:b}`, chosen by the byte of `c` there: 0 to 7 its number, `b` being low; 8 to 11 the sign of byte 1, 3, 5, 7
    /// eight times; 12 is 0, what is above 0xff (`v_perm_b32`).
    Perm,
}

/// Integer comparison.
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

/// Float comparison: `O` false on NaN, `U` true on NaN.
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

/// Conversions; the result type is the instruction's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CastOp {
    /// i64 -> i32
    Trunc,
    /// i32 -> i64, bool -> i32/i64
    Zext,
    Sext,
    /// The low 8 / 16 bits of an i32, extended to 32.
    Zext8,
    Sext8,
    Zext16,
    Sext16,
    /// Same bits, another type of the same width.
    Bitcast,
    /// The bits of an f16, zero-extended to i32; and the f16 of the low 16 bits of an i32.
    HalfBits,
    BitsHalf,
    SToF,
    UToF,
    /// Saturating, NaN gives 0.
    FToS,
    FToU,
    /// To a wider, a narrower float type.
    FExt,
    FTrunc,
    /// Integer <-> pointer of the same width.
    PtrToInt,
    IntToPtr,
    /// Pointer to another address space (generic <-> specific, global <-> constant).
    SpaceCast,
}

/// Where a work-item is, and other facts of the dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Pos {
    LocalId(u8),
    GroupId(u8),
    LocalSize(u8),
    NumGroups(u8),
    GlobalSize(u8),
    /// `group_id * local_size + local_id`; never wraps, a grid is 32-bit.
    GlobalId(u8),
    /// Low half of OpenCL's global offset: a hidden argument.
    GlobalOffset(u8),
    LaneId,
    WaveSize,
    KernargPtr,
    /// What `printf` writes to: a hidden argument.
    PrintfBuffer,
    /// Where packets for the host are: a hidden argument.
    HostcallBuffer,
    DispatchId,
    Clock,
    Realtime,
}

/// Atomic read-modify-write.
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
    /// Of floats, rounded to nearest. Written out as a loop by the pass `float_atomics`.
    FAdd,
    /// Of floats, as `BinOp::FMin`: a NaN loses against a number.
    FMin,
    FMax,
    /// `BinOp::PkFAdd`, of the two halves of an `i32` as one.
    PkFAdd,
}

impl BinOp {
    /// Of a packed operation, what it does to each half, and the type of those: integers are extended to `i32`.
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
    /// Of a sum of products, the number of bits of a part and whether it has a sign.
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
    /// Whether it computes with floats.
    pub const fn is_float(self) -> bool {
        matches!(self, RmwOp::FAdd | RmwOp::FMin | RmwOp::FMax | RmwOp::PkFAdd)
    }
}

/// Cross-lane operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaveOp {
    /// bool -> i64 mask of the active lanes where it holds.
    Ballot,
    /// i32/f32 value of the first active lane; uniform.
    ReadFirstLane,
    /// value, i32 uniform lane.
    ReadLane,
    /// value, i32 lane, per lane; inactive source lanes give an unspecified value.
    Shuffle,
    /// value, i32 lane, per lane: the value of a lane that names this one; 0 where no active lane does, of several any.
    Permute,
    /// i64 mask -> number of its bits below this lane.
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

/// Synchronisation scope (seed 000, line 318).
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
    /// Set of address spaces, bit `1 << Space as u8`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Spaces: u8 {
        /// Device memory.
        const GLOBAL = 1 << 1;
        /// LDS.
        const SHARED = 1 << 3;
        /// Scratch.
        const PRIVATE = 1 << 5;
        /// What a plain fence orders.
        const ALL = Self::GLOBAL.bits() | Self::SHARED.bits() | Self::PRIVATE.bits();
    }

    /// What is known about, or asked of, a memory access.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct MemFlags: u8 {
        /// May not be merged, moved or removed.
        const VOLATILE = 1;
        /// Hint: no reuse.
        const NONTEMPORAL = 2;
        /// Nobody writes the memory while the kernel runs (`constant`, kernarg, `const restrict`):
        /// uniform loads may go through the scalar cache and be moved anywhere.
        const INVARIANT = 4;
        /// Atomics only: ordered within one address space (`_one_as` scopes).
        const ONE_AS = 8;
    }
}

/// Attributes of a load, store or atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mem {
    /// Element in memory.
    pub ty: MemTy,
    /// Address space of the pointer.
    pub space: Space,
    /// Known alignment of the address (pointer + offset) in bytes, a power of two up to 16.
    pub align: u8,
    /// See [`MemFlags`].
    pub flags: MemFlags,
    /// `NotAtomic` for plain accesses.
    pub order: Order,
    /// Meaningful when `order` is an atomic one.
    pub scope: Scope,
    /// Constant byte offset added to the pointer.
    pub offset: i32,
    /// Non-zero: accesses with two different non-zero classes never overlap (`restrict` parameters,
    /// distinct variables).
    pub alias: u16,
}

/// An operation; see the module's table for arguments and results.
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
    /// `mem.order` on success, `fail` otherwise.
    AtomicCas {
        mem: Mem,
        fail: Order,
    },
    Fence {
        order: Order,
        scope: Scope,
        spaces: Spaces,
    },
    /// `s_barrier`; `fence` also orders memory (acq_rel at work-group scope, all spaces).
    Barrier {
        fence: bool,
    },
    WaveBarrier,
    Wave(WaveOp),
    Call(FuncId),
    /// Lanes may call different functions: those of one go together.
    CallIndirect(SigId),
    Assume,
    /// Ends the dispatch with an error; or calls the debugger, if there is one, and goes on.
    Trap {
        debug: bool,
    },
    /// Lets others go first for some cycles: what a loop does that waits for somebody.
    Sleep,
    /// Tells the host that the event of this number has come (seed 002: `amd_signal_t`).
    Interrupt,
    Jump(Block),
    Br {
        then: Block,
        otherwise: Block,
        then_args: u16,
    },
    /// Goes where the case that holds the value says; see [`SwitchData`](crate::SwitchData).
    Switch(Switch),
    Ret,
    Unreachable,
}

impl Op {
    /// Ends a block.
    pub const fn is_terminator(self) -> bool {
        matches!(self, Op::Jump(_) | Op::Br { .. } | Op::Switch(_) | Op::Ret | Op::Unreachable)
    }

    /// A call, direct or through an address.
    pub const fn is_call(self) -> bool {
        matches!(self, Op::Call(_) | Op::CallIndirect(_))
    }

    /// Writes memory, synchronises, or otherwise may not be removed when its results are unused.
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

    /// A function of its arguments alone: may be merged, moved to any point its arguments dominate, and removed.
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

    /// Reads or writes memory.
    pub const fn mem(&self) -> Option<&Mem> {
        match self {
            Op::Load { mem, .. }
            | Op::Store { mem, .. }
            | Op::AtomicRmw { mem, .. }
            | Op::AtomicCas { mem, .. } => Some(mem),
            _ => None,
        }
    }

    /// [`Op::mem`], to be changed.
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
