//! Matrix instructions of gfx908 and gfx90a beside a model of their definition: `D = A B + C` in each block, elements where
//! AMD's matrix instruction calculator says. `data/matrix_layouts.txt` holds a hash of each layout the calculator prints, with
//! every `cbsz`, `abid` and `blgp`; the model's layouts must have the same.
//!
//! Order and inner precision of the sums are not documented. Small whole numbers, whose sums are exact in any order, must
//! come out exactly; sums of others within `k` units in the last place of the largest possible partial sum.

use crate::oracle::Mode;
use crate::oracle::harness::Harness;
use half::{bf16, f16};
use isa::table::{Row, available, opcodes};
use isa::{Feature, Target};
use std::fmt::Write as _;
use testkit::Rng;

/// What a factor is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Element {
    F32,
    F16,
    Bf16,
    I8,
    F64,
}

/// A matrix instruction, from its name.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    element: Element,
    /// Elements of a factor in a lane.
    per_lane: usize,
    size: usize,
    k: usize,
    blocks: usize,
}

impl Matrix {
    fn from_name(name: &str) -> Matrix {
        let rest = name.strip_prefix("v_mfma_").expect("a matrix instruction");
        let (_, shape) = rest.split_once('_').expect("a shape");
        let mut parts = shape.splitn(3, 'x');
        let size = parts.next().and_then(|size| size.parse().ok()).expect("rows");
        let last = parts.nth(1).expect("a length");
        let split = last.find(|letter: char| !letter.is_ascii_digit()).expect("a type");
        let (k, kind) = last.split_at(split);
        let k: usize = k.parse().expect("a length");
        let (element, per_lane) = match kind {
            "f32" => (Element::F32, 1),
            "f16" => (Element::F16, 4),
            "bf16" => (Element::Bf16, 2),
            "bf16_1k" => (Element::Bf16, 4),
            "i8" => (Element::I8, 4),
            "f64" => (Element::F64, 1),
            other => panic!("{other}"),
        };
        Matrix { element, per_lane, size, k, blocks: 64 * per_lane / (size * k) }
    }

    fn bits(self) -> usize {
        match self.element {
            Element::F32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::I8 => 8,
            Element::F64 => 64,
        }
    }

    /// Dwords of a factor, and of the sum, in each lane.
    fn dwords(self) -> (usize, usize) {
        let wide = if self.element == Element::F64 { 2 } else { 1 };
        ((self.per_lane * self.bits()).div_ceil(32), self.size * self.size * self.blocks / 64 * wide)
    }

    /// Lane and number in it of element `k` of a row of A, or a column of B.
    fn factor(self, at: usize, k: usize, block: usize) -> (usize, usize) {
        let group = k / self.per_lane;
        (at + block * self.size + group * self.size * self.blocks, k % self.per_lane)
    }

    /// Lane and number in it of an element of C and D.
    fn sum(self, row: usize, column: usize, block: usize) -> (usize, usize) {
        match (self.size, self.element) {
            // Rows in groups of four, which the two halves of the wave have in turn.
            (32, _) => (column + row / 4 % 2 * 32, block * 16 + row / 8 * 4 + row % 4),
            (16, Element::F64) => (column + row % 4 * 16, row / 4),
            (16, _) => (column + row / 4 * 16, block * 4 + row % 4),
            (_, Element::F64) => (column + block * 4 + row * 16, 0),
            _ => (column + block * 4, row),
        }
    }
}

/// `cbsz`, `abid`, `blgp`.
type Broadcast = (usize, usize, usize);

/// The block whose A a block takes: groups of 2^cbsz blocks share the one that `abid` says.
fn block_of_a(block: usize, (cbsz, abid, _): Broadcast) -> usize {
    (block >> cbsz << cbsz) + abid
}

/// The lane whose B a lane takes.
fn lane_of_b(lane: usize, (_, _, blgp): Broadcast) -> usize {
    match blgp {
        0 => lane,
        1 => lane % 32,
        2 => 32 + lane % 32,
        3 => (lane + 16) % 64,
        group => (group - 4) * 16 + lane % 16,
    }
}

