//! Standard expressions, beside gimli's evaluation of them. Where gimli has no answer (it takes shifts of one signedness only), ours is not
//! compared.

use crate::evaluate::machine::State;
use ::gimli::{EndianSlice, EvaluationResult, LittleEndian, Location, ValueType};
use dwarf::{BaseType, Encoding, Goal, Kind, Opcode, evaluate};
use support::Random;

/// Types by their offsets in the unit.
const TYPES: [(u64, ValueType, Kind, u32); 10] = [
    (1, ValueType::I8, Kind::Signed, 8),
    (2, ValueType::U8, Kind::Unsigned, 8),
    (3, ValueType::I16, Kind::Signed, 16),
    (4, ValueType::U16, Kind::Unsigned, 16),
    (5, ValueType::I32, Kind::Signed, 32),
    (6, ValueType::U32, Kind::Unsigned, 32),
    (7, ValueType::I64, Kind::Signed, 64),
    (8, ValueType::U64, Kind::Unsigned, 64),
    (9, ValueType::F32, Kind::Float, 32),
    (10, ValueType::F64, Kind::Float, 64),
];

const BINARY: [Opcode; 17] = [
    Opcode::AND,
    Opcode::DIV,
    Opcode::MINUS,
    Opcode::MOD,
    Opcode::MUL,
    Opcode::OR,
    Opcode::PLUS,
    Opcode::SHL,
    Opcode::SHR,
    Opcode::SHRA,
    Opcode::XOR,
    Opcode::EQ,
    Opcode::GE,
    Opcode::GT,
    Opcode::LE,
    Opcode::LT,
    Opcode::NE,
];

/// A constant, as often of the type as not: edges and small numbers among them.
fn constant(random: &mut Random, ty: Option<u64>, text: &mut String) {
    let value = match random.below(5) {
        0 => random.below(4),
        1 => u64::MAX - random.below(3),
        2 => 1 << random.below(64),
        3 => (1.5f64 * random.below(9) as f64).to_bits(),
        _ => random.bits(),
    };
    match ty.and_then(|ty| TYPES.get(ty as usize)) {
        Some(&(offset, _, kind, bits)) => {
            let value = if kind == Kind::Float && bits == 32 {
                u64::from((random.below(2000) as f32 * 0.25 - 200.0).to_bits())
            } else if kind == Kind::Float {
                (random.below(2000) as f64 * 0.25 - 200.0).to_bits()
            } else {
                value
            };
            let bytes: Vec<String> =
                value.to_le_bytes()[..bits as usize / 8].iter().map(|byte| format!("{byte:02x}")).collect();
            *text += &format!("DW_OP_const_type {offset} [{}]; ", bytes.join(" "));
        }
        None => *text += &format!("DW_OP_const8u {value}; "),
    }
}

fn expression(random: &mut Random) -> String {
    let mut text = String::new();
    let ty = (random.below(3) > 0).then(|| random.below(TYPES.len() as u64));
    constant(random, ty, &mut text);
    for _ in 0..=random.below(6) {
        match random.below(10) {
            0 => text += "DW_OP_neg; ",
            1 => text += "DW_OP_not; ",
            2 => text += "DW_OP_abs; ",
            3 => text += &format!("DW_OP_plus_uconst {}; ", random.below(1000)),
            // Not to floats: gimli takes negative integers for large ones there.
            4 => text += &format!("DW_OP_convert {}; ", random.below(9)),
            5 => text += &format!("DW_OP_reinterpret {}; ", random.below(TYPES.len() as u64 + 1)),
            6 => text += "DW_OP_dup; DW_OP_mul; ",
            _ => {
                constant(random, ty, &mut text);
                text += &format!("{}; ", BINARY[random.below(BINARY.len() as u64) as usize]);
            }
        }
    }
    text + "DW_OP_stack_value"
}

/// What gimli says: the bits of the value, or that it has none.
fn gimli_value(bytes: &[u8]) -> Option<u64> {
    let encoding = ::gimli::Encoding { address_size: 8, format: ::gimli::Format::Dwarf32, version: 5 };
    let expression = ::gimli::Expression(EndianSlice::new(bytes, LittleEndian));
    let mut evaluation = expression.evaluation(encoding);
    let mut result = evaluation.evaluate().ok()?;
    loop {
        match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresBaseType(offset) => {
                let ty = match offset.0 as u64 {
                    0 => ValueType::Generic,
                    offset => TYPES[offset as usize - 1].1,
                };
                result = evaluation.resume_with_base_type(ty).ok()?;
            }
            other => panic!("asks for {other:?}"),
        }
    }
    match evaluation.as_result() {
        [::gimli::Piece { location: Location::Value { value }, .. }] => Some(match *value {
            ::gimli::Value::Generic(value) | ::gimli::Value::U64(value) => value,
            ::gimli::Value::I8(value) => u64::from(value as u8),
            ::gimli::Value::U8(value) => u64::from(value),
            ::gimli::Value::I16(value) => u64::from(value as u16),
            ::gimli::Value::U16(value) => u64::from(value),
            ::gimli::Value::I32(value) => u64::from(value as u32),
            ::gimli::Value::U32(value) => u64::from(value),
            ::gimli::Value::I64(value) => value as u64,
            ::gimli::Value::F32(value) if value.is_nan() => return None,
            ::gimli::Value::F64(value) if value.is_nan() => return None,
            ::gimli::Value::F32(value) => u64::from(value.to_bits()),
            ::gimli::Value::F64(value) => value.to_bits(),
        }),
        other => panic!("{other:?}"),
    }
}

fn our_value(bytes: &[u8], state: &State) -> Option<u64> {
    let outcome = evaluate(bytes, Encoding::default(), Goal::Location, state, &[]).ok()?;
    let location = outcome.location()?;
    let bits = location.storage.bits()? as u64;
    let value = location.read(bits, state).ok()?;
    Some(value.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

#[test]
fn values_are_gimlis() {
    let mut state = State::new();
    state.types =
        TYPES.iter().map(|&(offset, _, kind, bits)| (offset, BaseType { kind, bits, elements: 1 })).collect();
    let (mut compared, mut refused) = (0, 0);
    for seed in 0..100_000 {
        let text = expression(&mut Random::new(seed));
        let bytes = crate::evaluate::machine::code(&text);
        match (gimli_value(&bytes), our_value(&bytes, &state)) {
            (Some(theirs), ours) => {
                // A negative float as a generic value is not said by the standard: gimli has 0. Its absolute value of -0.0 is -0.0.
                let negative = text.contains("DW_OP_convert 0") && text.contains("const_type");
                let zero = text.contains("DW_OP_abs") && ours == Some(0) && theirs.is_power_of_two();
                assert!(
                    ours == Some(theirs) || negative || zero,
                    "seed {seed}: {text}: ours {ours:x?}, gimli's {theirs:#x}"
                );
                compared += 1;
            }
            (None, _) => refused += 1,
        }
    }
    assert!(compared > 40_000, "{compared} compared, {refused} that gimli refuses");
}
