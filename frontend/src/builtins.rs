//! The built-in functions: their names, and what the checker needs to know about each of them.

use crate::scalar::Scalar;
use ir::{Pos, RmwOp, TernOp, UnOp};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// A built-in function that returns a position in the grid or a size of the grid. Its argument is the
/// dimension (0 to 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    LocalId,
    GroupId,
    LocalSize,
    NumGroups,
    GlobalId,
    GlobalSize,
}

/// An atomic read-modify-write operation. `Min` and `Max` become a signed or an unsigned operation of the IR,
/// which the type decides. Any other operation has the same form in the IR for all types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rmw {
    Min,
    Max,
    Plain(RmwOp),
}

/// Mathematical functions of a float or a float vector that the frontend builds from several IR operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Math {
    Rcp,
    Rsqrt,
    Exp,
    Exp2,
    Log,
    Log2,
    Copysign,
    Mix,
    Step,
}

/// Built-in functions with two results. The call returns one result, and stores the other one through a
/// pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Two {
    Frexp,
    Sincos,
    Modf,
    Remquo,
}

impl Two {
    /// Returns the word that messages use for the result that the function stores through its pointer.
    pub fn stored(self) -> &'static str {
        match self {
            Two::Frexp => "exponent",
            Two::Sincos => "cosine",
            Two::Modf => "whole part",
            Two::Remquo => "quotient",
        }
    }
}

/// Operation that combines the values of all lanes of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wide {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// Whether the result of a scan includes the lane's own value, or only the values of the lanes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    Inclusive,
    Exclusive,
}

/// How a lane chooses the lane whose value it reads in a cross-lane operation. Both lanes are in the same
/// row, a group of 16 consecutive lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    Up,
    Down,
    Rotate,
    Share,
    Mirror,
    HalfMirror,
}

/// Class of scalar types that an arithmetic built-in accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Float,
    F32,
    /// 32- and 64-bit integers.
    Int,
    /// Integers of any size.
    Whole,
    /// 32-bit integers.
    Word,
    Number,
    SignedOrFloat,
}

impl Class {
    /// Returns whether this class contains the scalar type. A class that contains a scalar type also contains
    /// the vectors of it.
    pub fn has(self, scalar: Scalar) -> bool {
        match self {
            Class::Float => scalar.is_float(),
            Class::F32 => scalar == Scalar::F32,
            Class::Int => scalar.is_int() && !scalar.is_small(),
            Class::Whole => scalar.is_int(),
            Class::Word => matches!(scalar, Scalar::I32 | Scalar::U32),
            Class::Number => scalar.is_number(),
            Class::SignedOrFloat => scalar.is_float() || scalar.is_signed(),
        }
    }

    /// Returns the text that describes the class in messages.
    pub fn text(self) -> &'static str {
        match self {
            Class::Float => "a float or a vector of floats",
            Class::F32 => "an `f32` or a vector of `f32`",
            Class::Int => "a 32- or 64-bit integer, or a vector of them",
            Class::Whole => "an integer or a vector of integers",
            Class::Word => "an `i32`, a `u32` or a vector of them",
            Class::Number => "a number or a vector of numbers",
            Class::SignedOrFloat => "a float or signed integer, or a vector of them",
        }
    }
}

/// Operation that an element-wise built-in function applies to each element of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    Un(UnOp),
    Tern(TernOp),
    Math(Math),
    /// Index of the function in [`LIBRARY`].
    Library(u8),
    Abs,
    Min,
    Max,
    Clamp,
    Rotl,
    Rotr,
    MulHi,
    Mul24,
    Mad24,
    Bfe,
    /// Bit-field insert with OpenCL's argument order: mask, inserted value, base value that supplies the
    /// remaining bits.
    Bfi,
    Sad,
    /// Dot product of two 32-bit words whose 4-, 8- or 16-bit parts are the elements, plus the third operand.
    /// The number is the size of a part in bits.
    Parts(u8),
    /// `native_sin` and `native_cos`. Their argument is an angle in radians. The processor's instruction
    /// takes the angle in revolutions, so the argument is scaled first.
    Turns(UnOp),
}

