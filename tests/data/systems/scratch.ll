; y[i] = x[i] * a, with the index in scratch memory between.
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
define amdgpu_kernel void @k(ptr addrspace(1) noalias %x, ptr addrspace(1) %y, float %a) ATTRIBUTES {
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = mul i32 %group, 64
  %i = add i32 %first, %item
  %slots = alloca [64 x i32], addrspace(5)
  %slot = getelementptr i32, ptr addrspace(5) %slots, i32 %item
  store volatile i32 %i, ptr addrspace(5) %slot
  %j = load volatile i32, ptr addrspace(5) %slot
  %from = getelementptr float, ptr addrspace(1) %x, i32 %j
  %value = load float, ptr addrspace(1) %from
  %product = fmul float %value, %a
  %to = getelementptr float, ptr addrspace(1) %y, i32 %j
  store float %product, ptr addrspace(1) %to
  ret void
}
