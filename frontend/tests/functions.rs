//! Functions that stay functions: recursion, calls through pointers, what other objects know. Programs are run by the IR interpreter as
//! they are and optimised, with calls inlined and by cost; expected values are those of Rust's own arithmetic.

use ir::interp::{Dispatch, Interp, Memory};
use ir::passes::inline::Calls;
use ir::passes::{OptOptions, PassContext, optimize};
use ir::{Inline, Linkage, Module};

const LANES: u32 = 64;

fn module(source: &str) -> Module {
    let options = frontend::Options::default();
    let module =
        frontend::compile("test.k", source, &options).unwrap_or_else(|list| panic!("{}", list.render(false)));
    ir::verify::verify(&module).unwrap_or_else(|errors| panic!("{}\n{module}", errors[0]));
    module
}

fn optimized(source: &str, level: u8, calls: Calls) -> Module {
    let mut module = module(source);
    let opts = OptOptions { level, calls, ..OptOptions::default() };
    let _ = optimize(&mut module, &opts, &mut PassContext::default(), &mut |pass, module: &Module| {
        ir::verify::verify(module).unwrap_or_else(|errors| panic!("after {pass}: {}\n{module}", errors[0]));
        std::ops::ControlFlow::Continue(())
    });
    module
}

fn interpret(module: &Module) -> Vec<u32> {
    let mut memory = Memory::new();
    let out = memory.alloc(4 * LANES as usize);
    let mut interp = Interp::new(module, &mut memory);
    interp.max_steps = 10_000_000;
    let dispatch = Dispatch {
        kernel: "t",
        grid: [LANES, 1, 1],
        group: [LANES, 1, 1],
        kernarg: out.to_le_bytes().to_vec(),
        dynamic_shared: 0,
    };
    interp.run(&dispatch, &mut memory).unwrap_or_else(|error| panic!("{error}\n{module}"));
    let bytes = memory.bytes(out, 4 * LANES as usize).expect("allocated");
    bytes.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

/// What the kernel `t(out: *global u32)` leaves for each lane.
fn computes(source: &str, expected: impl Fn(u32) -> u32) {
    let expected: Vec<u32> = (0..LANES).map(expected).collect();
    assert_eq!(interpret(&module(source)), expected, "{source}");
    let target = isa::Subtarget::from(isa::Target::by_name("gfx906").expect("a processor"));
    let options = frontend::Options { abi: Some(frontend::Abi::today(&target)), ..Default::default() };
    let placed =
        frontend::compile("test.k", source, &options).unwrap_or_else(|list| panic!("{}", list.render(false)));
    assert_eq!(interpret(&placed), expected, "as the convention has it: {source}\n{placed}");
    for level in 0..4 {
        for calls in [Calls::InlineAll, Calls::ByCost] {
            let module = optimized(source, level, calls);
            assert_eq!(interpret(&module), expected, "level {level}, {calls:?}: {source}\n{module}");
        }
    }
}

#[test]
fn functions_call_themselves() {
    fn ackermann(m: u32, n: u32) -> u32 {
        match (m, n) {
            (0, _) => n + 1,
            (_, 0) => ackermann(m - 1, 1),
            _ => ackermann(m - 1, ackermann(m, n - 1)),
        }
    }
    computes(
        "fn ackermann(m: u32, n: u32) -> u32 {
            if m == 0 { n + 1 } else if n == 0 { ackermann(m - 1, 1) } else { ackermann(m - 1, ackermann(m, n - 1)) }
        }
        kernel t(out: *global u32) { let i = local_id(0); out[i] = ackermann(i % 3, i % 5); }",
        |i| ackermann(i % 3, i % 5),
    );
    computes(
        "fn even(n: u32) -> bool { if n == 0 { true } else { odd(n - 1) } }
        fn odd(n: u32) -> bool { if n == 0 { false } else { even(n - 1) } }
        fn sum<T: Number>(n: T) -> T { if n == 0 as T { 0 as T } else { n + sum(n - 1 as T) } }
        kernel t(out: *global u32) { let i = local_id(0); out[i] = if even(i) { sum(i) } else { sum(i as f32) as u32 + 1 }; }",
        |i| i * (i + 1) / 2 + i % 2,
    );
}

