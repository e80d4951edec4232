//! Functions that are called: in each calling convention, for wavefronts of either size, and how much stack their kernels ask for.

use crate::common::{root, scratch, source};
use crate::run_file::RunFile;
use kernc::sim::{self, Device, Mode};
use kernc::{
    CodeObjectVersion, Compiler, Convention, OptLevel, Options, PassRange, Program, Subtarget, TextOptions,
};
use rayon::prelude::*;
use std::path::Path;

const TARGETS: [(&str, u32); 7] = [
    ("gfx600", 64),
    ("gfx700", 64),
    ("gfx803", 64),
    ("gfx906", 64),
    ("gfx90a", 64),
    ("gfx1010", 32),
    ("gfx1030", 64),
];

fn target(name: &str, lanes: u32) -> Subtarget {
    Subtarget::by_name(name).and_then(|target| target.with_wave_size(lanes)).expect("it is known")
}

/// Whether the processor has what a program of `tests/data/run` needs.
fn is_there(name: &str, target: &Subtarget) -> bool {
    target.has(isa::Feature::FLAT) || !source(name).contains("//@ needs flat\n")
}

/// What is wrong with a program of `tests/data/run` in a convention.
fn trouble(name: &str, target: Subtarget, call_abi: Convention, opt_level: OptLevel) -> Option<String> {
    let text = source(name);
    let file = RunFile::parse(&text).expect(name);
    let options = Options { opt_level, call_abi, verify: true, params: file.params(), ..Options::default() };
    let object = Compiler::new(target).compile(&text, &options).map_err(|error| error.render(false));
    let wrong = object.and_then(|object| {
        let mut device = Device::with_threads(1);
        device.set_mode(Mode::STRICT);
        device.set_convention(call_abi);
        file.compare(&crate::harness::emulate_with(&mut device, &file.launch(), object.bytes())?)
    });
    wrong.err().map(|why| format!("{name}, {target}, {}, {opt_level:?}: {why}", call_abi.name()))
}

#[test]
fn programs_in_each_convention() {
    let names: Vec<String> =
        crate::run_file::names().into_iter().filter(|name| name.starts_with("calls_")).collect();
    assert!(names.len() >= 3);
    // Processors and levels take turns.
    let mut cells = Vec::new();
    for (n, name) in names.iter().enumerate() {
        for (m, convention) in Convention::ALL.into_iter().enumerate() {
            for (k, level) in [OptLevel::O0, OptLevel::O2].into_iter().enumerate() {
                let (processor, lanes) = TARGETS[(n + 2 * m + 3 * k) % TARGETS.len()];
                let target = target(processor, lanes);
                if is_there(name, &target) {
                    cells.push((name, target, convention, level));
                }
            }
        }
    }
    let wrong: Vec<String> = cells
        .par_iter()
        .filter_map(|&(name, target, convention, level)| trouble(name, target, convention, level))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cells.len(), wrong.join("\n"));
}

/// Behind each pass over machine IR, its text goes on to code that does the same; behind the allocator, when all is known of each call, to
/// the same bytes.
fn goes_on(name: &str, target: Subtarget) -> Result<(), String> {
    let text = source(name);
    let file = RunFile::parse(&text)?;
    let options = Options { debug: kernc::DebugInfo::None, params: file.params(), ..Options::default() };
    let level = options.opt_level;
    let mut compiler = Compiler::new(target);
    let object = compiler.compile(&text, &options).map_err(|error| error.render(false))?;
    let passes: Vec<&str> = kernc::passes(level).skip_while(|&pass| pass != "isel").collect();
    let allocation = passes.iter().position(|&pass| pass == "regalloc").expect("a pass");
    for (n, pair) in passes.windows(2).enumerate() {
        let failed = |why: &str| format!("{name}, {target}, before {}: {why}", pair[1]);
        let range = PassRange::new(level, None, Some(pair[0])).expect("a pass");
        let program = compiler.compile_passes(&text, &range, &options, &mut ());
        let middle =
            program.map_err(|error| failed(&error.render(false)))?.text(&target, TextOptions::default());
        let rest = PassRange::new(level, Some(pair[1]), None).expect("a pass");
        let Program::Object(other) = compiler
            .compile_passes(&middle, &rest, &options, &mut ())
            .map_err(|error| failed(&error.render(false)))?
        else {
            return Err(failed("no object"));
        };
        if n >= allocation && other.bytes() != object.bytes() {
            return Err(failed("the bytes differ"));
        }
        let buffers = crate::harness::emulate_in(Mode::STRICT, &file.launch(), other.bytes());
        file.compare(&buffers.map_err(|why| failed(&why))?).map_err(|why| failed(&why))?;
    }
    Ok(())
}

