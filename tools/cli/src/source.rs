//! Compiles or assembles a source that is given to a command which works on code objects.

use super::modes::TargetArgs;
use super::{Failure, read};
use kernc::{Compiler, PassRange, Program};
use std::io::IsTerminal;
use std::path::Path;

/// Returns the bytes of a code object. A source (`.k`, `.kir`, `.mir`, `.s`) is first compiled or assembled
/// for a processor with the default options.
///
/// # Errors
/// The file cannot be read, no processor is given for a source, or the source has errors.
pub fn object(path: &Path, mcpu: Option<&str>) -> Result<Vec<u8>, Failure> {
    let bytes = read(path)?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    let Some(extension @ ("k" | "kir" | "mir" | "s")) = extension else { return Ok(bytes) };
    if bytes.starts_with(b"\x7fELF") {
        return Ok(bytes);
    }
    let name = path.display().to_string();
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::File(format!("{name} is neither a code object nor UTF-8 text")))?;
    match extension {
        "s" => assembled(&text, &name, mcpu),
        "mir" => Err(Failure::Usage(format!(
            "{name} is machine IR and no code object: `kernc {name} --start-at PASS` makes one of it"
        ))),
        _ if mcpu.is_none() => Err(Failure::Usage(format!(
            "{name} is a source and no code object: `--mcpu` says what to compile it for"
        ))),
        _ => compiled(&text, &name, extension == "kir", mcpu),
    }
}

fn assembled(text: &str, name: &str, mcpu: Option<&str>) -> Result<Vec<u8>, Failure> {
    let target = mcpu.map(super::modes::processor).transpose()?;
    let options = asm::Options { target, ..asm::Options::default() };
    asm::assemble(text, &options)
        .map_err(|list| Failure::Source(asm::render(&list, name, text, std::io::stderr().is_terminal())))
}

fn compiled(text: &str, name: &str, is_ir: bool, mcpu: Option<&str>) -> Result<Vec<u8>, Failure> {
    let target = TargetArgs::for_processor(mcpu).subtarget()?;
    let options = kernc::Options {
        file_name: name.to_owned(),
        files: Some(std::sync::Arc::new(kernc::Directories { list: Vec::new() })),
        ..kernc::Options::default()
    };
    let range = PassRange::new(options.opt_level, None, None).map_err(Failure::Usage)?;
    let range = match is_ir {
        true => range
            .from_ir()
            .ok_or_else(|| Failure::Internal("error: a pass range without a start\n".to_owned()))?,
        false => range,
    };
    let program = Compiler::new(target).compile_passes(text, &range, &options, &mut ());
    let program = program.map_err(|error| Failure::Source(error.render(std::io::stderr().is_terminal())))?;
    match program {
        Program::Object(object) => Ok(object.bytes().to_vec()),
        _ => Err(Failure::Internal(format!("error: {name} became no object\n"))),
    }
}
