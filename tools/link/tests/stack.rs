//! Scratch memory of callees, function by function. Expected are numbers that the sources say: `s32` counts bytes of 64 lanes.

use crate::common::assemble;
use codeobj::elf::CodeObject;
use link::{Input, Linked, Options, Unknown};
use objwriter::descriptor::{PRIVATE_SEGMENT_FIXED_SIZE, USES_DYNAMIC_STACK, VGPR_BLOCKS};

/// Takes the address of a function, and calls it.
fn call(name: &str) -> String {
    format!(
        "\ts_getpc_b64 s[4:5]\n\ts_add_u32 s4, s4, {name}@rel32@lo+4\n\ts_addc_u32 s5, s5, {name}@rel32@hi+12\n\ts_swappc_b64 s[30:31], s[4:5]\n"
    )
}

/// A kernel whose own frame has so many bytes, in a code object of that version. What it allots for its callees is `allotted`.
fn kernel(version: u32, own: u32, allotted: u32, calls: &[&str]) -> String {
    let calls: String = calls.iter().map(|name| call(name)).collect();
    format!(
        "\t.amdhsa_code_object_version {version}\n\t.text\n\t.globl k\n\t.protected k\n\t.p2align 8\n\t.type k,@function\nk:
\ts_movk_i32 s32, {}\n{calls}\ts_endpgm\n.Lk:\n\t.size k, .Lk-k\n\t.rodata\n\t.p2align 6\n\t.amdhsa_kernel k
\t.amdhsa_next_free_vgpr 8\n\t.amdhsa_next_free_sgpr 40\n\t.amdhsa_user_sgpr_private_segment_buffer 1
\t.amdhsa_private_segment_fixed_size {allotted}\n\t.end_amdhsa_kernel\n",
        own * 64
    )
}

fn function(name: &str, body: &str) -> String {
    format!(
        "\t.text\n\t.globl {name}\n\t.hidden {name}\n\t.type {name},@function\n{name}:\n{body}\ts_setpc_b64 s[30:31]\n.L{name}:\n\t.size {name}, .L{name}-{name}\n"
    )
}

/// A function that moves the stack pointer by so many bytes around its body.
fn framed(name: &str, bytes: u32, body: &str) -> String {
    let (there, back) = (bytes * 64, (bytes * 64).wrapping_neg());
    function(
        name,
        &format!(
            "\ts_mov_b32 s33, s32\n\ts_add_i32 s32, s32, {there:#x}\n{body}\ts_add_i32 s32, s32, {back:#x}\n"
        ),
    )
}

fn linked(sources: &[&str], options: &Options) -> Linked {
    let name = |n: usize| format!("{}.o", ["a", "b", "c"][n]);
    let inputs: Vec<_> = sources
        .iter()
        .enumerate()
        .map(|(n, source)| {
            let version = sources[0].lines().next().unwrap_or_default();
            let version = if n == 0 { "" } else { version };
            (name(n), assemble(&format!("{version}\n{source}")))
        })
        .collect();
    let inputs: Vec<Input> = inputs.iter().map(|(name, data)| Input { name, data, is_lazy: false }).collect();
    link::link_with_report(&inputs, &Options { tells: true, ..options.clone() })
        .unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// What the descriptor allots of scratch memory, and whether the rest is the runtime's.
fn allotted(linked: &Linked) -> (u64, bool) {
    let object = CodeObject::parse(&linked.file).expect("an object");
    let bytes = object.descriptors().next().expect("a kernel").bytes;
    (PRIVATE_SEGMENT_FIXED_SIZE.get(&bytes), USES_DYNAMIC_STACK.get(&bytes) != 0)
}

fn why(linked: &Linked) -> Option<(String, Unknown)> {
    let scratch = linked.report.kernels[0].scratch.clone().expect("it calls something");
    scratch.unknown.map(|(part, why)| (part.name, why))
}

/// 32 bytes of the kernel, 48 of `f`, 4096 of `g`: 4176.
#[test]
fn deepest_calls() {
    let b = framed("f", 48, &(call("g") + &call("leaf"))) + &function("leaf", "\tv_mov_b32 v0, v1\n");
    let c = framed("g", 4096, "\tbuffer_store_dword v0, off, s[0:3], s33 offset:4\n");
    let a = kernel(4, 32, 100, &["f", "leaf"]);
    let found = linked(&[&a, &b, &c], &Options::default());
    assert_eq!(allotted(&found), (4176, false));
    let scratch = found.report.kernels[0].scratch.clone().expect("it calls something");
    let chain: Vec<(&str, u64)> =
        scratch.chain.iter().map(|(part, bytes)| (part.name.as_str(), *bytes)).collect();
    assert_eq!(chain, [("k", 32), ("f", 48), ("g", 4096)]);
    let names: Vec<&str> = found.report.kernels[0].functions.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["f", "leaf", "g"]);
}

