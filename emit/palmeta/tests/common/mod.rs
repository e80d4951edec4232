//! What the tests share: LLVM's compiler and assembler, and the notes of their objects.

use object::{Object, ObjectSection};
use palmeta::{BEGIN, END, Metadata, Note};
use std::path::Path;
use support::{Folder, Tool, have};

/// Processors of every generation, with their versions.
pub const PROCESSORS: [(&str, [u32; 3]); 9] = [
    ("gfx600", [6, 0, 0]),
    ("gfx602", [6, 0, 2]),
    ("gfx701", [7, 0, 1]),
    ("gfx803", [8, 0, 3]),
    ("gfx900", [9, 0, 0]),
    ("gfx90a", [9, 0, 10]),
    ("gfx1010", [10, 1, 0]),
    ("gfx1012", [10, 1, 2]),
    ("gfx1030", [10, 3, 0]),
];

/// Returns the text of a file of `tests/data`.
pub fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An assembly text or an object of LLVM.
pub struct Llvm {
    pub version: u32,
    pub processor: &'static str,
}

impl Llvm {
    /// Returns the tools of two versions for all processors, if the tools are installed.
    pub fn all(test: &str) -> Vec<(Llvm, [u32; 3])> {
        let versions = [14, 19]
            .into_iter()
            .filter(|version| have(&[&format!("llc-{version}"), &format!("llvm-mc-{version}")], test));
        let each = |version| PROCESSORS.map(|(processor, isa)| (Llvm { version, processor }, isa));
        versions.flat_map(each).collect()
    }

    /// Returns LLVM 19 for one processor, if the tools are installed.
    pub fn newest(processor: &'static str, test: &str) -> Option<Llvm> {
        have(&["llc-19", "llvm-mc-19"], test).then_some(Llvm { version: 19, processor })
    }

    fn run(&self, tool: &str, arguments: &[&str], input: &str) -> Result<Vec<u8>, String> {
        let mut question = Tool::new(format!("{tool}-{}", self.version));
        question.args(arguments).arg(format!("-mcpu={}", self.processor));
        let answer = question.input(input).args(["-o", "-"]).output().expect(tool);
        match answer.status.success() {
            true => Ok(answer.stdout),
            false => Err(String::from_utf8_lossy(&answer.stderr).into_owned()),
        }
    }

    fn compile(&self, source: &str, kind: &str) -> Vec<u8> {
        let mut arguments = vec!["-mtriple=amdgcn--amdpal", kind];
        if self.version == 14 {
            arguments.push("--opaque-pointers");
        }
        self.run("llc", &arguments, source).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Compiles a module to assembly text.
    pub fn assembly(&self, source: &str) -> String {
        String::from_utf8(self.compile(source, "-filetype=asm")).expect("UTF-8")
    }

    /// Compiles a module to an object, and returns the metadata and the contents of the note.
    pub fn note(&self, source: &str) -> (Note, Vec<u8>) {
        note(&self.compile(source, "-filetype=obj")).expect("a note")
    }

    /// Assembles lines, and returns the metadata and the contents of the note.
    pub fn assemble(&self, lines: &str) -> Result<(Note, Vec<u8>), String> {
        let object = self.run("llvm-mc", &["-triple=amdgcn--amdpal", "-filetype=obj"], lines)?;
        note(&object).ok_or_else(|| "no note".to_owned())
    }

    /// Prints lines as the assembler prints them.
    pub fn print(&self, lines: &str) -> Result<String, String> {
        let text = self.run("llvm-mc", &["-triple=amdgcn--amdpal"], lines)?;
        Ok(String::from_utf8(text).expect("UTF-8"))
    }
}

/// Returns the metadata of an object, and the contents of the note.
fn note(bytes: &[u8]) -> Option<(Note, Vec<u8>)> {
    let object = object::File::parse(bytes).expect("an object");
    let data = object.section_by_name(".note")?.data().expect("data");
    let word = |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().expect("four bytes")) as usize;
    let mut at = 0;
    while at < data.len() {
        let (name, size, kind) = (word(at), word(at + 4), word(at + 8) as u32);
        let owner = std::str::from_utf8(&data[at + 12..at + 11 + name]).expect("a name");
        let start = at + 12 + name.next_multiple_of(4);
        let contents = &data[start..start + size];
        if let Some(note) = Note::read(owner, kind, contents).expect("metadata") {
            assert_eq!(note.record(), data[at..start + size.next_multiple_of(4)], "the note record");
            return Some((note, contents.to_vec()));
        }
        at = start + size.next_multiple_of(4);
    }
    None
}

/// Returns the lines from the directive to the directive at the end.
pub fn block(assembly: &str) -> &str {
    let start = assembly.find(&format!("\t{BEGIN}\n")).expect("the directive");
    let length = assembly[start..].find(&format!("\t{END}\n")).expect("the directive at the end");
    &assembly[start..start + length + END.len() + 2]
}

/// Reads the lines between the directives.
pub fn parse(block: &str) -> Metadata {
    let document = block.trim_start_matches(&format!("\t{BEGIN}\n")).trim_end_matches(&format!("\t{END}\n"));
    Metadata::from_text(document).unwrap_or_else(|error| panic!("{error}\n{block}"))
}

/// Returns the metadata of the newer form.
pub fn tree(note: Note) -> Metadata {
    match note {
        Note::MessagePack(metadata) => metadata,
        note => panic!("{note:?}"),
    }
}

/// Returns what `llvm-readelf` shows of the notes of an object with these lines.
pub fn readelf(llvm: &Llvm, lines: &str) -> String {
    let folder = Folder::new("palmeta");
    let bytes = llvm.run("llvm-mc", &["-triple=amdgcn--amdpal", "-filetype=obj"], lines).expect("an object");
    let path = folder.write("notes.o", bytes);
    let answer = Tool::new("llvm-readelf-19").arg("--notes").arg(&path).output().expect("llvm-readelf");
    String::from_utf8(answer.stdout).expect("UTF-8")
}
