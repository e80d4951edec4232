//! Functions shared by the tests of the passes, which take and return text.

use super::{OptOptions, PassContext, optimize};
use crate::func::Module;
use crate::parse::parse_module;
use std::ops::ControlFlow;

/// Parses a module.
pub fn parse(text: &str) -> Module {
    parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Returns the module after the whole pipeline at a level.
pub fn optimized(text: &str, level: u8) -> Module {
    let mut module = parse(text);
    let opts = OptOptions { level, ..OptOptions::default() };
    let go_on = &mut |_: &str, _: &Module| ControlFlow::Continue(());
    let _ = optimize(&mut module, &opts, &mut PassContext::default(), go_on);
    module
}

/// Returns the text of a kernel around the text `body`. The body computes `v9` from the positions `v0` and
/// `v1`, both of type `i32`.
pub fn store_of(body: &str) -> String {
    format!(
        "kernel @k {{\n    kernarg_size 8\nb0:\n    v0 = local_id.i32 0\n    v1 = group_id.i32 0\n    \
         v2 = kernarg_ptr.ptr.constant\n    v3 = load.ptr.global b64 constant [v2] align 8 invariant\n{body}\n    \
         store b32 global [v3], v9 align 4\n    ret\n}}\n"
    )
}

/// Returns the operations of the first function in order, without the operations that are part of every test
/// kernel.
pub fn ops(module: &Module) -> Vec<String> {
    let Some(func) = module.funcs.values().next() else { return Vec::new() };
    let mut found = Vec::new();
    for &block in &func.layout {
        for &inst in func.blocks[block].insts() {
            let text = crate::text::instruction(func, inst, Some(module));
            let op = text.split(" = ").last().unwrap_or(&text);
            let name = op.split([' ', '.']).next().unwrap_or(op).to_string();
            if !["local_id", "group_id", "kernarg_ptr", "const", "ret"].contains(&name.as_str()) {
                found.push(name);
            }
        }
    }
    found
}
