//! Writes machine functions as text.

use super::names::{ABI, FLAGS, HIDDEN, OMODS, ORDERS, SCOPES, SDWA_SELS, SIZES, SPACES, name_of};
use super::operand::Reading;
use crate::{CallSite, Callee, Edges, FuncRole, MachBlock, MachFunc, MemRef, SyncOrder, SyncScope};
use isa::table::{Family, Flags};
use isa::{Form, Lane, MBlock, MachInst, Mods, RegClass, RegRange, Target, VReg, op};
use std::fmt::{self, Write};

/// Names of a module's variables and functions, by their indices. A variable or function without a name is
/// written with its index, as `global7` or `func7`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// Names of variables.
    pub globals: &'a [&'a str],
    /// Names of functions.
    pub funcs: &'a [&'a str],
}

/// What to write in addition to the function itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Names of the module's variables and functions.
    pub names: Names<'a>,
    /// Whether to write `!offset` after instructions that have a source location.
    pub locations: bool,
}

/// Appends the text of a function.
pub fn write_function(func: &MachFunc, target: &Target, options: &Options<'_>, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = Printer { func, target, options, out }.function();
}

pub(super) struct Printer<'a> {
    pub func: &'a MachFunc,
    pub target: &'a Target,
    pub options: &'a Options<'a>,
    pub out: &'a mut String,
}

