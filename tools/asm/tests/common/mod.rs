//! LLVM's assembler as judge, and files with what it said.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The tool's path, if it is on the PATH; otherwise says that `test` is left out. With `KERNC_REQUIRE_ORACLES` set a
/// missing tool is a failure.
pub fn tool(name: &str, test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file());
    if found.is_none() {
        assert!(std::env::var_os("KERNC_REQUIRE_ORACLES").is_none(), "{name} is missing");
        eprintln!("left out: {test} ({name} is not on the PATH)");
    }
    found
}

/// Runs a command to its end with a text as its input, which it need not read to the end.
pub fn ask(command: &mut Command, input: &str) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the tool starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the tool ends");
    let _ = writer.join().expect("no panic");
    output
}

/// The relocatable object that `llvm-mc` makes of a source, or what it complains about.
pub fn llvm_mc(tool: &Path, args: &[&str], source: &str) -> Result<Vec<u8>, String> {
    let mut command = Command::new(tool);
    command.args(["-triple=amdgcn-amd-amdhsa", "-filetype=obj", "-o", "-"]).args(args);
    let output = ask(&mut command, source);
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Options for a relocatable object.
pub fn options(cpu: &str) -> asm::Options {
    let target = Some(isa::Target::by_name(cpu).expect("a known processor"));
    asm::Options { target, kind: asm::Kind::Relocatable, ..asm::Options::default() }
}

/// Assembles, or panics with the diagnostics.
pub fn assemble(source: &str, options: &asm::Options) -> Vec<u8> {
    asm::assemble(source, options)
        .unwrap_or_else(|list| panic!("{}", asm::render(&list, "source.s", source, false)))
}

/// Contents of a section.
pub fn section<'o>(object: &'o [u8], name: &str) -> &'o [u8] {
    use object::{Object, ObjectSection};
    let file = object::File::parse(object).expect("an object");
    let range = file.section_by_name(name).and_then(|section| section.file_range());
    range.map_or(&[], |(offset, size)| &object[offset as usize..(offset + size) as usize])
}

/// A generator of test cases (xorshift64*).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit.max(1)
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}
