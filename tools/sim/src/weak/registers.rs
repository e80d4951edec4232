//! Copies of the contents of registers.

use crate::wave::{ActiveLanes, Lanes, Wave};

/// Contents of a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Scalar(u32),
    Vector(Box<Lanes>),
}

/// Saved contents of registers, each with the code of its register.
pub(super) type Registers = Vec<(u16, Value)>;

/// Returns copies of the registers in `codes`. Registers that the wave does not have are left out.
pub(super) fn copy_registers(wave: &Wave, codes: &[u16]) -> Registers {
    let value = |&code: &u16| match code {
        0..128 => Some((code, Value::Scalar(wave.sgpr[usize::from(code)]))),
        _ => wave.vgpr.get(usize::from(code) - 256).map(|lanes| (code, Value::Vector(Box::new(*lanes)))),
    };
    codes.iter().filter_map(value).collect()
}

/// Writes saved contents to registers. VGPRs are written only in `lanes`.
pub(super) fn put_registers(wave: &mut Wave, registers: &Registers, lanes: u64) {
    for (code, value) in registers {
        match value {
            Value::Scalar(value) => wave.sgpr[usize::from(*code & 127)] = *value,
            Value::Vector(values) => {
                if let Some(place) = wave.vgpr.get_mut(usize::from(*code).wrapping_sub(256)) {
                    ActiveLanes(lanes).for_each(|lane| place[lane] = values[lane]);
                }
            }
        }
    }
}

/// Returns as many registers as `registers` has, of the same kinds. Each register contains `bits` in all
/// lanes.
pub(super) fn filled(registers: &Registers, bits: u32) -> Registers {
    let fill = |value: &Value| match value {
        Value::Scalar(_) => Value::Scalar(bits),
        Value::Vector(_) => Value::Vector(Box::new([bits; 64])),
    };
    registers.iter().map(|(code, value)| (*code, fill(value))).collect()
}

/// Returns the bits in which two contents differ.
pub(super) fn differing(one: &Value, two: &Value) -> Value {
    match (one, two) {
        (Value::Vector(one), Value::Vector(two)) => {
            Value::Vector(Box::new(std::array::from_fn(|lane| one[lane] ^ two[lane])))
        }
        (Value::Scalar(one), Value::Scalar(two)) => Value::Scalar(one ^ two),
        _ => Value::Scalar(0),
    }
}

/// Merges results of some lanes into the results of all lanes. `lanes` is the mask of the lanes that come
/// from `some`.
pub(super) fn merge(all: &mut Registers, some: Registers, lanes: u64) {
    if all.is_empty() {
        *all = some;
        return;
    }
    for (all, some) in all.iter_mut().zip(some) {
        if let (Value::Vector(all), Value::Vector(some)) = (&mut all.1, &some.1) {
            ActiveLanes(lanes).for_each(|lane| all[lane] = some[lane]);
        }
    }
}
