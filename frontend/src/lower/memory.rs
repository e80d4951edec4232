//! Lowers variables, places, loads and stores.

use super::{Lower, Val, plain_mem};
use crate::ast::{ExprId, ExprKind};
use crate::check::Res;
use crate::scalar::Scalar;
use crate::types::{Pointer, Qualifiers, Ty, TyKind, swizzle};
use ir::{BinOp, CastOp, Global, IntCc, Mem, MemFlags, MemTy, Op, SlotData, Space, Type, Value};
use smallvec::SmallVec;

/// Part of an address that is computed at run time, in bytes.
#[derive(Clone, Copy)]
enum Dynamic {
    None,
    /// Signed offset that is as wide as the pointer.
    Full(Value),
    /// Unsigned offset of 32 bits. It must be zero-extended to the 64 bits of the pointer.
    Zext(Value),
}

/// A value in memory and how to access it. Its address is `base + dynamic + offset`, where only `offset` is
/// known at compile time.
#[derive(Clone, Copy)]
pub struct MemPlace {
    base: Value,
    dynamic: Dynamic,
    offset: i64,
    space: Space,
    flags: MemFlags,
    alias: u16,
    /// Whether the base is a pointer parameter of a kernel with `#[small_buffers]`. This attribute promises
    /// that byte offsets from pointer parameters fit in 32 bits.
    small: bool,
    pub ty: Ty,
}

impl MemPlace {
    /// Returns the part of this memory that begins `offset` bytes after its start and has the type `ty`.
    pub fn part(self, offset: u32, ty: Ty) -> MemPlace {
        MemPlace { offset: self.offset + i64::from(offset), ty, ..self }
    }
}

/// What an expression denotes: a variable, a value in memory, or a temporary value. All of them can be read.
/// All except temporary values can be written.
pub enum Place {
    /// SSA variables, one for each fragment.
    Vars(SmallVec<[u32; 4]>),
    /// One element of a vector in SSA variables. The element's number is a value that is known only at run
    /// time.
    VarLane(SmallVec<[u32; 4]>, Value),
    Memory(MemPlace),
    /// Some lanes of a vector in memory.
    MemoryLanes(MemPlace, SmallVec<[u8; 16]>),
    /// A value without storage.
    Temp(Val),
}

/// Limit of the constant part of an address (`MemPlace::offset`). A constant offset that is not below the
/// limit is added at run time instead.
const MAX_OFFSET: i64 = 1 << 30;

impl Lower<'_, '_> {
    /// Defines a local variable with its first value.
    pub(super) fn define_local(&mut self, local: u32, value: Val) {
        let info = &self.checked.locals[local as usize];
        if !info.in_memory {
            let first = self.ssa.declare(&value);
            self.local_at[local as usize] = first;
            let home = self.home_of(local, first, &value);
            self.track_local(local, first, home);
            return;
        }
        let ty = info.ty;
        let place = self.new_slot(local, ty);
        self.store(&place, &value);
    }

    /// Defines a local variable that is declared without a value. The program must not rely on any first
    /// value: SSA variables get zero, and memory is not written.
    pub(super) fn define_local_unset(&mut self, local: u32) {
        let info = &self.checked.locals[local as usize];
        if info.in_memory {
            let ty = info.ty;
            self.new_slot(local, ty);
        } else {
            let value = self.zeros(info.ty);
            self.define_local(local, value);
        }
    }

    fn new_slot(&mut self, local: u32, ty: Ty) -> MemPlace {
        let layout = self.checked.types.layout(ty);
        let slot = self.func.slots.push(SlotData { size: layout.size, align: layout.align.max(4) });
        self.local_at[local as usize] = slot.as_u32();
        self.track_local(local, 0, Some(slot));
        self.slot_place(slot.as_u32(), ty)
    }

    pub(super) fn slot_place(&mut self, slot: u32, ty: Ty) -> MemPlace {
        let base = self.emit(Op::SlotAddr(ir::Slot::from_u32(slot)), &[], Type::Ptr(Space::Private));
        // Accesses with different alias classes never overlap. Module variables and constants have the
        // classes below `first`, and stack slots have those from `first` on.
        let first = self.checked.statics.len() + self.checked.consts.len() + 1;
        let alias = u16::try_from(first + slot as usize).unwrap_or(0);
        MemPlace {
            base,
            dynamic: Dynamic::None,
            offset: 0,
            space: Space::Private,
            flags: MemFlags::empty(),
            alias,
            small: false,
            ty,
        }
    }

