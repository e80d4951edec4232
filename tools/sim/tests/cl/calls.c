// Functions that are called: by name and by pointer, recursively, with their arguments in registers and on the stack, from lanes
// that go different ways. HIP for the GPU (OpenCL C has neither recursion nor pointers to functions), C for the
// host, whose results are the reference (HOST).

typedef unsigned int uint;
typedef unsigned long long ulong64;

#ifdef HOST
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define NI __attribute__((noinline))
#define KERNEL(name) \
    static void name##_host(void) { \
        for (uint id = 0; id < 256; id++) { \
            uint got = item_##name(id, id * 2654435761u + 12345u); \
            fwrite(&got, 4, 1, stdout); \
        } \
    }
#else
// HIP without its headers.
#define NI __attribute__((noinline, device))
#define _Bool bool
#define LOCALP __attribute__((address_space(3)))
#define BARRIER() \
    do { \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
        __builtin_amdgcn_s_barrier(); \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
    } while (0)
#define KERNEL(name) \
    extern "C" __attribute__((global)) void k_##name(uint *out, const uint *in) { \
        uint id = __builtin_amdgcn_workgroup_id_x() * 128 + __builtin_amdgcn_workitem_id_x(); \
        out[id] = item_##name(id, in[id]); \
    }
#endif

// Plain calls.
static NI uint add3(uint a, uint b, uint c) { return a + 2 * b + 3 * c; }
static NI uint item_plain(uint id, uint x) { return add3(id, x, 7) ^ add3(x, id, 9); }
KERNEL(plain)

// Calls of calls, with values that live across them.
static NI uint leaf(uint x) { return x * 0x9e3779b9u ^ x >> 15; }
static NI uint middle(uint x, uint y) { uint a = leaf(x), b = leaf(y); return a * 3 + b * 5 + x - y; }
static NI uint upper(uint x) { uint a = middle(x, x + 1), b = middle(x + 2, a), c = leaf(b); return a ^ b ^ c ^ x; }
static NI uint item_nested(uint id, uint x) { return upper(x) + upper(id) * 7; }
KERNEL(nested)

// Recursion: of different depth in each lane.
static NI uint fact(uint n) { return n < 2 ? 1 : n * fact(n - 1); }
static NI uint item_factorial(uint id, uint x) { return fact(id % 11) + x % 3; }
KERNEL(factorial)

