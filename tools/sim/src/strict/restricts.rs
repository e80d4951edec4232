//! Finds violations of `restrict`: memory that is accessed through two pointer arguments, one of which is
//! marked `restrict`, and is written through at least one of them.
//!
//! The check is active only for a dispatch in which two arguments point to the same allocation. For each
//! register, strict mode then tracks from which pointer arguments its value is computed, starting at the
//! loads of the arguments. It does not track pointers through memory, so it overlooks pointers on the stack
//! of unoptimised code.
//!
//! A register has one label for all its lanes. Where some lanes hold an address from an argument and other
//! lanes hold the address of a static variable, the label is the argument. So an access counts as an access
//! through an argument only if it is to the allocation to which the argument points.

use super::findings::Elsewhere;
use super::start::lock;
use super::touch::{Class, Touch};
use super::{FaultClass, Watcher};
use crate::memory::Memory;
use crate::metadata::{ArgInfo, ArgKind};
use crate::watch::{MemAccess, Space};
use std::collections::HashMap;
use std::sync::Mutex;

/// A pointer argument of the kernel.
struct Argument {
    offset: u64,
    name: String,
    is_restrict: bool,
    allocation: Option<usize>,
}

/// Earlier accesses to a dword, either all reads or all writes: the pointer arguments through which they were
/// made, and the instruction and wave of the last one.
#[derive(Clone, Copy, Default)]
struct Accesses {
    through: u64,
    place: u32,
    wave: u32,
}

/// The pointer arguments of a dispatch.
pub(crate) struct Restricts {
    kernarg: u64,
    arguments: Vec<Argument>,
    restricted: u64,
    /// For each dword, its past reads and its past writes.
    accesses: Mutex<HashMap<u64, [Accesses; 2]>>,
}

impl Restricts {
    /// Finds the pointer arguments to check. Returns `None` if nothing has to be checked, because no
    /// `restrict` argument points to the same allocation as another argument.
    pub(crate) fn new(args: &[ArgInfo], kernarg: u64, memory: &Memory) -> Option<Restricts> {
        let pointers = args.iter().filter(|arg| arg.kind == ArgKind::GlobalBuffer && arg.size == 8).take(64);
        let argument = |arg: &ArgInfo| {
            let mut address = [0; 8];
            memory.read(kernarg + u64::from(arg.offset), &mut address);
            let address = u64::from_le_bytes(address);
            Argument {
                offset: arg.offset.into(),
                name: arg.name.clone().unwrap_or_else(|| format!("at offset {}", arg.offset)),
                is_restrict: arg.is_restrict,
                allocation: memory.find(address, 1).and_then(|_| Memory::slot(address)),
            }
        };
        let arguments: Vec<Argument> = pointers.map(argument).collect();
        let overlaps = |(at, one): (usize, &Argument)| {
            let mut others = arguments.iter().enumerate().filter(|(other, _)| *other != at);
            one.is_restrict
                && one.allocation.is_some()
                && others.any(|(_, other)| other.allocation == one.allocation)
        };
        let any = arguments.iter().enumerate().any(overlaps);
        let restricted = |all: u64, (at, one): (usize, &Argument)| all | u64::from(one.is_restrict) << at;
        let restricted = arguments.iter().enumerate().fold(0, restricted);
        any.then(|| Restricts { kernarg, arguments, restricted, accesses: Mutex::default() })
    }

    /// Returns the pointer argument that is stored at an address of the argument segment, as a mask with the
    /// bit of this argument. The mask is 0 if there is none.
    fn at(&self, address: u64) -> u64 {
        let offset = address.wrapping_sub(self.kernarg);
        let holds = |argument: &Argument| (argument.offset..argument.offset + 8).contains(&offset);
        self.arguments.iter().position(holds).map_or(0, |at| 1 << at)
    }

    /// Returns the pointer argument with the lowest bit of a mask.
    fn argument(&self, through: u64) -> Option<&Argument> {
        self.arguments.get(through.trailing_zeros() as usize)
    }

    fn name(&self, through: u64) -> &str {
        self.argument(through).map_or("?", |argument| &argument.name)
    }
}

/// For a vector register, masks of the pointer arguments from which its value is computed.
#[derive(Clone, Copy, Default)]
struct Labelled {
    arguments: u64,
    /// Lanes that were active when the arguments were recorded.
    lanes: u64,
}

/// The label of each register: a mask of the pointer arguments from which the register's value is computed.
pub(super) struct Labels {
    scalar: [u64; 128],
    vector: Vec<Labelled>,
}

impl Default for Labels {
    fn default() -> Labels {
        Labels { scalar: [0; 128], vector: vec![Labelled::default(); 512] }
    }
}

/// Returns the numbers of the set bits.
fn codes(mut bits: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let code = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        code
    })
}

