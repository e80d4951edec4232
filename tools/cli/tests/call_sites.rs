//! Entries of calls and of what they pass: held against the code as LLVM disassembles it, and read by others without a complaint.

use kernc::{Compiler, DebugInfo, Dialect, Dwarf, DwarfVersion, OptLevel, Options, Subtarget};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use support::Tool;

/// Calls of functions and by a pointer, one at the end of a function, with arguments that are constants, that calls keep, or that are the caller's own.
const SOURCE: &str = "\
#[inline(never)]
fn leaf(a: u32, b: u32, p: *global u32) -> u32 {
    p[a & 15] = b;
    a * 3 + p[b & 15]
}
#[inline(never)]
fn last(a: u32, p: *global u32) -> u32 {
    let b = leaf(a, 7, p);
    leaf(b, 9, p)
}
#[inline(never)]
fn outer(a: u32, p: *global u32) -> u32 {
    let mut sum = leaf(5, a, p);
    if sum > a { sum += leaf(a, sum, p); }
    let f = if p[0] > 3 { last } else { outer_end };
    sum + f(a, p) + a
}
#[inline(never)]
fn outer_end(a: u32, p: *global u32) -> u32 { leaf(a, a, p) + 1 }
#[workgroup_size(64)]
kernel k(p: *global u32) {
    let i = global_id(0);
    p[i] = outer(i, p) + last(i + 1, p);
}
";

const PROCESSORS: [&str; 4] = ["gfx803", "gfx906", "gfx90a", "gfx1030"];

/// An object of the source, in a file.
fn object(processor: &str, opt_level: OptLevel, version: DwarfVersion, dialect: Dialect) -> PathBuf {
    let target = Subtarget::by_name(processor).expect("known");
    let dwarf = Dwarf { version, dialect, ..Dwarf::default() };
    let options = Options {
        file_name: "calls.k".to_owned(),
        opt_level,
        debug: DebugInfo::Full,
        dwarf,
        ..Options::default()
    };
    let object = Compiler::new(target).compile(SOURCE, &options).expect("a sound source");
    // Tests run beside each other.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("calls-{}.co", NUMBER.fetch_add(1, Ordering::Relaxed));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, object.bytes()).expect("written");
    file
}

/// All ways to write it.
fn all() -> impl Iterator<Item = (&'static str, OptLevel, DwarfVersion)> {
    PROCESSORS.into_iter().flat_map(|processor| {
        [OptLevel::O0, OptLevel::O2].into_iter().flat_map(move |level| {
            [DwarfVersion::V4, DwarfVersion::V5].map(|version| (processor, level, version))
        })
    })
}

