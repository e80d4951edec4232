//! Packs rigid groups of registers into a register file, each at the first place where it fits. Several
//! orders of the groups are tried, and the result with the fewest hardware registers is kept.

use crate::groups::{Groups, PINNED, Shape};
use crate::live::Interval;
use crate::ranges::{intersects, push_interval};
use crate::stream::{ClassStream, SGPR};
use isa::Reg;

/// Number of `vcc_lo` in the SGPR file.
const VCC: i32 = Reg::VCC.0 as i32;

/// Number of registers in a file, including VCC.
pub(crate) const FILE: usize = 256;

/// Number of virtual registers above which the packer takes the first order in which all groups fit into the
/// file, instead of looking for a better one. This saves time in large functions.
const LARGE: usize = 8192;

const NONE: i32 = i32::MIN;

/// Description of a register file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    /// Register class: SGPR or VGPR.
    pub class: usize,
    /// Number of registers that may be used.
    pub limit: u32,
    /// Number of hardware registers that is good enough. If all groups fit into this many registers, no other
    /// order of placing them is tried. It is at least the largest number of registers that are live at the
    /// same time.
    pub aim: u32,
    /// Callee-saved registers by number. They are used only if no other register is free.
    pub kept: Numbers,
}

/// A set of register numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers([u64; FILE / 64]);

impl Numbers {
    pub fn insert(&mut self, number: u16) {
        self.0[usize::from(number) / 64] |= 1 << (number % 64);
    }

    pub fn remove(&mut self, number: u16) {
        self.0[usize::from(number) / 64] &= !(1 << (number % 64));
    }

    pub fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 != 0
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [0; FILE / 64]
    }
}

/// Order in which groups get their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// By the start of their live ranges.
    Start,
    /// Groups that occupy the largest area first.
    Area,
    /// Widest groups first.
    Width,
}

/// The packer of one class, with the hardware registers that it has assigned.
#[derive(Default)]
pub(crate) struct Packer {
    /// For each register of `Groups`, the number of its hardware register within the register file. `None` if
    /// the register is never live.
    pub assigned: Vec<Option<u16>>,
    /// One more than the highest register in use, not counting VCC.
    pub peak: u32,
    occupied: Vec<Vec<Interval>>,
    /// Whether `occupied` describes the best attempt.
    shows_best: bool,
    /// For each hardware register, the last interval in which it is occupied. Most questions whether the
    /// register is free can be answered with this interval alone.
    last: Vec<Interval>,
    hint: Vec<i32>,
    addend: Vec<u32>,
    order: Vec<(u64, u32)>,
    place: Vec<i32>,
    best: Vec<i32>,
}

impl Packer {
    /// Finds hardware registers for every group. Returns false if the register file is too small.
    pub fn run(&mut self, file: File, stream: &ClassStream, groups: &mut Groups, phys_base: u32) -> bool {
        self.hints(stream, groups, phys_base);
        self.occupied.resize_with(FILE, Vec::new);
        let mut best = None;
        for order in [Order::Start, Order::Area, Order::Width] {
            if best.is_some() && groups.range.len() > LARGE {
                break;
            }
            self.sort(groups, phys_base, order);
            self.block(file, stream, groups, phys_base);
            self.shows_best = false;
            let Some(peak) = self.attempt(file, groups) else { continue };
            self.shows_best = best.is_none_or(|best| peak < best);
            if self.shows_best {
                best = Some(peak);
                std::mem::swap(&mut self.best, &mut self.place);
            }
            if peak <= file.aim {
                break;
            }
        }
        let Some(peak) = best else { return false };
        self.peak = peak;
        self.assign(groups, phys_base);
        true
    }

    /// Returns a hardware register that is free at all points from `from` to before `to`, for breaking a
    /// cycle of copies. `occupied` describes the last attempt to place the groups. If the result of an
    /// earlier attempt is used, `occupied` is first computed again for that attempt.
    pub fn free_at(
        &mut self,
        file: File,
        stream: &ClassStream,
        groups: &Groups,
        phys_base: u32,
        (from, to): Interval,
    ) -> Option<u16> {
        if !self.shows_best {
            self.occupy_best(file, stream, groups, phys_base);
        }
        let vcc = (file.class == SGPR).then_some([VCC as u16, VCC as u16 + 1]);
        let numbered = 0..file.limit as u16;
        numbered
            .chain(vcc.into_iter().flatten())
            .find(|&reg| !intersects(&self.occupied[usize::from(reg)], &[(from, to)]))
    }

