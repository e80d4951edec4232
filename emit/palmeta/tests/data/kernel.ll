; A kernel with scratch memory.
define amdgpu_kernel void @kernel(ptr addrspace(1) %p, i32 %x) {
  %a = alloca [8 x i32], align 4, addrspace(5)
  %t = call i32 @llvm.amdgcn.workitem.id.y()
  %g = call i32 @llvm.amdgcn.workgroup.id.z()
  %q = getelementptr [8 x i32], ptr addrspace(5) %a, i32 0, i32 %t
  store volatile i32 %g, ptr addrspace(5) %q
  %r = load volatile i32, ptr addrspace(5) %q
  store i32 %r, ptr addrspace(1) %p
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
