//! Cases that a seed writes, linked here and by `ld.lld`: two to four sources with functions and data of every binding and visibility, all
//! relocations, common symbols, COMDAT groups, merged sections, constructors, archives, version scripts, garbage collection.
//!
//! `KERNC_LINK_CASES=N cargo test -p kernc-link --test link generated::` for N seeds; `KERNC_LINK_FIRST=SEED` says where to begin. A case that fails is
//! printed in the form of `tests/data`.

use crate::common::Case;
use crate::common::compare::compare;
use std::fmt::Write;
use support::Random;

/// Processors of each kind of `e_flags`, and what their names say.
const TARGETS: [&str; 8] =
    ["gfx700", "gfx803", "gfx906", "gfx906:xnack-", "gfx90a:sramecc+", "gfx908", "gfx1010", "gfx1030"];
const VERSIONS: [u32; 3] = [3, 4, 5];

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Function,
    Data,
    Zeros,
    Number,
}

/// A name that sources share.
#[derive(Clone)]
struct Name {
    name: String,
    what: What,
    /// Who defines it: none, one, or several of which at most one is strong.
    definers: Vec<(usize, bool)>,
    visibility: &'static str,
}

impl Name {
    /// Whether other objects may put their own in its place.
    fn is_open(&self) -> bool {
        self.visibility.is_empty()
    }
}

struct Writer {
    rng: Random,
    names: Vec<Name>,
    files: usize,
}

impl Writer {
    fn new(seed: u64) -> Writer {
        let mut rng = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let files = 2 + rng.below(3);
        let mut names = Vec::new();
        for n in 0..4 + rng.below(10) {
            let what = rng.choose(&[
                What::Function,
                What::Function,
                What::Data,
                What::Data,
                What::Zeros,
                What::Number,
            ]);
            let mut definers = vec![(rng.below(files), rng.one_in(5))];
            if rng.one_in(4) {
                // A weak one beside it, which may come first.
                definers.push((rng.below(files), true));
            }
            if what == What::Zeros {
                definers = (0..files).filter(|_| rng.one_in(2)).map(|file| (file, false)).collect();
            }
            if rng.one_in(12) {
                definers.clear();
            }
            definers.sort_unstable();
            definers.dedup_by_key(|definer| definer.0);
            let visibility = rng.choose(&["", "", "hidden", "protected", "protected", "internal"]);
            names.push(Name { name: format!("n{n}"), what, definers, visibility });
        }
        Writer { rng, names, files }
    }

    /// The case as text, for one target.
    fn case(mut self) -> String {
        let processor = self.rng.choose(&TARGETS);
        let version = self.rng.choose(&VERSIONS);
        let mut text = format!("; {processor}, V{version}\n");
        let collects = self.rng.one_in(3);
        if collects {
            text += "; lld: --gc-sections\n";
        }
        if self.rng.one_in(6) {
            let name = self.pick_name(|name| !name.definers.is_empty()).unwrap_or(0);
            let _ = writeln!(text, "; lld: -u {}", self.names[name].name);
        }
        if self.rng.one_in(5) {
            text += &self.script();
        }
        if !self.rng.one_in(6) {
            text += "; allow undefined\n";
        }
        // Up to V3 the target's name says features in another way.
        let processor =
            if version == 3 { processor.split(':').next().unwrap_or(processor) } else { processor };
        let in_archive = self.rng.one_in(3);
        for file in 0..self.files {
            let letter = ["a", "b", "c", "d"][file];
            let name = match in_archive && file > 0 {
                true => format!("lib.a({letter}.s)"),
                false => format!("{letter}.s"),
            };
            let _ = writeln!(text, ";--- {name}");
            let _ = writeln!(text, "\t.amdgcn_target \"amdgcn-amd-amdhsa--{processor}\"");
            let _ = writeln!(text, "\t.amdhsa_code_object_version {version}");
            text += &self.source(file);
        }
        text
    }

    /// Names that are there, some by patterns.
    fn script(&mut self) -> String {
        let mut shown = String::new();
        for name in self.names.iter().filter(|name| !name.definers.is_empty()) {
            if self.rng.one_in(3) && name.is_open() {
                let _ = write!(shown, "{}*; ", name.name);
            }
        }
        let local = self.rng.choose(&["*", "n1*", "n?"]);
        format!("; versions: {{ global: k; {shown}local: {local}; }};\n")
            .replace("global: k; ", "global: k*; ")
    }

    fn pick_name(&mut self, wanted: impl Fn(&Name) -> bool) -> Option<usize> {
        let fitting: Vec<usize> = (0..self.names.len()).filter(|&n| wanted(&self.names[n])).collect();
        (!fitting.is_empty()).then(|| self.rng.choose(&fitting))
    }

