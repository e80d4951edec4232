//! The handlers of instructions, with one file for each instruction family. A handler runs one instruction
//! for one wave.

pub(crate) mod access;
mod approx;
pub(crate) mod atomic;
mod carry;
mod cmp;
mod convert;
mod dot;
pub(crate) mod dpp;
mod ds;
mod ds_atomic;
pub(crate) mod ds_lanes;
mod flow;
mod format;
mod hwreg;
mod jump;
mod lane;
pub(crate) mod lds_direct;
mod masks;
mod mfma;
mod mix;
mod mubuf;
mod packed;
mod place;
pub(crate) mod poll;
mod real;
mod relative;
pub(crate) mod resource;
pub(crate) mod rules;
mod sad;
mod salu;
mod sdwa;
mod smem;
mod typed;
mod valu;
mod valu_int;
mod vmem;

#[cfg(test)]
mod complete;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod memory_tests;
#[cfg(test)]
mod scalar_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vector_tests;

use crate::fault::Trap;
use crate::memory::Memory;
use crate::op::{Code, Op};
use crate::watch::Watch;
use crate::wave::{Lanes, Wave};
use isa::table::{Family, Flags, Row};
use isa::{MachInst, ModFlags, Target};

/// What happens after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The wave continues.
    Next,
    /// The wave waits for the other waves of the group.
    Barrier,
    /// The wave has ended.
    End,
    /// Other waves run first.
    Sleep,
    /// The wave continues, but other waves run first, because the wave seems to wait for one of them.
    Poll,
    /// The instruction failed; `Cx::trap` holds the reason.
    Trap,
}

/// Executes an instruction.
pub(crate) type Handler = for<'a, 'b, 'c> fn(&'b mut Cx<'a>, &'c Op) -> Flow;

/// Temporaries of vector instructions. They are reused, so that they need not be cleared for each
/// instruction.
pub(crate) struct Scratch {
    pub(crate) sources: [[Lanes; 2]; 4],
    pub(crate) result: [Lanes; 2],
}

impl Scratch {
    pub(crate) fn new() -> Box<Scratch> {
        Box::new(Scratch { sources: [[[0; 64]; 2]; 4], result: [[0; 64]; 2] })
    }
}

/// A wave, and all state that its instructions can access.
pub(crate) struct Cx<'a> {
    pub(crate) wave: &'a mut Wave,
    /// LDS in dwords, and its size in bytes.
    pub(crate) lds: &'a mut [u32],
    pub(crate) lds_bytes: u32,
    pub(crate) memory: &'a Memory,
    pub(crate) code: &'a [Code],
    pub(crate) scratch: &'a mut Scratch,
    /// The processor, with the size of this wave.
    pub(crate) target: &'static Target,
    pub(crate) trap: Option<Trap>,
    /// Value of the counter that `s_memtime` reads.
    pub(crate) clock: u64,
    /// Whether the code uses 64-bit atomics, so that 64-bit accesses must be atomic.
    pub(crate) locked64: bool,
    /// Watcher that is called at each access to memory; `None` in fast mode.
    pub(crate) watch: Option<&'a mut dyn Watch>,
}

impl Cx<'_> {
    #[cold]
    pub(crate) fn fail(&mut self, trap: Trap) -> Flow {
        self.trap = Some(trap);
        Flow::Trap
    }
}

/// Handler of unsupported instructions.
pub(crate) fn unsupported(cx: &mut Cx<'_>, _: &Op) -> Flow {
    cx.fail(Trap::Unsupported)
}

/// Returns why an instruction is refused; `None` if it is supported.
pub(crate) fn refusal(row: &Row, flags: ModFlags) -> Option<&'static str> {
    match row.family {
        Family::Mimg | Family::Exp | Family::Vintrp => Some("graphics only"),
        Family::Ds if flags.contains(ModFlags::GDS) => Some("global data share"),
        Family::Mubuf if flags.contains(ModFlags::TFE) && !row.flags.contains(Flags::LOAD) => {
            Some("a store with tfe")
        }
        Family::Vop1 if row.name == "v_illegal" => Some("it is illegal on purpose"),
        _ => flow::refusal(row.name),
    }
}

/// Returns the handler of an instruction.
///
/// If an instruction differs between processors, the choice is made here once, and not each time the
/// instruction runs.
pub(crate) fn handler(target: &'static Target, row: &Row, inst: &MachInst) -> Option<Handler> {
    let (name, flags) = (row.name, inst.mods.flags);
    if refusal(row, flags).is_some() {
        return None;
    }
    match row.family {
        Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc => salu::handler(name),
        Family::Sopp => flow::handler(name),
        Family::Smem => smem::handler(target, name),
        Family::Ds => ds::handler(target, name),
        Family::Mubuf => mubuf::handler(target, name, flags),
        Family::Mtbuf => typed::handler(target, name.strip_prefix("tbuffer_")?),
        Family::Flat | Family::Global | Family::Scratch => vmem::handler(name, flags),
        Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 | Family::Vop3p => vector(target, row),
        _ => None,
    }
}

fn vector(target: &Target, row: &Row) -> Option<Handler> {
    let name = row.name;
    if row.has_mask_out() {
        return carry::handler(name).or_else(|| real::handler(name)).or_else(|| cmp::handler(name));
    }
    None.or_else(|| real::handler(name))
        .or_else(|| valu_int::handler(name))
        .or_else(|| cmp::handler(name))
        .or_else(|| convert::handler(target, name))
        .or_else(|| approx::handler(name))
        .or_else(|| lane::handler(name))
        .or_else(|| packed::handler(name))
        .or_else(|| mix::handler(name))
        .or_else(|| dot::handler(name))
        .or_else(|| sad::handler(name))
        .or_else(|| mfma::handler(name))
}
