//! Which mnemonics LLVM 14 and 19 accept for which processor, recorded, and that the table knows every one of
//! them.
//!
//! `KERNC_BLESS=1 cargo test -p kernc-isa --test isa mnemonics::` records anew. Candidates are the names in
//! the assemblers' own tables of mnemonics, which lie in LLVM's shared library as strings with their length
//! in front; whether a processor has one is what `llvm-mc` says to the bare name: "instruction not supported
//! on this GPU" or a complaint about operands.

use crate::common::llvm;
use isa::{Feature, PROCESSORS, Target, table};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

const RECORDED: &str = include_str!("vectors/mnemonics.tsv");
const VERSIONS: [&str; 2] = ["llvm-mc-14", "llvm-mc-19"];

/// Names that LLVM accepts and the table leaves out, by suffix, and why.
const LEFT_OUT: &[(&str, &str)] = &[(
    "_pad_s_nop",
    "LLVM 14's pair of a branch and an s_nop behind one name; LLVM 19 dropped it, and it is not one instruction",
)];

/// The same for the processors before GFX10.
const LEFT_OUT_BEFORE_GFX10: &[(&str, &str)] =
    &[("_g16", "LLVM 14 sets a bit that only GFX10 has (`image_sample_d_g16`); LLVM 19 refuses")];

/// Parts of the names that the table leaves out on processors with scope bits (CDNA 3), because their matrix
/// instructions and conversions of 8-bit floats are not there yet.
const NOT_YET_ON_CDNA3: [&str; 4] = ["v_mfma_", "v_smfmac_", "_fp8", "_bf8"];

fn left_out(name: &str, target: &Target) -> bool {
    if target.has(Feature::SCOPES) && NOT_YET_ON_CDNA3.iter().any(|part| name.contains(part)) {
        return true;
    }
    let older = if target.version.0 < 10 { LEFT_OUT_BEFORE_GFX10 } else { &[] };
    LEFT_OUT.iter().chain(older).any(|(suffix, _)| name.ends_with(suffix))
}

/// A set of processors: a bit for each, in the order of `PROCESSORS`.
type Set = u64;

fn index_of(name: &str) -> usize {
    PROCESSORS.iter().position(|target| target.name == name).unwrap_or_else(|| panic!("processor {name}"))
}

/// The processors that LLVM 14 does not know. What LLVM 19 says of them counts for both.
fn unknown_to_llvm_14() -> Set {
    UNKNOWN_TO_LLVM_14.iter().fold(0, |set, name| set | 1 << index_of(name))
}

const UNKNOWN_TO_LLVM_14: [&str; 4] = ["gfx940", "gfx941", "gfx942", "gfx1036"];

/// `600-602 700`: runs of neighbours in `PROCESSORS`, without `gfx`.
fn show(set: Set) -> String {
    let short = |index: usize| PROCESSORS[index].name.trim_start_matches("gfx");
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for index in (0..PROCESSORS.len()).filter(|&index| set >> index & 1 == 1) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => runs.push((index, index)),
        }
    }
    let run = |&(first, last): &(usize, usize)| match first == last {
        true => short(first).to_string(),
        false => format!("{}-{}", short(first), short(last)),
    };
    if runs.is_empty() { "-".into() } else { runs.iter().map(run).collect::<Vec<_>>().join(" ") }
}

fn parse(text: &str) -> Set {
    let index = |short: &str| index_of(&format!("gfx{short}"));
    text.split(' ')
        .filter(|run| *run != "-")
        .map(|run| run.split_once('-').unwrap_or((run, run)))
        .flat_map(|(first, last)| index(first)..=index(last))
        .fold(0, |set, index| set | 1 << index)
}

/// What is recorded: the processors that have a name according to LLVM 14 and 19.
fn recorded() -> BTreeMap<&'static str, [Set; 2]> {
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.map(|line| line.split('\t').collect::<Vec<_>>());
    // LLVM 14 does not know gfx1036; LLVM 19 gives it what gfx1035 has.
    let twin = |set: Set| set | (set >> index_of("gfx1035") & 1) << index_of("gfx1036");
    let sets = |fields: &[&str]| {
        let [old, new] = [fields[1], fields[fields.len() - 1]].map(parse);
        [twin(old) | new & unknown_to_llvm_14(), new]
    };
    fields.map(|fields| (fields[0], sets(&fields))).collect()
}

/// The names of LLVM's table of AMDGPU mnemonics in its library: each behind its length, one after the other.
fn candidates(tool: &Path) -> BTreeSet<String> {
    let output = support::Tool::new("ldd").arg(tool).output().expect("ldd runs");
    let output = String::from_utf8(output.stdout).expect("text");
    let library = output.split_whitespace().find(|word| word.starts_with('/') && word.contains("libLLVM"));
    let bytes = std::fs::read(library.expect("llvm-mc uses LLVM's shared library")).expect("it can be read");
    let is_name =
        |name: &[u8]| name.iter().all(|byte| byte.is_ascii_lowercase() || b"_0123456789".contains(byte));
    let entry = |at: usize| {
        let len = usize::from(*bytes.get(at)?);
        let name = bytes.get(at + 1..at + 1 + len).filter(|name| len > 2 && is_name(name))?;
        Some((String::from_utf8_lossy(name).into_owned(), at + 1 + len))
    };
    let (mut best, known) = (BTreeSet::new(), b"\x09s_mov_b32");
    for start in (0..bytes.len()).filter(|&at| bytes[at..].starts_with(known)) {
        let mut names = BTreeSet::new();
        let mut at = start;
        while let Some((name, next)) = entry(at) {
            names.insert(name);
            at = next;
        }
        // Backwards: the length byte must be as far away as it says.
        let mut end = start;
        while let Some(first) =
            (3..60).map(|len| end - len - 1).find(|&at| entry(at).is_some_and(|(_, next)| next == end))
        {
            names.insert(entry(first).expect("just found").0);
            end = first;
        }
        if names.len() > best.len() {
            best = names;
        }
    }
    best
}

