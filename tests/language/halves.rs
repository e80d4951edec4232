//! `f16` against its definition: the nearest of all halves, found by search, of a result that is exact in `f64`.

use crate::harness::run_bytes;
use crate::language::arithmetic::{Number, check};
use std::sync::LazyLock;

/// A half by its bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Half(u16);

/// Every half from 0 to the largest, then what would come next.
static ALL: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let size = |bits: u32| match bits >> 10 {
        0 => f64::from(bits) * 2f64.powi(-24),
        exponent => f64::from(bits & 0x3ff | 0x400) * 2f64.powi(exponent as i32 - 25),
    };
    (0..=0x7c00).map(size).collect()
});

impl Half {
    fn wide(self) -> f64 {
        let size = match self.0 & 0x7fff {
            0x7c00 => f64::INFINITY,
            bits if bits > 0x7c00 => f64::NAN,
            bits => ALL[usize::from(bits)],
        };
        if self.0 >> 15 == 1 { -size } else { size }
    }

    /// The nearest half, of two the even one.
    fn nearest(x: f64) -> Half {
        let sign = u16::from(x.is_sign_negative()) << 15;
        if x.is_nan() {
            return Half(0x7e00);
        }
        let size = x.abs();
        let above = ALL.partition_point(|&half| half < size).min(0x7c00);
        let below = above.saturating_sub(1);
        let (up, down) = (ALL[above] - size, size - ALL[below]);
        let nearest = if up < down || up == down && above % 2 == 0 { above } else { below };
        let bits = if size >= ALL[0x7c00] { 0x7c00 } else { nearest as u16 };
        Half(sign | bits)
    }

    fn is_signaling(self) -> bool {
        self.is_nan() && self.0 & 0x200 == 0
    }

    fn is_nan(self) -> bool {
        self.wide().is_nan()
    }
}

impl Number for Half {
    const NAME: &'static str = "f16";
    fn bytes(self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }
    fn read(bytes: &[u8]) -> Self {
        Half(u16::from_le_bytes(bytes.try_into().unwrap()))
    }
    fn same(self, other: Self) -> bool {
        self == other || self.is_nan() && other.is_nan()
    }
}

fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 16
    }
}

fn operands() -> Vec<(Half, Half)> {
    let edges = [
        0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x1400, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0xbc00,
        0x4000, 0x4200, 0x4248, 0x6400, 0x63ff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7800, 0x5bf8,
    ];
    let pair = |a: u16, b: u16| (Half(a), Half(b));
    let mut all: Vec<_> = edges.iter().flat_map(|&a| edges.map(|b| pair(a, b))).collect();
    let mut next = random(7);
    for n in 0..3000 {
        let bits = next();
        let (a, b) = (bits as u16, (bits >> 16) as u16);
        // Half of them near 1.
        let near = |x: u16| x & 0x87ff | 0x3800;
        all.push(if n % 2 == 0 { pair(a, b) } else { pair(near(a), near(b)) });
    }
    all
}

/// `a * b + c`: the product is exact, and so is the error of the sum, which decides in the middle between two halves.
fn fma(a: Half, b: Half, c: Half) -> Half {
    let (product, c) = (a.wide() * b.wide(), c.wide());
    let sum = product + c;
    let summand = sum - product;
    let error = (product - (sum - summand)) + (c - summand);
    let nearest = Half::nearest(sum);
    if !error.is_normal() || !sum.is_finite() {
        return nearest;
    }
    let toward = if error > 0.0 { sum.next_up() } else { sum.next_down() };
    Half::nearest(toward)
}

