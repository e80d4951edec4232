//! Joins the note sections of several objects. The metadata of all objects becomes one tree. (`ld.lld` writes
//! the metadata of the objects one after the other instead, but a loader reads only the first one and misses
//! the kernels of the other objects.) If several objects have the same note of the vendor AMD, it is kept
//! once.

use crate::kernels::Counts;
use crate::symbols::Symbols;
use codeobj::note::{self, Meaning};
use objwriter::elf::{SHF_ALLOC, SHT_NOTE};
use objwriter::note::{NT_METADATA, NT_METADATA_V2};
use objwriter::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

/// New contents of sections, by object and section.
pub type Contents = FxHashMap<(usize, usize), Vec<u8>>;

/// Returns the new contents of the note sections that change.
///
/// # Errors
/// Metadata cannot be joined.
pub fn joined(
    symbols: &Symbols,
    live: &[Vec<bool>],
    counts: &FxHashMap<&str, Counts>,
) -> Result<Contents, String> {
    let mut sections = Vec::new();
    for (number, object) in symbols.objects.iter().enumerate() {
        for (n, section) in object.sections().iter().enumerate() {
            if live[number][n] && section.kind == SHT_NOTE && section.flags & SHF_ALLOC != 0 {
                let (records, fault) = note::records(n, section.data);
                if let Some(fault) = fault {
                    return Err(format!("{}: {}: {fault}", object.name, section.name));
                }
                sections.push(((number, n), records));
            }
        }
    }
    if sections.len() < 2 && counts.is_empty() {
        return Ok(Contents::default());
    }
    let mut tree = metadata(symbols, &sections)?;
    tree.iter_mut().for_each(|tree| raise(tree, counts));
    let mut tree = tree.as_ref();
    let mut text = texts(symbols, &sections)?;
    let is_one_text = text.is_some();
    let mut seen: FxHashSet<(&str, u32, &[u8])> = FxHashSet::default();
    let mut contents = Contents::default();
    for (place, records) in &sections {
        let mut out = Vec::new();
        for record in records {
            let is_metadata = record.owner == "AMDGPU" && record.kind == NT_METADATA;
            let key = (record.owner, record.kind, record.desc);
            if is_metadata {
                if let Some(tree) = tree.take() {
                    objwriter::note::write(
                        "AMDGPU",
                        NT_METADATA,
                        |out| tree.write_message_pack(out),
                        &mut out,
                    );
                }
            } else if is_one_text && is_text(record) {
                if let Some(text) = text.take() {
                    out.extend(objwriter::note::record("AMD", NT_METADATA_V2, text.as_bytes()));
                }
            } else if !["AMD", "AMDGPU"].contains(&record.owner) || seen.insert(key) {
                out.extend(objwriter::note::record(record.owner, record.kind, record.desc));
            }
        }
        contents.insert(*place, out);
    }
    Ok(contents)
}

type Sections<'a> = [((usize, usize), Vec<note::Note<'a>>)];

/// Returns the joined metadata of all objects.
fn metadata(symbols: &Symbols, sections: &Sections) -> Result<Option<Value>, String> {
    let mut all: Option<Value> = None;
    for ((object, _), records) in sections {
        let name = &symbols.objects[*object].name;
        for record in records.iter().filter(|record| record.owner == "AMDGPU" && record.kind == NT_METADATA) {
            let Meaning::Metadata(tree) = record.meaning() else {
                return Err(format!("{name}: its metadata cannot be read"));
            };
            all = Some(match all {
                None => tree,
                Some(known) => both(known, tree).map_err(|error| format!("{name}: {error}"))?,
            });
        }
    }
    Ok(all)
}

fn is_text(record: &note::Note) -> bool {
    record.owner == "AMD" && record.kind == NT_METADATA_V2
}

/// Returns the V2 metadata of all objects, joined into one YAML text. Returns `None` if fewer than two
/// objects have V2 metadata, because nothing must be joined then.
fn texts(symbols: &Symbols, sections: &Sections) -> Result<Option<String>, String> {
    let texts = sections.iter().flat_map(|((object, _), records)| {
        let texts = records.iter().filter(|record| is_text(record) && !record.desc.is_empty());
        texts.map(move |record| (&symbols.objects[*object].name, record.meaning()))
    });
    let (mut all, mut count): (Option<Value>, usize) = (None, 0);
    for (name, text) in texts {
        let tree = match text {
            Meaning::Yaml(text) => codeobj::yaml::v2_metadata(text),
            _ => None,
        };
        let Some(tree) = tree else {
            // If only one object has metadata, its text stays unchanged and is not parsed. It need not even
            // be valid YAML.
            if count == 0 {
                (all, count) = (Some(Value::Nil), 1);
                continue;
            }
            return Err(format!("{name}: its metadata cannot be read"));
        };
        count += 1;
        all = Some(match all {
            None => tree,
            Some(known) => both(known, tree).map_err(|error| format!("{name}: {error}"))?,
        });
    }
    Ok(all.filter(|_| count > 1).map(|tree| objwriter::metadata_v2::text(&tree)))
}

