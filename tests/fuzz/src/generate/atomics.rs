//! Atomic operations on all types and address spaces, and fences.
//!
//! Memory that work-items share is changed by a single operation that commutes, and not read. Floats that are
//! added are small integers, so that their sums are exact in each order.

use super::Generator;
use super::stmt::line;
use crate::program::{OWN, Stmt};
use crate::types::Ty;

const ORDERS: [&str; 6] = ["relaxed", "relaxed", "acquire", "release", "acq_rel", "seq_cst"];
/// Scopes for memory that no other work-item accesses.
const SCOPES: [&str; 10] = [
    "singlethread",
    "wavefront",
    "workgroup",
    "agent",
    "system",
    "singlethread_one_as",
    "wavefront_one_as",
    "workgroup_one_as",
    "agent_one_as",
    "system_one_as",
];

impl Generator {
    pub(super) fn other_atomic(&mut self) -> Stmt {
        match self.rng.below(6) {
            0 | 1 => self.shared_sum(),
            2 => self.swap_loop(),
            3 => self.fence(),
            _ => self.own_atomic(),
        }
    }

    /// Returns an order and one of the widest scopes, as in `release, global`.
    fn order(&mut self) -> (&'static str, &'static str) {
        let scope = *self.rng.pick(&["agent", "agent", "system", "agent_one_as", "system_one_as"]);
        (*self.rng.pick(&ORDERS), scope)
    }

    /// Returns an operation on words 12 to 29 of the counters; each type has its own words.
    fn shared_sum(&mut self) -> Stmt {
        let (order, scope) = self.order();
        let small = self.expr(Ty::U32, 2);
        let generic = self.features.memory && self.rng.one_in(3);
        let (ty, slot, op, value) = match self.rng.below(10) {
            0 => ("u64", 6, "add", self.expr(Ty::U64, 2)),
            1 => ("u64", 7, "xor", self.expr(Ty::U64, 2)),
            2 => ("i64", 8, "min", self.expr(Ty::I64, 2)),
            3 => ("f64", 9, "add", format!("({small} & 63) as f64")),
            4 => ("f32", 20, "add", format!("({small} & 63) as f32")),
            5 => ("f32", 21, "sub", format!("({small} & 63) as f32")),
            6 => ("f32", 22, "max", format!("(({small} & 63) as f32) + 1.0")),
            7 => ("i32", 23, "min", self.expr(Ty::I32, 2)),
            8 => ("u32", 24, "inc", "11".to_owned()),
            _ => ("u32", 25, "dec", "13".to_owned()),
        };
        let space = if generic { "" } else { "global " };
        let place = format!("(counts as *global {ty} + {slot}) as *{space}{ty}");
        line(format!("atomic_{op}({place}, {value}, {order}, {scope});"))
    }

    /// Adds to a counter in a loop with compare-and-swap.
    fn swap_loop(&mut self) -> Stmt {
        let (order, scope) = self.order();
        let (n, value) = (self.fresh(), self.expr(Ty::U32, 2));
        let place = "&counts[30]";
        let weak = self.rng.one_in(2);
        let turn = if weak {
            format!(
                "let (found, stored) = atomic_cas_weak({place}, old{n}, old{n} + add{n}, {order}, relaxed, {scope}); if stored {{ break; }}"
            )
        } else {
            format!(
                "let found = atomic_cas({place}, old{n}, old{n} + add{n}, {order}, relaxed, {scope}); if found == old{n} {{ break; }}"
            )
        };
        line(format!(
            "{{ let add{n} = {value}; let mut old{n} = atomic_load({place}, relaxed, {scope}); loop {{ {turn} old{n} = found; }} }}"
        ))
    }

    fn fence(&mut self) -> Stmt {
        let order = *self.rng.pick(&["acquire", "release", "acq_rel", "seq_cst"]);
        let scope = *self.rng.pick(&SCOPES);
        let spaces = *self.rng.pick(&["", ", global", ", shared", ", private", ", global, shared"]);
        line(format!("fence({order}, {scope}{spaces});"))
    }

    /// Returns an operation on the work-item's own memory, so that the old values are known.
    fn own_atomic(&mut self) -> Stmt {
        let (order, scope) = (*self.rng.pick(&ORDERS), *self.rng.pick(&SCOPES));
        let index = self.expr(Ty::U32, 1);
        let (ty, count, ops): (&str, u32, &[&str]) = match self.rng.below(6) {
            0 => ("u64", OWN / 2, &["add", "sub", "min", "max", "and", "or", "xor", "xchg", "inc", "dec"]),
            1 => ("i64", OWN / 2, &["min", "max", "sub"]),
            2 => ("i32", OWN, &["min", "max", "sub", "xchg", "and", "or", "xor"]),
            3 => ("f32", OWN, &["add", "sub", "xchg", "min", "max"]),
            4 => ("f64", OWN / 2, &["add", "sub", "xchg", "min", "max"]),
            _ => ("f16x2", OWN, &["add", "sub", "xchg"]),
        };
        let (n, op) = (self.fresh(), *self.rng.pick(ops));
        let place = match count == OWN && self.rng.one_in(3) {
            true => format!("(&mine[lid] as *shared {ty})"),
            false => format!("(own as *global {ty} + (gid * {count} + (({index}) & {})))", count - 1),
        };
        let small = self.expr(Ty::U32, 1);
        let var = self.var(Ty::U32);
        let number = |text: &str| match ty {
            "f16x2" => format!("f16x2((({text}) & 15) as f16, 1.5)"),
            _ => format!("((({text}) & 1023) as {ty})"),
        };
        let (first, second) = (number(&small), number(&self.leaf_expr(Ty::U32)));
        let bits = match ty {
            "u64" | "i64" | "f64" => format!("(bitcast::<u64>(old{n}) >> 7) as u32"),
            _ => format!("bitcast::<u32>(old{n})"),
        };
        let load = *self.rng.pick(&["unordered", "relaxed", "acquire", "seq_cst"]);
        let store = *self.rng.pick(&["unordered", "relaxed", "release", "seq_cst"]);
        let mut text =
            format!("{{ let place{n} = {place}; atomic_store(place{n}, {first}, {store}, {scope}); ");
        if self.rng.one_in(2) {
            text += &format!("atomic_{op}(place{n}, {second}, relaxed, {scope}); ");
        }
        text += &format!("let old{n} = atomic_{op}(place{n}, {second}, {order}, {scope}); {var} ^= {bits};");
        if self.rng.one_in(2) {
            text += &format!(" {{ let old{n} = atomic_load(place{n}, {load}, {scope}); {var} += {bits}; }}");
        }
        line(text + " }")
    }
}
