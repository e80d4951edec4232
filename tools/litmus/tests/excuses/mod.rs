//! Words of the guide's sequences that no shape can need, each with a proof. An entry is for one word of one operation in one
//! scope and one space; an entry that some shape turns out to need, or that names no word, is a mistake.

use litmus::{Deletion, Machine};

/// On which machines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Gfx6To9,
    Gfx7To9,
    Gfx10,
    Gfx10Cu,
    Gfx10Wgp,
}

/// "Waits for earlier sequentially consistent loads and atomics that return" (lines 3950, 3962, 3978): each of them has in
/// its own sequence, after it, a wait for the same counter (lines 3263, 3292, 3310, 3328, 3716, 3769, 3800, 3834, of the
/// acquire half), and fences have one too. Loads of other orders need not come before a sequentially consistent one.
const OWN_WAIT: &str = "earlier seq_cst loads and atomics have waited for vmcnt themselves";

/// Line 3138: in CU mode all global accesses of a group go through one L0, so nothing in it is older than what the group has
/// done. The rows for global (3356) and generic (3384) memory, and that for acq_rel (3744), say "If CU wavefront execution
/// mode, omit"; this one has forgotten it, and LLVM 19 omits it (`tests/llvm.rs`).
const ONE_L0: &str = "in CU mode a group has one L0";

/// The invalidation behind the load makes the next one fresh: a wave that looks again and again sees what is new. That this
/// one may find an old value is what any acquire may. (That it does not find one older than a load before it did is because a
/// `glc` load gives up the line that it misses, in this model; the guide is silent on that.)
const FRESH_NEXT: &str = "the invalidation behind it makes the next load fresh";

const EXCUSES: &[(On, &str, &str)] = &[
    (On::Gfx10Cu, "line 3368 atomic acquire workgroup local word 2 `inv0`", ONE_L0),
    (On::Gfx10Cu, "line 3368 silent atomic acquire workgroup local word 2 `inv0`", ONE_L0),
    (On::Gfx10Wgp, "line 3941 load seq_cst workgroup global word 1 `vm`", OWN_WAIT),
    (On::Gfx10Wgp, "line 3941 load seq_cst workgroup generic word 1 `vm`", OWN_WAIT),
    (On::Gfx10Wgp, "line 3957 load seq_cst workgroup local word 0 `vm`", OWN_WAIT),
    (On::Gfx10, "line 3968 load seq_cst agent global word 1 `vm`", OWN_WAIT),
    (On::Gfx10, "line 3968 load seq_cst agent generic word 1 `vm`", OWN_WAIT),
    (On::Gfx10, "line 3968 load seq_cst system global word 1 `vm`", OWN_WAIT),
    (On::Gfx10, "line 3968 load seq_cst system generic word 1 `vm`", OWN_WAIT),
    (On::Gfx6To9, "line 3310 load acquire agent global word 0 `glc`", FRESH_NEXT),
    (On::Gfx6To9, "line 3310 load acquire system global word 0 `glc`", FRESH_NEXT),
    (On::Gfx7To9, "line 3328 load acquire agent generic word 0 `glc`", FRESH_NEXT),
    (On::Gfx7To9, "line 3328 load acquire system generic word 0 `glc`", FRESH_NEXT),
    (On::Gfx10, "line 3310 load acquire agent global word 0 `dlc`", FRESH_NEXT),
    (On::Gfx10, "line 3310 load acquire agent global word 0 `glc`", FRESH_NEXT),
    (On::Gfx10, "line 3310 load acquire system global word 0 `dlc`", FRESH_NEXT),
    (On::Gfx10, "line 3310 load acquire system global word 0 `glc`", FRESH_NEXT),
    (On::Gfx10, "line 3328 load acquire agent generic word 0 `dlc`", FRESH_NEXT),
    (On::Gfx10, "line 3328 load acquire agent generic word 0 `glc`", FRESH_NEXT),
    (On::Gfx10, "line 3328 load acquire system generic word 0 `dlc`", FRESH_NEXT),
    (On::Gfx10, "line 3328 load acquire system generic word 0 `glc`", FRESH_NEXT),
    (On::Gfx10Wgp, "line 3263 load acquire workgroup global word 0 `glc`", FRESH_NEXT),
    (On::Gfx10Wgp, "line 3292 load acquire workgroup generic word 0 `glc`", FRESH_NEXT),
];

/// The entries for a machine: words as [`Deletion`] prints them, and reasons.
pub fn excuses(machine: &Machine) -> impl Iterator<Item = (&'static str, &'static str)> {
    let (generation, cu_mode) = (machine.target.version.0, machine.cu_mode);
    let gfx10 = generation == 10;
    let applies = move |on: On| match on {
        On::Gfx6To9 => !gfx10,
        On::Gfx7To9 => !gfx10 && generation != 6,
        On::Gfx10 => gfx10,
        On::Gfx10Cu => gfx10 && cu_mode,
        On::Gfx10Wgp => gfx10 && !cu_mode,
    };
    EXCUSES.iter().filter(move |(on, ..)| applies(*on)).map(|(_, word, reason)| (*word, *reason))
}

/// Why a word need not be needed.
pub fn excuse(machine: &Machine, word: &Deletion) -> Option<&'static str> {
    let text = word.to_string();
    excuses(machine).find(|(excused, _)| *excused == text).map(|(_, reason)| reason)
}
