; y[i] = x[i] * a + g, with the number of groups added: `g` is in the spill table. The upper half of the table's
; address is that of the program counter; LLVM itself does not add it.
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i64 @llvm.amdgcn.s.getpc()
define amdgpu_kernel void @k(ptr addrspace(1) noalias %x, ptr addrspace(1) %y, float %a) ATTRIBUTES {
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = mul i32 %group, 64
  %i = add i32 %first, %item
  %from = getelementptr float, ptr addrspace(1) %x, i32 %i
  %value = load float, ptr addrspace(1) %from
  %product = fmul float %value, %a
  %low = ptrtoint ptr addrspace(6) %spill to i32
  %low64 = zext i32 %low to i64
  %pc = call i64 @llvm.amdgcn.s.getpc()
  %high = and i64 %pc, -4294967296
  %address = or i64 %high, %low64
  %table = inttoptr i64 %address to ptr addrspace(4)
  %at = getelementptr float, ptr addrspace(4) %table, i32 10
  %g = load float, ptr addrspace(4) %at
  %sum = fadd float %product, %g
  %count = load i32, ptr addrspace(4) %counts
  %groups = uitofp i32 %count to float
  %all = fadd float %sum, %groups
  %to = getelementptr float, ptr addrspace(1) %y, i32 %i
  store float %all, ptr addrspace(1) %to
  ret void
}
