//! Assembly listings: what `llvm-mc --amdhsa-code-object-version=3` turns into the bytes of [`crate::elf`].
//!
//! With a [`Source`], the source line is printed above the instructions it became, and inserted instructions carry
//! their reason behind `;`.

use crate::{EmitError, Program, Variable, descriptor, metadata};
use isa::{MachFunc, Operand, op};
use std::fmt::Write;

/// The source text that `MachInst::loc` points into.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// File name, for the comments.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// Line number (from 1) and text of the line at byte `loc - 1`.
    fn line(self, loc: u32) -> Option<(usize, &'a str)> {
        let at = (loc as usize).checked_sub(1).filter(|&at| at < self.text.len())?;
        let start = self.text.as_bytes()[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |n| n + 1);
        let number = self.text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let text = self.text.get(start..)?.lines().next()?;
        Some((number, text.trim()))
    }
}

/// The listing of a program.
pub fn listing(program: &Program, source: Option<Source>) -> Result<String, EmitError> {
    let mut out = String::new();
    let _ = writeln!(out, "\t.amdgcn_target \"amdgcn-amd-amdhsa--{}\"", program.target.name);
    out.push_str("\t.text\n");
    for kernel in &program.kernels {
        write_code(program, kernel.func, source, &mut out)?;
    }
    out.push_str("\t.section\t.rodata,\"a\",@progbits\n");
    for kernel in &program.kernels {
        out.push_str("\t.p2align\t6\n");
        descriptor::text(kernel, &mut out);
    }
    for writable in [false, true] {
        let mut variables =
            program.variables.iter().filter(|variable| variable.writable == writable).peekable();
        if writable && variables.peek().is_some() {
            out.push_str("\t.data\n");
        }
        variables.for_each(|variable| write_variable(variable, &mut out));
    }
    out.push_str("\t.amdgpu_metadata\n");
    out.push_str(&metadata::yaml(&metadata::tree(program)));
    out.push_str("\t.end_amdgpu_metadata\n");
    Ok(out)
}

fn write_code(
    program: &Program,
    func: &MachFunc,
    source: Option<Source>,
    out: &mut String,
) -> Result<(), EmitError> {
    let name = &func.name;
    let _ = write!(
        out,
        "\t.globl\t{name}\n\t.protected\t{name}\n\t.p2align\t8\n\t.type\t{name},@function\n{name}:\n"
    );
    let targets = branch_targets(func);
    let mut line = 0;
    let mut text = String::new();
    for (block, data) in func.blocks.iter() {
        if targets[block.as_u32() as usize] {
            let _ = writeln!(out, ".L{name}_{block}:");
        }
        let mut past_getpc = 0;
        for inst in &data.insts {
            if let Some((number, shown)) =
                source.and_then(|source| source.line(inst.loc)).filter(|l| l.0 != line)
            {
                line = number;
                let _ =
                    writeln!(out, "\t\t\t\t; {}:{number}: {shown}", source.map_or("", |source| source.name));
            }
            text.clear();
            isa::write_inst(&program.target, inst, Some(func), &mut text);
            if let Some(reloc) = reloc_of(inst) {
                let at = past_getpc + isa::size_in_words(&program.target, inst) as i64 * 4 - 4;
                symbolic(program, func, reloc, at, &mut text)?;
            }
            out.push('\t');
            out.push_str(&text);
            if let Some(note) = inst.note.index().filter(|_| source.is_some()) {
                let _ = write!(out, "\t; {}", func.notes[note]);
            }
            out.push('\n');
            past_getpc = match inst.op {
                op::S_GETPC_B64 => 0,
                _ => past_getpc + isa::size_in_words(&program.target, inst) as i64 * 4,
            };
        }
    }
    let _ = write!(out, ".L{name}_end:\n\t.size\t{name}, .L{name}_end-{name}\n");
    Ok(())
}

fn reloc_of(inst: &isa::MachInst) -> Option<u32> {
    inst.operands().iter().find_map(|operand| match operand {
        Operand::Reloc(reloc) => Some(*reloc),
        _ => None,
    })
}

/// Replaces the printer's placeholder (the last operand) by `symbol@rel32@lo+addend`.
fn symbolic(
    program: &Program,
    func: &MachFunc,
    reloc: u32,
    at: i64,
    text: &mut String,
) -> Result<(), EmitError> {
    let reloc = func.relocs[reloc as usize];
    let variable = program
        .variables
        .iter()
        .find(|variable| variable.id == reloc.global)
        .ok_or(EmitError::UnknownVariable(reloc.global))?;
    let cut = text.rfind(", ").map_or(text.len(), |at| at + 2);
    text.truncate(cut);
    let half = if reloc.hi { "hi" } else { "lo" };
    let _ = write!(text, "{}@rel32@{half}{:+}", variable.name, at + reloc.addend);
    Ok(())
}

fn branch_targets(func: &MachFunc) -> Vec<bool> {
    let mut targets = vec![false; func.blocks.len()];
    for (_, block) in func.blocks.iter() {
        for operand in block.insts.iter().flat_map(|inst| inst.operands()) {
            if let Operand::Block(to) = operand {
                targets[to.as_u32() as usize] = true;
            }
        }
    }
    targets
}

fn write_variable(variable: &Variable, out: &mut String) {
    let Variable { name, size, align, init, .. } = variable;
    let _ = write!(out, "\t.globl\t{name}\n\t.protected\t{name}\n\t.type\t{name},@object\n");
    let _ = write!(out, "\t.p2align\t{}\n{name}:\n", align.max(&1).trailing_zeros());
    for chunk in init.chunks(16) {
        let bytes: Vec<String> = chunk.iter().map(|byte| format!("{byte:#04x}")).collect();
        let _ = writeln!(out, "\t.byte\t{}", bytes.join(", "));
    }
    if (init.len() as u32) < *size {
        let _ = writeln!(out, "\t.zero\t{}", size - init.len() as u32);
    }
    let _ = writeln!(out, "\t.size\t{name}, {size}");
}
