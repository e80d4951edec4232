//! Symbolic values of scalar registers within a block. A symbolic value is an expression with the registers
//! at the beginning or at the end of the block. The condition of a branch is such a value.

use crate::finding::Site;
use crate::fold::{Folded, fold};
use crate::program::Program;
use crate::ranges::Ranges;
use crate::regset::RegSet;
use isa::table::{Family, Role};
use isa::{MachInst, Mods, Opcode, Operand, Reg, RegRange, op};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Maximum number of instructions in a chain through which a value is traced back.
const DEPTH: u32 = 5;

/// What a branch tests, as nodes (symbolic values). Each field has the number of a node, and whether the
/// branch is taken if the node is true. `condition` is an expression with the registers at the beginning of
/// the block, and `behind` one with the registers at its end. `flag` is the flag itself.
pub(crate) struct Tested {
    pub(crate) condition: Option<(u32, bool)>,
    pub(crate) behind: Option<(u32, bool)>,
    pub(crate) flag: (u32, bool),
}

/// A symbolic value: a register, a constant, or the result of an instruction whose sources are symbolic
/// values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Register(Reg, u8),
    Constant(Operand),
    /// The result of an instruction. The third field says which of the results this is: the register code of
    /// a flag that the instruction writes, or 0 for the first operand.
    Computed(Opcode, Mods, u16, SmallVec<[u32; 4]>),
}

/// Which registers an expression contains: those at the beginning of the block with this first instruction,
/// or those at the end of the block with these first and last instructions.
#[derive(Clone, Copy)]
pub(crate) enum View {
    Beginning(Site),
    End(Site, Site),
}

pub(crate) struct Finder<'a> {
    program: &'a Program,
    numbers: HashMap<Node, u32>,
    /// The nodes (symbolic values), by their numbers.
    nodes: Vec<Node>,
    /// For each node, the registers on which it depends.
    pub(crate) reads: Vec<RegSet>,
    /// For each node, the only register on which the node depends, if there is exactly one and it is an SGPR.
    leaves: Vec<Leaf>,
}

