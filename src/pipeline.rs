//! The passes that turn source text into a code object.
//!
//! The passes are listed in tables: those of the optimiser in `ir::passes`, those on machine IR in
//! [`MACHINE`](crate::machine::MACHINE). A [`PassRange`] selects the passes to run. An [`Observer`] sees the
//! program after each pass, which is how `--dump-after` and `--time-passes` work.

use crate::calls::{self, Calls};
use crate::code_object::CodeObject;
use crate::error::{Error, Place};
use crate::handwritten;
use crate::limits::Budget;
use crate::models::Models;
use crate::options::{DebugInfo, Dwarf, DwarfVersion, OptLevel, Options};
use crate::parallel;
use crate::passes::{Form, PassRange};
use crate::processor::{Facts, check_facts};
use crate::program::{Program, read_machine, read_module};
use crate::shared;
use crate::warn;
use emit::lines::Lines;
use frontend::{Diagnostic, Diagnostics, Severity, SourceText};
use isa::{Offsets, Subtarget};
use mir::MachFunc;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Receives the program between passes, for example to print it. Every method has an empty default.
///
/// An observer that keeps warnings and lists the passes over machine code:
///
#[cfg_attr(feature = "unstable", doc = "```")]
#[cfg_attr(not(feature = "unstable"), doc = "```ignore")]
/// #[derive(Default)]
/// struct Seen {
///     passes: Vec<&'static str>,
///     warnings: Vec<String>,
/// }
///
/// impl kernc::Observer for Seen {
///     fn mir(&mut self, pass: &'static str, _: &kernc::Subtarget, _: &kernc::mir::MachFunc) {
///         self.passes.push(pass);
///     }
///     fn warnings(&mut self, warnings: kernc::Diagnostics) {
///         self.warnings.extend(warnings.list.into_iter().map(|warning| warning.message));
///     }
/// }
///
/// let source = "kernel k(x: *global u32) { let unused = 1; x[0] = 2; }";
/// let target = kernc::Target::by_name("gfx906").ok_or("no such processor")?;
/// let mut seen = Seen::default();
/// kernc::Compiler::new(target).compile_observed(source, &kernc::Options::default(), &mut seen)?;
/// assert!(seen.passes.contains(&"regalloc"));
/// assert_eq!(seen.warnings.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Observer {
    /// Called after a pass over the IR.
    fn ir(&mut self, _pass: &'static str, _module: &ir::Module) {}
    /// Called after a pass over a kernel's machine code.
    fn mir(&mut self, _pass: &'static str, _target: &Subtarget, _func: &MachFunc) {}
    /// Called with the warnings about the source, if there are any: once after the frontend, and again after
    /// the checks of the IR.
    fn warnings(&mut self, _warnings: Diagnostics) {}
    /// Called after the object has been written.
    fn done(&mut self, _pass: &'static str) {}
    /// Returns whether the observer uses machine code. If no observer does, kernels may be compiled in
    /// parallel.
    fn looks_at_machine_code(&self) -> bool {
        true
    }
}

/// An observer that ignores everything.
impl Observer for () {
    fn looks_at_machine_code(&self) -> bool {
        false
    }
}

/// An observer that keeps the optimised IR.
#[derive(Clone, Debug, Default)]
pub struct KeepIr(pub ir::Module);

impl Observer for KeepIr {
    fn ir(&mut self, pass: &'static str, module: &ir::Module) {
        if pass == "optimize" {
            self.0 = module.clone();
        }
    }

    fn looks_at_machine_code(&self) -> bool {
        false
    }
}

/// A compiler for one processor. It owns the working memory of the passes, so it is faster to compile many
/// kernels with one compiler.
///
/// A compiler is `Send`: several compilers can run on several threads. A module with several kernels is
/// compiled on several threads in any case; see [`Compiler::set_threads`].
pub struct Compiler {
    target: Subtarget,
    lacks: &'static [isa::Opcode],
    frontend: frontend::Context,
    passes: ir::passes::PassContext,
    warn: warn::Scratch,
    models: Models,
    /// Number of threads that compile kernels; `None` means as many as the machine runs at once.
    threads: Option<usize>,
    /// Working memory of each thread that has been needed so far.
    scratch: Vec<Scratch>,
    emitter: emit::Context,
    /// Working memory for debug information; allocated when debug information is first requested.
    described: Option<Box<debuginfo::Scratch>>,
    /// Machine functions of earlier kernels, kept to reuse their memory.
    code: Vec<MachFunc>,
}

/// Working memory of the passes over machine code.
#[derive(Default)]
pub(crate) struct Scratch {
    pub isel: isel::Context,
    pub regalloc: regalloc::Context,
    pub memmodel: memmodel::Context,
}

/// Facts about a function before it is compiled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Own {
    /// Number of the function.
    pub id: Option<ir::FuncId>,
    /// Numbers of SGPRs and VGPRs that the function may use: the smallest numbers among the kernels that
    /// reach it.
    pub register_budget: [Option<u32>; 2],
}

/// Data that is constant during one compilation.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub options: &'a Options,
    /// Source text that the positions in the IR refer to, if the program was compiled from source.
    source: Option<&'a str>,
    /// The same source text with the names of the files it consists of, if there are several files.
    used: Option<&'a Arc<SourceText>>,
    /// Distance between two positions in the IR that denote the same source position in different inlined
    /// copies; see [`ir::track::Track::location_in_copy`].
    stride: u32,
    pub budget: Budget,
    pub lacks: &'static [isa::Opcode],
    pub range: &'a PassRange,
    /// Machine IR of the kernels in order, if it was read from a text instead of being made by the passes.
    pub read: Option<&'a [MachFunc]>,
    /// Facts about the called functions.
    pub calls: Option<&'a Calls>,
    pub own: Own,
}

