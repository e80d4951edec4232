//! Resolves names to definitions, and selects the archive members that are needed.
//!
//! A strong definition takes precedence over a common definition, and a common definition over a weak one. As
//! in `ld.lld`, the order of archives on the command line does not matter: as soon as a name is needed, the
//! archive member that defines it is linked, from whichever archive. The objects therefore come in the same
//! order as with `ld.lld`.

use crate::Input;
use crate::archive;
use crate::input::{Object, Place};
use crate::versions::Versions;
use codeobj::elf::Symbol;
use objwriter::elf::{STB_LOCAL, STB_WEAK, STT_AMDGPU_HSA_KERNEL, STV_DEFAULT, STV_HIDDEN, STV_PROTECTED};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// Names that the linker defines, for code that runs constructors. Each name denotes the beginning of a
/// section, or with `true` its end. A name without a section denotes the beginning of the image.
pub const MADE: [(&str, &str, bool); 5] = [
    ("__init_array_start", ".init_array", false),
    ("__init_array_end", ".init_array", true),
    ("__fini_array_start", ".fini_array", false),
    ("__fini_array_end", ".fini_array", true),
    ("__dso_handle", "", false),
];

/// Returns the section that a name such as `__start_NAME` or `__stop_NAME` denotes, as its name `NAME`, and
/// whether the name denotes the section's end. Returns `None` for other names. `NAME` must be a valid C
/// identifier.
fn bound(name: &str) -> Option<(&str, bool)> {
    let (section, is_end) = match name.strip_prefix("__start_") {
        Some(section) => (section, false),
        None => (name.strip_prefix("__stop_")?, true),
    };
    let is_c = section.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_c && !section.is_empty() && !section.starts_with(|c: char| c.is_ascii_digit()))
        .then_some((section, is_end))
}

/// Meaning of a global name.
#[derive(Clone, Copy, Debug)]
pub enum Meaning<'a> {
    /// No definition has been found so far. If all references are weak (`weak`), the name may stay undefined.
    Undefined {
        weak: bool,
    },
    /// A member of an archive defines the name, but the member has not been needed so far. The number
    /// identifies the member.
    Lazy(usize),
    Defined {
        object: usize,
        symbol: usize,
    },
    /// The linker defines the name. It denotes the beginning or end of an output section. Without a section,
    /// it denotes the beginning of the image.
    Made {
        section: &'a str,
        is_end: bool,
    },
    /// A common symbol (zeroed memory) or an LDS symbol. It gets the largest size and the largest alignment
    /// that any object requests.
    Common {
        object: usize,
        symbol: usize,
        size: u64,
        align: u64,
    },
}

/// A global name, which several objects may define or need.
#[derive(Clone, Copy)]
pub struct Global<'a> {
    pub name: &'a str,
    pub meaning: Meaning<'a>,
    /// Most restrictive visibility in any object.
    pub visibility: u8,
    /// Whether an object that is linked contains the name. If not, the name is known only from archive
    /// members that are not linked.
    pub is_mentioned: bool,
    /// Whether the command line requests the name.
    pub is_wanted: bool,
    /// Whether the name is omitted because nothing needs it.
    pub is_dropped: bool,
    /// Whether a version script hides the name from other objects.
    pub is_local: bool,
    /// First object that needs the name.
    pub wanted_by: Option<usize>,
}

/// All objects that are linked, and all global names. The names are in the order in which they appeared.
#[derive(Default)]
pub struct Symbols<'a> {
    pub objects: Vec<Object<'a>>,
    pub globals: Vec<Global<'a>>,
    by_name: FxHashMap<&'a str, usize>,
    members: Vec<Member<'a>>,
    signatures: FxHashSet<&'a str>,
    faults: Vec<String>,
}

struct Member<'a> {
    name: String,
    data: &'a [u8],
    is_taken: bool,
}

/// An object on the current path of the search, whose undefined names are being looked up.
struct Open {
    object: usize,
    next: usize,
}

impl<'a> Symbols<'a> {
    /// Adds a file.
    ///
    /// # Errors
    /// Says what is wrong with the file.
    pub fn add_file(&mut self, input: &Input<'a>) -> Result<(), String> {
        if input.is_lazy {
            return self.add_member(input.name.to_owned(), input.data).map_err(|error| {
                error.strip_prefix(&format!("{}: ", input.name)).unwrap_or(&error).to_owned()
            });
        }
        if !archive::is_archive(input.data) {
            let object = Object::parse(input.name.to_owned(), input.data)?;
            let needed = self.add_object(object);
            return self.look_up(needed);
        }
        for (name, data) in archive::members(input.data)? {
            self.add_member(format!("{}({name})", input.name), data?)?;
        }
        Ok(())
    }

