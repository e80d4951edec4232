//! Directives that choose the section.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use crate::section::{
    SHT_FINI_ARRAY, SHT_INIT_ARRAY, SHT_PREINIT_ARRAY, convention, defaults, elf, standard,
};
use crate::subsection::Place;
use crate::symbol::{Definition, SymbolId};
use std::borrow::Cow;
use std::ops::Range;

/// Letters of section flags.
const FLAGS: [(u8, u64); 11] = [
    (b'a', elf::SHF_ALLOC),
    (b'w', elf::SHF_WRITE),
    (b'x', elf::SHF_EXECINSTR),
    (b'M', elf::SHF_MERGE),
    (b'S', elf::SHF_STRINGS),
    (b'T', elf::SHF_TLS),
    (b'e', elf::SHF_EXCLUDE),
    (b'G', elf::SHF_GROUP),
    (b'o', elf::SHF_LINK_ORDER),
    (b'R', elf::SHF_GNU_RETAIN),
    (b'?', SAME_GROUP),
];
/// Section flag that exists only while the assembler runs: it puts the section into the group of the previous
/// section.
const SAME_GROUP: u64 = 1 << 63;

/// Names of section types.
const TYPES: [(&str, u32); 8] = [
    ("progbits", elf::SHT_PROGBITS),
    ("nobits", elf::SHT_NOBITS),
    ("note", elf::SHT_NOTE),
    ("init_array", SHT_INIT_ARRAY),
    ("fini_array", SHT_FINI_ARRAY),
    ("preinit_array", SHT_PREINIT_ARRAY),
    ("unwind", 0x7000_0001),
    ("llvm_addrsig", elf::SHT_LLVM_ADDRSIG),
];

