//! The text form: printing and reading are each other's inverse, and bad text is refused with a place.

use ir::parse::{parse_function, parse_module};
use ir::{Inline, Linkage, Op, Type, ValueDef, text};

/// Every construct of the text form once.
const ALL: &str = r#"printf 4 8 16 "x: %d\n %s \"%v4hlf\" é"
printf "nothing"
shared @tile size 1024 align 16
shared @rest size 0 align 4 dynamic
constant @lut size 8 align 4 = "0001020304050607"
global @counter size 4 align 4

kernel @saxpy {
    param "n" "u32" u32 x 1 by_value at 0 size 4 align 4 pointee_align 0
    param "x" "*const restrict global f32" f32 x 1 buffer global at 8 size 8 align 8 pointee_align 4 const restrict
    param "odd \"name\"" "T" struct x 3 dynamic_shared shared at 16 size 4 align 4 pointee_align 16 volatile
    kernarg_size 20
    workgroup_size 256, 1, 1
    workgroup_size_hint 64, 2, 1
    max_workgroup_size 512
    num_vgpr 64
    num_sgpr 32
    waves_per_eu 2, 4
    vec_type_hint "f32x4"
    slot0 size 64 align 16
    slot1 size 4 align 4
b0:
    v0 = global_id.i32 0
    v1 = kernarg_ptr.ptr.constant
    v2 = load.i32 b32 constant [v1] align 4 invariant
    v3 = load.ptr.global b64 constant [v1 + 8] align 8 invariant
    v4 = icmp.ult v0, v2
    br v4, b1, b2
b2:
    ret
b1:
    v5 = const.i32 -2
    v6 = const.f32 1.5
    v7 = const.f32 0x7fc00000
    v8 = const.bool true
    v9 = const.i64 -1
    v10 = const.f64 1e-300
    v11 = const.ptr.global 0x10
    v12 = shl.i32 v0, v5
    v13 = ptr_add_z.ptr.global v3, v12
    v14, v15 = load.f32 b32 global [v13 + -16] align 8 volatile nontemporal alias 2
    v16 = fma.f32 v14, v6, v15
    v17 = fneg.f32 v16
    v18 = select.f32 v8, v17, v7
    v19 = fcmp.olt v18, v6
    v20 = zext.i64 v19
    store b32 global [v13], v18, v17 align 4
    v21 = slot_addr.ptr.private slot1
    v22 = global_addr.ptr.shared @tile
    v23 = atomic_add.i32 b32 shared [v22 + 4], v5 align 4 atomic acq_rel workgroup
    v24 = atomic_cas.i32 b32 global [v3], v5, v23 align 4 one_as atomic seq_cst agent fail acquire
    fence release agent global shared
    fence seq_cst system
    barrier
    barrier_only
    wave_barrier
    v90 = printf_buffer.ptr.global
    v91 = hostcall_buffer.ptr.global
    sleep
    interrupt v5
    debug_trap
    trap
    v25 = ballot.i64 v19
    v26: i32, v27: f32 = call @helper(v24, v18)
    v28 = clock.i64
    assume v19
    jump b3(v26)
b3(v40: i32) unroll 4:
    v29 = add.i32 v40, v5
    v30 = icmp.ne v29, v0
    br v30, b3(v29), b4(v29, v18)
b4(v31: i32, v32: f32):
    unreachable
}

func @helper -> i32, f32 {
b0(v0: i32, v1: f32) unroll never:
    v2 = load.i32 u8 generic [v2] align 1 atomic relaxed system
    ret v0, v1
}
"#;

#[test]
fn everything_reads_back_as_it_was_printed() {
    let module = parse_module(ALL).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(module.to_string(), ALL);
    let func = &module.funcs.values().next().unwrap();
    assert!(func.blocks.values().all(|b| b.insts().iter().all(|&i| func.insts[i].block.as_u32() < 5)));
    for (value, data) in func.values.iter().filter(|(v, _)| v.as_u32() < 31) {
        match data.def {
            ValueDef::Result(inst, n) => assert_eq!(func.result(inst, n), value),
            ValueDef::Param(..) => panic!("{value} is a result"),
        }
    }
}

#[test]
fn one_function_alone_prints_entities_for_names() {
    let module = parse_module(ALL).unwrap();
    let text = module.funcs.values().next().unwrap().to_string();
    assert!(text.contains("call fn1(v24, v18)") && text.contains("global_addr.ptr.shared g0"), "{text}");
    assert_eq!(parse_function(&text).unwrap().to_string(), text);
}

#[test]
fn source_positions_are_optional() {
    let source = "func @f {\nb0:\n    v0 = const.i32 1 !17\n    ret !20\n}\n";
    let module = parse_module(source).unwrap();
    assert_eq!(text::with_locations(&module), source);
    assert_eq!(module.to_string(), source.replace(" !17", "").replace(" !20", ""));
}

#[test]
fn constants_hold_the_bits() {
    let func = parse_function(
        "func @f {\nb0:\n v0 = const.f32 -0.0\n v1 = const.i32 0xffffffff\n v2 = const.f64 0x1\n ret\n}",
    )
    .unwrap();
    let bits: Vec<_> = func.values.keys().map(|v| func.const_bits(v)).collect();
    assert_eq!(bits, [Some(0x8000_0000), Some(0xffff_ffff), Some(1)]);
    assert_eq!(func.ty(ir::Value::from_u32(2)), Type::F64);
}

#[test]
fn calls_may_precede_the_callee() {
    let module = parse_module("func @a {\nb0:\n call @b()\n ret\n}\nfunc @b {\nb0:\n ret\n}").unwrap();
    let (_, a) = module.funcs.iter().next().unwrap();
    let inst = a.blocks[a.entry()].insts()[0];
    assert!(matches!(a.insts[inst].op, Op::Call(callee) if module.funcs[callee].name == "b"));
}

