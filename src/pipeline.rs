//! The way a kernel goes, from source text to code object.
//!
//! Each stage is one line of [`Compiler::compile_observed`] and [`Compiler::machine_code`]; an [`Observer`] sees the
//! program after each of them, which is how `--dump-after` and `--time-passes` work.

use crate::code_object::{self, CodeObject, CodeSize};
use crate::options::Options;
use frontend::{Diagnostic, Diagnostics, Severity};
use isa::{MachFunc, Offsets, Subtarget};

/// Names of the stages behind the optimiser, in order; the optimiser's own passes come before them.
pub const PASSES: &[&str] = &[
    "frontend",
    "optimize",
    "isel",
    "schedule",
    "regalloc",
    "forms",
    "coherence",
    "waits",
    "hazards",
    "emit",
];

/// Sees the program between passes. Every method has an empty default.
pub trait Observer {
    /// After a pass over the IR.
    fn ir(&mut self, _pass: &'static str, _module: &ir::Module) {}
    /// After a pass over a kernel's machine code.
    fn mir(&mut self, _pass: &'static str, _target: &Subtarget, _func: &MachFunc) {}
    /// After the object has been written.
    fn done(&mut self, _pass: &'static str) {}
}

impl Observer for () {}

/// A compiler for one processor. It owns the passes' scratch memory: keep it and compile many kernels with it.
pub struct Compiler {
    target: Subtarget,
    passes: ir::passes::PassContext,
    isel: isel::Context,
    regalloc: regalloc::Context,
    memmodel: memmodel::Context,
}

impl Compiler {
    /// A compiler for a processor, in the modes that the [`Subtarget`] says; a [`Target`](isa::Target) alone stands
    /// for its usual ones.
    pub fn new(target: impl Into<Subtarget>) -> Compiler {
        Compiler {
            target: target.into(),
            passes: Default::default(),
            isel: Default::default(),
            regalloc: Default::default(),
            memmodel: Default::default(),
        }
    }

    /// The processor and the modes it compiles for.
    pub fn target(&self) -> &Subtarget {
        &self.target
    }

    /// Compiles a source text. The same input gives the same bytes, always.
    ///
    /// # Errors
    /// What is wrong with the source, or that the processor is not compiled for: at least one diagnostic.
    pub fn compile(&mut self, source: &str, options: &Options) -> Result<CodeObject, Diagnostics> {
        self.compile_observed(source, options, &mut ())
    }

    /// [`Compiler::compile`], with an eye on the passes.
    pub fn compile_observed(
        &mut self,
        source: &str,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<CodeObject, Diagnostics> {
        if !self.target.compiles() {
            return Err(internal(&format!("nothing is compiled for {}", self.target.name)));
        }
        let frontend = frontend::Options { params: &options.params, fp_contract: options.fp_contract };
        let mut module = frontend::compile(&options.file_name, source, &frontend)?;
        verify_ir("frontend", &module, options)?;
        observer.ir("frontend", &module);

        let level = ir::passes::OptOptions {
            level: options.opt_level.number(),
            limits: offset_limits(&self.target),
            ..Default::default()
        };
        let mut broken = None;
        ir::passes::optimize(&mut module, &level, &mut self.passes, &mut |pass, module| {
            if broken.is_none() {
                broken = verify_ir(pass, module, options).err();
            }
            observer.ir(pass, module);
        });
        if let Some(broken) = broken {
            return Err(broken);
        }
        observer.ir("optimize", &module);

        let mut code = Vec::new();
        for func in module.funcs.values().filter(|func| func.kernel.is_some()) {
            code.push(self.machine_code(&module, func, source, options, observer)?);
        }
        let object = self.emit(module, code)?;
        observer.done("emit");
        Ok(object)
    }

    /// One kernel: IR to final machine code.
    fn machine_code(
        &mut self,
        module: &ir::Module,
        func: &ir::Function,
        source: &str,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<MachFunc, Diagnostics> {
        let target = &self.target;
        let opt_level = options.opt_level.number();
        let select = isel::Options { opt_level };
        let mut mach = isel::select(module, func, target, &select, &mut self.isel)
            .map_err(|error| internal(&format!("kernel `{}`: {error}", func.name)))?;
        observer.mir("isel", target, &mach);

        isel::schedule(&mut mach, target, &select, &mut self.isel);
        observer.mir("schedule", target, &mach);

        let allocate = regalloc::Options {
            budget_vgprs: vgpr_budget(target, func),
            budget_sgprs: func.kernel.as_ref().and_then(|kernel| kernel.num_sgpr),
            check: options.verify,
            opt_level,
            ..Default::default()
        };
        regalloc::run(&mut mach, target, &allocate, &mut self.regalloc)
            .map_err(|error| allocation_failed(&error, &func.name, source))?;
        observer.mir("regalloc", target, &mach);

        for block in mach.blocks.values_mut() {
            block.insts.iter_mut().for_each(|inst| isa::choose_form(target, inst));
        }
        observer.mir("forms", target, &mach);

        let memory = memmodel::Options { blunt: options.waits_all, ..Default::default() };
        memmodel::coherence::run(&mut mach, target, &memory, &mut self.memmodel);
        observer.mir("coherence", target, &mach);
        memmodel::waits::run(&mut mach, target, &memory, &mut self.memmodel);
        observer.mir("waits", target, &mach);
        memmodel::hazards::run(&mut mach, target, &memory, &mut self.memmodel);
        observer.mir("hazards", target, &mach);
        verify_memory(target, &mach, options)?;
        Ok(mach)
    }

    fn emit(&self, module: ir::Module, code: Vec<MachFunc>) -> Result<CodeObject, Diagnostics> {
        let program = code_object::program(self.target, &module, &code);
        let bytes = emit::elf::loadable(&program).map_err(|error| internal(&error.to_string()))?;
        let infos = module.funcs.values().filter_map(|func| func.kernel.as_ref());
        let kernels = infos
            .zip(&code)
            .map(|(info, func)| code_object::kernel_info(&self.target, info, func, self.size(func)))
            .collect();
        Ok(CodeObject { target: self.target, bytes, kernels, module, code })
    }

    fn size(&self, func: &MachFunc) -> CodeSize {
        let insts = func.blocks.values().flat_map(|block| &block.insts);
        insts.fold(CodeSize::default(), |size, inst| CodeSize {
            bytes: size.bytes + isa::size_in_words(&self.target, inst) as u32 * 4,
            instructions: size.instructions + 1,
        })
    }
}

/// Offsets that the optimiser may fold into an access.
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

/// VGPRs a kernel may use: what was asked for, and few enough that a whole work-group fits on a compute unit.
fn vgpr_budget(target: &Subtarget, func: &ir::Function) -> Option<u32> {
    let kernel = func.kernel.as_ref()?;
    let waves_per_group = kernel.max_flat_workgroup_size().div_ceil(target.wave_size);
    let mut waves = waves_per_group.div_ceil(target.simds_per_cu);
    if let Some((min, _)) = kernel.waves_per_eu {
        waves = waves.max(min);
    }
    let fits = target.addressable_vgprs / waves.max(1) / target.vgpr_granule * target.vgpr_granule;
    Some(kernel.num_vgpr.map_or(fits, |asked| asked.min(fits)).max(target.vgpr_granule))
}

/// A budget that the source or the work-group size sets and that nothing fits into is the user's; the rest is ours.
fn allocation_failed(error: &regalloc::AllocError, kernel: &str, source: &str) -> Diagnostics {
    let regalloc::AllocError::Registers { class, budget } = error else {
        return internal(&format!("kernel `{kernel}`: {error}"));
    };
    let diagnostic = Diagnostic {
        code: "E0110",
        severity: Severity::Error,
        message: format!("kernel `{kernel}` does not fit into {budget} {class}s, not even with spilling"),
        labels: name_of_kernel(kernel, source).map(|at| (at, "this kernel".to_owned())).into_iter().collect(),
        notes: Vec::new(),
        help: vec![
            "allow more with `#[num_sgpr(n)]` or `#[num_vgpr(n)]`, or leave the attribute out".to_owned(),
        ],
    };
    Diagnostics { list: vec![diagnostic] }
}

/// Where the source names the kernel, in bytes.
fn name_of_kernel(kernel: &str, source: &str) -> Option<std::ops::Range<usize>> {
    source.match_indices(kernel).find_map(|(at, _)| {
        let after_keyword = source[..at].trim_end().ends_with("kernel");
        let before_list = source[at + kernel.len()..].trim_start().starts_with('(');
        (after_keyword && before_list).then_some(at..at + kernel.len())
    })
}

/// A fault of ours, told as one diagnostic instead of a panic.
fn internal(message: &str) -> Diagnostics {
    Diagnostics {
        list: vec![Diagnostic {
            code: "E0900",
            severity: Severity::Error,
            message: message.to_owned(),
            labels: Vec::new(),
            notes: vec!["this is a fault of kernc, not of the source".to_owned()],
            help: Vec::new(),
        }],
    }
}

fn verify_ir(pass: &str, module: &ir::Module, options: &Options) -> Result<(), Diagnostics> {
    if !options.verify {
        return Ok(());
    }
    ir::verify::verify(module).map_err(|errors| {
        let list: Vec<String> = errors.iter().map(ToString::to_string).collect();
        internal(&format!("the IR is invalid after pass `{pass}`: {}", list.join("; ")))
    })
}

/// Proves waits, hazards and coherence of final code by the checker, which shares no logic with the passes.
fn verify_memory(target: &Subtarget, func: &MachFunc, options: &Options) -> Result<(), Diagnostics> {
    if !options.verify {
        return Ok(());
    }
    let faults = memmodel::check::check(func, target);
    match faults.first() {
        Some(fault) => Err(internal(&format!(
            "kernel `{}`: {fault} ({} faults in the final code)",
            func.name,
            faults.len()
        ))),
        None => Ok(()),
    }
}
