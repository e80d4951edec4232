//! Decides which registers are spilled if there are too few, by asking regalloc2.
//!
//! regalloc2 sees the registers of one class (SGPRs or VGPRs): the block structure, and the operands of the
//! instructions that use the class. It sees one virtual register per dword, and knows nothing about tuples.
//! It gets at most as many hardware registers as may be used. regalloc2 supports at most 64 registers in each
//! of its own register classes. The registers are therefore distributed over up to three of these classes,
//! which are called *banks* here. A block parameter and its arguments are in the same bank.
//!
//! regalloc2's answer says at which program points each register *resides*, that is, is in a hardware
//! register. The spiller turns this into stores and reloads. Which hardware registers regalloc2 chose is
//! ignored, because the packer assigns them afterwards.

use crate::groups::Groups;
use crate::lists::Lists;
use crate::stream::{ClassStream, EventKind, Streams, edges, params};
use cranelift_entity::EntityRef;
use isa::MBlock;
use isa::table::Role;
use mir::MachFunc;
use regalloc2::{
    Block, Function, Inst, InstRange, MachineEnv, Operand, PReg, PRegSet, ProgPoint, RegClass,
    RegallocOptions, VReg,
};

/// Largest number of hardware registers in a bank, which is a register class of regalloc2: regalloc2's 64,
/// less one scratch register and one number that regalloc2 reserves.
const BANK: u32 = 62;

/// The register classes of regalloc2 that serve as banks.
const CLASSES: [RegClass; 3] = [RegClass::Int, RegClass::Float, RegClass::Vector];

/// An instruction in the form in which regalloc2 sees the function. It stands for an instruction of the
/// function, or for the beginning or the end of a block.
#[derive(Clone, Copy)]
struct Row {
    /// Program points before and after the instruction.
    before: u32,
    after: u32,
    first: u32,
    len: u32,
    end: bool,
}

/// The function as regalloc2 sees it: only the operands of one register class.
#[derive(Default)]
struct View {
    rows: Vec<Row>,
    operands: Vec<Operand>,
    blocks: Vec<InstRange>,
    succs: Lists<Block>,
    preds: Lists<Block>,
    params: Lists<VReg>,
    /// Arguments: two lists per block, one for each successor.
    args: Lists<VReg>,
    labels: Vec<(VReg, Inst, Inst, u32)>,
    /// Number of edges to each block.
    incoming: Vec<u32>,
    registers: usize,
}

/// regalloc2's choice of registers to spill. For each spilled register, it has the intervals in which the
/// register is still in a hardware register (its residence). The other fields are working memory.
#[derive(Default)]
pub(crate) struct Budget {
    view: View,
    ctx: regalloc2::Ctx,
    /// For each register, the bank (a register class of regalloc2) that it belongs to, or `NONE` if regalloc2
    /// does not see the register.
    bank: Vec<u8>,
    web: Vec<u32>,
    /// Bank of each web, by the web's root.
    bank_of: Vec<u8>,
    /// Program points at which the number of live registers changes, counting only registers that regalloc2
    /// does not see. The change is +1 if a register becomes live, and -1 if a register dies.
    changes: Vec<(u32, i32)>,
    /// Edges, sorted by target.
    edges: Vec<(Block, Block)>,
    /// Whether each register is spilled at some point.
    is_spilled: Vec<bool>,
    /// For each spilled register, the intervals of program points in which it is in a hardware register.
    resides: Lists<(u32, u32)>,
    /// The intervals of `resides` as regalloc2 chose them, before [`Budget::leave_tables`] removes intervals
    /// at jump tables.
    all: Lists<(u32, u32)>,
}

const NONE: u8 = u8::MAX;

