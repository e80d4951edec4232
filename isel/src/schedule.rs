//! Moves loads up within their blocks, so that they are issued together and waited for together.
//!
//! List scheduling, top down, that keeps to the order of the source except for loads and what their addresses
//! need: those go first as long as vector registers last. What "last" means is decided by occupancy: as many
//! as keep the number of waves that the order of the source would allow.
//!
//! # Requires
//! SSA form; blocks in three parts (prologue, body, terminator group); only bodies are touched.
//! # Guarantees
//! Every dependence through registers, SCC, VCC, M0 and memory is kept; fences, barriers and atomics stay in
//! order with all memory operations.

use isa::table::{Family, Flags, Implicit, Role};
use isa::{MBlock, MachFunc, MachInst, MemRef, Operand, Reg, RegClass, Subtarget, SyncOrder, op};

/// Bodies shorter than this are left alone.
const MIN_BODY: usize = 6;
/// How far ahead of the order of the source a load may be taken.
const WINDOW: u32 = 96;
/// Registers that may be used beyond those of the order of the source.
const EXTRA: u32 = 16;
const NONE: u32 = u32::MAX;

/// Memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    flat: Flat,
    /// Uses of a register in the function that are not in the body at hand, and those left in it.
    uses: Vec<u32>,
    left: Vec<u32>,
    /// Instruction of the body that defines a register.
    def: Vec<u32>,
    touched: Vec<u32>,
    live_in: Vec<u32>,
    graph: Graph,
    order: Vec<u32>,
    body: Vec<MachInst>,
}

/// The virtual registers of every instruction in one list.
#[derive(Debug, Default)]
struct Flat {
    /// Number, [`DEF`] if written, [`VGPR`] if a vector register.
    regs: Vec<u32>,
    /// First register by instruction, and the end.
    starts: Vec<u32>,
    /// First instruction by block.
    blocks: Vec<u32>,
}

const DEF: u32 = 1 << 31;
const VGPR: u32 = 1 << 30;
/// The register's number.
const NUMBER: u32 = VGPR - 1;
/// In `Scheduler::def`: a parameter of the block.
const PARAM: u32 = NONE - 1;

impl Flat {
    fn compute(&mut self, func: &MachFunc) {
        self.regs.clear();
        self.starts.clear();
        self.blocks.clear();
        for data in func.blocks.values() {
            self.blocks.push(self.starts.len() as u32);
            for inst in &data.insts {
                self.starts.push(self.regs.len() as u32);
                for (n, &operand) in inst.operands().iter().enumerate() {
                    let Operand::Virt(tuple) = operand else { continue };
                    let def = if is_def(inst, n) { DEF } else { 0 };
                    for &reg in func.regs(tuple) {
                        let class = if func.vregs[reg] == RegClass::Vgpr { VGPR } else { 0 };
                        self.regs.push(reg.as_u32() | def | class);
                    }
                }
            }
        }
        self.blocks.push(self.starts.len() as u32);
        self.starts.push(self.regs.len() as u32);
    }

    /// Registers of an instruction by its number in the function.
    fn of(&self, inst: u32) -> &[u32] {
        &self.regs[self.starts[inst as usize] as usize..self.starts[inst as usize + 1] as usize]
    }

    /// Registers of all instructions of a range.
    fn range(&self, from: u32, to: u32) -> &[u32] {
        &self.regs[self.starts[from as usize] as usize..self.starts[to as usize] as usize]
    }

    /// Number of the first instruction of a block.
    fn first(&self, block: MBlock) -> u32 {
        self.blocks[block.as_u32() as usize]
    }
}

