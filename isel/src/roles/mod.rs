//! A role is an operation that selection can request, whatever instruction the processor has for it.
//!
//! Selection never checks which processor it generates code for. It emits a [`Role`], such as "vector add
//! without carry" or "global load of b128". The instruction table alone determines which instruction
//! implements a role. If the processor has no such instruction, a sequence of other roles does it (an
//! [`Expansion`]). This is resolved once per processor, at the first request, and kept in a flat array
//! ([`Roles`]). To support another processor, add its instructions to the lines of `table.rs`, or add an
//! expansion to `expansions.rs`.

mod expansions;
mod table;

pub use expansions::Expansion;
use isa::table::Family;
use isa::{Feature, Opcode, Subtarget};
use std::cell::Cell;
pub(crate) use table::NO_FLAT;
pub use table::Role;

/// How a processor implements a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A single instruction.
    Opcode(Opcode),
    /// A sequence of other roles.
    Expansion(Expansion),
    /// Not supported, with the reason.
    Refused(&'static str),
}

/// Instructions that must not implement a role although the processor has them, because they do not do what
/// the role requires. Each entry has the instruction, the feature by which affected processors are known, and
/// the wave sizes that are affected.
///
/// Sources: for fractions, the SI back end of LLVM ("V_FRACT is buggy on SI"), and its code for `frexp` on
/// SI, which uses the instructions only for finite numbers. For permutations, RDNA ISA, `DS_BPERMUTE_B32`,
/// which says that each half of a 64-lane wave reads and writes only its own lanes.
const DEFECTIVE: [(Opcode, Feature, &[u32]); 8] = [
    (isa::op::V_FRACT_F32, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::V_FRACT_F64, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::V_FREXP_EXP_I32_F32, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::V_FREXP_EXP_I32_F64, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::V_FREXP_MANT_F32, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::V_FREXP_MANT_F64, Feature::FRACT_BUG, &[32, 64]),
    (isa::op::DS_BPERMUTE_B32, Feature::PERMUTE_IN_HALVES, &[64]),
    (isa::op::DS_PERMUTE_B32, Feature::PERMUTE_IN_HALVES, &[64]),
];

/// One line of the role table.
pub(crate) struct Line {
    /// Name of the role for error messages, in words. If it is empty, the name of the first instruction is
    /// used.
    words: &'static str,
    /// Instructions that implement the role, best first.
    ops: &'static [Opcode],
    /// What happens if the processor has none of the instructions.
    otherwise: Otherwise,
}

/// What selection does about a role if the processor has none of the role's instructions.
pub(crate) enum Otherwise {
    Expansion(Expansion),
    Lacking(&'static str),
}

/// Declares the enum [`Role`] and its lines.
macro_rules! roles {
    ($($name:ident $($words:literal)? = $($op:ident)+ $(, or $expansion:ident)? $(, lacking $reason:expr)?;)*) => {
        /// An operation that selection can request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Role { $($name),* }

        impl Role {
            /// All roles.
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
    /// Returns the name of the role in words.
    pub fn name(self) -> &'static str {
        let line = &table::LINES[self as usize];
        if line.words.is_empty() { line.ops[0].row().name } else { line.words }
    }

    /// Returns all instructions that implement the role on some processor, best first.
    pub fn candidates(self) -> &'static [Opcode] {
        table::LINES[self as usize].ops
    }
}

/// How a processor implements each role (operation that selection requests). A role is resolved when it is
/// requested for the first time.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    processor: Option<(Subtarget, &'static [Opcode])>,
    list: Vec<Cell<Option<Resolution>>>,
}

impl Roles {
    /// Creates the roles of a processor.
    pub fn new(target: &Subtarget) -> Roles {
        Roles::lacking(target, &[])
    }

    /// Returns the roles of a processor, resolved as if the processor did not have the instructions `lacks`.
    /// Tests use this to run the code for processors that really lack these instructions.
    pub fn lacking(target: &Subtarget, lacks: &'static [Opcode]) -> Roles {
        Roles { processor: Some((*target, lacks)), list: vec![Cell::new(None); Role::ALL.len()] }
    }

    /// Returns whether this table holds the roles of the given processor, resolved without the instructions
    /// `lacks`.
    pub(crate) fn is_for(&self, target: &Subtarget, lacks: &'static [Opcode]) -> bool {
        self.processor == Some((*target, lacks))
    }

    /// Returns how the processor implements a role.
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
            // Some processors have SCRATCH instructions but access private memory by others.
            let by_buffer = target.addressing.scratch.has_descriptor();
            let sound = |op: &Opcode| sound(op) && !(by_buffer && op.row().family == Family::Scratch);
            let has = |op: &Opcode| op.row().code(target).is_some() && sound(op) && !lacks.contains(op);
            let resolution = resolve(role, &has);
            known.set(Some(resolution));
            resolution
        })
    }

    /// Returns the buffer instruction that can take the place of a role's FLAT instruction for an access to
    /// device memory. A FLAT instruction takes only whole addresses, so the buffer instruction may be better.
    /// Returns `None` if the role's own instruction is not a FLAT instruction.
    pub fn by_buffer(&self, role: Role) -> Option<Opcode> {
        let is = |op: &Opcode, family| op.row().family == family;
        let better = self.opcode(role).filter(|op| is(op, Family::Flat));
        let (target, lacks) = self.processor.as_ref().filter(|_| better.is_some())?;
        let has = |op: &Opcode| op.row().code(target).is_some() && !lacks.contains(op);
        role.candidates().iter().copied().find(|op| is(op, Family::Mubuf) && has(op))
    }

    /// Returns the instruction that implements a role, if a single instruction does.
    pub fn opcode(&self, role: Role) -> Option<Opcode> {
        match self.get(role) {
            Resolution::Opcode(op) => Some(op),
            _ => None,
        }
    }
}

/// Determines how a processor implements a role. `has` says which instructions the processor has. The first
/// listed instruction that it has implements the role. If it has none, the expansion does, provided that the
/// processor has everything that the expansion needs.
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

/// What can be emitted: a role, or the opcode of an instruction. An opcode is used where the code runs only
/// for processors that have the same instruction.
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
