//! The objects that are judged: each example kernel, and a program of several files, for a processor of each generation, at both levels, in both
//! versions of DWARF. They are compiled once; readers take many at a time.

use codeobj::CodeObject;
use codeobj::disasm::Lines;
use kernc::{Compiler, DebugInfo, Directories, Dwarf, DwarfVersion, OptLevel, Options, Subtarget};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use support::Tool;

pub const PROCESSORS: [&str; 7] = ["gfx600", "gfx700", "gfx803", "gfx906", "gfx90a", "gfx942", "gfx1030"];
pub const LEVELS: [OptLevel; 2] = [OptLevel::O0, OptLevel::O2];
pub const VERSIONS: [DwarfVersion; 2] = [DwarfVersion::V4, DwarfVersion::V5];

/// Its functions are inlined from file to file.
const SEVERAL_FILES: &str = "tests/data/run/used_files.k";

/// A source by its name from the root of the repository, where tests run.
#[derive(Clone)]
pub struct Source {
    pub name: String,
    pub text: String,
}

/// What is compiled.
pub fn sources() -> Vec<Source> {
    let folder = std::fs::read_dir("examples").expect("there").map(|entry| entry.expect("there").path());
    let examples = folder.filter(|path| path.extension().is_some_and(|end| end == "k"));
    let mut names: Vec<String> = examples.map(|path| path.to_str().expect("UTF-8").to_owned()).collect();
    names.sort();
    names.push(SEVERAL_FILES.to_owned());
    let read = |name: String| Source { text: std::fs::read_to_string(&name).expect("UTF-8"), name };
    names.into_iter().map(read).collect()
}

pub fn compile(
    source: &Source,
    processor: &str,
    opt_level: OptLevel,
    (debug, dwarf): (DebugInfo, Dwarf),
) -> kernc::CodeObject {
    let target = Subtarget::by_name(processor).expect("known");
    let files: Option<Arc<dyn kernc::Files>> = Some(Arc::new(Directories { list: Vec::new() }));
    let options =
        Options { file_name: source.name.clone(), opt_level, debug, dwarf, files, ..Options::default() };
    Compiler::new(target).compile(&source.text, &options).expect("a sound source")
}

/// An object in a file.
pub struct Judged {
    pub path: String,
    pub processor: &'static str,
    pub bytes: Vec<u8>,
}

impl Judged {
    pub fn object(&self) -> CodeObject<'_> {
        CodeObject::parse(&self.bytes).expect("sound")
    }

    pub fn lines(&self) -> Lines {
        Lines::read(&self.object())
    }

    pub fn info(&self) -> dwarf::DebugInfo {
        dwarf::DebugInfo::read(&self.object()).expect("debug information")
    }
}

static OBJECTS: LazyLock<Vec<Judged>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for source in sources() {
        for processor in PROCESSORS {
            for (level, version) in
                LEVELS.into_iter().flat_map(|level| VERSIONS.map(|version| (level, version)))
            {
                // Of version 5 half of them have an index of names.
                let names = version == DwarfVersion::V5 && level == OptLevel::O2;
                let dwarf = Dwarf { version, names, ..Dwarf::default() };
                let object = compile(&source, processor, level, (DebugInfo::Full, dwarf));
                let stem = Path::new(&source.name).file_stem().expect("named").to_str().expect("UTF-8");
                let path = scratch(&format!("{stem}-{processor}-{level:?}-{version:?}.judged.co"));
                std::fs::write(&path, object.bytes()).expect("written");
                let bytes = object.into_bytes();
                all.push(Judged { path, processor, bytes });
            }
        }
    }
    all
});

/// All of them.
pub fn objects() -> &'static [Judged] {
    &OBJECTS
}

/// Their paths.
pub fn paths() -> Vec<&'static str> {
    objects().iter().map(|judged| judged.path.as_str()).collect()
}

/// A file for this test to write.
pub fn scratch(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// What a tool has said.
pub struct Said {
    pub good: bool,
    pub out: String,
    pub err: String,
}

/// Runs a tool if it is there.
pub fn tool(name: &str, args: &[&str]) -> Option<Said> {
    run(name, Tool::new(name).args(args))
}

/// The same, with a standard input.
pub fn tool_with_input(name: &str, args: &[&str], input: &str) -> Option<Said> {
    run(name, Tool::new(name).args(args).input(input))
}

fn run(name: &str, tool: &mut Tool) -> Option<Said> {
    let Ok(output) = tool.output() else {
        println!("left out: {name} is not on the PATH");
        return None;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(Said { good: output.status.success(), out: text(&output.stdout), err: text(&output.stderr) })
}
