//! Tail merging: what becomes one block, and what does not.

use ir::parse::parse_module;
use ir::passes::{OptOptions, PassContext, optimize};
use std::ops::ControlFlow;

/// A kernel that tests bits of `v4` in turn and leaves with `tail(n)` at the n-th, optimised.
fn exits(tails: &[String]) -> String {
    let mut text = String::from(
        "kernel @k {\n    kernarg_size 8\nb0:\n    v0 = kernarg_ptr.ptr.constant\n    \
         v1 = load.ptr.global b64 constant [v0] align 8 invariant\n    v2 = local_id.i32 0\n    \
         v3 = load.i32 b32 global [v1] align 4\n    v4 = add.i32 v2, v3\n    v5 = const.i32 0\n    jump b1\n",
    );
    for (n, tail) in tails.iter().enumerate() {
        let (test, next, at) = (2 * n + 1, 2 * n + 3, 100 * (n + 1));
        let bit = 1 << n;
        text += &format!(
            "b{test}:\n    v{at} = const.i32 {bit}\n    v{} = and.i32 v4, v{at}\n    v{} = icmp.ne v{}, v5\n    \
             br v{}, b{}, b{next}\nb{}:\n{tail}    ret\n",
            at + 1,
            at + 2,
            at + 1,
            at + 2,
            test + 1,
            test + 1,
        );
    }
    text += &format!("b{}:\n    ret\n}}\n", 2 * tails.len() + 1);
    let mut module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let opts = OptOptions::default();
    let done =
        optimize(&mut module, &opts, &mut PassContext::default(), &mut |_, _| ControlFlow::Continue(()));
    assert!(done.is_continue());
    ir::verify::verify(&module).unwrap_or_else(|errors| panic!("{errors:?}"));
    module.to_string()
}

/// `n`-th tail: stores its own constant at its own place.
fn store(n: usize, op: &str) -> String {
    let at = 100 * (n + 1) + 10;
    format!(
        "    v{at} = const.i32 {}\n    v{} = {op}.i32 v4, v{at}\n    v{} = ptr_add_z.ptr.global v1, v{}\n    \
         store b32 global [v{}], v{} align 4\n",
        n * 12 + 7,
        at + 1,
        at + 2,
        at + 1,
        at + 2,
        at + 1,
    )
}

fn stores(text: &str) -> usize {
    text.matches("store b32").count()
}

#[test]
fn blocks_that_differ_in_a_value_become_one() {
    let text = exits(&[0, 1, 2, 3].map(|n| store(n, "xor")));
    // The branch before the last one has an end on its other side, which is left alone.
    assert_eq!(stores(&text), 2, "{text}");
}

#[test]
fn two_blocks_stay() {
    let text = exits(&[0, 1].map(|n| store(n, "xor")));
    assert_eq!(stores(&text), 2, "{text}");
}

#[test]
fn what_is_cheaper_with_a_constant_stays() {
    let text = exits(&[0, 1, 2].map(|n| store(n, "urem")));
    assert_eq!(stores(&text), 3, "{text}");
}

#[test]
fn lanes_do_not_meet_where_it_shows() {
    let tails = [0, 1, 2].map(|n| format!("    wave_barrier\n{}", store(n, "xor")));
    assert_eq!(stores(&exits(&tails)), 3);
}
