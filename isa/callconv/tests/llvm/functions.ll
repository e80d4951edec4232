; Functions that say one thing each. What is asked of them stands in main.rs, under the name of the fact.
target datalayout = "A5"
target triple = "amdgcn-amd-amdhsa"

declare void @ext()
declare void @use(ptr addrspace(5))
declare void @many([40 x i32])
declare i32 @llvm.amdgcn.readfirstlane(i32)
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare ptr addrspace(4) @llvm.amdgcn.queue.ptr()
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
declare ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()
declare i64 @llvm.amdgcn.dispatch.id()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()

; Implicit arguments.
define ptr addrspace(4) @dispatch_ptr() #0 {
  %a = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  ret ptr addrspace(4) %a
}
define ptr addrspace(4) @queue_ptr() #0 {
  %a = call ptr addrspace(4) @llvm.amdgcn.queue.ptr()
  ret ptr addrspace(4) %a
}
define ptr addrspace(4) @implicitarg_ptr() #0 {
  %a = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  ret ptr addrspace(4) %a
}
define ptr addrspace(4) @kernarg_ptr() #0 {
  %a = call ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()
  ret ptr addrspace(4) %a
}
define i64 @dispatch_id() #0 {
  %a = call i64 @llvm.amdgcn.dispatch.id()
  ret i64 %a
}
define i32 @workgroup_x() #0 {
  %a = call i32 @llvm.amdgcn.workgroup.id.x()
  ret i32 %a
}
define i32 @workgroup_y() #0 {
  %a = call i32 @llvm.amdgcn.workgroup.id.y()
  ret i32 %a
}
define i32 @workgroup_z() #0 {
  %a = call i32 @llvm.amdgcn.workgroup.id.z()
  ret i32 %a
}
define i32 @workitem_x() #0 {
  %a = call i32 @llvm.amdgcn.workitem.id.x()
  ret i32 %a
}
define i32 @workitem_y() #0 {
  %a = call i32 @llvm.amdgcn.workitem.id.y()
  ret i32 %a
}
define i32 @workitem_z() #0 {
  %a = call i32 @llvm.amdgcn.workitem.id.z()
  ret i32 %a
}

; Waits.
define void @leaf() #0 {
  ret void
}
define void @store(ptr addrspace(1) %p) #0 {
  store i32 7, ptr addrspace(1) %p
  ret void
}
define i32 @load(ptr addrspace(1) %p) #0 {
  %v = load i32, ptr addrspace(1) %p
  ret i32 %v
}
define void @lds(ptr addrspace(3) %p) #0 {
  store i32 7, ptr addrspace(3) %p
  ret void
}
define void @store_and_call(ptr addrspace(1) %p) #0 {
  store i32 7, ptr addrspace(1) %p
  call void @ext()
  ret void
}

; The stack.
define amdgpu_kernel void @kernel() #0 {
  call void @many([40 x i32] zeroinitializer)
  ret void
}
define void @local() #0 {
  %a = alloca i32, align 4, addrspace(5)
  call void @use(ptr addrspace(5) %a)
  ret void
}
define i32 @local_64([40 x i32] %a, i32 %b) #0 {
  %l = alloca i32, align 64, addrspace(5)
  call void @use(ptr addrspace(5) %l)
  ret i32 %b
}
define i32 @on_stack([31 x i32] %a, i32 %b) #0 {
  ret i32 %b
}
define void @pass_on([40 x i32] %a) #0 {
  call void @many([40 x i32] %a)
  ret void
}

; The state.
define void @branch(i32 %a, ptr addrspace(1) %p) #0 {
  %c = icmp eq i32 %a, 0
  br i1 %c, label %then, label %end
then:
  store i32 %a, ptr addrspace(1) %p
  call void @ext()
  br label %end
end:
  ret void
}
define float @divide(float %a, float %b) #1 {
  %v = fdiv float %a, %b
  ret float %v
}
define i32 @index(<16 x i32> %v, i32 %n) #0 {
  %s = call i32 @llvm.amdgcn.readfirstlane(i32 %n)
  %r = extractelement <16 x i32> %v, i32 %s
  ret i32 %r
}
define void @lds_around_call(ptr addrspace(3) %p, <16 x i32> %v, i32 %i) #0 {
  store i32 7, ptr addrspace(3) %p
  %z = call i32 @index(<16 x i32> %v, i32 %i)
  store i32 %z, ptr addrspace(3) %p
  ret void
}

attributes #0 = { nounwind noinline }
attributes #1 = { nounwind noinline "denormal-fp-math-f32"="preserve-sign,preserve-sign" }
