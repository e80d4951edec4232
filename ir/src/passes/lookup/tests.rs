use super::super::testing::parse;
use super::*;
use crate::interp::{Dispatch, Interp, Memory};
use crate::verify::verify;

/// Returns the contents of the kernel's buffer: 256 bytes for each of the 64 lanes.
fn results(module: &crate::Module) -> Vec<u8> {
    let mut memory = Memory::new();
    let out = memory.alloc_bytes(vec![0; 64 * 16]);
    let kernarg = out.to_le_bytes().to_vec();
    let dispatch = Dispatch { kernel: "k", grid: [64, 1, 1], group: [64, 1, 1], kernarg, dynamic_shared: 0 };
    Interp::new(module, &mut memory).run(&dispatch, &mut memory).unwrap();
    memory.bytes(out, 64 * 16).unwrap().to_vec()
}

/// Returns a kernel in which each lane `l` stores the value that a switch on `l * step - 8` passes; `operand`
/// and `yields` are types.
fn kernel(operand: &str, yields: &str, step: i64, default: &str, cases: &[(u64, u64, u64)]) -> String {
    use std::fmt::Write;
    let (mut arms, mut list) = (String::new(), String::new());
    let constant = |bits: u64| match yields {
        "bool" => (bits & 1 == 1).to_string(),
        "i32" | "i64" => bits.to_string(),
        _ => format!("{bits:#x}"),
    };
    for (n, &(lo, hi, bits)) in cases.iter().enumerate() {
        let (block, value) = (n + 100, n + 1000);
        let _ =
            write!(arms, "b{block}:\n v{value} = const.{yields} {}\n jump b9(v{value})\n", constant(bits));
        let _ = write!(list, "{}{lo} to {hi} -> b{block}", if n == 0 { "" } else { ", " });
    }
    let default = match default {
        "elsewhere" => "b8:\n store b32 global [v8 + 8], v20 align 4\n ret\n".to_owned(),
        "lane" if yields == "i32" => "b8:\n jump b9(v20)\n".to_owned(),
        "unreachable" => "b8:\n unreachable\n".to_owned(),
        bits => {
            let bits: u64 = bits.parse().unwrap_or(1);
            format!("b8:\n v30 = const.{yields} {}\n jump b9(v30)\n", constant(bits))
        }
    };
    let wide = if operand == "i64" {
        "v25 = sext.i64 v24\n"
    } else {
        "v26 = const.i32 0\n v25 = add.i32 v24, v26\n"
    };
    let stored = match yields {
        "bool" => " v10 = zext.i32 v9\n store b32 global [v8], v10 align 4\n",
        "i64" | "f64" => " store b64 global [v8], v9 align 8\n",
        _ => " store b32 global [v8], v9 align 4\n",
    };
    format!(
        "kernel @k {{ param \"o\" \"p\" u32 x 1 buffer global at 0 size 8 align 8 pointee_align 8\n kernarg_size 8\n\
         b0:\n v0 = kernarg_ptr.ptr.constant\n v1 = load.ptr.global b64 constant [v0] align 8 invariant\n \
         v20 = local_id.i32 0\n v21 = const.i32 8\n v22 = const.i32 {step}\n v23 = mul.i32 v20, v22\n \
         v24 = sub.i32 v23, v21\n {wide} v6 = const.i32 4\n v7 = shl.i32 v20, v6\n \
         v8 = ptr_add_z.ptr.global v1, v7\n switch v25, b8 [ {list} ]\n\
         {arms}{default}b9(v9: {yields}):\n{stored} ret }}"
    )
}

/// Runs the pass on a text and checks that the code still computes the same. Returns whether the switch was
/// replaced.
fn is_replaced(text: &str) -> bool {
    let mut module = parse(text);
    verify(&module).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let before = results(&module);
    let mut tables = Tables::default();
    tables.begin(0);
    let changed = run(module.funcs.values_mut().next().unwrap(), &mut tables);
    tables.take().for_each(|table| {
        module.globals.push(table);
    });
    verify(&module).unwrap_or_else(|e| panic!("{e:?}\n{module}"));
    assert!(before == results(&module), "{text}\n{module}");
    changed
}

/// Returns cases of one operand value each, starting at `lo`.
fn row(lo: u64, bits: impl IntoIterator<Item = u64>) -> Vec<(u64, u64, u64)> {
    bits.into_iter().zip(lo..).map(|(bits, n)| (n, n, bits)).collect()
}

