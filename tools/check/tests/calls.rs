//! Calls: what a caller has under way goes on in the function, and what the function leaves goes on behind the call. Each case is a
//! kernel `k` and functions; what is expected are the rules and the functions of the two instructions.

use check::Level;
use check::object::{Options, Report, check};
use check::program::Unknown;

const KERNEL: &str = ".globl k\n.p2align 8\n.type k,@function\nk:\nBODY\ns_endpgm\n.size k, .-k\n";
const DESCRIPTOR: &str = ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 64\n.amdhsa_next_free_sgpr 64\n.end_amdhsa_kernel\n";

fn function(name: &str, body: &str) -> String {
    format!(".p2align 2\n.type {name},@function\n{name}:\n{body}\n.size {name}, .-{name}\n")
}

/// The same, for other files to call.
fn global(name: &str, body: &str) -> String {
    format!(".globl {name}\n.protected {name}\n{}", function(name, body))
}

fn call(name: &str) -> String {
    format!(
        "s_getpc_b64 s[16:17]\ns_add_u32 s16, s16, {name}@rel32@lo+4\ns_addc_u32 s17, s17, {name}@rel32@hi+12\ns_swappc_b64 s[30:31], s[16:17]"
    )
}

fn read(processor: &str, kernel: &str, functions: &str) -> Report {
    let target = isa::Target::by_name(processor).expect("a known processor");
    let options = asm::Options { target: Some(target), xnack: Some(false), ..asm::Options::default() };
    let options =
        if processor.starts_with("gfx9") { options } else { asm::Options { xnack: None, ..options } };
    let text = format!(".text\n{}{functions}{DESCRIPTOR}", KERNEL.replace("BODY", kernel));
    let bytes = asm::assemble(&text, &options)
        .unwrap_or_else(|errors| panic!("{}", asm::render(&errors, "case", &text, false)));
    let object = codeobj::CodeObject::parse(&bytes).expect("our own object");
    check(&object, &Options::default()).expect("a known processor")
}

/// What is found: rule, function of the first instruction and of the second.
fn found(report: &Report) -> Vec<String> {
    let name = |place: &check::object::Place| place.symbol.clone().map_or_else(String::new, |(name, _)| name);
    let one = |located: &check::object::Located| {
        let first = located.first.as_ref().map_or("caller".to_owned(), name);
        format!("{} {first} {}", located.finding.id(), name(&located.second))
    };
    report.findings.iter().map(one).collect()
}

#[track_caller]
fn expect(kernel: &str, functions: &str, wanted: &[&str]) {
    let report = read("gfx906", kernel, functions);
    assert_eq!(found(&report), wanted, "{}", check::report::human(&report, "case", false));
}

const RETURN: &str = "s_setpc_b64 s[30:31]";
const LOAD: &str = "global_load_dword v1, v[2:3], off";
const WAIT: &str = "s_waitcnt vmcnt(0)";

#[test]
fn a_function_reads_what_its_caller_loads() {
    let kernel = format!("{LOAD}\n{}", call("f"));
    let f = |wait: &str| function("f", &format!("{wait}\nv_mov_b32 v5, v1\ns_waitcnt vmcnt(0)\n{RETURN}"));
    expect(&kernel, &f(""), &["read-in-flight k f"]);
    expect(&kernel, &f(WAIT), &[]);
    // Nothing is under way at its only call.
    expect(&format!("{LOAD}\n{WAIT}\n{}", call("f")), &f(""), &[]);
}

#[test]
fn a_caller_reads_what_a_function_loads() {
    let kernel = format!("{}\nv_mov_b32 v5, v1", call("f"));
    let f = |wait: &str| function("f", &format!("{WAIT}\n{LOAD}\n{wait}\n{RETURN}"));
    expect(&kernel, &f(""), &["read-in-flight f k"]);
    expect(&kernel, &f(WAIT), &[]);
    expect(&format!("{}\n{WAIT}\nv_mov_b32 v5, v1", call("f")), &f(""), &[]);
}

/// What others may call keeps to the convention, whatever its callers here do.
#[test]
fn functions_of_other_files_callers() {
    let kernel = call("f");
    expect(
        &kernel,
        &global("f", &format!("v_mov_b32 v5, v1\ns_waitcnt vmcnt(0) lgkmcnt(0)\n{RETURN}")),
        &["read-in-flight caller f"],
    );
    expect(
        &kernel,
        &global("f", &format!("s_waitcnt vmcnt(0) lgkmcnt(0)\n{LOAD}\n{RETURN}")),
        &["return-in-flight f f"],
    );
    expect(&kernel, &global("f", &format!("s_waitcnt vmcnt(0) lgkmcnt(0)\n{LOAD}\n{WAIT}\n{RETURN}")), &[]);
}

