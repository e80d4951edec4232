// llvm-mc-19 -mcpu=gfx906
// A GEMM's inner loop in the manner of generated library code: symbols as parameters, alternative macros.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.set tile_m, 4
.set tile_n, 4
.set a_base, 8
.set b_base, a_base+tile_m
.set c_base, b_base+tile_n
.altmacro
.macro v_fma_row row
  .set col, 0
  .rept tile_n
    v_fma_row_col %row, %col
    .set col, col+1
  .endr
.endm
.macro v_fma_row_col r, c
  v_fmac_f32 v[c_base+\r*tile_n+\c], v[a_base+\r], v[b_base+\c]
.endm
.macro load_tile name, reg, count
name&_begin:
  .set off, 0
  .rept count
    ds_read_b32 v[\reg+off], v0 offset:off*4
    .set off, off+1
  .endr
name&_end:
.endm
.macro note text
  .ascii "\text"
.endm
.text
.p2align 8
.globl gemm
.type gemm,@function
gemm:
  load_tile lds_a, a_base, %tile_m
  load_tile lds_b, b_base, %(tile_n)
  s_waitcnt lgkmcnt(0)
  .set row, 0
  .rept tile_m
    v_fma_row %row
    .set row, row+1
  .endr
  s_endpgm
.Lend:
.size gemm, .Lend-gemm
.noaltmacro
.altmacro
.section .note.text,"a",@progbits
  note <a, b!> c>
  .byte lds_a_end-lds_a_begin
.noaltmacro
