//! clang's code for the OpenCL twins of the example kernels.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use support::{Folder, Tool};

/// The compiler, if it is on the PATH; otherwise says that `test` is left out.
pub fn clang(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("clang-19")).find(|file| file.is_file());
    if found.is_none() {
        assert!(std::env::var_os("KERNC_REQUIRE_ORACLES").is_none(), "clang-19 is missing");
        eprintln!("left out: {test} (clang-19 is not on the PATH)");
    }
    found
}

/// Folder of the sources.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cl")
}

/// Names of the sources, without `.cl`, in order.
pub fn kernels() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(sources())
        .expect("the sources are there")
        .filter_map(|entry| entry.ok()?.path().file_name()?.to_str()?.strip_suffix(".cl").map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// What a source is compiled for.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Processor.
    pub cpu: &'static str,
    /// `-O3`.
    pub level: &'static str,
    /// Another option.
    pub option: Option<&'static str>,
}

const fn variant(cpu: &'static str, level: &'static str, option: Option<&'static str>) -> Variant {
    Variant { cpu, level, option }
}

/// All processors of the bar; both wave sizes of GFX10.
pub const CPUS: [(&str, Option<&str>); 11] = [
    ("gfx600", None),
    ("gfx700", None),
    ("gfx803", None),
    ("gfx900", None),
    ("gfx906", None),
    ("gfx908", None),
    ("gfx90a", None),
    ("gfx1010", None),
    ("gfx1010", Some("-mwavefrontsize64")),
    ("gfx1030", None),
    ("gfx1030", Some("-mwavefrontsize64")),
];

/// Every combination, or without `KERNC_FULL` some of them.
pub fn variants() -> Vec<Variant> {
    if std::env::var_os("KERNC_FULL").is_none() {
        return vec![
            variant("gfx600", "-O1", None),
            variant("gfx803", "-O3", None),
            variant("gfx906", "-O0", None),
            variant("gfx90a", "-O3", None),
            variant("gfx1010", "-O3", Some("-mwavefrontsize64")),
        ];
    }
    let cpus = CPUS.iter().flat_map(|&(cpu, option)| {
        ["-O3", "-O1", "-O0"].into_iter().map(move |level| variant(cpu, level, option))
    });
    cpus.collect()
}

/// Compiles and links a source.
pub fn compile(clang: &Path, source: &Path, variant: Variant) -> Vec<u8> {
    let Variant { cpu, level, option } = variant;
    let name = source.file_stem().and_then(|name| name.to_str()).unwrap_or("kernel");
    let folder = Folder::new("check");
    let out = folder.join("kernel.co");
    let status = Tool::new(clang)
        .args(["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-cl-std=CL2.0", level])
        .arg(format!("-mcpu={cpu}"))
        .args(option)
        .arg(source)
        .arg("-o")
        .arg(&out)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "clang-19 failed on {name} for {variant:?}");
    std::fs::read(&out).expect("clang has written the object")
}

/// Compiles one of [`kernels`].
pub fn twin(clang: &Path, name: &str, variant: Variant) -> Vec<u8> {
    compile(clang, &sources().join(format!("{name}.cl")), variant)
}
