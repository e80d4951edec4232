.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.if width > 8
	v_add_u32 v0, v0, width
.else
	v_add_u32 v0, v0, v1
.endif
	s_endpgm
