//! Lowers expressions.

use super::{FragmentTypes, Lower, Val, fragment_types, func_id};
use crate::ast::{ExprId, ExprKind, List};
use crate::check::Res;
use crate::scalar::Scalar;
use crate::types::{Ty, TyKind};
use ir::{CastOp, Op, Signature, Space, SrcLoc, Type, Value};
use smallvec::SmallVec;

impl Lower<'_, '_> {
    /// Lowers an expression whose value is a single scalar or pointer, and returns this value.
    pub(super) fn scalar_expr(&mut self, id: ExprId) -> Value {
        let values = self.expr(id);
        match values.first() {
            Some(&value) => value,
            // The expression has no fragments (scalars), which happens here only in unreachable code. Any
            // value will do.
            None => self.zero(Type::I32),
        }
    }

    /// Lowers an expression and returns the fragments (scalars) of its value.
    pub(super) fn expr(&mut self, id: ExprId) -> Val {
        let expr = *self.ast.expr(id);
        let outer = std::mem::replace(&mut self.loc, SrcLoc(expr.span.start + 1));
        let mut value = self.expr_kind(id, expr.kind);
        if !self.checked.made_generic.is_empty()
            && self.checked.made_generic.contains(&id)
            && let Some(pointer) = value.first_mut()
        {
            *pointer = self.emit(Op::Cast(CastOp::SpaceCast), &[*pointer], Type::Ptr(Space::Generic));
        }
        self.loc = outer;
        value
    }

    fn expr_kind(&mut self, id: ExprId, kind: ExprKind) -> Val {
        let ty = self.ty_of(id);
        match kind {
            ExprKind::Int { value, .. } => {
                let scalar = self.scalar_of(ty);
                let value = match scalar {
                    Scalar::F32 => self.f32(value as f32),
                    Scalar::F16 | Scalar::F64 => self.float(scalar.ir(), value as f64),
                    _ => self.int(scalar, value),
                };
                Val::from_slice(&[value])
            }
            ExprKind::Float { wide, narrow, .. } => {
                let value = match self.scalar_of(ty) {
                    scalar @ (Scalar::F16 | Scalar::F64) => self.float(scalar.ir(), wide),
                    _ => self.f32(narrow),
                };
                Val::from_slice(&[value])
            }
            ExprKind::Bool(value) => Val::from_slice(&[self.constant(Type::Bool, u64::from(value))]),
            ExprKind::Name(_) | ExprKind::TypeConst(..) => match self.checked.res[id.at()] {
                Res::Const(index) => self.const_fragments(index),
                _ => self.read_place(id),
            },
            ExprKind::CallValue { callee, args } => {
                let address = self.scalar_expr(callee);
                self.call_pointer(address, self.ty_of(callee), args)
            }
            ExprKind::Deref(_) | ExprKind::Index(..) | ExprKind::Field(..) => self.read_place(id),
            ExprKind::Unary(op, inner) => self.unary(op, inner, ty),
            ExprKind::Binary(..) => self.binary(id),
            ExprKind::AddrOf(inner) => self.address_of(inner),
            ExprKind::Cast(inner, _) => self.cast(inner, ty),
            ExprKind::Call { args, .. } => self.call(id, args, ty),
            ExprKind::Array(list) | ExprKind::Tuple(list) => {
                let mut values = Val::new();
                for n in list.range() {
                    values.extend(self.expr(self.ast.exprs_pool[n]));
                }
                values
            }
            ExprKind::Repeat(value, _) => {
                let one = self.expr(value);
                match self.checked.types.kind(ty) {
                    TyKind::Array(_, len) => (0..len).flat_map(|_| one.iter().copied()).collect(),
                    _ => one,
                }
            }
            ExprKind::Struct(_, inits) => self.struct_literal(ty, inits),
            ExprKind::If { arms, otherwise } => self.if_chain(id, arms, otherwise),
            ExprKind::Match { value, arms } => self.match_expr(id, value, arms),
            ExprKind::Block(block) => self.block(block),
            ExprKind::Loop(head, body) => self.loop_expr(head, body, ty),
            ExprKind::Labelled(head, body) => self.labelled_block(head, body, ty),
            ExprKind::Error | ExprKind::Str(_) => self.zeros(ty),
        }
    }

    fn read_place(&mut self, id: ExprId) -> Val {
        let place = self.lower_place(id);
        self.read(&place)
    }

    fn address_of(&mut self, inner: ExprId) -> Val {
        match self.lower_place(inner) {
            super::memory::Place::Memory(place) => Val::from_slice(&[self.address(&place)]),
            // The operand of `&` is not in memory here. The checker puts every variable whose address is used
            // into memory, so this address is not needed, and the operand's value takes its place.
            other => self.read(&other),
        }
    }

    /// Returns the fragments of a constant.
    pub(super) fn const_fragments(&mut self, index: u32) -> Val {
        let item = &self.checked.consts[index as usize];
        let mut types = FragmentTypes::new();
        fragment_types(self.checked, item.ty, &mut types);
        let mut values: Val =
            types.iter().zip(&item.value).map(|(&ty, &bits)| self.constant(ty, bits)).collect();
        if self.checked.types.holds_function(item.ty) {
            let mut fragments = (0..).zip(&item.value);
            self.address_fragments(item.ty, &mut fragments, &mut values);
        }
        values
    }

