//! A debugger looks at weak mode's schedules and changes none of them, there and back.

use std::collections::BTreeSet;

/// What is left in the buffer.
fn out(command: &[&str], seed: u64) -> String {
    let mut kernc = crate::kernc();
    let (name, options) = command.split_first().expect("a command");
    kernc.args([
        name,
        "tests/data/gdb/racy.k",
        "--mcpu",
        "gfx906",
        "--mode",
        "weak",
        "--seed",
        &seed.to_string(),
    ]);
    kernc.args(["--grid", "256", "--print", "out", "iota:256", "zeros:256"]).args(options);
    let output = kernc.output().expect("kernc");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with("out: "));
    line.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr))).to_owned()
}

#[test]
fn a_session_runs_the_schedule_of_its_seed() {
    let mut all = BTreeSet::new();
    for seed in 0..12 {
        let wanted = out(&["run"], seed);
        for commands in [
            &["debug", "-x", "continue"][..],
            &[
                "debug", "-x", "choice", "-x", "choice", "-x", "goto 30", "-x", "goto 7", "-x", "rsi", "-x",
                "continue",
            ],
            &[
                "debug", "-x", "break 6", "-x", "continue", "-x", "waves", "-x", "continue", "-x", "rc",
                "-x", "delete 1", "-x", "continue",
            ],
        ] {
            assert_eq!(out(commands, seed), wanted, "seed {seed}: {commands:?}");
        }
        all.insert(wanted);
    }
    assert!(all.len() > 2, "the seeds are to make a difference");
}
