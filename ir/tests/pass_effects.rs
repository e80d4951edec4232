//! What single passes are for, shown on small kernels: each test looks at what the pipeline leaves.

use ir::parse::parse_module;
use ir::passes::{OptOptions, PassContext, optimize};
use ir::verify::verify;
use ir::{Function, MemFlags, Module, Op, Space, Type};
use std::ops::ControlFlow;

fn optimized(text: &str, level: u8) -> Module {
    let mut module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&module).unwrap_or_else(|e| panic!("{}\n{text}", e[0]));
    let opts = OptOptions { level, ..OptOptions::default() };
    let _ = optimize(&mut module, &opts, &mut PassContext::default(), &mut |pass, module| {
        verify(module).unwrap_or_else(|e| panic!("after {pass}: {}\n{module}", e[0]));
        ControlFlow::Continue(())
    });
    module
}

/// A kernel with a 64-bit pointer `v0`, the global id `v1` and an argument `v2`.
fn kernel(items: &str, slots: &str, body: &str) -> String {
    format!(
        "{items}\nkernel @k {{\n    kernarg_size 16\n    workgroup_size 64, 1, 1\n    {slots}\nb0:\n    \
         v100 = kernarg_ptr.ptr.constant\n    v0 = load.ptr.global b64 constant [v100] align 8 invariant\n    \
         v1 = global_id.i32 0\n    v2 = load.i32 b32 constant [v100 + 8] align 8 invariant\n{body}\n}}\n"
    )
}

fn only(module: &Module) -> &Function {
    module.funcs.values().next().expect("a kernel")
}

fn count(module: &Module, wanted: impl Fn(&Op) -> bool) -> usize {
    let func = only(module);
    func.layout.iter().flat_map(|&b| &func.blocks[b].insts).filter(|&&i| wanted(&func.insts[i].op)).count()
}

#[test]
fn calls_are_inlined_and_functions_dropped() {
    let callee = "func @twice -> i32 {\nb0(v0: i32):\n    v1 = add.i32 v0, v0\n    ret v1\n}\n".to_string();
    let body =
        "v3: i32 = call @twice(v1)\n v4: i32 = call @twice(v3)\n store b32 global [v0], v4 align 4\n ret";
    let module = optimized(&(callee + &kernel("", "", body)), 1);
    assert_eq!(module.funcs.len(), 1);
    assert_eq!(count(&module, |op| matches!(op, Op::Call(_))), 0);
    // x + x + (x + x) is one shift.
    assert_eq!(count(&module, |op| matches!(op, Op::Bin(_))), 1);
}

#[test]
fn private_arrays_become_values_when_loops_are_unrolled() {
    let body = "
    v3 = const.i32 0
    v4 = const.i32 8
    v5 = const.i32 1
    v6 = const.i32 2
    v7 = slot_addr.ptr.private slot0
    jump b1(v3)
b1(v8: i32):
    v9 = icmp.ult v8, v4
    br v9, b2, b3(v3, v3)
b2:
    v10 = shl.i32 v8, v6
    v11 = ptr_add.ptr.private v7, v10
    v12 = mul.i32 v1, v8
    store b32 private [v11], v12 align 4
    v13 = add.i32 v8, v5
    jump b1(v13)
b3(v14: i32, v15: i32):
    v16 = icmp.ult v14, v4
    br v16, b4, b5
b4:
    v17 = shl.i32 v14, v6
    v18 = ptr_add.ptr.private v7, v17
    v19 = load.i32 b32 private [v18] align 4
    v20 = add.i32 v15, v19
    v21 = add.i32 v14, v5
    jump b3(v21, v20)
b5:
    store b32 global [v0], v15 align 4
    ret";
    let module = optimized(&kernel("", "slot0 size 32 align 4", body), 2);
    assert_eq!(only(&module).slots.len(), 0, "{module}");
    assert_eq!(only(&module).layout.len(), 1, "{module}");
}

