//! Answers the questions of the crate `isa` about a function, such as the class of a virtual register. With
//! these answers, `isa` prints the function's instructions and checks their operands.

use crate::{Distance, MachFunc, Referent};
use isa::{FuncView, MBlock, RegClass, Tuple, VReg};
use std::fmt::{self, Write};

impl FuncView for MachFunc {
    fn regs(&self, tuple: Tuple) -> &[VReg] {
        self.regs(tuple)
    }

    fn class(&self, reg: VReg) -> RegClass {
        self.vregs[reg]
    }

    fn write_label(&self, block: MBlock, out: &mut dyn Write) -> fmt::Result {
        write!(out, ".L{}_{block}", self.name)
    }

    fn write_reference(&self, index: u32, out: &mut dyn Write) -> fmt::Result {
        let Some(reloc) = self.relocs.get(index as usize) else {
            return write!(out, "reloc{index}");
        };
        match reloc.to {
            Referent::Global(index) => write!(out, "global{index}")?,
            Referent::Func(index) => write!(out, "func{index}")?,
            Referent::Scratch(dword) => write!(out, "scratch{dword}")?,
        }
        out.write_str(match reloc.part {
            Distance::Low => "@rel32@lo",
            Distance::High => "@rel32@hi",
            Distance::Words => "",
            Distance::Address | Distance::AddressLow => "@abs32@lo",
            Distance::AddressHigh => "@abs32@hi",
        })?;
        match reloc.addend {
            0 => Ok(()),
            addend => write!(out, "{addend:+}"),
        }
    }
}
