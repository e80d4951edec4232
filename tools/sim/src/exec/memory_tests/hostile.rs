//! Runs random words of the memory encodings with random register contents. There must be no panic, and no
//! access outside of existing memory.

use super::machine::Machine;
use crate::wave::reg;
use isa::target::PROCESSORS;

/// The upper bits that mark the encodings of memory instructions of all generations, in this order: SMRD,
/// SMEM, DS, FLAT, MUBUF, MTBUF, SMEM of GFX10.
const PREFIXES: [u32; 7] =
    [0xc000_0000, 0xc400_0000, 0xd800_0000, 0xdc00_0000, 0xe000_0000, 0xe800_0000, 0xf400_0000];
const CASES: u32 = 1500;

/// Returns the next random number of an xorshift generator.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn random_instructions() {
    let mut state = 0x1234_5678_9abc_def1;
    let (mut ran, mut failed) = (0, 0);
    for target in &PROCESSORS {
        let mut machine = Machine::with_lanes(target.name, target.wave_size);
        for _ in 0..CASES {
            let buffer = machine.buffer;
            for register in 0..16 {
                let random = next(&mut state);
                let small = next(&mut state) % 4096;
                machine.v64(register * 2, |lane| match lane % 3 {
                    0 => random,
                    1 => buffer + (small & !3),
                    _ => small & !7,
                });
                machine.s64(register * 2, if random & 1 == 0 { random } else { buffer + small });
            }
            machine.wave.sgpr[reg::M0] = next(&mut state) as u32 % 2048;
            let prefix = PREFIXES[next(&mut state) as usize % PREFIXES.len()];
            let words = [next(&mut state) as u32 >> 6 | prefix, next(&mut state) as u32];
            // The mask limits the register numbers to existing registers.
            let words = [words[0], words[1] & 0x1f1f_1f1f | words[1] & 0x0080_0000];
            match machine.run_words(&words) {
                Some(Ok(())) => ran += 1,
                Some(Err(_)) => failed += 1,
                None => {}
            }
        }
    }
    assert!(ran > 2000 && failed > 2000, "{ran} ran, {failed} failed");
}
