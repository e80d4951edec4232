//! Properties of memory accesses and module variables that several modules of this package need, and the
//! layout of variables in LDS.

use crate::lane_memory;
use crate::lower::{Context, Options};
use crate::roles::{Expansion, Resolution, Role};
use ir::constraints::SCALAR;
use ir::{Function, Global, GlobalData, Mem, MemFlags, Module, Op, Space, WaveOp};
use isa::Subtarget;

/// Returns whether a module variable is in LDS at a constant address.
pub(crate) fn is_shared_address(module: &Module, global: Global) -> bool {
    let data = &module.globals[global];
    data.space == Space::Shared && !data.linked
}

/// Returns whether a load may use the scalar cache if its address is in SGPRs. No code may write the memory
/// while the kernel runs, and the load must read whole dwords at a dword-aligned address.
pub(crate) fn scalar_load(mem: &Mem) -> bool {
    let invariant = mem.flags.contains(MemFlags::INVARIANT) || mem.space == Space::Constant;
    invariant
        && matches!(mem.space, Space::Global | Space::Constant)
        && SCALAR.takes(mem)
        && mem.ty.bytes() >= 4
        && mem.align >= 4
}

/// The layout of the LDS variables that functions (not kernels) use. Each variable has the same address in
/// whichever kernel the function is called, so these variables come before the kernel's own variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedLayout {
    /// Address of each module variable that functions use.
    offsets: Vec<Option<u32>>,
    /// Address at which the next variable may begin.
    end: u32,
}

impl SharedLayout {
    /// Creates the layout of the LDS variables that the functions of a module use. The first `lanes` bytes of
    /// LDS are reserved as memory through which lanes exchange values.
    fn new(module: &Module, lanes: u32) -> SharedLayout {
        let mut layout = SharedLayout { offsets: vec![None; module.globals.len()], end: lanes };
        let functions = module.funcs.values().filter(|func| func.kernel.is_none());
        let insts = functions.flat_map(|func| {
            func.layout.iter().flat_map(|&block| func.blocks[block].insts()).map(|&inst| func.insts[inst].op)
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

    /// Returns the address of a variable, if functions use it.
    pub fn offset(&self, global: Global) -> Option<u32> {
        self.offsets.get(global.as_u32() as usize).copied().flatten()
    }

    /// Returns the number of LDS bytes up to the end of the last variable.
    pub fn size(&self) -> u32 {
        self.end
    }
}

/// Returns the layout of the LDS variables that the functions of a module use. If the code exchanges values
/// between lanes through LDS, memory for the largest work-group is reserved at the beginning.
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
    // A function that exchanges values through LDS may be called in any kernel, so every kernel needs the
    // memory then. A kernel that exchanges values itself needs it too, and the variables of functions must
    // not overlap it.
    let any = functions.into_iter().any(permutes);
    let exchanging = kernels.into_iter().filter(|func| through_lds && (any || permutes(func)));
    let lanes = exchanging.map(lane_memory::bytes).max().unwrap_or(0);
    SharedLayout::new(module, lanes)
}

/// Used instead of an offset: the linker places the variable.
pub(crate) const LINKED: u32 = u32::MAX;

/// Computes the LDS offset of each module variable that is in LDS. The first `first` bytes are reserved.
/// Variables are aligned to 16 bytes so that wide accesses can be used. All variables of dynamic size start
/// at the same offset, after all other variables. Returns the size of the part whose size is constant.
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