/// Dependences of a block: lists of successors.
#[derive(Debug, Default)]
struct Graph {
    first: Vec<u32>,
    edges: Vec<Dependence>,
    waiting: Vec<u32>,
    /// A load needs the result.
    feeds: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Dependence {
    to: u32,
    next: u32,
    /// A value is passed.
    flows: bool,
}

impl Graph {
    fn begin(&mut self, count: usize) {
        self.first.clear();
        self.first.resize(count, NONE);
        self.waiting.clear();
        self.waiting.resize(count, 0);
        self.feeds.clear();
        self.feeds.resize(count, false);
        self.edges.clear();
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
}

/// Reads and writes since the last write of a hardware register.
#[derive(Clone, Debug, Default)]
struct Special {
    write: Option<u32>,
    reads: Vec<u32>,
}

/// What is tracked beside virtual registers.
const SCC: usize = 0;
const VCC: usize = 1;
const M0: usize = 2;
const EXEC: usize = 3;
const FLAT_SCRATCH: usize = 4;

/// Memory operations of the block so far.
#[derive(Debug, Default)]
struct Accesses {
    fence: Option<u32>,
    loads: Vec<(u32, MemRef)>,
    stores: Vec<(u32, MemRef)>,
    /// The last `s_getpc_b64`, or instruction with a distance from one.
    distance: Option<u32>,
}

/// Reorders the bodies of a function.
pub(crate) fn run(func: &mut MachFunc, target: &Subtarget, s: &mut Scheduler) {
    let blocks: Vec<(MBlock, u32)> = func.blocks.keys().filter_map(|block| worthwhile(func, block)).collect();
    if blocks.is_empty() {
        return;
    }
    s.flat.compute(func);
    s.count_uses(func);
    s.count_live(func);
    let peak = func.blocks.keys().map(|block| s.peak(func, block)).max().unwrap_or(0);
    let limit = limit(peak, target);
    for (block, end) in blocks {
        s.block(func, block, end, limit);
    }
}

/// The block and where its last load ends, counted from the prologue: what is behind keeps its order.
fn worthwhile(func: &MachFunc, block: MBlock) -> Option<(MBlock, u32)> {
    let data = &func.blocks[block];
    let body = &data.insts[data.prologue as usize..data.term as usize];
    let end = body.iter().rposition(is_load)? + 1;
    let loads = body[..end].iter().filter(|inst| is_load(inst)).count();
    (end >= MIN_BODY && loads >= 2).then_some((block, end as u32))
}

/// As many VGPRs as leave the number of waves at what `peak` allows.
fn limit(peak: u32, target: &Subtarget) -> u32 {
    let granule = target.vgpr_granule;
    let waves = (target.addressable_vgprs / peak.max(1).next_multiple_of(granule)).clamp(1, target.max_waves);
    let same = target.addressable_vgprs / waves / granule * granule;
    // A little is lost in allocation.
    same.saturating_sub(2).min(peak + EXTRA).max(peak)
}

fn is_load(inst: &MachInst) -> bool {
    let flags = inst.op.row().flags;
    flags.contains(Flags::LOAD) && !flags.intersects(Flags::STORE | Flags::ATOMIC)
}

fn is_def(inst: &MachInst, n: usize) -> bool {
    match inst.op.row().ops.get(n) {
        Some(spec) => spec.role == Role::Def,
        None => n == 0 && (inst.op == op::COPY || inst.op == op::UNDEF),
    }
}

impl Scheduler {
    fn count_uses(&mut self, func: &MachFunc) {
        let count = func.vregs.len();
        self.touched.clear();
        for list in [&mut self.uses, &mut self.left] {
            list.clear();
            list.resize(count, 0);
        }
        self.def.clear();
        self.def.resize(count, NONE);
        for &reg in &self.flat.regs {
            self.uses[(reg & NUMBER) as usize] += u32::from(reg & DEF == 0);
        }
        for data in func.blocks.values() {
            for edge in data.linear.iter().chain(&data.logical).flatten() {
                func.edge_args(edge).iter().for_each(|&reg| self.uses[reg.as_u32() as usize] += 1);
            }
        }
    }

