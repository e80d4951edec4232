//! What is told of a wait, against what happens without it: every finding that a deleted wait would leave is one of the
//! reasons that were told of it, on clang's code. And register pressure, on code whose numbers can be counted by hand.

use crate::clang::{kernels, twin, variants};
use check::object::Entries;
use check::reasons::{self, Reason, Why};
use check::{CALLER, Counter, Finding, Site, pressure, solve};
use std::collections::HashSet;

#[test]
fn without_a_wait_its_reasons_are_missed() {
    let Some(clang) = crate::clang::clang("reasons of waits") else { return };
    let (mut waits, mut told, mut missed) = (0, 0, 0);
    // Each wait is a run of the checker.
    let step = if std::env::var_os("KERNC_FULL").is_some() { 1 } else { 3 };
    for variant in variants() {
        for name in kernels().into_iter().step_by(step) {
            let bytes = twin(&clang, &name, variant);
            let object = codeobj::CodeObject::parse(&bytes).expect("clang's object");
            for mut part in Entries::new(&object, None).expect("a known processor").parts() {
                let originals = part.program.clone();
                let sound: HashSet<_> = findings(&solve::solve(&originals, &part.roots, false));
                for Why { wait, reasons } in reasons::find(&originals, &part.roots, false) {
                    part.program.code.replace(wait, None);
                    let found = solve::solve(&part.program, &part.roots, false);
                    part.program.code.replace(wait, Some(&originals.insts[wait as usize].inst));
                    waits += 1;
                    for (first, second) in findings(&found).difference(&sound) {
                        let is_it = |reason: &Reason| matches!(reason, Reason::Operation { first: of, .. } if of == first);
                        let at = originals.insts[*second as usize].address;
                        assert!(reasons.iter().any(is_it), "{name} {variant:?}: {at:#x}: {reasons:?}");
                        missed += 1;
                    }
                    told += reasons.iter().filter(|reason| is_used(reason)).count();
                }
            }
        }
    }
    println!("{waits} waits: {told} registers with a user were told, {missed} are missed without");
    // A user behind a second wait is told, and not missed.
    assert!(missed > 0 && missed * 4 >= told * 3, "{missed} of {told}");
}

fn is_used(reason: &Reason) -> bool {
    matches!(reason, Reason::Operation { user: Some(_), first, .. } if *first != CALLER)
}

/// Pairs of an operation that is under way and who touches its registers. A flat access counts once, on its first counter.
fn findings(found: &[Finding]) -> HashSet<(Site, Site)> {
    let in_flight = found.iter().filter(|finding| finding.counter().is_some_and(|of| of != Counter::Exp));
    in_flight.map(|finding| (finding.first, finding.second)).collect()
}

/// Does something with a text's code.
fn with_code<T>(text: &str, look: impl FnOnce(&check::object::Part) -> T) -> T {
    let target = isa::Target::by_name("gfx906").expect("known");
    let options = asm::Options { target: Some(target), ..asm::Options::default() };
    let bytes = asm::assemble(&format!(".text\n{text}\n"), &options).expect("sound");
    let object = codeobj::CodeObject::parse(&bytes).expect("our own object");
    let parts = Entries::new(&object, None).expect("known").parts();
    look(&parts[0])
}

const LOOP: &str = "
    s_load_dwordx2 s[2:3], s[0:1], 0x0
    v_mov_b32 v1, 0
    s_waitcnt lgkmcnt(0)
    global_load_dword v2, v0, s[2:3]
again:
    v_add_u32 v0, 4, v0
    s_waitcnt vmcnt(0)
    v_add_f32 v1, v1, v2
    global_load_dword v2, v0, s[2:3]
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 again
    ds_write_b32 v0, v1
    s_waitcnt lgkmcnt(0)
    s_barrier
    s_waitcnt lgkmcnt(0)
    s_endpgm";

#[test]
fn reasons_in_words() {
    let told = with_code(LOOP, |part| {
        let text = |why: Why| why.reasons.iter().map(|reason| reason.text(&part.program)).collect::<Vec<_>>();
        reasons::find(&part.program, &part.roots, false).into_iter().map(text).collect::<Vec<_>>()
    });
    let expected: [&[&str]; 4] = [
        &["s[2:3] of s_load_dwordx2 at 0x1210, for global_load_dword at 0x1220"],
        // The load before the loop and the one in it.
        &[
            "v2 of global_load_dword at 0x1220, for v_add_f32 at 0x1230",
            "v2 of global_load_dword at 0x1234, for v_add_f32 at 0x1230",
        ],
        &["one LDS operation is complete"],
        &[],
    ];
    assert_eq!(told, expected);
}

/// Counted by hand: in front of each instruction what is read later without being written before.
#[test]
fn pressure_around_a_loop() {
    let alive = with_code(LOOP, |part| pressure::alive(&part.program));
    let vgprs: Vec<u16> = alive.iter().map(|alive| alive.vgprs).collect();
    let sgprs: Vec<u16> = alive.iter().map(|alive| alive.sgprs).collect();
    // v0 comes with the wave; v1 and v2 live around the loop; behind it v0 and v1.
    assert_eq!(vgprs, [1, 1, 2, 2, 3, 3, 3, 2, 3, 3, 2, 0, 0, 0, 0]);
    // s[0:1], s4; then s[2:3], s4; nothing behind the loop.
    assert_eq!(sgprs, [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0, 0, 0]);
}
