//! Scalar instructions that read and write EXEC: `s_*_saveexec` and `s_*_wrexec`, for 64 and for 32 bits.
//!
//! The suffix of an instruction's name (`_b64` or `_b32`) gives its width, which may differ from the number
//! of lanes of the wave. In a wave of 32 lanes, EXEC_HI is an ordinary register, and `s_and_saveexec_b64`
//! changes it as well. In a wave of 64 lanes, `s_and_saveexec_b32` leaves EXEC_HI unchanged.

use super::{Cx, Flow, Handler};
use crate::op::Op;
use crate::wave::reg;

/// Makes a handler that saves EXEC and then sets EXEC to a function of the source and EXEC (`dst = exec; exec
/// = f(source, exec)`). SCC becomes 1 if any lane is still active.
macro_rules! saveexec {
    (|$s:ident, $exec:ident| $body:expr) => {
        (
            |cx, op| {
                let ($s, $exec) = (cx.wave.scalar64(op.src[0]), cx.wave.pair(reg::EXEC));
                store64(cx, op, $exec, $body)
            },
            |cx, op| {
                let ($s, $exec) = (cx.wave.scalar(op.src[0]), cx.wave.sgpr[reg::EXEC]);
                store32(cx, op, $exec, $body)
            },
        )
    };
}

/// Makes a handler that sets the destination and EXEC to the same value (`dst = exec = f(source, exec)`).
macro_rules! writeexec {
    (|$s:ident, $exec:ident| $body:expr) => {
        (
            |cx, op| {
                let ($s, $exec) = (cx.wave.scalar64(op.src[0]), cx.wave.pair(reg::EXEC));
                let value = $body;
                store64(cx, op, value, value)
            },
            |cx, op| {
                let ($s, $exec) = (cx.wave.scalar(op.src[0]), cx.wave.sgpr[reg::EXEC]);
                let value = $body;
                store32(cx, op, value, value)
            },
        )
    };
}

pub(super) fn handler(name: &str) -> Option<Handler> {
    let (operation, width) = name.rsplit_once('_')?;
    let (wide, narrow): (Handler, Handler) = match operation {
        "s_and_saveexec" => saveexec!(|s, exec| s & exec),
        "s_or_saveexec" => saveexec!(|s, exec| s | exec),
        "s_xor_saveexec" => saveexec!(|s, exec| s ^ exec),
        "s_andn2_saveexec" => saveexec!(|s, exec| s & !exec),
        "s_orn2_saveexec" => saveexec!(|s, exec| s | !exec),
        "s_nand_saveexec" => saveexec!(|s, exec| !(s & exec)),
        "s_nor_saveexec" => saveexec!(|s, exec| !(s | exec)),
        "s_xnor_saveexec" => saveexec!(|s, exec| !(s ^ exec)),
        "s_andn1_saveexec" => saveexec!(|s, exec| !s & exec),
        "s_orn1_saveexec" => saveexec!(|s, exec| !s | exec),
        "s_andn1_wrexec" => writeexec!(|s, exec| !s & exec),
        "s_andn2_wrexec" => writeexec!(|s, exec| s & !exec),
        _ => return None,
    };
    match width {
        "b64" => Some(wide),
        "b32" => Some(narrow),
        _ => None,
    }
}

/// Writes the destination first and EXEC second, so that EXEC gets the right value even if it is also the
/// destination of the instruction.
fn store64(cx: &mut Cx<'_>, op: &Op, result: u64, exec: u64) -> Flow {
    cx.wave.set_pair(usize::from(op.dst), result);
    cx.wave.set_pair(reg::EXEC, exec);
    cx.wave.scc = exec != 0;
    Flow::Next
}

fn store32(cx: &mut Cx<'_>, op: &Op, result: u32, exec: u32) -> Flow {
    cx.wave.set_scalar(op.dst, result);
    cx.wave.sgpr[reg::EXEC] = exec;
    cx.wave.scc = exec != 0;
    Flow::Next
}