#[test]
fn a_counted_loop_has_one_branch_and_invariants_before_it() {
    // for i in 0..n { sum += p[i] * (id * 3) }
    let body = "
    v3 = const.i32 0
    v4 = const.i32 1
    v5 = const.i32 3
    v6 = const.i32 2
    jump b1(v3, v3)
b1(v7: i32, v8: i32):
    v9 = icmp.ult v7, v2
    br v9, b2, b3
b2:
    v10 = mul.i32 v1, v5
    v11 = shl.i32 v7, v6
    v12 = ptr_add_z.ptr.global v0, v11
    v13 = load.i32 b32 global [v12] align 4 invariant
    v14 = mul.i32 v13, v10
    v15 = add.i32 v8, v14
    v16 = add.i32 v7, v4
    jump b1(v16, v15)
b3:
    store b32 global [v0], v8 align 4
    ret";
    let module = optimized(&kernel("", "", body), 2);
    let func = only(&module);
    let cfg = ir::analysis::Cfg::new(func);
    let loops = ir::analysis::LoopForest::new(&cfg);
    let l = loops.loops().next().expect("a loop");
    assert_eq!(loops.blocks(l).len(), 1, "{module}");
    let multiplications = func.blocks[loops.header(l)]
        .insts
        .iter()
        .filter(|&&i| func.insts[i].op == Op::Bin(ir::BinOp::Mul))
        .count();
    assert_eq!(multiplications, 1, "{module}");
}

#[test]
fn a_promise_makes_offsets_32_bits_wide() {
    let body = |promise: &str| {
        format!(
            "
    v3 = const.i32 1073741824
    v4 = icmp.ule v2, v3
    {promise}
    v5 = icmp.ult v1, v2
    br v5, b1, b2
b1:
    v6 = zext.i64 v1
    v7 = const.i32 2
    v8 = shl.i64 v6, v7
    v9 = ptr_add.ptr.global v0, v8
    store b32 global [v9], v1 align 4
    jump b2
b2:
    ret"
        )
    };
    let with = optimized(&kernel("", "", &body("assume v4")), 1);
    assert_eq!(count(&with, |op| *op == Op::PtrAddZ), 1, "{with}");
    assert_eq!(count(&with, |op| matches!(op, Op::PtrAdd | Op::Assume)), 0, "{with}");
    let without = optimized(&kernel("", "", &body("")), 1);
    assert_eq!(count(&without, |op| *op == Op::PtrAdd), 1, "{without}");
}

#[test]
fn constants_leave_offsets_that_cannot_wrap() {
    // p[16 * i + 1], p[16 * i + 2]: the low bits of 16 * i are zero, so no sum wraps.
    let body = "
    v3 = const.i32 4
    v4 = shl.i32 v1, v3
    v5 = const.i32 1
    v6 = const.i32 2
    v7 = add.i32 v4, v5
    v8 = add.i32 v4, v6
    v9 = shl.i32 v7, v6
    v10 = shl.i32 v8, v6
    v11 = ptr_add_z.ptr.global v0, v9
    v12 = ptr_add_z.ptr.global v0, v10
    v13 = load.i32 b32 global [v11] align 4
    v14 = load.i32 b32 global [v12] align 4
    v15 = add.i32 v13, v14
    store b32 global [v0], v15 align 4
    ret";
    let module = optimized(&kernel("", "", body), 1);
    let wide =
        |op: &Op| matches!(op, Op::Load { mem, count: 2 } if mem.space == Space::Global && mem.offset == 4);
    assert_eq!(count(&module, wide), 1, "{module}");
    // 3 * i + 1 may wrap: 3 * 0x55555555 is the largest offset there is.
    let body = body.replace("const.i32 4", "const.i32 3").replace("shl.i32 v1, v3", "mul.i32 v1, v3");
    let module = optimized(&kernel("", "", &body), 1);
    assert_eq!(count(&module, wide), 0, "{module}");
}

