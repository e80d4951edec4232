//! The older note of pairs.

use crate::common::{Llvm, data};
use palmeta::pairs::{DIRECTIVE, Key};
use palmeta::{Metadata, Note, Pairs, Place, Stage};

/// Returns a module whose frontend asks for the older note.
fn older(source: &str, pairs: &[(u32, u32)]) -> String {
    let numbers: Vec<_> = pairs.iter().map(|(key, value)| format!("i32 {key}, i32 {value}")).collect();
    format!("{source}\n!amdgpu.pal.metadata = !{{!0}}\n!0 = !{{{}}}\n", numbers.join(", "))
}

const SAID: [(u32, u32); 4] = [(0x2c0c, 0x1000_0000), (0x1000_0018, 7), (0x1000_0019, 9), (0x1000_001a, 12)];

#[test]
fn the_line_and_the_note_of_llc_are_written_the_same() {
    for (llvm, _) in Llvm::all("palmeta: older note") {
        for name in ["shaders.ll", "compute.ll"] {
            let source = older(&data(name), &SAID);
            let assembly = llvm.assembly(&source);
            let line = assembly.lines().find(|line| line.contains(DIRECTIVE)).expect("the directive");
            let operands = line.trim_start().trim_start_matches(DIRECTIVE).trim_start();
            let pairs = Pairs::from_operands(operands).expect("pairs");
            assert_eq!(pairs.operands(), operands);
            let (note, contents) = llvm.note(&source);
            assert_eq!(note, Note::Pairs(pairs.clone()), "{name} on {}", llvm.processor);
            assert_eq!(pairs.write(), contents);
            let (_, again) = llvm.assemble(&format!("\t{DIRECTIVE} {}\n", pairs.operands())).expect("a note");
            assert_eq!(again, contents);
            assert_eq!(pairs.get(0x1000_001a), Some(12));
            assert!(pairs.iter().all(|(key, _)| !matches!(Key::from_number(key), Key::Unknown(_))));
        }
    }
}

/// LLVM writes the same facts in both forms.
#[test]
fn the_newer_form_has_the_same_facts() {
    for (llvm, _) in Llvm::all("palmeta: both forms") {
        let source = data("compute.ll");
        let Note::Pairs(pairs) = llvm.note(&older(&source, &SAID)).0 else { panic!("the older note") };
        let newer = crate::common::tree(llvm.note(&source).0);
        let (metadata, rest) = Metadata::from_pairs(&pairs);
        assert_eq!(rest, []);
        for key in [".vgpr_count", ".sgpr_count", ".scratch_memory_size"] {
            let of =
                |metadata: &Metadata| metadata.stage(Stage::Cs).and_then(|stage| stage.get(key)).cloned();
            assert_eq!(of(&metadata), of(&newer), "{key} on {}", llvm.processor);
            assert!(of(&newer).is_some());
        }
        assert_eq!(metadata.register(0x2e12), newer.register(0x2e12));
        let found = metadata.verify();
        assert!(found.iter().all(|finding| finding.path == "amdpal.version"), "{found:?}");
    }
}

/// Every fact with a place is where the newer form has the fact, and every other pair is handed back.
#[test]
fn facts_have_their_places() {
    let text = "0x10000062,64,0x10000050,1,0x1000005d,1,0x1000001a,9,0x10000020,7,0x10000018,1,0x10000019,2,\
                0x10000060,3,0x10000061,4,0x1000001c,5,0x10009999,6,0x2e12,8";
    let (metadata, rest) = Metadata::from_pairs(&Pairs::from_operands(text).unwrap());
    let expected = "\
amdpal.pipelines:
  - .internal_pipeline_hash: [0x200000001, 0x400000003]
    .uses_viewport_array_index: true
    .user_data_limit: 9
    .spill_threshold: 7
    .hardware_stages:
      .cs: {.wavefront_size: 64}
      .ps: {.writes_uavs: true}
    .registers: {0x2e12: 8}
";
    assert_eq!(metadata.write(), Metadata::from_text(expected).unwrap().write());
    assert_eq!(rest, [(0x1000_001c, 5), (0x1000_9999, 6)]);
    // Many registers take linear time.
    let mut pairs = Pairs::default();
    (0..200_000).for_each(|number| pairs.set(number, 1));
    assert_eq!(Metadata::from_pairs(&pairs).0.registers().count(), 200_000);
}

#[test]
fn keys_have_names() {
    for (key, name) in [
        (0x2e12, "COMPUTE_PGM_RSRC1"),
        (0x1000_0000, "ApiCsHashDword0"),
        (0x1000_0017, "ApiPsHashDword3"),
        // `PALMD::Key` of LLVM.
        (0x1000_0021, "LsNumUsedVgprs"),
        (0x1000_002e, "CsNumUsedSgprs"),
        (0x1000_0044, "LsScratchByteSize"),
        (0x1000_004a, "CsScratchByteSize"),
        (0x1000_0020, "SpillThreshold"),
        (0x1000_005a, "CsPerformanceDataBufferSize"),
        (0x1000_1234, "unknown 0x10001234"),
        (0x1234, "register 0x1234"),
    ] {
        assert_eq!(Key::from_number(key).to_string(), name);
    }
}

#[test]
fn wrong_pairs_have_a_place() {
    for (text, place) in [
        ("1", Place::Column(1, 2)),
        ("1,2,3", Place::Column(1, 6)),
        ("1, x", Place::Column(1, 4)),
        ("1,,2", Place::Column(1, 3)),
        ("1,0x100000000", Place::Column(1, 3)),
    ] {
        assert_eq!(Pairs::from_operands(text).expect_err(text).place, place, "{text}");
    }
    assert_eq!(Pairs::from_operands(" 1 , -1 ").unwrap().get(1), Some(u32::MAX));
    assert_eq!(Pairs::from_operands("1,2,1,4").unwrap().get(1), Some(6));
    assert_eq!(Pairs::from_operands("").unwrap(), Pairs::default());
    assert_eq!(Pairs::read(&[0; 12]).expect_err("half a pair").place, Place::Byte(8));
}
