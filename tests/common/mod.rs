//! What the end-to-end tests share: the example kernels and the foreign tools.

#![allow(dead_code, missing_docs, unused_imports)] // the tests of the library and of the command line each use a part

use std::path::{Path, PathBuf};
use support::Tool;
pub use support::{have, root};

/// The kernels that have an OpenCL twin in `tests/cl`.
pub const KERNELS: [&str; 21] = [
    "bitonic",
    "conv3x3",
    "daxpy",
    "dgemv",
    "hashloop",
    "histogram",
    "mandelbrot",
    "msgpass",
    "nbody",
    "reduce",
    "saxpy",
    "scan",
    "sgemm_lds",
    "sgemm_naive",
    "sgemm_reg",
    "sha256",
    "softmax",
    "spmv",
    "stencil5",
    "transpose",
    "vadd4",
];

/// Source text of an example, or of a program of `tests/data/run`.
pub fn source(kernel: &str) -> String {
    let folder = if KERNELS.contains(&kernel) { "examples" } else { "tests/data/run" };
    let path = root().join(folder).join(format!("{kernel}.k"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compiles an example for gfx906 with every verifier on.
pub fn compile(kernel: &str, opt_level: kernc::OptLevel) -> kernc::CodeObject {
    compile_for(kernel, opt_level, "gfx906")
}

/// Compiles an example with every verifier on.
pub fn compile_for(kernel: &str, opt_level: kernc::OptLevel, target: &str) -> kernc::CodeObject {
    let target = kernc::Subtarget::by_name(target).unwrap();
    compile_as(kernel, opt_level, target, kernc::Language::default())
}

/// Compiles an example for gfx906 to an object of that version and language, with every verifier on.
pub fn compile_version(
    kernel: &str,
    opt_level: kernc::OptLevel,
    version: u8,
    language: kernc::Language,
) -> kernc::CodeObject {
    let version = kernc::CodeObjectVersion::from_number(version).unwrap();
    let target = kernc::Subtarget::by_name("gfx906").unwrap().with_version(version);
    compile_as(kernel, opt_level, target, language)
}

pub fn compile_as(
    kernel: &str,
    opt_level: kernc::OptLevel,
    target: kernc::Subtarget,
    language: kernc::Language,
) -> kernc::CodeObject {
    let text = source(kernel);
    let options = kernc::Options {
        file_name: format!("{kernel}.k"),
        opt_level,
        verify: true,
        language,
        ..kernc::Options::default()
    };
    kernc::Compiler::new(target)
        .compile(&text, &options)
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)))
}

/// Runs a tool; its standard output. Panics with its standard error if it fails or complains.
pub fn tool(name: &str, args: &[&str]) -> String {
    let output = Tool::new(name).args(args).output().unwrap_or_else(|error| panic!("{name}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.trim().is_empty(), "{name} {args:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A directory of its own for a test's files, below Cargo's target directory.
pub fn scratch(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Compiles an OpenCL twin with clang for gfx906 to a loadable code object.
pub fn clang(kernel: &str, opt: &str, into: &Path) -> PathBuf {
    let out = into.join(format!("{kernel}{opt}.clang.co"));
    let source = root().join("tests/cl").join(format!("{kernel}.cl"));
    tool(
        "clang-19",
        &[
            "-x",
            "cl",
            "-target",
            "amdgcn-amd-amdhsa",
            "-mcpu=gfx906",
            "-nogpulib",
            opt,
            "-cl-std=CL2.0",
            source.to_str().unwrap(),
            "-o",
            out.to_str().unwrap(),
        ],
    );
    out
}

/// Contents of a section of an ELF file.
pub fn section(elf: &[u8], name: &str) -> Vec<u8> {
    use object::{Object, ObjectSection};
    let file = object::File::parse(elf).unwrap();
    let section = file.section_by_name(name).unwrap_or_else(|| panic!("no section {name}"));
    section.data().unwrap().to_vec()
}