fn matrix_rows(target: &'static Target) -> impl Iterator<Item = &'static Row> {
    let rows = opcodes().filter(move |&op| available(op, target)).map(|op| op.row());
    rows.filter(|row| row.name.starts_with("v_mfma_"))
}

/// A line of the recorded layouts: instruction, matrix, broadcast, how many elements, the hash of their places.
struct Layout {
    name: &'static str,
    matrix: &'static str,
    broadcast: Broadcast,
    count: usize,
    hash: u64,
}

fn recorded() -> Vec<Layout> {
    let lines = include_str!("data/matrix_layouts.txt").lines();
    let parse = |line: &'static str| {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse().expect("a number");
        Layout {
            name: words[0],
            matrix: words[1],
            broadcast: (number(2), number(3), number(4)),
            count: number(5),
            hash: u64::from_str_radix(words[6], 16).expect("a hash"),
        }
    };
    lines.filter(|line| !line.starts_with('#')).map(parse).collect()
}

/// FNV-1a over register, lane and first bit of each element, by block, row and column.
fn hash(matrix: Matrix, which: &str, broadcast: Broadcast) -> (usize, u64) {
    let (mut count, mut hash) = (0, 0xcbf2_9ce4_8422_2325u64);
    let mut add = |(lane, number): (usize, usize), bits: usize| {
        for value in [number * bits / 32, lane, number * bits % 32] {
            hash = (hash ^ value as u64).wrapping_mul(0x100_0000_01b3);
        }
        count += 1;
    };
    let Matrix { size, k, blocks, .. } = matrix;
    for block in 0..blocks {
        match which {
            "A" => (0..size * k).for_each(|at| {
                add(matrix.factor(at / k, at % k, block_of_a(block, broadcast)), matrix.bits());
            }),
            "B" => (0..size * k).for_each(|at| {
                let (lane, number) = matrix.factor(at % size, at / size, block);
                add((lane_of_b(lane, broadcast), number), matrix.bits());
            }),
            _ => (0..size * size).for_each(|at| {
                add(matrix.sum(at / size, at % size, block), matrix.bits().max(32));
            }),
        }
    }
    (count, hash)
}

#[test]
fn layouts_are_those_of_the_calculator() {
    let all = recorded();
    for layout in &all {
        let found = hash(Matrix::from_name(layout.name), layout.matrix, layout.broadcast);
        let Layout { name, matrix, broadcast, .. } = layout;
        assert_eq!(found, (layout.count, layout.hash), "{name} {matrix} {broadcast:?}");
    }
    for name in ["gfx908", "gfx90a"] {
        for row in matrix_rows(Target::by_name(name).expect("a known processor")) {
            assert!(all.iter().any(|layout| layout.name == row.name), "{}", row.name);
        }
    }
}

/// What the elements are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Values {
    Whole,
    Any,
    Edges,
}

fn element(matrix: Matrix, values: Values, rng: &mut Rng) -> u64 {
    let whole = f64::from(rng.below(17)) - 8.0;
    let any = (f64::from(rng.bits()) / f64::from(u32::MAX) - 0.5) * f64::from(1u32 << rng.below(12));
    let edges =
        [0.0, -0.0, 1.0, -1.0, 1.5, 240.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 2.0, -0.25, 3.0];
    let value = match values {
        Values::Whole => whole,
        Values::Any => any,
        // Mostly ordinary numbers: else every sum were a NaN.
        Values::Edges if rng.below(8) == 0 => edges[rng.below(12) as usize],
        Values::Edges => whole,
    };
    match matrix.element {
        Element::F32 => u64::from((value as f32).to_bits()),
        Element::F16 => u64::from(f16::from_f64(value).to_bits()),
        Element::Bf16 => u64::from(bf16::from_f64(value).to_bits()),
        Element::F64 => value.to_bits(),
        Element::I8 if values == Values::Whole => u64::from(whole as i8 as u8),
        Element::I8 if values == Values::Edges => {
            u64::from([0u8, 1, 0x7f, 0x80, 0xff][rng.below(5) as usize])
        }
        Element::I8 => u64::from(rng.bits() as u8),
    }
}

/// One lane's registers: A, B, C.
#[derive(Clone, Default)]
struct Lane {
    factors: [u64; 2],
    sums: [u32; 32],
}

