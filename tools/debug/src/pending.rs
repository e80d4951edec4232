//! Finds values that are not available yet, because an outstanding memory operation has still to write the
//! registers that hold them.

use dwarf::{Bank, Storage};
use isa::Reg;
use sim::{InFlight, Stopped};

/// Adds the registers that a location uses to `all`. The recursion is bounded, because the reader of location
/// expressions limits how deep composite location descriptions are nested.
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

/// Returns the register with this number in a bank of registers; `None` for a bank that memory operations
/// never write.
pub(crate) fn register_of(bank: Bank, number: u32) -> Option<Reg> {
    let first = match bank {
        Bank::Sgpr => 0,
        Bank::Vgpr => 256,
        Bank::Agpr => 512,
        Bank::Pc | Bank::Exec => return None,
    };
    Some(Reg(first + number as u16))
}

/// Returns the waits, such as `vmcnt(0)`, after which all `registers` are written. `None` if no outstanding
/// operation writes these registers.
pub(crate) fn wait(at: &Stopped<'_>, registers: &[Reg]) -> Option<String> {
    if registers.is_empty() {
        return None;
    }
    let InFlight { operations, .. } = at.in_flight()?;
    let writes = operations.iter().filter(|one| registers.iter().any(|register| one.is_to_write(*register)));
    // Each wait counter is listed once, with its lowest count. Waiting for this count completes all
    // operations of that counter that write the registers.
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
