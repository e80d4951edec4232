//! `kernc disasm FILE`: prints a code object as assembly.

use super::container::{self, EntryArgs};
use super::features::Features;
use super::inspect::{check_not_truncated, parse};
use super::modes;
use super::sources::Sources;
use super::{Failure, source};
use clap::Args;
use codeobj::disasm::SourcePlace;
use std::path::PathBuf;

#[derive(Args)]
pub struct DisasmArgs {
    /// Code object (`-` reads standard input), a file with several, or a source, which is compiled first.
    file: PathBuf,
    #[command(flatten)]
    entry: EntryArgs,
    /// Where the assembly goes (default: standard output).
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Processor to decode for (default: the file's own), or to compile a source for; also as a target id like `gfx90a:xnack-`.
    #[arg(long, visible_alias = "target-id", value_name = "GFX")]
    mcpu: Option<String>,
    /// GFX10: take code that no kernel's descriptor speaks for to be of wavefronts of 32 lanes.
    #[arg(long)]
    wave32: bool,
    /// The same of 64 lanes.
    #[arg(long, conflicts_with = "wave32")]
    wave64: bool,
    /// Target features as of `kernc as`: +wavefrontsize64 is `--wave64`; what else is known changes nothing in how code is read.
    #[arg(long, value_name = "FEATURES", value_delimiter = ',', allow_hyphen_values = true)]
    mattr: Vec<String>,
    /// Add the address and the words of each instruction as a comment.
    #[arg(long)]
    raw: bool,
    /// Leave out source lines.
    #[arg(long)]
    no_lines: bool,
    /// Show the text of source lines, as it is embedded in the object or stands in the file that it names, also beside the object; and where
    /// inlined functions are called.
    #[arg(long, conflicts_with = "no_lines")]
    source: bool,
}

/// Runs the command.
pub fn run(args: &DisasmArgs) -> Result<(), Failure> {
    let bytes = source::object(&args.file, args.mcpu.as_deref())?;
    let asked = modes::target_id(args.mcpu.as_deref())?;
    let opened = container::open(&args.file, &bytes, &args.entry, asked)?;
    let complete = opened.finish();
    let chosen = opened.single_object(&args.file)?;
    let object = parse(&chosen.file, &chosen.bytes)?;
    let target = asked.map(|(target, _)| target);
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