/// The registers on which a value depends, as far as needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaf {
    None,
    /// The value depends only on this SGPR.
    One(Reg),
    Other,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(program: &'a Program) -> Finder<'a> {
        let (numbers, nodes, reads, leaves) = (HashMap::new(), Vec::new(), Vec::new(), Vec::new());
        Finder { program, numbers, nodes, reads, leaves }
    }

    /// Returns what the branch at the end of a block tests.
    pub(crate) fn tested(&mut self, start: Site, end: Site) -> Option<Tested> {
        let masks = self.program.code.target().wave_size / 32;
        let (flag, if_set) = flag(&self.program.insts[end as usize].inst, masks as u8)?;
        let register = self.node(Node::Register(flag.first, flag.len), RegSet::from_range(flag));
        let (condition, behind) = match self.last_writer(start, end, flag) {
            None => (Some((register, true)), None),
            Some(site) => (
                self.condition(View::Beginning(start), site, flag),
                self.condition(View::End(start, end), site, flag),
            ),
        };
        let taken = |condition: Option<(u32, bool)>| condition.map(|(node, holds)| (node, holds == if_set));
        Some(Tested { condition: taken(condition), behind: taken(behind), flag: (register, if_set) })
    }

    /// Returns the condition that an instruction writes to a flag. Equivalent compares have the same
    /// canonical form.
    fn condition(&mut self, view: View, site: Site, flag: RegRange) -> Option<(u32, bool)> {
        let inst = self.program.insts[site as usize].inst;
        let Some((opcode, swapped, holds)) = compare(inst.op).filter(|_| flag.first == Reg::SCC) else {
            return Some((self.computed(view, site, flag, DEPTH)?, true));
        };
        let mut sources = self.sources(view, site, DEPTH)?;
        if swapped {
            sources.swap(0, 1);
        }
        if matches!(opcode, op::S_CMP_EQ_U32 | op::S_CMP_EQ_U64) {
            sources.sort_unstable();
        }
        let reads = self.all_read(&sources);
        Some((self.node(Node::Computed(opcode, inst.mods, 0, sources), reads), holds))
    }

    fn node(&mut self, node: Node, reads: RegSet) -> u32 {
        let number = self.reads.len() as u32;
        let known = *self.numbers.entry(node.clone()).or_insert(number);
        if known == number {
            self.reads.push(reads);
            self.leaves.push(self.leaf_of(&node));
            self.nodes.push(node);
        }
        known
    }

    fn leaf_of(&self, node: &Node) -> Leaf {
        match node {
            Node::Register(first, 1) if first.0 < Reg::VCC.0 => Leaf::One(*first),
            Node::Register(..) => Leaf::Other,
            Node::Constant(_) => Leaf::None,
            Node::Computed(.., sources) => {
                sources.iter().fold(Leaf::None, |all, source| match (all, self.leaves[*source as usize]) {
                    (leaf, Leaf::None) | (Leaf::None, leaf) => leaf,
                    (one, other) if one == other => one,
                    _ => Leaf::Other,
                })
            }
        }
    }

    /// Returns the only register on which a node depends. Returns `None` if it depends on several registers,
    /// or on a register that is not an SGPR.
    pub(crate) fn only_register(&self, node: u32) -> Option<Reg> {
        match self.leaves[node as usize] {
            Leaf::One(register) => Some(register),
            _ => None,
        }
    }

    /// Returns the values of a register for which a node is true, if the node compares this register with a
    /// constant. Otherwise, returns `None`.
    pub(crate) fn ranges(&self, node: u32) -> Option<Ranges> {
        let Node::Computed(opcode, _, 0, sources) = &self.nodes[node as usize] else { return None };
        let &[one, other] = &sources[..] else { return None };
        let is_register = |node: u32| matches!(self.nodes[node as usize], Node::Register(_, 1));
        let constant = |node: u32| match self.nodes[node as usize] {
            Node::Constant(operand) => constant(operand),
            _ => None,
        };
        match (constant(one), constant(other)) {
            (None, Some(value)) if is_register(one) => Ranges::of_compare(*opcode, true, value),
            (Some(value), None) if is_register(other) => Ranges::of_compare(*opcode, false, value),
            _ => None,
        }
    }

    /// Returns the value of a node when its only register has the value `value`. The value of a condition is
    /// 0 or 1 (SCC). Returns `None` if the node cannot be evaluated.
    pub(crate) fn value_at(&self, node: u32, value: Option<u32>) -> Option<u64> {
        match &self.nodes[node as usize] {
            Node::Register(_, 1) => value.map(u64::from),
            Node::Register(..) => None,
            Node::Constant(operand) => constant(*operand).map(u64::from),
            Node::Computed(opcode, _, which, sources) => {
                // Instructions on 64 bits are not evaluated, because different instructions extend constants
                // to 64 bits in different ways.
                let mut read: SmallVec<[u64; 2]> = SmallVec::new();
                if opcode.row().name.contains("64") || sources.len() > 2 {
                    return None;
                }
                for source in sources {
                    read.push(self.value_at(*source, value)?);
                }
                let get = |index: usize| read.get(index).copied().unwrap_or_default();
                let Folded { value, scc } = fold(*opcode, get(0), get(1), None)?;
                let scc = scc.map(u64::from);
                if *which == 0 { value.or(scc) } else { scc.filter(|_| *which == Reg::SCC.0) }
            }
        }
    }

    /// Returns what is known about a register at the end of a block that writes the register. It may have a
    /// constant value there, or equal another register. Returns `None` if neither is known.
    pub(crate) fn at_end(&mut self, (start, end): (Site, Site), register: Reg) -> Option<Held> {
        let range = RegRange { first: register, len: 1 };
        let writer = self.last_writer(start, end + 1, range)?;
        let node = self.computed(View::End(start, end), writer, range, DEPTH)?;
        match (&self.nodes[node as usize], self.leaves[node as usize]) {
            (Node::Register(other, 1), Leaf::One(_)) => Some(Held::Copy(*other)),
            (_, Leaf::None) => Some(Held::Constant(u32::try_from(self.value_at(node, None)?).ok()?)),
            _ => None,
        }
    }

    /// Returns whether a node depends only on the lowest bit of a register, like `s_and_b32 s9, s5, 1`.
    pub(crate) fn is_of_lowest_bit(&self, node: u32) -> bool {
        let Node::Computed(opcode, _, _, sources) = &self.nodes[node as usize] else { return false };
        let node = |source: u32| &self.nodes[source as usize];
        let pair = match &sources[..] {
            &[one, other] => Some((node(one), node(other))),
            _ => None,
        };
        match (*opcode, pair) {
            (
                op::S_AND_B32,
                Some((Node::Register(..), Node::Constant(mask)) | (Node::Constant(mask), Node::Register(..))),
            ) => constant(*mask) == Some(1),
            (op::S_BITCMP1_B32, Some((Node::Register(..), Node::Constant(bit)))) => constant(*bit) == Some(0),
            _ => sources
                .iter()
                .all(|source| self.leaves[*source as usize] == Leaf::None || self.is_of_lowest_bit(*source)),
        }
    }

    /// Returns whether a block changes a register by an odd number (true) or by an even number (false).
    /// Returns `None` unless the block only adds constants to the register and subtracts constants from it.
    pub(crate) fn adds_odd(&mut self, (start, end): (Site, Site), register: Reg) -> Option<bool> {
        let range = RegRange { first: register, len: 1 };
        let node = self.value(View::Beginning(start), end + 1, range, DEPTH)?;
        let (has_register, is_odd) = self.parity(node, register)?;
        has_register.then_some(is_odd)
    }

    /// Returns two facts about a node that is a sum: whether it contains the register an odd number of times,
    /// and whether the sum of its constants is odd.
    fn parity(&self, node: u32, register: Reg) -> Option<(bool, bool)> {
        match &self.nodes[node as usize] {
            Node::Register(other, 1) => (*other == register).then_some((true, false)),
            Node::Constant(operand) => Some((false, constant(*operand)? & 1 != 0)),
            Node::Computed(
                op::S_ADD_U32 | op::S_ADD_I32 | op::S_SUB_U32 | op::S_SUB_I32 | op::S_ADDK_I32,
                _,
                0,
                sources,
            ) => sources.iter().try_fold((false, false), |(has, is_odd), source| {
                let (other_has, is_other_odd) = self.parity(*source, register)?;
                Some((has != other_has, is_odd != is_other_odd))
            }),
            _ => None,
        }
    }

    fn all_read(&self, nodes: &[u32]) -> RegSet {
        nodes.iter().fold(RegSet::EMPTY, |all, node| all.or(&self.reads[*node as usize]))
    }

    /// Returns the last instruction in `start..end` that writes one of the registers `registers`.
    fn last_writer(&self, start: Site, end: Site, registers: RegRange) -> Option<Site> {
        let wanted = RegSet::from_range(registers);
        (start..end).rev().find(|site| self.program.code.effects(*site).writes.intersects(&wanted))
    }

    /// Returns the node for the value that the registers `registers` have before the instruction at `site`.
    fn value(&mut self, view: View, site: Site, registers: RegRange, depth: u32) -> Option<u32> {
        let (start, is_register) = match view {
            View::Beginning(start) => (start, None),
            View::End(start, end) => (start, Some(self.last_writer(site, end, registers).is_none())),
        };
        let writer = if is_register == Some(true) { None } else { self.last_writer(start, site, registers) };
        match writer {
            Some(writer) => self.computed(view, writer, registers, depth.checked_sub(1)?),
            // The expression must use the registers at the end of the block, but this register is overwritten
            // before the end. So the expression cannot name the value that the register has here.
            None if is_register == Some(false) => None,
            None => {
                Some(self.node(Node::Register(registers.first, registers.len), RegSet::from_range(registers)))
            }
        }
    }

    /// Returns the node for the value that the instruction at `site` writes to `registers`. Returns `None` if
    /// the value may depend on anything but registers and constants.
    fn computed(&mut self, view: View, site: Site, registers: RegRange, depth: u32) -> Option<u32> {
        let MachInst { op, mods, ops, .. } = self.program.insts[site as usize].inst;
        let is_pure =
            matches!(
                op.family(),
                Family::Sop1
                    | Family::Sop2
                    | Family::Sopk
                    | Family::Sopc
                    | Family::Vop1
                    | Family::Vop2
                    | Family::Vop3
                    | Family::Vopc
            ) && !matches!(op, op::S_GETREG_B32 | op::S_CALL_B64 | op::S_SWAPPC_B64 | op::S_GETPC_B64)
                && !op.row().name.contains("movrel");
        let writes = &self.program.code.effects(site).writes;
        if !is_pure || !RegSet::from_range(registers).without(writes).is_empty() {
            return None;
        }
        let which = match ops[0] == Operand::Reg(registers) {
            true => 0,
            // If only a part of the result is wanted, there is no node, because only the whole result is
            // known. A flag that the instruction writes in addition to its result has a node.
            false if registers.first == Reg::SCC || registers.first.0 >= Reg::VCC.0 => registers.first.0,
            false => return None,
        };
        let sources = self.sources(view, site, depth)?;
        // The node of a copy is the node of its source.
        if matches!(op, op::S_MOV_B32 | op::S_MOV_B64) && which == 0 {
            return sources.first().copied();
        }
        let reads = self.all_read(&sources);
        Some(self.node(Node::Computed(op, mods, which, sources), reads))
    }

    /// Returns the nodes of the values that the instruction at `site` reads.
    fn sources(&mut self, view: View, site: Site, depth: u32) -> Option<SmallVec<[u32; 4]>> {
        let inst = self.program.insts[site as usize].inst;
        let mut read: SmallVec<[Operand; 4]> = SmallVec::new();
        for (index, operand) in inst.operands().iter().enumerate() {
            if inst.role(index) != Role::Def {
                read.push(*operand);
            }
        }
        let named = read.clone();
        inst.for_each_hw_reg(self.program.code.target(), |role, range| {
            if role != Role::Def && !named.contains(&Operand::Reg(range)) {
                read.push(Operand::Reg(range));
            }
        });
        let mut sources = SmallVec::new();
        for operand in read {
            sources.push(match operand {
                // Some hardware flags and constants are encoded like registers. Their values are not known.
                Operand::Reg(range) if (192..256).contains(&range.first.0) && range.first != Reg::SCC => {
                    return None;
                }
                Operand::Reg(range) => self.value(view, site, range, depth)?,
                Operand::Inline(_) | Operand::Literal(_) | Operand::Imm(_) => {
                    self.node(Node::Constant(operand), RegSet::EMPTY)
                }
                _ => return None,
            });
        }
        Some(sources)
    }
}

