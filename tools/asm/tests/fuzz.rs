//! Mutated and random texts: no panic, no hang, memory bounded. `KERNC_FUZZ_COUNT` asks for another number of texts.

use std::path::Path;
use std::time::{Duration, Instant};
use support::Random;

fn corpus() -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut list: Vec<Vec<u8>> = Vec::new();
    for entry in std::fs::read_dir(dir).expect("data") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ext| ext == "s") {
            let mut text = std::fs::read(path).expect("readable");
            text.truncate(6000);
            list.push(text);
        }
    }
    list.sort();
    assert!(!list.is_empty());
    list
}

/// Words that mean something to an assembler.
const WORDS: &[&str] = &[
    ".macro m a, b=1\n",
    ".endm\n",
    ".rept 1000000\n",
    ".endr\n",
    ".irp x, 1, 2\n",
    ".if 1\n",
    ".else\n",
    ".endif\n",
    ".fill 0x7fffffffffffffff, 8, 1\n",
    ".space -1\n",
    ".org 0x7fffffffffff\n",
    ".p2align 31\n",
    ".subsection 1\n",
    ".text 2\n",
    ".data 0\n",
    ".weakref a, b\n",
    ".symver k, k@@@V\n",
    ".lto_discard k\n",
    ".lto_set_conditional a, k\n",
    ".addrsig_sym k\n",
    ".cfi_startproc\n",
    ".cfi_endproc\n",
    ".cfi_offset s30, -8\n",
    ".cfi_personality 0x1b, k\n",
    ".cfi_label a\n",
    ".cfi_sections .eh_frame, .debug_frame\n",
    ".file 0 \"d\" \"a.c\"\n",
    ".file 2 \"/x//\" md5 1\n",
    ".loc 1 2 3 prologue_end\n",
    ".set a, b\n",
    ".set b, a\n",
    ".set a, a+a\n",
    "m m\n",
    "((((((((",
    "))))",
    "v[0:255]",
    "s[",
    "0x",
    "1f",
    "1:",
    "\"",
    "/*",
    "*/",
    "\\@",
    "\\a",
    "-",
    "|",
    ".amdhsa_kernel k\n",
    ".end_amdhsa_kernel\n",
    ".amdgpu_metadata\n",
    ".end_amdgpu_metadata\n",
    "- [[[[",
    "{a: ",
    ".amd_kernel_code_t\n",
    "0x1p99999",
    "1e999",
    "9223372036854775808",
    ".size k, .-k\n",
    "@rel32@lo+4",
    "hwreg(",
    "sendmsg(",
    "v_add_f32 v0, v1, v2\n",
    "s_branch k\n",
    ".long k-q\n",
    ".section .x,\"aw\",@nobits\n",
    ".comm c, -1, 99\n",
    "\u{e9}",
    "\0",
    ".macro r\nr\nr\n.endm\nr\n",
    ".rept 9999\n.rept 9999\ns_nop 0\n.endr\n.endr\n",
];

fn mutate(rng: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut text = rng.pick(corpus).clone();
    for _ in 0..=rng.below(6) {
        let at = rng.below(text.len() + 1);
        let end = (at + rng.below(40)).min(text.len());
        match rng.below(6) {
            0 => {
                text.splice(at..at, rng.pick(WORDS).bytes());
            }
            1 => {
                text.splice(at..end, rng.pick(WORDS).bytes());
            }
            2 => {
                text.drain(at..end);
            }
            3 => {
                let other = rng.pick(corpus);
                let from = rng.below(other.len());
                let to = (from + rng.below(200)).min(other.len());
                text.splice(at..at, other[from..to].iter().copied());
            }
            4 if at < text.len() => text[at] = rng.bits() as u8,
            _ => {
                let piece = text[at..end].to_vec();
                text.splice(at..at, piece);
            }
        }
    }
    text
}

#[test]
fn mutated_texts() {
    let count = std::env::var("KERNC_FUZZ_COUNT").map_or(1500, |count| count.parse().expect("a number"));
    let corpus = corpus();
    let mut rng = Random::new(2026);
    let (mut accepted, mut slowest) = (0u32, Duration::ZERO);
    for n in 0..count {
        let bytes = mutate(&mut rng, &corpus);
        let text = String::from_utf8_lossy(&bytes);
        let cpu = *rng.pick(&["gfx600", "gfx700", "gfx803", "gfx906", "gfx90a", "gfx1010", "gfx1030"]);
        let kind = if rng.one_in(2) { asm::Kind::Loadable } else { asm::Kind::Relocatable };
        let options =
            asm::Options { kind, max_output: 1 << 22, max_expansion: 1 << 18, ..crate::common::options(cpu) };
        let start = Instant::now();
        match asm::assemble(&text, &options) {
            Ok(object) => {
                assert!(object.len() < 1 << 26);
                accepted += 1;
            }
            Err(list) => {
                assert!(!list.is_empty());
                assert!(!asm::render(&list, "fuzz.s", &text, false).is_empty());
            }
        }
        let time = start.elapsed();
        slowest = slowest.max(time);
        assert!(time < Duration::from_secs(20), "text {n} takes {time:?}:\n{text}");
    }
    eprintln!("{count} texts, {accepted} of them assemble, the slowest in {slowest:?}");
}