    fn global_place(&mut self, global: Global, mut class: usize, ty: Ty) -> MemPlace {
        // All `shared dyn` variables are views of one block of memory, whose size is known only when the
        // kernel is dispatched. They overlap, so they share an alias class.
        if self.module.globals[global].dynamic {
            class = self.checked.statics.iter().position(|item| item.dynamic).unwrap_or(class);
        }
        let space = self.module.globals[global].space;
        let base = self.emit(Op::GlobalAddr(global), &[], Type::Ptr(space));
        let mut flags = MemFlags::empty();
        flags.set(MemFlags::INVARIANT, space == Space::Constant);
        MemPlace {
            base,
            dynamic: Dynamic::None,
            offset: 0,
            space,
            flags,
            alias: u16::try_from(class + 1).unwrap_or(0),
            small: false,
            ty,
        }
    }

    fn pointee(&self, base: Value, pointer: Pointer) -> MemPlace {
        let mut flags = MemFlags::empty();
        let volatile = pointer.qualifiers.contains(Qualifiers::VOLATILE);
        flags.set(MemFlags::VOLATILE, volatile);
        flags.set(MemFlags::INVARIANT, pointer.space == Space::Constant && !volatile);
        MemPlace {
            base,
            dynamic: Dynamic::None,
            offset: 0,
            space: pointer.space,
            flags,
            alias: 0,
            small: false,
            ty: pointer.to,
        }
    }

    /// Returns the memory that a pointer expression points to.
    pub(super) fn pointee_of(&mut self, pointer: ExprId) -> MemPlace {
        let base = self.scalar_expr(pointer);
        self.pointee_at(base, pointer)
    }

    /// Returns the memory that the pointer expression `pointer` points to. In contrast to
    /// [`Lower::pointee_of`], the value of the pointer has been computed already, as `base`.
    pub(super) fn pointee_at(&mut self, base: Value, pointer: ExprId) -> MemPlace {
        let ty = self.ty_of(pointer);
        // The checker accepts only pointers here.
        let pointer_ty = self.checked.types.as_pointer(ty).unwrap_or(Pointer {
            to: Ty::U32,
            space: Space::Global,
            qualifiers: Qualifiers::empty(),
        });
        let mut place = self.pointee(base, pointer_ty);
        if let Res::Local(local) = self.checked.res[pointer.at()]
            && let Some(n) = local.checked_sub(self.first_param)
            && n < self.params
        {
            // The promise of `#[small_buffers]` holds for the pointers that the host passes. A mutable
            // parameter may have been assigned another pointer.
            let keeps = !self.checked.locals[local as usize].mutable;
            place.small =
                self.small_buffers && keeps && matches!(pointer_ty.space, Space::Global | Space::Constant);
        }
        place
    }

    /// Returns the memory that a pointer expression finally leads to. If the pointer points to another
    /// pointer, this one is loaded and followed, until the memory contains no pointer.
    fn behind_pointers(&mut self, pointer: ExprId) -> MemPlace {
        let mut place = self.pointee_of(pointer);
        while let Some(next) = self.checked.types.as_pointer(place.ty) {
            let base = self.read(&Place::Memory(place))[0];
            place = self.pointee(base, next);
        }
        place
    }

    /// Returns the constant memory that holds the value of a constant. Creates this memory at its first use.
    fn const_place(&mut self, index: u32) -> MemPlace {
        let item = &self.checked.consts[index as usize];
        let global = match self.const_globals[index as usize] {
            Some(global) => global,
            None => {
                let data = super::static_data(
                    self.checked,
                    &crate::check::StaticItem {
                        name: smol_str::format_smolstr!("const.{index}.{}", self.ast.name(item.name)),
                        span: crate::lexer::Span::default(),
                        space: Space::Constant,
                        ty: item.ty,
                        dynamic: false,
                        external: false,
                        init: item.value.clone(),
                    },
                );
                let global = self.module.globals.push(data);
                self.const_globals[index as usize] = Some(global);
                global
            }
        };
        self.global_place(global, self.checked.statics.len() + index as usize, item.ty)
    }

