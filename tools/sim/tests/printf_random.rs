//! What kernels print beside what C prints on this machine: random formats and arguments, in one text for both, through
//! OpenCL's buffer (code objects V3 to V5) and, linked with ROCm's device libraries, through calls of the host.
//!
//! `KERNC_PRINTF=2000` asks for that many calls of each kind instead of a short run.

use crate::common::{compile, device_libs, link, present, run_c};
use sim::{CodeObject, Device, Dispatch, Limits, Mode};
use std::fmt::Write;
use support::Random;

/// Calls of a kernel.
const BATCH: usize = 25;

fn wanted() -> usize {
    std::env::var("KERNC_PRINTF").ok().and_then(|count| count.parse().ok()).unwrap_or(2 * BATCH)
}

/// A call as C has it: the format's text, and the arguments, each with a comma before it.
#[derive(Default)]
struct Call {
    format: String,
    args: String,
    /// Where C has no vectors: the same call without.
    host: Option<(String, String)>,
}

impl Call {
    fn lines(&self) -> (String, String) {
        let device = format!("\"{}\"{}", self.format, self.args);
        let host = self.host.as_ref().map(|(format, args)| format!("\"{format}\"{args}"));
        (device.clone(), host.unwrap_or(device))
    }
}

/// Flags that mean something for a conversion, each at most once.
fn flags(random: &mut Random, allowed: &str) -> String {
    allowed.chars().filter(|_| random.below(4) == 0).collect()
}

/// Width and precision; stars take arguments. clang does not pass all arguments of OpenCL's if there are stars.
fn extent(random: &mut Random, hip: bool, precision: bool, args: &mut String) -> String {
    let star = |text: &mut String, args: &mut String, value: i64| match hip {
        true => {
            text.push('*');
            let _ = write!(args, ", {value}");
        }
        false => _ = write!(text, "{}", value.unsigned_abs()),
    };
    let mut text = String::new();
    match random.below(4) {
        0 => _ = write!(text, "{}", 1 + random.below(30)),
        1 => star(&mut text, args, random.below(40) as i64 - 20),
        _ => {}
    }
    if precision {
        match random.below(5) {
            0 | 1 => _ = write!(text, ".{}", random.below(20)),
            2 => {
                text.push('.');
                star(&mut text, args, random.below(20) as i64 - 3);
            }
            3 => text.push('.'),
            _ => {}
        }
    }
    text
}

fn integer(random: &mut Random, bytes: usize) -> i64 {
    let value = match random.below(4) {
        0 => random.below(20) as i64 - 10,
        1 => random.choose(&[0, 1, -1, 127, 128, -128, 255, 32767, -32768, 65535, i64::MAX, -i64::MAX]),
        2 => (random.bits() >> 40) as i64,
        _ => random.bits() as i64 >> 1,
    };
    if bytes < 8 { i64::from(value as i32).max(-i64::from(i32::MAX)) } else { value }
}

fn float(random: &mut Random) -> String {
    let bits = match random.below(5) {
        0 => {
            return random
                .choose(&["0.0", "-0.0", "1.0", "0.5", "-2.5", "1e10", "123456.789", "9.995", "0.1", "1e-5"])
                .into();
        }
        1 => return random.choose(&["__builtin_inf()", "-__builtin_inf()", "__builtin_nan(\"\")"]).into(),
        2 => random.bits(),
        // Near 1, with few digits.
        3 => (1.0 + random.below(1000) as f64 / 64.0).to_bits(),
        _ => (random.bits() >> 12) as f64 as u64 | random.bits() & 1 << 63 | 0x3f0 << 52,
    };
    let value = f64::from_bits(bits);
    if value.is_finite() { format!("{value:e}") } else { "2.25".into() }
}

fn text(random: &mut Random) -> String {
    const CHARS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABC0123456789 :;,.+-*/()[]{}<>_^~!#&|=@'";
    (0..random.below(21)).map(|_| char::from(random.choose(CHARS))).collect()
}

