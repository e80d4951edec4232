//! Planted bugs in functions: what breaks the calling convention is reported by its rule, and nothing is said of the correct twin.
//! Calls are named in every report.

use isa::{Reg, RegRange, RegSet};
use sim::{Agreement, CodeObject, Device, Dispatch, Fault, FaultClass, Limits, Location, Mode, Scramble};

/// A kernel of gfx906 that calls `f`: `s[34:35]` is a buffer, `v40` the byte offset of the lane's dword there, `v41` a value, `s40` another.
/// What it does in front of the call, and behind it.
struct Program<'a> {
    before: &'a str,
    after: &'a str,
    /// `f`, and what else there is.
    functions: &'a str,
}

const CALL: &str = "s_getpc_b64 s[16:17]
s_add_u32 s16, s16, NAME@rel32@lo+4
s_addc_u32 s17, s17, NAME@rel32@hi+12
s_swappc_b64 s[30:31], s[16:17]";

fn call(name: &str) -> String {
    CALL.replace("NAME", name)
}

const STORE: &str = "global_store_dword v40, v41, s[34:35]";

fn source(program: &Program<'_>) -> String {
    let Program { before, after, functions } = program;
    let call_f = call("f");
    format!(
        r#"
.text
.globl k
.p2align 8
.type k,@function
k:
  s_add_u32 s0, s0, s7
  s_addc_u32 s1, s1, 0
  s_mov_b32 s32, 0x400
  s_mov_b32 s33, 0
  s_load_dwordx2 s[34:35], s[4:5], 0x0
  v_lshlrev_b32 v40, 2, v0
  v_mov_b32 v41, v0
  v_mov_b32 v33, v0
  s_mov_b32 s40, 7
  s_waitcnt lgkmcnt(0)
  {before}
  {call_f}
after:
  {after}
  s_endpgm
.size k, .-k
{functions}
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1
  .amdhsa_private_segment_fixed_size 256
  .amdhsa_next_free_vgpr 48
  .amdhsa_next_free_sgpr 48
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 2
amdhsa.target: amdgcn-amd-amdhsa--gfx906
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 256
    .wavefront_size: 64
    .sgpr_count: 54
    .vgpr_count: 48
    .max_flat_workgroup_size: 1024
    .args:
      - .size: 8
        .offset: 0
        .value_kind: global_buffer
        .address_space: global
...
.end_amdgpu_metadata
"#
    )
}

fn function(name: &str, body: &str) -> String {
    format!(".p2align 2\n.type {name},@function\n{name}:\n{body}\n.size {name}, .-{name}\n")
}

fn run(program: &Program<'_>) -> Result<(), Fault> {
    run_with(program, Scramble::default())
}

fn run_with(program: &Program<'_>, scramble: Scramble) -> Result<(), Fault> {
    let options = asm::Options {
        target: isa::Target::by_name("gfx906"),
        xnack: Some(false),
        ..asm::Options::default()
    };
    let text = source(program);
    let bytes = asm::assemble(&text, &options).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let object = CodeObject::load(&bytes).expect("it loads");
    let mut device = Device::with_threads(1);
    device.set_mode(Mode::STRICT);
    device.set_scramble(scramble);
    let module = device.load(&object).expect("it fits");
    let buffer = device.alloc(4096).expect("room");
    let dispatch = Dispatch {
        kernel: "k",
        grid: [64, 1, 1],
        group: [64, 1, 1],
        kernarg: buffer.to_le_bytes().to_vec(),
        limits: Limits { instructions: 400_000, stack: 0 },
        ..Dispatch::default()
    };
    device.run(module, &dispatch).map(|_| ())
}

/// The text without the lines that are marked, or all of it: `!` marks what the bug leaves out, `?` what it adds.
fn twins(text: &str) -> [String; 2] {
    [('!', '?'), ('?', '!')].map(|(left_out, taken)| {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with(left_out));
        lines.map(|line| line.replacen(taken, "", 1)).collect::<Vec<_>>().join("\n")
    })
}

