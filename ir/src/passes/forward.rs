//! Keeps track of the contents of memory that are known at a program point. Loads and stores make contents
//! known. An instruction that may change memory makes the contents of this memory unknown again.

use crate::analysis::{CallEffects, Escapes};
use crate::constraints::FORWARD;
use crate::entity::{Inst, Value};
use crate::func::Function;
use crate::op::{Mem, MemFlags, Op};
use crate::types::{MemTy, Space};

/// Maximum number of accesses that are remembered. Older accesses are forgotten, so that the time of the pass
/// is linear.
const WINDOW: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Access {
    ptr: Value,
    mem: Mem,
    count: u8,
    /// The load or store from which the contents are known. For a load, the contents are its results, which
    /// are consecutive values. For a store, the contents are its arguments from index 1 on.
    inst: Inst,
    is_store: bool,
}

/// Known contents of memory.
#[derive(Debug, Default)]
pub(super) struct Memory {
    known: Vec<Access>,
    escapes: Escapes,
}

/// Returns whether two accesses may touch a common byte.
pub(super) fn may_alias(a: (Value, &Mem, u8), b: (Value, &Mem, u8)) -> bool {
    let ((p, x, m), (q, y, n)) = (a, b);
    if x.flags.contains(MemFlags::INVARIANT) || y.flags.contains(MemFlags::INVARIANT) {
        return false; // at least one of the two is a read of memory that is never written
    }
    if !spaces_overlap(x.space, y.space) || (x.alias != 0 && y.alias != 0 && x.alias != y.alias) {
        return false;
    }
    let (end_x, end_y) = (end(x, m), end(y, n));
    p != q || (i64::from(x.offset) < end_y && i64::from(y.offset) < end_x)
}

/// Returns the offset after the last byte of an access.
fn end(mem: &Mem, count: u8) -> i64 {
    i64::from(mem.offset) + i64::from(mem.ty.bytes()) * i64::from(count)
}

fn spaces_overlap(a: Space, b: Space) -> bool {
    let device = |s| matches!(s, Space::Global | Space::Constant);
    a == b || a == Space::Generic || b == Space::Generic || (device(a) && device(b))
}

impl Memory {
    /// Prepares for a function.
    pub fn begin(&mut self, func: &Function, calls: &CallEffects) {
        self.clear();
        self.escapes.clear();
        if !calls.is_empty() {
            self.escapes.compute(func);
        }
    }

    /// Forgets all contents.
    pub fn clear(&mut self) {
        self.known.clear();
    }

    /// Remembers what a plain load has read, so that later loads of the same memory can be replaced by its
    /// results.
    pub fn load(&mut self, func: &Function, inst: Inst) {
        if let Op::Load { mem, count } = func.insts[inst].op {
            self.note(Access { ptr: func.args(inst)[0], mem, count, inst, is_store: false });
        }
    }

    /// Forgets the contents that a store may overwrite, and remembers what it wrote.
    pub fn store(&mut self, func: &Function, inst: Inst) {
        let Op::Store { mem, count } = func.insts[inst].op else { return };
        let ptr = func.args(inst)[0];
        self.known.retain(|a| !may_alias((a.ptr, &a.mem, a.count), (ptr, &mem, count)));
        // If a store writes fewer bits than the value has, memory then holds only a part of the value. A
        // later load would not read the value itself, so nothing is remembered.
        if FORWARD.takes(&mem) && matches!(mem.ty, MemTy::B32 | MemTy::B64) {
            self.note(Access { ptr, mem, count, inst, is_store: true });
        }
    }

    /// Forgets the contents that an atomic operation, fence, barrier or call may change.
    pub fn clobber(&mut self, func: &Function, inst: Inst, calls: &CallEffects) {
        let op = func.insts[inst].op;
        match op {
            _ if op.is_call() && calls.effects_of_call(op).keeps_memory() => {}
            // A call keeps private memory that the callee cannot access.
            _ if op.is_call() => {
                let Memory { known, escapes } = self;
                known.retain(|a| a.mem.space == Space::Private && escapes.is_own(a.ptr));
            }
            // After this operation, writes of other work-items may be visible. Only the contents of private
            // memory are still known.
            _ if FORWARD.stopped_by(&op) => self.known.retain(|a| a.mem.space == Space::Private),
            Op::AtomicRmw { mem, .. } | Op::AtomicCas { mem, .. } => {
                let ptr = func.args(inst)[0];
                self.known.retain(|a| !may_alias((a.ptr, &a.mem, a.count), (ptr, &mem, 1)));
            }
            _ => {}
        }
    }

    fn note(&mut self, access: Access) {
        if self.known.len() == WINDOW {
            self.known.remove(0);
        }
        self.known.push(access);
    }

    /// Appends to `values` the values that a plain load reads, if all of them are known. Returns whether they
    /// are.
    pub fn lookup(&self, func: &Function, inst: Inst, values: &mut Vec<Value>) -> bool {
        let Op::Load { mem, count } = func.insts[inst].op else { return false };
        let ptr = func.args(inst)[0];
        let ty = func.ty(func.insts[inst].first);
        for access in self.known.iter().rev() {
            if access.ptr != ptr || access.mem.space != mem.space || access.mem.ty != mem.ty {
                continue;
            }
            let distance = i64::from(mem.offset) - i64::from(access.mem.offset);
            let size = i64::from(mem.ty.bytes());
            if distance < 0
                || distance % size != 0
                || distance / size + i64::from(count) > i64::from(access.count)
            {
                continue;
            }
            let first = (distance / size) as usize;
            let convertible = |value: Value| {
                let from = func.ty(value);
                from == ty || (from.bits() == ty.bits() && !is_pointer(from) && !is_pointer(ty))
            };
            let at = values.len();
            values.extend((first..first + usize::from(count)).map(|n| access.value(func, n)));
            if values[at..].iter().all(|&v| convertible(v)) {
                return true;
            }
            values.truncate(at);
        }
        false
    }
}

impl Access {
    fn value(&self, func: &Function, n: usize) -> Value {
        if self.is_store { func.args(self.inst)[1 + n] } else { func.result(self.inst, n as u16) }
    }
}

fn is_pointer(ty: crate::types::Type) -> bool {
    matches!(ty, crate::types::Type::Ptr(_))
}
