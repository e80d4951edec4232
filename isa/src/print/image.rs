//! Prints image instructions.

use super::Printer;
use crate::inst::{Lane, ModFlags};
use crate::layout::{Encoding, Layout};
use crate::operand::Operand;
use crate::table::DIMS;
use std::fmt::{self, Write};

impl Printer<'_> {
    /// Prints everything after the mnemonic of an image instruction.
    pub(super) fn image(&mut self) -> fmt::Result {
        let ops = self.inst.op.row().ops;
        for (index, (spec, &operand)) in ops.iter().zip(self.inst.operands()).enumerate() {
            self.out.push_str(if index == 0 { " " } else { ", " });
            self.operand(Encoding::Mubuf, spec, operand)?;
        }
        if let Lane::Image { dmask, dim } = self.inst.mods.lane {
            if dmask != 0 {
                write!(self.out, " dmask:{dmask:#x}")?;
            }
            if Layout::for_target(self.target).graphics.image_dims {
                write!(self.out, " dim:SQ_RSRC_IMG_{}", DIMS[usize::from(dim & 7)].name)?;
            }
        }
        self.named_flags(&[
            (ModFlags::UNORM, " unorm"),
            (ModFlags::GLC, " glc"),
            (ModFlags::SLC, " slc"),
            (ModFlags::DLC, " dlc"),
            (ModFlags::SCC, " scc"),
            (ModFlags::R128, " r128"),
            (ModFlags::A16, " a16"),
            (ModFlags::TFE, " tfe"),
            (ModFlags::LWE, " lwe"),
            (ModFlags::DA, " da"),
            (ModFlags::D16, " d16"),
        ]);
        Ok(())
    }

    /// Prints the non-consecutive registers of all operands as one list, such as `[v5, v7, v3]`.
    pub(super) fn scattered(&mut self) -> fmt::Result {
        let mut first = true;
        for operand in self.inst.operands() {
            let Operand::Scattered(scattered) = operand else { continue };
            for number in scattered.numbers() {
                write!(self.out, "{}v{number}", if first { "[" } else { ", " })?;
                first = false;
            }
        }
        self.out.push(']');
        Ok(())
    }
}