/// The bug is found by its rule, the twin passes. What was said of it.
#[track_caller]
fn planted(program: &Program<'_>, rule: &str) -> String {
    let [bad, good] = [0, 1].map(|which| {
        let [before, after, functions] =
            [program.before, program.after, program.functions].map(|text| twins(text)[which].clone());
        run(&Program { before: &before, after: &after, functions: &functions })
    });
    if let Err(fault) = good {
        panic!("the correct twin: {fault}");
    }
    match bad {
        Err(Fault::Found(report)) if report.rule == rule => report.to_string(),
        Err(fault) => panic!("not {rule}: {fault}"),
        Ok(()) => panic!("nothing was found, not {rule}"),
    }
}

/// A bug in `f` alone.
#[track_caller]
fn planted_in(body: &str, rule: &str) -> String {
    planted(&Program { before: "", after: STORE, functions: &function("f", body) }, rule)
}

#[test]
fn a_preserved_vgpr_is_changed() {
    let said = planted_in(
        "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
!buffer_store_dword v41, off, s[0:3], s32
v_mov_b32 v41, 5
!buffer_load_dword v41, off, s[0:3], s32
!s_waitcnt vmcnt(0)
s_setpc_b64 s[30:31]",
        "clobbered-by-call",
    );
    assert!(said.contains("v41, which the call of `f` has changed, is stored to global memory"), "{said}");
    assert!(said.contains("a call preserves v41: `f` has to save and restore it"), "{said}");
}

#[test]
fn a_preserved_sgpr_is_changed() {
    let after = format!("v_mov_b32 v41, s40\n{STORE}");
    let body = "!s_mov_b32 s16, s40\ns_mov_b32 s40, 5\n!s_mov_b32 s40, s16\ns_setpc_b64 s[30:31]";
    planted(&Program { before: "", after: &after, functions: &function("f", body) }, "clobbered-by-call");
}

#[test]
fn a_register_that_a_call_does_not_preserve_is_relied_on() {
    let after = format!("!v_mov_b32 v33, v0\nv_add_u32 v41, v41, v33\n{STORE}");
    let body = "v_mov_b32 v33, 3\nv_mov_b32 v0, 1\ns_setpc_b64 s[30:31]";
    let said =
        planted(&Program { before: "", after: &after, functions: &function("f", body) }, "clobbered-by-call");
    assert!(said.contains("a call does not preserve v33"), "{said}");
}

/// Results are read, and a register that is not read again is nobody's business.
#[test]
fn what_nobody_relies_on_is_no_bug() {
    let after = format!("v_add_u32 v41, v0, v1\n{STORE}");
    let body = "v_mov_b32 v0, 3\nv_mov_b32 v1, 4\nv_mov_b32 v33, 1\nv_mov_b32 v42, 2\ns_mov_b32 s41, 1\ns_setpc_b64 s[30:31]";
    run(&Program { before: "", after: &after, functions: &function("f", body) }).expect("nothing to report");
}

/// What is lost is found behind spills and moves, too.
#[test]
fn a_lost_register_is_found_behind_a_spill() {
    let after = format!(
        "buffer_store_dword v41, off, s[0:3], s33
v_mov_b32 v41, 0
buffer_load_dword v41, off, s[0:3], s33
s_waitcnt vmcnt(0)
{STORE}"
    );
    let body = "?v_mov_b32 v41, 5\ns_setpc_b64 s[30:31]";
    let said =
        planted(&Program { before: "", after: &after, functions: &function("f", body) }, "clobbered-by-call");
    assert!(said.contains("called `f`, which has changed v41"), "{said}");
}

/// `f` keeps an SGPR in a lane that is not active, and does not save the lane.
#[test]
fn lanes_that_are_not_active_are_changed() {
    let before = "v_mov_b32 v5, v0\ns_mov_b64 exec, 0xff";
    let after = "s_mov_b64 exec, -1\nglobal_store_dword v40, v5, s[34:35]";
    let body = "!s_or_saveexec_b64 s[18:19], -1
!buffer_store_dword v5, off, s[0:3], s32
!s_mov_b64 exec, s[18:19]
v_writelane_b32 v5, s40, 9
s_mov_b32 s40, 1
v_readlane_b32 s40, v5, 9
!s_or_saveexec_b64 s[18:19], -1
!buffer_load_dword v5, off, s[0:3], s32
!s_mov_b64 exec, s[18:19]
!s_waitcnt vmcnt(0)
s_setpc_b64 s[30:31]";
    let said = planted(&Program { before, after, functions: &function("f", body) }, "clobbered-by-call");
    assert!(said.contains("a call preserves v5 in lanes that are not active"), "{said}");
}