    /// Replaces those values of a constant that stand for functions by the functions' addresses. `values` has
    /// one value for each fragment (scalar) of the constant. `fragments` yields the index and the bits of
    /// each fragment that has not been visited yet.
    fn address_fragments<'v>(
        &mut self,
        ty: Ty,
        fragments: &mut impl Iterator<Item = (usize, &'v u64)>,
        values: &mut Val,
    ) {
        let checked = self.checked;
        match checked.types.kind(ty) {
            TyKind::Function(_) => {
                if let Some((n, &bits)) = fragments.next()
                    && let Some(func) = super::function_of(bits)
                {
                    values[n] = self.function_address(func);
                }
            }
            TyKind::Array(element, len) => {
                (0..len).for_each(|_| self.address_fragments(element, fragments, values));
            }
            TyKind::Struct(index) => {
                for field in &checked.types.structs[index as usize].fields {
                    self.address_fragments(field.ty, fragments, values);
                }
            }
            _ => {
                let count = checked.types.layout(ty).fragments as usize;
                fragments.take(count).for_each(drop);
            }
        }
    }

    /// Lowers a struct literal. The fields are evaluated in the order in which the literal lists them. The
    /// result has them in the order of the struct's declaration.
    fn struct_literal(&mut self, ty: Ty, inits: List) -> Val {
        let mut given = SmallVec::<[_; 8]>::new();
        for n in inits.range() {
            let init = self.ast.inits[n];
            given.push((init.name.sym, self.expr(init.value)));
        }
        let TyKind::Struct(index) = self.checked.types.kind(ty) else { return Val::new() };
        let mut values = Val::new();
        for field in &self.checked.types.structs[index as usize].fields {
            if let Some((_, fragments)) = given.iter().find(|(name, _)| *name == field.name) {
                values.extend_from_slice(fragments);
            }
        }
        values
    }

    fn call(&mut self, id: ExprId, args: List, ty: Ty) -> Val {
        match self.checked.res[id.at()] {
            Res::Func(func) => {
                let mut values = Val::new();
                for n in args.range() {
                    values.extend(self.expr(self.ast.exprs_pool[n]));
                }
                self.call_function(func, &values, ty)
            }
            res if let Some(callee) = self.called_type(res) => {
                let place = self.variable_place(res, callee);
                let address = self.read(&place)[0];
                self.call_pointer(address, callee, args)
            }
            Res::Vector => {
                let lanes = self.checked.types.lanes(ty).map_or(1, |(_, lanes)| usize::from(lanes));
                let mut values = Val::new();
                for n in args.range() {
                    values.extend(self.expr(self.ast.exprs_pool[n]));
                }
                if values.len() == 1 {
                    let value = values[0];
                    values.resize(lanes, value);
                }
                values
            }
            Res::Dim(dim, d) => Val::from_slice(&[self.dimension(dim, d)]),
            Res::Const(index) => self.const_fragments(index),
            Res::Builtin(builtin) => self.builtin(builtin, args, ty),
            _ => self.zeros(ty),
        }
    }

    /// If a call names a variable or constant that holds a function pointer, returns its function type.
    /// Returns `None` for a call that names a function.
    fn called_type(&self, res: Res) -> Option<Ty> {
        let ty = match res {
            Res::Local(local) => self.checked.locals[local as usize].ty,
            Res::Static(index) => self.checked.statics[index as usize].ty,
            Res::Const(index) => self.checked.consts[index as usize].ty,
            _ => return None,
        };
        self.checked.types.as_function(ty).map(|_| ty)
    }

    /// Returns the address of a function.
    pub(super) fn function_address(&mut self, func: ir::FuncId) -> Value {
        self.emit(Op::FuncAddr(func), &[], Type::I64)
    }

    /// Lowers a call through a function pointer. `callee` is the function type.
    fn call_pointer(&mut self, address: Value, callee: Ty, args: List) -> Val {
        let Some(signature) = self.checked.types.as_function(callee) else { return Val::new() };
        let mut given = Val::new();
        for n in args.range() {
            given.extend(self.expr(self.ast.exprs_pool[n]));
        }
        if let Some(border) = self.border_of(&signature.params, signature.result) {
            let op = Op::CallIndirect(self.module.signature(border.signature()));
            return self.call_over(&border, op, Some(address), &given, signature.result);
        }
        let mut types = Signature::default();
        signature.params.iter().for_each(|&ty| fragment_types(self.checked, ty, &mut types.params));
        fragment_types(self.checked, signature.result, &mut types.results);
        let mut values = Val::from_slice(&[address]);
        values.append(&mut given);
        self.crossings += 1;
        let results = FragmentTypes::from_slice(&types.results);
        let op = Op::CallIndirect(self.module.signature(types));
        let inst = self.func.push_call(self.block, op, &values, &results, self.loc);
        self.func.results_of(inst).collect()
    }

    /// Emits a call of a function of the program. `ty` is the type of its result.
    fn call_function(&mut self, func: u32, args: &[Value], ty: Ty) -> Val {
        let info = &self.checked.funcs[func as usize];
        if let Some(border) = super::border_of(self.checked, self.abi.as_ref(), info) {
            return self.call_over(&border, Op::Call(func_id(func)), None, args, ty);
        }
        let mut types = FragmentTypes::new();
        fragment_types(self.checked, ty, &mut types);
        self.call_of(func, args, &types)
    }

    /// Emits a call of the module's function number `func`; `types` are the types of its results.
    pub(super) fn call_of(&mut self, func: u32, args: &[Value], types: &[Type]) -> Val {
        let op = Op::Call(func_id(func));
        self.crossings += 1;
        let inst = self.func.push_call(self.block, op, args, types, self.loc);
        self.func.results_of(inst).collect()
    }
}