fn lanes(matrix: Matrix, values: Values, rng: &mut Rng) -> Vec<Lane> {
    let sums = matrix.dwords().1;
    let lane = |_| {
        let mut lane = Lane::default();
        for factor in &mut lane.factors {
            for at in 0..matrix.per_lane {
                *factor |= element(matrix, values, rng) << (at * matrix.bits());
            }
        }
        for at in 0..sums {
            let value = f64::from(rng.below(2001)) - 1000.0;
            lane.sums[at] = match matrix.element {
                Element::I8 if values == Values::Whole => value as i32 as u32,
                Element::I8 => rng.bits(),
                Element::F64 => (value.to_bits() >> (32 * (at % 2))) as u32,
                _ => (value as f32).to_bits(),
            };
        }
        lane
    };
    (0..64).map(lane).collect()
}

fn number(matrix: Matrix, factor: u64, at: usize) -> f64 {
    let bits = factor >> (at * matrix.bits());
    match matrix.element {
        Element::F32 => f32::from_bits(bits as u32).into(),
        Element::F16 => f16::from_bits(bits as u16).into(),
        Element::Bf16 => bf16::from_bits(bits as u16).into(),
        Element::I8 => (bits as i8).into(),
        Element::F64 => f64::from_bits(bits),
    }
}

/// Value and tolerance of an element of D.
fn wanted(
    matrix: Matrix,
    lanes: &[Lane],
    broadcast: Broadcast,
    (block, row, column): (usize, usize, usize),
) -> (f64, f64) {
    let (lane, at) = matrix.sum(row, column, block);
    let sums = &lanes[lane].sums;
    let mut sum = match matrix.element {
        Element::F64 => f64::from_bits(u64::from(sums[2 * at + 1]) << 32 | u64::from(sums[2 * at])),
        Element::I8 => f64::from(sums[at] as i32),
        _ => f32::from_bits(sums[at]).into(),
    };
    let mut size = sum.abs();
    for k in 0..matrix.k {
        let (lane_a, at_a) = matrix.factor(row, k, block_of_a(block, broadcast));
        let (lane_b, at_b) = matrix.factor(column, k, block);
        let a = number(matrix, lanes[lane_a].factors[0], at_a);
        let b = number(matrix, lanes[lane_of_b(lane_b, broadcast)].factors[1], at_b);
        sum += a * b;
        size += (a * b).abs();
    }
    let unit = if matrix.element == Element::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    (sum, if size.is_finite() { size * unit * matrix.k as f64 } else { 0.0 })
}

/// Registers: v[4:5] and v[6:7] factors, v[8:39] the sum or, in accumulation registers, a[0:31].
fn body(text: &str, at: usize, dwords: (usize, usize), accumulate: bool) -> String {
    let (from, to) = (at * 64 * 256, at * 64 * 128);
    let mut body = format!("s_mov_b32 s12, {from:#x}\ns_mov_b32 s13, {to:#x}\n");
    let _ = writeln!(body, "buffer_load_dwordx4 v[4:7], v2, s[4:7], s12 offen");
    for quarter in 0..8 {
        let first = 8 + 4 * quarter;
        let _ = writeln!(
            body,
            "buffer_load_dwordx4 v[{first}:{}], v2, s[4:7], s12 offen offset:{}",
            first + 3,
            16 + 16 * quarter
        );
    }
    body.push_str("s_waitcnt 0\n");
    if accumulate {
        (0..dwords.1).for_each(|at| _ = writeln!(body, "v_accvgpr_write_b32 a{at}, v{}", 8 + at));
    }
    let _ = write!(body, "s_nop 7\n{text}\ns_nop 15\ns_nop 15\n");
    if accumulate {
        (0..dwords.1).for_each(|at| _ = writeln!(body, "v_accvgpr_read_b32 v{}, a{at}", 8 + at));
    }
    for quarter in 0..8 {
        let first = 8 + 4 * quarter;
        let _ = writeln!(
            body,
            "buffer_store_dwordx4 v[{first}:{}], v3, s[8:11], s13 offen offset:{}",
            first + 3,
            16 * quarter
        );
    }
    body
}

struct Try {
    row: &'static Row,
    text: String,
    values: Values,
    broadcast: Broadcast,
    lanes: Vec<Lane>,
    accumulate: bool,
}