static NI uint fib(uint n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static NI uint item_fibonacci(uint id, uint x) { return fib(id % 9) + (x & 1); }
KERNEL(fibonacci)

static NI uint odd(uint n);
static NI uint even(uint n) { return n == 0 ? 1 : odd(n - 1) * 2; }
static NI uint odd(uint n) { return n == 0 ? 5 : even(n - 1) + 3; }
static NI uint item_mutual(uint id, uint x) { return even(id % 13) ^ odd(x % 7); }
KERNEL(mutual)

static NI uint ackermann(uint m, uint n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
static NI uint item_ackermann(uint id, uint x) { return ackermann(id % 3, x % 4); }
KERNEL(ackermann)

static NI uint gcd(uint a, uint b) { return b == 0 ? a : gcd(b, a % b); }
static NI uint item_gcd(uint id, uint x) { return gcd(id * 6 + 12, x % 1000 + 1); }
KERNEL(gcd)

// Function pointers: the same in all lanes, and one a lane.
typedef uint (*unary)(uint);
static NI uint twice(uint x) { return x * 2; }
static NI uint square(uint x) { return x * x; }
static NI uint negate(uint x) { return 0u - x; }
static NI uint mix(uint x) { uint a = leaf(x); return leaf(a) + x; }
static NI unary choose(uint n) {
    switch (n & 3) {
    case 0: return twice;
    case 1: return square;
    case 2: return negate;
    default: return mix;
    }
}
static NI uint apply(unary f, uint x) { return f(x) + 1; }
static NI uint item_pointer(uint id, uint x) { return apply(choose(id >> 6), x); }
KERNEL(pointer)
static NI uint item_pointer_each(uint id, uint x) { return choose(id)(x) + id; }
KERNEL(pointer_each)
static NI uint item_pointer_loop(uint id, uint x) {
    uint sum = 0;
    for (uint i = 0; i < 6; i++) sum += apply(choose(id + i), x + sum);
    return sum;
}
KERNEL(pointer_loop)
static NI uint compose(unary f, unary g, uint x, uint depth) {
    return depth == 0 ? f(g(x)) : compose(g, f, f(x) + depth, depth - 1);
}
static NI uint item_composed(uint id, uint x) { return compose(choose(id), choose(id / 4), x, id % 4); }
KERNEL(composed)

// Callbacks with a context on the caller's stack.
typedef struct { uint count, sum, last[4]; } context;
static NI void collect(context *c, uint x) { c->last[c->count & 3] = x; c->sum += x; c->count++; }
static NI void collect_odd(context *c, uint x) { if (x & 1) collect(c, x * 3); else c->count += 2; }
static NI void each(void (*f)(context *, uint), context *c, uint n, uint x) {
    for (uint i = 0; i < n; i++) f(c, x + i * i);
}
static NI uint item_callback(uint id, uint x) {
    context c = {0, 0, {1, 2, 3, 4}};
    each(id & 1 ? collect : collect_odd, &c, id % 9 + 1, x);
    return c.sum + c.count * 100 + c.last[0] + c.last[3];
}
KERNEL(callback)

// Structs by value: small, large, as results.
typedef struct { uint a, b; } pair;
typedef struct { uint v[20]; } big;
typedef struct { uint a; float f; unsigned char c; unsigned short s; ulong64 l; } mixed;
static NI pair swapped(pair p) { pair q = {p.b, p.a + 1}; return q; }
static NI uint item_pair_by_value(uint id, uint x) { pair p = {id, x}; p = swapped(swapped(p)); return p.a * 3 + p.b; }
KERNEL(pair_by_value)
static NI big filled(uint x) { big b; for (uint i = 0; i < 20; i++) b.v[i] = x + i * i; return b; }
static NI uint total(big b, uint scale) { uint sum = 0; for (uint i = 0; i < 20; i++) sum += b.v[i] * scale; b.v[0] = sum; return b.v[0]; }
static NI uint item_big(uint id, uint x) { big b = filled(x); uint t = total(b, 3); return t + b.v[id % 20]; }
KERNEL(big)
static NI mixed changed(mixed m, uint by) { m.a += by; m.f *= 2.0f; m.c ^= 5; m.s += 300; m.l = m.l * 3 + by; return m; }
static NI uint item_mixed(uint id, uint x) {
    mixed m = {id, (float)(id % 50), (unsigned char)x, (unsigned short)id, x};
    m = changed(changed(m, 7), id);
    return m.a + (uint)m.f + m.c + m.s + (uint)m.l + (uint)(m.l >> 32);
}
KERNEL(mixed)

// More arguments than registers.
#define P(n) uint n##0, uint n##1, uint n##2, uint n##3, uint n##4, uint n##5, uint n##6, uint n##7
#define S(n) (n##0 + 2 * n##1 + 3 * n##2 + 4 * n##3 + 5 * n##4 + 6 * n##5 + 7 * n##6 + 8 * n##7)
#define A(x) x, x + 1, x + 2, x ^ 3, x * 4, x + 5, x - 6, x + 7
static NI uint many(P(a), P(b), P(c), P(d), P(e)) { return S(a) + S(b) * 3 + S(c) * 5 + S(d) * 7 + S(e) * 11; }
static NI uint item_many(uint id, uint x) { return many(A(id), A(x), A(id * 3), A((x >> 3)), A(9)); }
KERNEL(many)
static NI uint many_deep(P(a), P(b), P(c), P(d), P(e), uint depth) {
    uint sum = S(a) + S(b) * 3 + S(c) * 5 + S(d) * 7 + S(e) * 11;
    return depth == 0 ? sum : sum ^ many_deep(A(b0), A(c0), A(d0), A(e0), A(sum), depth - 1);
}
static NI uint item_many_deep(uint id, uint x) { return many_deep(A(id), A(x), A(id * 3), A((x >> 3)), A(9), id % 4); }
KERNEL(many_deep)
static NI uint many_pointer(uint (*f)(P(a), P(b), P(c), P(d), P(e)), uint x) { return f(A(x), A(1), A(2), A(x), A(4)); }
static NI uint item_many_pointer(uint id, uint x) { return many_pointer(many, x) + id; }
KERNEL(many_pointer)

// More values than registers.
#define L(n) uint n##0 = f(x + n), n##1 = f(n##0 + 1), n##2 = f(n##1 ^ 2), n##3 = f(n##2 * 3), n##4 = f(n##3 + 4), n##5 = f(n##4), n##6 = f(n##5 + x), n##7 = f(n##6)
static NI uint busy(unary f, uint x, uint a) { L(a); return S(a); }
static NI uint pressure(unary f, uint x) {
    uint k = x & 15, l = k + 1, m = k + 2, n = k + 3;
    L(k); L(l); L(m); L(n);
    return S(k) + S(l) * 3 + S(m) * 5 + S(n) * 7 + busy(f, x, k7);
}
static NI uint item_pressure(uint id, uint x) { return pressure(id >> 6 & 1 ? leaf : mix, x); }
KERNEL(pressure)

// A frame with arrays, indexed; addresses of locals that are handed on.
static NI void sort(uint *a, uint n) {
    for (uint i = 1; i < n; i++) {
        uint x = a[i], j = i;
        for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
        a[j] = x;
    }
}
static NI uint item_sorted(uint id, uint x) {
    uint a[12], sum = 0;
    for (uint i = 0; i < 12; i++) a[i] = leaf(x + i) % 1000;
    sort(a, 12);
    for (uint i = 0; i < 12; i++) sum = sum * 3 + a[i];
    return sum + id;
}
KERNEL(sorted)
static NI void quick(uint *a, int from, int to) {
    if (from >= to) return;
    uint p = a[(from + to) / 2];
    int i = from, j = to;
    while (i <= j) {
        while (a[i] < p) i++;
        while (a[j] > p) j--;
        if (i <= j) { uint t = a[i]; a[i] = a[j]; a[j] = t; i++; j--; }
    }
    quick(a, from, j);
    quick(a, i, to);
}
static NI uint item_quick(uint id, uint x) {
    uint a[16], sum = 0;
    for (uint i = 0; i < 16; i++) a[i] = leaf(x + i) % 1000;
    quick(a, 0, 15);
    for (uint i = 0; i < 16; i++) sum = sum * 3 + a[i];
    return sum + id;
}
KERNEL(quick)
static NI void set(uint *p, uint x) { *p = x; }
static NI uint item_address(uint id, uint x) { uint a = 1, b = 2; set(id & 1 ? &a : &b, x); return a * 3 + b; }
KERNEL(address)
typedef struct tree { uint value; struct tree *left, *right; } tree;
static NI void insert(tree *root, tree *leaf_) {
    tree **next = leaf_->value < root->value ? &root->left : &root->right;
    if (*next) insert(*next, leaf_); else *next = leaf_;
}
static NI uint walk(tree *t, uint depth) { return t ? walk(t->left, depth + 1) * 3 + t->value * depth + walk(t->right, depth + 1) : 1; }
static NI uint item_tree(uint id, uint x) {
    tree nodes[6];
    for (uint i = 0; i < 6; i++) { nodes[i].value = leaf(x + i) % 64; nodes[i].left = nodes[i].right = 0; if (i) insert(&nodes[0], &nodes[i]); }
    return walk(&nodes[0], 1) + id;
}
KERNEL(tree)
static NI uint aligned(uint a, uint b, uint n) {
    uint room[16] __attribute__((aligned(64)));
    for (uint i = 0; i < 16; i++) room[i] = leaf(a + i);
    return room[n & 15] + b;
}
static NI uint item_aligned(uint id, uint x) { return aligned(x, id, id) + aligned(id, x, x); }
KERNEL(aligned)

// Lanes that part: calls in branches, in loops that they leave one by one, returns in the middle.
static NI uint item_branches(uint id, uint x) {
    uint kept = leaf(x);
    if (id & 1) kept += middle(x, id); else if (id & 2) kept ^= leaf(id + x);
    return kept + id;
}
KERNEL(branches)
static NI uint early(uint x) { if (x % 3 == 0) return leaf(x); if (x % 5 == 0) return leaf(x + 1) * 2; return middle(x, 4); }
static NI uint item_leaving(uint id, uint x) {
    uint sum = x;
    for (uint i = 0; i < id % 7; i++) { sum = early(sum) + i; if (sum % 11 == 0) break; }
    return sum;
}
KERNEL(leaving)
static NI uint collatz(uint x) { uint n = 0; while (x != 1 && n < 40) { x = x & 1 ? early(3 * x + 1) % 1000 + 1 : x / 2; n++; } return n; }
static NI uint item_collatz(uint id, uint x) { return collatz(id % 30 + 1) * 1000 + (x & 7); }
KERNEL(collatz)

// Doubles, vectors' worth of results, small integers.
static NI double poly(double x, double y) { return x * x * 0.5 + y * 3.0 - 1.0; }
static NI uint item_doubles(uint id, uint x) { return (uint)poly(poly(id % 16, x % 8), 2.0); }
KERNEL(doubles)
static NI signed char narrow(signed char a, unsigned short b, _Bool c) { return c ? a - b : a + b; }
static NI uint item_narrow(uint id, uint x) { return (uint)(int)narrow((signed char)id, (unsigned short)x, x & 1) + id; }
KERNEL(narrow)
static NI ulong64 wide(ulong64 a, uint b) { return a * 6364136223846793005ull + b; }
static NI uint item_wide(uint id, uint x) { ulong64 r = wide(wide(x, id), 3); return (uint)(r >> 32) ^ (uint)r; }
KERNEL(wide)
static NI float ratio(float a, float b) { return a / b; }
static NI uint item_ratio(uint id, uint x) { return (uint)(ratio(id * 16.0f, 4.0f) + ratio(x % 64 * 3.0f, 2.0f)); }
KERNEL(ratio)

// LDS, barriers and atomics in functions.
#ifdef HOST
static NI uint neighbour(uint id) { return leaf(id * 2654435761u + 12345u); }
static NI uint item_exchange(uint id, uint x) { uint sum = leaf(x); for (uint i = 1; i < 4; i++) sum += neighbour((id & ~127u) + (id + i * 33) % 128); return sum; }
static NI uint item_counted(uint id, uint x) { (void)id; (void)x; return 128; }
#else
static NI void put(LOCALP uint *room, uint at, uint x) { room[at] = leaf(x); }
static NI uint get(LOCALP uint *room, uint at) { BARRIER(); return room[at % 128]; }
static NI uint around(LOCALP uint *room, uint at, uint step) { return step == 4 ? 0 : get(room, at + step * 33) + around(room, at, step + 1); }
static NI uint exchanged(LOCALP uint *room, uint at, uint x) { put(room, at, x); return around(room, at, 0); }
static NI void count(LOCALP uint *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }
#endif
#ifdef HOST
KERNEL(exchange)
KERNEL(counted)
#define RUN(name) if (!strcmp(argv[1], #name)) name##_host()
int main(int argc, char **argv) {
    (void)argc;
    RUN(plain);
    RUN(nested);
    RUN(factorial);
    RUN(fibonacci);
    RUN(mutual);
    RUN(ackermann);
    RUN(gcd);
    RUN(pointer);
    RUN(pointer_each);
    RUN(pointer_loop);
    RUN(composed);
    RUN(callback);
    RUN(pair_by_value);
    RUN(big);
    RUN(mixed);
    RUN(many);
    RUN(many_deep);
    RUN(many_pointer);
    RUN(pressure);
    RUN(sorted);
    RUN(quick);
    RUN(address);
    RUN(tree);
    RUN(aligned);
    RUN(branches);
    RUN(leaving);
    RUN(collatz);
    RUN(doubles);
    RUN(narrow);
    RUN(wide);
    RUN(ratio);
    RUN(exchange);
    RUN(counted);
    return 0;
}
#else
extern "C" __attribute__((global)) void k_exchange(uint *out, const uint *in) {
    __attribute__((shared)) uint room[128];
    uint at = __builtin_amdgcn_workitem_id_x(), id = __builtin_amdgcn_workgroup_id_x() * 128 + at;
    out[id] = exchanged((LOCALP uint *)room, at, in[id]);
}
extern "C" __attribute__((global)) void k_counted(uint *out, const uint *in) {
    // Without an address of its own kind, accesses would be flat ones, before which clang does not set M0 (GFX7, GFX8).
    __attribute__((shared)) uint counter_;
    LOCALP uint *counter = (LOCALP uint *)&counter_;
    uint at = __builtin_amdgcn_workitem_id_x(), id = __builtin_amdgcn_workgroup_id_x() * 128 + at;
    if (at == 0) *counter = 0;
    BARRIER();
    count(counter);
    BARRIER();
    out[id] = *counter;
}
#endif
