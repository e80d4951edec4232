//! A family of processors as one value of named facts.

use super::Target;
use super::buffers::Buffers;
use super::checks::Checks;
use super::descriptor::DescriptorFacts;
use super::device::Device;
use super::emulation::Emulation;
use super::hazards::Hazards;
use super::id::ArchId;
use super::memory::MemoryModel;
use super::registers::{Mode, Registers};
use crate::addressing::Addressing;
use crate::layout::Layout;
use crate::wait::Waits;
use std::fmt;
use std::ops::Deref;

/// A fact about a family, or a group of facts that belong together. A family may leave a fact open, which
/// means that the fact is not known.
///
/// To use a fact, code first asks for it with [`Fact::get`], which returns an error if the fact is open.
/// After that, the code reads the fact like a field (`target.arch.waits.max`), without a test that could
/// fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact<T> {
    /// The family defines the fact.
    Known(T),
    /// The family leaves the fact with this name open.
    Unknown(&'static str),
}

impl<T> Fact<T> {
    /// Returns the fact, or an error that names the fact and the processor.
    ///
    /// # Errors
    /// [`UnknownFact`] if the fact is not known for the processor.
    pub const fn get(&self, target: &Target) -> Result<&T, UnknownFact> {
        match self {
            Fact::Known(fact) => Ok(fact),
            Fact::Unknown(fact) => Err(UnknownFact { processor: target.name, fact }),
        }
    }

    /// Returns the fact of a family that defines it.
    ///
    /// # Panics
    /// If the family leaves the fact open. The caller has to rule this out with [`Fact::get`] first.
    #[inline]
    pub const fn known(&self) -> &T {
        match self {
            Fact::Known(fact) => fact,
            Fact::Unknown(_) => panic!("a fact was used that the processor's family does not define"),
        }
    }
}

impl<T> Deref for Fact<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.known()
    }
}

/// The error that a processor's family does not define a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFact {
    /// Name of the processor.
    pub processor: &'static str,
    /// Name of the fact.
    pub fact: &'static str,
}

impl fmt::Display for UnknownFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the family of {} does not define the fact `{}`", self.processor, self.fact)
    }
}

impl std::error::Error for UnknownFact {}

/// Declares [`Arch`] with a field of type [`Fact`] for each row, and the family that leaves all of them open.
macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        /// A family of processors. The module's documentation says how to add a fact.
        pub struct Arch {
            /// Identifies the family, which is a column of the instruction table.
            pub id: ArchId,
            $($(#[$doc])* pub $name: Fact<$type>,)*
        }

        impl Arch {
            /// A family that leaves every fact open and has no instruction. It has two uses: as the start of
            /// a new family, and as the family of a processor with which tests prove that open facts are
            /// errors.
            pub const UNDEFINED: Arch =
                Arch { id: ArchId::Undefined, $($name: Fact::Unknown(stringify!($name)),)* };

            /// Returns the names of the facts that the family leaves open.
            pub fn open_facts(&self) -> impl Iterator<Item = &'static str> {
                [$(match self.$name { Fact::Known(_) => None, Fact::Unknown(name) => Some(name) }),*]
                    .into_iter()
                    .flatten()
            }
        }

        /// Names of all facts.
        const FACTS: &[&str] = &[$(stringify!($name)),*];
    };
}

facts! {
    /// Layout of the encodings.
    layout: Layout;
    /// Codes and number of the scalar registers.
    registers: Registers;
    /// Wait instructions.
    waits: Waits;
    /// Addressing of memory instructions.
    addressing: Addressing;
    /// Fields of the register MODE.
    mode: Mode;
    /// Buffer resource descriptors.
    buffers: Buffers;
    /// Parts of a device.
    device: Device;
    /// What the emulator knows: its own reading of the manuals.
    emulation: Emulation;
    /// What the checker knows about waits and hazards. It was read from the manuals independently of the
    /// compiler's facts.
    checks: Checks;
    /// Caches and counters, as the compiler uses them.
    memory_model: MemoryModel;
    /// Hazards, as the compiler mitigates them.
    hazards: Hazards;
    /// Fields of kernel descriptors.
    descriptor: DescriptorFacts;
}

impl Target {
    /// Checks that the processor's family defines each fact of a list. A tool calls this function before it
    /// reads any fact.
    ///
    /// # Errors
    /// [`UnknownFact`] with the first fact of the list that the family leaves open.
    pub fn needs(&self, facts: &[&'static str]) -> Result<(), UnknownFact> {
        debug_assert!(facts.iter().all(|fact| FACTS.contains(fact)), "no such fact in {facts:?}");
        let open = |fact: &&str| self.arch.open_facts().any(|open| open == *fact);
        match facts.iter().find(|fact| open(fact)) {
            Some(fact) => Err(UnknownFact { processor: self.name, fact }),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.id)
    }
}
