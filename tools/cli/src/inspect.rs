//! `kernc inspect FILE`: prints the contents of a code object.

use super::container::{self, Chosen, EntryArgs, Opened};
use super::{Failure, modes, older_drivers, source};
use clap::Args;
use codeobj::container::LeftOut;
use dwarf::DebugInfo;
use kernc::Target;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct InspectArgs {
    /// The code object (`-` reads standard input), a file with several code objects, a binary of an older
    /// OpenCL driver, or a source, which is compiled first.
    file: PathBuf,
    #[command(flatten)]
    entry: EntryArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print the entries of the debug information with all their attributes, instead of the usual text.
    #[arg(long, conflicts_with = "json")]
    dwarf: bool,
    /// Print what the debug information says about a place in the code: its functions and variables, and
    /// where the variables are. A place is an address, or a name and a number of bytes after it: `k+0x40`.
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["json", "dwarf"])]
    at: Option<String>,
    /// Processor for which the code object is read (default: the one in the file), also as a target id like
    /// `gfx90a:xnack-`. For a source, the processor to compile it for.
    #[arg(long, visible_alias = "target-id", value_name = "GFX")]
    mcpu: Option<String>,
}

/// Runs the command.
pub fn run(args: &InspectArgs) -> Result<(), Failure> {
    let bytes = source::object(&args.file, args.mcpu.as_deref())?;
    if let Some(read) = older_drivers::read(&args.file, &bytes)? {
        return older_binary(args, &read);
    }
    let asked = modes::target_id(args.mcpu.as_deref())?;
    let opened = container::open(&args.file, &bytes, &args.entry, asked)?;
    if opened.is_container && opened.chosen.len() > 1 && !args.dwarf && args.at.is_none() {
        let text = if args.json { json_list(&args.file, &opened)? } else { list(&args.file, &opened) };
        super::write("-".as_ref(), text.as_bytes())?;
        return opened.finish();
    }
    let complete = opened.finish();
    let chosen = opened.single_object(&args.file)?;
    let object = parse(&chosen.file, &chosen.bytes)?;
    let text = described(args, &chosen, &object, asked.map(|(target, _)| target))?;
    super::write("-".as_ref(), text.as_bytes())?;
    check_not_truncated(&chosen.file, &object)?;
    complete
}

/// Prints a binary of an older OpenCL driver or of clover.
fn older_binary(args: &InspectArgs, read: &legacy::Read<'_>) -> Result<(), Failure> {
    if args.dwarf || args.at.is_some() || args.entry.is_given() {
        let file = args.file.display();
        return Err(Failure::Usage(format!(
            "{file} is a binary of an older OpenCL driver: `--dwarf`, `--at` and `--entry` do not apply to it"
        )));
    }
    let text = match args.json {
        true => older_drivers::json(read, &args.file)?,
        false => older_drivers::text(read, &args.file),
    };
    super::write("-".as_ref(), text.as_bytes())
}

/// Returns what the options ask for about a code object.
fn described(
    args: &InspectArgs,
    chosen: &Chosen<'_>,
    object: &codeobj::CodeObject<'_>,
    target: Option<&'static Target>,
) -> Result<String, Failure> {
    let name = chosen.file.display().to_string();
    if let Some(place) = &args.at {
        let address = address_of(object, place)?;
        let described = debug_info(object, &name)?.at(address);
        let described = described
            .ok_or_else(|| Failure::Usage(format!("{name}: no code is described at {address:#x}")))?;
        return Ok(described + &frame_at(object, address));
    }
    if args.dwarf {
        let text = match dwarf::Frames::read(object) {
            Ok(frames) if object.section(".debug_info").is_none() => frames.text(),
            Ok(frames) => debug_info(object, &name)?.text() + &frames.text(),
            Err(dwarf::FrameError::None) => debug_info(object, &name)?.text(),
            Err(why) => debug_info(object, &name)?.text() + &format!("({why})\n"),
        };
        return Ok(text + &names_of(object));
    }
    if args.json {
        return super::pretty(&codeobj::inspect::json(object, &name, target));
    }
    Ok(codeobj::inspect::text(object, &name, target))
}

