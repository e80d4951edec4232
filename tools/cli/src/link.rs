//! `kernc link A.o B.o LIB.a`: links relocatable objects to a code object.

use super::inspect::check_not_truncated;
use super::{Failure, read, write};
use clap::Args;
use link::{Fault, Input, Kind, Versions, thin_members};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct LinkArgs {
    /// Relocatable objects and archives. From an archive, only the members that are needed are linked.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Where the code object goes (`-` is standard output).
    #[arg(short, value_name = "FILE")]
    output: PathBuf,
    /// Write one relocatable object instead of a loadable one.
    #[arg(long)]
    obj: bool,
    /// Leave out sections to which no kernel refers, and no other symbol that a loader can see.
    #[arg(long)]
    gc_sections: bool,
    /// Let the loader see this name, other names given with this option, and kernels. All other names are
    /// hidden.
    #[arg(long, value_name = "NAME")]
    export: Vec<String>,
    /// Hide the names that this version script hides. The version names in the script are ignored.
    #[arg(long, value_name = "FILE")]
    version_script: Option<PathBuf>,
    /// Link the archive member that defines this name, and keep it.
    #[arg(short, long, value_name = "NAME")]
    undefined: Vec<String>,
    /// Allocate exactly the scratch memory that a kernel's calls take, where this is known, instead of what
    /// its compiler assumed.
    #[arg(long)]
    exact_stack: bool,
    /// Write a map of the linked object: what is where, and what each kernel needs and why (`-` is standard
    /// output).
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Allow names that nothing defines, which the loader must resolve.
    #[arg(long)]
    allow_undefined: bool,
}

/// Runs the command.
pub fn run(args: &LinkArgs) -> Result<(), Failure> {
    let mut files = Vec::new();
    for path in &args.files {
        let data = read(path)?;
        match thin_members(&data).map_err(|error| file(path, &error))? {
            Some(members) => files.extend(of_thin(path, &members)?),
            None => files.push((path.display().to_string(), data, false)),
        }
    }
    let inputs: Vec<Input> =
        files.iter().map(|(name, data, is_lazy)| Input { name, data, is_lazy: *is_lazy }).collect();
    let versions = match &args.version_script {
        Some(path) => {
            let text = String::from_utf8(read(path)?).map_err(|_| file(path, "not UTF-8 text"))?;
            Some(Versions::parse(&text).map_err(|error| file(path, &error))?)
        }
        None => None,
    };
    let options = link::Options {
        kind: if args.obj { Kind::Relocatable } else { Kind::Loadable },
        gc_sections: args.gc_sections,
        export: args.export.clone(),
        versions,
        undefined: args.undefined.clone(),
        allow_undefined: args.allow_undefined,
        exact_stack: args.exact_stack,
        tells: args.map.is_some(),
    };
    let linked = link::link_with_report(&inputs, &options).map_err(|faults| {
        let cut = files.iter().find_map(|(name, data, _)| {
            check_not_truncated(name.as_ref(), &codeobj::CodeObject::parse(data).ok()?).err()
        });
        cut.unwrap_or_else(|| failure(&faults))
    })?;
    for warning in &linked.report.warnings {
        eprintln!("warning: {warning}");
    }
    if let Some(map) = &args.map {
        write(map, linked.report.to_string().as_bytes())?;
    }
    write(&args.output, &linked.file)
}

/// Reads the members of a thin archive. Such an archive contains only the names of its members, which are
/// files in its directory.
fn of_thin(archive: &Path, members: &[String]) -> Result<Vec<(String, Vec<u8>, bool)>, Failure> {
    let folder = archive.parent().unwrap_or(Path::new(""));
    let member =
        |name: &String| Ok((format!("{}({name})", archive.display()), read(&folder.join(name))?, true));
    members.iter().map(member).collect()
}

fn file(path: &Path, error: &str) -> Failure {
    Failure::File(format!("{}: {error}", path.display()))
}

/// Converts the faults that the linker found to an error with one line for each fault. If a file cannot be
/// parsed, the exit code of the error is that of an unreadable file. Otherwise it is that of a source with
/// errors.
fn failure(faults: &[Fault]) -> Failure {
    let text: Vec<String> = faults.iter().map(Fault::to_string).collect();
    match faults.iter().any(|fault| matches!(fault, Fault::File(_))) {
        true => Failure::File(text.join("\nerror: ")),
        false => Failure::Source(text.iter().map(|line| format!("error: {line}\n")).collect()),
    }
}