    fn hints(&mut self, stream: &ClassStream, groups: &mut Groups, phys_base: u32) {
        self.hint.clear();
        self.hint.resize(groups.range.len(), NONE);
        self.addend.clear();
        if !stream.addends.is_empty() {
            self.addend.resize(groups.range.len(), u32::MAX);
            for &(register, addend) in &stream.addends {
                if groups.is_root(register) {
                    self.addend[register as usize] = addend;
                }
            }
        }
        for &register in &stream.want_vcc {
            let (root, offset) = groups.find(register);
            self.hint[root as usize] = VCC - offset;
        }
        for &(register, reg) in &stream.inputs {
            if groups.range[register as usize].1 > 0 {
                let (root, offset) = groups.find(register);
                self.hint[root as usize] = i32::from(reg.number()) - offset;
            }
        }
        debug_assert!(groups.is_root(phys_base) && groups.is_root(phys_base + 1));
    }

    fn sort(&mut self, groups: &Groups, phys_base: u32, order: Order) {
        self.order.clear();
        for root in 0..groups.range.len() as u32 {
            if !groups.is_root(root) || root == phys_base || root == phys_base + 1 {
                continue;
            }
            let shape = groups.shape(root);
            let ranges = || {
                let slices = shape.columns.iter().filter(|slice| slice.1 > 0);
                slices.map(|&slice| groups.ranges.get(slice))
            };
            let Some(start) = ranges().map(|range| range[0].0).min() else { continue };
            let key = match order {
                Order::Start => u64::from(start),
                Order::Area => {
                    let area: u64 = ranges().flatten().map(|&(from, to)| u64::from(to - from)).sum();
                    (1 << 61) - area
                }
                Order::Width => {
                    ((FILE as u64).saturating_sub(shape.columns.len() as u64)) << 32 | u64::from(start)
                }
            };
            // Groups of registers that must be in a specific hardware register are placed first. Groups with
            // inputs of the function follow, because otherwise another group could take the register in which
            // the input arrives.
            let hint = self.hint[root as usize];
            let rank = match hint {
                _ if shape.align == PINNED => 0,
                NONE => 2,
                hint => 1 + u64::from(hint >= VCC - 1),
            };
            let key = if rank < 2 { u64::from(start) } else { key };
            self.order.push((key | rank << 62, root));
        }
        // Sorting this long list takes much of the time. Each entry begins with its sort key, so that the
        // sort compares entries directly.
        self.order.sort_unstable();
    }

    /// Marks all hardware registers as free, except where instructions name them or calls clobber them.
    fn block(&mut self, file: File, stream: &ClassStream, groups: &Groups, phys_base: u32) {
        self.occupied.iter_mut().for_each(Vec::clear);
        self.last.clear();
        self.last.resize(FILE, (0, 0));
        for reg in &stream.blocked {
            self.occupy(reg.number(), &[(0, u32::MAX)]);
        }
        for &(reg, when) in &stream.lost {
            if !stream.blocked.iter().any(|blocked| blocked.number() == reg) {
                self.occupy(reg, &[when]);
            }
        }
        if file.class == SGPR {
            for half in 0..2 {
                self.occupy(VCC as u16 + half as u16, groups.range_of(phys_base + half));
            }
        }
    }

    /// Makes `occupied` describe the best placement of all groups that was found, for [`Packer::free_at`].
    fn occupy_best(&mut self, file: File, stream: &ClassStream, groups: &Groups, phys_base: u32) {
        self.shows_best = true;
        self.block(file, stream, groups, phys_base);
        for root in 0..groups.range.len() as u32 {
            let place = self.best[root as usize];
            if place != NONE {
                let shape = groups.shape(root);
                for (&slice, reg) in shape.columns.iter().zip(place + shape.lo..) {
                    self.occupy(reg as u16, groups.ranges.get(slice));
                }
            }
        }
    }

    fn occupy(&mut self, reg: u16, range: &[Interval]) {
        let Some(first) = range.first() else { return };
        let list = &mut self.occupied[usize::from(reg)];
        let end = &mut self.last[usize::from(reg)];
        if end.1 <= first.0 {
            range.iter().for_each(|&interval| push_interval(list, interval));
        } else {
            for &interval in range {
                let at = list.partition_point(|other| other.0 < interval.0);
                list.insert(at, interval);
            }
        }
        if let Some(&last) = list.last() {
            *end = last;
        }
    }

