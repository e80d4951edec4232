// Reads requests (name, mode, lanes), writes what the lanes hold afterwards.
#include "meaning.h"
#include <stdio.h>
#include <stdlib.h>

struct Mode mode;

static struct {
    const char *name;
    Meaning *meaning;
} table[2048];
static int entries;

void add_meaning(const char *name, Meaning *meaning) {
    table[entries].name = name;
    table[entries++].meaning = meaning;
}

static Meaning *find(const char *name) {
    for (int at = 0; at < entries; at++)
        if (!strcmp(table[at].name, name)) return table[at].meaning;
    return 0;
}

u16 half_round(int negative, u128 m, int e, u32 code) {
    u16 sign = negative ? 0x8000 : 0;
    if (!m) return sign;
    int top = 127;
    while (!(m >> top)) top--;
    // The weight of the last place: 2^-24 or more.
    int last = top + e - 10 > -24 ? top + e - 10 : -24;
    int drop = last - e;
    u128 kept, rest = 0, half = 0;
    if (drop <= 0) kept = m << -drop;
    else if (drop > 120) kept = 0, rest = 1, half = 2;
    else kept = m >> drop, rest = m & (((u128)1 << drop) - 1), half = (u128)1 << (drop - 1);
    int up = code == 0 ? rest > half || (rest == half && rest && (kept & 1)) : code == 1 ? !negative && rest
           : code == 2 ? negative && rest : 0;
    kept += up;
    if (kept >> 11) kept >>= 1, last++;
    if (kept >> 10) {
        int exponent = last + 10 + 15;
        if (exponent >= 31) {
            // FP16_OVFL: the largest number instead.
            int infinite = !mode.overflow && (code == 0 || (code == 1 && !negative) || (code == 2 && negative));
            return sign | (infinite ? 0x7c00 : 0x7bff);
        }
        return sign | exponent << 10 | ((u32)kept & 0x3ff);
    }
    return sign | (u32)kept;
}

u16 half_of(double x, u32 code) {
    if (isnan(x)) return 0x7e00;
    u16 sign = signbit(x) ? 0x8000 : 0;
    if (isinf(x)) return sign | 0x7c00;
    if (x == 0) return sign;
    int e;
    double m = frexp(fabs(x), &e);
    return half_round(signbit(x), (u128)ldexp(m, 53), e - 53, code);
}

double half_value(u32 bits) {
    double sign = bits & 0x8000 ? -1 : 1;
    int e = bits >> 10 & 31, m = bits & 0x3ff;
    if (e == 31) return m ? NAN : sign * INFINITY;
    return sign * (e ? ldexp(1024 + m, e - 25) : ldexp(m, -24));
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "--list")) {
        for (int at = 0; at < entries; at++) puts(table[at].name);
        return 0;
    }
    FILE *from = fopen(argv[1], "rb"), *to = fopen(argv[2], "wb");
    u32 head[3];
    while (fread(head, 4, 3, from) == 3) {
        char name[64] = {0};
        if (head[0] > 63 || fread(name, 1, head[0], from) != head[0]) return 1;
        u32 m = head[1];
        mode = (struct Mode){m & 3, m >> 2 & 3, m >> 4 & 1, m >> 5 & 1, m >> 6 & 1, m >> 7 & 1,
                             m >> 8 & 1, m >> 9 & 1, m >> 10 & 1, m >> 11 & 1, m >> 16};
        Meaning *meaning = find(name);
        u32 found = meaning != 0;
        fwrite(&found, 4, 1, to);
        for (u32 lane = 0; lane < head[2]; lane++) {
            In in;
            if (fread(&in, sizeof in, 1, from) != 1) return 1;
            if (!found) continue;
            Out out = {0};
            memcpy(out.d, in.d, 16);
            struct Mode asked = mode;
            meaning(&in, &out);
            mode = asked;
            fesetround(FE_TONEAREST);
            fwrite(&out, sizeof out, 1, to);
        }
    }
    return fclose(to) != 0;
}
