//! Loads and stores.

use crate::class::Home;
use crate::lower::Lower;
use ir::{Inst, Mem, MemFlags, MemTy, Op, Order, Scope, Space, Spaces, Value};
use isa::abi::AbiInput;
use isa::func::{SPACE_GLOBAL, SPACE_PRIVATE, SPACE_SHARED, SpaceSet};
use isa::{MachInst, MemId, MemRef, ModFlags, Opcode, Operand, SyncOrder, SyncScope, VReg, op};
use rustc_hash::FxHashMap;

/// Opcodes by address space: global, flat, buffer.
#[derive(Clone, Copy)]
struct Row {
    ty: MemTy,
    dwords: u8,
    ops: [Opcode; 3],
}

macro_rules! row {
    ($ty:ident $dwords:literal $global:ident $flat:ident $buffer:ident) => {
        Row { ty: MemTy::$ty, dwords: $dwords, ops: [op::$global, op::$flat, op::$buffer] }
    };
}

const LOADS: &[Row] = &[
    row!(U8 1 GLOBAL_LOAD_UBYTE FLAT_LOAD_UBYTE BUFFER_LOAD_UBYTE),
    row!(S8 1 GLOBAL_LOAD_SBYTE FLAT_LOAD_SBYTE BUFFER_LOAD_SBYTE),
    row!(U16 1 GLOBAL_LOAD_USHORT FLAT_LOAD_USHORT BUFFER_LOAD_USHORT),
    row!(S16 1 GLOBAL_LOAD_SSHORT FLAT_LOAD_SSHORT BUFFER_LOAD_SSHORT),
    row!(B32 1 GLOBAL_LOAD_DWORD FLAT_LOAD_DWORD BUFFER_LOAD_DWORD),
    row!(B32 2 GLOBAL_LOAD_DWORDX2 FLAT_LOAD_DWORDX2 BUFFER_LOAD_DWORDX2),
    row!(B32 3 GLOBAL_LOAD_DWORDX3 FLAT_LOAD_DWORDX3 BUFFER_LOAD_DWORDX3),
    row!(B32 4 GLOBAL_LOAD_DWORDX4 FLAT_LOAD_DWORDX4 BUFFER_LOAD_DWORDX4),
];

const STORES: &[Row] = &[
    row!(U8 1 GLOBAL_STORE_BYTE FLAT_STORE_BYTE BUFFER_STORE_BYTE),
    row!(S8 1 GLOBAL_STORE_BYTE FLAT_STORE_BYTE BUFFER_STORE_BYTE),
    row!(U16 1 GLOBAL_STORE_SHORT FLAT_STORE_SHORT BUFFER_STORE_SHORT),
    row!(S16 1 GLOBAL_STORE_SHORT FLAT_STORE_SHORT BUFFER_STORE_SHORT),
    row!(B32 1 GLOBAL_STORE_DWORD FLAT_STORE_DWORD BUFFER_STORE_DWORD),
    row!(B32 2 GLOBAL_STORE_DWORDX2 FLAT_STORE_DWORDX2 BUFFER_STORE_DWORDX2),
    row!(B32 3 GLOBAL_STORE_DWORDX3 FLAT_STORE_DWORDX3 BUFFER_STORE_DWORDX3),
    row!(B32 4 GLOBAL_STORE_DWORDX4 FLAT_STORE_DWORDX4 BUFFER_STORE_DWORDX4),
];

/// LDS opcodes of elements below a dword.
const DS_SMALL: &[(MemTy, Opcode, Opcode)] = &[
    (MemTy::U8, op::DS_READ_U8, op::DS_WRITE_B8),
    (MemTy::S8, op::DS_READ_I8, op::DS_WRITE_B8),
    (MemTy::U16, op::DS_READ_U16, op::DS_WRITE_B16),
    (MemTy::S16, op::DS_READ_I16, op::DS_WRITE_B16),
];

/// How LDS is accessed in one instruction: alignment needed, dwords, opcodes, and for two-offset forms the
/// size of an element.
struct DsRow {
    align: u8,
    dwords: u8,
    load: Opcode,
    store: Opcode,
    unit: i64,
}