#[test]
fn arithmetic() {
    check::<Half, Half>(
        &operands(),
        &[
            ("a + b", |a, b, _| Some(Half::nearest(a.wide() + b.wide()))),
            ("a - b", |a, b, _| Some(Half::nearest(a.wide() - b.wide()))),
            ("a * b", |a, b, _| Some(Half::nearest(a.wide() * b.wide()))),
            ("a / b", |a, b, _| Some(Half::nearest(a.wide() / b.wide()))),
            ("a / 3.0", |a, _, _| Some(Half::nearest(a.wide() / 3.0))),
            ("a % b", |a, b, _| Some(Half::nearest(a.wide() % b.wide()))),
            ("rcp(a)", |a, _, _| Some(Half::nearest(1.0 / a.wide()))),
            ("sqrt(a)", |a, _, _| Some(Half::nearest(a.wide().sqrt()))),
            ("fma(a, b, a)", |a, b, _| Some(fma(a, b, a))),
            ("fma(a, b, -b)", |a, b, _| Some(fma(a, b, Half(b.0 ^ 0x8000)))),
            ("a * b + 1.5", |a, b, _| Some(fma(a, b, Half::nearest(1.5)))),
            ("a - b * a", |a, b, _| Some(fma(Half(b.0 ^ 0x8000), a, a))),
            ("-a", |a, _, _| (!a.is_nan()).then_some(Half(a.0 ^ 0x8000))),
            ("abs(a)", |a, _, _| Some(Half(a.0 & 0x7fff))),
            ("-abs(a) + b", |a, b, _| Some(Half::nearest(b.wide() - a.wide().abs()))),
            ("floor(a)", |a, _, _| Some(Half::nearest(a.wide().floor()))),
            ("ceil(a)", |a, _, _| Some(Half::nearest(a.wide().ceil()))),
            ("trunc(a)", |a, _, _| Some(Half::nearest(a.wide().trunc()))),
            ("round(a)", |a, _, _| Some(Half::nearest(a.wide().round_ties_even()))),
            ("fract(a)", |a, _, _| {
                let whole = a.wide().floor();
                a.wide().is_finite().then(|| Half::nearest((a.wide() - whole).min(1.0 - 2f64.powi(-11))))
            }),
            ("min(a, b)", |a, b, _| {
                let fine = a.wide() != b.wide() && !a.is_signaling() && !b.is_signaling();
                fine.then(|| Half::nearest(a.wide().min(b.wide())))
            }),
            ("max(a, b)", |a, b, _| {
                let fine = a.wide() != b.wide() && !a.is_signaling() && !b.is_signaling();
                fine.then(|| Half::nearest(a.wide().max(b.wide())))
            }),
            ("clamp(a, -1.0, 2.5)", |a, _, _| {
                (!a.is_nan()).then(|| Half::nearest(a.wide().clamp(-1.0, 2.5)))
            }),
            ("copysign(a, b)", |a, b, _| Some(Half(a.0 & 0x7fff | b.0 & 0x8000))),
            ("step(a, b)", |a, b, _| Some(Half::nearest(if b.wide() < a.wide() { 0.0 } else { 1.0 }))),
            ("ldexp(a, s as i32 - 30)", |a, _, s| Some(Half::nearest(a.wide() * 2f64.powi(s as i32 - 30)))),
            ("ldexp(frexp_mant(a), frexp_exp(a))", |a, _, _| Some(a)),
            ("nextafter(a, b)", |a, b, _| {
                let (x, y) = (a.wide(), b.wide());
                let away = Half(if (x < y) == (x > 0.0) { a.0.wrapping_add(1) } else { a.0.wrapping_sub(1) });
                Some(match () {
                    () if a.is_nan() || b.is_nan() => Half(0x7e00),
                    () if x == y => b,
                    () if x == 0.0 => Half(1 | b.0 & 0x8000),
                    () => away,
                })
            }),
            ("select(isnan(a), 1.0, 2.0)", |a, _, _| Some(Half::nearest(if a.is_nan() { 1.0 } else { 2.0 }))),
            ("select(isinf(a), 1.0, 2.0)", |a, _, _| {
                Some(Half::nearest(if a.wide().is_infinite() { 1.0 } else { 2.0 }))
            }),
            ("select(a < b, a, b)", |a, b, _| Some(if a.wide() < b.wide() { a } else { b })),
            ("select(a >= b, a, b)", |a, b, _| Some(if a.wide() >= b.wide() { a } else { b })),
            ("select(!(a <= b), a, b)", |a, b, _| Some(if a.wide() <= b.wide() { b } else { a })),
            ("select(a != b, a, b)", |a, b, _| Some(if a.wide() == b.wide() { b } else { a })),
            ("select(a == b, a, b)", |a, b, _| Some(if a.wide() == b.wide() { a } else { b })),
            ("select(b > 0.5, a, -a)", |a, b, _| Some(Half(if b.wide() > 0.5 { a.0 } else { a.0 ^ 0x8000 }))),
            ("bitcast::<f16>(bitcast::<u16>(a) ^ 0x8001)", |a, _, _| Some(Half(a.0 ^ 0x8001))),
            ("bitcast::<f16x2>(bitcast::<u32>(f16x2(a, b)) >> 16).x", |_, b, _| Some(b)),
            ("shuffle_xor(a, 0)", |a, _, _| Some(a)),
            ("s as f16", |_, _, s| Some(Half::nearest(s.into()))),
            ("(s * 1000 - 30000) as i32 as f16", |_, _, s| {
                Some(Half::nearest(f64::from(s * 1000) - 30000.0)).filter(|_| s >= 30)
            }),
            ("0.1f16 + a", |a, _, _| Some(Half::nearest(Half::nearest(0.1).wide() + a.wide()))),
            ("f16::MAX - a", |a, _, _| Some(Half::nearest(65504.0 - a.wide()))),
        ],
    );
}