impl Printer<'_> {
    fn function(&mut self) -> fmt::Result {
        let func = self.func;
        writeln!(self.out, "machine @{} {{", func.name)?;
        self.head()?;
        for &(vreg, reg) in &func.inputs {
            self.out.push_str("    input ");
            self.vreg(vreg)?;
            self.out.push_str(" = ");
            self.regs(RegRange { first: reg, len: 1 })?;
            self.out.push('\n');
        }
        for call in &func.calls {
            self.call(call)?;
        }
        for (id, block) in func.blocks.iter() {
            self.block(id, block)?;
        }
        self.out.push_str("}\n");
        Ok(())
    }

    /// Writes the entry state, and the sizes that are not 0.
    fn head(&mut self) -> fmt::Result {
        // The functions in the table of numeric properties return mutable references, but `self.func` is
        // borrowed immutably. The properties are therefore read from a copy.
        let mut sizes = MachFunc {
            lds_size: self.func.lds_size,
            scratch_size: self.func.scratch_size,
            kernarg_size: self.func.kernarg_size,
            vgprs: self.func.vgprs,
            agprs: self.func.agprs,
            sgprs: self.func.sgprs,
            spilled: self.func.spilled,
            ..MachFunc::default()
        };
        let mut abi = self.func.abi;
        let asked: Vec<&str> =
            ABI.iter().filter(|(_, place)| *place(&mut abi)).map(|(name, _)| *name).collect();
        if !asked.is_empty() {
            writeln!(self.out, "    abi {}", asked.join(" "))?;
        }
        if abi.workitem_ids != 0 {
            writeln!(self.out, "    workitem_ids {}", abi.workitem_ids)?;
        }
        for (name, place) in SIZES {
            match *place(&mut sizes) {
                0 => {}
                size => writeln!(self.out, "    {name} {size}")?,
            }
        }
        if !self.func.hidden.is_empty() {
            let read = HIDDEN.iter().filter(|(hidden, _)| self.func.hidden.contains(*hidden));
            let read: Vec<&str> = read.map(|(_, name)| *name).collect();
            writeln!(self.out, "    hidden {}", read.join(" "))?;
        }
        if self.func.uses_vcc {
            self.out.push_str("    uses_vcc\n");
        }
        if self.func.role == FuncRole::Callee {
            self.out.push_str("    callee\n");
        }
        if let Some(lanes) = self.func.wave_size {
            writeln!(self.out, "    wave_size {lanes}")?;
        }
        if self.func.dynamic_stack {
            self.out.push_str("    dynamic_stack\n");
        }
        Ok(())
    }

    /// Writes the line that describes a call, such as `site @name pins v0 v0 v31 s4 stack local clobbers
    /// s[4:31] v[0:39]`.
    fn call(&mut self, call: &CallSite) -> fmt::Result {
        self.out.push_str("    site ");
        match call.callee {
            Callee::Pointer(sig) => write!(self.out, "sig{sig}")?,
            Callee::Func(index) => match self.options.names.funcs.get(index as usize) {
                Some(name) => write!(self.out, "@{name}")?,
                None => write!(self.out, "func{index}")?,
            },
        }
        self.out.push_str(" pins");
        for first in call.pins {
            self.out.push(' ');
            self.regs(RegRange { first, len: 1 })?;
        }
        self.out.push_str(if call.stack { " stack" } else { "" });
        self.out.push_str(if call.local { " local clobbers" } else { " clobbers" });
        for range in call.clobbers.ranges() {
            self.out.push(' ');
            self.regs(range)?;
        }
        self.out.push('\n');
        Ok(())
    }

    fn block(&mut self, id: MBlock, block: &MachBlock) -> fmt::Result {
        write!(self.out, "\n{id}")?;
        if !block.sgpr_params.is_empty() || !block.vgpr_params.is_empty() {
            self.list(block.sgpr_params.iter().chain(&block.vgpr_params))?;
        }
        if block.depth > 0 {
            write!(self.out, " depth {}", block.depth)?;
        }
        self.out.push_str(":\n");
        let term = block.term as usize;
        let prologue = (block.prologue as usize).min(term);
        if prologue > 0 {
            self.out.push_str("  prologue:\n");
        }
        for (index, inst) in block.insts.iter().enumerate() {
            self.mark(index, prologue, term, block.insts.len());
            self.inst(inst)?;
        }
        self.mark(block.insts.len(), prologue, term, block.insts.len());
        self.edges("linear", &block.linear)?;
        self.edges("logical", &block.logical)
    }

    /// Writes the name of the part that begins at an instruction.
    fn mark(&mut self, index: usize, prologue: usize, term: usize, len: usize) {
        // If the terminator group directly follows the prologue, the body between them is empty and is not
        // marked.
        if index == term && term < len {
            self.out.push_str("  terminators:\n");
        } else if index == prologue && prologue > 0 {
            self.out.push_str("  body:\n");
        }
    }

    fn edges(&mut self, graph: &str, edges: &Edges) -> fmt::Result {
        let last = match edges {
            [None, None] => return Ok(()),
            [Some(_), None] => 1,
            [_, Some(_)] => 2,
        };
        write!(self.out, "  {graph} ->")?;
        for (n, edge) in edges[..last].iter().enumerate() {
            self.out.push_str(if n == 0 { " " } else { ", " });
            match edge {
                None => self.out.push_str("none"),
                Some(edge) => {
                    write!(self.out, "{}", edge.to)?;
                    let args = self.func.edge_args(edge);
                    if !args.is_empty() {
                        self.list(args.iter())?;
                    }
                }
            }
        }
        self.out.push('\n');
        Ok(())
    }

    fn list<'r>(&mut self, regs: impl Iterator<Item = &'r VReg>) -> fmt::Result {
        self.out.push('(');
        for (n, &reg) in regs.enumerate() {
            self.out.push_str(if n == 0 { "" } else { ", " });
            self.vreg(reg)?;
        }
        self.out.push(')');
        Ok(())
    }

    /// Writes `%s5`, in which the class is part of the name.
    pub fn vreg(&mut self, reg: VReg) -> fmt::Result {
        write!(self.out, "%{}{}", self.class(reg), reg.as_u32())
    }

    pub fn class(&self, reg: VReg) -> char {
        match self.func.vregs.get(reg) {
            Some(RegClass::Vgpr) => 'v',
            _ => 's',
        }
    }

    fn inst(&mut self, inst: &MachInst) -> fmt::Result {
        let row = inst.op.row();
        let start = self.out.len();
        write!(self.out, "    {}{}", row.name, suffix(row.family, inst.form))?;
        for (index, &operand) in inst.operands().iter().enumerate() {
            self.out.push_str(if index == 0 { " " } else { ", " });
            self.operand(operand, Reading::for_operand(inst.op, index))?;
        }
        match inst.op {
            op::CALL | op::TAIL_CALL => write!(self.out, " site:{}", inst.mods.offset)?,
            _ => self.mods(&inst.mods, row.flags.contains(Flags::OFFSET2))?,
        }
        if let Some(index) = inst.mem.index() {
            self.mem(&self.func.mems[index])?;
        }
        if let Some(note) = self.func.note_of(inst.note) {
            let width = 56usize.saturating_sub(self.out.len() - start);
            write!(self.out, "{:width$} {:?}", "", note.to_string())?;
        }
        if self.options.locations && inst.loc != 0 {
            write!(self.out, " !{}", inst.loc)?;
        }
        self.out.push('\n');
        Ok(())
    }

    fn mods(&mut self, mods: &Mods, two_offsets: bool) -> fmt::Result {
        for (flag, name) in FLAGS {
            if mods.flags.contains(*flag) {
                write!(self.out, " {name}")?;
            }
        }
        for (name, bits) in
            [("neg", mods.neg), ("abs", mods.abs), ("op_sel", mods.op_sel), ("op_sel_hi", mods.op_sel_hi)]
        {
            if bits != 0 {
                write!(self.out, " {name}:")?;
                self.bits(bits)?;
            }
        }
        match mods.omod {
            0 => {}
            omod @ 1..=3 => write!(self.out, " {}", OMODS[usize::from(omod) - 1])?,
            omod => write!(self.out, " omod:{omod}")?,
        }
        match mods.offset {
            0 => {}
            offset @ 0..=0xffff if two_offsets => {
                write!(self.out, " offset0:{} offset1:{}", offset & 255, offset >> 8)?;
            }
            offset => write!(self.out, " offset:{offset}")?,
        }
        self.lane(mods.lane)
    }

    fn lane(&mut self, lane: Lane) -> fmt::Result {
        match lane {
            Lane::None => Ok(()),
            Lane::Sdwa { dst, unused, src0, src1, sext } => {
                let name = |sel| SDWA_SELS[sel as usize];
                let (dst, src0, src1) = (name(dst), name(src0), name(src1));
                write!(self.out, " sdwa(dst:{dst} unused:{unused} src0:{src0} src1:{src1} sext:")?;
                self.bits(sext)?;
                self.out.push(')');
                Ok(())
            }
            Lane::Dpp { ctrl, row_mask, bank_mask } => {
                write!(self.out, " dpp(ctrl:{ctrl:#x} row_mask:{row_mask:#x} bank_mask:{bank_mask:#x})")
            }
            Lane::Format(format) => write!(self.out, " format({format})"),
            Lane::Dpp8 { lanes } => write!(self.out, " dpp8({lanes:#x})"),
            Lane::Image { dmask, dim } => write!(self.out, " image(dmask:{dmask:#x} dim:{dim})"),
        }
    }

    /// Writes the lowest bits of a number as a list with bit 0 first, such as `[0,1]` for 2. The list ends
    /// with the highest bit that is set.
    fn bits(&mut self, bits: u8) -> fmt::Result {
        for n in 0..(8 - bits.leading_zeros()).max(1) {
            write!(self.out, "{}{}", if n == 0 { "[" } else { "," }, bits >> n & 1)?;
        }
        self.out.push(']');
        Ok(())
    }

    /// Writes the memory attributes of an access that differ from the defaults, such as `mem(acquire agent
    /// global alias:3)`. The defaults describe an access that does not synchronise with other lanes.
    fn mem(&mut self, mem: &MemRef) -> fmt::Result {
        let mut words = Vec::new();
        let default = MemRef::default();
        if mem.order != default.order {
            words.extend(name_of(ORDERS, &mem.order));
        }
        if mem.scope != default.scope {
            words.extend(name_of(SCOPES, &mem.scope));
        }
        words.extend(SPACES.iter().filter(|(set, _)| mem.spaces & set != 0).map(|&(_, name)| name));
        for (flag, name) in
            [(mem.one_as, "one_as"), (mem.volatile, "volatile"), (mem.nontemporal, "nontemporal")]
        {
            words.extend(flag.then_some(name));
        }
        write!(self.out, " mem({}", words.join(" "))?;
        let named = SPACES.iter().fold(0, |all, (set, _)| all | set);
        let mut blank = if words.is_empty() { "" } else { " " };
        let mut field = |out: &mut String, name: &str, value: &dyn fmt::Display| {
            write!(out, "{}{name}:{value}", std::mem::replace(&mut blank, " "))
        };
        if mem.spaces & !named != 0 {
            field(self.out, "spaces", &(mem.spaces & !named))?;
        }
        if mem.alias != 0 {
            field(self.out, "alias", &mem.alias)?;
        }
        if mem.fail != SyncOrder::NotAtomic {
            field(self.out, "fail", &name_of(ORDERS, &mem.fail).unwrap_or_default())?;
        }
        self.out.push(')');
        Ok(())
    }
}

const _: () = assert!(SyncScope::SingleThread as u8 == 0, "the default is not written");

/// Returns the suffix of a mnemonic that distinguishes the encodings of an instruction, such as `_e64`.
fn suffix(family: Family, form: Form) -> &'static str {
    let several = matches!(family, Family::Vop1 | Family::Vop2 | Family::Vopc);
    match form {
        Form::Full if several => "_e64",
        Form::Full => "",
        Form::E32 => "_e32",
        Form::Sdwa => "_sdwa",
        Form::Dpp => "_dpp",
    }
}