/// Runs a tool if it is there; its output, of both kinds.
fn tool(name: &str, args: &[&str], file: &Path) -> Option<(bool, String)> {
    let Ok(output) = Tool::new(name).args(args).arg(file).output() else {
        println!("left out: {name} is not on the PATH");
        return None;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((output.status.success(), text(&output.stdout) + &text(&output.stderr)))
}

#[test]
fn llvm_verifies_them() {
    for (processor, level, version) in all() {
        let file = object(processor, level, version, Dialect::Standard);
        for dumper in ["llvm-dwarfdump-14", "llvm-dwarfdump-19"] {
            let Some((good, said)) = tool(dumper, &["--verify"], &file) else { continue };
            let what = format!("{processor} {level:?} {version:?} {dumper}");
            assert!(good && said.contains("No errors") && !said.contains("warning"), "{what}: {said}");
        }
    }
}

/// Addresses behind calls and of jumps to other functions, as LLVM disassembles the code.
fn calls_of(listing: &str) -> (BTreeSet<u64>, usize) {
    let lines = listing.lines().filter_map(|line| {
        let (text, comment) = line.split_once("//")?;
        let address = u64::from_str_radix(comment.trim().split(':').next()?, 16).ok()?;
        Some((text.trim().to_owned(), address))
    });
    let lines: Vec<(String, u64)> = lines.collect();
    let is_call = |text: &str| text.starts_with("s_swappc_b64") || text.starts_with("s_call_b64");
    let behind = lines.windows(2).filter(|pair| is_call(&pair[0].0)).map(|pair| pair[1].1).collect();
    let jumps = lines.iter().filter(|line| line.0 == "s_setpc_b64 s[28:29]").count();
    (behind, jumps)
}

/// Each call has an entry, with the address that it returns to, and nothing else has.
#[test]
fn every_call_has_an_entry() {
    let mut jumps = 0;
    for (processor, level, version) in all() {
        let file = object(processor, level, version, Dialect::Standard);
        let Some((_, listing)) = tool("llvm-objdump-19", &["-d"], &file) else { return };
        let Some((_, dump)) = tool("llvm-dwarfdump-19", &["--debug-info"], &file) else { return };
        let (behind, tails) = calls_of(&listing);
        let (mut sites, mut tail_sites) = (BTreeSet::new(), 0);
        for entry in dump
            .split("DW_TAG_")
            .filter(|entry| entry.starts_with("call_site\n") || entry.starts_with("GNU_call_site\n"))
        {
            let pc = entry.lines().find_map(|line| {
                let line = line.trim();
                let value = line.strip_prefix("DW_AT_call_return_pc").or(line.strip_prefix("DW_AT_low_pc"))?;
                u64::from_str_radix(value.trim().trim_matches(['(', ')']).strip_prefix("0x")?, 16).ok()
            });
            if entry.contains("tail_call") {
                tail_sites += 1;
            } else {
                assert!(sites.insert(pc.expect("an address")), "{entry}");
            }
        }
        assert_eq!((&sites, tail_sites), (&behind, tails), "{processor} {level:?} {version:?}");
        assert!(sites.len() >= 6, "{sites:x?}");
        jumps += tails;
    }
    assert!(jumps > 0, "no function ends with a call");
}

/// Constants that the source passes are in the entries of its calls.
#[test]
fn constants_are_told() {
    let file = object("gfx906", OptLevel::O2, DwarfVersion::V5, Dialect::Standard);
    let Some((_, dump)) = tool("llvm-dwarfdump-19", &["--debug-info"], &file) else { return };
    for constant in ["DW_OP_lit5", "DW_OP_lit7", "DW_OP_lit9"] {
        let value = format!("DW_AT_call_value\t({constant})");
        assert!(dump.contains(&value), "{value}: {dump}");
    }
    // The caller's own argument goes on to another.
    assert!(dump.contains("DW_OP_entry_value("), "{dump}");
}

#[test]
fn gnu_readers_read_them() {
    for (processor, level, version) in all() {
        let file = object(processor, level, version, Dialect::Standard);
        for reader in ["readelf", "eu-readelf"] {
            let Some((good, said)) = tool(reader, &["--debug-dump=info"], &file) else { continue };
            let what = format!("{reader} {processor} {level:?} {version:?}");
            assert!(good && !said.to_lowercase().contains("warning"), "{what}: {said}");
            assert!(said.contains("call_site"), "{what}");
        }
    }
}

/// GDB lists parameters with what they are on entry.
#[test]
fn gdb_reads_them() {
    for version in [DwarfVersion::V4, DwarfVersion::V5] {
        let file = object("gfx906", OptLevel::O2, version, Dialect::Standard);
        let commands =
            ["-nx", "--batch", "-ex", "maintenance set dwarf unwinders off", "-ex", "info scope last"];
        let Some((_, said)) = tool("gdb-multiarch", &commands, &file) else { return };
        assert!(said.contains("Symbol a is") && said.contains("Symbol p is"), "{said}");
        assert!(!said.contains("DWARF Error") && !said.contains("internal-error"), "{said}");
    }
}

/// Seed 000, line 1482: an augmentation says that the extensions are used, and only then.
#[test]
fn units_say_that_they_are_extended() {
    for version in [DwarfVersion::V4, DwarfVersion::V5] {
        for (dialect, augmentation) in
            [(Dialect::Standard, None), (Dialect::Heterogeneous, Some("[llvm:v0.0]"))]
        {
            let file = object("gfx906", OptLevel::O2, version, dialect);
            let bytes = std::fs::read(file).expect("it was written");
            let object = codeobj::CodeObject::parse(&bytes).expect("sound");
            let info = dwarf::DebugInfo::read(&object).expect("debug information");
            assert_eq!(info.entries[0].text("DW_AT_LLVM_augmentation"), augmentation, "{version:?}");
        }
    }
}

/// What `a` and `b` of `leaf` are at each instruction from its first statement to its end, where it is called first; the debugger's answers for lane 0.
fn values_in_leaf(source: &Path, options: &[&str]) -> Vec<[String; 2]> {
    let mut command = crate::kernc();
    command.arg("debug").arg(source).args(options).args(["--grid", "64", "zeros:64"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("kernc");
    let steps = "print a\nprint b\nstepi\n".repeat(60);
    let mut input = child.stdin.take().expect("standard input");
    input.write_all(format!("break leaf\ncontinue\n{steps}quit\n").as_bytes()).expect("it reads all");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let stops = text.split("(kernc) print a\n").skip(1).take_while(|stop| !stop.contains("last at"));
    let values = stops.filter_map(|stop| {
        let (a, rest) = stop.split_once("\n(kernc) print b\n")?;
        Some([a.to_owned(), rest.lines().next()?.to_owned()])
    });
    values.skip_while(|[a, b]| [a, b].iter().any(|value| value.starts_with('<'))).collect()
}

/// An argument that no register holds any more is what the caller says that it has passed: a constant, or, through a caller that was given it
/// itself, what the kernel keeps in a register.
#[test]
fn the_debugger_asks_callers() {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("given.k");
    std::fs::write(&source, GIVEN).expect("written");
    for (processor, options) in [
        ("gfx906", &["-O2"][..]),
        ("gfx906", &["-O2", "-gdwarf-4"]),
        ("gfx1030", &["-O2", "-gheterogeneous-dwarf"]),
    ] {
        let options = [options, &["--mcpu", processor]].concat();
        let values = values_in_leaf(&source, &options);
        assert!(values.len() > 5, "{options:?}: {values:?}");
        // In lane 0 `i + 1` is 1.
        assert!(values.iter().all(|[a, b]| a == "1" && b == "7"), "{options:?}: {values:?}");
    }
    // That the list of places of `a` ends with what it was on entry is LLVM's word.
    let object = source.with_extension("co");
    let mut command = crate::kernc();
    command.arg(&source).args(["--mcpu", "gfx906", "-O2", "-g", "-o"]).arg(&object);
    assert!(command.status().expect("kernc").success());
    let Some((_, dump)) = tool("llvm-dwarfdump-19", &["--debug-info"], &object) else { return };
    assert!(dump.contains("DW_OP_entry_value(DW_OP_regx VGPR0_LO16), DW_OP_stack_value"), "{dump}");
}

/// `a` goes from the kernel, which needs it later, through `last` to `leaf`, which does not need it to its end.
const GIVEN: &str = "\
#[inline(never)]
fn leaf(a: u32, b: u32, p: *global u32) -> u32 {
    p[a & 15] = b;
    let c = p[b & 15] * a;
    let d = p[c & 31] + c;
    d * 5 + p[d & 3]
}
#[inline(never)]
fn last(a: u32, p: *global u32) -> u32 {
    let b = leaf(a, 7, p);
    leaf(b, 9, p) + 1
}
#[workgroup_size(64)]
kernel k(p: *global u32) {
    let i = global_id(0);
    let x = i + 1;
    p[i] = last(x, p) + x;
}
";

/// Tables of frames speak of registers that the processor has: no accumulation registers where there are none.
#[test]
fn frames_have_the_processor_s_registers() {
    for processor in ["gfx600", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1030"] {
        let file = object(processor, OptLevel::O0, DwarfVersion::V5, Dialect::Heterogeneous);
        let bytes = std::fs::read(&file).expect("written");
        let object = codeobj::CodeObject::parse(&bytes).expect("an object");
        let text = dwarf::Frames::read(&object).expect("frames").text();
        let target = Subtarget::by_name(processor).expect("known");
        let last = |bank: char| {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            words.filter_map(|word| word.strip_prefix(bank)?.parse::<u16>().ok()).max()
        };
        assert_eq!(last('a').is_some(), target.has(isa::Feature::MAI), "{processor}");
        assert!(
            last('s').is_some_and(|number| number < target.numbered_sgprs()),
            "{processor}: {:?}",
            last('s')
        );
        assert!(last('v').is_some(), "{processor}");
    }
}
