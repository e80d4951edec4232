//! What is long is not deep: arms and operators of any number, on the stack of a test's thread.

use std::fmt::Write;
use std::ops::ControlFlow;

const MANY: usize = 10_000;

/// A kernel with this body, compiled and verified.
fn compile(items: &str, body: &str) -> ir::Module {
    let source = format!("{items}\nkernel k(x: *global u32, f: *global f32) {{ let a = x[0]; {body} }}");
    let module = frontend::compile("k.k", &source, &frontend::Options::default())
        .unwrap_or_else(|list| panic!("{}", list.render(false)));
    ir::verify::verify(&module).unwrap_or_else(|errors| panic!("{}", errors[0]));
    module
}

fn repeated(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut out, n| {
        let _ = write!(out, "{}", part(n));
        out
    })
}

fn blocks(module: &ir::Module) -> usize {
    module.funcs.values().map(|func| func.layout.len()).sum()
}

#[test]
fn arms_of_a_match() {
    let arms =
        repeated(MANY, |n| format!("{} | {}..={} => {{ x[{n}] = a; }}\n", 9 * n, 9 * n + 2, 9 * n + 5));
    let mut module = compile("", &format!("match a {{ {arms} _ => {{}} }}"));
    assert_eq!(blocks(&module), MANY + 3);
    let mut context = ir::passes::PassContext::default();
    let done =
        ir::passes::optimize(&mut module, &ir::passes::OptOptions::default(), &mut context, &mut |_, _| {
            ControlFlow::Continue(())
        });
    assert!(done.is_continue());
    ir::verify::verify(&module).unwrap();
}

#[test]
fn else_ifs() {
    let arms = repeated(MANY, |n| format!("if a == {n} {{ x[{n}] = a; }} else "));
    assert_eq!(blocks(&compile("", &format!("{arms} {{ x[1] = 3; }}"))), 2 * MANY + 2);
    let values = repeated(MANY, |n| format!("if a == {n} {{ {n}u32 }} else "));
    assert_eq!(blocks(&compile("", &format!("x[2] = {values} {{ 5 }};"))), 2 * MANY + 2);
}

#[test]
fn operators() {
    for (ty, op) in [("u32", "+"), ("u32", "^"), ("u32", "<<"), ("f32", "*"), ("f32", "/"), ("i64", "-")] {
        let terms = repeated(MANY, |n| format!(" {op} {}", n % 7 + 1));
        compile("", &format!("let v = a as {ty}{terms}; x[1] = v as u32;"));
        compile("", &format!("let v: {ty} = 100 {terms}; x[1] = v as u32;"));
    }
    compile("", &format!("f[0] = f[1]{};", repeated(MANY, |n| format!(" + f[{n}] * 2.0"))));
    compile("", &format!("let b = a > 3{}; x[0] = b as u32;", repeated(MANY, |n| format!(" && a != {n}"))));
    compile(
        "",
        &format!("let b = a > 3{}; x[0] = b as u32;", repeated(MANY, |n| format!(" || x[{n}] == 1"))),
    );
    compile("", &format!("*(x{}) = a;", repeated(MANY, |_| " + 1".to_owned())));
    let sum = repeated(MANY, |_| " + 2".to_owned());
    let module = compile(&format!("const N: u32 = 1{sum};"), "x[0] = N;");
    assert!(module.to_string().contains(&format!("const.i32 {}", 2 * MANY + 1)));
}

/// Real nesting still ends somewhere.
#[test]
fn nesting_has_a_limit() {
    for (open, close) in [("(", ")"), ("!", ""), ("if a > 1 { ", " } else { 0 }")] {
        let value = open.repeat(MANY) + "1" + &close.repeat(MANY);
        let source = format!("kernel k(x: *global i32) {{ let a = x[0]; x[0] = {value}; }}");
        let errors = frontend::compile("k.k", &source, &frontend::Options::default()).unwrap_err();
        assert_eq!(errors.list[0].code, "E0007", "{open}: {:?}", errors.list);
    }
}
