//! Compares constant expressions with Rust's arithmetic, and checks error messages.

use super::number::{Kind, Number, Operand, Scalar, binary, text};
use super::parse::Binary;
use super::{Evaluator, Language, Problem};
use crate::program::Program;

/// Evaluates an expression without names in kernc.
fn evaluated(source: &str) -> Result<String, Problem> {
    let program = Program::default();
    let evaluator = Evaluator::of_types(&program, 0, 0);
    evaluator.value(source).map(|value| evaluator.text(&value, None))
}

/// Evaluates an expression without names in C.
fn evaluated_as_c(source: &str) -> Result<String, Problem> {
    let program = Program::default();
    let mut evaluator = Evaluator::of_types(&program, 0, 0);
    evaluator.types.language = Language::C;
    evaluator.value(source).map(|value| evaluator.text(&value, None))
}

/// Returns the next number of a pseudo-random sequence.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Operators with their precedences in kernc, which are those of Rust, and in C.
const TABLE: [(&str, u8, u8); 14] = [
    ("||", 1, 1),
    ("&&", 2, 2),
    ("==", 3, 6),
    ("<", 3, 7),
    (">=", 3, 7),
    ("|", 4, 3),
    ("^", 5, 4),
    ("&", 6, 5),
    ("<<", 7, 8),
    ("+", 8, 9),
    ("-", 8, 9),
    ("*", 9, 10),
    ("/", 9, 10),
    ("%", 9, 10),
];

/// An expression, its value and the precedence of its outermost operator. `value` is `None` if the expression
/// has no value in Rust, or the value does not fit the type.
struct Tree {
    text: String,
    value: Option<i64>,
    strength: u8,
}

/// Generates a random expression of `i64`, with parentheses only where the language needs them.
fn tree(state: &mut u64, depth: u32, is_c: bool) -> Tree {
    if depth == 0 || next(state).is_multiple_of(5) {
        let value = [0, 1, 2, 3, 7, 63, 64, 1 << 31, i64::MAX, 12345][next(state) as usize % 10];
        return Tree {
            text: format!("{value}{}", if is_c { "L" } else { "i64" }),
            value: Some(value),
            strength: 99,
        };
    }
    let (sign, kernc, c) = TABLE[next(state) as usize % TABLE.len()];
    let strength = if is_c { c } else { kernc };
    let (left, right) = (tree(state, depth - 1, is_c), tree(state, depth - 1, is_c));
    // Comparisons do not chain in kernc.
    let is_chained = !is_c && strength == 3 && left.strength == 3;
    let in_parentheses =
        |tree: &Tree, is_needed| if is_needed { format!("({})", tree.text) } else { tree.text.clone() };
    let text = format!(
        "{} {sign} {}",
        in_parentheses(&left, left.strength < strength || is_chained),
        in_parentheses(&right, right.strength <= strength)
    );
    Tree { text, value: reference(sign, left.value, right.value), strength }
}

/// Applies an operator with Rust's arithmetic.
fn reference(sign: &str, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    let truth = |holds: bool| Some(i64::from(holds));
    match (sign, left?) {
        ("&&", 0) => return Some(0),
        ("||", left) if left != 0 => return Some(1),
        _ => {}
    }
    let (a, b) = (left?, right?);
    match sign {
        "&&" | "||" => truth(b != 0),
        "==" => truth(a == b),
        "<" => truth(a < b),
        ">=" => truth(a >= b),
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "&" => Some(a & b),
        "<<" => u32::try_from(b).ok().filter(|&b| b < 64).map(|b| a << b),
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        _ => a.checked_rem(b),
    }
}

/// In C a comparison has the type `int`, so its result may be an operand of a different width; the texts of
/// truth values are converted back for the comparison.
#[test]
fn random_expressions_are_what_rust_says() {
    let mut state = 1;
    let (mut values, mut errors) = (0, 0);
    for case in 0..4000 {
        let is_c = case % 2 == 1;
        let tree = tree(&mut state, 4, is_c);
        let found = if is_c { evaluated_as_c(&tree.text) } else { evaluated(&tree.text) };
        let found = found.map(|text| match text.as_str() {
            "true" => "1".to_owned(),
            "false" => "0".to_owned(),
            _ => text,
        });
        match (tree.value, found) {
            (Some(value), Ok(found)) => {
                assert_eq!(found, value.to_string(), "{}", tree.text);
                values += 1;
            }
            (None, Err(_)) => errors += 1,
            // In C a sum or shift of two truth values is an `int`, which is narrower than the reference's
            // `i64`.
            (Some(_), Err(why)) => {
                assert!(why.contains("i32") || why.contains("int"), "{}: {why}", tree.text)
            }
            (None, Ok(found)) => panic!("{}: {found}", tree.text),
        }
    }
    assert!(values > 1500 && errors > 300, "{values} {errors}");
}

