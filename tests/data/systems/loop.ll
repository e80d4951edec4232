; y[i] = x[i] * a, computed by a loop with item + 1 turns that ends differently in each lane.
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
define amdgpu_kernel void @k(ptr addrspace(1) noalias %x, ptr addrspace(1) %y, float %a) ATTRIBUTES {
entry:
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = mul i32 %group, 64
  %i = add i32 %first, %item
  br label %turn
turn:
  %n = phi i32 [ 0, %entry ], [ %next, %turn ]
  %next = add i32 %n, 1
  %done = icmp ugt i32 %next, %item
  br i1 %done, label %end, label %turn
end:
  %back = sub i32 %next, 1
  %at = add i32 %first, %back
  %from = getelementptr float, ptr addrspace(1) %x, i32 %at
  %value = load float, ptr addrspace(1) %from
  %product = fmul float %value, %a
  %to = getelementptr float, ptr addrspace(1) %y, i32 %i
  store float %product, ptr addrspace(1) %to
  ret void
}