/// A built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    Dim(Dim),
    Pos(Pos),
    Barrier,
    BarrierOnly,
    WaveBarrier,
    Fence,
    AtomicLoad,
    AtomicStore,
    AtomicRmw(Rmw),
    AtomicCas,
    AtomicCasWeak,
    Load,
    Store,
    /// An element-wise function: the operation, the class of types that it accepts, and the number of
    /// operands. All operands and the result have the same type.
    Lanes(Lane, Class, u8),
    /// `is_nan` and similar tests. The argument is a float or a float vector. The result has one `bool` for
    /// each element.
    IsNan,
    IsInf,
    Ldexp,
    FrexpExp,
    Dot,
    Length,
    Normalize,
    Cross,
    Distance,
    /// Returns the exponent of a float as an integer.
    Ilogb,
    /// Returns one result and stores the other through a pointer.
    Two(Two),
    /// `select(c, a, b)`: returns `a` where `c` is true, else `b`.
    Select,
    Bitcast,
    Ballot,
    Any,
    All,
    ReadLane,
    ReadFirstLane,
    Shuffle,
    Permute,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    Mbcnt,
    /// Combines the values of all active lanes of the wave. With a second argument, only the lanes in that
    /// mask take part.
    WaveReduce(Wide),
    WaveScan(Wide, Own),
    WaveMatch,
    QuadPermute,
    Row(Row),
    Assume,
    Unreachable,
    Printf,
    Assert,
    Trap,
    DebugTrap,
    Sleep,
    Interrupt,
}

use Builtin as B;
use Lane::{Tern, Un};

