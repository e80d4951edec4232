//! LDS of several objects: kernels and functions of ours and of clang's in two to five objects, with variables of functions, of modules,
//! `extern` ones and dynamic LDS. Nothing may overlap: each function writes a variable, calls the next one and reads the
//! variable again. A small model in Rust says which values come out.

use super::kernc as run_kernc;
use crate::common::{have, scratch, tool};
use kernc::sim::{self, Device, Mode};
use kernc::{Compiler, OptLevel, Options, Subtarget};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use support::Random;

const LANES: usize = 64;
/// Elements of dynamic LDS.
const DYNAMIC: usize = 64;
/// Elements of the kernel's own variable.
const OWN: usize = 96;
const CASES: u64 = 60;

type Lanes = [u32; LANES];

/// Which variable a function works on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Variable {
    /// Of the function.
    Own(usize),
    /// Of the function's module.
    Module(usize),
    /// Of the module of another function, by that function's number.
    Extern(usize),
    Dynamic,
    /// None: the function is clang's, which refuses LDS in functions.
    Clang,
}

struct Case {
    cpu: &'static str,
    level: OptLevel,
    /// Whether the kernel is clang's.
    clang: bool,
    /// Of the functions, each in an object of its own; each calls the next.
    variables: Vec<Variable>,
}

impl Case {
    fn new(seed: u64, has_clang: bool) -> Case {
        let mut random = Random::new(seed);
        let mut below = |n: usize| random.below(n);
        let count = 1 + below(4);
        let mut variables: Vec<Variable> = (0..count)
            .map(|_| match below(4) {
                0 => Variable::Own(64 + 16 * below(5)),
                1 => Variable::Dynamic,
                _ => Variable::Module(64 + 16 * below(5)),
            })
            .collect();
        for n in 0..count {
            let other = below(count);
            if other != n && below(3) == 0 && matches!(variables[other], Variable::Module(_)) {
                variables[n] = Variable::Extern(other);
            }
        }
        if has_clang && count > 1 && below(3) == 0 {
            let n = below(count - 1);
            let is_named = variables.contains(&Variable::Extern(n));
            variables[n] = if is_named { variables[n].clone() } else { Variable::Clang };
        }
        let cpus = ["gfx700", "gfx803", "gfx906", "gfx90a", "gfx1010", "gfx1030"];
        Case {
            cpu: cpus[seed as usize % cpus.len()],
            level: if seed % 4 < 2 { OptLevel::O2 } else { OptLevel::O0 },
            clang: has_clang && below(3) == 0,
            variables,
        }
    }

    /// Bytes of LDS that the kernel needs: all variables, each once.
    fn lds(&self) -> u32 {
        let sizes = self.variables.iter().map(|variable| match variable {
            Variable::Own(size) | Variable::Module(size) => 4 * *size as u32,
            _ => 0,
        });
        4 * OWN as u32 + sizes.sum::<u32>()
    }

    /// The name of a function's variable, and its size.
    fn variable(&self, n: usize) -> Option<(String, usize)> {
        match self.variables[n] {
            Variable::Own(size) => Some((format!("own_{n}"), size)),
            Variable::Module(size) => Some((format!("module_{n}"), size)),
            Variable::Extern(other) => self.variable(other),
            Variable::Dynamic => Some(("dynamic".to_owned(), DYNAMIC)),
            Variable::Clang => None,
        }
    }

    /// The source of a function, in our language or in clang's.
    fn function(&self, n: usize) -> String {
        let last = n + 1 == self.variables.len();
        let Some((name, size)) = self.variable(n) else {
            return format!(
                "uint f_{}(uint x);\nuint f_{n}(uint x) {{ return f_{}(x + 3) ^ 5; }}\n",
                n + 1,
                n + 1
            );
        };
        let mut text = String::new();
        if !last {
            let _ = writeln!(text, "extern fn f_{}(x: u32) -> u32;", n + 1);
        }
        let mut own = String::new();
        match self.variables[n] {
            Variable::Own(_) => own = format!("shared {name}: [u32; {size}]; "),
            Variable::Module(_) => text += &format!("shared static {name}: [u32; {size}];\n"),
            Variable::Extern(_) => text += &format!("extern shared static {name}: [u32; {size}];\n"),
            _ => text += &format!("shared static dyn {name}: [u32];\n"),
        }
        let deep = if last { "a".to_owned() } else { format!("f_{}(a)", n + 1) };
        let _ = writeln!(
            text,
            "#[export] fn f_{n}(x: u32) -> u32 {{\n    {own}let i = local_id(0);\n    barrier();\n    {name}[i] = x + {n};\n    barrier();\n    \
             let a = {name}[i ^ {}];\n    barrier();\n    let deep = {deep};\n    barrier();\n    a * 3 + deep + {name}[i]\n}}",
            n + 1
        );
        text
    }

