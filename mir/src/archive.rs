//! Stores machine functions compactly, for functions that are kept for later inspection.
//!
//! All functions are stored in a few flat lists. These have no spare capacity, in contrast to the lists of a
//! [`MachFunc`](crate::MachFunc), into which passes insert. An instruction takes about half the memory that
//! it takes in a `MachFunc`. The reason is that most instructions use at most three of the six operands and
//! have no modifiers.

use crate::{CallSite, Edges, MachBlock, MachFunc, MemRef, Note, RelocRef};
use isa::{Form, MachInst, MemId, Mods, NoteId, Opcode, Operand, Reg, RegClass, VReg};
use smol_str::SmolStr;
use std::slice::Iter;

/// Compactly stored functions. Each list holds the elements of all functions: those of the first function,
/// then those of the second, and so on.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    funcs: Vec<Func>,
    parts: Vec<Part>,
    insts: Vec<Inst>,
    operands: Vec<Operand>,
    mods: Vec<Mods>,
    /// Numbers of all functions, one function after the other: the classes of the function's registers, its
    /// tuples and its edge arguments, then the parameters of each of its blocks.
    numbers: Vec<u32>,
}

/// A function, and the number of its elements in each list.
#[derive(Clone, Debug)]
struct Func {
    name: SmolStr,
    /// The function without its name and its lists.
    bare: MachFunc,
    parts: u32,
    classes: u32,
    tuples: u32,
    args: u32,
}

/// An input, note, block or similar part of a function. A function has few of each kind, so the parts of all
/// kinds and of all functions are stored in a single list, [`Archive::parts`].
#[derive(Clone, Debug)]
enum Part {
    Input(VReg, Reg),
    Note(Note),
    Mem(MemRef),
    Reloc(RelocRef),
    Call(CallSite),
    Block(Block),
}

/// A block, and the number of its elements in each list.
#[derive(Clone, Debug)]
struct Block {
    insts: u32,
    sgpr_params: u32,
    vgpr_params: u32,
    prologue: u32,
    term: u32,
    linear: Edges,
    logical: Edges,
    depth: u8,
    is_foreign: bool,
}

/// An instruction without its operands and modifiers.
#[derive(Clone, Copy, Debug)]
struct Inst {
    op: Opcode,
    form: Form,
    operands: u8,
    /// Whether it has modifiers.
    modified: bool,
    loc: u32,
    note: NoteId,
    mem: MemId,
}

/// Returns the number of parts of a function.
fn parts(func: &MachFunc) -> usize {
    let MachFunc { inputs, notes, mems, relocs, calls, blocks, .. } = func;
    inputs.len() + notes.len() + mems.len() + relocs.len() + calls.len() + blocks.len()
}

impl Archive {
    /// Stores functions.
    pub fn from_funcs(funcs: &[MachFunc]) -> Archive {
        let all = |len: fn(&MachFunc) -> usize| funcs.iter().map(len).sum::<usize>();
        let blocks = || funcs.iter().flat_map(|func| func.blocks.values());
        let insts = blocks().map(|block| block.insts.len()).sum();
        let params: usize = blocks().map(|block| block.sgpr_params.len() + block.vgpr_params.len()).sum();
        let regs = all(|func| func.vregs.len() + func.tuples.len() + func.args.len());
        let mut archive = Archive {
            funcs: Vec::with_capacity(funcs.len()),
            parts: Vec::with_capacity(all(parts)),
            insts: Vec::with_capacity(insts),
            operands: Vec::with_capacity(3 * insts),
            mods: Vec::with_capacity(insts / 4),
            numbers: Vec::with_capacity(regs + params),
        };
        funcs.iter().for_each(|func| archive.push(func));
        archive
    }

    fn push(&mut self, func: &MachFunc) {
        self.funcs.push(Func {
            name: func.name.as_str().into(),
            bare: func.bare(),
            parts: parts(func) as u32,
            classes: func.vregs.len() as u32,
            tuples: func.tuples.len() as u32,
            args: func.args.len() as u32,
        });
        self.numbers.extend(func.vregs.values().map(|&class| class as u32));
        self.push_regs(&func.tuples);
        self.push_regs(&func.args);
        self.parts.extend(func.inputs.iter().map(|&(vreg, reg)| Part::Input(vreg, reg)));
        self.parts.extend(func.notes.iter().cloned().map(Part::Note));
        self.parts.extend(func.mems.iter().copied().map(Part::Mem));
        self.parts.extend(func.relocs.iter().copied().map(Part::Reloc));
        self.parts.extend(func.calls.iter().cloned().map(Part::Call));
        func.blocks.values().for_each(|block| self.push_block(block));
    }

    fn push_regs(&mut self, regs: &[VReg]) {
        self.numbers.extend(regs.iter().map(|reg| reg.as_u32()));
    }