    /// Number of VGPRs live at the beginning of each block: from every use up to the definition.
    fn count_live(&mut self, func: &MachFunc) {
        let count = func.blocks.len();
        let mut preds: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut home = vec![NONE; func.vregs.len()];
        for (block, data) in func.blocks.iter() {
            let at = block.as_u32();
            for edge in data.logical.iter().flatten() {
                preds[edge.to.as_u32() as usize].push(at);
            }
            data.vgpr_params.iter().for_each(|&reg| home[reg.as_u32() as usize] = at);
            let regs = self.flat.range(self.flat.blocks[at as usize], self.flat.blocks[at as usize + 1]);
            for &reg in regs.iter().filter(|&&reg| reg & DEF != 0) {
                home[(reg & NUMBER) as usize] = at;
            }
        }
        for &(reg, _) in &func.inputs {
            home[reg.as_u32() as usize] = 0;
        }
        let mut used: Vec<(u32, u32)> = Vec::new();
        for (block, data) in func.blocks.iter() {
            let at = block.as_u32();
            let regs = self.flat.range(self.flat.blocks[at as usize], self.flat.blocks[at as usize + 1]);
            let uses = regs.iter().filter(|&&reg| reg & (DEF | VGPR) == VGPR).map(|&reg| reg & NUMBER);
            let args =
                data.logical.iter().flatten().flat_map(|edge| func.edge_args(edge)).map(|reg| reg.as_u32());
            used.extend(uses.chain(args).filter(|&reg| home[reg as usize] != at).map(|reg| (reg, at)));
        }
        used.sort_unstable();
        used.dedup();
        self.live_in.clear();
        self.live_in.resize(count, 0);
        let mut seen = vec![NONE; count];
        let mut work = Vec::new();
        for (reg, block) in used {
            work.push(block);
            while let Some(at) = work.pop() {
                if at == home[reg as usize] || seen[at as usize] == reg {
                    continue;
                }
                seen[at as usize] = reg;
                self.live_in[at as usize] += 1;
                work.extend_from_slice(&preds[at as usize]);
            }
        }
    }

    /// Takes the uses of a body out of the counts; returns how many VGPRs are live at its start.
    fn begin(&mut self, func: &MachFunc, block: MBlock, from: u32, to: u32) -> u32 {
        let Scheduler { flat, uses, left, def, touched, .. } = self;
        for &reg in flat.range(from, to) {
            let n = (reg & NUMBER) as usize;
            if reg & DEF == 0 {
                left[n] += 1;
                uses[n] -= 1;
            } else {
                def[n] = 0;
                touched.push(reg & NUMBER);
            }
        }
        let params = &func.blocks[block].vgpr_params;
        for &reg in params {
            def[reg.as_u32() as usize] = PARAM;
            touched.push(reg.as_u32());
        }
        self.live_in[block.as_u32() as usize] + params.len() as u32
    }

    /// Undoes [`Scheduler::begin`] when all uses have been counted off.
    fn end(&mut self, from: u32, to: u32) {
        let Scheduler { flat, uses, def, touched, .. } = self;
        for &reg in flat.range(from, to).iter().filter(|&&reg| reg & DEF == 0) {
            uses[(reg & NUMBER) as usize] += 1;
        }
        touched.drain(..).for_each(|reg| def[reg as usize] = NONE);
    }

    /// Change of the number of live VGPRs when the instruction is issued; counts its uses off.
    fn pressure(&mut self, inst: u32) -> i32 {
        let mut change = 0;
        let Scheduler { flat, left, uses, def, .. } = self;
        for &reg in flat.of(inst) {
            let n = (reg & NUMBER) as usize;
            let vector = reg & VGPR != 0;
            if reg & DEF != 0 {
                change += i32::from(vector && left[n] + uses[n] > 0);
                continue;
            }
            left[n] -= 1;
            // Only registers of the block, used nowhere else, are known to end here.
            change -= i32::from(vector && left[n] == 0 && uses[n] == 0 && def[n] != NONE);
        }
        change
    }

    /// Most VGPRs live in the block in the order of the source.
    fn peak(&mut self, func: &MachFunc, block: MBlock) -> u32 {
        let data = &func.blocks[block];
        let first = self.flat.first(block);
        let (from, to) = (first + data.prologue, first + data.term);
        let mut live = self.begin(func, block, from, to) as i32;
        let mut peak = live;
        for inst in from..to {
            live += self.pressure(inst);
            peak = peak.max(live);
        }
        self.end(from, to);
        peak as u32
    }