/// Appends a conversion. `hip`: with C's lengths, else OpenCL's.
fn conversion(random: &mut Random, hip: bool, call: &mut Call) {
    let (mut spec, mut args) = (String::from("%"), String::new());
    match random.below(10) {
        0..4 => {
            let lengths: &[(&str, usize, &str)] = match hip {
                true => &[
                    ("", 4, ""),
                    ("hh", 4, ""),
                    ("h", 4, ""),
                    ("l", 8, "(long)"),
                    ("ll", 8, "(long long)"),
                    ("j", 8, "(long)"),
                    ("z", 8, "(long)"),
                    ("t", 8, "(long)"),
                ],
                false => &[("", 4, ""), ("hh", 4, ""), ("h", 4, ""), ("l", 8, "(long)")],
            };
            let (length, bytes, cast) = random.choose(lengths);
            let letter = random.choose(&["d", "i", "u", "o", "x", "X"]);
            spec += &flags(
                random,
                if matches!(letter, "d" | "i") {
                    "-+ 0"
                } else if letter == "u" {
                    "-0"
                } else {
                    "-0#"
                },
            );
            spec += &extent(random, hip, true, &mut args);
            spec += length;
            spec += letter;
            let _ = write!(args, ", {cast}{}", integer(random, bytes));
        }
        4..7 => {
            spec += &flags(random, "-+ 0#");
            spec += &extent(random, hip, true, &mut args);
            // For OpenCL, clang does not know `%F` and `%A`, and passes constants as floats.
            let letters = ["f", "e", "E", "g", "G", "a", "F", "A"];
            spec += random.choose(if hip { &letters } else { &letters[..6] });
            let _ = write!(args, ", D({})", float(random));
        }
        7 => {
            spec += &flags(random, "-");
            spec += &extent(random, hip, true, &mut args);
            spec.push('s');
            // clang forgets the zero at the end of OpenCL's strings of four characters, of eight and so on.
            let mut text = text(random);
            if !hip && text.len().is_multiple_of(4) {
                text.push('.');
            }
            let _ = write!(args, ", \"{text}\"");
        }
        8 => {
            spec += &flags(random, "-");
            spec += &extent(random, hip, false, &mut args);
            let (letter, arg) = match random.below(3) {
                0 => ("p", format!("P({:#x})", random.bits() >> (8 + random.below(40)))),
                _ => ("c", format!("{}", 33 + random.below(90))),
            };
            spec += letter;
            let _ = write!(args, ", {arg}");
        }
        _ => spec.push('%'),
    }
    call.format += &spec;
    call.args += &args;
}

fn call(random: &mut Random, hip: bool) -> Call {
    let mut call = Call::default();
    for _ in 0..=random.below(4) {
        call.format += &text(random);
        conversion(random, hip, &mut call);
    }
    call.format += &text(random);
    call.format += random.choose(&["", "\\n", "\\t"]);
    call
}

/// A vector's conversion, and C's of its elements.
fn vector(random: &mut Random) -> Call {
    let elements = random.choose(&[2usize, 3, 4, 8, 16]);
    let is_float = random.below(2) == 0;
    let flags = flags(random, if is_float { "-+ 0#" } else { "-0" });
    let extent = extent(random, false, true, &mut String::new());
    let (of, length, letter) = match is_float {
        true => ("float", "hl", random.choose(&["f", "e", "g", "a"])),
        false => random.choose(&[
            ("int", "hl", "d"),
            ("uint", "hl", "x"),
            ("short", "h", "d"),
            ("uchar", "hh", "u"),
            ("long", "l", "d"),
        ]),
    };
    let values: Vec<String> = (0..elements)
        .map(|_| match (is_float, length) {
            (true, _) => format!("{:e}f", (random.below(4000) as f32 - 2000.0) / 64.0),
            (false, "hl") => format!("{}", random.bits() as i32 / 2),
            (false, "h") => format!("{}", random.bits() as i16 / 2),
            (false, "hh") => format!("{}", random.bits() as u8 / 2),
            _ => format!("{}", random.bits() as i64 / 2),
        })
        .collect();
    let cast = if of == "long" { "(long)" } else { "" };
    let host_length = if length == "hl" { "" } else { length };
    let one = format!("%{flags}{extent}{host_length}{letter}");
    Call {
        format: format!("%{flags}{extent}v{elements}{length}{letter};"),
        args: format!(", ({of}{elements})({})", values.join(", ")),
        host: Some((
            format!("{};", vec![one; elements].join(",")),
            values.iter().map(|value| format!(", {cast}{value}")).collect(),
        )),
    }
}

