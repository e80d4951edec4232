//! Rigid groups of registers. The registers of a group have fixed relative positions, because an instruction
//! uses them as one tuple or because they should be in the same hardware register.
//!
//! The groups are a union-find structure with offsets: each register has an offset from the root of its
//! group, the register that represents the group. A group has *columns*, one for each hardware register that
//! it will occupy. Registers in the same column have disjoint live ranges, and the column's range is the
//! union of these ranges.
//!
//! Joining the registers of a tuple to one group may be impossible, because two live ranges in a column would
//! overlap. The operand then gets new registers and copies (a [`Fix`]).

use crate::live::{Interval, Liveness, Slice};
use crate::pack::FILE;
use crate::ranges::{Ranges, intersects};
use crate::stream::{Affinity, ClassStream, Event, EventKind, Op};
use isa::table::Role;

/// Largest number of hardware registers of a group that is joined to avoid copies. Wide groups are hard to
/// place, because the registers of a group have fixed relative positions. The tuple of a single instruction
/// may be wider.
const MAX_COALESCED_WIDTH: i32 = 16;

/// Value of `align` for a group of registers that must be at one specific hardware register. The place of a
/// group must satisfy `register % align == phase`. No register number reaches 1024, so only the register with
/// the number `phase` does.
pub(crate) const PINNED: i32 = 1024;

/// An operand that got new registers. The instruction is surrounded by copies between the new registers and
/// the original ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fix {
    /// Index of the event.
    pub event: u32,
    /// Index of the operand. The operand's `start` refers to the new registers.
    pub op: u32,
    /// Index of the original registers in `ClassStream::regs`.
    pub old: u32,
}

/// Properties of a group, stored at its root.
#[derive(Clone, Copy, Debug)]
struct Info {
    /// Lowest and highest offset of a register of the group, relative to the root (the register that
    /// represents the group).
    lo: i32,
    hi: i32,
    /// Condition on the place of the group: the hardware register number of the root modulo `align` must
    /// equal `phase`.
    align: i32,
    phase: i32,
    /// Index in `Groups::columns` of the first of the group's columns. There are `hi - lo + 1`, one for each
    /// hardware register that the group will occupy.
    columns: u32,
}

/// A group as the packer sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'a> {
    /// Offset of the first column from the root.
    pub lo: i32,
    /// Remainder that the root's hardware register number must have when it is divided by `align`.
    pub phase: i32,
    /// Condition on the place of the group: the hardware register number of the root modulo `align` must
    /// equal `phase`.
    pub align: i32,
    /// Live range of each column.
    pub columns: &'a [Slice],
}

/// The groups of one class.
#[derive(Default)]
pub(crate) struct Groups {
    parent: Vec<u32>,
    offset: Vec<i32>,
    info: Vec<Info>,
    columns: Vec<Slice>,
    /// Live ranges of registers and columns.
    pub ranges: Ranges,
    /// Live range of each register, including the new registers of operands in `fixes`.
    pub range: Vec<Slice>,
    /// Operands that need copies, in the order of events.
    pub fixes: Vec<Fix>,
    order: Vec<u32>,
    /// For each hardware register, the intervals in which no other group may be placed there. There are three
    /// reasons: a call clobbers the register, an operand must be in it, or a group occupies it that was
    /// joined to a pinned group (a group that must be in specific hardware registers).
    taken: Vec<Vec<Interval>>,
    /// Pairs of registers that should get the same hardware register. The first one was created for an
    /// operand that must be in a specific hardware register. The second one is the register from which or to
    /// which it is copied.
    pinned: Vec<Affinity>,
}

impl Groups {
    /// Takes the live ranges from `live`, and makes each register a group of its own.
    fn reset(&mut self, live: &mut Liveness) {
        std::mem::swap(&mut self.ranges.intervals, &mut live.intervals);
        self.ranges.share();
        std::mem::swap(&mut self.range, &mut live.range);
        self.parent.clear();
        self.offset.clear();
        self.info.clear();
        self.columns.clear();
        self.fixes.clear();
        for register in 0..self.range.len() as u32 {
            self.add(register);
        }
    }

