//! Memory: generic pointers, access hints, types that exist only in memory, and views of dynamically sized
//! work-group memory.

use super::Generator;
use super::stmt::line;
use crate::program::{INPUTS, OWN, Stmt};
use crate::types::Ty;

impl Generator {
    /// Returns a value that is loaded through a generic pointer or with a hint, or converted to a type that
    /// exists only in memory.
    pub(super) fn space(&mut self, ty: Ty, depth: usize) -> Option<String> {
        let index = self.var(Ty::U32);
        let n = self.fresh();
        Some(match (ty, self.rng.below(6)) {
            (Ty::U32, 0) => {
                let hint = *self.rng.pick(&["volatile", "nontemporal", "volatile | nontemporal"]);
                format!("load(&input[{index} & {}], {hint})", INPUTS - 1)
            }
            (Ty::U32, 1) => format!("WORDS[{index} & 3]"),
            (Ty::U32, 2) => {
                format!("({{ let p{n}: *const volatile global u32 = input; p{n}[{index} & 127] }})")
            }
            (Ty::U32, _) => {
                let place = self.generic_address(false);
                let condition = self.condition(1);
                let other = self.generic_address(false);
                format!(
                    "({{ let p{n}: *const u32 = if {condition} {{ {place} }} else {{ {other} }}; *p{n} }})"
                )
            }
            (Ty::F32, 0..=2) => format!("(({}) as bf16 as f32)", self.expr(Ty::F32, depth - 1)),
            (Ty::F32, 4..=5) => {
                let lanes = *self.rng.pick(&[2, 3, 4, 8, 8, 16, 16]);
                let at = self.rng.below(lanes);
                format!("((f32x{lanes}({}) as bf16x{lanes} as f32x{lanes}).s{at:x})", self.leaf_expr(Ty::F32))
            }
            (Ty::F32, 3) => format!("(((in16 as *const global bf16)[{index} & 511] as f32) + 0.0)"),
            (Ty::F32, _) => format!("((((in16 as *const global bf16x2)[{index} & 255] as f32x2) + 0.0).y)"),
            // The clamp removes NaNs, whose bits are not specified.
            (Ty::U16, 0..=2) => {
                let value = self.expr(Ty::F32, depth - 1);
                format!("bitcast::<u16>(clamp({value}, -9.0, 9.0) as bf16)")
            }
            (Ty::I8, _) => format!("(in8 as *const global i8)[{index} & 1023]"),
            _ => return None,
        })
    }

    /// Returns the address of a word as a generic pointer.
    fn generic_address(&mut self, written: bool) -> String {
        let index = self.var(Ty::U32);
        let own = self.result.is_none();
        let kind = if written { "*u32" } else { "*const u32" };
        match self.rng.below(if written { 3 } else { 6 }) {
            0 if own => format!("(own + (gid * {OWN} + ({index} & 3))) as {kind}"),
            1 if own => format!("&mine[lid] as {kind}"),
            3 => format!("(input + ({index} & 255)) as {kind}"),
            4 => format!("&LUT[{index} & 15] as {kind}"),
            5 => format!("&WORDS[{index} & 3] as {kind}"),
            _ => format!("&arr[{index} & 7] as {kind}"),
        }
    }

    /// Writes memory through a pointer.
    pub(super) fn pointer_stmt(&mut self) -> Stmt {
        let (n, index) = (self.fresh(), self.expr(Ty::U32, 1));
        let (value, var) = (self.expr(Ty::U32, 2), self.var(Ty::U32));
        if self.result.is_some() || self.rng.one_in(2) {
            let (condition, a, b) =
                (self.condition(1), self.generic_address(true), self.generic_address(true));
            let op = *self.rng.pick(&["=", "+=", "^="]);
            return line(format!(
                "{{ let p{n}: *u32 = if {condition} {{ {a} }} else {{ {b} }}; *p{n} {op} {value}; {var} += p{n}[0]; }}"
            ));
        }
        let float = self.expr(Ty::F32, 2);
        line(match self.rng.below(7) {
            0 => format!(
                "store(&own[gid * 4 + ({index} & 3)], {value}, {});",
                self.rng.pick(&["nontemporal", "volatile", "volatile | nontemporal"])
            ),
            5 => format!(
                "{{ let p{n}: *shared u32 = &mine[lid]; *p{n} = *p{n} * 5 + {value}; {var} += p{n}[0]; }}"
            ),
            6 => format!("{{ let p{n}: *private u32 = &arr[{index} & 7]; *p{n} ^= {value}; }}"),
            1 => format!(
                "{{ let p{n}: *volatile global u32 = own; p{n}[gid * 4 + ({index} & 3)] ^= {value}; }}"
            ),
            2 => {
                format!("(own as *global bf16)[gid * 8 + ({index} & 7)] = clamp({float}, -9.0, 9.0) as bf16;")
            }
            3 => format!(
                "(own as *global bf16x2)[gid * 4 + ({index} & 3)] = f32x2(clamp({float}, -9.0, 9.0), 1.0) as bf16x2;"
            ),
            _ => format!("mine[lid] = mine[lid] * 3 + {value};"),
        })
    }

    /// Writes words to work-group memory and reads halves of words, between barriers.
    pub(super) fn shared_views(&mut self) -> Stmt {
        let (var, value) = (self.var(Ty::U32), self.expr(Ty::U32, 2));
        let half = self.rng.below(2);
        // In an incomplete last group, the words of missing work-items are not written, so they are not read
        // either.
        let other = if self.shape.even() {
            format!("((lid + {}) % {})", self.rng.below(64), self.shape.group_items())
        } else {
            "lid".to_owned()
        };
        let (meet, words) = (self.meeting(), *self.rng.pick(&["words", "SCRATCH"]));
        Stmt::Block(
            "if true {".to_owned(),
            vec![line(format!(
                "{words}[lid] = {value}; {meet} {var} ^= parts[2 * {other} + {half}] as u32; {meet}"
            ))],
        )
    }
}
