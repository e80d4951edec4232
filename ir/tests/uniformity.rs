//! Uniformity: each way a value can become divergent, and the closing of divergent loops.

use ir::analysis::{Analyses, lcssa_divergent_exits};
use ir::parse::parse_function;
use ir::verify::verify_function;
use ir::{Block, Function, Value};

fn analysed(text: &str) -> (Function, Analyses) {
    let func = parse_function(text).unwrap_or_else(|e| panic!("{e}"));
    if let Err(errors) = verify_function(&func, None) {
        panic!("{}", errors[0]);
    }
    let mut analyses = Analyses::default();
    analyses.compute(&func);
    (func, analyses)
}

/// The numbers of the divergent values.
fn divergent(text: &str) -> Vec<u32> {
    let (func, a) = analysed(text);
    func.values.keys().filter(|&v| a.uniformity.is_divergent(v)).map(|v| v.as_u32()).collect()
}

fn block(n: u32) -> Block {
    Block::from_u32(n)
}

fn value(n: u32) -> Value {
    Value::from_u32(n)
}

#[test]
fn origins_and_data() {
    let text = "kernel @k {
    workgroup_size 64, 1, 1
    slot0 size 4 align 4
b0:
    v0 = local_id.i32 0
    v1 = local_id.i32 1
    v2 = group_id.i32 0
    v3 = add.i32 v1, v2
    v4 = add.i32 v3, v0
    v5 = kernarg_ptr.ptr.constant
    v6 = load.ptr.global b64 constant [v5] align 8 invariant
    v7 = load.i32 b32 global [v6] align 4
    v8 = load.i32 b32 global [v6] align 4 volatile
    v9 = load.i32 b32 global [v6] align 4 atomic relaxed agent
    v10 = atomic_add.i32 b32 global [v6], v2 align 4 atomic relaxed agent
    v11 = ptr_add_z.ptr.global v6, v0
    v12 = load.i32 b32 global [v11] align 4
    v13 = slot_addr.ptr.private slot0
    v14 = load.i32 b32 private [v13] align 4
    v15 = icmp.eq v0, v2
    v16 = ballot.i64 v15
    v17 = mbcnt.i32 v16
    v18 = read_first_lane.i32 v0
    v19 = shuffle.i32 v2, v2
    v20 = lane_id.i32
    v21 = global_id.i32 2
    v22 = clock.i64
    ret
}";
    assert_eq!(divergent(text), [0, 4, 8, 9, 10, 11, 12, 14, 15, 17, 19, 20]);
}

#[test]
fn parameters_of_functions_are_divergent() {
    assert_eq!(divergent("func @f -> i32 {\nb0(v0: i32):\n v1 = const.i32 1\n ret v1\n}"), [0]);
}

#[test]
fn joins_of_divergent_branches() {
    // v7 merges different values, v8 the same one; the uniform branch's join b6 stays uniform.
    let text = "kernel @k {
b0:
    v0 = local_id.i32 0
    v1 = group_id.i32 0
    v2 = const.i32 1
    v3 = icmp.ult v0, v2
    v4 = icmp.ult v1, v2
    br v3, b1, b2
b1:
    jump b3(v1, v2)
b2:
    jump b3(v2, v2)
b3(v7: i32, v8: i32):
    br v4, b4, b5
b4:
    jump b6(v1)
b5:
    jump b6(v2)
b6(v9: i32):
    ret
}";
    assert_eq!(divergent(text), [0, 3, 7]);
    let (_, a) = analysed(text);
    assert!(a.uniformity.is_branch_divergent(block(0)) && !a.uniformity.is_branch_divergent(block(3)));
    assert!(a.uniformity.is_join(block(3)) && !a.uniformity.is_join(block(6)));
}

#[test]
fn a_join_inside_one_side_of_a_uniform_branch_does_not_spread() {
    // The divergent branch of b1 joins in b4; b5, where b4 meets the uniform b2, is no join.
    let text = "kernel @k {
b0:
    v0 = local_id.i32 0
    v1 = group_id.i32 0
    v3 = icmp.ult v0, v1
    v4 = icmp.eq v1, v1
    br v4, b1, b2
b1:
    br v3, b3, b4(v0)
b3:
    jump b4(v1)
b4(v5: i32):
    jump b5(v1)
b2:
    v6 = add.i32 v1, v1
    jump b5(v6)
b5(v7: i32):
    ret
}";
    assert_eq!(divergent(text), [0, 3, 5]);
}