    fn push_block(&mut self, block: &MachBlock) {
        let MachBlock { insts, prologue, term, sgpr_params, vgpr_params, linear, logical, depth, is_foreign } =
            block;
        self.parts.push(Part::Block(Block {
            insts: insts.len() as u32,
            sgpr_params: sgpr_params.len() as u32,
            vgpr_params: vgpr_params.len() as u32,
            prologue: *prologue,
            term: *term,
            linear: *linear,
            logical: *logical,
            depth: *depth,
            is_foreign: *is_foreign,
        }));
        self.push_regs(sgpr_params);
        self.push_regs(vgpr_params);
        for inst in insts {
            let MachInst { op, form, len: operands, ops: _, mods, loc, note, mem } = *inst;
            let modified = mods != Mods::default();
            self.insts.push(Inst { op, form, operands, modified, loc, note, mem });
            self.operands.extend_from_slice(inst.operands());
            if modified {
                self.mods.push(mods);
            }
        }
    }

    /// Restores the functions.
    pub fn funcs(&self) -> Vec<MachFunc> {
        let mut rest = Rest {
            parts: self.parts.iter(),
            insts: self.insts.iter(),
            operands: &self.operands,
            mods: self.mods.iter(),
            numbers: &self.numbers,
        };
        self.funcs.iter().map(|func| rest.func(func)).collect()
    }
}

/// The elements that have not been restored yet.
struct Rest<'a> {
    parts: Iter<'a, Part>,
    insts: Iter<'a, Inst>,
    operands: &'a [Operand],
    mods: Iter<'a, Mods>,
    numbers: &'a [u32],
}

/// Removes and returns the first `count` elements of a list.
fn take<'a, T>(list: &mut &'a [T], count: u32) -> &'a [T] {
    let (first, rest) = list.split_at(count as usize);
    *list = rest;
    first
}

impl Rest<'_> {
    fn func(&mut self, func: &Func) -> MachFunc {
        let class = |&number| if number == RegClass::Sgpr as u32 { RegClass::Sgpr } else { RegClass::Vgpr };
        let mut out = MachFunc { name: func.name.to_string(), ..func.bare.clone() };
        out.vregs = take(&mut self.numbers, func.classes).iter().map(class).collect();
        out.tuples = self.regs(func.tuples);
        out.args = self.regs(func.args);
        for _ in 0..func.parts {
            match self.parts.next() {
                Some(Part::Input(vreg, reg)) => out.inputs.push((*vreg, *reg)),
                Some(Part::Note(note)) => out.notes.push(note.clone()),
                Some(Part::Mem(mem)) => out.mems.push(*mem),
                Some(Part::Reloc(reloc)) => out.relocs.push(*reloc),
                Some(Part::Call(call)) => out.calls.push(call.clone()),
                Some(Part::Block(block)) => _ = out.blocks.push(self.block(block)),
                None => {}
            }
        }
        out
    }

    fn regs(&mut self, count: u32) -> Vec<VReg> {
        take(&mut self.numbers, count).iter().map(|&number| VReg::from_u32(number)).collect()
    }

    fn block(&mut self, block: &Block) -> MachBlock {
        MachBlock {
            sgpr_params: self.regs(block.sgpr_params),
            vgpr_params: self.regs(block.vgpr_params),
            insts: (0..block.insts).map_while(|_| self.inst()).collect(),
            prologue: block.prologue,
            term: block.term,
            linear: block.linear,
            logical: block.logical,
            depth: block.depth,
            is_foreign: block.is_foreign,
        }
    }

    fn inst(&mut self) -> Option<MachInst> {
        let Inst { op, form, operands, modified, loc, note, mem } = *self.insts.next()?;
        let operands = take(&mut self.operands, operands.into());
        let mods = if modified { *self.mods.next()? } else { Mods::default() };
        Some(MachInst { form, mods, loc, note, mem, ..MachInst::new(op, operands) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isa::Target;

    /// Two functions in which no list is empty.
    const FUNCS: &str = "machine @a {
    abi kernarg_ptr
    input %s2 = s0
    input %s3 = s1
    input %v0 = v0
bb0:
    copy %s10, 0
    copy %v20, 1
  linear -> bb1(%s10)
  logical -> bb1(%v20)
bb1(%s12, %v21) depth 1:
    v_add_f32 %v22, %v0, %v21 clamp
    global_store_dword %v0, %v22, %s[2,3] offset:16 mem(global)
    s_cmp_lt_u32 %s12, %s3
  terminators:
    s_cbranch_scc1 bb1
  linear -> bb2, bb1(%s12)
  logical -> bb2, bb1(%v22)
bb2:
  terminators:
    s_endpgm 0
}
machine @b {
bb0:
  terminators:
    s_endpgm 0
}
";

    #[test]
    fn functions_come_back_as_they_were() {
        let target = Target::by_name("gfx906").expect("a processor");
        let funcs = crate::text::read_functions(FUNCS, |_| target, &Default::default()).expect("well-formed");
        let again = Archive::from_funcs(&funcs).funcs();
        assert_eq!(format!("{again:?}"), format!("{funcs:?}"));
        assert!(funcs[0].blocks.values().any(|block| !block.vgpr_params.is_empty()));
    }
}