    pub(super) fn lower_place(&mut self, id: ExprId) -> Place {
        let expr = *self.ast.expr(id);
        match expr.kind {
            ExprKind::Name(_) => self.name_place(id),
            ExprKind::Deref(pointer) => Place::Memory(self.pointee_of(pointer)),
            ExprKind::Index(base, index) => self.index_place(base, index, self.ty_of(id)),
            ExprKind::Field(base, field) => {
                let name = self.ast.name(field.sym);
                self.field_place(base, field.sym, name, self.ty_of(id))
            }
            _ => Place::Temp(self.expr(id)),
        }
    }

    fn name_place(&mut self, id: ExprId) -> Place {
        self.variable_place(self.checked.res[id.at()], self.ty_of(id))
    }

    /// Returns the storage or value that a name refers to; `ty` is its type.
    pub(super) fn variable_place(&mut self, res: Res, ty: Ty) -> Place {
        match res {
            Res::Local(local) => {
                let at = self.local_at[local as usize];
                if self.checked.locals[local as usize].in_memory {
                    return Place::Memory(self.slot_place(at, ty));
                }
                Place::Vars((at..at + self.checked.types.layout(ty).fragments).collect())
            }
            Res::Static(index) => {
                Place::Memory(self.global_place(Global::from_u32(index), index as usize, ty))
            }
            Res::Const(index) if self.checked.types.layout(ty).has_array => {
                Place::Memory(self.const_place(index))
            }
            Res::Const(index) => Place::Temp(self.const_fragments(index)),
            Res::Func(func) => Place::Temp(Val::from_slice(&[self.function_address(super::func_id(func))])),
            _ => Place::Temp(self.zeros(ty)),
        }
    }

    fn index_place(&mut self, base: ExprId, index: ExprId, ty: Ty) -> Place {
        match self.checked.types.kind(self.ty_of(base)) {
            TyKind::Pointer(_) => {
                let place = self.pointee_of(base);
                Place::Memory(self.offset_by(place, index, ty))
            }
            TyKind::Array(..) => {
                let place = match self.lower_place(base) {
                    Place::Memory(place) => place,
                    other => self.spill(&other, self.ty_of(base)),
                };
                Place::Memory(self.offset_by(place, index, ty))
            }
            _ => self.lane_place(base, index, ty),
        }
    }

    /// Copies a value from SSA variables to a new stack slot and returns the slot's memory. Only a value in
    /// memory can be indexed with a number that is known at run time.
    fn spill(&mut self, place: &Place, ty: Ty) -> MemPlace {
        let value = self.read(place);
        let layout = self.checked.types.layout(ty);
        let slot = self.func.slots.push(SlotData { size: layout.size, align: layout.align.max(4) });
        let place = self.slot_place(slot.as_u32(), ty);
        self.store(&place, &value);
        place
    }

    /// Returns the place of `v[i]` for a vector `v`.
    fn lane_place(&mut self, base: ExprId, index: ExprId, ty: Ty) -> Place {
        let place = self.lower_place(base);
        if let Place::Memory(place) = place {
            return Place::Memory(self.offset_by(place, index, ty));
        }
        let index_value = self.scalar_expr(index);
        // A constant index beyond the last element selects no SSA variable. It is therefore treated like an
        // index that is known only at run time.
        let lanes = self.checked.types.lanes(self.ty_of(base)).map_or(1, |(_, lanes)| u64::from(lanes));
        let lane = self.func.const_bits(index_value).filter(|&lane| lane < lanes);
        match (place, lane) {
            (Place::Vars(vars), Some(lane)) => Place::Vars(vars[lane as usize..][..1].into()),
            (Place::Vars(vars), None) => {
                let index = self.word_of(index_value);
                Place::VarLane(vars, index)
            }
            (other, lane) => {
                let values = self.read(&other);
                let value = match lane {
                    Some(lane) => values[lane as usize],
                    None => {
                        let index = self.word_of(index_value);
                        self.pick_lane(&values, index)
                    }
                };
                Place::Temp(Val::from_slice(&[value]))
            }
        }
    }

