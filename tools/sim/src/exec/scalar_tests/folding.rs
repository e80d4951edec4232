//! Checks the constant folding of the static checker (`kernc check`) against the emulator, for every scalar
//! instruction that the checker folds. The two implementations were written independently from the manuals.

use super::{GFX6, GFX8, GFX9, for_all, processors_from};
use check::fold::fold;
use isa::table::{Family, Kind, Role, opcodes};
use isa::{Opcode, Target};

/// The constant that a tested instruction has as its constant operand. It is negative as a number of 16 bits.
const CONSTANT: i16 = -0x7edd;

/// Returns an instruction as text, with destination s[0:1] and sources s[4:5] and s[6:7]. A 32-bit operand is
/// only the first register of the pair.
fn text(opcode: Opcode) -> Option<String> {
    let row = opcode.row();
    let mut sources = ["s[4:5]", "s[6:7]"].into_iter().zip(["s4", "s6"]);
    let mut operands = Vec::new();
    for spec in row.ops {
        operands.push(match (spec.role, spec.kind) {
            (Role::Def | Role::DefUse, _) if spec.width == 2 => "s[0:1]".to_owned(),
            (Role::Def | Role::DefUse, _) => "s0".to_owned(),
            (Role::Use, Kind::Ssrc | Kind::Sgpr) => {
                let (wide, narrow) = sources.next()?;
                (if spec.width == 2 { wide } else { narrow }).to_owned()
            }
            (Role::Use, _) if row.name.ends_with("u32") => (CONSTANT as u16).to_string(),
            (Role::Use, _) => CONSTANT.to_string(),
        });
    }
    Some(format!("{} {}", row.name, operands.join(", ")))
}

/// Returns the first processor that has an instruction. Returns `None` unless all later processors of the
/// tests have the instruction, too.
fn since(opcode: Opcode) -> Option<&'static str> {
    let has = |processor: &str| {
        let target = Target::by_name(processor).expect("a known processor");
        isa::table::by_name(target, opcode.row().name).any(|known| known == opcode)
    };
    [GFX6, GFX8, GFX9].into_iter().find(|first| processors_from(first).all(has))
}

#[test]
fn constants_are_folded_as_instructions_compute_them() {
    let mut folded = 0;
    for opcode in opcodes() {
        let row = opcode.row();
        let is_scalar = matches!(row.family, Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc);
        if !is_scalar || fold(opcode, 0, 0, Some(false)).is_none() {
            continue;
        }
        let (Some(text), Some(from)) = (text(opcode), since(opcode)) else {
            panic!("{} is not tried", row.name);
        };
        folded += 1;
        for_all(&text, from, |before, after| {
            let mut next = [before.pair(4), before.pair(6)].into_iter();
            let mut values = [0; 2];
            let read = row.ops.iter().filter(|spec| spec.role != Role::Def);
            for (value, spec) in values.iter_mut().zip(read) {
                let whole = match (spec.role, spec.kind) {
                    (Role::DefUse, _) => before.pair(0),
                    (_, Kind::Ssrc | Kind::Sgpr) => next.next().expect("two sources at most"),
                    _ => u64::from(i32::from(CONSTANT) as u32),
                };
                *value = if spec.width == 2 { whole } else { whole & 0xffff_ffff };
            }
            let result = fold(opcode, values[0], values[1], Some(before.scc)).expect("it folds");
            let wide = row.ops[0].width == 2;
            let written = if wide { after.pair(0) } else { after.pair(0) & 0xffff_ffff };
            if let Some(value) = result.value {
                assert_eq!(written, value, "{text}: {values:x?}, {}", before.scc);
            }
            assert_eq!(after.scc, result.scc.unwrap_or(before.scc), "{text}: {values:x?}, {}", before.scc);
        });
    }
    assert!(folded > 100, "{folded}");
}
