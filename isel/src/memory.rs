//! Loads, stores, fences and barriers.

use crate::address::Address;
use crate::class::Home;
use crate::lower::Lower;
use crate::roles::Role;
use ir::{Inst, Mem, MemFlags, MemTy, Order, Scope, Space, Spaces, Value};
use isa::table::{self, Kind, OpSpec};
use isa::{MachInst, MemId, ModFlags, Operand, PrivateAccess, op};
use mir::{MemRef, SPACE_GLOBAL, SPACE_PRIVATE, SPACE_SHARED, SpaceSet, SyncOrder, SyncScope};
use smallvec::SmallVec;

/// The roles of the loads and stores of one type. Each array has three roles: for device memory, for memory
/// behind a generic pointer, and for private memory.
struct Row {
    ty: MemTy,
    dwords: u8,
    load: [Role; 3],
    store: [Role; 3],
}

macro_rules! rows {
    ($($ty:ident $dwords:literal [$($load:ident)+] [$($store:ident)+];)*) => {
        &[$(Row { ty: MemTy::$ty, dwords: $dwords, load: [$(Role::$load),+], store: [$(Role::$store),+] }),*]
    };
}

const ROWS: &[Row] = rows! {
    U8 1 [GlobalLoadU8 FlatLoadU8 ScratchLoadU8] [GlobalStoreB8 FlatStoreB8 ScratchStoreB8];
    S8 1 [GlobalLoadS8 FlatLoadS8 ScratchLoadS8] [GlobalStoreB8 FlatStoreB8 ScratchStoreB8];
    U16 1 [GlobalLoadU16 FlatLoadU16 ScratchLoadU16] [GlobalStoreB16 FlatStoreB16 ScratchStoreB16];
    S16 1 [GlobalLoadS16 FlatLoadS16 ScratchLoadS16] [GlobalStoreB16 FlatStoreB16 ScratchStoreB16];
    B32 1 [GlobalLoadB32 FlatLoadB32 ScratchLoadB32] [GlobalStoreB32 FlatStoreB32 ScratchStoreB32];
    B32 2 [GlobalLoadB64 FlatLoadB64 ScratchLoadB64] [GlobalStoreB64 FlatStoreB64 ScratchStoreB64];
    B32 3 [GlobalLoadB96 FlatLoadB96 ScratchLoadB96] [GlobalStoreB96 FlatStoreB96 ScratchStoreB96];
    B32 4 [GlobalLoadB128 FlatLoadB128 ScratchLoadB128] [GlobalStoreB128 FlatStoreB128 ScratchStoreB128];
};

/// Column indices of [`ROWS`].
const DEVICE: usize = 0;
const GENERIC: usize = 1;
const PRIVATE: usize = 2;

/// Roles for LDS accesses to elements smaller than a dword.
const DS_SMALL: &[(MemTy, Role, Role)] = &[
    (MemTy::U8, Role::LdsReadU8, Role::LdsWriteB8),
    (MemTy::S8, Role::LdsReadS8, Role::LdsWriteB8),
    (MemTy::U16, Role::LdsReadU16, Role::LdsWriteB16),
    (MemTy::S16, Role::LdsReadS16, Role::LdsWriteB16),
];

/// The instructions that do one kind of LDS access: the role of the load, the role of the store, the number
/// of dwords that they access, and the alignment of the address that they require. `unit` is the element size
/// of an instruction with two offsets (`ds_read2_b32`), and 0 for other instructions.
struct DsRow {
    align: u8,
    dwords: u8,
    load: Role,
    store: Role,
    unit: i64,
}

/// Instructions for LDS accesses, best first.
const DS: &[DsRow] = &[
    DsRow { align: 16, dwords: 4, load: Role::LdsReadB128, store: Role::LdsWriteB128, unit: 0 },
    DsRow { align: 8, dwords: 4, load: Role::LdsRead2B64, store: Role::LdsWrite2B64, unit: 8 },
    DsRow { align: 16, dwords: 3, load: Role::LdsReadB96, store: Role::LdsWriteB96, unit: 0 },
    DsRow { align: 8, dwords: 2, load: Role::LdsReadB64, store: Role::LdsWriteB64, unit: 0 },
    DsRow { align: 4, dwords: 2, load: Role::LdsRead2B32, store: Role::LdsWrite2B32, unit: 4 },
    DsRow { align: 1, dwords: 1, load: Role::LdsReadB32, store: Role::LdsWriteB32, unit: 0 },
];

