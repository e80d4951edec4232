//! `docs/fidelity.md` is what `sim::fidelity` says of each instruction of each processor. `KERNC_BLESS=1` writes it anew.

use isa::Target;
use isa::table::{Family, Flags, Row, available, opcodes};
use isa::target::PROCESSORS;
use sim::{Fidelity, fidelity};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

const HEAD: &str = "# How faithful the emulator is

This page is generated from the instruction table and `tools/sim/src/fidelity.rs` (`KERNC_BLESS=1 cargo test -p kernc-sim --test
fidelity`); a test fails when it is stale, and another when an instruction has neither a meaning nor a refusal.

- **exact**: bit for bit what the ISA manuals say. Which NaN comes out of arithmetic on NaNs is not compared.
- **approximate**: within a stated bound of what the hardware gives or the manual asks for.
- **refused**: the dispatch stops and names the instruction. Graphics: image, export and interpolation instructions.
  Other instructions are refused with some operands only: DS instructions with `gds`, messages of `s_sendmsg` other than
  the interrupt, `s_sethalt 1`.

How this is checked: `tools/sim/tests/meanings.rs` and `scalars.rs` run vector and scalar instructions as machine code beside clang's
CPU code for C expressions written from the manuals (all edge inputs and random ones), `modifiers.rs` the same with SDWA, DPP
and modifiers; `lanes.rs` and `matrices.rs` hold moves between lanes and matrix instructions against models; the emulator's own
unit tests hold memory and control flow against second formulas. `llvm_folds.rs` compares the C expressions with what LLVM
folds its intrinsics to. What those tests do not reach rests on reading the manuals: no hardware
was at hand.
";

const RUNTIME: &str = "
## The runtime's part

What is no instruction's meaning but the runtime's, as ROCm's does it where a manual or LLVM's output says so:

- **The trap handler** (seed 000, line 4041). `s_trap 2` ends the dispatch, with all its waves, and puts the queue into error: no packet of it begins any more, and `QueueError` has the reason. The queue is what
  s[0:1] say in code objects V2 and V3 and up to GFX8, and the one with the doorbell elsewhere; where s[0:1] do not have it the fault says so. `s_trap 3` goes on, as if no debugger were installed, and is told
  once. All other numbers are reserved: the dispatch ends with them. Exceptions of floating-point arithmetic and of memory call no handler: the first are refused, the others are faults.
- **Queues** execute their packets one after the other, and caches are empty before each: `docs/emulator.md` has what follows from that.
- **Calls of the host** are answered when a wave sleeps, in the order in which they were made; on hardware a thread of the host does so when it is told, in any order among waves.

`tools/sim/tests/queue.rs`, `tools/cli/tests/traps.rs` and `tests/data/cli/traps.md` show it; `docs/running.md` has an example.
";

fn rows(target: &'static Target) -> impl Iterator<Item = &'static Row> {
    let rows = opcodes().filter(move |&op| available(op, target)).map(|op| op.row());
    rows.filter(|row| row.family != Family::Pseudo && !row.flags.contains(Flags::ALIAS))
}

fn is_graphics(row: &Row) -> bool {
    matches!(row.family, Family::Mimg | Family::Exp | Family::Vintrp)
}

fn page() -> String {
    let mut text = String::from(HEAD);
    text.push_str("\n## Mnemonics per processor\n\n");
    text.push_str(
        "| processor | exact | approximate | refused: graphics | refused: others |\n|---|--:|--:|--:|--:|\n",
    );
    let mut notes: [BTreeMap<&str, BTreeSet<&str>>; 2] = [BTreeMap::new(), BTreeMap::new()];
    for target in &PROCESSORS {
        let mut counts: [BTreeSet<&str>; 4] = Default::default();
        for row in rows(target) {
            let Some(faithful) = fidelity(row, target) else { continue };
            let (column, note) = match faithful {
                Fidelity::Exact => (0, None),
                Fidelity::Approximate(bound) => (1, Some((0, bound))),
                Fidelity::Refused(why) => (if is_graphics(row) { 2 } else { 3 }, Some((1, why))),
            };
            counts[column].insert(row.name);
            if let Some((list, why)) = note {
                notes[list].entry(why).or_default().insert(row.name);
            }
        }
        let [exact, approximate, graphics, others] = counts.map(|names| names.len());
        let _ = writeln!(text, "| {} | {exact} | {approximate} | {graphics} | {others} |", target.name);
    }
    let [approximate, refused] = notes;
    section(&mut text, "Approximate", &approximate);
    section(&mut text, "Refused", &refused);
    text + RUNTIME
}

fn section(text: &mut String, title: &str, notes: &BTreeMap<&str, BTreeSet<&str>>) {
    let _ = write!(text, "\n## {title}\n\n");
    for (why, names) in notes {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(text, "- {why}:\n  {}", names.join(", "));
    }
}

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fidelity.md");
    let page = page();
    if std::env::var_os("KERNC_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page is written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/fidelity.md is stale: run this with KERNC_BLESS=1");
}
