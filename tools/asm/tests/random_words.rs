//! Any words at all: what `disasm` writes of them is what `as` makes the same words of.
//!
//! `KERNC_RANDOM_WORDS=1000000 cargo test -p kernc-asm --test asm random_words:: -- --nocapture` is the long run.

use support::Random;

/// Words of one object.
const BATCH: usize = 20_000;

/// Purely random words, and words that begin as the encodings do.
fn word(rng: &mut Random) -> u32 {
    const BEGINNINGS: [u32; 18] = [
        0,
        0x7e00_0000,
        0x7c00_0000,
        0x8000_0000,
        0xb000_0000,
        0xbe80_0000,
        0xbf00_0000,
        0xbf80_0000,
        0xc000_0000,
        0xd000_0000,
        0xd380_0000,
        0xd800_0000,
        0xdc00_0000,
        0xe000_0000,
        0xf000_0000,
        0xd400_0000,
        0xf400_0000,
        0xcc00_0000,
    ];
    let any = rng.bits() as u32;
    match rng.below(3) {
        0 => any,
        1 => rng.pick(&BEGINNINGS) | any >> [6, 7, 9, 12][rng.below(4)],
        _ => any & [0x7f7f_7f7f, 0x03ff_ffff, 0x0000_ffff][rng.below(3)],
    }
}

/// Disassembles the words and assembles the text; the first line whose words differ.
fn check(cpu: &str, words: &[u32]) -> Result<(), String> {
    let options = crate::common::options(cpu);
    let source: String = words.iter().map(|word| format!(".long {word:#x}\n")).collect();
    let object = asm::assemble(&source, &options).map_err(|list| list[0].message.clone())?;
    let parsed = codeobj::CodeObject::parse(&object).map_err(|error| error.to_string())?;
    let text = codeobj::disassemble(&parsed, &codeobj::disasm::Options::default())
        .map_err(|error| error.to_string())?;
    let again = asm::assemble(&text, &options).map_err(|list| {
        let (line, _) = list[0].position(&text);
        format!(
            "{}: {} ({})",
            text.lines().nth(line - 1).unwrap_or_default().trim(),
            list[0].message,
            list[0].label
        )
    })?;
    let expected = crate::common::section(&object, ".text");
    let found = crate::common::section(&again, ".text");
    match expected.chunks(4).zip(found.chunks(4)).position(|(one, other)| one != other) {
        None if expected.len() == found.len() => Ok(()),
        at => Err(format!(
            "word {at:?} of {} is {:02x?} now",
            expected.len() / 4,
            at.map(|at| &found[4 * at..4 * at + 4])
        )),
    }
}

#[test]
fn any_words_come_back() {
    let count: usize =
        std::env::var("KERNC_RANDOM_WORDS").map_or(4000, |count| count.parse().expect("a number"));
    let only = std::env::var("KERNC_SWEEP")
        .unwrap_or_else(|_| "gfx600 gfx700 gfx803 gfx906 gfx908 gfx90a gfx1010 gfx1030".into());
    let mut wrong = Vec::new();
    for cpu in only.split_whitespace() {
        let mut rng = Random::new(11);
        for batch in 0..count.div_ceil(BATCH) {
            let words: Vec<u32> = (0..BATCH.min(count - batch * BATCH)).map(|_| word(&mut rng)).collect();
            if check(cpu, &words).is_ok() {
                continue;
            }
            // Small parts tell every class of words in one run.
            for part in words.chunks(8) {
                wrong.extend(check(cpu, part).err().map(|why| format!("{cpu}: {why} {part:08x?}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} parts differ:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}
