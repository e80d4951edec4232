//! How code traps and which hidden arguments it asks for, beside clang's code for the same kernels.
//!
//! `KERNC_TRAPS=all cargo test --test cli traps::` asks about every processor.

use crate::common::{have, scratch};
use kernc::{CodeObject, CodeObjectVersion, Compiler, OptLevel, Options, Os, PROCESSORS, Printf, Subtarget};

const TRAPS: &str = "kernel k(x: *global u32) {
    if x[local_id(0)] == 3 { trap(); }
    debug_trap();
    x[0] = 1;
}";
const TRAPS_CL: &str = "__kernel void k(__global uint *x) {
    if (x[__builtin_amdgcn_workitem_id_x()] == 3) __builtin_trap();
    __builtin_debugtrap();
    x[0] = 1;
}";

/// The compiler of LLVM that writes a version.
fn clang(version: u8) -> &'static str {
    if version < 4 { "clang-14" } else { "clang-19" }
}

fn compile(source: &str, name: &str, version: u8, opt_level: OptLevel) -> CodeObject {
    let mut target = Subtarget::by_name(name).expect("a processor");
    target.code_object = CodeObjectVersion::from_number(version).expect("a version");
    let options = Options { opt_level, verify: true, ..Options::default() };
    let compiled = Compiler::new(target).compile(source, &options);
    compiled.unwrap_or_else(|error| panic!("{name}: {}", error.render(false)))
}

/// clang's listing; nothing if it does not know the processor or writes no such object for it.
fn listing_of_clang(source: &str, name: &str, version: u8, options: &[&str]) -> Option<String> {
    let dir = scratch("traps");
    let file = dir.join(format!("{name}-{version}.cl"));
    std::fs::write(&file, source).expect("a file");
    let (cpu, version_option) = (format!("-mcpu={name}"), format!("-mcode-object-version={version}"));
    let output = support::Tool::new(clang(version))
        .args(["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-O2", "-S", "-w"])
        .args([&cpu, &version_option])
        .args(options)
        .arg(&file)
        .args(["-o", "-"])
        .output()
        .expect("it runs");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What matters of a listing: how each trap is called, and where the queue comes from.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    /// Number of each trap, and whether `s[0:1]` is written right before it.
    traps: Vec<(String, bool)>,
    in_sgprs: bool,
    hidden: bool,
}

fn shape(listing: &str) -> Shape {
    let mut traps = Vec::new();
    let mut before = "";
    for line in listing.lines().map(|line| line.split(';').next().unwrap_or("").trim()) {
        if let Some(number) = line.strip_prefix("s_trap ") {
            traps.push((number.trim().to_owned(), before.contains("s[0:1],")));
        }
        // A wait is no other way to get there.
        if !line.is_empty() && !line.starts_with("s_waitcnt") {
            before = line;
        }
    }
    traps.sort();
    let has = |text: &str| {
        listing.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") == text)
    };
    Shape {
        traps,
        in_sgprs: has(".amdhsa_user_sgpr_queue_ptr 1") || has("enable_sgpr_queue_ptr = 1"),
        hidden: has(".value_kind: hidden_queue_ptr"),
    }
}

fn processors() -> Vec<&'static str> {
    let all = std::env::var("KERNC_TRAPS").is_ok_and(|value| value == "all");
    let some = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx90a", "gfx1010", "gfx1030"];
    PROCESSORS.iter().map(|target| target.name).filter(|name| all || some.contains(name)).collect()
}

#[test]
fn as_clang_traps() {
    if !have(&["clang-14", "clang-19"], "as_clang_traps") {
        return;
    }
    let mut compared = 0;
    for name in processors() {
        for version in [2, 3, 4, 5] {
            let Some(theirs) = listing_of_clang(TRAPS_CL, name, version, &[]) else { continue };
            for level in [OptLevel::O0, OptLevel::O2] {
                let object = compile(TRAPS, name, version, level);
                let ours = shape(&object.assembly(None).expect("a listing"));
                assert_eq!(ours, shape(&theirs), "{name} V{version} {level:?}\n{theirs}");
            }
            compared += 1;
        }
    }
    assert!(compared >= 20, "only {compared} compared");
}

/// Kinds, offsets and sizes of the hidden arguments in YAML of V3 and later, and the bytes of all arguments.
fn hidden(yaml: &str) -> (Vec<(String, String, String)>, String) {
    let (mut list, mut offset, mut size, mut segment) = (Vec::new(), "", "", String::new());
    for line in yaml.lines() {
        let Some((key, value)) = line.trim().trim_start_matches("- ").split_once(':') else { continue };
        match (key, value.trim()) {
            (".offset", value) => offset = value,
            (".size", value) => size = value,
            (".value_kind", value) if value.starts_with("hidden_") => {
                list.push((value.to_owned(), offset.to_owned(), size.to_owned()));
            }
            (".kernarg_segment_size", value) => segment = value.to_owned(),
            _ => {}
        }
    }
    (list, segment)
}

