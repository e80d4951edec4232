//! The library as an embedder meets it: what it pulls in, its errors, limits, threads, and IR instead of a
//! source.

use kernc::ir::build::{Elem, KernelBuilder};
use kernc::{Arg, Compiler, Error, Limits, OptLevel, Options, Resource, Target};
use std::time::Duration;
use support::Tool;
use testkit::shapes::{SHAPES, shape};

fn compiler() -> Compiler {
    Compiler::new(Target::by_name("gfx906").expect("a known processor"))
}

/// The packages that the program of `tests/embedder` is built from: none of the command line's or the tools'.
#[test]
fn embedders_get_the_compiler_and_no_more() {
    let names = tree(&["kernc-embedder"]);
    for needed in ["kernc", "kernc-frontend", "kernc-isel", "kernc-mir", "kernc-regalloc", "kernc-emit"] {
        assert!(names.iter().any(|name| name == needed), "{needed} is missing in {names:?}");
    }
    for unwanted in [
        "clap",
        "npyz",
        "rayon",
        "pulp",
        "serde_json",
        "gimli",
        "petgraph",
        "kernc-graph",
        "kernc-sim",
        "kernc-litmus",
        "kernc-amdil",
        "kernc-asm",
        "kernc-check",
        "kernc-codeobj",
    ] {
        assert!(names.iter().all(|name| name != unwanted), "{unwanted} in {names:?}");
    }
}

/// The tools are judges of the compiler, so they share with it only what describes the machine.
#[test]
fn tools_do_not_see_the_machine_program() {
    let tools = ["amdil", "asm", "link", "codeobj", "dwarf", "debug", "check", "sim", "litmus"];
    let names = tree(&tools.map(|tool| format!("kernc-{tool}")));
    assert!(names.iter().any(|name| name == "kernc-isa"), "{names:?}");
    for unwanted in ["kernc-mir", "kernc-isel", "kernc-regalloc", "kernc-memmodel"] {
        assert!(names.iter().all(|name| name != unwanted), "{unwanted} in {names:?}");
    }
}

/// Returns the names of the given packages and of the packages on which they depend.
fn tree(packages: &[impl AsRef<str>]) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Tool::new(cargo)
        .fresh()
        .args(["tree", "--offline", "-e", "normal", "--prefix", "none", "-f", "{p}"])
        .args(packages.iter().flat_map(|package| ["-p", package.as_ref()]))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8_lossy(&output.stdout);
    tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Every package can be packaged, and what is published has a description, licenses, and no dependency
