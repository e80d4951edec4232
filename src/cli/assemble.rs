//! `kernc as FILE.s`: an assembler source to a code object.

use super::{Failure, read_source, write};
use clap::Args;
use kernc::Target;
use std::io::IsTerminal;
use std::path::PathBuf;

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
    let object = asm::assemble(&source, &options).map_err(|diagnostics| {
        let name = args.file.display().to_string();
        Failure::Source(asm::render(&diagnostics, &name, &source, std::io::stderr().is_terminal()))
    })?;
    write(&output, &object)
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
