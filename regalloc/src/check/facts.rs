//! Finds the registers of the original program that have the same contents each time that they are written.
//! The contents are called a fact: a constant, a dword of constant memory at a distance from an input, or the
//! address of a module variable. The final code may compute such contents anywhere.
//!
//! This module is written for the checker alone, and uses only the instructions of the original program.

use super::Value;
use crate::stream::{SGPR, VGPR, edges, params};
use cranelift_entity::EntityRef;
use isa::table::Role;
use isa::{Addressing, MachInst, Mods, Operand, Subtarget, op};
use mir::{MachFunc, SyncOrder};
use rustc_hash::FxHashMap;

/// Contents of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    /// A constant dword.
    Const(Operand),
    /// A dword of constant memory: the two halves of the pointer, and the dword's distance from the pointer
    /// in bytes.
    Load([Value; 2], i64),
    /// One half of a 64-bit address, which is the sum of the program counter and the given distance.
    Address(Operand),
}

/// The facts of a program.
pub(super) struct Facts {
    numbers: FxHashMap<Fact, u32>,
    /// By register, the number of its fact.
    of: Vec<Option<u32>>,
    /// For each register, whether several instructions write it, or an instruction modifies it in place. The
    /// contents of such a register vary, so there is no fact about it.
    varies: Vec<bool>,
    /// `counters` lists the registers that hold a program counter. `pointers` says for each register whether
    /// it is part of a pointer relative to which constants are loaded.
    pub counters: Vec<Value>,
    pub pointers: Vec<bool>,
    addressing: Addressing,
}

impl Facts {
    pub fn new(func: &MachFunc, target: &Subtarget) -> Facts {
        let count = func.vregs.len();
        let mut facts = Facts {
            numbers: FxHashMap::default(),
            of: vec![None; count],
            varies: vec![false; count],
            counters: Vec::new(),
            pointers: vec![false; count],
            addressing: *target.addressing,
        };
        let mut is_input = vec![false; count];
        func.inputs.iter().for_each(|&(vreg, _)| is_input[vreg.index()] = true);
        let mut written = is_input.clone();
        for inst in func.blocks.values().flat_map(|block| &block.insts) {
            for (i, operand) in inst.operands().iter().enumerate() {
                let Operand::Virt(tuple) = *operand else { continue };
                let role = inst.role(i);
                for (n, reg) in func.regs(tuple).iter().enumerate().filter(|_| role != Role::Use) {
                    let again = std::mem::replace(&mut written[reg.index()], true);
                    facts.varies[reg.index()] |= again || role != Role::Def;
                    let fact = facts.fact(func, inst, n as u8, tuple.len, &is_input);
                    let number = fact.map(|fact| {
                        let next = facts.numbers.len() as u32;
                        *facts.numbers.entry(fact).or_insert(next)
                    });
                    facts.of[reg.index()] = number;
                    if inst.op == op::S_GETPC_B64 {
                        facts.counters.push(Value::Virtual(reg.as_u32()));
                    }
                }
            }
        }
        facts.params(func);
        facts
    }

    /// Propagates facts (contents that are always the same) to block parameters. A parameter of a block that
    /// only one edge enters has the contents of its argument.
    fn params(&mut self, func: &MachFunc) {
        let mut preds = vec![[0u32; 2]; func.blocks.len()];
        for block in func.blocks.values() {
            for class in [SGPR, VGPR] {
                edges(block, class).iter().flatten().for_each(|edge| preds[edge.to.index()][class] += 1);
            }
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for block in func.blocks.values() {
                for class in [SGPR, VGPR] {
                    for edge in edges(block, class).iter().flatten() {
                        if preds[edge.to.index()][class] > 1 {
                            continue;
                        }
                        let params = params(&func.blocks[edge.to], class).iter();
                        for (&param, &arg) in params.zip(func.edge_args(edge)) {
                            if let (Value::Fact(fact), None) = (self.value(arg), self.of[param.index()]) {
                                self.of[param.index()] = Some(fact);
                                changed = true;
                            }
                        }
                    }
                }
            }
        }
    }

