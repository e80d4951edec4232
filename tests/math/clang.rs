//! Instructions that waves execute for each function, beside what clang and AMD's device library (`ocml`) make of the
//! same OpenCL function, on the emulator; and how accurate that library is there.

use crate::math::functions::{FUNCTIONS, Function, Second};
use crate::math::run::{Float, compiled, executed, kernel};
use crate::math::{chosen, expression, inputs, second, worst};
use kernc::{OptLevel, sim::Mode};
use support::{Folder, Tool};

/// Where Debian's package `rocm-device-libs` has it.
const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";

/// clang's code for the same function of `a` and `b`.
fn clangs(function: &Function, ty: Float) -> Option<Vec<u8>> {
    let name = if function.name == "powi" { "pown" } else { function.name };
    let of = if ty == Float::F32 { "float" } else { "double" };
    let second = if function.second == Second::Int { "int" } else { of };
    let args = if function.second == Second::None { "a" } else { "a, b" };
    let source = format!(
        "kernel __attribute__((reqd_work_group_size(64, 1, 1)))
        void t(global {of} *x, global {second} *y, global {of} *out) {{
            size_t i = get_global_id(0); {of} a = x[i]; {second} b = y[i]; out[i] = {name}({args}); }}"
    );
    compile(&source, "gfx906", ty.name())
}

/// Whether there is what [`compile`] needs.
pub fn is_there() -> bool {
    std::path::Path::new(LIBRARY).exists() && support::is_there("clang-19")
}

/// clang's code for an OpenCL source; `name` is the test's own.
pub fn compile(source: &str, processor: &str, name: &str) -> Option<Vec<u8>> {
    let dir = Folder::new(name);
    let (input, output) = (dir.write("t.cl", source), dir.join("t.co"));
    let library = format!("--rocm-device-lib-path={LIBRARY}");
    let processor = format!("-mcpu={processor}");
    let options = "-x cl -target amdgcn-amd-amdhsa -O3 -cl-std=CL2.0 -Wno-everything";
    let mut command = Tool::new("clang-19");
    command.args(options.split(' ')).arg(processor).arg(library).arg(&input).arg("-o").arg(&output);
    let done = command.output().ok()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(&output).ok()
}

/// Where programs mostly are: the middle of where something happens.
fn arguments(function: &Function, ty: Float) -> Vec<(f64, f64)> {
    let (from, to) = (function.from.max(-20.0), function.to.min(20.0));
    let at = |n: u32| from + (to - from) * (f64::from(n.wrapping_mul(0x9e37_79b9)) + 0.5) / 2f64.powi(32);
    let second = |n: u32| if function.second == Second::Int { (n % 9) as f64 + 1.0 } else { at(n ^ 0x5a5a) };
    let first = |n: u32| if function.second == Second::None { at(n) } else { at(n).abs() };
    let narrow = |x: f64| if ty == Float::F32 { f64::from(x as f32) } else { x };
    (0..1024).map(|n| (narrow(first(n)), narrow(second(n)))).collect()
}

#[test]
fn beside_clang() {
    if !is_there() {
        return println!("left out: beside_clang, for want of clang-19 or rocm-device-libs");
    }
    for ty in [Float::F32, Float::F64] {
        let mut logs = Vec::new();
        for function in chosen().filter(|f| FUNCTIONS.iter().any(|g| g.name == f.name)) {
            let args = arguments(function, ty);
            let (inputs, size) = (inputs(function, ty, &args), args.len() * ty.size());
            let source = kernel(&expression(function), ty, second(function, ty));
            let run = |object: &[u8]| {
                let (out, count) = executed(object, Mode::Fast, &inputs, args.len(), size);
                (worst(function, ty, false, &args, &ty.read(&out)).0, count / 16)
            };
            let ours = run(&compiled(&source, "gfx906", OptLevel::O2));
            let theirs = run(&clangs(function, ty).unwrap());
            let ratio = ours.1 as f64 / theirs.1 as f64;
            logs.push(ratio.ln());
            let (name, ty) = (function.name, ty.name());
            println!(
                "{name:8} {ty} {:4} instructions, clang {:4}: {ratio:.2}; {:.2} ulp, clang {:.2}",
                ours.1, theirs.1, ours.0, theirs.0
            );
        }
        println!(
            "{}: geometric mean {:.3} of clang's",
            ty.name(),
            (logs.iter().sum::<f64>() / logs.len() as f64).exp()
        );
    }
}
