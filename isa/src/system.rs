//! The operating systems of target triples: what the runtime of each system expects of a code object, and
//! what state a kernel finds when the runtime starts the kernel.
//!
//! # Source
//! LLVM's AMDGPU guide (seed 000), lines 4297 (AMDPAL) and 4366 (no operating system), and the objects that
//! LLVM 19 writes for the triples `amdgcn--` and `amdgcn-mesa-mesa3d`. Which user SGPRs Mesa's runtime fills
//! follows `si_setup_user_sgprs_co_v2` of Mesa's `si_compute.c`. AMD's OpenCL 2.0 driver: the description of
//! its interface by CLRX (seed 004), and the headers of kernels that the driver compiled.

use crate::abi::AbiInput;
use crate::addressing::Apertures;
use crate::hidden::{CATALYST, HiddenArgs, MESA, NO_HIDDEN};
use crate::{CodeObjectVersion, Os, Subtarget};

/// Where a kernel's registers and other resources are stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelHeader {
    /// In a kernel descriptor of 64 bytes, whose symbol is the kernel's name with the suffix `.kd`.
    Descriptor,
    /// In an `amd_kernel_code_t` of 256 bytes in front of the kernel's code.
    KernelCode,
    /// Only in the section `.AMDGPU.config`.
    Config,
    /// In the metadata of the pipeline: values of hardware registers and other facts. An object has one
    /// kernel.
    Pipeline,
}

/// Where a kernel finds the sizes of the grid and of its work-group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchSizes {
    /// In the dispatch packet, to which two user SGPRs point.
    Packet,
    /// In nine dwords in front of the explicit arguments: the number of work-groups in each dimension, then
    /// the number of work-items, then the size of a work-group.
    Words,
    /// Only the numbers of work-groups are in memory, at an address in two user SGPRs. The size of a work-group
    /// is a constant of the kernel.
    GroupCounts,
}

/// Offset of the number of work-items, if [`LaunchSizes::Words`] holds the sizes. Each size has a dword for
/// each dimension.
pub const GLOBAL_SIZE_WORDS: u32 = 12;
/// Offset of the size of a work-group, if [`LaunchSizes::Words`] holds the sizes.
pub const LOCAL_SIZE_WORDS: u32 = 24;

/// How a kernel gets the descriptor (V#) of scratch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScratchSetUp {
    /// The runtime puts the descriptor into four user SGPRs.
    UserSgprs,
    /// The kernel writes the descriptor into four SGPRs. The runtime provides the first two dwords as the
    /// symbols of [`SCRATCH_SYMBOLS`].
    Symbols,
    /// The kernel loads the descriptor from the global internal table of AMDPAL.
    Table,
}

/// Names of the undefined symbols for the first two dwords of the scratch descriptor.
pub const SCRATCH_SYMBOLS: [&str; 2] = ["SCRATCH_RSRC_DWORD0", "SCRATCH_RSRC_DWORD1"];

/// A set of user SGPRs that a runtime provides together.
#[derive(Debug)]
pub struct UserSgprSet {
    /// Whether the set is for processors that have registers for the apertures, or for those that have none.
    pub has_aperture_registers: bool,
    /// The inputs in the set.
    pub inputs: &'static [AbiInput],
}

/// How code gets the address of a variable in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataAddress {
    /// The code adds the distance to the program counter.
    Distance,
    /// The loader writes the address into the code.
    Relocated,
}

