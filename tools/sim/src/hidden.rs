//! The argument segment of a kernel. It contains the arguments from the caller and the hidden arguments. The
//! metadata of a kernel lists its hidden arguments by name (LLVM's AMDGPU guide, seed 000, lines 2193 and
//! 2369). Which names exist depends on the code object version: for example, `hidden_block_count_x` exists
//! from V5 on.

use crate::launch::Dispatch;
use crate::memory::Memory;
use crate::metadata::ArgKind;
use crate::object::KernelInfo;
use crate::packet::dimensions;
use crate::wave::{PRIVATE_APERTURE, SHARED_APERTURE};

/// Addresses that the emulator passes to a kernel in hidden arguments. An address is 0 if the memory for it
/// does not exist.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Provided {
    pub(crate) queue: u64,
    pub(crate) printf: u64,
    pub(crate) hostcall: u64,
    pub(crate) heap: u64,
}

/// Size in bytes of the directory of the heap (`hidden_heap_v1`), as in ROCm. The function `malloc` of ROCm's
/// device library expects a directory that is zero at first. It asks the host for all memory that it
/// allocates.
pub(crate) const HEAP_BYTES: u64 = 128 << 10;

/// Returns the offset of a hidden argument in the argument segment, or `None` if the kernel does not have the
/// argument.
pub(crate) fn offset(kernel: &KernelInfo, name: &str) -> Option<u32> {
    kernel
        .args
        .iter()
        .find(|arg| matches!(&arg.kind, ArgKind::Hidden(it) if it == name))
        .map(|arg| arg.offset)
}

/// Returns the address that a hidden argument of a kernel holds, or 0 if the kernel does not have the
/// argument. `kernarg` is the address of the filled argument segment.
pub(crate) fn pointer(kernel: &KernelInfo, name: &str, kernarg: u64, memory: &Memory) -> u64 {
    let mut bytes = [0; 8];
    if let Some(offset) = offset(kernel, name) {
        memory.read(kernarg.wrapping_add(offset.into()), &mut bytes);
    }
    u64::from_le_bytes(bytes)
}

/// Returns the bytes of the whole argument segment, including hidden arguments.
pub(crate) fn kernarg(kernel: &KernelInfo, dispatch: &Dispatch<'_>, provided: Provided) -> Vec<u8> {
    let mut bytes = dispatch.kernarg.clone();
    bytes.resize(bytes.len().max(kernel.kernarg_size as usize), 0);
    for arg in &kernel.args {
        let ArgKind::Hidden(name) = &arg.kind else { continue };
        let value = value(name, dispatch, provided).to_le_bytes();
        let (start, size) = (arg.offset as usize, (arg.size as usize).min(value.len()));
        if let Some(place) = bytes.get_mut(start..start + size) {
            place.copy_from_slice(&value[..size]);
        }
    }
    bytes
}

/// Hidden arguments that the emulator does not support, each with the reason. Kernels use these arguments
/// without checking for null. Each argument therefore points to an address range of its own without memory,
/// so that the message about the fault can name the argument.
const MISSING: [(&str, &str); 1] =
    [("printf_buffer", "hidden_printf_buffer: the object has no formats of printf")];
/// Start of the address ranges for hidden arguments that the emulator does not support. The ranges are above
/// all allocations and below scratch.
const MISSING_BASE: u64 = 0x6000_0000_0000;
/// Size of the address range for one unsupported hidden argument, as an exponent: a range has
/// `1 << MISSING_SHIFT` bytes. The hidden argument is a pointer to the middle of its range.
const MISSING_SHIFT: u32 = 33;

fn missing(name: &str) -> u64 {
    let place = MISSING.iter().position(|(known, _)| *known == name);
    place.map_or(0, |place| MISSING_BASE + (((place as u64) << 1 | 1) << (MISSING_SHIFT - 1)))
}

/// Hidden arguments that are null in the emulator, as in an ordinary launch by a runtime. Kernels check these
/// arguments for null.
const NULL: [&str; 3] = ["multigrid_sync_arg", "default_queue", "completion_action"];
/// Size of the address range at 0. If a program accesses this range, it has probably added an offset to a
/// null pointer.
const NULL_PAGE: u64 = 4096;

/// Returns why an access fails at an address where no memory is allocated, if the address comes from one of
/// the kernel's hidden arguments.
pub(crate) fn reason(address: u64, kernel: &KernelInfo) -> Option<&'static str> {
    let hidden = |name: &str| offset(kernel, name).is_some();
    if address < NULL_PAGE && NULL.into_iter().any(hidden) {
        return Some(
            "no allocation holds all of it; hidden_multigrid_sync_arg, hidden_default_queue and \
             hidden_completion_action are null",
        );
    }
    let place = usize::try_from(address.checked_sub(MISSING_BASE)? >> MISSING_SHIFT).ok()?;
    MISSING.get(place).map(|(_, why)| *why)
}

fn value(name: &str, dispatch: &Dispatch<'_>, provided: Provided) -> u64 {
    let (stem, dim) = match name.rsplit_once('_') {
        Some((stem, "x")) => (stem, 0),
        Some((stem, "y")) => (stem, 1),
        Some((stem, "z")) => (stem, 2),
        _ => (name, 0),
    };
    let (grid, group) = (u64::from(dispatch.grid[dim]), u64::from(dispatch.group[dim]));
    match stem {
        "global_offset" => dispatch.global_offset[dim],
        // The block count includes only complete groups. The hidden argument `remainder` gives the size of
        // the last, partial group.
        "block_count" => grid / group,
        "group_size" => group,
        "remainder" => grid % group,
        "num_groups" => grid.div_ceil(group),
        "global_size" => grid,
        "local_size" => group,
        "grid_dims" => dimensions(dispatch.grid, dispatch.group).into(),
        "private_base" => PRIVATE_APERTURE.into(),
        "shared_base" => SHARED_APERTURE.into(),
        "queue_ptr" => provided.queue,
        "hostcall_buffer" => provided.hostcall,
        "heap_v1" => provided.heap,
        "printf_buffer" if provided.printf != 0 => provided.printf,
        "dynamic_lds_size" => dispatch.dynamic_lds.into(),
        _ => missing(stem),
    }
}
