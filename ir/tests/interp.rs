//! The interpreter: small kernels whose results follow from the text of `docs/ir.md`.

use ir::interp::{Dispatch, Error, ErrorKind, Interp, Memory};
use ir::parse::parse_module;
use ir::verify::verify;
use ir::{Module, Space};

fn module(text: &str) -> Module {
    let module = parse_module(text).unwrap_or_else(|e| panic!("{e}"));
    verify(&module).unwrap_or_else(|e| panic!("{}", e[0]));
    module
}

/// A kernel `k` that takes one pointer, with these items around it and this body. `v0` is the pointer,
/// `v1` the global id, `v2` the address of the lane's word in the buffer.
fn kernel(items: &str, body: &str) -> Module {
    module(&format!(
        "{items}
kernel @k {{
    param \"p\" \"*global u32\" u32 x 1 buffer global at 0 size 8 align 8 pointee_align 4
    kernarg_size 8
    slot0 size 8 align 4
b0:
    v3 = kernarg_ptr.ptr.constant
    v0 = load.ptr.global b64 constant [v3] align 8 invariant
    v1 = global_id.i32 0
    v4 = const.i32 2
    v5 = shl.i32 v1, v4
    v2 = ptr_add_z.ptr.global v0, v5
{body}
}}"
    ))
}

fn words(memory: &Memory, address: u64, count: usize) -> Vec<u32> {
    let bytes = memory.bytes(address, count * 4).expect("in the buffer");
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// Runs `k` with a buffer of `count` words that hold their index.
fn run(module: &Module, count: u32, grid: u32, group: u32) -> Result<Vec<u32>, Error> {
    let mut memory = Memory::new();
    let mut interp = Interp::new(module, &mut memory);
    interp.max_steps = 1_000_000;
    let buffer = memory.alloc_bytes((0..count).flat_map(u32::to_le_bytes).collect());
    let dispatch = Dispatch {
        kernel: "k",
        grid: [grid, 1, 1],
        group: [group, 1, 1],
        kernarg: buffer.to_le_bytes().to_vec(),
        dynamic_shared: 0,
    };
    interp.run(&dispatch, &mut memory)?;
    Ok(words(&memory, buffer, count as usize))
}

#[test]
fn a_ragged_grid_has_no_items_past_its_end() {
    let m = kernel("", "v6 = add.i32 v1, v1\n store b32 global [v2], v6 align 4\n ret");
    let result = run(&m, 200, 130, 64).unwrap();
    let expected: Vec<u32> = (0..200).map(|n| if n < 130 { 2 * n } else { n }).collect();
    assert_eq!(result, expected);
}

#[test]
fn saxpy() {
    let m = module(
        "kernel @saxpy {
    kernarg_size 24
b0:
    v0 = kernarg_ptr.ptr.constant
    v1 = load.i32 b32 constant [v0] align 4 invariant
    v2 = load.f32 b32 constant [v0 + 4] align 4 invariant
    v3, v4 = load.ptr.global b64 constant [v0 + 8] align 8 invariant
    v5 = global_id.i32 0
    v6 = icmp.ult v5, v1
    br v6, b1, b2
b1:
    v7 = const.i32 2
    v8 = shl.i32 v5, v7
    v9 = ptr_add_z.ptr.global v3, v8
    v10 = ptr_add_z.ptr.global v4, v8
    v11 = load.f32 b32 global [v9] align 4
    v12 = load.f32 b32 global [v10] align 4
    v13 = fma.f32 v2, v11, v12
    store b32 global [v10], v13 align 4
    jump b2
b2:
    ret
}",
    );
    let mut memory = Memory::new();
    let interp = Interp::new(&m, &mut memory);
    let n = 100u32;
    let floats = |f: &dyn Fn(f32) -> f32| (0..n).flat_map(|k| f(k as f32).to_le_bytes()).collect();
    let x = memory.alloc_bytes(floats(&|k| k));
    let y = memory.alloc_bytes(floats(&|_| 1.0));
    let mut kernarg = n.to_le_bytes().to_vec();
    kernarg.extend(2.5f32.to_le_bytes());
    kernarg.extend(x.to_le_bytes());
    kernarg.extend(y.to_le_bytes());
    let dispatch =
        Dispatch { kernel: "saxpy", grid: [256, 1, 1], group: [256, 1, 1], kernarg, dynamic_shared: 0 };
    interp.run(&dispatch, &mut memory).unwrap();
    let result: Vec<f32> = words(&memory, y, n as usize).into_iter().map(f32::from_bits).collect();
    let expected: Vec<f32> = (0..n).map(|k| 2.5 * k as f32 + 1.0).collect();
    assert_eq!(result, expected);
}

