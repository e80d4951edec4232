//! Built-in functions called with any arguments, operators and other expressions of any operands: refused with a message, or valid IR; never a
//! fault of the compiler.
//!
//! `KERNC_CALLS=1000000` is the long run.

use support::Random;

/// Values of all kinds of types, and the words that some built-ins take.
const ARGUMENTS: [&str; 44] = [
    "1",
    "-1",
    "1.5",
    "true",
    "n",
    "h",
    "i",
    "w",
    "b",
    "x",
    "d",
    "half",
    "m",
    "v2",
    "v3",
    "v4",
    "u2",
    "u3",
    "u4",
    "i2",
    "i3",
    "b2",
    "w2",
    "h2",
    "g4",
    "p",
    "q",
    "s",
    "r",
    "c",
    "g",
    "&mut e",
    "&e",
    "&mut v3",
    "t",
    "a",
    "relaxed",
    "acq_rel",
    "agent",
    "workgroup",
    "global",
    "volatile",
    "()",
    "missing",
];

const HEAD: &str = "struct P { a: u32, b: f32x2 }
fn same<X>(x: X) -> X { x }
fn either<X: Number>(x: X, y: X) -> X { if x > y { x } else { y } }
kernel k(p: *global u32, q: *global f32, r: *const global f16x2, c: *constant u64, s: *shared u32, g: *u32, n: u32, m: i32, x: f32, d: f64) {
    let (h, i, w, b, half) = (3u16, -3i64, 5u64, n > 3, 1.5f16);
    let (v2, v3, v4, g4) = (f32x2(x), f32x3(x), f32x4(x), f64x4(d));
    let (u2, u3, u4, i2, i3) = (u32x2(n), u32x3(n), u8x4(7), i32x2(m), i32x3(m));
    let (b2, w2, h2) = (boolx2(b), u64x2(w), f16x2(half));
    let mut e = 3;
    let (t, a) = (P { a: 1, b: v2 }, [n, n]);
";

/// Returns a function that returns random numbers below its argument.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut random = Random::new(seed);
    move |below| random.below(below)
}