/// What is known about the value of a register at the end of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held {
    Constant(u32),
    /// The register has the same value as this register.
    Copy(Reg),
}

fn constant(operand: Operand) -> Option<u32> {
    match operand {
        Operand::Imm(value) => Some(value as u32),
        other => other.const_u32(),
    }
}

/// Returns the flag that a branch tests, and whether the branch is taken if the flag is set. `masks` is the
/// number of dwords of a lane mask, which depends on the wave size.
fn flag(branch: &MachInst, masks: u8) -> Option<(RegRange, bool)> {
    let one = |first| RegRange { first, len: 1 };
    let mask = |first| RegRange { first, len: masks };
    match branch.op {
        op::S_CBRANCH_SCC0 => Some((one(Reg::SCC), false)),
        op::S_CBRANCH_SCC1 => Some((one(Reg::SCC), true)),
        op::S_CBRANCH_VCCZ => Some((mask(Reg::VCC), false)),
        op::S_CBRANCH_VCCNZ => Some((mask(Reg::VCC), true)),
        op::S_CBRANCH_EXECZ => Some((mask(Reg::EXEC), false)),
        op::S_CBRANCH_EXECNZ => Some((mask(Reg::EXEC), true)),
        _ => None,
    }
}

/// Returns the canonical form of a compare instruction: the opcode, whether its operands are exchanged, and
/// whether it has the same result as the original (true) or the opposite result (false).
fn compare(opcode: Opcode) -> Option<(Opcode, bool, bool)> {
    Some(match opcode {
        op::S_CMP_EQ_I32 | op::S_CMP_EQ_U32 => (op::S_CMP_EQ_U32, false, true),
        op::S_CMP_LG_I32 | op::S_CMP_LG_U32 => (op::S_CMP_EQ_U32, false, false),
        op::S_CMP_GT_I32 => (op::S_CMP_GT_I32, false, true),
        op::S_CMP_LE_I32 => (op::S_CMP_GT_I32, false, false),
        op::S_CMP_LT_I32 => (op::S_CMP_GT_I32, true, true),
        op::S_CMP_GE_I32 => (op::S_CMP_GT_I32, true, false),
        op::S_CMP_GT_U32 => (op::S_CMP_GT_U32, false, true),
        op::S_CMP_LE_U32 => (op::S_CMP_GT_U32, false, false),
        op::S_CMP_LT_U32 => (op::S_CMP_GT_U32, true, true),
        op::S_CMP_GE_U32 => (op::S_CMP_GT_U32, true, false),
        op::S_CMP_EQ_U64 => (op::S_CMP_EQ_U64, false, true),
        op::S_CMP_LG_U64 => (op::S_CMP_EQ_U64, false, false),
        op::S_BITCMP0_B32 => (op::S_BITCMP1_B32, false, false),
        op::S_BITCMP1_B32 => (op::S_BITCMP1_B32, false, true),
        op::S_BITCMP0_B64 => (op::S_BITCMP1_B64, false, false),
        op::S_BITCMP1_B64 => (op::S_BITCMP1_B64, false, true),
        op::S_CMPK_LG_U32 => (op::S_CMPK_EQ_U32, false, false),
        op::S_CMPK_LG_I32 => (op::S_CMPK_EQ_I32, false, false),
        op::S_CMPK_LE_I32 => (op::S_CMPK_GT_I32, false, false),
        op::S_CMPK_LE_U32 => (op::S_CMPK_GT_U32, false, false),
        op::S_CMPK_GE_I32 => (op::S_CMPK_LT_I32, false, false),
        op::S_CMPK_GE_U32 => (op::S_CMPK_LT_U32, false, false),
        _ => return None,
    })
}
