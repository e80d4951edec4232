//! What the guide says of each operation (seed 000, lines 755-1349), one sentence after the other. Expected values are worked out from the
//! sentences.

use crate::evaluate::machine::{F32, I32, State, U8, U64, bytes, location_text, run, value};
use dwarf::{
    AddressSpace, Attribute, BaseType, Content, DebugInfo, Die, Encoding, Entry, Goal, Kind, Location,
    Machine, Need, Numbering, Reason, Register, Type, Unit, Value, assemble, evaluate,
};

/// Line 808 and after: stack operations move values and locations alike.
#[test]
fn the_stack_holds_values_and_locations() {
    let state = State::new();
    assert_eq!(value("DW_OP_lit1; DW_OP_lit2; DW_OP_swap; DW_OP_minus", &state), "0x1");
    // The top becomes the third, the second the top, the third the second: 1 2 3 becomes 3 1 2.
    assert_eq!(value("DW_OP_lit1; DW_OP_lit2; DW_OP_lit3; DW_OP_rot", &state), "0x2");
    assert_eq!(value("DW_OP_lit1; DW_OP_lit2; DW_OP_lit3; DW_OP_rot; DW_OP_drop", &state), "0x1");
    assert_eq!(value("DW_OP_lit7; DW_OP_lit2; DW_OP_lit3; DW_OP_pick 2", &state), "0x7");
    assert_eq!(location_text("DW_OP_reg1; DW_OP_lit2; DW_OP_over", &state), "exec");
    assert_eq!(location_text("DW_OP_regx s4; DW_OP_dup; DW_OP_drop", &state), "s4");
    for text in ["DW_OP_drop", "DW_OP_lit1; DW_OP_swap", "DW_OP_lit1; DW_OP_lit1; DW_OP_rot", "DW_OP_dup"] {
        assert!(value(text, &state).ends_with("too few entries"), "{text}");
    }
    // No entry may be a composite that is not complete.
    for op in ["DW_OP_dup", "DW_OP_drop", "DW_OP_pick 0", "DW_OP_lit1; DW_OP_swap"] {
        let text = format!("DW_OP_regx s4; DW_OP_piece 4; {op}");
        assert!(location_text(&text, &state).ends_with("this is none"), "{text}");
    }
}

/// Line 838.
#[test]
fn a_lane_is_a_generic_value() {
    let state = State { lane: 37, ..State::new() };
    assert_eq!(value("DW_OP_LLVM_push_lane", &state), "0x25");
}

/// Lines 880-910: offsets are signed, in bytes or bits, and stay inside.
#[test]
fn offsets_stay_inside() {
    let state = State::new();
    assert_eq!(location_text("DW_OP_regx v3.64; DW_OP_LLVM_offset_uconst 255", &state), "v3 + 2040 bits");
    assert!(location_text("DW_OP_regx v3.64; DW_OP_LLVM_offset_uconst 256", &state).contains("outside"));
    assert!(location_text("DW_OP_regx v3.32; DW_OP_LLVM_offset_uconst 128", &state).contains("outside"));
    assert_eq!(location_text("DW_OP_regx s0; DW_OP_lit31; DW_OP_LLVM_bit_offset", &state), "s0 + 31 bits");
    assert!(
        location_text("DW_OP_regx s0; DW_OP_const1u 32; DW_OP_LLVM_bit_offset", &state).contains("outside")
    );
    assert!(location_text("DW_OP_regx s0; DW_OP_consts -1; DW_OP_LLVM_offset", &state).contains("outside"));
    let back = "DW_OP_regx s0; DW_OP_lit3; DW_OP_LLVM_offset; DW_OP_consts -2; DW_OP_LLVM_offset";
    assert_eq!(location_text(back, &state), "s0 + 8 bits");
    // Line 1039: nowhere stays nowhere.
    assert_eq!(location_text("DW_OP_LLVM_undefined; DW_OP_LLVM_offset_uconst 9", &state), "nowhere");
    // A value is an address in global memory.
    assert_eq!(location_text("DW_OP_lit16; DW_OP_LLVM_offset_uconst 4", &state), "global memory at 0x14");
}

