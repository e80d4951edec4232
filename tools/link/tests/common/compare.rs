//! What `ld.lld` makes of a case, and what we make of it.

use super::{Case, Scratch, link, link_files, lld};
use codeobj::elf::CodeObject;
use link::Kind;
use objwriter::descriptor::{ACCUM_OFFSET, ENTRY, PRIVATE_SEGMENT_FIXED_SIZE, SGPR_BLOCKS, VGPR_BLOCKS};
use std::path::Path;

/// Sections of which `ld.lld` has one and we do not, or that say who linked.
const OTHERS: [&str; 6] = [".relro_padding", ".comment", ".strtab", ".shstrtab", ".symtab", ""];
/// Flags that say something to linkers: `ld.lld` leaves them on what holds other contents, too.
const MERGING: u64 = objwriter::elf::SHF_MERGE | objwriter::elf::SHF_STRINGS;
/// Types of what a linker makes itself.
const SHT_DYNSYM: u32 = 11;

/// What came of a case.
pub struct Outcome {
    /// What is not the same; nothing if all is.
    pub differences: String,
    /// Whether both linked it.
    pub is_linked: bool,
}

/// Links a case here and there, and what was joined to one object again. Who `ld.lld` refuses has to be refused with the case's words, if
/// it has any.
pub fn compare(lld_path: &Path, case: &Case) -> Outcome {
    let scratch = Scratch::new(&case.name);
    let theirs = lld(lld_path, case, &scratch);
    let mut is_linked = false;
    let differences = match (link(case, Kind::Loadable), theirs) {
        (Ok(mut ours), Ok(theirs)) if case.errors.is_empty() => {
            is_linked = true;
            if case.may_raise {
                lower(&mut ours, &theirs);
            }
            let same = differences(&ours, &theirs);
            // Who links the joined object makes the same of it.
            let joined = link(case, Kind::Relocatable).expect("it can be joined");
            let inputs = vec![("joined.o".to_owned(), joined)];
            let theirs = lld(lld_path, &Case { inputs: inputs.clone(), ..case.clone() }, &scratch);
            let again = match (link_files(&inputs, &case.options), theirs) {
                // Joining has raised what there was to raise.
                (Ok(ours), Ok(theirs)) => differences_named("joined", &ours, &theirs),
                // Its sections are longer, and may lack what single ones were left out for.
                (Err(_), Err(_)) if case.is_generated => String::new(),
                (ours, theirs) => {
                    format!(
                        "joined: {:?}, ld.lld: {:?}",
                        ours.map(|file| file.len()),
                        theirs.map(|file| file.len())
                    )
                }
            };
            same + &again
        }
        (Err(errors), Err(_)) if case.errors.is_empty() && case.is_generated && !errors.is_empty() => {
            String::new()
        }
        (Err(errors), Err(_)) if !case.errors.is_empty() && errors == case.errors => String::new(),
        (ours, theirs) => format!(
            "{:?}\nexpected {:?}\nld.lld {:?}",
            ours.map(|file| file.len()),
            case.errors,
            theirs.map(|file| file.len())
        ),
    };
    Outcome { differences, is_linked }
}

/// Takes back what was raised, after a look that it is that: more registers or scratch memory, and nothing else.
fn lower(ours: &mut [u8], theirs: &[u8]) {
    let other = CodeObject::parse(theirs).expect("an object");
    let file = CodeObject::parse(ours).expect("an object");
    let mut changes = Vec::new();
    for raised in file.descriptors() {
        let found = other.descriptors().find(|found| found.kernel == raised.kernel).expect("the same kernel");
        let mut bytes = raised.bytes;
        for field in [VGPR_BLOCKS, SGPR_BLOCKS, ACCUM_OFFSET, PRIVATE_SEGMENT_FIXED_SIZE] {
            assert!(field.get(&bytes) >= field.get(&found.bytes), "{}: {}", raised.kernel, field.name);
            field.set(&mut bytes, field.get(&found.bytes));
        }
        // Distances to the code are looked at with all else.
        ENTRY.set(&mut bytes, ENTRY.get(&found.bytes));
        assert_eq!(bytes, found.bytes, "{}", raised.kernel);
        let section = &file.sections[raised.section];
        let at = (section.offset + raised.address - section.address) as usize;
        ENTRY.set(&mut bytes, ENTRY.get(&raised.bytes));
        changes.push((at, bytes.to_vec()));
    }
    if let (Some(notes), Some(known)) = (file.section(".note"), other.section(".note"))
        && notes.size == known.size
    {
        changes.push((notes.offset as usize, known.data.to_vec()));
    }
    for (at, bytes) in changes {
        ours[at..at + bytes.len()].copy_from_slice(&bytes);
    }
}

