//! What LLVM's assembler refuses, and what kernc says about it.

/// Sources and a message about them.
const SOURCES: &[(&str, &str)] = &[
    (".subsection -1", "there is no subsection -1"),
    ("s_nop 0 /* abc\ns_nop 1", "comment is never closed"),
    ("/* abc */ s_nop 0 /*", "comment is never closed"),
    (
        ".macro m a, b, c:vararg\n.long \\a\n.endm\nm a=1, b=2, 3, 4",
        "an argument by position behind one by name",
    ),
    (".macro m a\n.long \\a\n.endm\nm x=1", "the macro has no parameter `x`"),
    (".altmacro\n.macro m n\nl_&n&:\n.endm\nm 3", "unknown instruction `l_`"),
    (".text 2147483648", "there is no subsection 2147483648"),
    (".data undefined", "the value of this expression must be known here"),
    (".uleb128 nowhere", "the expression is no number, at the end of the text either"),
    (".uleb128 b-a\na:\n.data\nb:", "the expression is no number, at the end of the text either"),
    (".space a-b\na: .byte 1\nb:", "a negative size"),
    ("a: .space -3", "a negative size"),
    (".fill b-a, end-b\na: .byte 1\nb:\nend:", "the value of this expression must be known here"),
    (".subsection 1, 2", "unexpected text after the statement"),
    (".section .list, 1", "expected a string"),
    (".pushsection .list, \"a\", @progbits, 1", "unexpected text after the statement"),
    (".section .eh_frame,\"aw\"", "section `.eh_frame` has another type, other flags or another entry size"),
    (
        ".section .list,\"aM\",@progbits,4\n.section .list,\"aM\",@progbits,8",
        "section `.list` has another type, other flags or another entry size",
    ),
    (".previous", "`.previous` without a section before this one"),
    (".data 1\n.byte 1\n.org 0", "`.org` cannot go backwards"),
    (".data\n.byte 1\n.data 1\n.balignw 4, 1", "3 bytes of padding are no multiple of 2"),
    (".weakref alias target", "expected `,`"),
    (".weakref alias, 4", "expected a symbol"),
    (".weakref alias, target+4", "unexpected text after the statement"),
    (".weakref alias, target\nalias:", "`alias` is already defined"),
    (".weakref alias, target\n.equiv alias, 4", "`alias` is already defined"),
    (".weakref alias, alias\n.quad alias", "the expression is too large, or a symbol is defined by itself"),
    (".comm area, 4\n.set other, area", "`other` is set to something that is not defined"),
    (".weak f\n.globl f", "`f` is weak and cannot become global"),
    (".comm f, 4\n.local f", "`f` is global and cannot become local"),
    (".local f, f, g\n.globl g", "`g` is local and cannot become global"),
    (".symver f, g", "`g` has no version"),
    (".symver f", "expected `,`"),
    (".symver f, f@V1, local", "expected `remove`"),
    (".quad f\n.symver f, f@@V1", "`f@@V1` is a default version, but `f` is not defined"),
    (".quad f\n.symver f, f@V1\n.symver f, f@V2", "`f` has several versions, but is not defined"),
    (".comm f, 4\n.symver f, f@V1", "`f` has no place yet, so it can have no version"),
    (".cg_profile f, g, 32", "a call-graph profile cannot be written for AMD GPUs"),
    (".lto_discard f,", "expected a symbol"),
    (".lto_set_conditional f, 4", "expected a symbol"),
    ("f:\n.lto_set_conditional f, g", "`f` is already defined"),
    (".addrsig 1", "unexpected text after the statement"),
    (".addrsig_sym f, g", "unexpected text after the statement"),
    (".cfi_endproc", "no call frame is open"),
    (".cfi_undefined s0", "no call frame is open"),
    (".cfi_unknown s0", "unknown directive `.cfi_unknown`"),
    (".cfi_startproc", "the call frame has no end"),
    (".cfi_startproc\n.cfi_startproc", "a call frame begins inside of another"),
    (".cfi_startproc other\n.cfi_endproc", "unexpected text after the statement"),
    (".cfi_startproc\n.data\n.cfi_endproc", "the call frame ends in another section"),
    (
        ".cfi_startproc\n.data\n.cfi_undefined 1\n.text\n.cfi_endproc",
        "the place is not in the call frame's code",
    ),
    (".cfi_startproc\n.cfi_personality 1, f\n.cfi_endproc", "a pointer cannot be encoded as 0x1"),
    (".cfi_startproc\n.cfi_personality 0x2b, f\n.cfi_endproc", "a pointer cannot be encoded as 0x2b"),
    (".cfi_startproc\n.cfi_personality 2, f\n.cfi_endproc", "there is no relocation for a field of 2 bytes"),
    (".cfi_startproc\n.cfi_lsda 3\n.cfi_endproc", "expected `,`"),
    (".cfi_startproc\n.cfi_def_cfa s32\n.cfi_endproc", "expected `,`"),
    (
        ".cfi_startproc\n.cfi_offset s32, later\n.cfi_endproc",
        "the value of this expression must be known here",
    ),
    (".cfi_startproc\n.cfi_offset nothing, 4\n.cfi_endproc", "expected a register"),
    (".cfi_startproc\n.cfi_window_save 4\n.cfi_endproc", "unexpected text after the statement"),
    (".cfi_startproc\n.cfi_escape\n.cfi_endproc", "expected an expression, found the end of the line"),
    ("f:\n.cfi_startproc\n.cfi_label f\n.cfi_endproc", "`f` is already defined"),
    (".cfi_sections .eh_frame .debug_frame", "expected `,`"),
    (".file 1", "expected a string"),
    (".file -1 \"a.c\"", "expected the number or the name of a file"),
    (".file \"dir\" \"a.c\"", "unexpected text after the statement"),
    (".file \"a.c\" md5 1", "unexpected text after the statement"),
    (".file 1 \"dir\" \"a.c\" \"b.c\"", "unexpected text after the statement"),
    (".file 1 \"a.c\" md5 name", "a number of up to 128 bits is expected"),
    (".file 1 \"a.c\" source name", "expected a string"),
    (".file 1 \"a.c\"\n.file 1 \"b.c\"", "file number 1 is already taken"),
    (".file 2 \"a.c\"", "no `.file` has the number 1"),
    (".file 0 \"a.c\"\n.file 1 \"a.c\"\n.loc 1 1", "no `.file` has the number 1"),
    (".file 1 \"a.c\"\n.loc 0 1", "no `.file` has the number 0"),
    (".file 1 \"a.c\"\n.loc", "expected the number of a file, found the end of the line"),
    (".file 1 \"a.c\"\n.loc 1 -1", "expected an option of `.loc`"),
    (".file 1 \"a.c\"\n.loc 1 1 1+2", "expected an option of `.loc`"),
    (".file 1 \"a.c\"\n.loc 1 1 1 view 0", "expected an option of `.loc`"),
    (".file 1 \"a.c\"\n.loc 1 1 is_stmt 2", "`is_stmt` is 0 or 1"),
    (".file 1 \"a.c\"\n.loc 1 1 isa -1", "`isa` is not negative"),
    (".float 0x3f800000", "a hexadecimal float needs an exponent"),
    (".float 0b1", "not a number"),
    (".ascii \"\\400\"", "an octal escape is at most `\\377`"),
    (".ascii \"a\",", "expected a string"),
    (".irp x\n.endr", "expected `,`"),
    (".irp x 1,2\n.endr", "expected `,`"),
    (".irpc x,1 2\n.endr", "`.irpc` takes one word or string"),
    (".macro m a:vararg, b\n.endm", "a parameter behind one that takes all the rest"),
    (".macro m a:req=5\n.endm\nm", "macro `m` needs a value for `a`"),
    (".amdgpu_lds area, 65537", "the size or alignment of an LDS symbol is out of range"),
];

