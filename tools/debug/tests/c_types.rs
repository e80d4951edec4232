//! Expressions over values of clang's objects, of each kind of type that C has, beside what C says of them.

use debug::{Action, FrontEnd, NumberFormat, Program, Session, Stop};
use sim::{Arg, CodeObject, Device, Dispatch};
use std::sync::{Arc, Mutex};
use support::{Folder, Tool};

const SOURCE: &str = "\
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
enum Color { RED, GREEN = 5, BLUE };
typedef struct { unsigned low : 3; int high : 5; union { int whole; float part; }; } Bits;
struct Node { struct Node *next; short value; };
typedef unsigned long word;
typedef float float4 __attribute__((ext_vector_type(4)));
int add(int a, int b) { return a + b; }
__kernel void k(__global int *out, int n, __global float *in) {
  int i = __builtin_amdgcn_workitem_id_x();
  enum Color color = i == 1 ? GREEN : BLUE;
  Bits bits; bits.low = i; bits.high = -i; bits.part = 1.5f;
  struct Node one, two; one.next = &two; one.value = -7; two.next = 0; two.value = i;
  word big = 1ul << 40; char c = 'a'; unsigned u = 0; unsigned char b = 200;
  int grid[2][3]; for (int x = 0; x < 6; ++x) grid[x / 3][x % 3] = x * 10;
  float4 v = (float4)(1, 2, 3, i); half h = 1.5;
  int (*f)(int, int) = add; int unset[2]; unset[1] = 9;
  out[i] = color + bits.whole + one.next->value + big + c + u + b + grid[1][2] + v.w + h + f(i, n) + unset[1] + in[i];
}
";

/// Expressions, and what they are in lane 3 with `n` 4: text, and type.
const VALUES: &[(&str, &str, &str)] = &[
    ("i", "3", "int"),
    ("-i * 2 + n % 3", "-5", "int"),
    ("color", "BLUE", "Color"),
    ("color == BLUE", "1", "int"),
    ("color > GREEN && 1", "1", "int"),
    ("bits.low", "3", "unsigned int"),
    ("bits.high", "-3", "int"),
    ("bits.high - 1", "-4", "int"),
    ("bits.part", "1.5", "float"),
    ("bits.whole == 0x3fc00000", "1", "int"),
    ("one.next->value", "3", "short"),
    ("(*one.next).value + 1", "4", "int"),
    ("one.next->next", "0x0", "struct Node *"),
    ("!one.next->next", "true", "bool"),
    ("one.next == &two", "1", "int"),
    ("big >> 8", "4294967296", "unsigned long"),
    ("big / 3", "366503875925", "unsigned long"),
    ("c", "97", "char"),
    ("c == 'a'", "1", "int"),
    ("u - 1", "4294967295", "unsigned int"),
    ("u - 1 > 0", "1", "int"),
    ("-1 < u", "0", "int"),
    ("b + 100", "300", "int"),
    ("(unsigned char)(b + 100)", "44", "unsigned char"),
    ("grid[1][2]", "50", "int"),
    ("grid[1]", "[30, 40, 50]", "int[3]"),
    ("*(*(grid + 1) + 2)", "50", "int"),
    ("&grid[1][2] - &grid[0][1]", "4", "long"),
    ("v.y + v.s3", "5.0", "float"),
    ("v[2]", "3.0", "float"),
    ("h * 2", "3.0", "half"),
    ("(float)i / 2", "1.5", "float"),
    ("i / 2", "1", "int"),
    ("(word)i << 33", "25769803776", "unsigned long"),
    ("*(float *)&bits.whole", "1.5", "float"),
    ("((struct Node *)one.next)->value", "3", "short"),
    ("out[i] + *(out + i)", "0", "int"),
    ("in[2] == 0.5", "1", "int"),
    ("i & 1 == 0", "0", "int"),
    ("n << 2 | i", "19", "int"),
    ("~i", "-4", "int"),
    ("f == add", "1", "int"),
    ("unset[1]", "9", "int"),
    ("unset", "[?, 9]", "int[2]"),
    ("unset[0] + 1", "?", "?"),
    ("sizeof(i)", "4", "unsigned long"),
    ("sizeof i * 2", "8", "unsigned long"),
    ("sizeof(struct Node)", "16", "unsigned long"),
    ("sizeof(Bits) - 1", "7", "unsigned long"),
    ("sizeof *one.next", "16", "unsigned long"),
    ("sizeof(one.next->next->value)", "2", "unsigned long"),
    ("sizeof grid", "24", "unsigned long"),
    ("sizeof(grid[1]) / sizeof(int)", "3", "unsigned long"),
    ("sizeof(unsigned short *)", "8", "unsigned long"),
    ("sizeof(float4)", "16", "unsigned long"),
    ("sizeof(v.xyz)", "16", "unsigned long"),
    ("sizeof(c + c)", "4", "unsigned long"),
    ("sizeof(color)", "4", "unsigned long"),
    ("sizeof f", "8", "unsigned long"),
    ("v.xy", "[1.0, 2.0]", "float __attribute__((ext_vector_type(2)))"),
    ("v.wyx", "[3.0, 2.0, 1.0]", "float __attribute__((ext_vector_type(3)))"),
    ("v.s30.y", "1.0", "float"),
    ("v.hi", "[3.0, 3.0]", "float __attribute__((ext_vector_type(2)))"),
    ("v.even.hi", "3.0", "float"),
    ("v.odd.x * 2", "4.0", "float"),
    ("v.xxyy[2]", "2.0", "float"),
];

