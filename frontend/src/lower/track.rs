//! Records debug information in the IR: at which instructions statements begin, and which value each variable
//! has from which program point on ([`ir::track`]).  The information is stored in
//! [`Function::track`](ir::Function) if debug information is requested. The generated instructions are the
//! same with and without it.

use super::Lower;
use crate::ast::Ast;
use crate::check::{Checked, Func};
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::{FnType, Ty, TyKind};
use ir::describe::{Description, Encoding, Member, ModuleVariable, Subprogram, TypeInfo};
use ir::track::{Fragment, Variable, What};
use ir::{Block, Function, Slot, SrcLoc, Value};
use rustc_hash::FxHashMap;
use smol_str::format_smolstr;

/// Largest number of fragments of a variable that is tracked.
pub const MOST_FRAGMENTS: u32 = 256;

/// Description of a module while it is built.
#[derive(Default)]
pub struct Describer {
    pub description: Description,
    numbers: FxHashMap<Ty, u32>,
    /// Working memory: the fragments (scalars) of the variable that is being described, with their types.
    fragments: Vec<(u32, Ty)>,
    /// A number larger than every source position. The inliner adds a multiple of this number to the
    /// positions in each copy of a function's code, so that the copies can be told apart.
    pub stride: u32,
}

/// Number of types, and of variables, for which memory is reserved at the start. Small programs have no more.
const FEW: usize = 12;

impl Describer {
    /// Starts the description of a program for debuggers. The functions are added later, each when it is
    /// lowered.
    pub fn new(checked: &Checked, ast: &Ast<'_>, source: &str) -> Describer {
        let stride = source.len() as u32 + 2;
        let mut new = Describer { stride, ..Describer::default() };
        new.description.types.reserve(FEW);
        new.numbers.reserve(FEW);
        new.description.stride = stride;
        for (item, number) in checked.statics.iter().zip(0..) {
            let ty = new.number(checked, ast, item.ty);
            let loc = SrcLoc(item.span.start + 1);
            let name = item.span.text(source).into();
            let variable = ModuleVariable { name, ty, loc, global: number, space: item.space };
            new.description.variables.push(variable);
        }
        new
    }

    /// Returns the number of a type in the debug description, and describes the type at its first use.
    pub fn number(&mut self, checked: &Checked, ast: &Ast<'_>, ty: Ty) -> u32 {
        if let Some(&known) = self.numbers.get(&ty) {
            return known;
        }
        // The type gets its number before its description is made, because a struct may contain pointers to
        // itself. The entry is filled in afterwards.
        let number = self.description.types.len() as u32;
        self.numbers.insert(ty, number);
        self.description.types.push(TypeInfo::Unit);
        let info = self.info(checked, ast, ty);
        self.description.types[number as usize] = info;
        number
    }

    fn info(&mut self, checked: &Checked, ast: &Ast<'_>, ty: Ty) -> TypeInfo {
        let types = &checked.types;
        match types.kind(ty) {
            TyKind::Scalar(scalar) => {
                let encoding = match scalar {
                    Scalar::Bool => Encoding::Bool,
                    scalar if scalar.is_float() => Encoding::Float,
                    scalar if scalar.is_signed() => Encoding::Signed,
                    _ => Encoding::Unsigned,
                };
                TypeInfo::Scalar { name: scalar.name().into(), encoding, bytes: scalar.bytes() as u8 }
            }
            TyKind::Vector(scalar, lanes) => TypeInfo::Vector {
                name: format_smolstr!("{}x{lanes}", scalar.name()),
                element: self.number(checked, ast, Ty::scalar(scalar)),
                lanes,
                bytes: types.layout(ty).size,
            },
            TyKind::Pointer(pointer) => TypeInfo::Pointer {
                name: types.name(ty, &ast.names).into(),
                to: self.number(checked, ast, pointer.to),
                space: pointer.space,
            },
            TyKind::Array(element, len) => {
                TypeInfo::Array { element: self.number(checked, ast, element), len }
            }
            TyKind::Struct(index) => {
                let fields = types.structs[index as usize].fields.clone();
                let mut members = Vec::with_capacity(fields.len());
                for (field, n) in fields.iter().zip(0..) {
                    let named = types.structs[index as usize].name.is_some();
                    let name = if named { ast.name(field.name).into() } else { format_smolstr!("{n}") };
                    let ty = self.number(checked, ast, field.ty);
                    members.push(Member { name, ty, offset: field.offset });
                }
                TypeInfo::Struct {
                    name: types.name(ty, &ast.names).into(),
                    bytes: types.layout(ty).size,
                    members,
                }
            }
            TyKind::Function(index) => {
                let FnType { params, result } = types.functions[index as usize].clone();
                TypeInfo::Function {
                    name: types.name(ty, &ast.names).into(),
                    params: params.iter().map(|&param| self.number(checked, ast, param)).collect(),
                    result: self.number(checked, ast, result),
                }
            }
            TyKind::Opaque(..) => TypeInfo::Opaque { name: types.name(ty, &ast.names).into() },
            TyKind::Error | TyKind::Unit | TyKind::Never | TyKind::None => TypeInfo::Unit,
        }
    }