#[test]
fn lanes_meet_after_a_divergent_branch_and_a_divergent_loop() {
    // Each lane counts to its number; a ballot in the odd branch sees the odd lanes, one after the loop all.
    let m = kernel(
        "",
        "    v6 = const.i32 1
    v7 = const.i32 0
    v8 = and.i32 v1, v6
    v9 = icmp.eq v8, v6
    v10 = const.bool true
    v11 = const.i64 0
    br v9, b1, b2(v11)
b1:
    v12 = ballot.i64 v10
    jump b2(v12)
b2(v13: i64):
    jump b3(v7)
b3(v14: i32):
    v15 = icmp.ult v14, v1
    v16 = add.i32 v14, v6
    br v15, b3(v16), b4
b4:
    v17 = ballot.i64 v10
    v18 = xor.i64 v17, v13
    v19 = popcount.i32 v18
    v20 = add.i32 v19, v14
    store b32 global [v2], v20 align 4
    ret",
    );
    let expected: Vec<u32> = (0..64).map(|n| n + if n % 2 == 1 { 32 } else { 64 }).collect();
    assert_eq!(run(&m, 64, 64, 64).unwrap(), expected);
}

#[test]
fn wave_operations() {
    let m = kernel(
        "",
        "    v6 = lane_id.i32
    v7 = const.i32 1
    v8 = xor.i32 v6, v7
    v9 = load.i32 b32 global [v2] align 4
    v10 = shuffle.i32 v9, v8
    v11 = read_first_lane.i32 v9
    v12 = const.i32 5
    v13 = read_lane.i32 v9, v12
    v14 = const.i64 -1
    v15 = mbcnt.i32 v14
    v16 = mul.i32 v15, v11
    v17 = add.i32 v10, v13
    v18 = add.i32 v17, v16
    store b32 global [v2], v18 align 4
    ret",
    );
    let expected: Vec<u32> = (0..128).map(|n| (n ^ 1) + (n & 64) + 5 + (n & 63) * (n & 64)).collect();
    assert_eq!(run(&m, 128, 128, 128).unwrap(), expected);
}

#[test]
fn work_group_memory_and_barriers() {
    // Reverses each group of 128 through work-group memory.
    let m = kernel(
        "shared @pad size 3 align 1\nshared @tile size 512 align 4",
        "    v6 = local_id.i32 0
    v7 = shl.i32 v6, v4
    v8 = global_addr.ptr.shared @tile
    v9 = ptr_add.ptr.shared v8, v7
    store b32 shared [v9], v1 align 4
    barrier
    v10 = const.i32 508
    v11 = sub.i32 v10, v7
    v12 = ptr_add.ptr.shared v8, v11
    v13 = load.i32 b32 shared [v12] align 4
    store b32 global [v2], v13 align 4
    ret",
    );
    let expected: Vec<u32> = (0..256).map(|n| (n & 128) + 127 - (n & 127)).collect();
    assert_eq!(run(&m, 256, 256, 128).unwrap(), expected);
}

#[test]
fn small_elements_and_private_memory() {
    let m = kernel(
        "constant @lut size 4 align 1 = \"80ff017f\"",
        "    v6 = slot_addr.ptr.private slot0
    store b32 private [v6 + 4], v1 align 4
    v7 = global_addr.ptr.constant @lut
    v8 = const.i32 3
    v9 = and.i32 v1, v8
    v10 = ptr_add_z.ptr.constant v7, v9
    v11 = load.i32 s8 constant [v10] align 1
    v12 = load.i32 u8 constant [v10] align 1
    v13 = spacecast.ptr.generic v6
    v14 = load.i32 b32 generic [v13 + 4] align 4
    v15 = sub.i32 v12, v11
    v16 = add.i32 v15, v14
    store u16 global [v2], v16 align 2
    ret",
    );
    let expected: Vec<u32> = (0..8).map(|n| n + if n & 3 < 2 { 256 } else { 0 }).collect();
    assert_eq!(run(&m, 8, 8, 8).unwrap(), expected);
}

#[test]
fn calls_return_to_the_lanes_that_made_them() {
    // Recursive factorial, different depths by lane.
    let m = kernel(
        "func @fact -> i32, i32 {
    slot0 size 4 align 4
b0(v0: i32):
    v1 = const.i32 1
    v2 = icmp.ule v0, v1
    br v2, b1, b2
b1:
    ret v1, v1
b2:
    v9 = slot_addr.ptr.private slot0
    store b32 private [v9], v0 align 4
    v3 = sub.i32 v0, v1
    v4: i32, v5: i32 = call @fact(v3)
    v10 = load.i32 b32 private [v9] align 4
    v6 = mul.i32 v4, v10
    v7 = add.i32 v5, v1
    ret v6, v7
}",
        "    v6: i32, v7: i32 = call @fact(v1)
    v8 = add.i32 v6, v7
    store b32 global [v2], v8 align 4
    ret",
    );
    let expected: Vec<u32> = (0..10).map(|n| (1..=n).product::<u32>() + n.max(1)).collect();
    assert_eq!(run(&m, 10, 10, 64).unwrap(), expected);
}

