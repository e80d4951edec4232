//! Finds the function that a kernel descriptor starts.

use crate::descriptor::{Descriptor, ENTRY_OFFSET};
use crate::elf::CodeObject;

/// Returns where the code of a kernel begins: the name of a symbol, or the address if no symbol is there.
pub fn entry(object: &CodeObject<'_>, descriptor: &Descriptor<'_>) -> String {
    if object.header.is_relocatable() {
        let tables = object.relocation_tables.iter().filter(|table| table.target == descriptor.section);
        let at = descriptor.address.wrapping_add(ENTRY_OFFSET);
        let mut symbol = tables.filter_map(|table| {
            let record = table.records.iter().find(|record| record.offset == at)?;
            object.symbols_of(table.symbols).get(record.symbol as usize)
        });
        return symbol
            .next_back()
            .map_or_else(|| "unknown: no relocation".to_owned(), |symbol| symbol.name.to_owned());
    }
    let entry = descriptor.entry();
    let in_code =
        |section: u16| object.sections.get(usize::from(section)).is_some_and(|section| section.is_code());
    let symbol = object.symbols().iter().find(|symbol| symbol.value == entry && in_code(symbol.section));
    match symbol {
        Some(symbol) => format!("{} at {entry:#x}", symbol.name),
        None => format!("{entry:#x}"),
    }
}
