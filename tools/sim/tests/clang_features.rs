//! Rarer parts of the machine, as clang uses them: software division, scratch, generic addresses, calls, 64-bit
//! atomics, packed halves, lane exchanges. Each kernel of `cl/features.cl` against the same function in Rust.

use half::f16;
use sim::{CodeObject, Device, Dispatch, Limits};
use std::path::Path;
use support::{Folder, Tool};
use testkit::Rng;

const CLANG: &str = "clang-19";
/// Whole waves: some kernels exchange values between all lanes.
const ITEMS: usize = 1024;
/// What the output holds before.
const BEFORE: u32 = 0xcccc_cccc;

/// The value for an item; `None`: any, for instance because NaNs have many encodings.
type Reference = fn(a: u32, b: u32) -> Option<u32>;

const KERNELS: [(&str, Reference); 18] = [
    ("int_division", |a, b| {
        let signed = (a as i32).wrapping_div((b >> 7 | 1) as i32) as u32;
        Some((a / (b | 1)) ^ (a % (b >> 20 | 1)) ^ signed)
    }),
    ("long_division", |a, b| {
        let (x, y) = (wide(a, b), u64::from(a & 0xffff) << 20 | u64::from(b) | 1);
        let (q, r) = (x / y, x % y);
        Some(q as u32 ^ high(q).wrapping_mul(3) ^ (r as u32).wrapping_mul(5) ^ high(r).wrapping_mul(7))
    }),
    ("float_division", |a, b| number((f32::from_bits(a) / f32::from_bits(b)).to_bits())),
    ("double_division", |a, b| fold(f64::from_bits(wide(a, b)) / f64::from_bits(wide(b, a)))),
    ("float_sqrt", |a, _| number(f32::from_bits(a).abs().sqrt().to_bits())),
    ("double_sqrt", |a, b| fold(f64::from_bits(wide(a, b)).abs().sqrt())),
    ("bytes", bytes),
    ("shorts", shorts),
    ("halves", halves),
    ("conversions", conversions),
    ("private_array", private_array),
    ("generic_pointers", generic_pointers),
    ("calls", |a, b| {
        let (x, r) = (a ^ b >> 3, a.wrapping_mul(b));
        let (again, last) = (r ^ x >> 3, r.wrapping_mul(x));
        let fibonacci = [0, 1, 1, 2, 3, 5, 8, 13, 21][a as usize % 9];
        Some(x.wrapping_add(again).wrapping_add(last).wrapping_add(fibonacci))
    }),
    ("switches", switches),
    ("bits", bits),
    ("wide_math", |a, b| {
        let x = (u64::from(a) * u64::from(b)).wrapping_add(u64::from(a));
        let y = i64::from(a as i32) * i64::from(b as i32);
        let z = x.wrapping_mul(y as u64).wrapping_sub(x >> 3);
        let mixed = x as u32 ^ high(x) ^ high(y as u64).wrapping_mul(3) ^ z as u32 ^ high(z);
        Some(mixed ^ u32::from(z < x) ^ u32::from((z as i64) < y) << 1)
    }),
    ("float_bits", float_bits),
    ("dispatch", |_, _| Some(ITEMS as u32 * 3 + 64 * 5 + 64 * 7 + ITEMS as u32 * 11)),
];

