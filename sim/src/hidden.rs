//! The argument segment: what the caller gives, and the hidden arguments of each code object version, which the metadata
//! lists by name (seed 000, lines 2193 and 2369; `hidden_block_count_x` and its kin came with V5).

use crate::launch::Dispatch;
use crate::metadata::ArgKind;
use crate::object::KernelInfo;
use crate::packet::dimensions;
use crate::wave::{PRIVATE_APERTURE, SHARED_APERTURE};

/// Addresses that hidden arguments hand on; 0 where there is nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Provided {
    pub(crate) queue: u64,
    pub(crate) printf: u64,
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

/// Buffers for host calls, heaps, device-side queues and synchronisation of grids are not provided: their addresses are
/// null, as on a runtime that a program does not ask for them.
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
        "grid_dims" => dimensions(dispatch.grid).into(),
        "private_base" => PRIVATE_APERTURE.into(),
        "shared_base" => SHARED_APERTURE.into(),
        "queue_ptr" => provided.queue,
        "printf_buffer" => provided.printf,
        "dynamic_lds_size" => dispatch.dynamic_lds.into(),
        _ => 0,
    }
}
