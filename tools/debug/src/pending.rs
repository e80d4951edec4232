//! Values that are not available yet, because an outstanding memory operation has not written their
//! registers.

use dwarf::{Bank, Storage};
use isa::Reg;
use sim::{InFlight, Stopped};

/// Adds the registers of a location to `all`. The depth of nested composites is bounded by the code that
/// reads them.
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

/// Returns the register with a number in a bank; `None` for a bank that memory operations do not write.
pub(crate) fn register_of(bank: Bank, number: u32) -> Option<Reg> {
    let first = match bank {
        Bank::Sgpr => 0,
        Bank::Vgpr => 256,
        Bank::Agpr => 512,
        Bank::Pc | Bank::Exec => return None,
    };
    Some(Reg(first + number as u16))
}

/// Returns the waits after which all `registers` are written, for example `vmcnt(0)`; `None` if no
/// outstanding operation writes them.
pub(crate) fn wait(at: &Stopped<'_>, registers: &[Reg]) -> Option<String> {
    if registers.is_empty() {
        return None;
    }
    let InFlight { operations, .. } = at.in_flight()?;
    let writes = operations.iter().filter(|one| registers.iter().any(|register| one.is_to_write(*register)));
    // The lowest count of a counter waits for all the operations of that counter.
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
