//! Dependence graph of a sequence of instructions: which instructions must stay in order because of registers
//! or memory.
//!
//! The number of edges is linear in the number of instructions. An access may alias accesses in the same
//! address space that have the same alias class or no class. The accesses of one address space and class are
//! a group, so an access needs edges from a small number of groups, however many accesses there are. If
//! several instructions each need an edge from every access of a group, the edges go through one extra node,
//! the *join*.

use super::{NONE, is_load};
use ir::constraints::{Class, SCHEDULE};
use isa::table::{Family, Flags, Implicit, Role};
use isa::{MachInst, ModFlags, Operand, Reg, RegRange, Target, op};
use mir::{MachFunc, MemRef, SpaceSet, SyncOrder};
use rustc_hash::FxHashMap;

/// The dependences of instructions, as lists of successors. The nodes are the instructions, followed by the
/// joins (extra nodes through which the edges of many accesses go).
#[derive(Debug, Default)]
pub(super) struct Graph {
    first: Vec<u32>,
    edges: Vec<Dependence>,
    /// Number of predecessors of each node that have not been issued yet.
    pub waiting: Vec<u32>,
    /// Whether a load needs each instruction's result.
    pub feeds: Vec<bool>,
    special: [Special; TRACKED.len() + 1],
    memory: Accesses,
}

#[derive(Clone, Copy, Debug)]
struct Dependence {
    to: u32,
    next: u32,
    /// Whether the later instruction uses a value that the earlier one computes. Otherwise the two
    /// instructions only have to stay in order.
    flows: bool,
}

/// The reads and the last write of a hardware register.
#[derive(Debug, Default)]
struct Special {
    write: Option<u32>,
    reads: Vec<u32>,
}

/// Hardware registers that instructions read and write even before register allocation, so that they order
/// instructions. The MODE register has no register number; it has the index after the last entry.
const TRACKED: [RegRange; 5] = [
    RegRange { first: Reg::SCC, len: 1 },
    RegRange { first: Reg::VCC, len: 2 },
    RegRange { first: Reg::M0, len: 1 },
    RegRange { first: Reg::EXEC, len: 2 },
    RegRange { first: Reg::FLAT_SCRATCH, len: 2 },
];

/// Memory accesses so far.
#[derive(Debug, Default)]
struct Accesses {
    /// `fence` is the last instruction that stays in order with all memory accesses, such as a fence. `since`
    /// has the accesses after it.
    fence: Option<u32>,
    since: Vec<u32>,
    /// Instructions that compute an address relative to the program counter (`s_getpc_b64`, and additions of
    /// a distance from it) stay in order. This is the last one of them.
    distance: Option<u32>,
    /// Accesses since the fence, by address space and alias class.
    groups: FxHashMap<(u32, u32), Group>,
    links: Vec<Link>,
}

/// Stands for all alias classes.
const ANY: u32 = 1 << 16;

/// Two lists of the accesses of a group, both in `Accesses::links`. A later load must be ordered after the
/// accesses in `stores`, and a later store after those in `all`. If a new access is itself ordered after all
/// others of a list, it replaces them in the list.
#[derive(Clone, Copy, Debug)]
struct Group {
    stores: u32,
    all: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    node: u32,
    next: u32,
}

impl Graph {
    /// Starts the graph of `count` instructions.
    pub fn begin(&mut self, count: usize) {
        self.first.clear();
        self.first.resize(count, NONE);
        self.waiting.clear();
        self.waiting.resize(count, 0);
        self.feeds.clear();
        self.feeds.resize(count, false);
        self.edges.clear();
        for special in &mut self.special {
            special.write = None;
            special.reads.clear();
        }
        self.memory.fence = None;
        self.memory.distance = None;
        self.memory.forget();
    }

    /// Adds a dependence: `to` uses a value that `from` defines.
    pub fn flow(&mut self, from: u32, to: u32) {
        self.add(from, to, true);
    }

    fn order(&mut self, from: u32, to: u32) {
        self.add(from, to, false);
    }

    fn add(&mut self, from: u32, to: u32, flows: bool) {
        if from != to {
            self.edges.push(Dependence { to, next: self.first[from as usize], flows });
            self.first[from as usize] = self.edges.len() as u32 - 1;
            self.waiting[to as usize] += 1;
        }
    }

    /// Adds the dependences of instruction number `n` through hardware registers and memory. Dependences
    /// through virtual registers are added elsewhere.
    pub fn instruction(&mut self, func: &MachFunc, target: &Target, n: u32, inst: &MachInst) {
        inst.for_each_hw_reg(target, |role, range| {
            let Some(which) = TRACKED.iter().position(|reg| reg.overlaps(range)) else { return };
            if role != Role::Def {
                self.special(which, n, false);
            }
            if role != Role::Use {
                self.special(which, n, true);
            }
        });
        let implicit = inst.op.row().implicit;
        if implicit.intersects(Implicit::READ_MODE | Implicit::WRITE_MODE) {
            self.special(TRACKED.len(), n, implicit.contains(Implicit::WRITE_MODE));
        }
        self.distance(n, inst);
        self.access(func, n, inst);
    }

