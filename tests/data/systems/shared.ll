; y[i] = x[j] * a, where j counts backwards within the group: the values go through LDS.
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare void @llvm.amdgcn.s.barrier()
@values = internal addrspace(3) global [64 x float] undef
define amdgpu_kernel void @k(ptr addrspace(1) noalias %x, ptr addrspace(1) %y, float %a) ATTRIBUTES {
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = mul i32 %group, 64
  %i = add i32 %first, %item
  %from = getelementptr float, ptr addrspace(1) %x, i32 %i
  %value = load float, ptr addrspace(1) %from
  %own = getelementptr float, ptr addrspace(3) @values, i32 %item
  store float %value, ptr addrspace(3) %own
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %back = sub i32 63, %item
  %other = getelementptr float, ptr addrspace(3) @values, i32 %back
  %got = load float, ptr addrspace(3) %other
  %product = fmul float %got, %a
  %to = getelementptr float, ptr addrspace(1) %y, i32 %i
  store float %product, ptr addrspace(1) %to
  ret void
}
