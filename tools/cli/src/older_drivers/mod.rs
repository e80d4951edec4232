//! Binaries of AMD's older OpenCL drivers and of clover: what `inspect` and `disasm` print about
//! them.
//!
//! The package `legacy` reads the files. A report is a tree of records, which is printed as text or as JSON.

mod code;
mod records;
mod report;

use super::Failure;
use codeobj::CodeObject;
use codeobj::disasm::{Options, disassemble};
use legacy::{Binary, Format, Read};
use report::Record;
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
    for code in codes {
        let size: usize = code.kernels.iter().map(|kernel| kernel.1.len()).sum();
        let target = options.target.or(code.target);
        text += &format!("; Code for {}: {size} bytes\n", code.device);
        // An OpenCL 1.x kernel can also have code that is not for the processor.
        if target.is_none() || (code.target.is_none() && matches!(read.binary, Binary::OpenCl1(_))) {
            text += "; kernc does not know the processor, and the code is left out\n";
            continue;
        }
        is_empty = false;
        let bytes = code.object();
        let object = CodeObject::parse(&bytes)
            .map_err(|error| Failure::Internal(format!("error: the code of a binary as ELF: {error}\n")))?;
        let options = Options { target, ..*options };
        text += &disassemble(&object, &options)
            .map_err(|error| Failure::File(format!("{}: {error}; try `--mcpu`", file.display())))?;
    }
    if is_empty {
        let file = file.display();
        return Err(Failure::File(format!("{file}: there is no code for a known processor; try `--mcpu`")));
    }
    Ok(text)
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
