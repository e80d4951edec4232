//! Metadata with one thing changed, beside LLVM: what it refuses is refused, and what both take becomes the same bytes.

use crate::common::{options, section, tool};
use std::fmt::Write;
use std::path::Path;

type Entries<'a> = Vec<(&'a str, &'a str)>;

/// A sound kernel, and a sound argument.
const KERNEL: [(&str, &str); 10] = [
    (".name", "k"),
    (".symbol", "k.kd"),
    (".kernarg_segment_size", "8"),
    (".group_segment_fixed_size", "0"),
    (".private_segment_fixed_size", "0"),
    (".kernarg_segment_align", "8"),
    (".wavefront_size", "64"),
    (".sgpr_count", "8"),
    (".vgpr_count", "4"),
    (".max_flat_workgroup_size", "64"),
];
const ARGUMENT: [(&str, &str); 3] = [(".size", "8"), (".offset", "0"), (".value_kind", "global_buffer")];
const ROOT: [(&str, &str); 1] = [("amdhsa.version", "[ 1, 2 ]")];

/// Keys that may be added, and some that no table has.
const KERNEL_KEYS: [&str; 14] = [
    ".language",
    ".language_version",
    ".args",
    ".reqd_workgroup_size",
    ".workgroup_size_hint",
    ".vec_type_hint",
    ".device_enqueue_symbol",
    ".sgpr_spill_count",
    ".vgpr_spill_count",
    ".uses_dynamic_stack",
    ".workgroup_processor_mode",
    ".uniform_work_group_size",
    ".agpr_count",
    ".anything",
];
const ARGUMENT_KEYS: [&str; 11] = [
    ".name",
    ".type_name",
    ".value_type",
    ".pointee_align",
    ".address_space",
    ".access",
    ".actual_access",
    ".is_const",
    ".is_restrict",
    ".is_volatile",
    ".is_pipe",
];

const VALUES: [&str; 24] = [
    "3",
    "-3",
    "x",
    "true",
    "n",
    "\"3\"",
    "!str 3",
    "!str x",
    "!str true",
    "[1]",
    "[1, 2]",
    "[1, 2, 3]",
    "[1, 2, 3, 4]",
    "{a: 1}",
    "{3: 16, 1: 2, b: c, a: d, -2: 0, n: 1}",
    "",
    "1.5",
    "[x, y]",
    "\"x\"",
    "\"true\"",
    "[]",
    "global",
    "read_only",
    "HIP",
];

const KINDS: &str = "by_value global_buffer dynamic_shared_pointer sampler image pipe queue hidden_block_count_x \
                     hidden_group_size_y hidden_remainder_z hidden_global_offset_x hidden_grid_dims hidden_none \
                     hidden_printf_buffer hidden_hostcall_buffer hidden_heap_v1 hidden_default_queue \
                     hidden_completion_action hidden_multigrid_sync_arg hidden_dynamic_lds_size hidden_private_base \
                     hidden_shared_base hidden_queue_ptr hidden_anything GlobalBuffer";

fn document(root: &Entries<'_>, kernel: &Entries<'_>, argument: &Entries<'_>) -> String {
    let mut text = ".amdgpu_metadata\n---\n".to_owned();
    let mut block = |head: &str, first: &str, next: &str, entries: &Entries<'_>| {
        text.push_str(if entries.is_empty() { "" } else { head });
        for (n, (key, value)) in entries.iter().enumerate() {
            let _ = writeln!(text, "{}{key}: {value}", if n == 0 { first } else { next });
        }
    };
    block("", "", "", root);
    block("amdhsa.kernels:\n", "  - ", "    ", kernel);
    block("    .args:\n", "      - ", "        ", argument);
    text.push_str("...\n.end_amdgpu_metadata\n");
    text
}

/// The entries with a value put in, which takes the place of one that is there.
fn with<'a>(entries: &[(&'a str, &'a str)], key: &'a str, value: &'a str) -> Entries<'a> {
    let mut list: Entries<'a> = entries.to_vec();
    match list.iter_mut().find(|entry| entry.0 == key) {
        Some(entry) => entry.1 = value,
        None => list.push((key, value)),
    }
    list
}

/// Each without one entry.
fn without_one<'a>(entries: &[(&'a str, &'a str)]) -> Vec<Entries<'a>> {
    let without =
        |n: usize| entries.iter().enumerate().filter(|(at, _)| *at != n).map(|(_, entry)| *entry).collect();
    (0..entries.len()).map(without).collect()
}

