// Calls, recursion, a private array, generic pointers, an atomic, division and square root.
__attribute__((noinline)) int fib(int n, global int *p) { return n < 2 ? p[n] : fib(n - 1, p) + fib(n - 2, p); }
__attribute__((noinline)) float pick(float *q, int i) { return q[i] * 2.0f; }
kernel void calls(global int *out, global float *f, local float *l) {
  int i = (int)(__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x()); float a[16];
  for (int k = 0; k < 16; k++) a[k] = f[i * 16 + k];
  l[__builtin_amdgcn_workitem_id_x()] = f[i]; __builtin_amdgcn_s_barrier();
  float *g = i & 1 ? (float *)l : (float *)f;
  out[i] = fib(i & 7, out) + (int)pick(a, i & 15) + (int)pick(g, i & 3);
  __opencl_atomic_fetch_add((volatile global atomic_int *)out, i / (out[1] | 1), 0, 2);
  f[i] = (float)((double)f[i] / (double)f[i + 1]) + __builtin_sqrtf(f[i + 2]);
}
