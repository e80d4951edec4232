//! Objects of clang linked by `kernc link` and by `ld.lld`: what runs from either gives the same, and what the host computes.
//!
//! The kernel, the functions it calls, a table of constants and a variable stand in objects of their own (`tests/data/link`).

#[path = "../../link/tests/common/mod.rs"]
mod cases;
#[path = "link/lds.rs"]
mod lds;
#[path = "link/signatures.rs"]
mod signatures;

use crate::common::{have, root, scratch, tool};
use cases::compare::compare;
use cases::{Case, member_of};
use kernc::{CodeObjectVersion, Compiler, OptLevel, Options, Setting, Subtarget};
use std::path::{Path, PathBuf};

const TOOLS: [&str; 2] = ["clang-19", "ld.lld-19"];

/// Compiles a source of `tests/data/link`. Version 4: there clang counts on a stack of 16 KiB for what stands elsewhere; in 5 it leaves
/// that to a runtime.
fn object(name: &str, cpu: &str, into: &Path) -> PathBuf {
    let out = into.join(format!("{name}.{cpu}.o"));
    let source = root().join("tests/data/link").join(format!("{name}.cl"));
    let (cpu, source) = (format!("-mcpu={cpu}"), source.to_str().unwrap().to_owned());
    let args = [
        "-x",
        "cl",
        "-cl-std=CL2.0",
        "-target",
        "amdgcn-amd-amdhsa",
        &cpu,
        "-mcode-object-version=4",
        "-nogpulib",
    ];
    tool(
        "clang-19",
        &[&args[..], &["-O2", "-ffunction-sections", "-c", &source, "-o", out.to_str().unwrap()]].concat(),
    );
    out
}

