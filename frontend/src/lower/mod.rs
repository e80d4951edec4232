//! Lowers the checked syntax tree to IR.
//!
//! The walk over the tree directly builds SSA values for local scalars and vectors ([`ssa`]). Arrays, and
//! variables whose address is taken, get a stack slot. The control flow is as structured as the source: every
//! loop has one header, and a function has one `ret`.

mod builtin;
mod control;
mod cross_lane_exits;
mod expr;
mod home;
mod matching;
mod math;
mod memory;
mod ops;
pub mod passing;
mod pattern;
mod printf;
mod ssa;
pub mod track;
mod wave;

use crate::Options;
use crate::Printf;
use crate::ast::{Ast, BlockId};
use crate::check::{Checked, Func};
use crate::diag::SourceText;
use crate::scalar::Scalar;
use crate::types::{Qualifiers, Ty, TyKind};
use ir::{
    Block, CastOp, FuncId, Function, Global, GlobalData, KernelInfo, KernelParam, Linkage, Mem, MemFlags,
    MemTy, Module, Op, Order, ParamKind, Pos, Scope, Signature, Space, SrcLoc, Type, Value,
};
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::sync::Arc;

/// The IR values of the fragments (scalars) of a source value, in order.
type Val = SmallVec<[Value; 8]>;
/// Types of the fragments of a value.
type FragmentTypes = SmallVec<[Type; 8]>;

/// Lowers a program that was checked without errors.
pub fn lower(
    ast: &Ast<'_>,
    source: &str,
    files: &dyn Fn() -> Arc<SourceText>,
    checked: &mut Checked,
    options: &Options<'_>,
    s: &mut Scratch,
    mut module: Module,
) -> Module {
    for item in &checked.statics {
        module.globals.push(static_data(checked, item));
    }
    s.describer = options.debug.then(|| Box::new(track::Describer::new(checked, ast, source)));
    s.const_globals.clear();
    s.const_globals.resize(checked.consts.len(), None);
    s.library.clear();
    s.lines = None;
    s.local_at.clear();
    s.local_at.resize(checked.locals.len(), 0);
    for at in 0..checked.funcs.len() {
        if let Some(instance) = checked.funcs[at].instance {
            checked.restore(instance);
        }
        let func = &checked.funcs[at];
        let text = (source, files);
        let function = lower_function(ast, text, checked, options, (at as u32, func), s, &mut module);
        module.funcs.push(function);
    }
    cross_lane_exits::remove_needless_ways_back(&mut module, s);
    if let Some(describer) = s.describer.take() {
        begin_tracks(&mut module, *describer);
    }
    module
}

/// Completes the debug information of the module's functions: attaches each record of debug information to
/// the instruction that follows it in its block.
#[cold]
fn begin_tracks(module: &mut Module, describer: track::Describer) {
    for func in module.funcs.values_mut() {
        if let Some(mut track) = func.track.take() {
            track.begin(func);
            func.track = Some(track);
        }
    }
    module.description = Some(Box::new(describer.description));
}

/// Working memory that is reused from function to function.
#[derive(Default)]
pub struct Scratch {
    /// For each constant that is indexed at run time: the module variable in constant memory that holds the
    /// constant's value.
    const_globals: Vec<Option<Global>>,
    /// First SSA variable, or stack slot, of each local variable.
    local_at: Vec<u32>,
    ssa: ssa::Env,
    loops: Vec<control::Loop>,
    returns: Vec<ssa::Edge>,
    ways_back: Vec<cross_lane_exits::WayBack>,
    /// Positions of the lines of the source, for texts that contain a line number. They are computed when one
    /// is first needed.
    lines: Option<printf::Lines>,
    /// Library functions that the program calls. They are numbered after the program's functions.
    pub library: Vec<SmolStr>,
    /// Description for debuggers, if debug information is requested.
    describer: Option<Box<track::Describer>>,
}

