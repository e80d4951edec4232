//! Damaged metadata: reading ends without a panic, and what is read can be written, printed and verified. A
//! short fixed run here; `KERNC_PALMETA=1000000 cargo test -p kernc-palmeta -- damaged::` for a long one.

use palmeta::{Metadata, Pairs, Spelling, fields, pairs, register, user_data};
use support::Random;

fn count() -> usize {
    std::env::var("KERNC_PALMETA").ok().map_or(4000, |count| count.parse().expect("a number"))
}

/// Metadata with every kind of value.
const TEXT: &str = "\
---
amdpal.version: [2, 6]
amdpal.pipelines:
  - .name: 'a \"name\"'
    .type: Cs
    .internal_pipeline_hash: [0xffffffffffffffff, 1]
    .shaders:
      .compute: {.api_shader_hash: [1, 2], .hardware_mapping: [.cs]}
    .hardware_stages:
      .cs:
        .entry_point: _amdgpu_cs_main
        .threadgroup_dimensions: [64, 1, 1]
        .uses_uavs: true
    .graphics_registers:
      .vgt_hos_max_tess_level: 1.5
      .spi_ps_input_cntl: [{.offset: 1}, {.flat_shade: true}]
    .registers:
      '0x2e12 (COMPUTE_PGM_RSRC1)': 0xaf0000
      '0x2e40 (COMPUTE_USER_DATA_0)': 0x10000000
      0x1234: -5
...
";

fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(6) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.bits() as u8,
            // Lengths of MessagePack, and characters with a meaning in YAML.
            2 => bytes[at] = random.choose(b"\xdf\xdd\xdb\xc6\xc1\xd9\xff\x00\x80\x90{}[]:-'\"#|>\n !,"),
            3 => {
                let (from, size) = (random.below(bytes.len()), random.below(24));
                let piece = bytes[from..(from + size).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            4 => {
                bytes.remove(at);
            }
            _ if random.one_in(4) => bytes.truncate(at),
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
}

/// Uses metadata in every way.
fn use_all(metadata: &Metadata) {
    let findings = metadata.verify();
    assert!(findings.iter().all(|finding| !finding.to_string().is_empty()));
    let written = metadata.write();
    let again = Metadata::read(&written).expect("what was written");
    assert_eq!(again.write(), written);
    for spelling in [Spelling::Llvm14, Spelling::Llvm19] {
        assert!(metadata.to_directives(spelling).len() < 64 * (written.len() + 100), "the text is too long");
    }
    let _ = (metadata.version(), metadata.stages().count());
    for (number, value) in metadata.registers() {
        let _ = (register::name(number), user_data::Mapping::from_number(value).to_string());
        let fields = fields::fields(number, [10, 3, 0]).map(|field| u64::from(field.get(value))).sum::<u64>();
        assert!(fields <= 32 * u64::from(u32::MAX));
    }
    let mut changed = metadata.clone();
    changed.set_register(0x2e12, 1);
    assert!(changed.register(0x2e12).is_some_and(|value| value & 1 == 1) || metadata.pipeline().is_some());
}

/// Damages `good` many times and reads the result with `read`. At least one damaged input in twenty has to be
/// readable, so that the test also covers metadata that is accepted.
fn damaged<E: std::fmt::Display>(seed: u64, good: &[u8], read: impl Fn(&[u8]) -> Result<Metadata, E>) {
    let mut random = Random::new(seed);
    let mut accepted = 0;
    for _ in 0..count() {
        let mut bytes = good.to_vec();
        damage(&mut bytes, &mut random);
        match read(&bytes) {
            Ok(metadata) => {
                use_all(&metadata);
                accepted += 1;
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert!(accepted > count() / 20, "{accepted}");
}

#[test]
fn damaged_message_pack() {
    damaged(4801, &Metadata::from_text(TEXT).expect("good").write(), Metadata::read);
}

#[test]
fn damaged_texts() {
    damaged(4802, TEXT.as_bytes(), |bytes| Metadata::from_text(&String::from_utf8_lossy(bytes)));
}

#[test]
fn damaged_pairs() {
    let good = Pairs::from_operands("0x2e12,0xaf0000,0x10000021,5,0x10000018,1,0x10000019,2").expect("good");
    let mut random = Random::new(4803);
    for _ in 0..count() {
        let mut bytes = good.write();
        damage(&mut bytes, &mut random);
        if let Ok(pairs) = Pairs::read(&bytes) {
            assert_eq!(Pairs::from_operands(&pairs.operands()).expect("operands"), pairs);
            assert_eq!(Pairs::read(&pairs.write()).expect("pairs"), pairs);
            assert!(pairs.iter().all(|(key, _)| !pairs::Key::from_number(key).to_string().is_empty()));
            let (metadata, rest) = Metadata::from_pairs(&pairs);
            assert!(rest.len() <= bytes.len() / 8);
            use_all(&metadata);
        }
        let mut text = good.operands().into_bytes();
        damage(&mut text, &mut random);
        let _ = Pairs::from_operands(&String::from_utf8_lossy(&text));
    }
}

/// Lengths that damaged metadata claims do not reserve memory, and long inputs take linear time.
#[test]
fn large_inputs_are_bounded() {
    let large = [&b"\xdd\x7f\xff\xff\xff"[..], &[0xc0; 100]].concat();
    assert!(Metadata::read(&large).is_err());
    assert!(Metadata::read(b"\x81\xdb\xff\xff\xff\xffa").is_err());
    let text: String = (0..100_000).map(|n| format!("k{n}: {n}\n")).collect();
    assert_eq!(Metadata::from_text(&text).expect("long").verify().len(), palmeta::MOST_FINDINGS + 1);
    let flow: String = (0..100_000).map(|n| format!("k{n}: {n}, ")).collect();
    assert!(Metadata::from_text(&format!("a: {{{flow}}}\n")).is_ok());
    let deep = format!("a: {}1{}\n", "[".repeat(10_000), "]".repeat(10_000));
    assert!(Metadata::from_text(&deep).is_err());
}
