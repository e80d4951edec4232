//! The command line as a user sees it: every `console` block of README.md, `docs/` and `tests/data/cli` is run, and its
//! output compared. `KERNC_BLESS=1` rewrites the expected output.

use std::process::{Command, Stdio};

#[test]
fn documented_commands() {
    // The library blesses when its own variable is set: start this test again with it.
    if std::env::var_os("KERNC_BLESS").is_some() && std::env::var_os("TRYCMD").is_none() {
        let blessing = Command::new(std::env::current_exe().unwrap())
            .args(["documented_commands", "--nocapture"])
            .env("TRYCMD", "overwrite")
            .status();
        // It reports failure when it has rewritten something; what follows compares with the new text.
        blessing.unwrap();
    }
    // Pages name their files from the workspace's folder.
    std::env::set_current_dir(crate::common::root()).expect("the workspace's folder");
    // Where the README's commands leave their output; cargo may have been told to build elsewhere.
    std::fs::create_dir_all("target").unwrap();
    trycmd::TestCases::new().case("README.md").case("docs/*.md").case("tests/data/cli/*.md");
}

/// Who closes the pipe, like `head`, has seen enough.
/// `kernc COMMAND --help` begins with the description that `kernc --help` gives of the command.
#[test]
fn commands_describe_themselves() {
    let help = |args: &[&str]| {
        let output = crate::kernc().args(args).output().expect("kernc starts");
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let all = help(&["--help"]);
    let (_, list) = all.split_once("Commands:\n").expect("a list of commands");
    let rows = list.lines().take_while(|line| !line.is_empty());
    let rows: Vec<(&str, &str)> = rows.filter_map(|line| line.trim().split_once(' ')).collect();
    assert!(rows.len() > 10, "{list}");
    for (command, description) in rows.into_iter().filter(|(command, _)| *command != "help") {
        let own = help(&[command, "--help"]);
        assert_eq!(own.lines().next(), Some(description.trim()), "{command}");
    }
}

#[test]
fn closed_pipes_are_no_error() {
    for args in [
        &["disasm", "tools/sim/tests/data/saxpy.co"][..],
        &["inspect", "tools/sim/tests/data/saxpy.co"],
        &["targets"],
    ] {
        let mut child =
            crate::kernc().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        assert!(output.status.success(), "{args:?}: {:?}", output.status);
    }
}
