//! `docs/fidelity.md` is what `sim::fidelity` says of each instruction of each processor. `KERNC_BLESS=1` writes it anew.

use isa::Target;
use isa::table::{Family, Flags, Row, available, opcodes};
use isa::target::PROCESSORS;
use sim::{Fidelity, fidelity};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

const HEAD: &str = "# How faithful the emulator is

This page says how exactly the emulator computes each instruction. The page is generated from the instruction
table and `tools/sim/src/fidelity.rs`: `KERNC_BLESS=1 cargo test -p kernc-sim --test sim fidelity::` writes
it. Without `KERNC_BLESS`, the test fails if the page is out of date. Another test fails if the emulator
neither implements an instruction nor refuses it with a reason.

An instruction is in one of three classes:

- **exact**: the result is bit for bit what the ISA manuals say. If the result of an arithmetic instruction is
  a NaN, the tests do not compare which NaN it is.
- **approximate**: the result is within a stated bound of the hardware's result, or of the result that the
  manual requires.
- **refused**: the dispatch stops and names the instruction. Image, export and interpolation instructions are
  refused, because they belong to graphics.

Some instructions of the first two classes are refused with certain operands only: DS instructions with `gds`,
`s_sendmsg` with a message other than the interrupt, and `s_sethalt 1`.

These tests check the classes. All tests but the first are in `tools/sim/tests`:

- The emulator's unit tests compare memory instructions and control flow with a second implementation of the
  same formulas.
- `meanings.rs` and `scalars.rs` execute vector and scalar instructions as machine code. They compare the
  results with clang's CPU code for C expressions that are written from the manuals, for all edge-case inputs
  and for random inputs.
- `modifiers.rs` does the same for instructions with SDWA, DPP and modifiers.
- `lanes.rs` and `matrices.rs` compare moves between lanes and matrix instructions with models that are
  written from the manuals.
- `llvm_folds.rs` compares the C expressions with the results of LLVM's constant folding of the corresponding
  intrinsics.

No hardware was available. So the behaviour that these tests do not reach is checked only by reading the
manuals.
";

const RUNTIME: &str = "
## The runtime's part

Some behaviour does not belong to an instruction, but to the runtime that starts the kernel. There the
emulator does what ROCm's runtime does, where a manual or LLVM's output describes it:

- **The trap handler** (LLVM's AMDGPU guide, seed 000, line 4041). `s_trap 2` ends the dispatch with all its
  waves and puts the queue into the error state: the queue starts no further packet, and `QueueError` contains
  the reason. `s_trap 3` continues as if no debugger were installed, and the emulator reports the first such
  trap. All other numbers are reserved, and end the dispatch.
- **The queue of a trap.** In code objects V2 and V3, and up to GFX8 in later versions, the trap handler
  receives the queue in s[0:1]. If s[0:1] do not contain the queue then, the fault says so. From GFX9 on, in
  code objects of V4 and later versions, the trap handler finds the queue by the number of its doorbell.
- **Exceptions** of floating-point arithmetic and of memory call no trap handler. The emulator refuses to
  enable traps for floating-point exceptions, and reports memory exceptions as faults.
- **Queues** execute their packets one after the other, and all caches are empty before each packet.
  `docs/emulator.md` describes the consequences.
- **Host calls** are answered when a wave sleeps, in the order in which the waves made the calls. On hardware
  a host thread answers them when it is notified, in any order among the waves.

`tools/sim/tests/queue.rs`, `tools/cli/tests/traps.rs` and `tests/data/cli/traps.md` test this behaviour.
`docs/running.md` has an example.
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