#[test]
fn neighbours_merge_as_far_as_alignment_and_aliasing_allow() {
    let loads = |space: &str, ptr: &str, between: &str| {
        format!(
            "
    v3 = load.f32 b32 {space} [{ptr}] align 4
    {between}
    v4 = load.f32 b32 {space} [{ptr} + 4] align 4
    v5 = fadd.f32 v3, v4
    store b32 global [v0 + 64], v5 align 4
    ret"
        )
    };
    let wide = |op: &Op| matches!(op, Op::Load { mem, count: 2 } if mem.space != Space::Constant);
    let global = optimized(&kernel("", "", &loads("global", "v0", "")), 1);
    assert_eq!(count(&global, wide), 1, "{global}");
    let store = "store b32 global [v6], v1 align 4";
    let between = format!("v7 = const.i64 400\n v8 = zext.i64 v1\n v6 = ptr_add.ptr.global v0, v8\n {store}");
    let stored = optimized(&kernel("", "", &loads("global", "v0", &between)), 1);
    assert_eq!(count(&stored, wide), 0, "{stored}");
    let fenced = optimized(&kernel("", "", &loads("global", "v0", "barrier")), 1);
    assert_eq!(count(&fenced, wide), 0, "{fenced}");
    // A work-group array is aligned for wide access; a pointer that is only known to be a multiple of 4 is not.
    let shared = "v9 = global_addr.ptr.shared @s\n";
    let aligned = optimized(
        &kernel("shared @s size 64 align 4", "", &(shared.to_string() + &loads("shared", "v9", ""))),
        1,
    );
    assert_eq!(count(&aligned, wide), 1, "{aligned}");
    let offset = "v9 = global_addr.ptr.shared @s\n v10 = const.i32 2\n v11 = shl.i32 v1, v10\n v12 = ptr_add.ptr.shared v9, v11\n";
    let unaligned = optimized(
        &kernel("shared @s size 64 align 4", "", &(offset.to_string() + &loads("shared", "v12", ""))),
        1,
    );
    assert_eq!(count(&unaligned, wide), 0, "{unaligned}");
}

#[test]
fn short_circuits_and_small_choices_need_no_branches() {
    // if a && b { x = 1 } else { x = 2 }
    let body = "
    v3 = const.i32 10
    v4 = icmp.ult v1, v3
    br v4, b1, b3
b1:
    v5 = icmp.ugt v2, v3
    br v5, b2, b3
b2:
    v6 = const.i32 1
    jump b4(v6)
b3:
    v7 = const.i32 2
    jump b4(v7)
b4(v8: i32):
    store b32 global [v0], v8 align 4
    ret";
    let module = optimized(&kernel("", "", body), 1);
    assert_eq!(only(&module).layout.len(), 1, "{module}");
    assert_eq!(count(&module, |op| *op == Op::Select), 1, "{module}");
    // A load is not executed in vain.
    let guarded = body.replace("v6 = const.i32 1", "v6 = load.i32 b32 global [v0 + 8] align 4");
    let module = optimized(&kernel("", "", &guarded), 1);
    assert!(only(&module).layout.len() > 1, "{module}");
}

#[test]
fn memory_is_read_once_until_it_may_have_changed() {
    let body = |between: &str| {
        format!(
            "
    v3 = load.i32 b32 global [v0 + 4] align 4
    {between}
    v4 = load.i32 b32 global [v0 + 4] align 4
    v5 = add.i32 v3, v4
    store b32 global [v0 + 12], v5 align 4
    ret"
        )
    };
    let loads = |op: &Op| matches!(op, Op::Load { mem, .. } if !mem.flags.contains(MemFlags::INVARIANT));
    let reads = |between: &str| count(&optimized(&kernel("", "", &body(between)), 2), loads);
    assert_eq!(reads(""), 1);
    assert_eq!(reads("store b32 global [v0 + 8], v1 align 4"), 1);
    assert_eq!(reads("store b32 global [v0 + 4], v1 align 4"), 1);
    assert_eq!(
        reads("v6 = zext.i64 v1\n v7 = ptr_add.ptr.global v0, v6\n store b32 global [v7], v1 align 4"),
        2
    );
    assert_eq!(reads("barrier"), 2);
}

#[test]
fn dead_loop_variables_and_their_computation_go() {
    let body = "
    v3 = const.i32 0
    v4 = const.i32 1
    jump b1(v3, v3, v1)
b1(v5: i32, v6: i32, v7: i32):
    v8 = add.i32 v5, v4
    v9 = mul.i32 v6, v7
    v10 = icmp.ult v8, v2
    br v10, b1(v8, v9, v9), b2
b2:
    store b32 global [v0], v5 align 4
    ret";
    let module = optimized(&kernel("", "", body), 0);
    assert_eq!(count(&module, |op| *op == Op::Bin(ir::BinOp::Mul)), 0, "{module}");
    let func = only(&module);
    let params: usize = func.layout.iter().map(|&b| func.params(b).len()).sum();
    assert_eq!(params, 1, "{module}");
    assert!(func.layout.iter().flat_map(|&b| func.params(b)).all(|&v| func.ty(v) == Type::I32));
}
