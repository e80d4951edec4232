// llvm-mc-19 -mcpu=gfx906 --amdhsa-code-object-version=4
// Code made of text: names put together, counters, lists, nested loops, `.altmacro`.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.macro join a, b, tail:vararg
  .set \a\()_\b, 1
  .ifnb \tail
    join \a, \tail
  .endif
.endm
join flag, one, two, three
.macro store_all base, regs:vararg
  .set at, \base
  .irp reg, \regs
    .if at < 8
      ds_write_b32 v0, v\reg offset:at*4
    .endif
    .set at, at + 1
  .endr
.endm
.macro matrix rows, cols
  .set r, 0
  .rept \rows
    .set c, 0
    .rept \cols
      v_mov_b32 v[1 + r * \cols + c], r + c
      .set c, c + 1
    .endr
    .set r, r + 1
  .endr
.endm
.macro numbered
  s_nop \@
.Lplace\@:
  s_branch .Lplace\@
.endm
.macro quit count
  .rept 4
    .if \count == 2
      .exitm
    .endif
  .endr
  s_nop 9
.endm
.text
.globl strings
.type strings,@function
strings:
  store_all 6, 1, 2, 3
  matrix 2, 3
  numbered
  numbered
  quit 1
  .irpc letter, 0123
    s_nop \letter
  .endr
  .irp op, add, sub, mul
    v_\op\()_f32 v1, v2, v3
  .endr
  .altmacro
  .macro slot n, text
    s_nop n
    s_nop n+1
    .ascii "text"
  .endm
  .set k, 3
  slot %k+1, <abc!>>
  slot %k*2, four
  .p2align 2
  .noaltmacro
  .set .Lsum, flag_one + flag_two + flag_three
  s_mov_b32 s0, .Lsum
  s_mov_b32 s1, -(.Lsum << 4) & ~1 ^ 0x100 | 2
  s_mov_b32 s2, 'A' + ' '
  s_cmp_eq_u32 s0, (3 == 3) + (2 < 1)
9:
  s_cbranch_scc0 9b
  s_cbranch_scc1 9f
9: s_endpgm
.purgem numbered
.macro numbered
  s_trap 1
.endm
  numbered
.size strings, . - strings
