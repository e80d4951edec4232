//! Call frame information: what `.cfi_*` directives are to LLVM's reader, and what random instructions are to gimli's.

use codeobj::CodeObject;
use dwarf::{Cfa, Frames, Row, Rule};
use gimli::{LittleEndian, UnwindSection};
use support::{Random, Tool};

/// Functions with most of what the directives can say; `llvm-mc` and `llvm-dwarfdump` are LLVM 19's.
const SOURCE: &str = "
    .cfi_sections .debug_frame
    .text
    .globl leaf
leaf:
    .cfi_startproc
    .cfi_def_cfa 64, 16
    .cfi_undefined 16
    s_nop 0
    .cfi_offset 65, -8
    .cfi_same_value 66
    s_nop 1
    s_nop 1
    .cfi_def_cfa_offset 32
    .cfi_register 67, 70
    .cfi_remember_state
    s_nop 2
    .cfi_def_cfa_register 65
    .cfi_restore 65
    s_nop 3
    .cfi_restore_state
    .fill 300, 4, 0xbf800000
    .cfi_rel_offset 68, 4
    .cfi_escape 0x15, 0x45, 0x7c
    s_endpgm
    .cfi_endproc
    .globl other
other:
    .cfi_startproc
    .cfi_escape 0x12, 0x40, 0x7c
    s_nop 0
    .cfi_escape 0x0f, 3, 0x92, 0x40, 0x08
    s_nop 0
    .cfi_escape 0x10, 0x41, 2, 0x23, 0x04
    .cfi_escape 0x16, 0x42, 2, 0x23, 0x08
    .fill 70000, 4, 0xbf800000
    s_endpgm
    .cfi_endproc
";

fn feed(tool: &str, args: &[&str], text: &str) -> Option<Vec<u8>> {
    let output = Tool::new(tool).args(args).input(text).output().ok()?;
    assert!(output.status.success(), "{tool} {args:?}");
    Some(output.stdout)
}

/// A row in the words of `llvm-dwarfdump`: `CFA=SGPR32+16: PC_REG=undefined, SGPR33=[CFA-8]`.
fn words(row: &Row) -> String {
    let name = |register: dwarf::Register| match register.0 {
        16 => "PC_REG".to_owned(),
        _ => register.to_string().replace('s', "SGPR"),
    };
    let moved = |offset: i64| if offset == 0 { String::new() } else { format!("{offset:+}") };
    let expression = |bytes: &[u8]| {
        // What the source above has.
        match bytes {
            [0x92, 0x40, 0x08] => "DW_OP_bregx SGPR32+8".to_owned(),
            [0x23, value] => format!("DW_OP_plus_uconst 0x{value:x}"),
            _ => format!("{bytes:?}"),
        }
    };
    let cfa = match &row.cfa {
        Some(Cfa::Register(register, offset, _)) => format!("{}{}", name(*register), moved(*offset)),
        Some(Cfa::Expression(bytes)) => expression(bytes),
        None => "none".to_owned(),
    };
    let rule = |rule: &Rule| match rule {
        Rule::Undefined => "undefined".to_owned(),
        Rule::Same => "same".to_owned(),
        Rule::Offset(offset) => format!("[CFA{}]", moved(*offset)),
        Rule::ValueOffset(offset) => format!("CFA{}", moved(*offset)),
        Rule::Register(register) => name(*register),
        Rule::Expression(bytes) => format!("[{}]", expression(bytes)),
        Rule::ValueExpression(bytes) => expression(bytes),
    };
    let rules: Vec<String> =
        row.rules.iter().map(|(register, of)| format!("{}={}", name(*register), rule(of))).collect();
    let tail = if rules.is_empty() { String::new() } else { format!(": {}", rules.join(", ")) };
    format!("{:#x}: CFA={cfa}{tail}", row.from)
}

#[test]
fn directives_are_read_as_llvm_reads_them() {
    let args = ["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx906", "-filetype=obj"];
    let Some(bytes) = feed("llvm-mc-19", &args, SOURCE) else { return println!("left out: no llvm-mc-19") };
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("frames.o");
    std::fs::write(&path, &bytes).expect("a folder that can be written");
    let Ok(dump) = Tool::new("llvm-dwarfdump-19").arg("--debug-frame").arg(&path).output() else {
        return println!("left out: no llvm-dwarfdump-19");
    };
    let object = CodeObject::parse(&bytes).expect("an object");
    let frames = Frames::read(&object).expect("frames");
    let ours: Vec<String> = frames
        .frames
        .iter()
        .flat_map(|frame| frames.rows(frame).expect("rows"))
        .map(|row| words(&row))
        .collect();
    // LLVM's names for the numbers are those of halves of registers.
    let dump = String::from_utf8_lossy(&dump.stdout).replace("_LO16", "");
    let theirs: Vec<&str> = dump.lines().map(str::trim).filter(|line| line.contains(": CFA=")).collect();
    assert_eq!(ours, theirs);
    assert!(ours.len() > 8, "{ours:?}");
}

/// Instructions of the standard that mean something most of the time.
fn instructions(random: &mut Random, count: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..count {
        let (register, number) = (random.below(60) as u8, random.below(120) as u8);
        let low = random.below(64) as u8;
        match random.below(22) {
            0..=3 => out.push(0x40 | low),
            4 => out.extend([0x80 | low, number]),
            5 => out.push(0xc0 | low),
            6 => out.extend([0x02, number]),
            7 => out.extend([0x03, number, 0]),
            8 => out.extend([0x05, register, number]),
            9 => out.extend([0x06, register]),
            10 => out.extend([0x07, register]),
            11 => out.extend([0x08, register]),
            12 => out.extend([0x09, register, low]),
            13 => out.push(0x0a),
            14 => out.push(0x0b),
            15 => out.extend([0x0c, register, number]),
            16 => out.extend([0x0e, number]),
            17 => out.extend([0x0d, register]),
            18 => out.extend([0x12, register, number & 0x7f]),
            19 => out.extend([0x11, register, number & 0x7f]),
            20 => out.extend([0x14, register, number]),
            _ => out.extend([0x10, register, 2, 0x23, number]),
        }
    }
    out
}