    fn kernel(&self) -> String {
        match self.clang {
            true => format!(
                "uint f_0(uint x);\n__attribute__((reqd_work_group_size({LANES}, 1, 1)))\nkernel void k(global uint *out) {{\n    \
                 local uint mine[{OWN}];\n    uint i = __builtin_amdgcn_workitem_id_x();\n    mine[i] = i * 7;\n    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, \"workgroup\"); __builtin_amdgcn_s_barrier();\n    \
                 uint r = f_0(mine[i ^ 1]);\n    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, \"workgroup\"); __builtin_amdgcn_s_barrier();\n    out[i] = r * 5 + mine[i];\n}}\n"
            ),
            false => format!(
                "extern fn f_0(x: u32) -> u32;\n#[workgroup_size({LANES})]\nkernel k(out: *global u32) {{\n    \
                 shared mine: [u32; {OWN}];\n    let i = local_id(0);\n    mine[i] = i * 7;\n    barrier();\n    \
                 let r = f_0(mine[i ^ 1]);\n    barrier();\n    out[i] = r * 5 + mine[i];\n}}\n"
            ),
        }
    }

    /// What the functions from number `n` on give.
    fn call(&self, n: usize, x: Lanes, memory: &mut BTreeMap<String, Lanes>) -> Lanes {
        let Some((name, _)) = self.variable(n) else {
            return self.call(n + 1, x.map(|x| x + 3), memory).map(|r| r ^ 5);
        };
        let written = x.map(|x| x.wrapping_add(n as u32));
        memory.insert(name.clone(), written);
        let a: Lanes = std::array::from_fn(|i| written[i ^ (n + 1)]);
        let last = n + 1 == self.variables.len();
        let deep = if last { a } else { self.call(n + 1, a, memory) };
        let kept = memory[&name];
        std::array::from_fn(|i| a[i].wrapping_mul(3).wrapping_add(deep[i]).wrapping_add(kept[i]))
    }

    fn expected(&self) -> Lanes {
        let r = self.call(0, std::array::from_fn(|i| (i as u32 ^ 1) * 7), &mut BTreeMap::new());
        std::array::from_fn(|i| r[i].wrapping_mul(5).wrapping_add(i as u32 * 7))
    }

    fn object(&self, source: &str, clang: bool, name: &str, into: &Path) -> Vec<u8> {
        if !clang {
            let target = Subtarget::by_name(self.cpu).expect("it is known");
            let options = Options { opt_level: self.level, verify: true, ..Options::default() };
            let object = Compiler::new(target).compile(source, &options);
            let object = object.unwrap_or_else(|error| panic!("{source}\n{}", error.render(false)));
            return object.relocatable().expect("an object");
        }
        let (file, out) = (into.join(format!("{name}.cl")), into.join(format!("{name}.o")));
        std::fs::write(&file, source).expect("a file");
        let (cpu, level) =
            (format!("-mcpu={}", self.cpu), format!("-O{}", 2 * usize::from(self.level == OptLevel::O2)));
        let options = [
            "-x",
            "cl",
            "-cl-std=CL2.0",
            "-target",
            "amdgcn-amd-amdhsa",
            &cpu,
            &level,
            "-mcode-object-version=4",
        ];
        let files = ["-nogpulib", "-c", file.to_str().unwrap(), "-o", out.to_str().unwrap()];
        tool("clang-19", &[&options[..], &files].concat());
        std::fs::read(out).expect("an object")
    }

    /// The objects: the kernel's first.
    fn objects(&self, into: &Path) -> Vec<(String, Vec<u8>)> {
        let kernel = ("k".to_owned(), self.object(&self.kernel(), self.clang, "k", into));
        let function = |n: usize| {
            let clang = self.variables[n] == Variable::Clang;
            (format!("f_{n}"), self.object(&self.function(n), clang, &format!("f_{n}"), into))
        };
        [kernel].into_iter().chain((0..self.variables.len()).map(function)).collect()
    }
}