    fn field_place(&mut self, base: ExprId, field: crate::ast::Sym, name: &str, ty: Ty) -> Place {
        let (base_ty, pointer) = self.checked.types.behind_pointers(self.ty_of(base));
        let place = match pointer {
            Some(_) => Place::Memory(self.behind_pointers(base)),
            None => self.lower_place(base),
        };
        let layout = self.checked.types.layout(ty);
        if let TyKind::Struct(index) = self.checked.types.kind(base_ty) {
            let Some(found) = self.checked.types.field(index, field, name) else { return place };
            let fragments = found.first_fragment as usize..(found.first_fragment + layout.fragments) as usize;
            return match place {
                Place::Memory(place) => {
                    Place::Memory(MemPlace { offset: place.offset + i64::from(found.offset), ty, ..place })
                }
                Place::Vars(vars) => Place::Vars(vars[fragments].into()),
                other => Place::Temp(self.read(&other)[fragments].into()),
            };
        }
        let TyKind::Vector(scalar, lanes) = self.checked.types.kind(base_ty) else { return place };
        let Some((picked, count)) = swizzle(name, lanes) else { return place };
        let picked = &picked[..count];
        match place {
            Place::Memory(place) if count == 1 => {
                let offset = place.offset + i64::from(picked[0]) * i64::from(scalar.bytes());
                Place::Memory(MemPlace { offset, ty, ..place })
            }
            Place::Memory(place) => Place::MemoryLanes(place, picked.into()),
            Place::Vars(vars) => Place::Vars(picked.iter().map(|&lane| vars[lane as usize]).collect()),
            other => {
                let values = self.read(&other);
                Place::Temp(picked.iter().map(|&lane| values[lane as usize]).collect())
            }
        }
    }

    /// Returns the memory that is `index` elements of type `ty` after `place`.
    pub(super) fn offset_by(&mut self, place: MemPlace, index: ExprId, ty: Ty) -> MemPlace {
        let scalar = self.scalar_of(self.ty_of(index));
        let value = self.scalar_expr(index);
        self.offset_by_value(place, value, scalar, ty)
    }

    pub(super) fn offset_by_value(
        &mut self,
        place: MemPlace,
        index: Value,
        scalar: Scalar,
        ty: Ty,
    ) -> MemPlace {
        let size = self.checked.types.layout(ty).size;
        let mut place = MemPlace { ty, ..place };
        if let Some(bits) = self.func.const_bits(index)
            && let Some(offset) = fold(place.offset, scalar.wrap(bits) as i64, size)
        {
            place.offset = offset;
            return place;
        }
        let narrow_pointer = place.space.pointer_bits() == 32;
        if narrow_pointer || (scalar.bits() == 64 && !place.small) {
            let index = if narrow_pointer { self.word_of(index) } else { index };
            // If the index is `x + c`, the constant `c` moves to the constant offset. Here the index has the
            // width of the pointer. Its addition therefore wraps in the same way as the computation of the
            // address, and the address stays the same.
            let (index, offset) = self.split_constant(index, place.offset, size);
            place.offset = offset;
            let scaled = self.scale(index, size);
            return self.add_dynamic(place, Dynamic::Full(scaled));
        }
        if place.small && scalar.bits() <= 32 {
            let scaled = self.scale(index, size);
            return self.add_dynamic(place, Dynamic::Zext(scaled));
        }
        let wide = match scalar.bits() {
            64 => index,
            _ => {
                let op = if scalar.is_signed() { CastOp::Sext } else { CastOp::Zext };
                self.emit(Op::Cast(op), &[index], Type::I64)
            }
        };
        let scaled = self.scale(wide, size);
        self.add_dynamic(place, Dynamic::Full(scaled))
    }

    /// Splits an index `x + c` with a constant `c`: returns `x`, and the byte offset `offset` plus `c`
    /// elements. Returns any other index and the offset unchanged.
    fn split_constant(&mut self, index: Value, offset: i64, size: u32) -> (Value, i64) {
        let Some(inst) = self.func.def_inst(index) else { return (index, offset) };
        let (op, args) = (self.func.insts[inst].op, self.func.args(inst));
        let (sign, x, c) = match (op, args) {
            (Op::Bin(BinOp::Add), &[x, c]) => (1, x, c),
            (Op::Bin(BinOp::Sub), &[x, c]) => (-1, x, c),
            _ => return (index, offset),
        };
        let Some(bits) = self.func.const_bits(c) else { return (index, offset) };
        let signed = if self.func.ty(c) == Type::I32 { i64::from(bits as u32 as i32) } else { bits as i64 };
        match signed.checked_mul(sign).and_then(|count| fold(offset, count, size)) {
            Some(offset) => (x, offset),
            None => (index, offset),
        }
    }

