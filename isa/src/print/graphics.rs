//! Prints typed buffer instructions, exports and interpolation instructions.

use super::Printer;
use crate::graphics::formats::{DATA_FORMATS, NUMERIC_FORMATS, SNORM_OGL, UNIFIED_FORMATS};
use crate::graphics::mtbuf::DEFAULT_FORMAT;
use crate::graphics::names::write_export_target;
use crate::inst::{Form, Lane, ModFlags};
use crate::layout::{Encoding, Layout};
use crate::operand::Operand;
use crate::table::{Family, Flags, Kind, OpSpec};
use std::fmt::{self, Write};

impl Printer<'_> {
    /// Prints everything after the mnemonic of a graphics instruction.
    pub(super) fn graphics(&mut self) -> fmt::Result {
        match self.inst.op.family() {
            Family::Mtbuf => self.typed_buffer(),
            Family::Mimg => self.image(),
            Family::Exp => self.export(),
            _ => self.interpolation(),
        }
    }

    pub(super) fn named_flags(&mut self, names: &[(ModFlags, &str)]) {
        for &(flag, name) in names {
            if self.inst.mods.flags.contains(flag) {
                self.out.push_str(name);
            }
        }
    }

    fn typed_buffer(&mut self) -> fmt::Result {
        let ops = self.inst.op.row().ops;
        for (index, (spec, &operand)) in ops.iter().zip(self.inst.operands()).enumerate() {
            self.out.push_str(if index == 0 { " " } else { ", " });
            self.operand(Encoding::Mubuf, spec, operand)?;
        }
        if let Lane::Format(format) = self.inst.mods.lane
            && format != DEFAULT_FORMAT
        {
            self.format(format)?;
        }
        self.named_flags(&[
            (ModFlags::IDXEN, " idxen"),
            (ModFlags::OFFEN, " offen"),
            (ModFlags::ADDR64, " addr64"),
        ]);
        if self.inst.mods.offset != 0 {
            write!(self.out, " offset:{}", self.inst.mods.offset)?;
        }
        self.cache_flags()
    }

    /// Prints a format by its name, if it has one. Before GFX10, a format has two parts, and a part that has
    /// its default value is omitted.
    fn format(&mut self, format: u8) -> fmt::Result {
        if Layout::for_target(self.target).graphics.unified_formats {
            return match UNIFIED_FORMATS.get(usize::from(format)) {
                Some(name) => write!(self.out, " format:[BUF_FMT_{name}]"),
                None => write!(self.out, " format:{format}"),
            };
        }
        let (data, numeric) = (format & 15, format >> 4 & 7);
        let numeric_name = match numeric {
            6 if Layout::for_target(self.target).graphics.snorm_ogl => SNORM_OGL,
            _ => NUMERIC_FORMATS[usize::from(numeric)],
        };
        self.out.push_str(" format:[");
        if data != DEFAULT_FORMAT {
            write!(self.out, "BUF_DATA_FORMAT_{}", DATA_FORMATS[usize::from(data)])?;
        }
        if numeric != 0 {
            let comma = if data == DEFAULT_FORMAT { "" } else { "," };
            write!(self.out, "{comma}BUF_NUM_FORMAT_{numeric_name}")?;
        }
        self.out.push(']');
        Ok(())
    }

    fn export(&mut self) -> fmt::Result {
        let ops = self.inst.op.row().ops;
        for (index, (spec, &operand)) in ops.iter().zip(self.inst.operands()).enumerate() {
            self.out.push_str(if index < 2 { " " } else { ", " });
            match (spec.kind, operand) {
                (Kind::ExportTarget, Operand::Imm(number)) => {
                    write_export_target(self.target, number as u8, self.out)?;
                }
                _ => self.operand(Encoding::Mubuf, spec, operand)?,
            }
        }
        self.named_flags(&[(ModFlags::DONE, " done"), (ModFlags::COMPR, " compr"), (ModFlags::VM, " vm")]);
        Ok(())
    }

    fn interpolation(&mut self) -> fmt::Result {
        let row = self.inst.op.row();
        // On GFX6 and GFX7, these instructions have only one form, so no suffix is printed.
        if !row.flags.contains(Flags::NO_E32)
            && Layout::for_target(self.target).graphics.interp_in_vop3.is_some()
        {
            self.out.push_str(if self.inst.form == Form::E32 { "_e32" } else { "_e64" });
        }
        let mut sources = 0;
        for (index, (spec, &operand)) in row.ops.iter().zip(self.inst.operands()).enumerate() {
            self.out.push_str(if index == 0 { " " } else { ", " });
            match (spec.kind, operand) {
                (Kind::Attribute, Operand::Imm(value)) => {
                    let component = ["x", "y", "z", "w"][(value & 3) as usize];
                    write!(self.out, "attr{}.{component}", value >> 2)?;
                }
                (Kind::Parameter, Operand::Imm(value)) => match value {
                    0 => self.out.push_str("p10"),
                    1 => self.out.push_str("p20"),
                    2 => self.out.push_str("p0"),
                    _ => write!(self.out, "invalid_param_{value}")?,
                },
                (Kind::Vgpr, _) if index > 0 => {
                    self.interpolation_source(sources, spec, operand)?;
                    sources += 1;
                }
                _ => self.operand(Encoding::Vop3, spec, operand)?,
            }
        }
        self.named_flags(&[(ModFlags::HIGH, " high"), (ModFlags::CLAMP, " clamp")]);
        self.out.push_str(match self.inst.mods.omod {
            1 => " mul:2",
            2 => " mul:4",
            3 => " div:2",
            _ => "",
        });
        Ok(())
    }

    fn interpolation_source(&mut self, n: u8, spec: &OpSpec, operand: Operand) -> fmt::Result {
        let mods = &self.inst.mods;
        let (neg, abs) = (mods.neg >> n & 1 != 0, mods.abs >> n & 1 != 0);
        self.out.push_str(if neg { "-" } else { "" });
        self.out.push_str(if abs { "|" } else { "" });
        self.operand(Encoding::Vop3, spec, operand)?;
        self.out.push_str(if abs { "|" } else { "" });
        Ok(())
    }
}