#[test]
fn hidden_arguments_of_what_prints_are_clang_s() {
    if !have(&["clang-19"], "hidden_arguments_of_what_prints_are_clang_s") {
        return;
    }
    let (alloc, _) =
        include_str!("../../sim/tests/cl/printf.cl").split_once("__kernel").expect("its kernels");
    let cl = format!("{alloc}__kernel void k(__global uint *x) {{ printf(\"%u\\n\", x[0]); }}");
    let ours = "kernel k(x: *global u32) { printf(\"%u\\n\", x[0]); }";
    for (version, slot) in [(4, "-DPRINTF_SLOT=3"), (5, "-DPRINTF_SLOT=9")] {
        let options = [slot, "-Xclang", "-finclude-default-header"];
        let theirs = listing_of_clang(&cl, "gfx906", version, &options).expect("a listing");
        let object = compile(ours, "gfx906", version, OptLevel::O2);
        let found = hidden(&object.metadata());
        assert!(found.0.iter().any(|row| row.0 == "hidden_printf_buffer"), "{found:?}");
        assert_eq!(found, hidden(&theirs), "V{version}");
        let formats = |text: &str| text.lines().any(|line| line.contains("1:1:4:%u\\n"));
        assert!(formats(&object.metadata()) && formats(&theirs), "V{version}\n{}", object.metadata());
    }
    // What does not print has none, and no formats, whatever else is in the object.
    for version in [2, 3, 4, 5, 6] {
        let plain = compile("kernel k(x: *global u32) { x[0] = 1; }", "gfx906", version, OptLevel::O2);
        let unused = "kernel k(x: *global u32) { x[0] = 1; } fn f() { printf(\"never\\n\"); assert(false); }";
        let unused = compile(unused, "gfx906", version, OptLevel::O2);
        assert_eq!(plain.metadata(), unused.metadata(), "V{version}");
        assert!(!plain.metadata().to_lowercase().contains("printf"), "V{version}");
    }
}

/// A kernel that calls the host has the hidden arguments that clang gives to a kernel in OpenCL. The latter reads
/// the argument at the offset at which ROCm's device library reads it.
#[test]
fn hidden_arguments_of_what_calls_the_host_are_clang_s() {
    if !have(&["clang-19"], "hidden_arguments_of_what_calls_the_host_are_clang_s") {
        return;
    }
    for (version, slot) in [(4, 3), (5, 10)] {
        let cl = format!(
            "__kernel void k(__global uint *x) {{\n\
             __constant ulong *hidden = (__constant ulong *)__builtin_amdgcn_implicitarg_ptr();\n\
             *(__global ulong *)hidden[{slot}] = x[0]; }}"
        );
        let theirs = listing_of_clang(&cl, "gfx906", version, &[]).expect("a listing");
        let mut target = Subtarget::by_name("gfx906").expect("a processor");
        target.code_object = CodeObjectVersion::from_number(version).expect("a version");
        let options = Options { printf: Printf::Hostcall, verify: true, ..Options::default() };
        let ours = "kernel k(x: *global u32) { printf(\"%u\\n\", x[0]); }";
        let object = Compiler::new(target).compile(ours, &options).expect("it compiles");
        let found = hidden(&object.metadata());
        assert!(found.0.iter().any(|row| row.0 == "hidden_hostcall_buffer"), "{found:?}");
        assert_eq!(found, hidden(&theirs), "V{version}");
        assert!(!object.metadata().contains("printf"), "V{version}\n{}", object.metadata());
    }
}

/// Other systems have no handler: kernc's lanes and clang's end there.
#[test]
fn other_systems_have_no_handler() {
    for (os, triple) in [(Os::AmdPal, "amdgcn-amd-amdpal"), (Os::Mesa3d, "amdgcn-mesa-mesa3d")] {
        for name in ["gfx600", "gfx803", "gfx906", "gfx1010"] {
            let mut target = Subtarget::by_name(name).expect("a processor");
            target.os = os;
            let source = format!("#[workgroup_size(64)]\n{TRAPS}");
            let object = Compiler::new(target).compile(&source, &Options::default());
            let object = object.unwrap_or_else(|error| panic!("{}", error.render(false)));
            let listing = object.assembly(None).expect("a listing");
            assert!(shape(&listing).traps.is_empty(), "{listing}");
            if have(&["clang-19"], "other_systems_have_no_handler") {
                let theirs = listing_of_clang(TRAPS_CL, name, 4, &["-target", triple]).expect("a listing");
                assert!(shape(&theirs).traps.is_empty(), "{theirs}");
            }
        }
    }
}

