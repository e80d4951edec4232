//! Unwinding, by the guide's sentences on call frame information (seed 000).

use crate::evaluate::machine::{State, code};
use dwarf::{AddressSpace, Caller, Frames, Machine, Reason, Register, ReturnAddress, Row};
use std::cell::Cell;

/// A function of 0x40 bytes at 0x1000 with these instructions behind `DW_CFA_def_cfa s32, 0`; the row at its beginning.
fn row(instructions: &[u8]) -> (Row, dwarf::Common) {
    let mut bytes = Vec::new();
    let mut entry = |body: Vec<u8>| {
        bytes.extend((body.len() as u32).to_le_bytes());
        bytes.extend(body);
    };
    let version = [0xff, 0xff, 0xff, 0xff, 4];
    entry([&version[..], b"[amd:v0.0]\0", &[8, 0, 4, 4, 16, 0x0c, 64, 0]].concat());
    entry([&[0; 4][..], &0x1000u64.to_le_bytes(), &0x40u64.to_le_bytes(), instructions].concat());
    let frames = Frames::of_section(&bytes).expect("a section");
    let row = frames.row(0x1000).expect("instructions").expect("a row");
    (row, frames.common[0].clone())
}

/// s32 holds 0x100, s33 0x200; memory holds numbers where rules say that registers are.
fn state() -> State {
    let mut state = State::new();
    state.set("s32", &0x100u32.to_le_bytes());
    state.set("s33", &0x200u32.to_le_bytes());
    state.set("s40", &7u32.to_le_bytes());
    for (space, value) in [(AddressSpace::GLOBAL, 11u32), (AddressSpace::PRIVATE_LANE, 22)] {
        state.store(space, 0x108, &value.to_le_bytes());
    }
    state.store(AddressSpace::GLOBAL, 0x110, &0x1234_5678_9abcu64.to_le_bytes());
    state
}

