; A compute shader with scratch memory and local data.
@shared = internal addrspace(3) global [96 x i32] undef, align 4

define amdgpu_cs void @cs(ptr addrspace(1) %p, i32 inreg %x, <3 x i32> %id) {
  %a = alloca [40 x i32], align 4, addrspace(5)
  %q = getelementptr [40 x i32], ptr addrspace(5) %a, i32 0, i32 %x
  store volatile i32 %x, ptr addrspace(5) %q
  %r = load volatile i32, ptr addrspace(5) %q
  %s = getelementptr [96 x i32], ptr addrspace(3) @shared, i32 0, i32 %x
  store volatile i32 %r, ptr addrspace(3) %s
  store i32 %r, ptr addrspace(1) %p
  ret void
}