#[test]
fn errors_have_a_place() {
    for (text, expected) in [
        ("func @f {\nb0:\n    v1 = add.i32 v0, v0\n}", "3:18: v0 is not defined"),
        ("func @f {\nb0:\n    jump b7\n}", "3:10: b7 is not defined"),
        ("func @f {\nb0:\n    v0 = frob.i32 v0\n}", "3:10: unknown operation `frob.i32`"),
        ("func @f {\nb0:\nb0:\n}", "3:1: b0 is defined twice"),
        ("func @f {\nb0(v0: i33):\n}", "2:8: `i33` is no type"),
        ("func @f {\nb0:\n v0 = const.i32 5000000000000000000000\n}", "3:17: `50"),
        ("func @f {\nb0:\n v0, v2 = load.i32 b32 global [v0] align 4\n}", "3:6: results are consecutive"),
        ("func @f {\nb0:\n v0 = ret\n}", "3:2: `ret` has no result"),
        ("func @f {\nb0:\n call @g()\n ret\n}", "3:7: there is no function `@g`"),
        ("func @f {\nb0:\n v99999999 = const.i32 1\n}", "3:2: the number of `v99999999` is too large"),
        ("constant @c size 1 align 1 = \"0\"", "1:30: expected pairs of hex digits"),
        ("kernel @k {\n param \"x\n}", "2:8: this text has no closing quote"),
        ("func @f {\nb0:\n ret", "3:5: expected a block or `}`"),
        ("nonsense", "1:1: expected `func`"),
    ] {
        let error = parse_module(text).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}\n gave {error}\n not {expected}");
    }
}

#[test]
fn no_damaged_text_makes_the_parser_panic() {
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for _ in 0..3000 {
        let mut text: Vec<char> = ALL.chars().collect();
        for _ in 0..1 + below(3) {
            let at = below(text.len());
            match below(4) {
                0 => text.truncate(at),
                1 => text[at] = ['v', '9', '"', '@', '-', 'é', ' ', '{'][below(8)],
                2 => drop(text.remove(at)),
                _ => text.insert(at, ['0', '.', ',', '(', '\\', '\n'][below(6)]),
            }
            if text.is_empty() {
                break;
            }
        }
        let text: String = text.into_iter().collect();
        if let Ok(module) = parse_module(&text) {
            let printed = module.to_string();
            assert_eq!(parse_module(&printed).map(|m| m.to_string()), Ok(printed));
        }
    }
}

#[test]
fn the_example_of_the_reference_is_valid() {
    let page = include_str!("../../docs/ir.md");
    let example = page
        .split("```")
        .nth(1)
        .and_then(|text| text.strip_prefix("text"))
        .expect("the page begins with an example");
    let module = parse_module(example).unwrap_or_else(|e| panic!("{e}"));
    ir::verify::verify(&module).unwrap_or_else(|e| panic!("{}", e[0]));
    assert_eq!(module.to_string(), example.trim_start());
}

/// Everything that is said of functions: signatures, linkage, wishes, addresses in code and in variables, calls through them.
const FUNCTIONS: &str = "\
sig0 = (i32, ptr.global) -> i32, f32
sig1 = ()
extern constant @elsewhere size 16 align 8
constant @table size 24 align 8
    func_at 0 @one
    func_at 16 @other
global @named size 8 align 8 = \"0000000000000000\"

extern func @other(i32, ptr.global) -> i32, f32

export func @one -> i32, f32 {
    inline never
b0(v0: i32, v1: ptr.global):
    v2 = const.f32 1.5
    ret v0, v2
}

func @two {
    inline always
b0:
    ret
}

kernel @k {
    kernarg_size 0
b0:
    v0 = func_addr.i64 @two
    call_indirect sig1 v0()
    v1 = const.i32 1
    v2 = const.ptr.global 0x0
    v3 = func_addr.i64 @other
    v4: i32, v5: f32 = call_indirect sig0 v3(v1, v2)
    v6: i32, v7: f32 = call @other(v4, v2)
    call @two()
    ret
}
";

#[test]
fn what_is_said_of_functions_is_read_back() {
    let module = parse_module(FUNCTIONS).unwrap();
    assert_eq!(module.to_string(), FUNCTIONS);
    ir::verify::verify(&module).unwrap();
    let [other, one, two, _] = module.funcs.values().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!((other.linkage, one.linkage, two.linkage), (Linkage::Extern, Linkage::Export, Linkage::Local));
    assert_eq!((one.inline, two.inline), (Inline::Never, Inline::Always));
    assert!(one.param_types().eq(other.param_types()));
}

#[test]
fn mistakes_about_functions_have_places() {
    for (text, at) in [
        ("sig1 = ()", "1:1: signatures are numbered in order, from 0"),
        ("extern func @f(i32\n", "2:1: expected `,`"),
        ("extern kernel @f()", "1:8: expected `func` or an address space, found `kernel`"),
        ("export kernel @f {}", "1:8: expected `func`"),
        ("func @f {\n inline maybe\nb0:\n ret\n}", "2:9: expected `always` or `never`, found `maybe`"),
        ("constant @c size 8 align 8\n func_at 0 @no", "2:12: there is no function `@no`"),
        ("func @f {\nb0:\n v0 = func_addr.i64 @no\n ret\n}", "3:21: there is no function `@no`"),
        ("extern func @f()\nextern func @f()", "2:13: `@f` is defined twice"),
    ] {
        assert_eq!(parse_module(text).unwrap_err().to_string(), at);
    }
}