/// What a compiler assumed is more: it stays, unless exactness is asked for.
#[test]
fn assumed_and_exact() {
    let a = kernel(4, 32, 16384, &["f"]);
    let b = framed("f", 48, "");
    assert_eq!(allotted(&linked(&[&a, &b], &Options::default())), (16384, false));
    let exact = Options { exact_stack: true, ..Options::default() };
    assert_eq!(allotted(&linked(&[&a, &b], &exact)), (80, false));
    // A kernel alone keeps what it has.
    assert_eq!(allotted(&linked(&[&kernel(4, 32, 16384, &[])], &exact)), (16384, false));
}

/// Without a move of the stack pointer accesses of constant offset are the frame.
#[test]
fn frames_of_leaves() {
    let body = "\tbuffer_store_dwordx2 v[0:1], off, s[0:3], s32 offset:56\n\tbuffer_load_dword v0, off, s[0:3], s32 offset:4\n";
    let a = kernel(4, 16, 16, &["f"]);
    let found = linked(&[&a, &function("f", body)], &Options::default());
    assert_eq!((allotted(&found).0, why(&found)), (80, None));
}

/// What cannot be told, and why; from V5 on the runtime is told too.
#[test]
fn unknown_stacks() {
    let jump = "\ts_load_dwordx2 s[4:5], s[6:7], 0x0\n\ts_swappc_b64 s[30:31], s[4:5]\n";
    let cases = [
        (
            function("f", "\tv_lshrrev_b32_e64 v1, 6, s32\n\tbuffer_store_dword v0, v1, s[0:3], 0 offen\n"),
            Unknown::Unbounded,
        ),
        (
            function("f", "\ts_mov_b32 s33, s32\n\ts_add_u32 s32, s32, s6\n\ts_mov_b32 s32, s33\n"),
            Unknown::Dynamic,
        ),
        (framed("f", 16, jump), Unknown::Indirect),
        (framed("f", 16, &call("f")), Unknown::Recursive),
        (function("f", "\t.long 0xffffffff\n"), Unknown::Code),
    ];
    for (source, reason) in cases {
        for version in [4, 5] {
            let options = Options { exact_stack: true, ..Options::default() };
            let found = linked(&[&kernel(version, 0, 512, &["f"]), &source], &options);
            assert_eq!(why(&found), Some(("f".to_owned(), reason)), "{source}");
            assert_eq!(allotted(&found), (512, version == 5), "{source}");
        }
    }
}

/// Both ways of a branch count, and what is called after it.
#[test]
fn all_paths() {
    let f = framed(
        "f",
        16,
        &format!("\ts_cbranch_scc0 .Lother\n{}\ts_branch .Lend\n.Lother:\n{}.Lend:\n", call("g"), call("h")),
    );
    let b = f + &framed("g", 32, "") + &framed("h", 160, "");
    let found = linked(&[&kernel(4, 0, 0, &["f"]), &b], &Options::default());
    assert_eq!((allotted(&found).0, why(&found)), (176, None));
}

/// A tail call begins where its caller's frame did; through the table of addresses, too.
#[test]
fn tail_calls() {
    let tail = "\ts_getpc_b64 s[4:5]\n\ts_add_u32 s4, s4, g@gotpcrel32@lo+4\n\ts_addc_u32 s5, s5, g@gotpcrel32@hi+12\n\ts_load_dwordx2 s[4:5], s[4:5], 0x0\n\ts_setpc_b64 s[4:5]\n";
    let b = framed("f", 64, "").replace("\ts_setpc_b64 s[30:31]\n", tail);
    let c = framed("g", 48, "");
    let found = linked(&[&kernel(4, 0, 0, &["f"]), &b, &c], &Options::default());
    assert_eq!((allotted(&found).0, why(&found)), (64, None));
}

