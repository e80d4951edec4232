//! Every scalar register of every processor, named alone: which of them count as SGPRs, and the descriptors
//! that follow, as LLVM has them.

use crate::common::{options, section, tool};
use isa::target::PROCESSORS;
use isa::{Feature, Reg, RegRange, Target};
use std::fmt::Write;

/// The registers and pairs of registers that a scalar move can write.
fn destinations(target: &Target) -> Vec<RegRange> {
    let ranges = (0..128).flat_map(|code| [1, 2].map(|len| RegRange { first: Reg(code), len }));
    ranges.filter(|range| range.exists(target)).collect()
}

/// For each register the counters after it was named, as data, and the descriptor of a kernel that takes
/// them.
fn source(target: &Target) -> String {
    let mut text = ".rodata\n.p2align 6\n".to_owned();
    for (n, range) in destinations(target).into_iter().enumerate() {
        let mut name = String::new();
        isa::print::write_reg(target, range, &mut name).expect("text");
        let _ = writeln!(
            text,
            ".set .amdgcn.next_free_sgpr, 0\n.set .amdgcn.next_free_vgpr, 0\n.text\ns_mov_b{} {name}, 0\n.data\n\
             .long .amdgcn.next_free_sgpr, .amdgcn.next_free_vgpr\n.rodata",
            32 * range.len
        );
        // LLVM reserves four SGPRs for the FLAT_SCRATCH that GFX6 does not have; gfx802 has 96 in all.
        let end = u32::from(range.first.0) + u32::from(range.len);
        let few = match target.version.0 {
            6 => target.allocatable_sgprs(),
            _ if target.has(Feature::SGPR_INIT_BUG) => 96,
            _ => u32::MAX,
        };
        if target.is_sgpr(range.first) && end > few {
            continue;
        }
        let flat = if target.version.0 == 7 { ".amdhsa_reserve_flat_scratch 0\n" } else { "" };
        let accum = if target.has(Feature::UNIFIED_VGPRS) { ".amdhsa_accum_offset 4\n" } else { "" };
        let bug = if target.has(Feature::SGPR_INIT_BUG) { ".amdhsa_reserve_flat_scratch 0\n" } else { "" };
        let _ = writeln!(
            text,
            ".amdhsa_kernel k{n}\n.amdhsa_next_free_sgpr .amdgcn.next_free_sgpr\n.amdhsa_next_free_vgpr .amdgcn.next_free_vgpr\n\
             .amdhsa_reserve_vcc 0\n{flat}{bug}{accum}.end_amdhsa_kernel"
        );
    }
    text
}

#[test]
fn scalar_registers_count_as_in_llvm() {
    for (name, missing) in
        [("llvm-mc-19", &[][..]), ("llvm-mc-14", &["gfx940", "gfx941", "gfx942", "gfx1036"])]
    {
        let Some(mc) = tool(name, "scalar_registers_count_as_in_llvm") else { continue };
        for target in PROCESSORS.iter().filter(|target| !missing.contains(&target.name)) {
            let text = source(target);
            let theirs = crate::common::llvm_mc(&mc, &[&format!("-mcpu={}", target.name)], &text)
                .unwrap_or_else(|error| panic!("{} {name}: {error}", target.name));
            let ours = crate::common::assemble(&text, &options(target.name));
            for part in [".data", ".rodata"] {
                let (ours, theirs) = (section(&ours, part), section(&theirs, part));
                // LLVM 14 knows fewer defaults of descriptors: `compute_pgm_rsrc1` has the registers.
                let (unit, what) = if part == ".data" { (8, 0..8) } else { (64, 48..52) };
                let parts = |bytes: &[u8]| -> Vec<Vec<u8>> {
                    bytes.chunks(unit).map(|chunk| chunk[what.clone()].to_vec()).collect()
                };
                let at = parts(ours).iter().zip(&parts(theirs)).position(|(ours, theirs)| ours != theirs);
                assert!(at.is_none(), "{} {name}: {part} {at:?} of {:?}", target.name, destinations(target));
                assert_eq!(ours.len(), theirs.len());
            }
        }
    }
}

/// Without LLVM: the last SGPR of each processor counts, and what lies behind does not.
#[test]
fn the_last_sgprs_count() {
    let counted = |cpu: &str, register: &str| {
        let text = format!("s_mov_b32 {register}, 0\n.data\n.long .amdgcn.next_free_sgpr\n");
        u32::from(section(&crate::common::assemble(&text, &options(cpu)), ".data")[0])
    };
    for (cpu, last) in [
        ("gfx600", 103),
        ("gfx700", 103),
        ("gfx803", 101),
        ("gfx900", 101),
        ("gfx906", 101),
        ("gfx90a", 101),
        ("gfx1010", 105),
        ("gfx1030", 105),
    ] {
        assert_eq!(counted(cpu, &format!("s{last}")), last + 1, "{cpu}");
        assert_eq!(counted(cpu, "vcc_lo"), 0, "{cpu}");
        assert_eq!(counted(cpu, "ttmp11"), 0, "{cpu}");
    }
    assert_eq!(counted("gfx700", "flat_scratch_hi"), 0);
    assert_eq!(counted("gfx906", "flat_scratch_hi"), 0);
    assert_eq!(counted("gfx906", "xnack_mask_lo"), 0);
}
