//! Signatures in the kernel language.

use crate::interop::case::{CHOICE, Case, FOLD, IDLE, STRIDE, spans};
use callconv::{Kind, Scalar, Space, TypeId, Types};
use std::fmt::Write;

fn scalar(scalar: Scalar) -> String {
    match scalar {
        Scalar::Bool => "bool".into(),
        Scalar::Int { bits, signed } => format!("{}{bits}", if signed { 'i' } else { 'u' }),
        Scalar::F16 => "f16".into(),
        Scalar::BF16 => "bf16".into(),
        Scalar::F32 => "f32".into(),
        Scalar::F64 => "f64".into(),
        Scalar::Pointer(space) => {
            let space = match space {
                Space::Flat => "",
                Space::Global => "global ",
                Space::Local => "shared ",
                Space::Constant => "constant ",
                Space::Private => "private ",
                Space::Region => panic!("no pointer of the kernel language"),
            };
            format!("*const {space}u8")
        }
    }
}

/// The name of a type, whose structs are defined before in `out`.
fn name(types: &Types, ty: TypeId, out: &mut String, next: &mut usize) -> String {
    match types.kind(ty) {
        Kind::Scalar(of) => scalar(of),
        Kind::Vector(of, lanes) => format!("{}x{lanes}", scalar(of)),
        Kind::Array(element, len) => format!("[{}; {len}]", name(types, element, out, next)),
        Kind::Struct { .. } => {
            let fields: Vec<String> =
                types.fields(ty).map(|(_, field)| name(types, field, out, next)).collect();
            *next += 1;
            let fields = fields.iter().enumerate().map(|(n, field)| format!("m{n}: {field}"));
            let _ = writeln!(out, "struct S{next} {{ {} }}", fields.collect::<Vec<_>>().join(", "));
            format!("S{next}")
        }
    }
}

/// For each case kernels that call clang's `f_N` and `h_N`: `AN` by name, `PN` by an address that is the same in all lanes, `DN` by addresses that
/// differ; and functions `g_N` and `k_N` that clang calls.
pub fn source(cases: &[Case]) -> String {
    let mut out = String::from("extern global static cio: [*global u8; 2];\n");
    let mut next = 0;
    for (i, case) in cases.iter().enumerate() {
        let types = &case.types;
        let params: Vec<String> =
            case.params.iter().map(|&ty| name(types, ty, &mut out, &mut next)).collect();
        let result = case.result.map(|ty| name(types, ty, &mut out, &mut next));
        let arrow = result.as_ref().map_or(String::new(), |ty| format!(" -> {ty}"));
        let formal: Vec<String> = params.iter().enumerate().map(|(k, ty)| format!("a{k}: {ty}")).collect();
        let formal = formal.join(", ");
        let _ = writeln!(out, "extern fn f_{i}({formal}){arrow};\nextern fn h_{i}({formal}){arrow};");
        let _ =
            writeln!(out, "constant static T{i}: [fn({}){arrow}; 2] = [f_{i}, h_{i}];", params.join(", "));
        callers(&mut out, i, case, &params, result.as_deref());
        for (function, own) in [("g", 3), ("k", 4)] {
            let _ = writeln!(out, "#[export]\nfn {function}_{i}({formal}){arrow} {{");
            callee(&mut out, case, &params, result.as_deref(), own);
        }
    }
    out
}

fn callers(out: &mut String, i: usize, case: &Case, params: &[String], result: Option<&str>) {
    let args = params.iter().zip(case.offsets());
    let args: Vec<String> = args.map(|(ty, at)| format!("*((i + {at}) as *const global {ty})")).collect();
    let args = args.join(", ");
    for (role, function) in
        [("A", format!("f_{i}")), ("P", format!("T{i}[which]")), ("D", format!("T{i}[local_id(0) & 1]"))]
    {
        let _ = writeln!(out, "kernel {role}{i}(input: *global u8, output: *global u8, which: u32) {{");
        let _ = writeln!(
            out,
            "    let at = local_id(0) * {STRIDE};\n    let (i, o) = (input + at, output + at);"
        );
        if role == "D" {
            let _ = writeln!(out, "    if local_id(0) == {IDLE} {{ return; }}");
        }
        let _ = match result {
            Some(ty) => writeln!(out, "    *(o as *global {ty}) = {function}({args});\n}}"),
            None => writeln!(out, "    {function}({args});\n}}"),
        };
    }
}

fn callee(out: &mut String, case: &Case, params: &[String], result: Option<&str>, own: u32) {
    let _ = writeln!(out, "    let at = local_id(0) * {STRIDE};\n    let o = cio[0] + at;");
    let offsets = case.offsets();
    for (k, (ty, at)) in params.iter().zip(&offsets).enumerate() {
        let _ = writeln!(out, "    *((o + {at}) as *global {ty}) = a{k};");
    }
    let _ = writeln!(out, "    let mut fold: u32 = {own};");
    for (k, &ty) in case.params.iter().enumerate() {
        let _ = match case.by_address(k) {
            true => writeln!(out, "    let p{k} = &a{k} as *const private u8;"),
            false => writeln!(out, "    let p{k} = o + {};", offsets[k]),
        };
        for (from, to) in spans(&case.types, ty) {
            let _ = writeln!(out, "    for b in {from}..{to} {{ fold = fold * 31 + (p{k}[b] as u32); }}");
        }
    }
    let _ = writeln!(out, "    *((o + {FOLD}) as *global u32) = fold;");
    if let Some(ty) = result {
        let _ = writeln!(out, "    *((cio[1] + at + (fold >> 16 & 1) * {CHOICE}) as *global {ty})");
    }
    let _ = writeln!(out, "}}");
}