fn documents() -> Vec<String> {
    let (root, kernel, argument) = (ROOT.to_vec(), KERNEL.to_vec(), ARGUMENT.to_vec());
    let none = Vec::new();
    let mut list = vec![document(&root, &kernel, &argument), document(&root, &none, &none)];
    list.extend(without_one(&ROOT).iter().map(|root| document(root, &kernel, &none)));
    list.extend(without_one(&KERNEL).iter().map(|kernel| document(&root, kernel, &none)));
    list.extend(without_one(&ARGUMENT).iter().map(|argument| document(&root, &kernel, argument)));
    for value in VALUES {
        for key in ["amdhsa.version", "amdhsa.printf", "amdhsa.target", "custom.config"] {
            list.push(document(&with(&ROOT, key, value), &kernel, &none));
        }
        for key in KERNEL.iter().map(|entry| entry.0).chain(KERNEL_KEYS) {
            list.push(document(&root, &with(&KERNEL, key, value), &none));
        }
        for key in ARGUMENT.iter().map(|entry| entry.0).chain(ARGUMENT_KEYS) {
            list.push(document(&root, &kernel, &with(&ARGUMENT, key, value)));
        }
    }
    for kind in KINDS.split_whitespace() {
        list.push(document(&root, &kernel, &with(&ARGUMENT, ".value_kind", kind)));
    }
    for (misspelt, key) in [(".kernarg_segment_siz", 2), (".Symbol", 1), (".wavefront-size", 6)] {
        let mut kernel = kernel.clone();
        kernel[key].0 = misspelt;
        list.push(document(&root, &kernel, &argument));
    }
    list
}

/// Which of the documents a tool takes.
fn taken(mc: &Path, documents: &[String]) -> Vec<bool> {
    let (mut text, mut ends, mut lines) = (String::new(), Vec::new(), 0);
    for document in documents {
        text.push_str(document);
        lines += document.lines().count();
        ends.push(lines);
    }
    let mut taken = vec![true; documents.len()];
    if let Err(errors) = crate::common::llvm_mc(mc, &["-mcpu=gfx906"], &text) {
        let numbers =
            errors.lines().filter_map(|line| line.strip_prefix("<stdin>:")?.split(':').next()?.parse().ok());
        numbers.for_each(|line: usize| taken[ends.partition_point(|&end| end < line)] = false);
    }
    taken
}

