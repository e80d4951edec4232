//! Commands on files that hold several code objects: which code objects a command works on, and what is said of the others.
#![cfg(unix)]

use crate::common::scratch;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use support::Tool;

const BUNDLER: &str = "clang-offload-bundler-19";

fn kernc(folder: &Path, line: &str) -> Output {
    let mut command = crate::kernc();
    command.args(line.split_whitespace()).current_dir(folder).output().expect("kernc")
}

/// Runs a command that has to end with `code`, and returns its standard output and standard error.
fn run_kernc(folder: &Path, line: &str, code: i32) -> String {
    let output = kernc(folder, line);
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "kernc {line}\n{text}");
    text.into_owned()
}

fn foreign(folder: &Path, tool: &str, args: &[&str]) {
    let output = Tool::new(tool).args(args).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{tool}: {error}"));
    assert!(output.status.success(), "{tool} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns an empty folder with a sound object for gfx906, one for gfx1030, and one for gfx908 that lacks a wait.
fn folder(name: &str) -> PathBuf {
    let folder = scratch("containers").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let data = crate::common::root();
    let faulty = fs::read_to_string(data.join("tests/data/cli/nowait.s")).expect("nowait.s");
    fs::write(folder.join("nowait.s"), faulty.replace("gfx906", "gfx908")).expect("nowait.s");
    fs::copy(data.join("examples/saxpy.k"), folder.join("saxpy.k")).expect("saxpy.k");
    for processor in ["gfx906", "gfx1030"] {
        run_kernc(&folder, &format!("saxpy.k --mcpu {processor} -o {processor}.co"), 0);
    }
    run_kernc(&folder, "as nowait.s -o gfx908.co", 0);
    folder
}

/// Bundles code objects as `file`, under the target ids of HIP.
fn bundle(folder: &Path, file: &str, objects: &[(&str, &str)], more: &[&str]) {
    let targets: Vec<String> =
        objects.iter().map(|(id, _)| format!("hipv4-amdgcn-amd-amdhsa--{id}")).collect();
    let mut args = vec![
        "--type=o".to_owned(),
        "--bundle-align=4096".to_owned(),
        format!("--targets=host-x86_64-unknown-linux-gnu,{}", targets.join(",")),
        "--input=/dev/null".to_owned(),
        format!("--output={file}"),
    ];
    args.extend(objects.iter().map(|(_, object)| format!("--input={object}")));
    args.extend(more.iter().map(|&arg| arg.to_owned()));
    foreign(folder, BUNDLER, &args.iter().map(String::as_str).collect::<Vec<_>>());
}

const ALL: [(&str, &str); 3] = [("gfx906", "gfx906.co"), ("gfx1030", "gfx1030.co"), ("gfx908", "gfx908.co")];

#[test]
fn check_reads_all_of_a_library() {
    let folder = folder("library");
    bundle(&folder, "both.bundle", &ALL, &["-compress"]);
    fs::write(folder.join("host.c"), "__asm__(\".section .hip_fatbin,\\\"a\\\"\\n.incbin \\\"both.bundle\\\"\\n.text\\n\");\nint f(void) { return 7; }\n").expect("host.c");
    foreign(
        &folder,
        "clang-19",
        &["-shared", "-fPIC", "-nostdlib", "-fuse-ld=lld-19", "host.c", "-o", "libboth.so"],
    );
    let text = run_kernc(&folder, "check libboth.so", 6);
    assert!(text.contains("error[read-in-flight]"), "{text}");
    assert!(text.contains("libboth.so:.hip_fatbin:"), "{text}");
    assert!(text.contains("hipv4-amdgcn-amd-amdhsa--gfx908: 2 reports in"), "{text}");
    assert!(!text.contains("hipv4-amdgcn-amd-amdhsa--gfx906:"), "sound code objects only count:\n{text}");
    assert!(text.contains("1 read-in-flight (certain)"), "{text}");
    assert!(text.contains("libboth.so: 2 reports in 3 code objects, "), "{text}");

    // A processor chooses, and what is chosen alone is told as a code object is.
    let text = run_kernc(&folder, "check libboth.so --mcpu gfx1030", 0);
    assert!(text.contains("nothing to report in 1 code object, "), "{text}");
    let text = run_kernc(&folder, "check libboth.so --entry gfx906", 0);
    assert!(text.contains("gfx906: nothing to report in") && text.contains("for gfx906"), "{text}");

    let tree: serde_json::Value =
        serde_json::from_str(&run_kernc(&folder, "check libboth.so --json", 6)).expect("JSON");
    let found: Vec<usize> = tree["objects"]
        .as_array()
        .expect("objects")
        .iter()
        .map(|object| object["findings"].as_array().expect("findings").len())
        .collect();
    assert_eq!(found, [0, 0, 2]);
    let tree: serde_json::Value =
        serde_json::from_str(&run_kernc(&folder, "check libboth.so --sarif", 6)).expect("SARIF");
    assert_eq!(tree["runs"][0]["artifacts"].as_array().expect("artifacts").len(), 3);
    assert_eq!(tree["runs"][0]["results"].as_array().expect("results").len(), 2);
}

#[test]
fn other_commands_take_one() {
    let folder = folder("one");
    bundle(&folder, "three.bundle", &ALL, &[]);
    let text = run_kernc(&folder, "inspect three.bundle", 0);
    for (id, _) in ALL {
        assert!(text.contains(&format!("three.bundle:hipv4-amdgcn-amd-amdhsa--{id}: ")), "{text}");
    }
    assert!(text.contains("host-x86_64-unknown-linux-gnu"), "{text}");
    let text = run_kernc(&folder, "inspect three.bundle --mcpu gfx1030", 0);
    assert!(text.contains("for gfx1030, loadable") && text.contains("Kernel saxpy"), "{text}");
    let tree: serde_json::Value =
        serde_json::from_str(&run_kernc(&folder, "inspect three.bundle --json", 0)).expect("JSON");
    assert_eq!(tree["objects"][2]["kernels"], serde_json::json!(["scale"]));

    let text = run_kernc(&folder, "disasm three.bundle", 2);
    assert!(text.contains("holds several code objects; choose one with `--entry`"), "{text}");
    assert_eq!(
        run_kernc(&folder, "disasm three.bundle --entry gfx906", 0),
        run_kernc(&folder, "disasm gfx906.co", 0)
    );
    assert_eq!(
        run_kernc(&folder, "disasm three.bundle --mcpu gfx1030", 0),
        run_kernc(&folder, "disasm gfx1030.co --mcpu gfx1030", 0)
    );

    let arguments = "--grid 4 iota:4 fill:4:1 2.0 4 --print y";
    let text = run_kernc(&folder, &format!("run three.bundle --mcpu gfx906 {arguments}"), 0);
    assert_eq!(text, run_kernc(&folder, &format!("run gfx906.co {arguments}"), 0));
    run_kernc(&folder, &format!("run three.bundle --entry gfx10 {arguments}"), 0);
    let text = run_kernc(&folder, &format!("run three.bundle {arguments}"), 2);
    assert!(text.contains("choose one with `--entry`"), "{text}");
}

#[test]
fn features_of_the_processor_choose() {
    let folder = folder("features");
    run_kernc(&folder, "saxpy.k --mcpu gfx90a:xnack+ -o on.co", 0);
    run_kernc(&folder, "saxpy.k --mcpu gfx90a:xnack- -o off.co", 0);
    bundle(&folder, "modes.bundle", &[("gfx90a:xnack+", "on.co"), ("gfx90a:xnack-", "off.co")], &[]);
    let text = run_kernc(&folder, "inspect modes.bundle --mcpu gfx90a:xnack-", 0);
    assert!(text.contains("amdgcn-amd-amdhsa--gfx90a:xnack-\n"), "{text}");
    let text = run_kernc(&folder, "check modes.bundle --mcpu gfx90a", 0);
    assert!(text.contains("in 2 code objects"), "{text}");
}

#[test]
fn what_is_refused() {
    let folder = folder("refused");
    bundle(&folder, "three.bundle", &ALL, &[]);
    let text = run_kernc(&folder, "check three.bundle --mcpu gfx803", 2);
    assert!(
        text.contains("no code object for `gfx803`; it holds:\n  hipv4-amdgcn-amd-amdhsa--gfx906"),
        "{text}"
    );
    run_kernc(&folder, "disasm three.bundle --entry gfx803", 2);
    run_kernc(&folder, "check three.bundle --html page.html", 2);
    assert!(!folder.join("page.html").exists());
    let text = run_kernc(&folder, "disasm gfx906.co --entry gfx906", 2);
    assert!(text.contains("this file is one"), "{text}");
    run_kernc(&folder, "check three.bundle --kernel nobody", 3);

    // A bundle that is cut off: what is there is checked, and the rest is an error.
    let bytes = fs::read(folder.join("three.bundle")).expect("three.bundle");
    fs::write(folder.join("cut.bundle"), &bytes[..bytes.len() - 512]).expect("cut.bundle");
    let text = run_kernc(&folder, "check cut.bundle", 3);
    assert!(text.contains("nothing to report in 2 code objects"), "{text}");
    assert!(
        text.contains("error: cut.bundle: entry hipv4-amdgcn-amd-amdhsa--gfx908 lies outside of the bundle"),
        "{text}"
    );

    // A code object for a processor that the checker does not know is named, and fails only where that is asked for.
    let mut bytes = fs::read(folder.join("gfx1030.co")).expect("gfx1030.co");
    bytes[48] = 0x41;
    fs::write(folder.join("gfx1100.co"), bytes).expect("gfx1100.co");
    bundle(&folder, "later.bundle", &[("gfx906", "gfx906.co"), ("gfx1100", "gfx1100.co")], &[]);
    let text = run_kernc(&folder, "check later.bundle", 0);
    assert!(text.contains("note: not checked: later.bundle:hipv4-amdgcn-amd-amdhsa--gfx1100: "), "{text}");
    assert!(text.contains("; 1 code object not checked"), "{text}");
    run_kernc(&folder, "check later.bundle --deny unfollowed", 6);

    // Neither a program without GPU code nor bitcode holds a code object.
    fs::write(folder.join("plain.c"), "int f(void) { return 7; }\n").expect("plain.c");
    foreign(&folder, "clang-19", &["-c", "plain.c", "-o", "plain.o"]);
    for line in ["check plain.o", "inspect plain.o", "disasm plain.o", "run plain.o --grid 1"] {
        let text = run_kernc(&folder, line, 3);
        assert!(text.contains("plain.o: there is no AMD GPU code object in it"), "{text}");
    }
    foreign(&folder, "clang-19", &["-c", "-emit-llvm", "plain.c", "-o", "plain.bc"]);
    let text = run_kernc(&folder, "inspect plain.bc", 3);
    assert!(text.contains("LLVM bitcode"), "{text}");
}
