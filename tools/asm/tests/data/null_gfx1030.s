// llvm-mc-19 -mcpu=gfx1030 -mattr=+wavefrontsize64,-wavefrontsize32
v_mad_u64_u32 v[0:1], null, v1, s8, v[0:1]
v_mad_u64_u32 v[0:1], null, v1, s8, null
v_add_co_ci_u32_e64 v1, null, s6, 0, s[0:1]
v_cndmask_b32_e64 v0, v1, v2, null
v_div_scale_f32 v0, null, v1, v2, v3
v_cmp_eq_u32_e64 null, v0, v1
v_add_f64 v[0:1], null, v[2:3]
v_add_f32_e64 v0, null, v2
s_mov_b32 null, s0
s_mov_b64 null, s[0:1]
s_mov_b64 s[0:1], null
s_and_saveexec_b64 null, s[0:1]
s_load_dwordx2 null, s[0:1], 0
s_load_dwordx2 s[2:3], s[0:1], null