fn static_data(checked: &Checked, item: &crate::check::StaticItem) -> GlobalData {
    let layout = checked.types.layout(item.ty);
    let (mut init, mut funcs) = (Vec::new(), Vec::new());
    if !item.init.is_empty() {
        init = vec![0; layout.size as usize];
        let mut fragments = item.init.iter().copied();
        write_bytes(checked, item.ty, 0, &mut fragments, (&mut init, &mut funcs));
    }
    // Wide LDS accesses need an alignment of 16 bytes.
    let align = if item.space == Space::Shared { layout.align.max(16) } else { layout.align };
    GlobalData {
        name: item.name.clone(),
        space: item.space,
        size: layout.size,
        align,
        init,
        dynamic: item.dynamic,
        external: item.external,
        linked: false,
        funcs,
    }
}

/// Writes a value of type `ty` to the bytes of its memory image, as the initial value of a module variable.
/// `fragments` yields the value's fragments (scalars). Also records at which bytes the address of a function
/// must be inserted.
fn write_bytes(
    checked: &Checked,
    ty: Ty,
    at: u32,
    fragments: &mut impl Iterator<Item = u64>,
    (out, funcs): (&mut [u8], &mut Vec<(u32, FuncId)>),
) {
    match checked.types.kind(ty) {
        TyKind::Scalar(scalar) => write_scalar(scalar, at, fragments, out),
        TyKind::Function(_) => {
            funcs.extend(fragments.next().and_then(function_of).map(|func| (at, func)));
        }
        TyKind::Vector(scalar, lanes) => {
            for n in 0..u32::from(lanes) {
                write_scalar(scalar, at + n * scalar.bytes(), fragments, out);
            }
        }
        TyKind::Array(element, len) => {
            let size = checked.types.layout(element).size;
            (0..len).for_each(|n| write_bytes(checked, element, at + n * size, fragments, (out, funcs)));
        }
        TyKind::Struct(index) => {
            for field in &checked.types.structs[index as usize].fields {
                write_bytes(checked, field.ty, at + field.offset, fragments, (out, funcs));
            }
        }
        _ => {}
    }
}

/// Decodes a fragment (scalar) whose type is a function type. Returns the function, or `None` for the null
/// pointer.
fn function_of(fragment: u64) -> Option<FuncId> {
    u32::try_from(fragment).ok()?.checked_sub(1).map(func_id)
}

fn write_scalar(scalar: Scalar, at: u32, fragments: &mut impl Iterator<Item = u64>, out: &mut [u8]) {
    let bits = fragments.next().unwrap_or(0).to_le_bytes();
    let (at, bytes) = (at as usize, scalar.bytes() as usize);
    out[at..at + bytes].copy_from_slice(&bits[..bytes]);
}

/// State of the function being lowered.
struct Lower<'l, 'a> {
    ast: &'l Ast<'a>,
    checked: &'l Checked,
    module: &'l mut Module,
    const_globals: &'l mut Vec<Option<Global>>,
    fp_contract: bool,
    fast_math: bool,
    separate_spaces: bool,
    global_offset: bool,
    abi: Option<passing::Abi<'l>>,
    asserts: bool,
    check_divisions: bool,
    printf: Printf,
    source: &'l str,
    /// Source text with the texts of the files that it uses.
    files: &'l dyn Fn() -> Arc<SourceText>,
    /// Whether the kernel has `#[small_buffers]`, so that pointer parameters are indexed with 32-bit byte
    /// offsets.
    small_buffers: bool,
    workgroup_size: Option<[u32; 3]>,
    func: Function,
    /// Block that new instructions are appended to.
    block: Block,
    /// Whether the code that is being lowered is unreachable. The current block (`block`) is then not added
    /// to the function's layout.
    dead: bool,
    loc: SrcLoc,
    ssa: &'l mut ssa::Env,
    /// First SSA variable, or stack slot, of each local variable.
    local_at: &'l mut Vec<u32>,
    /// The function's parameters: `params` local variables, beginning with number `first_param`.
    params: u32,
    first_param: u32,
    loops: &'l mut Vec<control::Loop>,
    returns: Vec<ssa::Edge>,
    /// Number of the function in the module.
    number: u32,
    /// Number of operations lowered so far that depend on other lanes or call functions that may do so.
    crossings: u32,
    ways_back: &'l mut Vec<cross_lane_exits::WayBack>,
    lines: &'l mut Option<printf::Lines>,
    library: &'l mut Vec<SmolStr>,
    describer: &'l mut Option<Box<track::Describer>>,
    /// Whether the code also stores each value of a variable to private memory, to the variable's home, for
    /// debuggers. See [`home`].
    has_homes: bool,
    /// Range of source positions in which debuggers see the variables that are declared next. With
    /// `scope_start` as `None`, the range begins at each variable's declaration.
    scope_start: Option<u32>,
    scope_end: u32,
}

fn lower_function(
    ast: &Ast<'_>,
    (source, files): (&str, &dyn Fn() -> Arc<SourceText>),
    checked: &Checked,
    options: &Options<'_>,
    (number, info): (u32, &Func),
    s: &mut Scratch,
    module: &mut Module,
) -> Function {
    let name = ast.name(info.name.sym);
    let mut func = match info.instance {
        Some(instance) => module.new_func(&smol_str::format_smolstr!("{name}.{instance}")),
        None => module.new_func(name),
    };
    (func.linkage, func.inline) = (info.linkage, info.inline);
    let border = border_of(checked, options.abi.as_ref(), info);
    let Some(body) = info.body else {
        let mut signature = Signature::default();
        fragment_types(checked, info.result, &mut signature.results);
        let params = &checked.locals[info.locals.range()];
        params.iter().for_each(|param| fragment_types(checked, param.ty, &mut signature.params));
        func.set_signature(&border.map_or(signature, |border| border.signature()));
        return func;
    };
    let block = func.add_block();
    if let Some(describer) = &mut s.describer {
        describer.function(checked, ast, info, &mut func);
    }
    fragment_types(checked, info.result, &mut func.results);
    let workgroup_size = info.kernel.as_ref().and_then(|kernel| kernel.reqd_workgroup_size);
    let Scratch { const_globals, local_at, ssa, loops, returns, ways_back, lines, library, describer } = s;
    ssa.clear();
    let mut lower = Lower {
        ast,
        checked,
        module,
        const_globals,
        fp_contract: options.fp_contract,
        fast_math: options.fast_math,
        separate_spaces: options.separate_spaces,
        global_offset: options.global_offset,
        abi: options.abi,
        asserts: options.asserts,
        check_divisions: options.check_divisions,
        printf: options.printf,
        source,
        files,
        small_buffers: info.small_buffers,
        workgroup_size,
        func,
        block,
        dead: false,
        loc: SrcLoc(info.name.span.start + 1),
        ssa,
        local_at,
        params: info.locals.len,
        first_param: info.locals.start,
        loops,
        returns: std::mem::take(returns),
        number,
        crossings: 0,
        ways_back,
        lines,
        library,
        describer,
        has_homes: options.homes,
        scope_start: None,
        scope_end: ast.block(body).span.end,
    };
    lower.params_and_body(info, border.as_ref(), body);
    let Lower { func, returns, .. } = lower;
    s.returns = returns;
    func
}

impl Lower<'_, '_> {
    /// Lowers the parameters, the body and the result of a function. `border` is the plan that says in which
    /// registers and stack slots arguments and result are passed. Only functions that other object files
    /// know, or whose address is taken, have a plan.
    fn params_and_body(&mut self, info: &Func, border: Option<&passing::PassingPlan>, body: BlockId) {
        if let Some(kernel) = &info.kernel {
            let loc = self.loc;
            let kernel = self.kernel_params(self.source, info, kernel.clone());
            self.func.kernel = Some(ir::KernelInfo { loc, ..kernel });
        }
        let mut stored = None;
        match border {
            Some(border) => stored = self.params_over(border, info),
            None if info.kernel.is_none() => self.function_params(info),
            None => {}
        }
        let value = self.block(body);
        self.finish(value);
        if let Some(border) = border {
            self.leave_over(border, stored, info.result);
        }
    }
}

