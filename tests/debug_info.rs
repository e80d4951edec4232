//! Full debug information of the example kernels, as others read it: LLVM's verifiers, GNU's readers; and that nothing else of an object depends
//! on it.

use kernc::{Compiler, DebugInfo, Dialect, Dwarf, DwarfVersion, OptLevel, Options, Subtarget};
use object::{Object, ObjectSection};
use std::path::{Path, PathBuf};
use std::process::Command;

const PROCESSORS: [&str; 5] = ["gfx600", "gfx700", "gfx803", "gfx906", "gfx1030"];
const LEVELS: [OptLevel; 2] = [OptLevel::O0, OptLevel::O2];
const VERSIONS: [DwarfVersion; 2] = [DwarfVersion::V4, DwarfVersion::V5];

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The example kernels: names and sources.
fn examples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = std::fs::read_dir(folder).expect("there").map(|entry| entry.expect("there").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "k")).collect();
    files.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().expect("named").to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&path).expect("UTF-8"))
    };
    files.into_iter().map(read).collect()
}

fn compile(
    (name, source): &(String, String),
    processor: &str,
    opt_level: OptLevel,
    (debug, dwarf): (DebugInfo, Dwarf),
) -> kernc::CodeObject {
    let target = Subtarget::by_name(processor).expect("known");
    let options = Options { file_name: name.clone(), opt_level, debug, dwarf, ..Options::default() };
    Compiler::new(target).compile(source, &options).expect("a sound source")
}

fn dwarf(version: DwarfVersion) -> Dwarf {
    Dwarf { version, ..Dwarf::default() }
}

