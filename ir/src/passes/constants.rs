//! What loads from constant variables read at known places: nobody writes such a variable, so it holds its initial
//! bytes for good. Words of it that the linker makes addresses of functions are not known.
//!
//! A number in code is not always better than one in memory: scalar loads bring sixteen dwords at once, and many vector
//! instructions take no literal but a scalar register. So numbers are folded that are operands at no cost, that are narrower
//! than what scalar loads bring, or from which something else becomes constant or is better done: [`Wanted`].

use crate::analysis::Cfg;
use crate::entity::{Global, Inst, Value};
use crate::func::{Function, GlobalData};
use crate::op::{BinOp, Mem, Op, TernOp};
use crate::types::{MemTy, Space, Type};
use cranelift_entity::{EntityRef, PrimaryMap};

/// Additions of constants to an address that are looked through.
const DEPTH: u32 = 4;

/// What it is worth that a value is a constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// Nothing.
    #[default]
    None,
    /// Something, if the value itself is one.
    Itself,
    /// Something, and so it is of all that the value is computed from.
    Origin,
}

/// Values that are worth being constants, if they come from constant variables.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// By value.
    values: Vec<Worth>,
}

impl Wanted {
    /// Looks for places where a constant makes a difference: offsets, counts of shifts, divisors and conditions, with all that
    /// they are computed from; what blocks and calls are given, and what is stored.
    pub fn compute(&mut self, func: &Function, cfg: &Cfg, globals: &PrimaryMap<Global, GlobalData>) {
        self.values.clear();
        if !globals.values().any(is_table) {
            return;
        }
        self.values.resize(func.values.len(), Worth::None);
        for &inst in cfg.rpo().iter().rev().flat_map(|&block| func.blocks[block].insts.iter().rev()) {
            self.visit(func, globals, inst);
        }
    }

    fn visit(&mut self, func: &Function, globals: &PrimaryMap<Global, GlobalData>, inst: Inst) {
        let args = func.args(inst);
        let (from, worth) = match func.insts[inst].op {
            Op::PtrAdd | Op::PtrAddZ => (1, Worth::Origin),
            Op::Store { mem, .. } if mem.space != Space::Private => (1, Worth::Itself),
            Op::Load { .. } | Op::Store { .. } | Op::AtomicRmw { .. } | Op::AtomicCas { .. } => return,
            Op::Jump(_) | Op::Br { .. } | Op::Switch(_) => return self.branch(func, inst),
            op if !op.is_pure() => (0, Worth::Itself),
            Op::Icmp(_) => (0, Worth::Origin),
            _ if self.values[func.insts[inst].first.index()] == Worth::Origin => (0, Worth::Origin),
            _ if args.iter().all(|&arg| is_known(func, globals, arg)) => (0, Worth::Itself),
            Op::Tern(TernOp::Fshr) => (2, Worth::Origin),
            Op::Bin(BinOp::Shl | BinOp::LShr | BinOp::AShr) => (1, Worth::Origin),
            Op::Bin(BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem) => (1, Worth::Origin),
            _ => return,
        };
        args[from..].iter().for_each(|&arg| self.want(arg, worth));
    }

    /// What is passed is worth what the parameter is; what decides where to go is worth all.
    fn branch(&mut self, func: &Function, inst: Inst) {
        if let Some(operand) = func.branch_operand(inst) {
            self.want(operand, Worth::Origin);
        }
        for (which, to) in func.succs(func.insts[inst].block).enumerate() {
            for (&param, &arg) in func.params(to).iter().zip(func.branch_args(inst, which)) {
                self.want(arg, self.values[param.index()].max(Worth::Itself));
            }
        }
    }

    fn want(&mut self, value: Value, worth: Worth) {
        let known = &mut self.values[value.index()];
        *known = worth.max(*known);
    }

    /// Whether a load is better replaced by the numbers that it reads, which are `bits`.
    pub fn folds(&self, func: &Function, inst: Inst, bits: &[u64]) -> bool {
        let Op::Load { mem, .. } = func.insts[inst].op else { return false };
        let is_wanted =
            |value: Value| self.values.get(value.index()).is_some_and(|&worth| worth > Worth::None);
        let ty = func.ty(func.insts[inst].first);
        mem.ty.bytes() < 4
            || func.results_of(inst).any(is_wanted)
            || bits.iter().all(|&bits| is_free_operand(ty, bits))
    }
}

