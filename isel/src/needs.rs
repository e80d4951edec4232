//! What a function that is called needs beside its arguments, as its operations tell.

use crate::lower::{Context, Options};
use crate::roles::{Expansion, Resolution, Role, Roles};
use crate::trap::Way;
use callconv::{Column, Convention, Implicit, Place, column};
use ir::analysis::CallGraph;
use ir::{CastOp, Function, Linkage, Module, Op, Pos, Space, Type, WaveOp};
use isa::{AbiInput, Apertures, Subtarget};

/// The first SGPR that implicit arguments may be in.
pub(crate) const FIRST_SCALAR: u16 = 4;

/// Implicit arguments, and what of the wave's state a kernel has to set up for those that it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Bit n: [`Implicit::ALL`] number n.
    implicit: u16,
    /// Dimensions of work-item ids.
    dimensions: u8,
    /// FLAT_SCRATCH.
    flat_scratch: bool,
}

/// Each implicit argument that kernels have too, and what it is there.
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

impl Needs {
    /// Of a function that is not known: all that the convention has.
    pub fn all(convention: Convention, target: &Subtarget) -> Needs {
        let mut needs = Needs { dimensions: 3, ..Needs::default() };
        needs.flat_scratch = target.addressing.apertures != Apertures::None;
        let column: &Column = column(convention);
        column.implicit.iter().for_each(|&(implicit, _)| needs.insert(implicit));
        needs
    }

    /// Of the operations of a function, calls aside.
    pub fn of(func: &Function, roles: &Roles, target: &Subtarget) -> Needs {
        let mut needs = Needs::default();
        for data in
            func.layout.iter().flat_map(|&block| &func.blocks[block].insts).map(|&inst| &func.insts[inst])
        {
            match data.op {
                Op::Pos(pos) => needs.position(pos),
                Op::Cast(CastOp::SpaceCast) => {
                    let from = data.args.first(&func.pool).map(|arg| func.ty(arg));
                    needs.widened(from, target);
                }
                Op::Trap { debug: false } => match Way::of(target) {
                    Way::UserQueue => needs.insert(Implicit::QueuePtr),
                    Way::HiddenQueue => needs.insert(Implicit::ImplicitArgPtr),
                    Way::Doorbell | Way::None => {}
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
            Pos::KernargPtr | Pos::GlobalOffset(_) | Pos::PrintfBuffer | Pos::HostcallBuffer => {
                self.insert(Implicit::ImplicitArgPtr)
            }
            Pos::DispatchId => self.insert(Implicit::DispatchId),
            Pos::LaneId | Pos::WaveSize | Pos::Clock | Pos::Realtime => {}
        }
    }

    /// A cast that makes a generic pointer.
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

    /// Adds what another function needs. Says whether that was more.
    pub fn join(&mut self, other: &Needs) -> bool {
        let before = *self;
        self.implicit |= other.implicit;
        self.dimensions = self.dimensions.max(other.dimensions);
        self.flat_scratch |= other.flat_scratch;
        *self != before
    }

    /// Whether an implicit argument is among them.
    pub fn has(&self, implicit: Implicit) -> bool {
        self.implicit & bit(implicit) != 0
    }

    /// Where an implicit argument lies, if the convention has it: in a register of its own, or, of those that are used, behind the
    /// others, of which there are so many dwords.
    pub(crate) fn place(&self, convention: Convention, implicit: Implicit, dwords: usize) -> Option<Place> {
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

    /// Dimensions of work-item ids that are looked at.
    pub fn dimensions(&self) -> u8 {
        self.dimensions
    }

    /// Whether FLAT_SCRATCH is wanted.
    pub fn flat_scratch(&self) -> bool {
        self.flat_scratch
    }
}

/// What each function of a module is given beside its arguments, and what calls through addresses give: what a function needs itself, and
/// what those need that it calls. Code of other objects needs all (`foreign`: addresses may lead there). Where the place of an argument
/// depends on which others there are, whoever does not see a function has to know them all the same: those that other objects know are given
/// all, and those whose addresses are taken are given the same.
pub fn needs(
    module: &Module,
    (graph, foreign): (&CallGraph, bool),
    target: &Subtarget,
    opts: &Options<'_>,
    ctx: &mut Context,
) -> (Vec<Needs>, Needs) {
    let roles = ctx.roles(target, opts);
    let all = Needs::all(opts.convention, target);
    let places_depend = column(opts.convention).implicit.iter().any(|(_, register)| register.is_none());
    let of = |func: &Function| match func.linkage {
        Linkage::Extern => all,
        Linkage::Export if places_depend && func.kernel.is_none() => all,
        _ => Needs::of(func, roles, target),
    };
    let mut needs: Vec<Needs> = module.funcs.values().map(of).collect();
    let mut pointer = if foreign { all } else { Needs::default() };
    let mut again = true;
    while std::mem::take(&mut again) {
        for (id, func) in module.funcs.iter() {
            let number = id.as_u32() as usize;
            for &inst in func.layout.iter().flat_map(|&block| &func.blocks[block].insts) {
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
