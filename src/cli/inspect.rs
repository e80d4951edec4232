//! `kernc inspect FILE`: everything a code object says.

use super::{Failure, read};
use clap::Args;
use kernc::Target;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct InspectArgs {
    /// Code object (`-` reads standard input).
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Processor to read it for (default: the file's own).
    #[arg(long, value_name = "GFX")]
    mcpu: Option<String>,
}

/// Runs the command.
pub fn run(args: &InspectArgs) -> Result<(), Failure> {
    let bytes = read(&args.file)?;
    let object = parse(&args.file, &bytes)?;
    let target = processor(args.mcpu.as_deref())?;
    let name = args.file.display().to_string();
    let text = if args.json {
        let tree = codeobj::inspect::json(&object, &name, target);
        let text = serde_json::to_string_pretty(&tree)
            .map_err(|error| Failure::Internal(format!("error: {error}\n")))?;
        text + "\n"
    } else {
        codeobj::inspect::text(&object, &name, target)
    };
    super::write("-".as_ref(), text.as_bytes())
}

/// The code object in a file.
pub fn parse<'data>(path: &Path, bytes: &'data [u8]) -> Result<codeobj::CodeObject<'data>, Failure> {
    codeobj::CodeObject::parse(bytes).map_err(|error| Failure::File(format!("{}: {error}", path.display())))
}

/// The processor that `--mcpu` names.
pub fn processor(name: Option<&str>) -> Result<Option<&'static Target>, Failure> {
    name.map(|name| {
        Target::by_name(name)
            .ok_or_else(|| Failure::Usage(format!("unknown processor `{name}`; `kernc targets` lists them")))
    })
    .transpose()
}
