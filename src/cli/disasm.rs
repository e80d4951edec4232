//! `kernc disasm FILE`: a code object as assembly.

use super::inspect::{parse, processor};
use super::{Failure, read};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct DisasmArgs {
    /// Code object (`-` reads standard input).
    file: PathBuf,
    /// Processor to decode for (default: the file's own).
    #[arg(long, value_name = "GFX")]
    mcpu: Option<String>,
    /// Add the address and the words of each instruction as a comment.
    #[arg(long)]
    raw: bool,
    /// Leave out source lines.
    #[arg(long)]
    no_lines: bool,
}

/// Runs the command.
pub fn run(args: &DisasmArgs) -> Result<(), Failure> {
    let bytes = read(&args.file)?;
    let object = parse(&args.file, &bytes)?;
    let target = processor(args.mcpu.as_deref())?;
    let options = codeobj::disasm::Options { target, raw: args.raw, lines: !args.no_lines };
    let text = codeobj::disassemble(&object, &options)
        .map_err(|error| Failure::File(format!("{}: {error}; try `--mcpu`", args.file.display())))?;
    super::write("-".as_ref(), text.as_bytes())
}