/// Best first.
const DS: &[DsRow] = &[
    DsRow { align: 16, dwords: 4, load: op::DS_READ_B128, store: op::DS_WRITE_B128, unit: 0 },
    DsRow { align: 8, dwords: 4, load: op::DS_READ2_B64, store: op::DS_WRITE2_B64, unit: 8 },
    DsRow { align: 16, dwords: 3, load: op::DS_READ_B96, store: op::DS_WRITE_B96, unit: 0 },
    DsRow { align: 8, dwords: 2, load: op::DS_READ_B64, store: op::DS_WRITE_B64, unit: 0 },
    DsRow { align: 4, dwords: 2, load: op::DS_READ2_B32, store: op::DS_WRITE2_B32, unit: 4 },
    DsRow { align: 1, dwords: 1, load: op::DS_READ_B32, store: op::DS_WRITE_B32, unit: 0 },
];

/// A piece of an access that is one instruction: first dword (or element), number.
type Piece = (u8, u8);

/// Attributes for the memory model.
pub(crate) fn spaces_of(space: Space) -> SpaceSet {
    match space {
        Space::Generic => SPACE_GLOBAL | SPACE_SHARED | SPACE_PRIVATE,
        Space::Global | Space::Constant => SPACE_GLOBAL,
        Space::Shared => SPACE_SHARED,
        Space::Private => SPACE_PRIVATE,
        Space::Region => 0,
    }
}

pub(crate) fn sync_order(order: Order) -> SyncOrder {
    match order {
        Order::NotAtomic => SyncOrder::NotAtomic,
        Order::Unordered => SyncOrder::Unordered,
        Order::Relaxed => SyncOrder::Relaxed,
        Order::Acquire => SyncOrder::Acquire,
        Order::Release => SyncOrder::Release,
        Order::AcqRel => SyncOrder::AcqRel,
        Order::SeqCst => SyncOrder::SeqCst,
    }
}

pub(crate) fn sync_scope(scope: Scope) -> SyncScope {
    match scope {
        Scope::SingleThread => SyncScope::SingleThread,
        Scope::Wavefront => SyncScope::Wavefront,
        Scope::Workgroup => SyncScope::Workgroup,
        Scope::Agent => SyncScope::Agent,
        Scope::System => SyncScope::System,
    }
}