/// Returns the plan by which the calling convention passes the arguments and the result of a function. Only a
/// function that other object files know, or whose address is taken, has a plan. For any other function the
/// result is `None`.
fn border_of(checked: &Checked, abi: Option<&passing::Abi<'_>>, info: &Func) -> Option<passing::PassingPlan> {
    let passes = info.kernel.is_none() && (info.taken || info.linkage != Linkage::Local);
    let abi = abi.filter(|_| passes)?;
    let params: Vec<Ty> = checked.locals[info.locals.range()].iter().map(|local| local.ty).collect();
    // A function with a type that the convention cannot pass has no plan either. If other object files know
    // the function, the checker has reported it.
    passing::border(&checked.types, abi, &params, info.result).ok()
}

/// Appends the IR types of the fragments of a type.
fn fragment_types(checked: &Checked, ty: Ty, out: &mut impl Extend<Type>) {
    match checked.types.kind(ty) {
        TyKind::Scalar(scalar) => out.extend([scalar.ir()]),
        TyKind::Vector(scalar, lanes) => out.extend((0..lanes).map(|_| scalar.ir())),
        TyKind::Pointer(pointer) => out.extend([Type::Ptr(pointer.space)]),
        TyKind::Function(_) => out.extend([Type::I64]),
        TyKind::Array(element, len) => (0..len).for_each(|_| fragment_types(checked, element, out)),
        TyKind::Struct(index) => {
            checked.types.structs[index as usize]
                .fields
                .iter()
                .for_each(|f| fragment_types(checked, f.ty, out));
        }
        TyKind::Error | TyKind::Unit | TyKind::Never | TyKind::None | TyKind::Opaque(..) => {}
    }
}

impl Lower<'_, '_> {
    /// Defines the parameters of a function whose arguments are passed by the plan `border`. If the result is
    /// returned in memory, returns the address at which the function must store it.
    fn params_over(&mut self, border: &passing::PassingPlan, info: &Func) -> Option<Value> {
        let (values, stored) = self.enter_over(border);
        for (local, value) in info.locals.range().zip(values) {
            self.define_local(local as u32, value);
        }
        stored
    }

    /// Defines the parameters of a function that only this module calls. Each fragment (scalar) of a
    /// parameter is a parameter of the function's entry block.
    fn function_params(&mut self, info: &Func) {
        for local in info.locals.range() {
            let mut types = FragmentTypes::new();
            fragment_types(self.checked, self.checked.locals[local].ty, &mut types);
            let values: Val = types.iter().map(|&ty| self.func.add_param(self.block, ty)).collect();
            self.define_local(local as u32, values);
        }
    }

    /// Defines the parameters of a kernel and loads their values from the kernarg segment, the memory in
    /// which the host passes the arguments.
    fn kernel_params(&mut self, source: &str, info: &Func, mut kernel: KernelInfo) -> KernelInfo {
        let mut offset = 0;
        let mut loads = SmallVec::<[_; 8]>::new();
        kernel.params = self.func.new_params();
        kernel.params.reserve(info.params.len as usize);
        for (local, written) in info.locals.range().zip(&self.ast.params[info.params.range()]) {
            let local_info = &self.checked.locals[local];
            // The type name in the metadata includes the fields of a struct, for hosts that have only the
            // object file and not the source.
            let type_name = match self.checked.types.with_fields(local_info.ty, &self.ast.names) {
                Some(text) => text.into(),
                None => self.ast.type_node(written.ty).span.text(source).into(),
            };
            let name = self.ast.name(local_info.name);
            let param = self.kernel_param(name, type_name, local_info.ty, &mut offset);
            loads.push((local, local_info.ty, param.offset));
            kernel.params.push(param);
        }
        kernel.kernarg_size = offset;
        if !loads.is_empty() {
            let base = self.emit(Op::Pos(Pos::KernargPtr), &[], Type::Ptr(Space::Constant));
            for (local, ty, offset) in loads {
                self.loc = SrcLoc(self.checked.locals[local].span.start + 1);
                // The kernarg segment is aligned to 16 bytes (LLVM's AMDGPU guide: seed 000, line 2546). The
                // alignment of a parameter's offset is therefore the alignment of its address, up to 16.
                let align = if offset == 0 { 16 } else { (1 << offset.trailing_zeros().min(4)) as u8 };
                let mem = Mem { align, offset: offset as i32, ..plain_mem(Space::Constant) };
                let mem = Mem { flags: MemFlags::INVARIANT, ..mem };
                let mut values = Val::new();
                self.load_fragments(base, mem, ty, &mut values);
                if self.checked.types.as_pointer(ty).is_some_and(|pointer| pointer.space == Space::Generic) {
                    // The host can only pass pointers to global memory, because shared and private memory
                    // exist only while the kernel runs. The pointer is therefore cast to a global pointer
                    // first, which tells the compiler the address space.
                    for space in [Space::Global, Space::Generic] {
                        values[0] = self.emit(Op::Cast(CastOp::SpaceCast), &[values[0]], Type::Ptr(space));
                    }
                }
                self.define_local(local as u32, values);
            }
        }
        kernel
    }

