//! Each broken invariant is found, and said of the right entity.

use ir::parse::parse_module;
use ir::verify::{Place, verify};
use ir::{Block, Op, SrcLoc};

fn errors(text: &str) -> Vec<String> {
    let module = parse_module(text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    match verify(&module) {
        Ok(()) => Vec::new(),
        Err(errors) => errors.iter().map(|e| e.to_string()).collect(),
    }
}

/// The errors of a function `() -> ()` with these lines as its only block.
fn body(lines: &str) -> Vec<String> {
    errors(&format!("func @f {{\nslot0 size 4 align 4\nb0:\n{lines}\nret\n}}\n"))
}

#[test]
fn a_good_module_passes() {
    let text = "
shared @s size 16 align 16
kernel @k {
    param \"p\" \"*global f32\" f32 x 1 buffer global at 0 size 8 align 8 pointee_align 4
    kernarg_size 8
b0:
    v0 = local_id.i32 0
    v1 = kernarg_ptr.ptr.constant
    v2 = load.ptr.global b64 constant [v1] align 8 invariant
    v3 = const.i64 4
    jump b1(v0, v2)
b1(v4: i32, v5: ptr.global):
    v6, v7 = load.f32 b32 global [v5 + 8] align 4
    v8 = fma.f32 v6, v6, v7
    v9: f32 = call @g(v8)
    store b32 global [v5], v9 align 4
    v10 = ptr_add.ptr.global v5, v3
    v11 = sub.i32 v4, v0
    v12 = icmp.eq v11, v0
    br v12, b2, b1(v11, v10)
b2:
    v13 = global_addr.ptr.shared @s
    v14 = atomic_add.i32 b32 shared [v13], v4 align 4 atomic relaxed workgroup
    v15 = shl.i64 v3, v14
    v16 = popcount.i32 v15
    ret
}
func @g -> f32 {
b0(v0: f32):
    ret v0
}
";
    assert_eq!(errors(text), [""; 0]);
}

#[test]
fn operand_types() {
    let head = "v0 = const.i32 1\nv1 = const.f32 1.0\nv2 = const.bool true\nv3 = const.ptr.shared 0\n\
                v4 = const.ptr.global 0\nv5 = const.i64 1\n";
    for line in [
        "v9 = add.i32 v0, v1",
        "v9 = add.f32 v1, v1",
        "v9 = fadd.i32 v0, v0",
        "v9 = and.f32 v1, v1",
        "v9 = shl.i32 v0, v5",
        "v9 = popcount.i64 v5",
        "v9 = icmp.ult v2, v2",
        "v9 = icmp.eq v0, v5",
        "v9 = fcmp.olt v0, v0",
        "v9 = select.i32 v0, v0, v0",
        "v9 = select.i32 v2, v0, v1",
        "v9 = fma.i32 v0, v0, v0",
        "v9 = ubfe.i64 v5, v5, v5",
        "v9 = zext.i32 v0",
        "v9 = trunc.f32 v5",
        "v9 = bitcast.i64 v0",
        "v9 = bitcast.ptr.shared v0",
        "v9 = inttoptr.ptr.global v0",
        "v9 = stof.i32 v0",
        "v9 = ptr_add.ptr.global v4, v0",
        "v9 = ptr_add_z.ptr.shared v3, v0",
        "v9 = global_id.i64 0",
        "v9 = global_id.i32 3",
        "v9 = slot_addr.ptr.global slot0",
        "v9 = ballot.i32 v2",
        "v9 = shuffle.i64 v5, v0",
        "v9 = const.i32 0x100000000",
        "assume v0",
    ] {
        let found = body(&format!("{head}{line}"));
        assert_eq!(found, [format!("@f, `{line}`: the types do not fit the operation")]);
    }
}

#[test]
fn memory_attributes() {
    let head = "v0 = const.i32 1\nv1 = const.f32 1.0\nv4 = const.ptr.global 0\n";
    for (line, message) in [
        ("v9 = load.i32 b32 shared [v4] align 4", "the pointer is not of the access's address space"),
        ("v9 = load.i32 b32 global [v4] align 3", "the alignment is not a power of two up to 16"),
        ("v9 = load.i32 b32 global [v4] align 32", "the alignment is not a power of two up to 16"),
        ("v9 = load.i64 b32 global [v4] align 4", "the element does not fit the results"),
        ("v9 = load.f32 u8 global [v4] align 1", "the element does not fit the results"),
        ("store b64 global [v4], v0 align 8", "the element does not fit the values"),
        ("store b32 global [v4] align 4", "the element does not fit the values"),
        ("store b32 global [v4], v0 align 4 invariant", "invariant memory is not written"),
        ("v9 = load.i32 b32 global [v4] align 4 atomic release agent", "a load is not a release"),
        ("store b32 global [v4], v0 align 4 atomic acquire agent", "a store is not an acquire"),
        (
            "v9 = load.i32 b32 global [v4] align 2 atomic relaxed agent",
            "an atomic is one aligned element of 32 or 64 bits, with an order",
        ),
        (
            "v9 = atomic_add.i32 b32 global [v4], v0 align 4",
            "an atomic is one aligned element of 32 or 64 bits, with an order",
        ),
        (
            "v9 = atomic_add.f32 b32 global [v4], v1 align 4 atomic relaxed agent",
            "the types do not fit the operation",
        ),
        (
            "v9 = atomic_cas.i32 b32 global [v4], v0, v0 align 4 atomic relaxed agent fail release",
            "a failed exchange only loads: relaxed, acquire or seq_cst",
        ),
        ("fence relaxed agent global", "a fence is at least an acquire or a release"),
    ] {
        assert_eq!(body(&format!("{head}{line}")), [format!("@f, `{line}`: {message}")]);
    }
}

#[test]
fn counts_of_operands() {
    assert_eq!(
        body("v0 = const.i32 1\nv1 = add.i32 v0"),
        ["@f, `v1 = add.i32 v0`: expected 2 operands, found 1"]
    );
    assert_eq!(body("v0, v1 = const.i32 1"), ["@f, `v0, v1 = const.i32 1`: expected 1 results, found 2"]);
}

#[test]
fn definitions_dominate_uses() {
    let text = "func @f {\nb0(v0: bool):\n br v0, b1, b2\nb1:\n v1 = const.bool true\n jump b2\n\
                b2:\n assume v1\n assume v2\n v2 = const.bool true\n ret\nb3:\n assume v2\n ret\n}";
    assert_eq!(
        errors(text),
        [
            "@f, `assume v1`: the definition of v1 does not come before this use",
            "@f, `assume v2`: the definition of v2 does not come before this use",
        ]
    );
}

#[test]
fn blocks_and_edges() {
    for (text, expected) in [
        ("func @f {\n}", "@f: there is no entry block"),
        ("func @f {\nb0:\n}", "@f, b0: the block is empty"),
        (
            "func @f {\nb0:\n v0 = const.i32 1\n}",
            "@f, `v0 = const.i32 1`: the block does not end in a terminator",
        ),
        ("func @f {\nb0:\n ret\n ret\n}", "@f, `ret`: a terminator is not the last instruction"),
        ("func @f {\nb0:\n jump b0\n}", "@f, b0: a branch goes back to the entry"),
        (
            "func @f {\nb0(v0: i32):\n jump b1\nb1(v1: i32):\n ret\n}",
            "@f, `jump b1`: the arguments do not fit the parameters of b1",
        ),
        (
            "func @f {\nb0(v0: i32):\n jump b1(v0)\nb1(v1: f32):\n ret\n}",
            "@f, `jump b1(v0)`: the arguments do not fit the parameters of b1",
        ),
        ("func @f -> i32 {\nb0:\n ret\n}", "@f, `ret`: the values do not fit the function's results"),
        (
            "func @f {\nb0(v0: bool):\n br v0, b1, b2\nb1:\n jump b2\nb2:\n br v0, b1, b3\nb3:\n ret\n}",
            "@f: a loop has a second entry",
        ),
    ] {
        assert_eq!(errors(text), [expected]);
    }
}

#[test]
fn kernels_and_calls() {
    for (text, expected) in [
        ("kernel @k {\nb0(v0: i32):\n ret\n}", "@k, b0: a kernel's entry has no parameters"),
        (
            "kernel @k {\n param \"n\" \"u32\" u32 x 1 by_value at 4 size 8 align 4 pointee_align 0\n\
             kernarg_size 8\nb0:\n ret\n}",
            "@k: argument `n` is unaligned or outside the kernarg segment",
        ),
        (
            "func @f {\nb0:\n call @k()\n ret\n}\nkernel @k {\nb0:\n ret\n}",
            "@f, `call @k()`: a kernel cannot be called",
        ),
        (
            "func @f {\nb0(v0: i32):\n call @g(v0)\n ret\n}\nfunc @g {\nb0(v0: f32):\n ret\n}",
            "@f, `call @g(v0)`: the arguments do not fit the callee's parameters",
        ),
        ("func @f {\nb0:\n call fn9()\n ret\n}", "@f, `call fn9()`: the callee does not exist"),
        ("shared @s size 4 align 3", "@s: the alignment is not a power of two"),
        ("shared @s size 4 align 4 = \"00\"", "@s: work-group memory has no initial bytes"),
        ("constant @c size 1 align 4 = \"0000\"", "@c: there are more initial bytes than the size"),
        ("global @c size 0 align 4 dynamic", "@c: only work-group memory is dynamic"),
        ("private @c size 4 align 4", "@c: a variable is shared, constant or global"),
    ] {
        assert_eq!(errors(text), [expected]);
    }
}

#[test]
fn broken_data_structures_are_found() {
    let mut module = parse_module("func @f {\nb0:\n v0 = const.i32 1\n ret\n}").unwrap();
    let func = module.funcs.values_mut().next().unwrap();
    let b0 = func.entry();
    let first = func.blocks[b0].insts()[0];
    func.prepend(b0, [first].into_iter());
    func.insts[first].block = Block::from_u32(7);
    func.layout.push(Block::from_u32(9));
    let stray = func.add_block();
    func.push(stray, Op::Jump(Block::from_u32(5)), &[], SrcLoc(0));
    let found = verify(&module).unwrap_err();
    assert_eq!(found[0].place, Place::Block(Block::from_u32(9)));
    module.funcs.values_mut().next().unwrap().layout.remove(1);
    let found: Vec<_> = verify(&module).unwrap_err().iter().map(|e| e.message.clone()).collect();
    assert!(found.iter().any(|m| m == "the instruction is in two places"), "{found:?}");
    assert!(found.iter().any(|m| m == "the instruction names another block as its place"), "{found:?}");
    assert!(found.iter().any(|m| m == "the target is not in the layout"), "{found:?}");
}

#[test]
fn functions_and_their_addresses() {
    let items = "sig0 = (i32) -> f32\nextern func @e(i32) -> f32\nkernel @k {\nb0:\nret\n}\n";
    let with = |lines: &str| errors(&format!("{items}func @f {{\nb0:\n{lines}\nret\n}}\n"));
    let good = "v0 = func_addr.i64 @e\nv1 = const.i32 1\nv2: f32 = call_indirect sig0 v0(v1)\n\
                v3: f32 = call @e(v1)";
    assert_eq!(with(good), [""; 0]);
    for (lines, message) in [
        ("v0 = func_addr.i32 @e", "the types do not fit the operation"),
        ("v0 = func_addr.i64 @k", "the function does not exist, or is a kernel"),
        ("v0 = func_addr.i64 fn9", "the function does not exist, or is a kernel"),
        ("v0 = const.i32 1\nv1: f32 = call_indirect sig0 v0(v0)", "the address of a function is an i64"),
        ("v0 = const.i64 1\nv1: f32 = call_indirect sig0 v0(v0)", "the arguments do not fit the signature"),
        ("v0 = const.i64 1\nv1 = const.i32 1\nv2: i32 = call_indirect sig0 v0(v1)", "the results do not fit"),
        ("v0 = const.i64 1\ncall_indirect sig1 v0()", "the signature does not exist"),
        ("v0: f32 = call @e()", "the arguments do not fit the callee's parameters"),
    ] {
        let found = with(lines);
        assert!(found.len() == 1 && found[0].contains(message), "{lines}: {found:?}");
    }
    assert_eq!(errors("sig0 = ()\nsig1 = ()\n"), ["@sig1: another signature is the same"]);
    let table = "an address of a function in it is unaligned, not in order, outside, or of no function";
    for text in [
        "constant @t size 8 align 8\nfunc_at 4 @f",
        "constant @t size 8 align 8\nfunc_at 8 @f",
        "constant @t size 16 align 8\nfunc_at 8 @f func_at 0 @f",
        "constant @t size 8 align 4\nfunc_at 0 @f",
        "constant @t size 8 align 8\nfunc_at 0 @k\nkernel @k {\nb0:\nret\n}",
        "shared @t size 8 align 8\nfunc_at 0 @f",
    ] {
        assert_eq!(errors(&format!("{text}\nfunc @f {{\nb0:\nret\n}}")), [format!("@t: {table}")], "{text}");
    }
    let text = "extern global @t size 1 align 1 = \"00\"";
    assert_eq!(errors(text), ["@t: a variable of another object has no initial bytes"]);
}
