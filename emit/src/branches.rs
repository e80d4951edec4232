//! Every branch reaches its target, and none is of a length that the processor takes wrongly.
//!
//! Islands bring what is too far into reach ([`islands`]), nops mend a wrong length ([`distances`]). A nop may take a target out of
//! reach that was just in it, and an island may make a length wrong, so both are run until a round mends nothing.

use crate::{distances, islands};
use isa::{MachFunc, MachInst, Subtarget};

/// Mends the branches of a function whose code is final otherwise; `guard` as for [`islands::run`].
pub fn run(func: &mut MachFunc, target: &Subtarget, guard: impl Fn(&mut MachFunc) -> Option<MachInst>) {
    islands::run(func, target, &guard);
    while distances::run(func, target) > 0 && islands::run(func, target, &guard) > 0 {}
}
