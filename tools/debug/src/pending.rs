//! Values that are not there yet: registers that a memory operation under way has yet to write.

use dwarf::{Bank, Storage};
use isa::Reg;
use sim::{InFlight, Stopped};

/// Registers that a value lies in. How deep composites may be within one another is what reading them allows.
pub(crate) fn registers_of(storage: &Storage, all: &mut Vec<Reg>) {
    match storage {
        Storage::Register(register) => {
            let Some((bank, number, _)) = register.facts() else { return };
            all.extend(register_of(bank, number));
        }
        Storage::Composite(composite) => {
            composite.parts().iter().for_each(|part| registers_of(&part.location.storage, all));
        }
        _ => {}
    }
}

/// A register of those that memory operations write.
pub(crate) fn register_of(bank: Bank, number: u32) -> Option<Reg> {
    let first = match bank {
        Bank::Sgpr => 0,
        Bank::Vgpr => 256,
        Bank::Agpr => 512,
        Bank::Pc | Bank::Exec => return None,
    };
    Some(Reg(first + number as u16))
}

/// The waits that it takes until registers are written, if they are not.
pub(crate) fn wait(at: &Stopped<'_>, registers: &[Reg]) -> Option<String> {
    if registers.is_empty() {
        return None;
    }
    let InFlight { operations, .. } = at.in_flight()?;
    let writes = operations.iter().filter(|one| registers.iter().any(|register| one.is_to_write(*register)));
    // Of a counter the lowest is the one that is waited for.
    let mut waits: Vec<(&str, u32)> = Vec::new();
    for &(counter, count) in writes.flat_map(|operation| &operation.waits) {
        match waits.iter_mut().find(|(name, _)| *name == counter.name()) {
            Some((_, least)) => *least = count.min(*least),
            None => waits.push((counter.name(), count)),
        }
    }
    let texts: Vec<String> = waits.iter().map(|(name, count)| format!("{name}({count})")).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}
