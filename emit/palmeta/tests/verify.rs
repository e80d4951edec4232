//! The verification of known keys.

use palmeta::{MOST_FINDINGS, Metadata, Problem};

fn found(text: &str) -> Vec<(String, Problem)> {
    let metadata = Metadata::from_text(text).expect(text);
    metadata.verify().into_iter().map(|finding| (finding.path, finding.problem)).collect()
}

/// Metadata without a finding.
const GOOD: &str = "\
amdpal.version: [2, 6]
amdpal.pipelines:
  - .name: saxpy
    .type: Cs
    .internal_pipeline_hash: [0xffffffffffffffff, 1]
    .api: Vulkan
    .user_data_limit: 3
    .spill_threshold: 0xffff
    .uses_viewport_array_index: false
    .shaders:
      .compute:
        .api_shader_hash: [1, 2]
        .hardware_mapping: [.cs]
    .hardware_stages:
      .cs:
        .entry_point: _amdgpu_cs_main
        .scratch_memory_size: 0
        .threadgroup_dimensions: [64, 1, 1]
        .wavefront_size: 64
        .uses_uavs: true
    .registers:
      0x2e12 (COMPUTE_PGM_RSRC1): 0xaf0000
";

#[test]
fn good_metadata_has_no_findings() {
    assert_eq!(found(GOOD), []);
}

/// Each change of one line gives the finding at the right path.
#[test]
fn wrong_values_are_found() {
    let pipeline = |path: &str| format!("amdpal.pipelines[0]{path}");
    for (good, wrong, path, problem) in [
        ("amdpal.version: [2, 6]", "amdpal.version: [2]", "amdpal.version".to_owned(), Problem::Range),
        ("[2, 6]", "[2, x]", "amdpal.version[1]".to_owned(), Problem::Type),
        (".type: Cs", ".type: Xs", pipeline(".type"), Problem::Range),
        (".type: Cs", ".type: 5", pipeline(".type"), Problem::Type),
        (".type: Cs", ".kind: Cs", pipeline(".kind"), Problem::UnknownKey),
        ("limit: 3", "limit: 0x100000000", pipeline(".user_data_limit"), Problem::Range),
        ("limit: 3", "limit: -3", pipeline(".user_data_limit"), Problem::Type),
        ("index: false", "index: 0", pipeline(".uses_viewport_array_index"), Problem::Type),
        (".api: Vulkan", ".api: a name of more bytes", pipeline(".api"), Problem::Range),
        ("[.cs]", "[.xs]", pipeline(".shaders.compute.hardware_mapping[0]"), Problem::Range),
        (".compute:", ".computer:", pipeline(".shaders.computer"), Problem::UnknownKey),
        ("[64, 1, 1]", "[64, 1]", pipeline(".hardware_stages.cs.threadgroup_dimensions"), Problem::Range),
        ("uavs: true", "uavs: maybe", pipeline(".hardware_stages.cs.uses_uavs"), Problem::Type),
        ("      .cs:\n", "      .xs:\n", pipeline(".hardware_stages.xs"), Problem::UnknownKey),
        ("0xaf0000", "0x1af000000", pipeline(".registers[0x2e12]"), Problem::Range),
        ("0xaf0000", "true", pipeline(".registers[0x2e12]"), Problem::Type),
        (
            "    .internal_pipeline_hash: [0xffffffffffffffff, 1]\n",
            "",
            pipeline(".internal_pipeline_hash"),
            Problem::Missing,
        ),
        ("amdpal.version: [2, 6]\n", "", "amdpal.version".to_owned(), Problem::Missing),
    ] {
        let text = GOOD.replacen(good, wrong, 1);
        assert_ne!(text, GOOD, "{good}");
        assert_eq!(found(&text), [(path, problem)], "{wrong}");
    }
}

/// Unknown entries are reported, and stay in the bytes.
#[test]
fn unknown_entries_are_kept() {
    let text = format!("{GOOD}other: [1, {{a: b}}]\n");
    let metadata = Metadata::from_text(&text).unwrap();
    let again = Metadata::read(&metadata.write()).unwrap();
    assert!(again.tree().get("other").is_some());
    assert_eq!(found(&text), [(".other".to_owned(), Problem::UnknownKey)]);
}

#[test]
fn duplicate_keys_are_found() {
    // {"amdpal.version": [1, 1], "amdpal.version": [1, 1], "amdpal.pipelines": []}
    let version = b"\xaeamdpal.version\x92\x01\x01";
    let bytes = [b"\x83", &version[..], version, b"\xb0amdpal.pipelines\x90"].concat();
    let found = Metadata::read(&bytes).unwrap().verify();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].path.as_str(), found[0].problem), ("amdpal.version", Problem::Duplicate));
}

/// Damaged metadata with many findings makes a list of bounded length, which says that the list is cut.
#[test]
fn the_list_of_findings_is_bounded() {
    let unknown: String = (0..5000).map(|n| format!("    .{}{n}: 1\n", "x".repeat(200))).collect();
    let text =
        format!("amdpal.version: [2, 6]\namdpal.pipelines:\n  - .internal_pipeline_hash: [1, 1]\n{unknown}");
    let found = Metadata::from_text(&text).unwrap().verify();
    assert_eq!(found.len(), MOST_FINDINGS + 1);
    assert_eq!(found.last().unwrap().problem, Problem::More);
    assert!(found.iter().all(|finding| finding.path.len() < 100));
}
