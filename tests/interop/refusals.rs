//! What does not go together is refused, by the compiler, by the linker, or in strict mode.

use crate::interop::has;
use crate::interop::machine::{Config, clang, compiled, link};
use kernc::sim::{self, CodeObject, Device, Dispatch};
use kernc::{Compiler, Error, OptLevel, Options, Setting};
use std::path::Path;

const CALLER: &str = "extern fn f(a: u32) -> u32;
kernel k(out: *global u32) { out[local_id(0)] = f(local_id(0)); }";
const F: &str = "unsigned f(unsigned a) { return a + 1; }";

fn config(cpu: &str, lanes: u32, version: u8) -> Config {
    Config::new("clang-19", version, cpu, lanes)
}

fn of_clang(config: &Config, text: &str, name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("interop-refused-{name}.c"));
    clang(config, &path, text)
}

/// Declarations that the convention has no form for.
#[test]
fn signatures_without_a_form() {
    let config = config("gfx906", 64, 4);
    for (text, why) in [
        ("extern fn f(a: boolx4) -> u32;", "it is not known how vectors of `bool` or of pointers are passed"),
        ("extern fn f() -> boolx2;", "it is not known how vectors of `bool` or of pointers are passed"),
        ("struct S { m: [boolx2; 2] } extern fn f(s: S);", "it is not known how vectors of `bool`"),
        ("#[export] fn f(a: boolx4) {}", "it is not known how vectors of `bool` or of pointers are passed"),
        ("extern fn f(a: (u32, u32));", "`(u32, u32)` does not pass to other objects"),
        ("extern fn f() -> [u32; 4];", "`[u32; 4]` does not pass to other objects"),
        ("#[export] fn f<T>(a: T) -> T { a }", "`f` is generic and cannot be exported"),
    ] {
        let text = format!("{text}\nkernel k(x: *global u32) {{ x[0] = 1; }}");
        let error = Compiler::new(config.target).compile(&text, &Options::default()).err();
        let error = error.unwrap_or_else(|| panic!("{text}: is compiled"));
        let shown = error.render(false);
        assert!(matches!(error, Error::Source(_)), "{shown}");
        assert!(shown.contains("E0091") && shown.contains(why), "{shown}");
    }
}

/// Objects that do not go together, each with what is said of it.
#[test]
fn objects_that_do_not_fit() {
    if !has("clang-19") {
        println!("left out: there is no clang-19");
        return;
    }
    let base = config("gfx906", 64, 4);
    let ours = compiled(&base, CALLER);
    let refused = |theirs: &[(&str, &[u8])]| {
        let files: Vec<_> = [("ours", &ours[..])].into_iter().chain(theirs.iter().copied()).collect();
        link(&files).expect_err("it is linked")
    };
    assert_eq!(refused(&[]), "`f` is not defined: ours refers to it");

    let one = of_clang(&base, F, "one");
    assert!(link(&[("ours", &ours), ("theirs", &one)]).is_ok());
    let twice = refused(&[("theirs", &one), ("others", &one)]);
    assert!(twice.starts_with("`f` is defined in theirs and in others"), "{twice}");
    let exported = compiled(&base, "#[export] fn f(a: u32) -> u32 { a + 2 }");
    let twice = refused(&[("theirs", &one), ("exported", &exported)]);
    assert!(twice.starts_with("`f` is defined in theirs and in exported"), "{twice}");

    for (cpu, lanes, version, name, said) in [
        ("gfx803", 64, 4, "processor", "ours and theirs are for different processors"),
        ("gfx1010", 32, 4, "generation", "ours and theirs are for different processors"),
        ("gfx906", 64, 5, "version", "ours and theirs are for different code object versions"),
    ] {
        let theirs = of_clang(&config(cpu, lanes, version), F, name);
        let fault = refused(&[("theirs", &theirs)]);
        assert!(fault.starts_with(said), "{name}: {fault}");
    }
    // With replay and without it.
    let mut replays = base.clone();
    replays.target.xnack = Setting::On;
    let fault = refused(&[("theirs", &of_clang(&replays, F, "replay"))]);
    assert!(fault.starts_with("ours and theirs are for different settings of xnack"), "{fault}");

    // What a loader may replace is not at a distance that is known. Clang hides functions if it is not told otherwise.
    let shown = format!("__attribute__((visibility(\"default\"))) {F}");
    let fault = refused(&[("theirs", &of_clang(&base, &shown, "shown"))]);
    assert!(
        fault.starts_with("the distance to `f`, which other objects may replace, is not known"),
        "{fault}"
    );
}

/// No linker knows signatures: strict mode finds a function that reads what nobody gave it.
#[test]
fn declared_otherwise() {
    if !has("clang-19") {
        println!("left out: there is no clang-19");
        return;
    }
    for level in [OptLevel::O0, OptLevel::O2] {
        let config = Config { ours: level, ..config("gfx906", 64, 4) };
        let ours = compiled(&config, CALLER);
        let theirs =
            "typedef unsigned V __attribute__((ext_vector_type(16))); unsigned f(V a) { return a.sf + 1; }";
        let theirs = of_clang(&config, theirs, &format!("otherwise{}", level.number()));
        let file = link(&[("ours", &ours), ("theirs", &theirs)]).unwrap();
        let mut device = Device::with_threads(1);
        device.set_mode(sim::Mode::Strict { keep_going: true });
        let module = device.load(&CodeObject::load(&file).unwrap()).unwrap();
        let kernarg = device.alloc(256).unwrap().to_le_bytes().to_vec();
        let size = [4, 1, 1];
        let dispatch = Dispatch { kernel: "k", grid: size, group: size, kernarg, ..Dispatch::default() };
        device.run(module, &dispatch).unwrap();
        let rules: Vec<&str> = device.reports().iter().map(|report| report.rule.as_str()).collect();
        assert!(rules.iter().any(|rule| rule.starts_with("uninitialised")), "{rules:?}");
    }
}