/// Whether instructions take a number as an operand without a literal: small integers and a few floats.
fn is_free_operand(ty: Type, bits: u64) -> bool {
    let small = |number: i64| (-16..=64).contains(&number);
    match ty {
        Type::F32 => bits == 0 || [0.5, 1.0, 2.0, 4.0].contains(&f32::from_bits(bits as u32).abs()),
        Type::F64 => bits == 0 || [0.5, 1.0, 2.0, 4.0].contains(&f64::from_bits(bits).abs()),
        Type::I64 => small(bits as i64),
        _ => small((bits as i32).into()),
    }
}

/// Whether a value is a constant, or read from a constant variable at a known place.
fn is_known(func: &Function, globals: &PrimaryMap<Global, GlobalData>, value: Value) -> bool {
    let Some(inst) = func.def_inst(value) else { return false };
    match func.insts[inst].op {
        Op::Const(_) => true,
        Op::Load { .. } => {
            let found = place(func, func.args(inst)[0], DEPTH);
            found.is_some_and(|(global, _)| globals.get(global).is_some_and(is_table))
        }
        _ => false,
    }
}

/// Whether a variable holds its initial bytes for good.
fn is_table(data: &GlobalData) -> bool {
    data.space == Space::Constant && !data.dynamic && !data.external
}

/// Appends the bits of each value that a plain load reads to `bits`, if all of them are known. Returns whether they are.
pub(super) fn read(
    func: &Function,
    globals: &PrimaryMap<Global, GlobalData>,
    inst: Inst,
    bits: &mut impl Extend<u64>,
) -> bool {
    let Op::Load { mem, count } = func.insts[inst].op else { return false };
    let ty = func.ty(func.insts[inst].first);
    let Some((global, offset)) = place(func, func.args(inst)[0], DEPTH) else { return false };
    let start = offset.checked_add(mem.offset.into()).and_then(|start| usize::try_from(start).ok());
    let known = |start| bytes(globals.get(global)?, start, &mem, count);
    let Some(bytes) = start.and_then(known) else { return false };
    if matches!(ty, Type::Ptr(_)) {
        return false;
    }
    match bytes {
        Bytes::Zeros => bits.extend((0..count).map(|_| 0)),
        Bytes::Some(bytes) => {
            bits.extend(bytes.chunks_exact(mem.ty.bytes() as usize).map(|one| value(one, mem.ty)))
        }
    }
    true
}

/// The variable that an address is in, and its distance from the beginning.
fn place(func: &Function, ptr: Value, depth: u32) -> Option<(Global, i64)> {
    let inst = func.def_inst(ptr).filter(|_| depth > 0)?;
    let args = func.args(inst);
    match func.insts[inst].op {
        Op::GlobalAddr(global) => Some((global, 0)),
        Op::PtrAdd => {
            let (global, offset) = place(func, args[0], depth - 1)?;
            Some((global, offset.checked_add(func.const_bits(args[1])? as i64)?))
        }
        _ => None,
    }
}

/// Initial bytes of a part of a variable.
enum Bytes<'a> {
    Zeros,
    Some(&'a [u8]),
}

/// The bytes from `start` on that an access reads, if they are known.
fn bytes<'a>(data: &'a GlobalData, start: usize, mem: &Mem, count: u8) -> Option<Bytes<'a>> {
    let end = start.checked_add(mem.ty.bytes() as usize * usize::from(count))?;
    let is_known = is_table(data) && end <= data.size as usize;
    let is_address = |&(at, _): &(u32, _)| (at as usize) < end && start < at as usize + 8;
    if !is_known || data.funcs.iter().any(is_address) {
        return None;
    }
    if data.init.is_empty() { Some(Bytes::Zeros) } else { data.init.get(start..end).map(Bytes::Some) }
}

/// The bits of the value that a load of the type makes of bytes.
fn value(bytes: &[u8], ty: MemTy) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let word = u64::from_le_bytes(word);
    match ty {
        MemTy::S8 => (word as u8 as i8 as u32).into(),
        MemTy::S16 => (word as u16 as i16 as u32).into(),
        MemTy::U8 | MemTy::U16 | MemTy::B32 | MemTy::B64 => word,
    }
}