/// Applies each operator to two numbers of each pair of types, and compares with Rust's result in the type to
/// which C converts.
#[test]
fn operators_on_all_types() {
    let types: Vec<Scalar> = [Kind::Signed, Kind::Unsigned]
        .into_iter()
        .flat_map(|kind| [1, 2, 4, 8].map(|bytes| Scalar { kind, bytes }))
        .collect();
    let mut state = 7;
    for _ in 0..20_000 {
        let mut pick = || types[next(&mut state) as usize % types.len()];
        let (a, b) = (pick(), pick());
        let mut number = |scalar: Scalar| {
            let bits = next(&mut state) << 33 ^ next(&mut state);
            let bits = [bits, bits % 5, 0, u64::MAX, 1 << 31, i64::MAX as u64][next(&mut state) as usize % 6];
            Operand::new(scalar, Some(Number::Int(bits.into())))
        };
        let (left, right) = (number(a), number(b));
        // The usual arithmetic conversions, C11, 6.3.1.8.
        let (is_unsigned, bits) = match (a.bits().max(32), b.bits().max(32)) {
            (x, y) if x == y => (
                (x == a.bits() && a.kind == Kind::Unsigned) || (y == b.bits() && b.kind == Kind::Unsigned),
                x,
            ),
            (x, y) if x > y => (a.kind == Kind::Unsigned, x),
            (_, y) => (b.kind == Kind::Unsigned, y),
        };
        let of = |operand: Operand| match operand.number {
            Some(Number::Int(value)) => value,
            other => panic!("{other:?}"),
        };
        let (x, y) = (of(left), of(right));
        for (op, sign) in [
            (Binary::Add, "+"),
            (Binary::Sub, "-"),
            (Binary::Mul, "*"),
            (Binary::Div, "/"),
            (Binary::Rem, "%"),
        ] {
            let wanted = match (is_unsigned, bits) {
                (true, 32) => of_u32(sign, x as u32, y as u32).map(i128::from),
                (true, _) => of_u64(sign, x as u64, y as u64).map(i128::from),
                (false, 32) => reference(sign, Some(x as i64), Some(y as i64))
                    .filter(|value| i32::try_from(*value).is_ok())
                    .map(i128::from),
                (false, _) => reference(sign, Some(x as i64), Some(y as i64)).map(i128::from),
            };
            let found = binary(op, left, right, Language::C).ok().map(of);
            // Mathematically the least integer has a remainder by -1, although its quotient overflows.
            if sign == "%" && y == -1 {
                continue;
            }
            assert_eq!(found, wanted, "{x} {sign} {y} as {a:?} {b:?}");
        }
    }
}

fn of_u32(sign: &str, a: u32, b: u32) -> Option<u32> {
    match sign {
        "+" => Some(a.wrapping_add(b)),
        "-" => Some(a.wrapping_sub(b)),
        "*" => Some(a.wrapping_mul(b)),
        "/" => a.checked_div(b),
        _ => a.checked_rem(b),
    }
}

fn of_u64(sign: &str, a: u64, b: u64) -> Option<u64> {
    match sign {
        "+" => Some(a.wrapping_add(b)),
        "-" => Some(a.wrapping_sub(b)),
        "*" => Some(a.wrapping_mul(b)),
        "/" => a.checked_div(b),
        _ => a.checked_rem(b),
    }
}

/// Sums, products and quotients of narrow floats are rounded once.
#[test]
fn floats_are_rounded_to_their_types() {
    let mut state = 3;
    for _ in 0..20_000 {
        let mut float = || f32::from_bits(next(&mut state) as u32 ^ (next(&mut state) as u32) << 16);
        let (a, b) = (float(), float());
        let float = Scalar { kind: Kind::Float, bytes: 4 };
        let operand = |value: f32| Operand::new(float, Some(Number::Float(value.into())));
        let wanted = [
            (Binary::Add, a + b),
            (Binary::Sub, a - b),
            (Binary::Mul, a * b),
            (Binary::Div, a / b),
            (Binary::Rem, a % b),
        ];
        for (op, wanted) in wanted {
            let found = binary(op, operand(a), operand(b), Language::Kernc).expect("floats have a result");
            let found = found.number.map_or(String::new(), |number| text(float, number));
            assert_eq!(found, format!("{wanted:?}"), "{a} {} {b}", op.sign());
        }
    }
}

