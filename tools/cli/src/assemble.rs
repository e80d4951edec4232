//! `kernc as FILE.s`: assembles a source to a code object.

use super::features::Features;
use super::modes::wrong;
use super::{Failure, read_source, write};
use clap::Args;
use isa::TargetId;
use kernc::Modes;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct AsArgs {
    /// Assembler source in LLVM's syntax (`-` reads standard input).
    file: PathBuf,
    /// Processor or target id, such as `gfx906` or `amdgcn-amd-amdpal--gfx1010` (default: the one in
    /// `.amdgcn_target`).
    #[arg(long, visible_alias = "target-id", value_name = "GFX")]
    mcpu: Option<String>,
    /// Where the object goes (`-` is standard output; default: FILE with the extension `.co` or `.o`).
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a relocatable object instead of a loadable one.
    #[arg(short = 'c', long)]
    obj: bool,
    /// Code object version (default: the one in the directives and metadata, else 4).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=6))]
    code_object_version: Option<u8>,
    /// Directory in which `.include` and `.incbin` look for files that are not in the directory of the
    /// including file.
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a symbol before the source is read, as `.set` does.
    #[arg(long, value_name = "NAME=VALUE")]
    defsym: Vec<String>,
    /// Target features: +xnack, -xnack, +sramecc, -sramecc, +wavefrontsize64, +cumode, +tgsplit.
    #[arg(long, value_name = "FEATURES", value_delimiter = ',', allow_hyphen_values = true)]
    mattr: Vec<String>,
}

/// Runs the command.
pub fn run(args: AsArgs) -> Result<(), Failure> {
    let options = options(&args)?;
    let source = read_source(&args.file)?;
    let output =
        args.output.clone().unwrap_or_else(|| args.file.with_extension(if args.obj { "o" } else { "co" }));
    if args.output.is_none() && args.file.as_os_str() == "-" {
        return Err(Failure::Usage("reading standard input needs `-o`".into()));
    }
    let disk = Disk { directory: directory_of(&args.file), include: args.include.clone() };
    let object = asm::assemble_with(&source, &options, Box::new(disk)).map_err(|diagnostics| {
        let name = args.file.display().to_string();
        Failure::Source(asm::render(&diagnostics, &name, &source, std::io::stderr().is_terminal()))
    })?;
    write(&output, &object)
}

/// Finds included files: first in the directory of the including file, then in the directories that `-I`
/// names.
struct Disk {
    directory: PathBuf,
    include: Vec<PathBuf>,
}

impl asm::Loader for Disk {
    fn load(&self, name: &str, from: Option<&str>) -> Result<asm::File, String> {
        let beside = from.map_or_else(|| self.directory.clone(), |file| directory_of(file.as_ref()));
        let mut tried = std::iter::once(&beside).chain(&self.include).map(|directory| directory.join(name));
        let path = tried.find(|path| path.is_file()).ok_or("there is no such file")?;
        let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
        Ok(asm::File { name: path.display().to_string(), bytes })
    }
}

/// Returns the directory of a file; for standard input, that is the working directory.
fn directory_of(file: &Path) -> PathBuf {
    file.parent().map(Path::to_owned).unwrap_or_default()
}

fn options(args: &AsArgs) -> Result<asm::Options, Failure> {
    let id = args.mcpu.as_deref().map(TargetId::parse).transpose().map_err(|error| wrong(&error))?;
    let mattr = Features::new(&args.mattr)?;
    let switches = Modes { xnack: mattr.xnack, sramecc: mattr.sramecc, ..Modes::default() };
    let features =
        id.map_or(Modes::default(), |id| id.modes()).and(&switches).map_err(|error| wrong(&error))?;
    let symbols = args.defsym.iter().map(|text| symbol(text)).collect::<Result<_, _>>()?;
    Ok(asm::Options {
        target: id.map(|id| id.target),
        os: id.and_then(|id| id.os),
        kind: if args.obj { asm::Kind::Relocatable } else { asm::Kind::Loadable },
        version: args.code_object_version,
        xnack: features.xnack,
        sramecc: features.sramecc,
        wave64: mattr.wave_size == Some(64),
        cumode: mattr.cumode == Some(true),
        tgsplit: mattr.tgsplit == Some(true),
        symbols,
        ..asm::Options::default()
    })
}

/// Parses `NAME=VALUE`. The value may be hexadecimal (`0x`), octal (`0`) or binary (`0b`), as in the source.
fn symbol(text: &str) -> Result<(String, i64), Failure> {
    let wrong = |why: &str| Failure::Usage(format!("`--defsym {text}` {why}"));
    let (name, value) = text.split_once('=').ok_or_else(|| wrong("is not of the form NAME=VALUE"))?;
    let starts = |first: char| first.is_ascii_alphabetic() || "_.$".contains(first);
    let is_name =
        name.starts_with(starts) && name.chars().all(|c| starts(c) || c.is_ascii_digit() || c == '@');
    if !is_name {
        return Err(wrong("does not name a symbol"));
    }
    let (negative, digits) = value.strip_prefix('-').map_or((false, value), |digits| (true, digits));
    let (base, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        Some(two) if two.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    let bits = u64::from_str_radix(digits, base).ok().filter(|_| !digits.starts_with('+'));
    let bits = bits.ok_or_else(|| wrong("gives no integer of 64 bits"))?;
    Ok((name.to_owned(), if negative { (bits as i64).wrapping_neg() } else { bits as i64 }))
}
