//! Small questions about the IR that several topics ask.

use ir::constraints::SCALAR;
use ir::{Global, GlobalData, Mem, MemFlags, Module, Space};

/// Whether a module variable is in LDS, where its address is a constant.
pub(crate) fn is_shared_address(module: &Module, global: Global) -> bool {
    module.globals[global].space == Space::Shared
}

/// Whether a load may go through the scalar cache if its address is in SGPRs: nobody writes the memory, and
/// what is loaded is dwords at a dword address.
pub(crate) fn scalar_load(mem: &Mem) -> bool {
    let invariant = mem.flags.contains(MemFlags::INVARIANT) || mem.space == Space::Constant;
    invariant
        && matches!(mem.space, Space::Global | Space::Constant)
        && SCALAR.takes(mem)
        && mem.ty.bytes() >= 4
        && mem.align >= 4
}

/// LDS offset of each module variable in LDS: 16-byte aligned so that wide accesses may be used, the
/// dynamically sized ones last, all at one place, behind so many bytes of something else. Returns the size of the static part too.
pub(crate) fn lay_out_shared(
    module: &Module,
    used: impl Fn(Global) -> bool,
    first: u32,
    offsets: &mut Vec<u32>,
) -> u32 {
    offsets.clear();
    offsets.resize(module.globals.len(), 0);
    let mut size = first;
    let shared = |dynamic: bool| {
        let wanted = move |data: &GlobalData| data.space == Space::Shared && data.dynamic == dynamic;
        module.globals.iter().filter(move |(_, data)| wanted(data)).filter(|&(global, _)| used(global))
    };
    for (global, data) in shared(false) {
        size = size.next_multiple_of(data.align.max(16));
        offsets[global.as_u32() as usize] = size;
        size += data.size;
    }
    if let Some(align) = shared(true).map(|(_, data)| data.align.max(16)).max() {
        size = size.next_multiple_of(align);
    }
    for (global, _) in shared(true) {
        offsets[global.as_u32() as usize] = size;
    }
    size
}