    fn attempt(&mut self, mut file: File, groups: &Groups) -> Option<u32> {
        self.place.clear();
        self.place.resize(groups.range.len(), NONE);
        let mut peak = 0;
        let order = std::mem::take(&mut self.order);
        let mut complete = true;
        for &(_, root) in &order {
            let shape = groups.shape(root);
            let Some(place) = self.find(file, groups, root, shape) else {
                complete = false;
                break;
            };
            self.place[root as usize] = place;
            for (i, &slice) in shape.columns.iter().enumerate() {
                if slice.1 > 0 {
                    let reg = place + shape.lo + i as i32;
                    self.occupy(reg as u16, groups.ranges.get(slice));
                    // The function must save a callee-saved register as soon as one group is in it. Other
                    // groups may then use it without additional cost.
                    file.kept.remove(reg as u16);
                    if file.class != SGPR || reg < VCC {
                        peak = peak.max(reg as u32 + 1);
                    }
                }
            }
        }
        self.order = order;
        complete.then_some(peak)
    }

    /// Returns the hardware register at which a group of registers is placed, as the number of the group's
    /// root. The preferred register is tried first, then the lowest register where the group fits, then the
    /// registers of VCC. Returns `None` if the group fits nowhere.
    fn find(&self, file: File, groups: &Groups, root: u32, shape: Shape) -> Option<i32> {
        let hint = self.hint[root as usize];
        if hint != NONE && self.fits(file, groups, shape, hint) {
            return Some(hint);
        }
        // Tries the hardware register of the addend. If the result of a `v_fma` is in the same register as
        // its addend, the instruction can become the shorter `v_fmac`. This is tried only for groups of one
        // register, which fit anywhere.
        if let Some(&addend) = self.addend.get(root as usize)
            && addend != u32::MAX
            && shape.columns.len() == 1
        {
            let (other, offset) = groups.peek(addend);
            let place = self.place[other as usize];
            if place != NONE && self.fits(file, groups, shape, place + offset) {
                return Some(place + offset);
            }
        }
        if !file.kept.is_empty()
            && let Some(place) = self.lowest(file, groups, shape, true)
        {
            return Some(place);
        }
        if let Some(place) = self.lowest(file, groups, shape, false) {
            return Some(place);
        }
        let vcc = (VCC - shape.lo..=VCC + 1 - shape.lo).find(|&at| self.fits(file, groups, shape, at));
        vcc.filter(|_| file.class == SGPR)
    }

    /// Returns the lowest hardware register at which a group of registers fits. With `free`, the group must
    /// not use callee-saved registers that are not in use yet.
    fn lowest(&self, file: File, groups: &Groups, shape: Shape, free: bool) -> Option<i32> {
        let lowest = -shape.lo;
        let mut place = lowest + (shape.phase - lowest).rem_euclid(shape.align);
        let end = file.limit as i32 - shape.columns.len() as i32 - shape.lo;
        let is_kept = |place: i32| {
            let first = (place + shape.lo) as usize;
            (first..first + shape.columns.len()).any(|reg| file.kept.contains(reg))
        };
        while place <= end {
            if !(free && is_kept(place)) && self.fits(file, groups, shape, place) {
                return Some(place);
            }
            place += shape.align;
        }
        None
    }

    fn fits(&self, file: File, groups: &Groups, shape: Shape, place: i32) -> bool {
        let first = place + shape.lo;
        let last = first + shape.columns.len() as i32 - 1;
        let in_vcc = file.class == SGPR && first >= VCC && last <= VCC + 1;
        let numbered = first >= 0 && last < file.limit as i32;
        if !(numbered || in_vcc) || (place - shape.phase) % shape.align != 0 {
            return false;
        }
        shape.columns.iter().zip(first as usize..).all(|(&slice, reg)| {
            let range = groups.ranges.get(slice);
            match range.first() {
                None => true,
                Some(first) => {
                    let (from, to) = self.last[reg];
                    to <= first.0 || (from > first.0 && !intersects(range, &self.occupied[reg]))
                }
            }
        })
    }

    fn assign(&mut self, groups: &mut Groups, phys_base: u32) {
        self.assigned.clear();
        for register in 0..groups.range.len() as u32 {
            let (root, offset) = groups.find(register);
            let place = match register.wrapping_sub(phys_base) {
                half @ (0 | 1) => Some(VCC as u16 + half as u16),
                _ => Some(self.best[root as usize]).filter(|&at| at != NONE).map(|at| (at + offset) as u16),
            };
            self.assigned.push(place);
        }
    }
}