fn wide(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn high(value: u64) -> u32 {
    (value >> 32) as u32
}

fn number(bits: u32) -> Option<u32> {
    (!f32::from_bits(bits).is_nan()).then_some(bits)
}

fn fold(value: f64) -> Option<u32> {
    (!value.is_nan()).then_some(value.to_bits() as u32 ^ high(value.to_bits()))
}

fn bytes(a: u32, b: u32) -> Option<u32> {
    let (x, y) = (a.to_le_bytes(), b.to_le_bytes());
    let mut z: [u8; 4] = std::array::from_fn(|at| x[at].wrapping_mul(y[at]).wrapping_add(at as u8 + 1));
    z[0] = z[0].wrapping_add((x[1] as i8 >> 2) as u8);
    z[3] ^= y[0];
    Some(u32::from_le_bytes(z))
}

fn shorts(a: u32, b: u32) -> Option<u32> {
    let half = |value: u32, at: u32| (value >> (16 * at)) as u16;
    let z = |at: u32| {
        let low = (half(a, at) as i16).min(half(b, at) as i16);
        half(a, at).wrapping_mul(half(b, at)).wrapping_add(low as u16)
    };
    let shifted = i32::from(a as i16) >> (b >> 16 & 15);
    Some((u32::from(z(0)) | u32::from(z(1)) << 16) ^ shifted as u32)
}

fn halves(a: u32, b: u32) -> Option<u32> {
    let half = |value: u32, at: u32| f32::from(f16::from_bits((value >> (16 * at)) as u16 & 0x3fff));
    let z =
        |at: u32| f16::from_f32(f32::from(f16::from_f32(half(a, at) * half(b, at))) - half(a, at)).to_bits();
    let w = f16::from_f32(half(a, 0) * 3.0).to_bits();
    Some((u32::from(z(0)) | u32::from(z(1)) << 16) ^ u32::from(w) ^ half(b, 1) as u32)
}

fn conversions(a: u32, b: u32) -> Option<u32> {
    let d = f64::from(a as i32) / 16.0;
    let l = (b as f32 * 8.0) as i64;
    let bits = |value: f32, factor: u32| value.to_bits().wrapping_mul(factor);
    let ints =
        (d as i32 as u32).wrapping_mul(5) ^ (l as u32).wrapping_mul(7) ^ high(l as u64).wrapping_mul(9);
    let long = (u64::from(a) << 20 | u64::from(b)) as f32;
    Some(bits(a as i32 as f32, 1) ^ bits(b as f32, 3) ^ ints ^ bits(long, 11) ^ bits(d as f32, 13))
}

fn private_array(a: u32, b: u32) -> Option<u32> {
    let mut t = [0u32; 16];
    for k in 0..16 {
        t[(k * 7u32).wrapping_add(a) as usize & 15] = b.wrapping_add(k.wrapping_mul(a));
    }
    Some((0..8).fold(0u32, |s, k| s.wrapping_mul(31).wrapping_add(t[s.wrapping_add(k) as usize & 15])))
}

fn generic_pointers(a: u32, b: u32) -> Option<u32> {
    let mut shared = a.wrapping_mul(3);
    let mut private = [a, b, a ^ b, a.wrapping_add(b)][b as usize & 3];
    let mut global = BEFORE;
    let target = match a & 3 {
        1 | 3 => &mut shared,
        2 => &mut private,
        _ => &mut global,
    };
    *target = target.wrapping_add(5);
    let seen = *target;
    Some(shared ^ private ^ seen)
}

fn switches(a: u32, mut b: u32) -> Option<u32> {
    match a & 7 {
        0 => b = b.wrapping_add(11),
        1 => b ^= a,
        2 => b = b.wrapping_mul(5).wrapping_sub(a),
        3 => b = b.wrapping_sub(a),
        4 => (0..a >> 8 & 7).for_each(|k| b = b.wrapping_mul(3).wrapping_add(k)),
        6 if b & 1 != 0 => return Some(BEFORE),
        6 => b = !b,
        _ => b = b.rotate_left(3),
    }
    Some(b)
}

fn bits(a: u32, b: u32) -> Option<u32> {
    let w = wide(a, b);
    let counts = a.count_ones() ^ w.count_ones() << 3 ^ (a | 1).leading_zeros() << 6;
    let counts = counts ^ (b | 0x8000_0000).trailing_zeros() << 12;
    Some(
        counts
            ^ b.reverse_bits()
            ^ a.rotate_left(b & 31)
            ^ (w >> (a & 63)) as u32
            ^ (w as i64 >> (b & 63)) as u32,
    )
}

fn float_bits(a: u32, b: u32) -> Option<u32> {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    if x.is_nan() || y.is_nan() {
        return None;
    }
    let relations =
        u32::from(x < y) | u32::from(x >= y) << 1 | u32::from(x != y) << 2 | u32::from(y.is_infinite()) << 4;
    let floor = (x * f32::from_bits((127 - 60) << 23)).floor();
    let values =
        floor.to_bits() ^ y.trunc().to_bits() ^ x.copysign(y).to_bits() ^ x.round_ties_even().to_bits();
    Some(relations ^ values)
}

fn compile(options: &[&str]) -> Option<Vec<u8>> {
    if !support::is_there(CLANG) {
        eprintln!("left out: {CLANG} is not installed, so its code for rarer features is not run");
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cl/features.cl");
    let folder = Folder::new("features");
    let out = folder.join("features.co");
    let status = Tool::new(CLANG)
        .args(["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-cl-std=CL2.0", "-ffp-contract=off"])
        .args(["-cl-fp32-correctly-rounded-divide-sqrt", "-Xclang", "-finclude-default-header"])
        .args(options)
        .arg(source)
        .arg("-o")
        .arg(&out)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "{CLANG} failed");
    Some(std::fs::read(&out).expect("clang has written the object"))
}

/// Random words, every fourth one with a special exponent.
fn inputs() -> Vec<u32> {
    let mut rng = Rng::new(11);
    let special = [
        0x0000_0000,
        0x7f80_0000,
        0x0000_7fff,
        0x0080_0001,
        0x3f80_0000,
        0x7f00_0000,
        0x0012_3456,
        0x4000_0000,
    ];
    let word =
        |at: usize| if at % 4 == 3 { special[at / 4 % 8] | rng.bits() & 0x8000_0000 } else { rng.bits() };
    (0..2 * ITEMS).map(word).collect()
}

fn run(object: &[u8], kernel: &str, input: &[u32]) -> Result<Vec<u32>, String> {
    let object = CodeObject::load(object).map_err(|error| error.to_string())?;
    let mut device = Device::new();
    let module = device.load(&object).map_err(|fault| fault.to_string())?;
    let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    // 64 words more, which start at zero: sums of the atomics.
    let mut output: Vec<u8> = BEFORE.to_le_bytes().repeat(ITEMS);
    output.resize(output.len() + 256, 0);
    let place = |device: &mut Device, bytes: &[u8]| {
        let address = device.alloc(bytes.len() as u64)?;
        device.write(address, bytes).map(|()| address)
    };
    let from = place(&mut device, &bytes).map_err(|fault| fault.to_string())?;
    let to = place(&mut device, &output).map_err(|fault| fault.to_string())?;
    let mut kernarg = Vec::new();
    kernarg.extend(from.to_le_bytes());
    kernarg.extend(to.to_le_bytes());
    kernarg.extend((ITEMS as u32).to_le_bytes());
    let limits = Limits { instructions: 100_000_000, stack: 4096 };
    let dispatch = Dispatch {
        kernel,
        grid: [ITEMS as u32, 1, 1],
        group: [64, 1, 1],
        kernarg,
        dynamic_lds: 0,
        limits,
        ..Dispatch::default()
    };
    device.run(module, &dispatch).map_err(|fault| fault.to_string())?;
    device.read(to, &mut output).map_err(|fault| fault.to_string())?;
    Ok(output.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Compares all items; the message names the first wrong one.
fn compare(
    kernel: &str,
    input: &[u32],
    got: &[u32],
    expected: impl Fn(usize) -> Option<u32>,
) -> Result<(), String> {
    for item in 0..ITEMS {
        let Some(expected) = expected(item) else { continue };
        if got[item] != expected {
            let (a, b) = (input[2 * item], input[2 * item + 1]);
            return Err(format!(
                "{kernel}({a:#x}, {b:#x}) of item {item} is {:#x}, expected {expected:#x}",
                got[item]
            ));
        }
    }
    Ok(())
}

fn check_all(options: &[&str]) {
    let Some(object) = compile(options) else { return };
    let input = inputs();
    let mut failures = Vec::new();
    for (kernel, reference) in KERNELS {
        let got = run(&object, kernel, &input);
        let expected = |item: usize| reference(input[2 * item], input[2 * item + 1]);
        failures.extend(got.and_then(|got| compare(kernel, &input, &got, expected)).err());
    }
    let got = run(&object, "across_lanes", &input);
    failures.extend(
        got.and_then(|got| compare("across_lanes", &input, &got, |item| across_lanes(&input, item))).err(),
    );
    failures.extend(run(&object, "atomics", &input).and_then(|got| check_atomics(&input, &got)).err());
    assert!(failures.is_empty(), "{options:?}\n{}", failures.join("\n"));
}

fn across_lanes(input: &[u32], item: usize) -> Option<u32> {
    let (wave, lane) = (item & !63, item & 63);
    let (a, b) = (|lane: usize| input[2 * (wave + lane)], |lane: usize| input[2 * (wave + lane) + 1]);
    // A row has no lane to the left of its first.
    let shifted = if lane % 16 == 0 { 0 } else { b(lane - 1) };
    let swizzled = a(lane & !3 | [3, 3, 1, 0][lane & 3]);
    Some((a(lane ^ 5).wrapping_add(shifted) ^ b(0)).wrapping_add(swizzled))
}

fn check_atomics(input: &[u32], got: &[u32]) -> Result<(), String> {
    let mut sums = [0u64; 32];
    let mut expected = Vec::new();
    for item in 0..ITEMS {
        let (a, b) = (input[2 * item], input[2 * item + 1]);
        let larger = a.max(b);
        let flipped = larger ^ 0x55;
        let (value, seen) = if flipped == b { (77, b) } else { (flipped, flipped) };
        expected.push(Some(value.wrapping_sub(a ^ larger ^ seen)));
        sums[item & 31] = sums[item & 31].wrapping_add(u64::from(a) << 8);
    }
    compare("atomics", input, got, |item| expected[item])?;
    let got_sums: Vec<u64> =
        got[ITEMS..].as_chunks::<2>().0.iter().map(|[low, high]| wide(*high, *low)).collect();
    if got_sums == sums { Ok(()) } else { Err("64-bit atomics lost a sum".into()) }
}

#[test]
fn optimised() {
    check_all(&["-O3", "-mcpu=gfx906"]);
}

#[test]
fn not_optimised() {
    check_all(&["-O0", "-mcpu=gfx906"]);
}

#[test]
fn other_processor() {
    check_all(&["-O2", "-mcpu=gfx900"]);
}