impl Function for View {
    fn num_insts(&self) -> usize {
        self.rows.len()
    }

    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        self.blocks[block.index()]
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        self.succs.list(block.index())
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        self.preds.list(block.index())
    }

    fn block_params(&self, block: Block) -> &[VReg] {
        self.params.list(block.index())
    }

    fn is_ret(&self, inst: Inst) -> bool {
        self.is_last(inst, true)
    }

    fn is_branch(&self, inst: Inst) -> bool {
        self.is_last(inst, false)
    }

    fn branch_blockparams(&self, block: Block, _: Inst, successor: usize) -> &[VReg] {
        self.args.list(block.index() * 2 + successor)
    }

    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        let Row { first, len, .. } = self.rows[inst.index()];
        &self.operands[first as usize..][..len as usize]
    }

    fn inst_clobbers(&self, _: Inst) -> PRegSet {
        PRegSet::empty()
    }

    fn num_vregs(&self) -> usize {
        self.registers
    }

    fn debug_value_labels(&self) -> &[(VReg, Inst, Inst, u32)] {
        &self.labels
    }

    fn spillslot_size(&self, _: RegClass) -> usize {
        1
    }
}

impl View {
    fn clear(&mut self) {
        let View { rows, operands, blocks, succs, preds, params, args, labels, incoming, registers } = self;
        rows.clear();
        operands.clear();
        blocks.clear();
        succs.clear();
        preds.clear();
        params.clear();
        args.clear();
        labels.clear();
        incoming.clear();
        *registers = 0;
    }

    fn is_last(&self, inst: Inst, returns: bool) -> bool {
        let row = &self.rows[inst.index()];
        let block = self.blocks.partition_point(|range| range.last().index() < inst.index());
        row.end && self.succs.list(block).is_empty() == returns
    }

    fn row(&mut self, before: u32, after: u32, end: bool) {
        let first = self.rows.last().map_or(0, |row| row.first + row.len);
        let len = self.operands.len() as u32 - first;
        self.rows.push(Row { before, after, first, len, end });
    }

    fn close_block(&mut self, first: usize) {
        self.blocks.push(InstRange::new(Inst::new(first), Inst::new(self.rows.len())));
    }

    /// Converts an interval of regalloc2's program points to the program points of this allocator. regalloc2
    /// also sees blocks that were added to split edges and do not exist here. Returns `None` for an interval
    /// in such a block.
    fn stay(&self, from: ProgPoint, to: ProgPoint) -> Option<(u32, u32)> {
        let is_own = |point: ProgPoint| point.inst().index() < self.rows.len();
        is_own(from).then(|| (self.point(from), if is_own(to) { self.point(to) } else { u32::MAX }))
    }

    /// Returns our program point for a point of regalloc2.
    fn point(&self, point: ProgPoint) -> u32 {
        let row = &self.rows[point.inst().index()];
        if point.pos() == regalloc2::InstPosition::Before { row.before } else { row.after }
    }
}

impl Budget {
    /// Runs regalloc2 so that at most `room` registers are in hardware registers at any program point.
    /// Registers marked in `fixed` must not be spilled. Returns false if regalloc2 finds no allocation.
    pub fn run(
        &mut self,
        func: &MachFunc,
        streams: &Streams,
        groups: &Groups,
        class: usize,
        fixed: &[bool],
        room: u32,
    ) -> bool {
        let stream = &streams.class[class];
        let kept = self.find_webs(stream, groups, streams.phys_base, fixed);
        let Some(room) = room.checked_sub(kept).filter(|room| (2..=3 * BANK).contains(room)) else {
            return false;
        };
        let banks = room.div_ceil(BANK);
        self.fill_banks(groups, streams.phys_base, banks);
        self.build(func, streams, class);
        let mut env = MachineEnv {
            preferred_regs_by_class: [PRegSet::empty(); 3],
            non_preferred_regs_by_class: [PRegSet::empty(); 3],
            scratch_by_class: [None; 3],
            fixed_stack_slots: Vec::new(),
        };
        for (i, class) in CLASSES.into_iter().enumerate() {
            let count = if (i as u32) < banks { (room + i as u32) / banks } else { 2 };
            for reg in 0..count as usize {
                env.preferred_regs_by_class[i].add(PReg::new(reg, class));
            }
            env.scratch_by_class[i] = Some(PReg::new(count as usize, class));
        }
        let options = RegallocOptions::default();
        if regalloc2::run_with_ctx(&self.view, &env, &options, &mut self.ctx).is_err() {
            return false;
        }
        self.read(streams.phys_base);
        self.leave_tables(func, streams);
        true
    }

