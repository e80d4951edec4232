// Two kernels, variables and a function that is really called: what relocations and symbols are for.
typedef unsigned int u32;

__constant u32 table[4] = {11, 22, 33, 44};
__global u32 counter = 5;
__global u32 spare[3];
__global u32 *__global where = &counter;

__attribute__((noinline)) u32 triple(u32 x) { return x * 3; }

__kernel void first(__global u32 *out) {
    out[0] = table[counter & 3] + *where;
    spare[2] = 77;
}

__kernel void second(__global u32 *out) {
    out[1] = triple(out[0]) + table[0];
}