/// LLVM 20's symbols say what the code of a leaf does not.
#[test]
fn declared_by_the_compiler() {
    let body = "\tv_lshrrev_b32_e64 v1, 6, s32\n\tbuffer_store_dword v0, v1, s[0:3], 0 offen\n";
    let numbers = |assumes: u32| {
        format!(
            "\t.set f.num_vgpr, 60\n\t.set f.num_agpr, 0\n\t.set f.numbered_sgpr, 34\n\t.set f.private_seg_size, 20000
\t.set f.has_dyn_sized_stack, 0\n\t.set f.has_recursion, 0\n\t.set f.has_indirect_call, {assumes}\n"
        )
    };
    let with = |assumes: u32| {
        let b = function("f", body) + &numbers(assumes);
        linked(&[&kernel(5, 32, 32, &["f"]), &b], &Options::default())
    };
    let found = with(0);
    assert_eq!((allotted(&found), why(&found)), ((20032, false), None));
    let object = CodeObject::parse(&found.file).expect("an object");
    // 60 VGPRs are 15 blocks of 4, less one.
    assert_eq!(VGPR_BLOCKS.get(&object.descriptors().next().expect("a kernel").bytes), 14);
    let found = with(1);
    assert_eq!(why(&found), Some(("f".to_owned(), Unknown::Unbounded)));
    assert_eq!(allotted(&found), (32, true));
}

/// Of functions in one section only those count that are reached; distances within the section need no relocation.
#[test]
fn functions_of_one_section() {
    // From behind `s_getpc_b64` to `inner`: three instructions of 4 bytes, `s_add_i32` of 8, `s_setpc_b64` of 4.
    let inner = "\ts_getpc_b64 s[4:5]\n\ts_add_u32 s4, s4, 24\n\ts_addc_u32 s5, s5, 0\n\ts_swappc_b64 s[30:31], s[4:5]\n";
    let b = framed("f", 16, inner)
        + "\t.type inner,@function\ninner:\n\tv_mov_b32 v20, 0\n\ts_setpc_b64 s[30:31]\n.Linner:\n\t.size inner, .Linner-inner\n"
        + &framed("other", 4096, "\tv_mov_b32 v200, 0\n");
    let found = linked(&[&kernel(4, 0, 0, &["f"]), &b], &Options::default());
    let report = &found.report.kernels[0];
    let names: Vec<&str> = report.functions.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["f", "inner"]);
    let vgprs = report.registers.iter().find(|count| count.name == "VGPRs").expect("it names some");
    assert_eq!((vgprs.needed, vgprs.by.name.as_str()), (21, "inner"));
    assert_eq!(allotted(&found), (16, false));
}

/// Scratch memory that nobody sets up.
#[test]
fn warnings() {
    let a = kernel(4, 0, 0, &["f"]).replace("\t.amdhsa_user_sgpr_private_segment_buffer 1\n", "");
    let found = linked(&[&a, &framed("f", 16, "")], &Options::default());
    let expected =
        "k.kd: `f` in b.o takes scratch memory, and the kernel's descriptor asks for nothing that sets it up";
    assert_eq!(found.report.warnings, [expected]);
}

/// The map says what is where, and why.
#[test]
fn map() {
    let found =
        linked(&[&kernel(4, 32, 64, &["f"]), &framed("f", 48, "\tv_mov_b32 v9, 0\n")], &Options::default());
    let text = found.report.to_string();
    let address = |row: &str| {
        let line = text.lines().find(|line| line.ends_with(row)).unwrap_or_else(|| panic!("{text}"));
        u64::from_str_radix(line.split_whitespace().next().expect("a number").trim_start_matches("0x"), 16)
    };
    let object = CodeObject::parse(&found.file).expect("an object");
    let f = object.symbols().iter().find(|symbol| symbol.name == "f").expect("it is there").value;
    assert_eq!(address(".text in b.o"), Ok(f));
    let kernel = "\nkernel k in a.o
  reaches f in b.o
  VGPRs: 10 of f in b.o; raised from 8 to 12
  SGPRs: 34 of f in b.o; 48 were allotted
  scratch: 80 bytes, 32 of k in a.o + 48 of f in b.o
    80 bytes are allotted, 64 were\n";
    assert!(text.ends_with(kernel), "{text}");
}
