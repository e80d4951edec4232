// llvm-mc-19 -mcpu=gfx906 --amdhsa-code-object-version=4
// What compilers tell linkers: versions of symbols, whose addresses matter, what has been taken out.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"

.addrsig
.addrsig_sym renamed
.addrsig_sym kept
.addrsig_sym .Lprivate
.addrsig_sym undefined_and_unused
.addrsig_sym only_weakly
.addrsig_sym alias
.addrsig_sym .data

.text
.globl kept
.type kept,@function
kept:
.Lprivate:
  s_getpc_b64 s[0:1]
  s_add_u32 s0, s0, renamed@rel32@lo+4
  s_addc_u32 s1, s1, renamed@rel32@hi+12
  s_endpgm
.size kept, .-kept
.symver kept, kept@OLD_1.0
.symver kept, kept@@NEW_2.0

.weak removed
.protected removed
.type removed,@object
removed:
  .quad 1
.size removed, 8
.symver removed, removed@V1, remove
local:
  .quad 2
.symver local, "local@V1"

.symver renamed, renamed@V1
.globl chosen
.symver chosen, chosen@@@V3
.symver elsewhere, elsewhere@@@V4
.hidden elsewhere
chosen:
  .quad chosen, removed, local, elsewhere+8, kept
.weakref alias, only_weakly
  .quad alias

.no_dead_strip used_by_nobody, local
.lto_discard gone, "gone too"
gone:
  .quad 3
.globl gone
.hidden gone
.set gone, 4
"gone too" = 5
.lto_discard
"gone too":
  .quad gone

.lto_set_conditional first, second
.lto_set_conditional third, first
.lto_set_conditional fourth, fifth
.globl third
  .quad third
second:
.lto_set_conditional sixth, second
.symver local, local@V1
.lto_set_conditional seventh, used_by_nobody
.globl eighth
.weak eighth
.addrsig_sym not_registered
.addrsig_sym .Lunseen
.addrsig_sym .rodata
.section .rodata
.set inherits, kept
.set inherits_too, inherits
.lto_set_conditional a1, z1
.lto_set_conditional a3, z1
.lto_set_conditional a2, a1
z1:
