// Scalar instructions. `carry` is SCC before, `mask` SCC after; EXEC before is `c[0]`, after it is in d[2] and d[3].
#include "meaning.h"

#define KEEP(name, put) OP(name) { INTEGERS; o->mask = carry; put; }
#define TEST32(name, x) OP(name) { INTEGERS; u32 v = (x); o->d[0] = v; o->mask = v != 0; }
#define TEST64(name, x) OP(name) { INTEGERS; u64 v = (x); put64(o, v); o->mask = v != 0; }
#define KEEP32(name, x) KEEP(name, o->d[0] = (x))
#define KEEP64(name, x) KEEP(name, put64(o, (x)))

KEEP32(s_mov_b32, a)
KEEP64(s_mov_b64, A)
KEEP32(s_cmov_b32, carry ? a : d)
KEEP64(s_cmov_b64, carry ? A : D)
KEEP32(s_brev_b32, __builtin_bitreverse32(a))
KEEP64(s_brev_b64, __builtin_bitreverse64(A))
TEST32(s_not_b32, ~a)
TEST64(s_not_b64, ~A)
static u64 quads(u64 x) { u64 all = 0; for (int q = 0; q < 16; q++) all |= (u64)((x >> 4 * q & 15) != 0) << q; return all; }
static u64 whole_quads(u64 x) { u64 all = 0; for (int q = 0; q < 16; q++) if (x >> 4 * q & 15) all |= (u64)15 << 4 * q; return all; }
TEST32(s_wqm_b32, whole_quads(a))
TEST64(s_wqm_b64, whole_quads(A))
TEST32(s_quadmask_b32, quads(a))
TEST64(s_quadmask_b64, quads(A))
TEST32(s_bcnt0_i32_b32, 32 - __builtin_popcount(a))
TEST32(s_bcnt0_i32_b64, 64 - __builtin_popcountl(A))
TEST32(s_bcnt1_i32_b32, __builtin_popcount(a))
TEST32(s_bcnt1_i32_b64, __builtin_popcountl(A))
KEEP32(s_ff0_i32_b32, ~a ? __builtin_ctz(~a) : -1)
KEEP32(s_ff0_i32_b64, ~A ? __builtin_ctzl(~A) : -1)
KEEP32(s_ff1_i32_b32, a ? __builtin_ctz(a) : -1)
KEEP32(s_ff1_i32_b64, A ? __builtin_ctzl(A) : -1)
KEEP32(s_flbit_i32_b32, a ? __builtin_clz(a) : -1)
KEEP32(s_flbit_i32_b64, A ? __builtin_clzl(A) : -1)
KEEP32(s_flbit_i32, sa == 0 || sa == -1 ? -1 : __builtin_clrsb(sa) + 1)
KEEP32(s_flbit_i32_i64, SA == 0 || SA == -1 ? -1 : __builtin_clrsbl(SA) + 1)
KEEP32(s_sext_i32_i8, (i8)a)
KEEP32(s_sext_i32_i16, ka)
KEEP32(s_bitset0_b32, d & ~(1u << (a & 31)))
KEEP64(s_bitset0_b64, D & ~((u64)1 << (a & 63)))
KEEP32(s_bitset1_b32, d | 1u << (a & 31))
KEEP64(s_bitset1_b64, D | (u64)1 << (a & 63))
TEST32(s_abs_i32, sa < 0 ? -a : a)
static u64 doubled(u32 x) { u64 all = 0; for (int at = 0; at < 32; at++) if (x >> at & 1) all |= (u64)3 << 2 * at; return all; }
KEEP64(s_bitreplicate_b64_b32, doubled(a))

// EXEC becomes an expression of the source S and itself; the destination takes what it was, or what it becomes.
#define EXEC(name, type, is_new, x)                                                    \
    OP(name) {                                                                         \
        type S = in->a, E = in->c[0], v = (x);                                         \
        u64 seen = (is_new) ? v : E;                                                   \
        memcpy(o->d, &seen, sizeof(type));                                             \
        o->d[2] = v, o->d[3] = (u64)v >> 32, o->mask = v != 0;                         \
    }
#define SAVE(name, x) EXEC(s_##name##_saveexec_b32, u32, 0, x) EXEC(s_##name##_saveexec_b64, u64, 0, x)
#define WRITE(name, x) EXEC(s_##name##_wrexec_b32, u32, 1, x) EXEC(s_##name##_wrexec_b64, u64, 1, x)
SAVE(and, S & E)
SAVE(or, S | E)
SAVE(xor, S ^ E)
SAVE(andn2, S & ~E)
SAVE(orn2, S | ~E)
SAVE(nand, ~(S & E))
SAVE(nor, ~(S | E))
SAVE(xnor, ~(S ^ E))
SAVE(andn1, ~S & E)
SAVE(orn1, ~S | E)
WRITE(andn1, ~S & E)
WRITE(andn2, S & ~E)

