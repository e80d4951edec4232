//! Functions that other objects know, or that are called through their addresses, take what the calling convention says: values of random types
//! come out as they went in, on processors and in conventions that place them differently, and the parameters of the IR are the places.

use frontend::Abi;
use ir::interp::{Dispatch, Interp, Memory};
use ir::passes::inline::Calls;
use ir::passes::{OptOptions, PassContext, optimize};
use ir::{Module, Type};
use std::fmt::Write;
use support::Random;

const LANES: u32 = 8;

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
    fn random(rng: &mut Random, structs: &mut Vec<Shape>) -> Shape {
        match rng.below(6) {
            0 | 1 => Shape::Scalar(rng.choose(&SCALARS)),
            2 => Shape::Vector(rng.choose(&LANE_TYPES), rng.choose(&[2, 3, 4])),
            _ => {
                let fields = (0..1 + rng.below(5)).map(|_| match rng.below(5) {
                    0 => Shape::Array(rng.choose(&SCALARS), 1 + rng.below(4) as usize),
                    1 => Shape::Vector(rng.choose(&LANE_TYPES), rng.choose(&[2, 3, 4])),
                    2 if !structs.is_empty() => structs[rng.below(structs.len() as u64) as usize].clone(),
                    _ => Shape::Scalar(rng.choose(&SCALARS)),
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
    fn value(&self, rng: &mut Random) -> String {
        let scalar = |name: &str, rng: &mut Random| {
            let (a, b) = (1 + rng.below(900), rng.below(1000));
            match name {
                "bool" => format!("((i * {a} + {b}) & 4) != 0"),
                "f16" => format!("((i * {a} + {b}) & 1023) as f16"),
                "u64" | "i64" => format!("((i * {a} + {b}) as u64 * 0x1234567ab) as {name}"),
                name => format!("(i * {a} + {b}) as {name}"),
            }
        };
        let several = |name: &str, count: usize, rng: &mut Random| {
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
    let mut rng = Random::new(seed);
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

impl Shape {
    /// A declaration in C.
    fn in_c(&self, name: &str) -> String {
        match self {
            Shape::Scalar(of) => format!("t_{of} {name}"),
            Shape::Vector(of, lanes) => format!("t_{of}x{lanes} {name}"),
            Shape::Array(of, len) => format!("t_{of} {name}[{len}]"),
            Shape::Struct(of, _) => format!("struct {of} {name}"),
        }
    }
}

/// Names of the scalars for C.
const C_HEAD: &str =
    "typedef unsigned char t_u8; typedef signed char t_i8; typedef unsigned short t_u16; typedef short t_i16;
typedef unsigned t_u32; typedef int t_i32; typedef unsigned long t_u64; typedef long t_i64;
typedef _Float16 t_f16; typedef float t_f32; typedef double t_f64; typedef _Bool t_bool;
";

/// How many dwords each part of a type of LLVM's takes in registers, from the front of the text; on processors with 16-bit registers.
fn dwords(text: &mut &str, structs: &std::collections::HashMap<String, String>, out: &mut Vec<u32>) {
    let rest = text.trim_start();
    let word = |rest: &str| rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let close = |rest: &str| rest.find(['>', ']', '}']).expect("a closing bracket");
    match rest.as_bytes().first() {
        Some(b'<' | b'[') => {
            let end = close(rest);
            let (count, of) = rest[1..end].split_once(" x ").expect("elements");
            let count: u32 = count.parse().expect("a number");
            let mut one = Vec::new();
            dwords(&mut &*of, structs, &mut one);
            let halves = rest.starts_with('<') && matches!(of, "half" | "i16");
            let total = if halves { vec![1; count.div_ceil(2) as usize] } else { one.repeat(count as usize) };
            out.extend(total);
            *text = &rest[end + 1..];
        }
        Some(b'{' | b'%') => {
            let (body, after) = match rest.strip_prefix('%') {
                Some(name) => {
                    let end =
                        name.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(name.len());
                    (structs[&name[..end]].clone(), &name[end..])
                }
                None => {
                    let end = close(rest);
                    (rest[..=end].to_owned(), &rest[end + 1..])
                }
            };
            let mut fields = body.trim().trim_start_matches('{').trim_end_matches('}').trim();
            while !fields.is_empty() {
                dwords(&mut fields, structs, out);
                fields = fields.trim_start().trim_start_matches(',').trim_start();
            }
            *text = after;
        }
        _ => {
            let end = word(rest);
            let (name, mut after) = rest.split_at(end);
            match name {
                "void" => {}
                "ptr" => {
                    let narrow = after.trim_start().starts_with("addrspace(5)");
                    out.push(if narrow { 1 } else { 2 });
                    after = if narrow { after.split_once(')').expect("a bracket").1 } else { after };
                }
                "i64" | "double" => out.push(2),
                "i1" | "i8" | "i16" | "i32" | "half" | "float" => out.push(1),
                other => panic!("an unknown type of LLVM: {other}"),
            }
            *text = after;
        }
    }
}

/// clang's signatures take and give as many dwords, in the same order, for functions of random types.
#[test]
fn clang_places_the_same() {
    let mut c = C_HEAD.to_owned();
    for of in LANE_TYPES {
        for lanes in [2, 3, 4] {
            let _ = writeln!(c, "typedef t_{of} t_{of}x{lanes} __attribute__((ext_vector_type({lanes})));");
        }
    }
    let (mut source, mut rng, mut structs) = (String::new(), Random::new(7), Vec::new());
    let mut functions = String::new();
    for n in 0..200 {
        let params: Vec<Shape> =
            (0..1 + rng.below(9)).map(|_| Shape::random(&mut rng, &mut structs)).collect();
        let result = &params[rng.below(params.len() as u64) as usize];
        let named = |form: &dyn Fn(&Shape, String) -> String| {
            params.iter().enumerate().map(|(n, ty)| form(ty, format!("p{n}"))).collect::<Vec<_>>().join(", ")
        };
        let own = named(&|ty, name| format!("{name}: {}", ty.name()));
        let _ = writeln!(source, "extern fn fn_{n}({own}) -> {};", result.name());
        let list = named(&|ty, name| ty.in_c(&name));
        let _ =
            writeln!(functions, "{};\nvoid *const u{n} = fn_{n};", result.in_c(&format!("fn_{n}({list})")));
    }
    for made in &structs {
        let Shape::Struct(name, fields) = made else { continue };
        let own: Vec<String> =
            fields.iter().enumerate().map(|(n, field)| format!("m{n}: {}", field.name())).collect();
        let _ = writeln!(source, "struct {name} {{ {} }}", own.join(", "));
        let list: Vec<String> =
            fields.iter().enumerate().map(|(n, field)| field.in_c(&format!("m{n}")) + ";").collect();
        let _ = writeln!(c, "struct {name} {{ {} }};", list.join(" "));
    }
    c += &functions;
    let folder = support::Folder::new("borders");
    let path = folder.write("borders.c", &c);
    let clang = support::Tool::new("clang-19")
        .args([
            "-x",
            "c",
            "--target=amdgcn-amd-amdhsa",
            "-mcpu=gfx906",
            "-nogpulib",
            "-S",
            "-emit-llvm",
            "-O0",
            "-o",
            "-",
        ])
        .arg(&path)
        .output();
    let Ok(output) = clang else { return eprintln!("skipped: clang-19 is not installed") };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let types = text.lines().filter_map(|line| line.strip_prefix('%')?.split_once(" = type "));
    let types = types.map(|(name, body)| (name.to_owned(), body.to_owned())).collect();
    let target = subtarget("gfx906");
    let module = compile(&source, Some(Abi::today(&target)));
    let (mut compared, mut equal) = (0, 0);
    for line in text.lines().filter_map(|line| line.strip_prefix("declare ")) {
        let (head, list) = line.split_once('@').expect("a name");
        let (name, list) = list.split_once('(').expect("parameters");
        let list = &list[..list.rfind(')').expect("a bracket")];
        let func = module.funcs.values().find(|func| func.name == name).expect("the same functions");
        let (mut theirs, mut result) = (Vec::new(), Vec::new());
        let mut rest = list;
        while !rest.trim().is_empty() {
            dwords(&mut rest, &types, &mut theirs);
            // Attributes, some with brackets, up to the next parameter.
            let mut depth = 0;
            let end = rest.find(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                c == ',' && depth == 0
            });
            rest = end.map_or("", |end| &rest[end + 1..]);
        }
        let head = head.trim().rsplit_once("hidden ").map_or(head.trim(), |(_, ty)| ty);
        let known = ["noundef ", "zeroext ", "signext ", "local_unnamed_addr "];
        let head = known.iter().fold(head.to_owned(), |head, word| head.replace(word, ""));
        dwords(&mut &*head, &types, &mut result);
        let total = |list: &[u32]| list.iter().sum::<u32>();
        let own = |types: &[Type]| types.iter().map(|ty| ty.dwords()).sum::<u32>();
        let params: Vec<Type> = func.param_types().collect();
        // LLVM itself stores a result that takes more registers than there are; its IR does not show that.
        if total(&result) > 32 {
            compared += 1;
            continue;
        }
        // Padding at the end of a struct, which clang names, is behind all that is read.
        let agree = |ours: u32, theirs: u32| ours == theirs || ours < theirs && theirs - ours < 64;
        let what = format!("{name}: {params:?} -> {:?}\n{line}", func.results);
        assert!(agree(own(&params), total(&theirs)), "{what}");
        assert!(agree(own(&func.results), total(&result)), "{what}");
        equal += u32::from(own(&params) == total(&theirs));
        let wide = |widths: &[u32]| {
            let mut at = 0;
            let mut starts = Vec::new();
            for &width in widths {
                if width == 2 {
                    starts.push(at);
                }
                at += width;
            }
            starts
        };
        // What has 64 bits there has them here, where it is.
        let ours = wide(&params.iter().map(|ty| ty.dwords()).collect::<Vec<_>>());
        assert!(ours.iter().all(|at| wide(&theirs).contains(at)), "{name}: {params:?}\n{line}");
        compared += 1;
    }
    assert_eq!(compared, 200);
    assert!(equal > 150, "{equal}");
}
