//! Determines the implicit arguments that functions need in addition to their explicit arguments, from the
//! operations that they contain.

use crate::lower::{Context, Options};
use crate::roles::{Expansion, Resolution, Role, Roles};
use crate::trap::TrapWay;
use callconv::{Column, Convention, Implicit, Place, column};
use ir::analysis::CallGraph;
use ir::{CastOp, Function, Linkage, Module, Op, Pos, Space, Type, WaveOp};
use isa::{AbiInput, Apertures, Subtarget};

/// The first SGPR that implicit arguments may use.
pub(crate) const FIRST_SCALAR: u16 = 4;

/// What a function needs from its callers in addition to its explicit arguments: implicit arguments such as
/// work-item ids, and wave state that a kernel must set up, such as FLAT_SCRATCH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImplicitNeeds {
    /// Bit n is set if [`Implicit::ALL`] number n is needed.
    implicit: u16,
    /// Number of dimensions of work-item ids that are needed.
    dimensions: u8,
    /// Whether FLAT_SCRATCH is needed.
    flat_scratch: bool,
}

/// The implicit arguments that kernels also receive as inputs from the hardware. Each entry has the argument
/// and the input. When a kernel calls a function that needs the argument, it passes its own input.
pub(crate) const INPUTS: [(Implicit, AbiInput); 9] = [
    (Implicit::WorkitemIds, AbiInput::WorkitemId(0)),
    (Implicit::DispatchPtr, AbiInput::DispatchPtr),
    (Implicit::QueuePtr, AbiInput::QueuePtr),
    (Implicit::KernargPtr, AbiInput::KernargPtr),
    (Implicit::ImplicitArgPtr, AbiInput::ImplicitArgPtr),
    (Implicit::DispatchId, AbiInput::DispatchId),
    (Implicit::WorkgroupId(0), AbiInput::WorkgroupId(0)),
    (Implicit::WorkgroupId(1), AbiInput::WorkgroupId(1)),
    (Implicit::WorkgroupId(2), AbiInput::WorkgroupId(2)),
];

impl ImplicitNeeds {
    /// Returns the needs of a function about which nothing is known: everything that the calling convention
    /// provides.
    pub fn all(convention: Convention, target: &Subtarget) -> ImplicitNeeds {
        let mut needs = ImplicitNeeds { dimensions: 3, ..ImplicitNeeds::default() };
        needs.flat_scratch = target.addressing.apertures != Apertures::None;
        let column: &Column = column(convention);
        column.implicit.iter().for_each(|&(implicit, _)| needs.insert(implicit));
        needs
    }

    /// Returns what the operations of the function itself need. What its callees need is not included.
    pub fn from_function(func: &Function, roles: &Roles, target: &Subtarget) -> ImplicitNeeds {
        let mut needs = ImplicitNeeds::default();
        for data in
            func.layout.iter().flat_map(|&block| func.blocks[block].insts()).map(|&inst| &func.insts[inst])
        {
            match data.op {
                Op::Pos(pos) => needs.position(pos),
                Op::Cast(CastOp::SpaceCast) => {
                    let from = data.args.first(&func.pool).map(|arg| func.ty(arg));
                    needs.widened(from, target);
                }
                Op::Trap { debug: false } => match TrapWay::for_subtarget(target) {
                    TrapWay::UserQueue => needs.insert(Implicit::QueuePtr),
                    TrapWay::HiddenQueue => needs.insert(Implicit::ImplicitArgPtr),
                    TrapWay::Doorbell | TrapWay::None => {}
                },
                Op::Wave(WaveOp::Shuffle | WaveOp::Permute) => {
                    let way = roles.get(Role::LanePermuteB32);
                    if way == Resolution::Expansion(Expansion::ThroughLds) {
                        needs.position(Pos::LocalId(2));
                        needs.position(Pos::LocalSize(0));
                    }
                }
                _ => {}
            }
        }
        needs
    }

    fn position(&mut self, pos: Pos) {
        match pos {
            Pos::LocalId(d) => self.work_item(d),
            Pos::GroupId(d) => self.insert(Implicit::WorkgroupId(d)),
            Pos::GlobalId(d) => {
                self.work_item(d);
                self.insert(Implicit::WorkgroupId(d));
                self.insert(Implicit::DispatchPtr);
            }
            Pos::LocalSize(_) | Pos::NumGroups(_) | Pos::GlobalSize(_) => self.insert(Implicit::DispatchPtr),
            Pos::ImplicitArgPtr | Pos::GlobalOffset(_) | Pos::PrintfBuffer | Pos::HostcallBuffer => {
                self.insert(Implicit::ImplicitArgPtr)
            }
            Pos::KernargPtr => self.insert(Implicit::KernargPtr),
            Pos::DispatchPtr => self.insert(Implicit::DispatchPtr),
            Pos::QueuePtr => self.insert(Implicit::QueuePtr),
            Pos::DispatchId => self.insert(Implicit::DispatchId),
            Pos::LaneId | Pos::WaveSize | Pos::Clock | Pos::Realtime => {}
        }
    }

