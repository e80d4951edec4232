//! What `printf` prints, by OpenCL's buffer and by calls of the host: random formats and arguments beside the C library's `printf` and
//! clang's OpenCL kernels, by the compiler's code on processors of several generations, and by the interpreter.
//!
//! `KERNC_PRINTF=2000 cargo test --test kernc printf::` for a long run.

use crate::common::{have, scratch, tool};
use ir::interp::{Interp, Memory};
use kernc::sim::{self, Device, Dispatch, Mode};
use kernc::{CodeObjectVersion, Compiler, KeepIr, OptLevel, Options, Printf, Subtarget};
use std::fmt::Write as _;
use support::Random;

/// Calls in one kernel.
const CALLS: usize = 25;

/// A call of `printf` in three languages, each a statement; it prints a line.
#[derive(Default)]
struct Call {
    format: String,
    args: Vec<String>,
    /// C has no vectors: a conversion for each element.
    c_format: String,
    c_args: Vec<String>,
    cl_format: String,
    cl_args: Vec<String>,
    /// Bits that the kernel reads from memory, as many as the calls before have left there.
    bits: Vec<u64>,
}

/// The types that numbers have: in the language, of C and OpenCL C, and length in C and, of a vector, in OpenCL C.
struct Number {
    name: &'static str,
    c: &'static str,
    c_length: &'static str,
    cl_length: &'static str,
    bits: u32,
    signed: bool,
}

