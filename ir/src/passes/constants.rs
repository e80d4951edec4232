//! Folds loads from constant global variables at known offsets. Such a variable is never written, so it
//! always holds its initial bytes. The exceptions are words into which the linker puts addresses of
//! functions; loads of these words are not folded.
//!
//! A constant in the code is not always better than a constant in memory: a scalar load reads up to sixteen
//! dwords at once, and many vector instructions accept a scalar register but no literal. A load is therefore
//! folded only in three cases: the numbers are inline constants of the hardware, the numbers are narrower
//! than a scalar load can read, or the constants simplify other instructions ([`Wanted`]).

use crate::analysis::Cfg;
use crate::entity::{Global, Inst, Value};
use crate::func::{Function, GlobalData};
use crate::op::{BinOp, Mem, Op, TernOp};
use crate::types::{MemTy, Space, Type};
use cranelift_entity::{EntityRef, PrimaryMap};

/// Maximum number of additions that are followed back from an address to find the variable to which it
/// points.
const DEPTH: u32 = 4;

/// Says when other instructions become simpler because a value is known to be a constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// There is no benefit.
    #[default]
    None,
    /// They become simpler only if the value itself is loaded from a constant variable.
    Itself,
    /// They also become simpler if one of the values from which this value is computed is loaded from a
    /// constant variable.
    Origin,
}

/// The values for which it is worthwhile to replace a load from a constant variable by constants, because the
/// constants simplify other instructions.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Benefit of each value.
    values: Vec<Worth>,
}

impl Wanted {
    /// Finds the values for which it makes a difference whether they are known to be constant. These are
    /// offsets, shift counts, divisors and conditions, with all the values from which they are computed;
    /// arguments of blocks and calls; and stored values.
    pub fn compute(&mut self, func: &Function, cfg: &Cfg, globals: &PrimaryMap<Global, GlobalData>) {
        self.values.clear();
        if !globals.values().any(is_table) {
            return;
        }
        self.values.resize(func.values.len(), Worth::None);
        for &inst in cfg.rpo().iter().rev().flat_map(|&block| func.blocks[block].insts().iter().rev()) {
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

    /// Records the benefit of the operands of a branch. The arguments get the benefit of the block parameters
    /// that receive them. The condition or switch operand gets the benefit [`Worth::Origin`].
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

    /// Returns whether a load should be replaced by constants. `bits` are the numbers that the load reads.
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

/// Returns whether the number is an inline constant of the hardware (a small integer or one of a few floats).
/// Instructions can use inline constants without a literal.
fn is_free_operand(ty: Type, bits: u64) -> bool {
    let small = |number: i64| (-16..=64).contains(&number);
    match ty {
        Type::F32 => bits == 0 || [0.5, 1.0, 2.0, 4.0].contains(&f32::from_bits(bits as u32).abs()),
        Type::F64 => bits == 0 || [0.5, 1.0, 2.0, 4.0].contains(&f64::from_bits(bits).abs()),
        Type::I64 => small(bits as i64),
        _ => small((bits as i32).into()),
    }
}

/// Returns whether the value is a constant, or is read from a constant variable at a known offset.
fn is_known(func: &Function, globals: &PrimaryMap<Global, GlobalData>, value: Value) -> bool {
    let Some(inst) = func.def_inst(value) else { return false };
    match func.insts[inst].op {
        Op::Const(_) => true,
        Op::Load { .. } => {
            let found = global_and_offset(func, func.args(inst)[0], DEPTH);
            found.is_some_and(|(global, _)| globals.get(global).is_some_and(is_table))
        }
        _ => false,
    }
}

/// Returns whether the variable always holds its initial bytes.
fn is_table(data: &GlobalData) -> bool {
    data.space == Space::Constant && !data.dynamic && !data.external
}

/// Appends to `bits` the bits of each value that a plain load reads, if all these values are known. Returns
/// whether they are.
pub(super) fn read(
    func: &Function,
    globals: &PrimaryMap<Global, GlobalData>,
    inst: Inst,
    bits: &mut impl Extend<u64>,
) -> bool {
    let Op::Load { mem, count } = func.insts[inst].op else { return false };
    let ty = func.ty(func.insts[inst].first);
    let Some((global, offset)) = global_and_offset(func, func.args(inst)[0], DEPTH) else { return false };
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

/// Returns the global variable to which an address points, and the offset in the variable in bytes.
fn global_and_offset(func: &Function, ptr: Value, depth: u32) -> Option<(Global, i64)> {
    let inst = func.def_inst(ptr).filter(|_| depth > 0)?;
    let args = func.args(inst);
    match func.insts[inst].op {
        Op::GlobalAddr(global) => Some((global, 0)),
        Op::PtrAdd => {
            let (global, offset) = global_and_offset(func, args[0], depth - 1)?;
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

/// Returns the bytes that an access reads from offset `start`, if the bytes are known.
fn bytes<'a>(data: &'a GlobalData, start: usize, mem: &Mem, count: u8) -> Option<Bytes<'a>> {
    let end = start.checked_add(mem.ty.bytes() as usize * usize::from(count))?;
    let is_known = is_table(data) && end <= data.size as usize;
    let is_address = |&(at, _): &(u32, _)| (at as usize) < end && start < at as usize + 8;
    if !is_known || data.funcs.iter().any(is_address) {
        return None;
    }
    if data.init.is_empty() { Some(Bytes::Zeros) } else { data.init.get(start..end).map(Bytes::Some) }
}

/// Returns the bits of the value that a load of type `ty` reads from the bytes.
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
