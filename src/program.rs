//! A program between two passes, and its text.

use crate::code_object::CodeObject;
use crate::error::Error;
use crate::models::own_target;
use crate::passes::Form;
use frontend::{Diagnostic, Diagnostics, Severity, SourceText};
use isa::Subtarget;
use mir::MachFunc;
use mir::text::{Names, Options, read_functions, without_functions, write_function};

/// The program that the last executed pass has produced.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "few are made, and a box would be an allocation for each object"
)]
#[non_exhaustive]
pub enum Program {
    /// Result of the frontend or of a pass of the optimiser.
    Ir(ir::Module),
    /// The program after instruction selection or a later pass: the declarations of the module, and one
    /// machine function for each kernel in order.
    MachineIr(ir::Module, Vec<MachFunc>),
    /// Result of the last pass.
    Object(CodeObject),
}

/// Options of [`Program::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether to write `!OFFSET` after each instruction that has a source position.
    pub locations: bool,
    /// Whether to write the declarations of the module before the machine functions. Without the
    /// declarations, the text cannot be read back.
    pub declarations: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions { locations: false, declarations: true }
    }
}

impl Program {
    /// Returns a text of IR, or of machine IR that follows the declarations of its module.
    /// [`Compiler::compile_passes`](crate::Compiler::compile_passes) can continue from this text. The text of
    /// an object is its final machine IR, and no pass can continue from it.
    pub fn text(&self, target: &Subtarget, options: TextOptions) -> String {
        match self {
            Program::Ir(module) if options.locations => ir::text::with_locations(module),
            Program::Ir(module) => module.to_string(),
            Program::MachineIr(module, code) => machine_text(module, code, target, options),
            Program::Object(object) => object.machine_code(),
        }
    }

    /// Reads a text of IR or machine IR. Only the frontend can read source text, so the form `Source` is
    /// treated like IR here.
    ///
    /// # Errors
    /// The errors of the text.
    pub fn read(text: &str, name: &str, form: Form, target: &Subtarget) -> Result<Program, Error> {
        if form != Form::MachineIr {
            return read_module(text, name).map(Program::Ir);
        }
        let (module, code) = read_machine(text, name, target)?;
        Ok(Program::MachineIr(module, code))
    }

    pub(crate) fn object(self) -> Result<CodeObject, Error> {
        match self {
            Program::Object(object) => Ok(object),
            _ => Err(Error::internal("the last pass has left no object")),
        }
    }
}

/// Reads a module of IR and verifies it.
pub(crate) fn read_module(text: &str, name: &str) -> Result<ir::Module, Error> {
    let module = parse_module(text, text, name)?;
    ir::verify::verify(&module).map_err(Error::invalid)?;
    Ok(module)
}

/// Reads the declarations of a module and the machine function of each of its kernels.
pub(crate) fn read_machine(
    text: &str,
    name: &str,
    target: &Subtarget,
) -> Result<(ir::Module, Vec<MachFunc>), Error> {
    let mut module = parse_module(&without_functions(text), text, name)?;
    ir::verify::verify_declarations(&module).map_err(Error::invalid)?;
    let targets: Vec<&isa::Target> =
        kernels(&module).map(|kernel| own_target(target, kernel).target).collect();
    let target_of = |number: usize| targets.get(number).copied().unwrap_or(target.target);
    let (globals, funcs) = (globals(&module), functions(&module));
    let code = read_functions(text, target_of, &Names { globals: &globals, funcs: &funcs })
        .map_err(|error| malformed(text, name, (error.line, error.column), error.message))?;
    let kernels = module.funcs.values().filter(|func| func.kernel.is_some());
    let mut declared: Vec<&str> = kernels.map(|func| func.name.as_str()).collect();
    let defined: Vec<&str> = code.iter().map(|func| func.name.as_str()).collect();
    // A function that is declared but has no machine function in the text is defined in another object file.
    let functions = module.funcs.values().filter(|func| func.kernel.is_none());
    declared.extend(functions.map(|func| func.name.as_str()).filter(|name| defined.contains(name)));
    if declared != defined {
        let (declared, defined) = (declared.join(", "), defined.join(", "));
        let why =
            format!("the kernels and functions are [{declared}], the machine functions are [{defined}]");
        return Err(Error::Ir { errors: vec![why] });
    }
    let is_defined: Vec<bool> =
        module.funcs.values().map(|func| defined.contains(&func.name.as_str())).collect();
    for (func, is_defined) in module.funcs.values_mut().zip(is_defined) {
        if is_defined && func.linkage == ir::Linkage::Extern {
            func.linkage = ir::Linkage::Local;
        }
    }
    Ok((module, code))
}

fn kernels(module: &ir::Module) -> impl Iterator<Item = &ir::KernelInfo> {
    module.funcs.values().filter_map(|func| func.kernel.as_ref())
}

/// Parses a module from `text`, which is a part of the text `whole`. The line numbers in errors count from
/// the beginning of `whole`.
fn parse_module(text: &str, whole: &str, name: &str) -> Result<ir::Module, Error> {
    ir::parse::parse_module(text)
        .map_err(|error| malformed(whole, name, (error.line, error.column), error.message))
}

/// Returns the names of the variables by index.
fn globals(module: &ir::Module) -> Vec<&str> {
    module.globals.values().map(|global| global.name.as_str()).collect()
}

/// Returns the names of the functions by number.
fn functions(module: &ir::Module) -> Vec<&str> {
    module.funcs.values().map(|func| func.name.as_str()).collect()
}

/// Returns the declarations followed by the machine functions.
fn machine_text(module: &ir::Module, code: &[MachFunc], target: &Subtarget, options: TextOptions) -> String {
    let mut out = if options.declarations { ir::text::declarations(module) } else { String::new() };
    let names = (globals(module), functions(module));
    let names = Names { globals: &names.0, funcs: &names.1 };
    let options = Options { names, locations: options.locations };
    let targets = kernels(module).map(|kernel| own_target(target, kernel)).chain(std::iter::repeat(*target));
    for (func, target) in code.iter().zip(targets) {
        if !out.is_empty() {
            out.push('\n');
        }
        write_function(func, &target, &options, &mut out);
    }
    out
}

/// Returns the error for a text with a syntax error at a line and column, both counted from 1.
fn malformed(text: &str, name: &str, (line, column): (u32, u32), message: String) -> Error {
    let start: usize = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
    let in_line = text[start..].char_indices().nth(column as usize - 1);
    let at = in_line.map_or(text.len(), |(at, _)| start + at);
    let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    let diagnostic = Diagnostic {
        code: "E0114",
        severity: Severity::Error,
        message: "this is no text of IR".to_owned(),
        labels: vec![(at..end, message)],
        notes: Vec::new(),
        help: Vec::new(),
        suggestion: None,
    };
    Error::Source(Diagnostics { list: vec![diagnostic], source: SourceText::new(name, text) })
}
