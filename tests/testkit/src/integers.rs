//! Kernels whose results are exact.

use crate::data::{Arg, Case, Data, Expected, Rng, round_up};

fn exactly_ints(values: Vec<i32>) -> Expected {
    Expected::Exactly(Data::I32(values))
}

fn exactly_words(values: Vec<u32>) -> Expected {
    Expected::Exactly(Data::U32(values))
}

/// Single steps of a bitonic sort.
pub(crate) fn bitonic() -> Vec<Case> {
    let case = |(n, j, k): (usize, usize, usize)| {
        let before: Vec<i32> =
            Rng::new((n + j + k) as u64).words(n).into_iter().map(|word| word as i32).collect();
        let mut after = before.clone();
        for i in 0..n {
            let l = i ^ j;
            if l > i && (after[i] > after[l]) == (i & k == 0) {
                after.swap(i, l);
            }
        }
        let args = vec![
            Arg::output("a", Data::I32(before), exactly_ints(after)),
            Arg::int("j", j),
            Arg::int("k", k),
        ];
        Case { grid: [n as u32, 1, 1], args }
    };
    [(256, 1, 2), (256, 128, 256), (1024, 256, 1024), (1024, 4, 16), (320, 16, 32)].map(case).into()
}

pub(crate) fn hashloop() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, iterations) in [(1, 1), (256, 10), (300, 33), (1000, 0)] {
        let input = Rng::new(n as u64).words(n);
        let output: Vec<u32> = input.iter().map(|&word| hash(word, iterations)).collect();
        for grid in [n as u32, round_up(n, 256)] {
            let args = vec![
                Arg::input("in", Data::U32(input.clone())),
                Arg::output("out", Data::U32(vec![0; n]), exactly_words(output.clone())),
                Arg::int("n", n),
                Arg::int("iters", iterations),
            ];
            cases.push(Case { grid: [grid, 1, 1], args });
        }
    }
    cases
}

/// Xorshift, then FNV-1a over the four bytes, repeated.
fn hash(word: u32, iterations: usize) -> u32 {
    let (mut x, mut h) = (word | 1, 2_166_136_261u32);
    for _ in 0..iterations {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        for byte in x.to_le_bytes() {
            h = (h ^ u32::from(byte)).wrapping_mul(16_777_619);
        }
    }
    h
}

/// Histogram of 256 bins. The grid has whole groups, because each work-item owns a bin.
pub(crate) fn histogram() -> Vec<Case> {
    let case = |(n, groups): (usize, usize)| {
        let input = Rng::new(n as u64).words(n);
        let mut bins: Vec<u32> = (0..256).collect();
        let before = bins.clone();
        input.iter().for_each(|word| bins[*word as usize & 255] += 1);
        let args = vec![
            Arg::input("in", Data::U32(input)),
            Arg::output("bins", Data::U32(before), exactly_words(bins)),
            Arg::int("n", n),
            Arg::int("stride", groups * 256),
        ];
        Case { grid: [groups as u32 * 256, 1, 1], args }
    };
    [(1, 1), (256, 1), (5000, 3), (10_000, 8)].map(case).into()
}

/// Message passing: group 0 writes the data, and the other groups wait for its flag.
pub(crate) fn msgpass() -> Vec<Case> {
    let case = |groups: usize| {
        let value = 1000 * groups as i32;
        let data: Vec<i32> = (0..64).map(|item| value + item).collect();
        let mut out = vec![-1; 64];
        (1..groups).for_each(|_| out.extend_from_slice(&data));
        let args = vec![
            Arg::output("data", Data::I32(vec![0; 64]), exactly_ints(data)),
            Arg::output("flag", Data::I32(vec![0]), exactly_ints(vec![1])),
            Arg::output("out", Data::I32(vec![-1; 64 * groups]), exactly_ints(out)),
            Arg::int("v", value as usize),
        ];
        Case { grid: [groups as u32 * 64, 1, 1], args }
    };
    [1, 2, 7, 40].map(case).into()
}