    /// Reorders the first `end` instructions of the block's body.
    fn block(&mut self, func: &mut MachFunc, block: MBlock, end: u32, limit: u32) {
        let from = self.flat.first(block) + func.blocks[block].prologue;
        let live = self.begin(func, block, from, from + end);
        let start = func.blocks[block].prologue as usize;
        let range = start..start + end as usize;
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        body.extend_from_slice(&func.blocks[block].insts[range.clone()]);
        self.dependences(func, &body, from);
        self.list(&body, from, live as i32, limit as i32);
        self.end(from, from + end);
        let insts = &mut func.blocks[block].insts[range];
        for (slot, &n) in insts.iter_mut().zip(&self.order) {
            *slot = body[n as usize];
        }
        self.body = body;
    }

    fn dependences(&mut self, func: &MachFunc, body: &[MachInst], from: u32) {
        self.graph.begin(body.len());
        let mut special: [Special; 5] = Default::default();
        let mut memory = Accesses::default();
        for (n, inst) in (0..).zip(body) {
            let Scheduler { flat, def, graph, .. } = self;
            for &reg in flat.of(from + n) {
                let place = &mut def[(reg & NUMBER) as usize];
                if reg & DEF != 0 {
                    *place = n;
                } else if *place < PARAM {
                    graph.add(*place, n, true);
                }
            }
            self.special(n, inst, &mut special);
            self.memory(func, n, inst, &mut memory);
        }
        for n in (0..body.len()).rev() {
            let mut edge = self.graph.first[n];
            let mut feeds = false;
            while edge != NONE {
                let Dependence { to, next, flows } = self.graph.edges[edge as usize];
                feeds |= flows && (is_load(&body[to as usize]) || self.graph.feeds[to as usize]);
                edge = next;
            }
            self.graph.feeds[n] = feeds;
        }
    }

    fn special(&mut self, n: u32, inst: &MachInst, special: &mut [Special; 5]) {
        let implicit = inst.op.row().implicit;
        let mut touch = |which: usize, write: bool| {
            let state = &mut special[which];
            if let Some(last) = state.write {
                self.graph.order(last, n);
            }
            if write {
                for &read in &state.reads {
                    self.graph.order(read, n);
                }
                state.reads.clear();
                state.write = Some(n);
            } else {
                state.reads.push(n);
            }
        };
        for (which, read, write) in [
            (SCC, Implicit::READ_SCC, Implicit::WRITE_SCC),
            (VCC, Implicit::READ_VCC, Implicit::WRITE_VCC),
            (M0, Implicit::READ_M0, Implicit::WRITE_M0),
            (EXEC, Implicit::READ_EXEC, Implicit::WRITE_EXEC),
            (FLAT_SCRATCH, Implicit::READ_FLAT_SCRATCH, Implicit::empty()),
        ] {
            if implicit.contains(read) {
                touch(which, false);
            }
            if implicit.intersects(write) {
                touch(which, true);
            }
        }
        for (k, &operand) in inst.operands().iter().enumerate() {
            let Operand::Reg(range) = operand else { continue };
            let which = match range.first {
                Reg::VCC => VCC,
                Reg::M0 => M0,
                Reg::EXEC => EXEC,
                Reg::SCC => SCC,
                reg if reg == Reg::FLAT_SCRATCH || reg == Reg::FLAT_SCRATCH.offset(1) => FLAT_SCRATCH,
                _ => continue,
            };
            touch(which, is_def(inst, k));
        }
    }