impl Labels {
    fn labels_in(&self, scalars: u128, vectors: impl Iterator<Item = usize>) -> u64 {
        let vectors = vectors.filter_map(|register| self.vector.get(register));
        let vectors = vectors.map(|labelled| labelled.arguments);
        vectors.chain(codes(scalars).map(|code| self.scalar[code])).fold(0, |all, label| all | label)
    }

    /// Sets the labels of an instruction's result registers. A label is a mask of pointer arguments. Dword
    /// `n` of the result gets the label `label(n)`. If some lanes of a vector register keep their values, the
    /// register also keeps its old label, because its lanes may then hold addresses from different arguments.
    fn set(&mut self, touch: &Touch, exec: u64, label: impl Fn(usize) -> u64) {
        for (at, register) in touch.writes.registers().enumerate() {
            let Some(place) = self.vector.get_mut(register) else { continue };
            let new = Labelled { arguments: label(at), lanes: exec };
            let keeps_old = place.lanes & !exec != 0;
            let old = if keeps_old { *place } else { Labelled::default() };
            *place = Labelled { arguments: old.arguments | new.arguments, lanes: old.lanes | new.lanes };
        }
        for (at, code) in codes(touch.scalar_writes).enumerate() {
            self.scalar[code] = label(at);
        }
    }
}

impl Watcher<'_> {
    /// Updates the labels of registers (masks of pointer arguments) for an instruction that is about to run.
    /// The results depend on the same pointer arguments as the sources.
    pub(super) fn follow_arguments(&mut self, touch: &Touch, exec: u64) {
        let now = &mut self.group.now;
        let Some(labels) = &mut self.group.waves[now.wave].labels else { return };
        let address = labels.labels_in(touch.scalar_address, touch.address.registers());
        if let Class::Memory(_) = touch.class {
            now.through = address;
            labels.set(touch, exec, |_| 0);
        } else {
            let label = address | labels.labels_in(touch.scalar_reads, touch.reads.registers());
            labels.set(touch, exec, |_| label);
        }
    }

    /// Labels the registers that a load from the argument segment writes with the pointer arguments that it
    /// loads.
    pub(super) fn label_arguments(&mut self, touch: &Touch) {
        let Some(restricts) = &self.shared.restricts else { return };
        let now = &self.group.now;
        if let (Some(first), Some(labels)) = (now.first_read, &mut self.group.waves[now.wave].labels) {
            labels.set(touch, now.exec, |at| restricts.at(first + 4 * at as u64));
        }
    }

    /// Records an access to memory through a pointer argument. Reports the access if it conflicts with an
    /// earlier access to the same dword through another argument.
    #[inline]
    pub(super) fn check_restrict(&mut self, access: &MemAccess, writes: bool) {
        let through = self.group.now.through;
        if through.count_ones() == 1 && access.space == Space::Global {
            self.enter_restrict(access, writes, through);
        }
    }

    #[cold]
    fn enter_restrict(&mut self, access: &MemAccess, writes: bool, through: u64) {
        let shared = self.shared;
        let Some(restricts) = &shared.restricts else { return };
        let pointed_to = restricts.argument(through).and_then(|argument| argument.allocation);
        if pointed_to != Memory::slot(access.address) {
            return;
        }
        let (place, wave) = (self.group.now.place, self.group.first_wave + self.group.now.wave as u32);
        let mut found = None;
        let mut all = lock(&restricts.accesses);
        for dword in access.address / 4..(access.address + u64::from(access.bytes)).div_ceil(4) {
            let accesses = all.entry(dword).or_default();
            // Kind 0 are the earlier reads, and kind 1 the earlier writes. A read conflicts only with writes;
            // a write conflicts with both.
            for kind in if writes { 0..2 } else { 1..2 } {
                let others = accesses[kind].through & !through;
                let is_restricted = (others | through) & restricts.restricted != 0;
                if others != 0 && is_restricted && found.is_none() {
                    found = Some((accesses[kind], others, kind == 1));
                }
            }
            let mine = &mut accesses[usize::from(writes)];
            *mine = Accesses { through: mine.through | through, place, wave };
        }
        drop(all);
        let Some((other, others, wrote)) = found else { return };
        let verb = |wrote: bool| if wrote { "written" } else { "read" };
        let said = |label: u64| match label & restricts.restricted != 0 {
            true => format!("`{}`, which is `restrict`", restricts.name(label)),
            false => format!("`{}`", restricts.name(label)),
        };
        let message = format!(
            "{} is {} through {}, and {} through {}",
            self.address_text(access),
            verb(writes),
            said(through),
            verb(wrote),
            said(others)
        );
        let mut finding = self.finding(FaultClass::Fault, "restrict-overlap", message);
        finding.label = format!("through `{}`", restricts.name(through));
        finding.lane = super::access::lane_of(access);
        let label = format!("through `{}`", restricts.name(others));
        finding.other = Some(Elsewhere { place: other.place, wave: other.wave, label });
        finding.fix = Some("buffers that do not overlap, or no `restrict`".into());
        self.report(finding);
    }
}
