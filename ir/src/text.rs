//! Writes the text form (`.kir`). The grammar is in `docs/ir.md`; [`crate::parse`] reads the text form.
//!
//! Values and blocks keep their numbers, so that a dump can be compared with the messages of a pass.
//! `Display` of [`Module`] and [`Function`] omits source positions; [`with_locations`] writes them.

use crate::entity::{Block, FuncId, Inst, Switch, Value};
use crate::func::{
    Case, Format, Function, GlobalData, Inline, KernelInfo, KernelParam, Linkage, Module, ParamKind,
    UnrollHint, ValueDef,
};
use crate::half::Half;
use crate::op::{Mem, MemFlags, Op, Order, Spaces};
use crate::state::InitialState;
use crate::track::{Fragment, Track, What};
use crate::types::Type;
use std::fmt::{self, Display, Formatter, Write};

/// Returns the text of a module with `!offset` after each instruction that has a source position.
pub fn with_locations(module: &Module) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_module(&mut out, module, true);
    out
}

/// Returns the text of a module's declarations: signatures, `printf` formats, global variables, and functions
/// and kernels without their bodies.
pub fn declarations(module: &Module) -> String {
    let mut out = String::new();
    let _ = write_head(&mut out, module);
    for func in module.funcs.values() {
        if let Some(kernel) = &func.kernel {
            let blank = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{blank}kernel @{} {{", func.name);
            let _ = write_kernel(&mut out, kernel);
            out.push_str("}\n");
        } else {
            // A function gets only its declaration here. Its body is elsewhere: later in the text, or in
            // another object.
            let _ = write_declaration(&mut out, func);
        }
    }
    out
}

fn write_declaration(out: &mut dyn Write, func: &Function) -> fmt::Result {
    let params: Vec<Type> = func.param_types().collect();
    let export = if func.linkage == Linkage::Export { "export " } else { "" };
    write!(out, "{export}extern func @{}", func.name)?;
    write_types(out, &params, &func.results)?;
    writeln!(out)
}

/// Returns the text of one function, with the names of the functions and variables to which it refers.
pub fn function(func: &Function, module: &Module) -> String {
    let mut out = String::new();
    let _ = write_function(&mut out, func, Some(module), false);
    out
}

/// Returns the text of one instruction, without indentation and line end.
pub fn instruction(func: &Function, inst: Inst, module: Option<&Module>) -> String {
    let mut out = String::new();
    let _ = Writer { out: &mut out, func, module }.inst(inst);
    out
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_module(f, self, false)
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_function(f, self, None, false)
    }
}

/// Writes the part of a module before its functions.
fn write_head(out: &mut dyn Write, module: &Module) -> fmt::Result {
    for (id, sig) in module.sigs.iter() {
        write!(out, "{id} = ")?;
        write_types(out, &sig.params, &sig.results)?;
        writeln!(out)?;
    }
    for format in &module.formats {
        write_format(out, format)?;
    }
    for global in module.globals.values() {
        write_global(out, module, global)?;
    }
    Ok(())
}

fn write_module(out: &mut dyn Write, module: &Module, locations: bool) -> fmt::Result {
    write_head(out, module)?;
    for (n, func) in module.funcs.values().enumerate() {
        let declares = !module.globals.is_empty() || !module.sigs.is_empty() || !module.formats.is_empty();
        if n > 0 || declares {
            writeln!(out)?;
        }
        write_function(out, func, Some(module), locations)?;
    }
    Ok(())
}

fn write_format(out: &mut dyn Write, Format { sizes, text }: &Format) -> fmt::Result {
    write!(out, "printf ")?;
    for size in sizes {
        write!(out, "{size} ")?;
    }
    writeln!(out, "{text:?}")
}

/// Writes a signature such as `(i32, f32) -> i32`.
fn write_types(out: &mut dyn Write, params: &[Type], results: &[Type]) -> fmt::Result {
    write!(out, "(")?;
    for (n, ty) in params.iter().enumerate() {
        write!(out, "{}{ty}", if n == 0 { "" } else { ", " })?;
    }
    write!(out, ")")?;
    write_results(out, results)
}

fn write_results(out: &mut dyn Write, results: &[Type]) -> fmt::Result {
    for (n, ty) in results.iter().enumerate() {
        write!(out, "{}{ty}", if n == 0 { " -> " } else { ", " })?;
    }
    Ok(())
}

fn write_global(out: &mut dyn Write, module: &Module, global: &GlobalData) -> fmt::Result {
    write!(out, "{}", if global.external { "extern " } else { "" })?;
    write!(out, "{} @{} size {} align {}", global.space.name(), global.name, global.size, global.align)?;
    if global.dynamic {
        write!(out, " dynamic")?;
    }
    for (n, chunk) in global.init.chunks(32).enumerate() {
        write!(out, "{}\"", if n == 0 { " = " } else { "\n    " })?;
        for byte in chunk {
            write!(out, "{byte:02x}")?;
        }
        write!(out, "\"")?;
    }
    for &(offset, func) in &global.funcs {
        match module.funcs.get(func) {
            Some(func) => write!(out, "\n    func_at {offset} @{}", func.name)?,
            None => write!(out, "\n    func_at {offset} {func}")?,
        }
    }
    writeln!(out)
}

fn write_function(
    out: &mut dyn Write,
    func: &Function,
    module: Option<&Module>,
    locations: bool,
) -> fmt::Result {
    match func.linkage {
        Linkage::Local => {}
        Linkage::Export => write!(out, "export ")?,
        Linkage::Extern => return write_declaration(out, func),
    }
    // Debug records are completed only after the last pass. The writer therefore completes a copy of the
    // function and prints the copy.
    let concluded = func.track.is_some().then(|| {
        let mut func = func.clone();
        func.conclude_track();
        func
    });
    let func = concluded.as_ref().unwrap_or(func);
    write!(out, "{} @{}", if func.kernel.is_some() { "kernel" } else { "func" }, func.name)?;
    write_results(out, &func.results)?;
    writeln!(out, " {{")?;
    match func.inline {
        Inline::Auto => {}
        Inline::Always => writeln!(out, "    inline always")?,
        Inline::Never => writeln!(out, "    inline never")?,
    }
    if let Some(kernel) = &func.kernel {
        write_kernel(out, kernel)?;
    }
    for (slot, data) in func.slots.iter() {
        writeln!(out, "    {slot} size {} align {}", data.size, data.align)?;
    }
    for &block in &func.layout {
        write_block_head(out, func, block)?;
        for &inst in func.blocks[block].insts() {
            if let Some(track) = &func.track {
                write_records(out, func, track, inst)?;
            }
            write!(out, "    ")?;
            Writer { out: &mut *out, func, module }.inst(inst)?;
            match func.insts[inst].loc.0 {
                loc if locations && loc > 0 => writeln!(out, " !{loc}")?,
                _ => writeln!(out)?,
            }
        }
    }
    writeln!(out, "}}")
}

/// Writes the debug records before an instruction as comments.
#[cold]
fn write_records(out: &mut dyn Write, func: &Function, track: &Track, inst: Inst) -> fmt::Result {
    let name = |fragment: Fragment| {
        let name =
            track.variables.get(fragment.variable as usize).map_or("?", |variable| variable.name.as_str());
        format!("{name}.{}", fragment.index)
    };
    for what in track.notes.before(inst) {
        match what {
            What::Statement(loc) => writeln!(out, "    ; statement !{}", loc.0)?,
            What::Value(fragment, value) => match func.const_bits(value) {
                Some(bits) => writeln!(out, "    ; {} is {bits:#x}", name(fragment))?,
                None => writeln!(out, "    ; {} is {value}", name(fragment))?,
            },
            What::Term(fragment, value) => {
                write!(out, "    ; {} is ", name(fragment))?;
                write_term(out, func, track, value)?;
                writeln!(out)?;
            }
            What::Lost(fragment) => writeln!(out, "    ; {} is lost", name(fragment))?,
        }
    }
    Ok(())
}

/// Writes a value that is no longer in the code, but that debug information needs. It is written as a term,
/// such as `(add v3 (shl v4 0x2))`.
fn write_term(out: &mut dyn Write, func: &Function, track: &Track, value: Value) -> fmt::Result {
    let ValueDef::Result(inst, _) = func.values[value].def else { return write!(out, "{value}") };
    let name = match func.insts[inst].op {
        Op::Const(bits) => return write!(out, "{bits:#x}"),
        _ if !track.keeps(inst) => return write!(out, "{value}"),
        Op::Un(op) => op.mnemonic(),
        Op::Bin(op) => op.mnemonic(),
        Op::Cast(op) => op.mnemonic(),
        Op::Icmp(cc) => cc.mnemonic(),
        Op::Select => "select",
        _ => "ptr_add",
    };
    write!(out, "({name}")?;
    for &arg in func.args(inst) {
        write!(out, " ")?;
        write_term(out, func, track, arg)?;
    }
    write!(out, ")")
}

fn write_block_head(out: &mut dyn Write, func: &Function, block: Block) -> fmt::Result {
    write!(out, "{block}")?;
    for (n, &param) in func.params(block).iter().enumerate() {
        write!(out, "{}{param}: {}", if n == 0 { "(" } else { ", " }, func.ty(param))?;
    }
    if !func.params(block).is_empty() {
        write!(out, ")")?;
    }
    match func.unroll[block] {
        UnrollHint::None => {}
        UnrollHint::Full => write!(out, " unroll full")?,
        UnrollHint::By(n) => write!(out, " unroll {n}")?,
        UnrollHint::Never => write!(out, " unroll never")?,
    }
    writeln!(out, ":")
}

fn write_kernel(out: &mut dyn Write, kernel: &KernelInfo) -> fmt::Result {
    for param in &kernel.params {
        write_param(out, param)?;
    }
    writeln!(out, "    kernarg_size {}", kernel.kernarg_size)?;
    for (name, size) in
        [("workgroup_size", kernel.reqd_workgroup_size), ("workgroup_size_hint", kernel.workgroup_size_hint)]
    {
        if let Some([x, y, z]) = size {
            writeln!(out, "    {name} {x}, {y}, {z}")?;
        }
    }
    for (name, value) in [
        ("max_workgroup_size", kernel.max_workgroup_size),
        ("num_vgpr", kernel.num_vgpr),
        ("num_sgpr", kernel.num_sgpr),
    ] {
        if let Some(value) = value {
            writeln!(out, "    {name} {value}")?;
        }
    }
    match kernel.waves_per_eu {
        Some((min, Some(max))) => writeln!(out, "    waves_per_eu {min}, {max}")?,
        Some((min, None)) => writeln!(out, "    waves_per_eu {min}")?,
        None => {}
    }
    if let Some(hint) = &kernel.vec_type_hint {
        writeln!(out, "    vec_type_hint {hint:?}")?;
    }
    if kernel.requires_dot {
        writeln!(out, "    requires_dot")?;
    }
    write_state(out, &kernel.state)
}

fn write_state(out: &mut dyn Write, state: &InitialState) -> fmt::Result {
    if let Some(lanes) = state.wave_size {
        writeln!(out, "    wave_size {lanes}")?;
    }
    if let Some(denormals) = state.denormals {
        writeln!(out, "    denormals {}", denormals.name())?;
    }
    for (name, on) in [("ieee", state.ieee), ("dx10_clamp", state.dx10_clamp)] {
        if let Some(on) = on {
            writeln!(out, "    {name} {on}")?;
        }
    }
    if let Some(exceptions) = state.exceptions {
        write!(out, "    exceptions")?;
        exceptions.names().try_for_each(|name| write!(out, " {name}"))?;
        writeln!(out)?;
    }
    state.implicit_args.map_or(Ok(()), |bytes| writeln!(out, "    implicit_args {bytes}"))
}

fn write_param(out: &mut dyn Write, param: &KernelParam) -> fmt::Result {
    write!(out, "    param {:?} {:?} {} x {}", param.name, param.type_name, param.elem, param.lanes)?;
    write!(
        out,
        " {}",
        match param.kind {
            ParamKind::ByValue => "by_value",
            ParamKind::GlobalBuffer => "buffer",
            ParamKind::DynamicShared => "dynamic_shared",
            ParamKind::Opaque(opaque) => opaque.name(),
        }
    )?;
    if let ParamKind::Opaque(opaque) = param.kind
        && let Some(access) = opaque.access()
    {
        write!(out, " {}", access.name())?;
    }
    if let Some(space) = param.space {
        write!(out, " {}", space.name())?;
    }
    write!(out, " at {} size {} align {}", param.offset, param.size, param.align)?;
    write!(out, " pointee_align {}", param.pointee_align)?;
    for (flag, name) in
        [(param.is_const, "const"), (param.is_restrict, "restrict"), (param.is_volatile, "volatile")]
    {
        if flag {
            write!(out, " {name}")?;
        }
    }
    writeln!(out)
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    func: &'a Function,
    module: Option<&'a Module>,
}

impl Writer<'_> {
    fn inst(&mut self, inst: Inst) -> fmt::Result {
        let data = &self.func.insts[inst];
        let args = self.func.args(inst);
        for (n, value) in self.func.results_of(inst).enumerate() {
            write!(self.out, "{}{value}", if n == 0 { "" } else { ", " })?;
            if data.op.is_call() {
                write!(self.out, ": {}", self.func.ty(value))?;
            }
        }
        if data.results > 0 {
            write!(self.out, " = ")?;
        }
        // The errors of the verifier contain the text of malformed instructions, which may lack operands. The
        // code below therefore does not assume that a memory or branch operation has all its operands.
        let typed = |f: &mut dyn Write, name: &str| write!(f, "{name}.{}", self.func.ty(data.first));
        match data.op {
            Op::Const(bits) => {
                typed(self.out, "const")?;
                write!(self.out, " ")?;
                return self.constant(self.func.ty(data.first), bits);
            }
            Op::Un(op) => typed(self.out, op.mnemonic())?,
            Op::Bin(op) => typed(self.out, op.mnemonic())?,
            Op::Tern(op) => typed(self.out, op.mnemonic())?,
            Op::Cast(op) => typed(self.out, op.mnemonic())?,
            Op::Wave(op) => typed(self.out, op.mnemonic())?,
            Op::Select => typed(self.out, "select")?,
            Op::PtrAdd => typed(self.out, "ptr_add")?,
            Op::PtrAddZ => typed(self.out, "ptr_add_z")?,
            Op::Icmp(cc) => write!(self.out, "icmp.{}", cc.mnemonic())?,
            Op::Fcmp(cc) => write!(self.out, "fcmp.{}", cc.mnemonic())?,
            Op::Pos(pos) => {
                let (name, dimension) = pos.mnemonic();
                typed(self.out, name)?;
                return dimension.map_or(Ok(()), |d| write!(self.out, " {d}"));
            }
            Op::GlobalAddr(global) => {
                typed(self.out, "global_addr")?;
                return match self.module.and_then(|m| m.globals.get(global)) {
                    Some(data) => write!(self.out, " @{}", data.name),
                    None => write!(self.out, " {global}"),
                };
            }
            Op::FuncAddr(func) => {
                typed(self.out, "func_addr")?;
                write!(self.out, " ")?;
                return self.callee(func);
            }
            Op::SlotAddr(slot) => {
                typed(self.out, "slot_addr")?;
                return write!(self.out, " {slot}");
            }
            Op::Load { mem, .. } => {
                typed(self.out, "load")?;
                return self.memory(&mem, args, None);
            }
            Op::Store { mem, .. } => {
                write!(self.out, "store")?;
                return self.memory(&mem, args, None);
            }
            Op::AtomicRmw { op, mem } => {
                typed(self.out, op.mnemonic())?;
                return self.memory(&mem, args, None);
            }
            Op::AtomicCas { mem, fail } => {
                typed(self.out, "atomic_cas")?;
                return self.memory(&mem, args, Some(fail));
            }
            _ => return self.untyped_op(data.op, args),
        }
        if !args.is_empty() {
            write!(self.out, " ")?;
        }
        self.values(args)
    }

    /// Writes operations that have no typed result.
    fn untyped_op(&mut self, op: Op, args: &[Value]) -> fmt::Result {
        match op {
            Op::Fence { order, scope, spaces } => {
                write!(self.out, "fence {} {}", order.mnemonic(), scope.mnemonic())?;
                for (space, name) in
                    [(Spaces::GLOBAL, "global"), (Spaces::SHARED, "shared"), (Spaces::PRIVATE, "private")]
                {
                    if spaces.contains(space) {
                        write!(self.out, " {name}")?;
                    }
                }
                Ok(())
            }
            Op::Barrier { fence: true } => write!(self.out, "barrier"),
            Op::Barrier { fence: false } => write!(self.out, "barrier_only"),
            Op::WaveBarrier => write!(self.out, "wave_barrier"),
            Op::Trap { debug: false } => write!(self.out, "trap"),
            Op::Trap { debug: true } => write!(self.out, "debug_trap"),
            Op::Sleep => write!(self.out, "sleep"),
            Op::Interrupt => self.plain("interrupt", args),
            Op::Call(callee) => {
                write!(self.out, "call ")?;
                self.callee(callee)?;
                self.in_brackets(args)
            }
            Op::CallIndirect(sig) => {
                write!(self.out, "call_indirect {sig} ")?;
                let (address, args) = args.split_at(args.len().min(1));
                self.values(address)?;
                self.in_brackets(args)
            }
            Op::Assume => self.plain("assume", args),
            Op::Ret => self.plain("ret", args),
            Op::Jump(to) => {
                write!(self.out, "jump ")?;
                self.target(to, args)
            }
            Op::Br { then, otherwise, then_args } => {
                let (cond, rest) = args.split_at(args.len().min(1));
                let (a, b) = rest.split_at(rest.len().min(usize::from(then_args)));
                self.plain("br", cond)?;
                write!(self.out, ", ")?;
                self.target(then, a)?;
                write!(self.out, ", ")?;
                self.target(otherwise, b)
            }
            Op::Switch(switch) => self.switch(switch, args),
            _ => write!(self.out, "unreachable"),
        }
    }

    /// Writes `switch v, default [ 1, 3 to 5 -> b1(args), … ]`.
    fn switch(&mut self, switch: Switch, args: &[Value]) -> fmt::Result {
        self.plain("switch", &args[..args.len().min(1)])?;
        let Some(data) = self.func.switches.get(switch) else { return write!(self.out, ", {switch}") };
        let mut cases = data.cases.clone();
        cases.sort_by_key(|case| case.edge);
        let (mut cases, mut start) = (cases.into_iter().peekable(), 1);
        for (n, edge) in data.edges.iter().enumerate() {
            write!(self.out, "{}", if n == 1 { " [ " } else { ", " })?;
            let mut first = true;
            while let Some(Case { lo, hi, .. }) = cases.next_if(|case| case.edge == n as u32) {
                write!(self.out, "{}{lo}", if first { "" } else { ", " })?;
                if hi > lo {
                    write!(self.out, " to {hi}")?;
                }
                first = false;
            }
            write!(self.out, "{}", if n > 0 { " -> " } else { "" })?;
            let end = (edge.args_end as usize).clamp(start, args.len().max(start));
            self.target(edge.to, args.get(start..end).unwrap_or_default())?;
            start = end;
        }
        write!(self.out, "{}", if data.edges.len() > 1 { " ]" } else { "" })
    }

    fn plain(&mut self, name: &str, args: &[Value]) -> fmt::Result {
        write!(self.out, "{name}{}", if args.is_empty() { "" } else { " " })?;
        self.values(args)
    }

    fn values(&mut self, values: &[Value]) -> fmt::Result {
        for (n, value) in values.iter().enumerate() {
            write!(self.out, "{}{value}", if n == 0 { "" } else { ", " })?;
        }
        Ok(())
    }

    fn in_brackets(&mut self, values: &[Value]) -> fmt::Result {
        write!(self.out, "(")?;
        self.values(values)?;
        write!(self.out, ")")
    }

    fn callee(&mut self, func: FuncId) -> fmt::Result {
        match self.module.and_then(|m| m.funcs.get(func)) {
            Some(data) => write!(self.out, "@{}", data.name),
            None => write!(self.out, "{func}"),
        }
    }

    fn target(&mut self, block: Block, args: &[Value]) -> fmt::Result {
        write!(self.out, "{block}")?;
        if args.is_empty() { Ok(()) } else { self.in_brackets(args) }
    }

    fn constant(&mut self, ty: Type, bits: u64) -> fmt::Result {
        let f = &mut self.out;
        match ty {
            Type::Bool if bits <= 1 => write!(f, "{}", bits == 1),
            Type::I32 if bits >> 32 == 0 => write!(f, "{}", bits as u32 as i32),
            Type::I64 => write!(f, "{}", bits as i64),
            Type::F16 if bits >> 16 == 0 && bits & 0x7c00 != 0x7c00 => {
                write!(f, "{:?}", Half(bits as u16).wide())
            }
            Type::F32 if bits >> 32 == 0 && f32::from_bits(bits as u32).is_finite() => {
                write!(f, "{:?}", f32::from_bits(bits as u32))
            }
            Type::F64 if f64::from_bits(bits).is_finite() => write!(f, "{:?}", f64::from_bits(bits)),
            _ => write!(f, "{bits:#x}"),
        }
    }

    fn memory(&mut self, mem: &Mem, args: &[Value], fail: Option<Order>) -> fmt::Result {
        write!(self.out, " {} {} [", mem.ty.name(), mem.space.name())?;
        let (pointer, values) = args.split_at(args.len().min(1));
        self.values(pointer)?;
        if mem.offset != 0 {
            write!(self.out, " + {}", mem.offset)?;
        }
        write!(self.out, "]")?;
        for value in values {
            write!(self.out, ", {value}")?;
        }
        write!(self.out, " align {}", mem.align)?;
        for (flag, name) in FLAGS {
            if mem.flags.contains(*flag) {
                write!(self.out, " {name}")?;
            }
        }
        if mem.alias != 0 {
            write!(self.out, " alias {}", mem.alias)?;
        }
        if mem.order != Order::NotAtomic {
            write!(self.out, " atomic {} {}", mem.order.mnemonic(), mem.scope.mnemonic())?;
        }
        match fail {
            Some(order) => write!(self.out, " fail {}", order.mnemonic()),
            None => Ok(()),
        }
    }
}

/// Names of the flags of a memory access.
pub(crate) const FLAGS: &[(MemFlags, &str)] = &[
    (MemFlags::VOLATILE, "volatile"),
    (MemFlags::NONTEMPORAL, "nontemporal"),
    (MemFlags::INVARIANT, "invariant"),
    (MemFlags::ONE_AS, "one_as"),
];
