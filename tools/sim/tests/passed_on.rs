//! Tests accesses that one wave makes and that another wave of its work-group publishes to other groups.
//!
//! In the AMDGPU guide, a release to the work-group contains no wait, and the wait of the second wave counts only that
//! wave's own operations (seed 000, lines 3083, 3087, 3105, 3108). So the access of the first wave may still be in flight.
//! Code that other compilers emit contains this pattern. The finding has the level "by the manual".

use crate::harness::{Kernel, kernel, run_at, twins, with_start};
use check::Level;
use sim::{Fault, Report};

/// Program in which wave 1 of group 0 executes ACCESS on the buffer and then signals wave 0 of its group by TELL. Wave 0
/// waits for the signal by HEAR and releases to group 1, which acquires and then executes LATER.
const CHAIN: &str = "v_mov_b32 v3, 0
v_mov_b32 v2, 1
v_readfirstlane_b32 s20, v1
v_cmp_eq_u32 vcc, 0, v0
s_and_saveexec_b64 s[22:23], vcc
ds_write_b32 v3, v3 offset:2048
s_mov_b64 exec, s[22:23]
s_waitcnt lgkmcnt(0)
s_barrier
s_cmp_lg_u32 s2, 0
s_cbranch_scc1 OTHER
s_cmp_eq_u32 s20, 0
s_cbranch_scc1 FIRST
ACCESS
!s_waitcnt vmcnt(0)
TELL
s_endpgm
FIRST:
HEAR
s_waitcnt vmcnt(0)
global_store_dword v3, v2, s[4:5] offset:4
s_endpgm
OTHER:
global_load_dword v5, v3, s[4:5] offset:4 glc
s_waitcnt vmcnt(0)
buffer_wbinvl1_vol
v_cmp_eq_u32 vcc, 1, v5
s_cbranch_vccz OTHER
LATER
s_waitcnt vmcnt(0)";

const STORE: &str = "global_store_dword v3, v2, s[4:5] offset:1024";
/// Stores another value.
const OTHER_STORE: &str = "v_mov_b32 v2, 2\nglobal_store_dword v3, v2, s[4:5] offset:1024";
const LOAD: &str = "global_load_dword v6, v3, s[4:5] offset:1024";
const FLAG: (&str, &str) = (
    "ds_write_b32 v3, v2 offset:2048",
    "POLL:
ds_read_b32 v4, v3 offset:2048
s_waitcnt lgkmcnt(0)
v_cmp_eq_u32 vcc, 1, v4
s_cbranch_vccz POLL",
);
const COUNTER: (&str, &str) = (
    "ds_add_u32 v3, v2 offset:2048",
    "POLL:
ds_add_rtn_u32 v4, v3, v3 offset:2048
s_waitcnt lgkmcnt(0)
v_cmp_ne_u32 vcc, 0, v4
s_cbranch_vccz POLL",
);
const BARRIER: (&str, &str) = ("s_barrier", "s_barrier");

/// The kernel with its parts, for GFX9.
fn chain(access: &str, (tell, hear): (&str, &str), later: &str) -> String {
    let parts = [("ACCESS", access), ("TELL", tell), ("HEAR", hear), ("LATER", later)];
    with_start(&parts.iter().fold(CHAIN.to_owned(), |body, (mark, part)| body.replace(mark, part)))
}

fn report(body: &str, level: Level) -> Option<Box<Report>> {
    match run_at(&Kernel { grid: 256, group: 128, ..kernel(body) }, level) {
        Ok(()) => None,
        Err(Fault::Found(report)) => Some(report),
        Err(fault) => panic!("{fault}\n{body}"),
    }
}

#[test]
fn a_wave_passes_on_what_another_wave_did() {
    for tell in [FLAG, COUNTER, BARRIER] {
        for (access, later) in [(STORE, LOAD), (STORE, OTHER_STORE), (LOAD, OTHER_STORE)] {
            let (bad, good) = twins(&chain(access, tell, later));
            let twin = |body: &str, level| report(body, level).map(|report| report.to_string());
            assert_eq!(twin(&bad, Level::Certain), None, "{bad}");
            assert_eq!(twin(&good, Level::Manual), None, "{good}");
            let report = report(&bad, Level::Manual).unwrap_or_else(|| panic!("nothing is found\n{bad}"));
            assert_eq!((report.rule.as_str(), report.level), ("passed-on-in-flight", Level::Manual));
            assert_eq!(report.other.as_ref().map(|other| other.0.wave), Some(1));
            let fix =
                "`s_waitcnt vmcnt(0)` in wave 1, after the first access and before wave 1 tells its group";
            assert_eq!(report.fix.as_deref(), Some(fix));
        }
    }
}

/// What the wave that releases did itself, it has to wait for.
#[test]
fn a_wave_does_not_wait_for_its_own_access() {
    let body = chain("s_nop 0", FLAG, LOAD).replace("!s_waitcnt vmcnt(0)\n", "");
    let own = format!("{STORE}\nglobal_store_dword v3, v2, s[4:5] offset:4");
    let body = body.replace("s_waitcnt vmcnt(0)\nglobal_store_dword v3, v2, s[4:5] offset:4", &own);
    let report = report(&body, Level::Certain).expect("a finding");
    assert_eq!((report.rule.as_str(), report.level), ("race-read-after-write", Level::Certain));
    assert_eq!(
        report.fix.as_deref(),
        Some("`s_waitcnt vmcnt(0)` in the first wave, before its store or atomic that releases")
    );
}
