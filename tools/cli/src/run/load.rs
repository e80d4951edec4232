//! Loads the program to run: a code object, or a source that is compiled to one.

use super::RunArgs;
use crate::compile::{flows, loadable};
use crate::container::{self, Chosen};
use crate::report_renderer::ReportRenderer;
use crate::{Failure, read};
use codeobj::container::is_container;
use kernc::Target;
use kernc::ir::{Module, Op, Space};
use kernc::sim;
use std::path::{Path, PathBuf};

/// A loaded code object. If it was compiled here from source, also what only the compiler knows about it.
pub struct Loaded {
    /// Name of the program in messages.
    pub name: String,
    pub file: PathBuf,
    pub object: sim::CodeObject,
    /// Bytes of the object file.
    pub bytes: Vec<u8>,
    /// The compiler's reasons for the instructions that it inserted. Empty if the program was not compiled
    /// here.
    pub reasons: Vec<kernc::Reason>,
    /// Control-flow graphs of the functions. Empty if the program was not compiled here.
    pub flows: Vec<graph::Flow>,
    pub teller: ReportRenderer,
    /// For each kernel whose body declares a `shared dyn` variable, the names of the kernel and of the
    /// variable. `None` if the program was not compiled here.
    dynamic: Option<Vec<(String, String)>>,
}

/// Whether a kernel uses a `shared dyn` variable, whose size the launch must give.
pub enum Dynamic<'a> {
    /// The kernel uses a `shared dyn` variable with this name, which its body declares.
    Variable(&'a str),
    /// The kernel has no `shared dyn` variable.
    No,
    /// The object does not say whether it has one.
    Unknown,
}

/// Results of a compilation that are kept.
#[derive(Default)]
struct Seen {
    ir: kernc::KeepIr,
    warnings: Option<kernc::Diagnostics>,
}

impl kernc::Observer for Seen {
    fn ir(&mut self, pass: &'static str, module: &Module) {
        self.ir.ir(pass, module);
    }

    fn warnings(&mut self, warnings: kernc::Diagnostics) {
        self.warnings.get_or_insert_default().append(warnings);
    }

    fn looks_at_machine_code(&self) -> bool {
        self.ir.looks_at_machine_code()
    }
}

impl Loaded {
    /// Reads a file. A source is compiled with the options of the command line.
    pub fn new(file: &Path, args: &RunArgs) -> Result<Loaded, Failure> {
        let bytes = read(file)?;
        if bytes.starts_with(b"\x7fELF") || is_container(&bytes) {
            return Loaded::of_object(file, &bytes, args);
        }
        if args.entry.is_given() {
            return Err(Failure::Usage("`--entry` is for files with several code objects".to_owned()));
        }
        let name = file.display().to_string();
        if args.params.is_some() {
            return Err(Failure::Usage(
                "`--params` is for objects; a source says what its parameters are".to_owned(),
            ));
        }
        let source = String::from_utf8(bytes)
            .map_err(|_| Failure::File(format!("{name} is neither a code object nor UTF-8 text")))?;
        let target = args.common.target.subtarget()?;
        let mut options = args.common.options(file)?;
        if args.is_debugged && options.debug == kernc::DebugInfo::Lines {
            // kernc's own debugger understands all extensions of debug information, so the compiler generates
            // everything that it can.
            options.debug = kernc::DebugInfo::Full;
            options.dwarf.dialect = kernc::Dialect::Heterogeneous;
        }
        let range = args.common.passes(file, &options)?;
        let mut seen = Seen::default();
        let program = kernc::Compiler::new(target).compile_passes(&source, &range, &options, &mut seen);
        args.common.tell_warnings(seen.warnings.as_ref());
        let program = program.map_err(|error| args.common.failure(&error))?;
        let kernc::Program::Object(object) = program else {
            return Err(Failure::Usage("`--stop-after` leaves nothing to run".to_owned()));
        };
        loadable(&object)?;
        // Only the HTML page shows reasons and graphs.
        let (reasons, flows) = match args.html {
            Some(_) => (object.reasons(), flows(&object)),
            None => Default::default(),
        };
        let bytes = object.bytes().to_vec();
        let kernels = object.kernels().to_vec();
        let (mut object, teller) =
            (parse(&name, &bytes, None)?, ReportRenderer::new(file, Some(&source), args.isa));
        describe_compiled(&mut object, &kernels)?;
        // There is no IR if the input was machine IR.
        let dynamic = (!seen.ir.0.funcs.is_empty()).then(|| dynamic_variables(&seen.ir.0));
        Ok(Loaded { name, file: file.to_owned(), object, bytes, reasons, flows, teller, dynamic })
    }

