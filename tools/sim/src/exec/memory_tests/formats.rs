//! Tests of typed loads and stores. The tests select formats by their names, and compute the expected numbers
//! by the formulas of the manuals.

use super::machine::Machine;
use half::f16;

const DATA: [&str; 14] = [
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
];
const NUMBERS: [&str; 7] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"];

/// Returns whether the manuals list a format. They list floats of 32, 16, 11 and 10 bits, and integers of any
/// size. All other number types are listed only for components below 32 bits.
fn exists(data: &str, number: &str) -> bool {
    let widths: Vec<u32> = widths(data);
    match number {
        "FLOAT" => widths.iter().all(|width| [10, 11, 16, 32].contains(width)),
        "UINT" | "SINT" => true,
        _ => widths.iter().all(|&width| width < 32),
    }
}

/// Returns the sizes of the components in bits, lowest component first. The name of a format begins with the
/// highest component.
fn widths(data: &str) -> Vec<u32> {
    data.split('_').rev().map(|width| width.parse().expect("a number")).collect()
}

/// Decodes a small unsigned float with five exponent bits.
fn small_float(raw: u32, fraction: u32) -> f64 {
    let (exponent, rest) = (raw >> fraction, f64::from(raw & ((1 << fraction) - 1)));
    let unit = 2f64.powi(-(fraction as i32));
    match exponent {
        0 => rest * unit * 2f64.powi(-14),
        31 if rest == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + rest * unit) * 2f64.powi(exponent as i32 - 15),
    }
}

/// Returns the expected register value of a component.
fn expected(number: &str, raw: u32, width: u32) -> u32 {
    let most = 2f64.powi(width as i32) - 1.0;
    let half = 2f64.powi(width as i32 - 1);
    let signed = if f64::from(raw) >= half { f64::from(raw) - 2.0 * half } else { f64::from(raw) };
    let float = |value: f64| (value as f32).to_bits();
    match number {
        "UNORM" => float(f64::from(raw) / most),
        "SNORM" => float((signed / (half - 1.0)).max(-1.0)),
        "USCALED" => float(raw.into()),
        "SSCALED" => float(signed),
        "UINT" => raw,
        "SINT" => signed as i64 as u32,
        _ => match width {
            32 => raw,
            16 => float(f16::from_bits(raw as u16).into()),
            _ => float(small_float(raw, width - 5)),
        },
    }
}

/// Returns a machine with a resource in `s[8:11]` for the machine's buffer of 4096 bytes. Lane `l` uses the
/// 16 bytes at `16 l`.
fn machine(processor: &str) -> Machine {
    let mut machine = Machine::new(processor);
    let base = machine.buffer;
    // On GFX10, these bits are OOB_SELECT 3. On other generations, they are a memory type or reserved.
    machine.s64(8, base).s64(10, 4096 | (3 << 28) << 32).v(0, |lane| lane as u32 * 16);
    machine
}

/// Returns test data with different bytes, including extreme values.
fn pattern(lane: usize, word: usize) -> u32 {
    match lane {
        0 => 0,
        1 => !0,
        2 => 0x8000_8080,
        3 => 0x7fff_7f7f,
        _ => ((lane * 4 + word) as u32).wrapping_mul(0x9e37_79b9),
    }
}

fn check_loads(processor: &str, format: &str, data: &str, number: &str) {
    let mut machine = machine(processor);
    for lane in 0..64 {
        let words: Vec<u32> = (0..4).map(|word| pattern(lane, word)).collect();
        machine.fill(lane as u64 * 16, &words);
    }
    machine.run(&format!("tbuffer_load_format_xyzw v[4:7], v0, s[8:11], 0 format:{format} offen"));
    for lane in 0..64 {
        let element = (0..4).fold(0u128, |all, word| all | u128::from(pattern(lane, word)) << (32 * word));
        let mut shift = 0;
        let one = if ["UINT", "SINT"].contains(&number) { 1 } else { 1f32.to_bits() };
        let mut wanted = [0, 0, 0, one];
        for (component, width) in widths(data).into_iter().enumerate() {
            let raw = (element >> shift) as u32 & (u64::MAX >> (64 - width)) as u32;
            wanted[component] = expected(number, raw, width);
            shift += width;
        }
        for (component, wanted) in wanted.into_iter().enumerate() {
            let got = machine.wave.vgpr[4 + component][lane];
            let nan = |bits: u32| number == "FLOAT" && f32::from_bits(bits).is_nan();
            assert!(
                got == wanted || nan(got) && nan(wanted),
                "{processor} {format}, lane {lane}, component {component}: {got:#x}, expected {wanted:#x}"
            );
        }
    }
}

/// Loads an element, stores it, loads it again, and checks that both loads give the same value.
fn check_round_trip(processor: &str, format: &str, number: &str) {
    let mut machine = machine(processor);
    for lane in 0..64 {
        let words: Vec<u32> = (0..4).map(|word| pattern(lane, word)).collect();
        machine.fill(lane as u64 * 16, &words);
    }
    let access = |what: &str, first: u32, offset: u32| {
        let last = first + 3;
        format!(
            "tbuffer_{what}_format_xyzw v[{first}:{last}], v0, s[8:11], 0 format:{format} offen offset:{offset}\n"
        )
    };
    machine.run(&(access("load", 4, 0) + &access("store", 4, 1024) + &access("load", 8, 1024)));
    for lane in 0..64 {
        for register in 4..8 {
            let [before, after] = [register, register + 4].map(|register| machine.wave.vgpr[register][lane]);
            let nan = |bits: u32| number == "FLOAT" && f32::from_bits(bits).is_nan();
            let same = before == after || nan(before) && nan(after);
            assert!(same, "{processor} {format}, lane {lane}, v{register}: {before:#x}, then {after:#x}");
        }
    }
}