    /// Adds what a cast from type `from` to a generic pointer needs: FLAT_SCRATCH for private memory, and the
    /// queue pointer on processors that load apertures from the queue structure.
    fn widened(&mut self, from: Option<Type>, target: &Subtarget) {
        self.flat_scratch |= from == Some(Type::Ptr(Space::Private));
        if target.addressing.apertures == Apertures::Queue {
            self.insert(Implicit::QueuePtr);
        }
    }

    fn work_item(&mut self, dimension: u8) {
        self.insert(Implicit::WorkitemIds);
        self.dimensions = self.dimensions.max(dimension + 1);
    }

    fn insert(&mut self, implicit: Implicit) {
        self.implicit |= bit(implicit);
    }

    /// Adds the needs of another function, such as a callee. Returns whether `self` changed.
    pub fn join(&mut self, other: &ImplicitNeeds) -> bool {
        let before = *self;
        self.implicit |= other.implicit;
        self.dimensions = self.dimensions.max(other.dimensions);
        self.flat_scratch |= other.flat_scratch;
        *self != before
    }

    /// Returns whether an implicit argument is needed.
    pub fn has(&self, implicit: Implicit) -> bool {
        self.implicit & bit(implicit) != 0
    }

    /// Returns where an implicit argument is passed, or `None` if it is not passed. In some conventions, each
    /// implicit argument has a fixed register. In the others, the place depends on the other arguments. The
    /// work-item ids come after the `dwords` dwords of explicit arguments, in VGPRs or on the stack. A scalar
    /// implicit argument comes after the scalar implicit arguments before it that are needed.
    pub(crate) fn implicit_place(
        &self,
        convention: Convention,
        implicit: Implicit,
        dwords: usize,
    ) -> Option<Place> {
        let Column { implicit: all, argument_vgprs: vgprs, .. } = column(convention);
        let at = all.iter().position(|(known, _)| *known == implicit)?;
        let is_vector = |implicit| implicit == Implicit::WorkitemIds;
        let number = dwords as u16;
        Some(match all[at].1 {
            Some(register) if is_vector(implicit) => Place::Vgpr(register),
            Some(register) => Place::Sgpr(register),
            None if !self.has(implicit) => return None,
            None if is_vector(implicit) && dwords < vgprs.len() => Place::Vgpr(vgprs.start() + number),
            None if is_vector(implicit) => Place::Stack(4 * u32::from(number - vgprs.len() as u16)),
            None => {
                let before = all[..at].iter().map(|&(other, _)| other);
                let before = before.filter(|&other| self.has(other) && !is_vector(other));
                Place::Sgpr(FIRST_SCALAR + before.map(Implicit::dwords).sum::<u16>())
            }
        })
    }

    /// Returns the number of dimensions of work-item ids that are needed.
    pub fn dimensions(&self) -> u8 {
        self.dimensions
    }

    /// Returns whether FLAT_SCRATCH is needed.
    pub fn flat_scratch(&self) -> bool {
        self.flat_scratch
    }
}

/// Returns the needs of each function of a module, and the needs of calls through function pointers. A
/// function needs what its own operations need, and what the functions that it calls need. A function of
/// another object is assumed to need everything. `foreign` says whether function pointers may lead to such
/// functions.
///
/// In some conventions, the place of an argument depends on which other arguments are needed, so a caller
/// must know exactly what the called function needs. This is not possible for a function that other objects
/// call, so such a function is given everything. All functions whose addresses are taken are given the same
/// arguments.
pub fn needs(
    module: &Module,
    (graph, foreign): (&CallGraph, bool),
    target: &Subtarget,
    opts: &Options<'_>,
    ctx: &mut Context,
) -> (Vec<ImplicitNeeds>, ImplicitNeeds) {
    let roles = ctx.roles(target, opts);
    let all = ImplicitNeeds::all(opts.convention, target);
    let places_depend = column(opts.convention).implicit.iter().any(|(_, register)| register.is_none());
    let of = |func: &Function| match func.linkage {
        Linkage::Extern => all,
        Linkage::Export if places_depend && func.kernel.is_none() => all,
        _ => ImplicitNeeds::from_function(func, roles, target),
    };
    let mut needs: Vec<ImplicitNeeds> = module.funcs.values().map(of).collect();
    let mut pointer = if foreign { all } else { ImplicitNeeds::default() };
    let mut again = true;
    while std::mem::take(&mut again) {
        for (id, func) in module.funcs.iter() {
            let number = id.as_u32() as usize;
            for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
                let more = match func.insts[inst].op {
                    Op::Call(callee) => needs[callee.as_u32() as usize],
                    Op::CallIndirect(_) => pointer,
                    _ => continue,
                };
                again |= needs[number].join(&more);
            }
            if graph.is_address_taken(id) {
                again |= pointer.join(&needs[number]);
                again |= places_depend && needs[number].join(&pointer);
            }
        }
    }
    (needs, pointer)
}

fn bit(implicit: Implicit) -> u16 {
    Implicit::ALL.iter().position(|&known| known == implicit).map_or(0, |n| 1 << n)
}
