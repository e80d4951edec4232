//! Random kernel descriptors on every processor, beside LLVM: the same blocks are taken, and they give the
//! same bytes. `KERNC_DESCRIPTORS=1000` sets how many blocks each processor gets.

use crate::common::{options, section, tool};
use std::fmt::Write;
use std::path::Path;
use support::Random;

/// Directives and the number of bits of what they take, as the guide and LLVM name them; those of later
/// processors too, which all of ours must refuse.
const DIRECTIVES: [(&str, u32); 46] = [
    ("group_segment_fixed_size", 32),
    ("private_segment_fixed_size", 32),
    ("kernarg_size", 32),
    ("user_sgpr_count", 4),
    ("user_sgpr_private_segment_buffer", 1),
    ("user_sgpr_dispatch_ptr", 1),
    ("user_sgpr_queue_ptr", 1),
    ("user_sgpr_kernarg_segment_ptr", 1),
    ("user_sgpr_dispatch_id", 1),
    ("user_sgpr_flat_scratch_init", 1),
    ("user_sgpr_private_segment_size", 1),
    ("user_sgpr_kernarg_preload_length", 3),
    ("user_sgpr_kernarg_preload_offset", 3),
    ("wavefront_size32", 1),
    ("uses_dynamic_stack", 1),
    ("enable_private_segment", 1),
    ("system_sgpr_private_segment_wavefront_offset", 1),
    ("system_sgpr_workgroup_id_x", 1),
    ("system_sgpr_workgroup_id_y", 1),
    ("system_sgpr_workgroup_id_z", 1),
    ("system_sgpr_workgroup_info", 1),
    ("system_vgpr_workitem_id", 2),
    ("reserve_vcc", 1),
    ("reserve_flat_scratch", 1),
    ("reserve_xnack_mask", 1),
    ("float_round_mode_32", 2),
    ("float_round_mode_16_64", 2),
    ("float_denorm_mode_32", 2),
    ("float_denorm_mode_16_64", 2),
    ("dx10_clamp", 1),
    ("ieee_mode", 1),
    ("fp16_overflow", 1),
    ("tg_split", 1),
    ("workgroup_processor_mode", 1),
    ("memory_ordered", 1),
    ("forward_progress", 1),
    ("shared_vgpr_count", 4),
    ("inst_pref_size", 4),
    ("round_robin_scheduling", 1),
    ("exception_fp_ieee_invalid_op", 1),
    ("exception_fp_denorm_src", 1),
    ("exception_fp_ieee_div_zero", 1),
    ("exception_fp_ieee_overflow", 1),
    ("exception_fp_ieee_underflow", 1),
    ("exception_fp_ieee_inexact", 1),
    ("exception_int_div_zero", 1),
];

/// Those that not every processor has: often asked for, they would leave few valid blocks.
const RARE: [&str; 15] = [
    "user_sgpr_kernarg_preload_length",
    "user_sgpr_kernarg_preload_offset",
    "enable_private_segment",
    "inst_pref_size",
    "round_robin_scheduling",
    "reserve_flat_scratch",
    "reserve_xnack_mask",
    "fp16_overflow",
    "tg_split",
    "wavefront_size32",
    "workgroup_processor_mode",
    "memory_ordered",
    "forward_progress",
    "shared_vgpr_count",
    "user_sgpr_count",
];

/// A block of random directives.
fn block(rng: &mut Random, name: &str, is_90a: bool, xnack: bool) -> String {
    let mut text = format!(".amdhsa_kernel {name}\n");
    // Some blocks have hardly any directive, some most of them.
    let one_in = 2 + rng.below(40);
    for (directive, bits) in DIRECTIVES {
        let rare = if RARE.contains(&directive) { 4 } else { 1 };
        if !rng.one_in(one_in * rare) {
            continue;
        }
        let over = u64::from(rng.one_in(100));
        let value = match directive {
            // LLVM insists on what the target id says; we do not, for the sake of older sources.
            "reserve_xnack_mask" => u64::from(xnack),
            _ => (rng.bits() & ((1 << bits) - 1)) + (over << bits),
        };
        let _ = writeln!(text, ".amdhsa_{directive} {value}");
    }
    let limit = if rng.one_in(10) { 600 } else { 257 };
    let vgprs = rng.below(limit);
    if !rng.one_in(50) {
        let _ = writeln!(text, ".amdhsa_next_free_vgpr {vgprs}");
    }
    if !rng.one_in(50) {
        let _ = writeln!(text, ".amdhsa_next_free_sgpr {}", rng.below(110));
    }
    if is_90a != rng.one_in(20) {
        let _ = writeln!(
            text,
            ".amdhsa_accum_offset {}",
            4 * (rng.below(vgprs / 4 + 2)) + usize::from(rng.one_in(20))
        );
    }
    text.push_str(".end_amdhsa_kernel\n");
    text
}

