// Kernels that make a compiler use the rarer parts of the machine. Each maps 32-bit words to words, item by item.
#define KERNEL(name) kernel __attribute__((reqd_work_group_size(64, 1, 1))) \
  void name(global const uint *restrict in, global uint *restrict out, uint n)
#define ITEM uint i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x(); if (i >= n) return; \
  uint a = in[2 * i], b = in[2 * i + 1];

KERNEL(int_division) { ITEM out[i] = a / (b | 1) ^ a % (b >> 20 | 1) ^ (uint)((int)a / (int)(b >> 7 | 1)); }

KERNEL(long_division) {
  ITEM
  ulong x = (ulong)a << 32 | b, y = (ulong)(a & 0xffff) << 20 | b | 1;
  ulong q = x / y, r = x % y;
  out[i] = (uint)q ^ (uint)(q >> 32) * 3 ^ (uint)r * 5 ^ (uint)(r >> 32) * 7;
}

KERNEL(float_division) { ITEM out[i] = as_uint(as_float(a) / as_float(b)); }

KERNEL(double_division) {
  ITEM
  double x = as_double((ulong)a << 32 | b), y = as_double((ulong)b << 32 | a);
  ulong q = as_ulong(x / y);
  out[i] = (uint)q ^ (uint)(q >> 32);
}

KERNEL(float_sqrt) { ITEM out[i] = as_uint(__builtin_sqrtf(__builtin_fabsf(as_float(a)))); }

KERNEL(double_sqrt) {
  ITEM
  ulong q = as_ulong(__builtin_sqrt(__builtin_fabs(as_double((ulong)a << 32 | b))));
  out[i] = (uint)q ^ (uint)(q >> 32);
}

KERNEL(bytes) {
  ITEM
  uchar4 x = as_uchar4(a), y = as_uchar4(b);
  char4 s = as_char4(a);
  uchar4 z = x * y + (uchar4)(1, 2, 3, 4);
  z.x += (uchar)(s.y >> 2); z.w ^= y.x;
  out[i] = as_uint(z);
}

KERNEL(shorts) {
  ITEM
  ushort2 x = as_ushort2(a), y = as_ushort2(b);
  short2 s = as_short2(a), t = as_short2(b);
  short2 lo = s < t ? s : t;
  ushort2 z = x * y + as_ushort2(lo);
  out[i] = as_uint(z) ^ (uint)(s.x >> (t.y & 15));
}

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
KERNEL(halves) {
  ITEM
  half2 x = as_half2(a & 0x3fff3fff), y = as_half2(b & 0x3fff3fff);
  half2 z = x * y - x;
  half w = (half)((float)x.x * 3.0f);
  out[i] = as_uint(z) ^ (uint)as_ushort(w) ^ (uint)(int)y.y;
}

KERNEL(conversions) {
  ITEM
  float x = (float)(int)a, y = (float)b;
  double d = (double)(int)a / 16.0;
  long l = (long)((float)b * 8.0f);
  out[i] = as_uint(x) ^ as_uint(y) * 3 ^ (uint)(int)d * 5 ^ (uint)l * 7 ^ (uint)(l >> 32) * 9
         ^ as_uint((float)((ulong)a << 20 | b)) * 11 ^ as_uint((float)d) * 13;
}

// Private memory with indices that are not known.
KERNEL(private_array) {
  ITEM
  uint t[16];
  for (int k = 0; k < 16; k++) t[(k * 7 + a) & 15] = b + k * a;
  uint s = 0;
  for (int k = 0; k < 8; k++) s = s * 31 + t[(s + k) & 15];
  out[i] = s;
}

// Through generic pointers: LDS, scratch or global memory.
KERNEL(generic_pointers) {
  local uint shared[64];
  ITEM
  uint t = __builtin_amdgcn_workitem_id_x();
  uint mine[4] = {a, b, a ^ b, a + b};
  shared[t] = a * 3;
  uint *p;
  if (a & 1) p = &shared[t]; else if (a & 2) p = &mine[b & 3]; else p = (uint *)&out[i];
  *p += 5;
  out[i] = shared[t] ^ mine[b & 3] ^ *p;
}

