//! OpenCL kernels that clang 14 and 19 compile for Mesa and for no operating system: the disassembler's text of each object
//! gives the same file again, and the kernels compute the right results in the emulator.

use super::{MESA, PROCESSORS, compile};
use crate::common::{KERNELS, have, root};
use isa::Os;
use kernc::OptLevel;
use rayon::prelude::*;

/// Compiles the OpenCL twin of an example to a relocatable object.
fn by_clang(clang: &str, name: &str, cpu: &str, os: Os) -> Vec<u8> {
    let source = root().join("tests/cl").join(format!("{name}.cl"));
    let mut command = support::Tool::new(clang);
    command.args(["-x", "cl", "-target", os.system().triple, &format!("-mcpu={cpu}"), "-nogpulib", "-O3"]);
    // Clang 14 would run the host's assembler for an unknown system.
    command.args(["-fintegrated-as", "-cl-std=CL2.0", "-c", source.to_str().expect("a path"), "-o", "-"]);
    if clang == "clang-14" {
        // Clang 14 does not have this function, but another one with the same result.
        command.arg("-D__builtin_amdgcn_exp2f=__builtin_exp2f");
    }
    let output = command.output().expect("the tool starts");
    assert!(output.status.success(), "{name} {cpu}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn comes_back(bytes: &[u8]) -> Result<(), String> {
    let object = codeobj::CodeObject::parse(bytes).map_err(|error| error.to_string())?;
    let text = codeobj::disasm::disassemble(&object, &codeobj::disasm::Options::default())
        .map_err(|error| error.to_string())?;
    let options = asm::Options { kind: asm::Kind::Relocatable, ..asm::Options::default() };
    let again =
        asm::assemble(&text, &options).map_err(|list| asm::render(&list[..1], "text", &text, false))?;
    if again == bytes { Ok(()) } else { Err(format!("the text gives another file:\n{text}")) }
}

/// Runs a kernel in fast mode in all its cases. The object does not describe the arguments, so their types
/// are those of kernc's own source.
fn computes(name: &str, cpu: &str, os: Os, bytes: &[u8]) -> Result<(), String> {
    let mut object = sim::CodeObject::load(bytes).map_err(|error| error.to_string())?;
    let ours = compile(&crate::common::source(name), OptLevel::O1, cpu, os)?;
    for kernel in ours.kernels() {
        let args: Vec<String> =
            kernel.args.iter().map(|arg| format!("{}: {}", arg.name, arg.type_name)).collect();
        object.set_parameters(&kernel.name, &args.join(", "))?;
    }
    let mut device = sim::Device::with_threads(1);
    let module = device.load(&object).map_err(|fault| fault.to_string())?;
    let kernel = testkit::kernel(name).expect("an example");
    let info = object.kernel(name).ok_or("no kernel")?;
    for case in (kernel.cases)() {
        testkit::check_case(&mut device, module, info, kernel.group, &case)?;
    }
    Ok(())
}

/// Each twin for both systems, with the processors and versions of clang in turn; with `KERNC_SYSTEMS=all` for
/// each processor and both versions.
#[test]
fn twins() {
    const CLANGS: [&str; 2] = ["clang-14", "clang-19"];
    if !have(&CLANGS, "systems::clang::twins") {
        return;
    }
    let all = std::env::var("KERNC_SYSTEMS").is_ok_and(|value| value == "all");
    let mut cases = Vec::new();
    for (at, name) in KERNELS.into_iter().enumerate() {
        for (of, os) in MESA.into_iter().enumerate() {
            for (n, cpu) in PROCESSORS.into_iter().enumerate() {
                for (m, clang) in CLANGS.into_iter().enumerate() {
                    if all || n == (at + 3 * of) % PROCESSORS.len() && m == (at + of) % 2 {
                        cases.push((clang, name, cpu, os));
                    }
                }
            }
        }
    }
    let wrong: Vec<String> = cases
        .par_iter()
        .filter_map(|&(clang, name, cpu, os)| {
            let bytes = by_clang(clang, name, cpu, os);
            let result = comes_back(&bytes).and_then(|()| computes(name, cpu, os, &bytes));
            result.err().map(|why| format!("{clang} {name} {cpu} {}: {why}", os.system().name))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