/// Raises the resource numbers in the metadata of kernels that need more than their compilers knew.
fn raise(tree: &mut Value, counts: &FxHashMap<&str, Counts>) {
    let Value::Map(entries) = tree else { return };
    let kernels = entries.iter_mut().filter(|(key, _)| key.as_str() == Some("amdhsa.kernels"));
    for (_, kernels) in kernels {
        let Value::Seq(kernels) = kernels else { continue };
        for kernel in kernels {
            let symbol = kernel.get(".symbol").and_then(Value::as_str).and_then(|name| counts.get(name));
            let (Some(&counts), Value::Map(entries)) = (symbol, kernel) else { continue };
            let Counts { vgprs, sgprs, lds, scratch, dynamic_stack } = counts;
            if let Some(bytes) = scratch {
                set(entries, ".private_segment_fixed_size", Value::Uint(bytes));
            }
            if let Some(is_dynamic) = dynamic_stack {
                set(entries, ".uses_dynamic_stack", Value::Bool(is_dynamic));
            }
            let fields = [
                (".vgpr_count", vgprs.into()),
                (".sgpr_count", sgprs.into()),
                (".group_segment_fixed_size", lds),
            ];
            for (name, count) in fields {
                for (_, value) in entries.iter_mut().filter(|(key, _)| key.as_str() == Some(name)) {
                    if let Value::Uint(known) = value {
                        *known = count.max(*known);
                    }
                }
            }
        }
    }
}

fn set(entries: &mut [(Value, Value)], name: &str, new: Value) {
    let known = entries.iter_mut().filter(|(key, _)| key.as_str() == Some(name));
    known.for_each(|(_, value)| *value = new.clone());
}

/// Joins two trees of metadata. Lists are concatenated. All other values must be equal in both trees.
fn both(a: Value, b: Value) -> Result<Value, String> {
    let (Value::Map(mut all), Value::Map(new)) = (a, b) else { return Err("its metadata is no map".into()) };
    for (key, value) in new {
        let name = key.as_str().unwrap_or("?").to_owned();
        let Some((_, known)) = all.iter_mut().find(|(known, _)| *known == key) else {
            all.push((key, value));
            continue;
        };
        match (&mut *known, value) {
            (Value::Seq(items), Value::Seq(more)) if ["amdhsa.kernels", "Kernels"].contains(&&*name) => {
                items.extend(more);
            }
            (Value::Seq(items), Value::Seq(more)) if ["amdhsa.printf", "Printf"].contains(&&*name) => {
                formats(items, more)?;
            }
            (Value::Str(known), Value::Str(other)) if name == "amdhsa.target" => {
                *known = target(known, &other).ok_or("its `amdhsa.target` is for another processor")?.into();
            }
            (known, value) if *known == value => {}
            _ => return Err(format!("its `{name}` is not that of the objects before it")),
        }
    }
    Ok(Value::Map(all))
}

/// Joins two target ids. Returns `None` if they contradict each other. A setting that only one of the target
/// ids specifies is kept.
fn target(a: &str, b: &str) -> Option<String> {
    let (mut a, mut b) = (a.split(':'), b.split(':'));
    let processor = a.next().filter(|&processor| b.next() == Some(processor))?;
    let mut settings: Vec<&str> = a.chain(b).collect();
    settings.sort_unstable();
    settings.dedup();
    Some(std::iter::once(processor).chain(settings).collect::<Vec<_>>().join(":"))
}

/// Joins the lists of `printf` formats of two objects. A format begins with the number by which the code
/// refers to it. Two different formats must therefore not have the same number.
fn formats(items: &mut Vec<Value>, more: Vec<Value>) -> Result<(), String> {
    let number =
        |text: &Value| text.as_str().and_then(|text| text.split(':').next()).unwrap_or_default().to_owned();
    let mut known: FxHashMap<String, usize> =
        items.iter().enumerate().rev().map(|(n, text)| (number(text), n)).collect();
    for text in more {
        match known.get(&number(&text)) {
            None => {
                known.insert(number(&text), items.len());
                items.push(text);
            }
            Some(&at) if items[at] == text => {}
            Some(_) => {
                return Err(format!(
                    "its printf text {} has a number that another object's has, too: the code of both names it; \
                     one of them may print, or both by calls of the host (`--printf hostcall`)",
                    number(&text)
                ));
            }
        }
    }
    Ok(())
}

#[test]
fn targets() {
    let id = |settings: &str| format!("amdgcn-amd-amdhsa--gfx906{settings}");
    let both = |a: &str, b: &str| target(&id(a), &id(b));
    assert_eq!(both("", ":xnack+"), Some(id(":xnack+")));
    assert_eq!(both(":xnack-", ":sramecc+"), Some(id(":sramecc+:xnack-")));
    assert_eq!(both(":sramecc+:xnack-", ":sramecc+"), Some(id(":sramecc+:xnack-")));
    assert_eq!(target("amdgcn-amd-amdhsa--gfx906", "amdgcn-amd-amdhsa--gfx908"), None);
}