    fn scale(&mut self, index: Value, size: u32) -> Value {
        let ty = self.func.ty(index);
        if size.is_power_of_two() {
            let shift = self.constant(ty, u64::from(size.trailing_zeros()));
            return self.bin(BinOp::Shl, index, shift);
        }
        let size = self.constant(ty, u64::from(size));
        self.bin(BinOp::Mul, index, size)
    }

    fn add_dynamic(&mut self, place: MemPlace, more: Dynamic) -> MemPlace {
        let dynamic = match (place.dynamic, more) {
            (Dynamic::None, more) => more,
            (Dynamic::Full(a), Dynamic::Full(b)) => Dynamic::Full(self.bin(BinOp::Add, a, b)),
            // The promise of `#[small_buffers]` also holds for the sum of both offsets, so the 32-bit
            // addition does not wrap around.
            (Dynamic::Zext(a), Dynamic::Zext(b)) => Dynamic::Zext(self.bin(BinOp::Add, a, b)),
            (Dynamic::Zext(a), Dynamic::Full(_)) => {
                let base = self.emit(Op::PtrAddZ, &[place.base, a], Type::Ptr(place.space));
                return MemPlace { base, dynamic: more, small: false, ..place };
            }
            (Dynamic::Full(a), Dynamic::Zext(_)) => {
                let base = self.emit(Op::PtrAdd, &[place.base, a], Type::Ptr(place.space));
                return MemPlace { base, dynamic: more, ..place };
            }
            (dynamic, Dynamic::None) => dynamic,
        };
        MemPlace { dynamic, ..place }
    }

    /// Returns the address without the constant offset.
    fn pointer(&mut self, place: &MemPlace) -> Value {
        let ty = Type::Ptr(place.space);
        match place.dynamic {
            Dynamic::None => place.base,
            Dynamic::Full(offset) => self.emit(Op::PtrAdd, &[place.base, offset], ty),
            Dynamic::Zext(offset) => self.emit(Op::PtrAddZ, &[place.base, offset], ty),
        }
    }

    /// Returns the complete address.
    pub(super) fn address(&mut self, place: &MemPlace) -> Value {
        let pointer = self.pointer(place);
        if place.offset == 0 {
            return pointer;
        }
        let width = if place.space.pointer_bits() == 32 { Type::I32 } else { Type::I64 };
        let offset = self.constant(width, place.offset as u64);
        self.emit(Op::PtrAdd, &[pointer, offset], Type::Ptr(place.space))
    }

    /// Returns the pointer for an access to a value in memory, and the attributes of the access (alias class,
    /// alignment and so on).
    fn access(&mut self, place: &MemPlace) -> (Value, Mem) {
        let mem = Mem { flags: place.flags, alias: place.alias, ..plain_mem(place.space) };
        let size = i64::from(self.checked.types.layout(place.ty).size);
        if place.offset.abs() + size < i64::from(i32::MAX) {
            let mem = Mem { offset: place.offset as i32, ..mem };
            (self.pointer(place), mem)
        } else {
            (self.address(place), mem)
        }
    }

    /// Returns the pointer and the attributes for an atomic access to one scalar.
    pub(super) fn scalar_access(&mut self, place: &MemPlace, scalar: Scalar) -> (Value, Mem) {
        let (pointer, mem) = self.access(place);
        (pointer, Mem { ty: scalar.mem(), align: scalar.bytes() as u8, ..mem })
    }

    pub(super) fn read(&mut self, place: &Place) -> Val {
        match place {
            Place::Vars(vars) => self.ssa.values_of(vars),
            Place::VarLane(vars, index) => {
                let values = self.ssa.values_of(vars);
                Val::from_slice(&[self.pick_lane(&values, *index)])
            }
            Place::Memory(place) => self.load(place, MemFlags::empty()),
            Place::MemoryLanes(place, lanes) => {
                let values = self.load(place, MemFlags::empty());
                lanes.iter().map(|&lane| values[lane as usize]).collect()
            }
            Place::Temp(value) => value.clone(),
        }
    }

