//! What loads from constant variables read at known places: nobody writes such a variable, so it holds its initial
//! bytes for good. Words of it that the linker makes addresses of functions are not known.

use crate::entity::{Global, Inst, Value};
use crate::func::{Function, GlobalData};
use crate::op::{Mem, Op};
use crate::types::{MemTy, Space, Type};
use cranelift_entity::PrimaryMap;

/// Additions of constants to an address that are looked through.
const DEPTH: u32 = 4;

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
    let is_known =
        data.space == Space::Constant && !data.dynamic && !data.external && end <= data.size as usize;
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
