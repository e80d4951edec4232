//! The ways to compute a number from its index in a row of numbers, and the choice between these ways. A row
//! has one number for each operand value of a switch.

use super::super::interval::type_max;
use super::{Code, Index};
use crate::entity::Value;
use crate::op::{BinOp, CastOp, Op};
use crate::semantics::signed;
use crate::types::Type;

/// Minimum number of cases of a switch for which a table in memory pays off. A table takes about six
/// instructions and the time of a load that hits the cache, which is the time of about thirty vector
/// instructions. A test of a case takes two instructions.
const MIN_TABLE: usize = 16;

/// A row of numbers: the value for each index.
pub struct Row {
    pub ty: Type,
    pub numbers: Vec<u64>,
    /// The value for indices outside of the row, if such indices are possible.
    pub outside: Option<Value>,
    /// `outside` as a number, if it is a constant.
    pub number: Option<u64>,
}

/// Small numbers packed one after the other into a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    bits: u64,
    /// Width of a number in bits.
    width: u32,
    /// Whether the numbers take more than 32 bits.
    wide: bool,
    /// Whether one more number is stored after the last number of the row: the value for indices outside of
    /// the row. Such indices are clamped to the index of this number.
    clamp: bool,
}

/// How the numbers of a row are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The number is `step * index + base`.
    Linear { step: u64, base: u64 },
    /// One of two numbers. A literal has one bit for each index, which says which of the two it is.
    Pick { bits: Packed, numbers: [u64; 2] },
    /// The element is `base` plus a bit field of a literal. The literal holds one bit field for each index.
    Bits { bits: Packed, base: u64 },
    /// A load from a table in constant memory.
    Table,
}

impl Row {
    fn is_int(&self) -> bool {
        matches!(self.ty, Type::I32 | Type::I64)
    }

    /// Returns the numbers of the row. If `clamp`, the value for indices outside of the row comes after them.
    fn fields(&self, clamp: bool) -> impl Iterator<Item = u64> + '_ {
        self.numbers.iter().copied().chain(self.number.filter(|_| clamp))
    }

    /// Returns whether the value for indices outside of the row is a constant. It can then be stored after
    /// the last number of the row.
    fn may_clamp(&self) -> bool {
        self.outside.is_some() && self.number.is_some()
    }

    fn linear(&self) -> Option<Form> {
        let &[base, second, ..] = &self.numbers[..] else { return None };
        let max = type_max(self.ty);
        let step = second.wrapping_sub(base) & max;
        let mut wanted = base;
        let fits = self.numbers.iter().all(|&number| {
            let fits = number == wanted;
            wanted = wanted.wrapping_add(step) & max;
            fits
        });
        (fits && (self.is_int() || step == 0)).then_some(Form::Linear { step, base })
    }

    /// Packs the numbers of the row into a literal of 32 or 64 bits. `small` maps each number to the value
    /// that is stored, which has at most `width` bits. If `clamp`, the value for indices outside of the row
    /// is stored after the last number. Returns `None` if 64 bits are too few.
    fn pack(&self, clamp: bool, width: u32, small: impl Fn(u64) -> u64) -> Option<Packed> {
        let fields = (self.numbers.len() as u32).checked_add(u32::from(clamp))?;
        // With a width that is a power of two, the bit position of a number is computed by a shift. With
        // another width, a multiplication is necessary, which is slower.
        let widths = [width.next_power_of_two(), width];
        let (room, width) = [(32, widths[0]), (32, widths[1]), (64, widths[0]), (64, widths[1])]
            .into_iter()
            .find(|(room, width)| width.checked_mul(fields).is_some_and(|bits| bits <= *room))?;
        let field = |(n, number)| small(number) << (n as u32 * width);
        let bits = self.fields(clamp).enumerate().map(field).fold(0, |all, field| all | field);
        Some(Packed { bits, width, wide: room == 64, clamp })
    }

    /// Returns the form that picks one of two numbers by a bit. `None` if the row has more than two different
    /// numbers or too many numbers.
    fn pick(&self, clamp: bool) -> Option<Form> {
        let (low, high) = (self.fields(clamp).min()?, self.fields(clamp).max()?);
        let two = self.fields(clamp).all(|number| number == low || number == high);
        let bits = self.pack(clamp, 1, |number| u64::from(number == high)).filter(|_| two)?;
        Some(Form::Pick { bits, numbers: [low, high] })
    }

    /// Returns a form that packs the row into a literal. It either packs the numbers themselves, or their
    /// differences from the least number, whichever is cheaper. Returns `None` if neither fits.
    fn bits(&self, clamp: bool) -> Option<Form> {
        let least = self.fields(clamp).map(|n| signed(self.ty, n)).min()? as u64;
        let candidates = [0, least].into_iter().filter_map(|base| {
            let small = |number: u64| number.wrapping_sub(base) & type_max(self.ty);
            let width = 64 - self.fields(clamp).map(small).max()?.leading_zeros();
            let bits = self.pack(clamp, width.max(1), small)?;
            Some(Form::Bits { bits, base })
        });
        candidates.min_by_key(|form| form.cost(self))
    }
}

