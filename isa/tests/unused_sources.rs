//! Fields of sources that an instruction does not have.

use isa::{Decoder, MachInst, Target};

fn text_of(target: &Target, inst: &MachInst) -> String {
    let mut text = String::new();
    isa::write_inst(target, inst, None, &mut text);
    text
}

/// AMD's compilers for GFX6 wrote the constant 0 as the third source of instructions with two sources.
#[test]
fn the_constant_zero_as_third_source() {
    // `v_mul_lo_i32 v6, v5, s4` and `v_add_f64 v[98:99], v[96:97], 2.0`, each with 128 in the field SRC2.
    for (words, text) in [
        ([0xd2d6_0006, 0x0200_0905], "v_mul_lo_i32 v6, v5, s4"),
        ([0xd2c8_0062, 0x0201_e960], "v_add_f64 v[98:99], v[96:97], 2.0"),
    ] {
        for name in ["gfx600", "gfx700"] {
            let target = Target::by_name(name).expect("a processor");
            let decoder = Decoder::new(target).expect("a decoder");
            assert!(decoder.decode(&words).is_err(), "{name}: an assembler does not write this");
            let (inst, len) = decoder.decode_tolerant(&words).expect("hardware ignores the field");
            assert_eq!((text_of(target, &inst).as_str(), len), (text, 2), "{name}");
            // Without the constant, the words are those of an assembler.
            let (whole, _) = decoder.decode(&[words[0], words[1] & 0x3ffff]).expect("an instruction");
            assert_eq!(inst, whole);
        }
    }
    // An instruction with three sources reads the field.
    let decoder = Decoder::new(Target::by_name("gfx600").expect("a processor")).expect("a decoder");
    let (inst, _) = decoder.decode_tolerant(&[0xd282_0006, 0x0200_0905]).expect("v_mad_f32");
    assert_eq!(text_of(decoder.target(), &inst), "v_mad_f32 v6, v5, s4, 0");
}