fn linked(objects: &[(String, Vec<u8>)], kind: link::Kind) -> Vec<u8> {
    let inputs = objects.iter().map(|(name, data)| link::Input { name, data, is_lazy: false });
    let options = link::Options { kind, ..link::Options::default() };
    link::link(&inputs.collect::<Vec<_>>(), &options).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// What the linked kernel writes in strict mode, and the bytes of LDS that its descriptor asks for.
fn run(file: &[u8]) -> (Lanes, u32) {
    let object = sim::CodeObject::load(file).expect("it loads");
    let mut device = Device::with_threads(1);
    device.set_mode(Mode::STRICT);
    let module = device.load(&object).expect("it loads");
    let out = device.alloc(4 * LANES as u64).expect("memory");
    let mut kernarg = out.to_le_bytes().to_vec();
    kernarg.resize(object.kernels()[0].kernarg_size as usize, 0);
    let dispatch = sim::Dispatch {
        kernel: "k",
        grid: [LANES as u32, 1, 1],
        group: [LANES as u32, 1, 1],
        kernarg,
        dynamic_lds: 4 * DYNAMIC as u32,
        limits: sim::Limits { instructions: 1 << 20, stack: 1 << 14 },
        ..sim::Dispatch::default()
    };
    device.run(module, &dispatch).unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = vec![0; 4 * LANES];
    device.read(out, &mut bytes).expect("memory");
    let word = |n: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * n + byte]));
    let descriptor = &object.kernels()[0].descriptor;
    (std::array::from_fn(word), descriptor.group_segment)
}

/// The symbols in LDS: name, bytes, alignment, binding; and for each how many relocations name it, by kind.
fn symbols(file: &[u8]) -> BTreeMap<String, (u64, u64, u8, BTreeMap<u32, usize>)> {
    let object = codeobj::CodeObject::parse(file).expect("an object");
    let mut found = BTreeMap::new();
    for symbol in object.symbols().iter().filter(|symbol| symbol.section == codeobj::elf::SHN_AMDGPU_LDS) {
        let entry = (symbol.size, symbol.value, symbol.binding, BTreeMap::new());
        found.insert(symbol.name.to_owned(), entry);
    }
    for table in &object.relocation_tables {
        for record in &table.records {
            let name = object.symbols_of(table.symbols)[record.symbol as usize].name;
            if let Some(entry) = found.get_mut(name) {
                *entry.3.entry(record.kind).or_default() += 1;
            }
        }
    }
    found
}

#[test]
fn lds_of_many_objects() {
    let has_clang = have(&["clang-19"], "lds_of_many_objects");
    let dir = scratch("link-lds");
    let mut with_clang = 0;
    for seed in 0..CASES {
        let case = Case::new(seed, has_clang);
        with_clang += usize::from(case.clang || case.variables.contains(&Variable::Clang));
        let objects = case.objects(&dir);
        let file = linked(&objects, link::Kind::Loadable);
        let told = || format!("case {seed}: {} {:?} {:?}", case.cpu, case.level, case.variables);
        let (found, lds) = run(&file);
        assert_eq!(found, case.expected(), "{}", told());
        assert_eq!(lds, case.lds(), "{}", told());
        // What was joined before gives the same.
        let joined = linked(&objects, link::Kind::Relocatable);
        let again = linked(&[("joined".to_owned(), joined)], link::Kind::Loadable);
        assert_eq!(run(&again), (found, lds), "{}", told());
    }
    assert!(!has_clang || with_clang > 10, "{with_clang}");
}

/// Symbols and relocations are those that LLVM writes for such variables (for Mesa: LLVM has none for HSA), one relocation
/// for each function that names a variable at -O2.
#[test]
fn symbols_of_lds_as_llc_writes_them() {
    if !have(&["llc-19"], "symbols_of_lds_as_llc_writes_them") {
        return;
    }
    let ours = "extern shared static elsewhere: [u32; 64];\nshared static here: [u32; 80];\nshared static dyn sized: [u32];\n\
        #[export] fn f(i: u32) -> u32 { elsewhere[i] + here[i] }\n\
        #[export] fn g(i: u32) -> u32 { here[i] + sized[i] }\n";
    let theirs = "target triple = \"amdgcn-mesa-mesa3d\"\n\
        @elsewhere = external addrspace(3) global [64 x i32], align 16\n\
        @here = addrspace(3) global [80 x i32] poison, align 16\n\
        @sized = external addrspace(3) global [0 x i32], align 16\n\
        define i32 @f(i32 %i) {\n\
        %p = getelementptr i32, ptr addrspace(3) @elsewhere, i32 %i\n %a = load i32, ptr addrspace(3) %p\n\
        %q = getelementptr i32, ptr addrspace(3) @here, i32 %i\n %b = load i32, ptr addrspace(3) %q\n\
        %r = add i32 %a, %b\n ret i32 %r\n}\n\
        define i32 @g(i32 %i) {\n\
        %p = getelementptr i32, ptr addrspace(3) @here, i32 %i\n %a = load i32, ptr addrspace(3) %p\n\
        %q = getelementptr i32, ptr addrspace(3) @sized, i32 %i\n %b = load i32, ptr addrspace(3) %q\n\
        %r = add i32 %a, %b\n ret i32 %r\n}\n";
    let dir = scratch("link-lds-llc");
    let (source, out) = (dir.join("theirs.ll"), dir.join("theirs.o"));
    std::fs::write(&source, theirs).expect("a file");
    for cpu in ["gfx700", "gfx803", "gfx906", "gfx90a", "gfx1030"] {
        let mcpu = format!("-mcpu={cpu}");
        let files = [source.to_str().unwrap(), "-o", out.to_str().unwrap()];
        tool(
            "llc-19",
            &[&[&mcpu, "-filetype=obj", "-amdgpu-enable-lower-module-lds=0"][..], &files].concat(),
        );
        let compiled = Compiler::new(Subtarget::by_name(cpu).expect("it is known"))
            .compile(ours, &Options::default())
            .unwrap_or_else(|error| panic!("{}", error.render(false)));
        let theirs = symbols(&std::fs::read(&out).expect("an object"));
        assert_eq!(theirs.len(), 3, "{theirs:?}");
        assert_eq!(symbols(&compiled.relocatable().expect("an object")), theirs, "{cpu}");
    }
}

