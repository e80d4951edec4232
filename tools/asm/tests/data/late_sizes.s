// llvm-mc-19 -mcpu=gfx906
// Sizes that labels of later lines decide.
.text
begin:
 .uleb128 end-begin
 .sleb128 begin-end
 .uleb128 end2-begin, 5, end-begin+100
 s_nop 0
 .fill fin-mid, 1, 0x7f
 .space fin-mid
 .org fin-mid+300, 0xee
mid:
 .long 1, 2
fin:
 .p2align 3
 .fill 130, 1, 0
end:
 .fill (end-mid)/4, 4, 9
 .skip (end-fin)-100, 3
end2:
 .section .data,"aw"
 .uleb128 end2-end
 .uleb128 later-.
 .zero 17000
later:
 .long later - behind
behind:
