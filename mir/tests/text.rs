//! Machine IR that is written, read, and written again.

use isa::{Form, Lane, MachInst, ModFlags, Operand, Reg, SdwaSel, Target, op};
use mir::text::{self, Options};
use mir::{MachBlock, MachFunc};

fn target() -> &'static Target {
    Target::by_name("gfx906").expect("a processor")
}

const NAMES: text::Names<'static> = text::Names { globals: &["table", "other"], funcs: &["k", "f"] };

fn write(func: &MachFunc, locations: bool) -> String {
    let mut out = String::new();
    let options = Options { names: NAMES, locations };
    text::write_function(func, target(), &options, &mut out);
    out
}

fn read(text: &str) -> Result<Vec<MachFunc>, text::ParseError> {
    text::read_functions(text, |_| target(), &NAMES)
}

/// Every word of the syntax, in the form in which it is written.
const ALL: &str = r#"machine @k {
    abi private_segment_buffer dispatch_ptr queue_ptr kernarg_ptr dispatch_id flat_scratch_init workgroup_id_x workgroup_id_y workgroup_id_z private_segment_wave_offset makes_buffer pal user_data_0 user_data_1 user_data_2 user_data_3 user_data_4 user_data_5 user_data_6 user_data_7 user_data_8 user_data_9 group_counts
    workitem_ids 2
    lds_size 64
    scratch_size 8
    kernarg_size 24
    vgprs 3
    sgprs 10
    spilled_vgprs 1
    spilled_sgprs 2
    hidden printf_buffer queue_ptr hostcall_buffer global_offset foreign dynamic_lds
    uses_vcc
    callee
    input %s0 = s8
    input %v1 = v0
    site @f pins v0 v0 v31 s4 local clobbers s[4:31] vcc v[0:31]
    site sig3 pins v0 v0 v31 s4 stack clobbers s[30:31] v0 a[0:31]

bb0:
  prologue:
    s_mov_b64 exec, %s[2,3]
  body:
    s_load_dwordx2 %s[4,5], %s[6,7], 16 glc mem(constant)
    s_waitcnt vmcnt(0) lgkmcnt(3)                        "vmcnt: v_add needs \"v3\""
    s_waitcnt 4095
    v_fma_f32 %v8, %v1, 1.0, 0x3f800001 clamp neg:[0,1] abs:[1,0,1] mul:2 !17
    v_cmp_lt_u32_e64 vcc, 64, %v8
    v_cndmask_b32_e32 %v9, 0, %v8, vcc
    ds_read2_b32 %v[10,11], %v9 offset0:1 offset1:4 mem(workgroup shared alias:7)
    global_store_dword %v[10,12], %v9, off slc offset:-8 mem(release agent global one_as volatile nontemporal fail:relaxed)
    v_mov_b32_dpp %v13, %v9 bound_ctrl dpp(ctrl:0x111 row_mask:0xf bank_mask:0xf)
    v_add_u32_sdwa %v14, %v9, %v13 sdwa(dst:byte1 unused:2 src0:word0 src1:dword sext:[0,1])
    s_getpc_b64 s[10:11]
    s_add_u32 s10, s10, @other@lo+4
    s_addc_u32 s11, s11, @table@hi-8
    s_mov_b32 s12, scratch1@address
    copy %[s15,v16], 5
    s_mov_b64 s[12:13], src_shared_base
    s_mov_b64 s[12:13], reg(235, 2)
    wait_point 3
    fence mem(seq_cst system global shared private)
    call %v[22,23], %v[8,9], off, %s[0,4], off site:0
    call off, off, %v9, off, %s[6,7] site:1
    stack_end %s24
    s_call_b64 s[30:31], @f
  terminators:
    s_cbranch_scc1 bb2
  linear -> bb2(%s15, %s4), bb1
  logical -> none, bb1(%v14)

bb1(%v17) depth 2:
  linear -> bb2(%s4, %s4)
  logical -> bb2

bb2(%s18, %s19):
    s_endpgm 0
}
"#;

#[test]
fn what_is_read_is_written_alike() {
    let funcs = read(ALL).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(write(&funcs[0], true), ALL);
    let func = &funcs[0];
    assert_eq!((func.blocks.len(), func.vregs.len(), func.inputs.len()), (3, 25, 2));
    let first = &func.blocks.values().next().expect("a block");
    assert_eq!((first.prologue, first.term), (1, first.insts.len() as u32 - 1));
    assert_eq!(first.insts[4].loc, 17);
    assert_eq!(func.relocs[1].addend, -8);
    // Without locations they are lost, and nothing else.
    assert_eq!(write(func, false), ALL.replace(" !17", ""));
}

/// An archive gives functions back as they were, and a cleared function is as good as a new one.
#[test]
fn archived_functions_come_back() {
    let mut funcs = read(ALL).expect("the syntax of all there is");
    let small = "machine @small {\n\nbb0:\n    s_endpgm 0\n}\n";
    funcs.extend(read(small).expect("a small one"));
    funcs.extend(read(ALL).expect("once more"));
    let archive = mir::Archive::from_funcs(&funcs);
    let texts = |funcs: &[MachFunc]| funcs.iter().map(|func| write(func, true)).collect::<Vec<_>>();
    assert_eq!(texts(&archive.funcs()), texts(&funcs));
    assert!(mir::Archive::from_funcs(&[]).funcs().is_empty());
    funcs[0].clear();
    assert_eq!(write(&funcs[0], true), write(&MachFunc::default(), true));
}

