//! Tests of EXEC, branches, calls, forks, traps and messages.

use super::{BASE, Program, refusal, run, run_lanes};
use crate::exec::Flow;
use crate::fault::Trap;
use crate::wave::{Wave, reg};

#[test]
fn exec_masks() {
    type OfExec = fn(u64, u64) -> u64;
    let operations: [(&str, OfExec); 12] = [
        ("s_and_saveexec", |s, exec| s & exec),
        ("s_or_saveexec", |s, exec| s | exec),
        ("s_xor_saveexec", |s, exec| s ^ exec),
        ("s_andn2_saveexec", |s, exec| s & !exec),
        ("s_orn2_saveexec", |s, exec| s | !exec),
        ("s_nand_saveexec", |s, exec| !(s & exec)),
        ("s_nor_saveexec", |s, exec| !(s | exec)),
        ("s_xnor_saveexec", |s, exec| !(s ^ exec)),
        ("s_andn1_saveexec", |s, exec| !s & exec),
        ("s_orn1_saveexec", |s, exec| !s | exec),
        ("s_andn1_wrexec", |s, exec| !s & exec),
        ("s_andn2_wrexec", |s, exec| s & !exec),
    ];
    let masks = [0, 1, !0, 0xffff_ffff, 0xffff_ffff_0000_0000, 0x0123_4567_89ab_cdef];
    for (name, f) in operations {
        let processors: &[&str] = match name.contains("n1_") || name.contains("wrexec") {
            true => &["gfx906", "gfx1010"],
            false => &super::PROCESSORS,
        };
        for (source, exec) in masks.into_iter().flat_map(|a| masks.map(|b| (a, b))) {
            let prepare = |wave: &mut Wave| {
                wave.set_pair(4, source);
                wave.set_pair(reg::EXEC, exec);
                wave.set_pair(0, 0x1111_1111_2222_2222);
            };
            for processor in processors {
                let wave = run(processor, &format!("{name}_b64 s[0:1], s[4:5]"), prepare);
                let new = f(source, exec);
                let saved = if name.ends_with("wrexec") { new } else { exec };
                assert_eq!(
                    (wave.pair(0), wave.pair(reg::EXEC), wave.scc),
                    (saved, new, new != 0),
                    "{name}_b64"
                );
            }
            for lanes in [32, 64] {
                let wave = run_lanes("gfx1030", lanes, &format!("{name}_b32 s0, s4"), prepare);
                let new = f(source, exec) & 0xffff_ffff;
                let saved = if name.ends_with("wrexec") { new } else { exec & 0xffff_ffff };
                let got = (wave.pair(0), wave.pair(reg::EXEC), wave.scc);
                let expected = (0x1111_1111_0000_0000 | saved, exec & !0xffff_ffff | new, new != 0);
                assert_eq!(got, expected, "{name}_b32: {got:x?}");
                assert_eq!(
                    wave.exec(),
                    if lanes == 32 { new } else { expected.1 },
                    "{name}_b32, {lanes} lanes"
                );
            }
        }
    }
}

/// Returns whether the branch over `s_mov_b32 s0, 1` is taken.
fn taken(lanes: u32, condition: &str, prepare: impl Fn(&mut Wave)) -> bool {
    let text = format!("{condition} over\ns_mov_b32 s0, 1\nover: s_mov_b32 s1, 1");
    let processor = if lanes == 32 { "gfx1010" } else { "gfx906" };
    let wave = run_lanes(processor, lanes, &text, prepare);
    assert_eq!(wave.sgpr[1], 1, "{condition}: the target is reached");
    wave.sgpr[0] == 0
}

#[test]
fn branches() {
    assert!(taken(64, "s_branch", |_| {}));
    for scc in [false, true] {
        assert_eq!(taken(64, "s_cbranch_scc0", |wave| wave.scc = scc), !scc);
        assert_eq!(taken(64, "s_cbranch_scc1", |wave| wave.scc = scc), scc);
    }
    for mask in [0, 1, 1 << 31, 1 << 32, !0] {
        for lanes in [32, 64] {
            let none = if lanes == 32 { mask as u32 == 0 } else { mask == 0 };
            let vcc = |wave: &mut Wave| wave.set_pair(reg::VCC, mask);
            let exec = |wave: &mut Wave| wave.set_pair(reg::EXEC, mask);
            assert_eq!(taken(lanes, "s_cbranch_vccz", vcc), none, "{mask:#x}, {lanes} lanes");
            assert_eq!(taken(lanes, "s_cbranch_vccnz", vcc), !none, "{mask:#x}, {lanes} lanes");
            assert_eq!(taken(lanes, "s_cbranch_execz", exec), none, "{mask:#x}, {lanes} lanes");
            assert_eq!(taken(lanes, "s_cbranch_execnz", exec), !none, "{mask:#x}, {lanes} lanes");
        }
    }
    for condition in ["sys", "user", "sys_or_user", "sys_and_user"] {
        assert!(!taken(64, &format!("s_cbranch_cdbg{condition}"), |_| {}), "nobody debugs");
    }
    let wave = run(
        "gfx700",
        "s_mov_b32 s0, 3\nback: s_sub_u32 s0, s0, 1\ns_cmp_lg_u32 s0, 0\ns_cbranch_scc1 back",
        |_| {},
    );
    assert_eq!(wave.sgpr[0], 0, "backwards");
}

