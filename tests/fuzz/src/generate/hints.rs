//! Language features that do not change the meaning of a program: promises, conditions on the processor,
//! attributes, and unknown values in places where they do not matter.

use super::Generator;
use super::stmt::line;
use crate::program::{Stmt, TABLE};
use crate::types::Ty;

impl Generator {
    /// Returns a value with a promise that holds, or a value selected by a condition that is always or never
    /// true.
    pub(super) fn promised(&mut self, ty: Ty, depth: usize) -> Option<String> {
        let (a, n) = (self.expr(ty, depth - 1), self.fresh());
        let (b, x) = (self.leaf_expr(ty), self.var(Ty::U32));
        Some(match self.rng.below(7) {
            0 => {
                let arms: String = (0..3).map(|at| format!("{at} => {}, ", self.leaf_expr(ty))).collect();
                format!("(match {x} & 3 {{ {arms} 3 => {a}, _ => unreachable() }})")
            }
            1 => format!(
                "({{ let x{n} = {x} & 15; assume(x{n} < 16); if x{n} > 15 {{ unreachable() }} else {{ {a} }} }})"
            ),
            // No clock reaches this value, and no dispatch has this number, so the conditions are false.
            2 => format!("(if clock() > 0xffff_ffff_0000_0000 {{ {b} }} else {{ {a} }})"),
            3 => format!("(if dispatch_id() == 0xfedc_ba98 {{ {b} }} else {{ {a} }})"),
            4 => {
                let condition = self.processor();
                format!(
                    "({{ #[cfg({condition})] let y{n} = {a}; #[cfg(not({condition}))] let y{n} = {a}; y{n} }})"
                )
            }
            5 => format!(
                "({{ let mut y{n}: {}; if {x} < 77 {{ y{n} = {a}; }} else {{ y{n} = {b}; }} y{n} }})",
                ty.name()
            ),
            _ => format!(
                "({{ #[allow(unused_variable)] let y{n} = {b}; static_assert(P > 0, \"it is\"); {a} }})"
            ),
        })
    }

    /// Returns a condition on the processor.
    fn processor(&mut self) -> String {
        let one = match self.rng.below(3) {
            0 => format!("generation = \"gfx{}\"", 6 + self.rng.below(5)),
            1 => format!("processor = \"{}\"", self.rng.pick(&["gfx600", "gfx803", "gfx906", "gfx1030"])),
            _ => format!("has({})", self.rng.pick(&["dpp", "flat", "dot1"])),
        };
        match self.rng.below(3) {
            0 => format!("any({one}, has(sdwa))"),
            1 => format!("all({one}, not(has(dpp)))"),
            _ => one,
        }
    }

    /// Returns a statement with a promise or a condition on the processor, or a statement across which no
    /// code moves.
    pub(super) fn promise(&mut self) -> Stmt {
        let (ty, n) = (self.ty(), self.fresh());
        let (var, value, x) = (self.var(ty), self.expr(ty, 2), self.var(Ty::U32));
        let items = self.shape.group_items();
        let kernel = self.result.is_none();
        line(match self.rng.below(9) {
            0 => format!("assume(lid < {items});"),
            1 => format!("assume(n == 90 && s < 0); {var} = {value};"),
            2 => format!("if lid > {} {{ unreachable(); }}", items + self.rng.below(9) as u32),
            3 => {
                let condition = self.processor();
                format!("#[cfg({condition})] {var} = {value}; #[cfg(not({condition}))] {var} = {value};")
            }
            4 => ["wave_barrier();", "sleep();"][n % 2].to_owned(),
            5 => format!(
                "#[cfg(not(any(generation = \"gfx6\", generation = \"gfx7\")))] if realtime() > 0xffff_ffff_0000_0000 {{ {var} = {value}; }}"
            ),
            6 if kernel => format!(
                "#[allow(all)] {{ let k{n}: *const constant u32 = input as *const constant u32; {x} ^= k{n}[{x} & 127]; }}"
            ),
            7 => format!(
                "{{ const K{n}: [u32; 2] = [{TABLE}, 3]; static_assert(K{n}[1] == 3, \"three\"); static_assert(K{n}[0] > 3); {x} += K{n}[{x} & 1]; }}"
            ),
            _ => format!(
                "#[allow(unused_variable, empty_range)] {{ for i{n} in 5..{}u32 {{ {x} -= i{n}; }} }}",
                self.rng.below(8)
            ),
        })
    }

    /// Returns an attribute of a kernel that is true anyway.
    pub(super) fn attribute(&mut self) -> String {
        let items = self.shape.group_items();
        let [x, y, z] = self.shape.group;
        match self.rng.below(10) {
            0 => format!("#[workgroup_size_hint({x}, {y}, {z})]"),
            1 => format!("#[max_workgroup_size({items})]"),
            2 => format!("#[waves_per_eu({})]", 1 + self.rng.below(4)),
            3 => format!("#[waves_per_eu(1, {})]", 1 + self.rng.below(8)),
            4 => "#[vec_type_hint(f32x4)]".to_owned(),
            // Indices of pointers are masked, so all buffers are small.
            5 => "#[small_buffers]".to_owned(),
            6 => "#[denormals(keep)]".to_owned(),
            7 => "#[ieee(on)]".to_owned(),
            8 => "#[dx10_clamp(on)]".to_owned(),
            _ => format!("#[implicit_args({})]", self.rng.pick(&[0, 8, 56])),
        }
    }
}