    fn source(&mut self, file: usize) -> String {
        let mut out = String::new();
        if file == 0 {
            out += &self.entry();
        }
        for n in 0..self.names.len() {
            let name = self.names[n].clone();
            if let Some(&(_, is_weak)) = name.definers.iter().find(|definer| definer.0 == file) {
                self.definition(&name, is_weak, &mut out);
            }
        }
        for _ in 0..self.rng.below(4) {
            self.extra(file, &mut out);
        }
        // What a file refers to it may say more of.
        let is_in = |name: &Name| ["@", "+"].iter().any(|mark| out.contains(&format!("{}{mark}", name.name)));
        let referred: Vec<Name> = self.names.iter().filter(|name| is_in(name)).cloned().collect();
        for name in &referred {
            if !name.visibility.is_empty() {
                let _ = writeln!(out, "\t.{} {}", name.visibility, name.name);
            }
            // `ld.lld` takes a protected one that nobody defines for 0.
            if name.definers.is_empty() && name.visibility != "protected" && self.rng.one_in(2) {
                let _ = writeln!(out, "\t.weak {}", name.name);
            }
        }
        out
    }

    /// What a loader asks for: it keeps the rest.
    fn entry(&mut self) -> String {
        let mut out =
            "\t.section .text.k,\"ax\",@progbits\n\t.globl k\n\t.protected k\n\t.p2align 8\nk:\n".to_owned();
        for _ in 0..2 + self.rng.below(6) {
            out += &self.reference(true);
        }
        out + "\ts_endpgm\n"
    }

    fn definition(&mut self, name: &Name, is_weak: bool, out: &mut String) {
        let Name { name: text, what, visibility, .. } = name;
        let binding = if is_weak { "weak" } else { "globl" };
        if *what != What::Zeros {
            let _ = writeln!(out, "\t.{binding} {text}");
        }
        if !visibility.is_empty() {
            let _ = writeln!(out, "\t.{visibility} {text}");
        }
        match what {
            What::Function => {
                let sections =
                    [".text".to_owned(), format!(".text.{text}"), format!(".text.hot.{text}"), "code".into()];
                let section = &sections[self.rng.below(4)];
                let _ = writeln!(out, "\t.section {section},\"ax\",@progbits");
                if self.rng.one_in(3) {
                    let _ = writeln!(out, "\t.p2align {}", self.rng.below(9));
                }
                let _ = writeln!(out, "\t.type {text},@function\n{text}:");
                for _ in 0..1 + self.rng.below(4) {
                    *out += &self.reference(true);
                }
                let _ = writeln!(
                    out,
                    "\ts_setpc_b64 s[30:31]\n.L{text}_end:\n\t.size {text}, .L{text}_end-{text}"
                );
            }
            What::Data => {
                let rows = [
                    (".data".to_owned(), "aw", true),
                    (format!(".data.{text}"), "aw", true),
                    (".data.hot".to_owned(), "aw", true),
                    (".rodata".to_owned(), "a", false),
                    (format!(".rodata.{text}"), "a", false),
                    ("table".to_owned(), "aw", true),
                ];
                let (section, flags, is_writable) = &rows[self.rng.below(6)];
                let _ = writeln!(
                    out,
                    "\t.section {section},\"{flags}\",@progbits\n\t.p2align {}",
                    self.rng.below(6)
                );
                let _ = writeln!(out, "\t.type {text},@object\n{text}:");
                for _ in 0..1 + self.rng.below(4) {
                    *out += &if *is_writable { self.reference(false) } else { self.constant() };
                }
                if self.rng.one_in(2) {
                    let _ = writeln!(out, "\t.size {text}, .-{text}");
                }
            }
            What::Zeros if self.rng.one_in(3) => {
                let _ = writeln!(
                    out,
                    "\t.weak {text}\n\t.section .bss.{text},\"aw\",@nobits\n\t.p2align 4\n{text}:\n\t.zero {}",
                    4 + self.rng.below(60)
                );
            }
            What::Zeros => {
                let _ = writeln!(out, "\t.comm {text},{},{}", 4 + self.rng.below(100), self.rng.below(7));
            }
            What::Number => {
                let _ = writeln!(out, "\t.set {text}, {:#x}", self.rng.below(0x7fff_ffff_u64) * 5);
            }
        }
    }

    fn constant(&mut self) -> String {
        match self.rng.below(3) {
            0 => format!("\t.long {}\n", self.rng.below(1 << 30)),
            1 => format!("\t.quad {}\n", self.rng.below(1 << 30)),
            _ => format!("\t.byte {}, 1, 2\n", self.rng.below(256)),
        }
    }

