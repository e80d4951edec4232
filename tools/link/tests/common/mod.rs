//! Cases, and `ld.lld`.
#![allow(dead_code)]

pub mod compare;

use link::{Input, Kind, Options, Versions};
use std::path::Path;
use support::Tool;
pub use support::{Folder as Scratch, find as tool};

/// What is linked.
#[derive(Clone, Default)]
pub struct Case {
    pub name: String,
    pub inputs: Vec<(String, Vec<u8>)>,
    pub options: Options,
    /// More for `ld.lld`.
    pub lld: Vec<String>,
    /// What is wrong with it.
    pub errors: Vec<String>,
    /// Whether `ld.lld` decides if anything is wrong with it.
    pub is_generated: bool,
    /// Whether kernels may need more than `ld.lld` gives them.
    pub may_raise: bool,
    /// A version script.
    pub script: Option<String>,
}

/// All files of `tests/data`.
pub fn cases() -> Vec<Case> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut paths: Vec<_> =
        std::fs::read_dir(dir).expect("data").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| case(path)).collect()
}

/// The case of that name.
pub fn case_of(name: &str) -> Case {
    case(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("{name}.s")))
}

fn case(path: &Path) -> Case {
    let text = std::fs::read_to_string(path).expect("readable");
    parsed(path.file_stem().expect("a name").to_string_lossy().into_owned(), &text)
}

/// A case from its text.
pub fn parsed(name: String, text: &str) -> Case {
    read(name, text, &assemble)
}

/// A case from its text, if the assembler takes it.
pub fn try_parsed(name: String, text: &str) -> Option<Case> {
    let is_right = std::cell::Cell::new(true);
    let case = read(name, text, &|source| {
        try_assemble(source).unwrap_or_else(|_| {
            is_right.set(false);
            Vec::new()
        })
    });
    is_right.get().then_some(case)
}

fn read(name: String, text: &str, assemble: &dyn Fn(&str) -> Vec<u8>) -> Case {
    let mut case = Case {
        name,
        inputs: Vec::new(),
        options: Options::default(),
        lld: Vec::new(),
        errors: Vec::new(),
        is_generated: false,
        may_raise: false,
        script: None,
    };
    let mut parts = text.split("\n;--- ");
    for line in parts.next().unwrap_or_default().lines() {
        let line = line.strip_prefix("; ").unwrap_or_default();
        if let Some(error) = line.strip_prefix("error: ") {
            case.errors.push(error.to_owned());
        } else if let Some(arguments) = line.strip_prefix("lld: ") {
            case.lld.extend(arguments.split(' ').map(str::to_owned));
        } else if let Some(script) = line.strip_prefix("versions: ") {
            case.script = Some(script.to_owned());
            case.options.versions = Some(Versions::parse(script).expect("a script"));
        } else if line == "allow undefined" {
            case.options.allow_undefined = true;
        }
    }
    case.options.gc_sections = case.lld.iter().any(|argument| argument == "--gc-sections");
    case.options.undefined =
        case.lld.windows(2).filter(|two| two[0] == "-u").map(|two| two[1].clone()).collect();
    for part in parts {
        let (name, source) = part.split_once('\n').expect("a name");
        let object = |name: &str| name.replace(".s", ".o");
        match name.split_once('(') {
            Some((archive, member)) => {
                let file = (object(member.trim_end_matches(')')), assemble(source));
                match case.inputs.iter_mut().find(|(name, _)| name == archive) {
                    Some((_, data)) => data.extend(member_of(&file)),
                    None => case
                        .inputs
                        .push((archive.to_owned(), [b"!<arch>\n".to_vec(), member_of(&file)].concat())),
                }
            }
            None => case.inputs.push((object(name), assemble(source))),
        }
    }
    case
}

/// A member of an archive with its header.
pub fn member_of((name, data): &(String, Vec<u8>)) -> Vec<u8> {
    let mut out =
        format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", format!("{name}/"), 0, 0, 0, 644, data.len())
            .into_bytes();
    out.extend_from_slice(data);
    out.resize(out.len().next_multiple_of(2), b'\n');
    out
}

/// A relocatable object for gfx906, unless the source says another processor.
pub fn assemble(source: &str) -> Vec<u8> {
    try_assemble(source).unwrap_or_else(|error| panic!("{error}"))
}

fn try_assemble(source: &str) -> Result<Vec<u8>, String> {
    let gfx906 =
        (!source.contains(".amdgcn_target")).then(|| isa::Target::by_name("gfx906").expect("it is known"));
    // What says nothing is of the version of what does.
    let words = ["amdhsa_code_object_version", "amdhsa.version", ".hsa_code_object_version"];
    let version = (!words.iter().any(|word| source.contains(word))).then_some(5);
    let kind = asm::Kind::Relocatable;
    let options = asm::Options { target: gfx906, kind, version, ..asm::Options::default() };
    asm::assemble(source, &options).map_err(|list| asm::render(&list, "source.s", source, false))
}

/// What our linker makes of it.
pub fn link(case: &Case, kind: Kind) -> Result<Vec<u8>, Vec<String>> {
    link_files(&case.inputs, &Options { kind, ..case.options.clone() })
}

/// What our linker makes of files.
pub fn link_files(inputs: &[(String, Vec<u8>)], options: &Options) -> Result<Vec<u8>, Vec<String>> {
    let inputs: Vec<Input> = inputs.iter().map(|(name, data)| Input { name, data, is_lazy: false }).collect();
    link::link(&inputs, options).map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

/// What `ld.lld -shared` makes of it.
pub fn lld(tool: &Path, case: &Case, scratch: &Scratch) -> Result<Vec<u8>, String> {
    let output = scratch.join("theirs.co");
    let mut command = Tool::new(tool);
    command.current_dir(&**scratch).arg("-shared").arg("-o").arg(&output).args(&case.lld);
    if let Some(script) = &case.script {
        std::fs::write(scratch.join("versions.txt"), script).expect("writable");
        command.args(["--version-script", "versions.txt"]);
    }
    if case.is_generated && !case.options.allow_undefined {
        command.arg("--no-undefined");
    }
    for (name, data) in &case.inputs {
        std::fs::write(scratch.join(name), data).expect("writable");
        command.arg(name);
    }
    let ran = command.output().expect("ld.lld starts");
    match ran.status.success() {
        true => Ok(std::fs::read(output).expect("linked")),
        false => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
    }
}
