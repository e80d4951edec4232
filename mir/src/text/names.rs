//! Words of the text form of machine IR. Each table serves both for writing and for reading.

use crate::{MachFunc, SPACE_GLOBAL, SPACE_PRIVATE, SPACE_SHARED, SpaceSet, SyncOrder, SyncScope};
use isa::{Abi, Hidden, ModFlags};

/// Modifiers of instructions with their words in the text. A modifier that LLVM's assembler knows has the
/// same word there.
pub(super) const FLAGS: &[(ModFlags, &str)] = &[
    (ModFlags::IDXEN, "idxen"),
    (ModFlags::OFFEN, "offen"),
    (ModFlags::ADDR64, "addr64"),
    (ModFlags::GLC, "glc"),
    (ModFlags::SLC, "slc"),
    (ModFlags::DLC, "dlc"),
    (ModFlags::SCC, "scc"),
    (ModFlags::GDS, "gds"),
    (ModFlags::LDS, "lds"),
    (ModFlags::TFE, "tfe"),
    (ModFlags::CLAMP, "clamp"),
    (ModFlags::BOUND_CTRL, "bound_ctrl"),
    (ModFlags::FETCH_INACTIVE, "fi"),
    (ModFlags::UNORM, "unorm"),
    (ModFlags::DA, "da"),
    (ModFlags::R128, "r128"),
    (ModFlags::A16, "a16"),
    (ModFlags::D16, "d16"),
    (ModFlags::LWE, "lwe"),
    (ModFlags::DONE, "done"),
    (ModFlags::VM, "vm"),
    (ModFlags::COMPR, "compr"),
    (ModFlags::HIGH, "high"),
];

/// Names of the output modifiers 1 to 3.
pub(super) const OMODS: [&str; 3] = ["mul:2", "mul:4", "div:2"];

/// SDWA selections by their number.
pub(super) const SDWA_SELS: [&str; 7] = ["byte0", "byte1", "byte2", "byte3", "word0", "word1", "dword"];

/// Names as in the IR's text.
pub(super) const ORDERS: &[(SyncOrder, &str)] = &[
    (SyncOrder::NotAtomic, "not_atomic"),
    (SyncOrder::Unordered, "unordered"),
    (SyncOrder::Relaxed, "relaxed"),
    (SyncOrder::Acquire, "acquire"),
    (SyncOrder::Release, "release"),
    (SyncOrder::AcqRel, "acq_rel"),
    (SyncOrder::SeqCst, "seq_cst"),
];

/// Names as in the IR's text.
pub(super) const SCOPES: &[(SyncScope, &str)] = &[
    (SyncScope::SingleThread, "singlethread"),
    (SyncScope::Wavefront, "wavefront"),
    (SyncScope::Workgroup, "workgroup"),
    (SyncScope::Agent, "agent"),
    (SyncScope::System, "system"),
];

/// Sets that consist of a single named address space.
pub(super) const SPACES: &[(SpaceSet, &str)] = &[
    (SPACE_GLOBAL, "global"),
    (1 << 2, "region"),
    (SPACE_SHARED, "shared"),
    (1 << 4, "constant"),
    (SPACE_PRIVATE, "private"),
];

/// A field of a type `T`, as a function that returns a mutable reference to it. A table of such functions
/// serves both for reading and for writing.
type Place<T, U> = fn(&mut T) -> &mut U;

/// Inputs that the kernel descriptor can request.
pub(super) const ABI: &[(&str, Place<Abi, bool>)] = &[
    ("private_segment_buffer", |abi| &mut abi.private_segment_buffer),
    ("dispatch_ptr", |abi| &mut abi.dispatch_ptr),
    ("queue_ptr", |abi| &mut abi.queue_ptr),
    ("kernarg_ptr", |abi| &mut abi.kernarg_ptr),
    ("dispatch_id", |abi| &mut abi.dispatch_id),
    ("flat_scratch_init", |abi| &mut abi.flat_scratch_init),
    ("workgroup_id_x", |abi| &mut abi.workgroup_id[0]),
    ("workgroup_id_y", |abi| &mut abi.workgroup_id[1]),
    ("workgroup_id_z", |abi| &mut abi.workgroup_id[2]),
    ("private_segment_wave_offset", |abi| &mut abi.private_segment_wave_offset),
    ("makes_buffer", |abi| &mut abi.makes_buffer),
    ("pal", |abi| &mut abi.pal),
    ("user_data_0", |abi| &mut abi.user_data[0]),
    ("user_data_1", |abi| &mut abi.user_data[1]),
    ("user_data_2", |abi| &mut abi.user_data[2]),
    ("user_data_3", |abi| &mut abi.user_data[3]),
    ("user_data_4", |abi| &mut abi.user_data[4]),
    ("user_data_5", |abi| &mut abi.user_data[5]),
    ("user_data_6", |abi| &mut abi.user_data[6]),
    ("user_data_7", |abi| &mut abi.user_data[7]),
    ("user_data_8", |abi| &mut abi.user_data[8]),
    ("user_data_9", |abi| &mut abi.user_data[9]),
    ("group_counts", |abi| &mut abi.group_counts),
];

/// Hidden arguments that the code reads.
pub(super) const HIDDEN: &[(Hidden, &str)] = &[
    (Hidden::PRINTF_BUFFER, "printf_buffer"),
    (Hidden::QUEUE_PTR, "queue_ptr"),
    (Hidden::HOSTCALL_BUFFER, "hostcall_buffer"),
    (Hidden::GLOBAL_OFFSET, "global_offset"),
    (Hidden::FOREIGN, "foreign"),
    (Hidden::DYNAMIC_LDS, "dynamic_lds"),
];

/// The properties of a machine function that are numbers, with their words in the text. The allocator sets
/// the last five.
pub(super) const SIZES: &[(&str, Place<MachFunc, u32>)] = &[
    ("lds_size", |func| &mut func.lds_size),
    ("scratch_size", |func| &mut func.scratch_size),
    ("kernarg_size", |func| &mut func.kernarg_size),
    ("vgprs", |func| &mut func.vgprs),
    ("agprs", |func| &mut func.agprs),
    ("sgprs", |func| &mut func.sgprs),
    ("spilled_vgprs", |func| &mut func.spilled.vgprs),
    ("spilled_sgprs", |func| &mut func.spilled.sgprs),
];

/// Returns the name of a key.
pub(super) fn name_of<K: PartialEq>(table: &[(K, &'static str)], key: &K) -> Option<&'static str> {
    table.iter().find(|(k, _)| k == key).map(|&(_, name)| name)
}

/// Returns the key with a name.
pub(super) fn by_name<K: Copy>(table: &[(K, &str)], name: &str) -> Option<K> {
    table.iter().find(|(_, n)| *n == name).map(|&(key, _)| key)
}
