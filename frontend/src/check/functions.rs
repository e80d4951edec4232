//! Types of functions, and functions as values.

use super::Checker;
use crate::ast::{ItemKind, List, TypeId, TypeKind};
use crate::types::Ty;

impl Checker<'_, '_> {
    /// The type `fn(A, B) -> R`.
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

    /// The type that is written for a result, if that is not `()`.
    pub(super) fn not_unit(&self, result: Option<TypeId>) -> Option<TypeId> {
        let is_unit =
            |ty: &TypeId| matches!(self.ast.type_node(*ty).kind, TypeKind::Tuple(List { len: 0, .. }));
        result.filter(|ty| !is_unit(ty))
    }

    /// The type of functions with parameters of these types and the written type for a result.
    fn function_type(&mut self, types: Vec<Ty>, result: Option<TypeId>) -> Ty {
        let result_ty = self.not_unit(result).map_or(Ty::UNIT, |node| self.resolve(node));
        if types.contains(&Ty::ERROR) || result_ty == Ty::ERROR {
            return Ty::ERROR;
        }
        self.s.checked.types.function(types, result_ty)
    }

    /// The type of a function as a value, if it can be one and is known yet.
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

    /// [`Checker::function_value`] in a constant, which is evaluated before functions have signatures: mistakes in the types of
    /// parameters are reported with the signature.
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