#[test]
fn calls() {
    for processor in super::PROCESSORS {
        let wave = run(processor, "s_nop 0\ns_getpc_b64 s[0:1]", |_| {});
        assert_eq!(wave.pair(0), BASE + 8, "{processor}: the address of the next instruction");
        // s[4:5] is the address of `callee`. The code calls `callee`, which returns to the instruction after
        // the call. The branch then skips `callee`.
        let text = "s_swappc_b64 s[30:31], s[4:5]\ns_mov_b32 s1, 7\ns_branch end\n\
                    callee: s_mov_b32 s0, 5\ns_setpc_b64 s[30:31]\nend:";
        let wave = run(processor, text, |wave| wave.set_pair(4, BASE + 12));
        assert_eq!((wave.sgpr[0], wave.sgpr[1], wave.pair(30)), (5, 7, BASE + 4), "{processor}");
        // The call's target and its return address are in the same register pair.
        let text = "s_swappc_b64 s[4:5], s[4:5]\ns_branch end\ncallee: s_setpc_b64 s[4:5]\nend:";
        let wave = run(processor, text, |wave| wave.set_pair(4, BASE + 8));
        assert_eq!(wave.pair(4), BASE + 4, "{processor}");
    }
    for processor in ["gfx906", "gfx1030"] {
        let text = "s_call_b64 s[30:31], callee\ns_mov_b32 s1, 7\ns_branch end\n\
                    callee: s_mov_b32 s0, 5\ns_setpc_b64 s[30:31]\nend:";
        let wave = run(processor, text, |_| {});
        assert_eq!((wave.sgpr[0], wave.sgpr[1], wave.pair(30)), (5, 7, BASE + 4), "{processor}");
    }
    for address in [0, BASE + 2, BASE + 4, BASE - 4] {
        let trap = refusal("gfx906", 64, "s_setpc_b64 s[4:5]", |wave| wave.set_pair(4, address));
        assert!(matches!(trap, Trap::Fetch(at) if at == address), "{address:#x}: {trap:?}");
    }
}

/// Checks that a fork runs both paths, and that the path with fewer lanes runs first. s0 to s3 are the fork
/// stack, and s20 records the order of the paths.
#[test]
fn forks() {
    let text = "s_mov_b64 s[12:13], exec\ns_cbranch_i_fork s[8:9], pass\n\
                v_mov_b32 v0, 1\ns_lshl_b32 s20, s20, 4\ns_or_b32 s20, s20, 1\ns_branch joined\n\
                pass: v_mov_b32 v0, 2\ns_lshl_b32 s20, s20, 4\ns_or_b32 s20, s20, 2\n\
                joined: s_cbranch_join s10\ns_mov_b64 exec, s[12:13]";
    let cases = [
        // Condition, EXEC, order of the paths.
        (0x1f, !0, 0x21),
        (!0x1f, !0, 0x12),
        (0xffff_ffff, !0, 0x21),
        (!0, 0xff00, 2),
        (0xff, 0xff00, 1),
        (0x0ff0, 0xff00, 0x21),
    ];
    for processor in ["gfx600", "gfx700", "gfx803", "gfx906"] {
        for (condition, exec, order) in cases {
            let wave = run(processor, text, |wave| {
                wave.set_pair(8, condition);
                wave.set_exec(exec);
            });
            for lane in 0..64 {
                let expected = match (exec >> lane & 1, condition >> lane & 1) {
                    (0, _) => 0,
                    (_, 0) => 1,
                    _ => 2,
                };
                assert_eq!(wave.vgpr[0][lane], expected, "{processor}: {condition:#x}, lane {lane}");
            }
            assert_eq!((wave.sgpr[20], wave.exec()), (order, exec), "{processor}: {condition:#x}");
            assert_eq!(wave.mode() >> 29, 0, "the stack is empty");
            if order > 2 {
                let later = if order == 0x21 { exec & !condition } else { exec & condition };
                let address = BASE + if order == 0x21 { 8 } else { 24 };
                assert_eq!((wave.pair(0), wave.pair(2)), (later, address), "{processor}: {condition:#x}");
            }
        }
        // s_cbranch_g_fork takes the address from a register.
        let text = "s_cbranch_g_fork s[8:9], s[14:15]\nv_mov_b32 v0, 1\ns_branch joined\n\
                    v_mov_b32 v0, 2\njoined: s_cbranch_join s10";
        let wave = run(processor, text, |wave| {
            wave.set_pair(8, 0xff);
            wave.set_pair(14, BASE + 12);
        });
        assert_eq!((wave.vgpr[0][7], wave.vgpr[0][8], wave.exec()), (2, 1, !0xff), "{processor}");
    }
    let full = |wave: &mut Wave| {
        wave.set_mode(7 << 29);
        wave.set_pair(8, 1);
    };
    let trap = refusal("gfx906", 64, "s_cbranch_i_fork s[8:9], 0", full);
    assert!(matches!(trap, Trap::Refused(_)), "{trap:?}");
    let trap = refusal("gfx906", 64, "s_cbranch_join s10", |wave| wave.sgpr[10] = 1);
    assert!(matches!(trap, Trap::Refused(_)), "{trap:?}");
}