fn tries(target: &'static Target) -> Vec<Try> {
    let mut rng = Rng::new(3);
    let mut all = Vec::new();
    for layout in recorded() {
        let Some(row) = matrix_rows(target).find(|row| row.name == layout.name) else { continue };
        let (_, _, blgp) = layout.broadcast;
        if layout.matrix == "D" || layout.matrix == "B" && blgp == 0 {
            continue;
        }
        let matrix = Matrix::from_name(row.name);
        let plain = layout.broadcast == (0, 0, 0);
        let values: &[Values] =
            if plain { &[Values::Whole, Values::Any, Values::Edges, Values::Any] } else { &[Values::Whole] };
        for (number, &values) in values.iter().enumerate() {
            let dwords = matrix.dwords();
            // gfx90a takes sums in VGPRs too.
            let accumulate = !target.has(Feature::UNIFIED_VGPRS) || number % 2 == 0;
            let range = |letter: char, first: usize, count: usize| match count {
                1 => format!("{letter}{first}"),
                _ => format!("{letter}[{first}:{}]", first + count - 1),
            };
            let sum = if accumulate { range('a', 0, dwords.1) } else { range('v', 8, dwords.1) };
            let (a, b) = (range('v', 4, dwords.0), range('v', 6, dwords.0));
            let (cbsz, abid, blgp) = layout.broadcast;
            let mut text = format!("{} {sum}, {a}, {b}, {sum}", row.name);
            for (name, value) in [("cbsz", cbsz), ("abid", abid), ("blgp", blgp)] {
                if value != 0 {
                    let _ = write!(text, " {name}:{value}");
                }
            }
            let lanes = lanes(matrix, values, &mut rng);
            all.push(Try { row, text, values, broadcast: layout.broadcast, lanes, accumulate });
        }
    }
    all
}

/// Whether an element is what was wanted.
fn right(matrix: Matrix, values: Values, found: &[u32], at: usize, (wanted, near): (f64, f64)) -> bool {
    let number = match matrix.element {
        // Wraps around.
        Element::I8 => return found[at] == wanted as i64 as u32,
        Element::F64 => f64::from_bits(u64::from(found[2 * at + 1]) << 32 | u64::from(found[2 * at])),
        _ => f32::from_bits(found[at]).into(),
    };
    if wanted.is_nan() {
        return number.is_nan();
    }
    let near = if values == Values::Any { near } else { 0.0 };
    number == wanted || (number - wanted).abs() <= near
}

#[test]
fn products_of_matrices() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for name in ["gfx908", "gfx90a"] {
        let target = Target::by_name(name).expect("a known processor");
        for batch in tries(target).chunks(16) {
            let mut text = String::from("v_lshlrev_b32_e32 v2, 8, v0\nv_lshlrev_b32_e32 v3, 7, v0\n");
            let mut input = Vec::new();
            for (at, trial) in batch.iter().enumerate() {
                text += &body(&trial.text, at, Matrix::from_name(trial.row.name).dwords(), trial.accumulate);
                for lane in &trial.lanes {
                    input.extend(
                        lane.factors.iter().flat_map(|&factor| [factor as u32, (factor >> 32) as u32]),
                    );
                    input.extend(lane.sums);
                    input.extend([0; 28]);
                }
            }
            let harness = Harness { vgprs: 64, ..Harness::new(target, Mode::USUAL) };
            let found = harness.run(&text, &input, batch.len() * 64 * 32).expect("the code runs");
            for (trial, found) in batch.iter().zip(found.chunks(64 * 32)) {
                let matrix = Matrix::from_name(trial.row.name);
                let Matrix { size, blocks, .. } = matrix;
                for element in 0..blocks * size * size {
                    let place = (element / (size * size), element / size % size, element % size);
                    let expected = wanted(matrix, &trial.lanes, trial.broadcast, place);
                    let (lane, at) = matrix.sum(place.1, place.2, place.0);
                    let found = &found[lane * 32..][..32];
                    compared += 1;
                    if !right(matrix, trial.values, found, at, expected) {
                        wrong.push(format!(
                            "{name}: {} {:?} {place:?}: {:x?}, not {expected:?}",
                            trial.text,
                            trial.values,
                            &found[at..]
                        ));
                        break;
                    }
                }
            }
        }
    }
    println!("matrix instructions: {compared} elements compared");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