    pub(super) fn write(&mut self, place: &Place, value: &[Value]) {
        match place {
            Place::Vars(vars) => {
                vars.iter().zip(value).for_each(|(&var, &value)| self.assign(var, value));
            }
            Place::VarLane(vars, index) => {
                for (lane, &var) in vars.iter().enumerate() {
                    let hit = self.is_lane(*index, lane);
                    let old = self.ssa.get(var);
                    let ty = self.func.ty(old);
                    let new = self.emit(Op::Select, &[hit, value[0], old], ty);
                    self.assign(var, new);
                }
            }
            Place::Memory(place) => self.store(place, value),
            Place::MemoryLanes(place, lanes) => {
                let Some((scalar, _)) = self.checked.types.lanes(place.ty) else { return };
                for (&lane, &value) in lanes.iter().zip(value) {
                    let offset = place.offset + i64::from(lane) * i64::from(scalar.bytes());
                    let lane = MemPlace { offset, ty: Ty::scalar(scalar), ..*place };
                    self.store(&lane, &[value]);
                }
            }
            Place::Temp(_) => {}
        }
    }

    fn assign(&mut self, var: u32, value: Value) {
        self.ssa.set(var, value);
        self.track_value(var);
        self.bring_home(var);
    }

    fn is_lane(&mut self, index: Value, lane: usize) -> Value {
        let lane = self.constant(Type::I32, lane as u64);
        self.emit(Op::Icmp(IntCc::Eq), &[index, lane], Type::Bool)
    }

    fn pick_lane(&mut self, values: &[Value], index: Value) -> Value {
        let mut result = values[0];
        let ty = self.func.ty(result);
        for (lane, &value) in values.iter().enumerate().skip(1) {
            let hit = self.is_lane(index, lane);
            result = self.emit(Op::Select, &[hit, value, result], ty);
        }
        result
    }

    pub(super) fn load(&mut self, place: &MemPlace, hints: MemFlags) -> Val {
        let (pointer, mut mem) = self.access(place);
        mem.flags |= hints;
        let mut values = Val::new();
        self.load_fragments(pointer, mem, place.ty, &mut values);
        values
    }

    pub(super) fn store(&mut self, place: &MemPlace, value: &[Value]) {
        self.store_with(place, value, MemFlags::empty());
    }

    pub(super) fn store_with(&mut self, place: &MemPlace, value: &[Value], hints: MemFlags) {
        // In unreachable code, `value` may be empty.
        if self.dead {
            return;
        }
        let (pointer, mut mem) = self.access(place);
        mem.flags |= hints;
        let mut rest = value;
        self.store_fragments(pointer, mem, place.ty, &mut rest);
    }

    /// Loads all fragments of a type from `pointer + mem.offset`.
    pub(super) fn load_fragments(&mut self, pointer: Value, mem: Mem, ty: Ty, out: &mut Val) {
        let checked = self.checked;
        match checked.types.kind(ty) {
            TyKind::Scalar(scalar) => self.load_run(pointer, mem, scalar, 1, scalar.bytes(), out),
            TyKind::Vector(scalar, lanes) if scalar.bytes() == 2 && mem.space != Space::Private => {
                self.load_halves(pointer, mem, (scalar, lanes), checked.types.layout(ty).align, out);
            }
            TyKind::Vector(scalar, lanes) => {
                let align = run_align(scalar, checked.types.layout(ty).align);
                for (first, count) in runs(scalar, lanes) {
                    let at = Mem { offset: mem.offset + (first * scalar.bytes()) as i32, ..mem };
                    self.load_run(pointer, at, scalar, count as u8, align, out);
                }
            }
            TyKind::Pointer(target) => {
                let bytes = target.space.pointer_bits() / 8;
                let ty = if bytes == 4 { MemTy::B32 } else { MemTy::B64 };
                let mem = Mem { ty, align: mem.align.max(bytes as u8), ..mem };
                let op = Op::Load { mem, count: 1 };
                out.push(self.emit(op, &[pointer], Type::Ptr(target.space)));
            }
            TyKind::Function(_) => {
                let mem = Mem { ty: MemTy::B64, align: mem.align.max(8), ..mem };
                out.push(self.emit(Op::Load { mem, count: 1 }, &[pointer], Type::I64));
            }
            TyKind::Array(element, len) => {
                let size = checked.types.layout(element).size;
                for n in 0..len {
                    let at = Mem { offset: mem.offset + (n * size) as i32, align: 1, ..mem };
                    self.load_fragments(pointer, at, element, out);
                }
            }
            TyKind::Struct(index) => {
                for field in &checked.types.structs[index as usize].fields {
                    let at = Mem { offset: mem.offset + field.offset as i32, align: 1, ..mem };
                    self.load_fragments(pointer, at, field.ty, out);
                }
            }
            _ => {}
        }
    }