/// An inclusive scan of each block of 256 elements, and the sums of the blocks. The grid has whole groups.
pub(crate) fn scan() -> Vec<Case> {
    let case = |n: usize| {
        let input: Vec<i32> = Rng::new(n as u64).words(n).into_iter().map(|word| word as i32).collect();
        let (mut output, mut sums) = (Vec::new(), Vec::new());
        for block in input.chunks(256) {
            let mut sum = 0i32;
            for value in block {
                sum = sum.wrapping_add(*value);
                output.push(sum);
            }
            sums.push(sum);
        }
        let args = vec![
            Arg::input("in", Data::I32(input)),
            Arg::output("out", Data::I32(vec![0; n]), exactly_ints(output)),
            Arg::output("sums", Data::I32(vec![0; sums.len()]), exactly_ints(sums)),
            Arg::int("n", n),
        ];
        Case { grid: [round_up(n, 256), 1, 1], args }
    };
    [1, 256, 300, 1024].map(case).into()
}

/// The compression function of SHA-256, on one block per work-item.
pub(crate) fn sha256() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [1, 64, 100] {
        let mut rng = Rng::new(n as u64);
        let (blocks, mut states) = (rng.words(16 * n), rng.words(8 * n));
        // The first work-item hashes the empty message.
        let mut blocks = blocks;
        blocks[..16].copy_from_slice(&EMPTY_MESSAGE);
        states[..8].copy_from_slice(&INITIAL_STATE);
        let before = states.clone();
        for (block, state) in blocks.chunks(16).zip(states.chunks_mut(8)) {
            compress(block, state);
        }
        for grid in [n as u32, round_up(n, 64)] {
            let args = vec![
                Arg::input("in", Data::U32(blocks.clone())),
                Arg::output("out", Data::U32(before.clone()), exactly_words(states.clone())),
                Arg::int("n", n),
            ];
            cases.push(Case { grid: [grid, 1, 1], args });
        }
    }
    cases
}

const EMPTY_MESSAGE: [u32; 16] = [0x8000_0000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const INITIAL_STATE: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// Returns the fractional parts of the cube roots of the first 64 primes.
fn round_constants() -> [u32; 64] {
    let is_prime = |n: &u64| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    let mut primes = (2u64..).filter(is_prime);
    std::array::from_fn(|_| {
        let prime = u128::from(primes.next().unwrap_or(2));
        // floor(cbrt(prime) * 2^32), by bisection in integers.
        let (mut low, mut high) = (0u128, 1 << 36);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if middle.pow(3) <= prime << 96 { low = middle } else { high = middle }
        }
        low as u32
    })
}

/// Compresses a block, FIPS 180-4, section 6.2.2.
fn compress(block: &[u32], state: &mut [u32]) {
    let constants = round_constants();
    let mut w = [0u32; 64];
    w[..16].copy_from_slice(block);
    for t in 16..64 {
        let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ w[t - 15] >> 3;
        let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ w[t - 2] >> 10;
        w[t] = s1.wrapping_add(w[t - 7]).wrapping_add(s0).wrapping_add(w[t - 16]);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = std::array::from_fn(|at| state[at]);
    for t in 0..64 {
        let sum1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = e & f ^ !e & g;
        let t1 = h.wrapping_add(sum1).wrapping_add(choice).wrapping_add(constants[t]).wrapping_add(w[t]);
        let sum0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let t2 = sum0.wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
        (d, c, b, a) = (c, b, a, t1.wrapping_add(t2));
    }
    for (word, value) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_of_nothing() {
        let mut state = INITIAL_STATE;
        compress(&EMPTY_MESSAGE, &mut state);
        assert_eq!(state[0], 0xe3b0_c442);
        assert_eq!(state[7], 0x7852_b855);
    }

    #[test]
    fn hash_changes_with_every_iteration() {
        assert_eq!(hash(5, 0), 2_166_136_261);
        assert_ne!(hash(5, 1), hash(5, 2));
    }
}
