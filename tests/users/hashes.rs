//! Hashes and ciphers: results against digests that the standards and their test suites give, and against Rust.

use crate::users::value::{exactly, holds};
use crate::users::{Run, input, output, right, value};
use testkit::Rng;

/// Bytes of a digest in hexadecimal digits.
fn digest(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// The test suite of RFC 1321.
#[test]
fn md5() {
    let texts = [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
    ];
    let mut words = Vec::new();
    for (text, _) in texts {
        let mut padded = text.as_bytes().to_vec();
        padded.resize(56, 0);
        words.extend(padded);
    }
    let lengths: Vec<u8> = texts.iter().map(|(text, _)| text.len() as u8).collect();
    let wanted: Vec<u8> = texts.iter().flat_map(|(_, hex)| digest(hex)).collect();
    right(&Run {
        file: "md5",
        params: &[],
        grid: [64, 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("words", words),
            input("lengths", lengths),
            value("wanted", digest(texts[3].1)),
            output("digests", vec![0u8; 16 * texts.len()], exactly(wanted)),
            output("hits", vec![0u32; 4], exactly(vec![1u32, 3, 0, 0])),
            value("n", texts.len() as u32),
        ],
    });
}

/// FIPS 180-2, appendix A.1, and the empty message.
#[test]
fn sha1() {
    let (mut blocks, mut wanted) = (Vec::new(), Vec::new());
    for (text, hex) in [
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    ] {
        let mut block = text.as_bytes().to_vec();
        block.push(0x80);
        block.resize(60, 0);
        block.extend((8 * text.len() as u32).to_be_bytes());
        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.as_chunks().0.iter().map(|word| u32::from_be_bytes(*word)).collect()
        };
        blocks.extend(words(&block));
        wanted.extend(words(&digest(hex)));
    }
    right(&Run {
        file: "sha1",
        params: &[],
        grid: [64, 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("blocks", blocks),
            output("digests", vec![0u32; 10], exactly(wanted)),
            value("n", 2u32),
        ],
    });
}

/// Digests that are widely known.
#[test]
fn ntlm() {
    let passwords = [
        ("", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        ("password", "8846f7eaee8fb117ad06bdd830b7586c"),
        ("hashcat", "b4b9b02e6f09a9bd760f388b67351e2b"),
    ];
    let stride = 9u32;
    let mut text = Vec::new();
    for (password, _) in passwords {
        let mut padded = password.as_bytes().to_vec();
        padded.resize(stride as usize, 0);
        text.extend(padded);
    }
    let wanted: Vec<u8> = passwords.iter().flat_map(|(_, hex)| digest(hex)).collect();
    right(&Run {
        file: "ntlm",
        params: &[],
        grid: [64, 1, 1],
        group: [64, 1, 1],
        args: vec![
            input("passwords", text),
            value("stride", stride),
            output("digests", vec![0u8; 48], exactly(wanted)),
            value("n", 3u32),
        ],
    });
}

/// Blowfish with tables of a quarter of the size, which is not asked of the cipher: in Rust.
#[test]
fn blowfish() {
    const BOX: usize = 64;
    const WORDS: usize = 18 + 4 * BOX;
    let (keys, mut rng) = (6usize, Rng::new(1));
    let (tables, key) = (rng.words(keys * WORDS), rng.words(keys * 3));
    let mut wanted = tables.clone();
    for (t, key) in wanted.chunks_mut(WORDS).zip(key.chunks(3)) {
        (0..18).for_each(|i| t[i] ^= key[i % 3]);
        let mut block = (0u32, 0u32);
        for i in (0..WORDS).step_by(2) {
            let f = |x: u32| {
                let [a, b, c, d] = x.to_be_bytes().map(|byte| byte as usize % BOX);
                let s = &t[18..];
                (s[a].wrapping_add(s[BOX + b]) ^ s[2 * BOX + c]).wrapping_add(s[3 * BOX + d])
            };
            let (mut l, mut r) = block;
            for p in &t[..16] {
                l ^= p;
                r ^= f(l);
                (l, r) = (r, l);
            }
            (l, r) = (r, l);
            block = (l ^ t[17], r ^ t[16]);
            (t[i], t[i + 1]) = block;
        }
    }
    let same = move |found: Vec<u32>| match found.iter().zip(&wanted).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => Err(format!("word {} of key {}", at % WORDS, at / WORDS)),
    };
    right(&Run {
        file: "blowfish",
        params: &[("BOX", "64")],
        grid: [keys as u32, 1, 1],
        group: [2, 1, 1],
        args: vec![output("tables", tables, holds(same)), input("key", key), value("key_words", 3u32)],
    });
}
