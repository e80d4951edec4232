//! `kernc inspect FILE`: everything a code object says.

use super::{Failure, modes, source};
use clap::Args;
use dwarf::DebugInfo;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct InspectArgs {
    /// Code object (`-` reads standard input), or a source, which is compiled first.
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print the entries of the debug information instead, with all they say.
    #[arg(long, conflicts_with = "json")]
    dwarf: bool,
    /// Print instead what the debug information says of a place in the code: functions, variables and where these are. A place is an address, or a name and bytes behind it: `k+0x40`.
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["json", "dwarf"])]
    at: Option<String>,
    /// Processor to read it for (default: the file's own), or to compile a source for; also as a target id like `gfx90a:xnack-`.
    #[arg(long, visible_alias = "target-id", value_name = "GFX")]
    mcpu: Option<String>,
}

/// Runs the command.
pub fn run(args: &InspectArgs) -> Result<(), Failure> {
    let bytes = source::object(&args.file, args.mcpu.as_deref())?;
    let object = parse(&args.file, &bytes)?;
    let target = modes::target_id(args.mcpu.as_deref())?.map(|(target, _)| target);
    let name = args.file.display().to_string();
    let text = if let Some(place) = &args.at {
        let address = address_of(&object, place)?;
        let described = debug_info(&object, &name)?.at(address);
        let described = described
            .ok_or_else(|| Failure::Usage(format!("{name}: no code is described at {address:#x}")))?;
        described + &frame_at(&object, address)
    } else if args.dwarf {
        let text = match dwarf::Frames::read(&object) {
            Ok(frames) if object.section(".debug_info").is_none() => frames.text(),
            Ok(frames) => debug_info(&object, &name)?.text() + &frames.text(),
            Err(dwarf::FrameError::None) => debug_info(&object, &name)?.text(),
            Err(why) => debug_info(&object, &name)?.text() + &format!("({why})\n"),
        };
        text + &names_of(&object)
    } else if args.json {
        let tree = codeobj::inspect::json(&object, &name, target);
        let text = serde_json::to_string_pretty(&tree)
            .map_err(|error| Failure::Internal(format!("error: {error}\n")))?;
        text + "\n"
    } else {
        codeobj::inspect::text(&object, &name, target)
    };
    super::write("-".as_ref(), text.as_bytes())?;
    whole(&args.file, &object)
}

/// How the frame at an address is unwound, if the object says so.
fn frame_at(object: &codeobj::CodeObject<'_>, address: u64) -> String {
    let frames = dwarf::Frames::read(object).unwrap_or_default();
    let Some(frame) = frames.around(address) else { return String::new() };
    match frames.row(address) {
        Ok(Some(row)) => format!("  unwinding: {}\n", dwarf::Frames::row_text(&row, frames.common_of(frame))),
        Ok(None) => String::new(),
        Err(why) => format!("  ({why})\n"),
    }
}

/// The index of names, if there is one.
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

/// The address of a place: a number, or a name of the object and bytes behind it.
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

/// The code object in a file.
pub fn parse<'data>(path: &Path, bytes: &'data [u8]) -> Result<codeobj::CodeObject<'data>, Failure> {
    codeobj::CodeObject::parse(bytes).map_err(|error| Failure::File(format!("{}: {error}", path.display())))
}

/// Whether all of a file is there.
pub fn whole(path: &Path, object: &codeobj::CodeObject<'_>) -> Result<(), Failure> {
    let cut = |size: u64| {
        let (path, found) = (path.display(), object.file_size);
        Failure::File(format!(
            "{path}: the file is cut off: it has {found} bytes, and its headers name {size}"
        ))
    };
    object.whole_size().map_or(Ok(()), |size| Err(cut(size)))
}
