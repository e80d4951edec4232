//! Generates small programs: one to five functions that call only later functions. Nothing in these programs
//! is there in every program: no function needs a stack, LDS, a call or a register block unless its own random
//! part needs one. So a caller often has exactly one reason for a resource, and a missing reason shows.

use super::Program;
use crate::program::{PARAMS, Shape};
use kernc::Convention;
use std::fmt::Write;
use support::Random;

/// Generates the small program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut rng = Random::new(seed);
    let group = [32, 64, 128][rng.below(3)];
    let shape = Shape { grid: [(1 + rng.below(2) as u32) * group, 1, 1], group: [group, 1, 1] };
    let count = 1 + rng.below(5);
    let mut functions: Vec<Function> = Vec::new();
    for _ in 0..count {
        // A repeated signature allows a pointer to one of several functions.
        let function = match functions.is_empty() || rng.one_in(2) {
            true => Function::random(&mut rng),
            false => rng.pick(&functions).clone(),
        };
        functions.push(function);
    }
    let objects = if rng.one_in(3) && functions.iter().all(Function::passes_outside) { 2 } else { 1 };
    let mut writer = Writer { rng, functions, numbers: Vec::new(), out: HEADER.to_owned(), names: 0 };
    for at in 0..count {
        writer.function(at);
    }
    writer.kernel(group);
    let call_abi =
        [Convention::Today, Convention::Guide, Convention::Today, Convention::Llvm14][writer.rng.below(4)];
    Program { source: writer.out, shape, call_abi, objects }
}

/// Types and variables of all programs. A program only pays for the variables that its functions access.
const HEADER: &str = "struct Large { a: [u32; 12], b: u64, d: f64, h: [u16; 4] }
struct Small { a: u32, b: u64 }
shared static L: [u32; 128];
global static G: [u32; 256];
constant static C: [u32; 8] = [9, 4, 7, 1, 100, 3, 77, 0x80000001];
";

/// Type of a parameter or of a result.
#[derive(Clone, Copy)]
enum Ty {
    Word,
    Long,
    Double,
    Half,
    Byte,
    Vector,
    Small,
    Large,
    /// Array of words.
    Words(usize),
}

impl Ty {
    /// Returns a type; every third type takes more than two dwords.
    fn random(rng: &mut Random) -> Ty {
        let scalar = [Ty::Word, Ty::Word, Ty::Long, Ty::Double, Ty::Half, Ty::Byte][rng.below(6)];
        let words = Ty::Words([1, 2, 7, 16, 31, 32, 33, 40][rng.below(8)]);
        match rng.below(12) {
            0 => Ty::Vector,
            1 => Ty::Small,
            2 => Ty::Large,
            3 => words,
            _ => scalar,
        }
    }

    fn name(self) -> String {
        let name = match self {
            Ty::Word => "u32",
            Ty::Long => "u64",
            Ty::Double => "f64",
            Ty::Half => "f16",
            Ty::Byte => "u8",
            Ty::Vector => "u32x4",
            Ty::Small => "Small",
            Ty::Large => "Large",
            Ty::Words(count) => return format!("[u32; {count}]"),
        };
        name.to_owned()
    }

    /// Returns a value that depends on the words `a` and `b`.
    fn value(self, a: &str, b: &str) -> String {
        match self {
            Ty::Word => a.to_owned(),
            Ty::Long => format!("({a} as u64 * 0x100000003)"),
            Ty::Double => format!("(({a} & 0xffff) as f64 * 0.5)"),
            Ty::Half => format!("(({a} & 511) as f16)"),
            Ty::Byte => format!("({a} as u8)"),
            Ty::Vector => format!("u32x4({a}, {b}, 5, {a})"),
            Ty::Small => format!("Small {{ a: {a}, b: {b} as u64 << 9 }}"),
            Ty::Large => {
                format!("Large {{ a: [{a}; 12], b: {b} as u64 << 7, d: 0.5, h: [1, {b} as u16, 3, 4] }}")
            }
            Ty::Words(count) => format!("[{a}; {count}]"),
        }
    }

    /// Returns expressions of type `u32` that read parts of the value `v`.
    fn parts(self, v: &str) -> Vec<String> {
        let number = format!("({v} as u32)");
        match self {
            Ty::Word => vec![v.to_owned()],
            Ty::Long => vec![number, format!("(({v} >> 32) as u32)")],
            Ty::Double | Ty::Half | Ty::Byte => vec![number],
            Ty::Vector => vec![format!("{v}.x"), format!("{v}.w")],
            Ty::Small => vec![format!("{v}.a"), format!("({v}.b as u32)")],
            Ty::Large => vec![format!("{v}.a[0]"), format!("({v}.b as u32)"), format!("({v}.h[1] as u32)")],
            Ty::Words(1) => vec![format!("{v}[0]")],
            Ty::Words(count) => {
                vec![format!("{v}[0]"), format!("{v}[{}]", count - 1), format!("{v}[local_id(0) % {count}]")]
            }
        }
    }
}