/// What has no value, and why.
const REFUSED: &[(&str, &str)] = &[
    ("colour", "nothing is called `colour` here: did you mean `color`?"),
    ("one.valeu", "Node has no field `valeu`: did you mean `value`?"),
    ("one + 1", "a number is needed, and not a value of type Node"),
    ("i / (i - 3)", "division by zero"),
    ("i * 2000000000", "the result, 6000000000, does not fit int"),
    ("grid[2]", "the array has 2 elements"),
    ("*i", "what has elements is an array or a pointer, and not a value of type int"),
    ("f(1, 2)", "functions cannot be called here"),
    ("*f", "a function has no value"),
    ("v.q", "float4 has no component `q`"),
    ("v.xq", "float4 has no component `xq`"),
    ("v.s04", "float4 has no component `s04`"),
    ("v.xyzwx", "float4 has no component `xyzwx`"),
    ("v.xy + 1", "a number is needed, and not a value of type float __attribute__((ext_vector_type(2)))"),
    ("sizeof", "an operand is missing after `sizeof`"),
    ("sizeof(Nod)", "nothing is called `Nod` here"),
    ("sizeof(struct Nod)", "no type is called `Nod`: did you mean `Node`?"),
    ("i.x", "a value of type int has no fields"),
    ("(struct Nod *)one", "no type is called `Nod`: did you mean `Node`?"),
    ("(Bits)i", "a value of type int cannot be cast to Bits"),
    ("i = 3", "`=` has no place in an expression: `==` compares, and the command `set` writes"),
];

/// Types, as `whatis` and `ptype` have them.
const TYPES: &[(&str, &str, &str)] = &[
    ("one", "Node", "struct Node {\n    struct Node *next;\n    short value;\n}"),
    ("word", "word", "unsigned long"),
    ("grid", "int[2][3]", "int[2][3]"),
    ("f", "int (*)(int, int)", "int (*)(int, int)"),
    ("color", "Color", "enum Color { RED = 0, GREEN = 5, BLUE = 6 }"),
    ("1 + 1ul", "unsigned long", "unsigned long"),
];

struct Checker {
    is_optimized: bool,
    seen: Arc<Mutex<usize>>,
}