// Two sources. SCC is the carry of unsigned sums, the overflow of signed ones, "the first was taken" of least and greatest.
#define SUM(name, wide, scc) OP(name) { INTEGERS; i128 v = (wide); o->d[0] = v; o->mask = (scc); }
SUM(s_add_u32, (i128)a + b, v > UINT32_MAX)
SUM(s_sub_u32, (i128)a - b, v < 0)
SUM(s_add_i32, (i128)sa + sb, v != (i32)v)
SUM(s_sub_i32, (i128)sa - sb, v != (i32)v)
SUM(s_addc_u32, (i128)a + b + carry, v > UINT32_MAX)
SUM(s_subb_u32, (i128)a - b - carry, v < 0)
SUM(s_lshl1_add_u32, (i128)a * 2 + b, v > UINT32_MAX)
SUM(s_lshl2_add_u32, (i128)a * 4 + b, v > UINT32_MAX)
SUM(s_lshl3_add_u32, (i128)a * 8 + b, v > UINT32_MAX)
SUM(s_lshl4_add_u32, (i128)a * 16 + b, v > UINT32_MAX)
SUM(s_min_i32, sa < sb ? sa : sb, sa < sb)
SUM(s_min_u32, a < b ? a : b, a < b)
SUM(s_max_i32, sa > sb ? sa : sb, sa > sb)
SUM(s_max_u32, a > b ? a : b, a > b)
TEST32(s_absdiff_i32, (i32)(a - b) < 0 ? b - a : a - b)
KEEP32(s_cselect_b32, carry ? a : b)
KEEP64(s_cselect_b64, carry ? A : B)
#define BITS(name, x32, x64) TEST32(s_##name##_b32, x32) TEST64(s_##name##_b64, x64)
BITS(and, a & b, A & B)
BITS(or, a | b, A | B)
BITS(xor, a ^ b, A ^ B)
BITS(andn2, a & ~b, A & ~B)
BITS(orn2, a | ~b, A | ~B)
BITS(nand, ~(a & b), ~(A & B))
BITS(nor, ~(a | b), ~(A | B))
BITS(xnor, ~(a ^ b), ~(A ^ B))
BITS(lshl, a << (b & 31), A << (b & 63))
BITS(lshr, a >> (b & 31), A >> (b & 63))
TEST32(s_ashr_i32, sa >> (b & 31))
TEST64(s_ashr_i64, SA >> (b & 63))
KEEP32(s_bfm_b32, ((1u << (a & 31)) - 1) << (b & 31))
KEEP64(s_bfm_b64, (((u64)1 << (a & 63)) - 1) << (b & 63))
KEEP32(s_mul_i32, a * b)
KEEP32(s_mul_hi_u32, (u64)a * b >> 32)
KEEP32(s_mul_hi_i32, (i64)sa * sb >> 32)
KEEP32(s_pack_ll_b32_b16, (u32)ha | (u32)hb << 16)
KEEP32(s_pack_lh_b32_b16, (u32)ha | (b & 0xffff0000))
KEEP32(s_pack_hh_b32_b16, a >> 16 | (b & 0xffff0000))
// Offset in the low bits, width (0 to 127) in bits 16 to 22.
static i128 field(i128 x, u32 offset, u32 width, int bits, int is_signed) {
    x >>= offset;
    if (width >= bits - offset) return x;
    x &= ((i128)1 << width) - 1;
    return is_signed && width && x >> (width - 1) ? x - ((i128)1 << width) : x;
}
TEST32(s_bfe_u32, field(a, b & 31, b >> 16 & 127, 32, 0))
TEST32(s_bfe_i32, field(sa, b & 31, b >> 16 & 127, 32, 1))
TEST64(s_bfe_u64, field(A, b & 63, b >> 16 & 127, 64, 0))
TEST64(s_bfe_i64, field(SA, b & 63, b >> 16 & 127, 64, 1))

// Comparisons; the immediate of SOPK stands in `b`, signed of 16 bits or not.
#define COMPARE(name, x) OP(s_cmp_##name) { INTEGERS; o->mask = (x); }
COMPARE(eq_i32, sa == sb) COMPARE(lg_i32, sa != sb) COMPARE(gt_i32, sa > sb) COMPARE(ge_i32, sa >= sb) COMPARE(lt_i32, sa < sb) COMPARE(le_i32, sa <= sb)
COMPARE(eq_u32, a == b) COMPARE(lg_u32, a != b) COMPARE(gt_u32, a > b) COMPARE(ge_u32, a >= b) COMPARE(lt_u32, a < b) COMPARE(le_u32, a <= b)
COMPARE(eq_u64, A == B) COMPARE(lg_u64, A != B)
#define COMPAREK(name, x) OP(s_cmpk_##name) { INTEGERS; o->mask = (x); }
COMPAREK(eq_i32, sa == kb) COMPAREK(lg_i32, sa != kb) COMPAREK(gt_i32, sa > kb) COMPAREK(ge_i32, sa >= kb) COMPAREK(lt_i32, sa < kb) COMPAREK(le_i32, sa <= kb)
COMPAREK(eq_u32, a == hb) COMPAREK(lg_u32, a != hb) COMPAREK(gt_u32, a > hb) COMPAREK(ge_u32, a >= hb) COMPAREK(lt_u32, a < hb) COMPAREK(le_u32, a <= hb)
OP(s_bitcmp0_b32) { INTEGERS; o->mask = !(a >> (b & 31) & 1); }
OP(s_bitcmp1_b32) { INTEGERS; o->mask = a >> (b & 31) & 1; }
OP(s_bitcmp0_b64) { INTEGERS; o->mask = !(A >> (b & 63) & 1); }
OP(s_bitcmp1_b64) { INTEGERS; o->mask = A >> (b & 63) & 1; }
KEEP32(s_movk_i32, kb)
KEEP32(s_cmovk_i32, carry ? (u32)kb : d)
SUM(s_addk_i32, (i128)sd + kb, v != (i32)v)
KEEP32(s_mulk_i32, d * kb)