    /// Uses outlines (live ranges without holes) in place of exact live ranges. Outlines are enough to choose
    /// registers to spill, but not to pack the groups.
    pub fn outline(&mut self, outlines: &[Interval]) {
        self.ranges.intervals.clear();
        self.ranges.intervals.extend_from_slice(outlines);
        self.range.clear();
        self.range.extend((0..).zip(outlines).map(|(at, &(from, to))| (at, u32::from(from < to))));
    }

    fn add(&mut self, register: u32) {
        self.parent.push(register);
        self.offset.push(0);
        self.info.push(Info { lo: 0, hi: 0, align: 1, phase: 0, columns: self.columns.len() as u32 });
        self.columns.push(self.range[register as usize]);
    }

    /// Creates a register that is live at one instruction only.
    fn new_register(&mut self, interval: Interval) -> u32 {
        let register = self.range.len() as u32;
        let slice = self.ranges.single(interval);
        self.range.push(slice);
        self.add(register);
        register
    }

    /// Returns the live range of a register.
    pub fn range_of(&self, register: u32) -> &[Interval] {
        self.ranges.get(self.range[register as usize])
    }

    /// Returns the root of a register's group, which is the register that represents the group, and the
    /// register's offset from the root.
    pub fn find(&mut self, register: u32) -> (u32, i32) {
        let (mut root, mut offset) = (register, 0);
        while self.parent[root as usize] != root {
            offset += self.offset[root as usize];
            root = self.parent[root as usize];
        }
        let (mut node, mut left) = (register, offset);
        while self.parent[node as usize] != root {
            let (up, step) = (self.parent[node as usize], self.offset[node as usize]);
            self.parent[node as usize] = root;
            self.offset[node as usize] = left;
            left -= step;
            node = up;
        }
        (root, offset)
    }

    /// Like [`Groups::find`], without path compression.
    pub fn peek(&self, register: u32) -> (u32, i32) {
        let (mut root, mut offset) = (register, 0);
        while self.parent[root as usize] != root {
            offset += self.offset[root as usize];
            root = self.parent[root as usize];
        }
        (root, offset)
    }

    /// Returns whether a register is the root of its group.
    pub fn is_root(&self, register: u32) -> bool {
        self.parent[register as usize] == register
    }

