//! Small questions about the IR that several topics ask.

use crate::lane_memory;
use crate::lower::{Context, Options};
use crate::roles::{Expansion, Resolution, Role};
use ir::constraints::SCALAR;
use ir::{Function, Global, GlobalData, Mem, MemFlags, Module, Op, Space, WaveOp};
use isa::Subtarget;

/// Whether a module variable is in LDS at an address that is a constant.
pub(crate) fn is_shared_address(module: &Module, global: Global) -> bool {
    let data = &module.globals[global];
    data.space == Space::Shared && !data.linked
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

/// Where variables in LDS are that functions name: at the same place whatever kernel calls them, in front of a kernel's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedLayout {
    /// By module variable.
    offsets: Vec<Option<u32>>,
    /// Where the next variable may begin.
    end: u32,
}

impl SharedLayout {
    /// The layout for the functions of a module. `lanes`: bytes at the beginning of LDS that are somebody else's.
    fn new(module: &Module, lanes: u32) -> SharedLayout {
        let mut layout = SharedLayout { offsets: vec![None; module.globals.len()], end: lanes };
        let functions = module.funcs.values().filter(|func| func.kernel.is_none());
        let insts = functions.flat_map(|func| {
            func.layout.iter().flat_map(|&block| &func.blocks[block].insts).map(|&inst| func.insts[inst].op)
        });
        for op in insts {
            let Op::GlobalAddr(global) = op else { continue };
            let (data, offset) = (&module.globals[global], &mut layout.offsets[global.as_u32() as usize]);
            if data.space != Space::Shared || data.dynamic || data.linked || offset.is_some() {
                continue;
            }
            let start = layout.end.next_multiple_of(data.align.max(16));
            *offset = Some(start);
            layout.end = start + data.size;
        }
        layout
    }

    /// Where a variable is, if functions name it.
    pub fn offset(&self, global: Global) -> Option<u32> {
        self.offsets.get(global.as_u32() as usize).copied().flatten()
    }

    /// Bytes of LDS up to the end of all of them.
    pub fn size(&self) -> u32 {
        self.end
    }
}

/// The layout for the functions of a module, which may exchange values of lanes through LDS, whatever the size of a group.
pub fn shared_layout(
    module: &Module,
    target: &Subtarget,
    opts: &Options<'_>,
    ctx: &mut Context,
) -> SharedLayout {
    let way = ctx.roles(target, opts).get(Role::LanePermuteB32);
    let permutes = |func: &Function| {
        let mut ops = func.insts.values().map(|data| data.op);
        ops.any(|op| matches!(op, Op::Wave(WaveOp::Shuffle | WaveOp::Permute)))
    };
    let through_lds = way == Resolution::Expansion(Expansion::ThroughLds);
    let (kernels, functions): (Vec<&Function>, Vec<&Function>) =
        module.funcs.values().partition(|func| func.kernel.is_some());
    // A function exchanges them for any kernel, and where a kernel does so by itself, variables of functions do not lie either.
    let any = functions.into_iter().any(permutes);
    let exchanging = kernels.into_iter().filter(|func| through_lds && (any || permutes(func)));
    let lanes = exchanging.map(lane_memory::bytes).max().unwrap_or(0);
    SharedLayout::new(module, lanes)
}

/// In place of an offset: the linker places the variable.
pub(crate) const LINKED: u32 = u32::MAX;

/// LDS offset of each module variable in LDS: 16-byte aligned so that wide accesses may be used, the
/// dynamically sized ones last, all at one place, behind so many bytes of something else. Returns the size of the static part too.
pub(crate) fn lay_out_shared(
    module: &Module,
    used: impl Fn(Global) -> bool,
    (first, fixed): (u32, Option<&SharedLayout>),
    offsets: &mut Vec<u32>,
) -> u32 {
    offsets.clear();
    offsets.extend(module.globals.values().map(|data| if data.linked { LINKED } else { 0 }));
    let mut size = first.max(fixed.map_or(0, SharedLayout::size));
    let shared = |dynamic: bool| {
        let wanted =
            move |data: &GlobalData| data.space == Space::Shared && data.dynamic == dynamic && !data.linked;
        module.globals.iter().filter(move |(_, data)| wanted(data)).filter(|&(global, _)| used(global))
    };
    for (global, data) in shared(false) {
        if let Some(offset) = fixed.and_then(|fixed| fixed.offset(global)) {
            offsets[global.as_u32() as usize] = offset;
            continue;
        }
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
