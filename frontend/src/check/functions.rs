//! Function types, and functions that are used as values.

use super::Checker;
use crate::ast::{ItemKind, List, TypeId, TypeKind};
use crate::types::Ty;

impl Checker<'_, '_> {
    /// Returns the type `fn(A, B) -> R`.
    pub(super) fn resolve_function(&mut self, params: List, result: Option<TypeId>) -> Ty {
        let ast = self.ast;
        let mut types = Vec::with_capacity(params.len as usize);
        for &node in &ast.types_pool[params.range()] {
            let ty = self.resolve(node);
            self.by_value(ty, ast.type_node(node).span);
            types.push(ty);
        }
        if let Some(node) = self.not_unit(result) {
            let ty = self.resolve(node);
            self.by_value(ty, ast.type_node(node).span);
        }
        self.function_type(types, result)
    }

    /// Returns the result type of a function as the source writes it. Returns `None` if the source writes no
    /// result type or `()`.
    pub(super) fn not_unit(&self, result: Option<TypeId>) -> Option<TypeId> {
        let is_unit =
            |ty: &TypeId| matches!(self.ast.type_node(*ty).kind, TypeKind::Tuple(List { len: 0, .. }));
        result.filter(|ty| !is_unit(ty))
    }

    /// Returns the function type with the parameter types `types` and the result type `result`, which is a
    /// node of the syntax tree.
    fn function_type(&mut self, types: Vec<Ty>, result: Option<TypeId>) -> Ty {
        let result_ty = self.not_unit(result).map_or(Ty::UNIT, |node| self.resolve(node));
        if types.contains(&Ty::ERROR) || result_ty == Ty::ERROR {
            return Ty::ERROR;
        }
        self.s.checked.types.function(types, result_ty)
    }

    /// Returns the function type of a function whose name is used as a value. Returns `None` for a kernel or
    /// while the function's signature is unknown.
    pub(super) fn function_value(&mut self, func: u32) -> Option<Ty> {
        let checked = &mut self.s.checked;
        let Some(info) = checked.funcs.get_mut(func as usize) else {
            return self.early_function_value(func);
        };
        if info.kernel.is_some() {
            return None;
        }
        info.taken = true;
        let params: Vec<Ty> = checked.locals[info.locals.range()].iter().map(|local| local.ty).collect();
        if params.contains(&Ty::ERROR) || info.result == Ty::ERROR {
            return Some(Ty::ERROR);
        }
        Some(checked.types.function(params, info.result))
    }

    /// Returns the type of a function whose name a constant uses as a value ([`Checker::function_value`] for
    /// constants). Constants are evaluated before functions have signatures, so the function's parameter
    /// types are read here. Mistakes in these types are reported later, with the signature.
    fn early_function_value(&mut self, func: u32) -> Option<Ty> {
        let &item = self.s.item_of_func.get(func as usize)?;
        let ItemKind::Fn { kernel: false, params, result, .. } = self.ast.items[item as usize].kind else {
            return None;
        };
        self.s.taken_early.insert(func);
        let ast = self.ast;
        let types: Vec<Ty> = ast.params[params.range()].iter().map(|param| self.resolve(param.ty)).collect();
        Some(self.function_type(types, result))
    }
}
