//! `kernc disasm FILE`: prints a code object as assembly.

use super::container::{self, EntryArgs};
use super::features::Features;
use super::inspect::{check_not_truncated, parse};
use super::modes;
use super::sources::Sources;
use super::{Failure, older_drivers, source};
use clap::Args;
use codeobj::disasm::SourcePlace;
use std::path::PathBuf;

#[derive(Args)]
pub struct DisasmArgs {
    /// The code to print: a code object (`-` reads standard input), a file with several code objects, a
    /// binary of an older OpenCL driver, or a source, which is compiled first.
    file: PathBuf,
    #[command(flatten)]
    entry: EntryArgs,
    /// Where the assembly goes (default: standard output).
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Processor whose instructions are decoded (default: the one in the file), also as a target id like
    /// `gfx90a:xnack-`. For a source, the processor to compile it for.
    #[arg(long, visible_alias = "target-id", value_name = "GFX")]
    mcpu: Option<String>,
    /// On GFX10, decode code that belongs to no kernel descriptor as code for wavefronts of 32 lanes.
    #[arg(long)]
    wave32: bool,
    /// The same of 64 lanes.
    #[arg(long, conflicts_with = "wave32")]
    wave64: bool,
    /// Target features as for `kernc as`. `+wavefrontsize64` is the same as `--wave64`; other known features
    /// do not change how code is decoded.
    #[arg(long, value_name = "FEATURES", value_delimiter = ',', allow_hyphen_values = true)]
    mattr: Vec<String>,
    /// Add the address and the words of each instruction as a comment.
    #[arg(long)]
    raw: bool,
    /// Leave out source lines.
    #[arg(long)]
    no_lines: bool,
    /// Show the text of source lines, and where inlined functions are called. The text comes from the object
    /// if it is embedded there, else from the file that the object names, or from a file of that name beside
    /// the object.
    #[arg(long, conflicts_with = "no_lines")]
    source: bool,
}

/// Runs the command.
pub fn run(args: &DisasmArgs) -> Result<(), Failure> {
    let bytes = source::object(&args.file, args.mcpu.as_deref())?;
    let asked = modes::target_id(args.mcpu.as_deref())?;
    let target = asked.map(|(target, _)| target);
    if let Some(read) = older_drivers::read(&args.file, &bytes)? {
        let options = codeobj::disasm::Options { target, wave_size: None, raw: args.raw, lines: false };
        let text = older_drivers::disassembly(&read, &args.file, &options)?;
        return super::write(args.output.as_deref().unwrap_or("-".as_ref()), text.as_bytes());
    }
    let opened = container::open(&args.file, &bytes, &args.entry, asked)?;
    let complete = opened.finish();
    let chosen = opened.single_object(&args.file)?;
    let object = parse(&chosen.file, &chosen.bytes)?;
    let wave_size = match (args.wave32, args.wave64) {
        (true, _) => Some(32),
        (_, true) => Some(64),
        _ => Features::new(&args.mattr)?.wave_size,
    };
    let options = codeobj::disasm::Options { target, wave_size, raw: args.raw, lines: !args.no_lines };
    let sources = args.source.then(|| Sources::new(&object, &args.file));
    let beside = |address: u64, place: &SourcePlace| {
        sources.as_ref().map_or(String::new(), |sources| sources.line_heading(address, place))
    };
    let text = codeobj::disasm::disassemble_beside(&object, &options, args.source.then_some(&beside))
        .map_err(|error| Failure::File(format!("{}: {error}; try `--mcpu`", chosen.file.display())))?;
    super::write(args.output.as_deref().unwrap_or("-".as_ref()), text.as_bytes())?;
    check_not_truncated(&chosen.file, &object)?;
    complete
}
