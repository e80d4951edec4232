//! Damaged objects and archives: an error or a code object, never a panic. `KERNC_HOSTILE=N cargo test -p kernc-link --test link hostile::` for N
//! mutations of each case.

use link::{Kind, Options};
use support::Random;

/// Numbers that are at an end of something.
const ENDS: [u64; 14] =
    [0, 1, 2, 3, 0xff00, 0xfff1, 0xfff2, 0xffff, 1 << 20, 1 << 31, 1 << 40, 1 << 63, u64::MAX - 7, u64::MAX];

/// Changes some bytes: any, or a field of a header, a symbol or a relocation; sometimes the end goes.
fn damage(bytes: &mut Vec<u8>, rng: &mut Random) {
    for _ in 0..1 + rng.below(3) {
        let at = rng.below(bytes.len());
        match rng.below(8) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at] = rng.below(256) as u8,
            2 => bytes.truncate(at.max(64)),
            kind => {
                // The last part of an object is its headers, and tables stand before them.
                let at = if kind < 6 { bytes.len() - 1 - rng.below(bytes.len().min(1600)) } else { at } & !3;
                let size = [1, 2, 4, 8][rng.below(4)];
                let value = ENDS[rng.below(ENDS.len())].wrapping_add(rng.below(3) as u64);
                let end = (at + size).min(bytes.len());
                bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
            }
        }
    }
}

/// What is in no case of `tests/data`, as `ld.lld` does not take it.
const LDS: &str = "
;--- a.s
	.text
	.globl k
	.protected k
	.type k,@function
k:
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, f@rel32@lo+4
	s_endpgm
.Lend:
	.size k, .Lend-k
	.rodata
	.p2align 6
	.amdhsa_kernel k
	.amdhsa_next_free_vgpr 3
	.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 2
amdhsa.target: amdgcn-amd-amdhsa--gfx906
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 4
    .kernarg_segment_size: 0
    .max_flat_workgroup_size: 64
    .private_segment_fixed_size: 0
    .sgpr_count: 14
    .vgpr_count: 3
    .wavefront_size: 64
...
	.end_amdgpu_metadata
	.globl small
	.amdgpu_lds small, 4, 4
;--- b.s
	.text
	.globl f
	.hidden f
f:
	v_mov_b32 v40, small@abs32@lo
	v_mov_b32 v1, big@abs32@lo
	.globl small
	.amdgpu_lds small, 8, 8
	.amdgpu_lds big, 100, 16
	.globl zeros
	.comm zeros,40,5
	.data
	.quad zeros
";

/// Calls with frames, one that the compiler tells of, ends of sections.
const STACK: &str = "
; versions: { global: k*; local: f; };
;--- a.s
	.text
	.globl k
	.protected k
	.type k,@function
k:
	s_movk_i32 s32, 0x400
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, f@rel32@lo+4
	s_addc_u32 s5, s5, f@rel32@hi+12
	s_swappc_b64 s[30:31], s[4:5]
	s_endpgm
.Lend:
	.size k, .Lend-k
	.rodata
	.p2align 6
	.amdhsa_kernel k
	.amdhsa_next_free_vgpr 3
	.amdhsa_next_free_sgpr 40
	.amdhsa_user_sgpr_private_segment_buffer 1
	.end_amdhsa_kernel
;--- lib.a(b.s)
	.text
	.globl f
	.hidden f
	.type f,@function
f:
	s_mov_b32 s33, s32
	s_addk_i32 s32, 0xc00
	buffer_store_dword v0, off, s[0:3], s33 offset:4
	s_cbranch_scc0 .Lout
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, g@gotpcrel32@lo+4
	s_addc_u32 s5, s5, g@gotpcrel32@hi+12
	s_load_dwordx2 s[4:5], s[4:5], 0x0
	s_swappc_b64 s[30:31], s[4:5]
.Lout:
	s_addk_i32 s32, 0xf400
	s_setpc_b64 s[30:31]
.Lf:
	.size f, .Lf-f
	.set f.private_seg_size, 64
	.set f.num_vgpr, 9
	.set f.has_recursion, 0
	.set f.has_dyn_sized_stack, 0
	.set f.has_indirect_call, 1
	.globl g
	.hidden g
g:
	s_add_u32 s4, s4, __start_table@rel32@lo+4
	s_branch g
	.section table,\"a\",@progbits
	.quad 4
";

#[test]
fn damaged_files() {
    let count = std::env::var("KERNC_HOSTILE").ok().and_then(|text| text.parse().ok()).unwrap_or(2000);
    let mut taken = 0u64;
    let lds = crate::common::parsed("lds".to_owned(), LDS);
    let stack = crate::common::parsed("stack".to_owned(), STACK);
    let cases = crate::common::cases().into_iter().filter(|case| case.name != "far");
    for case in [lds, stack].into_iter().chain(cases) {
        for seed in 0..count {
            let mut rng = Random::new(seed * 2 + 1 + case.name.len() as u64 * 0x1_0001);
            let mut inputs = case.inputs.clone();
            let which = rng.below(inputs.len());
            damage(&mut inputs[which].1, &mut rng);
            let kind = if rng.below(4) == 0 { Kind::Relocatable } else { Kind::Loadable };
            let options = Options {
                kind,
                gc_sections: rng.below(2) == 0,
                allow_undefined: true,
                tells: true,
                exact_stack: seed % 2 == 0,
                ..case.options.clone()
            };
            let result = std::panic::catch_unwind(|| crate::common::link_files(&inputs, &options));
            match result {
                Ok(Ok(file)) => taken += u64::from(!file.is_empty()),
                Ok(Err(errors)) => {
                    assert!(errors.iter().all(|error| !error.is_empty()), "{} {seed}", case.name)
                }
                Err(_) => panic!("{}, seed {seed}, {}: a panic", case.name, inputs[which].0),
            }
        }
    }
    eprintln!("{taken} linked nevertheless");
    // Damage that nobody notices is not all of it, nor none.
    assert!(taken > 10, "{taken}");
}
