//! The page that `--html` writes: its data against the listing, the counts and LLVM's disassembly; and what a browser makes of
//! it, where Chromium is installed.

use serde_json::Value;
use std::path::{Path, PathBuf};
use support::Tool;

const RUN: &str =
    "run examples/sgemm_lds.k --mcpu gfx906 --grid 32,32 random:1:1024 random:2:1024 zeros:1024 32 32 32";

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Runs kernc; its exit code and what it says.
fn kernc(arguments: &str) -> (i32, String) {
    let output = crate::kernc()
        .args(arguments.split_whitespace())
        .current_dir(crate::common::root())
        .output()
        .expect("kernc starts");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The page that a command writes, and the command's exit code and output.
fn page(name: &str, arguments: &str) -> (PathBuf, i32, String) {
    let file = scratch(name);
    let (code, said) = kernc(&format!("{arguments} --html {}", file.display()));
    (file, code, said)
}

fn data(file: &Path) -> Value {
    let html = std::fs::read_to_string(file).expect("a page");
    let (_, rest) = html.split_once(r#"<script type="application/json" id="data">"#).expect("data");
    let (data, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_str(data).expect("JSON")
}

fn rows(data: &Value) -> &Vec<Value> {
    data["functions"][0]["rows"].as_array().expect("rows")
}

#[test]
fn counts_are_those_of_the_run() {
    let (file, code, said) = page("counts.html", &format!("{RUN} --profile"));
    assert_eq!(code, 0, "{said}");
    let data = data(&file);
    let counted: u64 = rows(&data).iter().map(|row| row["count"].as_u64().expect("a count")).sum();
    assert_eq!(data["executed"].as_u64(), Some(counted));
    assert!(said.contains(&format!("{counted} wave instructions\n")), "{said}");
    let lines = &data["sources"][0]["lines"];
    let source = std::fs::read_to_string(crate::common::root().join("examples/sgemm_lds.k"));
    let source = source.expect("the example");
    assert!(
        source.lines().eq(lines.as_array().expect("lines").iter().map(|line| line.as_str().expect("text")))
    );
}

/// Each comment of the listing stands at the instruction that it stands at there.
#[test]
fn reasons_are_those_of_the_listing() {
    for name in ["sgemm_lds", "reduce", "histogram", "sha256"] {
        let (file, code, said) = page(
            &format!("reasons-{name}.html"),
            &format!("examples/{name}.k --mcpu gfx803 -o {}", scratch("reasons.co").display()),
        );
        assert_eq!(code, 0, "{said}");
        let (_, listing) = kernc(&format!("examples/{name}.k --mcpu gfx803 --emit asm"));
        let instructions = listing.lines().filter(|line| {
            line.starts_with("\ts_")
                || line.starts_with("\tv_")
                || ["\tds_", "\tflat_", "\tbuffer_"].iter().any(|start| line.starts_with(start))
        });
        let expected: Vec<Option<&str>> =
            instructions.map(|line| line.split_once("\t; ").map(|(_, why)| why)).collect();
        let data = data(&file);
        let told: Vec<Option<&str>> = rows(&data).iter().map(|row| row["reason"].as_str()).collect();
        assert!(expected.iter().any(Option::is_some));
        assert_eq!(told, expected, "{name}");
    }
}

/// Addresses and mnemonics, as LLVM has them.
#[test]
fn instructions_are_those_of_llvm() {
    let object = scratch("rows.co");
    let (file, code, said) =
        page("rows.html", &format!("examples/sgemm_lds.k --mcpu gfx906 -o {}", object.display()));
    assert_eq!(code, 0, "{said}");
    let Ok(output) = Tool::new("llvm-objdump-19").arg("-d").arg(&object).output() else {
        println!("left out: llvm-objdump-19 is not on the PATH");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // `	s_endpgm        // 000000001A70: BF810000`
    let theirs: Vec<(u64, &str)> = (text.lines())
        .filter_map(|line| line.strip_prefix('\t')?.split_once("// "))
        .filter_map(|(text, rest)| {
            Some((u64::from_str_radix(rest.split_once(':')?.0, 16).ok()?, text.split(' ').next()?))
        })
        .collect();
    let data = data(&file);
    let ours: Vec<(u64, &str)> = (rows(&data).iter())
        .map(|row| {
            (row["address"].as_u64().unwrap(), row["text"].as_str().unwrap().split(' ').next().unwrap())
        })
        .collect();
    assert_eq!(ours, theirs);
}

/// The page has the blocks and edges that `--emit cfg` writes. A page of an object alone has no graph.
#[test]
fn graphs_are_those_of_emit_cfg() {
    let object = scratch("graph.co");
    let (file, code, said) =
        page("graph.html", &format!("examples/sgemm_lds.k --mcpu gfx906 -o {}", object.display()));
    assert_eq!(code, 0, "{said}");
    let (_, dot) = kernc("examples/sgemm_lds.k --mcpu gfx906 --emit cfg");
    let shown = data(&file);
    let graph = &shown["graphs"][0];
    let list = |name: &str| graph[name].as_array().expect("a list").clone();
    let mut edges: Vec<String> =
        list("edges").iter().map(|edge| format!("{} -> {}", edge["from"], edge["to"])).collect();
    let node = |text: &str| text.trim().trim_start_matches(|c: char| !c.is_ascii_digit()).to_owned();
    let mut expected: Vec<String> = (dot.lines())
        .filter_map(|line| line.split('[').next()?.split_once("->"))
        .map(|(from, to)| format!("{} -> {}", node(from), node(to)))
        .collect();
    edges.sort();
    expected.sort();
    assert_eq!(edges, expected);
    assert!(list("blocks").len() > 2 && list("edges").iter().any(|edge| edge["classes"] == "linear back"));
    for block in list("blocks") {
        for line in block["lines"].as_array().expect("lines") {
            assert!(dot.contains(line.as_str().expect("a text")), "{line}");
        }
    }
    let (file, _, _) = page("object-graph.html", &format!("check {}", object.display()));
    assert_eq!(data(&file)["graphs"], Value::Array(Vec::new()));
}

#[test]
fn findings_and_faults_are_shown() {
    let race = scratch("race.k");
    let source = "#[workgroup_size(128)]\nkernel race(y: *global u32) {\n    y[0] = local_id(0) / 64;\n    let x = y[0];\n    y[1 + local_id(0)] = x;\n}\n";
    std::fs::write(&race, source).expect("a file");
    let (file, code, _) =
        page("race.html", &format!("run {} --mcpu gfx906 --grid 128 zeros:200", race.display()));
    assert_eq!(code, 6);
    let shown = data(&file);
    let findings = shown["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0]["rule"].as_str().expect("a rule").starts_with("race-"), "{findings:?}");
    let at = findings[0]["at"].as_array().expect("places").last().expect("a place").as_u64();
    assert!(rows(&shown).iter().any(|row| row["address"].as_u64() == at));

    let (file, code, _) =
        page("fault.html", &format!("run {} --mcpu gfx906 --grid 128 zeros:1 --mode fast", race.display()));
    assert_eq!(code, 4);
    assert_eq!(data(&file)["findings"][0]["rule"], "fault");
}

#[test]
fn a_page_that_cannot_be_written() {
    let (code, _) = kernc("examples/saxpy.k --mcpu gfx906 -o /dev/null --html /no/such/directory/page.html");
    assert_eq!(code, 3);
    let (code, _) = kernc(&format!("{RUN} --list --html x.html"));
    assert_eq!(code, 2);
}

// ---- In a browser.

/// The page's elements once its script has run; what the script complains about fails the test. `None` without Chromium.
fn browse(file: &Path, fragment: &str) -> Option<String> {
    let url = format!("file://{}{fragment}", file.display());
    let profile = scratch(&format!("chromium-{}", file.file_stem()?.to_str()?));
    let output = Tool::new("chromium")
        .fresh()
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(["--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", &url])
        .output();
    let Ok(output) = output else {
        println!("left out: chromium is not on the PATH");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("CONSOLE"), "{said}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_browser_shows_it() {
    let (file, _, said) = page("browser.html", &format!("{RUN} --profile"));
    let Some(dom) = browse(&file, "#L0:27") else { return };
    let data = data(&file);
    assert_eq!(dom.matches("<tr data-address=").count(), rows(&data).len());
    assert_eq!(dom.matches("<tr data-line=").count(), data["sources"][0]["lines"].as_array().unwrap().len());
    // What belongs to the line that the address names is marked, and the line itself.
    let of_line = rows(&data).iter().filter(|row| row["source"][1] == 27).count();
    assert!(of_line > 10, "{said}");
    assert_eq!(
        dom.matches("class=\" marked\"").count() + dom.matches("class=\"marked\"").count(),
        of_line + 1
    );
    // Heat, reasons, pressure, facts.
    for part in ["class=\"heat\"", "needs v", "class=\"vgpr\" d=\"M0 ", "waves a SIMD", "estimated cycles"] {
        assert!(dom.contains(part), "{part}");
    }
}

/// A page of a run is about the kernel that ran: with or without counts, and lines of other kernels are not taken for lines that
/// were not reached.
#[test]
fn the_kernel_that_ran_is_shown() {
    const TWO: &str =
        "run tests/data/cli/two.k --mcpu gfx906 --kernel second --grid 128 --group 128 iota:128";
    for (name, option) in [("two.html", ""), ("two-counted.html", " --coverage")] {
        let (file, code, said) = page(name, &format!("{TWO}{option}"));
        assert_eq!(code, 0, "{said}");
        let html = std::fs::read_to_string(&file).expect("a page");
        assert!(html.contains("<title>two.k: second \u{2013} kernc</title>"), "{name}");
        let shown = data(&file);
        assert_eq!(shown["kernel"], "second");
        let functions = shown["functions"].as_array().expect("functions");
        let ran = |name: &str| functions.iter().find(|each| each["name"] == name).expect("a kernel");
        assert_eq!([&ran("first")["did_not_run"], &ran("second")["did_not_run"]], [true, false]);
        let Some(dom) = browse(&file, "") else { continue };
        let rows = ran("second")["rows"].as_array().expect("rows").len();
        assert_eq!(dom.matches("<tr data-address=").count(), rows);
        // The line of the other kernel has no heat; those of this kernel are listed, with links.
        let line_of_first =
            dom.split("<tr data-line=\"0:2\"").nth(1).and_then(|rest| rest.split("</tr>").next());
        assert!(line_of_first.is_some_and(|row| !row.contains("never")), "{line_of_first:?}");
        assert_eq!(dom.contains("<a href=\"#L0:5\">"), !option.is_empty());
    }
    // A page of an object is about its first function, and no kernel has run.
    let (file, code, said) = page(
        "two-compiled.html",
        &format!("tests/data/cli/two.k --mcpu gfx906 -o {}", scratch("two.co").display()),
    );
    assert_eq!(code, 0, "{said}");
    assert_eq!(data(&file)["kernel"], Value::Null);
    assert!(std::fs::read_to_string(&file).expect("a page").contains("<title>two.k \u{2013} kernc</title>"));
}

/// What stands in a file is text, whatever it looks like.
#[test]
fn nothing_in_a_source_is_taken_for_markup() {
    let file = scratch("markup.k");
    let hostile =
        "</script><img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>";
    let source = format!(
        "// {hostile} <!-- /* data */ /* page.js */ &amp;\nkernel k(y: *global u32) {{\n    y[0] = 1;\n}}\n"
    );
    std::fs::write(&file, &source).expect("a file");
    let (html, code, said) = page(
        "markup.html",
        &format!("{} --mcpu gfx906 -o {}", file.display(), scratch("markup.co").display()),
    );
    assert_eq!(code, 0, "{said}");
    assert_eq!(data(&html)["sources"][0]["lines"][0].as_str(), source.lines().next());
    let Some(dom) = browse(&html, "") else { return };
    assert!(!dom.contains("<title>taken") && !dom.contains("<img"));
    assert_eq!(dom.matches("&lt;/script&gt;&lt;img src=x").count(), 1);
}