/// A load or store.
struct Access {
    mem: Mem,
    pointer: Value,
    store: bool,
}

/// Returns the address spaces that an access may touch, for the memory model.
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
    /// Registers the memory attributes of an access.
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

    /// Appends a memory access.
    pub fn push_mem(&mut self, role: Role, operands: &[Operand], offset: i64, flags: ModFlags, mem: MemId) {
        let mut inst = self.instruction(role, operands);
        inst.mods.offset = offset as i32;
        inst.mods.flags = flags;
        inst.mem = mem;
        self.push(inst);
    }

    /// Lowers a load.
    pub fn load(&mut self, inst: Inst, mem: Mem) {
        let pointer = self.func.args(inst)[0];
        if self.home(self.func.insts[inst].first) == Home::Sgpr {
            return self.scalar_loads(inst);
        }
        let results = self.func.results_of(inst);
        let parts: SmallVec<[Operand; 4]> = results.map(|result| self.vgpr_of(result)).collect();
        self.access(Access { mem, pointer, store: false }, &parts);
    }

    /// Lowers a store.
    pub fn store(&mut self, inst: Inst, mem: Mem) {
        let args = self.func.args(inst);
        let parts: SmallVec<[Operand; 4]> = args[1..].iter().map(|&value| self.vgpr(value)).collect();
        self.access(Access { mem, pointer: args[0], store: true }, &parts);
    }

    /// Emits a load or store of the registers `parts` by as few instructions as possible. The alignment and
    /// the processor limit the width of each instruction.
    fn access(&mut self, access: Access, parts: &[Operand]) {
        let mem = &access.mem;
        if u32::from(mem.align) < mem.ty.bytes().min(4)
            && mem.space != Space::Shared
            && !self.target.addressing.unaligned
        {
            return self.unsupported(
                "an access to memory at an address that may not be a multiple of the element's size",
            );
        }
        let whole = if let [only] = parts { *only } else { self.concat(parts) };
        let id = self.mem_id(mem, Order::NotAtomic);
        let count = self.regs(whole).len() as u8;
        let step = mem.ty.bytes().min(4);
        let mut at = 0;
        while at < count {
            let len = self.piece(&access, at, count - at);
            let data = self.dwords(whole, at, len);
            self.access_piece(&access, mem.offset + (u32::from(at) * step) as i32, data, len, id);
            at += len;
        }
    }

    /// Returns how many dwords the next instruction of an access transfers. `left` dwords remain, beginning
    /// with dword number `at`.
    fn piece(&self, access: &Access, at: u8, left: u8) -> u8 {
        let mem = &access.mem;
        if mem.ty.bytes() < 4 {
            return 1;
        }
        if mem.space != Space::Shared {
            return if left == 3 && !self.target.addressing.three_dwords { 2 } else { left.min(4) };
        }
        let align = if at == 0 { mem.align } else { offset_align(mem.align, u32::from(at) * 4) };
        self.ds_row(access.store, align, |row| row.dwords <= left).dwords
    }

    fn access_piece(&mut self, access: &Access, offset: i32, data: Operand, len: u8, id: MemId) {
        let column = match access.mem.space {
            Space::Shared => return self.lds_access(access, offset, data, len, id),
            Space::Region => return self.unsupported("global data share"),
            Space::Constant if access.store => return self.unsupported("a store to constant memory"),
            Space::Global | Space::Constant => DEVICE,
            Space::Generic => GENERIC,
            Space::Private => PRIVATE,
        };
        let ty = if access.mem.ty.bytes() >= 4 { MemTy::B32 } else { access.mem.ty };
        let Some(row) = ROWS.iter().find(|row| row.ty == ty && row.dwords == len) else { return };
        let role = if access.store { row.store[column] } else { row.load[column] };
        if column == PRIVATE {
            return self.private_access(role, data, access.pointer, offset, id);
        }
        let inst = self.device_instruction(role, access.pointer, offset);
        let at = self.device_address(&inst, access.pointer, offset);
        self.push_device(inst, &at, data, data, id);
    }

    /// Appends an instruction that accesses device memory or memory behind a generic pointer, with its
    /// operands filled in. `dst` are the registers for what the instruction loads or returns, and `data`
    /// those with what it stores.
    pub fn push_device(&mut self, inst: MachInst, at: &Address, dst: Operand, data: Operand, id: MemId) {
        let operand = |spec: &OpSpec| match (spec.kind, spec.role) {
            (Kind::Vaddr, _) => at.vaddr,
            (Kind::Saddr | Kind::Sgpr, _) => at.base,
            (Kind::Ssrc, _) => at.scalar,
            (_, table::Role::Def) => dst,
            _ => data,
        };
        let operands: SmallVec<[Operand; 4]> = inst.op.row().ops.iter().map(operand).collect();
        let mut access = MachInst { mem: id, ..MachInst::new(inst.op, &operands) };
        access.mods = inst.mods;
        access.mods.flags |= at.flags;
        access.mods.offset = at.offset;
        self.push(access);
    }

    /// Returns the first row of the table [`DS`] of LDS instructions that can do an access. The address must
    /// have the alignment that the row requires, `fits` must return true for the row, and the processor must
    /// have the instruction.
    fn ds_row(&self, store: bool, align: u8, fits: impl Fn(&DsRow) -> bool) -> &'static DsRow {
        let there = |row: &DsRow| self.s.roles.opcode(row.role(store)).is_some();
        DS.iter().find(|row| align >= row.align && fits(row) && there(row)).unwrap_or(&DS[DS.len() - 1])
    }

    fn lds_access(&mut self, access: &Access, offset: i32, data: Operand, len: u8, id: MemId) {
        let Access { mem, pointer, store } = access;
        if let Some(&(_, load, save)) = DS_SMALL.iter().find(|(ty, ..)| *ty == mem.ty) {
            let (addr, field) = self.lds_address(*pointer, offset, 0, 0);
            let (role, operands) = if *store { (save, [addr, data]) } else { (load, [data, addr]) };
            return self.push_mem(role, &operands, field, ModFlags::empty(), id);
        }
        let align = offset_align(mem.align, offset.wrapping_sub(mem.offset) as u32);
        let row = self.ds_row(*store, align, |row| row.dwords == len);
        let (addr, field) = self.lds_address(*pointer, offset, row.unit, 1);
        let field = row.field(field);
        let half = len / 2;
        // Stores to two places have two data operands.
        let parts = [addr, self.dwords(data, 0, half), self.dwords(data, half, half)];
        match (store, row.unit) {
            (false, _) => self.push_mem(row.load, &[data, addr], field, ModFlags::empty(), id),
            (true, 0) => self.push_mem(row.store, &[addr, data], field, ModFlags::empty(), id),
            (true, _) => self.push_mem(row.store, &parts, field, ModFlags::empty(), id),
        }
    }

    fn private_access(&mut self, role: Role, data: Operand, pointer: Value, offset: i32, id: MemId) {
        let (vaddr, base, field) = self.scratch_address(pointer, offset);
        let [descriptor, start] = self.scratch();
        let vaddr = vaddr.unwrap_or(Operand::None);
        let access = PrivateAccess { data, vaddr, descriptor, base: base.unwrap_or(start) };
        self.push_private(role, &access, field, id);
    }

    /// Appends an access to private memory.
    pub fn push_private(&mut self, role: Role, access: &PrivateAccess, offset: i32, mem: MemId) {
        let op = self.instruction(role, &[]).op;
        let mut inst = MachInst { mem, ..access.instruction(op) };
        inst.mods.offset = offset;
        self.push(inst);
    }

    /// Lowers a fence.
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
        self.push(MachInst { mem: id, ..MachInst::new(op::FENCE, &[]) });
    }

    /// Lowers a barrier. If the barrier orders memory, it is placed between a release fence and an acquire
    /// fence of the work-group.
    pub fn barrier(&mut self, fence: bool) {
        if fence {
            self.fence(Order::Release, Scope::Workgroup, Spaces::ALL);
        }
        self.emit_raw(Role::SBarrier, &[]);
        if fence {
            self.fence(Order::Acquire, Scope::Workgroup, Spaces::ALL);
        }
    }
}

impl DsRow {
    fn role(&self, store: bool) -> Role {
        if store { self.store } else { self.load }
    }

    /// Returns the contents of the instruction's offset field for an offset in bytes. For an instruction with
    /// one address, these are the bytes themselves. An instruction with two addresses accesses two
    /// consecutive elements, and its field has the numbers of both elements.
    fn field(&self, bytes: i64) -> i64 {
        if self.unit == 0 {
            return bytes;
        }
        let first = bytes / self.unit;
        first | (first + 1) << 8
    }
}

/// Returns the alignment of an address that is `distance` bytes after an address with alignment `align`.
fn offset_align(align: u8, distance: u32) -> u8 {
    if distance == 0 { align } else { align.min(1 << distance.trailing_zeros().min(4)) }
}
