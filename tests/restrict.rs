//! Two arguments that overlap although one is `restrict`: what strict mode reports, of kernc's code and of
//! clang's.

use crate::common::{have, scratch, tool};
use kernc::sim::{CodeObject, Device, Dispatch, Fault, Limits, Mode};
use kernc::{Compiler, OptLevel, Options, Target};

const KERNC: &str = "kernel t(x: *const restrict global u32, y: *global u32) {
    let i = global_id(0);
    y[i] = x[i] + 1;
}";

const CLANG: &str = "__kernel void t(__global const uint *restrict x, __global uint *y) {
    uint i = __builtin_amdgcn_workitem_id_x();
    y[i] = x[i] + 1;
}";

/// Runs `t` on one buffer of 1024 bytes: both arguments point into it, this many bytes from its start.
fn run(object: &[u8], x: u64, y: u64) -> Result<(), Fault> {
    let object = CodeObject::load(object).expect("it loads");
    let mut device = Device::new();
    device.set_mode(Mode::STRICT);
    let module = device.load(&object)?;
    let buffer = device.alloc(1024)?;
    let kernarg = [buffer + x, buffer + y].into_iter().flat_map(u64::to_le_bytes).collect();
    let dispatch = Dispatch {
        kernel: "t",
        grid: [64, 1, 1],
        group: [64, 1, 1],
        kernarg,
        limits: Limits { instructions: 10_000, stack: 0 },
        ..Dispatch::default()
    };
    device.run(module, &dispatch).map(|_| ())
}

fn check(object: &[u8], what: &str) {
    for (x, y) in [(0, 0), (0, 128), (4, 0)] {
        match run(object, x, y) {
            Err(Fault::Found(report)) if report.rule == "restrict-overlap" => {
                assert!(report.message.contains("`x`, which is `restrict`"), "{what}: {report}");
            }
            other => panic!("{what}, {x} {y}: {other:?}"),
        }
    }
    // Parts of one buffer that do not overlap.
    for (x, y) in [(0, 256), (512, 0)] {
        assert_eq!(run(object, x, y), Ok(()), "{what}, {x} {y}");
    }
}

#[test]
fn arguments_that_overlap() {
    for name in ["gfx600", "gfx803", "gfx906", "gfx1010", "gfx1030"] {
        let mut compiler = Compiler::new(Target::by_name(name).expect("a processor"));
        let compile = |source: &str, compiler: &mut Compiler| {
            compiler.compile(source, &Options::default()).expect("it compiles").bytes().to_vec()
        };
        check(&compile(KERNC, &mut compiler), name);
        let without = compile(&KERNC.replace("restrict ", ""), &mut compiler);
        assert_eq!(run(&without, 0, 0), Ok(()), "{name}");
    }
}

/// Some lanes use an argument and some lanes use a static variable, in the same registers. Half of the lanes
/// write `G` with the address register of `x`. The other half reads `G` with the address register of `y`.
const MIXED: &str = "global static G: [u32; 64];
kernel t(x: *restrict global u32, y: *global u32) {
    let i = global_id(0);
    let is_even = i & 1 == 0;
    let p = if is_even { x } else { &G[0] };
    p[i] = 1;
    barrier();
    let q = if is_even { &G[0] } else { y };
    y[i + 64] = q[i ^ 1];
}";

#[test]
fn argument_and_static_variable_share_registers() {
    for name in ["gfx803", "gfx906", "gfx1030"] {
        for opt_level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
            let options = Options { opt_level, ..Options::default() };
            let mut compiler = Compiler::new(Target::by_name(name).expect("a processor"));
            let object = compiler.compile(MIXED, &options).expect("it compiles").bytes().to_vec();
            assert_eq!(run(&object, 0, 512), Ok(()), "{name} -O{}", opt_level.number());
        }
    }
}

#[test]
fn arguments_of_clang_that_overlap() {
    if !have(&["clang-19"], "arguments_of_clang_that_overlap") {
        return;
    }
    let dir = scratch("restrict");
    for name in ["gfx803", "gfx906", "gfx1030"] {
        let (source, object) = (dir.join("t.cl"), dir.join(format!("{name}.o")));
        std::fs::write(&source, CLANG).expect("a file");
        let (cpu, source, out) =
            (format!("-mcpu={name}"), source.to_str().unwrap(), object.to_str().unwrap());
        let language = ["-x", "cl", "-cl-kernel-arg-info", "-target", "amdgcn-amd-amdhsa", &cpu];
        tool("clang-19", &[&language[..], &["-O2", "-nogpulib", "-c", source, "-o", out]].concat());
        check(&std::fs::read(&object).expect("an object"), name);
    }
}