/// Lists the code objects of a container, and its parts that are not code objects, one per line.
fn list(file: &Path, opened: &Opened<'_>) -> String {
    let mut text =
        format!("{}: a container; `--entry TEXT` chooses a code object\n\nCode objects\n", file.display());
    for chosen in &opened.chosen {
        let kernels = match codeobj::CodeObject::parse(&chosen.bytes) {
            Ok(object) => match kernels(&object).len() {
                1 => "1 kernel".to_owned(),
                count => format!("{count} kernels"),
            },
            Err(error) => error.to_string(),
        };
        let _ = writeln!(text, "  {}: {} bytes, {kernels}", chosen.file.display(), chosen.bytes.len());
    }
    if !opened.left_out.is_empty() {
        text += "\nOther parts\n";
        for part in &opened.left_out {
            let _ = writeln!(text, "  {}:{}: {}", file.display(), part.path.join(":"), part.why);
        }
    }
    text
}

/// Returns the list of the code objects as JSON.
fn json_list(file: &Path, opened: &Opened<'_>) -> Result<String, Failure> {
    let object = |chosen: &Chosen<'_>| {
        let parsed = codeobj::CodeObject::parse(&chosen.bytes);
        let kernels =
            parsed.map(|object| kernels(&object).into_iter().map(str::to_owned).collect::<Vec<_>>());
        json!({
            "file": chosen.file.display().to_string(),
            "target_id": chosen.target,
            "size": chosen.bytes.len(),
            "kernels": kernels.as_ref().ok(),
            "error": kernels.as_ref().err().map(ToString::to_string),
        })
    };
    let part = |part: &LeftOut| json!({ "part": part.path.join(":"), "what": part.why.to_string() });
    super::pretty(&json!({
        "file": file.display().to_string(),
        "objects": opened.chosen.iter().map(object).collect::<Vec<_>>(),
        "other_parts": opened.left_out.iter().map(part).collect::<Vec<_>>(),
    }))
}

/// Returns the names of the kernels.
fn kernels<'data>(object: &codeobj::CodeObject<'data>) -> Vec<&'data str> {
    let headers = object.kernel_codes().map(|header| header.kernel);
    object.descriptors().map(|descriptor| descriptor.kernel).chain(headers).collect()
}

/// Returns a text that says how to unwind the call frame at an address. The text is empty if the object has
/// no call frame information.
fn frame_at(object: &codeobj::CodeObject<'_>, address: u64) -> String {
    let frames = dwarf::Frames::read(object).unwrap_or_default();
    let Some(frame) = frames.around(address) else { return String::new() };
    match frames.row(address) {
        Ok(Some(row)) => format!("  unwinding: {}\n", dwarf::Frames::row_text(&row, frames.common_of(frame))),
        Ok(None) => String::new(),
        Err(why) => format!("  ({why})\n"),
    }
}

/// Returns the text of the index of names, if there is one.
fn names_of(object: &codeobj::CodeObject<'_>) -> String {
    match dwarf::Names::read(object) {
        Ok(names) => names.text(),
        Err(dwarf::ReadError::None(_)) => String::new(),
        Err(why) => format!("({why})\n"),
    }
}

fn debug_info(object: &codeobj::CodeObject<'_>, name: &str) -> Result<DebugInfo, Failure> {
    DebugInfo::read(object).map_err(|error| Failure::File(format!("{name}: {error}")))
}

/// Returns the address that a command-line argument names: a number, or the name of a symbol with an optional
/// byte offset.
fn address_of(object: &codeobj::CodeObject<'_>, place: &str) -> Result<u64, Failure> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    if let Some(address) = number(place) {
        return Ok(address);
    }
    let (name, behind) = place.rsplit_once('+').unwrap_or((place, "0"));
    let symbol = object.symbols().iter().find(|symbol| symbol.name == name);
    let symbol = symbol
        .ok_or_else(|| Failure::Usage(format!("`{place}` is no address, and nothing is called `{name}`")))?;
    let behind = number(behind).ok_or_else(|| Failure::Usage(format!("`{behind}` is no number of bytes")))?;
    Ok(symbol.value.wrapping_add(behind))
}

/// Parses the code object in a file.
pub fn parse<'data>(path: &Path, bytes: &'data [u8]) -> Result<codeobj::CodeObject<'data>, Failure> {
    codeobj::CodeObject::parse(bytes).map_err(|error| Failure::File(format!("{}: {error}", path.display())))
}

/// Reports a file that is shorter than its headers say.
pub fn check_not_truncated(path: &Path, object: &codeobj::CodeObject<'_>) -> Result<(), Failure> {
    let cut = |size: u64| {
        let (path, found) = (path.display(), object.file_size);
        Failure::File(format!(
            "{path}: the file is cut off: it has {found} bytes, and its headers name {size}"
        ))
    };
    object.whole_size().map_or(Ok(()), |size| Err(cut(size)))
}
