//! `kernc doc FILE`: lists the items of a source with their `///` comments.

use super::{Failure, read_source};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Args)]
pub struct DocArgs {
    /// Source text.
    file: PathBuf,
    /// Print a JSON array with `kind`, `name`, `signature`, `text` and `line` of each item.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &DocArgs) -> Result<(), Failure> {
    let source = read_source(&args.file)?;
    let items = kernc::documentation(&source);
    if args.json {
        let row = |item: &kernc::Documented<'_>| {
            json!({ "kind": item.kind, "name": item.name, "signature": item.signature,
                    "text": item.text.join("\n"), "line": item.line })
        };
        let rows = Value::Array(items.iter().map(row).collect());
        outln!("{}", serde_json::to_string_pretty(&rows).unwrap_or_default());
        return Ok(());
    }
    for item in items {
        outln!("{}", item.signature);
        for line in item.text {
            outln!("{}", format!("    {line}").trim_end());
        }
    }
    Ok(())
}
