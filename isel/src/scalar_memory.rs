//! Groups the scalar loads of a block that have the same base address. One wide load, or a few, then do the
//! work of all loads of a group.

use crate::class::Home;
use crate::lower::Lower;
use crate::roles::Role;
use ir::{Inst, Op, Order, Value};
use isa::{AbiInput, MemId, ModFlags, Operand, VReg};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

impl Lower<'_> {
    /// Finds the groups of scalar loads that are done together. All loads of kernel arguments in the function
    /// are one group. Other loads form a group if they are in the same block and have the same base.
    pub fn plan_loads(&mut self) {
        self.s.groups.clear();
        let func = self.func;
        let an = self.an;
        let mut known: FxHashMap<Value, usize> = FxHashMap::default();
        let mut kernarg_group = None;
        for &block in an.cfg.rpo() {
            for &inst in func.blocks[block].insts() {
                let Op::Load { mem, .. } = func.insts[inst].op else { continue };
                if self.home(func.insts[inst].first) != Home::Sgpr {
                    continue;
                }
                let (base, offset) = self.strip_offsets(func.args(inst)[0], mem.offset);
                let kernarg = func.def_op(base) == Some(Op::Pos(ir::Pos::KernargPtr));
                self.s.merged[inst.as_u32() as usize] |= kernarg;
                let groups = &mut self.s.groups;
                let group = if kernarg { kernarg_group } else { known.get(&base).copied() };
                let index = group.unwrap_or(groups.len());
                match group {
                    Some(n) => {
                        groups[n].members.push((offset, inst));
                        self.s.merged[inst.as_u32() as usize] = true;
                    }
                    None => {
                        let leader = (!kernarg).then_some(inst);
                        groups.push(LoadGroup {
                            base,
                            leader,
                            members: SmallVec::from_slice(&[(offset, inst)]),
                        });
                    }
                }
                if kernarg {
                    kernarg_group = Some(index);
                } else {
                    known.insert(base, index);
                }
            }
            known.clear();
        }
        self.s.leaders.clear();
        let leaders = self.s.groups.iter().enumerate();
        self.s.leaders.extend(leaders.filter_map(|(n, group)| group.leader.map(|inst| (inst, n as u32))));
        self.s.leaders.sort_unstable();
    }

    /// Emits the loads of all kernel arguments that the function uses, at the beginning of the entry block.
    pub fn kernarg_loads(&mut self) {
        if let Some(n) = self.s.groups.iter().position(|group| group.leader.is_none()) {
            self.group_loads(n);
        }
    }

    /// Emits the loads of the group whose leader is `inst`.
    pub fn scalar_loads(&mut self, inst: Inst) {
        if let Ok(n) = self.s.leaders.binary_search_by_key(&inst, |&(leader, _)| leader) {
            self.group_loads(self.s.leaders[n].1 as usize);
        }
    }

    /// Loads those dwords of group number `n` that are used, in as few instructions as the gaps between the
    /// dwords allow. A load of several dwords begins at a multiple of 8 bytes, so that 64-bit values get
    /// aligned register pairs.
    fn group_loads(&mut self, n: usize) {
        let mut dwords: SmallVec<[Dword; 16]> = SmallVec::new();
        let base = self.s.groups[n].base;
        let mut mem = None;
        // Where 64-bit arguments begin at odd dwords, because words precede the arguments.
        let origin = match self.s.groups[n].leader {
            None => i64::from(self.target.system().arguments_begin),
            Some(_) => 0,
        };
        for m in 0..self.s.groups[n].members.len() {
            let (mut offset, member) = self.s.groups[n].members[m];
            mem = mem.or(self.func.insts[member].op.mem().copied());
            for result in self.func.results_of(member) {
                if self.is_wanted(result) {
                    let regs = self.sgpr_of(result);
                    let apart = self.wants_descriptor(result);
                    for (k, &reg) in self.regs(regs).iter().enumerate() {
                        dwords.push(Dword { offset: offset + 4 * k as i64, reg, apart });
                    }
                }
                offset += 4 * i64::from(self.ty(result).dwords());
            }
        }
        let Some(mem) = mem.filter(|_| !dwords.is_empty()) else { return };
        dwords.sort_unstable_by_key(|dword| dword.offset);
        let id = self.mem_id(&mem, Order::NotAtomic);
        let mut at = 0;
        let mut copies: SmallVec<[(VReg, VReg); 4]> = SmallVec::new();
        dwords.dedup_by(|b, a| {
            let same = a.offset == b.offset;
            if same {
                copies.push((b.reg, a.reg));
            }
            same
        });
        if self.s.groups[n].leader.is_none() {
            self.user_data(&mut dwords);
        }
        while at < dwords.len() {
            let run = together(&dwords[at..]);
            let take = if (dwords[at].offset - origin) % 8 != 0 { 1 } else { 1 << run.ilog2().min(4) };
            self.scalar_load(base, &dwords[at..at + take], id);
            at += take;
        }
        for (to, from) in copies {
            let (to, from) = (self.out.tuple(&[to]), self.out.tuple(&[from]));
            self.copy(to, from);
        }
        for m in 0..self.s.groups[n].members.len() {
            let member = self.s.groups[n].members[m].1;
            // The first load of the group (its leader) is skipped here. The code that lowers this load
            // completes the buffer descriptors of its results anyway.
            if self.s.groups[n].leader != Some(member) {
                self.func.results_of(member).for_each(|result| self.finish_descriptor(result));
            }
        }
    }

    /// Copies the dwords of kernel arguments that the runtime puts into user SGPRs. Only the dwords that have to
    /// be loaded remain in the list.
    fn user_data(&mut self, dwords: &mut SmallVec<[Dword; 16]>) {
        dwords.retain(|&mut Dword { offset, reg, .. }| {
            let number = u8::try_from(offset / 4).unwrap_or(u8::MAX);
            let input = AbiInput::UserData(number);
            // The descriptor of scratch memory takes the place of the first dwords in a kernel with a stack.
            let is_overwritten = self.has_stack && number < 2;
            let is_in_register = offset % 4 == 0 && self.target.system().provides(input) && !is_overwritten;
            if is_in_register {
                let (to, from) = (self.out.tuple(&[reg]), self.abi_input(input));
                self.copy(to, from);
            }
            !is_in_register
        });
    }

    fn scalar_load(&mut self, base: Value, dwords: &[Dword], id: MemId) {
        let role = match dwords.len() {
            1 => Role::ScalarLoadB32,
            2 => Role::ScalarLoadB64,
            4 => Role::ScalarLoadB128,
            8 => Role::ScalarLoadB256,
            _ => Role::ScalarLoadB512,
        };
        let regs: SmallVec<[VReg; 16]> = dwords.iter().map(|dword| dword.reg).collect();
        let dst = self.out.tuple(&regs);
        let offset = dwords[0].offset;
        if let Some((base, index)) = self.uniform_index(base).filter(|_| offset == 0) {
            return self.push_mem(role, &[dst, base, index], 0, ModFlags::empty(), id);
        }
        let mut pointer = self.sgpr(base);
        let field = self.target.addressing.scalar_field(offset);
        if field.is_none() {
            let sum = self.stemp(2);
            let parts = [Operand::int(offset as i32), Operand::int((offset >> 32) as i32)];
            let halves = [self.dword(pointer, 0), self.dword(pointer, 1)];
            self.scalar_add64(sum, halves, parts);
            pointer = sum;
        }
        let operands = [dst, pointer, Operand::Imm(field.unwrap_or(0))];
        self.push_mem(role, &operands, 0, ModFlags::empty(), id);
    }

    /// If a uniform pointer is the sum of a 64-bit base and an unsigned 32-bit offset, returns the two in
    /// SGPRs. A scalar load then adds them itself.
    fn uniform_index(&mut self, pointer: Value) -> Option<(Operand, Operand)> {
        let mut offset = 0;
        let (base, index) = self.uniform_plus_index(pointer, &mut offset)?;
        if offset != 0 || self.home(index) != Home::Sgpr {
            return None;
        }
        let (base, index) = (self.sgpr(base), self.sgpr(index));
        Some((base, self.dword(index, 0)))
    }
}

