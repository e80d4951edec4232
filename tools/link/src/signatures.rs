//! Compares the signatures of functions across objects.
//!
//! Objects compiled by kernc record the types of parameters and results of the functions that they define for
//! other objects or call in other objects, in the section [`objwriter::elf::SIGNATURES`]. If two records of a
//! function differ, a call would put arguments where the callee does not expect them. Objects of other
//! compilers record nothing and are not compared.

use crate::input::Object;
use codeobj::elf::Section;
use objwriter::elf::SIGNATURES;
use rustc_hash::FxHashMap;

/// Returns messages, in the order of the objects: one for each function for which two objects record
/// different signatures, and one for each section of signatures that cannot be read.
pub fn differences(objects: &[Object<'_>]) -> Vec<String> {
    let mut known: FxHashMap<&str, (&str, &str)> = FxHashMap::default();
    let mut found = Vec::new();
    for object in objects {
        for section in object.sections().iter().filter(|section| section.name == SIGNATURES) {
            let Some(entries) = entries(section) else {
                found.push(format!("{}: the section {SIGNATURES} is damaged", object.name));
                continue;
            };
            for (name, signature) in entries {
                let (first, other) = *known.entry(name).or_insert((signature, &object.name));
                if first != signature {
                    found.push(format!(
                        "`{name}` has different types in two objects: `{first}` in {other}, and `{signature}` in {}",
                        object.name
                    ));
                }
            }
        }
    }
    found
}

/// Returns the function names and signatures in a section. Returns `None` if the section does not have the
/// form of such a list.
fn entries<'a>(section: &Section<'a>) -> Option<Vec<(&'a str, &'a str)>> {
    let text = std::str::from_utf8(section.data).ok()?;
    text.split_terminator('\0').map(|entry| entry.split_once(' ')).collect()
}