/// Signature of a function. The name of parameter number n is `pn`.
#[derive(Clone)]
struct Function {
    parameters: Vec<Ty>,
    result: Option<Ty>,
}

impl Function {
    /// Returns a signature with few parameters, with about as many words as there are registers for arguments,
    /// or with anything.
    fn random(rng: &mut Random) -> Function {
        let parameters = match rng.below(4) {
            0 => vec![Ty::Word; 28 + rng.below(10)],
            1 => vec![Ty::random(rng), Ty::Words(40)],
            2 => (0..6 + rng.below(6)).map(|_| Ty::random(rng)).collect(),
            _ => (0..rng.below(4)).map(|_| Ty::random(rng)).collect(),
        };
        let result = (!rng.one_in(8)).then(|| Ty::random(rng));
        Function { parameters, result }
    }

    /// Returns whether functions of other objects can call the function; arrays are neither parameters nor
    /// results of such functions.
    fn passes_outside(&self) -> bool {
        !self.parameters.iter().chain(&self.result).any(|ty| matches!(ty, Ty::Words(_)))
    }

    fn signature(&self) -> String {
        let list: Vec<String> =
            self.parameters.iter().enumerate().map(|(n, ty)| format!("p{n}: {}", ty.name())).collect();
        let result = self.result.map(|ty| format!(" -> {}", ty.name())).unwrap_or_default();
        format!("({}){result}", list.join(", "))
    }

    /// Returns the type of pointers to the function.
    fn pointer(&self) -> String {
        let list: Vec<String> = self.parameters.iter().map(|ty| ty.name()).collect();
        let result = self.result.map(|ty| format!(" -> {}", ty.name())).unwrap_or_default();
        format!("fn({}){result}", list.join(", "))
    }
}

struct Writer {
    rng: Random,
    functions: Vec<Function>,
    /// Expressions of type `u32` that can be read in the current function.
    numbers: Vec<String>,
    out: String,
    /// Number of names used so far.
    names: usize,
}

impl Writer {
    fn function(&mut self, at: usize) {
        let function = self.functions[at].clone();
        let attributes = ["", "#[inline]\n", "#[inline(never)]\n", "#[inline(never)]\n", "#[export]\n"];
        let mut attribute = attributes[self.rng.below(5)];
        if attribute == "#[export]\n" && !function.passes_outside() {
            attribute = "#[inline(never)]\n";
        }
        let _ = writeln!(self.out, "{attribute}fn fn_{at}{} {{", function.signature());
        self.numbers.clear();
        let parameters = function.parameters.iter().enumerate();
        let parts: Vec<String> = parameters.flat_map(|(n, ty)| ty.parts(&format!("p{n}"))).collect();
        // A third of the functions reads no argument, a third reads one to three parts of arguments.
        match self.rng.below(3) {
            _ if parts.is_empty() => {}
            0 => {}
            1 => self.numbers = (0..1 + self.rng.below(3)).map(|_| self.rng.pick(&parts).clone()).collect(),
            _ => self.numbers = parts.clone(),
        }
        if !parts.is_empty() && self.rng.one_in(3) {
            // The optimiser removes the condition, and then the arguments are dead.
            let (a, b) = (self.rng.pick(&parts).clone(), self.rng.pick(&parts).clone());
            let _ = writeln!(self.out, "    if {a} > {b} {{ }}");
        }
        self.body(at + 1);
        let (a, b) = (self.number(), self.number());
        match function.result {
            Some(ty) => {
                let value = ty.value(&a, &b);
                let _ = writeln!(self.out, "    {value}");
            }
            None => {
                let _ = writeln!(self.out, "    G[global_id(0)] ^= {a};");
            }
        }
        self.out.push_str("}\n");
    }

    fn kernel(&mut self, group: u32) {
        let _ = writeln!(self.out, "#[workgroup_size({group})]\nkernel k({PARAMS}) {{");
        self.out.push_str("    let i = global_id(0);\n    G[i] = i;\n");
        let start = self.out.len();
        self.numbers = vec!["i".to_owned(), "n".to_owned(), "input[i & 255]".to_owned()];
        self.body(0);
        self.body(0);
        if self.out.contains("L[local_id(0)]") {
            self.out.insert_str(start, "    L[local_id(0)] = i * 3;\n");
        }
        let (a, b) = (self.number(), self.number());
        let _ = writeln!(self.out, "    out[i] = {a} ^ {b} * 31 ^ G[i];\n}}");
    }