/// A section with one function: DWARF 5, section 6.4.1.
fn section(common: &[u8], own: &[u8], size: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut entry = |body: Vec<u8>| {
        out.extend((body.len() as u32).to_le_bytes());
        out.extend(body);
    };
    // Version 4, no augmentation, addresses of 8 bytes, no segments, factors 4 and 4, PC_64.
    let head = [0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 4, 4, 16];
    entry([&head, common].concat());
    entry([&[0; 4][..], &0x1000u64.to_le_bytes(), &size.to_le_bytes(), own].concat());
    out
}

/// gimli's rows, in our words.
fn theirs(bytes: &[u8]) -> Result<Vec<Row>, gimli::Error> {
    let mut frame = gimli::DebugFrame::new(bytes, LittleEndian);
    frame.set_address_size(8);
    let bases = gimli::BaseAddresses::default();
    let fde = frame.fde_for_address(&bases, 0x1000, gimli::DebugFrame::cie_from_offset)?;
    let mut context = gimli::UnwindContext::new();
    let mut table = fde.rows(&frame, &bases, &mut context)?;
    let mut rows = Vec::new();
    let bytes_of = |expression: &gimli::UnwindExpression<usize>| {
        let expression = expression.get(&frame)?;
        Ok::<_, gimli::Error>(expression.0.slice().to_vec())
    };
    while let Some(row) = table.next_row()? {
        let cfa = match row.cfa() {
            gimli::CfaRule::RegisterAndOffset { register, offset } => {
                Some(Cfa::Register(dwarf::Register(register.0.into()), *offset, dwarf::AddressSpace::GLOBAL))
            }
            gimli::CfaRule::Expression(expression) => Some(Cfa::Expression(bytes_of(expression)?)),
        };
        let mut rules = std::collections::BTreeMap::new();
        for (register, rule) in row.registers() {
            let rule = match rule {
                gimli::RegisterRule::Undefined => Rule::Undefined,
                gimli::RegisterRule::SameValue => Rule::Same,
                gimli::RegisterRule::Offset(offset) => Rule::Offset(*offset),
                gimli::RegisterRule::ValOffset(offset) => Rule::ValueOffset(*offset),
                gimli::RegisterRule::Register(other) => Rule::Register(dwarf::Register(other.0.into())),
                gimli::RegisterRule::Expression(expression) => Rule::Expression(bytes_of(expression)?),
                gimli::RegisterRule::ValExpression(expression) => {
                    Rule::ValueExpression(bytes_of(expression)?)
                }
                other => panic!("{other:?}"),
            };
            rules.insert(dwarf::Register(register.0.into()), rule);
        }
        rows.push(Row { from: row.start_address(), to: row.end_address(), cfa, rules });
    }
    Ok(rows)
}

/// gimli has no rule for what is undefined and no frame that nothing defines; and it keeps empty rows and those behind the function's end.
fn comparable(rows: Vec<Row>, to: u64) -> Vec<Row> {
    let undefined = |rule: &Rule| *rule == Rule::Undefined;
    let rows = rows.into_iter().filter(|row| row.from < row.to && row.from < to);
    rows.map(|mut row| {
        row.rules.retain(|_, rule| !undefined(rule));
        row.to = row.to.min(to);
        row
    })
    .collect()
}

#[test]
fn random_instructions_are_read_as_gimli_reads_them() {
    let mut random = Random::new(1);
    let (mut compared, mut refused) = (0, 0);
    for number in 0..20_000 {
        let common = [vec![0x0c, 7, 8], instructions(&mut random, number % 4)].concat();
        // The common instructions must not advance.
        let common: Vec<u8> = if number % 4 == 0 { common } else { vec![0x0c, 7, 8, 0x07, 3, 0x85, 2] };
        let count = 1 + random.below(24);
        let own = instructions(&mut random, count);
        let bytes = section(&common, &own, 1 << 16);
        let ours = Frames::of_section(&bytes).and_then(|frames| frames.rows(&frames.frames[0]));
        match (ours, theirs(&bytes)) {
            (Ok(ours), Ok(theirs)) => {
                let end = 0x1000 + (1 << 16);
                assert_eq!(comparable(ours, end), comparable(theirs, end), "{common:02x?} {own:02x?}");
                compared += 1;
            }
            (Err(_), Err(_)) => refused += 1,
            // It has room for so many.
            (Ok(_), Err(gimli::Error::StackFull | gimli::Error::TooManyRegisterRules)) => {}
            (ours, theirs) => {
                panic!("{common:02x?} {own:02x?}: {:?} {:?}", ours.err(), theirs.err())
            }
        }
    }
    assert!(compared > 10_000 && refused > 100, "{compared} compared, {refused} refused");
}

/// Damaged sections are read or refused, and never more.
#[test]
fn damaged_frames_are_no_panic() {
    let mut random = Random::new(7);
    for _ in 0..20_000 {
        let own = instructions(&mut random, 12);
        let mut bytes = section(&[0x0c, 7, 8], &own, 1 << 16);
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.below(256) as u8;
        }
        bytes.truncate(random.below(bytes.len() as u64 * 3) as usize + 1);
        if let Ok(frames) = Frames::of_section(&bytes) {
            frames.text();
        }
    }
}