#[test]
fn each_call_has_variables_of_its_own() {
    // Quicksort of private arrays: pointers to a caller's variable, and an array in each frame.
    computes(
        "fn sort(a: *private u32, from: i32, to: i32) {
            if from >= to { return; }
            let pivot = a[to];
            let mut at = from;
            for i in from..to {
                if a[i] < pivot { let x = a[i]; a[i] = a[at]; a[at] = x; at += 1; }
            }
            a[to] = a[at];
            a[at] = pivot;
            sort(a, from, at - 1);
            sort(a, at + 1, to);
        }
        kernel t(out: *global u32) {
            let i = local_id(0);
            let mut a: [u32; 16];
            for n in 0..16 { a[n] = (n as u32 * 7 + i * 13) % 31; }
            sort(&a[0], 0, 15);
            let mut sum = 0;
            for n in 0..16 { sum = sum * 3 + a[n]; }
            out[i] = sum;
        }",
        |i| {
            let mut a: Vec<u32> = (0..16).map(|n| (n * 7 + i * 13) % 31).collect();
            a.sort_unstable();
            a.iter().fold(0u32, |sum, &x| sum.wrapping_mul(3).wrapping_add(x))
        },
    );
    computes(
        "fn walk(depth: u32, above: *private u32) -> u32 {
            let mut own: [u32; 2] = [depth, *above + 1];
            if depth > 0 { own[0] += walk(depth - 1, &own[1]); }
            *above += own[1];
            own[0] * 5 + own[1]
        }
        kernel t(out: *global u32) { let i = local_id(0); let mut top = i; let w = walk(i % 6, &top); out[i] = w * 1000 + top; }",
        |i| {
            fn walk(depth: u32, above: &mut u32) -> u32 {
                let mut own = [depth, *above + 1];
                if depth > 0 {
                    own[0] += walk(depth - 1, &mut own[1]);
                }
                *above += own[1];
                own[0].wrapping_mul(5).wrapping_add(own[1])
            }
            let mut top = i;
            walk(i % 6, &mut top).wrapping_mul(1000).wrapping_add(top)
        },
    );
}

const FUNCTIONS: &str = "fn double(x: u32) -> u32 { x * 2 }
fn square(x: u32) -> u32 { x * x }
fn apply(f: fn(u32) -> u32, x: u32) -> u32 { f(x) }
fn choose(which: u32) -> fn(u32) -> u32 { if which == 0 { double } else { square } }
struct Op { f: fn(u32) -> u32, on: bool }
constant static TABLE: [fn(u32) -> u32; 3] = [double, square, double];
constant static OPS: [Op; 2] = [Op { f: square, on: true }, Op { f: double, on: false }];
global static LATER: fn(u32) -> u32;
fn nothing(p: *private u32) { *p += 1; }
";

#[test]
fn functions_are_values() {
    let of = |body: &str, expected: fn(u32) -> u32| {
        let source = format!("{FUNCTIONS} kernel t(out: *global u32) {{ let i = local_id(0); {body} }}");
        computes(&source, expected);
    };
    of("let f = double; out[i] = f(i);", |i| 2 * i);
    of("out[i] = apply(square, i) + apply(choose(i % 2), i);", |i| {
        i * i + if i % 2 == 0 { 2 * i } else { i * i }
    });
    of("let mut f: fn(u32) -> u32 = double; if i > 9 { f = square; } out[i] = f(i);", |i| {
        if i > 9 { i * i } else { 2 * i }
    });
    of("out[i] = TABLE[i % 3](i);", |i| if i % 3 == 1 { i * i } else { 2 * i });
    of(
        "let op = OPS[i % 2]; if op.on { out[i] = (op.f)(i); } else { out[i] = select(OPS[1].f == double, 9u32, 7u32); }",
        |i| if i % 2 == 0 { i * i } else { 9 },
    );
    of("let t = [square, double]; let k = t[i & 1]; out[i] = k(i) + (&t[0])[1](i);", |i| {
        2 * i + if i & 1 == 0 { i * i } else { 2 * i }
    });
    of("if i == 0 { LATER = choose(1); } barrier(); let f = LATER; out[i] = f(i) + choose(0)(i);", |i| {
        i * i + 2 * i
    });
    of("let mut n = 1u32; let f: fn(*private u32) = nothing; f(&n); f(&n); out[i] = n;", |_| 3);
    of(
        "let none = 0u64 as fn(u32) -> u32; out[i] = select(none == double, 1u32, 2u32) + select(none as u64 == 0, 10u32, 20u32);",
        |_| 12,
    );
    of("let pair = (double, i); out[i] = (pair.0)(pair.1);", |i| 2 * i);
}

#[test]
fn what_is_said_of_functions_is_in_the_module() {
    let source = "#[inline] fn a() -> u32 { 1 }
        #[inline(never)] fn b() -> u32 { 2 }
        #[export] fn c(x: u8, v: f32x2) -> u32 { x as u32 + v.x as u32 }
        extern fn d(x: *global u32, n: u32) -> f32x2;
        extern global static COUNTER: u32;
        kernel t(out: *global u32) { out[0] = a() + b() + COUNTER + d(out, 3).y as u32; }";
    let plain = module(source);
    let of = |name: &str| plain.funcs.values().find(|func| func.name == name).unwrap();
    assert_eq!(
        [of("a").inline, of("b").inline, of("c").inline],
        [Inline::Always, Inline::Never, Inline::Auto]
    );
    assert_eq!([of("c").linkage, of("d").linkage], [Linkage::Export, Linkage::Extern]);
    assert_eq!((of("d").param_types().count(), of("d").results.len()), (2, 2));
    assert!(plain.globals.values().any(|global| global.external && global.name == "COUNTER"));
    let module = optimized(source, 2, Calls::InlineAll);
    let names: Vec<&str> = module.funcs.values().map(|func| func.name.as_str()).collect();
    assert_eq!(names, ["b", "c", "d", "t"]);
}