    fn memory(&mut self, func: &MachFunc, n: u32, inst: &MachInst, memory: &mut Accesses) {
        let row = inst.op.row();
        // Distances count from the `s_getpc_b64` before: another one must not come between.
        let counts = |operand: &Operand| matches!(operand, Operand::Reloc(_));
        if (inst.op == op::S_GETPC_B64 || inst.operands().iter().any(counts))
            && let Some(last) = memory.distance.replace(n)
        {
            self.graph.order(last, n);
        }
        let flags = row.flags;
        let mem = inst.mem.index().map(|n| func.mems[n]).unwrap_or_default();
        // Loads through the scalar cache are of memory that nobody writes.
        if row.family == Family::Smem && is_load(inst) {
            return;
        }
        let accesses = flags.intersects(Flags::LOAD | Flags::STORE | Flags::ATOMIC);
        let ordered = flags.contains(Flags::ORDERED) && inst.op != op::S_GETPC_B64
            || flags.contains(Flags::ATOMIC)
            || mem.order != SyncOrder::NotAtomic
            || mem.volatile;
        if !accesses && !ordered {
            return;
        }
        if let Some(fence) = memory.fence {
            self.graph.order(fence, n);
        }
        let apart = |a: &MemRef, b: &MemRef| {
            a.spaces & b.spaces == 0 || a.alias != 0 && b.alias != 0 && a.alias != b.alias
        };
        if ordered {
            for (other, _) in memory.loads.drain(..).chain(memory.stores.drain(..)) {
                self.graph.order(other, n);
            }
            memory.fence = Some(n);
        } else if flags.contains(Flags::STORE) {
            for (other, access) in memory.loads.iter().chain(&memory.stores) {
                if !apart(access, &mem) {
                    self.graph.order(*other, n);
                }
            }
            memory.stores.push((n, mem));
        } else {
            for (other, access) in &memory.stores {
                if !apart(access, &mem) {
                    self.graph.order(*other, n);
                }
            }
            memory.loads.push((n, mem));
        }
    }

    /// Chooses the order.
    fn list(&mut self, body: &[MachInst], from: u32, mut live: i32, limit: i32) {
        self.order.clear();
        let mut ready = Ready::default();
        for n in (0..body.len() as u32).rev().filter(|&n| self.graph.waiting[n as usize] == 0) {
            ready.lists[self.kind(body, n)].push(n);
        }
        let mut done = vec![false; body.len()];
        let mut first = 0;
        while let Some(n) = ready.take(first, limit - live) {
            done[n as usize] = true;
            while done.get(first as usize) == Some(&true) {
                first += 1;
            }
            self.order.push(n);
            live += self.pressure(from + n);
            let mut edge = self.graph.first[n as usize];
            while edge != NONE {
                let Dependence { to, next, .. } = self.graph.edges[edge as usize];
                let waiting = &mut self.graph.waiting[to as usize];
                *waiting -= 1;
                if *waiting == 0 {
                    ready.insert(to, self.kind(body, to));
                }
                edge = next;
            }
        }
    }

    fn kind(&self, body: &[MachInst], n: u32) -> usize {
        if is_load(&body[n as usize]) {
            LOAD
        } else if self.graph.feeds[n as usize] {
            FEEDER
        } else {
            OTHER
        }
    }
}

const LOAD: usize = 0;
const FEEDER: usize = 1;
const OTHER: usize = 2;

/// Instructions that may be issued, by kind, each list in descending order.
#[derive(Debug, Default)]
struct Ready {
    lists: [Vec<u32>; 3],
    /// Registers ran out: none is loaded early until half of them are free again.
    drain: bool,
}

impl Ready {
    fn insert(&mut self, n: u32, kind: usize) {
        let list = &mut self.lists[kind];
        let place = list.partition_point(|&other| other > n);
        list.insert(place, n);
    }

    /// A load if there is room, else something a load needs, else the next in the order of the source.
    fn take(&mut self, first: u32, room: i32) -> Option<u32> {
        self.drain &= room < EXTRA as i32 / 2;
        for (kind, need) in [(LOAD, 4), (FEEDER, 6)] {
            let near = self.lists[kind].last().is_some_and(|&n| n < first + WINDOW);
            if near && !self.drain {
                if need <= room {
                    return self.lists[kind].pop();
                }
                self.drain = true;
            }
        }
        let lists = self.lists.iter_mut().filter(|list| !list.is_empty());
        lists.min_by_key(|list| list.last().copied())?.pop()
    }
}