__attribute__((noinline)) static uint called(uint a, uint b, uint *r) { *r = a * b; return a ^ (b >> 3); }

__attribute__((noinline)) static uint fibonacci(uint n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

KERNEL(calls) {
  ITEM
  uint r;
  uint x = called(a, b, &r);
  x += called(r, x, &r);
  out[i] = x + r + fibonacci(a % 9);
}

KERNEL(switches) {
  ITEM
  switch (a & 7) {
    case 0: b += 11; break;
    case 1: b ^= a; break;
    case 2: b *= 5; // falls through
    case 3: b -= a; break;
    case 4: for (uint k = 0; k < (a >> 8 & 7); k++) b = b * 3 + k; break;
    case 6: if (b & 1) return; b = ~b; break;
    default: b = b << 3 | b >> 29;
  }
  out[i] = b;
}

KERNEL(bits) {
  ITEM
  ulong w = (ulong)a << 32 | b;
  out[i] = __builtin_popcount(a) ^ __builtin_popcountl(w) << 3 ^ __builtin_clz(a | 1) << 6 ^ __builtin_ctz(b | 0x80000000u) << 12
         ^ __builtin_bitreverse32(b) ^ (a << (b & 31) | a >> (-b & 31)) ^ (uint)(w >> (a & 63)) ^ (uint)((long)w >> (b & 63));
}

KERNEL(wide_math) {
  ITEM
  ulong x = (ulong)a * b + a;
  long y = (long)(int)a * (int)b;
  ulong z = x * (ulong)y - (x >> 3);
  out[i] = (uint)x ^ (uint)(x >> 32) ^ (uint)(y >> 32) * 3 ^ (uint)z ^ (uint)(z >> 32) ^ (z < x) ^ ((long)z < y) << 1;
}

KERNEL(float_bits) {
  ITEM
  float x = as_float(a), y = as_float(b);
  uint r = (x < y) | (x >= y) << 1 | (x != y) << 2 | __builtin_isnan(x) << 3 | __builtin_isinf(y) << 4;
  out[i] = r ^ as_uint(__builtin_floorf(x * 0x1p-60f)) ^ as_uint(__builtin_truncf(y)) ^ as_uint(__builtin_copysignf(x, y))
         ^ as_uint(__builtin_rintf(x));
}

KERNEL(atomics) {
  ITEM
  global atomic_uint *p = (global atomic_uint *)&out[i];
  global atomic_ulong *q = (global atomic_ulong *)&out[n + 2 * (i & 31)];
  __opencl_atomic_store(p, a, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
  uint r = __opencl_atomic_fetch_max(p, b, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
  r ^= __opencl_atomic_fetch_xor(p, 0x55u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
  uint e = b;
  __opencl_atomic_compare_exchange_strong(p, &e, 77u, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, __OPENCL_MEMORY_SCOPE_DEVICE);
  __opencl_atomic_fetch_add(q, (ulong)a << 8, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
  __opencl_atomic_fetch_sub(p, r ^ e, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
}

KERNEL(dispatch) {
  ITEM
  constant uint *packet = (constant uint *)__builtin_amdgcn_dispatch_ptr();
  out[i] = packet[3] * 3 + (packet[1] & 0xffff) * 5 + __builtin_amdgcn_workgroup_size_x() * 7
         + __builtin_amdgcn_grid_size_x() * 11;
}

KERNEL(across_lanes) {
  ITEM
  uint l = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  uint x = __builtin_amdgcn_ds_bpermute((int)((l ^ 5) * 4), (int)a);
  x += __builtin_amdgcn_update_dpp(0, (int)b, 0x111, 0xf, 0xf, true);
  x ^= __builtin_amdgcn_readfirstlane((int)b);
  x += __builtin_amdgcn_ds_swizzle((int)a, 0x801f);
  out[i] = x;
}