impl Lower<'_> {
    /// Registers the attributes of an access.
    pub fn mem_id(&mut self, mem: &Mem, fail: Order) -> MemId {
        self.out.mem_ref(MemRef {
            order: sync_order(mem.order),
            fail: sync_order(fail),
            scope: sync_scope(mem.scope),
            spaces: spaces_of(mem.space),
            one_as: mem.flags.contains(MemFlags::ONE_AS),
            volatile: mem.flags.contains(MemFlags::VOLATILE),
            nontemporal: mem.flags.contains(MemFlags::NONTEMPORAL),
            alias: mem.alias,
        })
    }

    fn push_mem(&mut self, op: Opcode, operands: &[Operand], offset: i32, flags: ModFlags, mem: MemId) {
        let mut inst = MachInst::new(op, operands);
        inst.mods.offset = offset;
        inst.mods.flags = flags;
        inst.mem = mem;
        self.push(inst);
    }

    /// A load.
    pub fn load(&mut self, inst: Inst, mem: Mem) {
        let pointer = self.func.args(inst)[0];
        if self.home(self.func.insts[inst].first) == Home::Sgpr {
            return self.scalar_loads(inst);
        }
        let mut parts = Vec::with_capacity(4);
        for result in self.func.results_of(inst) {
            let regs = self.vgpr_of(result);
            parts.push(regs);
        }
        let whole = if parts.len() == 1 { parts[0] } else { self.concat(&parts) };
        let id = self.mem_id(&mem, Order::NotAtomic);
        let pieces = self.pieces(&mem, self.regs(whole).len() as u8);
        for (first, len) in pieces {
            let dst = self.dwords(whole, first, len);
            let step = if mem.ty.bytes() < 4 { mem.ty.bytes() } else { 4 };
            self.load_piece(&mem, pointer, mem.offset + (u32::from(first) * step) as i32, dst, len, id);
        }
    }

    /// Splits an access into instructions.
    fn pieces(&self, mem: &Mem, count: u8) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < count {
            let left = count - at;
            let len = if mem.ty.bytes() < 4 {
                1
            } else if mem.space == Space::Shared {
                let align = if at == 0 { mem.align } else { offset_align(mem.align, u32::from(at) * 4) };
                DS.iter().find(|row| align >= row.align && row.dwords <= left).map_or(1, |row| row.dwords)
            } else {
                left.min(4)
            };
            pieces.push((at, len));
            at += len;
        }
        pieces
    }

    fn load_piece(&mut self, mem: &Mem, pointer: Value, offset: i32, dst: Operand, len: u8, id: MemId) {
        match mem.space {
            Space::Shared => self.lds_load(mem, pointer, offset, dst, len, id),
            Space::Private => {
                let op = self.opcode(LOADS, mem, len, 2);
                self.buffer_access(op, dst, pointer, offset, id);
            }
            Space::Region => self.unsupported("global data share"),
            _ => {
                let flat = mem.space == Space::Generic;
                let op = self.opcode(LOADS, mem, len, usize::from(flat));
                let at = if flat {
                    self.flat_address(pointer, offset)
                } else {
                    self.global_address(pointer, offset)
                };
                let all = [dst, at.vaddr, at.saddr];
                let operands = if flat { &all[..2] } else { &all[..] };
                self.push_mem(op, operands, at.offset, ModFlags::empty(), id);
            }
        }
    }

    fn opcode(&self, rows: &[Row], mem: &Mem, len: u8, which: usize) -> Opcode {
        let ty = if mem.ty.bytes() >= 4 { MemTy::B32 } else { mem.ty };
        rows.iter().find(|row| row.ty == ty && row.dwords == len).map_or(op::UNDEF, |row| row.ops[which])
    }

    fn lds_load(&mut self, mem: &Mem, pointer: Value, offset: i32, dst: Operand, len: u8, id: MemId) {
        if let Some(&(_, load, _)) = DS_SMALL.iter().find(|(ty, ..)| *ty == mem.ty) {
            let (addr, field) = self.lds_address(pointer, offset, 0, 0);
            return self.push_mem(load, &[dst, addr], field as i32, ModFlags::empty(), id);
        }
        let row = self.ds_row(mem, offset, len);
        let (addr, field) = self.lds_address(pointer, offset, row.unit, 1);
        self.push_mem(row.load, &[dst, addr], row.field(field), ModFlags::empty(), id);
    }

    fn ds_row(&self, mem: &Mem, offset: i32, len: u8) -> &'static DsRow {
        let align = offset_align(mem.align, offset.wrapping_sub(mem.offset) as u32);
        DS.iter().find(|row| row.dwords == len && align >= row.align).unwrap_or(&DS[DS.len() - 1])
    }

    fn buffer_access(&mut self, op: Opcode, data: Operand, pointer: Value, offset: i32, id: MemId) {
        let (vaddr, field) = self.scratch_address(pointer, offset);
        let flags = if vaddr.is_some() { ModFlags::OFFEN } else { ModFlags::empty() };
        let rsrc = self.abi_input(AbiInput::PrivateSegmentBuffer);
        let wave = self.abi_input(AbiInput::PrivateSegmentWaveOffset);
        self.push_mem(op, &[data, vaddr.unwrap_or(Operand::None), rsrc, wave], field, flags, id);
    }

    /// A store.
    pub fn store(&mut self, inst: Inst, mem: Mem) {
        let args = self.func.args(inst);
        let pointer = args[0];
        let mut parts = Vec::with_capacity(4);
        for &value in &args[1..] {
            let regs = self.vgpr(value);
            parts.push(regs);
        }
        let whole = if parts.len() == 1 { parts[0] } else { self.concat(&parts) };
        let id = self.mem_id(&mem, Order::NotAtomic);
        let pieces = self.pieces(&mem, self.regs(whole).len() as u8);
        for (first, len) in pieces {
            let data = self.dwords(whole, first, len);
            let step = if mem.ty.bytes() < 4 { mem.ty.bytes() } else { 4 };
            self.store_piece(&mem, pointer, mem.offset + (u32::from(first) * step) as i32, data, len, id);
        }
    }

    fn store_piece(&mut self, mem: &Mem, pointer: Value, offset: i32, data: Operand, len: u8, id: MemId) {
        match mem.space {
            Space::Shared => self.lds_store(mem, pointer, offset, data, len, id),
            Space::Private => {
                let op = self.opcode(STORES, mem, len, 2);
                self.buffer_access(op, data, pointer, offset, id);
            }
            Space::Region => self.unsupported("global data share"),
            Space::Constant => self.unsupported("a store to constant memory"),
            _ => {
                let flat = mem.space == Space::Generic;
                let op = self.opcode(STORES, mem, len, usize::from(flat));
                let at = if flat {
                    self.flat_address(pointer, offset)
                } else {
                    self.global_address(pointer, offset)
                };
                let all = [at.vaddr, data, at.saddr];
                let operands = if flat { &all[..2] } else { &all[..] };
                self.push_mem(op, operands, at.offset, ModFlags::empty(), id);
            }
        }
    }

    fn lds_store(&mut self, mem: &Mem, pointer: Value, offset: i32, data: Operand, len: u8, id: MemId) {
        if let Some(&(.., store)) = DS_SMALL.iter().find(|(ty, ..)| *ty == mem.ty) {
            let (addr, field) = self.lds_address(pointer, offset, 0, 0);
            return self.push_mem(store, &[addr, data], field as i32, ModFlags::empty(), id);
        }
        let row = self.ds_row(mem, offset, len);
        let (addr, field) = self.lds_address(pointer, offset, row.unit, 1);
        if row.unit == 0 {
            return self.push_mem(row.store, &[addr, data], row.field(field), ModFlags::empty(), id);
        }
        // Two data operands.
        let half = len / 2;
        let parts = [self.dwords(data, 0, half), self.dwords(data, half, half)];
        self.push_mem(row.store, &[addr, parts[0], parts[1]], row.field(field), ModFlags::empty(), id);
    }

    /// A fence.
    pub fn fence(&mut self, order: Order, scope: Scope, spaces: Spaces) {
        let mut set = 0;
        for (flag, bit) in
            [(Spaces::GLOBAL, SPACE_GLOBAL), (Spaces::SHARED, SPACE_SHARED), (Spaces::PRIVATE, SPACE_PRIVATE)]
        {
            if spaces.contains(flag) {
                set |= bit;
            }
        }
        let mem = MemRef {
            order: sync_order(order),
            scope: sync_scope(scope),
            spaces: set,
            one_as: spaces != Spaces::ALL,
            ..MemRef::default()
        };
        let id = self.out.mem_ref(mem);
        self.push_mem(op::FENCE, &[], 0, ModFlags::empty(), id);
    }

    /// A barrier, between a release and an acquire fence of the work-group if it orders memory.
    pub fn barrier(&mut self, fence: bool) {
        if fence {
            self.fence(Order::Release, Scope::Workgroup, Spaces::ALL);
        }
        self.push(MachInst::new(op::S_BARRIER, &[]));
        if fence {
            self.fence(Order::Acquire, Scope::Workgroup, Spaces::ALL);
        }
    }
}

