//! Parameter and result types of the generated functions. Each function also has the shared counter that ends
//! the recursion as its first parameter.

use super::writer::Writer;

/// Kind of a function: its parameter and result types, and some properties of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Pair,
    Quad,
    Long,
    Half,
    Record,
    Large,
    List,
    Unit,
    Higher,
    Table,
    Flag,
    Wide,
    Slice,
    Reference,
    Cells,
    /// Reads most of its arguments only in a condition without an effect.
    Dead,
    /// Reads only its first argument.
    Ignoring,
    /// Returns a struct of more dwords than there are registers for results.
    Bulk,
    /// Returns an array of more dwords than there are registers for results.
    Rows,
}

/// Type of functions over words, the type of most function pointers.
pub(super) const WORD: &str = "fn(*private u32, u32, u32) -> u32";

/// Number of words of [`Kind::Wide`]: more than fit into registers.
const WIDE: usize = 33;

/// Number of words of [`Kind::Bulk`] and [`Kind::Rows`]: more than fit into registers.
const MANY: usize = 36;

impl Kind {
    pub(super) const ALL: [Kind; 20] = [
        Kind::Word,
        Kind::Pair,
        Kind::Quad,
        Kind::Long,
        Kind::Half,
        Kind::Record,
        Kind::Large,
        Kind::List,
        Kind::Unit,
        Kind::Higher,
        Kind::Table,
        Kind::Flag,
        Kind::Wide,
        Kind::Slice,
        Kind::Reference,
        Kind::Cells,
        Kind::Dead,
        Kind::Ignoring,
        Kind::Bulk,
        Kind::Rows,
    ];

    /// Returns the source text of the parameters and the result.
    pub(super) fn signature(self) -> String {
        let text = match self {
            Kind::Word => "a: u32, b: u32) -> u32",
            Kind::Pair => "v: u32x2) -> u32x2",
            Kind::Quad => "v: u32x4, f: f32) -> u32x4",
            Kind::Long => "w: u64, d: f64) -> u64",
            Kind::Half => "h: f16, s: i16, t: u8) -> f16",
            Kind::Record => "s: Record, p: *private u32) -> Record",
            Kind::Large => "s: Large, a: u32) -> Large",
            Kind::List => "l: [u32; 6], a: u32) -> [u32; 6]",
            Kind::Unit => "p: *private u32)",
            Kind::Higher => "f: Word, a: u32) -> u32",
            Kind::Table => "t: Calls, a: u32) -> u32",
            Kind::Flag => "a: u32) -> bool",
            Kind::Wide | Kind::Ignoring => {
                let words: Vec<String> = (0..WIDE).map(|n| format!("a{n}: u32")).collect();
                return format!("(fuel: *private u32, {}, w: u64, d: f64) -> u64", words.join(", "));
            }
            Kind::Dead => "p: [u32; 40], s: Large, a: u32) -> u32",
            Kind::Bulk => "a: u32, b: u32) -> Bulk",
            Kind::Rows => "a: u32, b: u32) -> [u32; 36]",
            Kind::Slice => "p: *private u32, a: u32) -> u32",
            Kind::Reference => "held: *private Record, a: u32)",
            Kind::Cells => "l: *shared u32, g: *global u32, a: u32) -> u32",
        };
        format!("(fuel: *private u32, {}", text.replace("Word", WORD))
    }

    /// Returns whether a function of this kind can be called from other objects; functions with arrays as
    /// parameters or results cannot.
    pub(super) fn passes_outside(self) -> bool {
        !matches!(self, Kind::List | Kind::Dead | Kind::Rows)
    }