#[test]
fn to_other_types() {
    let operands = operands();
    check::<Half, f32>(&operands, &[("a as f32", |a, _, _| Some(a.wide() as f32))]);
    check::<Half, f64>(&operands, &[("a as f64", |a, _, _| Some(a.wide()))]);
    check::<Half, i32>(
        &operands,
        &[
            ("a as i32", |a, _, _| Some(a.wide() as i32)),
            ("a as i8 as i32", |a, _, _| Some((a.wide() as i8).into())),
        ],
    );
    check::<Half, u32>(
        &operands,
        &[
            ("a as u32", |a, _, _| Some(a.wide() as u32)),
            ("a as u16 as u32", |a, _, _| Some((a.wide() as u16).into())),
            ("bitcast::<u16>(a) as u32", |a, _, _| (!a.is_nan()).then_some(a.0.into())),
            ("bitcast::<u32>(f16x2(a, b))", |a, b, _| Some(u32::from(a.0) | u32::from(b.0) << 16)),
        ],
    );
    check::<Half, i64>(&operands, &[("a as i64", |a, _, _| Some(a.wide() as i64))]);
    check::<Half, u64>(&operands, &[("a as u64", |a, _, _| Some(a.wide() as u64))]);
}

/// Numbers around what lies between two halves.
fn middles() -> Vec<f64> {
    let mut all =
        vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 65519.99, 65520.0, 1e300, 1e-300, 5e-324];
    for pair in ALL.windows(2).step_by(37) {
        let middle = (pair[0] + pair[1]) / 2.0;
        let close = middle * (1.0 + 2f64.powi(-30));
        all.extend([
            middle,
            middle.next_up(),
            middle.next_down(),
            -middle,
            -middle.next_up(),
            close,
            pair[0],
        ]);
    }
    all
}

#[test]
fn from_other_types() {
    let wide: Vec<(f64, f64)> = middles().into_iter().map(|x| (x, x)).collect();
    check::<f64, Half>(&wide, &[("a as f16", |a, _, _| Some(Half::nearest(a)))]);
    let single: Vec<(f32, f32)> = middles().into_iter().map(|x| (x as f32, 0.0)).collect();
    check::<f32, Half>(&single, &[("a as f16", |a, _, _| Some(Half::nearest(a.into())))]);
    macro_rules! from_integers {
        ($($ty:ident)*) => { $(
            let mut next = random(3);
            let numbers = (0..1500).map(|n| (next() >> (n % 48)) as $ty);
            let numbers: Vec<_> = numbers.chain([0, 1, $ty::MAX, $ty::MIN]).map(|n| (n, n)).collect();
            check::<$ty, Half>(&numbers, &[("a as f16", |a, _, _| Some(Half::nearest(a as f64)))]);
        )* };
    }
    from_integers!(i8 u8 i16 u16 i32 u32 i64 u64);
}

