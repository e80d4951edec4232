//! What the tests share: recorded objects, foreign tools, and objects that clang makes.

#![allow(dead_code, missing_docs)]

use std::path::{Path, PathBuf};
use support::Tool;
pub use support::have;

/// Recorded objects: name, bytes. `call` has functions, constants, LDS and undefined symbols; `mixed` has `saxpy` for
/// wavefronts of 32 and `reduce` for wavefronts of 64 lanes.
pub const RECORDED: &[(&str, &[u8])] = &[
    ("call.gfx906.19v5.o", include_bytes!("../data/call.gfx906.19v5.o")),
    ("call.gfx906.14v3.o", include_bytes!("../data/call.gfx906.14v3.o")),
    ("saxpy.gfx803.14v2.co", include_bytes!("../data/saxpy.gfx803.14v2.co")),
    ("saxpy.gfx906.14v2.o", include_bytes!("../data/saxpy.gfx906.14v2.o")),
    ("saxpy.gfx906.14v3.co", include_bytes!("../data/saxpy.gfx906.14v3.co")),
    ("saxpy.gfx906.19v4.co", include_bytes!("../data/saxpy.gfx906.19v4.co")),
    ("saxpy.gfx906.19v6.o", include_bytes!("../data/saxpy.gfx906.19v6.o")),
    ("saxpy.gfx1030.19v5.co", include_bytes!("../data/saxpy.gfx1030.19v5.co")),
    ("mixed.gfx1030.19v5.co", include_bytes!("../data/mixed.gfx1030.19v5.co")),
];

/// A processor of each generation and of each kind in it; `w64`: compiled for wavefronts of 64 lanes.
pub const PROCESSORS: &[&str] = &[
    "gfx600",
    "gfx700",
    "gfx803",
    "gfx810",
    "gfx900",
    "gfx908",
    "gfx90a",
    "gfx1010",
    "gfx1030",
    "gfx1010.w64",
    "gfx1030.w64",
];

/// The example kernels that have an OpenCL source.
pub fn kernels() -> Vec<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cl");
    let files = std::fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let names =
        files.filter_map(|file| file.unwrap().file_name().to_str()?.strip_suffix(".cl").map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names.len(), 21);
    names
}

/// Runs a tool; its standard output, or its standard error if it fails.
pub fn run(name: &str, args: &[&str]) -> Result<String, String> {
    let output = Tool::new(name).args(args).output().unwrap_or_else(|error| panic!("{name}: {error}"));
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Runs a tool that must succeed.
pub fn tool(name: &str, args: &[&str]) -> String {
    run(name, args).unwrap_or_else(|error| panic!("{name} {args:?}: {error}"))
}

/// A directory of its own for a test's files.
pub fn scratch(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// An object made by a foreign compiler.
#[derive(Clone)]
pub struct Made {
    pub path: PathBuf,
    pub processor: String,
    /// Code object version.
    pub version: u32,
    /// LLVM's version.
    pub llvm: u32,
    pub loadable: bool,
}

impl Made {
    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }

    pub fn name(&self) -> String {
        self.path.file_name().unwrap().to_str().unwrap().to_owned()
    }

    /// The assembler that knows the version, and its arguments for a target.
    pub fn assembler(&self, wave64: bool) -> (&'static str, Vec<String>) {
        let cpu = format!("-mcpu={}", self.processor);
        let mut args = vec!["-triple=amdgcn-amd-amdhsa".to_owned(), cpu, "-filetype=obj".to_owned()];
        if wave64 {
            args.push("-mattr=+wavefrontsize64,-wavefrontsize32".to_owned());
        }
        if self.version < 4 {
            args.push(format!("--amdhsa-code-object-version={}", self.version));
            return ("llvm-mc-14", args);
        }
        ("llvm-mc-19", args)
    }
}

/// Compiles a kernel; relocatable and linked. `None` if that compiler cannot.
pub fn clang(llvm: u32, kernel: &str, processor: &str, version: u32, dir: &Path) -> Option<[Made; 2]> {
    try_clang(llvm, kernel, processor, version, dir).ok()
}

/// Compiles a kernel; relocatable and linked. Otherwise what that compiler says.
pub fn try_clang(
    llvm: u32,
    kernel: &str,
    processor: &str,
    version: u32,
    dir: &Path,
) -> Result<[Made; 2], String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/cl/{kernel}.cl"));
    let object = dir.join(format!("{kernel}.{processor}.{llvm}v{version}.o"));
    let compiler = format!("clang-{llvm}");
    let (cpu, wave64) = match processor.strip_suffix(".w64") {
        Some(processor) => (format!("-mcpu={processor}"), true),
        None => (format!("-mcpu={processor}"), false),
    };
    let version_option = format!("-mcode-object-version={version}");
    let mut args =
        vec!["-x", "cl", "-target", "amdgcn-amd-amdhsa", &cpu, "-nogpulib", "-O2", "-cl-std=CL2.0"];
    if llvm < 15 {
        args.extend(["-Xclang", "-finclude-default-header"]);
    }
    if wave64 {
        args.push("-mwavefrontsize64");
    }
    let text = |path: &Path| path.to_str().expect("a path in UTF-8").to_owned();
    let (source, input) = (text(&source), text(&object));
    args.extend([&version_option, "-c", &source, "-o", &input]);
    run(&compiler, &args).map_err(|error| reason(&error, processor))?;
    let linked = object.with_extension("co");
    run("ld.lld-19", &["-shared", &input, "-o", &text(&linked)])?;
    let made = |path: &Path, loadable| Made {
        path: path.to_owned(),
        processor: processor.trim_end_matches(".w64").to_owned(),
        version,
        llvm,
        loadable,
    };
    Ok([made(&object, false), made(&linked, true)])
}

/// The line of a compiler's complaint that says what is wrong, the same for all processors.
fn reason(complaint: &str, processor: &str) -> String {
    let told = complaint.lines().find_map(|line| line.split_once("error: ").map(|(_, what)| what));
    let what = told.unwrap_or_else(|| complaint.lines().next().unwrap_or_default());
    let name = processor.split(['.', ':']).next().unwrap_or_default();
    let what = what.replace(name, "GFX");
    match complaint.contains("PLEASE submit a bug report") {
        true => format!("the compiler crashes: {}", what.trim()),
        false => what.trim().to_owned(),
    }
}

/// Contents of a section, empty if there is none.
pub fn section<'a>(object: &codeobj::CodeObject<'a>, name: &str) -> &'a [u8] {
    object.section(name).map_or(&[], |section| section.data)
}

/// Does the work of each item, on as many threads as there are processors. Results in the items' order.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("no panic")).collect()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