const fn number(
    name: &'static str,
    c: &'static str,
    lengths: [&'static str; 2],
    bits: u32,
    signed: bool,
) -> Number {
    Number { name, c, c_length: lengths[0], cl_length: lengths[1], bits, signed }
}

const INTEGERS: [Number; 8] = [
    number("i8", "char", ["hh", "hh"], 8, true),
    number("u8", "uchar", ["hh", "hh"], 8, false),
    number("i16", "short", ["h", "h"], 16, true),
    number("u16", "ushort", ["h", "h"], 16, false),
    number("i32", "int", ["", "hl"], 32, true),
    number("u32", "uint", ["", "hl"], 32, false),
    number("i64", "long", ["l", "l"], 64, true),
    number("u64", "ulong", ["l", "l"], 64, false),
];

/// Flags that mean something to a conversion, width and precision.
fn field(rng: &mut Random, flags: &str, has_precision: bool) -> String {
    let mut out = String::new();
    for flag in flags.chars() {
        if rng.below(4) == 0 {
            out.push(flag);
        }
    }
    if rng.below(2) == 0 {
        let _ = write!(out, "{}", 1 + rng.below(24));
    }
    if has_precision && rng.below(2) == 0 {
        let _ = write!(out, ".{}", rng.below(18));
    }
    out
}

fn integer_bits(rng: &mut Random) -> u64 {
    match rng.below(4) {
        0 => rng.bits(),
        1 => rng.below(300) as u64,
        2 => (rng.below(300) as u64).wrapping_neg(),
        _ => *rng.pick(&[0, 1, u64::MAX, 1 << 63, 0x7fff_ffff, 0x8000_0000, 0x80, 0x8000, 0xff]),
    }
}

/// Any but a NaN with a sign, which not everybody prints.
fn float(rng: &mut Random, single: bool) -> f64 {
    let value = match rng.below(4) {
        0 if single => f32::from_bits(rng.bits() as u32).into(),
        0 => f64::from_bits(rng.bits()),
        1 => rng.below(2000) as f64 / 16.0 - 60.0,
        2 => rng.below(1_000_000) as f64 * 10f64.powi(rng.below(30) - 15),
        _ => *rng.pick(&[
            0.0,
            -0.0,
            1.0,
            0.5,
            1e10,
            123456.5,
            0.0001,
            f64::INFINITY,
            f64::NEG_INFINITY,
            9.9999995,
        ]),
    };
    match value {
        _ if value.is_nan() => f64::NAN.abs(),
        value if single => (value as f32).into(),
        value => value,
    }
}

impl Call {
    fn text(&mut self, rng: &mut Random) {
        let text = *rng.pick(&["", " ", "x = ", "%%", ": ", "\\t", "é|", "\\\"q\\\"", "100%% ", "a:b:c "]);
        self.plain(text);
        if rng.below(12) == 0 {
            // More than a packet has room for.
            self.plain(&"a longer text, ".repeat(1 + rng.below(20)));
        }
    }

    fn plain(&mut self, text: &str) {
        [&mut self.format, &mut self.c_format, &mut self.cl_format]
            .into_iter()
            .for_each(|to| to.push_str(text));
    }

    /// The next word that the kernel reads.
    fn read(&mut self, bits: u64, before: usize) -> String {
        self.bits.push(bits);
        format!("x[{}]", before + self.bits.len() - 1)
    }

    fn conversion(&mut self, rng: &mut Random, before: usize) {
        match rng.below(8) {
            0..=2 => self.integer(rng, before),
            3..=5 => self.real(rng, before),
            6 => self.words(rng),
            _ => self.other_conversion(rng, before),
        }
    }

    fn integer(&mut self, rng: &mut Random, before: usize) {
        let number = rng.pick(&INTEGERS);
        let letter = match (rng.below(3), number.signed) {
            (0, _) => *rng.pick(&["x", "X", "o"]),
            (_, true) => rng.pick(&["d", "i"]),
            _ => "u",
        };
        let flags = match letter {
            "d" | "i" => "-+ 0",
            "u" => "-0",
            _ => "-#0",
        };
        let field = field(rng, flags, true);
        let lanes = if rng.below(3) == 0 { *rng.pick(&[2, 3, 4, 8, 16]) } else { 1 };
        let Number { name, c, c_length, cl_length, bits, .. } = *number;
        let values: Vec<u64> = (0..lanes).map(|_| integer_bits(rng) & (u64::MAX >> (64 - bits))).collect();
        let ours: Vec<String> =
            values.iter().map(|&bits| format!("{} as {name}", self.read(bits, before))).collect();
        let c_values = values.iter().map(|bits| format!("({c}){bits:#x}ul"));
        if lanes == 1 {
            // Small ones are promoted: a length may be left out.
            let length = if bits < 32 && letter != "x" && letter != "X" && letter != "o" && rng.below(2) == 0
            {
                ""
            } else {
                c_length
            };
            let ll = if bits == 64 && rng.below(2) == 0 { "ll" } else { length };
            let _ = write!(self.format, "%{field}{ll}{letter}");
            for format in [&mut self.c_format, &mut self.cl_format] {
                let _ = write!(format, "%{field}{length}{letter}");
            }
            self.args.extend(ours);
            self.cl_args.extend(c_values.clone());
            return self.c_args.extend(c_values);
        }
        let length = if bits == 32 && rng.below(2) == 0 { "" } else { cl_length };
        let _ = write!(self.format, "%{field}v{lanes}{length}{letter}");
        let _ = write!(self.cl_format, "%{field}v{lanes}{cl_length}{letter}");
        self.c_format += &vec![format!("%{field}{c_length}{letter}"); lanes].join(",");
        self.args.push(format!("{name}x{lanes}({})", ours.join(", ")));
        self.cl_args.push(format!("({c}{lanes})({})", c_values.clone().collect::<Vec<_>>().join(", ")));
        self.c_args.extend(c_values);
    }

    fn real(&mut self, rng: &mut Random, before: usize) {
        let single = rng.below(2) == 0;
        let letter = *rng.pick(&["f", "F", "e", "E", "g", "G", "a", "A"]);
        let field = field(rng, "-+ #0", true);
        let lanes = if rng.below(3) == 0 { *rng.pick(&[2, 3, 4, 8, 16]) } else { 1 };
        let values: Vec<f64> = (0..lanes).map(|_| float(rng, single)).collect();
        let (mut ours, mut cl_values) = (Vec::new(), Vec::new());
        for &value in &values {
            let bits = if single { (value as f32).to_bits().into() } else { value.to_bits() };
            let word = self.read(bits, before);
            let (mine, theirs) = match single {
                true => (format!("bitcast::<f32>({word} as u32)"), format!("as_float((uint){word})")),
                // Of a constant LLVM would make a float.
                false => (format!("bitcast::<f64>({word})"), format!("as_double({word})")),
            };
            ours.push(mine);
            cl_values.push(theirs);
        }
        let c_values = values.iter().map(|value| format!("d({:#x}ul)", value.to_bits()));
        self.c_args.extend(c_values);
        self.c_format += &vec![format!("%{field}{letter}"); lanes].join(",");
        let (name, cl) = if single { ("f32", "float") } else { ("f64", "double") };
        if lanes == 1 {
            let length = if rng.below(4) == 0 { "l" } else { "" };
            let _ = write!(self.format, "%{field}{length}{letter}");
            let _ = write!(self.cl_format, "%{field}{letter}");
            self.args.extend(ours);
            return self.cl_args.extend(cl_values);
        }
        let cl_length = if single { "hl" } else { "l" };
        let length = if rng.below(2) == 0 { cl_length } else { "" };
        let _ = write!(self.format, "%{field}v{lanes}{length}{letter}");
        let _ = write!(self.cl_format, "%{field}v{lanes}{cl_length}{letter}");
        self.args.push(format!("{name}x{lanes}({})", ours.join(", ")));
        self.cl_args.push(format!("({cl}{lanes})({})", cl_values.join(", ")));
    }

    fn words(&mut self, rng: &mut Random) {
        let text = *rng.pick(&[
            "\"\"",
            "\"a\"",
            "\"abc\"",
            "\"text\"",
            "\"%d:\"",
            "\"a longer text\"",
            "\"1234567\"",
        ]);
        let field = field(rng, "-", true);
        for (format, args) in [
            (&mut self.format, &mut self.args),
            (&mut self.c_format, &mut self.c_args),
            (&mut self.cl_format, &mut self.cl_args),
        ] {
            let _ = write!(format, "%{field}s");
            args.push(text.to_owned());
        }
    }

    fn other_conversion(&mut self, rng: &mut Random, before: usize) {
        let field = field(rng, "-", false);
        if rng.below(2) == 0 {
            let code = 33 + rng.below(94) as u64;
            self.plain(&format!("%{field}c"));
            let ours = format!("{} as u8", self.read(code, before));
            self.args.push(ours);
            self.cl_args.push(code.to_string());
            return self.c_args.push(code.to_string());
        }
        let address = rng.bits() >> 16 | 1;
        self.plain(&format!("%{field}p"));
        let ours = format!("{} as *global u32", self.read(address, before));
        self.args.push(ours);
        self.cl_args.push(format!("(__global uint *){address:#x}ul"));
        self.c_args.push(format!("(void *){address:#x}ul"));
    }

    /// The whole call.
    fn new(rng: &mut Random, number: usize, before: usize) -> Call {
        let mut call = Call::default();
        call.plain(&format!("#{number} "));
        for _ in 0..1 + rng.below(4) {
            call.text(rng);
            call.conversion(rng, before);
        }
        call.text(rng);
        call.plain("\\n");
        call
    }

    /// Whether LLVM 19 does as it says. It does not know `%A` and `%F`, for whose arguments there may be no size then; and of a text
    /// of whole dwords it leaves out the zero, for which the size has room.
    fn is_right_in_clang(&self) -> bool {
        let is_whole = |arg: &String| arg.starts_with('"') && (arg.len() - 2).is_multiple_of(4);
        // The texts between have none of these letters.
        !self.cl_format.contains(['A', 'F']) && !self.args.iter().any(is_whole)
    }

    fn statement(format: &str, args: &[String]) -> String {
        let args: String = args.iter().map(|arg| format!(", {arg}")).collect();
        format!("    printf(\"{format}\"{args});\n")
    }
}

/// What some calls print: their source, what they read, and the expected text.
struct Program {
    calls: Vec<Call>,
}

impl Program {
    fn new(seed: u64) -> Program {
        let mut rng = Random::new(seed);
        let (mut calls, mut before) = (Vec::new(), 0);
        for number in 0..CALLS {
            let call = Call::new(&mut rng, number, before);
            before += call.bits.len();
            calls.push(call);
        }
        Program { calls }
    }

    fn source(&self) -> String {
        let calls = self.calls.iter().map(|call| Call::statement(&call.format, &call.args));
        format!("kernel k(x: *const global u64) {{\n{}}}\n", calls.collect::<String>())
    }

    fn c(&self) -> String {
        let calls = self.calls.iter().map(|call| Call::statement(&call.c_format, &call.c_args));
        format!(
            "#include <stdio.h>\n#include <string.h>\n#include <sys/types.h>\ntypedef unsigned char uchar;\n\
             static double d(unsigned long b) {{ double v; memcpy(&v, &b, 8); return v; }}\n\
             int main(void) {{\n{}    return 0;\n}}\n",
            calls.collect::<String>()
        )
    }

    fn cl(&self) -> String {
        let calls = self.calls.iter().filter(|call| call.is_right_in_clang());
        let calls = calls.map(|call| Call::statement(&call.cl_format, &call.cl_args));
        let (alloc, _) =
            include_str!("../tools/sim/tests/cl/printf.cl").split_once("__kernel").expect("its kernels");
        format!("{alloc}__kernel void k(__global const ulong *x) {{\n{}}}\n", calls.collect::<String>())
    }

    fn bits(&self) -> Vec<u8> {
        self.calls.iter().flat_map(|call| &call.bits).flat_map(|bits| bits.to_le_bytes()).collect()
    }
}

/// Runs kernel `k` of an object on one work-item.
fn run(object: &[u8], bits: &[u8], mode: Mode) -> Result<String, String> {
    let text = |fault: sim::Fault| fault.to_string();
    let object = sim::CodeObject::load(object).map_err(|error| error.to_string())?;
    let mut device = Device::with_threads(1);
    device.set_mode(mode);
    let module = device.load(&object).map_err(text)?;
    let address = device.alloc(bits.len().max(8) as u64).map_err(text)?;
    device.write(address, bits).map_err(text)?;
    let kernarg = address.to_le_bytes().to_vec();
    let dispatch = Dispatch { kernel: "k", grid: [1; 3], group: [1; 3], kernarg, ..Dispatch::default() };
    device.run(module, &dispatch).map_err(text)?;
    Ok(device.take_printed())
}

/// What the interpreter prints.
fn interpret(module: &ir::Module, bits: &[u8]) -> Result<String, String> {
    let mut memory = Memory::new();
    let kernarg = memory.alloc_bytes(bits.to_vec()).to_le_bytes().to_vec();
    let interp = Interp::new(module, &mut memory);
    let dispatch =
        ir::interp::Dispatch { kernel: "k", grid: [1; 3], group: [1; 3], kernarg, dynamic_shared: 0 };
    interp.run(&dispatch, &mut memory).map_err(|error| error.to_string())?;
    Ok(interpreted(&interp, module, &mut memory))
}

/// What the interpreter has printed either way.
fn interpreted(interp: &Interp<'_>, module: &ir::Module, memory: &mut Memory) -> String {
    let buffer = sim::printf_text(&interp.take_printed(memory), &crate::harness::formats(module));
    memory.take_messages().iter().fold(buffer, |text, message| text + &sim::message_text(message))
}

/// How what is printed gets to the host.
const WAYS: [Printf; 2] = [Printf::Buffer, Printf::Hostcall];

/// Each at two levels.
fn ways_and_levels() -> impl Iterator<Item = (Printf, OptLevel)> {
    WAYS.into_iter().flat_map(|way| [OptLevel::O0, OptLevel::O2].map(|level| (way, level)))
}

fn compile(source: &str, target: Subtarget, opt_level: OptLevel) -> (Vec<u8>, ir::Module) {
    compile_with(source, target, &Options { opt_level, ..Options::default() })
}

fn compile_with(source: &str, target: Subtarget, options: &Options) -> (Vec<u8>, ir::Module) {
    let options = Options { verify: true, ..options.clone() };
    let mut kept = KeepIr::default();
    let object = Compiler::new(target).compile_observed(source, &options, &mut kept);
    let object = object.unwrap_or_else(|error| panic!("{}\n{source}", error.render(false)));
    (object.into_bytes(), kept.0)
}

/// Processors and versions that take turns.
const CELLS: [(&str, u8); 9] = [
    ("gfx906", 5),
    ("gfx803", 3),
    ("gfx1010", 4),
    ("gfx600", 2),
    ("gfx90a", 5),
    ("gfx700", 5),
    ("gfx906", 4),
    ("gfx90a", 3),
    ("gfx1030", 5),
];

fn target((name, version): (&str, u8)) -> Subtarget {
    let mut target = Subtarget::by_name(name).expect("a processor");
    target.code_object = CodeObjectVersion::from_number(version).expect("a version");
    target
}

fn same(how: &str, source: &str, expected: &str, found: &str) {
    for (expected, found) in expected.lines().zip(found.lines()) {
        assert_eq!(found, expected, "{how}\n{source}");
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{how}: lines\n{source}");
}

#[test]
fn as_the_c_library_and_clang_print() {
    if !have(&["clang-19", "ld.lld-19"], "as_the_c_library_and_clang_print") {
        return;
    }
    let count: usize = std::env::var("KERNC_PRINTF").ok().and_then(|text| text.parse().ok()).unwrap_or(150);
    let dir = scratch("printf");
    let file = |name: &str| dir.join(name).to_str().expect("a path").to_owned();
    for seed in 0..count.div_ceil(CALLS) as u64 {
        let program = Program::new(seed);
        let (source, bits) = (program.source(), program.bits());
        std::fs::write(file("k.c"), program.c()).expect("a file");
        tool("clang-19", &["-w", "-O0", &file("k.c"), "-o", &file("k")]);
        let expected = tool(&file("k"), &[]);
        let cell = CELLS[seed as usize % CELLS.len()];
        for (printf, opt_level) in ways_and_levels() {
            let how = format!("{cell:?} {printf:?} {opt_level:?}, seed {seed}");
            let options = Options { opt_level, printf, ..Options::default() };
            let (object, module) = compile_with(&source, target(cell), &options);
            let found =
                run(&object, &bits, Mode::STRICT).unwrap_or_else(|why| panic!("{how}: {why}\n{source}"));
            same(&how, &source, &expected, &found);
            let found = interpret(&module, &bits).unwrap_or_else(|why| panic!("{why}\n{source}"));
            same(&format!("interpreter, {how}"), &source, &expected, &found);
        }
        std::fs::write(file("k.cl"), program.cl()).expect("a file");
        let options =
            ["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx906", "-nogpulib"];
        let mut args = options.to_vec();
        args.extend([
            "-Xclang",
            "-finclude-default-header",
            "-w",
            "-O1",
            "-mcode-object-version=5",
            "-DPRINTF_SLOT=9",
        ]);
        let (cl, object, linked) = (file("k.cl"), file("k.o"), file("k.co"));
        args.extend(["-c", &cl, "-o", &object]);
        tool("clang-19", &args);
        tool("ld.lld-19", &["-shared", &object, "-o", &linked]);
        let bytes = std::fs::read(&linked).expect("an object");
        let found =
            run(&bytes, &bits, Mode::Fast).unwrap_or_else(|why| panic!("clang: {why}\n{}", program.cl()));
        let lines = expected.lines().zip(&program.calls).filter(|(_, call)| call.is_right_in_clang());
        let expected: String = lines.map(|(line, _)| format!("{line}\n")).collect();
        same(&format!("clang, seed {seed}"), &program.cl(), &expected, &found);
    }
}

/// Runs kernel `k` on groups of a size, with a buffer; what it printed, and whether it came to its end.
fn dispatch(object: &[u8], [grid, group]: [u32; 2], buffer: &[u8]) -> (String, Result<(), sim::Fault>) {
    let object = sim::CodeObject::load(object).expect("our object");
    let mut device = Device::with_threads(1);
    let module = device.load(&object).expect("it loads");
    let address = device.alloc(buffer.len() as u64).expect("memory");
    device.write(address, buffer).expect("memory");
    let (grid, group, kernarg) = ([grid, 1, 1], [group, 1, 1], address.to_le_bytes().to_vec());
    let limits = sim::Limits { instructions: 100_000_000, ..sim::Limits::default() };
    let dispatch = Dispatch { kernel: "k", grid, group, kernarg, limits, ..Dispatch::default() };
    let result = device.run(module, &dispatch).map(|_| ());
    (device.take_printed(), result)
}

/// Calls for which there is no room any more are lost, one by one, and nothing else happens.
#[test]
fn a_full_buffer_loses_calls() {
    let source = "kernel k(x: *global u32) {
        for turn in 0u32..5000 { printf(\"%u\\n\", turn); }
        printf(\"%u and %u\\n\", 1, 2);
        x[local_id(0)] = 7;
    }";
    // Two dwords a call, of which the last one wants three.
    let room = (1 << 20) / 8;
    for (name, version) in CELLS {
        let (object, _) = compile(source, target((name, version)), OptLevel::O2);
        let (printed, result) = dispatch(&object, [32, 32], &[0; 128]);
        result.expect("it comes to its end");
        assert_eq!(printed.lines().count(), room, "{name}");
        let lines = printed.lines().enumerate();
        lines.for_each(|(n, line)| assert_eq!(line, (n / 32).to_string(), "{name}"));
    }
}

#[test]
fn asserts_say_where_and_end_the_dispatch() {
    let source = "// A comment.\nkernel k(x: *global u32) {\n    let i = global_id(0);\n    assert(x[i] <\n        100, \"too many: 5% \\\\ \\\"\");\n    x[i] = 1;\n}\n";
    let words: Vec<u8> = [1u32, 2, 3, 4, 5, 100, 7, 8].iter().flat_map(|word| word.to_le_bytes()).collect();
    let expected = "dir/a.k:4: `assert(x[i] < 100)` failed: too many: 5% \\ \" (work-group 1, 0, 0, work-item 1, 0, 0)\n";
    for (cell, (printf, level)) in
        CELLS.into_iter().flat_map(|cell| ways_and_levels().map(move |way| (cell, way)))
    {
        let file_name = "dir/a.k".into();
        let options = Options { opt_level: level, file_name, printf, verify: true, ..Options::default() };
        let mut compiler = Compiler::new(target(cell));
        let mut kept = KeepIr::default();
        let object = compiler.compile_observed(source, &options, &mut kept).expect("it compiles");
        let (printed, result) = dispatch(object.bytes(), [8, 4], &words);
        assert_eq!(printed, expected, "{cell:?} {level:?}");
        let fault = result.expect_err("it traps").to_string();
        assert!(fault.contains("trap 2"), "{fault}");

        let mut memory = Memory::new();
        let kernarg = memory.alloc_bytes(words.clone()).to_le_bytes().to_vec();
        let interp = Interp::new(&kept.0, &mut memory);
        let (grid, group) = ([8, 1, 1], [4, 1, 1]);
        let dispatched = ir::interp::Dispatch { kernel: "k", grid, group, kernarg, dynamic_shared: 0 };
        let error = interp.run(&dispatched, &mut memory).expect_err("it traps");
        assert_eq!((&error.kind, error.group), (&ir::interp::ErrorKind::Trap, [1, 0, 0]));
        assert!(error.at.is_some_and(|(func, inst)| func == "k" && inst == "trap"));
        let printed = interpreted(&interp, &kept.0, &mut memory);
        assert_eq!(printed, expected, "{cell:?} {level:?}");

        let without = Options { asserts: false, debug: kernc::DebugInfo::None, ..options.clone() };
        let object = compiler.compile(source, &without).expect("it compiles");
        let (printed, result) = dispatch(object.bytes(), [8, 4], &words);
        assert!(printed.is_empty() && result.is_ok(), "{cell:?} {level:?}");
        let plain = "kernel k(x: *global u32) {\n    let i = global_id(0);\n    x[i] = 1;\n}\n";
        assert_eq!(object.bytes(), compiler.compile(plain, &without).expect("it compiles").bytes());
    }
}

/// Runs kernel `k` on groups of 100 of 300 items, in a mode; the lines that it prints, in order.
fn lines_of_many(object: &[u8], mode: Mode) -> Result<Vec<String>, String> {
    let text = |fault: sim::Fault| fault.to_string();
    let object = sim::CodeObject::load(object).map_err(|error| error.to_string())?;
    let mut device = Device::with_threads(2);
    device.set_mode(mode);
    let module = device.load(&object).map_err(text)?;
    let address = device.alloc(1200).map_err(text)?;
    device.write(address, &[0; 1200]).map_err(text)?;
    let kernarg = address.to_le_bytes().to_vec();
    let (grid, group) = ([300, 1, 1], [100, 1, 1]);
    let dispatch = Dispatch { kernel: "k", grid, group, kernarg, ..Dispatch::default() };
    device.run(module, &dispatch).map_err(text)?;
    if let Some(report) = device.reports().first() {
        return Err(report.to_string());
    }
    let mut lines: Vec<String> = device.take_printed().lines().map(str::to_owned).collect();
    lines.sort_unstable();
    Ok(lines)
}

/// Some lanes of many waves print, in a function that is called, in a loop whose turns differ, and in several packets: each line is there once, and whole.
#[test]
fn divergent_lanes_of_many_waves_print() {
    let source = r#"
        #[inline(never)]
        fn say(at: u32, value: f32) -> u32 {
            printf("%u says %.2f, %s: %v3hd\n", at, value, "in a function that is called", i16x3(at as i16, -1, 2));
            at + 1
        }
        kernel k(x: *global u32) {
            let i = global_id(0);
            let mut sum = 0;
            if i % 3 == 1 {
                for turn in 0..i % 4 { printf("%u in turn %u, %s\n", i, turn, "which is one of a few that the lane has, and of others"); }
                sum = say(i, i as f32 / 4.0);
            } else if i % 7 == 2 {
                printf("seven %u\n", i);
            }
            x[i] = sum;
        }"#;
    let mut expected = Vec::new();
    for i in 0..300u32 {
        if i % 3 == 1 {
            let turn =
                |turn| format!("{i} in turn {turn}, which is one of a few that the lane has, and of others");
            expected.extend((0..i % 4).map(turn));
            let value = f64::from(i) / 4.0;
            expected.push(format!("{i} says {value:.2}, in a function that is called: {i},-1,2"));
        } else if i % 7 == 2 {
            expected.push(format!("seven {i}"));
        }
    }
    expected.sort_unstable();
    let lanes = |cell: (&str, u8)| if cell.0.starts_with("gfx10") { vec![32, 64] } else { vec![64] };
    for (cell, lanes) in CELLS.into_iter().flat_map(|cell| lanes(cell).into_iter().map(move |n| (cell, n))) {
        let target = target(cell).with_wave_size(lanes).expect("it has them");
        for (printf, opt_level) in ways_and_levels() {
            let options = Options { opt_level, printf, ..Options::default() };
            let (object, _) = compile_with(source, target, &options);
            for mode in [Mode::Fast, Mode::STRICT, Mode::Weak { seed: 3 }] {
                let how = format!("{cell:?} {lanes} {printf:?} {opt_level:?} {mode:?}");
                let found = lines_of_many(&object, mode).unwrap_or_else(|why| panic!("{how}: {why}"));
                assert_eq!(found, expected, "{how}");
            }
        }
    }
}

/// Calls of the host are not lost, however many there are, and come in the order in which a lane makes them.
#[test]
fn calls_of_the_host_are_not_lost() {
    let source = "kernel k(x: *global u32) { for turn in 0u32..3000 { printf(\"%u\\n\", turn + x[0]); } }";
    for cell in [("gfx906", 4), ("gfx1010", 5)] {
        let options = Options { printf: Printf::Hostcall, ..Options::default() };
        let (object, module) = compile_with(source, target(cell), &options);
        assert!(module.formats.is_empty());
        let (printed, result) = dispatch(&object, [1, 1], &[0; 64]);
        result.expect("it comes to its end");
        assert!(printed.lines().eq((0..3000).map(|n| n.to_string())), "{cell:?}");
    }
}

/// What must not be reached is told where nothing relies on it.
#[test]
fn unreachable_traps_without_the_optimiser() {
    let source =
        "kernel k(x: *global u32) { if x[global_id(0)] == 3 { unreachable(); } x[global_id(0)] = 1; }";
    let words: Vec<u8> = [1u32, 3].iter().flat_map(|word| word.to_le_bytes()).collect();
    for cell in CELLS {
        let (object, module) = compile(source, target(cell), OptLevel::O0);
        let (_, result) = dispatch(&object, [2, 2], &words);
        assert!(result.expect_err("it traps").to_string().contains("trap 2"), "{cell:?}");
        let mut memory = Memory::new();
        let kernarg = memory.alloc_bytes(words.clone()).to_le_bytes().to_vec();
        let interp = Interp::new(&module, &mut memory);
        let (grid, group) = ([2, 1, 1], [2, 1, 1]);
        let dispatched = ir::interp::Dispatch { kernel: "k", grid, group, kernarg, dynamic_shared: 0 };
        let error = interp.run(&dispatched, &mut memory).expect_err("it stops");
        assert_eq!(error.kind, ir::interp::ErrorKind::Unreachable);
        let (object, _) = compile(source, target(cell), OptLevel::O2);
        assert!(dispatch(&object, [2, 2], &words).1.is_ok(), "{cell:?}");
    }
}
