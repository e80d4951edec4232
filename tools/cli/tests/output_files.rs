//! What commands write is whole or not there: a full disk leaves an older file as it was, of two commands that write one file one wins,
//! and an output that takes nothing is an error.
#![cfg(unix)]

use crate::common::scratch;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Bytes that a file may have in [`limited`].
const LIMIT: usize = 8 * 1024;

fn kernc() -> Command {
    crate::kernc()
}

/// An empty folder of its own.
fn folder(name: &str) -> PathBuf {
    let path = scratch("output_files").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    path
}

/// A source with so many kernels.
fn kernels(count: usize, factor: usize) -> String {
    let kernel =
        |n| format!("kernel k{n}(o: *global u32, n: u32) {{ for j in 0..n {{ o[j] = j * {factor}; }} }}\n");
    (0..count).map(kernel).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a command that no file may outgrow, as on a full disk.
fn limited(folder: &Path, line: &str) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {}; exec {line}", LIMIT / 1024);
    let program = env!("CARGO_BIN_EXE_kernc");
    Command::new("bash")
        .args(["-c", &script])
        .env("KERNC", program)
        .current_dir(folder)
        .output()
        .expect("bash")
}

#[test]
fn a_full_disk_leaves_the_older_file() {
    let folder = folder("full");
    fs::write(folder.join("big.k"), kernels(60, 3)).expect("a file");
    fs::write(folder.join("small.k"), kernels(1, 3)).expect("a file");
    fs::write(folder.join("iota.k"), "kernel iota(o: *global u32) { o[global_id(0)] = global_id(0); }")
        .expect("a file");
    let script = "file = \"iota.k\"\nmcpu = \"gfx906\"\n[buffers]\no = \"zeros:4096\"\n\
                  [[dispatch]]\ngrid = 4096\nargs = [\"o\"]\nout = { o = \"OUT\" }\n";
    fs::write(folder.join("script.toml"), script).expect("a file");
    let make =
        |args: &[&str]| assert!(kernc().args(args).current_dir(&folder).status().expect("it runs").success());
    make(&["big.k", "--mcpu", "gfx906", "--emit", "asm", "-o", "big.s"]);
    make(&["big.k", "--mcpu", "gfx906", "--emit", "obj", "-o", "big.o"]);
    let before = names(&folder).len();
    // Each writes more than fits.
    for line in [
        "$KERNC big.k --mcpu gfx906 -o OUT",
        "$KERNC big.k --mcpu gfx906 --emit asm -o OUT",
        "$KERNC as big.s -o OUT",
        "$KERNC link big.o -o OUT",
        "$KERNC run iota.k --mcpu gfx906 --grid 4096 zeros:4096 --out o=OUT",
        "$KERNC run iota.k --mcpu gfx906 --grid 64 zeros:64 --html OUT",
        "$KERNC run big.k --kernel k0 --mcpu gfx906 --grid 1 zeros:400 400 --trace 0,0,0 --trace-file OUT",
        "$KERNC run --script script.toml",
        "$KERNC check iota.k --mcpu gfx906 --html OUT",
    ] {
        for older in [None, Some("an older file")] {
            let out = folder.join("OUT");
            let _ = fs::remove_file(&out);
            if let Some(text) = older {
                fs::write(&out, text).expect("a file");
            }
            let output = limited(&folder, line);
            assert_eq!(output.status.code(), Some(3), "{line}: {}", text(&output));
            assert!(text(&output).contains("cannot write OUT"), "{line}: {}", text(&output));
            assert_eq!(fs::read_to_string(&out).ok().as_deref(), older, "{line}");
            assert_eq!(
                names(&folder).len(),
                before + usize::from(older.is_some()),
                "{line}: {:?}",
                names(&folder)
            );
        }
    }
    // The limit is not what stops them.
    let _ = fs::remove_file(folder.join("OUT"));
    let output = limited(&folder, "$KERNC small.k --mcpu gfx906 -o OUT");
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn one_of_two_writers_wins() {
    let folder = folder("two");
    let sources = [kernels(40, 3), kernels(25, 5)];
    let mut whole = Vec::new();
    for (n, source) in sources.iter().enumerate() {
        fs::write(folder.join(format!("{n}.k")), source).expect("a file");
        let args = [&format!("{n}.k"), "--mcpu", "gfx906", "-o", &format!("{n}.co")];
        assert!(kernc().args(args).current_dir(&folder).status().expect("it runs").success());
        whole.push(fs::read(folder.join(format!("{n}.co"))).expect("a file"));
    }
    for _ in 0..6 {
        let writer = |n: usize| {
            let args = [&format!("{}.k", n % 2), "--mcpu", "gfx906", "-o", "both.co"];
            kernc().args(args).current_dir(&folder).spawn().expect("it runs")
        };
        for mut child in (0..4).map(writer).collect::<Vec<_>>() {
            assert!(child.wait().expect("it ends").success());
        }
        assert!(whole.contains(&fs::read(folder.join("both.co")).expect("a file")));
    }
    assert_eq!(names(&folder).len(), 5, "{:?}", names(&folder));
}

#[test]
fn links_permissions_and_devices_stay() {
    let folder = folder("kinds");
    fs::write(folder.join("k.k"), kernels(1, 3)).expect("a file");
    let compile = |to: &str| {
        let output = kernc()
            .args(["k.k", "--mcpu", "gfx906", "-o", to])
            .current_dir(&folder)
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{to}: {}", text(&output));
        output.stdout
    };
    compile("plain.co");
    let object = fs::read(folder.join("plain.co")).expect("a file");
    let holds = |name: &str| fs::read(folder.join(name)).expect("a file") == object;

    fs::write(folder.join("modes.co"), "older").expect("a file");
    fs::set_permissions(folder.join("modes.co"), fs::Permissions::from_mode(0o640)).expect("permissions");
    compile("modes.co");
    assert!(holds("modes.co"));
    assert_eq!(fs::metadata(folder.join("modes.co")).expect("a file").permissions().mode() & 0o777, 0o640);

    fs::create_dir(folder.join("far")).expect("a folder");
    fs::write(folder.join("far/real.co"), "older").expect("a file");
    for (link, to) in [("near.co", "far/real.co"), ("twice.co", "near.co"), ("new.co", "far/new.co")] {
        symlink(to, folder.join(link)).expect("a link");
        compile(link);
        assert!(fs::symlink_metadata(folder.join(link)).expect("a link").is_symlink(), "{link}");
        assert!(holds(to) && holds(link), "{link}");
    }
    assert_eq!(names(&folder.join("far")), ["new.co", "real.co"]);

    assert!(compile("/dev/stdout") == object);
    assert!(compile("/dev/null").is_empty());
    // A file that standard output goes to is written on, not replaced.
    let to = fs::File::create(folder.join("redirected")).expect("a file");
    let status = kernc()
        .args(["k.k", "--mcpu", "gfx906", "-o", "/dev/stdout"])
        .current_dir(&folder)
        .stdout(to.try_clone().expect("a file"))
        .status();
    assert!(status.expect("it runs").success());
    assert!(to.metadata().expect("a file").len() == object.len() as u64 && holds("redirected"));
}

/// Runs a command of the shell's, in which `$KERNC` is the program.
fn shell(line: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_kernc");
    let root = crate::common::root();
    Command::new("bash").args(["-c", line]).env("KERNC", program).current_dir(root).output().expect("bash")
}

const PRINTING: [&str; 8] = [
    "examples/saxpy.k --mcpu gfx906 --emit asm",
    "examples/saxpy.k --mcpu gfx906 -o -",
    "--help",
    "--version",
    "run --help",
    "targets",
    "explain E0004",
    "run examples/saxpy.k --mcpu gfx906 --grid 10 --arg n=10 --arg a=2.0 --arg x=iota:10 --arg y=fill:10:1.0 --print y",
];

#[test]
fn an_output_that_takes_nothing_is_an_error() {
    for words in PRINTING {
        let output = shell(&format!("$KERNC {words} > /dev/full"));
        assert_eq!(output.status.code(), Some(3), "{words}: {}", text(&output));
        assert!(text(&output).contains("cannot write standard output"), "{words}: {}", text(&output));
        // Who has seen enough is no error.
        let output = shell(&format!("set -o pipefail; $KERNC {words} | true"));
        assert!(output.status.success() && output.stderr.is_empty(), "{words}: {}", text(&output));
    }
    let quiet = kernc().arg("targets").stdout(Stdio::null()).status().expect("it runs");
    assert!(quiet.success());
}