const TABLE: &[(&str, Builtin)] = &[
    ("local_id", B::Dim(Dim::LocalId)),
    ("group_id", B::Dim(Dim::GroupId)),
    ("local_size", B::Dim(Dim::LocalSize)),
    ("num_groups", B::Dim(Dim::NumGroups)),
    ("global_id", B::Dim(Dim::GlobalId)),
    ("global_size", B::Dim(Dim::GlobalSize)),
    ("lane_id", B::Pos(Pos::LaneId)),
    ("wave_size", B::Pos(Pos::WaveSize)),
    ("dispatch_id", B::Pos(Pos::DispatchId)),
    ("dispatch_ptr", B::Pos(Pos::DispatchPtr)),
    ("queue_ptr", B::Pos(Pos::QueuePtr)),
    ("kernarg_ptr", B::Pos(Pos::KernargPtr)),
    ("implicitarg_ptr", B::Pos(Pos::ImplicitArgPtr)),
    ("clock", B::Pos(Pos::Clock)),
    ("realtime", B::Pos(Pos::Realtime)),
    ("barrier", B::Barrier),
    ("barrier_only", B::BarrierOnly),
    ("wave_barrier", B::WaveBarrier),
    ("fence", B::Fence),
    ("atomic_load", B::AtomicLoad),
    ("atomic_store", B::AtomicStore),
    ("atomic_add", B::AtomicRmw(Rmw::Plain(RmwOp::Add))),
    ("atomic_sub", B::AtomicRmw(Rmw::Plain(RmwOp::Sub))),
    ("atomic_min", B::AtomicRmw(Rmw::Min)),
    ("atomic_max", B::AtomicRmw(Rmw::Max)),
    ("atomic_and", B::AtomicRmw(Rmw::Plain(RmwOp::And))),
    ("atomic_or", B::AtomicRmw(Rmw::Plain(RmwOp::Or))),
    ("atomic_xor", B::AtomicRmw(Rmw::Plain(RmwOp::Xor))),
    ("atomic_xchg", B::AtomicRmw(Rmw::Plain(RmwOp::Xchg))),
    ("atomic_inc", B::AtomicRmw(Rmw::Plain(RmwOp::Inc))),
    ("atomic_dec", B::AtomicRmw(Rmw::Plain(RmwOp::Dec))),
    ("atomic_cas", B::AtomicCas),
    ("atomic_cas_weak", B::AtomicCasWeak),
    ("load", B::Load),
    ("store", B::Store),
    ("abs", B::Lanes(Lane::Abs, Class::SignedOrFloat, 1)),
    ("min", B::Lanes(Lane::Min, Class::Number, 2)),
    ("max", B::Lanes(Lane::Max, Class::Number, 2)),
    ("clamp", B::Lanes(Lane::Clamp, Class::Number, 3)),
    ("fma", B::Lanes(Tern(TernOp::Fma), Class::Float, 3)),
    ("sqrt", B::Lanes(Un(UnOp::FSqrt), Class::Float, 1)),
    ("floor", B::Lanes(Un(UnOp::FFloor), Class::Float, 1)),
    ("ceil", B::Lanes(Un(UnOp::FCeil), Class::Float, 1)),
    ("trunc", B::Lanes(Un(UnOp::FTrunc), Class::Float, 1)),
    ("round", B::Lanes(Un(UnOp::FRound), Class::Float, 1)),
    ("fract", B::Lanes(Un(UnOp::FFract), Class::Float, 1)),
    ("frexp_mant", B::Lanes(Un(UnOp::FrexpMant), Class::Float, 1)),
    ("rcp", B::Lanes(Lane::Math(Math::Rcp), Class::Float, 1)),
    ("rsqrt", B::Lanes(Lane::Math(Math::Rsqrt), Class::Float, 1)),
    ("exp", B::Lanes(Lane::Math(Math::Exp), Class::Float, 1)),
    ("exp2", B::Lanes(Lane::Math(Math::Exp2), Class::Float, 1)),
    ("log", B::Lanes(Lane::Math(Math::Log), Class::Float, 1)),
    ("log2", B::Lanes(Lane::Math(Math::Log2), Class::Float, 1)),
    ("copysign", B::Lanes(Lane::Math(Math::Copysign), Class::Float, 2)),
    ("mix", B::Lanes(Lane::Math(Math::Mix), Class::Float, 3)),
    ("step", B::Lanes(Lane::Math(Math::Step), Class::Float, 2)),
    ("native_rcp", B::Lanes(Un(UnOp::NativeRcp), Class::Float, 1)),
    ("native_rsqrt", B::Lanes(Un(UnOp::NativeRsq), Class::Float, 1)),
    ("native_sqrt", B::Lanes(Un(UnOp::NativeSqrt), Class::Float, 1)),
    ("native_exp2", B::Lanes(Un(UnOp::NativeExp2), Class::F32, 1)),
    ("native_log2", B::Lanes(Un(UnOp::NativeLog2), Class::F32, 1)),
    ("native_sin", B::Lanes(Lane::Turns(UnOp::NativeSin), Class::F32, 1)),
    ("native_cos", B::Lanes(Lane::Turns(UnOp::NativeCos), Class::F32, 1)),
    ("native_recip", B::Lanes(Un(UnOp::NativeRcp), Class::Float, 1)),
    ("half_recip", B::Lanes(Un(UnOp::NativeRcp), Class::F32, 1)),
    ("half_rsqrt", B::Lanes(Un(UnOp::NativeRsq), Class::F32, 1)),
    ("half_sqrt", B::Lanes(Un(UnOp::NativeSqrt), Class::F32, 1)),
    ("half_exp2", B::Lanes(Un(UnOp::NativeExp2), Class::F32, 1)),
    ("half_log2", B::Lanes(Un(UnOp::NativeLog2), Class::F32, 1)),
    ("popcount", B::Lanes(Un(UnOp::Popcount), Class::Int, 1)),
    ("clz", B::Lanes(Un(UnOp::Clz), Class::Int, 1)),
    ("ctz", B::Lanes(Un(UnOp::Ctz), Class::Int, 1)),
    ("reverse_bits", B::Lanes(Un(UnOp::ReverseBits), Class::Int, 1)),
    ("rotl", B::Lanes(Lane::Rotl, Class::Int, 2)),
    ("rotr", B::Lanes(Lane::Rotr, Class::Int, 2)),
    ("mul_hi", B::Lanes(Lane::MulHi, Class::Int, 2)),
    ("mul24", B::Lanes(Lane::Mul24, Class::Word, 2)),
    ("mad24", B::Lanes(Lane::Mad24, Class::Word, 3)),
    ("bfe", B::Lanes(Lane::Bfe, Class::Word, 3)),
    ("bfi", B::Lanes(Lane::Bfi, Class::Word, 3)),
    ("sad", B::Lanes(Lane::Sad, Class::Word, 3)),
    ("alignbit", B::Lanes(Tern(TernOp::Fshr), Class::Word, 3)),
    ("isnan", B::IsNan),
    ("isinf", B::IsInf),
    ("ldexp", B::Ldexp),
    ("frexp_exp", B::FrexpExp),
    ("frexp", B::Two(Two::Frexp)),
    ("sincos", B::Two(Two::Sincos)),
    ("modf", B::Two(Two::Modf)),
    ("remquo", B::Two(Two::Remquo)),
    ("ilogb", B::Ilogb),
    ("dot", B::Dot),
    ("length", B::Length),
    ("normalize", B::Normalize),
    ("cross", B::Cross),
    ("distance", B::Distance),
    ("fast_length", B::Length),
    ("fast_normalize", B::Normalize),
    ("fast_distance", B::Distance),
    ("select", B::Select),
    ("bitcast", B::Bitcast),
    ("ballot", B::Ballot),
    ("any", B::Any),
    ("all", B::All),
    ("read_lane", B::ReadLane),
    ("read_first_lane", B::ReadFirstLane),
    ("shuffle", B::Shuffle),
    ("permute", B::Permute),
    ("shuffle_xor", B::ShuffleXor),
    ("shuffle_up", B::ShuffleUp),
    ("shuffle_down", B::ShuffleDown),
    ("mbcnt", B::Mbcnt),
    ("assume", B::Assume),
    ("unreachable", B::Unreachable),
    ("perm", B::Lanes(Tern(TernOp::Perm), Class::Word, 3)),
    ("dot8", B::Lanes(Lane::Parts(4), Class::Word, 3)),
    ("dot2", B::Lanes(Lane::Parts(16), Class::Word, 3)),
    ("dot4", B::Lanes(Lane::Parts(8), Class::Word, 3)),
    ("wave_reduce_add", B::WaveReduce(Wide::Add)),
    ("wave_reduce_min", B::WaveReduce(Wide::Min)),
    ("wave_reduce_max", B::WaveReduce(Wide::Max)),
    ("wave_reduce_and", B::WaveReduce(Wide::And)),
    ("wave_reduce_or", B::WaveReduce(Wide::Or)),
    ("wave_reduce_xor", B::WaveReduce(Wide::Xor)),
    ("wave_scan_add", B::WaveScan(Wide::Add, Own::Inclusive)),
    ("wave_scan_exclusive_add", B::WaveScan(Wide::Add, Own::Exclusive)),
    ("wave_scan_min", B::WaveScan(Wide::Min, Own::Inclusive)),
    ("wave_scan_exclusive_min", B::WaveScan(Wide::Min, Own::Exclusive)),
    ("wave_scan_max", B::WaveScan(Wide::Max, Own::Inclusive)),
    ("wave_scan_exclusive_max", B::WaveScan(Wide::Max, Own::Exclusive)),
    ("wave_scan_and", B::WaveScan(Wide::And, Own::Inclusive)),
    ("wave_scan_exclusive_and", B::WaveScan(Wide::And, Own::Exclusive)),
    ("wave_scan_or", B::WaveScan(Wide::Or, Own::Inclusive)),
    ("wave_scan_exclusive_or", B::WaveScan(Wide::Or, Own::Exclusive)),
    ("wave_scan_xor", B::WaveScan(Wide::Xor, Own::Inclusive)),
    ("wave_scan_exclusive_xor", B::WaveScan(Wide::Xor, Own::Exclusive)),
    ("wave_match", B::WaveMatch),
    ("quad_permute", B::QuadPermute),
    ("row_up", B::Row(Row::Up)),
    ("row_down", B::Row(Row::Down)),
    ("row_rotate", B::Row(Row::Rotate)),
    ("row_share", B::Row(Row::Share)),
    ("row_mirror", B::Row(Row::Mirror)),
    ("row_half_mirror", B::Row(Row::HalfMirror)),
    ("printf", B::Printf),
    ("assert", B::Assert),
    ("trap", B::Trap),
    ("debug_trap", B::DebugTrap),
    ("sleep", B::Sleep),
    ("interrupt", B::Interrupt),
];