/// The facts about an operating system.
#[derive(Debug)]
pub struct System {
    /// The operating system.
    pub os: Os,
    /// Name of the system on the command line.
    pub name: &'static str,
    /// The triple without the environment: architecture, vendor, operating system.
    pub triple: &'static str,
    /// `EI_OSABI` in the file header.
    pub os_abi: u8,
    /// Header of kernels. For HSA, the code object version decides between two headers:
    /// [`Subtarget::kernel_header`].
    pub header: KernelHeader,
    /// Whether objects have versions, and metadata that describes kernels and their arguments.
    pub has_metadata: bool,
    /// Whether objects have the section `.AMDGPU.config` and a note with the name of the processor.
    pub has_config: bool,
    /// Whether the file is a binary of AMD's OpenCL 2.0 driver: an ELF file with records of the kernels and an
    /// inner object with the code (docs/old-formats.md).
    pub has_container: bool,
    /// Whether the runtime loads linked objects (`ET_DYN`). Otherwise the runtime relocates the object itself
    /// (`ET_REL`).
    pub is_linked: bool,
    /// Whether relocations have addends of their own (`SHT_RELA`). Otherwise the addend is in the field that
    /// the relocation fills in (`SHT_REL`).
    pub has_addends: bool,
    /// Whether the compiler states the size of LDS in `COMPUTE_PGM_RSRC2`. Under HSA, the command processor
    /// writes this field.
    pub states_lds: bool,
    /// Whether the code is followed by padding for the instruction prefetch of GFX10.
    pub has_code_end: bool,
    /// Whether a kernel's header states the wave size. If not, every kernel has the processor's default.
    pub states_wave_size: bool,
    /// Whether buffer descriptors ask for address translation by the host's IOMMU (`ATC`).
    pub translates: bool,
    /// Offset of the first explicit argument in the kernarg segment.
    pub arguments_begin: u32,
    /// Where the sizes of the launch are.
    pub sizes: LaunchSizes,
    /// The inputs that the runtime provides in user SGPRs.
    pub user_sgprs: &'static [AbiInput],
    /// The sets of user SGPRs that kernels can request, from the smallest one. If there are none, a kernel can
    /// request each input alone.
    pub user_sgpr_sets: &'static [UserSgprSet],
    /// How code gets the addresses of variables in device memory.
    pub data_address: DataAddress,
    /// Where the scratch descriptor comes from.
    pub scratch: ScratchSetUp,
    /// Whether functions can be called. They expect the scratch descriptor in `s[0:3]`.
    pub has_calls: bool,
    /// Whether a trap handler is installed. Without one, lanes that trap continue to the end of the program.
    pub has_trap_handler: bool,
    /// Hidden arguments; `None` if they depend on the code object version.
    hidden: Option<&'static HiddenArgs>,
}

const ALL_USER_SGPRS: &[AbiInput] = &[
    AbiInput::PrivateSegmentBuffer,
    AbiInput::DispatchPtr,
    AbiInput::QueuePtr,
    AbiInput::KernargPtr,
    AbiInput::DispatchId,
    AbiInput::FlatScratchInit,
];

/// AMDPAL's user SGPRs. The kernel computes the address of its arguments, which are in the spill table too.
const PAL_USER_SGPRS: &[AbiInput] = &[
    AbiInput::UserData(0),
    AbiInput::UserData(1),
    AbiInput::UserData(2),
    AbiInput::UserData(3),
    AbiInput::UserData(4),
    AbiInput::UserData(5),
    AbiInput::UserData(6),
    AbiInput::UserData(7),
    AbiInput::UserData(8),
    AbiInput::UserData(9),
    AbiInput::KernargPtr,
    AbiInput::GroupCounts,
];

/// The inputs that AMD's OpenCL 2.0 driver provides.
const CATALYST_USER_SGPRS: &[AbiInput] = &[
    AbiInput::PrivateSegmentBuffer,
    AbiInput::DispatchPtr,
    AbiInput::QueuePtr,
    AbiInput::KernargPtr,
    AbiInput::FlatScratchInit,
];

/// A set of user SGPRs for processors without registers for the apertures (GFX7 and GFX8).
const fn before_gfx9(inputs: &'static [AbiInput]) -> UserSgprSet {
    UserSgprSet { has_aperture_registers: false, inputs }
}