#[test]
fn formats_of_the_instruction() {
    for data in DATA {
        for number in NUMBERS.into_iter().filter(|number| exists(data, number)) {
            let split = format!("[BUF_DATA_FORMAT_{data},BUF_NUM_FORMAT_{number}]");
            for processor in ["gfx600", "gfx700", "gfx803", "gfx906"] {
                check_loads(processor, &split, data, number);
            }
            check_round_trip("gfx900", &split, number);
            // GFX10 has names only for some combinations of data format and number format, but for all that
            // exist on the other generations.
            let unified = format!("[BUF_FMT_{data}_{number}]");
            check_loads("gfx1010", &unified, data, number);
            check_round_trip("gfx1030", &unified, number);
        }
    }
}

#[test]
fn stores_saturate_and_round() {
    let store = |format: &str, value: u32| {
        let mut machine = machine("gfx906");
        machine.v(4, |_| value).exec(1);
        machine.run(&format!("tbuffer_store_format_x v4, v0, s[8:11], 0 format:{format} offen"));
        machine.word(0)
    };
    let f = |value: f32| value.to_bits();
    let unorm8 = "[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM]";
    assert_eq!(store(unorm8, f(2.0)), 255);
    assert_eq!(store(unorm8, f(-1.0)), 0);
    assert_eq!(store(unorm8, f(f32::NAN)), 0);
    assert_eq!(store(unorm8, f(0.5)), 128, "127.5 goes to the even neighbour");
    let snorm16 = "[BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_SNORM]";
    assert_eq!(store(snorm16, f(-2.0)), 0x8001);
    assert_eq!(store(snorm16, f(1.0)), 0x7fff);
    assert_eq!(store("[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_USCALED]", f(300.0)), 255);
    assert_eq!(store("[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_SSCALED]", f(-300.0)), 0x80);
    assert_eq!(store("[BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_FLOAT]", f(1.5)), 0x3e00);
    let small = "[BUF_DATA_FORMAT_10_11_11,BUF_NUM_FORMAT_FLOAT]";
    assert_eq!(store(small, f(1.0)), 15 << 6);
    assert_eq!(store(small, f(-1.0)), 0, "there is no sign");
    assert_eq!(store(small, f(1e9)), (31 << 6) - 1, "the largest finite number");
    assert_eq!(store(small, f(f32::INFINITY)), 31 << 6);
    assert_eq!(store(small, f(2f32.powi(-20))), 1, "the smallest number");
}

/// Returns a buffer resource that contains a format: data format 8_8_8_8, number format UNORM, and the given
/// `dst_sel`.
fn own_format(select: [u64; 4]) -> u64 {
    let select = select.into_iter().rev().fold(0, |all, one| all << 3 | one);
    4096 | (select | 10 << 15) << 32
}

#[test]
fn formats_of_the_resource() {
    let mut machine = machine("gfx906");
    machine.s64(10, own_format([6, 5, 4, 1])).fill(0, &[0xff80_4020]).exec(1);
    machine.run("buffer_load_format_xyzw v[4:7], v0, s[8:11], 0 offen");
    let got: Vec<f32> = (4..8).map(|at| f32::from_bits(machine.wave.vgpr[at][0])).collect();
    assert_eq!(got, [128.0 / 255.0, 64.0 / 255.0, 32.0 / 255.0, 1.0], "blue and red change places");
    machine.run("buffer_store_format_xyz v[4:6], v0, s[8:11], 0 offen offset:8");
    assert_eq!(machine.word(8), 0x0080_4020);
    machine.run("buffer_load_format_x v4, v0, s[8:11], 0 offen offset:4095");
    assert_eq!(machine.wave.vgpr[4][0], 0, "out of range as a whole");
}

#[test]
fn halves() {
    let half = |value: f32| u32::from(f16::from_f32(value).to_bits());
    let [first, second, third] = [1.0, 128.0 / 255.0, 64.0 / 255.0].map(half);
    let run = |processor: &str, text: &str| {
        let mut machine = machine(processor);
        machine.s64(10, own_format([4, 5, 6, 7])).fill(0, &[0x0040_80ff]).exec(1);
        for register in 4..8 {
            machine.v(register, |_| 0xaaaa_aaaa);
        }
        machine.run(text);
        std::array::from_fn::<u32, 4, _>(|at| machine.wave.vgpr[4 + at][0])
    };
    const OLD: u32 = 0xaaaa_aaaa;
    let packed = "buffer_load_format_d16_xyz v[4:5], v0, s[8:11], 0 offen";
    assert_eq!(run("gfx906", packed), [first | second << 16, 0xaaaa_0000 | third, OLD, OLD]);
    assert_eq!(run("gfx810", packed), [first | second << 16, third, OLD, OLD]);
    let unpacked = "buffer_load_format_d16_xyz v[4:6], v0, s[8:11], 0 offen";
    assert_eq!(run("gfx803", unpacked), [first, second, third, OLD]);
    let high = "buffer_load_format_d16_hi_x v4, v0, s[8:11], 0 offen";
    assert_eq!(run("gfx906", high), [first << 16 | 0xaaaa, OLD, OLD, OLD]);
    let back = format!("{packed}\nbuffer_store_format_d16_xyz v[4:5], v0, s[8:11], 0 offen");
    assert_eq!(run("gfx906", &format!("{back}\nbuffer_load_dword v4, off, s[8:11], 0"))[0], 0x0040_80ff);
}