#[test]
fn a_group_may_wait_for_a_later_one() {
    // Group 0 spins until group 1 has stored word 3.
    let m = kernel(
        "",
        "    v6 = group_id.i32 0
    v7 = const.i32 0
    v8 = icmp.eq v6, v7
    br v8, b1, b2
b1:
    v9 = load.i32 b32 global [v0 + 12] align 4 atomic acquire agent
    v10 = const.i32 99
    v11 = icmp.eq v9, v10
    br v11, b3, b1
b2:
    v12 = const.i32 99
    store b32 global [v0 + 12], v12 align 4 atomic release agent
    ret
b3:
    store b32 global [v0], v9 align 4
    ret",
    );
    assert_eq!(run(&m, 4, 2, 1).unwrap(), [99, 1, 2, 99]);
}

#[test]
fn atomics_return_the_old_value() {
    let m = kernel(
        "global @sum size 4 align 4 = \"0a\"",
        "    v6 = global_addr.ptr.global @sum
    v7 = const.i32 1
    v8 = atomic_add.i32 b32 global [v6], v7 align 4 atomic relaxed agent
    v9 = atomic_cas.i32 b32 global [v2], v1, v8 align 4 atomic seq_cst system fail relaxed
    ret",
    );
    let mut result = run(&m, 100, 100, 50).unwrap();
    result.sort_unstable();
    assert_eq!(result, (10..110).collect::<Vec<u32>>());
}

#[test]
fn broken_programs_stop_with_their_error() {
    for (body, kind) in [
        (
            "store b32 global [v2 + 4096], v1 align 4\n ret",
            ErrorKind::OutOfBounds { space: Space::Global, address: 0x10_0000_1000, bytes: 4 },
        ),
        (
            "v6 = load.i32 b32 global [v2 + 2] align 4\n ret",
            ErrorKind::Misaligned { address: 0x10_0000_0002, align: 4 },
        ),
        ("v6 = icmp.ne v1, v1\n assume v6\n ret", ErrorKind::FalseAssumption),
        ("unreachable", ErrorKind::Unreachable),
        ("debug_trap\n trap\n ret", ErrorKind::Trap),
        ("jump b1\nb1:\n jump b1", ErrorKind::TooManySteps),
        (
            "v6 = icmp.ult v1, v4\n br v6, b1, b2\nb1:\n barrier\n jump b2\nb2:\n ret",
            ErrorKind::DivergentBarrier,
        ),
        ("call @loop()\n ret", ErrorKind::TooManyCalls),
    ] {
        let m = kernel("func @loop {\nb0:\n call @loop()\n ret\n}", body);
        let error = run(&m, 4, 4, 4).unwrap_err();
        assert_eq!(error.kind, kind, "{body}: {error}");
    }
}

#[test]
fn what_is_printed_is_taken_once() {
    let m = kernel(
        "",
        "v6 = printf_buffer.ptr.global\n v7 = load.i32 b32 global [v6 + 4] align 4\n \
         v8 = const.i32 8\n v9 = atomic_add.i32 b32 global [v6], v8 align 4 atomic relaxed agent\n \
         v10 = ptr_add_z.ptr.global v6, v9\n store b32 global [v10 + 8], v7, v1 align 4\n ret",
    );
    let m = ir::parse::parse_module(&format!("printf 4 \"x: %u\\n\"\n{m}")).expect("a module");
    assert_eq!((m.formats[0].bytes(), m.formats[0].text.as_str()), (8, "x: %u\n"));
    let mut memory = Memory::new();
    let out = memory.alloc(16);
    let interp = Interp::new(&m, &mut memory);
    let dispatch = Dispatch {
        kernel: "k",
        grid: [2, 1, 1],
        group: [2, 1, 1],
        kernarg: out.to_le_bytes().to_vec(),
        dynamic_shared: 0,
    };
    interp.run(&dispatch, &mut memory).expect("it runs");
    let words = [1u32 << 20, 0, 1 << 20, 1].map(u32::to_le_bytes).concat();
    assert_eq!(interp.take_printed(&mut memory), words);
    assert_eq!(interp.take_printed(&mut memory), []);
}

#[test]
fn a_lane_that_ended_does_not_hold_up_a_barrier() {
    let m = kernel(
        "",
        "v6 = icmp.ult v1, v4\n br v6, b1, b2\nb1:\n ret\nb2:\n barrier\n store b32 global [v2], v4 align 4\n ret",
    );
    assert_eq!(run(&m, 4, 4, 4).unwrap(), [0, 1, 2, 2]);
}

