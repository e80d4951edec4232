//! Jumps into tables: their paths are followed as far as the bound of the number says.

use crate::common::target;
use check::object::{Options, check};

/// A jump into a table of two entries, and the instruction that bounds the number; the second entry reads what is under way.
fn source(bound: &str) -> String {
    format!(
        "    .amdgcn_target \"amdgcn-amd-amdhsa--gfx906\"
    .text
    .globl k
    .p2align 8
    .type k,@function
k:
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_load_dwordx2 s[0:1], s[4:5], 0x0
    {bound}
    s_lshl2_add_u32 s2, s2, 12
    s_getpc_b64 s[8:9]
    s_add_u32 s8, s8, s2
    s_addc_u32 s9, s9, 0
    s_setpc_b64 s[8:9]
    s_branch .Lfirst
    s_branch .Lsecond
.Lsecond:
    s_mov_b32 s3, s1
.Lfirst:
    s_endpgm
    .size k, .-k
"
    )
}

/// What is found, and how many places are not known.
fn findings(bound: &str) -> (Vec<&'static str>, usize) {
    let options = asm::Options { target: Some(target("gfx906")), ..asm::Options::default() };
    let bytes = asm::assemble(&source(bound), &options).expect("it is right");
    let object = codeobj::CodeObject::parse(&bytes).expect("our own object");
    let report = check(&object, &Options::default()).expect("a known processor");
    (report.findings.iter().map(|located| located.finding.id()).collect(), report.notes.len())
}

#[test]
fn the_smaller_of_two_constants_bounds_the_number() {
    let followed = (vec!["read-in-flight"], 0);
    for bound in
        ["s_min_u32 s2, s6, 1", "s_min_u32 s2, 1, s6", "s_min_u32 s2, 0x60, 1", "s_min_u32 s2, 1, 0x60"]
    {
        assert_eq!(findings(bound), followed, "{bound}");
    }
}

#[test]
fn without_a_bound_a_jump_is_not_followed() {
    for bound in ["s_min_u32 s2, s6, s7", "s_max_u32 s2, 0x60, 1"] {
        assert_eq!(findings(bound), (vec![], 1), "{bound}");
    }
}