/// Built-in functions that are written in the kernel language (see [`crate::library`]). Each entry has the
/// function's name and one letter for each parameter: `f` is a float of the type that the call is for, `s` an
/// `f32`, `i` an integer.
pub const LIBRARY: &[(&str, &str)] = &[
    ("sin", "f"),
    ("cos", "f"),
    ("tan", "f"),
    ("pow", "ff"),
    ("exp10", "f"),
    ("expm1", "f"),
    ("log10", "f"),
    ("log1p", "f"),
    ("sinpi", "f"),
    ("cospi", "f"),
    ("tanpi", "f"),
    ("asin", "f"),
    ("acos", "f"),
    ("atan", "f"),
    ("atan2", "ff"),
    ("sinh", "f"),
    ("cosh", "f"),
    ("tanh", "f"),
    ("asinh", "f"),
    ("acosh", "f"),
    ("atanh", "f"),
    ("cbrt", "f"),
    ("hypot", "ff"),
    ("erf", "f"),
    ("erfc", "f"),
    ("tgamma", "f"),
    ("lgamma", "f"),
    ("fmod", "ff"),
    ("remainder", "ff"),
    ("nextafter", "ff"),
    ("fdim", "ff"),
    ("maxmag", "ff"),
    ("minmag", "ff"),
    ("logb", "f"),
    ("sign", "f"),
    ("degrees", "f"),
    ("radians", "f"),
    ("smoothstep", "fff"),
    ("powi", "fi"),
    ("rootn", "fi"),
    ("native_exp", "s"),
    ("native_exp10", "s"),
    ("native_log", "s"),
    ("native_log10", "s"),
    ("native_tan", "s"),
    ("native_powr", "ss"),
    ("native_divide", "ff"),
    ("half_divide", "ss"),
];

