//! Selection of small kernels, judged by the verifier and by what must or must not appear.

use ir::parse::parse_module;
use isa::{MachFunc, Subtarget};

/// Selects the only kernel of a module and checks the invariants.
fn select(text: &str) -> (MachFunc, String) {
    let module = parse_module(text).unwrap_or_else(|error| panic!("{error}"));
    ir::verify::verify(&module).unwrap_or_else(|errors| panic!("{errors:?}"));
    let func = module.funcs.values().next().expect("a kernel");
    let target = Subtarget::by_name("gfx906").expect("a target");
    let mut ctx = isel::Context::new();
    let mach = isel::select(&module, func, &target, &isel::Options::default(), &mut ctx)
        .unwrap_or_else(|error| panic!("{error}"));
    let text = isel::verify::dump(&mach, &target);
    if let Err(errors) = isel::verify::verify(&mach, &target) {
        panic!("{}\n{text}", errors.join("\n"));
    }
    (mach, text)
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

const HEAD: &str = r#"
    param "n" "u32" u32 x 1 by_value at 0 size 4 align 4 pointee_align 0
    param "a" "f32" f32 x 1 by_value at 4 size 4 align 4 pointee_align 0
    param "x" "*const global f32" f32 x 1 buffer global at 8 size 8 align 8 pointee_align 4 const
    param "y" "*global f32" f32 x 1 buffer global at 16 size 8 align 8 pointee_align 4
    kernarg_size 24
    workgroup_size 256, 1, 1
"#;

fn kernel(body: &str) -> String {
    format!("kernel @k {{{HEAD}{body}}}")
}

#[test]
fn saxpy_with_small_buffers() {
    let (mach, text) = select(&kernel(
        "b0:
    v0 = kernarg_ptr.ptr.constant
    v1 = load.i32 b32 constant [v0] align 16 invariant
    v2 = global_id.i32 0
    v3 = icmp.ult v2, v1
    br v3, b1, b2
b1:
    v4 = load.f32 b32 constant [v0 + 4] align 4 invariant
    v5, v6 = load.ptr.global b64 constant [v0 + 8] align 8 invariant
    v7 = const.i32 2
    v8 = shl.i32 v2, v7
    v9 = ptr_add_z.ptr.global v5, v8
    v10 = load.f32 b32 global [v9] align 4
    v11 = ptr_add_z.ptr.global v6, v8
    v12 = load.f32 b32 global [v11] align 4
    v13 = fma.f32 v4, v10, v12
    store b32 global [v11], v13 align 4
    jump b2
b2:
    ret
",
    ));
    let insts: usize = mach.blocks.values().map(|b| b.insts.len()).sum();
    assert!(insts <= 14, "{text}");
    assert_eq!(count(&text, "saveexec"), 0, "nothing is restored before the end\n{text}");
    assert_eq!(mach.abi.workgroup_id, [true, false, false]);
}

#[test]
fn saxpy_with_wide_offsets() {
    let (mach, text) = select(&kernel(
        "b0:
    v0 = kernarg_ptr.ptr.constant
    v1 = load.i32 b32 constant [v0] align 16 invariant
    v2 = global_id.i32 0
    v3 = icmp.ult v2, v1
    br v3, b1, b2
b1:
    v4 = load.f32 b32 constant [v0 + 4] align 4 invariant
    v5, v6 = load.ptr.global b64 constant [v0 + 8] align 8 invariant
    v7 = const.i64 2
    v20 = zext.i64 v2
    v8 = shl.i64 v20, v7
    v9 = ptr_add.ptr.global v5, v8
    v10 = load.f32 b32 global [v9] align 4
    v11 = ptr_add.ptr.global v6, v8
    v12 = load.f32 b32 global [v11] align 4
    v13 = fma.f32 v4, v10, v12
    store b32 global [v11], v13 align 4
    jump b2
b2:
    ret
",
    ));
    let insts: usize = mach.blocks.values().map(|b| b.insts.len()).sum();
    assert!(insts <= 18, "{text}");
}

/// A body between the loads of `x` (`v90`), the global id (`v1`), the value there (`v2`, divergent), `n` (`v3`,
/// uniform) and a store of `v9`.
fn around(body: &str) -> String {
    kernel(&format!(
        "b0:
    v0 = kernarg_ptr.ptr.constant
    v1 = global_id.i32 0
    v3 = load.i32 b32 constant [v0] align 16 invariant
    v90 = load.ptr.global b64 constant [v0 + 8] align 8 invariant
    v91 = const.i32 2
    v92 = shl.i32 v1, v91
    v93 = ptr_add_z.ptr.global v90, v92
    v2 = load.i32 b32 global [v93] align 4
    v94 = const.i32 0
    v95 = const.i32 1
    v96 = const.i32 7
{body}
    store b32 global [v93], v9 align 4
    ret
"
    ))
}

#[test]
fn both_sides_of_a_branch_share_one_save() {
    let (_, text) = select(&around(
        "v10 = icmp.ult v2, v96
    br v10, b1, b2
b1:
    v11 = load.i32 b32 global [v93 + 4] align 4
    jump b3(v11)
b2:
    v12 = load.i32 b32 global [v93 + 8] align 4
    jump b3(v12)
b3(v9: i32):",
    ));
    assert_eq!(count(&text, "s_and_saveexec_b64"), 1, "{text}");
    assert_eq!(count(&text, "s_mov_b64 exec"), 1, "the join restores\n{text}");
    assert_eq!(count(&text, "s_andn2_b64 exec"), 1, "the far side is what is left\n{text}");
    assert_eq!(count(&text, "s_cbranch_execz"), 2, "both sides load: both are worth skipping\n{text}");
}

#[test]
fn a_short_side_is_not_skipped() {
    let (_, text) = select(&around(
        "v10 = icmp.ult v2, v96
    br v10, b1, b2(v2)
b1:
    v11 = mul.i32 v2, v2
    jump b2(v11)
b2(v9: i32):",
    ));
    assert_eq!(count(&text, "s_cbranch_execz"), 0, "{text}");
}

#[test]
fn uniform_branches_jump() {
    let (_, text) = select(&around(
        "v10 = icmp.ult v3, v96
    br v10, b1, b2(v2)
b1:
    v11 = mul.i32 v2, v2
    jump b2(v11)
b2(v9: i32):",
    ));
    assert_eq!(count(&text, "s_cbranch_scc"), 1, "{text}");
    assert_eq!(count(&text, "exec"), 0, "{text}");
}

#[test]
fn a_loop_that_lanes_leave_one_by_one() {
    let (mach, text) = select(&around(
        "jump b1(v2, v94)
b1(v10: i32, v11: i32):
    v12 = add.i32 v11, v95
    v13 = lshr.i32 v10, v95
    v14 = icmp.ne v13, v94
    br v14, b1(v13, v12), b2
b2:
    v9 = add.i32 v12, v2",
    ));
    assert_eq!(count(&text, "s_cbranch_execz"), 1, "one test an iteration\n{text}");
    assert!(text.contains("s_mov_b64 exec"), "all lanes go on behind the loop\n{text}");
    assert!(mach.blocks.values().any(|block| block.depth == 1));
    // The counter is uniform in the loop; behind it each lane has its own.
    assert_eq!(count(&text, "s_add_u32"), 1, "{text}");
}

#[test]
fn lanes_that_return_from_a_loop_are_collected_in_masks() {
    let (_, text) = select(&around(
        "jump b1(v94)
b1(v11: i32):
    v12 = add.i32 v11, v95
    v13 = icmp.eq v12, v2
    br v13, b4, b2
b4:
    store b32 global [v93 + 64], v12 align 4
    ret
b2:
    v14 = icmp.ult v12, v2
    br v14, b1(v12), b3
b3:
    v9 = add.i32 v2, v3",
    ));
    // Neither exit gets all lanes of the loop, and none come to one with the program counter.
    assert_eq!(count(&text, "s_mov_b64 exec, %"), 2, "{text}");
    assert_eq!(count(&text, "s_or_b64 %"), 2, "masks grow over iterations\n{text}");
}

#[test]
fn a_bool_that_leaves_a_join_is_a_mask_again() {
    let (_, text) = select(&around(
        "v10 = icmp.ult v2, v96
    v11 = icmp.eq v2, v3
    br v10, b1, b2(v11)
b1:
    v12 = load.i32 b32 global [v93 + 4] align 4
    v13 = icmp.eq v12, v94
    jump b2(v13)
b2(v14: bool):
    v9 = select.i32 v14, v2, v1",
    ));
    assert!(text.contains("v_cmp_ne_u32"), "{text}");
    assert!(count(&text, "v_cndmask_b32") >= 3, "{text}");
}

#[test]
fn what_an_operation_takes_in_is_not_emitted() {
    let (_, text) = select(&around(
        "v10 = shl.i32 v2, v91
    v11 = add.i32 v10, v1
    v12 = xor.i32 v11, v3
    v13 = add.i32 v12, v2
    v14 = bitcast.f32 v13
    v15 = fneg.f32 v14
    v16 = fabs.f32 v15
    v17 = fneg.f32 v16
    v18 = fma.f32 v17, v14, v15
    v9 = bitcast.i32 v18",
    ));
    assert!(text.contains("v_lshl_add_u32"), "{text}");
    assert!(text.contains("v_xad_u32"), "{text}");
    assert_eq!(count(&text, "v_xor_b32"), 0, "{text}");
    assert!(text.contains("-|%"), "{text}");
    assert_eq!(count(&text, "v_and_b32"), 0, "{text}");
}

#[test]
fn a_second_scalar_operand_is_moved() {
    let (_, text) = select(&around(
        "v10 = load.f32 b32 constant [v0 + 4] align 4 invariant
    v11 = bitcast.f32 v3
    v12 = bitcast.f32 v2
    v13 = fma.f32 v10, v12, v11
    v14 = const.f32 0.3
    v15 = fma.f32 v13, v12, v14
    v9 = bitcast.i32 v15",
    ));
    assert_eq!(count(&text, "copy"), 5, "one move, one constant, three bit casts\n{text}");
}

#[test]
fn kernel_arguments_come_in_few_loads() {
    let (_, text) = select(&around(
        "v10 = load.ptr.global b64 constant [v0 + 16] align 16 invariant
    v11 = load.i32 b32 constant [v0 + 4] align 4 invariant
    store b32 global [v10], v11 align 4
    v9 = add.i32 v2, v3",
    ));
    assert_eq!(count(&text, "s_load_dword"), 2, "{text}");
    assert!(text.contains("s_load_dwordx4"), "{text}");
}

#[test]
fn division_is_expanded_before_the_classes_are_known() {
    let (_, text) = select(&around("v10 = udiv.i32 v3, v96\n v11 = udiv.i32 v2, v3\n v9 = add.i32 v10, v11"));
    assert_eq!(count(&text, "v_rcp_f32"), 2, "{text}");
    assert!(text.contains("v_readfirstlane_b32"), "the uniform quotient goes on in scalar registers\n{text}");
}

#[test]
fn a_load_that_nobody_uses_is_not_made() {
    let (_, text) = select(&around("v10 = load.i32 b32 global [v93 + 4] align 4\n v9 = add.i32 v2, v3"));
    assert_eq!(count(&text, "global_load_dword"), 1, "{text}");
}

#[test]
fn a_barrier_stands_between_two_fences() {
    let (mach, _) = select(&around("barrier\n v9 = add.i32 v2, v3"));
    let ops: Vec<isa::Opcode> = mach.blocks.values().flat_map(|b| &b.insts).map(|inst| inst.op).collect();
    let at = ops.iter().position(|&op| op == isa::op::S_BARRIER).expect("a barrier");
    assert_eq!([ops[at - 1], ops[at + 1]], [isa::op::FENCE; 2]);
}

#[test]
fn generic_pointers_are_made_from_apertures() {
    let text = around(
        "v10 = global_addr.ptr.shared @tile
    v11 = shl.i32 v2, v91
    v12 = ptr_add.ptr.shared v10, v11
    v13 = spacecast.ptr.generic v12
    v9 = load.i32 b32 generic [v13 + 8] align 4",
    );
    let (_, text) = select(&format!("shared @tile size 1024 align 4\n{text}"));
    assert_eq!(count(&text, "src_shared_base"), 1, "{text}");
    assert_eq!(count(&text, "flat_load_dword"), 1, "{text}");
    assert!(text.contains("offset:8"), "{text}");
}

#[test]
fn two_places_in_lds_are_read_at_once() {
    let text = around(
        "v10 = global_addr.ptr.shared @tile
    v11 = shl.i32 v1, v91
    v12 = ptr_add.ptr.shared v10, v11
    v13 = load.i32 b32 shared [v12 + 4] align 4
    v14 = load.i32 b32 shared [v12 + 64] align 4
    v15 = load.i32 b32 shared [v12 + 2048] align 4
    store b32 shared [v12], v14 align 4
    v16 = load.i32 b32 shared [v12 + 2052] align 4
    v17 = add.i32 v13, v14
    v18 = add.i32 v15, v16
    v9 = mul.i32 v17, v18",
    );
    let (_, text) = select(&format!("shared @tile size 16384 align 4\n{text}"));
    assert!(text.contains("offset0:1 offset1:16"), "{text}");
    // A store stands between the other two.
    assert_eq!(count(&text, "ds_read_b32"), 2, "{text}");
}
