//! HIP-style kernels: compiled by clang-19 and linked with ROCm's device libraries, where Debian's package has put them.

use super::{output, temporary};
use std::path::{Path, PathBuf};
use support::Tool;

/// Where the bitcode may be. `KERNC_DEVICE_LIBS` names another place.
const PLACES: [&str; 3] =
    ["/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/usr/lib/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode"];

/// The directory of the libraries; says so if there is none.
pub fn directory() -> Option<PathBuf> {
    let named = std::env::var_os("KERNC_DEVICE_LIBS").map(PathBuf::from);
    let found =
        named.into_iter().chain(PLACES.map(PathBuf::from)).find(|place| place.join("ockl.bc").is_file());
    if found.is_none() {
        eprintln!(
            "left out: ROCm's device libraries are not installed (Debian: rocm-device-libs; or KERNC_DEVICE_LIBS)"
        );
    }
    found
}

/// A HIP program's code object for a processor, in a version of code objects.
pub fn compile(libs: &Path, source: &str, processor: &str, version: u32) -> Result<Vec<u8>, String> {
    let waves = if processor.starts_with("gfx10") { "off" } else { "on" };
    let parts = [
        "ockl".to_owned(),
        "ocml".to_owned(),
        format!("oclc_isa_version_{}", &processor[3..]),
        format!("oclc_wavefrontsize64_{waves}"),
        format!("oclc_abi_version_{version}00"),
    ];
    let (text, out) = (temporary(".hip"), temporary(".co"));
    std::fs::write(&text, source).map_err(|error| error.to_string())?;
    let mut command = Tool::new("clang-19");
    command.args([
        "-x",
        "hip",
        "--cuda-device-only",
        "-nogpuinc",
        "-nogpulib",
        "-O1",
        "--no-gpu-bundle-output",
    ]);
    command.args(["-mprintf-kind=hostcall", "-Wno-format", &format!("--offload-arch={processor}")]);
    command.arg(format!("-mcode-object-version={version}"));
    for part in parts {
        command.args(["-Xclang", "-mlink-builtin-bitcode", "-Xclang"]);
        command.arg(libs.join(part).with_extension("bc"));
    }
    command.arg(&text).arg("-o").arg(&out);
    let done = output(&mut command, &out);
    let _ = std::fs::remove_file(&text);
    done
}
