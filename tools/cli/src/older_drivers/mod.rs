//! Binaries of AMD's older OpenCL drivers and of clover: what `inspect` and `disasm` print about them, and the
//! code that `check` looks at.
//!
//! The package `legacy` reads the files. A report is a tree of records, which is printed as text or as JSON.

mod code;
mod records;
mod report;

use super::container::Chosen;
use super::{Failure, complain};
use codeobj::CodeObject;
use codeobj::disasm::{Options, disassemble};
use isa::Target;
use legacy::{Binary, Format, Read};
use report::Record;
use std::borrow::Cow;
use std::path::Path;

/// Reads a binary of an older driver. `None` if the file has another format.
///
/// # Errors
/// The binary breaks a rule of its format. A container of clover has no signature, so a file that only looks
/// like a container is not an error.
pub fn read<'data>(file: &Path, bytes: &'data [u8]) -> Result<Option<Read<'data>>, Failure> {
    let Some(format) = legacy::format(bytes) else { return Ok(None) };
    match legacy::read(bytes) {
        Ok(read) => Ok(Some(read)),
        Err(_) if format == Format::Gallium => Ok(None),
        Err(error) => Err(Failure::File(format!("{}: {error}", file.display()))),
    }
}

/// Returns the report about a binary as text.
pub fn text(read: &Read<'_>, file: &Path) -> String {
    report(read, file).text()
}

/// Returns the report about a binary as JSON.
///
/// # Errors
/// The report cannot be written as JSON.
pub fn json(read: &Read<'_>, file: &Path) -> Result<String, Failure> {
    super::pretty(&report(read, file).json())
}

/// Returns the code of a binary as assembly. Comments say what of the binary the text does not hold.
///
/// # Errors
/// The processor is unknown and `options` has none, or the binary has no code.
pub fn disassembly(read: &Read<'_>, file: &Path, options: &Options) -> Result<String, Failure> {
    let codes = code::codes(&read.binary, file)?;
    let mut text = String::new();
    let not_there = match &read.binary {
        Binary::OpenCl1(_) => "headers, CAL notes, AMDIL metadata and constant data",
        Binary::OpenCl2(_) => "headers (`amd_kernel_code_t`), records of arguments, data and relocations",
        _ => "headers (`amd_kernel_code_t`), arguments, configurations, data and relocations",
    };
    text += &format!("; The text holds only the code of the kernels. `kernc inspect` shows {not_there}.\n");
    let mut is_empty = true;
    let chosen = choice(&codes, options.target);
    for code in codes {
        let size: usize = code.kernels.iter().map(|kernel| kernel.1.len()).sum();
        text += &format!("; Code for {}: {size} bytes\n", code.device);
        if chosen.is_some() && code.target != chosen {
            text += "; the code is left out\n";
            continue;
        }
        let Some(target) = processor(&code, &read.binary, options.target) else {
            text += "; kernc does not know the processor, and the code is left out\n";
            continue;
        };
        is_empty = false;
        let bytes = code.object(target);
        let object = CodeObject::parse(&bytes)
            .map_err(|error| Failure::Internal(format!("error: the code of a binary as ELF: {error}\n")))?;
        let options = Options { target: Some(target), ..*options };
        text += &disassemble(&object, &options)
            .map_err(|error| Failure::File(format!("{}: {error}; try `--mcpu`", file.display())))?;
    }
    if is_empty {
        let file = file.display();
        return Err(Failure::File(format!("{file}: there is no code for a known processor; try `--mcpu`")));
    }
    Ok(text)
}

/// Returns the processor for which the code is read. OpenCL 1.x kernels can also have code that is not for the
/// processor, so an option does not decide there.
fn processor(
    code: &code::Code<'_>,
    binary: &Binary<'_>,
    asked: Option<&'static Target>,
) -> Option<&'static Target> {
    match (code.target, binary) {
        (None, Binary::OpenCl1(_)) => None,
        (target, _) => asked.or(target),
    }
}

/// Returns the processor that an option chooses among the code for several processors.
fn choice(codes: &[code::Code<'_>], asked: Option<&'static Target>) -> Option<&'static Target> {
    let known = codes.iter().filter(|code| code.target.is_some()).count();
    asked.filter(|_| known > 1 && codes.iter().any(|code| code.target == asked))
}

/// Returns the code of a binary for each processor as a code object. The code objects have only the code of
/// kernels: what is not there is a warning.
///
/// # Errors
/// The code of the kernels breaks a rule of the format, or the binary has no code for a known processor.
pub fn code_objects(
    read: &Read<'_>,
    file: &Path,
    asked: Option<&'static Target>,
) -> Result<Vec<Chosen<'static>>, Failure> {
    let codes = code::codes(&read.binary, file)?;
    let chosen = choice(&codes, asked);
    let mut objects = Vec::new();
    for code in codes {
        if chosen.is_some() && code.target != chosen {
            continue;
        }
        let size: usize = code.kernels.iter().map(|kernel| kernel.1.len()).sum();
        let Some(target) = processor(&code, &read.binary, asked) else {
            let (file, device) = (file.display(), code.device);
            complain(&format!(
                "warning: {file}: {size} bytes of code for {device} are not looked at: kernc does not know the processor\n"
            ));
            continue;
        };
        objects.push(Chosen {
            file: format!("{}:{}", file.display(), target.name).into(),
            bytes: Cow::Owned(code.object(target)),
            target: target.name.to_owned(),
        });
    }
    if objects.is_empty() {
        let file = file.display();
        return Err(Failure::File(format!("{file}: there is no code for a known processor; try `--mcpu`")));
    }
    let what = "headers, data and relocations";
    complain(&format!("warning: {}: only the code of kernels is looked at, not {what}\n", file.display()));
    Ok(objects)
}

fn report(read: &Read<'_>, file: &Path) -> Record {
    let mut report = Record::new(file.display().to_string(), Vec::new());
    records::add_binary(&mut report, &read.binary);
    for gap in &read.unclaimed {
        let at = (("offset").into(), format!("{:#x}", gap.offset));
        report.add("Bytes of no record", vec![at, ("size".into(), gap.size.to_string())]);
    }
    report
}
