// llvm-mc-19 -mcpu=gfx906 --amdhsa-code-object-version=4
// Other names: of what may be missing, of what a linker may replace, of places inside of tables.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.type common_type,@common
.type both_types,@function
.type both_types,@object

.weakref hook, __library_hook
.weakref unused, __library_unused
.weakref both, __library_both
.weakref replaced, first_choice
.weakref replaced, second_choice
.weakref here, defined_here
.weakref hidden_one, __library_hidden
.hidden __library_hidden
.type __library_hidden,@function

.text
.globl entry
.p2align 8
.type entry,@function
entry:
  s_getpc_b64 s[0:1]
  s_add_u32 s0, s0, hook@rel32@lo+4
  s_addc_u32 s1, s1, hook@rel32@hi+12
  s_getpc_b64 s[2:3]
  s_add_u32 s2, s2, hidden_one@gotpcrel32@lo+4
  s_addc_u32 s3, s3, hidden_one@gotpcrel32@hi+12
  s_branch here
  s_branch fallback
  s_branch inner
  s_endpgm
defined_here:
  s_endpgm
.size entry, .-entry

.weak fallback
.set fallback, entry+4
.set inner, fallback+4
.set elsewhere, undefined_one
.type declared,@object
.set later, value

.data
.quad both, __library_both, replaced, here+8
.quad fallback, fallback+16, inner, elsewhere+2
.long fallback-., inner-entry, later
.set value, 12

.section .rodata.str1.1,"aMS",@progbits,1
words:
.Lprivate:
  .asciz "one"
second:
  .asciz "two"
.set second_too, second+2
.section .tdata,"awT",@progbits
local_of_thread:
  .quad 1
.data
.quad words, second, second+1, .Lprivate+1, second_too, second_too+1
.quad local_of_thread, local_of_thread+8
.addrsig_sym elsewhere
