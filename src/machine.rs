//! The passes on the machine IR of one kernel or function, from instruction selection to the choice of branch
//! encodings, and the checks between these passes.

use crate::calls::Calls;
use crate::error::Error;
use crate::pipeline::{Job, Observer, Scratch};
use isa::Subtarget;
use isel::verify::State;
use mir::MachFunc;

impl Scratch {
    /// Creates empty working memory. This function is not inlined into its callers, because its code is long.
    #[inline(never)]
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Compiles one kernel to final machine code. The input is IR, or machine IR that was read from a text.
    /// The code is stored in `mach`, whose memory is reused.
    pub fn kernel(
        &mut self,
        (model, module): (&memmodel::Model, &ir::Module),
        (index, func): (usize, &mut ir::Function),
        mach: &mut MachFunc,
        job: &Job<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let target = model.subtarget();
        if let Some(read) = job.read.and_then(|code| code.get(index)) {
            mach.clone_from(read);
        }
        let mut kernel = Kernel { target, model, module, func, job };
        for (name, pass) in &MACHINE[job.range.machine()] {
            pass(self, &mut kernel, mach)?;
            observer.mir(name, target, mach);
            job.budget.time()?;
        }
        Ok(())
    }
}

/// Inputs of a pass over a kernel's machine IR.
pub(crate) struct Kernel<'a> {
    target: &'a Subtarget,
    model: &'a memmodel::Model,
    /// The module, without its functions, which are compiled separately.
    module: &'a ir::Module,
    func: &'a mut ir::Function,
    job: &'a Job<'a>,
}

