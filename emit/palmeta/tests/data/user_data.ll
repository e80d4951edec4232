; A compute shader whose arguments are the sixteen user SGPRs, the work-group ids and the work-item ids.
define amdgpu_cs void @_amdgpu_cs_main(i32 inreg %git, i32 inreg %pst, ptr addrspace(1) inreg %out, i32 inreg %n, i32 inreg %e3, i32 inreg %e4, i32 inreg %e5, i32 inreg %e6, i32 inreg %e7, i32 inreg %e8, i32 inreg %e9, ptr addrspace(6) inreg %spill, ptr addrspace(4) inreg %ngroups, i32 inreg %gds, <3 x i32> inreg %wg, <3 x i32> %tid) #0 {
  %a = alloca [8 x i32], align 4, addrspace(5)
  %t = extractelement <3 x i32> %tid, i32 0
  %m = and i32 %t, 7
  %q = getelementptr [8 x i32], ptr addrspace(5) %a, i32 0, i32 %m
  store volatile i32 %n, ptr addrspace(5) %q
  %r = load volatile i32, ptr addrspace(5) %q
  %w = extractelement <3 x i32> %wg, i32 0
  %b = mul i32 %w, 64
  %i = add i32 %b, %t
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  %s = getelementptr i32, ptr addrspace(6) %spill, i32 10
  %sv = load i32, ptr addrspace(6) %s
  %nx = load i32, ptr addrspace(4) %ngroups
  %x1 = add i32 %r, %sv
  %x2 = add i32 %x1, %nx
  store i32 %x2, ptr addrspace(1) %p
  ret void
}
attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }
