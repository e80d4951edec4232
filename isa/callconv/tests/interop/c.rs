//! Signatures as C.

use crate::interop::ctypes::name;
use crate::interop::machine::{Case, Config, STRIDE, offsets};
use std::fmt::Write;

/// `callAN` that calls `fN`, `callPN` that calls `fN` or the like `hN` by a pointer that differs between lanes, a function `gN`, and
/// `callBN` that calls `shimN`, for each case.
pub fn source(cases: &[Case], config: &Config) -> String {
    let mut out = String::from(
        "#define GLOBAL __attribute__((address_space(1)))\n\
         typedef GLOBAL char *bytes;\n\
         __attribute__((visibility(\"default\"))) bytes cio[2] = {0, 0};\n",
    );
    let mut next = 0;
    for (i, case) in cases.iter().enumerate() {
        let types = &case.types;
        let params: Vec<String> =
            case.params.iter().map(|param| name(types, param.ty, &mut out, &mut next)).collect();
        let result = case.result.map(|ty| name(types, ty, &mut out, &mut next));
        let r = result.clone().unwrap_or_else(|| "void".into());
        let at = offsets(case);
        let list =
            |text: &dyn Fn(usize) -> String| (0..params.len()).map(text).collect::<Vec<_>>().join(", ");
        let formal = list(&|k| format!("{} a{k}", params[k]));
        let formal = if formal.is_empty() { "void".into() } else { formal };
        let actual = list(&|k| format!("a{k}"));
        let _ = writeln!(out, "{r} f{i}({formal}), h{i}({formal});\nvoid shim{i}(bytes, bytes);");
        let _ = writeln!(out, "typedef {r} (*P{i})({formal});");
        let lane = format!("__builtin_amdgcn_workitem_id_x() * {STRIDE}u");
        for (role, function) in [("A", format!("f{i}")), ("P", "p".into())] {
            let _ = writeln!(out, "void call{role}{i}(bytes in, bytes out) {{ in += {lane}; out += {lane};");
            if role == "P" {
                let _ = writeln!(out, "  P{i} p = __builtin_amdgcn_workitem_id_x() & 1 ? h{i} : f{i};");
                let _ = writeln!(out, "  __asm__ volatile(\"\" : \"+v\"(p));");
            }
            // In variables: clang would pass the global address of a struct on as a private one.
            for (k, param) in params.iter().enumerate() {
                let _ = writeln!(out, "  {param} a{k} = *(GLOBAL {param} *)(in + {});", at[k]);
            }
            let _ = match &result {
                Some(_) => writeln!(out, "  {r} r = {function}({actual}); *(GLOBAL {r} *)out = r; }}"),
                None => writeln!(out, "  {function}({actual}); }}"),
            };
        }
        let _ = writeln!(out, "void callB{i}(bytes in, bytes out) {{ shim{i}(in + {lane}, out + {lane}); }}");
        let _ = writeln!(out, "__attribute__((noinline)) {r} g{i}({formal}) {{ bytes o = cio[0] + {lane};");
        for (k, param) in params.iter().enumerate() {
            let _ = writeln!(out, "  *(GLOBAL {param} *)(o + {}) = a{k};", at[k]);
        }
        let agprs = if config.target.has(isa::Feature::UNIFIED_VGPRS) { ", \"a40\"" } else { "" };
        let _ = writeln!(out, "  __asm__ volatile(\"\" ::: \"v40\", \"v41\", \"s34\", \"s35\"{agprs});");
        if result.is_some() {
            let _ = writeln!(out, "  return *(GLOBAL {r} *)(cio[1] + {lane});");
        }
        let _ = writeln!(out, "}}");
    }
    out
}

/// The kernels, which clang 14 takes in OpenCL alone.
pub fn kernels(count: usize) -> String {
    let mut out = String::new();
    for name in (0..count).flat_map(|i| ["A", "B", "P"].map(|role| format!("{role}{i}"))) {
        let _ = writeln!(out, "void call{name}(global char *in, global char *out);");
        let _ =
            writeln!(out, "kernel void {name}(global char *in, global char *out) {{ call{name}(in, out); }}");
    }
    out
}
