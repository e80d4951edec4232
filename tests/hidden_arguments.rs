//! Metadata beside that of clang 14 and 19 for the same kernels: every version, both languages that clang has, and every use of hidden
//! arguments. Differences are those of [`DIFFERENCES`], which docs/code-object.md lists with their reasons.
//!
//! `KERNC_HIDDEN=all cargo test --test kernc hidden_arguments::` asks about every processor.

use crate::common::{have, scratch};
use codeobj::yaml::{self, Node};
use kernc::{CodeObjectVersion, Compiler, Language, OptLevel, Options, PROCESSORS, Printf, Subtarget};
use std::collections::{BTreeMap, BTreeSet};
use support::Tool;

/// Kernels in our language, and the file with the same ones for clang.
struct Sources {
    ours: &'static str,
    clang: &'static str,
    printf: Printf,
    languages: &'static [Language],
}

const SOURCES: [Sources; 3] = [
    Sources {
        ours: include_str!("hidden/uses.k"),
        clang: "uses.h",
        printf: Printf::Buffer,
        languages: &[Language::OpenCl, Language::Hip],
    },
    Sources {
        ours: include_str!("hidden/printf.k"),
        clang: "printf.cl",
        printf: Printf::Buffer,
        languages: &[Language::OpenCl],
    },
    Sources {
        ours: include_str!("hidden/hostcall.k"),
        clang: "hostcall.h",
        printf: Printf::Hostcall,
        languages: &[Language::OpenCl, Language::Hip],
    },
];

/// Versions, and the release of LLVM that writes them.
const WRITERS: [(u8, &str); 6] = [(2, "14"), (3, "14"), (4, "14"), (4, "19"), (5, "19"), (6, "19")];

/// A difference that is meant: in metadata of these versions by this release, for these kernels (all if there are none), what differs.
/// `docs/code-object.md` has each text with its reason.
struct Difference {
    versions: std::ops::RangeInclusive<u8>,
    llvm: &'static str,
    kernels: &'static [&'static str],
    what: &'static str,
}

const fn difference(
    versions: std::ops::RangeInclusive<u8>,
    llvm: &'static str,
    kernels: &'static [&'static str],
    what: &'static str,
) -> Difference {
    Difference { versions, llvm, kernels, what }
}

const CALLS: &[&str] = &["call_elsewhere", "calls_beside", "dynamic_lds_and_call"];
const SHARED: &[&str] = &["dynamic_lds", "dynamic_lds_and_call"];
const ARGUMENTS: &[&str] = &["arguments"];
/// What clang reads there and we do not.
const FROM_PACKET: &[&str] = &["group_size", "generic_pointer"];

const DIFFERENCES: &[Difference] = &[
    difference(2..=4, "", CALLS, "`hidden_printf_buffer` for `hidden_none`"),
    difference(2..=4, "", CALLS, "`hidden_printf_buffer` for `hidden_hostcall_buffer`"),
    difference(5..=6, "", CALLS, "`hidden_printf_buffer` for nothing"),
    difference(4..=4, "19", CALLS, "`hidden_none` for `hidden_default_queue`"),
    difference(4..=4, "19", CALLS, "`hidden_none` for `hidden_completion_action`"),
    difference(4..=4, "14", &[], "`hidden_none` for `hidden_multigrid_sync_arg`"),
    difference(2..=2, "14", &["calls_host"], "`hidden_hostcall_buffer` for `hidden_none`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_block_count_x`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_block_count_y`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_block_count_z`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_group_size_x`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_group_size_y`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_group_size_z`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_remainder_x`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_remainder_y`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_remainder_z`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_global_offset_x`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_global_offset_y`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_global_offset_z`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_grid_dims`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_private_base`"),
    difference(5..=6, "", FROM_PACKET, "nothing for `hidden_shared_base`"),
    difference(5..=6, "", FROM_PACKET, "`.kernarg_segment_size` is 8 for 264"),
    difference(2..=6, "", &[], "`.name` is ours"),
    difference(2..=6, "", &[], "`.type_name` is ours"),
    difference(3..=6, "", &[], "`.value_type` is ours"),
    difference(2..=6, "", &[], "`.language` is ours"),
    difference(2..=6, "", ARGUMENTS, "`.is_const` is ours"),
    difference(2..=6, "", ARGUMENTS, "`.is_restrict` is ours"),
    difference(2..=6, "", ARGUMENTS, "`.is_volatile` is ours"),
    difference(2..=4, "14", &[], "`.address_space` is clang's"),
    difference(2..=4, "14", &[], "`.access` is clang's"),
    difference(4..=6, "19", ARGUMENTS, "`.actual_access` is clang's"),
    difference(2..=4, "14", SHARED, "`.pointee_align` is 4 for 1"),
    difference(2..=6, "", &[], "`.max_flat_workgroup_size` is 1024 for 256"),
    difference(5..=6, "", &["recursion"], "`.uses_dynamic_stack` is true for false"),
    difference(2..=2, "", &["recursion"], "`.uses_dynamic_stack` is ours"),
    difference(2..=2, "14", &["calls_host"], "`.uses_dynamic_stack` is clang's"),
    difference(2..=2, "14", &[], "`.is_xnack_enabled` is clang's"),
];