#[test]
fn subvector_loops() {
    let text = "s_subvector_loop_begin s4, end\n\
                loop: s_add_u32 s6, s6, 1\nv_add3_u32 v0, v0, 1, 0\ns_subvector_loop_end s4, loop\nend:";
    for (exec, passes) in [(!0, 2), (0xff, 1), (0xff << 40, 1), (0, 0), (0x8000_0001_0000_0001, 2)] {
        let wave = run("gfx1010", text, |wave| wave.set_exec(exec));
        assert_eq!((wave.exec(), wave.sgpr[6]), (exec, passes), "{exec:#x}");
        let lanes = (0..64).all(|lane| u64::from(wave.vgpr[0][lane]) == exec >> lane & 1);
        assert!(lanes, "{exec:#x}: each active lane once");
    }
    let trap = refusal("gfx1010", 32, text, |_| {});
    assert!(matches!(trap, Trap::Refused(_)), "{trap:?}");
}

#[test]
fn traps() {
    for processor in super::PROCESSORS {
        let trap = refusal(processor, 64, "s_trap 2", |_| {});
        assert!(matches!(trap, Trap::Raised(2)), "{trap:?}");
        let wave = run(processor, "s_trap 3\ns_mov_b32 s0, 1\ns_trap 3", |_| {});
        assert_eq!((wave.sgpr[0], wave.debug_traps), (1, 2), "s_trap 3 goes on");
        for id in [0, 1, 4, 7, 8, 254, 255] {
            let trap = refusal(processor, 64, &format!("s_trap {id}"), |_| {});
            assert!(matches!(trap, Trap::Raised(number) if number == id), "{trap:?}");
        }
    }
}

#[test]
fn messages() {
    for processor in super::PROCESSORS {
        run(processor, "s_sendmsg sendmsg(MSG_INTERRUPT)", |_| {});
        for text in ["s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)", "s_sethalt 1"] {
            let trap = refusal(processor, 64, text, |_| {});
            assert!(matches!(trap, Trap::Refused(_)), "{text}: {trap:?}");
        }
    }
    let trap = refusal("gfx906", 64, "s_sendmsg sendmsg(MSG_GET_DOORBELL)", |_| {});
    assert!(
        matches!(trap, Trap::Refused("only the trap handler asks for the doorbell's number")),
        "{trap:?}"
    );
}

#[test]
fn ends() {
    let flow = |processor: &str, text: &str| {
        let program = Program::new(processor, 64, text);
        program.run(&mut program.wave())
    };
    for processor in super::PROCESSORS {
        let end = |text| assert!(matches!(flow(processor, text), Ok(Flow::End)), "{processor}: {text}");
        end("s_endpgm");
        end("s_setkill 1");
        assert!(matches!(flow(processor, "s_setkill 0"), Ok(Flow::Next)));
        assert!(matches!(flow(processor, "s_barrier"), Ok(Flow::Barrier)));
        assert!(matches!(flow(processor, "s_sleep 1"), Ok(Flow::Sleep)));
        assert!(matches!(
            flow(
                processor,
                "s_nop 7\ns_waitcnt 0\ns_sethalt 0\ns_icache_inv\ns_incperflevel 1\ns_decperflevel 1\ns_ttracedata"
            ),
            Ok(Flow::Next)
        ));
        assert!(matches!(flow(processor, "s_rfe_b64 s[4:5]"), Err(Trap::Unsupported)));
        assert!(matches!(flow(processor, "s_sendmsghalt sendmsg(MSG_INTERRUPT)"), Err(Trap::Unsupported)));
    }
    assert!(matches!(flow("gfx803", "s_endpgm_saved"), Ok(Flow::End)));
    assert!(matches!(flow("gfx906", "s_endpgm_ordered_ps_done"), Ok(Flow::End)));
    assert!(matches!(flow("gfx906", "s_rfe_restore_b64 s[4:5], s6"), Err(Trap::Unsupported)));
    assert!(matches!(flow("gfx1010", "s_code_end"), Err(Trap::Unsupported)));
    let text = "s_version 1\ns_waitcnt_vscnt null, 0\ns_waitcnt_vmcnt null, 0\ns_waitcnt_expcnt null, 0\n\
                s_waitcnt_lgkmcnt null, 0\ns_inst_prefetch 3\ns_clause 1\ns_wait_idle\ns_waitcnt_depctr 0\n\
                s_ttracedata_imm 1\ns_wakeup";
    assert!(matches!(flow("gfx1010", text), Ok(Flow::Next)));
}