#[test]
fn both_edges_to_one_block_are_different_ways() {
    let text = "kernel @k {
b0:
    v0 = local_id.i32 0
    v1 = group_id.i32 0
    v2 = const.i32 1
    v3 = icmp.ult v0, v1
    br v3, b1(v1), b1(v2)
b1(v4: i32):
    ret
}";
    assert_eq!(divergent(text), [0, 3, 4]);
}

/// Lanes count to their number: the counter is uniform in the loop and not after it.
const COUNT: &str = "kernel @k {
b0:
    v0 = local_id.i32 0
    v1 = const.i32 0
    v2 = const.i32 1
    jump b1(v1)
b1(v3: i32):
    v4 = add.i32 v3, v2
    v5 = icmp.ult v4, v0
    v6 = const.i32 7
    br v5, b1(v4), b2
b2:
    v7 = add.i32 v4, v2
    v8 = add.i32 v6, v2
    ret
}";

#[test]
fn values_leave_a_divergent_loop_divergent() {
    let (func, a) = analysed(COUNT);
    let u = &a.uniformity;
    assert!(u.is_uniform(value(3)) && u.is_uniform(value(4)));
    assert!(u.is_divergent_at_use(&func, &a.loops, value(4), block(2)));
    assert!(!u.is_divergent_at_use(&func, &a.loops, value(4), block(1)));
    assert!(u.is_divergent(value(7)));
    assert!(u.is_uniform(value(8)), "a constant is the same in every iteration");
}

#[test]
fn closing_a_divergent_loop() {
    let (mut func, mut a) = analysed(COUNT);
    assert!(lcssa_divergent_exits(&mut func, &mut a));
    let text = func.to_string();
    assert!(text.contains("br v5, b1(v4), b2(v4)\nb2(v9: i32)"), "{text}");
    assert!(text.contains("v7 = add.i32 v9, v2"), "{text}");
    assert!(a.uniformity.is_divergent(value(9)));
    verify_function(&func, None).unwrap();
    assert!(!lcssa_divergent_exits(&mut func, &mut a), "nothing is left to do");
}

#[test]
fn a_uniform_loop_is_left_alone() {
    let text = COUNT.replace("local_id", "group_id");
    assert_eq!(divergent(&text), [0u32; 0]);
    let (mut func, mut a) = analysed(&text);
    assert!(!lcssa_divergent_exits(&mut func, &mut a));
}

#[test]
fn several_exits_of_a_divergent_loop_are_joins() {
    // A search: found (b3) or not (b2); the flag that b4 merges differs by lane.
    let text = "kernel @k {
b0:
    v0 = local_id.i32 0
    v1 = const.i32 0
    v2 = const.i32 100
    v10 = const.bool true
    v11 = const.bool false
    jump b1(v1)
b1(v3: i32):
    v4 = icmp.ult v3, v2
    br v4, b5, b4(v11, v1)
b5:
    v6 = icmp.eq v3, v0
    br v6, b4(v10, v3), b6
b6:
    v7 = const.i32 1
    v8 = add.i32 v3, v7
    jump b1(v8)
b4(v20: bool, v21: i32):
    ret
}";
    let (_, a) = analysed(text);
    let u = &a.uniformity;
    assert!(u.is_divergent(value(20)) && u.is_divergent(value(21)));
    assert!(u.is_uniform(value(3)) && u.is_uniform(value(8)) && u.is_uniform(value(4)));
    assert!(u.is_branch_divergent(block(5)) && !u.is_branch_divergent(block(1)));
    assert!(u.is_loop_divergent(a.loops.innermost(block(5)).unwrap()));
    assert!(!u.is_join(block(6)));
}

#[test]
fn lanes_that_continue_differently_meet_at_the_header() {
    let text = "kernel @k {
b0:
    v0 = local_id.i32 0
    v1 = group_id.i32 0
    v2 = const.i32 1
    jump b1(v1, v1)
b1(v3: i32, v4: i32):
    v5 = add.i32 v4, v2
    v6 = icmp.ult v0, v1
    v7 = icmp.ult v5, v1
    br v7, b2, b5
b2:
    br v6, b3, b4
b3:
    jump b1(v2, v5)
b4:
    jump b1(v1, v5)
b5:
    ret
}";
    assert_eq!(divergent(text), [0, 3, 6]);
    let (_, a) = analysed(text);
    assert!(a.uniformity.is_join(block(1)));
    assert!(!a.uniformity.is_loop_divergent(a.loops.innermost(block(1)).unwrap()));
}