fn library() -> impl Iterator<Item = (&'static str, Builtin)> {
    let rows = LIBRARY.iter().enumerate();
    rows.flat_map(|(n, &(name, operands))| {
        let class = if operands.starts_with('s') { Class::F32 } else { Class::Float };
        let builtin = B::Lanes(Lane::Library(n as u8), class, operands.len() as u8);
        [
            Some((name, builtin)),
            half(name).map(|half| (half, B::Lanes(Lane::Library(n as u8), Class::F32, operands.len() as u8))),
        ]
        .into_iter()
        .flatten()
    })
}

/// OpenCL has mathematical functions of reduced accuracy, whose names begin with `half_`. Returns the name of
/// the one that this function implements, if it implements one.
fn half(name: &str) -> Option<&'static str> {
    Some(match name {
        "sin" => "half_sin",
        "cos" => "half_cos",
        "tan" => "half_tan",
        "native_exp" => "half_exp",
        "native_exp10" => "half_exp10",
        "native_log" => "half_log",
        "native_log10" => "half_log10",
        "native_powr" => "half_powr",
        _ => return None,
    })
}

static BY_NAME: LazyLock<FxHashMap<&'static str, Builtin>> =
    LazyLock::new(|| TABLE.iter().copied().chain(library()).collect());

/// Returns the built-in with this name.
pub fn find(name: &str) -> Option<Builtin> {
    BY_NAME.get(name).copied()
}

/// Returns the less accurate `native_` form of a function, which `--fast-math` uses in its place for `f32`.
pub fn native(op: Lane) -> Option<Lane> {
    let is_this = |row: &(&str, Builtin)| matches!(row.1, B::Lanes(lane, ..) if lane == op);
    let (name, _) = TABLE.iter().copied().chain(library()).find(is_this)?;
    match find(&format!("native_{name}"))? {
        B::Lanes(lane, ..) => Some(lane),
        _ => None,
    }
}

/// Returns the names of all built-in functions, for spelling suggestions.
pub fn names<'n>() -> impl Iterator<Item = &'n str> {
    TABLE.iter().copied().chain(library()).map(|row| -> &'n str { row.0 })
}
