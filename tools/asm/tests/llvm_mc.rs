//! LLVM's own tests of its AMDGPU assembler and disassembler, line by line: what LLVM accepts becomes the same bytes, what it
//! refuses is refused, what it decodes is decoded to the same meaning.
//!
//! The files are not part of this project: `KERNC_LLVM_MC=DIR` names a directory with `AMDGPU` and `Disassembler/AMDGPU`
//! of LLVM's `llvm/test/MC`, `KERNC_LLVM_MC_TOOL` another assembler than `llvm-mc-19`, `KERNC_LLVM_MC_OLDER`
//! one of an older LLVM that has to refuse a line as well. `docs/testing.md` has the commands
//! and what they say. Runs for processors that kernc does not know are left out.

#[path = "llvm_mc/judge.rs"]
mod judge;
#[path = "llvm_mc/suite.rs"]
mod suite;

use judge::Verdict;
use std::path::{Path, PathBuf};
use suite::Run;

/// Cases, and those that failed.
#[derive(Default)]
struct Tally {
    all: usize,
    wrong: usize,
}

impl Tally {
    fn add(&mut self, right: bool, what: impl FnOnce() -> String) {
        self.all += 1;
        if !right {
            self.wrong += 1;
            println!("{}", what());
        }
    }

    fn print(&self, what: &str) {
        println!("{what}: {} of {} are not as LLVM has them", self.wrong, self.all);
    }

    /// Asserts that no more than one of `share` is wrong.
    fn judge(&self, what: &str, share: usize) {
        assert!(self.wrong.saturating_mul(share) <= self.all, "{what}: {} of {}", self.wrong, self.all);
    }
}

fn setup(test: &str) -> Option<(PathBuf, PathBuf)> {
    let Some(dir) = std::env::var_os("KERNC_LLVM_MC") else {
        eprintln!("left out: {test} (KERNC_LLVM_MC names no directory)");
        return None;
    };
    let name = std::env::var("KERNC_LLVM_MC_TOOL").unwrap_or_else(|_| "llvm-mc-19".into());
    Some((crate::common::tool(&name, test)?, dir.into()))
}

/// Lines of a run that LLVM accepts and refuses.
#[derive(Default)]
struct Lines {
    accepted: Tally,
    refused: Tally,
}

#[test]
fn lines_assemble_as_llvm_assembles_them() {
    let Some((tool, dir)) = setup("LLVM's tests of its assembler") else { return };
    let mut lines = Lines::default();
    let older = std::env::var("KERNC_LLVM_MC_OLDER").ok();
    let older =
        older.map(|name| crate::common::tool(&name, "lines of older versions").expect("the older assembler"));
    for run in suite::runs(&dir.join("AMDGPU"), "s") {
        let verdicts = judge::assemble(&tool, &run, false);
        let older = older.as_ref().map(|older| judge::assemble(older, &run, true));
        refused(&run, &verdicts, older.as_deref(), &mut lines.refused);
        accepted(&tool, &run, &verdicts, &mut lines.accepted);
    }
    lines.accepted.print("accepted lines");
    lines.refused.print("refused lines");
    lines.accepted.judge("accepted lines", 10_000);
    lines.refused.judge("refused lines", 1000);
}

fn describe_line(run: &Run, n: usize) -> String {
    format!("{}:{} {} | {}", run.name, n + 1, run.arguments.join(" "), run.lines[n].trim())
}