    /// Reads a code object file, or reads from a container the code object that the options select.
    fn of_object(file: &Path, bytes: &[u8], args: &RunArgs) -> Result<Loaded, Failure> {
        let asked = args.common.target.requested_target()?;
        let Chosen { file, bytes, .. } = match legacy::format(bytes) {
            // A binary of AMD's OpenCL 2.0 driver has one object, and no names by which to choose.
            Some(legacy::Format::OpenCl2) => Chosen::whole(file, bytes),
            _ => {
                let opened = container::open(file, bytes, &args.entry, asked)?;
                let complete = opened.finish();
                let chosen = opened.single_object(file)?;
                complete?;
                chosen
            }
        };
        let name = file.display().to_string();
        let mut object = parse(&name, &bytes, asked.map(|(target, _)| target))?;
        describe(&mut object, args)?;
        if let Some((asked, _)) = asked
            && asked.name != object.target().name
        {
            let (own, asked) = (object.target().name, asked.name);
            return Err(Failure::Usage(format!("{name} is for {own}, not for {asked}")));
        }
        let teller = ReportRenderer::new(&file, None, args.isa);
        Ok(Loaded {
            name,
            file,
            object,
            bytes: bytes.into_owned(),
            reasons: Vec::new(),
            flows: Vec::new(),
            teller,
            dynamic: None,
        })
    }

    /// Returns the kernel with this name, or the only kernel.
    pub fn kernel(&self, name: Option<&str>) -> Result<&sim::KernelInfo, Failure> {
        let object = &self.object;
        let names =
            || object.kernels().iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>().join(", ");
        match (name, object.kernels()) {
            (Some(name), _) => object
                .kernel(name)
                .ok_or_else(|| Failure::Usage(format!("no kernel `{name}`; {} has: {}", self.name, names()))),
            (None, [only]) => Ok(only),
            (None, []) => Err(Failure::Usage(format!("{} has no kernel", self.name))),
            (None, _) => Err(Failure::Usage(format!("choose a kernel with `--kernel`: {}", names()))),
        }
    }

    /// Returns whether a kernel uses a `shared dyn` variable, or that this is not known.
    pub fn dynamic(&self, kernel: &sim::KernelInfo) -> Dynamic<'_> {
        let Some(dynamic) = &self.dynamic else { return Dynamic::Unknown };
        let found = dynamic.iter().find(|(of, _)| *of == kernel.name);
        found.map_or(Dynamic::No, |(_, variable)| Dynamic::Variable(variable))
    }
}

fn parse(name: &str, bytes: &[u8], target: Option<&'static Target>) -> Result<sim::CodeObject, Failure> {
    let object = sim::CodeObject::load_for(bytes, target);
    object.map_err(|error| Failure::File(format!("{name}: {error}")))
}

/// Sets the parameter types of the kernels that have just been compiled, if the object does not state them.
fn describe_compiled(object: &mut sim::CodeObject, kernels: &[kernc::KernelInfo]) -> Result<(), Failure> {
    for kernel in kernels {
        if object.kernel(&kernel.name).is_some_and(|known| known.untyped) {
            let text: Vec<String> =
                kernel.args.iter().map(|arg| format!("{}: {}", arg.name, arg.type_name)).collect();
            object.set_parameters(&kernel.name, &text.join(", ")).map_err(Failure::Internal)?;
        }
    }
    Ok(())
}

/// Sets the parameter types of the chosen kernel to those that the option `--params` lists, if it is given.
fn describe(object: &mut sim::CodeObject, args: &RunArgs) -> Result<(), Failure> {
    let Some(text) = &args.params else { return Ok(()) };
    let name = match (&args.kernel, object.kernels()) {
        (Some(name), _) => name.clone(),
        (None, [only]) => only.name.clone(),
        _ => {
            return Err(Failure::Usage(
                "`--params` describes one kernel; choose it with `--kernel`".to_owned(),
            ));
        }
    };
    object.set_parameters(&name, text).map_err(|why| Failure::Usage(format!("`--params`: {why}")))
}

/// Returns, for each kernel that uses a dynamically sized LDS variable, the names of the kernel and of the
/// variable. All calls have been inlined at this point, so only the kernel's own code is searched.
fn dynamic_variables(module: &Module) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for func in module.funcs.values().filter(|func| func.kernel.is_some()) {
        for inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
            let Op::GlobalAddr(global) = func.insts[*inst].op else { continue };
            let data = &module.globals[global];
            if data.dynamic && data.space == Space::Shared {
                // The frontend names the variable `kernel.variable`.
                let variable = data.name.rsplit('.').next().unwrap_or_default();
                found.push((func.name.to_string(), variable.to_owned()));
                break;
            }
        }
    }
    found
}