/// An object that is to be loaded as it is cannot have a variable that another object defines.
#[test]
fn lds_that_nobody_defines() {
    let dir = scratch("link-lds-undefined");
    let source = dir.join("undefined.k");
    for declared in ["extern shared static own: [u32; 64];", "extern shared static dyn own: [u32];"] {
        let text = format!(
            "{declared}\nkernel k(o: *global u32) {{ let i = local_id(0); own[i] = i; o[i] = own[i]; }}\n"
        );
        std::fs::write(&source, text).expect("a file");
        let refused = run_kernc(&[
            source.to_str().unwrap(),
            "--mcpu",
            "gfx906",
            "-o",
            dir.join("out.co").to_str().unwrap(),
        ]);
        let (code, text) = refused.expect_err("nobody defines it");
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("another object has `own`"), "{text}");
    }
}

/// Functions of other objects exchange values of lanes through LDS that the linker places, on processors without an instruction for that.
#[test]
fn lanes_exchange_through_linked_lds() {
    let dir = crate::common::scratch("link_lds_exchange");
    let sources = [
        "extern fn prefix(x: u32) -> u32;\n\
         shared static OWN: [u32; 64];\n\
         #[workgroup_size(64)]\n\
         kernel k(o: *global u32) { OWN[local_id(0)] = 7; o[global_id(0)] = prefix(local_id(0)) + OWN[local_id(0)]; }\n",
        "#[export]\nfn prefix(x: u32) -> u32 { let mut y = x; if x != 3 { y += wave_scan_add(x & 255); } return y; }\n",
    ];
    for (processor, size) in
        [("gfx600", "--wave64"), ("gfx700", "--wave64"), ("gfx1010", "--wave64"), ("gfx906", "--wave64")]
    {
        for level in ["-O0", "-O2"] {
            let mut objects = Vec::new();
            for (n, source) in sources.iter().enumerate() {
                let (file, out) = (dir.join(format!("{n}.k")), dir.join(format!("{n}.{processor}.o")));
                std::fs::write(&file, source).unwrap();
                let line = [
                    &super::text(&file),
                    "--mcpu",
                    processor,
                    size,
                    level,
                    "--verify",
                    "--emit",
                    "obj",
                    "-o",
                    &super::text(&out),
                ];
                run_kernc(&line).unwrap_or_else(|error| panic!("{processor} {level}: {error:?}"));
                objects.push(super::text(&out));
            }
            let out = super::text(&dir.join(format!("{processor}.co")));
            run_kernc(&["link", &objects[0], &objects[1], "-o", &out]).unwrap();
            let shown = run_kernc(&["run", &out, "--grid", "64", "zeros:64", "--print", "0"]).unwrap();
            let mut sum = 0;
            let expected: Vec<String> = (0..64u32)
                .map(|lane| {
                    sum += if lane == 3 { 0 } else { lane };
                    (lane + 7 + if lane == 3 { 0 } else { sum }).to_string()
                })
                .collect();
            let numbers: Vec<&str> =
                shown.split(|c: char| !c.is_ascii_digit()).filter(|text| !text.is_empty()).collect();
            assert!(
                numbers.ends_with(&expected.iter().map(String::as_str).collect::<Vec<_>>()),
                "{processor} {level}: {shown}"
            );
        }
    }
}