    /// Registers the names that an archive member defines. If one of them is already needed, the member is
    /// linked at once.
    fn add_member(&mut self, name: String, data: &'a [u8]) -> Result<(), String> {
        let object = Object::parse(name.clone(), data).map_err(|error| format!("{name}: {error}"))?;
        let number = self.members.len();
        self.members.push(Member { name, data, is_taken: false });
        let globals = object.symbols.iter().skip(1).filter(|symbol| symbol.binding != STB_LOCAL);
        for symbol in globals.filter(|symbol| object.symbol_place(symbol) != Place::Undefined) {
            let global = self.global(symbol.name);
            match self.globals[global].meaning {
                Meaning::Undefined { weak: false } => {
                    return self.take(number);
                }
                Meaning::Undefined { .. } => self.globals[global].meaning = Meaning::Lazy(number),
                _ => {}
            }
        }
        Ok(())
    }

    fn take(&mut self, member: usize) -> Result<(), String> {
        let open = self.open(member)?;
        open.map_or(Ok(()), |open| self.look_up(open))
    }

    /// Adds a member's object, unless it has been added already.
    fn open(&mut self, member: usize) -> Result<Option<Open>, String> {
        let Member { name, data, is_taken } = &mut self.members[member];
        if std::mem::replace(is_taken, true) {
            return Ok(None);
        }
        let object = Object::parse(name.clone(), data)?;
        Ok(Some(self.add_object(object)))
    }

    /// Marks a name as needed.
    pub fn want(&mut self, name: &'a str) {
        let global = self.global(name);
        self.globals[global].meaning = Meaning::Undefined { weak: false };
        self.globals[global].is_wanted = true;
    }

    /// Hides all names from other objects that are not in `list`, except names of kernels. Does nothing if
    /// the list is empty. Returns a message for each name in the list that is not defined.
    pub fn restrict(&mut self, list: &[String]) -> Vec<String> {
        if list.is_empty() {
            return Vec::new();
        }
        let names: FxHashSet<&str> = list.iter().map(String::as_str).collect();
        let is_defined =
            |global: &Global| matches!(global.meaning, Meaning::Defined { .. } | Meaning::Common { .. });
        for global in 0..self.globals.len() {
            let name = self.globals[global].name;
            let kernel = name.strip_suffix(".kd").unwrap_or(name);
            let is_kernel = self.is_defined_as_kernel(kernel);
            if is_defined(&self.globals[global]) && !names.contains(name) && !is_kernel {
                self.narrow(global, STV_HIDDEN);
            }
        }
        let lacks = |name: &&String| {
            !self.by_name.get(name.as_str()).is_some_and(|&global| is_defined(&self.globals[global]))
        };
        list.iter()
            .filter(lacks)
            .map(|name| format!("`{name}` is to be exported, and is not defined"))
            .collect()
    }

    /// Hides the names from other objects that a version script hides, including names of kernels. Returns a
    /// message for each name in the script that is not defined.
    pub fn hide(&mut self, versions: &Versions) -> Vec<String> {
        let is_defined =
            |global: &Global| matches!(global.meaning, Meaning::Defined { .. } | Meaning::Common { .. });
        for global in self.globals.iter_mut().filter(|global| is_defined(global)) {
            global.is_local = versions.hides(global.name);
        }
        let lacks =
            |name: &&str| !self.by_name.get(name).is_some_and(|&global| is_defined(&self.globals[global]));
        let missing = versions.names().filter(lacks);
        missing.map(|name| format!("the version script names `{name}`, which is not defined")).collect()
    }

    /// Returns whether a name denotes a kernel: it has a kernel descriptor, or is a symbol of a kernel in
    /// code object V2.
    fn is_defined_as_kernel(&self, name: &str) -> bool {
        let meaning = |name: &str| self.by_name.get(name).map(|&global| self.globals[global].meaning);
        match meaning(name) {
            Some(Meaning::Defined { object, symbol })
                if self.objects[object].symbols[symbol].kind == STT_AMDGPU_HSA_KERNEL =>
            {
                true
            }
            Some(Meaning::Defined { .. }) => {
                matches!(meaning(&format!("{name}.kd")), Some(Meaning::Defined { .. }))
            }
            _ => false,
        }
    }