#[test]
fn errors_tell_the_place() {
    let in_block = |line: &str| format!("; a comment\nmachine @k {{\nbb0:\n    {line}\n}}\n");
    let cases = [
        ("v_nothing %v1", "4:5: gfx906 has no instruction `v_nothing`"),
        ("s_mov_b32 %s1, ", "4:20: expected an operand"),
        ("s_mov_b32 %s1", "4:5: `s_mov_b32` has 2 operands"),
        ("s_mov_b32 %x1, 0", "4:16: expected a virtual register, like `%s1` or `%v2`"),
        ("s_mov_b32 s200, 0", "4:15: `s200` is no register of gfx906"),
        ("s_mov_b32 s0, 1000", "4:19: `1000` is no inline constant; write literals in hexadecimal"),
        ("s_branch bb7", "4:14: bb7 is not defined"),
        ("s_nop 0 glc what", "4:17: `what` is no modifier"),
        ("s_nop 0 mem(globl)", "4:17: `globl` is no attribute of an access"),
        ("s_add_u32 %s1, %v1, 0", "4:21: register 1 is of the other class elsewhere"),
        ("s_add_u32 s1, s1, @none@lo", "4:23: there is no variable or function `@none`"),
        ("s_nop 0 \"open", "4:13: this text has no closing quote"),
        ("body:", "4:5: this part cannot begin here"),
        ("linear -> %s1", "4:15: expected a block"),
    ];
    for (line, expected) in cases {
        match read(&in_block(line)) {
            Ok(_) => panic!("{line}: was read"),
            Err(error) => assert_eq!(error.to_string(), expected, "{line}"),
        }
    }
    let open = read("machine @k {\nbb0:\n").expect_err("no end");
    assert_eq!(open.to_string(), "1:13: this function has no closing `}`");
}

#[test]
fn other_text_is_left_to_others() {
    let text = "kernel @k {\n}\nmachine @k {\nbb0:\n    s_endpgm 0\n}\n; end\n";
    assert_eq!(text::without_functions(text), "kernel @k {\n}\n\n\n\n\n; end\n");
    assert_eq!(read(text).expect("a function").len(), 1);
}

/// A mnemonic, with its encoding and the number of operands, is one row of the table.
#[test]
fn every_instruction_of_the_compiler_s_processors_is_found_again() {
    for target in &isa::PROCESSORS {
        for op in isa::table::opcodes().filter(|op| isa::table::available(*op, target)) {
            // Only assemblers write the long `v_nop`: here `v_nop_e64` is a form of `v_nop`.
            if op.row().ops.is_empty() && op.row().name.ends_with("_e64") {
                continue;
            }
            for form in [Form::Full, Form::E32, Form::Sdwa, Form::Dpp] {
                let several = isa::encode::has_form(target, op, form);
                if form != Form::Full && !several {
                    continue;
                }
                let mut inst = MachInst::new(op, &vec![Operand::None; op.row().ops.len()]);
                inst.form = form;
                let mut func = MachFunc { name: "k".into(), ..MachFunc::default() };
                func.blocks.push(MachBlock { insts: vec![inst], term: 1, ..MachBlock::default() });
                let text = func.dump(target);
                let read = text::read_functions(&text, |_| target, &Default::default())
                    .unwrap_or_else(|e| panic!("{e}\n{text}"));
                let found = read[0].blocks.values().next().expect("a block").insts[0];
                assert_eq!((found.op, found.form), (op, form), "{text}");
            }
        }
    }
}

/// Operands and modifiers in places that no pass puts them.
#[test]
fn nothing_is_too_odd() {
    let mut func = MachFunc { name: "k".into(), ..MachFunc::default() };
    let mixed = [func.new_vreg(isa::RegClass::Sgpr), func.new_vreg(isa::RegClass::Vgpr)];
    let odd = [
        func.tuple(&mixed),
        func.tuple(&[]),
        Operand::regs(Reg(300), 200),
        Operand::regs(Reg(110), 1),
        Operand::Inline(230),
        Operand::Inline(248),
    ];
    let more = [
        Operand::Literal(0),
        Operand::Imm(-1),
        Operand::None,
        Operand::Scattered(isa::Scattered::new(&[3, 200]).expect("two")),
        Operand::Scattered(isa::Scattered::new(&[]).expect("none")),
        Operand::Inline(208),
    ];
    for op in [op::COPY, op::S_WAITCNT, op::S_NOP, op::V_ADD_F32] {
        for operands in [odd, more] {
            let mut inst = MachInst::new(op, &operands);
            inst.mods.flags = ModFlags::all();
            (inst.mods.omod, inst.mods.offset) = (7, i32::MIN);
            (inst.mods.neg, inst.mods.op_sel_hi) = (255, 128);
            inst.mods.lane = Lane::Sdwa {
                dst: SdwaSel::Word1,
                unused: 7,
                src0: SdwaSel::Byte3,
                src1: SdwaSel::Dword,
                sext: 3,
            };
            inst.mem = func.mem_ref(mir::MemRef { spaces: 255, alias: 9, ..mir::MemRef::default() });
            func.blocks.push(MachBlock { insts: vec![inst], term: 0, ..MachBlock::default() });
        }
    }
    let text = write(&func, true);
    let again = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(write(&again[0], true), text);
    let insts = |func: &MachFunc| -> Vec<_> {
        func.blocks.values().map(|b| (b.insts[0].op, b.insts[0].mods, b.insts[0].len)).collect()
    };
    assert_eq!(insts(&again[0]), insts(&func));
}
