//! Machine functions as text, for `--emit mir` and `--dump-after`.

use crate::func::{Edges, MBlock, MachBlock, MachFunc, Note, NoteId};
use crate::operand::RegRange;
use crate::print::{write_inst, write_reg};
use crate::reg::{RegClass, VReg};
use crate::target::{TARGETS, Target};
use std::fmt::{self, Write};

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Wait { counter, producer, reg: Some(reg), consumer } => {
                let mut name = String::new();
                // Notes are of compiled code, whose processors name their registers alike.
                write_reg(TARGETS[0], RegRange { first: *reg, len: 1 }, &mut name)?;
                write!(f, "{counter}: {consumer} needs {name} of {producer}")
            }
            Note::Wait { counter, producer, reg: None, consumer } => {
                write!(f, "{counter}: {consumer} waits for {producer}")
            }
            Note::Hazard { rule, states } => write!(f, "hazard: {rule}, {states} wait states"),
            Note::Coherence(row) => write!(f, "memory model: {row}"),
            Note::Alloc(what) => write!(f, "allocation: {what}"),
            Note::Text(text) => f.write_str(text),
        }
    }
}

impl MachFunc {
    /// The reason behind an id.
    pub fn note_of(&self, id: NoteId) -> Option<&Note> {
        self.notes.get(id.index()?)
    }

    /// The whole function as text: blocks with parameters of both graphs, instructions with their reasons, edges.
    pub fn dump(&self, target: &Target) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.write_dump(target, &mut out);
        out
    }

    fn write_dump(&self, target: &Target, out: &mut String) -> fmt::Result {
        writeln!(out, "function {}", self.name)?;
        writeln!(
            out,
            "; lds {}, scratch {}, kernarg {}",
            self.lds_size, self.scratch_size, self.kernarg_size
        )?;
        for &(vreg, reg) in &self.inputs {
            write!(out, "; {vreg}{} = ", class_suffix(self.vregs[vreg]))?;
            write_reg(target, RegRange { first: reg, len: 1 }, out)?;
            out.push('\n');
        }
        for (id, block) in self.blocks.iter() {
            self.write_block(target, id, block, out)?;
        }
        Ok(())
    }

    fn write_block(&self, target: &Target, id: MBlock, block: &MachBlock, out: &mut String) -> fmt::Result {
        write!(out, "\n{id}:")?;
        write_params("sgpr", &block.sgpr_params, out)?;
        write_params("vgpr", &block.vgpr_params, out)?;
        if block.depth > 0 {
            write!(out, "  ; depth {}", block.depth)?;
        }
        out.push('\n');
        for (index, inst) in block.insts.iter().enumerate() {
            if index == block.term as usize {
                out.push_str("  ; terminators\n");
            } else if index == block.prologue as usize && index > 0 {
                out.push_str("  ; body\n");
            }
            let start = out.len();
            out.push_str("    ");
            write_inst(target, inst, Some(self), out);
            if let Some(note) = self.note_of(inst.note) {
                let column = out.len() - start;
                write!(out, "{:width$} ; {note}", "", width = 56usize.saturating_sub(column))?;
            }
            out.push('\n');
        }
        self.write_edges("linear", &block.linear, out)?;
        self.write_edges("logical", &block.logical, out)
    }

    fn write_edges(&self, graph: &str, edges: &Edges, out: &mut String) -> fmt::Result {
        if edges.iter().all(Option::is_none) {
            return Ok(());
        }
        write!(out, "  ; {graph} ->")?;
        for edge in edges.iter().flatten() {
            write!(out, " {}", edge.to)?;
            write_list(self.edge_args(edge), out)?;
        }
        out.push('\n');
        Ok(())
    }
}

fn class_suffix(class: RegClass) -> &'static str {
    match class {
        RegClass::Sgpr => ":s",
        RegClass::Vgpr => ":v",
    }
}

fn write_params(name: &str, params: &[VReg], out: &mut String) -> fmt::Result {
    if params.is_empty() {
        return Ok(());
    }
    write!(out, " {name}")?;
    write_list(params, out)
}

fn write_list(regs: &[VReg], out: &mut String) -> fmt::Result {
    if regs.is_empty() {
        return Ok(());
    }
    for (n, reg) in regs.iter().enumerate() {
        write!(out, "{}{reg}", if n == 0 { "(" } else { ", " })?;
    }
    out.push(')');
    Ok(())
}