#[test]
fn the_stack_pointer_is_wrong() {
    let said = planted_in(
        "s_add_u32 s32, s32, 0x400\n!s_sub_u32 s32, s32, 0x400\ns_setpc_b64 s[30:31]",
        "stack-pointer",
    );
    assert!(said.contains("`f` returns with another stack pointer: s32 is 0x800, and was 0x400"), "{said}");
}

#[test]
fn the_frame_pointer_is_wrong() {
    planted_in(
        "s_mov_b32 s16, s33\ns_mov_b32 s33, s32\n!s_mov_b32 s33, s16\ns_setpc_b64 s[30:31]",
        "frame-pointer",
    );
}

#[test]
fn exec_is_not_restored() {
    planted_in(
        "s_mov_b64 s[16:17], exec\ns_mov_b64 exec, 1\n!s_mov_b64 exec, s[16:17]\ns_setpc_b64 s[30:31]",
        "exec-not-restored",
    );
}

#[test]
fn the_mode_is_not_restored() {
    planted_in(
        "s_getreg_b32 s16, hwreg(HW_REG_MODE, 4, 2)
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
s_nop 1
!s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s16
s_setpc_b64 s[30:31]",
        "mode-not-restored",
    );
}

#[test]
fn the_return_address_is_lost() {
    let f = format!(
        "!s_mov_b64 s[18:19], s[30:31]\n{}\n!s_mov_b64 s[30:31], s[18:19]\ns_setpc_b64 s[30:31]",
        call("g")
    );
    let functions = format!("{}{}", function("f", &f), function("g", "s_setpc_b64 s[30:31]"));
    let said = planted(&Program { before: "", after: STORE, functions: &functions }, "return-address");
    assert!(said.contains("behind a call of its own"), "{said}");
    assert!(said.contains("in `f`, called at"), "{said}");
}

#[test]
fn a_function_goes_into_another_one() {
    let g = "s_nop 0\nmiddle:\ns_setpc_b64 s[30:31]";
    let f = "s_getpc_b64 s[16:17]\nhere:\n?s_add_u32 s16, s16, middle-here\n!s_add_u32 s16, s16, own-here\ns_addc_u32 s17, s17, 0\ns_setpc_b64 s[16:17]\nown:\ns_setpc_b64 s[30:31]";
    let functions = format!("{}{}", function("f", f), function("g", g));
    let said = planted(&Program { before: "", after: STORE, functions: &functions }, "return-address");
    assert!(said.contains("which is in another function"), "{said}");
}

#[test]
fn a_call_in_place_of_a_return() {
    let f = call("g").replace("s_swappc_b64 s[30:31],", "s_setpc_b64");
    let g = "v_mov_b32 v41, 1\ns_add_u32 s32, s32, 0x400\ns_setpc_b64 s[30:31]";
    let functions = format!("{}{}", function("f", &f), function("g", g));
    let fault = run(&Program { before: "", after: STORE, functions: &functions }).expect_err("wrong");
    assert!(fault.to_string().contains("`g` returns with another stack pointer"), "{fault}");
}

#[test]
fn a_load_is_under_way_when_a_function_returns() {
    let after = format!("v_mov_b32 v41, v0\n{STORE}");
    let body = "global_load_dword v0, v40, s[34:35]\n!s_waitcnt vmcnt(0)\ns_setpc_b64 s[30:31]";
    planted(&Program { before: "", after: &after, functions: &function("f", body) }, "read-in-flight");
}