#[test]
fn requests_that_make_no_sense() {
    let m = kernel("", "ret");
    let mut memory = Memory::new();
    let interp = Interp::new(&m, &mut memory);
    let good = Dispatch { kernel: "k", grid: [1; 3], group: [1; 3], kernarg: vec![0; 8], dynamic_shared: 0 };
    let kind = |d: Dispatch<'_>| interp.run(&d, &mut Memory::new()).unwrap_err().kind;
    assert_eq!(kind(Dispatch { kernel: "x", ..good.clone() }), ErrorKind::NoKernel("x".into()));
    for bad in [
        Dispatch { grid: [0, 1, 1], ..good.clone() },
        Dispatch { group: [2048, 1, 1], ..good.clone() },
        Dispatch { group: [u32::MAX; 3], ..good.clone() },
        Dispatch { kernarg: vec![0; 7], ..good.clone() },
        Dispatch { dynamic_shared: u32::MAX, ..good },
    ] {
        assert!(matches!(kind(bad), ErrorKind::BadDispatch(_)));
    }
}

/// Three functions of one signature, one of another, and one of another object.
const CALLEES: &str = "sig0 = (i32) -> i32
constant @table size 16 align 8
    func_at 0 @triple
    func_at 8 @square
extern func @elsewhere(i32) -> i32
func @triple -> i32 {
b0(v0: i32):
    v1 = const.i32 3
    v2 = mul.i32 v0, v1
    ret v2
}
func @square -> i32 {
b0(v0: i32):
    v1 = mul.i32 v0, v0
    ret v1
}
func @lanes -> i32 {
b0(v0: i32):
    v1 = const.bool true
    v2 = ballot.i64 v1
    v3 = popcount.i32 v2
    ret v3
}
func @other {
b0:
    ret
}
func @sum -> i32 {
b0(v0: i32):
    v1 = const.i32 0
    v2 = icmp.eq v0, v1
    br v2, b1, b2
b1:
    ret v1
b2:
    v3 = const.i32 1
    v4 = sub.i32 v0, v3
    v5: i32 = call @sum(v4)
    v6 = add.i32 v0, v5
    ret v6
}";

/// Calls, by the lane's number modulo four, one of the functions.
fn through_table(fourth: &str) -> Module {
    let body = format!(
        "v6 = global_addr.ptr.constant @table
    v7 = const.i32 3
    v8 = and.i32 v1, v7
    v9, v10 = load.i64 b64 constant [v6] align 8
    v11 = func_addr.i64 @lanes
    v12 = {fourth}
    switch v8, b1(v9) [ 1 -> b1(v10), 2 -> b1(v11), 3 -> b1(v12) ]
b1(v13: i64):
    v14: i32 = call_indirect sig0 v13(v1)
    store b32 global [v2], v14 align 4
    ret"
    );
    kernel(CALLEES, &body)
}

#[test]
fn lanes_call_different_functions() {
    let result = run(&through_table("func_addr.i64 @lanes"), 64, 64, 64).unwrap();
    let expected: Vec<u32> = (0..64)
        .map(|n| match n % 4 {
            0 => 3 * n,
            1 => n * n,
            // Two quarters of the wave call it together.
            _ => 32,
        })
        .collect();
    assert_eq!(result, expected);
}

#[test]
fn calls_through_what_is_no_such_function() {
    let wrong = |fourth: &str| {
        let error = run(&through_table(fourth), 64, 64, 64).unwrap_err();
        assert_eq!(error.at.as_ref().unwrap().0, "k", "{error}");
        error.kind
    };
    assert_eq!(wrong("const.i64 0"), ErrorKind::NoFunction(0));
    assert_eq!(wrong("const.i64 1234"), ErrorKind::NoFunction(1234));
    assert_eq!(wrong("func_addr.i64 @other"), ErrorKind::OtherSignature("other".into()));
    assert_eq!(wrong("func_addr.i64 @elsewhere"), ErrorKind::NoCode("elsewhere".into()));
}

#[test]
fn recursion_to_a_depth_of_each_lane_and_to_no_end() {
    let call = "v6: i32 = call @sum(v1)\n store b32 global [v2], v6 align 4\n ret";
    let result = run(&kernel(CALLEES, call), 100, 100, 100).unwrap();
    assert_eq!(result, (0..100).map(|n| n * (n + 1) / 2).collect::<Vec<u32>>());
    let call = call.replace("@sum(v1)", "@sum(v7)").replace("v6:", "v7 = const.i32 -1\n v6:");
    let error = run(&kernel(CALLEES, &call), 1, 1, 1).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooManyCalls);
    assert_eq!(error.at.unwrap().0, "sum");
}