#[test]
fn leaving_two_loops_at_once_parts_the_lanes_of_both() {
    // The inner loop b2 either goes on, continues the outer loop b1, or leaves both.
    let text = "kernel @k {
b0:
    v0 = local_id.i32 0
    v1 = const.i32 0
    v2 = const.i32 1
    jump b1(v1)
b1(v3: i32):
    v4 = add.i32 v3, v2
    jump b2(v1)
b2(v5: i32):
    v6 = add.i32 v5, v2
    v7 = icmp.eq v6, v0
    br v7, b5, b3
b3:
    v8 = icmp.ult v6, v4
    br v8, b2(v6), b4
b4:
    v9 = icmp.ult v4, v6
    br v9, b1(v4), b6
b5:
    v10 = add.i32 v4, v6
    jump b6
b6:
    ret
}";
    let (func, a) = analysed(text);
    let u = &a.uniformity;
    let inner = a.loops.innermost(block(2)).unwrap();
    let outer = a.loops.innermost(block(1)).unwrap();
    assert!(u.is_loop_divergent(inner) && u.is_loop_divergent(outer));
    assert!(u.is_divergent_at_use(&func, &a.loops, value(4), block(5)));
    assert!(u.is_divergent(value(9)), "v6 is seen from outside the inner loop");
    assert!(u.is_uniform(value(4)));
    assert!(u.is_join(block(6)));
}

#[test]
fn closing_goes_through_a_join_of_two_exits() {
    // b1 defines v4; the exits b2 and b5 meet in b4, which uses v4 and also has an edge from outside.
    let text = "kernel @k {
b0:
    v0 = local_id.i32 0
    v1 = const.i32 0
    v2 = const.i32 1
    v12 = group_id.i32 0
    jump b1(v1)
b1(v3: i32):
    v4 = add.i32 v3, v2
    v5 = icmp.ult v4, v0
    br v5, b3, b2
b3:
    v6 = icmp.ult v4, v12
    br v6, b1(v4), b5
b2:
    jump b4(v1)
b5:
    jump b4(v2)
b4(v7: i32):
    v8 = add.i32 v4, v7
    jump b6
b6:
    ret
}";
    let (mut func, mut a) = analysed(text);
    assert!(lcssa_divergent_exits(&mut func, &mut a));
    verify_function(&func, None).unwrap_or_else(|e| panic!("{}\n{func}", e[0]));
    let sum = func.blocks[block(4)].insts()[0];
    let carried = func.args(sum)[0];
    assert_eq!(func.block_of(carried), block(4), "{func}");
    assert!(a.uniformity.is_divergent(carried));
    for exit in [2, 5] {
        assert_eq!(func.params(block(exit)).len(), 1, "{func}");
    }
}

#[test]
fn an_exit_shared_with_other_code_gets_a_block_of_its_own() {
    let text = "kernel @k {
b0:
    v0 = local_id.i32 0
    v1 = const.i32 0
    v2 = const.i32 1
    v3 = icmp.eq v1, v2
    br v3, b1(v1), b3(v2)
b1(v4: i32):
    v5 = add.i32 v4, v2
    v6 = icmp.ult v5, v0
    br v6, b1(v5), b2(v1)
b2(v10: i32):
    v11 = add.i32 v5, v10
    jump b3(v11)
b3(v12: i32):
    ret
}";
    let (mut func, mut a) = analysed(text);
    assert!(lcssa_divergent_exits(&mut func, &mut a));
    assert_eq!(func.layout.len(), 4, "b2 is reached from the loop alone");
    // The same with the exit going straight to the shared block, for a mask that outlives the loop.
    let text = "kernel @k {
b0:
    v0 = local_id.i32 0
    v1 = const.i32 0
    v2 = const.i32 1
    v3 = icmp.eq v1, v2
    jump b4
b4:
    jump b1(v1)
b1(v4: i32):
    v5 = add.i32 v4, v2
    v6 = icmp.ult v5, v0
    v7 = icmp.ult v5, v2
    br v6, b1(v5), b5
b5:
    br v7, b4, b6
b6:
    ret
}";
    let (mut func, mut a) = analysed(text);
    assert!(lcssa_divergent_exits(&mut func, &mut a));
    verify_function(&func, None).unwrap_or_else(|e| panic!("{}\n{func}", e[0]));
    let branch = func.terminator(block(5)).unwrap();
    assert_eq!(func.block_of(func.args(branch)[0]), block(5), "{func}");
}
