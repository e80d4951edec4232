; y[i] = x[i] * a, where i comes from the size of the group that precedes the arguments.
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.r600.read.local.size.x()
define amdgpu_kernel void @k(ptr addrspace(1) noalias %x, ptr addrspace(1) %y, float %a) ATTRIBUTES {
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %size = call i32 @llvm.r600.read.local.size.x()
  %first = mul i32 %group, %size
  %i = add i32 %first, %item
  %from = getelementptr float, ptr addrspace(1) %x, i32 %i
  %value = load float, ptr addrspace(1) %from
  %product = fmul float %value, %a
  %to = getelementptr float, ptr addrspace(1) %y, i32 %i
  store float %product, ptr addrspace(1) %to
  ret void
}