impl Form {
    /// Returns the cheapest form for a row. `None` if no form is better than testing the `cases` cases of the
    /// switch one by one.
    pub fn best(row: &Row, cases: usize) -> Option<Form> {
        let ways = [true, false].into_iter().filter(|clamp| !clamp || row.may_clamp());
        let ints = |clamp| row.is_int().then(|| row.bits(clamp)).flatten();
        let packed = ways.flat_map(|clamp| [row.pick(clamp), ints(clamp)]);
        let short = std::iter::once(row.linear()).chain(packed).flatten();
        let short = short.min_by_key(|form| form.cost(row));
        let table = || cases >= MIN_TABLE && !matches!(row.ty, Type::Ptr(_));
        short.or_else(|| table().then_some(Form::Table))
    }

    /// Returns whether the form also gives the right value for indices outside of the row.
    fn has_outside(&self, row: &Row) -> bool {
        match self {
            Form::Linear { .. } => row.outside.is_none(),
            Form::Pick { bits, .. } | Form::Bits { bits, .. } => bits.clamp || row.outside.is_none(),
            Form::Table => row.outside.is_none() || row.number.is_some(),
        }
    }

    /// Returns the approximate number of instructions of the form.
    pub fn cost(&self, row: &Row) -> u32 {
        let field = |bits: &Packed| 2 + u32::from(bits.width > 1) + 2 * u32::from(bits.wide);
        let own = match self {
            Form::Linear { step: 0, .. } => 0,
            Form::Linear { step: 1, .. } => 1,
            Form::Linear { step, .. } if step.is_power_of_two() => 2,
            // Vector multiplication takes four times as long as other vector arithmetic.
            Form::Linear { .. } => 5,
            Form::Pick { bits, numbers } => field(bits) + if row.is_zero_one(numbers) { 0 } else { 2 },
            Form::Bits { bits, base } => field(bits) + u32::from(*base != 0),
            Form::Table => 6,
        };
        own + if self.has_outside(row) { 0 } else { 2 }
    }

    /// Emits the code that computes the number at `index` in the row. Returns the number.
    pub fn write(&self, row: &Row, index: &mut Index, code: &mut Code<'_>) -> Value {
        let value = match *self {
            Form::Linear { step, base } => {
                let index = index.plain(code);
                let index = code.extended(index, row.ty, step);
                let product = index.map(|index| code.bin_k(BinOp::Mul, index, step));
                let base = code.konst(row.ty, base);
                product.map_or(base, |product| code.bin(BinOp::Add, product, base))
            }
            Form::Pick { bits, numbers } => {
                let field = bits.field(index, code);
                match row.ty {
                    Type::Bool => code.bit(field),
                    Type::I32 if row.is_zero_one(&numbers) => code.bin_k(BinOp::And, field, 1),
                    ty => {
                        let bit = code.bit(field);
                        let [low, high] = numbers.map(|number| code.konst(ty, number));
                        code.select(bit, high, low)
                    }
                }
            }
            Form::Bits { bits, base } => {
                let field = bits.field(index, code);
                let small = code.bin_k(BinOp::And, field, (1 << bits.width) - 1);
                let number = if row.ty == Type::I64 {
                    code.push(Op::Cast(CastOp::Zext), &[small], Type::I64)
                } else {
                    small
                };
                if base == 0 { number } else { code.bin_k(BinOp::Add, number, base) }
            }
            Form::Table => {
                let clamp = row.may_clamp();
                let at = if clamp || row.outside.is_some() { index.clamped(code) } else { index.plain(code) };
                // An index outside of the row also loads from the table, even if another value is chosen
                // afterwards. The table gets an entry for these indices, so that no load is out of bounds.
                let mut numbers = row.numbers.clone();
                if row.outside.is_some() {
                    numbers.push(row.number.unwrap_or(0));
                }
                code.load(row.ty, &numbers, at)
            }
        };
        match row.outside.filter(|_| !self.has_outside(row)) {
            Some(outside) => {
                let (inside, outside) = (index.inside(code), code.edge_value(outside));
                code.select(inside, value, outside)
            }
            None => value,
        }
    }
}

impl Row {
    /// Returns whether the extracted bit is already the number.
    fn is_zero_one(&self, numbers: &[u64; 2]) -> bool {
        matches!(self.ty, Type::Bool | Type::I32) && *numbers == [0, 1]
    }
}

impl Packed {
    /// Emits code that shifts the literal, so that the table element for `index` is in the lowest bits.
    fn field(&self, index: &mut Index, code: &mut Code<'_>) -> Value {
        let at = if self.clamp { index.clamped(code) } else { index.plain(code) };
        let shift = match self.width {
            1 => at,
            width if width.is_power_of_two() => code.bin_k(BinOp::Shl, at, width.trailing_zeros().into()),
            width => code.bin_k(BinOp::Mul, at, width.into()),
        };
        let literal = code.konst(if self.wide { Type::I64 } else { Type::I32 }, self.bits);
        let moved = code.bin(BinOp::LShr, literal, shift);
        code.low(moved)
    }
}