impl DsRow {
    /// The offset field: bytes, or two element numbers.
    fn field(&self, bytes: i64) -> i32 {
        if self.unit == 0 {
            return bytes as i32;
        }
        let first = bytes / self.unit;
        (first | (first + 1) << 8) as i32
    }
}

/// Alignment of an address `distance` bytes behind one of alignment `align`.
fn offset_align(align: u8, distance: u32) -> u8 {
    if distance == 0 { align } else { align.min(1 << distance.trailing_zeros().min(4)) }
}

/// Scalar loads of a block from one base, in one or a few instructions.
impl Lower<'_> {
    /// Finds scalar loads that can be made together: of kernel arguments anywhere, of others in the same block
    /// from the same base.
    pub fn plan_loads(&mut self) {
        self.s.groups.clear();
        let func = self.func;
        let an = self.an;
        let mut known: FxHashMap<Value, usize> = FxHashMap::default();
        let mut kernarg_group = None;
        for &block in an.cfg.rpo() {
            for &inst in &func.blocks[block].insts {
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
                        groups.push(LoadGroup { base, leader, members: vec![(offset, inst)] });
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

    /// Loads of kernel arguments, for the beginning of the entry.
    pub fn kernarg_loads(&mut self) {
        if let Some(n) = self.s.groups.iter().position(|group| group.leader.is_none()) {
            self.group_loads(n);
        }
    }

    /// The loads of the group that `inst` leads.
    fn scalar_loads(&mut self, inst: Inst) {
        if let Ok(n) = self.s.leaders.binary_search_by_key(&inst, |&(leader, _)| leader) {
            self.group_loads(self.s.leaders[n].1 as usize);
        }
    }

    /// Loads what is used of a group, in as few instructions as its gaps allow. A run of several dwords begins
    /// at a multiple of 8 bytes, so that 64-bit values get aligned pairs.
    fn group_loads(&mut self, n: usize) {
        let mut dwords: Vec<(i64, VReg)> = Vec::new();
        let base = self.s.groups[n].base;
        let mut mem = None;
        for m in 0..self.s.groups[n].members.len() {
            let (mut offset, member) = self.s.groups[n].members[m];
            mem = mem.or(self.func.insts[member].op.mem().copied());
            for result in self.func.results_of(member) {
                if self.wanted(result) {
                    let regs = self.sgpr_of(result);
                    for (k, &reg) in self.regs(regs).iter().enumerate() {
                        dwords.push((offset + 4 * k as i64, reg));
                    }
                }
                offset += 4 * i64::from(self.ty(result).dwords());
            }
        }
        let Some(mem) = mem.filter(|_| !dwords.is_empty()) else { return };
        dwords.sort_by_key(|&(offset, _)| offset);
        let id = self.mem_id(&mem, Order::NotAtomic);
        let mut at = 0;
        let mut copies: Vec<(VReg, VReg)> = Vec::new();
        dwords.dedup_by(|b, a| {
            let same = a.0 == b.0;
            if same {
                copies.push((b.1, a.1));
            }
            same
        });
        while at < dwords.len() {
            let mut run = 1;
            while at + run < dwords.len() && dwords[at + run].0 == dwords[at].0 + 4 * run as i64 {
                run += 1;
            }
            let take = if dwords[at].0 % 8 != 0 { 1 } else { 1 << run.ilog2().min(4) };
            self.scalar_load(base, &dwords[at..at + take], id);
            at += take;
        }
        for (to, from) in copies {
            let (to, from) = (self.out.tuple(&[to]), self.out.tuple(&[from]));
            self.copy(to, from);
        }
    }

    fn scalar_load(&mut self, base: Value, dwords: &[(i64, VReg)], id: MemId) {
        let op = match dwords.len() {
            1 => op::S_LOAD_DWORD,
            2 => op::S_LOAD_DWORDX2,
            4 => op::S_LOAD_DWORDX4,
            8 => op::S_LOAD_DWORDX8,
            _ => op::S_LOAD_DWORDX16,
        };
        let regs: Vec<VReg> = dwords.iter().map(|&(_, reg)| reg).collect();
        let dst = self.out.tuple(&regs);
        let mut pointer = self.sgpr(base);
        let mut offset = dwords[0].0;
        // 21 bits, signed; negative ones are best avoided (they were unsigned before GFX9).
        if !(0..1 << 20).contains(&offset) {
            let sum = self.stemp(2);
            let parts = [Operand::int(offset as i32), Operand::int((offset >> 32) as i32)];
            let halves = [self.dword(pointer, 0), self.dword(pointer, 1)];
            self.scalar_add64(sum, halves, parts);
            pointer = sum;
            offset = 0;
        }
        self.push_mem(op, &[dst, pointer, Operand::Imm(offset as i32)], 0, ModFlags::empty(), id);
    }
}

/// Scalar loads of one block from one base.
#[derive(Debug)]
pub(crate) struct LoadGroup {
    pub base: Value,
    /// The first of them, where all are made; the loads of kernel arguments have none, they are made at the
    /// beginning of the entry.
    pub leader: Option<Inst>,
    /// Offsets from the base.
    pub members: Vec<(i64, Inst)>,
}
