//! Variables in LDS that a linker places: symbols of section `SHN_AMDGPU_LDS` (LLVM's AMDGPU guide, seed 000,
//! line 472).
//!
//! A loadable object needs no linker, so it contains the addresses of these variables instead. This module
//! chooses the addresses as a linker would choose them. A variable has the same address in all kernels, after
//! the LDS that the kernels use themselves. Variables whose size is known only at the dispatch come last.

use crate::{ById, Kernel, Program, by_id};
use mir::{Distance, MachFunc, Referent};
use std::collections::BTreeSet;

/// Variable in LDS that a linker places.
#[derive(Clone, Debug)]
pub struct Shared<'a> {
    /// Id that [`mir::Referent::Global`] uses.
    pub id: u32,
    /// Name of the symbol.
    pub name: &'a str,
    /// Size in bytes; 0 if the dispatch determines the size.
    pub size: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// Whether the symbol is local to this object.
    pub local: bool,
}

impl Shared<'_> {
    /// Returns the directives that define the symbol in assembly.
    pub(crate) fn directives(&self) -> String {
        let Shared { name, size, align, local, .. } = self;
        let binding = if *local { "local" } else { "globl" };
        format!("\t.{binding}\t{name}\n\t.amdgpu_lds {name}, {size}, {align}\n")
    }
}

/// Addresses of the variables in a loadable object, by id.
pub(crate) type Addresses = ById<u32>;

/// Chooses addresses for the LDS variables that a linker would place, and calls `f` with them. The program
/// that `f` receives differs from `program` in the LDS sizes of the kernels, which include the variables that
/// a kernel may use.
pub(crate) fn with_addresses<T>(program: &Program, f: impl FnOnce(&Program, &Addresses) -> T) -> T {
    if program.shared.is_empty() {
        return f(program, &Addresses::new());
    }
    let reached: Vec<BTreeSet<u32>> =
        program.kernels.iter().map(|kernel| reached(program, kernel.func)).collect();
    let own = program.kernels.iter().zip(&reached).filter(|(_, reached)| !reached.is_empty());
    let mut end = own.map(|(kernel, _)| kernel.lds).max().unwrap_or(0);
    let (dynamic, sized): (Vec<&Shared>, Vec<&Shared>) =
        program.shared.iter().partition(|variable| variable.size == 0);
    let mut ends = Vec::new();
    for variable in sized {
        let address = end.next_multiple_of(variable.align.max(1));
        end = address.saturating_add(variable.size);
        ends.push((variable.id, address, end));
    }
    let address =
        end.next_multiple_of(dynamic.iter().map(|variable| variable.align).max().unwrap_or(1).max(1));
    ends.extend(dynamic.iter().map(|variable| (variable.id, address, address)));
    let with_lds = |(kernel, reached): (&Kernel, &BTreeSet<u32>)| {
        let ends = ends.iter().filter(|(id, ..)| reached.contains(id)).map(|&(_, _, end)| end);
        ends.fold(kernel.lds, u32::max)
    };
    let lds: Vec<u32> = program.kernels.iter().zip(&reached).map(with_lds).collect();
    let kernels: Vec<Kernel> =
        program.kernels.iter().zip(lds).map(|(kernel, lds)| Kernel { lds, ..kernel.clone() }).collect();
    let addresses = by_id(ends.iter().map(|&(id, address, _)| (id, address)));
    f(&Program { kernels: &kernels, ..program.clone() }, &addresses)
}

/// Returns the ids of the LDS variables that a kernel may use. These are the variables to which the kernel's
/// code refers, or the code of a function that the kernel may call, directly or indirectly. A function counts
/// as called if such code contains its address, or refers to a variable that contains its address.
fn reached(program: &Program, kernel: &MachFunc) -> BTreeSet<u32> {
    let functions = by_id(program.functions.iter().map(|function| (function.id, function.func)));
    let variables = by_id(program.variables.iter().map(|variable| (variable.id, &variable.functions)));
    let (mut shared, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut work = vec![kernel];
    while let Some(func) = work.pop() {
        for reloc in &func.relocs {
            match reloc.to {
                Referent::Global(id) if reloc.part == Distance::Address => _ = shared.insert(id),
                Referent::Global(id) => {
                    let table = variables.get(id as usize).copied().flatten();
                    let ids = table.into_iter().flatten().map(|&(_, id)| id);
                    let new = ids.filter(|&id| seen.insert(id));
                    work.extend(new.filter_map(|id| functions.get(id as usize).copied().flatten()));
                }
                Referent::Func(id) if seen.insert(id) => {
                    work.extend(functions.get(id as usize).copied().flatten());
                }
                Referent::Func(_) | Referent::Scratch(_) => {}
            }
        }
    }
    shared
}

/// Calls `f` with the program as [`crate::elf::loadable`] writes it: the LDS sizes of its kernels include the
/// variables that a linker would place.
pub fn loadable<T>(program: &Program, f: impl FnOnce(&Program) -> T) -> T {
    with_addresses(program, |program, _| f(program))
}

/// Returns, for each kernel, the size of LDS in bytes that the kernel requests in a loadable object.
pub fn lds(program: &Program) -> Vec<u32> {
    with_addresses(program, |program, _| program.kernels.iter().map(|kernel| kernel.lds).collect())
}