#[test]
fn every_form_computes_what_the_switch_does() {
    let forms = [
        row(0, [3, 8, 13, 18, 23, 28]),
        row(5, [7, 7, 7]),
        row(2, [0, 1, 1, 0, 1]),
        row(2, [3, 1, 2, 0, 3, 1, 1, 0]),
        row(0, [1000, 1003, 1001, 1002, 1000]),
        row(1, (0..30).map(|n| n * n % 4)),
        row(0, (0..40).map(|n| n * n % 7 * 1_000_003)),
        vec![(1, 3, 2), (5, 5, 1), (6, 9, 0), (14, 14, 3)],
    ];
    for cases in forms {
        for yields in ["i32", "i64", "f32", "f64", "bool"] {
            for default in ["1", "0", "9", "lane", "elsewhere"] {
                for (operand, step) in [("i32", 1), ("i64", 1), ("i32", 0x0400_0001)] {
                    is_replaced(&kernel(operand, yields, step, default, &cases));
                }
            }
        }
    }
}

#[test]
fn random_rows() {
    let mut seed = 7u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut replaced = 0;
    for _ in 0..400 {
        let (count, bits, gap) = (next(24) + 2, next(12), next(3));
        let range = 1 + next(1 << bits);
        let mut at = next(12);
        let cases: Vec<_> = (0..count)
            .map(|_| {
                let lo = at + next(gap + 1);
                let hi = lo + next(2) * next(3);
                at = hi + 1;
                (lo, hi, next(range).wrapping_sub(next(2) * next(range)) & 0xffff_ffff)
            })
            .collect();
        let yields = ["i32", "i64", "f32", "f64", "bool"][next(5) as usize];
        let default = ["0", "5", "lane", "elsewhere", "77777"][next(5) as usize];
        let text = kernel(["i32", "i64"][next(2) as usize], yields, 1, default, &cases);
        replaced += u32::from(is_replaced(&text));
    }
    assert!(replaced > 150, "{replaced}");
}

#[test]
fn what_stays_a_switch() {
    let stays = |text: &str| assert!(!is_replaced(text), "{text}");
    // Covers two cases, sparse cases, a row with holes whose default leads to a different block, and large
    // numbers in a short row.
    stays(&kernel("i32", "i32", 1, "0", &row(3, [1, 2])));
    stays(&kernel("i32", "i32", 1, "0", &[(1, 1, 1), (40, 40, 2), (1000, 1000, 0)]));
    stays(&kernel("i32", "i32", 1, "elsewhere", &[(1, 1, 1), (3, 3, 2), (5, 5, 0), (7, 7, 2)]));
    stays(&kernel("i32", "f32", 1, "0", &row(0, [0x3f80_0000, 0x4020_0000, 0x4100_0000])));
    // An arm that has a side effect.
    let text = kernel("i32", "i32", 1, "0", &row(0, [1, 2, 0, 3]));
    let store = "b101:\n store b32 global [v8 + 4], v20 align 4\n";
    stays(&text.replace("b101:\n", store));
    // An arm that computes the value it passes.
    stays(&text.replace("v1001 = const.i32 2", "v1001 = add.i32 v20, v20"));
}

#[test]
fn a_default_that_is_never_taken_is_not_asked_for() {
    let text = kernel("i32", "i32", 0, "unreachable", &row(0xffff_fff6, [4, 2, 8, 6, 0]));
    let mut module = parse(&text);
    let func = module.funcs.values_mut().next().unwrap();
    assert!(run(func, &mut Tables::default()));
    let text = module.to_string();
    assert!(!text.contains("umin") && !text.contains("select") && !text.contains("icmp"), "{text}");
    assert!(is_replaced(&kernel("i32", "i32", 0, "unreachable", &row(0xffff_fff6, [4, 2, 8, 6, 0]))));
}

#[test]
fn tables_of_the_same_numbers_are_one() {
    let mut tables = Tables::default();
    tables.begin(3);
    assert_eq!(tables.table(Type::F32, &[1, 2]), tables.table(Type::I32, &[1, 2]));
    assert_ne!(tables.table(Type::F32, &[1, 2]), tables.table(Type::F64, &[1, 2]));
    let names: Vec<String> = tables.take().map(|table| table.name.to_string()).collect();
    assert_eq!(names, ["match.3", "match.4"]);
}
