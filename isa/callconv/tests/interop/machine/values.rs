//! Values of arguments and results: how they lie in places and buffers, and whether they arrived.

use super::{Case, Cells, offsets};
use callconv::{Form, Piece, TypeId, Types};

/// Bits of a value that a piece holds.
fn bits_of(value: &[u8], piece: &Piece) -> u32 {
    let mut word = [0; 4];
    let at = piece.offset as usize;
    let len = usize::from(piece.bits).div_ceil(8);
    word[..len].copy_from_slice(&value[at..at + len]);
    u32::from_le_bytes(word) & mask(piece.bits)
}

fn mask(bits: u8) -> u32 {
    if bits >= 32 { u32::MAX } else { (1 << bits) - 1 }
}

/// A half that is neither denormal nor NaN, as `f32`.
fn single(half: u32) -> u32 {
    (half & 0x8000) << 16 | (((half >> 10 & 31) + 112) << 23) | (half & 0x3ff) << 13
}

/// What the place's dword must hold of a piece: bits, and which of them count.
fn expected_bits(value: &[u8], piece: &Piece) -> (u32, u32) {
    let bits = bits_of(value, piece);
    let all = u32::MAX;
    match piece.form {
        Form::Bits => (bits << piece.shift, mask(piece.bits) << piece.shift),
        Form::Unsigned => (bits, all),
        Form::Signed => {
            let unused = 32 - piece.bits;
            (((bits << unused) as i32 >> unused) as u32, all)
        }
        Form::HalfAsSingle => (single(bits), all),
        Form::UpperHalf => (bits << 16, all),
    }
}

/// Bytes of a lane of C's buffer: arguments where [`offsets`] has them.
pub(super) fn image(case: &Case, lane: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, value) in offsets(case).into_iter().zip(&case.args[lane]) {
        out.resize(at, 0);
        out.extend(value);
    }
    out
}

/// Dwords of cells, made of values. What does not count is junk.
pub(super) fn dwords(cells: &Cells, values: &[Vec<u8>]) -> Vec<u8> {
    let one = |holds: &Vec<(usize, Piece)>| {
        holds.iter().fold(0x9999_9999u32, |word, (value, piece)| {
            let (bits, counts) = expected_bits(&values[*value], piece);
            word & !counts | bits
        })
    };
    cells.holds.iter().flat_map(|holds| one(holds).to_le_bytes()).collect()
}

/// Padding has no value: parts of a type that count are compared, bytes between them are made equal.
fn without_padding(types: &Types, ty: TypeId, value: &mut [u8]) {
    let mut counts = vec![false; value.len()];
    types.parts(ty, 0, &mut |at, scalar, lanes| {
        let len = (scalar.bits() / 8 * lanes) as usize;
        counts[at as usize..at as usize + len].fill(true);
    });
    for (byte, counts) in value.iter_mut().zip(counts) {
        if !counts {
            *byte = 0;
        }
    }
}

pub(super) fn same(types: &Types, ty: TypeId, left: &[u8], right: &[u8]) -> bool {
    let size = types.size(ty) as usize;
    let [mut left, mut right] = [left[..size].to_vec(), right[..size].to_vec()];
    without_padding(types, ty, &mut left);
    without_padding(types, ty, &mut right);
    left == right
}

/// Puts the pieces of cells together again as values, and compares what counts of them.
pub(super) fn check_cells(
    case: &Case,
    cells: &Cells,
    tys: &[TypeId],
    values: &[Vec<u8>],
    found: &[u8],
) -> Option<String> {
    let mut again: Vec<Vec<u8>> = values.iter().map(|value| vec![0; value.len()]).collect();
    for (k, holds) in cells.holds.iter().enumerate() {
        let word = u32::from_le_bytes(found[4 * k..4 * k + 4].try_into().unwrap());
        for (value, piece) in holds {
            let bits = match piece.form {
                Form::HalfAsSingle => half(word),
                Form::UpperHalf => word >> 16,
                _ => word >> piece.shift & mask(piece.bits),
            };
            let len = usize::from(piece.bits).div_ceil(8);
            let at = piece.offset as usize;
            again[*value][at..at + len].copy_from_slice(&bits.to_le_bytes()[..len]);
            let extended = matches!(piece.form, Form::Signed | Form::Unsigned);
            if extended && let Some(text) = extension(piece, word) {
                return Some(format!("value {value}: {text}"));
            }
        }
    }
    let wrong = (0..values.len()).find(|&i| !same(&case.types, tys[i], &again[i], &values[i]))?;
    Some(format!("value {wrong}: {:02x?}, not {:02x?}", again[wrong], values[wrong]))
}

fn extension(piece: &Piece, word: u32) -> Option<String> {
    let unused = 32 - piece.bits;
    let again = match piece.form {
        Form::Signed => ((word << unused) as i32 >> unused) as u32,
        _ => word << unused >> unused,
    };
    (again != word).then(|| format!("{word:#x} is not extended: {piece:?}"))
}

/// The half of the same value, of a single that has one.
fn half(word: u32) -> u32 {
    word >> 16 & 0x8000 | ((word >> 23 & 0xff).wrapping_sub(112) & 31) << 10 | word >> 13 & 0x3ff
}
