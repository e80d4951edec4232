// Comparisons. `v_cmpx`, `v_cmps` and `v_cmpsx` ask the same.
#include "meaning.h"

#define CMP(name, type, x) OP(v_cmp_##name) { type a = in->a, b = in->b; (void)a, (void)b; o->mask = (x) ? 1 : 0; }
#define INTEGER(suffix, type)                                                          \
    CMP(f_##suffix, type, 0) CMP(lt_##suffix, type, a < b) CMP(eq_##suffix, type, a == b) CMP(le_##suffix, type, a <= b) \
    CMP(gt_##suffix, type, a > b) CMP(ne_##suffix, type, a != b) CMP(ge_##suffix, type, a >= b) CMP(t_##suffix, type, 1)
INTEGER(i16, i16)
INTEGER(u16, u16)
INTEGER(i32, i32)
INTEGER(u32, u32)
INTEGER(i64, i64)
INTEGER(u64, u64)

static double in16(u64 bits) { return half_value(flush16(bits, mode.in64)); }
#define FCMP(name, read, x) OP(v_cmp_##name) { double a = read(in->a), b = read(in->b); int unordered = isnan(a) || isnan(b); (void)unordered; o->mask = (x) ? 1 : 0; }
#define FLOATING(s, read)                                                              \
    FCMP(f_##s, read, 0) FCMP(lt_##s, read, a < b) FCMP(eq_##s, read, a == b) FCMP(le_##s, read, a <= b)      \
    FCMP(gt_##s, read, a > b) FCMP(lg_##s, read, a < b || a > b) FCMP(ge_##s, read, a >= b) FCMP(o_##s, read, !unordered) \
    FCMP(u_##s, read, unordered) FCMP(nge_##s, read, !(a >= b)) FCMP(nlg_##s, read, !(a < b || a > b))        \
    FCMP(ngt_##s, read, !(a > b)) FCMP(nle_##s, read, !(a <= b)) FCMP(neq_##s, read, !(a == b))              \
    FCMP(nlt_##s, read, !(a < b)) FCMP(tru_##s, read, 1)
FLOATING(f16, in16)
FLOATING(f32, in32)
FLOATING(f64, in64)

static int class_of(int negative, int is_nan, int quiet, int inf, int zero, int denormal) {
    if (is_nan) return quiet ? 1 : 0;
    int kind = inf ? 0 : zero ? 3 : denormal ? 2 : 1;
    return negative ? 2 + kind : 9 - kind;
}
OP(v_cmp_class_f32) {
    u32 x = in->a, e = x >> 23 & 255, m = x & 0x7fffff;
    o->mask = in->b >> class_of(x >> 31, e == 255 && m, m >> 22, e == 255 && !m, !e && !m, !e && m) & 1;
}
OP(v_cmp_class_f64) {
    u64 x = in->a, e = x >> 52 & 2047, m = x & 0xfffffffffffff;
    o->mask = in->b >> class_of(x >> 63, e == 2047 && m, m >> 51, e == 2047 && !m, !e && !m, !e && m) & 1;
}
OP(v_cmp_class_f16) {
    u32 x = in->a & 0xffff, e = x >> 10 & 31, m = x & 0x3ff;
    o->mask = in->b >> class_of(x >> 15, e == 31 && m, m >> 9, e == 31 && !m, !e && !m, !e && m) & 1;
}
