//! Assembly listings: text that `llvm-mc --amdhsa-code-object-version=N` assembles into the same bytes that
//! [`crate::elf`] writes.
//!
//! If a [`Source`] is given, each source line is printed above the instructions that it produced.
//! Instructions that a pass inserted carry the reason as a `;` comment.

use crate::lines::Lines;
use crate::{
    ById, EmitError, Function, Kernel, Program, Variable, by_id, config, descriptor, kernel_code, notes,
};
use isa::system::SCRATCH_SYMBOLS;
use isa::{CodeEnd, Operand, Subtarget, op};
use mir::{Distance, MachFunc, Referent, RelocRef};
use std::fmt::Write;

/// The source text that `MachInst::loc` points into.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// File name, for the comments.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

/// State of a listing while it is written.
struct Listing<'p> {
    program: &'p Program<'p>,
    source: Option<(Source<'p>, Lines)>,
    /// Names of variables, by id.
    variables: ById<&'p str>,
    /// Names of functions, by id.
    functions: ById<&'p str>,
    out: String,
}

/// Returns the listing of a program.
///
/// # Errors
/// The program contradicts itself, or an instruction or a field of a descriptor cannot be written.
pub fn listing(program: &Program, source: Option<Source>) -> Result<String, EmitError> {
    program.check()?;
    let externals = |functions: bool| {
        program.externals.iter().filter_map(move |external| match external.to {
            Referent::Func(id) => functions.then_some((id, external.name)),
            Referent::Global(id) => (!functions).then_some((id, external.name)),
            Referent::Scratch(_) => None,
        })
    };
    let mut listing = Listing {
        program,
        source: source.map(|source| (source, Lines::new(source.name, source.text))),
        variables: by_id(
            program
                .variables
                .iter()
                .map(|variable| (variable.id, variable.name))
                .chain(program.shared.iter().map(|variable| (variable.id, variable.name)))
                .chain(externals(false)),
        ),
        functions: by_id(
            program
                .functions
                .iter()
                .map(|function| (function.id, &*function.func.name))
                .chain(externals(true)),
        ),
        out: String::new(),
    };
    notes::prologue(program, &mut listing.out);
    listing.out.push_str("\t.text\n");
    if program.target.system().has_config {
        config::text(program, &mut listing.out)?;
    }
    for kernel in program.kernels {
        listing.head(kernel)?;
        listing.code(&program.target_of(kernel), kernel.func, program.symbol(kernel))?;
    }
    for function in program.functions {
        listing.function_head(function);
        listing.code(&program.target_of_function(function), function.func, &function.func.name)?;
    }
    let Listing { mut out, functions, .. } = listing;
    if let Some(CodeEnd { word, bytes }) = program.code_end() {
        let _ = writeln!(out, "\t.p2alignl\t{}, {word}", CodeEnd::LINE.trailing_zeros());
        let _ = writeln!(out, "\t.fill\t{}, 4, {word}", bytes / 4);
    }
    if program.has_rodata() {
        out.push_str("\t.section\t.rodata,\"a\",@progbits\n");
    }
    for kernel in program.with_descriptors() {
        out.push_str("\t.p2align\t6\n");
        descriptor::text(program, kernel, &mut out)?;
    }
    for writable in [false, true] {
        let mut variables =
            program.variables.iter().filter(|variable| variable.writable == writable).peekable();
        if writable && variables.peek().is_some() {
            out.push_str("\t.data\n");
        }
        variables.for_each(|variable| write_variable(variable, &functions, &mut out));
    }
    program.shared.iter().for_each(|variable| out.push_str(&variable.directives()));
    notes::epilogue(program, &mut out)?;
    if !program.signatures.is_empty() {
        let _ = writeln!(out, "\t.section\t{},\"eMS\",@progbits,1", objwriter::elf::SIGNATURES);
        for signature in program.signatures {
            let _ = writeln!(out, "\t.asciz\t\"{signature}\"");
        }
    }
    Ok(out)
}

impl<'p> Listing<'p> {
    /// Writes the code of a function, whose symbol is `symbol`.
    fn code(&mut self, target: &Subtarget, func: &MachFunc, symbol: &str) -> Result<(), EmitError> {
        let name = &func.name;
        let targets = branch_targets(func);
        let mut line = 0;
        for (block, data) in func.blocks.iter() {
            if targets[block.as_u32() as usize] {
                let _ = writeln!(self.out, ".L{name}_{block}:");
            }
            let mut past_getpc = 0;
            for inst in &data.insts {
                self.source_line(inst.loc, &mut line);
                self.out.push('\t');
                let start = self.out.len();
                isa::write_inst(target, inst, Some(func), &mut self.out);
                let size = isa::size_in_words(target, inst) as i64 * 4;
                if let Some(reloc) = reloc_of(inst) {
                    self.symbolic(func.relocs[reloc as usize], past_getpc + size - 4, start)?;
                }
                if let Some(note) = inst.note.index().filter(|_| self.source.is_some()) {
                    let _ = write!(self.out, "\t; {}", func.notes[note]);
                }
                self.out.push('\n');
                past_getpc = if inst.op == op::S_GETPC_B64 { 0 } else { past_getpc + size };
            }
        }
        let _ = write!(self.out, ".L{name}_end:\n\t.size\t{symbol}, .L{name}_end-{symbol}\n");
        Ok(())
    }

