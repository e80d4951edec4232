//! Combines two LDS loads into one instruction that loads from two addresses (`ds_read2_b32`,
//! `ds_read2_b64`).

use crate::lower::Lower;
use crate::memory::spaces_of;
use crate::roles::Role;
use ir::constraints::PAIR;
use ir::{Inst, Op, Order, Space, Value};
use isa::Operand;
use mir::SPACE_SHARED;
use smallvec::SmallVec;

/// Distance, in instructions, from which on two loads are not combined. Their results would occupy registers
/// for too long.
const REACH: usize = 24;

/// A load that may still get a partner.
struct Open {
    inst: Inst,
    at: usize,
    base: Option<Value>,
    offset: i64,
    dwords: u32,
}

/// Two loads that the instruction of the first one does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadPair {
    pub first: Inst,
    second: Inst,
    base: Option<Value>,
    offsets: [i64; 2],
    dwords: u32,
}

impl LoadPair {
    fn unit(&self) -> i64 {
        4 * i64::from(self.dwords)
    }
}

impl Lower<'_> {
    /// Finds the pairs of every block.
    pub fn plan_pairs(&mut self) {
        self.s.pairs.clear();
        let (func, an) = (self.func, self.an);
        let mut open: SmallVec<[Open; REACH]> = SmallVec::new();
        for &block in an.cfg.rpo() {
            open.clear();
            for (at, &inst) in func.blocks[block].insts().iter().enumerate() {
                let op = func.insts[inst].op;
                if ends_pairing(op) {
                    open.clear();
                }
                let Some(load) = self.pairable(inst, at) else { continue };
                open.retain(|other| other.at + REACH > at);
                match open.iter().position(|other| fits(other, &load)) {
                    Some(n) => {
                        let other = open.swap_remove(n);
                        self.s.merged[inst.as_u32() as usize] = true;
                        self.s.pairs.push(LoadPair {
                            first: other.inst,
                            second: inst,
                            base: load.base,
                            offsets: [other.offset, load.offset],
                            dwords: load.dwords,
                        });
                    }
                    None => open.push(load),
                }
            }
        }
        self.s.pairs.sort_unstable_by_key(|pair| pair.first);
    }

    fn pairable(&self, inst: Inst, at: usize) -> Option<Open> {
        let Op::Load { mem, count } = self.func.insts[inst].op else { return None };
        let bytes = mem.ty.bytes() * u32::from(count);
        let shape = bytes == 4 && mem.align >= 4 || bytes == 8 && mem.align >= 8;
        if mem.space != Space::Shared || !PAIR.takes(&mem) || !shape || mem.ty.bytes() < 4 {
            return None;
        }
        let (base, offset) = self.narrow_parts(self.func.args(inst)[0], mem.offset);
        Some(Open { inst, at, base, offset, dwords: bytes / 4 })
    }

    /// Emits the instruction for a pair of LDS loads whose first load is `inst`. Returns false, without
    /// emitting anything, if an ordinary load must be emitted for `inst`: `inst` is not the first load of a
    /// pair, or nothing uses the result of the second load.
    pub fn load_pair(&mut self, inst: Inst) -> bool {
        let Ok(n) = self.s.pairs.binary_search_by_key(&inst, |pair| pair.first) else { return false };
        let pair = self.s.pairs[n];
        let wanted = [pair.first, pair.second].map(|i| self.func.results_of(i).any(|v| self.is_wanted(v)));
        match wanted {
            [true, true] => self.load_both(&pair),
            [true, false] => return false,
            [false, true] => {
                if let Op::Load { mem, .. } = self.func.insts[pair.second].op {
                    self.load(pair.second, mem);
                }
            }
            [false, false] => {}
        }
        for value in self.func.results_of(pair.second) {
            self.convert_result(value);
        }
        true
    }

    fn load_both(&mut self, pair: &LoadPair) {
        let mut parts: SmallVec<[Operand; 4]> = SmallVec::new();
        for inst in [pair.first, pair.second] {
            for result in self.func.results_of(inst) {
                parts.push(self.vgpr_of(result));
            }
        }
        let dst = self.concat(&parts);
        let (addr, [a, b], role) = self.pair_address(pair);
        let mut inst = self.instruction(role, &[dst, addr]);
        inst.mods.offset = (a | b << 8) as i32;
        if let Op::Load { mem, .. } = self.func.insts[pair.first].op {
            inst.mem = self.mem_id(&mem, Order::NotAtomic);
        }
        self.push(inst);
    }

    /// Returns the operands of an LDS load with two offsets: the address register, the two offsets in
    /// elements, and the role of the instruction.
    fn pair_address(&mut self, pair: &LoadPair) -> (Operand, [i64; 2], Role) {
        let wide = pair.dwords == 2;
        let plain = if wide { Role::LdsRead2B64 } else { Role::LdsRead2B32 };
        let strided = if wide { Role::LdsRead2st64B64 } else { Role::LdsRead2st64B32 };
        for (unit, code) in [(pair.unit(), plain), (64 * pair.unit(), strided)] {
            if pair.offsets.iter().all(|&o| o >= 0 && o % unit == 0 && o / unit <= 255) {
                let base = self.lds_base(pair.base, 0);
                return (base, pair.offsets.map(|o| o / unit), code);
            }
        }
        // Uses a base that pairs at nearby addresses can share.
        let low = pair.offsets[0].min(pair.offsets[1]);
        let window = 256 * pair.unit();
        let mut shift = low.div_euclid(window) * window;
        if pair.offsets.iter().any(|&o| (o - shift) / pair.unit() > 255) || (low - shift) % pair.unit() != 0 {
            shift = low;
        }
        let base = self.lds_base(pair.base, shift);
        (base, pair.offsets.map(|o| (o - shift) / pair.unit()), plain)
    }

    fn lds_base(&mut self, base: Option<Value>, shift: i64) -> Operand {
        self.reaches_lds = true;
        match base {
            None => self.vgpr_const(shift as u32),
            Some(base) => {
                let base = self.vgpr(base);
                if shift == 0 { base } else { self.vgpr_plus(base, shift as u32) }
            }
        }
    }
}

/// Returns whether one instruction can do both loads. They must have the same base register and size, and
/// their distance must be a multiple of the size and fit into 8 bits.
fn fits(a: &Open, b: &Open) -> bool {
    let distance = (a.offset - b.offset).abs();
    let unit = 4 * i64::from(a.dwords);
    a.base == b.base
        && a.dwords == b.dwords
        && distance != 0
        && distance % unit == 0
        && distance / unit <= 255
}

/// Returns whether an operation may write LDS or make writes of other work-items visible. Loads before and
/// after such an operation must not be combined.
fn ends_pairing(op: Op) -> bool {
    let writes = match op {
        Op::Store { mem, .. } | Op::AtomicRmw { mem, .. } | Op::AtomicCas { mem, .. } => {
            spaces_of(mem.space) & SPACE_SHARED != 0
        }
        _ => false,
    };
    writes || PAIR.stopped_by(&op)
}
