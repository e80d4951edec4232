//! Operations across the lanes of a wave.

use super::Generator;
use super::stmt::line;
use crate::program::Stmt;
use crate::types::Ty;

impl Generator {
    /// Assigns the result of an operation across the active lanes, whichever lanes are active.
    pub(super) fn active_lanes_stmt(&mut self) -> Stmt {
        let ty = self.scalar();
        let (var, value) = (self.var(ty), self.active_lanes(ty, 2).unwrap_or_else(|| self.leaf_expr(ty)));
        line(format!("{var} = {value};"))
    }

    /// Returns an operation whose result the language defines for each set of active lanes.
    pub(super) fn active_lanes(&mut self, ty: Ty, depth: usize) -> Option<String> {
        let value = self.expr(ty, depth - 1);
        let whole = ty.is_scalar() && !ty.is_float();
        Some(match self.rng.below(5) {
            0 => format!("read_first_lane({value})"),
            1 if ty == Ty::U64 => format!("wave_match({} & 7)", self.expr(Ty::U32, 1)),
            1 if ty == Ty::U32 => format!("mbcnt(ballot({}))", self.condition(1)),
            2..=4 if whole => {
                let what = *self.rng.pick(&["reduce", "scan", "scan_exclusive"]);
                let bits: &[&str] = if ty.bits() >= 32 { &["and", "or", "xor"] } else { &[] };
                let op = *self.rng.pick(&[&["add", "min", "max"], bits].concat());
                match self.rng.one_in(2) {
                    true => format!("wave_{what}_{op}({value})"),
                    false => {
                        let n = self.fresh();
                        let class = self.expr(Ty::U32, 1);
                        format!(
                            "({{ let v{n} = {value}; let c{n} = ({class}) & 3; wave_{what}_{op}(v{n}, wave_match(c{n})) }})"
                        )
                    }
                }
            }
            _ => return None,
        })
    }

    /// Assigns a value of another lane, in a place where all lanes of all waves are active.
    pub(super) fn whole_waves(&mut self) -> Stmt {
        if !self.shape.group_items().is_multiple_of(64) || !self.shape.even() {
            return self.assign();
        }
        let ty = if self.rng.one_in(4) { self.ty() } else { self.scalar() };
        let var = self.var(ty);
        let value = if self.rng.one_in(2) { var.clone() } else { self.expr(ty, 2) };
        let distance = self.rng.below(16);
        let from = if self.rng.one_in(2) { distance.to_string() } else { "(n & 15)".to_owned() };
        let lanes: Vec<String> = (0..4).map(|_| self.rng.below(4).to_string()).collect();
        let moved = match self.rng.below(11) {
            0 => format!("quad_permute({value}, {})", lanes.join(", ")),
            1 => format!("row_up({value}, {from})"),
            2 => format!("row_down({value}, {from})"),
            3 => format!("row_rotate({value}, {from})"),
            4 => format!("row_share({value}, {from})"),
            5 => format!("row_mirror({value})"),
            6 => format!("row_half_mirror({value})"),
            7 => format!(
                "permute({value}, (lane_id() * {} + {from}) % wave_size())",
                2 * self.rng.below(16) + 1
            ),
            // Even lanes move to the lower half and odd lanes to the upper half, so that no two lanes write
            // the same lane.
            8 => format!("permute({value}, lane_id() / 2 + (lane_id() & 1) * (wave_size() / 2))"),
            9 => format!("read_lane({value}, {} % wave_size())", self.rng.below(64)),
            _ if ty.is_scalar() => {
                let what = *self.rng.pick(&["reduce", "scan", "scan_exclusive"]);
                format!("wave_{what}_{}({value})", self.rng.pick(&["add", "min", "max"]))
            }
            _ => format!("shuffle({value}, lane_id() ^ {distance})"),
        };
        line(match self.rng.below(3) {
            0 => format!("{var} = {moved} - {var};"),
            1 => format!("{var} = {moved};"),
            _ => format!("{var} {} {moved};", self.rng.pick(&["+=", "-=", "*="])),
        })
    }
}