    fn global(&mut self, name: &'a str) -> usize {
        match self.by_name.entry(name) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let meaning = Meaning::Undefined { weak: true };
                self.globals.push(Global {
                    name,
                    meaning,
                    visibility: STV_DEFAULT,
                    is_mentioned: false,
                    is_wanted: false,
                    is_local: false,
                    is_dropped: false,
                    wanted_by: None,
                });
                *new.insert(self.globals.len() - 1)
            }
        }
    }

    /// Returns the number of the global name of a symbol. Returns `None` if the symbol is local.
    pub fn global_of(&self, symbol: &Symbol) -> Option<usize> {
        (symbol.binding != STB_LOCAL).then(|| self.by_name.get(symbol.name).copied()).flatten()
    }

    /// Adds an object and its definitions.
    fn add_object(&mut self, mut object: Object<'a>) -> Open {
        let number = self.objects.len();
        for group in object.groups.iter().filter(|group| group.comdat) {
            if !self.signatures.insert(group.signature) {
                group.members.iter().for_each(|&member| object.dropped[member] = true);
            }
        }
        self.objects.push(object);
        for n in 1..self.objects[number].symbols.len() {
            let symbol = self.objects[number].symbols[n];
            if symbol.binding == STB_LOCAL {
                continue;
            }
            let global = self.global(symbol.name);
            self.globals[global].is_mentioned = true;
            self.narrow(global, symbol.visibility);
            if self.is_defined_in(number, &symbol) {
                self.define(global, number, n);
            }
        }
        Open { object: number, next: 1 }
    }

    /// Returns whether the object defines the symbol. A definition in a section that is dropped does not
    /// count.
    fn is_defined_in(&self, object: usize, symbol: &Symbol) -> bool {
        match self.objects[object].symbol_place(symbol) {
            Place::Undefined => false,
            Place::Section(section) => !self.objects[object].dropped[section],
            _ => true,
        }
    }

    /// Makes the visibility of a name as restrictive as `visibility`, if it is less restrictive. The order,
    /// from most to least restrictive, is: internal, hidden, protected, default.
    fn narrow(&mut self, global: usize, visibility: u8) {
        let known = &mut self.globals[global].visibility;
        *known = match (*known, visibility) {
            (STV_DEFAULT, other) | (other, STV_DEFAULT) => other,
            (a, b) => a.min(b),
        };
    }

    fn define(&mut self, global: usize, object: usize, symbol: usize) {
        let new = self.objects[object].symbols[symbol];
        let is_common = self.is_allotted(object, symbol);
        self.check_memory(global, object, symbol);
        let offered = if is_common {
            Meaning::Common { object, symbol, size: new.size, align: new.value.max(1) }
        } else {
            Meaning::Defined { object, symbol }
        };
        let known = self.globals[global].meaning;
        self.globals[global].meaning = match (known, offered) {
            (Meaning::Undefined { .. } | Meaning::Lazy(_) | Meaning::Made { .. }, new) => new,
            (Meaning::Common { size, align, .. }, Meaning::Common { size: size2, align: align2, .. }) => {
                let (object, symbol) = match known {
                    Meaning::Common { object, symbol, .. } if size >= size2 => (object, symbol),
                    _ => (object, symbol),
                };
                Meaning::Common { object, symbol, size: size.max(size2), align: align.max(align2) }
            }
            (Meaning::Defined { object: old, symbol: at }, new) => match (self.is_weak(old, at), is_common) {
                (true, true) => new,
                (true, false) if !self.is_weak(object, symbol) => new,
                (false, false) if self.is_same_number((old, at), (object, symbol)) => known,
                (false, false) if !self.is_weak(object, symbol) => {
                    self.duplicate(global, old, object);
                    known
                }
                _ => known,
            },
            (Meaning::Common { .. }, new) if !self.is_weak(object, symbol) => new,
            (known, _) => known,
        };
    }

    /// Returns whether a symbol is a common or LDS symbol, whose address the linker assigns.
    fn is_allotted(&self, object: usize, symbol: usize) -> bool {
        let object = &self.objects[object];
        matches!(object.symbol_place(&object.symbols[symbol]), Place::Common | Place::Lds)
    }

    /// Reports an error if a name is an LDS symbol in one object and a symbol in another kind of memory in
    /// another object.
    fn check_memory(&mut self, global: usize, object: usize, symbol: usize) {
        let Global { name, meaning, .. } = self.globals[global];
        let (Meaning::Defined { object: old, symbol: at } | Meaning::Common { object: old, symbol: at, .. }) =
            meaning
        else {
            return;
        };
        let is_lds = |object: usize, symbol: usize| {
            let object = &self.objects[object];
            object.symbol_place(&object.symbols[symbol]) == Place::Lds
        };
        if is_lds(old, at) != is_lds(object, symbol) {
            let (lds, other) = if is_lds(old, at) { (old, object) } else { (object, old) };
            let (lds, other) = (&self.objects[lds].name, &self.objects[other].name);
            self.faults.push(format!("`{name}` is in LDS in {lds}, and elsewhere in {other}"));
        }
    }

    fn is_weak(&self, object: usize, symbol: usize) -> bool {
        self.objects[object].symbols[symbol].binding == STB_WEAK
    }

    /// Returns whether two definitions of a name are the same absolute number. They may then coexist. LLVM
    /// declares the resources of a function by such numbers, in every object that contains the function.
    fn is_same_number(&self, one: (usize, usize), two: (usize, usize)) -> bool {
        let number = |(object, symbol): (usize, usize)| {
            let object = &self.objects[object];
            let symbol = &object.symbols[symbol];
            (object.symbol_place(symbol) == Place::Absolute).then_some(symbol.value)
        };
        number(one).is_some() && number(one) == number(two)
    }

    fn duplicate(&mut self, global: usize, old: usize, new: usize) {
        let name = self.globals[global].name;
        let (old, new) = (&self.objects[old].name, &self.objects[new].name);
        self.faults.push(format!(
            "`{name}` is defined in {old} and in {new}: make one of them weak or local, or rename it"
        ));
    }

    /// Links the archive members that define the undefined names of an object. When a member is linked, its
    /// own undefined names are looked up at once, before the remaining names of the object. The order is that
    /// of a recursive search, but a list takes the place of recursion.
    fn look_up(&mut self, first: Open) -> Result<(), String> {
        let mut open = vec![first];
        while let Some(Open { object, next }) = open.last_mut() {
            let (object, n) = (*object, *next);
            *next += 1;
            let Some(&symbol) = self.objects[object].symbols.get(n) else {
                open.pop();
                continue;
            };
            if symbol.binding == STB_LOCAL || self.is_defined_in(object, &symbol) {
                continue;
            }
            let global = self.global(symbol.name);
            let is_weak = symbol.binding == STB_WEAK;
            if !is_weak {
                self.globals[global].wanted_by.get_or_insert(object);
            }
            match self.globals[global].meaning {
                Meaning::Undefined { weak } => {
                    self.globals[global].meaning = Meaning::Undefined { weak: weak && is_weak };
                }
                Meaning::Lazy(member) if !is_weak => open.extend(self.open(member)?),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns messages for names that are defined twice.
    pub fn faults(&self) -> Vec<String> {
        self.faults.clone()
    }

    /// Defines those undefined names that every linker is expected to define, such as `__start_NAME`.
    pub fn make(&mut self) {
        let is_open = |meaning| matches!(meaning, Meaning::Undefined { .. } | Meaning::Lazy(_));
        for (name, section, is_end) in MADE {
            if let Some(&global) = self.by_name.get(name)
                && is_open(self.globals[global].meaning)
            {
                self.globals[global].meaning = Meaning::Made { section, is_end };
                self.narrow(global, STV_HIDDEN);
            }
        }
        let all = self.objects.iter().flat_map(|object| object.sections().iter().zip(&object.dropped));
        let names: FxHashSet<&str> =
            all.filter(|(_, dropped)| !**dropped).map(|(section, _)| section.name).collect();
        for global in 0..self.globals.len() {
            let Some((section, is_end)) = bound(self.globals[global].name) else { continue };
            if is_open(self.globals[global].meaning) && names.contains(section) {
                self.globals[global].meaning = Meaning::Made { section, is_end };
                self.narrow(global, STV_PROTECTED);
            }
        }
    }

    /// Returns a message for each name that is needed but not defined. With `ask_loader`, a name with default
    /// visibility is accepted, because the loader may define it.
    pub fn undefined(&self, ask_loader: bool) -> Vec<String> {
        let missing = |global: &&Global| {
            let is_loaders = ask_loader && global.visibility == STV_DEFAULT;
            matches!(global.meaning, Meaning::Undefined { weak: false }) && !is_loaders && !global.is_dropped
        };
        let message = |global: &Global| {
            let by = global.wanted_by.map_or("", |object| &self.objects[object].name);
            match global.wanted_by {
                Some(_) => format!("`{}` is not defined: {by} refers to it", global.name),
                None => format!("`{}` is to be taken, and is not defined", global.name),
            }
        };
        self.globals.iter().filter(missing).map(message).collect()
    }

    /// Returns the name of the section whose beginning or end a name denotes, if no object defines the name.
    /// Returns `None` otherwise.
    pub fn bounds(&self, global: usize) -> Option<&'a str> {
        match self.globals[global].meaning {
            Meaning::Made { section, .. } => Some(section),
            Meaning::Undefined { .. } | Meaning::Lazy(_) => {
                bound(self.globals[global].name).map(|found| found.0)
            }
            _ => None,
        }
    }

    /// Returns the object and the section that contain the definition to which a symbol of an object
    /// resolves. Returns `None` if the definition is not in a section.
    pub fn section_of(&self, object: usize, symbol: usize) -> Option<(usize, usize)> {
        let found = &self.objects[object].symbols[symbol];
        let (object, symbol) = match self.global_of(found).map(|global| self.globals[global].meaning) {
            Some(Meaning::Defined { object, symbol }) => (object, symbol),
            Some(_) => return None,
            None => (object, symbol),
        };
        match self.objects[object].symbol_place(&self.objects[object].symbols[symbol]) {
            Place::Section(section) => Some((object, section)),
            _ => None,
        }
    }
}
