//! Program flow: SOPP.

use super::{Cx, Flow, Handler};
use crate::fault::Trap;
use crate::op::Op;
use crate::wave::{mode, reg};

macro_rules! branch {
    (|$wave:ident| $condition:expr) => {{
        fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
            let $wave = &mut *cx.wave;
            if $condition {
                $wave.pc = $wave.pc.wrapping_add(op.imm(0) as u32);
            }
            Flow::Next
        }
        run as Handler
    }};
}

fn nothing(_: &mut Cx<'_>, _: &Op) -> Flow {
    Flow::Next
}

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        // Waits, priorities and messages mean nothing where every instruction completes at once.
        "s_nop" | "s_waitcnt" | "s_setprio" | "s_sendmsg" | "s_icache_inv" | "s_incperflevel"
        | "s_decperflevel" | "s_ttracedata" | "s_wakeup" | "s_sethalt" => nothing,
        // No debugger is attached.
        "s_cbranch_cdbgsys"
        | "s_cbranch_cdbguser"
        | "s_cbranch_cdbgsys_or_user"
        | "s_cbranch_cdbgsys_and_user" => nothing,
        "s_endpgm" | "s_endpgm_saved" | "s_sendmsghalt" => |_, _| Flow::End,
        "s_branch" => branch!(|_wave| true),
        "s_cbranch_scc0" => branch!(|wave| !wave.scc),
        "s_cbranch_scc1" => branch!(|wave| wave.scc),
        "s_cbranch_vccz" => branch!(|wave| wave.vcc() == 0),
        "s_cbranch_vccnz" => branch!(|wave| wave.vcc() != 0),
        "s_cbranch_execz" => branch!(|wave| wave.exec() == 0),
        "s_cbranch_execnz" => branch!(|wave| wave.exec() != 0),
        "s_barrier" => |_, _| Flow::Barrier,
        "s_sleep" => |_, _| Flow::Sleep,
        "s_trap" => |cx, op| cx.fail(Trap::Raised(op.imm(0) as u32)),
        "s_set_gpr_idx_off" => |cx, _| {
            let off = cx.wave.mode() & !mode::GPR_IDX_EN;
            cx.wave.set_mode(off);
            Flow::Next
        },
        "s_set_gpr_idx_mode" => |cx, op| {
            let enable = op.imm(0) as u32 & 15;
            cx.wave.sgpr[reg::M0] = cx.wave.sgpr[reg::M0] & !0xf000 | enable << 12;
            Flow::Next
        },
        _ => return None,
    })
}