    /// Returns a condition without an effect that reads arguments. The arguments are dead when the optimiser
    /// removes the condition.
    pub(super) fn idle(self) -> Option<&'static str> {
        (self == Kind::Dead).then_some("p[a % 40] > s.a[a % 12]")
    }

    /// Returns expressions for the numbers in the parameters.
    pub(super) fn numbers(self) -> &'static [&'static str] {
        match self {
            Kind::Word | Kind::Bulk | Kind::Rows => &["a", "b"],
            Kind::Pair => &["v.x", "v.y"],
            Kind::Quad => &["v.x", "v.y", "v.z", "v.w", "(f as u32)"],
            Kind::Long => &["(w as u32)", "((w >> 32) as u32)", "(d as u32)"],
            Kind::Half => &["(h as u32)", "(s as u32)", "(t as u32)"],
            Kind::Record => &["s.a", "(s.b as u32)", "s.c[1]", "*p"],
            Kind::Large => {
                &["a", "s.a[0]", "s.a[11]", "s.a[a % 12]", "(s.b as u32)", "(s.d as u32)", "(s.h[1] as u32)"]
            }
            Kind::List => &["a", "l[0]", "l[5]", "l[a % 6]"],
            Kind::Unit => &["*p"],
            Kind::Higher | Kind::Flag | Kind::Dead => &["a"],
            Kind::Ignoring => &["a0"],
            Kind::Table => &["a", "t.k"],
            Kind::Wide => {
                &["a0", "a7", "a29", "a30", "a31", "a32", "(w as u32)", "((w >> 32) as u32)", "(d as u32)"]
            }
            Kind::Slice => &["a", "*p", "p[a & 3]", "p[3]"],
            Kind::Reference => &["a", "(*held).a", "((*held).b as u32)", "(*held).c[a & 1]"],
            Kind::Cells => &["a", "*l", "*g"],
        }
    }

    /// Returns the parameter that is an address of four numbers, which the function may pass to its callees.
    pub(super) fn slice(self) -> Option<&'static str> {
        (self == Kind::Slice).then_some("p")
    }

    /// Returns expressions for the functions over words in the parameters.
    pub(super) fn callees(self) -> &'static [&'static str] {
        match self {
            Kind::Higher => &["f"],
            Kind::Table => &["(t.f)", "t.g[a & 1]", "t.g[1]"],
            _ => &[],
        }
    }

    /// Returns a value of the result type; an empty text if there is no result.
    pub(super) fn result(self, of: &mut Writer) -> String {
        let a = of.number(2);
        match self {
            Kind::Word | Kind::Higher | Kind::Table | Kind::Slice | Kind::Cells | Kind::Dead => a,
            Kind::Bulk => format!("Bulk {{ a: [{a}; {MANY}], b: {} as u64 << 5 }}", of.number(1)),
            Kind::Rows => format!("[{a}; {MANY}]"),
            Kind::Ignoring => format!("{a} as u64 * 0x100000003"),
            Kind::Pair => format!("u32x2({a}, {})", of.number(1)),
            Kind::Quad => format!("u32x4({a}, {}, v.zx)", of.number(1)),
            Kind::Long | Kind::Wide => format!("({a} as u64 * 0x100000003 + w)"),
            Kind::Half => format!("((({a}) & 511) as f16 + h * 0.5)"),
            Kind::Record => format!("Record {{ a: {a}, b: s.b + 1, c: [{}, s.c[0]] }}", of.number(1)),
            Kind::Large => {
                let (b, c) = (of.number(1), of.number(1));
                format!(
                    "Large {{ a: [{a}, {b}, s.a[0], s.a[1], s.a[2], s.a[3], s.a[4], s.a[5], s.a[6], s.a[7], s.a[8], {c}], b: s.b + 5, \
                     d: s.d + 0.5, h: [s.h[1], s.h[2], 3, {b} as u16] }}"
                )
            }
            Kind::List => format!("[{a}, {}, l[0], l[1], l[2], l[3]]", of.number(1)),
            Kind::Unit | Kind::Reference => String::new(),
            Kind::Flag => format!("{a} > 9"),
        }
    }

    /// Returns the arguments after the counter.
    pub(super) fn arguments(self, of: &mut Writer) -> String {
        let (a, b) = (of.number(2), of.number(1));
        match self {
            Kind::Word | Kind::Bulk | Kind::Rows => format!("{a}, {b}"),
            Kind::Dead => {
                let parts: Vec<String> = (0..11).map(|_| of.number(1)).collect();
                format!(
                    "[{b}; 40], Large {{ a: [{a}, {}], b: {b} as u64, d: 0.5, h: [1, 2, 3, 4] }}, {a}",
                    parts.join(", ")
                )
            }
            Kind::Pair => format!("u32x2({a}, {b})"),
            Kind::Quad => format!("u32x4({a}, {b}, {}, 9), ({b} & 0xffff) as f32 * 0.25", of.number(1)),
            Kind::Long => format!("{a} as u64 * 0x10001, ({b} & 0xfffff) as f64 / 3.0"),
            Kind::Half => format!("(({a}) & 1023) as f16, {b} as i16, {a} as u8"),
            Kind::Record => format!(
                "Record {{ a: {a}, b: {b} as u64 * 0x100000001, c: [{}, 7] }}, {}",
                of.number(1),
                of.address()
            ),
            Kind::Large => {
                let parts: Vec<String> = (0..10).map(|_| of.number(1)).collect();
                format!(
                    "Large {{ a: [{a}, {b}, {}], b: {b} as u64 << 7, d: {a} as f64, h: [1, {b} as u16, 3, 4] }}, {b}",
                    parts.join(", ")
                )
            }
            Kind::List => format!("[{a}, {b}, 1, 2, {}, 3], {b}", of.number(1)),
            Kind::Unit => of.address(),
            Kind::Higher => format!("{}, {a}", of.word_value()),
            Kind::Table => {
                let (f, g, h) = (of.word_value(), of.word_value(), of.word_value());
                format!("Calls {{ f: {f}, g: [{g}, {h}], k: {a} }}, {b}")
            }
            Kind::Flag => a,
            Kind::Wide | Kind::Ignoring => {
                let words: Vec<String> = (0..WIDE).map(|_| of.number(1)).collect();
                format!("{}, {a} as u64 * 0x300000005, {b} as f64", words.join(", "))
            }
            Kind::Slice => format!("{}, {a}", of.slice()),
            Kind::Reference => format!("&record, {a}"),
            Kind::Cells => format!("&L[local_id(0)], &G[global_id(0)], {a}"),
        }
    }

    /// Returns an expression that combines the parts of a result `r` to a number.
    pub(super) fn folded(self) -> &'static str {
        match self {
            Kind::Word | Kind::Higher | Kind::Table | Kind::Slice | Kind::Cells | Kind::Dead => "r",
            Kind::Bulk => "(r.a[0] ^ r.a[35] * 5 ^ r.a[r.a[1] % 36] ^ r.b as u32)",
            Kind::Rows => "(r[0] ^ r[35] * 5 ^ r[r[1] % 36])",
            Kind::Pair => "(r.x ^ r.y)",
            Kind::Quad => "(r.x ^ r.y * 3 ^ r.z ^ r.w)",
            Kind::Long | Kind::Wide | Kind::Ignoring => "(r as u32 ^ (r >> 32) as u32)",
            Kind::Half => "(r as u32)",
            Kind::Record => "(r.a + r.b as u32 + (r.b >> 32) as u32 + r.c[0])",
            Kind::Large => {
                "(r.a[0] ^ r.a[11] * 5 ^ r.b as u32 ^ r.d as u32 ^ r.h[3] as u32 ^ r.a[r.a[1] % 12])"
            }
            Kind::List => "(r[0] ^ r[5] + r[r[1] % 6])",
            Kind::Flag => "select(r, 17u32, 4u32)",
            Kind::Unit | Kind::Reference => "",
        }
    }
}
