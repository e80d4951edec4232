//! Atomic arithmetic on floats: which instruction does it on which processor, with clang as the judge, and that the results are those of
//! the loop.

use crate::common::{have, scratch, tool};
use kernc::sim::Mode;
use kernc::{Compiler, Options, Subtarget};
use std::fmt::Write;

const PROCESSORS: [&str; 10] =
    ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1030", "gfx1036"];

/// An operation as both languages write it.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    /// Ours and LLVM's.
    ty: (&'static str, &'static str),
    shared: bool,
    used: bool,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let halves = ("f16x2", "<2 x half>");
    for ty in [("f32", "float"), ("f64", "double"), halves] {
        for name in if ty == halves { &["add"][..] } else { &["add", "min", "max"] } {
            for bits in 0..4 {
                cases.push(Case { name, ty, shared: bits & 1 != 0, used: bits & 2 != 0 });
            }
        }
    }
    cases
}

impl Case {
    fn our_source(self) -> String {
        let ty = self.ty.0;
        let number = if ty == "f16x2" { "f16x2(3.0, 3.0)" } else { "3.0" };
        let space = if self.shared { "shared" } else { "global" };
        let scope = if self.shared { "workgroup" } else { "agent" };
        let value = if self.used { "r[0] = " } else { "" };
        format!(
            "kernel t(p: *{space} {ty}, r: *global {ty}) {{ {value}atomic_{}(p, {number}, relaxed, {scope}); }}\n",
            self.name
        )
    }

    fn llvm_source(self, number: usize) -> String {
        let ty = self.ty.1;
        let three = if ty == "<2 x half>" { "<half 3.0, half 3.0>" } else { "3.0" };
        let space = if self.shared { 3 } else { 1 };
        let scope = if self.shared { "workgroup" } else { "agent" };
        let store = if self.used { format!("store {ty} %a, ptr addrspace(1) %r\n") } else { String::new() };
        format!(
            "define amdgpu_kernel void @t{number}(ptr addrspace({space}) %p, ptr addrspace(1) %r) #0 {{\n\
             %a = atomicrmw f{} ptr addrspace({space}) %p, {ty} {three} syncscope(\"{scope}\") monotonic\n{store}ret void\n}}\n",
            self.name
        )
    }
}

/// What does it: the operation without its family (GLOBAL, FLAT and MUBUF have the same).
fn operation(listing: &str) -> String {
    let names = listing.lines().filter_map(|line| line.split_whitespace().next());
    let atomic = |name: &&str| {
        let lds =
            name.starts_with("ds_") && ["add", "min", "max", "cmpst"].iter().any(|op| name.contains(op));
        lds || name.contains("_atomic_")
    };
    let found = names.clone().find(atomic).unwrap_or_else(|| panic!("no atomic operation in\n{listing}"));
    found.split_once("_atomic_").map_or(found, |(_, rest)| rest).to_owned()
}

/// clang's choices, in the order of the cases.
fn clangs(processor: &str, hardware: bool) -> Vec<String> {
    let mut text = String::from("target triple = \"amdgcn-amd-amdhsa\"\n");
    for (number, case) in cases().into_iter().enumerate() {
        text += &case.llvm_source(number);
    }
    writeln!(text, "attributes #0 = {{ \"amdgpu-unsafe-fp-atomics\"=\"{hardware}\" }}").unwrap();
    let file = scratch("float_atomics").join(format!("{processor}-{hardware}.ll"));
    std::fs::write(&file, text).unwrap();
    let cpu = format!("-mcpu={processor}");
    let file = file.to_str().unwrap();
    let args = ["-x", "ir", "-target", "amdgcn-amd-amdhsa", &cpu, "-O1", "-nogpulib", "-S", file, "-o", "-"];
    let listing = tool("clang-19", &args);
    // The function's own code: from its label to its end.
    let code = |number: usize| {
        let from = listing.find(&format!("\nt{number}:")).expect("clang's function");
        let len = listing[from..].find("s_endpgm").expect("its end");
        operation(&listing[from..from + len])
    };
    (0..cases().len()).map(code).collect()
}