/// Lane by lane, where there are packed instructions and where there are none.
#[test]
fn vectors() {
    type Lane = fn(Half, Half, Half) -> Half;
    let rows: [(&str, Lane); 12] = [
        ("a + b", |a, b, _| Half::nearest(a.wide() + b.wide())),
        ("a - b", |a, b, _| Half::nearest(a.wide() - b.wide())),
        ("a * b + c", fma),
        ("c - a * b", |a, b, c| fma(Half(a.0 ^ 0x8000), b, c)),
        ("(a + 1.0) * b", |a, b, _| Half::nearest(Half::nearest(a.wide() + 1.0).wide() * b.wide())),
        ("a * s + b", |a, b, _| fma(a, Half::nearest(0.75), b)),
        ("max(min(a, b), c)", |a, b, c| {
            let low = if b.wide() < a.wide() || a.is_nan() { b } else { a };
            if c.wide() > low.wide() || low.is_nan() { c } else { low }
        }),
        ("-(a * -b)", |a, b, _| Half(Half::nearest(a.wide() * -b.wide()).0 ^ 0x8000)),
        ("(a + b) - (a + b) * c", |a, b, c| {
            let sum = Half::nearest(a.wide() + b.wide());
            fma(Half(sum.0 ^ 0x8000), c, sum)
        }),
        ("a * VTY(1.0, 2.0) + VTY(0.5)", |a, _, _| a),
        ("b.yx * a", |a, _, _| a),
        ("a.yy + b", |a, _, _| a),
    ];
    let mut next = random(11);
    let numbers: Vec<u16> = (0..3 * 512).map(|_| (next() as u16) & 0xbfff | 0x2000).collect();
    let bytes =
        |n: usize| numbers[512 * n..][..512].iter().flat_map(|h| h.to_le_bytes()).collect::<Vec<u8>>();
    let (a, b, c) = (bytes(0), bytes(1), bytes(2));
    for lanes in [2, 4] {
        for (expression, lane) in rows {
            let by_twos = expression.contains('.') && !expression.contains(".0");
            let odd = by_twos || expression.contains("VTY(1.0");
            if odd && lanes == 4 {
                continue;
            }
            let ty = format!("f16x{lanes}");
            let source = format!(
                "#[workgroup_size(64)]\nkernel t(aa: *const global {ty}, bb: *const global {ty}, cc: *const global {ty}, \
                 out: *global {ty}) {{\n    let i = global_id(0);\n    let s = 0.75f16;\n    let a = aa[i]; let b = bb[i]; let c = \
                 cc[i];\n    out[i] = {};\n}}\n",
                expression.replace("VTY", &ty)
            );
            let inputs = [("aa", a.clone()), ("bb", b.clone()), ("cc", c.clone())];
            let at = |n: usize, i: usize| Half(numbers[512 * n + i]);
            for (how, out) in run_bytes(&source, 512 / lanes, &inputs, 1024) {
                for (i, found) in out.chunks(2).map(Half::read).enumerate() {
                    let (x, y) = (at(0, i), at(1, i));
                    let wanted = match expression {
                        "b.yx * a" => Half::nearest(at(1, i ^ 1).wide() * x.wide()),
                        "a.yy + b" => Half::nearest(at(0, i | 1).wide() + y.wide()),
                        _ if odd => fma(x, Half::nearest(1.0 + (i % 2) as f64), Half::nearest(0.5)),
                        _ => lane(x, y, at(2, i)),
                    };
                    assert!(
                        found.same(wanted),
                        "{how}: {expression} of {ty}, lane {i}: {found:x?}, not {wanted:x?}"
                    );
                }
            }
        }
    }
}