/// Data points to it.
#[test]
fn functions_whose_address_is_taken() {
    let f = function("f", &format!("v_mov_b32 v5, v1\ns_waitcnt vmcnt(0) lgkmcnt(0)\n{RETURN}"));
    let table = ".data\n.quad f\n.text\n";
    expect(&call("f"), &format!("{f}{table}"), &["read-in-flight caller f"]);
    // Code puts it into a VGPR.
    let kernel = format!(
        "{}\ns_getpc_b64 s[18:19]\ns_add_u32 s18, s18, f@rel32@lo+4\ns_addc_u32 s19, s19, f@rel32@hi+12\nv_mov_b32 v8, s18",
        call("f")
    );
    expect(&kernel, &f, &["read-in-flight caller f"]);
}

/// Two callers of one function: what the one has under way is none of the other's.
#[test]
fn callers_are_kept_apart() {
    let g =
        function("g", &format!("{}\nv_mov_b32 v5, v1\ns_mov_b64 s[30:31], s[40:41]\n{RETURN}", call("f")));
    let g = g.replace("g:\n", "g:\ns_mov_b64 s[40:41], s[30:31]\n");
    let kernel = format!("{}\n{LOAD}\n{}\n{WAIT}", call("g"), call("f"));
    let f = function("f", &format!("v_mov_b32 v6, 0\n{RETURN}"));
    expect(&kernel, &format!("{f}{g}"), &[]);
    let kernel = format!("{LOAD}\n{}\n{WAIT}", call("g"));
    expect(&kernel, &format!("{f}{g}"), &["read-in-flight k g"]);
}

#[test]
fn recursion() {
    let f = function(
        "f",
        &format!("s_cbranch_scc0 out\n{LOAD}\n{}\nout:\nv_mov_b32 v5, v1\n{RETURN}", call("f")),
    );
    expect(&call("f"), &f, &["read-in-flight f f"]);
}

/// A jump to another function: it returns to where the first one was called.
#[test]
fn calls_in_place_of_returns() {
    let f = function("f", &call("g").replace("s_swappc_b64 s[30:31],", "s_setpc_b64"));
    let g = function("g", &format!("{LOAD}\n{RETURN}"));
    expect(&format!("{}\nv_mov_b32 v5, v1", call("f")), &format!("{f}{g}"), &["read-in-flight g k"]);
}

/// The address is computed long before, and the return address lies in other registers, or in lanes.
#[test]
fn addresses_that_are_moved() {
    let kernel = "s_getpc_b64 s[34:35]\ns_add_u32 s34, s34, f@rel32@lo+4\ns_addc_u32 s35, s35, f@rel32@hi+12
s_mov_b32 s40, 9\nloop:\ns_mov_b64 s[20:21], s[34:35]\ns_swappc_b64 s[30:31], s[20:21]\nv_mov_b32 v5, v1
s_sub_u32 s40, s40, 1\ns_cbranch_scc1 loop";
    let copy = "s_mov_b64 s[4:5], s[30:31]\nglobal_load_dword v1, v[2:3], off\ns_setpc_b64 s[4:5]";
    expect(kernel, &function("f", copy), &["read-in-flight f k"]);
    let lanes = format!(
        "v_writelane_b32 v40, s30, 0\nv_writelane_b32 v40, s31, 1\n{}\n{LOAD}\ns_nop 4
v_readlane_b32 s30, v40, 0\nv_readlane_b32 s31, v40, 1\n{RETURN}",
        call("g")
    );
    let functions = format!("{}{}", function("f", &lanes), function("g", RETURN));
    let report = read("gfx906", kernel, &functions);
    assert_eq!(found(&report), ["read-in-flight f k"]);
    assert!(report.notes.is_empty(), "{:?}", report.notes);
}

#[test]
fn calls_that_are_not_known_are_said() {
    let report = read("gfx906", "s_swappc_b64 s[30:31], s[4:5]\nv_mov_b32 v5, v1", "");
    let unknown: Vec<Unknown> = report.notes.iter().map(|note| note.unknown).collect();
    assert_eq!(unknown, [Unknown::Call]);
    assert!(read("gfx906", &call("f"), &function("f", RETURN)).notes.is_empty());
}

/// Compilers do not look across calls for hazards: what is found there is by the manual.
#[test]
fn hazards_across_a_return() {
    let f = function("f", &format!("v_readfirstlane_b32 s20, v0\n{RETURN}"));
    let report = read("gfx906", &format!("{}\nbuffer_load_dword v1, off, s[0:3], s20", call("f")), &f);
    assert_eq!(found(&report), ["valu-sgpr-vmem f k"]);
    assert_eq!(report.findings[0].finding.level(), Level::Manual);
    let near = "v_readfirstlane_b32 s20, v0\nbuffer_load_dword v1, off, s[0:3], s20";
    assert_eq!(read("gfx906", near, "").findings[0].finding.level(), Level::Certain);
    // The other way, and by events instead of wait states.
    let f = function("f", "s_mov_b32 s20, 0\ns_setpc_b64 s[30:31]");
    let report = read("gfx1010", &format!("buffer_store_dword v1, off, s[0:3], s20\n{}", call("f")), &f);
    assert!(found(&report).contains(&"vmem-scalar-write k f".to_owned()), "{:?}", found(&report));
    let across = report.findings.iter().find(|located| located.finding.id() == "vmem-scalar-write");
    assert!(across.is_some_and(|located| located.finding.is_doubtful));
}
