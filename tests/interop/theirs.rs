//! Signatures in C, and clang.

use crate::interop::case::{CHOICE, Case, FOLD, IDLE, STRIDE, spans};
use crate::interop::ctypes::name;
use kernc::{Subtarget, isa};
use std::fmt::Write;

/// For each case functions `f_N` and `h_N`, and for the kernels `callBN`, `callQN` and `callEN`, which call
/// our `g_N` and `k_N`: by name, by an address that is the same in all lanes, by addresses that differ.
pub fn source(cases: &[Case], target: &Subtarget) -> String {
    let mut out = String::from(
        "#define GLOBAL __attribute__((address_space(1)))\n\
         typedef GLOBAL unsigned char *bytes;\n\
         __attribute__((visibility(\"protected\"))) bytes cio[2] = {0, 0};\n",
    );
    let mut next = 0;
    for (i, case) in cases.iter().enumerate() {
        let params: Vec<String> =
            case.params.iter().map(|&ty| name(&case.types, ty, &mut out, &mut next)).collect();
        let result = case.result.map(|ty| name(&case.types, ty, &mut out, &mut next));
        let r = result.as_deref().unwrap_or("void");
        let formal: Vec<String> = params.iter().enumerate().map(|(k, ty)| format!("{ty} a{k}")).collect();
        let formal = if formal.is_empty() { "void".into() } else { formal.join(", ") };
        let _ = writeln!(out, "{r} g_{i}({formal}), k_{i}({formal});\ntypedef {r} (*P{i})({formal});");
        let _ = writeln!(out, "P{i} table{i}[2] = {{ g_{i}, k_{i} }};");
        callers(&mut out, i, case, &params, result.as_deref());
        for (function, own) in [("f", 1), ("h", 2)] {
            let _ = writeln!(out, "__attribute__((noinline)) {r} {function}_{i}({formal}) {{");
            let _ = writeln!(out, "  unsigned lane = __builtin_amdgcn_workitem_id_x();");
            callee(&mut out, case, &params, result.as_deref(), own);
            if function == "h" {
                scramble(&mut out, target);
            }
            if result.is_some() {
                let chosen = format!("lane * {STRIDE}u + (fold >> 16 & 1) * {CHOICE}u");
                let _ = writeln!(out, "  return *(GLOBAL {r} *)(cio[1] + {chosen});");
            }
            let _ = writeln!(out, "}}");
        }
    }
    out
}

fn callers(out: &mut String, i: usize, case: &Case, params: &[String], result: Option<&str>) {
    let actual: Vec<String> = (0..params.len()).map(|k| format!("a{k}")).collect();
    let actual = actual.join(", ");
    let at = format!("__builtin_amdgcn_workitem_id_x() * {STRIDE}u");
    for (role, function) in [("B", format!("g_{i}")), ("Q", "p".into()), ("E", "p".into())] {
        let _ = writeln!(out, "void call{role}{i}(bytes in, bytes out, unsigned which) {{");
        let _ = writeln!(out, "  in += {at}; out += {at};");
        if role == "E" {
            let _ = writeln!(out, "  which = __builtin_amdgcn_workitem_id_x() & 1;");
            let _ = writeln!(out, "  if (__builtin_amdgcn_workitem_id_x() == {IDLE}) return;");
        }
        if role != "B" {
            let _ = writeln!(out, "  P{i} p = table{i}[which];");
        }
        // In variables: clang would pass the global address of a struct on as a private one.
        for (k, (ty, at)) in params.iter().zip(case.offsets()).enumerate() {
            let _ = writeln!(out, "  {ty} a{k} = *(GLOBAL {ty} *)(in + {at});");
        }
        let _ = match result {
            Some(r) => writeln!(out, "  {r} r = {function}({actual}); *(GLOBAL {r} *)out = r; }}"),
            None => writeln!(out, "  {function}({actual}); }}"),
        };
    }
}

fn callee(out: &mut String, case: &Case, params: &[String], result: Option<&str>, own: u32) {
    let _ = writeln!(out, "  bytes o = cio[0] + lane * {STRIDE}u;");
    let offsets = case.offsets();
    for (k, (ty, at)) in params.iter().zip(&offsets).enumerate() {
        let _ = writeln!(out, "  *(GLOBAL {ty} *)(o + {at}) = a{k};");
    }
    let _ = writeln!(out, "  unsigned fold = {own};");
    for (k, &ty) in case.params.iter().enumerate() {
        let _ = match case.by_address(k) {
            true => writeln!(out, "  unsigned char *p{k} = (unsigned char *)&a{k};"),
            false => writeln!(out, "  bytes p{k} = o + {};", offsets[k]),
        };
        for (from, to) in spans(&case.types, ty) {
            let _ = writeln!(out, "  for (unsigned b = {from}; b < {to}; b++) fold = fold * 31 + p{k}[b];");
        }
    }
    let _ = writeln!(out, "  *(GLOBAL unsigned *)(o + {FOLD}) = fold;");
    let _ = result;
}

/// Writes registers that a call does not preserve, and uses some that it does.
fn scramble(out: &mut String, target: &Subtarget) {
    let (mut text, mut names) = (String::new(), Vec::new());
    for reg in (0..40).chain(48..56) {
        let _ = write!(text, "v_mov_b32 v{reg}, -1\\n");
        names.push(format!("\"v{reg}\""));
    }
    for reg in 4..30 {
        let _ = write!(text, "s_mov_b32 s{reg}, -1\\n");
        names.push(format!("\"s{reg}\""));
    }
    let kept =
        ["v40", "v41", "s34", "s35"].iter().chain(target.has(isa::Feature::UNIFIED_VGPRS).then_some(&"a40"));
    for reg in kept.clone() {
        names.push(format!("\"{reg}\""));
        let _ = match reg.as_bytes()[0] {
            b'v' => write!(text, "v_mov_b32 {reg}, -1\\n"),
            b's' => write!(text, "s_mov_b32 {reg}, -1\\n"),
            _ => write!(text, "v_accvgpr_write_b32 {reg}, v0\\n"),
        };
    }
    text += "s_mov_b64 vcc, 0";
    let _ = writeln!(out, "  __asm__ volatile(\"{text}\" ::: \"vcc\", {});", names.join(", "));
}

/// The kernels, which clang 14 takes in OpenCL alone.
pub fn kernels(count: usize) -> String {
    let mut out = String::new();
    for name in (0..count).flat_map(|i| ["B", "Q", "E"].map(|role| format!("{role}{i}"))) {
        let _ = writeln!(out, "void call{name}(global char *in, global char *out, uint which);");
        let _ = writeln!(
            out,
            "kernel void {name}(global char *in, global char *out, uint which) {{ call{name}(in, out, which); }}"
        );
    }
    out
}