/// Arguments for a call: any, of which each is half of the time the first one again; or those of a call that was accepted, but for one.
fn arguments(accepted: &[Vec<&'static str>], next: &mut impl FnMut(usize) -> usize) -> Vec<&'static str> {
    if !accepted.is_empty() && next(4) != 0 {
        let mut list = accepted[next(accepted.len())].clone();
        let at = next(list.len());
        list[at] = ARGUMENTS[next(ARGUMENTS.len())];
        return list;
    }
    let first = ARGUMENTS[next(ARGUMENTS.len())];
    let count = next(5);
    let rest = (0..count).map(|_| if next(2) == 0 { first } else { ARGUMENTS[next(ARGUMENTS.len())] });
    std::iter::once(first).chain(rest).collect()
}

/// Expressions with places for two values, `A` and `B`, and for a type, `T`.
const SHAPES: [&str; 61] = [
    "A + B",
    "A - B",
    "A * B",
    "A / B",
    "A % B",
    "A & B",
    "A | B",
    "A ^ B",
    "A << B",
    "A >> B",
    "A == B",
    "A != B",
    "A < B",
    "A >= B",
    "A && B",
    "-A",
    "!A",
    "*A",
    "&A",
    "A as T",
    "A as T as T",
    "bitcast::<T>(A)",
    "A[B]",
    "A.x",
    "A.lo",
    "A.0",
    "A.zyx + B",
    "if b { A } else { B }",
    "match A { B => 1, _ => 2 }",
    "match (A, B) { (z, 3) => z, (z, _) => z }",
    "[A, B][n]",
    "(A, B) == (B, A)",
    "{ let mut z = A; z += B; z }",
    "{ let mut z = A; z = B; z[n] = B; z }",
    "T(A, B)",
    "loop { if b { break A; } break B; }",
    "{ for z in A..B { e += 1; } e }",
    "{ for z in (A..=B).step(A) { e += 1; } e }",
    "{ let (y, mut z) = A; z = B; z }",
    "{ let [y, .., z] = A; (y, z) }",
    "{ let P { a: y, b: z } = A; (y, z) }",
    "match A { B..=B => 1, 7 => 2, _ => 3 }",
    "match A { (y, z) if b => y, _ => B }",
    "match [A, B] { [y, 1 | 2] => y, [y, z] => z }",
    "{ A = B; e }",
    "{ A += B; e }",
    "{ (A, e) = (B, 2); e }",
    "{ while A { break; } B }",
    "'z: { if A { break 'z B; } A }",
    "{ let z: T = A; z }",
    "{ const Z: T = A; Z }",
    "{ shared z: T; z = A; z }",
    "{ shared z: [T; 4]; z[A] = B; z }",
    "{ let mut z: [T; 3]; z[A] = B; z[1] }",
    "{ let z = &mut e; *z = A; *z }",
    "same::<T>(A)",
    "same(A) + same(B)",
    "either(A, B)",
    "P { a: A, b: B }",
    "{ static_assert(A); B }",
    "{ let z = [A; 3]; z[B] }",
];

const TYPES: [&str; 18] = [
    "u32",
    "i32",
    "u64",
    "i8",
    "u16",
    "bool",
    "f16",
    "f32",
    "f64",
    "bf16",
    "f32x2",
    "u32x4",
    "boolx2",
    "*global u32",
    "*shared u32",
    "*const u32",
    "*private f32",
    "(u32, f32)",
];

/// A shape of values, or of shapes that are `depth` deep.
fn filled(next: &mut impl FnMut(usize) -> usize, depth: u32) -> String {
    let mut value = || match depth {
        1.. if next(2) == 0 => filled(next, depth - 1),
        _ => ARGUMENTS[next(ARGUMENTS.len())].to_owned(),
    };
    let (first, other) = (value(), value());
    let second = if next(2) == 0 { &first } else { &other };
    let shape = SHAPES[next(SHAPES.len())].replace('T', TYPES[next(TYPES.len())]);
    shape.replace('A', &format!("({first})")).replace('B', &format!("({second})"))
}

/// Says at which expression the compiler failed.
struct Shown<'a>(&'a str);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("at `{}`", self.0);
        }
    }
}

fn compile(context: &mut frontend::Context, expression: &str) -> bool {
    let _shown = Shown(expression);
    let source = format!("{HEAD}    let _z = {expression};\n}}\n");
    match context.compile("calls.k", &source, &frontend::Options::default()) {
        Ok(module) => {
            let verified = ir::verify::verify(&module);
            assert!(verified.is_ok(), "{expression}: {verified:?}");
            true
        }
        Err(list) => {
            assert!(!list.list.is_empty(), "{expression} is refused without a word");
            false
        }
    }
}

fn count() -> usize {
    std::env::var("KERNC_CALLS").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000)
}

#[test]
fn any_arguments() {
    let (count, names) = (count(), frontend::builtin_names().collect::<Vec<_>>());
    let mut next = random(1);
    let mut context = frontend::Context::default();
    let mut accepted: Vec<Vec<Vec<&str>>> = vec![Vec::new(); names.len()];
    for number in 0..count {
        let at = number % names.len();
        let list = arguments(&accepted[at], &mut next);
        if compile(&mut context, &format!("{}({})", names[at], list.join(", "))) {
            accepted[at].push(list);
        }
    }
    let fine: usize = accepted.iter().map(Vec::len).sum();
    println!(
        "{fine} of {count} accepted, of {} functions any",
        accepted.iter().filter(|a| !a.is_empty()).count()
    );
    assert!(fine * 50 > count && fine * 2 < count, "{fine} of {count} accepted");
}

#[test]
fn any_operands() {
    let count = count();
    let mut next = random(2);
    let mut context = frontend::Context::default();
    let mut fine = 0;
    for _ in 0..count {
        let filled = filled(&mut next, 1);
        fine += usize::from(compile(&mut context, &filled));
    }
    println!("{fine} of {count} accepted");
    assert!(fine * 50 > count && fine < count, "{fine} of {count} accepted");
}