    /// Writes the directives before a kernel's code.
    fn head(&mut self, kernel: &Kernel) -> Result<(), EmitError> {
        let name = self.program.symbol(kernel);
        let _ = write!(
            self.out,
            "\t.globl\t{name}\n\t.protected\t{name}\n\t.p2align\t8\n\t.type\t{name},@function\n"
        );
        if !self.program.has_kernel_code() {
            let _ = writeln!(self.out, "{name}:");
            return Ok(());
        }
        let _ = write!(self.out, "\t.amdgpu_hsa_kernel {name}\n{name}:\n");
        kernel_code::text(self.program, kernel, &mut self.out)
    }

    /// Writes the directives before a function's code.
    fn function_head(&mut self, function: &Function) {
        let name = &function.func.name;
        if function.export {
            let _ = write!(self.out, "\t.globl\t{name}\n\t.protected\t{name}\n");
        }
        let _ = write!(self.out, "\t.p2align\t2\n\t.type\t{name},@function\n{name}:\n");
    }

    /// Writes the source line at the location `loc` as a comment. `line` is the number of the line that was
    /// written last. The same line is not written again; otherwise `line` is updated.
    fn source_line(&mut self, loc: u32, line: &mut u32) {
        let Some((Source { name, text }, lines)) = &self.source else { return };
        let Some(place) = lines.position(loc).filter(|place| place.line != *line) else { return };
        let number = place.line;
        *line = number;
        let text = text.get(lines.start(number)..).and_then(|text| text.lines().next()).unwrap_or_default();
        let _ = writeln!(self.out, "\t\t\t\t; {name}:{number}: {}", text.trim());
    }

    /// Replaces the last operand of the printed instruction that begins at `start` in the text. The printer
    /// has written a placeholder there. The operand becomes `symbol@rel32@lo+addend` or a similar expression,
    /// or the name of the called function.
    fn symbolic(&mut self, reloc: RelocRef, at: i64, start: usize) -> Result<(), EmitError> {
        let named = |names: &ById<&'p str>, id: u32| names.get(id as usize).copied().flatten();
        let name = match reloc.to {
            Referent::Global(id) => named(&self.variables, id),
            Referent::Func(id) => named(&self.functions, id),
            Referent::Scratch(dword) => SCRATCH_SYMBOLS.get(usize::from(dword)).copied(),
        };
        let name = name.ok_or(EmitError::Unknown(reloc.to))?;
        let cut = self.out[start..].rfind(", ").map_or(self.out.len(), |at| start + at + 2);
        self.out.truncate(cut);
        let _ = match reloc.part {
            Distance::Low => write!(self.out, "{name}@rel32@lo{:+}", at + reloc.addend),
            Distance::High => write!(self.out, "{name}@rel32@hi{:+}", at + reloc.addend),
            Distance::Words => write!(self.out, "{name}"),
            // LLVM's name of this symbol needs no specifier.
            Distance::Address if matches!(reloc.to, Referent::Scratch(_)) => write!(self.out, "{name}"),
            Distance::AddressLow => write!(self.out, "{name}@abs32@lo{:+}", reloc.addend),
            Distance::AddressHigh => write!(self.out, "{name}@abs32@hi{:+}", reloc.addend),
            Distance::Address if reloc.addend == 0 => write!(self.out, "{name}@abs32@lo"),
            Distance::Address => write!(self.out, "{name}@abs32@lo{:+}", reloc.addend),
        };
        Ok(())
    }
}

fn reloc_of(inst: &isa::MachInst) -> Option<u32> {
    inst.operands().iter().find_map(|operand| match operand {
        Operand::Reloc(reloc) => Some(*reloc),
        _ => None,
    })
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

fn write_variable(variable: &Variable, names: &ById<&str>, out: &mut String) {
    let Variable { name, size, align, init, functions, .. } = variable;
    let _ = write!(out, "\t.globl\t{name}\n\t.protected\t{name}\n\t.type\t{name},@object\n");
    let _ = write!(out, "\t.p2align\t{}\n{name}:\n", align.max(&1).trailing_zeros());
    if !functions.is_empty() {
        return write_table(variable, names, out);
    }
    for chunk in init.chunks(16) {
        out.push_str("\t.byte\t");
        for (n, byte) in chunk.iter().enumerate() {
            let _ = write!(out, "{}{byte:#04x}", if n == 0 { "" } else { ", " });
        }
        out.push('\n');
    }
    if (init.len() as u32) < *size {
        let _ = writeln!(out, "\t.zero\t{}", size - init.len() as u32);
    }
    let _ = writeln!(out, "\t.size\t{name}, {size}");
}

/// Writes a variable that contains addresses of functions. The other bytes of the variable are written one by
/// one.
fn write_table(variable: &Variable, names: &ById<&str>, out: &mut String) {
    let mut at = 0;
    let mut functions = variable.functions.iter().peekable();
    while at < variable.size {
        if let Some(&(_, id)) = functions.next_if(|(offset, _)| *offset == at) {
            let _ =
                writeln!(out, "\t.quad\t{}", names.get(id as usize).copied().flatten().unwrap_or_default());
            at += 8;
        } else {
            let byte = variable.init.get(at as usize).copied().unwrap_or_default();
            let _ = writeln!(out, "\t.byte\t{byte:#04x}");
            at += 1;
        }
    }
    let _ = writeln!(out, "\t.size\t{}, {}", variable.name, variable.size);
}
