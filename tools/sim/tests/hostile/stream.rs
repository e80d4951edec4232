//! Random instructions of a processor, as a program that gives registers sensible values first.

use crate::hostile::instructions::random::{self, Rng as Source};
use isa::encode::encode;
use isa::target::PROCESSORS;
use isa::{DescriptorFields, Feature, Target};
use std::fmt::Write;
use testkit::Rng;

/// Instructions of a random program, at most.
const LENGTH: u32 = 40;

/// A program for one processor after the other, as an object.
pub fn program(number: u64, rng: &mut Rng) -> (&'static Target, Vec<u8>) {
    let target = &PROCESSORS[number as usize % PROCESSORS.len()];
    let wave64 = !target.has(Feature::WAVE32) || rng.below(2) == 0;
    let target = target.with_wave_size(if wave64 { 64 } else { 32 }).unwrap_or(target);
    let count = 1 + rng.below(LENGTH);
    let words = random_words(target, rng, count);
    let options = asm::Options { target: Some(target), wave64, ..asm::Options::default() };
    let source = source(target, &words, rng);
    let bytes = asm::assemble(&source, &options);
    (target, bytes.unwrap_or_else(|why| panic!("{}: {why:?}\n{source}", target.name)))
}

/// Words of instructions that the encoder takes.
pub fn random_words(target: &'static Target, rng: &mut Rng, count: u32) -> Vec<u32> {
    let mut source = Source::new(u64::from(rng.bits()) << 32 | u64::from(rng.bits()));
    let forms: Vec<_> = random::all_forms(target).collect();
    let mut words = Vec::new();
    for _ in 0..count {
        let choose = |rng: &mut Rng| forms[rng.below(forms.len() as u32) as usize];
        let (mut op, mut form) = choose(rng);
        // Most accesses to memory fail, and end the program.
        if !(op.row().is_valu() || op.row().is_salu()) && rng.below(4) != 0 {
            (op, form) = choose(rng);
        }
        let inst = random::inst(&mut source, target, op, form);
        let start = words.len();
        if encode(target, &inst, &mut words).is_err() {
            words.truncate(start);
        }
        // Branches that stay near.
        if let [word] = &mut words[start..]
            && *word >> 23 == 0x17f
            && (2..=9).contains(&(*word >> 16 & 0x7f))
        {
            *word = *word & 0xffff_0000 | (rng.below(24).wrapping_sub(10) & 0xffff);
        }
    }
    words
}

/// An object's source: a kernel with every register there is, LDS and scratch. Its arguments are four
/// addresses.
pub fn source(target: &'static Target, words: &[u32], rng: &mut Rng) -> String {
    let mut text = String::from(".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n");
    let mut line = |words: &str| writeln!(text, "  {words}").unwrap_or_default();
    // Addresses in pairs of scalar and vector registers, a buffer of all memory, random numbers elsewhere.
    line("s_load_dwordx8 s[16:23], s[4:5], 0x0");
    line("s_waitcnt lgkmcnt(0)");
    line(&format!("s_mov_b32 m0, {:#x}", if rng.below(2) == 0 { 0xffff_ffff } else { rng.bits() }));
    for register in [0, 2, 6, 8, 10, 12, 24, 28, 32, 40] {
        line(&format!("s_mov_b32 s{register}, s{}", 16 + 2 * rng.below(4)));
        line(&format!("s_mov_b32 s{}, s{}", register + 1, 17 + 2 * rng.below(4)));
    }
    for register in
        [(10, 0xffff_f000u32), (11, 0x0000_f000), (34, rng.bits()), (35, rng.bits()), (44, rng.bits())]
    {
        line(&format!("s_mov_b32 s{}, {:#x}", register.0, register.1));
    }
    for register in 1..24 {
        match rng.below(4) {
            0 => line(&format!("v_mov_b32 v{register}, s{}", 16 + rng.below(8))),
            1 => line(&format!("v_mov_b32 v{register}, v0")),
            2 => line(&format!("v_mov_b32 v{register}, {:#x}", rng.bits())),
            _ => line(&format!("v_mov_b32 v{register}, {:#x}", rng.below(4096) & !3)),
        }
    }
    for word in words {
        line(&format!(".long {word:#010x}"));
    }
    line("s_endpgm");
    line(".size k, .-k");
    descriptor(target, rng, &mut text);
    text
}

fn descriptor(target: &'static Target, rng: &mut Rng, text: &mut String) {
    // As many as every processor of the generation has, beside VCC and its like; sometimes too few.
    let sgprs = match target.version.0 {
        _ if rng.below(8) == 0 => 48,
        8 => 88,
        10 => 102,
        _ => 96,
    };
    let scratch = match DescriptorFields::SCRATCH_SETUP.has(target) {
        true => "user_sgpr_private_segment_buffer 1",
        false => "enable_private_segment 1",
    };
    let mut fields = vec![
        scratch.to_owned(),
        "user_sgpr_kernarg_segment_ptr 1".to_owned(),
        "system_sgpr_workgroup_id_x 1".to_owned(),
        "system_vgpr_workitem_id 2".to_owned(),
        format!("private_segment_fixed_size {}", if rng.below(16) == 0 { 70_000 } else { 16 * rng.below(5) }),
        format!("group_segment_fixed_size {}", if rng.below(16) == 0 { 65536 } else { 64 << rng.below(8) }),
        format!("next_free_vgpr {}", [24, 128, 256, 256, 256, 256][rng.below(6) as usize]),
        format!("next_free_sgpr {}", sgprs),
        "float_denorm_mode_32 3".to_owned(),
    ];
    if target.version.0 == 10 {
        fields.push(format!("wavefront_size32 {}", u8::from(target.wave_size == 32)));
    }
    if target.has(Feature::UNIFIED_VGPRS) {
        fields.push("accum_offset 24".to_owned());
    }
    text.push_str(".rodata\n.p2align 6\n.amdhsa_kernel k\n");
    for field in fields {
        let _ = writeln!(text, "  .amdhsa_{field}");
    }
    text.push_str(".end_amdhsa_kernel\n");
}
