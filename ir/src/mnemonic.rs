//! Names of operations in the text form. Each kind of operation has one table, which both the reader and the
//! writer use.

use crate::op::{BinOp, CastOp, FloatCc, IntCc, Order, Pos, RmwOp, Scope, TernOp, UnOp, WaveOp};
use crate::types::{MemTy, Space, Type};

macro_rules! names {
    ($ty:ident { $($variant:ident $name:literal)* }) => {
        impl $ty {
            /// Name and value of every variant, as used in the text form.
            pub const NAMES: &'static [(&'static str, $ty)] = &[$(($name, $ty::$variant)),*];

            /// Returns the name in the text form.
            pub const fn mnemonic(self) -> &'static str {
                match self {
                    $($ty::$variant => $name,)*
                }
            }

            /// Returns the variant with the given name.
            pub fn from_mnemonic(name: &str) -> Option<Self> {
                Self::NAMES.iter().find(|row| row.0 == name).map(|row| row.1)
            }
        }
    };
}

names!(UnOp {
    Not "not"
    Neg "neg"
    FNeg "fneg"
    FAbs "fabs"
    FSqrt "fsqrt"
    FFloor "ffloor"
    FCeil "fceil"
    FTrunc "ftrunc"
    FRound "fround"
    FFract "ffract"
    NativeRcp "native_rcp"
    NativeRsq "native_rsq"
    NativeSqrt "native_sqrt"
    NativeExp2 "native_exp2"
    NativeLog2 "native_log2"
    NativeSin "native_sin"
    NativeCos "native_cos"
    Popcount "popcount"
    Clz "clz"
    Ctz "ctz"
    ReverseBits "reverse_bits"
    FrexpExp "frexp_exp"
    FrexpMant "frexp_mant"
});

names!(BinOp {
    Add "add"
    Sub "sub"
    Mul "mul"
    UMulHi "umulhi"
    SMulHi "smulhi"
    UDiv "udiv"
    SDiv "sdiv"
    URem "urem"
    SRem "srem"
    And "and"
    Or "or"
    Xor "xor"
    Shl "shl"
    LShr "lshr"
    AShr "ashr"
    UMin "umin"
    UMax "umax"
    SMin "smin"
    SMax "smax"
    FAdd "fadd"
    FSub "fsub"
    FMul "fmul"
    FDiv "fdiv"
    FRem "frem"
    FMin "fmin"
    FMax "fmax"
    Ldexp "ldexp"
    UMul24 "umul24"
    SMul24 "smul24"
    PkFAdd "pk_fadd"
    PkFMul "pk_fmul"
    PkFMin "pk_fmin"
    PkFMax "pk_fmax"
    PkAdd "pk_add"
    PkSub "pk_sub"
    PkMul "pk_mul"
    PkShl "pk_shl"
    PkLShr "pk_lshr"
    PkAShr "pk_ashr"
    PkUMin "pk_umin"
    PkUMax "pk_umax"
    PkSMin "pk_smin"
    PkSMax "pk_smax"
});

names!(TernOp {
    Fma "fma"
    Fshr "fshr"
    Bfi "bfi"
    Ubfe "ubfe"
    Sbfe "sbfe"
    PkFma "pk_fma"
    SDot2 "sdot2"
    UDot2 "udot2"
    SDot4 "sdot4"
    UDot4 "udot4"
    SDot8 "sdot8"
    UDot8 "udot8"
    Perm "perm"
});

names!(IntCc {
    Eq "eq"
    Ne "ne"
    Ult "ult"
    Ule "ule"
    Ugt "ugt"
    Uge "uge"
    Slt "slt"
    Sle "sle"
    Sgt "sgt"
    Sge "sge"
});

names!(FloatCc {
    Oeq "oeq"
    One "one"
    Olt "olt"
    Ole "ole"
    Ogt "ogt"
    Oge "oge"
    Ord "ord"
    Ueq "ueq"
    Une "une"
    Ult "ult"
    Ule "ule"
    Ugt "ugt"
    Uge "uge"
    Uno "uno"
});

names!(CastOp {
    Trunc "trunc"
    Zext "zext"
    Sext "sext"
    Zext8 "zext8"
    Sext8 "sext8"
    Zext16 "zext16"
    Sext16 "sext16"
    Bitcast "bitcast"
    HalfBits "half_bits"
    BitsHalf "bits_half"
    SToF "stof"
    UToF "utof"
    FToS "ftos"
    FToU "ftou"
    FExt "fpext"
    FTrunc "fptrunc"
    PtrToInt "ptrtoint"
    IntToPtr "inttoptr"
    SpaceCast "spacecast"
});

names!(WaveOp {
    Ballot "ballot"
    ReadFirstLane "read_first_lane"
    ReadLane "read_lane"
    Shuffle "shuffle"
    Permute "permute"
    Mbcnt "mbcnt"
});

names!(RmwOp {
    Add "atomic_add"
    Sub "atomic_sub"
    SMin "atomic_smin"
    UMin "atomic_umin"
    SMax "atomic_smax"
    UMax "atomic_umax"
    And "atomic_and"
    Or "atomic_or"
    Xor "atomic_xor"
    Xchg "atomic_xchg"
    Inc "atomic_inc"
    Dec "atomic_dec"
    FAdd "atomic_fadd"
    FMin "atomic_fmin"
    FMax "atomic_fmax"
    PkFAdd "atomic_pk_fadd"
});

