// llvm-mc-19 -mcpu=gfx906
s_mov_b64 s[0:1], 0x80000000
s_mov_b64 s[0:1], 0x3ff0000000000000
s_mov_b64 s[0:1], -17
s_mov_b64 s[0:1], 1.0
v_ceil_f64 v[0:1], 0x40590000
v_ceil_f64 v[0:1], 100
v_ceil_f64 v[0:1], -100
v_ceil_f64 v[0:1], 1.5
v_ceil_f64 v[0:1], 3.14159
v_ceil_f64 v[0:1], 0x3ff0000000000000
v_cvt_f64_i32 v[0:1], 0x3f800000
v_add_u16 v0, 0x3c00, v1
v_add_u16 v0, 1.0, v1
v_add_u16 v0, 1.5, v1
v_add_u16 v0, 0xffff, v1
v_add_u16 v0, -1, v1
v_add_u16 v0, -100, v1
v_add_f16 v0, 0x3c00, v1
v_add_f16 v0, 1.0, v1
v_add_f16 v0, 1.3, v1
v_add_f16 v0, 0xfff0, v1
v_add_f16 v0, -1, v1
v_add_f16 v0, 0x3118, v1
v_add_f16 v0, 0.15915494, v1
v_add_f32 v0, 0.15915494, v1
v_add_f32 v0, 0.15915494309189532, v1
v_ceil_f64 v[0:1], 0.15915494309189532
v_ceil_f64 v[0:1], 0.15915494
v_pk_add_f16 v0, 1.0, v1
v_pk_add_f16 v0, 0x3c00, v1
v_pk_add_u16 v0, 1.0, v1
v_pk_add_u16 v0, 1, v1
v_pk_add_u16 v0, -1, v1
v_mov_b32 v0, 0xffffffff
v_mov_b32 v0, -1
v_mov_b32 v0, 0xffffffffffffffff
v_mov_b32 v0, 1.0
v_mov_b32 v0, 'a'
v_mov_b32 v0, 1+2
v_mov_b32 v0, 1|2
v_mov_b32 v0, (1|2)
v_add_f32 v0, |1.0|, v1
v_add_f32 v0, |2|, v1
v_add_f32 v0, -|2|, v1
v_add_f32 v0, neg(2), v1
v_add_f32 v0, -2, v1
v_add_f32 v0, |-2|, v1
v_add_f32 v0, -(2), v1
v_add_f32 v0, v1, -v2
v_add_f32 v0, neg(v1), abs(v2)
v_add_f32 v0, neg(|v1|), -abs(v2)
v_add_u32_sdwa v0, sext(v1), v2
v_mov_b32 v0 v1
v_mov_b32 v[0], v[1]
s_mov_b64 [s0,s1], [s2,s3]
s_mov_b32 [s0], [s2]
s_mov_b64 s[2*2:2*2+1], s[0:1]
v_cndmask_b32 v0, v1, v2
v_cndmask_b32 v0, v1, v2, vcc
v_cndmask_b32_e32 v0, v1, v2
v_cmp_eq_f32 v0, v1
v_cmp_eq_f32_e32 v0, v1
v_add_co_u32 v0, v1, v2
s_endpgm 5
s_waitcnt vmcnt(1) lgkmcnt(2)
s_waitcnt vmcnt(1), lgkmcnt(2)
s_waitcnt vmcnt_sat(100) & expcnt(1)
s_waitcnt 5
s_branch 65535
s_branch -1
s_branch 0x8000
s_nop 65535
s_nop -1
s_movk_i32 s0, 0xffff
s_movk_i32 s0, -32768
s_load_dword s0, s[2:3], 0x1000
s_load_dword s0, s[2:3], -4
s_load_dword s0, s[2:3], s4
s_load_dword s0, s[2:3], s4 offset:4
s_load_dword s0, s[2:3], m0
s_load_dword s0, s[2:3]
s_load_dword s0, s[2:3] glc
global_load_dword v1, v2, s[2:3] offset:-4
flat_load_dword v1, v[3:4] offset:8
buffer_load_dword v1, off, s[4:7], 0
buffer_load_dword off, s[8:11], s3 offset:4095 lds
ds_read_b32 v0, v1 offset:4*4
ds_write_b32 v1 v0
v_mul_f32 v0, v1, v2 mul:2
v_mul_f32 v0, v1, v2 clamp mul:4
v_mov_b32 v1, v2 dst_sel:BYTE_0 dst_unused:UNUSED_PRESERVE src0_sel:DWORD
v_mov_b32 v0, v0 quad_perm:[0,2,1,1]
v_sin_f32 v0, v0 row_shl:1 row_mask:0xa bank_mask:0x1 bound_ctrl:0
v_sin_f32 v0, v0 row_shl:1 row_mask:0xa bank_mask:0x1 bound_ctrl:1
v_mov_b32_dpp v0, v0 row_shl:1
v_mov_b32_sdwa v0, v0
v_cmpx_le_u32 vcc, v1, v2 src0_sel:BYTE_2 src1_sel:WORD_0
v_fma_mix_f32 v0, v1, v2, v3 op_sel:[0,0,1] op_sel_hi:[1,0,0]
v_fma_mix_f32 v0, |v1|, -v2, v3
v_mad_u16 v0, v1, v2, v3 op_sel:[1,0,0,1]
v_mad_u16 v0, v1, v2, v3 op_sel:[1,0,0]
v_pk_add_f16 v0, v1, v2 op_sel_hi:[0,1] neg_lo:[1,0]
s_getreg_b32 s0, hwreg(HW_REG_MODE)
s_getreg_b32 s0, hwreg(1, 2, 3)
s_getreg_b32 s0, 0x1234
s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 0)
s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT)
s_sendmsg sendmsg(2, 2, 1)
s_set_gpr_idx_on s0, gpr_idx(SRC0,DST)
s_set_gpr_idx_on s0, 3
s_mov_b32 s0, lit(1)
v_mov_b32 v0, src_shared_base
s_mov_b64 s[0:1], src_shared_base
s_mov_b64 s[0:1], src_private_limit
s_mov_b64 s[0:1], src_execz
s_mov_b64 s[0:1], src_scc
s_mov_b32 s0, flat_scratch_lo
s_mov_b64 s[0:1], xnack_mask
s_mov_b64 vcc, 0
s_mov_b64 s[0:1], vcc
v_readlane_b32 s0, v1, 3
