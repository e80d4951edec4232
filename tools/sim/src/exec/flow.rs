//! Instructions of program flow, which have the encoding SOPP.

use super::{Cx, Flow, Handler, hwreg, relative};
use crate::fault::Trap;
use crate::op::Op;
use crate::trap::DEBUG_TRAP;

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
    branches(name)
        .or_else(|| hints(name))
        .or_else(|| states(name))
        .or_else(|| hwreg::handler(name))
        .or_else(|| relative::handler(name))
}

fn branches(name: &str) -> Option<Handler> {
    Some(match name {
        "s_branch" => branch!(|_wave| true),
        "s_cbranch_scc0" => branch!(|wave| !wave.scc),
        "s_cbranch_scc1" => branch!(|wave| wave.scc),
        "s_cbranch_vccz" => branch!(|wave| wave.vcc() == 0),
        "s_cbranch_vccnz" => branch!(|wave| wave.vcc() != 0),
        "s_cbranch_execz" => branch!(|wave| wave.exec() == 0),
        "s_cbranch_execnz" => branch!(|wave| wave.exec() != 0),
        // These branches test conditions that only a hardware debugger sets. The emulator has no hardware
        // debugger, so the branches are never taken.
        "s_cbranch_cdbgsys"
        | "s_cbranch_cdbguser"
        | "s_cbranch_cdbgsys_or_user"
        | "s_cbranch_cdbgsys_and_user" => nothing,
        _ => return None,
    })
}

/// Returns the reason why the emulator never executes a scalar instruction. Returns `None` for an instruction
/// that it can execute.
pub(super) fn refusal(name: &str) -> Option<&'static str> {
    Some(match name {
        "s_sendmsghalt" => "nobody would make the wave go on",
        "s_code_end" => "it marks the end of the code and is never executed",
        "s_rfe_b64" | "s_rfe_restore_b64" => "only the trap handler may execute it",
        _ => return None,
    })
}

/// Returns a handler that does nothing, for instructions such as hints and waits. They need no effect in the
/// emulator, because every instruction completes at once and time is not measured.
fn hints(name: &str) -> Option<Handler> {
    Some(match name {
        "s_nop" | "s_waitcnt" | "s_waitcnt_depctr" | "s_wait_idle" => nothing,
        "s_icache_inv" | "s_inst_prefetch" | "s_clause" | "s_wakeup" => nothing,
        "s_incperflevel" | "s_decperflevel" | "s_ttracedata" | "s_ttracedata_imm" => nothing,
        _ => return None,
    })
}

fn states(name: &str) -> Option<Handler> {
    Some(match name {
        // `s_endpgm_saved` is for trap handlers, and `s_endpgm_ordered_ps_done` is for pixel shaders. In the
        // emulator, both just end the wave.
        "s_endpgm" | "s_endpgm_saved" | "s_endpgm_ordered_ps_done" => |_, _| Flow::End,
        "s_barrier" => |_, _| Flow::Barrier,
        "s_sleep" => |_, _| Flow::Sleep,
        "s_setprio" => |cx, op| {
            cx.wave.priority = op.imm(0) as u8 & 3;
            Flow::Next
        },
        "s_setkill" => |_, op| if op.imm(0) & 1 != 0 { Flow::End } else { Flow::Next },
        "s_sethalt" => |cx, op| match op.imm(0) & 1 {
            0 => Flow::Next,
            _ => cx.fail(Trap::Refused("nobody would make the wave go on")),
        },
        "s_trap" => trap,
        "s_sendmsg" => send,
        _ => return None,
    })
}

/// Runs `s_trap` with the effect that the runtime's trap handler has on a device (LLVM's AMDGPU guide, seed
/// 000, line 4041).
fn trap(cx: &mut Cx<'_>, op: &Op) -> Flow {
    match op.imm(0) as u32 & 0xff {
        // On a device without a debugger, the trap handler lets the wave continue after the trap.
        DEBUG_TRAP => {
            let wave = &mut cx.wave;
            if wave.debug_traps == 0 {
                wave.debug_trap = (wave.range, wave.last);
            }
            wave.debug_traps += 1;
            Flow::Next
        }
        id => cx.fail(Trap::Raised(id)),
    }
}

/// Numbers of messages that the emulator refuses to send, each with the reason. The only other message is the
/// interrupt (1).
const REFUSED_MESSAGES: [(u32, &str); 11] = [
    (2, "geometry shaders are not emulated"),
    (3, "geometry shaders are not emulated"),
    (4, "only the trap handler saves waves"),
    (5, "other waves cannot be held up"),
    (6, "other waves cannot be halted"),
    (7, "pixel shaders are not emulated"),
    (8, "geometry shaders are not emulated"),
    (9, "geometry shaders are not emulated"),
    (10, "only the trap handler asks for the doorbell's number"),
    (11, "there is no draw identifier"),
    (15, "only the trap handler sends system messages"),
];

/// Runs `s_sendmsg`. No message changes the state of the wave. The interrupt message asks the host to look at
/// a signal; it has no effect here, because the emulator's host looks at signals anyway.
fn send(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let message = op.imm(0) as u32 & 15;
    if message == 1 {
        return Flow::Next;
    }
    let why = REFUSED_MESSAGES.iter().find(|(number, _)| *number == message);
    cx.fail(Trap::Refused(why.map_or("there is no such message", |(_, why)| why)))
}

#[cfg(test)]
mod tests {
    use super::REFUSED_MESSAGES;

    #[test]
    fn every_message_is_known() {
        for target in isa::PROCESSORS.iter() {
            for message in isa::names::messages(target) {
                assert!(
                    message.id == 1 || REFUSED_MESSAGES.iter().any(|(number, _)| *number == message.id),
                    "{}",
                    message.name
                );
            }
        }
    }
}