    /// Returns whether a register is spilled at some point.
    pub fn is_spilled(&self, reg: u32) -> bool {
        self.is_spilled.get(reg as usize) == Some(&true)
    }

    /// Returns whether a register is in hardware at a point.
    pub fn resides(&self, reg: u32, point: u32) -> bool {
        if !self.is_spilled(reg) {
            return true;
        }
        let ranges = self.resides.list(reg as usize);
        let after = ranges.partition_point(|&(from, _)| from <= point);
        after > 0 && point < ranges[after - 1].1
    }

    /// Returns the program points at which a spilled register comes into a hardware register, where it then
    /// stays for an interval. Either an instruction writes the register at this point, or the register must
    /// be reloaded.
    pub fn arrivals(&self, reg: u32) -> impl Iterator<Item = u32> + '_ {
        let ranges = if self.is_spilled(reg) { self.resides.list(reg as usize) } else { &[] };
        ranges.iter().map(|&(from, _)| from)
    }

    /// Finds the webs, which are sets of registers that block parameters connect. Also finds the registers
    /// that are hidden from regalloc2, because they must not be spilled or are modified in place. Returns the
    /// largest number of hidden registers that are live at the same time.
    fn find_webs(&mut self, stream: &ClassStream, groups: &Groups, registers: u32, fixed: &[bool]) -> u32 {
        self.bank.clear();
        self.bank.resize(registers as usize, 0);
        for (reg, bank) in self.bank.iter_mut().enumerate() {
            if fixed.get(reg) == Some(&true) {
                *bank = NONE;
            }
        }
        // A register that is modified in place is not in SSA form.
        for op in stream.ops.iter().filter(|op| op.role == Role::DefUse) {
            for &reg in stream.regs_of(op).iter().filter(|&&reg| reg < registers) {
                self.bank[reg as usize] = NONE;
            }
        }
        self.web.clear();
        self.web.extend(0..registers);
        for event in stream.events.iter().filter(|event| event.kind == EventKind::Move) {
            for pair in stream.ops_of(event).chunks_exact(2) {
                let [a, b] = [&pair[0], &pair[1]].map(|op| stream.regs_of(op)[0]);
                let (a, b) = (self.root(a), self.root(b));
                self.web[a.max(b) as usize] = a.min(b);
            }
        }
        // If regalloc2 sees a block parameter, it must also see the parameter's arguments. Of the registers
        // of a web, regalloc2 therefore sees all or none.
        for reg in 0..registers {
            if self.bank[reg as usize] == NONE {
                let root = self.root(reg);
                self.bank[root as usize] = NONE;
            }
        }
        for reg in 0..registers {
            let root = self.root(reg);
            self.bank[reg as usize] = self.bank[root as usize];
        }
        let changes = &mut self.changes;
        changes.clear();
        for reg in (0..registers).filter(|&reg| self.bank[reg as usize] == NONE) {
            for &(from, to) in groups.range_of(reg) {
                changes.extend([(from, 1), (to, -1)]);
            }
        }
        changes.sort_unstable();
        let mut live = 0;
        changes.iter().fold(0, |most, &(_, change)| {
            live += change;
            most.max(live)
        }) as u32
    }

    fn root(&mut self, reg: u32) -> u32 {
        let mut root = reg;
        while self.web[root as usize] != root {
            let up = self.web[root as usize];
            self.web[root as usize] = self.web[up as usize];
            root = up;
        }
        root
    }

    /// Assigns each web (registers that block parameters connect) to a bank (a register class of regalloc2),
    /// so that the banks have similar numbers of live registers.
    fn fill_banks(&mut self, groups: &Groups, registers: u32, banks: u32) {
        let mut load = [0u64; 3];
        self.bank_of.clear();
        self.bank_of.resize(registers as usize, NONE);
        for reg in 0..registers {
            if self.bank[reg as usize] == NONE {
                continue;
            }
            let root = self.root(reg) as usize;
            if self.bank_of[root] == NONE {
                let least = (0..banks as usize).min_by_key(|&bank| load[bank]).unwrap_or(0);
                self.bank_of[root] = least as u8;
            }
            let bank = self.bank_of[root];
            self.bank[reg as usize] = bank;
            let range = groups.range_of(reg);
            load[usize::from(bank)] += range.iter().map(|&(from, to)| u64::from(to - from)).sum::<u64>();
        }
    }

    fn vreg(&self, reg: u32) -> Option<VReg> {
        let bank = *self.bank.get(reg as usize)?;
        (bank != NONE).then(|| VReg::new(reg as usize, CLASSES[usize::from(bank)]))
    }

    fn build(&mut self, func: &MachFunc, streams: &Streams, class: usize) {
        let mut view = std::mem::take(&mut self.view);
        view.clear();
        view.registers = streams.phys_base as usize;
        for (block, data) in func.blocks.iter() {
            let (start, end) = streams.block_pos[block.index()];
            let first = view.rows.len();
            view.row(start, start, false);
            self.events(&mut view, &streams.class[class], block);
            view.row(end - 2, end - 1, true);
            view.close_block(first);
            let own = params(data, class);
            view.params.push(self.visible(own, own));
            let targets = || edges(data, class).iter().flatten();
            let mut args = targets().map(|edge| (func.edge_args(edge), params(&func.blocks[edge.to], class)));
            for _ in 0..2 {
                let (args, params) = args.next().unwrap_or_default();
                view.args.push(self.visible(args, params));
            }
            view.succs.push(targets().map(|edge| Block::new(edge.to.index())));
        }
        split_critical_edges(&mut view);
        self.find_preds(&mut view);
        let all = (Inst::new(0), Inst::new(view.rows.len()));
        view.labels
            .extend((0..streams.phys_base).filter_map(|reg| Some((self.vreg(reg)?, all.0, all.1, reg))));
        self.view = view;
    }

    /// Returns those of `regs` that regalloc2 can pass along an edge. `regs` are the arguments of the edge
    /// and `partners` the parameters of its target, or the other way round. regalloc2 must see both registers
    /// of a pair.
    fn visible<'a>(
        &'a self,
        regs: &'a [isa::VReg],
        partners: &'a [isa::VReg],
    ) -> impl Iterator<Item = VReg> + 'a {
        let both = regs.iter().zip(partners);
        both.filter_map(|(reg, partner)| self.vreg(partner.as_u32()).and(self.vreg(reg.as_u32())))
    }

    fn find_preds(&mut self, view: &mut View) {
        self.edges.clear();
        for block in 0..view.blocks.len() {
            self.edges.extend(view.succs.list(block).iter().map(|&to| (to, Block::new(block))));
        }
        self.edges.sort_unstable();
        let mut rest = self.edges.as_slice();
        for block in 0..view.blocks.len() {
            let (own, others) = rest.split_at(rest.partition_point(|(to, _)| to.index() <= block));
            view.preds.push(own.iter().map(|&(_, from)| from));
            rest = others;
        }
    }

    fn events(&self, view: &mut View, stream: &ClassStream, block: MBlock) {
        for event in &stream.events[stream.events_of(block.index())] {
            if event.kind == EventKind::Move {
                continue;
            }
            for op in stream.ops_of(event) {
                for vreg in stream.regs_of(op).iter().filter_map(|&reg| self.vreg(reg)) {
                    view.operands.push(match op.role {
                        Role::Def => Operand::reg_def(vreg),
                        _ if op.held => Operand::reg_use_at_end(vreg),
                        _ => Operand::reg_use(vreg),
                    });
                }
            }
            view.row(event.pos, event.pos + 2, false);
        }
    }

    /// Removes intervals at jump tables from regalloc2's choice, because no reload can be placed between the
    /// jump and the targets of the table. Every register that is spilled anywhere is therefore in memory
    /// there.
    fn leave_tables(&mut self, func: &MachFunc, streams: &Streams) {
        let entries = func.blocks.iter().filter(|(_, data)| data.next_entry().is_some());
        let spans: Vec<(u32, u32)> = entries
            .map(|(block, data)| {
                let (start, end) = streams.block_pos[block.index()];
                (if data.insts.len() > 1 { end - 2 } else { start }, end)
            })
            .collect();
        if spans.is_empty() {
            return;
        }
        std::mem::swap(&mut self.all, &mut self.resides);
        self.resides.clear();
        for reg in 0..self.is_spilled.len() {
            self.resides.push(self.all.list(reg).iter().flat_map(|&range| without(range, &spans)));
        }
    }

    /// Reads from regalloc2's answer in which intervals each spilled register is in a hardware register.
    fn read(&mut self, registers: u32) {
        self.is_spilled.clear();
        self.is_spilled.resize(registers as usize, false);
        let locations = self.ctx.output.debug_locations.as_slice();
        let on_stack = locations.iter().filter(|(.., allocation)| allocation.is_stack());
        on_stack.for_each(|&(reg, ..)| self.is_spilled[reg as usize] = true);
        self.resides.clear();
        // The locations are sorted by register.
        let mut of_registers = locations.chunk_by(|a, b| a.0 == b.0).peekable();
        for reg in 0..registers {
            let own = of_registers.next_if(|own| own[0].0 == reg).unwrap_or_default();
            let own = if self.is_spilled[reg as usize] { own } else { &[] };
            let stays = own.iter().filter(|(.., allocation)| !allocation.is_stack());
            let stays = stays.filter_map(|&(_, from, to, _)| self.view.stay(from, to));
            self.resides.push([]);
            for (from, to) in stays {
                match self.resides.list_mut(reg as usize).last_mut() {
                    Some(last) if last.1 == from => last.1 = to,
                    _ => self.resides.grow((from, to)),
                }
            }
        }
    }
}

