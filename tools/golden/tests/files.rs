//! Files that are run by a runner of another compiler: it turns a source round, or fails.

use golden::{Case, Failure, KINDS, Outcome, Runner, Summary, report};
use std::path::Path;

/// `reverse` prints the lines that are neither empty nor comments backwards, `words` prints the words of the test.
struct Reverser;

impl Runner for Reverser {
    fn run(&self, file: &Path, case: &Case) -> Outcome {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let source: Vec<&str> =
            text.lines().filter(|line| !line.is_empty() && !line.starts_with(';')).rev().collect();
        match case.words[0].as_str() {
            "reverse" => Outcome { output: source.join("\n"), failed: false },
            "words" => Outcome { output: format!("{:?} {:?}", case.words, case.processor), failed: false },
            word => Outcome { output: format!("{}: no command `{word}`", file.display()), failed: true },
        }
    }
}

/// A temporary folder of test files.
struct Folder(support::Folder);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = support::Folder::new(name);
        std::fs::create_dir_all(folder.join("below")).expect("a folder");
        Folder(folder)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("a file")
    }

    fn run(&self, bless: bool) -> Summary {
        let files = golden::find(&[self.0.to_path_buf()], KINDS).expect("files");
        golden::run(&files, &Reverser, bless)
    }
}

#[test]
fn a_file_is_blessed_and_then_passes() {
    let folder = Folder::new("bless");
    folder.write("below/a.kir", "; Shows.\n; test: reverse\n; test: words \"x y\" --mcpu a,b\none\ntwo\n");
    let summary = folder.run(false);
    assert_eq!(summary.failures(), 3);
    assert!(summary.results.iter().all(|result| result.failure == Some(Failure::NotBlessed)));
    let summary = folder.run(true);
    assert_eq!((summary.failures(), summary.blessed), (0, 1));
    let expected = "; Shows.\n; test: reverse\n; test: words \"x y\" --mcpu a,b\none\ntwo\n\
        \n; expected: reverse\n; two\n; one\n\
        \n; expected: words \"x y\" --mcpu a\n; [\"words\", \"x y\"] Some(\"a\")\n\
        \n; expected: words \"x y\" --mcpu b\n; [\"words\", \"x y\"] Some(\"b\")\n";
    assert_eq!(folder.read("below/a.kir"), expected);
    assert_eq!(folder.run(false).failures(), 0);
    assert_eq!(folder.run(true).blessed, 0, "nothing is left to rewrite");
}

#[test]
fn what_differs_is_shown() {
    let folder = Folder::new("diff");
    folder.write("a.kir", "; test: reverse\none\ntwo\n\n; expected: reverse\n; two\n; three\n");
    let summary = folder.run(false);
    let text = report::human(&summary);
    assert!(text.contains("a.kir:1: the output differs\n    reverse\n"), "{text}");
    assert!(text.contains("     two\n    -three\n    +one\n"), "{text}");
    assert!(text.ends_with("0 passed, 1 failed\n"), "{text}");
}

#[test]
fn what_must_fail_is_told_apart() {
    let folder = Folder::new("fails");
    folder.write(
        "a.s",
        "; fails: other --only other\n\n; expected: other --only other\n; a.s: no command `other`\n",
    );
    folder.write("b.s", "; test: other --only nothing\n");
    folder.write("c.s", "; fails: reverse\n");
    folder.write("d.s", "; A comment only.\n");
    folder.write("e.txt", "; test: reverse\n");
    let summary = folder.run(true);
    let failures: Vec<_> = summary.results.iter().map(|result| result.failure.clone()).collect();
    // All that a command said, the filter aside; and a failure is never blessed.
    let said = "b.s: no command `other`".to_owned();
    assert_eq!(failures, [None, Some(Failure::Failed(said)), Some(Failure::Succeeded(String::new()))]);
    assert_eq!((summary.without_tests, summary.blessed), (1, 0));
}

#[test]
fn broken_files_are_told_with_their_line() {
    let folder = Folder::new("broken");
    folder.write("a.kir", "; A comment.\n; tests: reverse\n");
    let text = report::human(&folder.run(false));
    assert!(text.contains("a.kir:2: unknown directive `tests:`"), "{text}");
    let missing = golden::find(&[folder.0.join("none.k")], KINDS).expect_err("no such file");
    assert!(missing.to_string().starts_with("cannot read "), "{missing}");
}

#[test]
fn reports_for_tools_have_the_same_figures() {
    let folder = Folder::new("reports");
    folder.write("a.kir", "; test: reverse\n; test: words <&>\none\n\n; expected: reverse\n; one\n");
    let summary = folder.run(false);
    let tree: serde_json::Value = serde_json::from_str(&report::json(&summary)).expect("JSON");
    assert_eq!((&tree["passed"], &tree["failed"]), (&1.into(), &1.into()));
    assert_eq!(tree["tests"][1]["command"], "words <&>");
    let xml = report::junit(&summary);
    assert!(xml.contains("<testsuites tests=\"2\" failures=\"1\""), "{xml}");
    assert!(xml.contains("name=\"words &lt;&amp;&gt;\""), "{xml}");
    assert!(xml.contains("<failure message=\"no output is expected yet;"), "{xml}");
}
