//! `kernc as FILE.s`: an assembler source to a code object.

use super::{Failure, read_source, write};
use clap::Args;
use kernc::Target;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct AsArgs {
    /// Assembler source in LLVM's syntax (`-` reads standard input).
    file: PathBuf,
    /// Processor (default: what `.amdgcn_target` says).
    #[arg(long, value_name = "GFX")]
    mcpu: Option<String>,
    /// Where the object goes (`-` is standard output; default: FILE with `.co` or `.o`).
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a relocatable object instead of a loadable one.
    #[arg(long)]
    obj: bool,
    /// Code object version (default: what directives and metadata say, else 5).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=6))]
    code_object_version: Option<u8>,
    /// Directory in which `.include` and `.incbin` look for files, after that of the file they stand in.
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Target features: +xnack, -xnack, +sramecc, -sramecc, +wavefrontsize64, +cumode.
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

/// Finds included files: beside the file that asks, then in the directories of `-I`.
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

/// The directory of a file; the working directory for standard input.
fn directory_of(file: &Path) -> PathBuf {
    file.parent().map(Path::to_owned).unwrap_or_default()
}

fn options(args: &AsArgs) -> Result<asm::Options, Failure> {
    let target = match &args.mcpu {
        Some(name) => Some(Target::by_name(name).ok_or_else(|| {
            Failure::Usage(format!("unknown processor `{name}`; `kernc targets` lists them"))
        })?),
        None => None,
    };
    let kind = if args.obj { asm::Kind::Relocatable } else { asm::Kind::Loadable };
    let mut options =
        asm::Options { target, kind, version: args.code_object_version, ..asm::Options::default() };
    for feature in &args.mattr {
        let (on, name) = match feature.split_at_checked(1) {
            Some(("+", name)) => (true, name),
            Some(("-", name)) => (false, name),
            _ => return Err(Failure::Usage(format!("`{feature}` does not begin with + or -"))),
        };
        match name {
            "xnack" => options.xnack = Some(on),
            "sramecc" => options.sramecc = Some(on),
            "wavefrontsize64" => options.wave64 = on,
            "wavefrontsize32" => options.wave64 = !on,
            "cumode" => options.cumode = on,
            _ => return Err(Failure::Usage(format!("unknown target feature `{name}`"))),
        }
    }
    Ok(options)
}