#[test]
fn a_function_does_not_wait_first() {
    let before = "global_load_dword v1, v40, s[34:35]";
    let body = "!s_waitcnt vmcnt(0)\nv_mov_b32 v41, v1\n?v_mov_b32 v41, v0\ns_waitcnt vmcnt(0)\ns_setpc_b64 s[30:31]";
    let after = "global_store_dword v40, v0, s[34:35]";
    let body = format!("!v_mov_b32 v2, v41\n{body}\n!v_mov_b32 v41, v2");
    let said = planted(&Program { before, after, functions: &function("f", &body) }, "read-in-flight");
    assert!(said.contains("in `f`, called at"), "{said}");
}

#[test]
fn what_nobody_has_written_is_told_by_its_frame() {
    let after = format!("v_mov_b32 v41, v0\n{STORE}");
    let body = "!v_mov_b32 v0, 1\n!buffer_store_dword v0, off, s[0:3], s32 offset:8
buffer_load_dword v0, off, s[0:3], s32 offset:8\ns_waitcnt vmcnt(0)\ns_setpc_b64 s[30:31]";
    let said = planted(
        &Program { before: "", after: &after, functions: &function("f", body) },
        "uninitialised-store",
    );
    assert!(said.contains("it is byte 8 of the frame of `f` on the stack"), "{said}");
}

/// `f` calls itself for ever, with a frame of 16 bytes.
fn endless(frame: &str) -> String {
    function("f", &format!("{frame}\nv_mov_b32 v42, v0\n{}\ns_setpc_b64 s[30:31]", call("f")))
}

#[test]
fn the_stack_overflows() {
    let functions = endless("buffer_store_dword v0, off, s[0:3], s32\ns_add_u32 s32, s32, 0x400");
    let fault = run(&Program { before: "", after: "", functions: &functions }).expect_err("it overflows");
    assert_eq!(fault.class(), FaultClass::Fault);
    let Fault::Scratch { offset: 256, size: 256, overflow: true, .. } = fault else { panic!("{fault}") };
    let text = fault.to_string();
    assert!(
        text.starts_with(
            "stack overflow: write of 4 bytes at 0x100 of a work-item's private memory, which has 256 bytes"
        ),
        "{text}"
    );
    assert!(text.contains("its size is what the kernel's descriptor asks for: 256 bytes"), "{text}");
    assert!(text.contains("`f` 0 bytes; `f` 16 bytes, 15 times; `k` 16 bytes"), "{text}");
    assert!(text.contains("of `f`; ... 14 more such calls\n    in `f`, called at"), "{text}");
}

fn at(fault: &Fault) -> &Location {
    fault.places().first().expect("a place")
}

/// However deep: memory is bounded, and the report is short.
#[test]
fn endless_recursion() {
    let fault = run(&Program { before: "", after: "", functions: &endless("") }).expect_err("no end");
    assert!(matches!(fault, Fault::Stuck { .. }), "{fault}");
    let calls = &at(&fault).calls;
    let all: u64 = calls.iter().map(|call| call.count + call.skipped).sum();
    assert!(all > 60_000 && calls.len() < 8, "{all} {fault}");
    assert!(fault.to_string().contains(" more"), "{fault}");
    assert_eq!(calls.last().map(|call| call.caller.as_str()), Some("k"));
}

/// So deep that calls are only counted, and all of them return.
#[test]
fn deep_recursion_comes_back() {
    let before = "s_mov_b32 s44, 0\ns_getpc_b64 s[42:43]\nhere:\ns_add_u32 s42, s42, after-here\ns_addc_u32 s43, s43, 0";
    let f = format!(
        "s_add_u32 s44, s44, 1
s_cmp_lt_u32 s44, 10000
s_cbranch_scc0 back
{}
back:
s_sub_u32 s44, s44, 1
s_cmp_eq_u32 s44, 0
s_cbranch_scc0 inner
s_mov_b64 s[30:31], s[42:43]
inner:
?s_cselect_b32 s32, 0, s32
s_setpc_b64 s[30:31]",
        call("f")
    );
    let said = planted(&Program { before, after: STORE, functions: &function("f", &f) }, "stack-pointer");
    assert!(said.contains("called at"), "{said}");
}