/// Runs a tool if it is there; its output, of both kinds.
fn tool(name: &str, args: &[&str]) -> Option<(bool, String)> {
    let Ok(output) = Command::new(name).args(args).output() else {
        println!("left out: {name} is not on the PATH");
        return None;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((output.status.success(), text(&output.stdout) + &text(&output.stderr)))
}

#[test]
fn llvm_verifies_it() {
    for example in examples() {
        for processor in PROCESSORS {
            for (level, version) in
                LEVELS.into_iter().flat_map(|level| VERSIONS.map(|version| (level, version)))
            {
                let object = compile(&example, processor, level, (DebugInfo::Full, dwarf(version)));
                let file = scratch("verified.co");
                std::fs::write(&file, object.bytes()).expect("written");
                let file = file.to_str().expect("UTF-8");
                for dumper in ["llvm-dwarfdump-14", "llvm-dwarfdump-19"] {
                    let Some((good, said)) = tool(dumper, &["--verify", file]) else { continue };
                    let what = format!("{} {processor} {level:?} {version:?} {dumper}", example.0);
                    assert!(
                        good && said.contains("No errors") && !said.contains("warning"),
                        "{what}: {said}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_byte_of_code_has_a_row() {
    for example in examples() {
        for level in LEVELS {
            let object = compile(&example, "gfx906", level, (DebugInfo::Full, Dwarf::default()));
            let parsed = codeobj::CodeObject::parse(object.bytes()).expect("sound");
            let lines = codeobj::disasm::Lines::read(&parsed);
            let kernels = parsed.symbols().iter().filter(|symbol| symbol.kind == 2 && symbol.size > 0);
            for kernel in kernels {
                for address in (kernel.value..kernel.value + kernel.size).step_by(4) {
                    assert!(lines.covers(address), "{} {level:?}: {address:#x}", example.0);
                }
            }
        }
    }
}

/// What is loaded is the same, whatever is said about it.
#[test]
fn nothing_else_depends_on_it() {
    let loaded = |object: &kernc::CodeObject| {
        let file = object::File::parse(object.bytes()).expect("sound");
        [".text", ".rodata", ".note", ".data", ".dynsym", ".dynamic"].map(|name| {
            let section = file.section_by_name(name);
            section.map(|section| (section.address(), section.data().expect("there").to_vec()))
        })
    };
    for example in examples() {
        for processor in PROCESSORS {
            for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
                let plain = compile(&example, processor, level, (DebugInfo::None, Dwarf::default()));
                for dialect in [Dialect::Standard, Dialect::Heterogeneous] {
                    let how = (DebugInfo::Full, Dwarf { dialect, embed_source: true, ..Dwarf::default() });
                    let full = compile(&example, processor, level, how);
                    assert!(loaded(&plain) == loaded(&full), "{} {processor} {level:?}", example.0);
                }
            }
        }
    }
}

/// A linker gives it the addresses that our own writer gives it.
#[test]
fn a_linker_gives_the_same() {
    for example in examples().into_iter().take(6) {
        for version in VERSIONS {
            let object = compile(&example, "gfx906", OptLevel::O2, (DebugInfo::Full, dwarf(version)));
            let (own, relocatable, linked) =
                (scratch("whole.co"), scratch("whole.o"), scratch("whole-linked.co"));
            std::fs::write(&own, object.bytes()).expect("written");
            std::fs::write(&relocatable, object.relocatable().expect("written")).expect("written");
            let [own, relocatable, linked] =
                [&own, &relocatable, &linked].map(|path| path.to_str().expect("UTF-8"));
            let Some((good, said)) = tool("ld.lld-19", &["-shared", relocatable, "-o", linked]) else {
                return;
            };
            assert!(good, "{said}");
            let dump = |file: &str| {
                let (_, text) =
                    tool("llvm-dwarfdump-19", &["--debug-info", "--debug-line", "--debug-loclists", file])?;
                Some(text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>())
            };
            assert!(dump(own) == dump(linked), "{} {version:?}", example.0);
        }
    }
}

/// Other readers take it without a complaint.
#[test]
fn gnu_readers_read_it() {
    let example = examples().into_iter().find(|example| example.0 == "sgemm_lds.k").expect("there");
    for version in VERSIONS {
        let object = compile(&example, "gfx906", OptLevel::O2, (DebugInfo::Full, dwarf(version)));
        let file = scratch("gnu.co");
        std::fs::write(&file, object.bytes()).expect("written");
        let file = file.to_str().expect("UTF-8");
        for (reader, section) in [("readelf", "info"), ("readelf", "decodedline"), ("eu-readelf", "info")] {
            let Some((good, said)) = tool(reader, &[&format!("--debug-dump={section}"), file]) else {
                continue;
            };
            assert!(
                good && !said.to_lowercase().contains("warning"),
                "{reader} {section} {version:?}: {said}"
            );
            assert!(said.contains("sgemm_lds"), "{reader} {section}: {said}");
        }
    }
}

/// Bytes that say where lanes are, of a kernel with so many branches in each other, each of which has another side.
fn lane_bytes(depth: u32) -> u64 {
    let open = |n: u32| format!("if x[i + {n}] > {n} {{ sum += {n} * x[i]; ");
    let close = |n: u32| format!(" x[i] = sum; }} else {{ sum ^= x[{n}]; }}");
    let inner: String = (0..depth).map(open).chain((0..depth).rev().map(close)).collect();
    let source = format!(
        "#[workgroup_size(64)]\nkernel k(x: *global u32) {{ let i = global_id(0); let mut sum = i; {inner} x[i] = sum; }}"
    );
    let size = |dialect| {
        let dwarf = Dwarf { dialect, ..Dwarf::default() };
        let example = ("nested.k".to_owned(), source.clone());
        let object = compile(&example, "gfx906", OptLevel::O2, (DebugInfo::Full, dwarf));
        let file = object::File::parse(object.bytes()).expect("sound");
        let sections = [".debug_info", ".debug_loclists", ".debug_addr"];
        sections
            .map(|name| file.section_by_name(name).map_or(0, |section| section.size()))
            .iter()
            .sum::<u64>()
    };
    size(Dialect::Heterogeneous) - size(Dialect::Standard)
}

/// A region names the one around it, and does not say it again.
#[test]
fn what_is_said_of_lanes_grows_with_the_regions() {
    let [small, twice, four_times] = [10, 20, 40].map(lane_bytes);
    println!("{small}, {twice} and {four_times} bytes");
    let (first, second) = (twice - small, four_times - twice);
    assert!(second < 3 * first, "{first} bytes for ten more, {second} for twenty more");
}