/// Returns the parts of an interval that are outside of all intervals in `spans`, which are in ascending
/// order.
fn without((mut from, to): (u32, u32), spans: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut parts = Vec::new();
    let first = spans.partition_point(|&(_, end)| end <= from);
    for &(start, end) in spans[first..].iter().take_while(|&&(start, _)| start < to) {
        if from < start {
            parts.push((from, start));
        }
        from = end;
    }
    if from < to {
        parts.push((from, to));
    }
    parts
}

/// Adds a block on every critical edge, because regalloc2 requires it. The added blocks come after all
/// others. What regalloc2 decides in them is ignored.
fn split_critical_edges(view: &mut View) {
    let count = view.blocks.len();
    view.incoming.resize(count, 0);
    view.incoming[0] = 1;
    view.succs.all().iter().for_each(|to| view.incoming[to.index()] += 1);
    for block in 0..count {
        for i in 0..view.succs.list(block).len() {
            let to = view.succs.list(block)[i];
            if view.succs.list(block).len() > 1 && view.incoming[to.index()] > 1 {
                let first = view.rows.len();
                view.row(u32::MAX, u32::MAX, true);
                view.close_block(first);
                view.succs.list_mut(block)[i] = Block::new(view.blocks.len() - 1);
                view.succs.push([to]);
                view.params.push([]);
                view.args.push([]);
                view.args.push([]);
            }
        }
    }
}