#[test]
fn machine_text_goes_on() {
    let names = ["calls_recursion", "calls_through_addresses", "calls_stack"];
    let targets = [("gfx600", 64), ("gfx906", 64), ("gfx1010", 32)].map(|(name, lanes)| target(name, lanes));
    let cells: Vec<_> = names.iter().flat_map(|&name| targets.map(|target| (name, target))).collect();
    let wrong: Vec<String> = cells
        .par_iter()
        .filter(|(name, target)| is_there(name, target))
        .filter_map(|&(name, target)| goes_on(name, target).err())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn kernc(args: &[&str]) -> String {
    let output = crate::kernc().args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Functions that somebody wrote by the guide's convention, who relies on all that it promises and keeps no more, call and are called.
#[test]
fn as_the_guide_says() {
    let (data, into) = (root().join("tests/data/call_abi"), scratch("call-abi"));
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let [ours, theirs, whole] = ["ours.o", "theirs.o", "whole.co"].map(|name| text(&into.join(name)));
    let guide = ["--call-abi", "guide"];
    let expected: Vec<String> = (0..128u64)
        .flat_map(|i| {
            let (item, group) = (i % 64, i / 64);
            [
                i + 2 * (32 + i) + 4 * (33 + i) + 8 * item + i,
                0x5_0000_0000 + i + 33,
                i + 10 * (i + 7),
                i + 10 * 5 + 100 * 7 + 1000 * item + 10000 * group,
            ]
        })
        .map(|value| value.to_string())
        .collect();
    for level in ["-O0", "-O2"] {
        let options = ["--mcpu", "gfx906", level, "--emit", "obj", "-o", &ours];
        kernc(&[&[&*text(&data.join("guide.k"))], &guide[..], &options].concat());
        kernc(&["as", "--obj", "--code-object-version", "4", &text(&data.join("guide.s")), "-o", &theirs]);
        kernc(&["link", &ours, &theirs, "-o", &whole]);
        let arguments = ["--grid", "128", "--arg", "p=iota:128", "--arg", "y=zeros:512:u64", "--print", "y"];
        let printed = kernc(&[&["run", &whole], &guide[..], &arguments].concat());
        assert_eq!(printed.trim(), format!("y: {}", expected.join(", ")), "{level}");
    }
}

const SIZES: &str = "#[inline(never)]
fn f(x: u32) -> u32 { if x == 0 { wave_size() } else { f(x / 2) * 3 + lane_id() } }
#[wave_size(32)] kernel a(y: *u32) { y[global_id(0)] = f(global_id(0)); }
";

/// A function has the size of wavefronts of the kernels that get to it.
#[test]
fn wavefronts_of_another_size() {
    fn f(x: u32, lane: u32) -> u32 {
        if x == 0 { 32 } else { f(x / 2, lane) * 3 + lane }
    }
    let object = Compiler::new(target("gfx1030", 64)).compile(SIZES, &Options::default()).unwrap();
    let args = [("y".to_owned(), "zeros:64".to_owned())];
    let launch = crate::harness::Launch {
        source: SIZES,
        kernel: "a",
        grid: [64, 1, 1],
        group: [64, 1, 1],
        params: &[],
        args: &args,
        dynamic: 0,
        flat: true,
    };
    let buffers = crate::harness::emulate_in(Mode::STRICT, &launch, object.bytes()).unwrap();
    let words: Vec<u32> =
        buffers[0].1.bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    assert_eq!(words, (0..64).map(|x| f(x, x % 32)).collect::<Vec<u32>>());
}

/// And there is one: code for both is refused.
#[test]
fn wavefronts_of_two_sizes() {
    let text = format!("{SIZES}#[wave_size(64)] kernel b(y: *u32) {{ y[0] = f(3); }}\n");
    let refused = Compiler::new(target("gfx1030", 64)).compile(&text, &Options::default());
    let told = refused.map(|_| ()).unwrap_err().render(false);
    assert!(told.contains("E0115") && told.contains("32 lanes and in those of 64"), "{told}");
}

const DEEP: &str = "#[inline(never)] fn f(n: u32) -> u32 { if n < 2 { n } else { f(n - 1) + f(n - 2) } }
kernel deep(y: *u32) { y[0] = f(y[1]); }
#[inline(never)] fn g(n: u32) -> u32 { let a = [n; 30]; a[n % 30] }
kernel flat(y: *u32) { y[0] = g(y[1]); }
";

/// How much stack a kernel gets is known, or the default, or what was asked for; and the object says which.
#[test]
fn stack_of_calls() {
    for version in [CodeObjectVersion::V3, CodeObjectVersion::V4, CodeObjectVersion::V5] {
        let mut target = target("gfx906", 64);
        target.code_object = version;
        let sizes = |call_stack_size| {
            let options = Options { call_stack_size, ..Options::default() };
            let object = Compiler::new(target).compile(DEEP, &options).unwrap();
            let parsed = codeobj::CodeObject::parse(object.bytes()).unwrap();
            let fields = ["private_segment_fixed_size", "uses_dynamic_stack"];
            let of = parsed.descriptors().map(|kernel| fields.map(|field| kernel.get(field)));
            let metadata = object.metadata();
            assert_eq!(
                metadata.contains(".uses_dynamic_stack: true"),
                version == CodeObjectVersion::V5,
                "{metadata}"
            );
            of.collect::<Vec<_>>()
        };
        let (usual, little) = (sizes(Options::default().call_stack_size), sizes(100));
        let has_flag = u64::from(version == CodeObjectVersion::V5);
        assert_eq!(usual[0], [16384, has_flag], "{version:?}");
        assert_eq!(little[0], [100, has_flag], "{version:?}");
        // An array of 30 dwords, and frames are multiples of 16 bytes.
        assert_eq!((usual[1], usual[1]), (little[1], [128, 0]), "{version:?}");
    }
}

/// Wave instructions of a dispatch of one wave of the kernel `k`, which writes `y`; the words that it leaves there.
fn executed(object: &[u8], n: u32) -> (u64, Vec<u32>) {
    let mut device = Device::with_threads(1);
    let module = device.load(&sim::CodeObject::load(object).unwrap()).unwrap();
    let y = device.alloc(64 * 4).unwrap();
    device.write(y, &[0; 64 * 4]).unwrap();
    let kernarg = [y.to_le_bytes().as_slice(), &n.to_le_bytes()].concat();
    let dispatch =
        sim::Dispatch { kernel: "k", grid: [64, 1, 1], group: [64, 1, 1], kernarg, ..Default::default() };
    let stats = device.run(module, &dispatch).unwrap();
    let mut bytes = [0; 64 * 4];
    device.read(y, &mut bytes).unwrap();
    (stats.instructions, bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect())
}

/// A function that calls itself twice, for a number that all lanes share and for one that they need not: instructions beside clang's.
#[test]
fn recursion_beside_clang() {
    if !crate::common::have(&["clang-19"], "recursion_beside_clang") {
        return;
    }
    const THEIRS: &str = "#define __global__ __attribute__((global))
        __attribute__((device)) __attribute__((noinline)) unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        extern \"C\" __global__ void k(unsigned *y, unsigned n) { y[__builtin_amdgcn_workitem_id_x()] = fib(n); }";
    const OURS: &str =
        "#[inline(never)] fn fib(n: u32) -> u32 { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }
        #[workgroup_size(64)] kernel k(y: *global u32, n: u32) { y[local_id(0)] = fib(n + ZERO); }";
    let dir = scratch("recursion");
    let [input, output] = ["fib.hip", "fib.co"].map(|name| dir.join(name).to_str().unwrap().to_owned());
    std::fs::write(&input, THEIRS).unwrap();
    let fixed =
        ["-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O3"];
    // Version 4: there clang counts on a stack of 16 KiB.
    let others = ["--offload-arch=gfx906", "-mcode-object-version=4", &input, "-o", &output];
    crate::common::tool("clang-19", &[&fixed[..], &others].concat());
    let (theirs, expected) = executed(&std::fs::read(&output).unwrap(), 20);
    assert_eq!(expected, [6765; 64]);
    for (zero, most) in [("0", 0.65), ("(y[local_id(0)] & 1)", 0.8)] {
        let text = OURS.replace("ZERO", zero);
        let object = Compiler::new(target("gfx906", 64)).compile(&text, &Options::default()).unwrap();
        let (ours, words) = executed(object.bytes(), 20);
        println!("{zero}: {ours} instructions, clang's {theirs}, {:.3}", ours as f64 / theirs as f64);
        assert_eq!(words, expected);
        assert!(ours as f64 <= most * theirs as f64, "{zero}: {ours}, clang's {theirs}");
    }
}

/// What a call of a function that does nothing takes, at the caller and in the callee.
#[test]
fn an_empty_call_is_a_few_instructions() {
    // One that it has must not be taken for superfluous.
    const TEXT: &str = "#[inline(never)] fn nothing() { sleep(); }
        #[workgroup_size(64)] kernel k(y: *global u32, n: u32) { CALLS }";
    let count = |calls: usize| {
        let text = TEXT.replace("CALLS", &"nothing();".repeat(calls));
        let options = Options { opt_level: OptLevel::O0, ..Options::default() };
        let object = Compiler::new(target("gfx906", 64)).compile(&text, &options).unwrap();
        executed(object.bytes(), 0).0
    };
    let each = count(12) - count(11);
    println!("{each} instructions a call, `s_sleep` included");
    assert!((3..=12 + 4 + 1).contains(&each), "{each}");
}

/// A function of some two hundred instructions that is called ten times stays one, and the kernel is a third of what ten copies are.
#[test]
fn large_functions_stay_one() {
    let steps: String = (1..=50)
        .map(|n| format!("s = s * {}.5 + b * 0.{n}; s = s + (s * s) * 0.00{n};\n", n % 7 + 1))
        .collect();
    let calls: String = (0..10).map(|n| format!("t = t + work(t + {n}.0, x);\n")).collect();
    let text = format!(
        "ASKED fn work(a: f32, b: f32) -> f32 {{ let mut s = a; {steps} s }}
        kernel k(y: *global f32, x: f32) {{ let mut t = y[global_id(0)]; {calls} y[global_id(0)] = t; }}"
    );
    let size = |asked: &str| {
        let text = text.replace("ASKED", asked);
        let object = Compiler::new(target("gfx906", 64)).compile(&text, &Options::default()).unwrap();
        crate::common::section(object.bytes(), ".text").len()
    };
    let (called, copied) = (size(""), size("#[inline]"));
    println!("{called} bytes, with copies {copied}");
    assert!(called * 100 <= copied * 35, "{called} bytes, with copies {copied}");
}

/// Where lanes go one way, functions that call each other at their ends take no stack: as many as 200,000 calls deep, in the 16 KiB that there are.
#[test]
fn calls_at_the_end_take_no_stack() {
    const TEXT: &str = "#[inline(never)] fn even(n: u32) -> u32 { if n == 0 { 1 } else { odd(n - 1) } }
        #[inline(never)] fn odd(n: u32) -> u32 { if n == 0 { 0 } else { even(n - 1) } }
        #[workgroup_size(64)] kernel k(y: *global u32, n: u32) { y[local_id(0)] = even(n) + 2; }";
    for (processor, lanes) in TARGETS {
        let object = Compiler::new(target(processor, lanes)).compile(TEXT, &Options::default()).unwrap();
        for (n, expected) in [(200_000, 3), (200_001, 2)] {
            assert_eq!(executed(object.bytes(), n).1, [expected; 64], "{processor}");
        }
    }
}