    /// Returns the properties of a group that the packer needs.
    pub fn shape(&self, root: u32) -> Shape<'_> {
        let Info { lo, hi, align, phase, columns } = self.info[root as usize];
        let columns = &self.columns[columns as usize..][..(hi - lo + 1) as usize];
        Shape { lo, phase, align, columns }
    }

    /// Joins the groups of the registers `a` and `b`. `b` then gets the hardware register whose number is
    /// that of `a` plus `distance`. Returns false, without a change, if that is impossible.
    pub fn glue(&mut self, a: u32, b: u32, distance: i32, max_width: i32) -> bool {
        let ((mut root, offset_a), (mut other, offset_b)) = (self.find(a), self.find(b));
        let mut shift = offset_a + distance - offset_b;
        if root == other {
            return shift == 0;
        }
        let width = |info: &Info| info.hi - info.lo;
        if width(&self.info[root as usize]) < width(&self.info[other as usize]) {
            (root, other, shift) = (other, root, -shift);
        }
        let (big, small) = (self.info[root as usize], self.info[other as usize]);
        let (lo, hi) = (big.lo.min(small.lo + shift), big.hi.max(small.hi + shift));
        if hi - lo >= max_width || (big.phase - (small.phase - shift)) % big.align.min(small.align) != 0 {
            return false;
        }
        let column = |info: &Info, at: i32| {
            (info.lo..=info.hi)
                .contains(&at)
                .then(|| self.columns[(info.columns as i32 + at - info.lo) as usize])
        };
        for at in big.lo.max(small.lo + shift)..=big.hi.min(small.hi + shift) {
            if let (Some(x), Some(y)) = (column(&big, at), column(&small, at - shift))
                && intersects(self.ranges.get(x), self.ranges.get(y))
            {
                return false;
            }
        }
        if !self.keeps_clear((&big, &small), shift) {
            return false;
        }
        self.merge(root, other, shift, (lo, hi));
        true
    }

    /// Returns whether two groups can be joined as far as specific hardware registers are concerned. If one
    /// group is pinned, that is, must be in specific hardware registers, the other group will be in specific
    /// registers, too. These must be free for its live ranges. If they are, records that the group occupies
    /// them. Returns true if neither group is pinned, or both are.
    fn keeps_clear(&mut self, (big, small): (&Info, &Info), shift: i32) -> bool {
        let (loose, first) = match (big.align == PINNED, small.align == PINNED) {
            (true, false) => (small, big.phase + shift + small.lo),
            (false, true) => (big, small.phase - shift + big.lo),
            _ => return true,
        };
        let columns = &self.columns[loose.columns as usize..][..(loose.hi - loose.lo + 1) as usize];
        let clear = (first..).zip(columns).all(|(reg, &column)| {
            let range = self.ranges.get(column);
            let there = usize::try_from(reg).ok().and_then(|reg| self.taken.get(reg));
            range.is_empty() || there.is_some_and(|taken| !intersects(taken, range))
        });
        if clear {
            for (reg, &column) in (first..).zip(columns) {
                let Ok(reg) = usize::try_from(reg) else { continue };
                take(&mut self.taken[reg], self.ranges.get(column));
            }
        }
        clear
    }

    fn merge(&mut self, root: u32, other: u32, shift: i32, (lo, hi): (i32, i32)) {
        let (big, small) = (self.info[root as usize], self.info[other as usize]);
        let in_place = lo == big.lo && hi == big.hi;
        let columns = if in_place { big.columns } else { self.columns.len() as u32 };
        for at in lo..=hi {
            let from = |info: &Info, at: i32| {
                let there = (info.lo..=info.hi).contains(&at);
                if there { self.columns[(info.columns as i32 + at - info.lo) as usize] } else { (0, 0) }
            };
            let (x, y) = (from(&big, at), from(&small, at - shift));
            let slice = self.ranges.union(x, y);
            if in_place {
                self.columns[(columns as i32 + at - lo) as usize] = slice;
            } else {
                self.columns.push(slice);
            }
        }
        let (align, phase) = if big.align >= small.align {
            (big.align, big.phase)
        } else {
            (small.align, (small.phase - shift).rem_euclid(small.align))
        };
        self.info[root as usize] = Info { lo, hi, align, phase, columns };
        self.parent[other as usize] = root;
        self.offset[other as usize] = shift;
    }

    /// Adds a condition to the group of a register. The condition concerns the hardware register that is
    /// `distance` after the one assigned to the register: its number must be a multiple of `align`. Returns
    /// false if this contradicts the group's other conditions.
    fn align_to(&mut self, register: u32, distance: i32, align: i32) -> bool {
        let (root, offset) = self.find(register);
        let info = &mut self.info[root as usize];
        let phase = (-offset - distance).rem_euclid(align);
        if (info.phase - phase) % align.min(info.align) != 0 {
            return false;
        }
        if align > info.align {
            (info.align, info.phase) = (align, phase);
        }
        true
    }

    /// Builds the groups of a class. Tuples are joined first, beginning in the deepest loops. With
    /// `coalesce`, the two registers of each copy are joined afterwards, so that the copy is not needed.
    /// Without it, groups stay smaller, and the packer has more choice.
    pub fn run(&mut self, stream: &mut ClassStream, live: &mut Liveness, coalesce: bool) {
        self.reset(live);
        self.pin(stream);
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let tuples = stream.events.iter().enumerate().filter(|(_, event)| {
            event.kind == EventKind::Inst
                && stream.ops_of(event).iter().any(|op| op.len > 1 && op.pin.is_none())
        });
        order.extend(tuples.map(|(i, _)| i as u32));
        order.sort_unstable_by_key(|&i| (std::cmp::Reverse(stream.events[i as usize].depth), i));
        for &event in &order {
            let (first, len) = (stream.events[event as usize].first, stream.events[event as usize].len);
            for op in first..first + len {
                if stream.ops[op as usize].len > 1 && stream.ops[op as usize].pin.is_none() {
                    self.tuple(stream, event, op);
                }
            }
        }
        self.order = order;
        self.fixes.sort_unstable_by_key(|fix| (fix.event, fix.op));
        if !coalesce {
            return;
        }
        let mut pinned = std::mem::take(&mut self.pinned);
        pinned.sort_unstable_by_key(|affinity| (std::cmp::Reverse(affinity.depth), affinity.number));
        for &Affinity { a, b, .. } in &pinned {
            if self.range[b as usize].1 > 0 {
                self.glue(a, b, 0, MAX_COALESCED_WIDTH);
            }
        }
        self.pinned = pinned;
        stream
            .affinities
            .sort_unstable_by_key(|affinity| (std::cmp::Reverse(affinity.depth), affinity.number));
        for &Affinity { a, b, .. } in &stream.affinities {
            if self.range[a as usize].1 > 0 && self.range[b as usize].1 > 0 {
                self.glue(a, b, 0, MAX_COALESCED_WIDTH);
            }
        }
    }

    /// Gives new registers to operands that must be in specific hardware registers, such as arguments of
    /// calls. The new registers are pinned: the allocator must assign these hardware registers to them.
    fn pin(&mut self, stream: &mut ClassStream) {
        self.pinned.clear();
        if !stream.has_pins() {
            return;
        }
        self.taken.resize_with(FILE, Vec::new);
        self.taken.iter_mut().for_each(Vec::clear);
        for &(reg, when) in &stream.lost {
            self.taken[usize::from(reg)].push(when);
        }
        for event in 0..stream.events.len() as u32 {
            let Event { first, len, depth, .. } = stream.events[event as usize];
            for index in first..first + len {
                if let Some(pin) = stream.ops[index as usize].pin {
                    self.pin_operand(stream, event, index, (pin, depth));
                }
            }
        }
    }

    fn pin_operand(&mut self, stream: &mut ClassStream, event: u32, index: u32, (pin, depth): (u16, u8)) {
        let op = stream.ops[index as usize];
        let pos = stream.events[event as usize].pos;
        // The new register is copied from or to the operand's own register. The live ranges of the two
        // registers touch but do not overlap, so both can be in the same hardware register, and the copy
        // needs no instruction.
        let interval = if op.role == Role::Def { (pos + 2, pos + 3) } else { (pos + 1, pos + 2) };
        let start = stream.regs.len();
        for i in 0..u16::from(op.len) {
            let old = stream.regs[op.start as usize + usize::from(i)];
            let own = self.new_register(interval);
            let info = &mut self.info[own as usize];
            (info.align, info.phase) = (PINNED, i32::from(pin + i));
            take(&mut self.taken[usize::from(pin + i)], &[interval]);
            stream.regs.push(own);
            let number = self.pinned.len() as u32;
            self.pinned.push(Affinity { a: own, b: old, number, depth });
        }
        self.fixes.push(Fix { event, op: index, old: op.start });
        stream.ops[index as usize].start = start as u32;
    }

    /// Joins the registers of an operand to one group, in which they are adjacent. If that fails, the operand
    /// gets new registers.
    fn tuple(&mut self, stream: &mut ClassStream, event: u32, index: u32) {
        let op = stream.ops[index as usize];
        let width = |groups: &mut Groups, register: u32| {
            let (root, _) = groups.find(register);
            groups.info[root as usize].hi - groups.info[root as usize].lo
        };
        // `anchor` is the dword of the operand whose group is the widest. The other dwords are joined to this
        // group.
        let regs = stream.regs_of(&op);
        let mut anchor = 0;
        for i in 1..regs.len() {
            if width(self, regs[i]) > width(self, regs[anchor]) {
                anchor = i;
            }
        }
        let base = regs[anchor];
        let start = op.start as usize;
        let mut failed = 0u64;
        for i in 0..usize::from(op.len) {
            let glued = self.glue(
                base,
                stream.regs[start + i],
                i as i32 - anchor as i32,
                MAX_COALESCED_WIDTH.max(i32::from(op.len)),
            );
            failed |= u64::from(!glued) << (i % 64);
        }
        let first_offset = -(anchor as i32);
        if !self.align_to(base, first_offset, i32::from(op.align)) {
            self.fix(stream, event, index, op, None);
        } else if failed != 0 {
            self.fix(stream, event, index, op, Some((base, first_offset, failed)));
        }
    }

    /// Gives an operand new registers with copies, because its own registers cannot be adjacent. With
    /// `partly`, only the dwords get new registers that could not be joined to one group with the other
    /// dwords of the operand. Otherwise, all dwords get new registers.
    fn fix(
        &mut self,
        stream: &mut ClassStream,
        event: u32,
        index: u32,
        op: Op,
        partly: Option<(u32, i32, u64)>,
    ) {
        let pos = stream.events[event as usize].pos;
        let interval = own_interval(pos, &op);
        let start = stream.regs.len();
        if let Some((base, first_offset, failed)) = partly {
            for i in 0..usize::from(op.len) {
                let mut register = stream.regs[op.start as usize + i];
                if failed >> i & 1 != 0 {
                    register = self.new_register(interval);
                    if !self.glue(base, register, first_offset + i as i32, i32::MAX) {
                        self.discard(register);
                        stream.regs.truncate(start);
                        return self.fix(stream, event, index, op, None);
                    }
                }
                stream.regs.push(register);
            }
        } else {
            for i in 0..u32::from(op.len) {
                let register = self.new_register(interval);
                stream.regs.push(register);
                let glued = self.glue(stream.regs[start], register, i as i32, i32::MAX);
                debug_assert!(glued, "new registers have nothing to collide with");
            }
            let aligned = self.align_to(stream.regs[start], 0, i32::from(op.align));
            debug_assert!(aligned, "new registers have no other alignment");
        }
        self.fixes.push(Fix { event, op: index, old: op.start });
        stream.ops[index as usize].start = start as u32;
    }

    /// Undoes the changes of [`Groups::run`] to the operands.
    pub fn restore(&self, stream: &mut ClassStream) {
        self.fixes.iter().for_each(|fix| stream.ops[fix.op as usize].start = fix.old);
    }

    /// Removes a new register again, because the operand can keep its own one.
    fn discard(&mut self, register: u32) {
        self.range[register as usize] = (0, 0);
        let columns = self.info[register as usize].columns;
        self.columns[columns as usize] = (0, 0);
    }
}

/// Returns the live range of an operand's new registers. For a source, it reaches from the copies before the
/// instruction to the reads. For a result, it reaches from the writes to the copies after the instruction.
fn own_interval(pos: u32, op: &Op) -> Interval {
    match op.role {
        Role::Use => (pos + 1, pos + if op.held { 3 } else { 2 }),
        Role::Def => (pos + 2, pos + 4),
        Role::DefUse => (pos + 1, pos + 4),
    }
}

/// Inserts sorted intervals into a sorted list with which they do not overlap.
fn take(taken: &mut Vec<Interval>, range: &[Interval]) {
    for &interval in range {
        let at = taken.partition_point(|other| other.0 < interval.0);
        taken.insert(at, interval);
    }
}
