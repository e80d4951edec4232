//! The server of `kernc debug --dap` as an editor uses it: sessions by the client library of VS Code's own team, `tests/editor`. Node and
//! npm are its oracles: where they are missing, or the library cannot be had, the test says `left out`, unless `KERNC_EDITOR=required`.

#[path = "editor/hostile.rs"]
mod hostile;

use crate::common::{have, root};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use support::Tool;

/// Says that something is missing; no excuse where it is required.
fn left_out(why: &str) {
    assert!(std::env::var_os("KERNC_EDITOR").is_none_or(|value| value != "required"), "{why}");
    eprintln!("left out: {why}");
}

/// A folder with the client library, as `tests/editor/package-lock.json` names it.
fn library() -> Result<&'static Path, String> {
    static LIBRARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    LIBRARY.get_or_init(install).as_deref().map_err(Clone::clone)
}

fn install() -> Result<PathBuf, String> {
    if !have(&["node", "npm"], "sessions of an editor") {
        return Err("node and npm are not installed (Debian: apt install nodejs npm)".to_owned());
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("editor");
    std::fs::create_dir_all(&folder).expect("a folder");
    let lock = std::fs::read(root().join("tests/editor/package-lock.json")).expect("the lock file");
    // What is there already need not be had again.
    let installed = folder.join("installed.json");
    if std::fs::read(&installed).is_ok_and(|installed| installed == lock) {
        return Ok(folder);
    }
    for file in ["package.json", "package-lock.json"] {
        std::fs::copy(root().join("tests/editor").join(file), folder.join(file))
            .expect("a file that can be written");
    }
    let npm = Tool::new("npm")
        .fresh()
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(&folder)
        .output()
        .expect("npm starts");
    if !npm.status.success() {
        let why = String::from_utf8_lossy(&npm.stderr).into_owned();
        return Err(format!("`npm ci` cannot install the client library of tests/editor:\n{why}"));
    }
    std::fs::write(installed, lock).expect("a file that can be written");
    Ok(folder)
}

/// clang's object of docs/debugger.md's kernel, in a folder of the session's own.
fn sums(folder: &Path) {
    let page = std::fs::read_to_string(root().join("docs/debugger.md")).expect("the page");
    let source = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a C block");
    std::fs::write(folder.join("sums.cl"), source).expect("a file that can be written");
    let status = Tool::new("clang-19")
        .fresh()
        .args("-target amdgcn-amd-amdhsa -mcpu=gfx906 -x cl -cl-std=CL2.0 -nogpulib -w -g -O0".split(' '))
        .args(["sums.cl", "-o", "sums.co"])
        .current_dir(folder)
        .status()
        .expect("clang starts");
    assert!(status.success());
}

/// Holds a session; what was said in it, if the session writes it down.
fn session(name: &str, needs_clang: bool) -> Option<String> {
    let library = match library() {
        Ok(library) => library,
        Err(why) => {
            left_out(&why);
            return None;
        }
    };
    if needs_clang && !have(&["clang-19"], name) {
        left_out("clang-19 is not installed");
        return None;
    }
    let folder = library.join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    if needs_clang {
        sums(&folder);
    }
    let output = Tool::new("node")
        .fresh()
        .arg(root().join("tests/editor/session.js"))
        .current_dir(root())
        .args([env!("CARGO_BIN_EXE_kernc"), name])
        .arg(&folder)
        .env("NODE_PATH", library.join("node_modules"))
        .output()
        .expect("node starts");
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "session {name}:\n{}{}", said[0], said[1]);
    std::fs::read_to_string(folder.join(format!("{name}.txt"))).ok()
}

