//! The files, their RUN lines, and what kernc makes of their lines.

use isa::{Decoder, Target};
use std::path::Path;

/// A file under one RUN line.
pub struct Run {
    /// The file's name.
    pub name: String,
    /// Processor and features, as `llvm-mc` takes them.
    pub arguments: Vec<String>,
    /// The code object version that it asks for, as an argument.
    pub version: Option<String>,
    pub lines: Vec<String>,
    /// Lines that others may need.
    definitions: Vec<usize>,
    /// Lines are no statements by themselves.
    pub has_blocks: bool,
    target: &'static Target,
    options: asm::Options,
}

/// Every file of that extension under every one of its RUN lines that names a known processor; the same processor and
/// features once a file.
pub fn runs(dir: &Path, extension: &str) -> Vec<Run> {
    let mut files = Vec::new();
    collect(dir, extension, &mut files);
    files.sort();
    assert!(!files.is_empty(), "no tests in {}", dir.display());
    let only = std::env::var("KERNC_LLVM_MC_ONLY").unwrap_or_default();
    files.retain(|file| file.to_string_lossy().contains(&only));
    files.iter().flat_map(|file| runs_of(file)).collect()
}

fn collect(dir: &Path, extension: &str, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, extension, files);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
}

fn runs_of(file: &Path) -> Vec<Run> {
    let bytes = std::fs::read(file).expect("readable");
    let text = String::from_utf8_lossy(&bytes);
    let mut runs: Vec<Run> = Vec::new();
    for line in text.lines().filter(|line| line.contains("RUN:") && line.contains("llvm-mc")) {
        let Some(run) = run(file, &text, line) else { continue };
        if !runs.iter().any(|other| other.arguments == run.arguments) {
            runs.push(run);
        }
    }
    runs
}

/// What a RUN line asks for, if kernc knows the processor. Without one LLVM takes something like GFX6.
fn run(file: &Path, text: &str, line: &str) -> Option<Run> {
    let value = |option: &str| {
        let (_, rest) = line.split_once(option)?;
        rest[1..].split_whitespace().next()
    };
    let cpu = value("-mcpu").unwrap_or("tahiti");
    let mut target = Target::by_name(cpu)?;
    // Other systems have metadata of their own, and code for both sizes of waves at once is no code.
    let others = [
        "r600",
        "amdpal",
        "mesa3d",
        "amdgcn-amd-unknown",
        "amdgcn-amd- ",
        "+wavefrontsize32,+wavefrontsize64",
    ];
    let is_other = others.iter().any(|text| line.contains(text));
    if is_other {
        return None;
    }
    let mut arguments = vec![format!("-mcpu={cpu}")];
    let mut options =
        asm::Options { target: Some(target), kind: asm::Kind::Relocatable, ..Default::default() };
    let triple = value("-triple").or(value("-arch")).unwrap_or("amdgcn");
    arguments.push(format!("-triple={triple}"));
    if let Some(features) = value("-mattr") {
        arguments.push(format!("-mattr={features}"));
        for feature in features.to_ascii_lowercase().split(',') {
            match feature {
                "+wavefrontsize64" => options.wave64 = true,
                "+wavefrontsize32" => options.wave64 = false,
                "+xnack" => options.xnack = Some(true),
                "-xnack" => options.xnack = Some(false),
                "+tgsplit" => options.tgsplit = true,
                _ => {}
            }
        }
    }
    target = target.with_wave_size(if options.wave64 { 64 } else { target.wave_size }).unwrap_or(target);
    let name = file.file_name()?.to_string_lossy().into_owned();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let is_definition = |n: &usize| statement(&lines[*n]).is_some_and(defines);
    let definitions = (0..lines.len()).filter(is_definition).collect();
    let is_block = |line: &String| BLOCKS.iter().any(|block| line.trim_start().starts_with(block));
    let has_blocks = lines.iter().any(is_block);
    let version = value("-amdhsa-code-object-version");
    let version = version.map(|version| format!("--amdhsa-code-object-version={version}"));
    Some(Run { name, arguments, version, lines, definitions, has_blocks, target, options })
}

