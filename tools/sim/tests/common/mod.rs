//! LLVM's compilers, where they are installed.

#[allow(dead_code)]
pub mod device_libs;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use support::{Folder, Tool};

/// Whether a tool can be started; says so if not.
pub fn present(tool: &str) -> bool {
    let present = support::is_there(tool);
    if !present {
        eprintln!("left out: {tool} is not installed");
    }
    present
}

/// The twins of the example kernels in OpenCL C.
#[allow(dead_code)]
pub fn twins() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cl")
}

/// A file of these tests.
#[allow(dead_code)]
pub fn test_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cl").join(name)
}

/// A name for a file of this process that no other test uses.
pub fn temporary(suffix: &str) -> PathBuf {
    static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new("sim"));
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    FOLDER.join(format!("{number}{suffix}"))
}

fn output(command: &mut Tool, file: &Path) -> Result<Vec<u8>, String> {
    let done = command.output().map_err(|error| error.to_string())?;
    let bytes = std::fs::read(file).unwrap_or_default();
    let _ = std::fs::remove_file(file);
    match done.status.success() {
        true => Ok(bytes),
        false => Err(format!("{command:?}\n{}", String::from_utf8_lossy(&done.stderr))),
    }
}

/// OpenCL C to an object file (`-c`), by `clang-14` or `clang-19`.
pub fn compile(clang: &str, source: &Path, options: &[&str]) -> Result<Vec<u8>, String> {
    let out = temporary(".o");
    let mut command = Tool::new(clang);
    command.args(["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-cl-std=CL2.0", "-c"]);
    command.args(options).arg(source).arg("-o").arg(&out);
    output(&mut command, &out)
}

/// HIP, without its headers, to an object file. By way of assembly: clang would link by itself.
#[allow(dead_code)]
pub fn compile_hip(
    clang: &str,
    source: &Path,
    processor: &str,
    modes: &str,
    options: &[&str],
) -> Result<Vec<u8>, String> {
    let (text, out) = (temporary(".s"), temporary(".o"));
    let mut command = Tool::new(clang);
    command.args(["-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-w", "-S"]);
    command.arg(format!("--offload-arch={processor}{modes}")).args(options).arg(source).arg("-o").arg(&text);
    let assembly = output(&mut command, &text)?;
    std::fs::write(&text, assembly).map_err(|error| error.to_string())?;
    let mut command = Tool::new(clang);
    command.args(["-target", "amdgcn-amd-amdhsa", &format!("-mcpu={processor}{modes}"), "-c"]);
    let done = output(command.arg(&text).arg("-o").arg(&out), &out);
    let _ = std::fs::remove_file(&text);
    done
}

/// The code object of an example kernel's twin.
#[allow(dead_code)]
pub fn twin(clang: &str, name: &str, options: &[&str]) -> Result<Vec<u8>, String> {
    link(&[compile(clang, &twins().join(format!("{name}.cl")), options)?])
}

/// Assembles.
#[allow(dead_code)]
pub fn assemble(options: &[&str], source: &str) -> Result<Vec<u8>, String> {
    let (text, out) = (temporary(".s"), temporary(".o"));
    std::fs::write(&text, source).map_err(|error| error.to_string())?;
    let mut command = Tool::new("llvm-mc-19");
    command.args(["-triple=amdgcn-amd-amdhsa", "-filetype=obj"]).args(options).arg(&text).arg("-o").arg(&out);
    let done = output(&mut command, &out);
    let _ = std::fs::remove_file(&text);
    done
}

/// Links object files to a code object.
#[allow(dead_code)]
pub fn link(objects: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    let out = temporary(".co");
    let files: Vec<PathBuf> = objects
        .iter()
        .map(|bytes| {
            let file = temporary(".o");
            std::fs::write(&file, bytes).map(|()| file)
        })
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let done = output(Tool::new("ld.lld-19").arg("-shared").args(&files).arg("-o").arg(&out), &out);
    files.iter().for_each(|file| _ = std::fs::remove_file(file));
    done
}

/// What a C program prints on this machine.
#[allow(dead_code)]
pub fn run_c(source: &str) -> Result<String, String> {
    let (text, program) = (temporary(".c"), temporary(".exe"));
    std::fs::write(&text, source).map_err(|error| error.to_string())?;
    let mut command = Tool::new("clang-19");
    command.args(["-O0", "-w", "-fno-builtin-printf"]).arg(&text).arg("-o").arg(&program);
    let built = command.output().map_err(|error| error.to_string())?;
    let done = built.status.success().then(|| Tool::new(&program).output());
    let _ = (std::fs::remove_file(&text), std::fs::remove_file(&program));
    let done = done.ok_or_else(|| String::from_utf8_lossy(&built.stderr).into_owned())?;
    Ok(String::from_utf8_lossy(&done.map_err(|error| error.to_string())?.stdout).into_owned())
}

/// A file with that text, which the caller removes.
#[allow(dead_code)]
pub fn written(text: &str, suffix: &str) -> PathBuf {
    let file = temporary(suffix);
    std::fs::write(&file, text).expect("a temporary file");
    file
}