/// Instructions, with the processor they are for.
const INSTRUCTIONS: &[(&str, &str, &str)] = &[
    ("gfx906", "v_add_f32 v0, --v1, v2", "a sign in front of a sign"),
    ("gfx906", "s_add_u32 s0, --s1, s2", "a sign in front of a sign"),
    ("gfx906", "v_add_f32 v0, v1.l, v2", "gfx906 has no register `v1.l`"),
    ("gfx906", "s_mov_b64 s[0:1], [s[2:3]]", "a list has single registers"),
    ("gfx906", "v_fma_f32 v0, v1, v2, v3 op_sel:[0,0,0]", "the instruction does not take op_sel here"),
    ("gfx906", "v_fma_f32 v0, v1, v2, v3 mul:2 div:2", "`div` is given twice"),
    (
        "gfx906",
        "v_fma_mix_f32 v0, v1, v2, v3 neg_lo:[1,0,0]",
        "signs of mixed precision stand before the operands",
    ),
    (
        "gfx90a",
        "v_mfma_f32_32x32x1f32 v[0:31], v0, v1, a[0:31]",
        "not of the destination's kind, VGPRs or accumulation VGPRs",
    ),
    (
        "gfx90a",
        "v_mfma_f64_4x4x4f64 v[0:1], v[2:3], v[4:5], v[6:7] op_sel:[0,0]",
        "matrix instructions select no halves",
    ),
    ("gfx600", ".amdgpu_lds foo, 32772, 4", "the size or alignment of an LDS symbol is out of range"),
    ("gfx906", "v_mov_b32 v0, a1", "gfx906 has no register `a1`"),
    ("gfx906", ".set acc1, 5\ns_mov_b32 s0, acc1", "gfx906 has no register `acc1`"),
    ("gfx906", "s_load_dword s0, src_vccz, 0", "not a register group of the size"),
    ("gfx906", "s_load_dword s0, s[0:1], src_shared_base", "this register cannot stand here"),
    ("gfx906", "global_load_dword v0, v1, src_vccz", "not a register group of the size"),
    ("gfx906", "s_setpc_b64 src_vccz", "not a register group of the size"),
    ("gfx1030", "s_buffer_load_dword s0, null, 0", "not a register group of the size"),
    ("gfx1030", "buffer_load_dword v0, off, null, 0", "not a register group of the size"),
    ("gfx1030", "v_mov_b32_sdwa v0, v1 dpp8:[0,1,2,3,4,5,6,7]", "DPP controls need the DPP form"),
    ("gfx906", "v_mov_b32_sdwa v0, v1 row_shl:1", "DPP controls need the DPP form"),
    ("gfx906", "v_mov_b32_dpp v0, v1 dst_sel:BYTE_0", "SDWA selections need the SDWA form"),
    ("gfx906", "s_nop", "too few operands"),
    ("gfx906", "s_waitcnt", "too few operands"),
    ("gfx90a", "s_mov_b32 s0, a1", "an accumulation VGPR cannot stand here"),
    ("gfx90a", "s_setpc_b64 a[2:3]", "an accumulation VGPR cannot stand here"),
    ("gfx90a", "s_load_dword s0, a[2:3], 0", "an accumulation VGPR cannot stand here"),
    ("gfx90a", "s_store_dword a0, s[2:3], 0", "an accumulation VGPR cannot stand here"),
    ("gfx90a", "s_buffer_load_dword s0, s[4:7], a1", "an accumulation VGPR cannot stand here"),
    ("gfx90a", "buffer_load_dword v0, off, a[4:7], 0", "an accumulation VGPR cannot stand here"),
    ("gfx90a", "buffer_load_dword v0, off, s[4:7], a1", "an accumulation VGPR cannot stand here"),
    ("gfx90a", "v_cndmask_b32 v0, v1, v2, a[2:3]", "an accumulation VGPR cannot stand here"),
    ("gfx90a", "global_load_dword v0, v1, a[2:3]", "an accumulation VGPR cannot stand here"),
];

