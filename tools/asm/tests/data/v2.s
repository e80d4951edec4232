// llvm-mc-14 --amdhsa-code-object-version=2 -mcpu=gfx803
.hsa_code_object_version 1,0
.hsa_code_object_isa
.text
.globl  hello_world
.p2align 8
.amdgpu_hsa_kernel hello_world
hello_world:
   .amd_kernel_code_t
      enable_sgpr_kernarg_segment_ptr = 1
      is_ptr64 = 1
      compute_pgm_rsrc1_vgprs = 0
      compute_pgm_rsrc1_sgprs = 0
      compute_pgm_rsrc2_user_sgpr = 2
   .end_amd_kernel_code_t
  s_load_dwordx2 s[0:1], s[0:1] 0x0
  v_mov_b32 v0, 3.14159
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s0
  v_mov_b32 v2, s1
  flat_store_dword v[1:2], v0
  s_endpgm
.Lfunc_end0:
     .size   hello_world, .Lfunc_end0-hello_world
.amd_amdgpu_isa "amdgcn-amd-amdhsa--gfx803"
.amd_amdgpu_hsa_metadata
---
Version: [ 1, 0 ]
Printf: ['1:1:4:%d\n', "a b"]
Kernels:
  - Name: hello_world
    SymbolName: 'hello_world@kd'
    Language: OpenCL C
    LanguageVersion: [ 2, 0 ]
    Attrs:
      ReqdWorkGroupSize: [1, 2, 4]
      WorkGroupSizeHint: [8,16,32]
      VecTypeHint: int
      RuntimeHandle: foo
    Args:
      - Name: a
        TypeName: 'float*'
        Size: 8
        Align: 8
        ValueKind: GlobalBuffer
        PointeeAlign: 4
        AddrSpaceQual: Global
        AccQual: Default
        ActualAccQual: ReadOnly
        IsConst: true
        IsRestrict: true
        IsVolatile: true
        IsPipe: true
      - {Size: 4, Align: 4, ValueKind: ByValue, AccQual: ReadOnly}
    CodeProps:
      KernargSegmentSize: 24
      GroupSegmentFixedSize: 0
      PrivateSegmentFixedSize: 0
      KernargSegmentAlign: 8
      WavefrontSize: 64
      NumSGPRs: 14
      NumVGPRs: 7
      MaxFlatWorkGroupSize: 256
      IsDynamicCallStack: true
      IsXNACKEnabled: true
      NumSpilledSGPRs: 1
      NumSpilledVGPRs: 2
    DebugProps:
      DebuggerABIVersion: [1, 0]
      ReservedNumVGPRs: 4
      ReservedFirstVGPR: 11
      PrivateSegmentBufferSGPR: 0
      WavefrontPrivateSegmentOffsetSGPR: 11
.end_amd_amdgpu_hsa_metadata