/// `kernc run` ends with the same message for a kernel of `tests/data/cli/traps.k` in each code object version, with
/// both ways of printing, and at both levels.
#[test]
fn as_the_command_line_tells() {
    let run = |what: &str, name: &str, version: &str, level: &str, way: &str| {
        let args = ["run", "tests/data/cli/traps.k", "--mcpu", name, "--code-object-version", version, level];
        let output = crate::kernc()
            .current_dir(crate::common::root())
            .args(args)
            .args([
                "--printf",
                way,
                "--grid",
                "6",
                "--arg",
                &format!("what={what}"),
                "--arg",
                "x=iota:6",
                "--print",
                "x",
            ])
            .output()
            .expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let line = |n: u32| {
        format!(
            "tests/data/cli/traps.k:5: `assert(x[i] < 2)` failed: too many (work-group 0, 0, 0, work-item {n}, 0, 0)\n"
        )
    };
    let failed: String = (2..6).map(line).collect();
    let done = "x: 10, 11, 12, 13, 14, 15\n";
    let trap = |lanes: &str, place: &str| {
        format!("fault: trap 2 in {lanes}, llvm.trap: the dispatch ends, and its queue is in error\n{place}")
    };
    // At higher levels nothing gets to what is unreachable, by promise.
    let unreachable = |level: &str| match level {
        "-O0" => (Some(4), "", trap("1 lane", "  --> tests/data/cli/traps.k:11:9\n")),
        _ => (Some(0), done, String::new()),
    };
    for name in ["gfx600", "gfx700", "gfx803", "gfx906", "gfx1010"] {
        for version in ["2", "3", "4", "5", "6"] {
            for (level, way) in
                [("-O0", "buffer"), ("-O0", "hostcall"), ("-O2", "buffer"), ("-O2", "hostcall")]
            {
                for (what, (code, printed, message)) in [
                    ("0", (Some(0), done, String::new())),
                    ("1", (Some(4), failed.as_str(), trap("4 lanes", " --> tests/data/cli/traps.k:5:16\n"))),
                    ("2", (Some(4), "", trap("1 lane", " --> tests/data/cli/traps.k:7:9\n"))),
                    ("3", (Some(0), done, "note: debugtrap: no debugger is there, and the wave goes on\n --> tests/data/cli/traps.k:9:9\n".to_owned())),
                    ("4", unreachable(level)),
                ] {
                    let how = format!("{what} {name} V{version} {level} {way}");
                    let found = run(what, name, version, level, way);
                    assert_eq!((found.0, found.1.as_str()), (code, printed), "{how}: {}", found.2);
                    assert!(found.2.starts_with(&message), "{how}: {}", found.2);
                    assert!(message.is_empty() == found.2.is_empty(), "{how}: {}", found.2);
                }
            }
        }
    }
}

/// Divisions by zero of `tests/data/cli/divisions.k`, with and without the option that checks them.
#[test]
fn divisions_by_zero_are_told_with_their_line() {
    let run = |count: &str, slots: &str, options: &[&str]| {
        let mut command = crate::kernc();
        command.args(["run", "tests/data/cli/divisions.k", "--mcpu", "gfx906", "--grid", "4", "iota:4:i32"]);
        command.args([count, "zeros:4:i32", slots]).args(options);
        let output = command.current_dir(crate::common::root()).output().expect("kernc runs");
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text)
    };
    let place = |line: u32, item: u32| {
        format!(
            "tests/data/cli/divisions.k:{line}: division by zero (work-group 0, 0, 0, work-item {item}, 0, 0)"
        )
    };
    for level in ["-O0", "-O2"] {
        for printf in ["buffer", "hostcall"] {
            let checks = [level, "--check-divisions", "--printf", printf];
            let (code, text) = run("iota:4:i32", "3", &checks);
            assert!(code == Some(4) && text.contains(&place(10, 0)), "{level} {printf}: {text}");
            assert_eq!(text.matches("division by zero").count(), 1, "{level} {printf}: {text}");
            let (code, text) = run("fill:4:2:i32", "0", &checks);
            let all = (0..4).all(|item| text.contains(&place(4, item)));
            assert!(code == Some(4) && all, "{level} {printf}: {text}");
            let (code, text) = run("fill:4:2:i32", "3", &checks);
            assert_eq!((code, text.as_str()), (Some(0), ""), "{level} {printf}");
        }
        let (code, text) = run("iota:4:i32", "0", &[level]);
        assert_eq!(code, Some(0), "{text}");
    }
}