#[test]
fn what_expressions_are() {
    let cases = [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("7 % -3", "1"),
        ("-7 / 2", "-3"),
        ("0xff & ~0xf", "240"),
        ("1 << 4 | 3", "19"),
        ("5 & 3 == 1", "true"),
        ("!true || 3 > 2 && 2.5 < 3", "true"),
        ("-1 < 1u", "false"),
        ("300 as u8", "44"),
        ("-1 as u32", "4294967295"),
        ("(float)1 / 3", "0.33333334"),
        ("1.0 / 3", "0.3333333333333333"),
        ("(unsigned char)300 + 1", "45"),
        ("2.9 as i32", "2"),
        ("3 as f32 * 2 + 1", "7.0"),
        ("1e10 as i32", "2147483647"),
        ("1.5f16 + 1", "2.5"),
        ("0.1f32 == 0.1", "true"),
        ("0b101 + 0o17 + 1_000", "1020"),
        ("18446744073709551615", "18446744073709551615"),
        ("4294967295u + 1", "0"),
        ("'a' + 1", "98"),
        ("true", "true"),
        ("!5", "-6"),
        ("- - 3", "3"),
        ("0 && 1 / 0", "false"),
        ("1 || 1 / 0", "true"),
    ];
    for (source, wanted) in cases {
        assert_eq!(evaluated(source).as_deref(), Ok(wanted), "{source}");
    }
    // Expressions whose values differ in C.
    let c = [
        ("5 & 3 == 1", "0"),
        ("1 == 1", "1"),
        ("!5", "0"),
        ("010", "8"),
        ("0.1f == 0.1", "0"),
        ("3 > 2 > 1", "0"),
    ];
    for (source, wanted) in c {
        assert_eq!(evaluated_as_c(source).as_deref(), Ok(wanted), "{source}");
    }
}

#[test]
fn what_is_refused() {
    let deep = "(".repeat(100_000) + "1";
    let long = "1".to_owned() + &"+1".repeat(100_000);
    let signs = "-".repeat(100_000) + "1";
    let cases = [
        ("", "an expression is missing"),
        ("1 +", "an operand is missing after `+`"),
        ("(1", "`)` is missing at the end"),
        ("(1]", "`)` is missing in front of `]`"),
        ("1)", "`)` has no place here: the expression ends before it"),
        ("1 2", "`2` has no place here: the expression ends before it"),
        ("* / 2", "`/` stands where an operand is missing"),
        ("1 = 2", "`=` has no place in an expression: `==` compares, and the command `set` writes"),
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("2147483647 + 1", "the result, 2147483648, does not fit i32"),
        ("-2147483648i64 as i32 / -1", "the result, 2147483648, does not fit i32"),
        ("1 << 32", "i32 has no shift by 32"),
        ("1 << -1", "i32 has no shift by -1"),
        ("1.5 & 1", "`&` takes integers, and not f64"),
        ("~1.5", "`~` takes an integer, and not f64"),
        ("99999999999999999999", "`99999999999999999999` does not fit 64 bits"),
        ("300u8", "`300u8` does not fit u8"),
        ("0x", "`0x` is no number"),
        ("12abc", "`12abc` is no number"),
        ("1 < 2 < 3", "comparisons do not chain: `a < b && b < c`"),
        ("f(1)", "functions cannot be called here"),
        ("1 as nothing", "no type is called `nothing`"),
        ("1 as u31", "no type is called `u31`: did you mean `u32`?"),
        ("1 as", "a type is missing after `as`"),
        ("1.5[0]", "what has elements is an array or a pointer, and not a value of type f64"),
        ("*1", "what has elements is an array or a pointer, and not a value of type i32"),
        ("$v300", "there is no register `$v300`"),
        ("$", "there is no register `$`"),
        ("$\u{e9}1", "there is no register `$\u{e9}1`"),
        ("1 \u{e9}", "`\u{e9}` has no place here: the expression ends before it"),
        ("#", "`#` has no place in an expression"),
        ("'ab'", "a character is written `'a'`"),
        (
            "1 && zzz",
            "the object does not describe variables, so there is no `zzz`; registers are `$s0`, `$v0`, `$exec`",
        ),
        (&deep, "the expression has more than 256 parts"),
        (&long, "the expression has more than 256 parts"),
        (&signs, "the expression has more than 256 parts"),
    ];
    for (source, why) in cases {
        let short: String = source.chars().take(40).collect();
        assert_eq!(evaluated(source), Err(why.to_owned()), "{short}");
    }
    // Expressions of the greatest allowed depth.
    for source in ["(".repeat(120) + "1" + &")".repeat(120), "-".repeat(254) + "1", "!".repeat(254) + "true"]
    {
        evaluated(&source).expect("it is not too deep");
    }
}

/// A condition is a number, a truth value or a pointer.
#[test]
fn what_conditions_are() {
    let program = Program::default();
    let evaluator = Evaluator::of_types(&program, 0, 0);
    for right in ["$v0 == 3", "$exec", "$s[4:5] > 1 && $scc", "1.5", "true", "*(float *)$s[0:1] > 2"] {
        assert_eq!(evaluator.condition(right), Ok(()), "{right}");
    }
    for wrong in ["$v0 = 3", "$v0 ==", "$z0 == 1", "$s[0:3] + 1", "$v0 == zzz", "*(nothing *)$s[0:1]"] {
        assert!(evaluator.condition(wrong).is_err(), "{wrong}");
    }
}