/// Names of V2 and later ones, where they are not the same in another spelling.
const LATER: [(&str, &str); 9] = [
    (".addr_space_qual", ".address_space"),
    (".acc_qual", ".access"),
    (".symbol_name", ".symbol"),
    (".reqd_work_group_size", ".reqd_workgroup_size"),
    (".work_group_size_hint", ".workgroup_size_hint"),
    (".max_flat_work_group_size", ".max_flat_workgroup_size"),
    (".is_dynamic_call_stack", ".uses_dynamic_stack"),
    (".num_sgprs", ".sgpr_count"),
    (".num_vgprs", ".vgpr_count"),
];

/// `HiddenNone` as `hidden_none`.
fn snake_case(word: &str) -> String {
    let mut out = String::new();
    let mut before_is_small = false;
    for c in word.chars() {
        if c.is_ascii_uppercase() && before_is_small {
            out.push('_');
        }
        before_is_small = c.is_ascii_lowercase();
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Returns a key of V2 as later versions spell it.
fn later_key(key: &str) -> String {
    if key.starts_with('.') {
        return key.to_owned();
    }
    // `IsXNACKEnabled`, `NumSGPRs`: an abbreviation and what follows it.
    let key = key.replace("XNACK", "Xnack").replace("SGPRs", "Sgprs").replace("VGPRs", "Vgprs");
    let key = format!(".{}", snake_case(&key));
    LATER.iter().find(|row| row.0 == key).map_or(key, |row| row.1.to_owned())
}

/// What is compared: version, release of LLVM, processor and language.
#[derive(Clone, Copy)]
struct Case {
    version: u8,
    llvm: &'static str,
    processor: &'static str,
    language: Language,
}

impl Case {
    /// Returns the metadata that clang writes, unless clang knows no such version or processor.
    fn of_clang(self, sources: &Sources) -> Option<Node> {
        let Case { version, llvm, processor, .. } = self;
        let slots = if version < 5 { [0, 3, 3] } else { [5, 9, 10] };
        let [offset, printf, hostcall] = slots;
        let mut command = Tool::new(format!("clang-{llvm}"));
        match self.language {
            Language::OpenCl => command.args(["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa"]),
            _ => command.args(["-x", "hip", "--cuda-device-only", "-nogpuinc"]),
        };
        let cpu = if self.language == Language::OpenCl { "-mcpu=" } else { "--offload-arch=" };
        let output = command
            .args(["-nogpulib", "-O2", "-w", "-S", "-o", "-"])
            .args([format!("{cpu}{processor}"), format!("-mcode-object-version={version}")])
            .args([format!("-DOFFSET_SLOT={offset}"), format!("-DPRINTF_SLOT={printf}")])
            .arg(format!("-DHOSTCALL_SLOT={hostcall}"))
            .arg(crate::common::root().join("tests/hidden").join(sources.clang))
            .current_dir(scratch("hidden_arguments"))
            .output()
            .expect("clang runs");
        let listing = String::from_utf8_lossy(&output.stdout).into_owned();
        let (begin, end) = match version {
            2 => (".amd_amdgpu_hsa_metadata", ".end_amd_amdgpu_hsa_metadata"),
            _ => (".amdgpu_metadata", ".end_amdgpu_metadata"),
        };
        let text = listing.split_once(begin).and_then(|(_, rest)| rest.split_once(end));
        if !output.status.success() || text.is_none() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let known =
                ["does not support processor", "invalid target ID", "unsupported CUDA gpu architecture"];
            let known = known.iter().any(|message| errors.contains(message));
            assert!(known, "clang-{llvm} V{version} {processor}: {errors}");
            return None;
        }
        let text = text.expect("checked above").0.trim();
        let text = text.trim_start_matches("---").trim_end_matches("...");
        Some(yaml::parse(text).unwrap_or_else(|mistake| panic!("{mistake:?} in\n{text}")))
    }

    /// Returns our metadata.
    fn of_ours(self, sources: &Sources, opt_level: OptLevel) -> Node {
        let version = CodeObjectVersion::from_number(self.version).expect("a version");
        let target = Subtarget::by_name(self.processor).expect("a processor").with_version(version);
        let (language, printf) = (self.language, sources.printf);
        let options = Options { language, printf, opt_level, verify: true, ..Options::default() };
        let object = Compiler::new(target).compile(sources.ours, &options);
        let object = object.unwrap_or_else(|error| panic!("{}", error.render(false)));
        let text = object.metadata();
        let text = text.trim().trim_start_matches("---").trim_end_matches("...");
        yaml::parse(text).unwrap_or_else(|mistake| panic!("{mistake:?} in\n{text}"))
    }

    fn is_meant(self, kernel: &str, what: &str, used: &mut BTreeSet<usize>) -> bool {
        let meant = DIFFERENCES.iter().enumerate().filter(|(_, row)| {
            let here = row.versions.contains(&self.version) && (row.llvm.is_empty() || row.llvm == self.llvm);
            here && row.what == what && (row.kernels.is_empty() || row.kernels.contains(&kernel))
        });
        let meant: Vec<usize> = meant.map(|(at, _)| at).collect();
        used.extend(&meant);
        !meant.is_empty()
    }
}

/// A map of the metadata, its keys as later versions than V2 spell them.
type Keys = BTreeMap<String, Node>;

fn keys(node: &Node) -> Keys {
    let Node::Map(entries) = node else { panic!("{node:?}") };
    let mut out = Keys::new();
    for yaml::Entry { key, value, .. } in entries {
        match (key.as_str(), value) {
            // V2 has these in maps of their own.
            ("CodeProps" | "Attrs", Node::Map(_)) => out.extend(keys(value)),
            _ => drop(out.insert(later_key(key), value.clone())),
        }
    }
    out
}

/// Returns kernels by their names.
fn kernels(metadata: &Node) -> BTreeMap<String, Keys> {
    let list = metadata.get("amdhsa.kernels").or_else(|| metadata.get("Kernels")).expect("kernels");
    list.items().iter().map(keys).map(|kernel| (value(&kernel[".name"]), kernel)).collect()
}

fn but_arguments(kernel: &Keys) -> Keys {
    kernel
        .iter()
        .filter(|(key, _)| *key != ".args")
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Returns arguments by their offsets, which V2 does not say: one follows the other, aligned.
fn arguments(kernel: &Keys) -> BTreeMap<u64, Keys> {
    let list = kernel.get(".args").map_or(&[][..], Node::items);
    let mut end = 0;
    let place = |arg: Keys| {
        let number = |key: &str| arg.get(key).and_then(|node| value(node).parse::<u64>().ok());
        let offset = number(".offset").or(number(".align").map(|align| u64::next_multiple_of(end, align)));
        let offset = offset.expect("a place");
        end = offset + number(".size").expect("a size");
        (offset, arg)
    };
    list.iter().map(keys).map(place).collect()
}

fn kind(arg: &Keys) -> String {
    snake_case(&value(&arg[".value_kind"]))
}

/// What code generation decides, and names in the words of each language.
const NOT_COMPARED: [&str; 8] = [
    ".sgpr_count",
    ".vgpr_count",
    ".agpr_count",
    ".private_segment_fixed_size",
    ".group_segment_fixed_size",
    ".symbol",
    ".type_name",
    ".vec_type_hint",
];

/// Returns what differs between two maps.
fn of_maps(ours: &Keys, theirs: &Keys, out: &mut Vec<String>) {
    for key in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
        match (ours.get(key), theirs.get(key)) {
            (Some(_), None) => out.push(format!("`{key}` is ours")),
            (None, Some(_)) => out.push(format!("`{key}` is clang's")),
            (Some(a), Some(b)) if a != b && !NOT_COMPARED.contains(&key.as_str()) => {
                out.push(format!("`{key}` is {} for {}", value(a), value(b)));
            }
            _ => {}
        }
    }
}

fn value(node: &Node) -> String {
    let items: Vec<&str> = node.items().iter().filter_map(Node::text).collect();
    node.text().map_or_else(|| items.join(" "), str::to_owned)
}

/// Returns what differs between two kernels.
fn of_kernels(ours: &Keys, theirs: &Keys) -> Vec<String> {
    let mut out = Vec::new();
    of_maps(&but_arguments(ours), &but_arguments(theirs), &mut out);
    let (ours, theirs) = (arguments(ours), arguments(theirs));
    for place in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
        match (ours.get(place), theirs.get(place)) {
            (Some(a), Some(b)) if kind(a) == kind(b) => of_maps(a, b, &mut out),
            (a, b) => {
                let name =
                    |arg: Option<&Keys>| arg.map_or("nothing".to_owned(), |arg| format!("`{}`", kind(arg)));
                out.push(format!("{} for {}", name(a), name(b)));
            }
        }
    }
    out
}