/// without a version.
#[test]
fn packages_can_be_published() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Tool::new(cargo)
        .fresh()
        .args([
            "package",
            "--workspace",
            // Packages that are not published.
            "--exclude",
            "kernc-fuzz",
            "--exclude",
            "kernc-testkit",
            "--no-verify",
            "--allow-dirty",
            "--offline",
            "--quiet",
            "--target-dir",
        ])
        .arg(crate::common::scratch("packages"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    for lacking in
        ["no description", "no license", "ignoring `package.build`", "ignoring binary", "ignoring library"]
    {
        assert!(!text.contains(lacking), "{text}");
    }
    for name in ["kernc", "kernc-ir", "kernc-sim", "kernc-cli"] {
        let archive = crate::common::scratch("packages")
            .join(format!("package/{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        let list = Tool::new("tar").fresh().arg("tzf").arg(archive).output().expect("tar");
        let list = String::from_utf8_lossy(&list.stdout);
        for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "Cargo.toml"] {
            assert!(
                list.lines().any(|line| line.ends_with(&format!("/{file}"))),
                "{name}: no {file} in\n{list}"
            );
        }
    }
}

/// The program in README.md is the one of `tests/embedder`, which is built with the workspace.
#[test]
fn readme_shows_the_embedder() {
    let read = |path: &str| {
        std::fs::read_to_string(crate::common::root().join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let (readme, program) = (read("README.md"), read("tests/embedder/src/main.rs"));
    let code = program.split_once("\n\n").expect("a comment, then code").1;
    assert!(readme.contains(&format!("```rust\n{code}```")), "README.md shows another program than\n{code}");
}

#[test]
fn errors_have_kinds_and_places() {
    let mut compiler = compiler();
    let options = Options { file_name: "bad.k".to_owned(), ..Options::default() };
    let error =
        compiler.compile("kernel k(x: *global u32) {\n    x[0] = y;\n}", &options).expect_err("unknown name");
    assert_eq!(error.code(), "E0020");
    let text = error.to_string();
    assert!(text.contains("bad.k:2:12") && text.contains("x[0] = y;"), "{text}");
    let boxed: Box<dyn std::error::Error> = error.clone().into();
    assert_eq!(boxed.to_string(), text);
    let Error::Source(diagnostics) = error else { panic!("{error:?}") };
    assert_eq!(diagnostics.list.len(), 1);

    let error = Compiler::new(Target::by_name("gfx600").expect("known"))
        .compile("kernel k(t: *global u64) { t[0] = realtime(); }", &options)
        .expect_err("there is no such clock");
    let Error::Unsupported { target, .. } = &error else { panic!("{error:?}") };
    assert!(target.contains("gfx600") && error.to_string().contains("gfx600"), "{error}");
}

#[test]
fn limits_are_kept() {
    let mut compiler = compiler();
    let source = (shape("ifs").expect("a shape").source)(300);
    let mut limited = |change: &dyn Fn(&mut Limits)| {
        let mut options = Options::default();
        change(&mut options.limits);
        match compiler.compile(&source, &options) {
            Ok(_) => None,
            Err(Error::Limit { resource, allowed }) => Some((resource, allowed)),
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(limited(&|_| ()), None);
    assert_eq!(limited(&|limits| *limits = Limits::service()), None);
    assert_eq!(limited(&|limits| limits.source_bytes = Some(1000)), Some((Resource::SourceBytes, 1000)));
    assert_eq!(limited(&|limits| limits.ir_instructions = Some(500)), Some((Resource::IrInstructions, 500)));
    assert_eq!(
        limited(&|limits| limits.machine_instructions = Some(500)),
        Some((Resource::MachineInstructions, 500))
    );
    assert_eq!(limited(&|limits| limits.time = Some(Duration::ZERO)), Some((Resource::Milliseconds, 0)));
}

/// Functions that double at each call: 2^40 additions, if nothing stopped it.
#[test]
fn limits_stop_what_explodes() {
    let mut source = "fn g0(a: u32) -> u32 { a + 1 }\n".to_owned();
    for n in 1..40 {
        source += &format!("#[inline] fn g{n}(a: u32) -> u32 {{ g{0}(g{0}(a)) * 3 }}\n", n - 1);
    }
    source += "kernel k(x: *global u32) { x[0] = g39(x[1]); }";
    let options = Options { limits: Limits::service(), verify: false, ..Options::default() };
    let error = compiler().compile(&source, &options).expect_err("too large");
    assert!(matches!(error, Error::Limit { resource: Resource::IrInstructions, .. }), "{error}");
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let mut compiler = compiler();
    let kernels = (shape("kernels").expect("a shape").source)(600);
    let sources = kernels.replace("x[i] * 5 +", "x[i] % n +");
    let mut objects = [1, 2, 3, 8].map(|threads| {
        compiler.set_threads(threads);
        compiler.compile(&sources, &Options::default()).expect("compiles").into_bytes()
    });
    objects.iter_mut().reduce(|first, other| {
        assert!(first == other, "other bytes on more threads");
        first
    });
}

/// Of several kernels that are wrong, the first is told, on any number of threads.
#[test]
fn errors_do_not_depend_on_threads() {
    let mut compiler = compiler();
    let mut source = String::new();
    for n in 0..600 {
        let registers = if [311, 312, 598].contains(&n) { 1 } else { 40 };
        let tight =
            std::fs::read_to_string(crate::common::root().join("tests/data/cli/tight.k")).expect("a kernel");
        source += &tight
            .replace("num_sgpr(1)", &format!("num_sgpr({registers})"))
            .replace("kernel tight", &format!("kernel k{n}"));
    }
    let errors = [1, 2, 8].map(|threads| {
        compiler.set_threads(threads);
        compiler.compile(&source, &Options::default()).expect_err("too few registers")
    });
    assert!(errors[0].to_string().contains("kernel `k311`"), "{}", errors[0]);
    assert!(errors.iter().all(|error| *error == errors[0]));
}

#[test]
fn compilers_go_to_other_threads() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let mut compiler = is_send(compiler());
    let source = (SHAPES[0].source)(20);
    let here = compiler.compile(&source, &Options::default()).expect("compiles").into_bytes();
    let there = std::thread::spawn(move || {
        compiler.compile(&source, &Options::default()).map(kernc::CodeObject::into_bytes)
    });
    assert_eq!(there.join().expect("no panic").expect("compiles"), here);
}

/// Threads that share a pool get the bytes of a new compiler, whatever the borrowed compiler has compiled
/// before.
#[test]
fn pooled_compilers_write_the_same_bytes() {
    let sources: Vec<String> = SHAPES.iter().map(|shape| (shape.source)(12)).collect();
    let compile = |compiler: &mut Compiler, source: &str| {
        compiler.compile(source, &Options::default()).unwrap_or_else(|error| panic!("{error}")).into_bytes()
    };
    let alone: Vec<Vec<u8>> = sources.iter().map(|source| compile(&mut self::compiler(), source)).collect();
    for threads in [1, 2, 5] {
        let pool = kernc::Pool::new(Target::by_name("gfx906").expect("a known processor"));
        let (pool, sources, alone) = (&pool, &sources, &alone);
        std::thread::scope(|scope| {
            for first in 0..threads {
                scope.spawn(move || {
                    // Each thread begins with another source.
                    for number in (0..sources.len()).map(|number| (number + first) % sources.len()) {
                        let bytes = compile(&mut pool.get(), &sources[number]);
                        assert!(bytes == alone[number], "{threads} threads: other bytes");
                    }
                });
            }
        });
    }
}

#[test]
fn invalid_ir_is_refused_with_reasons() {
    let mut b = KernelBuilder::new("k");
    let x = b.buffer("x", Elem::F32);
    let one = b.i32(1);
    // An integer is stored as a double, and the block has no end.
    b.store(Elem::F64, x, one);
    let mut module = kernc::ir::Module::default();
    module.funcs.push(b.finish());
    let error = compiler().compile_module(module, &Options::default()).expect_err("invalid");
    let Error::Ir { errors } = &error else { panic!("{error:?}") };
    assert!(!errors.is_empty() && error.to_string().contains(&errors[0]), "{error}");
}

/// IR that is printed, read and compiled as a module gives the code that the source gave.
#[test]
fn ir_compiles_to_the_same_code() {
    let mut compiler = compiler();
    for name in crate::common::KERNELS {
        let source = crate::common::source(name);
        // A module has no source that a line table could speak of.
        let options =
            Options { opt_level: kernc::OptLevel::O0, debug: kernc::DebugInfo::None, ..Options::default() };
        let mut ir = FrontendIr::default();
        let object = compiler.compile_observed(&source, &options, &mut ir).expect("compiles");
        let module = kernc::ir::parse::parse_module(&ir.0).unwrap_or_else(|error| panic!("{name}: {error}"));
        let again =
            compiler.compile_module(module, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(object.bytes() == again.bytes(), "{name}: other bytes");
    }
}

/// Keeps the frontend's IR as text.
#[derive(Default)]
struct FrontendIr(String);

impl kernc::Observer for FrontendIr {
    fn ir(&mut self, pass: &'static str, module: &kernc::ir::Module) {
        if pass == "frontend" {
            self.0 = module.to_string();
        }
    }
}

#[test]
fn arguments_of_all_sizes_are_packed() {
    let source = "struct P { a: u32, b: f32 }\n\
                  kernel k(a: u8, b: i16, c: f64, p: P, v: f32x2, x: *global u32) { x[0] = u32(a) + p.a; }";
    let source = source.replace("u32(a)", "(a as u32)");
    let object = compiler().compile(&source, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let kernel = &object.kernels()[0];
    let (p, v) = ([1, 2, 3, 4, 5, 6, 7, 8], [9; 8]);
    let args =
        [Arg::U8(0xaa), Arg::I16(-2), Arg::F64(1.0), Arg::Bytes(&p), Arg::Bytes(&v), Arg::Pointer(0x1234)];
    let packed = kernel.pack(&args).expect("fits");
    let mut expected = vec![0xaa, 0, 0xfe, 0xff, 0, 0, 0, 0];
    expected.extend(1f64.to_le_bytes());
    expected.extend(p);
    expected.extend(v);
    expected.extend(0x1234u64.to_le_bytes());
    assert_eq!(packed, expected);
    assert!(kernel.pack(&args[..5]).is_err());
    assert!(kernel.pack(&[Arg::U16(1), args[1], args[2], args[3], args[4], args[5]]).is_err());
}

/// `use` takes what it is given, relative to the file that asks, and nothing if nothing is given.
#[test]
fn files_of_a_source() {
    let texts = [
        ("lib/a.k", "use \"b.k\";\nfn twice(x: u32) -> u32 { add(x, x) }\n"),
        ("lib/b.k", "use \"a.k\";\nfn add(x: u32, y: u32) -> u32 { x + y }\nfn wrong() -> f32 { 1u32 }\n"),
    ];
    let mut files: std::collections::BTreeMap<String, String> =
        texts.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
    let source = "use \"lib/a.k\";\nkernel k(x: *global u32) { x[0] = twice(x[0]); }\n";
    let target = kernc::Target::by_name("gfx906").unwrap();
    let compile = |files: Option<std::sync::Arc<dyn kernc::Files>>| {
        let options = kernc::Options { files, file_name: "main.k".to_owned(), ..kernc::Options::default() };
        kernc::Compiler::new(target).compile(source, &options)
    };
    let error = compile(Some(std::sync::Arc::new(files.clone()))).unwrap_err();
    assert!(error.render(false).contains("lib/b.k:3:21"), "{}", error.render(false));
    assert!(error.to_json().contains("\"file\":\"lib/b.k\""), "{}", error.to_json());
    files.insert("lib/b.k".to_owned(), texts[1].1.lines().take(2).collect::<Vec<_>>().join("\n"));
    assert!(compile(Some(std::sync::Arc::new(files))).is_ok());
    let error = compile(None).unwrap_err();
    assert_eq!(error.code(), "E0092");
}

/// What a program asks of the processor is answered from the table of processors, also under their other
/// names.
#[test]
fn conditions_on_the_processor() {
    let rows = [
        ("processor = \"gfx906\"", "gfx906"),
        ("processor = \"tahiti\"", "gfx600"),
        ("generation = \"gfx9\"", "gfx906 gfx90a"),
        ("generation = \"gfx10\"", "gfx1010 gfx1030"),
        ("has(dpp)", "gfx802 gfx906 gfx90a gfx1010 gfx1030"),
        ("has(dot1)", "gfx906 gfx90a gfx1030"),
        ("has(wave32)", "gfx1010 gfx1030"),
        ("all(has(mai), generation = \"gfx9\")", "gfx90a"),
        ("any(processor = \"gfx600\", has(ray_tracing))", "gfx600 gfx1030"),
        ("not(any(has(flat), has(sdwa)))", "gfx600"),
    ];
    let options = kernc::Options::default();
    for (condition, holds) in rows {
        for processor in ["gfx600", "gfx802", "gfx906", "gfx90a", "gfx1010", "gfx1030"] {
            let target = Target::by_name(processor).unwrap();
            let mut sources = vec![format!("#[cfg({condition})] static_assert(false); kernel k() {{}}")];
            if condition.starts_with("has") {
                sources.push(format!("static_assert(!{condition}); kernel k() {{}}"));
            }
            for source in sources {
                let compiled = Compiler::new(target).compile(&source, &options);
                assert_eq!(
                    compiled.is_err(),
                    holds.split(' ').any(|name| name == processor),
                    "{source} {processor}"
                );
            }
        }
    }
    let wrong =
        Compiler::new(Target::by_name("gfx906").unwrap()).compile("#[cfg(has(DPP))] kernel k() {}", &options);
    assert!(wrong.unwrap_err().render(false).contains("ray_tracing"));
}

/// Keeps the codes of warnings.
#[derive(Default)]
struct Warned(Vec<&'static str>);

impl kernc::Observer for Warned {
    fn warnings(&mut self, warnings: kernc::Diagnostics) {
        self.0.extend(warnings.list.iter().map(|warning| warning.code));
    }
}

fn warned(name: &str, source: &str, options: &Options) -> Vec<&'static str> {
    let mut seen = Warned::default();
    let range = kernc::PassRange::all(options.opt_level);
    if let Err(error) = compiler().compile_passes(source, &range, options, &mut seen) {
        panic!("{name}: {error}");
    }
    seen.0
}

#[test]
fn observers_hear_warnings() {
    let source = "kernel k(x: *global u32, n: u32) { let y = 1; if n >= 0 { x[0] = 2; } }";
    let mut options = Options::default();
    assert_eq!(warned("k", source, &options), ["unused_variable", "constant_comparison"]);
    options.warnings.set("unused_variable", kernc::Level::Allow).expect("a name");
    assert_eq!(warned("k", source, &options), ["constant_comparison"]);
    options.warnings.set("constant_comparison", kernc::Level::Deny).expect("a name");
    let error = compiler().compile(source, &options).expect_err("denied");
    assert!(matches!(&error, Error::Source(list) if list.list[0].code == "constant_comparison"), "{error}");
}

/// Barriers behind a branch on the number of the work-item are told, and no others.
#[test]
fn barriers_that_not_all_come_to() {
    let body = |body: &str| {
        let head = "fn _early(i: u32) -> u32 { if i < 3 { return 1; } barrier(); 2 }
            #[inline(never)] fn _outer(n: u32) { _inner(n); }
            #[inline(never)] fn _inner(n: u32) { if n > 0 { _outer(n - 1); } barrier(); }
            #[workgroup_size(128)] kernel k(x: *global u32, n: u32) { shared t: [u32; 128]; let i = local_id(0);";
        warned(body, &format!("{head} {body} x[i] = t[i ^ 1]; }}"), &Options::default())
    };
    let told = [
        "if i < 3 { barrier(); }",
        "if i >= n { return; } t[i] = 1; barrier();",
        "for j in 0..i { t[j] = 1; barrier(); }",
        "let mut j = i; while j > 2 { j = j / 2; barrier(); }",
        "if n > 3 { if global_id(0) % 2 == 1 { t[i] = 0; } else { barrier(); } }",
        "t[i] = _early(i);",
        "if i < 3 { _outer(n); }",
        "match i { 0 => { barrier(); } 1 => { x[1] = 2; } _ => { x[2] = 3; } }",
        "for j in 0..n { if i > j { continue; } barrier(); }",
    ];
    for source in told {
        assert_eq!(body(source), ["divergent_barrier"], "{source}");
    }
    let fine = [
        "barrier();",
        "if n > 3 { barrier(); }",
        "if group_id(0) == 2 { return; } barrier();",
        "for j in 0..n { if i < j { t[i] = j; } barrier(); if i > j { t[i] += j; } }",
        "if i < 3 { t[i] = 1; } barrier();",
        "let first = read_first_lane(x[i]); if first > 3 { barrier(); }",
        "if x[0] > 3 { barrier(); }",
        "if i < 200 { barrier(); }",
        "if n > 3 { _outer(n); }",
        "#[allow(divergent_barrier)] { if i < 64 { barrier(); } }",
        "#[allow(all)] { if i < 64 { barrier(); } }",
    ];
    for source in fine {
        assert_eq!(body(source), [""; 0], "{source}");
    }
    let mut options = Options::default();
    options.warnings.set("divergent_wave_operation", kernc::Level::Warn).expect("a name");
    let source = "kernel k(x: *global u32) { let i = lane_id(); if i < 3 { x[i] = wave_reduce_add(i); } }";
    assert_eq!(warned("k", source, &options), ["divergent_wave_operation"]);
    options.warnings.set("divergent_wave_operation", kernc::Level::Deny).expect("a name");
    assert!(matches!(compiler().compile(source, &options), Err(Error::Source(_))));
}

/// Operations of the wave are told where lanes of one wave part, and nowhere else, at every level.
#[test]
fn wave_operations_that_not_all_lanes_come_to() {
    let body = |body: &str, opt_level: OptLevel| {
        let head = "#[workgroup_size(256)] kernel k(x: *const global u32, y: *global u32, n: u32) {
            let i = global_id(0); let l = local_id(0);";
        let mut options = Options { opt_level, ..Options::default() };
        options.warnings = kernc::Warnings::NONE;
        options.warnings.set("divergent_wave_operation", kernc::Level::Warn).expect("a name");
        warned(body, &format!("{head} {body} }}"), &options)
    };
    let told = [
        "if l < 10 { y[i] = popcount(ballot(x[i] > 3)) as u32; }",
        "if l < 32 { y[i] = wave_reduce_add(i); }",
        "if l <= 64 { y[i] = wave_reduce_add(i); }",
        "if l % 2 == 0 { y[i] = wave_reduce_add(i); }",
        "if i + 3 < 64 { y[i] = wave_reduce_add(i); }",
        "for j in 0..l { y[i] = wave_reduce_add(j); }",
        "if l < n { y[i] = wave_reduce_add(i); }",
        "if l & 1 == 0 { y[i] = popcount(wave_match(x[i])) as u32; }",
    ];
    let fine = [
        "let valid = i < n; let key = if valid { x[i] } else { 7 }; let d = if valid { key & 15 } else { 0xff };
            let peers = wave_match(d); if valid { y[i] = popcount(peers) as u32; }",
        "y[i] = popcount(wave_match(l % 5)) as u32;",
        "let d = if l < 3 { x[i] as u64 } else { 9u64 }; y[i] = popcount(wave_match(d)) as u32;",
        "if l < 64 { y[i] = wave_reduce_add(i); }",
        "if l >= 128 { y[i] = wave_reduce_add(i); }",
        "if l <= 63 { y[i] = wave_reduce_add(i); }",
        "if l / 64 == 1 { y[i] = wave_reduce_add(i); }",
        "if (l >> 6) + 1 < n { y[i] = wave_reduce_add(i); }",
        "for j in 0..l / 64 { y[i] = wave_reduce_add(j); }",
        "if i / 128 == 1 { y[i] = wave_reduce_add(i); }",
        "if i + 64 < 256 { y[i] = wave_reduce_add(i); }",
        "if n > 3 { y[i] = wave_reduce_add(i); }",
    ];
    for opt_level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
        for source in told {
            assert_eq!(body(source, opt_level), ["divergent_wave_operation"], "{opt_level:?}: {source}");
        }
        for source in fine {
            assert_eq!(body(source, opt_level), [""; 0], "{opt_level:?}: {source}");
        }
    }
}

/// Loops that stay though they have `#[unroll]` are told, and no others.
#[test]
fn loops_that_are_not_unrolled() {
    let body = |body: &str, opt_level: OptLevel| {
        let head = "fn fill(p: *private u32, m: u32) { #[unroll] for j in 0..m { p[j] = j; } }
            kernel k(x: *const restrict global u32, y: *restrict global u32, n: u32) {
            let i = global_id(0); let mut a: [u32; 8]; let mut s = 0u32;";
        let source = format!("{head} {body} fill(&a[0], 4); y[i] = a[n & 3] + s; }}");
        let mut options = Options { opt_level, ..Options::default() };
        options.warnings = kernc::Warnings::NONE;
        options.warnings.set("not_unrolled", kernc::Level::Warn).expect("a name");
        warned(body, &source, &options)
    };
    let told = [
        "#[unroll] for j in 0..n { s += x[j]; }",
        "#[unroll] for j in 0..5000u32 { s += x[j]; }",
        "#[unroll] while s < n { s += x[s]; }",
        "#[unroll] loop { s += x[s]; if s > 7 { break; } }",
        "for r in 0..n { #[unroll] for j in r..n { s += x[j]; } }",
        "#[unroll] for j in 0..2000u32 { s += x[j] * 3 ^ x[j + 1] * 5 ^ x[j + 2] * 7 ^ x[j + 3] * 9; }",
        "#[unroll] for j in 0..n { s += x[j]; } #[unroll] for j in 0..4u32 { s += x[j + i]; }",
        "fill(&a[0], n);",
    ];
    let fine = [
        "#[unroll] for j in 0..8u32 { a[j] = x[j]; }",
        "if n > 3 { s = n; } #[unroll] for j in 0..8u32 { a[j] = x[j]; }",
        "for r in 0..n { if r != 0 { s += r; } #[unroll] for j in 0..8u32 { a[j] += a[(j + 1) & 7]; } }",
        "#[unroll] for r in 0..4u32 { #[unroll] for j in 0..r { s += x[j + i]; } }",
        "let mut m = 0u32; #[unroll] for r in 0..4u32 { m += r; } #[unroll] for j in 0..m { s += x[j + i]; }",
        "#[unroll] loop { s += 1; if s > 7 { break; } }",
        "#[unroll(4)] for j in 0..n { s += x[j]; }",
        "for j in 0..n { s += x[j]; }",
        "#[allow(not_unrolled)] { #[unroll] for j in 0..n { s += x[j]; } }",
        "fill(&a[0], 8);",
    ];
    for opt_level in [OptLevel::O1, OptLevel::O2, OptLevel::O3] {
        for source in told {
            assert_eq!(body(source, opt_level), ["not_unrolled"], "{opt_level:?}: {source}");
        }
        for source in fine {
            assert_eq!(body(source, opt_level), [""; 0], "{opt_level:?}: {source}");
        }
    }
    assert_eq!(body(told[0], OptLevel::O0), [""; 0], "nothing is unrolled without optimisation");
}

/// Work-group memory that others write is not read before a barrier.
#[test]
fn barriers_that_are_missing() {
    let body = |body: &str| {
        let head =
            "const N: u32 = 256; #[workgroup_size(256)] kernel k(x: *global f32, y: *global u32, n: u32) {
            shared s: [f32; N]; shared b: [u32; N]; let i = local_id(0);";
        warned(body, &format!("{head} {body} }}"), &Options::default())
    };
    let told = [
        "s[i] = x[i]; x[i] = s[255 - i];",
        "s[i] = x[i]; x[i] = s[(i + 64) % N];",
        "s[i] = x[i]; let mut sum = 0.0; for k in 0..N { sum += s[k]; } x[i] = sum;",
        "s[i] = x[i]; if n > 3 { x[i] = s[i ^ 128]; }",
        "s[i] = x[i]; if i < n { y[1] = 2; } x[i] = s[i ^ 128];",
        "s[i] = x[i]; barrier(); b[i] = 3; y[i] = b[255 - i];",
        "s[i] = x[i]; let mut k = 0; while k < N { x[i] += s[k]; k += 4; }",
    ];
    for source in told {
        assert_eq!(body(source).first(), Some(&"missing_barrier"), "{source}");
    }
    let fine = [
        "s[i] = x[i]; barrier(); x[i] = s[255 - i];",
        "s[i] = x[i]; x[i] = s[i];",
        "s[i] = x[i]; x[i] = s[i ^ 1];",
        "s[i] = x[i]; x[i] = s[i / 64 * 64 + (i + 7) % 64];",
        "if i < n { s[i] = x[i]; } x[i] = s[255 - i];",
        "s[i] = x[i]; if i < 64 { x[i] = s[i]; }",
        "s[i] = x[i]; fence(release, workgroup); x[i] = s[255 - i];",
        "s[0] = 1.0; x[i] = s[0];",
        "s[i] = x[i]; x[i] = s[y[i]];",
        "s[i] = x[i]; barrier(); for k in 0..N { x[i] += s[k]; }",
        "for k in 0..n { s[i] = x[k]; barrier(); x[k] = s[255 - i]; barrier(); }",
        "atomic_store(&b[i], 1, release, workgroup); y[i] = atomic_load(&b[255 - i], acquire, workgroup);",
        "#[allow(missing_barrier)] { s[i] = x[i]; x[i] = s[255 - i]; }",
    ];
    for source in fine {
        assert_eq!(body(source), [""; 0], "{source}");
    }
    let small = "#[workgroup_size(64)] kernel k(x: *global f32) { shared s: [f32; 64]; let i = local_id(0); s[i] = x[i]; x[i] = s[63 - i]; }";
    assert_eq!(warned("a wave", small, &Options::default()), [""; 0]);
    let square = "#[workgroup_size(16, 16)] kernel k(x: *global f32) { shared s: [[f32; 16]; 16];
        let i = local_id(0); let j = local_id(1); s[j][i] = x[j * 16 + i]; x[j * 16 + i] = s[i][j]; }";
    assert_eq!(warned("transposed", square, &Options::default()), ["missing_barrier"]);
}

/// What memory operations cost: one in a loop a hundred times.
fn memory_operations(source: &str) -> usize {
    let assembly = compiler().compile(source, &Options::default()).and_then(|object| object.assembly(None));
    let assembly = assembly.unwrap_or_else(|error| panic!("{source}: {error}"));
    let lines: Vec<&str> = assembly.lines().map(str::trim).collect();
    let back = |(at, line): (usize, &&str)| {
        let (_, to) = line.strip_prefix("s_cbranch_").or(line.strip_prefix("s_branch"))?.split_once(' ')?;
        let label = format!("{}:", to.split_whitespace().next()?);
        lines[..at].iter().position(|line| **line == label).map(|head| head..at)
    };
    let loops: Vec<_> = lines.iter().enumerate().filter_map(back).collect();
    let turns = |at: usize| 1 + 100 * loops.iter().filter(|l| l.contains(&at)).count();
    let is_memory = |line: &str| line.starts_with("global_") || line.starts_with("buffer_");
    lines.iter().enumerate().filter(|(_, line)| is_memory(line)).map(|(at, _)| turns(at)).sum()
}

/// Parameters that lack `restrict` are told where the optimiser would merge or move something, and then it
/// does.
#[test]
fn promises_that_are_missing() {
    let head = "struct P { a: f32, b: f32, c: f32, d: f32 }
        fn _add(to: *global f32, from: *const global f32) { to[0] += from[0]; to[1] += from[1]; }
        #[workgroup_size(64)] #[small_buffers] kernel k(";
    let kernel = |params: &str, body: &str| {
        format!(
            "{head}{params}, n: u32) {{ shared s: [f32; 64]; let i = global_id(0); s[i % 64] = 1.0; {body} }}"
        )
    };
    let copies = "for j in 0..4 { y[4 * i + j] = x[4 * i + j]; }";
    let told = [
        ("x: *const global f32, y: *global f32", copies),
        ("x: *global f32, y: *global f32", copies),
        ("x: *const global P, y: *global f32", "y[i] = x[i].a; y[i + 64] = x[i].b + x[i].c;"),
        ("x: *const global f32, y: *global f32", "_add(y + 2 * i, x + 2 * i);"),
        ("x: *const global f32, y: *global f32", "for j in 0..n { y[j] = x[i] * 2.0; }"),
        ("x: *const global f32, y: *global f32", "for j in 0..n { if i < j { y[j] += 1.0; } y[0] = x[i]; }"),
        (
            "x: *global f32, y: *global u32",
            "for j in 0..n { atomic_add(&y[j], x[i] as u32, relaxed, agent); }",
        ),
        ("x: *global f32, y: *global P", "y[i].a = 1.0; x[i] += 1.0; y[i].b = 2.0;"),
        ("x: *const global f32, y: *restrict global f32", copies),
    ];
    for (params, body) in told {
        let source = kernel(params, body);
        assert_eq!(warned(&source, &source, &Options::default()), ["missing_restrict"], "{source}");
        let promised =
            source.replace("const global", "const restrict global").replace("*global", "*restrict global");
        assert_eq!(warned(&promised, &promised, &Options::default()), [""; 0], "{promised}");
        let (plain, promised) = (memory_operations(&source), memory_operations(&promised));
        assert!(promised < plain, "{plain} and {promised} in {source}");
    }
    let both = "x: *const global f32, y: *global f32";
    let fine = [
        ("x: *const restrict global f32, y: *global f32", copies),
        ("x: *restrict global f32, y: *restrict global f32", copies),
        ("y: *global f32", "for j in 0..4 { y[4 * i + j] = y[4 * i + j + 256]; }"),
        (both, "y[i] = y[i] + n as f32 * x[i];"),
        (both, "let a = x[2 * i]; let b = x[2 * i + 1]; y[2 * i] = a; y[2 * i + 1] = b;"),
        (both, "for j in 0..n { y[j] = x[j] * 2.0; }"),
        (both, "let a = x[i]; for j in 0..n { y[j] = a; }"),
        (both, "for j in 0..n { s[j] = x[i]; }"),
        (both, "for j in 0..n { y[0] = x[i]; barrier(); }"),
        (both, "for j in 0..n { if j > i { y[j] = x[i]; } }"),
        ("x: *const volatile global f32, y: *volatile global f32", copies),
        (both, "y[i] = x[2 * i]; fence(acquire, agent); y[i + 64] = x[2 * i + 1];"),
        (both, "#[allow(missing_restrict)] for j in 0..4 { y[4 * i + j] = x[4 * i + j]; }"),
    ];
    for (params, body) in fine {
        let source = kernel(params, body);
        assert_eq!(warned(&source, &source, &Options::default()), [""; 0], "{source}");
    }
    let mut options = Options { opt_level: kernc::OptLevel::O0, ..Options::default() };
    assert_eq!(warned("level 0", &kernel(both, copies), &options), [""; 0]);
    options = Options::default();
    options.warnings.set("missing_restrict", kernc::Level::Deny).expect("a name");
    assert!(matches!(compiler().compile(&kernel(both, copies), &options), Err(Error::Source(_))));
}

/// What is written as it should be is not warned of.
#[test]
fn good_programs_are_not_warned_of() {
    let mut count = 0;
    for directory in ["examples", "tests/data/run", "tests/data/users"] {
        for entry in std::fs::read_dir(crate::common::root().join(directory)).expect("part of the repository")
        {
            let path = entry.expect("readable").path();
            if path.extension().is_some_and(|extension| extension == "k") {
                let name = path.display().to_string();
                let source = std::fs::read_to_string(&path).expect("readable");
                let params =
                    source.lines().filter_map(|line| line.strip_prefix("//@ param ")?.split_once(" = "));
                let options = Options {
                    file_name: name.clone(),
                    files: Some(std::sync::Arc::new(kernc::Directories::default())),
                    params: params.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
                    ..Options::default()
                };
                assert_eq!(warned(&name, &source, &options), [""; 0], "{name}");
                count += 1;
            }
        }
    }
    assert!(count > 90, "only {count} programs");
}

/// Processors like gfx906 whose families each leave one fact open, with the name of this fact.
fn phantoms() -> Vec<(&'static str, &'static Target)> {
    use kernc::isa::{Arch, ArchId};
    let known = Target::by_name("gfx906").expect("a known processor");
    let arch = || Arch { id: ArchId::Gfx9, ..*known.arch };
    macro_rules! open {
        ($($fact:ident)*) => {
            vec![$((stringify!($fact), Arch { $fact: Arch::UNDEFINED.$fact, ..arch() })),*]
        };
    }
    let archs = open!(layout registers waits addressing mode buffers device emulation checks memory_model
        hazards descriptor);
    let names: Vec<_> = archs.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, Arch::UNDEFINED.open_facts().collect::<Vec<_>>(), "every fact has a phantom");
    let target = |arch| Target { name: "phantom", arch: Box::leak(Box::new(arch)), ..*known };
    archs.into_iter().map(|(name, arch)| (name, &*Box::leak(Box::new(target(arch))))).collect()
}

/// A fact that the processor's family leaves open is an error that names it, and no pass meets the open fact.
/// The compiler does not read the facts of the tools.
#[test]
fn an_open_fact_is_an_error_that_names_the_fact() {
    let source = "kernel set(x: *global u32) { x[0] = 1; }";
    for (fact, phantom) in phantoms() {
        let of_tools = ["mode", "buffers", "device", "emulation", "checks"].contains(&fact);
        match Compiler::new(phantom).compile(source, &Options::default()) {
            Ok(_) => assert!(of_tools, "{fact}"),
            Err(error) => {
                let message =
                    format!("anything that depends on the fact `{fact}` is not compiled for phantom");
                assert!(!of_tools && error.to_string().contains(&message), "{error}");
                assert_eq!(error.code(), "E0111");
            }
        }
    }
}

/// The assembler, the checker and the emulator name an open fact that they read, and do not meet it.
#[test]
fn tools_name_an_open_fact() {
    use kernc::sim::{CodeObject, Device, Dispatch, Mode};
    let known = Target::by_name("gfx906").expect("a known processor");
    let source = "kernel set(x: *global u32) { x[0] = 1; }";
    let object = Compiler::new(known).compile(source, &Options::default()).expect("it compiles");
    let parsed = codeobj::CodeObject::parse(object.bytes()).expect("our own object");
    // The emulator takes the given processor if the header names none.
    let mut unnamed = object.bytes().to_vec();
    unnamed[48] = 0;
    for (fact, phantom) in phantoms() {
        let options = asm::Options { target: Some(phantom), ..asm::Options::default() };
        let text = ".text\nset:\nv_add_f32 v0, s1, v2\ns_endpgm\n";
        let assembled = asm::assemble(text, &options).map_err(|errors| errors[0].message.clone());
        let options = check::object::Options { target: Some(phantom), ..Default::default() };
        let checked = check::object::check(&parsed, &options).map_err(|refusal| refusal.to_string());
        let loaded = CodeObject::load_for(&unnamed, Some(phantom)).map_err(|error| error.to_string());
        let loaded = loaded.map(|object| {
            let mut device = Device::new();
            device.set_mode(Mode::Strict { keep_going: false });
            let module = device.load(&object).expect("it loads");
            let memory = device.alloc(4).expect("memory");
            let kernarg = memory.to_le_bytes().to_vec();
            let dispatch = Dispatch { kernel: "set", kernarg, ..Dispatch::default() };
            device.run(module, &dispatch).expect("it runs");
        });
        let message = format!("the family of phantom does not define the fact `{fact}`");
        let read_by = |tool: &str, result: Result<(), String>, facts: &[&str]| match result {
            Ok(()) => assert!(!facts.contains(&fact), "{tool}: {fact}"),
            Err(error) => assert!(facts.contains(&fact) && error == message, "{tool}: {error}"),
        };
        let common = ["layout", "registers", "waits", "addressing", "descriptor"];
        let with = |more: &[&'static str]| [&common[..], more].concat();
        read_by("asm", assembled.map(drop), &with(&["device"]));
        read_by("check", checked.map(drop), &with(&["checks"]));
        read_by("sim", loaded, &with(&["mode", "buffers", "device", "emulation", "checks"]));
    }
}
