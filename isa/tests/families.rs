//! Families of processors: other code compares none, and a family that defines no fact is an error, not a
//! default.

use isa::{
    Addressing, Arch, Decoder, EncodeError, Fact, Feature, MachInst, PROCESSORS, Target, encode, op, table,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a line says that asks which family a processor belongs to. In the package `isa`, the rows of tables
/// are sets of families.
const FAMILIES: [&str; 3] = ["arch.id", "ArchId", "ArchSet"];

/// Adds the Rust files below a folder that are compiled into libraries and programs.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            let skipped =
                matches!(&*name, "target" | "tests" | "benches" | "examples") || name.ends_with("_tests");
            if !skipped && !name.starts_with('.') {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

fn comparisons() -> BTreeMap<String, usize> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let mut files = Vec::new();
    sources(root, &mut files);
    files.retain(|path| !path.starts_with(root.join("isa/src")));
    assert!(files.len() > 300, "{} files", files.len());
    let count = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a text file");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.filter(|line| FAMILIES.iter().any(|part| line.contains(part))).count()
    };
    let name = |path: &PathBuf| path.strip_prefix(root).expect("below the root").display().to_string();
    files.iter().map(|path| (name(path), count(path))).filter(|(_, count)| *count > 0).collect()
}

#[test]
fn no_code_compares_families() {
    assert_eq!(comparisons(), BTreeMap::new(), "ask for a fact");
}

#[test]
fn no_feature_has_the_name_of_a_processor() {
    let names: Vec<_> = Feature::all().iter_names().map(|(name, _)| name).collect();
    assert!(names.len() > 40 && names.iter().all(|name| !name.starts_with("GFX")), "{names:?}");
}

/// A processor whose family defines nothing.
fn phantom() -> Target {
    let features = Feature::empty();
    Target { arch: &Arch::UNDEFINED, name: "phantom", features, ..*Target::by_name("gfx906").unwrap() }
}

#[test]
fn every_processor_defines_every_fact() {
    for target in &PROCESSORS {
        assert_eq!(target.arch.open_facts().collect::<Vec<_>>(), [""; 0], "{}", target.name);
    }
}

#[test]
fn open_facts_are_errors_that_name_fact_and_processor() {
    let phantom = phantom();
    let open: Vec<_> = phantom.arch.open_facts().collect();
    assert!(
        ["layout", "registers", "waits", "addressing", "memory_model", "hazards", "descriptor"]
            .iter()
            .all(|fact| open.contains(fact)),
        "{open:?}"
    );
    let error = phantom.arch.registers.get(&phantom).unwrap_err();
    assert_eq!(error.to_string(), "the family of phantom does not define the fact `registers`");
    let error = phantom.arch.addressing.get(&phantom).unwrap_err();
    assert_eq!((error.processor, error.fact), ("phantom", "addressing"));
}

/// The facts that code reads without asking first are open too: they have no default.
#[test]
#[should_panic(expected = "does not define")]
fn an_open_fact_has_no_default() {
    let addressing = Addressing::for_target(&phantom());
    assert_eq!(addressing, Fact::Unknown("addressing"));
    let _ = addressing.global;
}

#[test]
fn a_family_without_facts_has_no_instruction() {
    let phantom = phantom();
    for opcode in table::opcodes() {
        assert!(!table::available(opcode, &phantom), "{opcode:?}");
    }
    let inst = MachInst::new(op::S_ENDPGM, &[]);
    let problem = isa::encode::Problem::Unavailable;
    assert_eq!(encode(&phantom, &inst, &mut Vec::new()), Err(EncodeError { op: op::S_ENDPGM, problem }));
    assert_eq!(isa::names::hw_registers(&phantom).count(), 0);
    assert_eq!(isa::special::special_registers(&phantom).count(), 0);
    assert!(Decoder::new(&phantom).is_none());
}
