// llvm-mc-19 -mcpu=gfx906 
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.printf:
  - '1:1:4:%d\n'
  - "a\tb"
amdhsa.kernels:
  - .name: k
    .symbol: 'k.kd'
    .language: OpenCL C
    .language_version: [ 2, 0 ]
    .kernarg_segment_size: 0x30
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 4
    .wavefront_size: 64
    .sgpr_count: 2
    .vgpr_count: 3
    .max_flat_workgroup_size: 256
    .uses_dynamic_stack: false
    .x: -5
    .y: -500
    .s: "true"
    .t: yes
    .n: ~
    .m: null
    .e: ''
    .big: 0xffffffffffffffff
    .args: []
    .empty:
    .o: 010
    .args2:
    - {.offset: 0, .size: 8}
    - .offset: 1
      # comment
      .size: 4   # trailing
    .multi: a b
      c
    .lit: |
      x
      y
...
.end_amdgpu_metadata
