; `s_trap 2` on GFX8, whose handler wants the queue in s[0:1], and nobody has put it there.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
	.text
	.globl lost
	.p2align 8
	.type lost,@function
lost:
	s_mov_b64 s[0:1], 0
	s_trap 2
	s_endpgm
.Lend:
	.size lost, .Lend-lost
	.rodata
	.p2align 6
	.amdhsa_kernel lost
	.amdhsa_next_free_vgpr 1
	.amdhsa_next_free_sgpr 2
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 1
amdhsa.target: amdgcn-amd-amdhsa--gfx803
amdhsa.kernels:
  - .name: lost
    .symbol: lost.kd
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 4
    .kernarg_segment_size: 0
    .max_flat_workgroup_size: 64
    .private_segment_fixed_size: 0
    .sgpr_count: 8
    .vgpr_count: 1
    .wavefront_size: 64
...
	.end_amdgpu_metadata