/// What one work-item of the kernel prints.
fn run(object: &[u8], kernarg: Vec<u8>) -> Result<String, String> {
    let object = CodeObject::load(object).map_err(|error| error.to_string())?;
    let mut device = Device::with_threads(2);
    let module = device.load(&object).map_err(|fault| fault.to_string())?;
    let limits = Limits { instructions: 100_000_000, stack: 16384 };
    let dispatch = Dispatch { kernel: "k", kernarg, limits, ..Dispatch::default() };
    device.run(module, &dispatch).map_err(|fault| fault.to_string())?;
    Ok(device.take_printed())
}

/// Says which call of a batch differs first.
fn compare(calls: &[Call], found: &str, expected: &str) -> Result<(), String> {
    let (mut found, mut expected) = (found.split("@@\n"), expected.split("@@\n"));
    let mut before = String::new();
    for call in calls {
        let (one, two) = (found.next(), expected.next());
        let line = call.lines().0;
        if one != two {
            return Err(format!(
                "printf({line})\n{one:?}, and C prints\n{two:?}; before it printf({before})"
            ));
        }
        before = line;
    }
    Ok(())
}

#[test]
fn calls_of_the_host() {
    let Some(libs) = device_libs::directory().filter(|_| present("clang-19") && present("ld.lld-19")) else {
        return;
    };
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let targets =
        [("gfx906", 4), ("gfx906", 5), ("gfx90a", 5), ("gfx1010", 5), ("gfx803", 4), ("gfx1030", 4)];
    for batch in 0..wanted().div_ceil(BATCH) {
        let calls: Vec<Call> = (0..BATCH).map(|_| call(&mut random, true)).collect();
        let line = |call: &Call| format!("n = printf({}); printf(\"#%d@@\\n\", n);\n", call.lines().0);
        let lines: String = calls.iter().map(line).collect();
        let device = format!(
            "#define P(x) ((void *)x##ul)\n#define D(x) x\nextern \"C\" __attribute__((device)) int printf(const char *, ...);\n\
             extern \"C\" __attribute__((global)) void k() {{ int n;\n{lines}}}\n"
        );
        let host = format!(
            "#include <stdio.h>\n#define P(x) ((void *)x##ul)\n#define D(x) x\nint main(void) {{ int n;\n{lines}}}\n"
        );
        let (processor, version) = targets[batch % targets.len()];
        let object = device_libs::compile(&libs, &device, processor, version).unwrap();
        let found = run(&object, Vec::new()).unwrap();
        compare(&calls, &found, &run_c(&host).unwrap())
            .unwrap_or_else(|why| panic!("{processor} V{version}: {why}"));
    }
}

/// Many waves at once, in all modes: each line is there once, and whole.
#[test]
fn many_waves_call_the_host() {
    let Some(libs) = device_libs::directory().filter(|_| present("clang-19") && present("ld.lld-19")) else {
        return;
    };
    let source = r#"
        extern "C" __attribute__((device)) int printf(const char *, ...);
        extern "C" __attribute__((global)) void k(const char *name) {
            int at = __builtin_amdgcn_workgroup_id_x() * 100 + __builtin_amdgcn_workitem_id_x();
            if (at % 3 != 1)
                printf("item %d of %s: %.2f %s\n", at, name, at / 4.0, at % 2 ? "odd" : "even, and a longer text than the others");
        }"#;
    let line = |at: u32| {
        let kind = if at % 2 == 1 { "odd" } else { "even, and a longer text than the others" };
        format!("item {at} of a name from memory: {:.2} {kind}", f64::from(at) / 4.0)
    };
    let mut expected: Vec<String> = (0..300).filter(|at| at % 3 != 1).map(line).collect();
    expected.sort();
    for (processor, version) in [("gfx906", 4), ("gfx906", 5), ("gfx90a", 5), ("gfx1010", 5), ("gfx803", 5)] {
        let object = device_libs::compile(&libs, source, processor, version).unwrap();
        for mode in [Mode::Fast, Mode::STRICT, Mode::Weak { seed: 3 }] {
            let found = run_named(&object, mode)
                .unwrap_or_else(|why| panic!("{processor} V{version} {mode:?}: {why}"));
            let mut found: Vec<&str> = found.lines().collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{processor} V{version} {mode:?}");
        }
    }
}

fn run_named(object: &[u8], mode: Mode) -> Result<String, String> {
    let object = CodeObject::load(object).map_err(|error| error.to_string())?;
    let mut device = Device::with_threads(2);
    device.set_mode(mode);
    let text = |fault: sim::Fault| fault.to_string();
    let module = device.load(&object).map_err(text)?;
    let name = device.alloc(32).map_err(text)?;
    device.write(name, b"a name from memory\0").map_err(text)?;
    let dispatch = Dispatch {
        kernel: "k",
        group: [100, 1, 1],
        grid: [300, 1, 1],
        kernarg: name.to_le_bytes().to_vec(),
        limits: Limits { instructions: 100_000_000, stack: 16384 },
        ..Dispatch::default()
    };
    device.run(module, &dispatch).map_err(text)?;
    match device.reports().first() {
        Some(report) => Err(report.to_string()),
        None => Ok(device.take_printed()),
    }
}

#[test]
fn buffers_of_opencl() {
    if !present("clang-19") || !present("ld.lld-19") {
        return;
    }
    let mut random = Random::new(0x1234_5678_9abc_def1);
    let alloc = std::fs::read_to_string(crate::common::test_file("printf.cl")).unwrap();
    let alloc = alloc.split("__kernel").next().unwrap();
    let compilers = [("clang-19", 5), ("clang-19", 4), ("clang-14", 3), ("clang-14", 4)];
    let compilers: Vec<_> = compilers.into_iter().filter(|(clang, _)| present(clang)).collect();
    for batch in 0..wanted().div_ceil(BATCH) {
        let make = |at| if at % 4 == 0 { vector(&mut random) } else { call(&mut random, false) };
        let calls: Vec<Call> = (0..BATCH).map(make).collect();
        let device: String =
            calls.iter().map(|call| format!("printf({}); printf(\"@@\\n\");\n", call.lines().0)).collect();
        let host: String =
            calls.iter().map(|call| format!("printf({}); printf(\"@@\\n\");\n", call.lines().1)).collect();
        let device = format!(
            "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n{alloc}\n#define P(x) ((__global void *)x##ul)\n\
             #define D(x) as_double(as_ulong(x) ^ zero)\n__kernel void k(ulong zero) {{\n{device}}}\n"
        );
        let host = format!(
            "#include <stdio.h>\n#define P(x) ((void *)x##ul)\n#define D(x) x\nint main(void) {{\n{host}}}\n"
        );
        let (clang, version) = compilers[batch % compilers.len()];
        let slot = if version >= 5 { "-DPRINTF_SLOT=9" } else { "-DPRINTF_SLOT=3" };
        let file = crate::common::written(&device, ".cl");
        let version_option = format!("-mcode-object-version={version}");
        let options =
            [slot, &version_option, "-O1", "-mcpu=gfx900", "-w", "-Xclang", "-finclude-default-header"];
        let object = compile(clang, &file, &options);
        let _ = std::fs::remove_file(&file);
        let found = run(&link(&[object.unwrap()]).unwrap(), vec![0; 8]).unwrap();
        compare(&calls, &found, &run_c(&host).unwrap())
            .unwrap_or_else(|why| panic!("{clang} V{version}: {why}"));
    }
}