/// A pass over a kernel's machine IR.
type MachinePass = fn(&mut Scratch, &mut Kernel<'_>, &mut MachFunc) -> Result<(), Error>;

/// Passes between the optimiser and the writer of the object.
pub(crate) const MACHINE: [(&str, MachinePass); 12] = [
    ("isel", select),
    ("legalize", legalize),
    ("combine", combine),
    ("pack", pack),
    ("schedule", schedule),
    ("regalloc", allocate),
    ("forms", choose_forms),
    ("coherence", |scratch, kernel, mach| {
        memmodel::coherence::run(mach, kernel.model, &kernel.memory(), &mut scratch.memmodel);
        Ok(())
    }),
    ("waits", |scratch, kernel, mach| {
        memmodel::waits::run(mach, kernel.model, &kernel.memory(), &mut scratch.memmodel);
        Ok(())
    }),
    ("hazards", |scratch, kernel, mach| {
        memmodel::hazards::run(mach, kernel.model, &kernel.memory(), &mut scratch.memmodel);
        Ok(())
    }),
    ("clauses", |scratch, kernel, mach| {
        if kernel.job.options.opt_level.number() > 0 {
            memmodel::clauses::run(mach, kernel.model, &mut scratch.memmodel);
        }
        Ok(())
    }),
    ("branches", |_, kernel, mach| {
        emit::branches::run(mach, kernel.target, |mach| {
            memmodel::hazards::before_new_branch(mach, kernel.model)
        });
        verify_memory(kernel.model, mach, kernel.job)
    }),
];

/// Returns the index of a pass in [`MACHINE`].
pub(crate) const fn machine_pass(name: &str) -> usize {
    let mut place = 0;
    loop {
        let (bytes, name) = (MACHINE[place].0.as_bytes(), name.as_bytes());
        let mut same = 0;
        while same < bytes.len() && same < name.len() && bytes[same] == name[same] {
            same += 1;
        }
        if same == bytes.len() && same == name.len() {
            return place;
        }
        place += 1;
    }
}

fn select(scratch: &mut Scratch, kernel: &mut Kernel<'_>, mach: &mut MachFunc) -> Result<(), Error> {
    let Kernel { target, module, job, .. } = *kernel;
    // Instruction selection needs to change the IR function and to read the rest of `kernel` at the same
    // time. The function is therefore moved out of `kernel` until selection has ended.
    let mut func = std::mem::take(kernel.func);
    let selected = isel::select_into(module, &mut func, target, &kernel.selection(), &mut scratch.isel, mach);
    *kernel.func = func;
    selected.map_err(|error| unsupported(error, job))?;
    verify_machine("isel", kernel, mach, State::Selected)
}

fn legalize(scratch: &mut Scratch, kernel: &mut Kernel<'_>, mach: &mut MachFunc) -> Result<(), Error> {
    isel::legalize(mach, kernel.target, &kernel.selection(), &mut scratch.isel).map_err(|error| {
        // With debug information, `error.loc` is the number of a point (an operation of the IR, numbered by
        // selection). It is converted to a source position here.
        let loc = mach.track.as_ref().map_or(error.loc, |track| track.location_of_point(error.loc));
        unsupported(isel::Unsupported { loc, ..error }, kernel.job)
    })?;
    verify_machine("legalize", kernel, mach, State::Legal)
}

fn combine(scratch: &mut Scratch, kernel: &mut Kernel<'_>, mach: &mut MachFunc) -> Result<(), Error> {
    isel::combine(mach, kernel.target, &kernel.selection(), &mut scratch.isel);
    verify_machine("combine", kernel, mach, State::Legal)
}

fn pack(scratch: &mut Scratch, kernel: &mut Kernel<'_>, mach: &mut MachFunc) -> Result<(), Error> {
    isel::pack(mach, kernel.target, &kernel.selection(), &mut scratch.isel);
    verify_machine("pack", kernel, mach, State::Legal)
}

fn schedule(scratch: &mut Scratch, kernel: &mut Kernel<'_>, mach: &mut MachFunc) -> Result<(), Error> {
    isel::schedule(mach, kernel.target, &kernel.selection(), &mut scratch.isel);
    verify_machine("schedule", kernel, mach, State::Legal)
}

fn allocate(scratch: &mut Scratch, kernel: &mut Kernel<'_>, mach: &mut MachFunc) -> Result<(), Error> {
    let Kernel { target, func, job, .. } = kernel;
    let [sgprs, vgprs] =
        func.kernel.as_ref().map_or(job.own.register_budget, |kernel| register_budget(target, kernel));
    let options = regalloc::Options {
        budget_vgprs: vgprs,
        budget_sgprs: sgprs,
        check: job.options.verify,
        near: job.calls.is_some_and(|calls| calls.near),
        convention: job.calls.map_or_else(Default::default, |calls| calls.convention),
        opt_level: job.options.opt_level.number(),
        ..Default::default()
    };
    regalloc::run(mach, target, &options, &mut scratch.regalloc)
        .map_err(|error| allocation_failed(&error, target, func, job))?;
    Ok(())
}

fn choose_forms(_: &mut Scratch, kernel: &mut Kernel<'_>, mach: &mut MachFunc) -> Result<(), Error> {
    for block in mach.blocks.values_mut() {
        block.insts.iter_mut().for_each(|inst| isa::choose_form(kernel.target, inst));
    }
    Ok(())
}

impl Kernel<'_> {
    fn selection(&self) -> isel::Options<'_> {
        let usual = isel::Options {
            opt_level: self.job.options.opt_level.number(),
            lacks: self.job.lacks,
            ..isel::Options::default()
        };
        match self.job.calls {
            Some(Calls { callees, pointer, shared, convention, uniform, exchange, outside, .. }) => {
                let (pointer, shared, uniform) = (Some(pointer), Some(shared), Some(uniform));
                let id = self.job.own.id;
                let is_outside = id.is_some_and(|id| outside[id.as_u32() as usize].is_some());
                let exchange = exchange.filter(|_| is_outside);
                let own = id.and_then(|id| callees.get(id.as_u32() as usize));
                let own = own.map(|callee| callee.needs).unwrap_or_default();
                let convention = *convention;
                isel::Options { callees, pointer, shared, exchange, own, uniform, id, convention, ..usual }
            }
            None => usual,
        }
    }

    fn memory(&self) -> memmodel::Options {
        memmodel::Options {
            blunt: self.job.options.waits_all,
            convention: self.job.calls.map_or_else(Default::default, |calls| calls.convention),
        }
    }
}