/// The session that docs/editor.md shows is the one that is held. `KERNC_BLESS=1` writes it there.
#[test]
fn documented() {
    let Some(transcript) = session("documented", true) else { return };
    let page = root().join("docs/editor.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let (begin, end) = ("<!-- session -->\n```text\n", "```\n<!-- end of session -->");
    let (before, rest) = text.split_once(begin).expect("the mark of the session");
    let (shown, behind) = rest.split_once(end).expect("the mark of its end");
    if std::env::var_os("KERNC_BLESS").is_some() {
        std::fs::write(&page, format!("{before}{begin}{transcript}{end}{behind}"))
            .expect("the page can be written");
    } else {
        assert_eq!(shown, transcript, "`KERNC_BLESS=1 cargo test --test cli editor::` writes it");
    }
}

#[test]
fn values_of_clangs_kernel() {
    session("values", true);
}

#[test]
fn files_that_are_used() {
    session("files", false);
}

#[test]
fn values_are_set() {
    session("set", true);
}

#[test]
fn steps_of_clangs_kernel() {
    session("steps", true);
}

#[test]
fn breakpoints_of_each_kind() {
    session("breakpoints", false);
}

#[test]
fn conditions_are_checked_when_they_are_set() {
    session("conditions", true);
}

#[test]
fn expressions_and_commands_that_are_typed() {
    session("typed", false);
}

#[test]
fn what_strict_mode_finds_is_an_exception() {
    session("strict", false);
}

#[test]
fn a_fault_is_an_exception() {
    session("fault", false);
}

#[test]
fn the_end_is_a_stop() {
    session("end", false);
}

#[test]
fn waves_and_lanes_are_threads() {
    session("threads", false);
}

#[test]
fn what_runs_is_paused_and_restarted() {
    session("restart", false);
}

#[test]
fn what_cannot_be_is_refused() {
    session("refusals", false);
}

/// Words that a rule of the grammar colours: those between the first parentheses of each pattern that has such a scope.
fn coloured(scopes: &[&str]) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("editors/vscode/syntaxes/kernc.tmLanguage.json"))
        .expect("the grammar");
    let lines =
        text.lines().filter(|line| scopes.iter().any(|scope| line.contains(&format!("\"name\": \"{scope}"))));
    let words = lines.filter_map(|line| line.split_once("\\\\b(")?.1.split(')').next());
    let mut words: Vec<String> = words.flat_map(|words| words.split('|')).map(str::to_owned).collect();
    words.sort();
    words.dedup();
    words
}

/// Words of a table of the frontend's, by what stands around each.
fn words(file: &str, before: &str, behind: char, end: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(file)).expect("a source of the frontend");
    let table = text.split(end).next().expect("what is in front of the end");
    let words = table.split(before).skip(1).filter_map(|rest| rest.split(behind).next());
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.sort();
    words
}

#[test]
fn the_grammar_has_the_lexers_keywords() {
    let keywords = words("frontend/src/lexer.rs", "#[token(\"", '"', "    Ident,");
    assert!(keywords.len() >= 30 && keywords.contains(&"kernel".to_owned()), "{keywords:?}");
    assert_eq!(
        coloured(&["storage.", "keyword.control", "keyword.operator.cast", "constant.language"]),
        keywords
    );
}

#[test]
fn the_grammar_has_the_scalar_types() {
    let text =
        std::fs::read_to_string(root().join("frontend/src/scalar.rs")).expect("a source of the frontend");
    let table = text.split("const TABLE").nth(1).and_then(|rest| rest.split("];").next()).expect("the table");
    let mut types: Vec<&str> = table.lines().filter_map(|line| line.split('"').nth(1)).collect();
    types.sort_unstable();
    assert!(types.len() >= 13, "{types:?}");
    assert_eq!(coloured(&["support.type"]), types);
}

/// The extension does what its `package.json` says, and what it launches the server takes.
#[test]
fn the_extension_is_whole() {
    if !have(&["node"], "the extension for VS Code") {
        return left_out("node is not installed");
    }
    let output = Tool::new("node")
        .fresh()
        .arg(root().join("tests/editor/extension.js"))
        .output()
        .expect("node starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "whole\n");
}