    fn special(&mut self, which: usize, n: u32, write: bool) {
        let mut reads = std::mem::take(&mut self.special[which].reads);
        if let Some(last) = self.special[which].write {
            self.order(last, n);
        }
        if write {
            reads.drain(..).for_each(|read| self.order(read, n));
            self.special[which].write = Some(n);
        } else {
            reads.push(n);
        }
        self.special[which].reads = reads;
    }

    /// Keeps instructions that use the program counter in order. A distance in the code is relative to the
    /// `s_getpc_b64` before it, so no other `s_getpc_b64` may move between the two.
    fn distance(&mut self, n: u32, inst: &MachInst) {
        let counts = |operand: &Operand| matches!(operand, Operand::Reloc(_));
        if (inst.op == op::S_GETPC_B64 || inst.operands().iter().any(counts))
            && let Some(last) = self.memory.distance.replace(n)
        {
            self.order(last, n);
        }
    }

    fn access(&mut self, func: &MachFunc, n: u32, inst: &MachInst) {
        let row = inst.op.row();
        let flags = row.flags;
        // Scalar loads read memory that no instruction writes.
        if row.family == Family::Smem && is_load(inst) {
            return;
        }
        let mem = inst.mem.index().map(|n| func.mems[n]).unwrap_or_default();
        let accesses = flags.intersects(Flags::LOAD | Flags::STORE | Flags::ATOMIC);
        let atomic = flags.contains(Flags::ATOMIC) || mem.order != SyncOrder::NotAtomic;
        let held =
            Class::for_flags(atomic, mem.volatile).is_some_and(|class| !SCHEDULE.takes.contains(class));
        // A load that writes its data to LDS accesses two memories, and so does a store from LDS. The memory
        // attributes name only one of them, so the instruction stays in order with all accesses.
        let held = held || inst.mods.flags.contains(ModFlags::LDS);
        let ordered = flags.contains(Flags::ORDERED) && inst.op != op::S_GETPC_B64 || held;
        if !accesses && !ordered {
            return;
        }
        if let Some(fence) = self.memory.fence {
            self.order(fence, n);
        }
        if ordered {
            let mut since = std::mem::take(&mut self.memory.since);
            since.drain(..).for_each(|other| self.order(other, n));
            self.memory.since = since;
            self.memory.forget();
            self.memory.fence = Some(n);
        } else {
            self.memory.since.push(n);
            self.plain_access(n, &mem, flags.contains(Flags::STORE));
        }
    }

    /// Orders a load or store after the earlier accesses that it may alias: a load after stores, a store
    /// after all accesses.
    fn plain_access(&mut self, n: u32, mem: &MemRef, store: bool) {
        let alias = u32::from(mem.alias);
        for space in (0..SpaceSet::BITS).filter(|space| mem.spaces >> space & 1 != 0) {
            // The groups whose accesses come before this access. The flag says whether a store replaces the
            // accesses of the group, because everything that is ordered after them is also ordered after the
            // store.
            let groups: &[(u32, bool)] =
                if alias == 0 { &[(ANY, true)] } else { &[(alias, true), (0, false)] };
            for &(class, covers) in groups {
                self.order_after_accesses(n, (space, class), store, store && covers);
            }
            for class in [alias, ANY] {
                // A store with an alias class replaces only the accesses of its own class. A store without
                // class is ordered after all accesses of its address space, so it replaces them in both
                // groups: the group without class and the group of all classes.
                let covers = store && (class == alias || alias == 0);
                self.memory.record(n, (space, class), store, covers);
            }
        }
    }

    /// Adds edges to instruction `n` from the accesses of one group: from all accesses if `all` is set, and
    /// otherwise from the stores.
    fn order_after_accesses(&mut self, n: u32, key: (u32, u32), all: bool, covers: bool) {
        let Some(&group) = self.memory.groups.get(&key) else { return };
        let list = if all { group.all } else { group.stores };
        if list == NONE {
            return;
        }
        let several = self.memory.links[list as usize].next != NONE;
        if covers || !several {
            return self.order_list(list, n);
        }
        let join = self.first.len() as u32;
        self.first.push(NONE);
        self.waiting.push(0);
        self.order_list(list, join);
        self.order(join, n);
        let joined = self.memory.link(join, NONE);
        if let Some(group) = self.memory.groups.get_mut(&key) {
            *(if all { &mut group.all } else { &mut group.stores }) = joined;
        }
    }

    fn order_list(&mut self, mut list: u32, to: u32) {
        while list != NONE {
            let Link { node, next } = self.memory.links[list as usize];
            self.order(node, to);
            list = next;
        }
    }