fn processors() -> Vec<&'static str> {
    let all = std::env::var("KERNC_HIDDEN").is_ok_and(|value| value == "all");
    PROCESSORS.iter().map(|row| row.name).filter(|name| all || ["gfx803", "gfx906"].contains(name)).collect()
}

#[test]
fn lists_are_those_of_clang() {
    if !have(&["clang-14", "clang-19"], "lists_are_those_of_clang") {
        return;
    }
    let (mut used, mut unlike, mut compared) = (BTreeSet::new(), BTreeMap::<String, Vec<String>>::new(), 0);
    for processor in processors() {
        for (version, llvm) in WRITERS {
            for sources in &SOURCES {
                for &language in sources.languages {
                    let case = Case { version, llvm, processor, language };
                    // LLVM 14 knows calls of the host by HIP's `printf` alone.
                    if sources.printf == Printf::Hostcall && (language, llvm) == (Language::OpenCl, "14") {
                        continue;
                    }
                    let Some(theirs) = case.of_clang(sources) else { continue };
                    let (ours, theirs) = (kernels(&case.of_ours(sources, OptLevel::O2)), kernels(&theirs));
                    for (name, theirs) in &theirs {
                        compared += 1;
                        for what in of_kernels(&ours[name], theirs) {
                            if !case.is_meant(name, &what, &mut used) {
                                let place =
                                    format!("{name} {processor} V{version} LLVM {llvm} {}", language.name());
                                unlike.entry(what).or_default().push(place);
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(unlike.is_empty(), "{}", describe_differences(&unlike));
    assert!(compared > 250, "only {compared} kernels were compared");
    let unused: Vec<&str> = DIFFERENCES
        .iter()
        .enumerate()
        .filter(|(at, _)| !used.contains(at))
        .map(|(_, row)| row.what)
        .collect();
    assert!(unused.is_empty(), "these are no differences: {unused:?}");
}

#[test]
fn differences_are_on_the_page() {
    let page = std::fs::read_to_string(crate::common::root().join("docs/code-object.md")).expect("the page");
    for row in DIFFERENCES {
        // Rows for x, y and z, or for all that clang lists, are one on the page.
        let mut words = row.what.split(" for ").flat_map(|part| part.split('`'));
        let is_there = words.all(|word| page.contains(word.trim_end_matches(['x', 'y', 'z'])));
        assert!(is_there, "docs/code-object.md does not have {}", row.what);
    }
}

fn describe_differences(unlike: &BTreeMap<String, Vec<String>>) -> String {
    let row = |(what, places): (&String, &Vec<String>)| {
        format!("{what}: {} times\n    {}\n", places.len(), places.join("\n    "))
    };
    unlike.iter().map(row).collect()
}