impl FrontEnd for Checker {
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action {
        if stop.ordinal() == 1 && self.is_optimized {
            stop.add_breakpoint("19", Some("$v0 * 2 + 1 == 7 && !($v0 == 4)")).expect("it makes sense");
            return Action::Continue;
        }
        if self.is_optimized {
            // The work-item is in a register.
            assert_eq!(
                (stop.lane(), stop.value("$v0 << 4 | 2", 3).expect("a number").text.as_str()),
                (3, "50")
            );
            *self.seen.lock().expect("nobody has panicked") += 1;
            return Action::Quit;
        }
        if stop.ordinal() == 1 {
            let wrong = stop.add_breakpoint("19", Some("i == 3 && nosuch"));
            assert!(wrong.is_err_and(|why| why.starts_with("nothing is called `nosuch` here")));
            stop.add_breakpoint("19", Some("i == 3 && n % 2 == 0")).expect("it makes sense");
            return Action::Continue;
        }
        assert_eq!(stop.lane(), 3);
        for (text, wanted, ty) in VALUES {
            let shown = stop.value(text, 3).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(
                (shown.text.as_str(), shown.ty.replace("struct ", "")),
                (*wanted, ty.replace("struct ", "")),
                "{text}"
            );
            *self.seen.lock().expect("nobody has panicked") += 1;
        }
        for (text, wanted) in REFUSED {
            assert_eq!(stop.value(text, 3).map(|shown| shown.text), Err((*wanted).to_owned()), "{text}");
        }
        for (text, name, whole) in TYPES {
            assert_eq!(stop.type_of(text).as_deref(), Ok(*name), "{text}");
            assert_eq!(
                stop.described(text).map(|text| text.replace("struct Node *n", "Node *n")),
                Ok(whole.replace("struct Node *n", "Node *n")),
                "{text}"
            );
        }
        let shown = stop.value("f", 3).expect("it is there").text;
        assert!(shown.starts_with("0x") && shown.ends_with(" <add>"), "{shown}");
        let hex = stop.value_as("grid[1]", 3, Some(NumberFormat::Hex)).expect("it is there").text;
        assert_eq!(hex, "[0x1e, 0x28, 0x32]");
        Action::Quit
    }
}

/// An object of clang's; `None` where clang is missing.
fn compile(level: &str) -> Option<Vec<u8>> {
    let folder = Folder::new("c-types");
    let (source, object) =
        (folder.join(format!("c_types{level}.cl")), folder.join(format!("c_types{level}.co")));
    // The compiler has a say in sizes, too.
    let sizes = VALUES.iter().filter(|row| row.0.starts_with("sizeof"));
    let asserted: String =
        sizes.map(|row| format!("_Static_assert(({}) == {}, \"\"); ", row.0, row.1)).collect();
    let text = SOURCE.replace("  out[i] = color", &format!("  {asserted}out[i] = color"));
    assert_ne!(text, SOURCE);
    std::fs::write(&source, text).expect("a folder that can be written");
    let status = Tool::new("clang-19")
        .args("-target amdgcn-amd-amdhsa -mcpu=gfx906 -x cl -cl-std=CL2.0 -g -nogpulib -w".split(' '))
        .arg(level)
        .arg(&source)
        .arg("-o")
        .arg(&object)
        .status()
        .ok()?;
    assert!(status.success(), "{level}");
    Some(std::fs::read(&object).expect("what clang wrote"))
}

#[test]
fn expressions_are_what_c_says() {
    for (level, is_optimized) in [("-O0", false), ("-O2", true)] {
        let Some(bytes) = compile(level) else { return };
        let seen = Arc::default();
        let object = CodeObject::load(&bytes).expect("clang's objects load");
        let parsed = codeobj::CodeObject::parse(&bytes).expect("an object");
        let checker = Box::new(Checker { is_optimized, seen: Arc::clone(&seen) });
        let session = Session::new(Program::read(&parsed, |_| Some(SOURCE.to_owned())), checker);
        let mut device = Device::new();
        device.set_mode(sim::Mode::STRICT);
        let module = device.load(&object).expect("it loads");
        let out = device.alloc(4 * 64).expect("there is room");
        let input = device.alloc(4 * 64).expect("there is room");
        device.write(input, &0.5f32.to_le_bytes().repeat(64)).expect("it is there");
        let kernel = object.kernel("k").expect("the kernel");
        let kernarg = kernel.pack(&[Arg::from(out), Arg::from(4), Arg::from(input)]).expect("its arguments");
        let (grid, debugger) = ([64, 1, 1], Some(&session as &dyn sim::Debugger));
        let dispatch = Dispatch { kernel: "k", grid, group: grid, kernarg, debugger, ..Dispatch::default() };
        let _ = device.run(module, &dispatch);
        let seen = *seen.lock().expect("no panic");
        assert!(seen >= if is_optimized { 1 } else { VALUES.len() }, "{level}: {seen}");
    }
}
