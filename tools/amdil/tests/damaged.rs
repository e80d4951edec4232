//! Damaged texts: an error, or a text that comes back the same; never a panic.
//!
//! `KERNC_HOSTILE=N cargo test -p kernc-amdil --test amdil damaged::` for N texts.

use crate::generated::{count, text};
use amdil::{ArgumentKind, ArgumentValue, Image, Item};
use support::Random;

/// Pieces that mean something.
const PIECES: [&str; 20] = [
    ":",
    ";",
    "\n",
    "0",
    "4294967295",
    "4294967296",
    "-1",
    ";ARGSTART:x\n",
    ";ARGEND:x\n",
    ";DEBUGSTART\n",
    ";DEBUGEND\n",
    ";#DATASTART:2:16\n",
    ";#DATAEND\n",
    ";$$$$$$$$$$\n",
    "\\",
    "\0",
    "ä",
    "\r\n",
    "func 1024 ; x\n",
    "endfunc\n",
];

/// Changes some bytes, repeats or removes lines, or puts a piece in.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 => bytes.truncate(at),
            2 => {
                let piece = random.choose(&PIECES).bytes();
                bytes.splice(at..at, piece);
            }
            3 => {
                let end = (at + random.below(40usize)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let lines: Vec<_> =
                    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                if lines.is_empty() {
                    continue;
                }
                let (from, to) = (random.below(lines.len()), random.below(lines.len()));
                let mut moved = lines.clone();
                if random.one_in(2) {
                    moved.insert(to, lines[from].clone());
                } else {
                    moved.swap(from, to);
                }
                *bytes = moved.concat();
            }
        }
    }
}

/// Returns a value that fits the kind of an argument, or nearly.
fn value(kind: &ArgumentKind, random: &mut Random) -> ArgumentValue {
    match kind {
        ArgumentKind::Value { ty, count } => {
            let size = u64::from(ty.size().unwrap_or(1)) * u64::from(*count);
            ArgumentValue::Bytes(vec![7; size.min(70_000) as usize])
        }
        ArgumentKind::Pointer(_) => ArgumentValue::Pointer(random.bits() >> random.below(64)),
        ArgumentKind::Image { .. } => ArgumentValue::Image(Image::default()),
        _ => ArgumentValue::Bound,
    }
}

#[test]
fn damaged_texts_are_errors_or_the_same_text() {
    let mut accepted = 0;
    let cases = count("KERNC_HOSTILE", 4000);
    for seed in 0..cases {
        let mut random = Random::new(seed);
        let mut bytes = text(seed % 97).to_string().into_bytes();
        damage(&mut bytes, &mut random);
        let Ok(metadata) = amdil::parse_bytes(&bytes) else { continue };
        accepted += 1;
        let written = metadata.to_string();
        let read = std::str::from_utf8(&bytes).expect("what was read is text");
        let same = written == read || written.strip_suffix('\n') == Some(read);
        assert!(same, "seed {seed}\n{read}\n----\n{written}");
        let lines = metadata.items.iter().map(Item::lines).sum::<usize>();
        assert_eq!(lines, written.lines().count(), "seed {seed}");
        for problem in amdil::verify(&metadata) {
            assert!((1..=lines).contains(&problem.line), "seed {seed}: {problem}");
        }
        for segment in metadata.segments() {
            let _ = segment.bytes(amdil::Radix::Hexadecimal, 1 << 16);
        }
        for block in metadata.blocks() {
            block.clone().sort_as_drivers_do();
            let kinds: Vec<_> = block.arguments().map(|argument| argument.kind).collect();
            let values: Vec<_> = kinds.iter().map(|kind| value(kind, &mut random)).collect();
            let _ = amdil::lay_out(1, &kinds, false);
            let _ = amdil::pack(block, &values);
            let _ = metadata.source(block);
            metadata.intrinsics(block);
        }
    }
    assert!(accepted * 20 > cases, "only {accepted} texts of {cases} can be read");
}

/// A text of unknown bytes does not need more memory than a small multiple of its size, and no long time.
#[test]
fn long_texts_take_a_linear_time() {
    let vector = format!(";#i8:0:1000000:{}\n", vec!["1"; 1_000_000].join(":"));
    let ids = format!(";function:500000:{}\n", vec!["7"; 500_000].join(":"));
    let values: String = (0..20_000).map(|index| format!(";value:a{index}:i32:1:1:0\n")).collect();
    let text = format!(
        ";#DATASTART:1000000\n{vector};#DATAEND\n;ARGSTART:f\n;uniqueid:1\n;function:0\n{values};ARGEND:f\n\
         ;ARGSTART:g\n;uniqueid:2\n{ids};ARGEND:g\n"
    );
    let metadata = amdil::parse(&text).expect("a text");
    assert_eq!(metadata.to_string(), text);
    assert!(!amdil::verify(&metadata).is_empty());

    // Problems with a long line do not repeat the line, and a long list gives one problem for each rule.
    let code: String = (0..20_000).map(|id| format!("func {id} ; f{id}\nendfunc ; f{id}\n")).collect();
    let called = (0..20_000).map(|id| format!(":{id}")).collect::<String>();
    let text = format!(
        ";$$$$$$$$$$\n{code};ARGSTART:f\n;uniqueid:1\n;function:20000{called}\n{ids};value:{}:struct:65536:1:0\n\
         {values};ARGEND:f\n",
        "x".repeat(100_000)
    );
    let metadata = amdil::parse(&text).expect("a text");
    let problems = amdil::verify(&metadata);
    let messages: usize = problems.iter().map(|problem| problem.message.len()).sum();
    assert!(messages < 10_000_000, "{messages} bytes of messages");
    assert_eq!(problems.iter().filter(|problem| problem.line == 40_005).count(), 1);
    assert!(metadata.source(metadata.blocks().next().expect("a block")).is_ok());
}
