//! Line tables, as LLVM's tools read them: `.debug_line` of loadable and of linked relocatable objects.

use kernc::{Compiler, DebugInfo, Options, Subtarget};
use std::path::{Path, PathBuf};
use support::Tool;

const SOURCE: &str = "\
#[workgroup_size(64)]
kernel first(x: *const global f32, y: *global f32) {
    let i = global_id(0);
    y[i] = 2.0 *
        x[i];
}

#[workgroup_size(64)]
kernel second(y: *global f32, n: u32) {
    for k in 0u32..n {
        y[k * 64 + local_id(0)] = 1.0;
    }
}
";

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Runs a tool if it is there; its output. It must succeed and say nothing on standard error.
fn tool(name: &str, args: &[&str]) -> Option<String> {
    let Ok(output) = Tool::new(name).args(args).output() else {
        println!("left out: {name} is not on the PATH");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{name} {args:?}: {errors}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn object(processor: &str, version: kernc::CodeObjectVersion, line_table: bool) -> kernc::CodeObject {
    let target = Subtarget::by_name(processor).expect("known").with_version(version);
    let options = Options {
        file_name: "two.k".to_owned(),
        debug: if line_table { DebugInfo::Lines } else { DebugInfo::None },
        ..Options::default()
    };
    Compiler::new(target).compile(SOURCE, &options).expect("a sound source")
}

const VERSIONS: [kernc::CodeObjectVersion; 5] = [
    kernc::CodeObjectVersion::V2,
    kernc::CodeObjectVersion::V3,
    kernc::CodeObjectVersion::V4,
    kernc::CodeObjectVersion::V5,
    kernc::CodeObjectVersion::V6,
];

/// Address, line and column of each row, as `llvm-dwarfdump --debug-line` prints them; 0 rows end a sequence.
fn rows(dump: &str) -> Vec<(u64, u32, u32)> {
    dump.lines()
        .filter(|line| line.starts_with("0x"))
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let address = u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok()?;
            Some((address, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
        })
        .collect()
}

#[test]
fn llvm_verifies_them_and_finds_every_instruction() {
    for processor in ["gfx600", "gfx803", "gfx906", "gfx1010"] {
        for version in VERSIONS {
            let object = object(processor, version, true);
            let (loadable, relocatable) = (scratch("lines.co"), scratch("lines.o"));
            std::fs::write(&loadable, object.bytes()).expect("written");
            std::fs::write(&relocatable, object.relocatable().expect("written")).expect("written");
            for file in [&loadable, &relocatable] {
                let file = file.to_str().expect("UTF-8");
                for dumper in ["llvm-dwarfdump-14", "llvm-dwarfdump-19"] {
                    let Some(verified) = tool(dumper, &["--verify", file]) else { continue };
                    let said = format!("{processor} {version} {dumper}: {verified}");
                    assert!(verified.contains("No errors") && !verified.contains("warning"), "{said}");
                }
            }
            let file = loadable.to_str().expect("UTF-8");
            let Some(dump) = tool("llvm-dwarfdump-19", &["--debug-line", file]) else { continue };
            let rows = rows(&dump);
            let has = |line| rows.iter().any(|&(_, found, _)| found == line);
            assert!([4, 5, 11].into_iter().all(has), "{dump}");
            // The load has the column of `x[i]`.
            assert!(rows.iter().any(|&(_, line, column)| (line, column) == (5, 9)), "{dump}");
        }
    }
}

/// `ld.lld` gives the table the addresses that our own writer gives it.
#[test]
fn a_linker_gives_the_same_table() {
    for version in VERSIONS {
        let object = object("gfx906", version, true);
        let (ours, relocatable, linked) = (scratch("own.co"), scratch("own.o"), scratch("linked.co"));
        std::fs::write(&ours, object.bytes()).expect("written");
        std::fs::write(&relocatable, object.relocatable().expect("written")).expect("written");
        let [ours, relocatable, linked] =
            [&ours, &relocatable, &linked].map(|path| path.to_str().expect("UTF-8"));
        if tool("ld.lld-19", &["-shared", relocatable, "-o", linked]).is_none() {
            return;
        }
        let table = |file| tool("llvm-dwarfdump-19", &["--debug-line", file]).map(|dump| rows(&dump));
        let (ours, linked) = (table(ours), table(linked));
        assert!(ours.as_ref().is_none_or(|rows| rows.len() > 4));
        assert_eq!(ours, linked, "{version}");
    }
}

/// The code is the same without it, and so is all else that is loaded.
#[test]
fn nothing_else_depends_on_it() {
    use object::{Object, ObjectSection};
    for version in VERSIONS {
        let (with, without) = (object("gfx906", version, true), object("gfx906", version, false));
        let sections = |object: &kernc::CodeObject| {
            let file = object::File::parse(object.bytes()).expect("sound");
            let loaded = [".text", ".rodata", ".note", ".dynsym", ".dynamic"];
            loaded.map(|name| {
                let section = file.section_by_name(name);
                section.map(|section| (section.address(), section.data().expect("there").to_vec()))
            })
        };
        assert!(sections(&with) == sections(&without), "{version}");
        assert!(with.bytes().len() > without.bytes().len());
        let file = object::File::parse(without.bytes()).expect("sound");
        assert!(file.section_by_name(".debug_line").is_none());
    }
}

/// What `kernc disasm` shows beside an instruction is what the emulator and LLVM's symbolizer say of it.
#[test]
fn every_reader_says_the_same() {
    let object = object("gfx906", kernc::CodeObjectVersion::V4, true);
    let file = scratch("symbols.co");
    std::fs::write(&file, object.bytes()).expect("written");
    let loaded = kernc::sim::CodeObject::load(object.bytes()).expect("sound");
    let places: Vec<_> = (0..0x400).map(|at| loaded.kernels()[0].entry + 4 * at).collect();
    let ours = places.iter().map(|&address| loaded.lines().of_address(address));
    let addresses: Vec<String> = places.iter().map(|address| format!("{address:#x}")).collect();
    let mut args = vec!["--output-style=GNU", "--basenames", "-e", file.to_str().expect("UTF-8")];
    args.extend(addresses.iter().map(String::as_str));
    let Some(text) = tool("llvm-addr2line-19", &args) else { return };
    let mut compared = 0;
    for (ours, theirs) in ours.zip(text.lines()) {
        if let Some(place) = ours {
            assert_eq!(theirs, format!("two.k:{}", place.line));
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

/// The text of source lines: embedded in the object, or in a file beside it; and where a function is inlined.
#[test]
fn source_lines_stand_between_instructions() {
    let folder = scratch("beside");
    std::fs::create_dir_all(&folder).expect("a folder that can be written");
    let source = "static int twice(int x) {\n  return x * 2;\n}\nkernel void k(global int *out) {\n  out[0] = twice(out[1]);\n}\n";
    let (file, object) = (folder.join("inlined.cl"), folder.join("inlined.co"));
    let shown = || {
        let output = crate::kernc().args(["disasm", "--source"]).arg(&object).output();
        String::from_utf8_lossy(&output.expect("kernc").stdout).into_owned()
    };
    let wanted = "\t; inlined.cl:2\n\t;     2 |   return x * 2;\n\t;       twice, inlined at ";
    for (option, is_embedded) in [("-gembed-source", true), ("-gno-embed-source", false)] {
        std::fs::write(&file, source).expect("a file that can be written");
        let (from, to) = (file.to_str().expect("a name"), object.to_str().expect("a name"));
        let args =
            ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx906", "-nogpulib", "-x", "cl", "-O1", "-gdwarf-5"];
        if tool("clang-19", &[&args[..], &[option, from, "-o", to]].concat()).is_none() {
            return;
        }
        let text = shown();
        assert!(text.contains(wanted) && text.contains("inlined.cl:5\n"), "{text}");
        std::fs::remove_file(&file).expect("it is there");
        let text = shown();
        assert_eq!(text.contains("return x * 2;"), is_embedded, "{text}");
        assert!(text.contains("\t; inlined.cl:2\n"), "{text}");
    }
}