    /// Writes up to two statements. They call functions with numbers from `first`.
    fn body(&mut self, first: usize) {
        let before = self.numbers.len();
        for _ in 0..1 + self.rng.below(2) {
            match self.rng.below(8) {
                0 => self.declare("L[local_id(0)]".to_owned()),
                1 => self.cross_lane(),
                2 => self.array(),
                _ if first < self.functions.len() => self.call(first),
                _ => {}
            }
        }
        // Results of calls are used more often than other numbers.
        let new = self.numbers[before.min(self.numbers.len())..].to_vec();
        self.numbers.extend(new);
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn declare(&mut self, value: String) {
        let name = self.fresh();
        let _ = writeln!(self.out, "    let {name}: u32 = {value};");
        self.numbers.push(name);
    }

    /// Writes an operation across the active lanes.
    fn cross_lane(&mut self) {
        let number = self.number();
        let value = match self.rng.below(4) {
            // Other lanes may be inactive, so each lane reads its own value. The compiler cannot know this.
            0 => format!("shuffle({number}, lane_id() + local_size(1) - 1)"),
            1 => format!("wave_reduce_add({number})"),
            2 => format!("read_first_lane({number})"),
            _ => format!("mbcnt(ballot({number} > 7))"),
        };
        self.declare(value);
    }

    /// Writes a private array with a computed index.
    fn array(&mut self) {
        let (name, a, b) = (self.fresh(), self.number(), self.number());
        let count = [2, 4, 24][self.rng.below(3)];
        let _ = writeln!(self.out, "    let mut {name}: [u32; {count}] = [{a}; {count}];");
        let _ = writeln!(self.out, "    {name}[{b} % {count}] = {a} * 7;");
        self.numbers.push(format!("{name}[{a} % {count}]"));
    }

    /// Writes a call: of a name or through a pointer; alone, in a branch or in a loop.
    fn call(&mut self, first: usize) {
        let callee = first + self.rng.below(self.functions.len() - first);
        let Function { parameters, result } = self.functions[callee].clone();
        let mut arguments = Vec::new();
        for ty in parameters {
            let (a, b) = (self.number(), self.number());
            arguments.push(ty.value(&a, &b));
        }
        let target = self.target(first, callee);
        let call = format!("{target}({})", arguments.join(", "));
        let (name, value) = (self.fresh(), self.fresh());
        let inner = match result {
            None => format!("{call};"),
            Some(ty) if self.rng.one_in(6) => format!("let {value}: {} = {call};", ty.name()),
            Some(ty) => {
                let parts = ty.parts(&value).join(" ^ ");
                format!("let {value}: {} = {call}; {name} ^= {parts};", ty.name())
            }
        };
        let condition = format!("{} > {}", self.number(), self.number());
        let wrapped = match self.rng.below(5) {
            0 => format!("if {condition} {{ {inner} }}"),
            1 => format!("for {name}_n in 0u32..3 {{ {inner} }}"),
            _ => format!("{{ {inner} }}"),
        };
        let start = self.number();
        let _ = writeln!(self.out, "    let mut {name}: u32 = {start};\n    {wrapped}");
        self.numbers.push(name);
    }

    /// Returns the name of the callee, or a choice between the callee and another function of its signature.
    fn target(&mut self, first: usize, callee: usize) -> String {
        let pointer = self.functions[callee].pointer();
        let same: Vec<usize> =
            (first..self.functions.len()).filter(|&n| self.functions[n].pointer() == pointer).collect();
        if same.len() < 2 || self.rng.one_in(2) {
            return format!("fn_{callee}");
        }
        let other = *self.rng.pick(&same);
        let index = ["group_id(0) & 1", "local_id(0) & 1", "n & 1"][self.rng.below(3)];
        let index = if self.numbers.iter().any(|name| name == "n") { index } else { "group_id(0) & 1" };
        format!("[fn_{callee}, fn_{other}][{index}]")
    }

    fn number(&mut self) -> String {
        match self.rng.below(8) {
            0 => format!("{}u32", self.rng.below(100)),
            1 => "local_id(0)".to_owned(),
            2 => format!("C[{}]", self.rng.below(8)),
            3 if self.rng.one_in(4) => "local_size(0)".to_owned(),
            _ if self.numbers.is_empty() => "group_id(0)".to_owned(),
            _ => {
                let numbers = self.numbers.clone();
                self.rng.pick(&numbers).clone()
            }
        }
    }
}