/// The sets of user SGPRs of AMD's OpenCL 2.0 driver (seed 004, "Passing options"). The names in the comments
/// are CLRX's options.
const CATALYST_SETS: &[UserSgprSet] = &[
    before_gfx9(&[AbiInput::PrivateSegmentBuffer]),
    // useargs
    before_gfx9(&[AbiInput::PrivateSegmentBuffer, AbiInput::KernargPtr]),
    // usesetup
    before_gfx9(&[AbiInput::PrivateSegmentBuffer, AbiInput::DispatchPtr, AbiInput::KernargPtr]),
    // useenqueue
    before_gfx9(&[
        AbiInput::PrivateSegmentBuffer,
        AbiInput::DispatchPtr,
        AbiInput::KernargPtr,
        AbiInput::FlatScratchInit,
    ]),
    // usegeneric
    before_gfx9(CATALYST_USER_SGPRS),
    // All kernels on GFX9
    UserSgprSet {
        has_aperture_registers: true,
        inputs: &[
            AbiInput::PrivateSegmentBuffer,
            AbiInput::DispatchPtr,
            AbiInput::KernargPtr,
            AbiInput::FlatScratchInit,
        ],
    },
];

/// ROCm and other runtimes that follow the rules of HSA.
const HSA: System = System {
    os: Os::AmdHsa,
    name: "amdhsa",
    triple: "amdgcn-amd-amdhsa",
    os_abi: 64,
    header: KernelHeader::Descriptor,
    has_metadata: true,
    has_config: false,
    has_container: false,
    is_linked: true,
    has_addends: true,
    states_lds: false,
    has_code_end: true,
    states_wave_size: true,
    translates: true,
    arguments_begin: 0,
    sizes: LaunchSizes::Packet,
    user_sgprs: ALL_USER_SGPRS,
    user_sgpr_sets: &[],
    data_address: DataAddress::Distance,
    scratch: ScratchSetUp::UserSgprs,
    has_calls: true,
    has_trap_handler: true,
    hidden: None,
};

/// The rows of all systems. A row names only what differs from another row.
pub static SYSTEMS: [System; 5] = [
    HSA,
    System {
        os: Os::AmdPal,
        name: "amdpal",
        triple: "amdgcn-amd-amdpal",
        os_abi: 65,
        header: KernelHeader::Pipeline,
        has_metadata: false,
        is_linked: false,
        has_addends: false,
        states_lds: true,
        translates: false,
        sizes: LaunchSizes::GroupCounts,
        user_sgprs: PAL_USER_SGPRS,
        scratch: ScratchSetUp::Table,
        has_trap_handler: false,
        hidden: Some(&NO_HIDDEN),
        ..HSA
    },
    System {
        os: Os::Mesa3d,
        name: "mesa3d",
        triple: "amdgcn-mesa-mesa3d",
        os_abi: 66,
        header: KernelHeader::KernelCode,
        states_wave_size: true,
        arguments_begin: 0,
        sizes: LaunchSizes::Packet,
        scratch: ScratchSetUp::UserSgprs,
        has_calls: true,
        user_sgprs: &[AbiInput::PrivateSegmentBuffer, AbiInput::DispatchPtr, AbiInput::KernargPtr],
        hidden: Some(&MESA),
        ..BARE
    },
    System {
        os: Os::Catalyst,
        name: "catalyst",
        triple: "amdgcn-amd-catalyst",
        header: KernelHeader::KernelCode,
        has_metadata: false,
        has_container: true,
        is_linked: false,
        has_code_end: false,
        translates: false,
        arguments_begin: 48,
        user_sgprs: CATALYST_USER_SGPRS,
        user_sgpr_sets: CATALYST_SETS,
        data_address: DataAddress::Relocated,
        has_trap_handler: false,
        hidden: Some(&CATALYST),
        ..HSA
    },
    BARE,
];

/// No operating system: the driver of Mesa's OpenCL before LLVM had the system `mesa3d`.
const BARE: System = System {
    os: Os::Unknown,
    name: "none",
    triple: "amdgcn-unknown-unknown",
    os_abi: 0,
    header: KernelHeader::Config,
    has_metadata: false,
    has_config: true,
    is_linked: false,
    has_addends: false,
    states_lds: true,
    has_code_end: false,
    states_wave_size: false,
    translates: false,
    arguments_begin: 36,
    sizes: LaunchSizes::Words,
    user_sgprs: &[AbiInput::KernargPtr],
    scratch: ScratchSetUp::Symbols,
    has_calls: false,
    has_trap_handler: false,
    hidden: Some(&MESA),
    ..HSA
};