/// Forms have names of their own in LLVM's table (`v_cmp_eq_f32_e32`); for us they are the instruction's.
fn is_form(name: &str) -> bool {
    name.ends_with("_e32") || name.ends_with("_e64")
}

/// For each name the processors that LLVM says have it.
fn ask(tool: &Path, names: &[&str]) -> Vec<Set> {
    let mut sets = vec![0; names.len()];
    for (index, target) in PROCESSORS.iter().enumerate() {
        for (name, accepted) in llvm::knows(tool, target.name, names).into_iter().enumerate() {
            sets[name] |= u64::from(accepted) << index;
        }
    }
    sets
}

fn record() -> Option<String> {
    let tools: Vec<_> = VERSIONS
        .iter()
        .map(|version| llvm::tool(version, "recording of mnemonics"))
        .collect::<Option<_>>()?;
    // Names that no table has, because LLVM rewrites them before it looks.
    let mut names: BTreeSet<String> = ["v_accvgpr_read", "v_accvgpr_write"].map(String::from).into();
    names.extend(tools.iter().flat_map(|tool| candidates(tool)).filter(|name| !is_form(name)));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let sets: Vec<_> = tools.iter().map(|tool| ask(tool, &names)).collect();
    let mut out =
        String::from("# mnemonic, processors that have it in LLVM 14, and in LLVM 19 if not the same\n");
    for (index, name) in names.iter().enumerate() {
        let (old, new) = (sets[0][index], sets[1][index]);
        if old | new == 0 {
            continue;
        }
        let old = old & !unknown_to_llvm_14() | new & unknown_to_llvm_14();
        match old == new {
            true => writeln!(out, "{name}\t{}", show(new)).ok()?,
            false => writeln!(out, "{name}\t{}\t{}", show(old), show(new)).ok()?,
        }
    }
    Some(out)
}

#[test]
fn every_mnemonic_is_known() {
    if std::env::var_os("KERNC_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/mnemonics.tsv");
        std::fs::write(path, record().expect("llvm-mc-14 and llvm-mc-19")).expect("the file is written");
        return;
    }
    let recorded = recorded();
    let mut missing: BTreeMap<&str, Set> = BTreeMap::new();
    for (index, target) in PROCESSORS.iter().enumerate() {
        let has = |sets: &[Set; 2]| (sets[0] | sets[1]) >> index & 1 == 1;
        let names: Vec<&str> = recorded.iter().filter(|(_, sets)| has(sets)).map(|(name, _)| *name).collect();
        let excused = names.iter().filter(|name| left_out(name, target)).count();
        let unknown = names
            .iter()
            .filter(|name| !left_out(name, target) && table::by_name(target, name).next().is_none());
        let unknown: Vec<_> = unknown.collect();
        println!(
            "{}: {} mnemonics in LLVM, {excused} left out for a reason, {} missing",
            target.name,
            names.len(),
            unknown.len()
        );
        unknown.into_iter().for_each(|name| *missing.entry(name).or_default() |= 1 << index);
    }
    let list: Vec<_> = missing.iter().map(|(name, set)| format!("{name}: {}", show(*set))).collect();
    assert!(missing.is_empty(), "missing:\n{}", list.join("\n"));
}

/// Neither does the table give a processor what LLVM says it lacks.
#[test]
fn no_processor_has_too_much() {
    let recorded = recorded();
    for (index, target) in PROCESSORS.iter().enumerate() {
        for op in table::opcodes().filter(|&op| table::available(op, target)) {
            let name = op.row().name;
            // `v_nop` and its like have a row for each encoding.
            let sets = recorded
                .get(name)
                .or_else(|| recorded.get(name.trim_end_matches("_e64")))
                .unwrap_or_else(|| panic!("LLVM has no {name}"));
            assert!((sets[0] | sets[1]) >> index & 1 == 1, "{name} on {}", target.name);
        }
    }
}

/// The record is what the installed LLVMs say.
#[test]
fn the_record_is_llvms() {
    let recorded = recorded();
    let names: Vec<&str> = recorded.keys().copied().collect();
    for (version, name) in VERSIONS.iter().enumerate() {
        let Some(tool) = llvm::tool(name, "check of the recorded mnemonics") else { continue };
        for (index, target) in PROCESSORS.iter().enumerate() {
            if version == 0 && UNKNOWN_TO_LLVM_14.contains(&target.name) {
                continue;
            }
            for (mnemonic, accepted) in names.iter().zip(llvm::knows(&tool, target.name, &names)) {
                assert_eq!(
                    accepted,
                    recorded[mnemonic][version] >> index & 1 == 1,
                    "{name}: {mnemonic} on {}",
                    target.name
                );
            }
        }
    }
}
