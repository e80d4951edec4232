//! Damaged objects and random code: whatever the bytes are, checking them ends and does not panic. A short fixed run here;
//! `KERNC_FUZZ=100000 cargo test -p kernc-check --test check damaged::` for a long one.

use codeobj::CodeObject;
use isa::{PROCESSORS, Target};
use support::Random;

const SOURCE: &str = "
    .text
    .globl work
    .p2align 8
    .type work,@function
work:
    s_load_dwordx2 s[0:1], s[4:5], 0x0
    s_waitcnt lgkmcnt(0)
.Lloop:
    buffer_load_dword v1, off, s[0:3], 0
    ds_read_b32 v2, v0
    s_waitcnt vmcnt(0)
    v_add_f32_e32 v1, v1, v1
    s_cbranch_scc0 .Lloop
    s_getpc_b64 s[8:9]
    s_swappc_b64 s[30:31], s[8:9]
    s_endpgm
.Lend:
    .size work, .Lend-work
    .globl other
    .type other,@function
other:
    s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
    v_mov_b32_e32 v0, v1
    s_setpc_b64 s[30:31]
";

/// Checks and tells; how much text it made.
fn check(bytes: &[u8], target: &'static Target) -> usize {
    let Ok(object) = CodeObject::parse(bytes) else { return 0 };
    let mut text = 0;
    for target in [None, Some(target)] {
        let options = check::object::Options { target, ..Default::default() };
        if let Ok(report) = check::object::check(&object, &options) {
            text += check::report::human(&report, "damaged", false).len();
        }
    }
    text
}

fn rounds() -> usize {
    std::env::var("KERNC_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(3000)
}

#[test]
fn damaged_objects() {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut told = 0;
    for round in 0..rounds() {
        let target = &PROCESSORS[random.below(PROCESSORS.len())];
        let kind = if round % 2 == 0 { asm::Kind::Loadable } else { asm::Kind::Relocatable };
        let options = asm::Options { target: Some(target), kind, ..asm::Options::default() };
        let mut bytes =
            asm::assemble(SOURCE, &options).unwrap_or_else(|_| panic!("it is right for {}", target.name));
        for _ in 0..=random.below(8) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = random.bits() as u8,
                2 if at + 8 <= bytes.len() => {
                    let edge = [0, 1, u64::MAX, u64::MAX - 7, 1 << 63][random.below(5)];
                    bytes[at..at + 8].copy_from_slice(&edge.to_le_bytes());
                }
                _ => bytes[at] = bytes[at].wrapping_add(1),
            }
        }
        told += usize::from(check(&bytes, target) > 200);
    }
    assert!(told > 0, "nothing was ever found in what is damaged");
}

/// Words of real instructions in any order, with branches everywhere.
#[test]
fn random_code() {
    let mut random = Random::new(0x1234_5678_9abc_def1);
    for target in PROCESSORS.iter().step_by(4) {
        let words: Vec<u32> = (0..rounds().min(4000))
            .map(|_| match random.below(8) {
                // SOPP, so that there are branches, waits and nops.
                0 => 0xbf80_0000 | (random.bits() as u32 & 0x7f_003f),
                1 => 0xbf80_0000 | (random.bits() as u32 & 0x7f_0000) | 0xffc0,
                2 => 0xe000_0000 | random.bits() as u32 & 0xff_ffff,
                3 => 0xd800_0000 | random.bits() as u32 & 0xff_ffff,
                _ => random.bits() as u32,
            })
            .collect();
        let mut roots = vec![check::program::Root { address: 0, is_function: false }];
        roots.extend((0..16).map(|_| check::program::Root {
            address: 4 * random.below(words.len()) as u64,
            is_function: random.below(2) == 0,
        }));
        let program = check::program::Program::read(target, isa::Setting::On, &words, 0, &mut roots)
            .expect("a known processor");
        let _ = check::solve::solve(&program, &roots, false);
    }
}
