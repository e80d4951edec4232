//! The argument segment: what the caller gives, and the hidden arguments of each code object version, which the metadata
//! lists by name (seed 000, lines 2193 and 2369; `hidden_block_count_x` and its kin came with V5).

use crate::launch::Dispatch;
use crate::memory::Memory;
use crate::metadata::ArgKind;
use crate::object::KernelInfo;
use crate::packet::dimensions;
use crate::wave::{PRIVATE_APERTURE, SHARED_APERTURE};

/// Addresses that hidden arguments hand on; 0 where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Provided {
    pub(crate) queue: u64,
    pub(crate) printf: u64,
    pub(crate) hostcall: u64,
    pub(crate) heap: u64,
}

/// Bytes of the heap's directory (`hidden_heap_v1`): what ROCm gives it. `malloc` of its device library finds it zeroed, and asks
/// the host for all memory that it hands out.
pub(crate) const HEAP_BYTES: u64 = 128 << 10;

/// Where a hidden argument of a kernel is, if it has it.
pub(crate) fn offset(kernel: &KernelInfo, name: &str) -> Option<u32> {
    kernel
        .args
        .iter()
        .find(|arg| matches!(&arg.kind, ArgKind::Hidden(it) if it == name))
        .map(|arg| arg.offset)
}

/// What a hidden argument points to, in arguments that somebody has filled in; 0 if there is none.
pub(crate) fn pointer(kernel: &KernelInfo, name: &str, kernarg: u64, memory: &Memory) -> u64 {
    let mut bytes = [0; 8];
    if let Some(offset) = offset(kernel, name) {
        memory.read(kernarg.wrapping_add(offset.into()), &mut bytes);
    }
    u64::from_le_bytes(bytes)
}

/// The whole segment.
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

/// What kernels use without asking whether it is there, and why it is not. Each gets addresses of its own, so that a fault
/// can say whose they are.
const MISSING: [(&str, &str); 1] =
    [("printf_buffer", "hidden_printf_buffer: the object has no formats of printf")];
/// Where those addresses begin: above every allocation, below scratch.
const MISSING_BASE: u64 = 0x6000_0000_0000;
/// Address space of each; its argument points to the middle.
const MISSING_SHIFT: u32 = 33;

fn missing(name: &str) -> u64 {
    let place = MISSING.iter().position(|(known, _)| *known == name);
    place.map_or(0, |place| MISSING_BASE + (((place as u64) << 1 | 1) << (MISSING_SHIFT - 1)))
}

/// The rest of what is not provided. An ordinary launch leaves these null, and kernels ask whether they are.
const NULL: [&str; 3] = ["multigrid_sync_arg", "default_queue", "completion_action"];
/// Addresses that only a null pointer leads to.
const NULL_PAGE: u64 = 4096;

/// What an address where nothing is has to do with hidden arguments of a kernel.
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
        // Complete groups only; a partial one is in the remainder.
        "block_count" => grid / group,
        "group_size" => group,
        "remainder" => grid % group,
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