impl Os {
    /// Returns the facts about the operating system.
    pub const fn system(self) -> &'static System {
        match self {
            Os::AmdHsa => &SYSTEMS[0],
            Os::AmdPal => &SYSTEMS[1],
            Os::Mesa3d => &SYSTEMS[2],
            Os::Catalyst => &SYSTEMS[3],
            Os::Unknown => &SYSTEMS[4],
        }
    }

    /// Returns the operating system with this name on the command line.
    pub fn by_name(name: &str) -> Option<Os> {
        SYSTEMS.iter().find(|system| system.name == name).map(|system| system.os)
    }
}

impl System {
    /// Returns whether the runtime provides an input of kernels. Inputs that the hardware provides, such as
    /// work-group ids, exist in every system.
    pub fn provides(&self, input: AbiInput) -> bool {
        match input {
            AbiInput::PrivateSegmentBuffer if self.scratch != ScratchSetUp::UserSgprs => true,
            AbiInput::WorkgroupId(_)
            | AbiInput::PrivateSegmentWaveOffset
            | AbiInput::WorkitemId(_)
            | AbiInput::ImplicitArgPtr => true,
            _ => self.user_sgprs.contains(&input),
        }
    }
}

impl Subtarget {
    /// Returns the subtarget for another operating system.
    pub const fn with_os(self, os: Os) -> Subtarget {
        Subtarget { os, ..self }
    }

    /// Returns the facts about the operating system for which code is compiled.
    pub const fn system(&self) -> &'static System {
        self.os.system()
    }

    /// Returns the header that kernels have.
    pub const fn kernel_header(&self) -> KernelHeader {
        let system = self.system();
        match (system.has_metadata, self.code_object) {
            (true, CodeObjectVersion::V2) => KernelHeader::KernelCode,
            _ => system.header,
        }
    }

    /// Returns the inputs in user SGPRs that a kernel has to request if it needs these inputs.
    pub fn user_sgpr_set(&self, needed: &[AbiInput]) -> &'static [AbiInput] {
        let system = self.system();
        let has_registers = self.addressing.known().apertures == Apertures::Registers;
        let has_all = |set: &&UserSgprSet| {
            let mut provided = needed.iter().filter(|input| system.user_sgprs.contains(input));
            set.has_aperture_registers == has_registers && provided.all(|input| set.inputs.contains(input))
        };
        system.user_sgpr_sets.iter().find(has_all).map_or(&[], |set| set.inputs)
    }

    /// Returns the offset of the hidden arguments in the kernarg segment. `own` is the size in bytes of the
    /// kernel's own arguments.
    pub const fn hidden_begin(&self, own: u32) -> u32 {
        match self.system().hidden {
            Some(args) if args.precede => 0,
            _ => self.system().arguments_begin.saturating_add(self.hidden_args().start(own)),
        }
    }

    /// Returns the hidden arguments of kernels.
    pub const fn hidden_args(&self) -> &'static HiddenArgs {
        match self.system().hidden {
            Some(args) => args,
            None => HiddenArgs::for_version(self.code_object),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_request_the_smallest_set() {
        let count = |cpu: &str, needed: &[AbiInput]| {
            let target = Subtarget::by_name(cpu).unwrap().with_os(Os::Catalyst);
            let mut abi = crate::Abi::default();
            target.user_sgpr_set(needed).iter().for_each(|&input| abi.request(input));
            abi.user_sgpr_count()
        };
        let needed = [
            (4, AbiInput::WorkgroupId(0)),
            (6, AbiInput::KernargPtr),
            (8, AbiInput::DispatchPtr),
            (10, AbiInput::FlatScratchInit),
            (12, AbiInput::QueuePtr),
        ];
        for (expected, input) in needed {
            assert_eq!(count("gfx803", &[input]), expected, "{input:?}");
        }
        assert_eq!(count("gfx906", &[]), 10);
        assert_eq!(Subtarget::by_name("gfx803").unwrap().user_sgpr_set(&[AbiInput::KernargPtr]), []);
    }

    #[test]
    fn rows_are_at_their_places() {
        for system in &SYSTEMS {
            assert_eq!(system.os.system().name, system.name);
            assert_eq!(Os::by_name(system.name), Some(system.os));
        }
        assert_eq!(Os::by_name("linux"), None);
    }
}