#[test]
fn refused_like_llvm() {
    let Some(mc) = tool("llvm-mc-19", "refused_like_llvm") else { return };
    let documents = documents();
    let theirs = taken(&mc, &documents);
    let (mut both, mut wrong) = (Vec::new(), Vec::new());
    for (document, theirs) in documents.iter().zip(&theirs) {
        match (asm::assemble(document, &options("gfx906")), theirs) {
            (Ok(_), true) => both.push(document.as_str()),
            (Err(list), false) => {
                let place = list[0].span.start;
                assert!(place > 0 && place < document.len(), "{document}: {list:?}");
            }
            (ours, theirs) => {
                wrong.push(format!("{document}: {ours:?} by us, {theirs} by LLVM", ours = ours.is_ok()))
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(5)].join("\n"));
    assert!(both.len() > 100 && documents.len() - both.len() > 100);
    // LLVM loses numbers with a point when it writes.
    let text: String = both.iter().filter(|document| !document.contains("1.5")).copied().collect();
    let theirs = crate::common::llvm_mc(&mc, &["-mcpu=gfx906"], &text).expect("LLVM took each");
    let ours = crate::common::assemble(&text, &options("gfx906"));
    assert_eq!(section(&ours, ".note"), section(&theirs, ".note"));
}

fn complaint(source: &str) -> (String, usize) {
    let list = asm::assemble(source, &options("gfx906")).expect_err(source);
    let line = source[..list[0].span.start].matches('\n').count();
    (format!("{} | {}", list[0].message, list[0].notes.join(" ")), line)
}

/// Each mistake in the metadata gets its message, at its line.
#[test]
fn mistakes_have_lines() {
    let (root, argument) = (ROOT.to_vec(), ARGUMENT.to_vec());
    let named = document(&root, &with(&KERNEL, ".name", "n"), &Vec::new());
    let (message, line) = complaint(&named);
    assert!(
        message.starts_with("`.name` has to be a string | `n` is read as a number or a truth value"),
        "{message}"
    );
    assert_eq!(named.lines().nth(line), Some("  - .name: n"));

    let mut kernel = KERNEL.to_vec();
    kernel[6].0 = ".wavefront_sice";
    let misspelt = document(&root, &kernel, &argument);
    let (message, line) = complaint(&misspelt);
    assert_eq!(
        message,
        "the metadata of this kernel lacks `.wavefront_size` | is `.wavefront_sice` to be `.wavefront_size`?"
    );
    assert_eq!(misspelt.lines().nth(line), Some("    .wavefront_sice: 64"));

    let kind = document(&root, &KERNEL.to_vec(), &with(&ARGUMENT, ".address_space", "flat"));
    let (message, _) = complaint(&kind);
    assert!(message.starts_with("`.address_space` has to be `private`, `global`"), "{message}");

    let flow = "\
.hsa_code_object_version 2,1
.hsa_code_object_isa 8,0,3,\"AMD\",\"AMDGPU\"
.amd_amdgpu_hsa_metadata
{ Version: [ 1, 0 ],
    Kernels:
    - { Name: k, SymbolName: 'k@kd',
        Args:
        - { Name: x, Size: 8, Align: 8, ValueKind: Global }
      }
}
.end_amd_amdgpu_hsa_metadata
";
    let list = asm::assemble(flow, &asm::Options::default()).expect_err("a wrong kind");
    assert_eq!(flow[..list[0].span.start].matches('\n').count(), 7, "{list:?}");
    assert!(list[0].message.starts_with("`ValueKind` has to be `ByValue`"), "{list:?}");
}

/// V2's metadata with one thing changed, beside LLVM 14. The type of a value, which LLVM 14 reads and drops, is kept: the guide has it
/// (seed 000, line 2312).
#[test]
fn version_2_refused_like_llvm() {
    let Some(mc) = tool("llvm-mc-14", "version_2_refused_like_llvm") else { return };
    let document = |version: &str, key: &str, argument: &str, code: &str| {
        format!(
            ".amd_amdgpu_hsa_metadata\n---\nVersion: {version}\nKernels:\n  - {key}\n    Args:\n      - {{ {argument} }}\n    \
             CodeProps: {{ {code} }}\n...\n.end_amd_amdgpu_hsa_metadata\n"
        )
    };
    let (name, argument) = ("{ Name: k, SymbolName: 'k@kd' }", "Size: 8, Align: 8, ValueKind: GlobalBuffer");
    let name = name.trim_matches(['{', '}', ' ']).replace(", ", "\n    ");
    let code = "KernargSegmentSize: 8, GroupSegmentFixedSize: 0, PrivateSegmentFixedSize: 0, KernargSegmentAlign: 8, WavefrontSize: 64";
    let mut list = Vec::new();
    for version in ["[ 1, 0 ]", "1", "[a]", "[]"] {
        list.push(document(version, &name, argument, code));
    }
    for key in
        ["Name: k", "Name: 3\n    SymbolName: s", "Nam: k\n    SymbolName: s", "Name: [1]\n    SymbolName: s"]
    {
        list.push(document("[ 1, 0 ]", key, argument, code));
    }
    for rest in [
        "",
        "Name: n",
        "IsConst: true",
        "IsConst: yes",
        "IsConst: 1",
        "IsPipe: x",
        "AccQual: Default",
        "AccQual: Foo",
        "AddrSpaceQual: Global",
        "AddrSpaceQual: global",
        "Offset: 0",
        "PointeeAlign: x",
        "PointeeAlign: -1",
        "Size2: 8",
    ] {
        list.push(document("[ 1, 0 ]", &name, &format!("{argument}, {rest}"), code));
    }
    for argument in [
        "Size: 8, Align: 8",
        "Size: x, Align: 8, ValueKind: ByValue",
        "Align: 8, ValueKind: ByValue",
        "Size: 8, Align: 8, ValueKind: Foo",
        "Size: 8, Align: 8, ValueKind: HiddenNone",
    ] {
        list.push(document("[ 1, 0 ]", &name, argument, code));
    }
    for rest in
        ["NumSGPRs: 3", "NumSGPRs: x", "IsDynamicCallStack: true", "Foo: 1", "MaxFlatWorkGroupSize: 64"]
    {
        list.push(document("[ 1, 0 ]", &name, argument, &format!("{code}, {rest}")));
    }
    let args = ["-mcpu=gfx906", "--amdhsa-code-object-version=2"];
    let ours = asm::Options { version: Some(2), ..options("gfx906") };
    let mut same = 0;
    for document in &list {
        let theirs = crate::common::llvm_mc(&mc, &args, document);
        let ours = asm::assemble(document, &ours);
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{document}{ours:?}");
        if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
            assert_eq!(section(&ours, ".note"), section(&theirs, ".note"), "{document}");
            same += 1;
        }
    }
    assert!(same > 5 && same < list.len() - 5);
    let typed = document("[ 1, 0 ]", &name, &format!("{argument}, ValueType: F32"), code);
    let object = asm::assemble(&typed, &ours).expect("an object");
    let note = String::from_utf8_lossy(section(&object, ".note")).into_owned();
    assert!(note.contains("        ValueKind:       GlobalBuffer\n        ValueType:       F32\n"), "{note}");
    let wrong = document("[ 1, 0 ]", &name, &format!("{argument}, ValueType: Foo"), code);
    assert!(asm::assemble(&wrong, &ours).is_err() && crate::common::llvm_mc(&mc, &args, &wrong).is_err());
}
