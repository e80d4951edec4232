//! Properties of an instruction that are the same for all waves that reach it.

use crate::program::{Line, Program};
use sim::Stopped;

/// What an instruction does to the call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Call,
    Jump,
    End,
    Other,
}

impl Kind {
    pub(crate) fn from_stop(at: &Stopped<'_>) -> Kind {
        Kind::new(&at.text())
    }

    fn new(text: &str) -> Kind {
        match text.split_whitespace().next() {
            Some("s_swappc_b64" | "s_call_b64") => Kind::Call,
            Some("s_setpc_b64") => Kind::Jump,
            Some(text) if text.starts_with("s_endpgm") => Kind::End,
            _ => Kind::Other,
        }
    }
}

/// Facts about an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub kind: Kind,
    /// Source line of the instruction.
    pub line: Option<Line>,
    /// Number of inlined functions that contain the instruction.
    pub inlined: usize,
    /// Whether the line table says that a statement of the instruction's source line begins at the
    /// instruction.
    pub begins: bool,
    /// Whether the code of the source line from this instruction on does no work for any lane, because it
    /// only computes and sets which lanes are active.
    pub chooses: bool,
    /// Whether the instruction is in the prologue of its function.
    pub is_prologue: bool,
    /// Start and end address of the run that contains the instruction. A run is contiguous code of one source
    /// line.
    pub run: (u64, u64),
    /// Whether the instruction does work for the active lanes. Instructions that only set which lanes are
    /// active or change the program counter do no such work.
    pub works: bool,
    /// Whether the instruction begins whole wave mode: it makes all lanes active, only for saving or loading
    /// their registers. It saves EXEC, which is restored later.
    pub is_whole: bool,
}

impl Instruction {
    pub(crate) fn new(at: &Stopped<'_>, program: &Program) -> Instruction {
        let (text, address) = (at.text(), at.address());
        let kind = Kind::new(&text);
        let run = program.run_at(address);
        Instruction {
            kind,
            line: program.line_at(address),
            inlined: program.inlined_at(address),
            begins: program.begins_at(address),
            chooses: chooses(at, run),
            is_prologue: program.is_prologue(address),
            run,
            works: kind != Kind::Other || works(&text),
            is_whole: is_whole(&text),
        }
    }
}

/// Largest number of instructions that [`chooses`] looks at.
const MOST: usize = 32;

/// Returns whether the code from the wave's address on only sets which lanes are active: it writes EXEC, and
/// moves masks between registers. The code is examined up to the first branch, or to the end of `run`, the
/// contiguous code of one source line.
fn chooses(at: &Stopped<'_>, run: (u64, u64)) -> bool {
    let mut address = at.address();
    let (mut writes, mut is_of_all) = (false, false);
    for _ in 0..MOST {
        let Some((text, length)) = at.text_at(address).filter(|_| address < run.1) else { break };
        let writes_exec = text.contains("saveexec") || text.split([' ', ',']).nth(1).is_some_and(is_exec);
        let keeps = writes_exec
            || is_of_all
            || text.contains("exec")
            || ["v_readlane", "v_writelane", "s_waitcnt", "s_nop"].iter().any(|name| text.starts_with(name));
        let branches = text.starts_with("s_branch") || text.starts_with("s_cbranch");
        if !keeps && !branches {
            return false;
        }
        writes |= writes_exec && !is_whole(&text) && !is_of_all;
        is_of_all = is_whole(&text) || is_of_all && !writes_exec;
        if branches {
            break;
        }
        address += length;
    }
    writes
}

fn is_exec(operand: &str) -> bool {
    matches!(operand, "exec" | "exec_lo" | "exec_hi")
}

/// Returns whether an instruction does work for the active lanes. Moves between a scalar register and a lane
/// of a vector register do not count as work, because the compiler spills scalar registers with them.
fn works(text: &str) -> bool {
    let name = text.split_whitespace().next().unwrap_or("");
    let is_spill = name.starts_with("v_readlane") || name.starts_with("v_writelane");
    let is_scalar =
        name.starts_with("s_") && !name.starts_with("s_barrier") && !name.starts_with("s_sendmsg");
    !is_spill && !is_scalar
}

/// Returns whether an instruction makes all lanes active, such as `s_or_saveexec_b64 s[4:5], -1`.
fn is_whole(text: &str) -> bool {
    text.contains("_saveexec_b") && text.ends_with(", -1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_instructions_are() {
        for (text, is_work, is_of_all) in [
            ("v_add_u32_e32 v0, v1, v2", true, false),
            ("global_store_dword v[0:1], v2, off", true, false),
            ("v_writelane_b32 v40, s30, 0", false, false),
            ("s_or_b64 exec, exec, s[4:5]", false, false),
            ("s_or_saveexec_b64 s[4:5], -1", false, true),
            ("s_xor_saveexec_b32 s4, -1", false, true),
            ("s_and_saveexec_b64 s[4:5], vcc", false, false),
            ("s_barrier", true, false),
            ("s_cbranch_execz 12", false, false),
        ] {
            assert_eq!((works(text), is_whole(text)), (is_work, is_of_all), "{text}");
        }
    }
}