    /// Marks the instructions whose results loads need, directly or indirectly. To be called when all
    /// instructions have been added.
    pub fn finish(&mut self, body: &[MachInst]) {
        for n in (0..body.len()).rev() {
            let mut feeds = false;
            let mut edge = self.first[n];
            while edge != NONE {
                let Dependence { to, next, flows } = self.edges[edge as usize];
                feeds |= flows && (is_load(&body[to as usize]) || self.feeds[to as usize]);
                edge = next;
            }
            self.feeds[n] = feeds;
        }
    }

    /// Tells the graph that node `n` has been issued. Calls `ready` for each instruction that now waits for
    /// no other predecessor, with its number and the table [`Graph::feeds`], which says whether a load needs
    /// it. `stack` is scratch memory.
    pub fn release(&mut self, n: u32, stack: &mut Vec<u32>, mut ready: impl FnMut(&[bool], u32)) {
        let count = self.feeds.len() as u32;
        stack.push(n);
        while let Some(node) = stack.pop() {
            let mut edge = self.first[node as usize];
            while edge != NONE {
                let Dependence { to, next, .. } = self.edges[edge as usize];
                self.waiting[to as usize] -= 1;
                if self.waiting[to as usize] == 0 {
                    if to < count { ready(&self.feeds, to) } else { stack.push(to) }
                }
                edge = next;
            }
        }
    }
}

impl Accesses {
    /// Forgets the accesses before a fence, because later accesses are ordered after the fence.
    fn forget(&mut self) {
        self.since.clear();
        self.groups.clear();
        self.links.clear();
    }

    fn link(&mut self, node: u32, next: u32) -> u32 {
        self.links.push(Link { node, next });
        self.links.len() as u32 - 1
    }

    /// Adds an access to its group (accesses of one address space and alias class). If `covers` is set, the
    /// access is ordered after all others of the group, and replaces them.
    fn record(&mut self, n: u32, key: (u32, u32), store: bool, covers: bool) {
        let old = self.groups.get(&key).copied().unwrap_or(Group { stores: NONE, all: NONE });
        let behind = |list| if covers { NONE } else { list };
        let all = self.link(n, behind(old.all));
        let stores = if store { self.link(n, behind(old.stores)) } else { old.stores };
        self.groups.insert(key, Group { stores, all });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Returns the next number of a pseudo-random sequence.
    fn next(seed: &mut u32) -> u32 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *seed >> 16
    }

    fn accesses(count: u32, aliases: u32, mut seed: u32) -> Vec<(MemRef, bool)> {
        let spaces = [1 << 1, 1 << 1, 1 << 3, 1 << 1 | 1 << 3 | 1 << 5];
        let access = |_| {
            let alias = (next(&mut seed) % aliases) as u16;
            let spaces = spaces[next(&mut seed) as usize % spaces.len()];
            (MemRef { spaces, alias, ..MemRef::default() }, next(&mut seed).is_multiple_of(3))
        };
        (0..count).map(access).collect()
    }

    fn graph(accesses: &[(MemRef, bool)]) -> Graph {
        let mut graph = Graph::default();
        graph.begin(accesses.len());
        for (n, (mem, store)) in (0..).zip(accesses) {
            graph.plain_access(n, mem, *store);
        }
        graph
    }

    /// Returns the pairs of nodes of which the first is ordered before the second.
    fn ordered(graph: &Graph) -> HashSet<(u32, u32)> {
        let mut pairs = HashSet::new();
        for start in 0..graph.first.len() as u32 {
            let mut work = vec![start];
            while let Some(node) = work.pop() {
                let mut edge = graph.first[node as usize];
                while edge != NONE {
                    let Dependence { to, next, .. } = graph.edges[edge as usize];
                    if pairs.insert((start, to)) {
                        work.push(to);
                    }
                    edge = next;
                }
            }
        }
        pairs
    }

    /// The order must be the transitive closure of "may alias, and one of the two is a store".
    #[test]
    fn neither_more_nor_less_order_than_aliasing_asks_for() {
        for seed in 0..60 {
            let list = accesses(40, 1 + seed % 4, seed);
            let count = list.len() as u32;
            let mut found = ordered(&graph(&list));
            found.retain(|&(from, to)| from < count && to < count);
            let mut expected = HashSet::new();
            for (n, (mem, store)) in (0..).zip(&list) {
                for (m, (other, stores)) in (0..n).zip(&list) {
                    let apart = mem.spaces & other.spaces == 0
                        || mem.alias != 0 && other.alias != 0 && mem.alias != other.alias;
                    if !apart && (*store || *stores) {
                        let above: Vec<u32> =
                            (0..m).filter(|&above| expected.contains(&(above, m))).collect();
                        expected.extend(above.into_iter().map(|above| (above, n)));
                        expected.insert((m, n));
                    }
                }
            }
            assert_eq!(found, expected, "seed {seed}");
        }
    }

    #[test]
    fn edges_are_linear() {
        for aliases in [1, 3, 1000] {
            let list = accesses(4000, aliases, 7);
            let graph = graph(&list);
            assert!(graph.edges.len() < 24 * list.len(), "{} edges", graph.edges.len());
        }
    }
}