    /// A reference to some name, in code or in data.
    fn reference(&mut self, in_code: bool) -> String {
        let Some(n) = self.pick_name(|_| true) else { return self.nothing(in_code) };
        let Name { name, what, definers, .. } = self.names[n].clone();
        let is_closed = !self.names[n].is_open() && !definers.is_empty();
        let is_number = what == What::Number;
        let plus = self.rng.choose(&["", "", "+8"]);
        match (in_code, self.rng.below(6)) {
            (true, 0 | 1) if is_closed && !is_number => format!(
                "\ts_getpc_b64 s[4:5]\n\ts_add_u32 s4, s4, {name}@rel32@lo+4\n\ts_addc_u32 s5, s5, {name}@rel32@hi+12\n"
            ),
            (true, 2) if is_closed && what == What::Function => {
                format!("\t.reloc ., R_AMDGPU_REL16, {name}\n\t.long 0xbf820000\n\t; {name}@\n")
            }
            (true, 0..=3) => format!(
                "\ts_getpc_b64 s[4:5]\n\ts_add_u32 s4, s4, {name}@gotpcrel32@lo+4\n\ts_addc_u32 s5, s5, {name}@gotpcrel32@hi+12\n"
            ),
            (false, 0) if is_closed && !is_number => format!("\t.long {name}-.\n\t; {name}@\n"),
            (false, 1) if is_closed && !is_number => format!("\t.quad {name}-.\n\t; {name}@\n"),
            (false, 2) if is_closed && !is_number => {
                format!("\t.long {name}@rel32@lo\n\t.long {name}@rel32@hi\n")
            }
            (false, 0..=3) => format!("\t.quad {name}{plus}\n\t; {name}@\n"),
            _ => self.nothing(in_code),
        }
    }

    fn nothing(&mut self, in_code: bool) -> String {
        if in_code { format!("\ts_nop {}\n", self.rng.below(8)) } else { self.constant() }
    }

    /// What has no name that others see.
    fn extra(&mut self, file: usize, out: &mut String) {
        let number = self.rng.below(3);
        if out.contains(&format!("g{number},comdat")) || out.contains(&format!("l{file}")) {
            return;
        }
        *out += &match self.rng.below(8) {
            0 => format!(
                "\t.section .text.g{number},\"axG\",@progbits,g{number},comdat\n\t.weak g{number}\ng{number}:\n\ts_nop {number}\n"
            ),
            1 => {
                let texts = ["one", "two", "three", "", "one two"];
                let mut strings = "\t.section texts,\"aMS\",@progbits,1\n".to_owned();
                for _ in 0..1 + self.rng.below(4) {
                    let _ = writeln!(strings, "\t.asciz \"{}\"", self.rng.choose(&texts));
                }
                strings
            }
            2 => {
                let mut numbers = "\t.section numbers,\"aM\",@progbits,8\n".to_owned();
                for _ in 0..1 + self.rng.below(4) {
                    let _ = writeln!(numbers, "\t.quad {}", self.rng.below(4));
                }
                numbers
            }
            3 => format!("\t.local l{file}\n\t.comm l{file},{},{}\n", 4 + number, 4),
            4 => "\t.section .note.mine,\"a\",@note\n\t.p2align 2\n\t.long 2, 4, 1\n\t.asciz \"x\"\n\t.p2align 2\n\t.long 7\n".into(),
            5 => format!("\t.section .debug_x,\"\",@progbits\n\t.quad {number}\n\t.long {file}\n"),
            6 => format!(
                "\t.section kept{number},\"awR\",@progbits\n\t.quad {file}\n"
            ),
            _ => "\t.section .bss,\"aw\",@nobits\n\t.p2align 5\n\t.zero 12\n".into(),
        };
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn written_cases() {
    let Some(lld_path) = crate::common::tool("ld.lld-19", "written_cases") else { return };
    let (first, count) = (number("KERNC_LINK_FIRST", 1), number("KERNC_LINK_CASES", 250));
    let (mut linked, mut refused, mut failed) = (0, 0, Vec::new());
    for seed in first..first + count {
        let text = Writer::new(seed).case();
        let Some(case) = crate::common::try_parsed(format!("seed{seed}"), &text) else { continue };
        let case = Case { is_generated: true, ..case };
        let outcome = compare(&lld_path, &case);
        linked += u32::from(outcome.is_linked);
        refused += u32::from(!outcome.is_linked);
        if !outcome.differences.is_empty() {
            failed.push(format!("seed {seed}\n{text}\n{}", outcome.differences));
        }
    }
    eprintln!("{linked} linked, {refused} refused by both, {} differ", failed.len());
    assert!(
        failed.is_empty(),
        "{} of {count} differ\n{}",
        failed.len(),
        failed[..failed.len().min(3)].join("\n")
    );
    // Most of what is written is right.
    assert!(u64::from(linked) * 3 > count, "{linked} of {count}");
}
