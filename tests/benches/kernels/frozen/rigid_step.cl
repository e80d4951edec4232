#include "k.h"
typedef struct {
  float4 position;     // w: 1 / mass
  float4 orientation;  // x y z, w the real part
  float4 velocity;
  float4 spin;
  float4 half_size;
  float4 inertia;  // the diagonal in the body's frame
} Body;
static float dot3(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static float dot4(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
static float3 cross3(float3 a, float3 b) {
  return (float3)(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static float3 turn(float4 q, float3 v) {
  float3 t = cross3(q.xyz, v) * 2.0f;
  return v + t * q.w + cross3(q.xyz, t);
}
static float4 multiply(float4 a, float4 b) {
  return (float4)(b.xyz * a.w + a.xyz * b.w + cross3(a.xyz, b.xyz), a.w * b.w - dot3(a.xyz, b.xyz));
}
static float4 conjugate(float4 q) { return (float4)(-q.x, -q.y, -q.z, q.w); }
kernel WG(64, 1, 1) void rigid_step(global Body *restrict bodies, float stiffness, float damping, float dt, uint steps,
                                    uint n) {
  uint i = WGX * 64 + TX;
  if (i >= n) return;
  Body b = bodies[i];
  float3 x = b.position.xyz;
  float4 q = b.orientation;
  float3 v = b.velocity.xyz;
  float3 w = b.spin.xyz;
  float3 h = b.half_size.xyz;
  float3 inertia = b.inertia.xyz;
  float3 inv_inertia =
      (float3)(__builtin_amdgcn_rcpf(inertia.x), __builtin_amdgcn_rcpf(inertia.y), __builtin_amdgcn_rcpf(inertia.z));
  for (uint s = 0; s < steps; s++) {
    float3 force = (float3)(0.0f), torque = (float3)(0.0f);
#pragma unroll
    for (uint c = 0; c < 8; c++) {
      float3 corner = (float3)((c & 1) != 0 ? h.x : -h.x, (c & 2) != 0 ? h.y : -h.y, (c & 4) != 0 ? h.z : -h.z);
      float3 arm = turn(q, corner);
      float depth = -(x.y + arm.y);
      if (depth > 0.0f) {
        float3 at = v + cross3(w, arm);
        float3 push = (float3)(-damping * at.x, __builtin_fmaxf(stiffness * depth - damping * at.y, 0.0f), -damping * at.z);
        force += push;
        torque += cross3(arm, push);
      }
    }
    float4 back = conjugate(q);
    float3 local_spin = turn(back, w);
    float3 local_torque = turn(back, torque) - cross3(local_spin, inertia * local_spin);
    v += (force * b.position.w + (float3)(0.0f, -9.81f, 0.0f)) * dt;
    w += turn(q, inv_inertia * local_torque) * dt;
    x += v * dt;
    q += multiply((float4)(w, 0.0f), q) * (0.5f * dt);
    q *= __builtin_amdgcn_rsqf(dot4(q, q));
  }
  b.position = (float4)(x, b.position.w);
  b.orientation = q;
  b.velocity = (float4)(v, 0.0f);
  b.spin = (float4)(w, 0.0f);
  bodies[i] = b;
}