/// Every line that LLVM refuses is wrong to kernc too: a few at a time beside the definitions, since kernc tells a
/// limited number of mistakes; in a file of blocks all in their place. What an older LLVM accepts may be accepted: kernc goes
/// on with what newer ones have dropped, code objects V2 and V3 above all.
fn refused(run: &Run, verdicts: &[Verdict], older: Option<&[Verdict]>, tally: &mut Tally) {
    let bad: Vec<usize> = (0..verdicts.len())
        .filter(|&n| suite::statement(&run.lines[n]).is_some() && matches!(verdicts[n], Verdict::Refused(_)))
        .filter(|&n| older.is_none_or(|older| matches!(older[n], Verdict::Refused(_))))
        // Lines of a block that LLVM has given up at an earlier one.
        .filter(|&n| !(run.has_blocks && verdicts[n] == Verdict::Refused("error: unknown directive".into())))
        .collect();
    for part in bad.chunks(if run.has_blocks { usize::MAX } else { 64 }) {
        let text = run.text(|n| run.has_blocks || part.contains(&n));
        let ours = run.object(&text).err().unwrap_or_default();
        for &n in part {
            // LLVM tells what a block lacks at its end, kernc at its beginning.
            let block = run.block(n)..=n;
            let is_refused =
                ours.iter().any(|line| block.contains(line)) || !run.has_blocks && run.assemble(n).is_err();
            tally.add(is_refused, || format!("ACCEPTED {} | {:?}", describe_line(run, n), verdicts[n]));
        }
    }
}

/// The lines that LLVM accepts make the same object together; if not, each is judged by itself.
fn accepted(tool: &Path, run: &Run, verdicts: &[Verdict], tally: &mut Tally) {
    // Some lines only the writer of objects refuses: a difference that no relocation can tell, a label that is nowhere.
    let is_accepted = |n: usize| !matches!(verdicts[n], Verdict::Refused(_));
    let unwritable = judge::unwritable(tool, run, &run.text(is_accepted));
    let is_good = |n: usize| is_accepted(n) && !unwritable.contains(&n);
    let text = run.text(is_good);
    let good: Vec<usize> =
        (0..verdicts.len()).filter(|&n| suite::statement(&run.lines[n]).is_some() && is_good(n)).collect();
    let ours = run.object(&text);
    let theirs = judge::object(tool, run, &text, false);
    let difference = |theirs: &Option<Vec<u8>>| match (&ours, theirs) {
        (Ok(ours), Some(theirs)) => judge::first_difference(ours, theirs),
        (Err(lines), _) => Some(format!("wrong lines {:?}", lines.iter().map(|n| n + 1).collect::<Vec<_>>())),
        (Ok(_), None) => Some("no object".to_owned()),
    };
    let differing =
        difference(&theirs).and_then(|why| difference(&judge::object(tool, run, &text, true)).and(Some(why)));
    if theirs.is_none() && run.has_blocks {
        // Without what LLVM refuses its blocks mean something else.
        println!("UNJUDGED {} {} | {} lines", run.name, run.arguments.join(" "), good.len());
        return;
    }
    let Some(differing) = differing else {
        tally.all += good.len();
        return;
    };
    let before = tally.wrong;
    for n in good {
        match (&verdicts[n], run.has_blocks) {
            (Verdict::Bytes(bytes), false) => match run.assemble(n) {
                Ok(ours) => tally.add(ours == *bytes, || {
                    format!("DIFFERS {} | {ours:02x?} | {bytes:02x?}", describe_line(run, n))
                }),
                Err(why) => tally.add(false, || format!("REFUSED {} | {why}", describe_line(run, n))),
            },
            _ => {
                let is_right = ours.as_ref().map_or_else(|wrong| !wrong.contains(&n), |_| true);
                tally.add(is_right, || format!("REFUSED {}", describe_line(run, n)));
            }
        }
    }
    if tally.wrong == before {
        // Some line is wrong, though none by itself.
        tally.add(false, || format!("WHOLE {} {} | {differing}", run.name, run.arguments.join(" ")));
    }
}

#[test]
fn words_are_read_as_llvm_reads_them() {
    let Some((tool, dir)) = setup("LLVM's tests of its disassembler") else { return };
    let mut decoded = Tally::default();
    for run in suite::runs(&dir.join("Disassembler/AMDGPU"), "txt") {
        for (words, theirs, encoded) in judge::disassemble(&tool, &run) {
            let ours = run.decode(&words);
            let same = ours
                .as_ref()
                .is_some_and(|ours| *ours == theirs || judge::assembles_to(&tool, &run, ours, &encoded));
            decoded.add(same, || {
                format!(
                    "DECODED {} {} | {words:08x?} | {ours:?} | {theirs:?}",
                    run.name,
                    run.arguments.join(" ")
                )
            });
        }
    }
    decoded.print("decoded words");
    decoded.judge("decoded words", 10_000);
}