impl Assembler {
    pub(super) fn section_directive(
        &mut self,
        cur: &mut Cursor,
        name: &str,
        span: &Range<usize>,
    ) -> Result<bool> {
        match name {
            ".text" | ".data" | ".bss" | ".rodata" | ".hsatext" | ".tdata" | ".tbss" => {
                let number = self.subsection_number(cur)?;
                // Early assemblers had a special section for V2 code, `.hsatext`. It is renamed here, because
                // loaders look for `.text`.
                let name = if name == ".hsatext" { ".text" } else { name };
                let (kind, flags, _) = defaults(name);
                let section = self.section_named(name, kind, flags);
                self.enter(Place { section, number });
            }
            ".subsection" => {
                let number = self.subsection_number(cur)?;
                self.enter(Place { number, ..self.place });
            }
            ".section" => {
                let place = self.section_operands(cur, false)?;
                self.enter(place);
            }
            ".pushsection" => {
                let saved = (self.place, self.previous);
                let place = self.section_operands(cur, true)?;
                if self.section_stack.len() >= 1000 {
                    return Err(error(span.clone(), "sections are nested too deeply"));
                }
                self.section_stack.push(saved);
                self.enter(place);
            }
            ".popsection" => match self.section_stack.pop() {
                Some((place, previous)) => {
                    self.enter(place);
                    self.previous = previous;
                }
                None => return Err(error(span.clone(), "`.popsection` without `.pushsection`")),
            },
            ".previous" => match self.previous {
                Some(place) => self.enter(place),
                None => return Err(error(span.clone(), "`.previous` without a section before this one")),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads the number of a subsection; 0 if there is none.
    fn subsection_number(&mut self, cur: &mut Cursor) -> Result<u32> {
        cur.blank();
        if cur.at_end() {
            return Ok(0);
        }
        let start = cur.pos;
        let number = self.absolute(cur)?;
        u32::try_from(number).ok().filter(|&number| number <= i32::MAX as u32).ok_or_else(|| {
            error(start..cur.pos, format!("there is no subsection {number}"))
                .label("expected a number from 0 to 2147483647")
        })
    }

    /// Reads the operands of `.section`: `name[, "flags"[, @type[, entry size][, group[, comdat]][, linked][,
    /// unique, number]]]`. For `.pushsection` also `name, subsection[, ...]`.
    fn section_operands(&mut self, cur: &mut Cursor, is_push: bool) -> Result<Place> {
        cur.blank();
        let start = cur.pos;
        let name = section_name(cur)?;
        let (mut kind, mut flags, mut entry_size) = defaults(&name);
        let (mut explicit, mut number) = (false, 0);
        let mut kin = Kin::default();
        let mut more = cur.eat(b',');
        cur.blank();
        if more && is_push && cur.peek() != b'"' {
            number = self.subsection_number(cur)?;
            more = cur.eat(b',');
        }
        if more {
            explicit = true;
            let more_flags;
            (kind, more_flags) = convention(&name);
            cur.blank();
            let is_sun = cur.peek() == b'#';
            let mut given = if is_sun { sun_flags(cur)? } else { section_flags(cur)? };
            let group =
                if given & SAME_GROUP != 0 { self.sections[self.place.section as usize].group } else { None };
            given &= !SAME_GROUP;
            if group.is_some() {
                given |= elf::SHF_GROUP;
            }
            (flags, entry_size) = (given | more_flags, 0);
            if !is_sun && cur.eat(b',') {
                kind = section_type(cur)?;
            }
            if flags & elf::SHF_MERGE != 0 {
                cur.expect(b',')?;
                entry_size = u64::try_from(self.absolute(cur)?).unwrap_or(0);
            }
            kin = self.kin(cur, flags, group)?;
        }
        let span = start..cur.pos;
        let key = kin.key(&name);
        let is_new = !self.section_names.contains_key(&*key);
        let id = self.section_known_as(&key, &name, kind, flags);
        let section = &mut self.sections[id as usize];
        if is_new {
            section.entry_size = entry_size;
            (section.group, section.linked) = (kin.group, kin.linked);
            if let Some((signature, _)) = kin.group {
                self.symbols.register(signature);
            }
        }
        let section = &self.sections[id as usize];
        let own = (section.kind, section.flags, section.entry_size);
        let known = standard(&name).filter(|_| key == name).unwrap_or(own);
        if explicit && known != (kind, flags, entry_size) {
            return Err(error(
                span,
                format!("section `{name}` has another type, other flags or another entry size"),
            ));
        }
        Ok(Place { section: id, number })
    }

    /// Reads the operands of `.section` that come after the type and entry size: the group, the linked
    /// section, and the unique number.
    fn kin(&mut self, cur: &mut Cursor, flags: u64, group: Option<(SymbolId, bool)>) -> Result<Kin> {
        let mut kin = Kin { group, ..Kin::default() };
        if flags & elf::SHF_GROUP != 0 && group.is_none() {
            cur.expect(b',')?;
            let start = cur.pos;
            let signature = cur.expect_name("the name of a group")?;
            let signature = self.symbols.get_or_add(&signature, start);
            let comdat = cur.eat_option("comdat");
            self.symbols[signature].is_signature = true;
            kin.group = Some((signature, comdat));
        }
        if flags & elf::SHF_LINK_ORDER != 0 {
            cur.expect(b',')?;
            cur.blank();
            let start = cur.pos;
            if cur.peek() == b'0' {
                cur.pos += 1;
            } else {
                let name = cur.expect_name("a symbol of the section to be ordered by, or 0")?;
                kin.linked = self.section_with(&name);
                if kin.linked.is_none() {
                    let message = format!("`{}` is not in a section", &*name);
                    return Err(error(start..cur.pos, message).label("define it before"));
                }
            }
        }
        if cur.eat_option("unique") {
            cur.expect(b',')?;
            let start = cur.pos;
            let number = self.absolute(cur)?;
            kin.unique = u32::try_from(number).ok().filter(|&number| number != u32::MAX);
            if kin.unique.is_none() {
                return Err(error(start..cur.pos, format!("there is no section number {number}")));
            }
        }
        Ok(kin)
    }

    /// Returns the section that contains the symbol `name`. If there is no such symbol, returns the section
    /// named `name`.
    fn section_with(&self, name: &str) -> Option<u32> {
        let symbol = self.symbols.find(name).map(|id| self.symbols[id].definition);
        match symbol {
            Some(Definition::Label { section, .. }) => Some(self.section_of(section)),
            _ => self.section_names.get(name).copied(),
        }
    }

    /// Handles `.ident "text"`: writes a string to the section `.comment`.
    pub(super) fn ident(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let text = cur.string()?;
        let is_new = !self.section_names.contains_key(".comment");
        let id = self.section_named(".comment", elf::SHT_PROGBITS, elf::SHF_MERGE | elf::SHF_STRINGS);
        self.sections[id as usize].entry_size = 1;
        // The section begins with an empty string.
        let mut bytes = if is_new { vec![0] } else { Vec::new() };
        bytes.extend_from_slice(&text);
        bytes.push(0);
        self.inside(id, |assembler| assembler.emit(&bytes, span))
    }
}

/// Properties that distinguish sections with the same name.
#[derive(Default)]
struct Kin {
    group: Option<(SymbolId, bool)>,
    linked: Option<u32>,
    unique: Option<u32>,
}

impl Kin {
    /// Returns the key that identifies the section.
    fn key<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match (self.group, self.linked, self.unique) {
            (None, None, None) => name.into(),
            (group, linked, unique) => {
                format!("{name}\0{:?} {linked:?} {unique:?}", group.map(|(signature, _)| signature.0)).into()
            }
        }
    }
}

/// Reads the name of a section. It ends at a comma or blank, and may contain characters that other names may
/// not.
fn section_name(cur: &mut Cursor) -> Result<String> {
    cur.blank();
    if cur.peek() == b'"' {
        return cur.expect_name("a section").map(|name| name.to_string());
    }
    let start = cur.pos;
    while !matches!(cur.peek(), b',' | b' ' | b'\t' | b'\r') && !cur.at_end() && !cur.is_end() {
        cur.pos += 1;
    }
    match cur.text.get(start..cur.pos).unwrap_or_default() {
        "" => Err(cur.unexpected("the name of a section")),
        name => Ok(name.to_owned()),
    }
}

/// Reads section flags in the syntax `#alloc, #write`, which LLVM wrote until version 14.
fn sun_flags(cur: &mut Cursor) -> Result<u64> {
    let mut flags = 0;
    loop {
        cur.blank();
        let start = cur.pos;
        cur.expect(b'#')?;
        flags |= match cur.name() {
            Some("alloc") => elf::SHF_ALLOC,
            Some("execinstr") => elf::SHF_EXECINSTR,
            Some("write") => elf::SHF_WRITE,
            Some("tls") => elf::SHF_TLS,
            _ => {
                let known = "expected `#alloc`, `#execinstr`, `#write` or `#tls`";
                return Err(error(start..cur.pos.max(start + 1), "unknown flag of a section").label(known));
            }
        };
        if !cur.eat(b',') {
            return Ok(flags);
        }
    }
}

fn section_flags(cur: &mut Cursor) -> Result<u64> {
    cur.blank();
    let start = cur.pos;
    let text = cur.string()?;
    let mut flags = 0;
    for byte in text {
        match FLAGS.iter().find(|flag| flag.0 == byte) {
            Some(flag) => flags |= flag.1,
            None => {
                let message = format!("unknown section flag `{}`", byte.escape_ascii());
                return Err(error(start..cur.pos, message).note("known are a, w, x, M, S, T, e, G, o and R"));
            }
        }
    }
    Ok(flags)
}

fn section_type(cur: &mut Cursor) -> Result<u32> {
    cur.blank();
    let start = cur.pos;
    if !matches!(cur.peek(), b'@' | b'%') {
        return Err(cur.unexpected("`@progbits`, `@nobits` or `@note`"));
    }
    cur.pos += 1;
    if cur.peek().is_ascii_digit() {
        return match crate::number::number(cur)? {
            crate::number::Number::Int(kind) => Ok(kind as u32),
            _ => Err(error(start..cur.pos, "the type of a section is a name or a number")),
        };
    }
    let name = cur.name().unwrap_or_default();
    TYPES.iter().find(|kind| kind.0 == name).map(|kind| kind.1).ok_or_else(|| {
        error(cur.span_from(start), format!("unknown section type `{name}`"))
            .label("expected progbits, nobits, note, ...")
    })
}