#[test]
fn instructions_are_clangs() {
    if !have(&["clang-19"], "instructions_are_clangs") {
        return;
    }
    let mut wrong = String::new();
    for processor in PROCESSORS {
        for hardware in [false, true] {
            let theirs = clangs(processor, hardware);
            let options = Options { unsafe_fp_atomics: hardware, ..Options::default() };
            let mut compiler = Compiler::new(Subtarget::by_name(processor).unwrap());
            for (case, theirs) in cases().into_iter().zip(theirs) {
                // clang adds halves by gfx90a's instruction whether or not it may be unsafe; we ask for the option, as for other floats.
                if case.ty.0 == "f16x2" && processor == "gfx90a" && !hardware && !case.shared {
                    assert_eq!(theirs, "pk_add_f16");
                    continue;
                }
                let source = case.our_source();
                let ours = operation(&compiler.compile(&source, &options).unwrap().assembly(None).unwrap());
                // A loop needs to know what it found.
                if ours != theirs.replace("cmpst_b", "cmpst_rtn_b") {
                    writeln!(wrong, "{processor}, unsafe {hardware}: {ours}, clang {theirs}: {source}")
                        .unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Sums and bounds that are exact in any order, counted by hand.
const CONTENDED: &str = "//@ grid 256\n//@ group 64\n//@ arg x = zeros:4\n//@ arg y = zeros:4\n//@ arg seen = zeros:2\n\
    //@ expect x = 32640 -128 255 -255\n//@ expect y = 32640 -128 255 -255\n//@ expect seen = 1 1\n\
    kernel t(x: *global f32, y: *global f64, seen: *global u32) {\n\
    let i = global_id(0); let v = i as f32; let w = i as f64;\n\
    atomic_add(&x[0], v, relaxed, agent); atomic_add(&y[0], w, acq_rel, agent);\n\
    atomic_sub(&x[1], 0.5, relaxed, agent); atomic_sub(&y[1], 0.5, relaxed, system);\n\
    if atomic_max(&x[2], v, relaxed, agent) == -1.0 { seen[0] = 7; }\n\
    atomic_max(&y[2], w, relaxed, agent); atomic_min(&x[3], -v, release, agent);\n\
    atomic_min(&y[3], -w, relaxed, agent);\n\
    shared s: [f32; 1]; if local_id(0) == 0 { s[0] = 0.0; } barrier();\n\
    let old = atomic_add(&s[0], 1.0, relaxed, workgroup);\n\
    if old == 63.0 { atomic_max(seen, 1, relaxed, agent); }\n\
    if atomic_add(&x[1], 0.0, relaxed, agent) <= 0.0 { atomic_max(&seen[1], 1, relaxed, agent); } }\n";

/// The sum of both halves is that of the instruction and of the loop, with and without the old value.
const HALVES: &str = "//@ grid 256\n//@ group 64\n//@ arg x = zeros:3\n//@ expect x = 1543560192 3623901184 64\n\
    kernel t(x: *global u32) {\n\
    let v = x as *global f16x2; atomic_add(&v[0], f16x2(-1.0, 1.0), acq_rel, agent);\n\
    let old = atomic_sub(&v[1], f16x2(-0.5, 0.5), relaxed, agent);\n\
    shared s: [f16x2; 1]; if local_id(0) == 0 { s[0] = f16x2(0.0); } barrier();\n\
    atomic_add(&s[0], f16x2(1.0, -1.0), relaxed, workgroup); barrier();\n\
    if s[0].x == 64.0 && s[0].y == -64.0 && old.x == -old.y {\n\
    atomic_max(&x[2], atomic_load(&s[0], relaxed, workgroup).x as u32, relaxed, agent); } }\n";

#[test]
fn results_are_those_of_the_loop() {
    [CONTENDED, HALVES].iter().for_each(|source| contended(source));
}

fn contended(source: &str) {
    let file = crate::run_file::RunFile::parse(source).unwrap();
    for processor in PROCESSORS {
        for unsafe_fp_atomics in [false, true] {
            let options = Options { unsafe_fp_atomics, ..Options::default() };
            let mut compiler = Compiler::new(Subtarget::by_name(processor).unwrap());
            let object = compiler.compile(source, &options).unwrap();
            for mode in [Mode::STRICT, Mode::Weak { seed: 3 }] {
                let buffers = crate::harness::emulate_in(mode, &file.launch(), object.bytes());
                let outcome = buffers.and_then(|buffers| file.compare(&buffers));
                assert!(outcome.is_ok(), "{processor}, unsafe {unsafe_fp_atomics}: {outcome:?}");
            }
        }
    }
}
