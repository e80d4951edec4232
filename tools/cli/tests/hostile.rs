//! The command line on damaged files and with wild options: a documented exit code, one sentence about what is wrong, and
//! never a panic. `KERNC_HOSTILE=5000 cargo test --test cli hostile::` for a long run.

#[path = "../../sim/tests/hostile/mutate.rs"]
mod mutate;

use mutate::Seed;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use testkit::Rng;

/// Most time of a command, on a slow machine.
const MAX_TIME: Duration = Duration::from_secs(120);

/// A directory of its own for each test.
struct Files(support::Folder);

impl Files {
    fn new(name: &str) -> Files {
        Files(support::Folder::new(name))
    }

    fn put(&self, name: &str, bytes: &[u8]) -> String {
        self.0.write(name, bytes).display().to_string()
    }
}

fn count(few: u64) -> u64 {
    std::env::var("KERNC_HOSTILE").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Runs a command; its exit code, if it keeps the promises.
fn kernc(arguments: &[String], files: &Files, number: u64) -> Result<i32, String> {
    let wrong = |why: String| Err(format!("kernc {}: {why}", arguments.join(" ")));
    let (out, err) = (files.0.join(format!("{number}.out")), files.0.join(format!("{number}.err")));
    let create = |file: &Path| std::fs::File::create(file).map(Stdio::from).expect("a file");
    let mut child = crate::kernc()
        .args(arguments)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(create(&out))
        .stderr(create(&err))
        .spawn()
        .expect("kernc starts");
    let started = Instant::now();
    let status = loop {
        match child.try_wait().expect("it can be waited for") {
            Some(status) => break status,
            None if started.elapsed() > MAX_TIME => {
                let _ = child.kill();
                return wrong("does not end".into());
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let text = |file: &Path| String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned();
    let (told, complaint) = (text(&out), text(&err));
    [out, err].iter().for_each(|file| _ = std::fs::remove_file(file));
    let Some(code) = status.code() else { return wrong(format!("ended by a signal: {complaint}")) };
    // A trace goes to standard error, too.
    let sentence = complaint.lines().any(|line| line.starts_with("error") || line.starts_with("fault: "));
    match code {
        0 => Ok(0),
        1..=4 if sentence && !complaint.contains("panicked") => Ok(code),
        // Findings are printed, by `check` and `litmus` as their output.
        6 if !complaint.is_empty() || !told.is_empty() => Ok(code),
        _ => wrong(format!("exit code {code}: {complaint}")),
    }
}

/// Runs commands, and prints how many ended with which code.
fn run_all(name: &str, few: u64, make: impl Fn(u64, &Files) -> Vec<String> + Sync) {
    let files = Files::new(name);
    let results: Vec<Result<i32, String>> =
        (0..count(few)).into_par_iter().map(|number| kernc(&make(number, &files), &files, number)).collect();
    let mut codes = std::collections::BTreeMap::new();
    results.iter().flatten().for_each(|code| *codes.entry(code).or_insert(0) += 1);
    eprintln!("{name}: {} commands, exit codes {codes:?}", results.len());
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(codes.len() > 1, "{name}: all end alike");
}

fn recorded() -> Vec<Seed> {
    let directory = crate::common::root().join("tools/sim/tests/data/recorded");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).expect("a directory").flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.iter().map(|file| Seed::new(std::fs::read(file).expect("a file"))).collect()
}

fn pick<'a>(rng: &mut Rng, from: &[&'a str]) -> &'a str {
    from[rng.below(from.len() as u32) as usize]
}

/// Arguments for the kernels of the recorded objects, and for others.
fn arguments(rng: &mut Rng) -> Vec<String> {
    let buffer = [
        "iota:300",
        "zeros:600",
        "random:1:300",
        "fill:10:1.5:f64",
        "zeros:0",
        "fill:4:300:u8",
        "iota:99999999999",
    ];
    let value = ["300", "4294967295", "-1", "nan", "", "1,2", "0x", "1e999", "\u{e9}"];
    let wild = |rng: &mut Rng, usual: &[&str]| {
        if rng.below(8) == 0 { pick(rng, &value) } else { pick(rng, usual) }.to_owned()
    };
    let mut all = vec![wild(rng, &buffer), wild(rng, &buffer[..3]), wild(rng, &["300"])];
    if rng.below(12) == 0 {
        all.truncate(rng.below(4) as usize);
    }
    all
}

/// Options of `run`, most of them sensible.
fn options(rng: &mut Rng) -> Vec<String> {
    let mut all: Vec<&str> = vec!["--max-instructions", "20000"];
    let grid = [
        "384",
        "384",
        "1",
        "128,1,1",
        "4294967295,4294967295,4294967295",
        "0",
        "1,2,3,4",
        "x",
        "4294967296",
        "300",
    ];
    all.extend(["--grid", pick(rng, &grid)]);
    if rng.below(3) != 0 {
        all.extend(["--kernel", pick(rng, &["sums", "digits", "halves", "halves", "nothing", ""])]);
    }
    let more: [&[&str]; 16] = [
        &["--mode", "weak"],
        &["--mode", "weak", "--seed", "18446744073709551615", "--schedules", "3"],
        &["--mode", "fast", "--stats"],
        &["--mode", "wrong"],
        &["--keep-going"],
        &["--profile"],
        &["--coverage"],
        &["--trace", "0,0,0"],
        &["--trace", "4294967295,:,"],
        &["--threads", "0"],
        &["--threads", "5000"],
        &["--group", "1024,1024"],
        &["--print", "out"],
        &["--print", "#9"],
        &["--out", "out=/no/such/directory/x.npy"],
        &["--arg", "n=3", "--arg", "n=4", "--mcpu", "gfx906"],
    ];
    for _ in 0..rng.below(3) {
        all.extend(more[rng.below(16) as usize]);
    }
    all.iter().map(|text| (*text).to_owned()).collect()
}

