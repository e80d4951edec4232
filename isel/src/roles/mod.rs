//! Roles: what selection asks for, apart from what a processor calls it.
//!
//! Selection never asks which processor it works for. It emits a [`Role`]: "vector add without carry", "global load of
//! b128". Which instruction that is, or which sequence of other roles if there is none, follows from the rows of the
//! instruction table alone, is found once for a processor, when first asked for, and kept in a flat array ([`Roles`]). Who fills in a
//! processor adds instructions to the lines of `table.rs`, or an expansion to `expansions.rs`.

mod expansions;
mod table;

pub use expansions::Expansion;
use isa::table::Family;
use isa::{Feature, Opcode, Subtarget};
use std::cell::Cell;
pub(crate) use table::NO_FLAT;
pub use table::Role;

/// How a processor plays a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// By one instruction.
    Opcode(Opcode),
    /// By several, of other roles.
    Expansion(Expansion),
    /// Not at all, and why.
    Refused(&'static str),
}

/// Instructions that are there and do not do what the role asks for: on processors with the feature, in wavefronts of so many lanes.
/// Fractions: the SI back end of LLVM ("V_FRACT is buggy on SI"), and what it makes of `frexp`
/// there, which it asks for finite numbers only. Permutation: RDNA ISA, `DS_BPERMUTE_B32`, by which each half of a
/// wavefront of 64 reads and writes its own lanes only.
const DEFECTIVE: [(Opcode, Feature, &[u32]); 8] = [
    (isa::op::V_FRACT_F32, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::V_FRACT_F64, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::V_FREXP_EXP_I32_F32, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::V_FREXP_EXP_I32_F64, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::V_FREXP_MANT_F32, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::V_FREXP_MANT_F64, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::DS_BPERMUTE_B32, Feature::WAVE32, &[64]),
    (isa::op::DS_PERMUTE_B32, Feature::WAVE32, &[64]),
];

/// One line of the table.
pub(crate) struct Line {
    /// The role in words; empty for what the first instruction's name says.
    words: &'static str,
    /// Instructions, best first.
    ops: &'static [Opcode],
    /// What else.
    otherwise: Otherwise,
}

/// Without any of the instructions.
pub(crate) enum Otherwise {
    Expansion(Expansion),
    Lacking(&'static str),
}

/// Declares the enum [`Role`] and its lines.
macro_rules! roles {
    ($($name:ident $($words:literal)? = $($op:ident)+ $(, or $expansion:ident)? $(, lacking $reason:expr)?;)*) => {
        /// What selection asks for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Role { $($name),* }

        impl Role {
            /// Each of them.
            pub const ALL: &[Role] = &[$(Role::$name),*];
        }

        pub(super) static LINES: &[$crate::roles::Line] = &[$($crate::roles::Line {
            words: concat!($($words)?),
            ops: &[$(isa::op::$op),+],
            otherwise: roles!(@otherwise $($expansion)? $($reason)?),
        }),*];
    };
    (@otherwise) => { $crate::roles::Otherwise::Lacking("no instruction does it, and no expansion is filled in yet") };
    (@otherwise $expansion:ident) => { $crate::roles::Otherwise::Expansion($crate::roles::Expansion::$expansion) };
    (@otherwise $reason:expr) => { $crate::roles::Otherwise::Lacking($reason) };
}
pub(crate) use roles;

impl Role {
    /// The role in words.
    pub fn name(self) -> &'static str {
        let line = &table::LINES[self as usize];
        if line.words.is_empty() { line.ops[0].row().name } else { line.words }
    }

    /// Instructions that play it on one processor or another.
    pub fn candidates(self) -> &'static [Opcode] {
        table::LINES[self as usize].ops
    }
}

/// How a processor plays each role, found out when someone asks.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    processor: Option<(Subtarget, &'static [Opcode])>,
    list: Vec<Cell<Option<Resolution>>>,
}

impl Roles {
    /// The roles of a processor.
    pub fn new(target: &Subtarget) -> Roles {
        Roles::lacking(target, &[])
    }

    /// As if the processor lacked some of its instructions: what other processors do for want of them can be tried.
    pub fn lacking(target: &Subtarget, lacks: &'static [Opcode]) -> Roles {
        Roles { processor: Some((*target, lacks)), list: vec![Cell::new(None); Role::ALL.len()] }
    }

    /// Whether it is for the processor without those instructions.
    pub(crate) fn is_for(&self, target: &Subtarget, lacks: &'static [Opcode]) -> bool {
        self.processor == Some((*target, lacks))
    }

    /// How the processor plays a role.
    pub fn get(&self, role: Role) -> Resolution {
        let Some((target, lacks)) = &self.processor else { return Resolution::Refused("no processor") };
        let known = &self.list[role as usize];
        known.get().unwrap_or_else(|| {
            let sound = |op: &Opcode| {
                let here = |&(bad, feature, lanes): &(Opcode, Feature, &[u32])| {
                    bad == *op && target.has(feature) && lanes.contains(&target.wave_size)
                };
                !DEFECTIVE.iter().any(here)
            };
            let has = |op: &Opcode| op.row().code(target).is_some() && sound(op) && !lacks.contains(op);
            let resolution = resolve(role, &has);
            known.set(Some(resolution));
            resolution
        })
    }

    /// The buffer instruction of the line, where another one is better that takes nothing but whole addresses (FLAT).
    pub fn by_buffer(&self, role: Role) -> Option<Opcode> {
        let is = |op: &Opcode, family| op.row().family == family;
        let better = self.opcode(role).filter(|op| is(op, Family::Flat));
        let (target, lacks) = self.processor.as_ref().filter(|_| better.is_some())?;
        let has = |op: &Opcode| op.row().code(target).is_some() && !lacks.contains(op);
        role.candidates().iter().copied().find(|op| is(op, Family::Mubuf) && has(op))
    }

    /// The instruction, if one plays the role.
    pub fn opcode(&self, role: Role) -> Option<Opcode> {
        match self.get(role) {
            Resolution::Opcode(op) => Some(op),
            _ => None,
        }
    }
}

/// The first instruction there is, or the expansion if all that it needs is there.
fn resolve(role: Role, has: &impl Fn(&Opcode) -> bool) -> Resolution {
    let line = &table::LINES[role as usize];
    if let Some(&op) = line.ops.iter().find(|op| has(op)) {
        return Resolution::Opcode(op);
    }
    match line.otherwise {
        Otherwise::Lacking(reason) => Resolution::Refused(reason),
        Otherwise::Expansion(expansion) => {
            let refused = expansion.needs().iter().find_map(|&part| match resolve(part, has) {
                Resolution::Refused(reason) => Some(reason),
                _ => None,
            });
            refused.map_or(Resolution::Expansion(expansion), Resolution::Refused)
        }
    }
}

/// What can be emitted: a role, or an instruction that is the same wherever it is used.
pub(crate) trait Selected: Copy {
    fn resolve(self, roles: &Roles) -> Resolution;
    fn words(self) -> &'static str;
}

impl Selected for Role {
    fn resolve(self, roles: &Roles) -> Resolution {
        roles.get(self)
    }

    fn words(self) -> &'static str {
        self.name()
    }
}

impl Selected for Opcode {
    fn resolve(self, _: &Roles) -> Resolution {
        Resolution::Opcode(self)
    }

    fn words(self) -> &'static str {
        self.row().name
    }
}
