//! Tests of the builder.

use super::*;
use crate::parse::parse_module;
use crate::verify::verify;

/// Builds a kernel that computes `out[i] = number in LDS at lane 63 - i`, in a loop over `n`, with
/// arguments of every size.
#[test]
fn what_is_built_is_valid_and_prints_and_reads_back() {
    let mut module = Module::default();
    let tile = module.shared("tile", Elem::U16, 64);
    let mut b = KernelBuilder::new("k");
    b.workgroup_size([64, 1, 1]);
    let small = b.value("small", Elem::I8);
    let out = b.buffer("out", Elem::I64);
    let n = b.value("n", Elem::U32);
    let scale = b.value("scale", Elem::F64);
    let i = b.position(Pos::LocalId(0));
    let tile = b.address(tile, Space::Shared);
    let own = b.element(tile, Elem::U16, i);
    b.store(Elem::U16, own, small);
    b.barrier();
    let (head, body, end) = (b.block(&[Type::I32, Type::F64]), b.block(&[]), b.block(&[]));
    let zero = b.i32(0);
    b.jump(head, &[zero, scale]);
    b.switch_to(head);
    let &[count, sum] = b.params(head) else { panic!("two parameters") };
    let more = b.compare(IntCc::Ult, count, n);
    b.branch(more, (body, &[]), (end, &[]));
    b.switch_to(body);
    let one = b.i32(1);
    let next = b.binary(BinOp::Add, count, one);
    let sum_next = b.ternary(TernOp::Fma, sum, scale, sum);
    b.jump(head, &[next, sum_next]);
    b.switch_to(end);
    let read = b.load(Elem::U16, own);
    let wide = b.cast(CastOp::Zext, read, Type::I64);
    let whole = b.cast(CastOp::FToS, sum, Type::I64);
    let result = b.binary(BinOp::Add, wide, whole);
    let at = b.element(out, Elem::I64, i);
    b.store(Elem::I64, at, result);
    b.ret();
    module.funcs.push(b.finish());
    verify(&module).unwrap_or_else(|errors| panic!("{}\n{module}", errors[0]));
    let text = module.to_string();
    let again = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(again.to_string(), text);
    let info = module.funcs.values().next().and_then(|func| func.kernel.as_ref()).expect("a kernel");
    let offsets: Vec<u32> = info.params.iter().map(|param| param.offset).collect();
    assert_eq!((offsets, info.kernarg_size), (vec![0, 8, 16, 24], 32));
}