/// `run`, `check`, `inspect` and `disasm`.
#[test]
fn damaged_objects() {
    let seeds = recorded();
    run_all("objects", 120, |number, files| {
        let mut rng = Rng::new(number + 1);
        let seed = &seeds[rng.below(seeds.len() as u32) as usize];
        let bytes = if rng.below(4) == 0 { seed.bytes.clone() } else { mutate::mutate(seed, &mut rng) };
        let file = files.put(&format!("{number}.co"), &bytes);
        let words: Vec<&str> = match rng.below(8) {
            0 => vec!["check", &file, "--json"],
            1 => vec!["check", &file, "--sarif"],
            2 => vec!["check", &file, "--mcpu", pick(&mut rng, &["gfx600", "gfx1030", "gfx9"])],
            3 => vec![
                "inspect",
                &file,
                pick(&mut rng, &["--json", "--mcpu=gfx803", "--json=x", "--dwarf", "--at=0x1610"]),
            ],
            4 => vec!["disasm", &file, pick(&mut rng, &["--raw", "--no-lines", "--mcpu=gfx90a"])],
            _ => {
                let mut all = vec!["run".to_owned(), file];
                all.extend(options(&mut rng));
                all.extend(arguments(&mut rng));
                return all;
            }
        };
        words.into_iter().map(str::to_owned).collect()
    });
}

/// Arrays as arguments.
#[test]
fn damaged_arrays() {
    let header = b"{'descr': '<u4', 'fortran_order': False, 'shape': (300,), }";
    let mut whole = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    whole.extend(header);
    whole.resize(127, b' ');
    whole.push(b'\n');
    whole.extend((0..300u32).flat_map(u32::to_le_bytes));
    let object = crate::common::root().join("tools/sim/tests/data/recorded/v5-gfx900.co");
    run_all("arrays", 30, |number, files| {
        let mut rng = Rng::new(number + 1);
        let mut bytes = whole.clone();
        match rng.below(4) {
            0 => bytes.truncate(rng.below(1400) as usize),
            1 => {}
            _ => (0..=rng.below(4))
                .for_each(|_| bytes[rng.below(70) as usize] = b"{}[]()',:0189<>fuib"[rng.below(19) as usize]),
        }
        let array = files.put(&format!("{number}.npy"), &bytes);
        let object = object.display().to_string();
        let all =
            ["run", &object, "--kernel", "sums", "--grid", "384", &format!("@{array}"), "zeros:3:u32", "300"];
        all.iter().map(|text| (*text).to_owned()).collect()
    });
}

/// Shapes with words and lines exchanged. Only short ones: a search of a large one takes long.
#[test]
fn damaged_shapes() {
    let directory = crate::common::root().join("tests/litmus");
    let shapes = ["corr", "coww", "cowr", "corw", "barrier"];
    let shapes = shapes
        .map(|name| std::fs::read_to_string(directory.join(format!("{name}.litmus"))).expect("a shape"));
    run_all("shapes", 40, |number, files| {
        let mut rng = Rng::new(number + 1);
        let mut lines: Vec<String> = shapes[rng.below(5) as usize].lines().map(str::to_owned).collect();
        for _ in 0..=rng.below(3) {
            damage_line(&mut lines, &mut rng);
        }
        let mut bytes = lines.join("\n").into_bytes();
        if rng.below(10) == 0 {
            let at = rng.below(bytes.len() as u32 + 1) as usize;
            bytes.insert(at, rng.bits() as u8);
        }
        let file = files.put(&format!("{number}.litmus"), &bytes);
        let processor = pick(&mut rng, &["gfx906", "gfx600", "gfx1", ""]);
        ["litmus", &file, "--mcpu", processor].iter().map(|text| (*text).to_owned()).collect()
    });
}

fn damage_line(lines: &mut Vec<String>, rng: &mut Rng) {
    let at = rng.below(lines.len() as u32) as usize;
    let mut words: Vec<String> = lines[at].split_whitespace().map(str::to_owned).collect();
    let other = lines[rng.below(lines.len() as u32) as usize].clone();
    match rng.below(5) {
        0 => _ = lines.remove(at),
        1 => lines[at] = other,
        2 if !words.is_empty() => {
            let word = rng.below(words.len() as u32) as usize;
            words[word] = pick(
                rng,
                &[
                    "r9",
                    "r0=4294967296",
                    "plain",
                    "thread",
                    "code s_endpgm",
                    "x=",
                    "99999999999",
                    "seq_cst",
                    "{q}",
                ],
            )
            .into();
            lines[at] = words.join(" ");
        }
        3 => lines.insert(
            at,
            pick(
                rng,
                &["barrier", "fence release", "code s_trap 2", "code .long 0xffffffff", "code {", "label l"],
            )
            .into(),
        ),
        _ => lines.swap(at, 0),
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
}

/// A reader that goes away has seen enough, like `head`.
#[test]
fn nobody_reads() {
    let run = "run examples/saxpy.k --mcpu gfx906 --grid 64 iota:64 fill:64:1 2.0 64 --print y";
    for arguments in ["targets", "explain E0040", run] {
        let arguments = arguments.split(' ');
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = crate::kernc()
            .args(arguments.clone())
            .current_dir(crate::common::root())
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .expect("kernc starts");
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), complaint.as_str()), (Some(0), ""), "{arguments:?}");
    }
}
