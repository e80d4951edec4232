// llvm-mc-19 -mcpu=gfx906 --amdhsa-code-object-version=4
// A library's cold path in a section of its own, data that relocations reach, and the symbols that a linker joins.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"

.set ELEMENT, 1 << SHIFT_OF_ELEMENT
.set SHIFT_OF_ELEMENT, 2

.text
.globl entry
.hidden entry
.p2align 8
.type entry,@function
entry:
  s_mov_b32 s0, SCRATCH_RSRC_DWORD0
  s_mov_b32 s1, SCRATCH_RSRC_DWORD1
  s_getpc_b64 s[2:3]
  s_add_u32 s2, s2, table@rel32@lo+4
  s_addc_u32 s3, s3, table@rel32@hi+12
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, shared_table@gotpcrel32@lo+4
  s_addc_u32 s5, s5, shared_table@gotpcrel32@hi+12
  s_mov_b32 s6, tile@abs32@lo
  s_mov_b32 s7, tile@abs32@hi
  v_mov_b32_e32 v0, tile@abs32@lo
  s_cbranch_scc1 cold
  s_branch .Ldone
.Ldone:
  s_endpgm
.Lentry_end:
.size entry, .Lentry_end-entry

.section .text.cold,"ax",@progbits
cold:
  s_nop 0
  s_branch entry
  s_branch local_in_cold
local_in_cold:
  s_setpc_b64 s[30:31]

.pushsection .rodata.lengths,"a",@progbits
.p2align 2
lengths:
  .long local_in_cold-cold
  .long cold-.
  .long .rodata.lengths
  .quad entry
  .quad cold+ELEMENT
  .quad table@rel64
.popsection

.data
.globl table
.type table,@object
.p2align 3
table:
  .quad entry+16
  .quad .data
  .quad lengths
  .short 1, 2
  .2byte 3, 4
.size table, 32
.reloc table+8, R_AMDGPU_NONE, table
.reloc 16, R_AMDGPU_ABS64, shared_table+8
.reloc 28, R_AMDGPU_REL32, .text.cold

.weak shared_table
.protected tile
.globl tile
.amdgpu_lds tile, 1024, 16
.amdgpu_lds never_used, 64, 4
.file "library.s"
.comm scratch_area, 64, 16
.ident "library"