impl Compiler {
    /// Creates a compiler for a processor in the modes that the [`Subtarget`] names. If only a
    /// [`Target`](isa::Target) is passed, the processor's default modes are used.
    pub fn new(target: impl Into<Subtarget>) -> Compiler {
        Compiler {
            target: target.into(),
            lacks: &[],
            frontend: Default::default(),
            passes: Default::default(),
            warn: Default::default(),
            models: Models::default(),
            threads: None,
            scratch: Vec::new(),
            emitter: Default::default(),
            described: None,
            code: Vec::new(),
        }
    }

    /// Returns the compiler with some instructions of the processor disabled. Tests use this to exercise the
    /// code for processors that lack these instructions.
    #[doc(hidden)]
    pub fn lacking(self, lacks: &'static [isa::Opcode]) -> Compiler {
        Compiler { lacks, ..self }
    }

    /// Sets the number of threads that may work on a module with several kernels. By default it is the number
    /// of threads that the machine runs at once. The number does not affect the output. Small modules never
    /// use more than one thread.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = Some(threads.max(1));
    }

    /// Returns the processor and the modes that the compiler compiles for.
    pub fn target(&self) -> &Subtarget {
        &self.target
    }

    /// Compiles a source text. The same input always gives the same bytes.
    ///
    /// # Errors
    /// The source has errors, the processor does not support something that the program needs, or a limit is
    /// exceeded.
    pub fn compile(&mut self, source: &str, options: &Options) -> Result<CodeObject, Error> {
        self.compile_observed(source, options, &mut ())
    }

    /// Compiles a source text like [`Compiler::compile`] and shows the program to `observer` after each pass.
    ///
    /// # Errors
    /// The errors of [`Compiler::compile`].
    pub fn compile_observed(
        &mut self,
        source: &str,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<CodeObject, Error> {
        self.compile_passes(source, &PassRange::all(options.opt_level), options, observer)?.object()
    }

    /// Runs a range of passes on a text in the form that the first of these passes takes: source, IR, or
    /// machine IR that follows the declarations of its module.
    ///
    /// # Errors
    /// The text has errors, or one of the errors of [`Compiler::compile`] occurs.
    pub fn compile_passes(
        &mut self,
        text: &str,
        range: &PassRange,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<Program, Error> {
        let job = self.job(options, range)?;
        job.budget.source(text.len())?;
        match range.input() {
            Form::Source => {
                let job = Job { source: Some(text), ..job };
                let module = job.frontend(text, &self.target, &mut self.frontend, observer)?;
                let stride = module.description.as_ref().map_or(u32::MAX, |description| description.stride);
                let used = self.frontend.source();
                let source = Some(used.as_ref().map_or(text, |used| &used.text));
                let job = Job { stride, source, used: used.as_ref(), ..job };
                self.module(module, &job, observer)
            }
            Form::Ir => {
                let module = read_module(text, &options.file_name)?;
                job.budget.ir(&module)?;
                self.module(module, &job, observer)
            }
            Form::MachineIr => {
                let (module, code) = read_machine(text, &options.file_name, &self.target)?;
                self.ready(&module, &job)?;
                handwritten::check((&module, &code), &self.models, &job, (&options.file_name, text))?;
                self.machine_code(module, &Job { read: Some(&code), ..job }, observer)
            }
        }
    }

    /// Starts a compilation.
    fn job<'a>(&self, options: &'a Options, range: &'a PassRange) -> Result<Job<'a>, Error> {
        check_facts(&self.target)?;
        let budget = Budget::start(options.limits);
        Ok(Job {
            options,
            source: None,
            used: None,
            stride: u32::MAX,
            budget,
            lacks: self.lacks,
            range,
            read: None,
            calls: None,
            own: Own::default(),
        })
    }

    /// Compiles a module of IR that was made by [`ir::build`] or read by [`ir::parse`]. The options of the
    /// frontend have no effect.
    ///
    #[cfg_attr(feature = "unstable", doc = "```")]
    #[cfg_attr(not(feature = "unstable"), doc = "```ignore")]
    /// use kernc::ir::build::{Elem, KernelBuilder};
    /// use kernc::ir::{BinOp, IntCc, Module, Pos};
    ///
    /// // y[i] = a * x[i], for i < n
    /// let mut b = KernelBuilder::new("scale");
    /// b.workgroup_size([256, 1, 1]);
    /// let (x, y) = (b.buffer("x", Elem::F32), b.buffer("y", Elem::F32));
    /// let (a, n) = (b.value("a", Elem::F32), b.value("n", Elem::U32));
    /// let i = b.position(Pos::GlobalId(0));
    /// let (body, end) = (b.block(&[]), b.block(&[]));
    /// let inside = b.compare(IntCc::Ult, i, n);
    /// b.branch(inside, (body, &[]), (end, &[]));
    /// b.switch_to(body);
    /// let from = b.element(x, Elem::F32, i);
    /// let number = b.load(Elem::F32, from);
    /// let product = b.binary(BinOp::FMul, a, number);
    /// let to = b.element(y, Elem::F32, i);
    /// b.store(Elem::F32, to, product);
    /// b.jump(end, &[]);
    /// b.switch_to(end);
    /// b.ret();
    /// let mut module = Module::default();
    /// module.funcs.push(b.finish());
    ///
    /// let target = kernc::Target::by_name("gfx906").ok_or("no such processor")?;
    /// let object = kernc::Compiler::new(target).compile_module(module, &kernc::Options::default())?;
    /// let kernel = &object.kernels()[0];
    /// assert_eq!((kernel.name.as_str(), kernel.kernarg_size), ("scale", 24));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Ir`] if the verifier rejects the module, or an error of [`Compiler::compile`].
    pub fn compile_module(&mut self, module: ir::Module, options: &Options) -> Result<CodeObject, Error> {
        self.compile_module_observed(module, options, &mut ())
    }

    /// Compiles a module like [`Compiler::compile_module`] and shows the program to `observer` after each
    /// pass.
    ///
    /// # Errors
    /// The errors of [`Compiler::compile_module`].
    pub fn compile_module_observed(
        &mut self,
        module: ir::Module,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<CodeObject, Error> {
        let range = PassRange::all(options.opt_level);
        let job = self.job(options, &range)?;
        job.budget.ir(&module)?;
        ir::verify::verify(&module).map_err(Error::invalid)?;
        self.module(module, &job, observer)?.object()
    }

    /// Runs the passes from verified IR on.
    fn module(
        &mut self,
        mut module: ir::Module,
        job: &Job<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Program, Error> {
        let level = ir::passes::OptOptions {
            level: job.options.opt_level.number(),
            limits: offset_limits(&self.target),
            float_atomics: isel::float_atomics(&self.target, job.options.unsafe_fp_atomics),
            calls: ir::passes::inline::Calls::ByCost,
            result_dwords: callconv::column(job.options.call_abi).result_vgprs.len() as u32,
        };
        let lanes = job.options.state.wave_size.unwrap_or(self.target.wave_size);
        set_wave_size(&mut module, lanes);
        let mut trouble = Ok(());
        let mut hook = |pass, module: &ir::Module| {
            observer.ir(pass, module);
            trouble = job.after_ir_pass(pass, module);
            if trouble.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let passes = job.range.optimiser();
        let _ = ir::passes::optimize_range(&mut module, &level, passes, &mut self.passes, &mut hook);
        trouble?;
        if job.range.machine().is_empty() {
            return Ok(Program::Ir(module));
        }
        observer.ir("optimize", &module);
        let passed = warn::Passed { context: &mut self.passes, options: &level, lanes };
        let text = job.own_text();
        let warnings = warn::of_module(
            (&module, &self.target),
            &self.frontend,
            (&mut self.warn, passed),
            job.options,
            text,
        );
        if let Some(warnings) = warnings {
            if warnings.list.iter().any(|one| one.severity == Severity::Error) {
                return Err(Error::Source(warnings));
            }
            observer.warnings(warnings);
        }
        self.machine_code(module, job, observer)
    }

    /// Runs the passes on machine IR.
    fn machine_code(
        &mut self,
        mut module: ir::Module,
        job: &Job<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Program, Error> {
        for kernel in module.funcs.values_mut().filter_map(|func| func.kernel.as_mut()) {
            kernel.state = kernel.state.or(&job.options.state);
        }
        self.ready(&module, job)?;
        shared::mark(&mut module);
        let calls = self.functions(&mut module, job, observer)?;
        let own = job.calling(calls.as_deref().map(|functions| &functions.calls), Own::default());
        let mut count = parallel::kernels(
            (&mut self.scratch, self.threads),
            &mut self.code,
            &self.models,
            &mut module,
            &own,
            observer,
        )?;
        if let Some(functions) = calls {
            let Functions { calls, code } = *functions;
            self.code.truncate(count);
            self.code.extend(code);
            count = self.code.len();
            // Each kernel must reserve the resources of its callees. In a text that was written after
            // register allocation, the kernels include these resources already.
            if calls::is_allocated(job) {
                let depth = job.options.call_stack_size;
                calls::propagate(&calls, &module, &mut self.code, (&self.target, depth), job)?;
            }
        }
        if !job.range.has_emit() {
            let mut code = std::mem::take(&mut self.code);
            code.truncate(count);
            return Ok(Program::MachineIr(module, code));
        }
        let target = (self.target, job.options.language);
        let lines = job.source.filter(|_| job.options.debug >= DebugInfo::Lines);
        let lines = lines.map(|text| job.lines(text));
        let debug = self.debug_info(&mut module, job, count, lines.as_ref());
        let frames = (job.options.debug == DebugInfo::Full).then_some(job.options.dwarf.dialect);
        let told = (lines, frames, debug);
        let object = CodeObject::new(target, &mut module, &self.code[..count], told, &mut self.emitter);
        let object = object.map_err(|error| match error {
            // The encoder finds some mistakes in machine IR that no earlier check finds. If the machine IR
            // was read from a text, the text is wrong, so the error is not an internal one.
            Error::Internal { message } if job.read.is_some() => Error::Ir { errors: vec![message] },
            error => error,
        })?;
        shared::check_size(&module, object.lds(), &self.target, job)?;
        observer.done("emit");
        self.frontend.recycle(module);
        Ok(Program::Object(object))
    }
}

impl Compiler {
    /// Returns the debug information, if it was requested. With debug information, instructions have the
    /// number of a point (an operation of the IR) in place of a source position. This function replaces the
    /// points by source positions.
    fn debug_info(
        &mut self,
        module: &mut ir::Module,
        job: &Job<'_>,
        count: usize,
        lines: Option<&Lines>,
    ) -> Option<Box<debuginfo::DebugInfo>> {
        let (Some(lines), true) = (lines, module.description.is_some()) else { return None };
        let scratch = self.described.get_or_insert_default();
        Some(describe(module, job, &mut self.code[..count], (&self.target, lines), scratch))
    }
}

#[cold]
fn describe(
    module: &mut ir::Module,
    job: &Job<'_>,
    code: &mut [MachFunc],
    (target, lines): (&Subtarget, &Lines),
    scratch: &mut debuginfo::Scratch,
) -> Box<debuginfo::DebugInfo> {
    let kernels = module.funcs.iter().filter(|(_, func)| func.kernel.is_some());
    let functions = module.funcs.iter();
    let functions =
        functions.filter(|(_, func)| func.kernel.is_none() && func.linkage != ir::Linkage::Extern);
    let ids: Vec<ir::FuncId> = kernels.chain(functions).map(|(id, _)| id).collect();
    let Dwarf { version, dialect, .. } = job.options.dwarf;
    let options = debuginfo::Options {
        version: match version {
            DwarfVersion::V4 => debuginfo::Version::V4,
            DwarfVersion::V5 => debuginfo::Version::V5,
        },
        dialect,
        embed_source: job.options.dwarf.embed_source,
        names: job.options.dwarf.names,
        memory_is_true: job.options.opt_level == OptLevel::O0,
    };
    let text = (lines.clone(), job.source.unwrap_or_default());
    Box::new(debuginfo::DebugInfo::new((options, target), module, (&ids, code), text, scratch))
}

/// The functions that kernels call, with their code.
struct Functions {
    calls: Calls,
    code: Vec<MachFunc>,
}

impl Compiler {
    /// Compiles the functions that kernels call, if there are any.
    fn functions(
        &mut self,
        module: &mut ir::Module,
        job: &Job<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Box<Functions>>, Error> {
        if module.funcs.values().all(|func| func.kernel.is_some()) {
            return Ok(None);
        }
        self.compile_functions(module, job, observer).map(Some)
    }

    #[cold]
    fn compile_functions(
        &mut self,
        module: &mut ir::Module,
        job: &Job<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Box<Functions>, Error> {
        if self.scratch.is_empty() {
            self.scratch.push(Scratch::new());
        }
        let scratch = &mut self.scratch[0];
        let mut calls = Calls::new(module, &self.target, job, &mut scratch.isel);
        let mut code = Vec::new();
        calls::functions(
            scratch,
            &self.models,
            module,
            job,
            (&mut calls, &mut code),
            (&self.target, observer),
        )?;
        Ok(Box::new(Functions { calls, code }))
    }

    /// Creates the memory models that the kernels of a module need.
    fn ready(&mut self, module: &ir::Module, job: &Job<'_>) -> Result<(), Error> {
        let funcs = || module.funcs.values().filter(|func| func.kernel.is_some());
        let place = |kernel: &ir::KernelInfo| {
            let named =
                funcs().find(|func| func.kernel.as_ref().is_some_and(|own| std::ptr::eq(own, kernel)));
            job.source_range(kernel.loc.0, named.map_or(0, |func| func.name.len()))
        };
        self.models.ready(&self.target, funcs().filter_map(|func| func.kernel.as_ref()), place)
    }
}

impl Job<'_> {
    /// Returns a copy of the job that compiles one kernel or function. `own` says which one, and `calls` has
    /// the facts about the functions that it calls.
    pub fn calling<'a>(&'a self, calls: Option<&'a Calls>, own: Own) -> Job<'a> {
        Job { calls, own, ..*self }
    }

    /// Compiles source text to IR.
    fn frontend(
        &self,
        text: &str,
        target: &Subtarget,
        frontend: &mut frontend::Context,
        observer: &mut dyn Observer,
    ) -> Result<ir::Module, Error> {
        let Options { params, fp_contract, fast_math, asserts, check_divisions, files, call_abi, .. } =
            self.options;
        let files = files.as_deref();
        let options = frontend::Options {
            params,
            fp_contract: *fp_contract,
            fast_math: *fast_math,
            separate_spaces: self.options.language.separate_spaces(),
            global_offset: self.options.language.has_global_offset(),
            abi: Some(frontend::Abi { target, convention: *call_abi, language: callconv::Language::C }),
            asserts: *asserts,
            check_divisions: *check_divisions,
            printf: self.options.printf,
            files,
            processor: Some(&Facts(target)),
            warnings: self.options.warnings,
            debug: self.options.debug == DebugInfo::Full,
            homes: self.options.opt_level == OptLevel::O0,
        };
        let module = frontend.compile(&self.options.file_name, text, &options)?;
        let warnings = frontend.warnings();
        if !warnings.list.is_empty() {
            observer.warnings(warnings);
        }
        self.after_ir_pass("frontend", &module)?;
        observer.ir("frontend", &module);
        Ok(module)
    }

    fn after_ir_pass(&self, pass: &str, module: &ir::Module) -> Result<(), Error> {
        self.budget.ir(module)?;
        verify_ir(pass, module, self.options)
    }

    /// Returns the text of the main source file, without the files that it includes with `use`.
    fn own_text(&self) -> Option<&str> {
        let own = self.used.and_then(|source| source.used.first()).map(|file| file.start);
        self.source.map(|text| &text[..own.unwrap_or(text.len())])
    }

    /// Returns the names and the lines of the source files.
    fn lines(&self, text: &str) -> Lines {
        let mut lines = Lines::new(&self.options.file_name, text);
        for file in self.used.iter().flat_map(|source| &source.used) {
            lines.add_file(&file.name, file.start);
        }
        lines
    }

    /// Returns the source position for `loc`, a location in the IR. A location is a byte offset plus one, or
    /// 0 if there is no position. `bytes` is the length of the source range to mark.
    pub fn source_range(&self, loc: u32, bytes: usize) -> Option<Place> {
        let start = ((loc % self.stride) as usize).checked_sub(1)?;
        let text = self.source.filter(|text| start < text.len())?;
        let source = self.used.cloned().unwrap_or_else(|| SourceText::new(&self.options.file_name, text));
        Some(Place { source, range: start..start + bytes })
    }

    /// Returns the error for a program that the frontend accepts and a later phase rejects.
    #[cold]
    pub fn refuse(
        &self,
        code: &'static str,
        message: String,
        help: String,
        place: Option<(Place, &str)>,
    ) -> Error {
        let labels = place.iter().map(|(place, label)| (place.range.clone(), (*label).to_owned())).collect();
        let diagnostic = Diagnostic {
            code,
            severity: Severity::Error,
            message,
            labels,
            notes: Vec::new(),
            help: vec![help],
            suggestion: None,
        };
        let file = SourceText::new(&self.options.file_name, "");
        let source = place.map_or(file, |(place, _)| place.source);
        Error::Source(Diagnostics { list: vec![diagnostic], source })
    }
}

/// Replaces queries of the wave size in the IR by a constant, where the wave size is known. For a kernel, it
/// is the size that the kernel asks for, or `usual` if it asks for none. For a function that kernels call, it
/// is `usual` if all kernels have this wave size. Otherwise, the queries in functions remain.
fn set_wave_size(module: &mut ir::Module, usual: u32) {
    let asked =
        |func: &ir::Function| func.kernel.as_ref().map(|kernel| kernel.state.wave_size.unwrap_or(usual));
    let same = module.funcs.values().all(|func| asked(func).is_none_or(|size| size == usual));
    for func in module.funcs.values_mut() {
        let Some(size) = asked(func).or(same.then_some(usual)) else { continue };
        for inst in func.insts.values_mut().filter(|inst| inst.op == ir::Op::Pos(ir::Pos::WaveSize)) {
            inst.op = ir::Op::Const(size.into());
        }
    }
}

/// Returns, for each address space, the smallest and the largest constant offset that the optimiser may make
/// a part of a memory access.
fn offset_limits(target: &Subtarget) -> ir::passes::Limits {
    let ends = |offsets: Offsets| (offsets.min as i32, offsets.max as i32);
    let reach = &target.addressing;
    ir::passes::Limits {
        global: ends(reach.global.or(reach.flat).unwrap_or(reach.buffer)),
        constant: ends(reach.scalar),
        shared: ends(reach.lds),
        private: ends(reach.buffer),
    }
}

fn verify_ir(pass: &str, module: &ir::Module, options: &Options) -> Result<(), Error> {
    if !options.verify {
        return Ok(());
    }
    ir::verify::verify(module).map_err(|errors| {
        let list: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Error::internal(format_args!("the IR is invalid after pass `{pass}`: {}", list.join("; ")))
    })
}