/// The statement of a line, if it has one, where it stands: YAML counts the blanks in front.
pub fn statement(line: &str) -> Option<&str> {
    let text = line.trim();
    let is_comment =
        text.is_empty() || text.starts_with("//") || text.starts_with(';') || text.starts_with('#');
    (!is_comment).then_some(line.trim_end())
}

/// Whether later lines may need the line.
fn defines(line: &str) -> bool {
    let line = line.trim();
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_.$".contains(c));
    line.starts_with('.')
        || line.contains(':') && !line.contains(' ')
        || line.split_once('=').is_some_and(|(name, _)| is_name(name.trim()))
}

/// Directives that several lines belong to, or that make the next lines another section's.
const BLOCKS: [&str; 13] = [
    ".macro",
    ".if",
    ".rept",
    ".irp",
    ".amdhsa_kernel",
    ".amd_kernel_code_t",
    ".amdgpu_metadata",
    ".amd_amdgpu_hsa_metadata",
    ".amdgpu_pal_metadata",
    ".section",
    ".rodata",
    ".data",
    ".reloc",
];

impl Run {
    /// The lines with a statement for which `wanted` holds; the others empty, so that numbers stay.
    pub fn text(&self, wanted: impl Fn(usize) -> bool) -> String {
        let mut text = String::new();
        for (n, line) in self.lines.iter().enumerate() {
            if let Some(statement) = statement(line).filter(|_| wanted(n)) {
                text.push_str(statement);
            }
            text.push('\n');
        }
        text
    }

    /// The object of a text, or the lines that are wrong with it.
    pub fn object(&self, text: &str) -> Result<Vec<u8>, Vec<usize>> {
        asm::assemble(text, &self.options)
            .map_err(|list| list.iter().map(|one| one.position(text).0 - 1).collect())
    }

    /// The first line of the block that line `n` ends, or itself.
    pub fn block(&self, n: usize) -> usize {
        let ended = self.lines[n].trim().strip_prefix(".end_");
        let begins = |line: &usize| {
            let name = self.lines[*line].trim().strip_prefix('.');
            name.zip(ended).is_some_and(|(name, ended)| name.starts_with(ended))
        };
        (0..n).rev().find(begins).unwrap_or(n)
    }

    /// The bytes of a line behind those of the definitions before it, which may have some.
    pub fn assemble(&self, n: usize) -> Result<Vec<u8>, String> {
        let before = &self.definitions[..self.definitions.partition_point(|&line| line < n)];
        let source =
            |lines: &[usize]| lines.iter().map(|&line| format!("{}\n", self.lines[line])).collect::<String>();
        let text = |object: &[u8]| crate::common::section(object, ".text").to_vec();
        let length = asm::assemble(&source(before), &self.options).map_or(0, |object| text(&object).len());
        match asm::assemble(&(source(before) + &self.lines[n]), &self.options) {
            Ok(object) => Ok(text(&object).split_off(length)),
            Err(list) => Err(format!("{} ({})", list[0].message, list[0].label)),
        }
    }

    /// The instruction at the beginning of the words.
    pub fn decode(&self, words: &[u32]) -> Option<String> {
        let (inst, _) = Decoder::new(self.target)?.decode_tolerant(words).ok()?;
        let mut text = String::new();
        isa::write_inst(self.target, &inst, None, &mut text);
        Some(text)
    }

    /// The words of a line of bytes.
    pub fn words(&self, n: usize) -> Option<Vec<u8>> {
        let line = self.lines[n].trim();
        let line = line.split('#').next()?.split(';').next()?;
        let bytes =
            line.trim_matches(['[', ']', ' ', '\t']).split([' ', ',', '\t']).filter(|byte| !byte.is_empty());
        let bytes: Option<Vec<u8>> =
            bytes.map(|byte| u8::from_str_radix(byte.strip_prefix("0x")?, 16).ok()).collect();
        bytes.filter(|bytes| !bytes.is_empty() && bytes.len() % 4 == 0)
    }
}