/// Returns the numbers of SGPRs and VGPRs that a kernel may use. `None` means that neither the kernel's
/// attributes nor its work-group size limit registers of that kind.
pub(crate) fn register_budget(target: &Subtarget, kernel: &ir::KernelInfo) -> [Option<u32>; 2] {
    [kernel.num_sgpr, Some(crate::register_limit::vgpr_limit(target, kernel).vgprs)]
}

/// Returns the error for IR that instruction selection does not support, with its source position.
#[cold]
fn unsupported(error: isel::Unsupported, job: &Job<'_>) -> Error {
    Error::Unsupported {
        what: error.what,
        target: error.target.to_owned(),
        place: job.source_range(error.loc, 0),
    }
}

/// Converts an error of the register allocator to a message for the user. The message names the limit that is
/// too small. It may be a limit of the hardware, of the work-group size or of an attribute of the kernel.
#[cold]
fn allocation_failed(
    error: &regalloc::AllocError,
    target: &Subtarget,
    func: &ir::Function,
    job: &Job<'_>,
) -> Error {
    let kernel = &func.name;
    let info = func.kernel.as_ref();
    let what = if info.is_some() { "kernel" } else { "function" };
    let (message, help) = match error {
        regalloc::AllocError::Registers { class, budget } => {
            let asked = info.and_then(|info| if *class == "VGPR" { info.num_vgpr } else { info.num_sgpr });
            let attribute = if *class == "VGPR" { "num_vgpr" } else { "num_sgpr" };
            let help = if info.is_none() {
                "that is what the kernels have that get to it: their attributes and the sizes of their work-groups say so"
                    .to_owned()
            } else if asked.is_some() {
                format!("allow more with `#[{attribute}(n)]`, or leave the attribute out")
            } else if *class == "VGPR" && *budget < target.addressable_vgprs {
                "a smaller work-group, or fewer `#[waves_per_eu(n)]`, leave more registers to each wave"
                    .to_owned()
            } else {
                format!("{} has no more", target.name)
            };
            (format!("{what} `{kernel}` does not fit into {budget} {class}s, not even with spilling"), help)
        }
        regalloc::AllocError::Scratch { needed, limit } => (
            format!("{what} `{kernel}` needs {needed} bytes of scratch memory a work-item"),
            format!(
                "{} gives a work-item {limit} bytes at most, for private variables and spilling",
                target.name
            ),
        ),
        _ => return Error::internal(format_args!("{what} `{kernel}`: {error}")),
    };
    let place = info.and_then(|info| job.source_range(info.loc.0, kernel.len()));
    job.refuse("E0110", message, help, place.map(|place| (place, "this kernel")))
}

/// Checks the properties of machine code on which register allocation relies. `pass` is the pass that has
/// just run. The allocator's own output is checked separately.
fn verify_machine(pass: &str, kernel: &Kernel<'_>, mach: &MachFunc, state: State) -> Result<(), Error> {
    if !kernel.job.options.verify {
        return Ok(());
    }
    isel::verify::verify(mach, kernel.target, state).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let (name, faults) = (&kernel.func.name, faults.join("; "));
        Error::internal(format_args!(
            "kernel `{name}`: the machine IR is invalid after pass `{pass}`: {faults}"
        ))
    })
}

/// Checks final machine code for missing wait counts, hazards and incoherent memory accesses. The checker
/// shares no logic with the passes that prevent these faults.
fn verify_memory(model: &memmodel::Model, func: &MachFunc, job: &Job<'_>) -> Result<(), Error> {
    if !job.options.verify {
        return Ok(());
    }
    let faults = memmodel::proof::check(func, model);
    let Some(first) = faults.first() else { return Ok(()) };
    if job.read.is_some() && job.range.machine().start > const { machine_pass("coherence") } {
        // The wait counts come from the text that was read, and not from a pass. A missing or wrong wait
        // count is therefore an error in the text.
        let errors = faults.iter().map(|fault| format!("kernel `{}`: {fault}", func.name));
        return Err(Error::Ir { errors: errors.collect() });
    }
    let (name, count) = (&func.name, faults.len());
    Err(Error::internal(format_args!("kernel `{name}`: {first} ({count} faults in the final code)")))
}