names!(Order {
    NotAtomic "not_atomic"
    Unordered "unordered"
    Relaxed "relaxed"
    Acquire "acquire"
    Release "release"
    AcqRel "acq_rel"
    SeqCst "seq_cst"
});

names!(Scope {
    SingleThread "singlethread"
    Wavefront "wavefront"
    Workgroup "workgroup"
    Agent "agent"
    System "system"
});

/// Constructor of a position with a dimension.
pub type Dimensioned = fn(u8) -> Pos;

/// Positions with a dimension.
const DIMENSIONED: &[(&str, Dimensioned)] = &[
    ("local_id", Pos::LocalId),
    ("group_id", Pos::GroupId),
    ("local_size", Pos::LocalSize),
    ("num_groups", Pos::NumGroups),
    ("global_size", Pos::GlobalSize),
    ("global_id", Pos::GlobalId),
    ("global_offset", Pos::GlobalOffset),
];

/// Positions without a dimension.
const PLAIN: &[(&str, Pos)] = &[
    ("lane_id", Pos::LaneId),
    ("wave_size", Pos::WaveSize),
    ("kernarg_ptr", Pos::KernargPtr),
    ("implicitarg_ptr", Pos::ImplicitArgPtr),
    ("dispatch_ptr", Pos::DispatchPtr),
    ("queue_ptr", Pos::QueuePtr),
    ("printf_buffer", Pos::PrintfBuffer),
    ("hostcall_buffer", Pos::HostcallBuffer),
    ("dispatch_id", Pos::DispatchId),
    ("clock", Pos::Clock),
    ("realtime", Pos::Realtime),
];

impl Pos {
    /// Returns the name of the position in the text form, and its dimension (0, 1 or 2) if it has one.
    pub const fn mnemonic(self) -> (&'static str, Option<u8>) {
        match self {
            Pos::LocalId(d) => ("local_id", Some(d)),
            Pos::GroupId(d) => ("group_id", Some(d)),
            Pos::LocalSize(d) => ("local_size", Some(d)),
            Pos::NumGroups(d) => ("num_groups", Some(d)),
            Pos::GlobalSize(d) => ("global_size", Some(d)),
            Pos::GlobalId(d) => ("global_id", Some(d)),
            Pos::GlobalOffset(d) => ("global_offset", Some(d)),
            Pos::LaneId => ("lane_id", None),
            Pos::WaveSize => ("wave_size", None),
            Pos::KernargPtr => ("kernarg_ptr", None),
            Pos::ImplicitArgPtr => ("implicitarg_ptr", None),
            Pos::DispatchPtr => ("dispatch_ptr", None),
            Pos::QueuePtr => ("queue_ptr", None),
            Pos::PrintfBuffer => ("printf_buffer", None),
            Pos::HostcallBuffer => ("hostcall_buffer", None),
            Pos::DispatchId => ("dispatch_id", None),
            Pos::Clock => ("clock", None),
            Pos::Realtime => ("realtime", None),
        }
    }

    /// Returns the position with the given name, or a constructor if the position needs a dimension.
    pub fn from_mnemonic(name: &str) -> Option<Result<Pos, Dimensioned>> {
        let plain = PLAIN.iter().find(|row| row.0 == name).map(|row| Ok(row.1));
        plain.or_else(|| DIMENSIONED.iter().find(|row| row.0 == name).map(|row| Err(row.1)))
    }
}

impl Space {
    /// Every address space.
    pub const ALL: [Space; 6] =
        [Space::Generic, Space::Global, Space::Region, Space::Shared, Space::Constant, Space::Private];

    /// Returns the space with the given name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|space| space.name() == name)
    }
}

impl MemTy {
    /// Returns the element type with the given name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [MemTy::U8, MemTy::S8, MemTy::U16, MemTy::S16, MemTy::B32, MemTy::B64];
        all.into_iter().find(|ty| ty.name() == name)
    }
}

impl Type {
    /// Returns the type with the given name, as written by `Display`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Type::Bool,
            "i32" => Type::I32,
            "i64" => Type::I64,
            "f16" => Type::F16,
            "f32" => Type::F32,
            "f64" => Type::F64,
            _ => Type::Ptr(Space::from_name(name.strip_prefix("ptr.")?)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_operations_share_a_name() {
        let mut all: Vec<&str> = Vec::new();
        all.extend(UnOp::NAMES.iter().map(|row| row.0));
        all.extend(BinOp::NAMES.iter().map(|row| row.0));
        all.extend(TernOp::NAMES.iter().map(|row| row.0));
        all.extend(CastOp::NAMES.iter().map(|row| row.0));
        all.extend(WaveOp::NAMES.iter().map(|row| row.0));
        all.extend(RmwOp::NAMES.iter().map(|row| row.0));
        all.extend(DIMENSIONED.iter().map(|row| row.0));
        all.extend(PLAIN.iter().map(|row| row.0));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn position_names_read_back() {
        for pos in [Pos::GlobalId(2), Pos::GlobalOffset(1), Pos::LocalId(0), Pos::Clock, Pos::KernargPtr] {
            let (name, d) = pos.mnemonic();
            let back = match Pos::from_mnemonic(name).unwrap() {
                Ok(pos) => pos,
                Err(make) => make(d.unwrap()),
            };
            assert_eq!(back, pos);
        }
    }
}
