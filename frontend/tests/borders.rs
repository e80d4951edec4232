//! Functions that other objects know, or that are called through their addresses, take what the calling convention says: values of random types
//! come out as they went in, on processors and in conventions that place them differently, and the parameters of the IR are the places.

use frontend::Abi;
use ir::interp::{Dispatch, Interp, Memory};
use ir::passes::inline::Calls;
use ir::passes::{OptOptions, PassContext, optimize};
use ir::{Module, Type};
use std::fmt::Write;

const LANES: u32 = 8;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % n
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// A type of the language.
#[derive(Clone)]
enum Shape {
    Scalar(&'static str),
    Vector(&'static str, usize),
    Array(&'static str, usize),
    /// Its name, and fields `m0`, `m1`, ….
    Struct(String, Vec<Shape>),
}

const SCALARS: [&str; 12] =
    ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bool"];
const LANE_TYPES: [&str; 8] = ["u8", "i8", "u16", "u32", "f16", "f32", "f64", "i64"];

impl Shape {
    fn random(rng: &mut Rng, structs: &mut Vec<Shape>) -> Shape {
        match rng.below(6) {
            0 | 1 => Shape::Scalar(rng.pick(&SCALARS)),
            2 => Shape::Vector(rng.pick(&LANE_TYPES), rng.pick(&[2, 3, 4])),
            _ => {
                let fields = (0..1 + rng.below(5)).map(|_| match rng.below(5) {
                    0 => Shape::Array(rng.pick(&SCALARS), 1 + rng.below(4) as usize),
                    1 => Shape::Vector(rng.pick(&LANE_TYPES), rng.pick(&[2, 3, 4])),
                    2 if !structs.is_empty() => structs[rng.below(structs.len() as u64) as usize].clone(),
                    _ => Shape::Scalar(rng.pick(&SCALARS)),
                });
                let fields: Vec<Shape> = fields.collect();
                let made = Shape::Struct(format!("S{}", structs.len()), fields);
                structs.push(made.clone());
                made
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Shape::Scalar(name) => (*name).to_owned(),
            Shape::Vector(name, lanes) => format!("{name}x{lanes}"),
            Shape::Array(name, len) => format!("[{name}; {len}]"),
            Shape::Struct(name, _) => name.clone(),
        }
    }

    /// An expression for some value.
    fn value(&self, rng: &mut Rng) -> String {
        let scalar = |name: &str, rng: &mut Rng| {
            let (a, b) = (1 + rng.below(900), rng.below(1000));
            match name {
                "bool" => format!("((i * {a} + {b}) & 4) != 0"),
                "f16" => format!("((i * {a} + {b}) & 1023) as f16"),
                "u64" | "i64" => format!("((i * {a} + {b}) as u64 * 0x1234567ab) as {name}"),
                name => format!("(i * {a} + {b}) as {name}"),
            }
        };
        let several = |name: &str, count: usize, rng: &mut Rng| {
            (0..count).map(|_| scalar(name, rng)).collect::<Vec<_>>().join(", ")
        };
        match self {
            Shape::Scalar(name) => scalar(name, rng),
            Shape::Vector(name, lanes) => format!("{}({})", self.name(), several(name, *lanes, rng)),
            Shape::Array(name, len) => format!("[{}]", several(name, *len, rng)),
            Shape::Struct(name, fields) => {
                let fields =
                    fields.iter().enumerate().map(|(n, field)| format!("m{n}: {}", field.value(rng)));
                format!("{name} {{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Statements that add all of it to a hash.
    fn hash(&self, path: &str, out: &mut String) {
        let scalar = |name: &str, path: &str, out: &mut String| {
            let number = match name {
                "u64" | "i64" => format!("({path} as u64 ^ {path} as u64 >> 32) as u32"),
                _ => format!("{path} as u32"),
            };
            let _ = writeln!(out, "    h = h * 31 + ({number});");
        };
        match self {
            Shape::Scalar(name) => scalar(name, path, out),
            Shape::Vector(name, lanes) => {
                (0..*lanes).for_each(|n| scalar(name, &format!("{path}[{n}]"), out));
            }
            Shape::Array(name, len) => (0..*len).for_each(|n| scalar(name, &format!("{path}[{n}]"), out)),
            Shape::Struct(_, fields) => {
                fields.iter().enumerate().for_each(|(n, field)| field.hash(&format!("{path}.m{n}"), out));
            }
        }
    }
}

/// A program whose functions hand one of their parameters back, each called by name and through its address.
fn program(seed: u64) -> String {
    let mut rng = Rng(seed);
    let mut structs = Vec::new();
    let (mut functions, mut kernel) = (String::new(), String::new());
    for n in 0..1 + rng.below(3) {
        let params: Vec<Shape> =
            (0..1 + rng.below(9)).map(|_| Shape::random(&mut rng, &mut structs)).collect();
        let which = rng.below(params.len() as u64) as usize;
        let result = &params[which];
        let list: Vec<String> =
            params.iter().enumerate().map(|(n, ty)| format!("p{n}: {}", ty.name())).collect();
        let types: Vec<String> = params.iter().map(Shape::name).collect();
        let _ = writeln!(
            functions,
            "#[export]\n#[inline(never)]\nfn f{n}({}) -> {} {{\n    p{which}\n}}",
            list.join(", "),
            result.name()
        );
        let args: Vec<String> = params.iter().map(|ty| ty.value(&mut rng)).collect();
        let args = args.join(", ");
        let _ = writeln!(
            kernel,
            "    let a{n} = f{n}({args});\n    let g{n}: fn({}) -> {} = f{n};",
            types.join(", "),
            result.name()
        );
        let _ = writeln!(kernel, "    let b{n} = g{n}({args});");
        result.hash(&format!("a{n}"), &mut kernel);
        result.hash(&format!("b{n}"), &mut kernel);
    }
    let mut source = String::new();
    for made in &structs {
        let Shape::Struct(name, fields) = made else { continue };
        let fields: Vec<String> =
            fields.iter().enumerate().map(|(n, field)| format!("m{n}: {}", field.name())).collect();
        let _ = writeln!(source, "struct {name} {{ {} }}", fields.join(", "));
    }
    let kernel = format!(
        "kernel t(out: *global u32) {{\n    let i = local_id(0);\n    let mut h = 1u32;\n{kernel}    out[i] = h;\n}}\n"
    );
    source + &functions + &kernel
}

fn compile(source: &str, abi: Option<Abi<'_>>) -> Module {
    let options = frontend::Options { abi, ..Default::default() };
    let module = frontend::compile("test.k", source, &options)
        .unwrap_or_else(|list| panic!("{}\n{source}", list.render(false)));
    ir::verify::verify(&module).unwrap_or_else(|errors| panic!("{}\n{source}\n{module}", errors[0]));
    module
}

fn interpret(module: &Module) -> Vec<u8> {
    let mut memory = Memory::new();
    let out = memory.alloc(4 * LANES as usize);
    let interp = Interp::new(module, &mut memory);
    let dispatch = Dispatch {
        kernel: "t",
        grid: [LANES, 1, 1],
        group: [LANES, 1, 1],
        kernarg: out.to_le_bytes().to_vec(),
        dynamic_shared: 0,
    };
    interp.run(&dispatch, &mut memory).unwrap_or_else(|error| panic!("{error}\n{module}"));
    memory.bytes(out, 4 * LANES as usize).expect("allocated").to_vec()
}

fn subtarget(name: &str) -> isa::Subtarget {
    isa::Subtarget::from(isa::Target::by_name(name).expect("a processor"))
}

#[test]
fn values_of_random_types_come_out_as_they_went_in() {
    let count = std::env::var("KERNC_BORDERS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let targets = ["gfx700", "gfx906", "gfx1030"].map(subtarget);
    for seed in 1..=count {
        let source = program(seed);
        let expected = interpret(&compile(&source, None));
        for target in &targets {
            for convention in [callconv::Convention::default(), callconv::Convention::Guide] {
                let abi = Abi { convention, ..Abi::today(target) };
                let mut module = compile(&source, Some(abi));
                assert_eq!(interpret(&module), expected, "seed {seed}, {abi:?}:\n{source}\n{module}");
                let opts = OptOptions { calls: Calls::ByCost, ..OptOptions::default() };
                let go_on = &mut |_: &str, _: &Module| std::ops::ControlFlow::Continue(());
                let _ = optimize(&mut module, &opts, &mut PassContext::default(), go_on);
                assert_eq!(
                    interpret(&module),
                    expected,
                    "seed {seed}, {abi:?}, optimised:\n{source}\n{module}"
                );
            }
        }
    }
}

/// The parameters and results of an exported function with this signature, for gfx906 as today.
fn border(items: &str, signature: &str, body: &str) -> String {
    let target = subtarget("gfx906");
    let module =
        compile(&format!("{items} #[export] fn f{signature} {{ {body} }}"), Some(Abi::today(&target)));
    let func = module.funcs.values().next().expect("a function");
    let text = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(" ");
    format!("{} -> {}", text(&func.param_types().collect::<Vec<_>>()), text(&func.results))
}

/// The places are those of docs/calling-convention.md: a dword each, those of 64 bits two.
#[test]
fn parameters_are_the_places_of_the_convention() {
    let at = |signature: &str, body: &str| border("", signature, body);
    assert_eq!(at("(a: u8, b: i16, c: bool) -> u8", "a"), "i32 i32 i32 -> i32");
    assert_eq!(
        at("(a: u64, b: *global u32, c: *shared u32) -> f64", "1.0"),
        "i64 ptr.global ptr.shared -> f64"
    );
    assert_eq!(at("(v: f32x3, h: f16x3)", ""), "f32 f32 f32 i32 i32 -> ");
    let small = "struct S { a: u8, b: u16, c: f32 }";
    assert_eq!(border(small, "(s: S) -> S", "s"), "i32 f32 -> i32 f32");
    let large = "struct S { a: u8, b: f64, c: [u32; 3] }";
    // A field at a time; padding that clang names has no place here, as C's layout makes it.
    assert_eq!(border(large, "(n: u32, s: S)", ""), "i32 i32 f64 i32 i32 i32 -> ");
    let huge = "struct S { a: [u32; 17] }";
    assert_eq!(border(huge, "(s: S, n: u32)", ""), "ptr.private i32 -> ");
    assert_eq!(border(huge, "(n: u32) -> S", "S { a: [n; 17] }"), "ptr.generic i32 -> ");
}
