//! What single passes are for, shown on small kernels: each test looks at what the pipeline leaves.

use ir::parse::parse_module;
use ir::passes::inline::Calls;
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

fn only_function(module: &Module) -> &Function {
    module.funcs.values().next().expect("a kernel")
}

fn count(module: &Module, wanted: impl Fn(&Op) -> bool) -> usize {
    let func = only_function(module);
    func.layout.iter().flat_map(|&b| func.blocks[b].insts()).filter(|&&i| wanted(&func.insts[i].op)).count()
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
    assert_eq!(only_function(&module).slots.len(), 0, "{module}");
    assert_eq!(only_function(&module).layout.len(), 1, "{module}");
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
    let func = only_function(&module);
    let cfg = ir::analysis::Cfg::new(func);
    let loops = ir::analysis::LoopForest::new(&cfg);
    let l = loops.loops().next().expect("a loop");
    assert_eq!(loops.blocks(l).len(), 1, "{module}");
    let multiplications = func.blocks[loops.header(l)]
        .insts()
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
    assert_eq!(only_function(&module).layout.len(), 1, "{module}");
    assert_eq!(count(&module, |op| *op == Op::Select), 1, "{module}");
    // A load is not executed in vain.
    let guarded = body.replace("v6 = const.i32 1", "v6 = load.i32 b32 global [v0 + 8] align 4");
    let module = optimized(&kernel("", "", &guarded), 1);
    assert!(only_function(&module).layout.len() > 1, "{module}");
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
    let func = only_function(&module);
    let params: usize = func.layout.iter().map(|&b| func.params(b).len()).sum();
    assert_eq!(params, 1, "{module}");
    assert!(func.layout.iter().flat_map(|&b| func.params(b)).all(|&v| func.ty(v) == Type::I32));
}

/// The module after the pipeline with calls that become copies by their cost.
fn optimized_by_cost(text: &str) -> Module {
    let mut module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&module).unwrap_or_else(|e| panic!("{}\n{text}", e[0]));
    let opts = OptOptions { calls: Calls::ByCost, ..OptOptions::default() };
    let _ = optimize(&mut module, &opts, &mut PassContext::default(), &mut |pass, module| {
        verify(module).unwrap_or_else(|e| panic!("after {pass}: {}\n{module}", e[0]));
        ControlFlow::Continue(())
    });
    module
}

/// A function of some `size` multiplications, with an attribute line.
fn powers(head: &str, wish: &str, size: usize) -> String {
    let mut text = format!("{head} -> i32 {{\n{wish}\nb0(v0: i32):\n");
    for n in 1..=size {
        text += &format!("    v{n} = mul.i32 v{}, v0\n", n - 1);
    }
    text + &format!("    ret v{size}\n}}\n")
}

fn names(module: &Module) -> Vec<&str> {
    module.funcs.values().map(|func| func.name.as_str()).collect()
}

#[test]
fn functions_stay_where_copies_are_larger() {
    let call = |times: usize| {
        let calls: String = (0..times)
            .map(|n| format!("v{}: i32 = call @f(v{})\n", 10 + n, if n == 0 { 1 } else { 9 + n }))
            .collect();
        kernel("", "", &format!("{calls} store b32 global [v0], v{} align 4\n ret", 9 + times))
    };
    let kept = |wish: &str, size: usize, times: usize| {
        let module = optimized_by_cost(&(powers("func @f", wish, size) + &call(times)));
        names(&module) == ["f", "k"]
    };
    // Large and called twice; called once; small; as the user wants it.
    assert_eq!([kept("", 100, 2), kept("", 100, 1), kept("", 10, 8)], [true, false, false]);
    assert_eq!([kept("inline always", 100, 2), kept("inline never", 1, 1)], [false, true]);
    // All that can, unless somebody chooses: what another object may call is there all the same.
    let module = optimized(&(powers("func @f", "", 100) + &call(3)), 2);
    assert_eq!(names(&module), ["k"]);
    let module = optimized(&(powers("export func @f", "", 100) + &call(3)), 2);
    assert_eq!((names(&module), count_in(&module, 1, |op| op.is_call())), (vec!["f", "k"], 0));
}

fn count_in(module: &Module, func: usize, wanted: impl Fn(&Op) -> bool) -> usize {
    let func = module.funcs.values().nth(func).expect("a function");
    func.layout.iter().flat_map(|&b| func.blocks[b].insts()).filter(|&&i| wanted(&func.insts[i].op)).count()
}

#[test]
fn what_is_needed_by_address_stays() {
    let text = "constant @table size 8 align 8\n func_at 0 @listed\nfunc @listed {\nb0:\n ret\n}\n\
                func @dead {\nb0:\n v0 = func_addr.i64 @only_of_dead\n ret\n}\nfunc @only_of_dead {\nb0:\n ret\n}\n\
                func @taken -> i64 {\nb0:\n v0 = func_addr.i64 @taken\n ret v0\n}\n";
    let body = "v3: i64 = call @taken()\n store b64 global [v0], v3 align 8\n ret";
    let module = optimized(&kernel(text, "", body), 2);
    assert_eq!(names(&module), ["listed", "taken", "k"]);
    assert_eq!(module.globals.values().next().unwrap().funcs, [(0, ir::FuncId::from_u32(0))]);
}

/// A call between two reads of a private variable, in a loop, whose address the callee has or has not.
fn around_call(callee: &str, argument: &str) -> usize {
    let body = format!(
        "
    v3 = slot_addr.ptr.private slot0
    v4 = slot_addr.ptr.private slot1
    v5 = const.i32 0
    v6 = const.i32 1
    v14 = const.i32 7
    v15 = and.i32 v2, v14
    v16 = const.i32 2
    v17 = shl.i32 v15, v16
    v18 = ptr_add.ptr.private v3, v17
    store b32 private [v18], v2 align 4
    jump b1(v5)
b1(v7: i32):
    v8 = load.i32 b32 private [v18] align 4
    call @{callee}({argument})
    v9 = load.i32 b32 private [v18] align 4
    v10 = add.i32 v8, v9
    v11 = add.i32 v7, v6
    v12 = ptr_add_z.ptr.global v0, v7
    store b32 global [v12], v10 align 4
    v13 = icmp.ult v11, v2
    br v13, b1(v11), b2
b2:
    ret"
    );
    let items = "func @writes {\n inline never\nb0(v0: ptr.private):\n v1 = const.i32 9\n store b32 private [v0], v1 \
                 align 4\n ret\n}\nfunc @reads {\n inline never\nb0(v0: ptr.private):\n v1 = load.i32 b32 private [v0] \
                 align 4\n ret\n}\n";
    let text = kernel(items, "slot0 size 32 align 4\n slot1 size 4 align 4", &body);
    let module = optimized(&text, 2);
    let loads = |op: &Op| matches!(op, Op::Load { mem, .. } if mem.space == Space::Private);
    count_in(&module, module.funcs.len() - 1, loads)
}

#[test]
fn a_call_changes_what_its_callee_can_reach() {
    // The variable itself; another one, and a callee that only reads, which is gone.
    assert_eq!(
        [around_call("writes", "v3"), around_call("writes", "v4"), around_call("reads", "v3")],
        [2, 0, 0]
    );
}