/// Two that call one another, with what a report shows of them.
#[test]
fn calls_of_two_functions_are_cut_off() {
    let f = format!("s_add_u32 s41, s41, 1\n{}\ns_setpc_b64 s[30:31]", call("g"));
    let g = format!(
        "s_cmp_gt_u32 s41, 30\ns_cbranch_scc1 out\n{}\nout:\ns_trap 2\ns_setpc_b64 s[30:31]",
        call("f")
    );
    let functions = format!("{}{}", function("f", &f), function("g", &g));
    let fault =
        run(&Program { before: "s_mov_b32 s41, 0", after: "", functions: &functions }).expect_err("a trap");
    let calls = &at(&fault).calls;
    assert_eq!(calls.len(), 12);
    let all: u64 = calls.iter().map(|call| call.count + call.skipped).sum();
    assert_eq!(all, 62);
    assert_eq!((calls[0].function.as_str(), calls[1].function.as_str()), ("g", "f"));
    assert!(calls[7].to_string().ends_with("; ... 50 more"), "{}", calls[7]);
}

/// What callers of `f` take for changed, what it is given and what it gives: VGPRs.
fn agreed(changed: &[u16], given: &[u16], results: &[u16]) -> Scramble {
    let set = |list: &[u16]| {
        let mut set = RegSet::default();
        list.iter().for_each(|&number| set.insert(RegRange { first: Reg::vgpr(number), len: 1 }));
        set
    };
    // The programs here call by address.
    let known =
        Agreement { pointed: set(changed), given: set(given), results: set(results), ..Default::default() };
    Scramble([("f".to_owned(), known)].into())
}

/// A caller goes on using what `f` may change, but does not.
#[test]
fn garbage_is_where_a_call_may_change_something() {
    let after = format!("v_add_u32 v41, v0, v33\n{STORE}");
    let functions = function("f", "v_mov_b32 v0, 1\ns_setpc_b64 s[30:31]");
    let program = Program { before: "", after: &after, functions: &functions };
    run(&program).expect("`f` leaves v33 alone");
    run_with(&program, agreed(&[0, 34], &[], &[0])).expect("it may not change v33");
    let Err(Fault::Found(report)) = run_with(&program, agreed(&[0, 33], &[], &[0])) else {
        panic!("nothing is found")
    };
    assert_eq!(report.rule, "clobbered-by-call");
    assert!(report.to_string().contains("called `f`, which has changed v33"), "{report}");
}

/// `f` reads what it is not given, which its caller happens to have left there.
#[test]
fn garbage_is_where_a_call_gives_nothing() {
    let functions = function("f", "v_mov_b32 v0, v33\ns_setpc_b64 s[30:31]");
    let after = format!("v_mov_b32 v41, v0\n{STORE}");
    let program = Program { before: "", after: &after, functions: &functions };
    run_with(&program, agreed(&[0, 33], &[33], &[0])).expect("it is given v33");
    let Err(Fault::Found(report)) = run_with(&program, agreed(&[0, 33], &[0], &[0])) else {
        panic!("nothing is found")
    };
    assert_eq!(report.rule, "clobbered-by-call");
}

/// A function may overwrite what it saves, although what was there is garbage.
#[test]
fn garbage_is_no_change_of_what_a_function_restores() {
    let functions = [
        function(
            "f",
            &format!(
                "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
buffer_store_dword v42, off, s[0:3], s32
v_writelane_b32 v43, s30, 0
v_writelane_b32 v43, s31, 1
s_add_u32 s32, s32, 0x400
{}
s_sub_u32 s32, s32, 0x400
v_readlane_b32 s30, v43, 0
v_readlane_b32 s31, v43, 1
buffer_load_dword v42, off, s[0:3], s32
s_waitcnt vmcnt(0)
s_setpc_b64 s[30:31]",
                call("g")
            ),
        ),
        function("g", "s_setpc_b64 s[30:31]"),
    ]
    .concat();
    let program = Program {
        before: "v_mov_b32 v42, 7",
        after: "v_mov_b32 v41, v42\nglobal_store_dword v40, v41, s[34:35]",
        functions: &functions,
    };
    let mut scramble = agreed(&[0, 42], &[], &[]);
    let inner = scramble.0.remove("f").expect("it is there");
    scramble.0.insert("g".to_owned(), inner);
    run_with(&program, scramble).expect("`f` restores v42");
}