    /// Loads a vector of 16-bit elements, two elements with each 32-bit load. In private memory, each element
    /// has a load of its own instead, because the optimiser can then replace the variable in memory by SSA
    /// values.
    fn load_halves(
        &mut self,
        pointer: Value,
        mem: Mem,
        (scalar, lanes): (Scalar, u8),
        align: u32,
        out: &mut Val,
    ) {
        let mut words = Val::new();
        for (first, count) in runs(Scalar::U32, lanes / 2) {
            let at = Mem { offset: mem.offset + 4 * first as i32, ..mem };
            self.load_run(pointer, at, Scalar::U32, count as u8, align.min(16), &mut words);
        }
        for word in words {
            out.extend(self.split_pair(scalar, word));
        }
        if lanes % 2 == 1 {
            let at = Mem { offset: mem.offset + 2 * i32::from(lanes - 1), ..mem };
            self.load_run(pointer, at, scalar, 1, 2, out);
        }
    }

    /// Splits a word into two 16-bit values.
    pub(super) fn split_pair(&mut self, scalar: Scalar, word: Value) -> [Value; 2] {
        let sixteen = self.constant(Type::I32, 16);
        let shift = if scalar.is_signed() { BinOp::AShr } else { BinOp::LShr };
        let high = self.emit(Op::Bin(shift), &[word, sixteen], Type::I32);
        let low = self.normalise(scalar, word);
        [low, high].map(|bits| self.rebit(bits, scalar.ir()))
    }

    /// Joins two 16-bit values to a word.
    pub(super) fn join_pair(&mut self, scalar: Scalar, pair: &[Value]) -> Value {
        let sixteen = self.constant(Type::I32, 16);
        let [low, high] = [pair[0], pair[1]].map(|half| self.rebit(half, Type::I32));
        let low = if scalar.is_signed() { self.normalise(Scalar::U16, low) } else { low };
        let high = self.bin(BinOp::Shl, high, sixteen);
        self.bin(BinOp::Or, low, high)
    }

    /// Stores a vector of 16-bit elements, two elements with each 32-bit store. In private memory, each
    /// element has a store of its own, for the reason that [`Lower::load_halves`] gives.
    fn store_halves(
        &mut self,
        pointer: Value,
        mem: Mem,
        (scalar, lanes): (Scalar, u8),
        align: u32,
        value: &mut &[Value],
    ) {
        let (now, rest) = value.split_at(usize::from(lanes));
        let mut words = Val::new();
        for pair in now.chunks_exact(2) {
            words.push(self.join_pair(scalar, pair));
        }
        let mut left = &words[..];
        for (first, count) in runs(Scalar::U32, lanes / 2) {
            let at = Mem { offset: mem.offset + 4 * first as i32, ..mem };
            self.store_run(pointer, at, Scalar::U32, count as usize, align.min(16), &mut left);
        }
        let mut last = &now[now.len() & !1..];
        if !last.is_empty() {
            let at = Mem { offset: mem.offset + 2 * i32::from(lanes - 1), ..mem };
            self.store_run(pointer, at, scalar, 1, 2, &mut last);
        }
        *value = rest;
    }

    fn load_run(&mut self, pointer: Value, mem: Mem, scalar: Scalar, count: u8, align: u32, out: &mut Val) {
        let mem = Mem { ty: scalar.mem(), align: mem.align.max(align as u8), ..mem };
        let ty = if scalar == Scalar::Bool { Type::I32 } else { scalar.ir() };
        let op = Op::Load { mem, count };
        let inst = self.func.push_n(self.block, op, &[pointer], ty, u16::from(count), self.loc);
        for value in self.func.results_of(inst) {
            if scalar == Scalar::Bool {
                let zero = self.constant(Type::I32, 0);
                out.push(self.emit(Op::Icmp(IntCc::Ne), &[value, zero], Type::Bool));
            } else {
                out.push(value);
            }
        }
    }

