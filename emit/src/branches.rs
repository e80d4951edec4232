//! Ensures that every branch reaches its target, and that no branch has a length that triggers a hardware
//! bug.
//!
//! Two passes do this: [`islands`] brings distant targets into range, and [`distances`] inserts nops to
//! change the lengths that trigger the bug. A nop may push a target out of range, and an island may give a
//! branch such a length. Therefore both passes repeat until one of them changes nothing.

use crate::{distances, islands};
use isa::{MachInst, Subtarget};
use mir::MachFunc;

/// Corrects the branches of a function whose code is otherwise final. The parameter `guard` is explained at
/// [`islands::run`].
pub fn run(func: &mut MachFunc, target: &Subtarget, guard: impl Fn(&mut MachFunc) -> Option<MachInst>) {
    islands::run(func, target, &guard);
    while distances::run(func, target) > 0 && islands::run(func, target, &guard) > 0 {}
}