/// The blocks, each with its kernel, and the first line (from 1) of each.
fn source(blocks: &[&str]) -> (String, Vec<usize>) {
    let (mut text, mut starts) = (String::from(".rodata\n.p2align 6\n"), Vec::new());
    for block in blocks {
        starts.push(text.lines().count() + 1);
        text.push_str(block);
    }
    text.push_str(".text\n");
    for name in blocks.iter().filter_map(|block| block.split_whitespace().nth(1)) {
        let _ = writeln!(text, ".globl {name}\n{name}: s_endpgm");
    }
    (text, starts)
}

/// What LLVM says about each block.
fn complaints(mc: &Path, args: &[&str], blocks: &[&str]) -> Vec<Option<String>> {
    let (text, starts) = source(blocks);
    let mut found = vec![None; blocks.len()];
    let Err(errors) = crate::common::llvm_mc(mc, args, &text) else { return found };
    for line in errors.lines().filter(|line| line.contains("error:")) {
        let number = line.strip_prefix("<stdin>:").and_then(|line| line.split(':').next()?.parse().ok());
        let number: usize = number.unwrap_or_else(|| panic!("{line}"));
        let block = starts.partition_point(|&start| start <= number) - 1;
        found[block].get_or_insert_with(|| line.to_owned());
    }
    assert!(found.iter().any(Option::is_some), "{errors}");
    found
}

/// Target features that a processor's code may be for.
fn features(target: &isa::Target, rng: &mut Random) -> (Option<bool>, Vec<String>) {
    if !target.has(isa::Feature::XNACK) || rng.one_in(3) {
        return (None, Vec::new());
    }
    let on = rng.one_in(2);
    (Some(on), vec![format!("-mattr={}xnack", if on { '+' } else { '-' })])
}

#[test]
fn random_descriptors() {
    const BLOCKS: usize = 25;
    let Some(mc) = tool("llvm-mc-19", "random_descriptors") else { return };
    let count = std::env::var("KERNC_DESCRIPTORS").map_or(BLOCKS, |count| count.parse().expect("a number"));
    let (mut same, mut refused, mut wrong) = (0, 0, Vec::new());
    for (n, target) in isa::target::PROCESSORS.iter().enumerate() {
        for round in 0..count.div_ceil(BLOCKS) {
            let mut rng = Random::new((n * 1_000_000 + round + 1) as u64);
            let (xnack, mut args) = features(target, &mut rng);
            args.push(format!("-mcpu={}", target.name));
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let options = asm::Options { xnack, version: Some(5), ..options(target.name) };
            let mask = target.has(isa::Feature::XNACK) && xnack != Some(false);
            let blocks: Vec<String> = (0..BLOCKS)
                .map(|k| block(&mut rng, &format!("k{k}"), target.has(isa::Feature::UNIFIED_VGPRS), mask))
                .collect();
            let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
            let mut taken = Vec::new();
            for (block, theirs) in blocks.iter().zip(complaints(&mc, &args, &blocks)) {
                match (asm::assemble(&source(&[block]).0, &options), theirs) {
                    (Ok(_), None) => taken.push(*block),
                    (Err(_), Some(_)) => refused += 1,
                    (ours, theirs) => {
                        let ours = ours.map(|_| "taken").map_err(|list| list[0].message.clone());
                        wrong.push(format!("{}: {ours:?} by us, {theirs:?}\n{block}", target.name));
                    }
                }
            }
            let text = source(&taken).0;
            let theirs = crate::common::llvm_mc(&mc, &args, &text).expect("LLVM took each");
            let ours = crate::common::assemble(&text, &options);
            let (ours, theirs) = (section(&ours, ".rodata"), section(&theirs, ".rodata"));
            assert_eq!(ours.len(), theirs.len());
            for (block, (ours, theirs)) in taken.iter().zip(ours.chunks(64).zip(theirs.chunks(64))) {
                same += usize::from(ours == theirs);
                if ours != theirs {
                    wrong.push(format!("{}: {ours:02x?} instead of {theirs:02x?}\n{block}", target.name));
                }
            }
        }
    }
    println!("{same} descriptors are the same, {refused} blocks refused by both, {} differ", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(5)].join("\n"));
    assert!(same > refused / 4, "too few valid blocks");
}