fn differences_named(name: &str, ours: &[u8], theirs: &[u8]) -> String {
    let found = differences(ours, theirs);
    if found.is_empty() { found } else { format!(" {name}:\n{found}") }
}

/// What two loadable objects do not have in common, a line each.
pub fn differences(ours: &[u8], theirs: &[u8]) -> String {
    let mut out = String::new();
    let [ours, theirs] = [ours, theirs].map(|bytes| CodeObject::parse(bytes).expect("an object"));
    assert!(ours.problems.is_empty() && theirs.problems.is_empty(), "{:?}", ours.problems);
    let mut differ = |what: &str, ours: &dyn std::fmt::Debug, theirs: &dyn std::fmt::Debug| {
        out += &format!("  {what}\n    ours   {ours:x?}\n    theirs {theirs:x?}\n");
    };
    if ours.header.flags != theirs.header.flags {
        differ("flags", &ours.header.flags, &theirs.header.flags);
    }
    let names = |file: &CodeObject| -> Vec<String> {
        let names = file.sections.iter().map(|section| section.name.to_owned());
        names.filter(|name| !OTHERS.contains(&name.as_str())).collect()
    };
    if names(&ours) != names(&theirs) {
        differ("sections", &names(&ours), &names(&theirs));
    }
    for section in ours.sections.iter().filter(|section| !OTHERS.contains(&section.name)) {
        let Some(other) = theirs.section(section.name) else { continue };
        let facts = |s: &codeobj::elf::Section| (s.kind, s.flags & !MERGING, s.address, s.size, s.align);
        if facts(section) != facts(other) {
            differ(section.name, &facts(section), &facts(other));
        }
        // Entries that are merged come in the order of their hashes there.
        let sorted = |data: &[u8]| {
            let mut data = data.to_vec();
            data.sort_unstable();
            data
        };
        if other.flags & objwriter::elf::SHF_MERGE != 0 && sorted(section.data) == sorted(other.data) {
            continue;
        }
        // Its numbers of sections are not: `ld.lld` has one more.
        if section.data != other.data && section.kind != SHT_DYNSYM {
            let at = section.data.iter().zip(other.data).position(|(a, b)| a != b).unwrap_or(0);
            let part = |data: &[u8]| data[at..data.len().min(at + 32)].to_vec();
            differ(&format!("{}+{at:#x}", section.name), &part(section.data), &part(other.data));
        }
    }
    for table in [".symtab", ".dynsym"] {
        let rows = |file: &CodeObject| -> Vec<_> {
            let found = file.symbol_tables.iter().find(|found| found.name == table);
            let symbols = found.iter().flat_map(|table| &table.symbols);
            let section = |number: u16| {
                file.sections.get(usize::from(number)).map_or_else(|| number.to_string(), |s| s.name.into())
            };
            let row = |s: &codeobj::elf::Symbol| {
                let section = section(s.section);
                format!(
                    "{} {:#x} {} {} {} {} {section}",
                    s.name, s.value, s.size, s.kind, s.binding, s.visibility
                )
            };
            let mut rows: Vec<String> = symbols.map(row).collect();
            // `ld.lld` puts names that became local to those of their file.
            if table == ".symtab" {
                rows.sort();
            }
            rows
        };
        for (a, b) in rows(&ours).iter().zip(&rows(&theirs)).filter(|(a, b)| a != b) {
            differ(table, a, b);
        }
        if rows(&ours).len() != rows(&theirs).len() {
            differ(table, &rows(&ours), &rows(&theirs));
        }
    }
    let relocations = |file: &CodeObject| {
        file.relocation_tables.iter().flat_map(|table| table.records.clone()).collect::<Vec<_>>()
    };
    if relocations(&ours) != relocations(&theirs) {
        differ(".rela.dyn", &relocations(&ours), &relocations(&theirs));
    }
    out
}
