; A function of each calling convention.
define amdgpu_ps float @ps(float inreg %x, float %y, i32 %z) {
  %r = fadd float %x, %y
  ret float %r
}

define amdgpu_vs float @vs(i32 inreg %x, i32 %y) {
  %r = sitofp i32 %y to float
  ret float %r
}

define amdgpu_gs void @gs(i32 inreg %x, ptr addrspace(1) %p) {
  store i32 %x, ptr addrspace(1) %p
  ret void
}

define amdgpu_hs void @hs(i32 inreg %x, ptr addrspace(1) %p) {
  store i32 %x, ptr addrspace(1) %p
  ret void
}

define amdgpu_es void @es(i32 inreg %x, ptr addrspace(1) %p) {
  store i32 %x, ptr addrspace(1) %p
  ret void
}

define amdgpu_ls void @ls(i32 inreg %x, ptr addrspace(1) %p) {
  store i32 %x, ptr addrspace(1) %p
  ret void
}

define amdgpu_gfx i32 @callable(i32 %x) {
  %a = alloca [4 x i32], align 4, addrspace(5)
  %q = getelementptr [4 x i32], ptr addrspace(5) %a, i32 0, i32 %x
  store volatile i32 %x, ptr addrspace(5) %q
  %r = load volatile i32, ptr addrspace(5) %q
  ret i32 %r
}