/// Runs `kernc`; its standard output, or its standard error with the exit code.
fn kernc(args: &[&str]) -> Result<String, (i32, String)> {
    let output = crate::kernc().args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.code() {
        Some(0) => Ok(text(&output.stdout)),
        code => Err((code.unwrap_or(-1), text(&output.stderr))),
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// What the kernel of `tests/data/link/main.cl` writes, in rust.
fn expected(lanes: i32, n: i32) -> Vec<i32> {
    const TABLE: [i32; 4] = [1, 20, 300, 4000];
    let deep = |x: i32| (0..8).map(|i| x * i).collect::<Vec<_>>()[(x & 7) as usize] + 1;
    (0..lanes).map(|i| deep(n + i) * 3 + TABLE[(i & 3) as usize] + 5).collect()
}

#[test]
fn runs_as_of_lld() {
    if !have(&TOOLS, "runs_as_of_lld") {
        return;
    }
    let dir = scratch("link");
    for cpu in ["gfx803", "gfx906", "gfx90a", "gfx1030"] {
        let files: Vec<String> =
            ["main", "helper", "deep"].iter().map(|name| text(&object(name, cpu, &dir))).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let [ours, theirs, joined, again] =
            ["ours", "theirs", "joined", "again"].map(|name| text(&dir.join(format!("{name}.{cpu}.co"))));
        kernc(&[&["link"][..], &files, &["-o", &ours]].concat()).unwrap();
        tool("ld.lld-19", &[&["-shared"][..], &files, &["-o", &theirs]].concat());
        // What is joined to one object, `ld.lld` links.
        kernc(&[&["link", "--obj"][..], &files, &["-o", &joined]].concat()).unwrap();
        tool("ld.lld-19", &["-shared", &joined, "-o", &again]);
        let wanted: Vec<String> = expected(6, 3).iter().map(i32::to_string).collect();
        for file in [&ours, &theirs, &again] {
            let run = kernc(&[
                "run",
                file,
                "--kernel",
                "main_kernel",
                "--grid",
                "6",
                "--arg",
                "0=zeros:6",
                "--arg",
                "1=3",
                "--print",
                "0",
            ]);
            assert_eq!(run.unwrap().trim(), format!("0: {}", wanted.join(", ")), "{file}");
        }
    }
}

/// Compiles a text, so that functions stay as they are.
fn compiled(text: &str, name: &str, cpu: &str, version: &str, into: &Path) -> String {
    let (source, out) = (into.join(format!("{name}.cl")), into.join(format!("{name}.{cpu}.{version}.o")));
    std::fs::write(&source, text).unwrap();
    let (cpu, version) = (format!("-mcpu={cpu}"), format!("-mcode-object-version={version}"));
    let args = ["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", &cpu, &version, "-nogpulib"];
    let files = ["-O0", "-c", source.to_str().unwrap(), "-o", out.to_str().unwrap()];
    tool("clang-19", &[&args[..], &files].concat());
    self::text(&out)
}

/// The stack that all calls take, counted over three objects, is what clang counts that sees all of them in one; with it alone the
/// kernel runs, and strict mode finds nothing.
#[test]
fn stack_as_of_one_source() {
    if !have(&TOOLS[..1], "stack_as_of_one_source") {
        return;
    }
    let dir = scratch("link-stack");
    let source = |name: &str| {
        std::fs::read_to_string(root().join("tests/data/link").join(format!("{name}.cl"))).unwrap()
    };
    let names = ["deep", "helper", "main"];
    let is_here = |line: &&str| !line.starts_with("extern");
    let all: Vec<String> = names.iter().map(|name| source(name)).collect();
    let all = all.iter().flat_map(|text| text.lines().filter(is_here)).collect::<Vec<_>>().join("\n");
    for (cpu, version) in [
        ("gfx700", "4"),
        ("gfx803", "5"),
        ("gfx906", "4"),
        ("gfx906", "5"),
        ("gfx90a", "5"),
        ("gfx1030", "5"),
    ] {
        let files: Vec<String> =
            names.iter().map(|name| compiled(&source(name), name, cpu, version, &dir)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let out = text(&dir.join("exact.co"));
        let map =
            kernc(&[&["link", "--exact-stack", "--map", "-", "-o", &out][..], &files].concat()).unwrap();
        let whole = std::fs::read(compiled(&all, "all", cpu, version, &dir)).unwrap();
        let size = |file: &[u8]| {
            let object = codeobj::CodeObject::parse(file).unwrap();
            object.descriptors().next().unwrap().get("private_segment_fixed_size")
        };
        let expected = size(&whole);
        assert!(
            expected > 0 && map.contains(&format!("  scratch: {expected} bytes, ")),
            "{cpu}: {expected}\n{map}"
        );
        assert_eq!(size(&std::fs::read(&out).unwrap()), expected.next_multiple_of(16), "{cpu}");
        let args =
            ["--kernel", "main_kernel", "--grid", "6", "--arg", "0=zeros:6", "--arg", "1=3", "--print", "0"];
        let run = kernc(&[&["run", &out, "--mode", "strict"][..], &args].concat());
        let wanted: Vec<String> = self::expected(6, 3).iter().map(i32::to_string).collect();
        assert_eq!(run.unwrap().trim(), format!("0: {}", wanted.join(", ")), "{cpu} V{version}");
    }
}

/// Members of a thin archive are files beside it.
#[test]
fn thin_archives() {
    if !have(&["clang-19", "llvm-ar-19"], "thin_archives") {
        return;
    }
    let dir = scratch("link-thin");
    let files: Vec<String> =
        ["main", "helper", "deep"].iter().map(|name| text(&object(name, "gfx906", &dir))).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let [archive, out, plain] = ["lib.a", "thin.co", "plain.co"].map(|name| text(&dir.join(name)));
    tool("llvm-ar-19", &["rcT", &archive, files[1], files[2]]);
    kernc(&["link", files[0], &archive, "-o", &out]).unwrap();
    kernc(&["link", files[0], files[1], files[2], "-o", &plain]).unwrap();
    assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(&plain).unwrap());
    std::fs::remove_file(files[2]).unwrap();
    assert_eq!(kernc(&["link", files[0], &archive, "-o", &out]).unwrap_err().0, 3);
}

/// Kernels of clang and of kernc in one object, metadata of all of them in one record: each does what the CPU does.
#[test]
fn kernels_of_two_compilers() {
    if !have(&TOOLS[..1], "kernels_of_two_compilers") {
        return;
    }
    let dir = scratch("link-kernels");
    let (clangs, ours) = (["reduce", "transpose", "spmv"], ["saxpy", "histogram", "scan"]);
    let mut files = Vec::new();
    for name in clangs {
        let (source, out) =
            (root().join("tests/cl").join(format!("{name}.cl")), text(&dir.join(format!("{name}.o"))));
        let args = [
            "-x",
            "cl",
            "-cl-std=CL2.0",
            "-target",
            "amdgcn-amd-amdhsa",
            "-mcpu=gfx906",
            "-mcode-object-version=4",
        ];
        tool("clang-19", &[&args[..], &["-nogpulib", "-O2", "-c", &text(&source), "-o", &out]].concat());
        files.push(out);
    }
    for name in ours {
        let (source, out) =
            (root().join("examples").join(format!("{name}.k")), text(&dir.join(format!("{name}.o"))));
        kernc(&[&text(&source), "--mcpu", "gfx906", "--emit", "obj", "-o", &out]).unwrap();
        files.push(out);
    }
    let linked = text(&dir.join("all.co"));
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    kernc(&[&["link"][..], &files, &["-o", &linked]].concat()).unwrap();
    let object = std::fs::read(&linked).unwrap();
    for name in clangs.into_iter().chain(ours) {
        testkit::check_kernel(&object, name).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// The callee names v40, the kernel alone allots 4 VGPRs: the emulator stops what `ld.lld` makes of it.
#[test]
fn raises_what_lld_leaves() {
    if !have(&TOOLS[1..], "raises_what_lld_leaves") {
        return;
    }
    let dir = scratch("link-raise");
    let files = ["squares", "square"].map(|name| {
        let object = text(&dir.join(format!("{name}.o")));
        let source = text(&root().join("tests/data/link").join(format!("{name}.s")));
        kernc(&["as", &source, "--obj", "-o", &object]).unwrap();
        object
    });
    let [ours, theirs] = ["ours", "theirs"].map(|name| text(&dir.join(format!("{name}.co"))));
    kernc(&["link", &files[0], &files[1], "-o", &ours]).unwrap();
    tool("ld.lld-19", &["-shared", &files[0], &files[1], "-o", &theirs]);
    let run = |file: &str| kernc(&["run", file, "--grid", "6", "--arg", "out=zeros:6", "--print", "out"]);
    assert_eq!(run(&ours), Ok("out: 0, 1, 4, 9, 16, 25\n".to_owned()));
    let (code, message) = run(&theirs).unwrap_err();
    assert!(code == 4 && message.contains("v40 is beyond the registers"), "{message}");
}

#[test]
fn collects_and_exports() {
    if !have(&TOOLS, "collects_and_exports") {
        return;
    }
    let dir = scratch("link-collect");
    let files: Vec<String> =
        ["main", "helper", "deep"].iter().map(|name| text(&object(name, "gfx906", &dir))).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let out = text(&dir.join("small.co"));
    kernc(&[&["link", "--gc-sections"][..], &files, &["-o", &out]].concat()).unwrap();
    let shown = kernc(&["inspect", &out]).unwrap();
    assert!(shown.contains(" helper") && !shown.contains(" nobody_calls"), "{shown}");
}

/// A kernel whose object prints nothing calls a function that does, by either way; of objects with texts of their own only one may be there, and calls
/// of the host need none.
#[test]
fn objects_that_print() {
    let dir = scratch("link-printf");
    let file = |name: &str| text(&dir.join(name));
    let sources = [
        (
            "calls",
            "extern fn helper(x: u32) -> u32;\nkernel calls(x: *global u32) { x[local_id(0)] = helper(x[local_id(0)]); }",
        ),
        (
            "helper",
            "#[export]\nfn helper(x: u32) -> u32 { printf(\"helper has %u\\n\", x); assert(x < 3); x + 1 }",
        ),
        ("other", "kernel other(x: *global u32) { printf(\"other: %u\\n\", x[0]); }"),
    ];
    for (name, source) in sources {
        std::fs::write(file(&format!("{name}.k")), source).unwrap();
    }
    for cpu in ["gfx803", "gfx906", "gfx1010"] {
        for (version, way) in ["3", "4", "5"].into_iter().flat_map(|v| [(v, "buffer"), (v, "hostcall")]) {
            let object = |name: &str| {
                let (source, out) =
                    (file(&format!("{name}.k")), file(&format!("{name}.{cpu}.{version}.{way}.o")));
                let options =
                    ["--mcpu", cpu, "--code-object-version", version, "--printf", way, "--emit", "obj"];
                kernc(&[&[source.as_str(), "-o", &out], &options[..]].concat()).unwrap();
                out
            };
            let [calls, helper, other] = ["calls", "helper", "other"].map(object);
            let linked = file("linked.co");
            let run = |kernel: &str, items: &str| {
                let x = format!("x=iota:{items}");
                kernc(&["run", &linked, "--kernel", kernel, "--grid", items, "--arg", &x, "--print", "x"])
            };
            let how = format!("{cpu} V{version} {way}");
            kernc(&["link", &calls, &helper, "-o", &linked]).unwrap();
            assert_eq!(
                run("calls", "3").unwrap(),
                "helper has 0\nhelper has 1\nhelper has 2\nx: 1, 2, 3\n",
                "{how}"
            );
            let (code, message) = run("calls", "4").unwrap_err();
            assert!(code == 4 && message.contains("trap 2"), "{how}: {code} {message}");
            let all = kernc(&["link", &calls, &helper, &other, "-o", &linked]);
            if way == "buffer" {
                let (code, message) = all.unwrap_err();
                let expected =
                    format!("error: {other}: its printf text 1 has a number that another object's has, too");
                assert!(code == 1 && message.starts_with(&expected), "{how}: {code} {message}");
                assert!(message.contains("--printf hostcall"), "{message}");
                continue;
            }
            all.unwrap();
            assert_eq!(run("calls", "2").unwrap(), "helper has 0\nhelper has 1\nx: 1, 2\n", "{how}");
            assert_eq!(run("other", "2").unwrap(), "other: 0\nother: 0\nx: 0, 1\n", "{how}");
        }
    }
}

/// Objects of ours and of clang that call one another: sources of ours, and clang's.
const MIXED: [(&str, &str); 3] = [
    (
        "ours.k",
        "extern fn first(x: i32) -> i32;
extern global static variable: i32;
#[export] fn second(x: i32) -> i32 { if x > 5 { x / 3 } else { variable + x } }
kernel k(out: *global i32, n: i32) { out[n] = first(n) + second(n + 1); }",
    ),
    (
        "more.k",
        "extern fn second(x: i32) -> i32;
#[export] fn third(x: i32) -> i32 { let mut a = [x; 9]; for i in 0u32..9 { a[i] = second(x + i as i32); } a[(x & 7) as u32] }
#[export] fn nobody(x: i32) -> i32 { x + 3 }
kernel more(out: *global i32) { shared row: [u32; 16]; row[local_id(0) & 15] = 1; barrier(); out[local_id(0)] = third(row[3] as i32); }",
    ),
    (
        "theirs.cl",
        "extern int second(int); extern int third(int); global int variable = 7; constant int table[4] = {3, 1, 4, 1};
int first(int x) { return second(x) + table[x & 3]; }
int also_nobody(int x) { return x * variable; }
kernel void k2(global int *out, int n) { out[n] = third(n) + first(n); }",
    ),
];

/// The same sections, symbols and relocations as of `ld.lld`, whatever of the two comes from an archive, and with sections collected; descriptors differ in what was
/// raised.
#[test]
fn objects_of_two_compilers_as_of_lld() {
    let tools = ["ld.lld-19", "llvm-objcopy-19", "clang-19", "clang-14"];
    if !have(&tools, "objects_of_two_compilers_as_of_lld") {
        return;
    }
    let dir = scratch("link-mixed");
    let lld = cases::tool("ld.lld-19", "objects_of_two_compilers_as_of_lld").expect("it is there");
    let theirs = |clang: &str, cpu: &str, version: u8| {
        let (source, out) = (text(&dir.join("theirs.cl")), text(&dir.join("theirs.o")));
        std::fs::write(&source, MIXED[2].1).unwrap();
        let (cpu, version) = (format!("-mcpu={cpu}"), format!("-mcode-object-version={version}"));
        let fixed = [
            "-x",
            "cl",
            "-cl-std=CL2.0",
            "-target",
            "amdgcn-amd-amdhsa",
            "-nogpulib",
            "-O2",
            "-ffunction-sections",
            "-c",
        ];
        tool(clang, &[&fixed[..], &[&cpu, &version, &source, "-o", &out]].concat());
        // `ld.lld` does not make one record of the notes of two.
        tool("llvm-objcopy-19", &["--remove-section=.note", &out]);
        ("theirs.o".to_owned(), std::fs::read(out).unwrap())
    };
    let ours = |number: usize, cpu: &str, version: u8, opt_level: OptLevel| {
        let mut target =
            Subtarget::by_name(cpu).unwrap().with_version(CodeObjectVersion::from_number(version).unwrap());
        if version == 3 {
            // clang 14 means "on" there if nothing is said.
            let on = |feature| if target.has(feature) { Setting::On } else { Setting::Unsupported };
            (target.xnack, target.sramecc) = (on(isa::Feature::XNACK), on(isa::Feature::SRAMECC));
        }
        let options =
            Options { opt_level, file_name: MIXED[number].0.to_owned(), verify: true, ..Options::default() };
        let object = Compiler::new(target)
            .compile(MIXED[number].1, &options)
            .unwrap_or_else(|error| panic!("{}", error.render(false)));
        let path = text(&dir.join("ours.o"));
        std::fs::write(&path, object.relocatable().unwrap()).unwrap();
        if number > 0 {
            tool("llvm-objcopy-19", &["--remove-section=.note", &path]);
        }
        (MIXED[number].0.replace(".k", ".o"), std::fs::read(path).unwrap())
    };
    let (mut linked, mut failed) = (0, Vec::new());
    for (cpu, (clang, version)) in ["gfx700", "gfx803", "gfx906", "gfx90a", "gfx1010", "gfx1030"]
        .into_iter()
        .flat_map(|cpu| [("clang-14", 3), ("clang-19", 4), ("clang-19", 5)].map(|compiler| (cpu, compiler)))
    {
        let theirs = theirs(clang, cpu, version);
        for level in [OptLevel::O0, OptLevel::O2] {
            let all = [ours(0, cpu, version, level), ours(1, cpu, version, level), theirs.clone()];
            for way in ["plain", "reversed", "collected", "ours in an archive", "theirs in an archive"] {
                let mut inputs = all.to_vec();
                let archive = |files: &[(String, Vec<u8>)]| {
                    let members: Vec<u8> = files.iter().flat_map(member_of).collect();
                    ("lib.a".to_owned(), [b"!<arch>\n".to_vec(), members].concat())
                };
                match way {
                    "reversed" => inputs.reverse(),
                    "ours in an archive" => inputs = vec![archive(&all[..2]), all[2].clone()],
                    "theirs in an archive" => inputs = vec![all[0].clone(), archive(&all[1..])],
                    _ => {}
                }
                let gc_sections = way == "collected";
                let case = Case {
                    name: format!("{clang}-{cpu}-V{version}-{level:?}-{}", way.replace(' ', "-")),
                    inputs,
                    options: link::Options { gc_sections, ..link::Options::default() },
                    lld: if gc_sections { vec!["--gc-sections".to_owned()] } else { Vec::new() },
                    may_raise: true,
                    ..Case::default()
                };
                let outcome = compare(&lld, &case);
                linked += u32::from(outcome.is_linked);
                if !outcome.differences.is_empty() {
                    failed.push(format!("{}\n{}", case.name, outcome.differences));
                }
            }
        }
    }
    eprintln!("{linked} linked, {} differ", failed.len());
    assert!(
        failed.is_empty() && linked == 180,
        "{linked} linked, {} differ: {}",
        failed.len(),
        failed[..failed.len().min(2)].join("\n")
    );
}

#[test]
fn exit_codes() {
    let dir = scratch("link-errors");
    let put = |name: &str, source: &str| {
        let (source_file, object) = (dir.join(format!("{name}.s")), text(&dir.join(format!("{name}.o"))));
        std::fs::write(&source_file, source).unwrap();
        kernc(&["as", &text(&source_file), "--mcpu", "gfx906", "--obj", "-o", &object]).unwrap();
        object
    };
    let user = put("user", "\ts_getpc_b64 s[0:1]\n\ts_add_u32 s0, s0, missing@gotpcrel32@lo+4\n");
    let out = text(&dir.join("out.co"));
    let link = |files: &[&str]| kernc(&[&["link"][..], files, &["-o", &out]].concat());
    assert_eq!(link(&[&user]), Err((1, format!("error: `missing` is not defined: {user} refers to it\n"))));
    let linked = kernc(&["link", &user, "--allow-undefined", "-o", &out]);
    assert_eq!(linked, Ok(String::new()));
    let again = format!(
        "error: {out}: it is linked already: only relocatable objects (`--obj`, `clang -c`) can be linked\n"
    );
    assert_eq!(link(&[&user, &out]), Err((3, again)));
    let text_file = text(&dir.join("user.s"));
    assert_eq!(link(&[&text_file]), Err((3, format!("error: {text_file}: not an ELF file\n"))));
    assert_eq!(link(&["/nowhere/a.o"]).unwrap_err().0, 3);
    assert_eq!(kernc(&["link", &user]).unwrap_err().0, 2);
}

/// Arguments on the stack that a function of another object does not read are part of the kernel's stack, with no more than what calls take.
#[test]
fn unread_arguments_have_their_stack() {
    let dir = scratch("link-unread");
    let names = |each: &dyn Fn(usize) -> String| (0..36).map(each).collect::<Vec<_>>().join(", ");
    let params = names(&|n| format!("a{n}: u32"));
    let callee = format!("#[export] fn unread({params}) -> u32 {{ a0 + 1 }}\n");
    let caller = format!(
        "extern fn unread({params}) -> u32;\n\
         kernel k(out: *global u32) {{ let i = global_id(0); let mut own: [u32; 8] = [i; 8]; own[i & 7] = 77;\n\
         let y = unread({}); out[i] = y * 1000 + own[(i + 1) & 7]; }}\n",
        names(&|n| format!("i + {n}"))
    );
    for cpu in ["gfx700", "gfx906", "gfx1030"] {
        let [a, b, out] = ["caller.o", "callee.o", "out.co"].map(|name| text(&dir.join(name)));
        for (source, file) in [(&caller, &a), (&callee, &b)] {
            let target = Subtarget::by_name(cpu).expect("it is known");
            let object = Compiler::new(target).compile(source, &Options::default());
            let object = object.unwrap_or_else(|error| panic!("{}", error.render(false)));
            std::fs::write(file, object.relocatable().expect("an object")).expect("a file");
        }
        kernc(&["link", "--exact-stack", &a, &b, "-o", &out]).unwrap();
        let run =
            kernc(&["run", &out, "--grid", "8", "--group", "8", "--arg", "out=zeros:8", "--print", "out"]);
        let wanted: Vec<String> = (0..8).map(|i| ((i + 1) * 1000 + i).to_string()).collect();
        assert_eq!(run.unwrap().trim(), format!("out: {}", wanted.join(", ")), "{cpu}");
    }
}
