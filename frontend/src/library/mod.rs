//! The library: built-in functions, mostly mathematical, that are written in the kernel language.
//!
//! A call of a library function becomes a call of a function that the module does not contain yet. After the
//! module has been lowered, the library functions that it calls, and the functions that those need, are
//! compiled from a separate source and appended to the module's functions. A kernel thus pays only for the
//! library functions that it calls.
//!
//! Naming, with `erf` as the example: the function for `f64` is the item `erf_f64`, or the template `erf_T`
//! if the text is the same for `f32` and `f64`. If there is no item for `f32`, the function is computed in
//! `f64` and its result is rounded.

use crate::{Context, Options};
use ir::{FuncId, Global, GlobalData, Module, Op, SrcLoc};
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};
use std::borrow::Cow;
use std::sync::LazyLock;

const TEXTS: &[&str] = &[
    include_str!("wide.k"),
    include_str!("exp.k"),
    include_str!("log.k"),
    include_str!("trig.k"),
    include_str!("inverse.k"),
    include_str!("hyperbolic.k"),
    include_str!("power.k"),
    include_str!("erf.k"),
    include_str!("gamma.k"),
    include_str!("trig32.k"),
    include_str!("f32.k"),
    include_str!("basic.k"),
    include_str!("native.k"),
    include_str!("wave.k"),
    include_str!("printf.k"),
    include_str!("hostcall.k"),
];

/// The source text of each library function, by the function's name.
static ITEMS: LazyLock<FxHashMap<&str, &str>> =
    LazyLock::new(|| TEXTS.iter().flat_map(|text| text.split("\n\n")).filter_map(item).collect());

/// Returns the name and the text of a library function. `paragraph` is the function's part of the library's
/// source. A comment before the function is removed.
fn item(paragraph: &str) -> Option<(&str, &str)> {
    let mut text = paragraph;
    while text.starts_with("//") {
        text = text.split_once('\n')?.1;
    }
    Some((words(text).nth(1)?, text))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns whether the library has the function `name`. The name includes the type for which the function is
/// needed, as in `erf_f64`.
pub fn has(name: &str) -> bool {
    ITEMS.contains_key(name) || template(name).is_some()
}

/// Returns the template of a library function, and the name of the type to insert. A template is source text
/// with `T` in place of the type. `name` ends in the type, as in `erf_f64`.
fn template(name: &str) -> Option<(&'static str, &str)> {
    let (stem, ty) = name.rsplit_once('_')?;
    let text = *ITEMS.get(format!("{stem}_T").as_str())?;
    Some((text, ty))
}

/// Returns the source text of a library function. If the function comes from a template, its type is
/// inserted.
fn text_of(name: &str) -> Option<Cow<'static, str>> {
    if let Some(&text) = ITEMS.get(name) {
        return Some(text.into());
    }
    let (text, ty) = template(name)?;
    let int = format!("i{}", &ty[1..]);
    let mut text = text.replace("_T", &format!("_{ty}"));
    for before in [' ', '<'] {
        text = text.replace(&format!("{before}T"), &format!("{before}{ty}"));
        text = text.replace(&format!("{before}I"), &format!("{before}{int}"));
    }
    Some(text.into())
}

/// Returns the source text of the library functions `names`, in this order, followed by all library functions
/// that they call.
fn source(names: &[SmolStr]) -> String {
    let mut text = String::new();
    let mut needed: Vec<SmolStr> = names.to_vec();
    let mut at = 0;
    while let Some(item) = needed.get(at).map(|name| text_of(name).unwrap_or_default()) {
        for word in words(&item) {
            if has(word) && !needed.iter().any(|name| name == word) {
                needed.push(word.into());
            }
        }
        text.push_str(&item);
        text.push('\n');
        at += 1;
    }
    text
}

/// Compiles the named library functions and appends them to the module's functions in the order of `names`.
/// Calls in the module already refer to the library functions by the numbers that they get here.
///
/// The functions have no position in the user's source. When such a function is inlined, its instructions get
/// the position of the call.
pub fn link(module: &mut Module, names: &[SmolStr], context: &mut Context) {
    let options = Options { fp_contract: false, ..Options::default() };
    let source = source(names);
    let mut library = match context.compile("library", &source, &options) {
        Ok(library) => library,
        Err(list) => unreachable!("the library compiles: {}", list.render(false)),
    };
    let (funcs, globals) = (module.funcs.len() as u32, module.globals.len() as u32);
    for func in library.funcs.values_mut() {
        let mut func = std::mem::take(func);
        func.name.insert_str(0, "library.");
        func.unroll_at.clear();
        for inst in func.insts.values_mut() {
            inst.loc = SrcLoc::default();
            match &mut inst.op {
                Op::Call(id) => *id = FuncId::from_u32(id.as_u32() + funcs),
                Op::GlobalAddr(id) => *id = Global::from_u32(id.as_u32() + globals),
                _ => {}
            }
        }
        module.funcs.push(func);
    }
    for global in library.globals.values() {
        let name = format_smolstr!("library.{}", global.name);
        module.globals.push(GlobalData { name, ..global.clone() });
    }
    context.recycle(library);
}