    fn kernel_param(&self, name: &str, type_name: SmolStr, ty: Ty, offset: &mut u32) -> KernelParam {
        let types = &self.checked.types;
        let layout = types.layout(ty);
        let at = offset.next_multiple_of(layout.align);
        *offset = at + layout.size;
        let pointer = types.as_pointer(ty);
        let value = pointer.map_or(ty, |pointer| pointer.to);
        let (elem, lanes) = element_name(self.checked, value);
        let has = |flag| pointer.is_some_and(|pointer| pointer.qualifiers.contains(flag));
        let kind = match pointer {
            None if let TyKind::Opaque(opaque, _) = types.kind(ty) => ParamKind::Opaque(opaque),
            None => ParamKind::ByValue,
            Some(pointer) if pointer.space == Space::Shared => ParamKind::DynamicShared,
            Some(_) => ParamKind::GlobalBuffer,
        };
        KernelParam {
            name: name.into(),
            type_name,
            elem,
            lanes,
            kind,
            space: pointer.map(|pointer| pointer.space),
            offset: at,
            size: layout.size,
            align: layout.align,
            pointee_align: pointer.map_or(0, |pointer| types.layout(pointer.to).align),
            is_const: has(Qualifiers::CONST),
            is_restrict: has(Qualifiers::RESTRICT),
            is_volatile: has(Qualifiers::VOLATILE),
        }
    }

    fn emit(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.crossings += u32::from(matches!(op, Op::Wave(_)));
        self.func.push1(self.block, op, args, ty, self.loc)
    }

    fn effect(&mut self, op: Op, args: &[Value]) {
        self.func.push(self.block, op, args, self.loc);
    }

    fn ty_of(&self, id: crate::ast::ExprId) -> Ty {
        self.checked.expr_ty[id.at()]
    }

    /// Returns a zero for each fragment (scalar) of a type. The zeros stand for values in unreachable code
    /// and for variables without a value.
    fn zeros(&mut self, ty: Ty) -> Val {
        let mut types = FragmentTypes::new();
        fragment_types(self.checked, ty, &mut types);
        types.into_iter().map(|ty| self.zero(ty)).collect()
    }
}

/// Returns the attributes of a plain access.
fn plain_mem(space: Space) -> Mem {
    Mem {
        ty: MemTy::B32,
        space,
        align: 1,
        flags: MemFlags::empty(),
        order: Order::NotAtomic,
        scope: Scope::System,
        offset: 0,
        alias: 0,
    }
}

/// Returns the metadata's `.value_type` of a kernel parameter, and the number of vector elements. For a
/// pointer parameter, both describe the type that it points to.
fn element_name(checked: &Checked, ty: Ty) -> (&'static str, u8) {
    match checked.types.kind(ty) {
        TyKind::Scalar(Scalar::Bool) => ("u8", 1),
        TyKind::Scalar(scalar) => (scalar.name(), 1),
        TyKind::Vector(Scalar::Bool, lanes) => ("u8", lanes),
        TyKind::Vector(scalar, lanes) => (scalar.name(), lanes),
        TyKind::Array(element, _) => element_name(checked, element),
        TyKind::Pointer(pointer) if pointer.space.pointer_bits() == 32 => ("u32", 1),
        TyKind::Pointer(_) => ("u64", 1),
        _ => ("struct", 1),
    }
}

/// Returns the IR function of a checked function.
fn func_id(index: u32) -> FuncId {
    FuncId::from_u32(index)
}