    /// Stores a value of type `ty` to memory. Takes the fragments (scalars) of the value from the front of
    /// `value` and removes them there.
    pub(super) fn store_fragments(&mut self, pointer: Value, mem: Mem, ty: Ty, value: &mut &[Value]) {
        let checked = self.checked;
        match checked.types.kind(ty) {
            TyKind::Scalar(scalar) => self.store_run(pointer, mem, scalar, 1, scalar.bytes(), value),
            TyKind::Vector(scalar, lanes) if scalar.bytes() == 2 && mem.space != Space::Private => {
                self.store_halves(pointer, mem, (scalar, lanes), checked.types.layout(ty).align, value);
            }
            TyKind::Vector(scalar, lanes) => {
                let align = run_align(scalar, checked.types.layout(ty).align);
                for (first, count) in runs(scalar, lanes) {
                    let at = Mem { offset: mem.offset + (first * scalar.bytes()) as i32, ..mem };
                    self.store_run(pointer, at, scalar, count as usize, align, value);
                }
            }
            TyKind::Pointer(target) => {
                let bytes = target.space.pointer_bits() / 8;
                let ty = if bytes == 4 { MemTy::B32 } else { MemTy::B64 };
                self.store_values(pointer, Mem { ty, align: bytes as u8, ..mem }, 1, value);
            }
            TyKind::Function(_) => {
                self.store_values(pointer, Mem { ty: MemTy::B64, align: 8, ..mem }, 1, value);
            }
            TyKind::Array(element, len) => {
                let size = checked.types.layout(element).size;
                for n in 0..len {
                    let at = Mem { offset: mem.offset + (n * size) as i32, ..mem };
                    self.store_fragments(pointer, at, element, value);
                }
            }
            TyKind::Struct(index) => {
                for field in &checked.types.structs[index as usize].fields {
                    let at = Mem { offset: mem.offset + field.offset as i32, ..mem };
                    self.store_fragments(pointer, at, field.ty, value);
                }
            }
            _ => {}
        }
    }

    fn store_run(
        &mut self,
        pointer: Value,
        mem: Mem,
        scalar: Scalar,
        count: usize,
        align: u32,
        value: &mut &[Value],
    ) {
        let mem = Mem { ty: scalar.mem(), align: align as u8, ..mem };
        if scalar != Scalar::Bool {
            return self.store_values(pointer, mem, count, value);
        }
        for n in 0..count {
            let word = self.emit(Op::Cast(CastOp::Zext), &[value[n]], Type::I32);
            let at = Mem { offset: mem.offset + n as i32, align: 1, ..mem };
            self.effect(Op::Store { mem: at, count: 1 }, &[pointer, word]);
        }
        *value = &value[count..];
    }

    fn store_values(&mut self, pointer: Value, mem: Mem, count: usize, value: &mut &[Value]) {
        let (now, rest) = value.split_at(count);
        let mut args = SmallVec::<[Value; 8]>::from_slice(&[pointer]);
        args.extend_from_slice(now);
        self.effect(Op::Store { mem, count: count as u8 }, &args);
        *value = rest;
    }
}

/// Returns the sum `offset + count * size`, or `None` if the sum is too large for the constant offset of an
/// address.
fn fold(offset: i64, count: i64, size: u32) -> Option<i64> {
    let sum = offset.checked_add(count.checked_mul(i64::from(size))?)?;
    (sum.abs() < MAX_OFFSET).then_some(sum)
}

/// Returns the alignment in bytes that each of the accesses into which [`runs`] splits a vector has. `align`
/// is the alignment of the vector.
fn run_align(scalar: Scalar, align: u32) -> u32 {
    if scalar.bytes() < 4 { scalar.bytes() } else { align.min(16) }
}

/// Splits a vector into memory accesses of at most 16 bytes. Returns, for each access, its first element and
/// its number of elements. An element that is smaller than a dword has an access of its own.
fn runs(scalar: Scalar, lanes: u8) -> impl Iterator<Item = (u32, u32)> {
    let lanes = u32::from(lanes);
    let step = if scalar.bytes() < 4 { 1 } else { 16 / scalar.bytes() };
    (0..lanes).step_by(step as usize).map(move |first| (first, step.min(lanes - first)))
}