/// A dword that a group loads.
#[derive(Clone, Copy, Debug)]
struct Dword {
    offset: i64,
    reg: VReg,
    /// Whether the dword belongs to a pointer whose registers become the first half of a buffer descriptor.
    /// The registers after this pair are the rest of the descriptor, so the next dword in memory cannot be
    /// loaded into them.
    apart: bool,
}

/// Returns how many of the dwords one load can provide, beginning with the first one. They must be contiguous
/// in memory, and it must be possible to put them in consecutive registers.
fn together(dwords: &[Dword]) -> usize {
    let first = dwords[0];
    let most = if first.apart { 2 } else { dwords.len() };
    let follows = |(n, dword): (usize, &Dword)| {
        dword.apart == first.apart && dword.offset == first.offset + 4 * n as i64
    };
    dwords.iter().take(most).enumerate().take_while(|&part| follows(part)).count()
}

/// Scalar loads of one block from the same base.
#[derive(Debug)]
pub(crate) struct LoadGroup {
    pub base: Value,
    /// The first load of the group in its block; the loads of the whole group are emitted there. `None` for
    /// the group of the kernel arguments, which are loaded at the beginning of the entry block.
    pub leader: Option<Inst>,
    /// Loads with their offsets from the base.
    pub members: SmallVec<[(i64, Inst); 4]>,
}
