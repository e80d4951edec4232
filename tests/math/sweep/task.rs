//! What is swept: functions, types, and the code that the processors have for them.

use super::device;
use crate::math::coarse::HALF;
use crate::math::functions::{FUNCTIONS, Function, Second};
use crate::math::run::Float;
use crate::math::same::{Narrow, Wide};
use crate::math::{PROCESSORS, expression, same, second};
use kernc::{CodeObject, Compiler, Options, Target};
use object::{Object, ObjectSection};
use std::collections::BTreeMap;

/// A function of one type.
pub struct Task {
    pub name: &'static str,
    pub ty: &'static str,
    pub how: How,
    /// Kernel `t`.
    pub source: String,
}

/// What its results are compared with, and for which numbers.
#[derive(Clone, Copy)]
pub enum How {
    /// All `f32`, in units of the last place.
    All(&'static Function),
    /// All `f32`, bit for bit.
    AllSame(Narrow),
    /// All `f16`.
    Halves(&'static Function),
    /// All pairs of `f16`, correctly rounded.
    Pairs(fn(f64, f64) -> f64),
    /// Ten million arguments.
    Some(&'static Function, Float),
    /// Ten million arguments, bit for bit.
    SomeSame(Wide, Narrow, Float),
}

/// The processor whose code runs over all numbers.
pub const SWEPT: &str = "gfx906";

/// Operations of one number whose result is exact or correctly rounded, and models of them.
const ALL_SAME: &[(&str, Narrow)] = &[
    ("sqrt(a)", |x, _| x.sqrt()),
    ("rcp(a)", |x, _| 1.0 / x),
    ("floor(a)", |x, _| x.floor()),
    ("ceil(a)", |x, _| x.ceil()),
    ("trunc(a)", |x, _| x.trunc()),
    ("round(a)", |x, _| x.round_ties_even()),
    ("a as f64 as f32", |x, _| x),
];

/// Operations of two halves, and their exact results, or such as round to the same halves: `f64` has more than twice the digits and two.
const PAIRS: &[(&str, Wide)] =
    &[("a + b", |a, b| a + b), ("a * b", |a, b| a * b), ("a / b", |a, b| a / b), ("a % b", |a, b| a % b)];

impl Task {
    fn new(function: &'static Function, ty: &'static str, how: How) -> Task {
        let text = expression(function);
        let float = if ty == "f64" { Float::F64 } else { Float::F32 };
        let source = match how {
            How::Some(..) => device::of_pairs(&text, ty, second(function, float)),
            _ => device::of_bits(&text, ty),
        };
        Task { name: function.name, ty, how, source }
    }

    /// In units in the last place; nothing is allowed where bits are compared.
    pub fn limit(&self) -> f64 {
        match self.how {
            How::All(function) => function.limit(Float::F32),
            How::Some(function, ty) => function.limit(ty),
            How::Halves(_) => crate::math::half::LIMIT,
            How::AllSame(_) | How::Pairs(_) | How::SomeSame(..) => 0.0,
        }
    }
}

/// All of them, or those of `KERNC_MATH_ONLY` in its order.
pub fn tasks() -> Vec<Task> {
    let mut all = Vec::new();
    for function in FUNCTIONS {
        // The root is below.
        match function.second {
            _ if function.limits[0] == 0.0 => {}
            Second::None => all.push(Task::new(function, "f32", How::All(function))),
            _ => all.push(Task::new(function, "f32", How::Some(function, Float::F32))),
        }
    }
    for function in HALF {
        match function.second {
            Second::None => all.push(Task::new(function, "f32", How::All(function))),
            _ => all.push(Task::new(function, "f32", How::Some(function, Float::F32))),
        }
    }
    for &(name, model) in PAIRS {
        all.push(Task { name, ty: "f16", how: How::Pairs(model), source: device::of_halves(name) });
    }
    for &(name, model) in ALL_SAME {
        let source = device::of_bits(name, "f32");
        all.push(Task { name, ty: "f32", how: How::AllSame(model), source });
    }
    for function in FUNCTIONS.iter().filter(|function| function.second == Second::None) {
        all.push(Task::new(function, "f16", How::Halves(function)));
    }
    for function in FUNCTIONS {
        all.push(Task::new(function, "f64", How::Some(function, Float::F64)));
    }
    for ty in [Float::F32, Float::F64] {
        for &(name, (wide, narrow)) in same::EXACT {
            let source = device::of_pairs(&name.replace('T', ty.name()), ty.name(), ty.name());
            all.push(Task { name, ty: ty.name(), how: How::SomeSame(wide, narrow, ty), source });
        }
    }
    all.retain(|task| task.ty != "f32" || task.name != "sqrt(a)" || matches!(task.how, How::AllSame(_)));
    let Ok(only) = std::env::var("KERNC_MATH_ONLY") else { return all };
    let place = |task: &Task| only.split(',').position(|name| name == task.name || name == task.ty);
    all.retain(|task| place(task).is_some());
    all.sort_by_key(|task| place(task));
    all
}

/// The code for a processor.
pub struct Code {
    pub processor: &'static str,
    pub bytes: Vec<u8>,
    text: String,
}

pub fn code(source: &str, processor: &'static str) -> Code {
    let mut compiler = Compiler::new(Target::by_name(processor).unwrap());
    let compiled: CodeObject = compiler
        .compile(source, &Options::default())
        .unwrap_or_else(|why| panic!("{processor}: {source}\n{why}"));
    Code { processor, bytes: compiled.bytes().to_vec(), text: compiled.machine_code() }
}

/// Of the instructions and constants of some code (Fowler, Noll and Vo's hash).
pub fn hash<'a>(codes: impl IntoIterator<Item = &'a Code>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for code in codes {
        let file = object::File::parse(&*code.bytes).unwrap();
        for section in [".text", ".rodata"].iter().filter_map(|name| file.section_by_name(name)) {
            for &byte in section.data().unwrap() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
    hash
}

/// The operations on floats that round, and how many of each: what decides which bits come out. Integers, comparisons, moves,
/// selections and memory give the same bits on every processor by definition, and so do the same operations in another order
/// of independent ones, or in another encoding.
fn arithmetic(code: &Code) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    let words = code.text.split_whitespace().filter(|word| word.starts_with("v_"));
    for word in words {
        let is_float = ["_f16", "_f32", "_f64"].iter().any(|ty| word.contains(ty));
        if !is_float || word.starts_with("v_cmp") {
            continue;
        }
        let mut name = word.to_owned();
        for suffix in ["_e32", "_e64", "_sdwa", "_dpp"] {
            name = name.replace(suffix, "");
        }
        // Where the sum is put, where a constant comes from, and which sign an operand has.
        for (form, same) in
            [("fmac", "fma"), ("fmaak", "fma"), ("fmamk", "fma"), ("subrev", "add"), ("sub", "add")]
        {
            name = name.replace(&format!("v_{form}_"), &format!("v_{same}_"));
        }
        *counts.entry(name).or_default() += 1;
    }
    counts
}

/// The processors whose code does the same arithmetic, those of the swept one first.
pub fn classes(source: &str) -> Vec<Vec<Code>> {
    let mut classes: Vec<(BTreeMap<String, u32>, Vec<Code>)> = Vec::new();
    let order = std::iter::once(SWEPT).chain(PROCESSORS.into_iter().filter(|&name| name != SWEPT));
    for code in order.map(|processor| code(source, processor)) {
        let arithmetic = arithmetic(&code);
        match classes.iter_mut().find(|class| class.0 == arithmetic) {
            Some(class) => class.1.push(code),
            None => classes.push((arithmetic, vec![code])),
        }
    }
    classes.into_iter().map(|class| class.1).collect()
}