fn register(instructions: &[u8], name: &str) -> Result<u32, Reason> {
    let (row, common) = row(instructions);
    let state = state();
    let caller = Caller::new(&state, &row, &common)?;
    let mut bytes = [0; 4];
    caller.register(Register::parse(name).expect("a register"), &mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Lines 1540 to 1575.
#[test]
fn rules() {
    // Line 1645: what has no rule has not changed.
    assert_eq!(register(&[], "s40"), Ok(7));
    assert_eq!(register(&[0x07, 65], "s33"), Err(Reason::Undefined));
    assert_eq!(register(&[0x08, 65], "s33"), Ok(0x200));
    // offset(N): N is factored by 4.
    assert_eq!(register(&[0x05, 65, 2], "s33"), Ok(11));
    assert_eq!(register(&[0x09, 65, 72], "s33"), Ok(7));
    // register(R): sizes must match.
    assert_eq!(register(&[0x09, 65, 16], "s33"), Err(Reason::Size));
    // val_offset(N): a global address has 64 bits, s33 has 32.
    assert_eq!(register(&[0x14, 65, 2], "s33"), Err(Reason::Size));
    // In private memory of a lane addresses have 32.
    assert_eq!(register(&[0x30, 64, 0, 5, 0x14, 65, 2], "s33"), Ok(0x108));
}

/// Lines 1701 to 1760: the frame, in an address space or by an expression.
#[test]
fn frames() {
    let frame = |instructions: &[u8]| {
        let (row, common) = row(instructions);
        let state = state();
        Caller::new(&state, &row, &common).map(|caller| caller.frame().map(ToString::to_string))
    };
    let at = |text: &str| Ok(Some(text.to_owned()));
    assert_eq!(frame(&[]), at("global memory at 0x100"));
    assert_eq!(frame(&[0x0e, 16]), at("global memory at 0x110"));
    assert_eq!(frame(&[0x0d, 65]), at("global memory at 0x200"));
    assert_eq!(frame(&[0x31, 65, 0x7f, 5]), at("private memory at 0x1fc"));
    // The address space stays.
    assert_eq!(frame(&[0x30, 64, 8, 5, 0x0e, 4]), at("private memory at 0x104"));
    let expression = code("DW_OP_bregx s33 8");
    let defined = [&[0x0f, expression.len() as u8][..], &expression].concat();
    assert_eq!(frame(&defined), at("global memory at 0x208"));
    // A register is no place in memory.
    let expression = code("DW_OP_regx s33");
    let defined = [&[0x0f, expression.len() as u8][..], &expression].concat();
    assert_eq!(frame(&defined), Err(Reason::NoLocation));
}

/// Lines 1680 to 1699 and 1815 to 1835: the frame stands on the stack, and nothing else may be asked for.
#[test]
fn expressions() {
    let with = |opcode: u8, text: &str| {
        let expression = code(text);
        register(&[&[opcode, 65, expression.len() as u8][..], &expression].concat(), "s33")
    };
    assert_eq!(with(0x10, "DW_OP_lit8; DW_OP_LLVM_offset"), Ok(11));
    assert_eq!(with(0x10, "DW_OP_drop; DW_OP_regx s40"), Ok(7));
    // The generic type has 64 bits, s33 has 32 (line 1835).
    assert_eq!(with(0x16, "DW_OP_drop; DW_OP_lit5"), Err(Reason::Size));
    for text in ["DW_OP_call_frame_cfa", "DW_OP_push_object_address", "DW_OP_addrx 0", "DW_OP_call2 0"] {
        assert_eq!(with(0x10, text), Err(Reason::NotHere), "{text}");
    }
}

/// Lines 1838 to 1862.
#[test]
fn return_addresses() {
    let returns = |instructions: &[u8]| {
        let (row, common) = row(instructions);
        let state = state();
        Caller::new(&state, &row, &common).and_then(|caller| caller.return_address())
    };
    assert_eq!(returns(&[0x07, 16]), Ok(ReturnAddress::Outermost));
    assert_eq!(returns(&[]), Ok(ReturnAddress::Unknown));
    assert_eq!(returns(&[0x05, 16, 4]), Ok(ReturnAddress::At(0x1234_5678_9abc)));
}

/// A frame of a frame: memory of the first is that of the second.
#[test]
fn two_frames() {
    let (inner, common) = row(&[0x09, 64, 65]);
    let (outer, _) = row(&[0x05, 72, 0]);
    let mut state = state();
    state.store(AddressSpace::GLOBAL, 0x200, &99u32.to_le_bytes());
    let caller = Caller::new(&state, &inner, &common).expect("a frame");
    let second = Caller::new(&caller, &outer, &common).expect("a frame");
    let mut bytes = [0; 4];
    second.register(Register::parse("s40").expect("a register"), &mut bytes).expect("known");
    assert_eq!(u32::from_le_bytes(bytes), 99);
}

/// A machine that counts what it is asked.
struct Counting(State, Cell<u32>);

impl Machine for Counting {
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        self.1.set(self.1.get() + 1);
        self.0.register(register, bytes)
    }

    fn memory(&self, space: AddressSpace, address: u64, bytes: &mut [u8]) -> Result<(), Reason> {
        self.1.set(self.1.get() + 1);
        self.0.memory(space, address, bytes)
    }
}

/// The value of s33 so many frames up.
fn up(frames: u32, machine: &dyn Machine, row: &Row, common: &dwarf::Common) -> u32 {
    if frames > 0 {
        let caller = Caller::new(machine, row, common).expect("a frame");
        return up(frames - 1, &caller, row, common);
    }
    let mut bytes = [0; 4];
    machine.register(Register::parse("s33").expect("a register"), &mut bytes).expect("known");
    u32::from_le_bytes(bytes)
}

/// Where each of two registers is depends on both of them in the frame below: each frame finds them once, so that what is asked for grows with the
/// frames, and does not double with each.
#[test]
fn deep_calls() {
    let rule = |number: u8, own: &str, other: &str| {
        let place = format!("DW_OP_drop; DW_OP_bregx {own} 0; DW_OP_bregx {other} 4");
        let expression = code(&format!("{place}; DW_OP_deref_size 4; DW_OP_LLVM_offset"));
        [&[0x10, number, expression.len() as u8][..], &expression].concat()
    };
    let (row, common) = row(&[rule(64, "s32", "s33"), rule(65, "s33", "s32")].concat());
    let asked = |frames: u32| {
        let mut state = state();
        for (at, value) in [(0x100, 0x100u32), (0x104, 0), (0x200, 0x200), (0x204, 0)] {
            state.store(AddressSpace::GLOBAL, at, &value.to_le_bytes());
        }
        let machine = Counting(state, Cell::new(0));
        assert_eq!(up(frames, &machine, &row, &common), 0x200);
        machine.1.get()
    };
    assert_eq!(asked(16) - asked(15), asked(3) - asked(2));
}