/// Lines 912-940: what is read comes from any storage, zero-extended, and must all be there.
#[test]
fn any_storage_is_read() {
    let mut state = State::new();
    state.set("s5", &[0x11, 0x22, 0x33, 0x84]);
    state.store(AddressSpace::LOCAL, 0x40, &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(value("DW_OP_regx s5; DW_OP_deref_size 4", &state), "0x84332211");
    assert_eq!(value("DW_OP_regx s5; DW_OP_LLVM_offset_uconst 3; DW_OP_deref_size 1", &state), "0x84");
    assert!(value("DW_OP_regx s5; DW_OP_deref", &state).contains("outside"));
    assert!(value("DW_OP_regx s5; DW_OP_deref_size 9", &state).contains("sizes"));
    assert!(value("DW_OP_LLVM_undefined; DW_OP_deref_size 1", &state).contains("nowhere"));
    let local = "DW_OP_const1u 0x40; DW_OP_lit3; DW_OP_LLVM_form_aspace_address";
    assert_eq!(value(&format!("{local}; DW_OP_deref"), &state), "0x807060504030201");
    assert_eq!(value(&format!("{local}; DW_OP_deref_type 4 {I32}"), &state), "67305985");
    assert!(value(&format!("{local}; DW_OP_deref_type 8 {I32}"), &state).contains("sizes"));
    assert_eq!(value(&format!("DW_OP_regx s5; DW_OP_deref_type 4 {I32}"), &state), "-2077023727");
    assert_eq!(value(&format!("DW_OP_regval_type s5 {I32}"), &state), "-2077023727");
    assert_eq!(value("DW_OP_implicit_value [2a 01]; DW_OP_deref_size 2", &state), "0x12a");
    // Bits that lie across bytes.
    let bits = "DW_OP_regx s5; DW_OP_lit4; DW_OP_LLVM_bit_offset; DW_OP_deref_size 2";
    assert_eq!(value(bits, &state), "0x3221");
}

/// Lines 953-965: `xderef` is `swap; form_aspace_address; deref`.
#[test]
fn xderef_swaps_and_forms_an_address() {
    let mut state = State::new();
    state.store(AddressSpace::LOCAL, 0x10, &[9, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(value("DW_OP_lit3; DW_OP_lit16; DW_OP_xderef", &state), "0x100000000000009");
    assert_eq!(value("DW_OP_lit3; DW_OP_lit16; DW_OP_xderef_size 1", &state), "0x9");
    assert_eq!(value(&format!("DW_OP_lit3; DW_OP_lit16; DW_OP_xderef_type 1 {U8}"), &state), "9");
    assert!(value("DW_OP_lit4; DW_OP_lit16; DW_OP_xderef", &state).contains("no address space 0x4"));
}

/// Lines 1047-1075 and 706: address spaces, their sizes, and what converts to what.
#[test]
fn memory_has_address_spaces() {
    let state = State::new();
    let at = |space: u32| {
        format!("DW_OP_const8u 0x123456789; DW_OP_const1u {space}; DW_OP_LLVM_form_aspace_address")
    };
    assert_eq!(location_text(&at(0), &state), "global memory at 0x123456789");
    assert_eq!(location_text(&at(1), &state), "generic memory at 0x123456789");
    assert_eq!(location_text(&at(2), &state), "region memory at 0x23456789");
    assert_eq!(location_text(&at(5), &state), "private memory at 0x23456789");
    assert_eq!(location_text(&at(6), &state), "private_wave memory at 0x23456789");
    assert_eq!(location_text(&at(0x5f), &state), "private_lane63 memory at 0x23456789");
    for space in [4, 7, 0x1f, 0x60] {
        assert!(location_text(&at(space), &state).contains("no address space"), "{space}");
    }
    // Global memory converts back to a value, nothing else does.
    assert_eq!(value("DW_OP_addr 0x1234; DW_OP_lit4; DW_OP_plus", &state), "0x1238");
    assert!(value(&at(3), &state).ends_with("this is a location"));
    assert!(
        value("DW_OP_addr 0x1234; DW_OP_lit1; DW_OP_LLVM_bit_offset", &state).ends_with("this is a location")
    );
    assert_eq!(location_text("DW_OP_addrx 1", &state), "global memory at 0x2000");
    assert_eq!(value("DW_OP_constx 0", &state), "0x1000");
    assert_eq!(location_text("DW_OP_lit8; DW_OP_form_tls_address", &state), "global memory at 0x7008");
    // A typed value is no address.
    assert!(
        location_text(&format!("DW_OP_const_type {I32} [01 00 00 00]"), &state).ends_with("this is none")
    );
}

/// Lines 1110-1160.
#[test]
fn registers_hold_addresses() {
    let mut state = State::new();
    state.set("s33", &[0x00, 0x10, 0x00, 0x80]);
    assert_eq!(location_text("DW_OP_bregx s33 +8", &state), "global memory at 0x80001008");
    assert_eq!(location_text("DW_OP_bregx s33 -4096", &state), "global memory at 0x80000000");
    // The sum is cut to the address space's size.
    let sum = "DW_OP_lit5; DW_OP_LLVM_aspace_bregx s33 +2147479568";
    assert_eq!(location_text(sum, &state), "private memory at 0x10");
    assert!(location_text("DW_OP_lit4; DW_OP_LLVM_aspace_bregx s33 +0", &state).contains("no address space"));
    assert!(location_text("DW_OP_regx 96", &state).contains("no register 96"));
    assert!(location_text("DW_OP_bregx s34 +0", &state).ends_with("the contents of s34 is not known"));
}

/// Line 1092, 1096 and 1392: frames.
#[test]
fn frames_are_where_the_machine_says() {
    let mut state = State::new();
    assert!(location_text("DW_OP_fbreg +4", &state).ends_with("the frame base is not known"));
    assert!(location_text("DW_OP_call_frame_cfa", &state).ends_with("canonical frame address is not known"));
    state.frame_base = Some(Location::memory(AddressSpace::PRIVATE_LANE, 0x20).expect("an address"));
    state.cfa = Some(Location::memory(AddressSpace::PRIVATE_WAVE, 0x800).expect("an address"));
    assert_eq!(location_text("DW_OP_fbreg +16", &state), "private memory at 0x30");
    assert!(location_text("DW_OP_fbreg -33", &state).contains("outside"));
    assert_eq!(location_text("DW_OP_call_frame_cfa", &state), "private_wave memory at 0x800");
    // A register that is the frame base holds its address.
    state.set("s33", &[0x40, 0, 0, 0]);
    let base = dwarf::frame_base(
        &crate::evaluate::machine::code("DW_OP_regx s33"),
        dwarf::Encoding::default(),
        &state,
    );
    assert_eq!(base.expect("a base").to_string(), "global memory at 0x40");
}

/// Lines 1180-1200.
#[test]
fn values_that_are_nowhere() {
    let state = State::new();
    assert_eq!(location_text("DW_OP_implicit_value [01 02 03]", &state), "the value 01 02 03");
    assert_eq!(bytes("DW_OP_lit5; DW_OP_stack_value", 64, &state), Ok(vec![5, 0, 0, 0, 0, 0, 0, 0]));
    let float = format!("DW_OP_const_type {F32} [00 00 c0 3f]; DW_OP_stack_value");
    assert_eq!(bytes(&float, 32, &state), Ok(vec![0, 0, 0xc0, 0x3f]));
    assert_eq!(bytes(&float, 33, &state), Err(Reason::Outside));
    // The expression goes on.
    assert_eq!(
        value("DW_OP_lit5; DW_OP_stack_value; DW_OP_deref_size 1; DW_OP_lit1; DW_OP_plus", &state),
        "0x6"
    );
    assert!(location_text("DW_OP_regx s1; DW_OP_stack_value", &state).ends_with("this is a location"));
}

/// Lines 1225-1262.
#[test]
fn pointers_that_the_program_does_not_have() {
    let mut state = State::new();
    state.entry(0x99, "DW_OP_regx v8.64", false);
    state.constants.insert(0x77, vec![1, 2, 3, 4]);
    let pointer = "DW_OP_implicit_pointer 0x99 +4";
    assert_eq!(location_text(pointer, &state), "pointer to the entry at 0x99 +4");
    // Read as a whole and used as an address it leads to the object.
    assert_eq!(location_text(&format!("{pointer}; DW_OP_deref"), &state), "v8 + 32 bits");
    assert_eq!(
        location_text(&format!("{pointer}; DW_OP_deref; DW_OP_LLVM_offset_uconst 4"), &state),
        "v8 + 64 bits"
    );
    assert_eq!(
        location_text("DW_OP_implicit_pointer 0x77 +2; DW_OP_deref", &state),
        "the value 01 02 03 04 + 16 bits"
    );
    // Of a composite a whole part.
    let part = format!("DW_OP_regx s1; DW_OP_piece 4; {pointer}; DW_OP_piece 8; DW_OP_LLVM_piece_end");
    assert_eq!(
        location_text(&format!("{part}; DW_OP_LLVM_offset_uconst 4; DW_OP_deref"), &state),
        "v8 + 32 bits"
    );
    assert!(location_text(&format!("{part}; DW_OP_deref"), &state).contains("does not have"));
    // `stack_value` makes the pointer of it again.
    assert_eq!(
        location_text(&format!("{pointer}; DW_OP_deref; DW_OP_stack_value"), &state),
        "pointer to the entry at 0x99 +4"
    );
    // It is no number.
    for use_as in ["DW_OP_lit1; DW_OP_plus", "DW_OP_neg", "DW_OP_deref_size 4"] {
        let text = format!("{pointer}; DW_OP_deref; {use_as}");
        let error = run(&text, Goal::Value, &state, &[]).expect_err("no number");
        assert!(matches!(error.reason, Reason::ImplicitPointer | Reason::Need(_)), "{text}: {error}");
    }
    assert!(value(&format!("{pointer}; DW_OP_deref_size 4"), &state).contains("does not have"));
}

/// Line 1239: the same with an address space, which has a number among the first ones only.
#[test]
fn pointers_into_other_memories() {
    let mut state = State::new();
    state.entry(0x99, "DW_OP_regx v8.64", false);
    let encoding = Encoding { numbering: Numbering::First, ..Encoding::default() };
    let place = |text: &str| {
        let code = assemble(text, encoding).expect("operations");
        match evaluate(&code, encoding, Goal::Location, &state, &[]) {
            Ok(outcome) => outcome.location().expect("a location").to_string(),
            Err(error) => error.to_string(),
        }
    };
    let pointer = "DW_OP_lit3; DW_OP_LLVM_aspace_implicit_pointer 0x99 +4";
    assert!(place(pointer).contains("pointer to the entry at 0x99 +4"));
    // It is read as a whole, which is an address of 32 bits there.
    let read = format!("{pointer}; DW_OP_deref_size 4");
    let used = |space: u32| format!("{read}; DW_OP_lit{space}; DW_OP_LLVM_form_aspace_address");
    assert_eq!(place(&used(3)), "v8 + 32 bits");
    // As an address of another space, or of the default one, it is accessed "in any other manner".
    for text in [used(5), format!("{read}; DW_OP_deref"), format!("{pointer}; DW_OP_deref")] {
        let code = assemble(&text, encoding).expect("operations");
        let outcome = evaluate(&code, encoding, Goal::Location, &state, &[]);
        assert!(outcome.is_err(), "{text}: {:?}", outcome.map(|_| ()));
    }
    assert!(place("DW_OP_lit4; DW_OP_LLVM_aspace_implicit_pointer 0x99 +0").contains("no address space 0x4"));
    // Behind the prefix it has no number.
    assert!(assemble(pointer, Encoding::default()).is_err());
}

/// Lines 1470 to 1478: a vector is so many elements, each of what the type would be without the attribute.
#[test]
fn base_types_may_be_vectors() {
    let attribute = |name: &str, content: Content| Attribute { name: name.to_owned(), content };
    let ty = |offset: u64, size: Option<i128>| Die {
        offset,
        unit: 0,
        depth: 1,
        tag: "DW_TAG_base_type".to_owned(),
        attributes: [
            attribute("DW_AT_encoding", Content::Named("DW_ATE_unsigned".to_owned())),
            attribute("DW_AT_byte_size", Content::Number(4)),
        ]
        .into_iter()
        .chain(size.map(|size| attribute("DW_AT_LLVM_vector_size", Content::Number(size))))
        .collect(),
    };
    let unit =
        Unit { offset: 0, version: 5, encoding: Encoding::default(), addresses: Vec::new(), is_kernc: false };
    let entries = vec![ty(0x10, None), ty(0x20, Some(3)), ty(0x30, Some(0))];
    let info = DebugInfo { units: vec![unit], entries, ..DebugInfo::default() };
    let known = info.requested_info(0);
    let of = |kind, bits, elements| Ok(BaseType { kind, bits, elements });
    assert_eq!(known.base_type(0x10), of(Kind::Unsigned, 32, 1));
    assert_eq!(known.base_type(0x20), of(Kind::Unsigned, 32, 3));
    assert!(known.base_type(0x30).is_err(), "S is greater than 0");
    // A value of it is as many bytes as all elements have.
    let text = "DW_OP_const_type 0x20 [01 00 00 00 02 00 00 00 03 00 00 00]; DW_OP_stack_value";
    let outcome =
        evaluate(&crate::evaluate::machine::code(text), Encoding::default(), Goal::Location, &known, &[]);
    let outcome = outcome.expect("a vector");
    let bytes = outcome.location().expect("a location").read(96, &known).expect("its bytes");
    assert_eq!(bytes, [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    let short = crate::evaluate::machine::code("DW_OP_const_type 0x20 [01 00 00 00]; DW_OP_stack_value");
    let error = evaluate(&short, Encoding::default(), Goal::Location, &known, &[]).expect_err("too short");
    assert_eq!(error.reason, Reason::Size);
}

/// Lines 1264-1300: composites and their canonical form.
#[test]
fn parts_are_joined_where_they_go_on() {
    let mut state = State::new();
    // Two halves of a register are one part again, two registers are two.
    let halves = "DW_OP_regx s4; DW_OP_bit_piece 16 0; DW_OP_regx s4; DW_OP_bit_piece 16 16";
    assert_eq!(location_text(halves, &state), "[s4: 32 bits]");
    assert_eq!(
        location_text("DW_OP_regx s4; DW_OP_piece 4; DW_OP_regx s5; DW_OP_piece 4", &state),
        "[s4: 32 bits, s5: 32 bits]"
    );
    // An empty stack gives a part that is nowhere, and so does a second `piece`.
    assert_eq!(
        location_text("DW_OP_piece 4; DW_OP_regx s5; DW_OP_piece 4", &state),
        "[nowhere: 32 bits, s5: 32 bits]"
    );
    assert_eq!(
        location_text("DW_OP_regx s5; DW_OP_piece 2; DW_OP_piece 2; DW_OP_piece 2", &state),
        "[s5: 16 bits, nowhere: 32 bits]"
    );
    // Parts of no bits are none.
    assert_eq!(
        location_text("DW_OP_regx s5; DW_OP_piece 0; DW_OP_regx s6; DW_OP_piece 1", &state),
        "[s6: 8 bits]"
    );
    // A part must be inside of what holds it.
    assert!(location_text("DW_OP_regx s5; DW_OP_piece 5", &state).contains("outside"));
    assert!(location_text("DW_OP_regx s5; DW_OP_bit_piece 8 25", &state).contains("outside"));
    // Composites of composites are taken apart.
    let inner = "DW_OP_regx s4; DW_OP_piece 4; DW_OP_regx s5; DW_OP_piece 4; DW_OP_LLVM_piece_end";
    let outer = format!("{inner}; DW_OP_LLVM_offset_uconst 2; DW_OP_piece 4");
    assert_eq!(location_text(&outer, &state), "[s4 + 16 bits: 16 bits, s5: 16 bits]");
    state.set("s4", &[1, 2, 3, 4]);
    state.set("s5", &[5, 6, 7, 8]);
    assert_eq!(bytes(&outer, 32, &state), Ok(vec![3, 4, 5, 6]));
    assert_eq!(bytes(&outer, 33, &state), Err(Reason::Outside));
    assert!(location_text("DW_OP_regx s1; DW_OP_LLVM_piece_end", &state).ends_with("this is none"));
    // What is not complete is no location yet, but at the end.
    assert!(
        location_text("DW_OP_regx s1; DW_OP_piece 4; DW_OP_LLVM_offset_uconst 1", &state)
            .ends_with("this is none")
    );
}

/// Lines 1316-1340.
#[test]
fn a_mask_selects_parts() {
    let mut state = State::new();
    assert_eq!(
        location_text("DW_OP_regx s1; DW_OP_LLVM_extend 8 3", &state),
        "[s1: 8 bits, s1: 8 bits, s1: 8 bits]"
    );
    assert!(location_text("DW_OP_regx s1; DW_OP_LLVM_extend 0 3", &state).contains("must not be 0"));
    assert!(location_text("DW_OP_regx s1; DW_OP_LLVM_extend 8 0", &state).contains("must not be 0"));
    assert!(location_text("DW_OP_regx s1; DW_OP_LLVM_extend 33 1", &state).contains("outside"));
    // Lanes 0 and 2 are in memory, the others in the register: a vector register saved under EXEC.
    state.set_lanes("v7.64", |lane| lane);
    let memory: Vec<u8> = (0..64u32).flat_map(|lane| (lane + 1000).to_le_bytes()).collect();
    state.store(AddressSpace::PRIVATE_WAVE, 0x100, &memory);
    let select = |mask: &str| {
        format!(
            "DW_OP_regx v7.64; DW_OP_const2u 0x100; DW_OP_lit6; DW_OP_LLVM_form_aspace_address; {mask}; \
             DW_OP_LLVM_select_bit_piece 32 64"
        )
    };
    let text = select("DW_OP_const1u 0b101").replace("0b101", "5");
    let lanes = bytes(&text, 64 * 32, &state).expect("all there");
    let lane =
        |n: usize| u32::from_le_bytes([lanes[4 * n], lanes[4 * n + 1], lanes[4 * n + 2], lanes[4 * n + 3]]);
    for n in 0..64 {
        assert_eq!(lane(n), if matches!(n, 0 | 2) { n as u32 + 1000 } else { n as u32 }, "lane {n}");
    }
    assert_eq!(
        location_text(&text, &state),
        "[private_wave memory at 0x100: 32 bits, v7 + 32 bits: 32 bits, private_wave memory at 0x108: 32 bits, \
         v7 + 96 bits: 1952 bits]"
    );
    // A mask of fewer bits than parts.
    assert!(location_text(&select(&format!("DW_OP_const_type {U8} [05]")), &state).contains("sizes"));
}

/// Lines 980-1012: `call` of a procedure shares the stack, of anything else it does not.
#[test]
fn calls_share_the_stack_with_procedures() {
    let mut state = State::new();
    state.entry(0x50, "DW_OP_plus", true);
    state.entry(0x60, "DW_OP_regx s9", false);
    state.entry(0x70, "DW_OP_plus", false);
    state.entry(0x80, "", false);
    state.entry(0x90, "DW_OP_call4 144", true);
    assert_eq!(value("DW_OP_lit2; DW_OP_lit3; DW_OP_call2 80", &state), "0x5");
    assert_eq!(location_text("DW_OP_lit2; DW_OP_call_ref 0x60", &state), "s9");
    assert!(value("DW_OP_lit2; DW_OP_lit3; DW_OP_call2 112", &state).ends_with("too few entries"));
    assert_eq!(location_text("DW_OP_lit2; DW_OP_call4 128", &state), "nowhere");
    assert!(value("DW_OP_call4 144", &state).contains("too many calls in calls"));
    assert!(value("DW_OP_call4 1", &state).ends_with("the entry at 0x1 of .debug_info is not known"));
}

/// Line 1030.
#[test]
fn registers_as_they_were_on_entry() {
    let mut state = State::new();
    state.saved.insert(
        Register::parse("s40").expect("s40").0,
        Location::register(Register::parse("v1.64").expect("v1")).expect("v1").moved(96).expect("lane 3"),
    );
    assert_eq!(location_text("DW_OP_LLVM_call_frame_entry_reg s40", &state), "v1 + 96 bits");
    assert_eq!(location_text("DW_OP_LLVM_call_frame_entry_reg s41", &state), "s41");
    state.set_lanes("v1.64", |lane| lane * 16);
    let in_v1 = |byte: u64| format!("DW_OP_entry_value [90 {byte:02x} 00]");
    let register = Register::parse("s40").expect("s40").0;
    assert_eq!(register, 72);
    assert_eq!(value(&in_v1(register | 0x80), &state), "0x30");
    // Another expression is evaluated in the state that was.
    assert!(
        value("DW_OP_entry_value [03 00 10 00 00 00 00 00 00 06]", &state).contains("on entry is not known")
    );
    let mut before = State::new();
    before.store(AddressSpace::GLOBAL, 0x1000, &[7, 0, 0, 0, 0, 0, 0, 0]);
    state.entered = Some(Box::new(before));
    assert_eq!(value("DW_OP_entry_value [03 00 10 00 00 00 00 00 00 06]", &state), "0x7");
}

/// Lines 968 and 1398: members of an object that lies in a register.
#[test]
fn objects_may_be_anywhere() {
    let mut state = State::new();
    assert!(location_text("DW_OP_push_object_address", &state).ends_with("is not known"));
    state.object = Some(Location::register(Register::parse("v2.32").expect("v2")).expect("v2"));
    assert_eq!(
        location_text("DW_OP_push_object_address; DW_OP_LLVM_offset_uconst 8", &state),
        "v2 + 64 bits"
    );
    // What stands on the stack at first.
    let stack = [Entry::Location(Location::register(Register::parse("s7").expect("s7")).expect("s7"))];
    let outcome = run("DW_OP_LLVM_offset_uconst 2", Goal::Location, &state, &stack).expect("a member");
    assert_eq!(outcome.location().expect("a location").to_string(), "s7 + 16 bits");
    let stack = [Entry::Value(Value::new(Type::Generic(64), &[3]))];
    let outcome = run("DW_OP_lit4; DW_OP_mul", Goal::Value, &state, &stack).expect("a value");
    assert_eq!(outcome.value().expect("a value").to_string(), "0xc");
}

/// Lines 795-806: what an expression says in the end.
#[test]
fn what_is_asked_for_is_said() {
    let state = State::new();
    assert_eq!(location_text("", &state), "nowhere");
    assert!(value("", &state).ends_with("too few entries"));
    assert_eq!(location_text("DW_OP_lit1; DW_OP_regx s1", &state), "s1");
    assert_eq!(location_text("DW_OP_lit16", &state), "global memory at 0x10");
    assert!(value("DW_OP_regx s1", &state).ends_with("this is a location"));
}

/// Line 1915: where lanes are that wait elsewhere. EXEC is 0b1010 of 4 lanes here; lanes 0 and 1 were there on entry to the region.
#[test]
fn lanes_have_program_counters() {
    let mut state = State::new();
    state.set("pc", &0x2040u64.to_le_bytes());
    state.set("exec.64", &0b1010u64.to_le_bytes());
    state.set("s10", &[0b0011, 0, 0, 0]);
    state.entry(1, &format!("DW_OP_regx pc; DW_OP_LLVM_extend 64 4; DW_OP_regval_type exec.64 {U64}; DW_OP_LLVM_select_bit_piece 64 4"), true);
    state.entry(2, "DW_OP_LLVM_undefined; DW_OP_LLVM_extend 64 4", true);
    state.entry(3, "DW_OP_regx s10", false);
    state.entry(
        4,
        "DW_OP_call4 2; DW_OP_addr 0x2000; DW_OP_stack_value; DW_OP_LLVM_extend 64 4; DW_OP_call4 3; DW_OP_deref_size 4; \
         DW_OP_LLVM_select_bit_piece 64 4",
        true,
    );
    let pcs = "DW_OP_call4 4; DW_OP_call4 1";
    assert_eq!(
        location_text(pcs, &state),
        "[the value 00 20 00 00 00 00 00 00: 64 bits, pc: 64 bits, nowhere: 64 bits, pc: 64 bits]"
    );
    assert_eq!(bytes(pcs, 256, &state), Err(Reason::Undefined));
    assert_eq!(bytes(pcs, 128, &state).expect("two lanes")[8..], 0x2040u64.to_le_bytes());
}

/// What the machine does not know is told, and where.
#[test]
fn what_is_missing_is_named() {
    let state = State::new();
    let error =
        run("DW_OP_lit1; DW_OP_regx s8; DW_OP_deref_size 4", Goal::Value, &state, &[]).expect_err("unknown");
    let register = Register::parse("s8").expect("s8");
    assert_eq!((error.offset, error.reason), (3, Reason::Need(Need::Register(register))));
}

#[test]
fn nothing_runs_without_end() {
    let state = State::new();
    assert!(value("DW_OP_skip -3", &state).contains("too many steps"));
    assert!(value("DW_OP_lit1; DW_OP_skip -4", &state).contains("too many"));
    assert!(value("DW_OP_lit1; DW_OP_bra 9", &state).contains("no operation"));
    assert!(value("DW_OP_skip -9", &state).contains("no operation"));
    assert!(location_text("DW_OP_regx s1; DW_OP_LLVM_extend 8 4097", &state).contains("too many parts"));
    let doubling = "DW_OP_LLVM_extend 32 4096; DW_OP_LLVM_extend 131072 4096";
    assert!(location_text(&format!("DW_OP_regx s1; {doubling}"), &state).contains("too many parts"));
}

/// DWARF 5, 2.5.1.6: the same number in another type, or the same bits.
#[test]
fn values_are_converted() {
    let state = State::new();
    let minus_two = format!("DW_OP_const_type {I32} [fe ff ff ff]");
    assert_eq!(value(&format!("{minus_two}; DW_OP_convert {F32}"), &state), "-2.0");
    assert_eq!(value(&format!("{minus_two}; DW_OP_convert 0"), &state), "0xfffffffffffffffe");
    assert_eq!(value(&format!("{minus_two}; DW_OP_convert {U8}"), &state), "254");
    assert_eq!(value(&format!("DW_OP_consts -2; DW_OP_convert {I32}"), &state), "-2");
    let half = format!("DW_OP_const_type {F32} [00 00 00 bf]");
    assert_eq!(value(&half, &state), "-0.5");
    assert_eq!(value(&format!("{half}; DW_OP_convert {I32}"), &state), "0");
    assert_eq!(value(&format!("{half}; DW_OP_reinterpret {I32}"), &state), "-1090519040");
    assert!(value(&format!("{half}; DW_OP_reinterpret {U8}"), &state).contains("sizes"));
    assert!(value(&format!("{half}; DW_OP_lit1; DW_OP_plus"), &state).contains("one type"));
    assert_eq!(value(&format!("{half}; DW_OP_dup; DW_OP_mul; {half}; DW_OP_gt"), &state), "0x1");
}