#[test]
fn messages() {
    let options = crate::common::options("gfx906");
    for (source, message) in SOURCES {
        match asm::assemble(source, &options) {
            Ok(_) => panic!("accepted: {source}"),
            Err(list) => assert!(list.iter().any(|error| &error.message == message), "{source}: {list:?}"),
        }
    }
}

#[test]
fn messages_of_instructions() {
    for (processor, source, message) in INSTRUCTIONS {
        match asm::assemble(source, &crate::common::options(processor)) {
            Ok(_) => panic!("accepted: {source}"),
            Err(list) => {
                let says = format!("{list:?}");
                assert!(says.contains(message), "{source}: {says}");
            }
        }
    }
}

#[test]
fn llvm_refuses_them_too() {
    let Some(tool) = crate::common::tool("llvm-mc-19", "llvm_refuses_them_too") else { return };
    for (source, _) in SOURCES {
        assert!(crate::common::llvm_mc(&tool, &["-mcpu=gfx906"], source).is_err(), "{source}");
    }
    for (processor, source, _) in INSTRUCTIONS {
        assert!(crate::common::llvm_mc(&tool, &[&format!("-mcpu={processor}")], source).is_err(), "{source}");
    }
}

/// A size that grows by what it is. (LLVM's assembler does not end.)
#[test]
fn sizes_that_depend_on_themselves() {
    let options = asm::Options { target: isa::Target::by_name("gfx906"), ..asm::Options::default() };
    let mistakes = asm::assemble("a: .fill b-a+1\nb:", &options).expect_err("refused");
    assert_eq!(mistakes[0].message, "the size of this depends on itself");
}
