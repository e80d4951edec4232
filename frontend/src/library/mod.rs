//! The library: built-in functions written in the kernel language, of mathematics nearly all.
//!
//! A call of one becomes a call of a function that the module does not have yet. When the module is lowered, the
//! functions that it asks for, and what those need, are compiled as a source of their own and put behind the module's
//! functions. A kernel that calls none pays nothing, one that does pays for the functions it calls.
//!
//! `erf` of `f64` is the item `erf_f64`, or `erf_T` where the text is the same for both types; `f32` that has no item
//! of its own is computed as `f64`, whose result is then rounded.

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

/// The text of each item by its name.
static ITEMS: LazyLock<FxHashMap<&str, &str>> =
    LazyLock::new(|| TEXTS.iter().flat_map(|text| text.split("\n\n")).filter_map(item).collect());

/// The item of a paragraph and its name, without the comment above.
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

/// Whether there is a text for this function of this type.
pub fn has(name: &str) -> bool {
    ITEMS.contains_key(name) || template(name).is_some()
}

/// The text that stands for both types, and which of them is wanted.
fn template(name: &str) -> Option<(&'static str, &str)> {
    let (stem, ty) = name.rsplit_once('_')?;
    let text = *ITEMS.get(format!("{stem}_T").as_str())?;
    Some((text, ty))
}

/// The text of an item for its type.
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

/// A source with these functions, in this order, and all that they need behind them.
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

/// Puts these functions, which are called by numbers behind those of the module, into it.
///
/// They are nowhere in the user's source: what is inlined without a place gets the call's.
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
