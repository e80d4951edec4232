//! Encodes the machine code of a function as dwords (called words here). The result also has the offsets of
//! blocks, and the places in the code that are filled in later with references to variables and functions.

use crate::EmitError;
use isa::table::Flags;
use isa::{MBlock, MachInst, Operand, Subtarget, op};
use mir::{MachFunc, SyncOrder};

/// Encoded code of one function.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Instruction words.
    pub words: Vec<u32>,
    /// Word index at which each block begins.
    pub blocks: Vec<u32>,
    /// References to variables and functions.
    pub fixups: Vec<Fixup>,
    /// Calls by `s_call_b64`, which are filled in later: the instruction contains the distance to the called
    /// function. Each entry has the word index of the call, and the index of the called function in
    /// `MachFunc::relocs`.
    pub calls: Vec<(u32, u32)>,
    /// The places at which the source location changes. Each entry has a word index, and the `MachInst::loc`
    /// that holds from there on.
    pub places: Vec<(u32, u32)>,
    /// Word indices of atomic loads and stores. They are listed because their encoding does not show that
    /// they are atomic.
    pub atomics: Vec<u32>,
    /// Number of instructions.
    pub instructions: u32,
    /// Branches: word index, and target block.
    branches: Vec<(usize, MBlock)>,
}

/// A literal in the code that must be filled with the distance from `origin` to a variable or function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixup {
    /// Word index of the literal.
    pub at: u32,
    /// Word index of the instruction after the `s_getpc_b64`, from which the distance counts.
    pub origin: u32,
    /// Index into `MachFunc::relocs`.
    pub reloc: u32,
}

/// Encodes a function. Blocks follow each other in index order.
///
/// # Errors
/// An instruction or a distance that has no encoding.
pub fn encode(target: &Subtarget, func: &MachFunc) -> Result<Code, EmitError> {
    let mut code = Code::default();
    code.encode(target, func)?;
    Ok(code)
}

impl Code {
    /// Encodes a function as [`encode`] does, reusing the memory of `self`.
    ///
    /// # Errors
    /// An instruction has no encoding on the processor, or a branch is too far from its target.
    pub fn encode(&mut self, target: &Subtarget, func: &MachFunc) -> Result<(), EmitError> {
        self.words.clear();
        self.blocks.clear();
        self.fixups.clear();
        self.calls.clear();
        self.places.clear();
        self.atomics.clear();
        self.instructions = 0;
        self.branches.clear();
        let mut branches = std::mem::take(&mut self.branches);
        encode_blocks(target, func, self, &mut branches)?;
        patch_branches(func, self, &branches)?;
        self.branches = branches;
        Ok(())
    }
}

fn encode_blocks(
    target: &Subtarget,
    func: &MachFunc,
    code: &mut Code,
    branches: &mut Vec<(usize, MBlock)>,
) -> Result<(), EmitError> {
    if let Some(block) = torn_table(func) {
        return Err(EmitError::Table { kernel: func.name.clone(), block });
    }
    let mut origin = 0;
    for block in func.blocks.values() {
        code.blocks.push(code.words.len() as u32);
        for inst in &block.insts {
            let start = code.words.len();
            if code.places.last().is_none_or(|&(_, loc)| loc != inst.loc) {
                code.places.push((start as u32, inst.loc));
            }
            if is_atomic_access(func, inst) {
                code.atomics.push(start as u32);
            }
            let call = near_call(inst);
            code.calls.extend(call.map(|reloc| (start as u32, reloc)));
            let encoded = match branch_target(inst) {
                Some(to) => {
                    branches.push((start, to));
                    isa::encode(target, &with_distance(inst, 0), &mut code.words)
                }
                None if call.is_some() => isa::encode(target, &with_distance(inst, 0), &mut code.words),
                None => isa::encode(target, inst, &mut code.words),
            };
            encoded.map_err(|error| EmitError::Encode {
                kernel: func.name.clone(),
                offset: start * 4,
                message: error.to_string(),
            })?;
            code.instructions += 1;
            if inst.op == op::S_GETPC_B64 {
                origin = code.words.len() as u32;
            }
            for operand in inst.operands() {
                if let (Operand::Reloc(reloc), None) = (*operand, call) {
                    code.fixups.push(Fixup { at: code.words.len() as u32 - 1, origin, reloc });
                }
            }
        }
    }
    Ok(())
}

/// Returns whether an instruction is an atomic load or store. Returns false for atomic read-modify-write
/// instructions, because their opcodes show that they are atomic.
fn is_atomic_access(func: &MachFunc, inst: &MachInst) -> bool {
    let Some(mem) = inst.mem.index() else { return false };
    let flags = inst.op.row().flags;
    func.mems[mem].order != SyncOrder::NotAtomic
        && flags.intersects(Flags::LOAD.union(Flags::STORE))
        && !flags.contains(Flags::ATOMIC)
}

/// Checks the layout of jump tables (rows of branches). Returns the first block of a table whose entries do
/// not follow each other or do not have equal size, because the computed jump into such a table would lead to
/// a wrong place. Returns `None` if all tables are correct.
pub fn torn_table(func: &MachFunc) -> Option<MBlock> {
    let mut in_table = false;
    let torn = func.blocks.iter().find(|(id, block)| {
        let next = block.next_entry();
        let is_torn = match block.insts[..] {
            // An entry of a jump table must be a single instruction: the computed jump multiplies the number
            // of the entry by the size of one instruction.
            [_] if in_table => false,
            [.., getpc, low, high, _] if !in_table => {
                [getpc.op, low.op, high.op] != [op::S_GETPC_B64, op::S_ADD_U32, op::S_ADDC_U32]
            }
            _ => true,
        };
        in_table = next.is_some();
        next.is_some_and(|next| is_torn || next.as_u32() != id.as_u32() + 1)
    });
    torn.map(|(id, _)| id)
}

fn branch_target(inst: &MachInst) -> Option<MBlock> {
    inst.operands().iter().find_map(|operand| match operand {
        Operand::Block(block) => Some(*block),
        _ => None,
    })
}

fn with_distance(inst: &MachInst, distance: i32) -> MachInst {
    let mut inst = *inst;
    for operand in inst.operands_mut() {
        if let Operand::Block(_) | Operand::Reloc(_) = operand {
            *operand = Operand::Imm(distance);
        }
    }
    inst
}

/// Returns the index in `MachFunc::relocs` of the function that an `s_call_b64` calls. The encoding of
/// `s_call_b64` contains the distance to this function. Returns `None` for all other instructions.
fn near_call(inst: &MachInst) -> Option<u32> {
    match inst.ops[1] {
        Operand::Reloc(reloc) if inst.op == op::S_CALL_B64 => Some(reloc),
        _ => None,
    }
}

/// Fills in the distances of branches (instructions of format SOPP): the low 16 bits of the instruction hold
/// the distance in dwords from the next instruction.
fn patch_branches(func: &MachFunc, code: &mut Code, branches: &[(usize, MBlock)]) -> Result<(), EmitError> {
    for &(at, to) in branches {
        let distance = i64::from(code.blocks[to.as_u32() as usize]) - (at as i64 + 1);
        let distance = i16::try_from(distance)
            .map_err(|_| EmitError::BranchRange { kernel: func.name.clone(), offset: at * 4 })?;
        code.words[at] = (code.words[at] & 0xffff_0000) | u32::from(distance as u16);
    }
    Ok(())
}