    /// Adds the debug description of a function and gives the function an empty list of debug records.
    pub fn function(&mut self, checked: &Checked, ast: &Ast<'_>, info: &Func, func: &mut Function) {
        let number = self.description.functions.len() as u32;
        let body = info.body.map_or(info.name.span, |body| ast.block(body).span);
        let function = Subprogram {
            name: ast.name(info.name.sym).into(),
            loc: SrcLoc(info.name.span.start + 1),
            scope: info.name.span.start..body.end,
            result: self.number(checked, ast, info.result),
            external: info.kernel.is_some() || info.linkage == ir::Linkage::Export,
        };
        self.description.functions.push(function);
        func.begin_track(number, self.stride);
    }
}

/// Appends the offset and the type of each fragment of a type.
pub fn fragments_of(checked: &Checked, ty: Ty, at: u32, out: &mut Vec<(u32, Ty)>) {
    match checked.types.kind(ty) {
        TyKind::Scalar(_) | TyKind::Pointer(_) | TyKind::Function(_) => out.push((at, ty)),
        TyKind::Vector(scalar, lanes) => {
            let fragment = Ty::scalar(scalar);
            out.extend((0..u32::from(lanes)).map(|lane| (at + lane * scalar.bytes(), fragment)));
        }
        TyKind::Array(element, len) => {
            let size = checked.types.layout(element).size;
            (0..len).for_each(|n| fragments_of(checked, element, at + n * size, out));
        }
        TyKind::Struct(index) => {
            let fields = &checked.types.structs[index as usize].fields;
            fields.iter().for_each(|field| fragments_of(checked, field.ty, at + field.offset, out));
        }
        TyKind::Error | TyKind::Unit | TyKind::Never | TyKind::None | TyKind::Opaque(..) => {}
    }
}

impl Lower<'_, '_> {
    /// Records that a statement begins at the next instruction.
    pub(super) fn statement(&mut self, span: Span) {
        if self.func.track.is_some() && !self.dead {
            self.note(What::Statement(SrcLoc(span.start + 1)));
        }
    }

    fn note(&mut self, what: What) {
        let (block, next) = (self.block, self.func.insts.next_key());
        if let Some(track) = &mut self.func.track {
            track.note(block, next, what);
        }
    }

    /// Records where debuggers find a variable: in memory, or in the SSA variables from number `first` on. A
    /// variable in SSA variables may also have a home, a place in private memory to which its values are
    /// stored.
    pub(super) fn track_local(&mut self, local: u32, first: u32, home: Option<Slot>) {
        if self.func.track.is_none() {
            return;
        }
        let info = &self.checked.locals[local as usize];
        let Some(describer) = &mut *self.describer else { return };
        let fragments = &mut describer.fragments;
        fragments.clear();
        let count = self.checked.types.layout(info.ty).fragments;
        if count <= MOST_FRAGMENTS {
            fragments_of(self.checked, info.ty, 0, fragments);
        }
        let bytes = |ty: Ty| self.checked.types.layout(ty).size as u8;
        let fragments = fragments.iter().map(|&(at, ty)| (at, bytes(ty))).collect();
        let parameter = local.checked_sub(self.first_param).filter(|&n| n < self.params);
        let variable = Variable {
            name: self.ast.name(info.name).into(),
            ty: describer.number(self.checked, self.ast, info.ty),
            loc: SrcLoc(info.span.start + 1),
            scope: self.scope_start.unwrap_or(info.span.start)..self.scope_end,
            parameter: parameter.map(|n| n as u16),
            home,
            is_value: !info.in_memory,
            fragments,
            site: 0,
        };
        let Some(track) = &mut self.func.track else { return };
        let number = track.variables.len() as u32;
        if number == 0 {
            track.variables.reserve(FEW);
        }
        track.variables.push(variable);
        if self.checked.locals[local as usize].in_memory {
            return;
        }
        if count <= MOST_FRAGMENTS {
            for fragment in 0..count {
                self.ssa.set_fragment(first + fragment, Fragment { variable: number, index: fragment });
                self.track_value(first + fragment);
            }
        }
    }

    /// Records for debuggers that an SSA variable has a new value from the current program point on.
    pub(super) fn track_value(&mut self, var: u32) {
        if let Some(fragment) = self.ssa.owner(var) {
            let value = self.ssa.get(var);
            self.note(What::Value(fragment, value));
        }
    }

    /// Records for debuggers that an SSA variable has this value at the start of a block. The block must
    /// still be empty: the next instruction that is emitted will be its first one.
    pub(super) fn track_in(&mut self, block: Block, var: u32, value: Value) {
        if let Some(fragment) = self.ssa.owner(var) {
            let next = self.func.insts.next_key();
            if let Some(track) = &mut self.func.track {
                track.note(block, next, What::Value(fragment, value));
            }
        }
    }
}