    /// If dword `n` of an instruction's result always has the same contents, returns these contents as a
    /// fact. The result has `len` dwords.
    fn fact(&mut self, func: &MachFunc, inst: &MachInst, n: u8, len: u8, is_input: &[bool]) -> Option<Fact> {
        let source = inst.ops[1];
        match (inst.op, inst.ops[2]) {
            (op::COPY, _) if source.is_const() => {
                Some(Fact::Const(crate::rewrite::constant_part(source, n, len)))
            }
            (op::S_ADD_U32 | op::S_ADDC_U32, distance @ Operand::Reloc(_)) => Some(Fact::Address(distance)),
            (
                op::S_LOAD_DWORD
                | op::S_LOAD_DWORDX2
                | op::S_LOAD_DWORDX4
                | op::S_LOAD_DWORDX8
                | op::S_LOAD_DWORDX16,
                Operand::Imm(field),
            ) if inst.mods == Mods::default() => {
                let mem = inst.mem.index().map(|mem| func.mems[mem]).unwrap_or_default();
                let Operand::Virt(tuple) = source else { return None };
                let &[low, high] = func.regs(tuple) else { return None };
                let fixed = is_input[low.index()] && is_input[high.index()];
                if !fixed || mem.order != SyncOrder::NotAtomic || mem.volatile {
                    return None;
                }
                [low, high].iter().for_each(|half| self.pointers[half.index()] = true);
                let pointer = [low, high].map(|half| Value::Virtual(half.as_u32()));
                Some(Fact::Load(pointer, self.distance(field, n)))
            }
            _ => None,
        }
    }

    /// Returns the distance in bytes from the pointer of a scalar load to dword `n` of the loaded data.
    /// `field` is the offset field of the instruction.
    pub fn distance(&self, field: i32, n: u8) -> i64 {
        self.addressing.scalar_bytes(field) + 4 * i64::from(n)
    }

    /// Returns the value of a register, by which the checker follows it. Registers that always have the same
    /// contents as each other have the same value.
    pub fn value(&self, vreg: isa::VReg) -> Value {
        match self.of[vreg.index()] {
            Some(fact) if !self.varies[vreg.index()] => Value::Fact(fact),
            _ => Value::Virtual(vreg.as_u32()),
        }
    }

    /// Returns the value that stands for a fact (contents that are always the same), if a register of the
    /// original program has these contents.
    pub fn value_of_fact(&self, fact: Fact) -> Option<Value> {
        self.numbers.get(&fact).map(|&number| Value::Fact(number))
    }

    /// Returns whether only one instruction writes a value. When this instruction executes, no register or
    /// slot can then hold an older version of the value.
    pub fn is_new(&self, value: Value) -> bool {
        match value {
            Value::Virtual(vreg) => !self.varies[vreg as usize],
            Value::Fact(_) => true,
            _ => false,
        }
    }

    /// Returns whether the final code may omit an original instruction, because all its results are facts
    /// that the final code can compute where they are needed. A read of the program counter may be omitted if
    /// it only serves to compute addresses.
    pub fn is_dispensable(&self, func: &MachFunc, inst: &MachInst) -> bool {
        let mut results = inst.operands().iter().enumerate().filter(|&(i, _)| inst.role(i) != Role::Use);
        let dispensable = |operand: &Operand| match *operand {
            Operand::Virt(tuple) => {
                let known = |&reg: &isa::VReg| matches!(self.value(reg), Value::Fact(_));
                inst.op == op::S_GETPC_B64 || func.regs(tuple).iter().all(known)
            }
            _ => false,
        };
        results.clone().next().is_some() && results.all(|(_, operand)| dispensable(operand))
    }
}
