//! Turns switches that only choose constants into arithmetic.
//!
//! The pass handles switches whose cases all lead to the same block and pass constants to it. These constants
//! are a function of the switch operand and can be written as a row of numbers, one for each operand value.
//! [`form`] chooses the cheapest way to compute each row: `a * n + b`, bits of a literal, or a load from a
//! table in constant memory. Operand values outside of the row go to the default block as before, or use an
//! additional number at the end of the row. (The idea is that of LLVM's `SwitchToLookupTable`; T. Jansen et
//! al. describe it for GCC's `tree-switch-conversion`.)
//!
//! The computation has no branches, so it costs the same for divergent and uniform operands: for example one
//! shift for all lanes instead of one path for each case.

mod form;
#[cfg(test)]
mod tests;

use super::interval::{bound, type_max};
use super::switch::merged;
use crate::entity::{Block, Global, Inst, Value};
use crate::func::{Case, Function, GlobalData, SrcLoc};
use crate::op::{BinOp, CastOp, IntCc, Mem, MemFlags, Op, Order, Scope};
use crate::types::{MemTy, Space, Type};
use form::{Form, Row};
use rustc_hash::FxHashMap;
use smol_str::format_smolstr;

/// Minimum number of cases. Fewer cases are tested faster than they are looked up.
const MIN_CASES: usize = 3;
/// Maximum length of a row, in total and per case. Longer rows take too long to create and too much memory.
const MAX_ROW: u64 = 4096;
const MAX_ROW_PER_CASE: u64 = 8;
/// Maximum number of levels of operands that are examined to find the range of the switch operand.
const DEPTH: u32 = 4;

/// Tables in constant memory that a pass created. They become global variables of the module.
#[derive(Debug, Default)]
pub struct Tables {
    /// Number that the first table will have as a global variable.
    first: usize,
    list: Vec<GlobalData>,
    by_content: FxHashMap<Vec<u8>, Global>,
}

impl Tables {
    /// Starts an empty list of tables that are numbered after the module's global variables.
    pub fn begin(&mut self, globals: usize) {
        self.first = globals;
        self.list.clear();
        self.by_content.clear();
    }

    /// Returns whether no table has been created.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Removes and returns the created tables.
    pub fn take(&mut self) -> impl Iterator<Item = GlobalData> + '_ {
        self.by_content.clear();
        self.list.drain(..)
    }

    /// Returns the table with these numbers; creates it if there is none.
    fn table(&mut self, ty: Type, numbers: &[u64]) -> Global {
        let bytes = (stored(ty).bits() / 8) as usize;
        let init: Vec<u8> = numbers.iter().flat_map(|bits| bits.to_le_bytes()[..bytes].to_vec()).collect();
        let Tables { first, list, by_content } = self;
        let global = *by_content.entry(init).or_insert_with_key(|init| {
            let number = *first + list.len();
            list.push(GlobalData {
                name: format_smolstr!("match.{number}"),
                space: Space::Constant,
                size: init.len() as u32,
                align: bytes as u32,
                init: init.clone(),
                dynamic: false,
                external: false,
                linked: false,
                funcs: Vec::new(),
            });
            Global::from_u32(number as u32)
        });
        // The same bytes may now be read as wider numbers.
        let align = &mut list[global.as_u32() as usize - *first].align;
        *align = (*align).max(bytes as u32);
        global
    }
}

/// Returns the type in which a number is stored in a table.
fn stored(ty: Type) -> Type {
    if ty == Type::Bool { Type::I32 } else { ty }
}

/// Replaces the switches for which the arithmetic is shorter. Returns whether there was one.
pub fn run(func: &mut Function, tables: &mut Tables) -> bool {
    let mut changed = false;
    let mut sources = Vec::new();
    for at in 0..func.layout.len() {
        let block = func.layout[at];
        let Some(inst) = func.terminator(block) else { continue };
        if let Op::Switch(_) = func.insts[inst].op
            && let Some(plan) = Plan::new(func, inst, sources_of_others(func, &mut sources))
        {
            plan.apply(func, block, inst, tables);
            changed = true;
        }
    }
    changed
}

/// Returns, for each block, whether one of its values is used in another block, in which case the block must
/// not be bypassed. Computed at the first call.
fn sources_of_others<'a>(func: &Function, sources: &'a mut Vec<bool>) -> &'a [bool] {
    if sources.is_empty() {
        sources.resize(func.blocks.len(), false);
        for &block in &func.layout {
            for &arg in func.blocks[block].insts().iter().flat_map(|&inst| func.args(inst)) {
                let home = func.block_of(arg);
                sources[home.as_u32() as usize] |= home != block;
            }
        }
    }
    sources
}

/// Returns the target of an edge and the arguments it passes. With `past`, the target must be a block that
/// only jumps, and the result describes the jump of that block.
fn goes_to(
    func: &Function,
    inst: Inst,
    edge: usize,
    past: bool,
    sources: &[bool],
) -> Option<(Block, Vec<Value>)> {
    let to = func.branch_target(inst, edge)?;
    let args = func.branch_args(inst, edge);
    if !past {
        return Some((to, args.to_vec()));
    }
    if sources.get(to.as_u32() as usize) != Some(&false) {
        return None;
    }
    let (&last, before) = func.blocks[to].insts().split_last()?;
    let Op::Jump(next) = func.insts[last].op else { return None };
    // Constants of the block can be created anywhere.
    if before.iter().any(|&inst| !matches!(func.insts[inst].op, Op::Const(_))) {
        return None;
    }
    let params = func.params(to);
    let through = |&value: &Value| params.iter().position(|&p| p == value).map_or(value, |n| args[n]);
    Some((next, func.branch_args(last, 0).iter().map(through).collect()))
}

/// Returns whether the default block begins with `unreachable`.
fn never_taken(func: &Function, inst: Inst) -> bool {
    let to = func.branch_target(inst, 0);
    to.and_then(|to| func.blocks[to].insts().first())
        .is_some_and(|&first| func.insts[first].op == Op::Unreachable)
}

/// Values of one parameter of the block where the cases meet.
enum Column {
    /// The same value for all cases.
    Same(Value),
    /// Constants, and how to compute them.
    Row(Row, Form),
}

/// How a switch is replaced.
struct Plan {
    ty: Type,
    /// Block to which all cases lead.
    to: Block,
    lo: u64,
    /// Number of operand values in the row.
    count: u64,
    columns: Vec<Column>,
    /// Whether the default leads to a different block.
    elsewhere: bool,
}

impl Plan {
    fn new(func: &Function, inst: Inst, sources: &[bool]) -> Option<Plan> {
        let Op::Switch(switch) = func.insts[inst].op else { return None };
        let value = func.args(inst)[0];
        let cases = merged(func, inst, switch);
        let ([first, ..], [.., last]) = (&cases[..], &cases[..]) else { return None };
        let (ty, lo) = (func.ty(value), first.lo);
        if ty == Type::Bool || cases.len() < MIN_CASES {
            return None;
        }
        let most = MAX_ROW.min(cases.len() as u64 * MAX_ROW_PER_CASE);
        let count = (last.hi - lo).checked_add(1).filter(|&count| count <= most)?;
        let first_edge = first.edge as usize;
        // A block that only jumps may be the block where the cases meet, or it may be bypassed on the edge to
        // that block.
        let places =
            [true, false].into_iter().filter_map(|past| goes_to(func, inst, first_edge, past, sources));
        for (to, _) in places {
            let found = Plan { ty, to, lo, count, columns: Vec::new(), elsewhere: false };
            if let Some(plan) = found.fill(func, inst, value, &cases, sources) {
                return Some(plan);
            }
        }
        None
    }

    /// Examines the arguments of all edges. Returns `None` if the switch should stay.
    fn fill(
        mut self,
        func: &Function,
        inst: Inst,
        value: Value,
        cases: &[Case],
        sources: &[bool],
    ) -> Option<Plan> {
        let edge_args = |edge: usize| {
            [false, true]
                .into_iter()
                .find_map(|past| goes_to(func, inst, edge, past, sources).filter(|(to, _)| *to == self.to))
                .map(|(_, args)| args)
        };
        let dense = cases.windows(2).all(|pair| pair[0].hi + 1 == pair[1].lo);
        let reach = bound(func, value, DEPTH);
        let misses = reach.lo < self.lo || reach.hi > self.lo + (self.count - 1);
        let misses = misses && !never_taken(func, inst);
        let default = edge_args(0);
        self.elsewhere = default.is_none() && misses;
        if default.is_none() && !dense {
            return None;
        }
        let args: Vec<Vec<Value>> =
            cases.iter().map(|case| edge_args(case.edge as usize)).collect::<Option<_>>()?;
        for n in 0..func.params(self.to).len() {
            let outside = default.as_ref().map(|args| args[n]);
            let column = self.column(func, cases, n, &args, outside, misses)?;
            self.columns.push(column);
        }
        self.pays(cases.len()).then_some(self)
    }

    /// Finds the numbers for parameter `n` and how to compute them.
    fn column(
        &self,
        func: &Function,
        cases: &[Case],
        n: usize,
        args: &[Vec<Value>],
        outside: Option<Value>,
        misses: bool,
    ) -> Option<Column> {
        let first = args[0][n];
        if args.iter().all(|args| args[n] == first) && outside.is_none_or(|value| value == first) {
            return Some(Column::Same(first));
        }
        let default = outside.map(|value| func.const_bits(value));
        let mut numbers = vec![default.flatten().unwrap_or(0); self.count as usize];
        let dense: u64 = cases.iter().map(|case| case.hi - case.lo + 1).sum();
        if dense < self.count && default == Some(None) {
            return None;
        }
        for (case, args) in cases.iter().zip(args) {
            let range = (case.lo - self.lo) as usize..=(case.hi - self.lo) as usize;
            numbers[range].fill(func.const_bits(args[n])?);
        }
        let row = Row {
            ty: func.ty(first),
            numbers,
            outside: outside.filter(|_| misses),
            number: default.flatten().filter(|_| misses),
        };
        let form = Form::best(&row, cases.len())?;
        Some(Column::Row(row, form))
    }

    /// Returns whether the plan is shorter than testing the cases, which takes a comparison per case and a
    /// selection per case and value.
    fn pays(&self, cases: usize) -> bool {
        let rows = || {
            self.columns.iter().filter_map(|column| match column {
                Column::Row(row, form) => Some((row, form)),
                Column::Same(_) => None,
            })
        };
        let new: u32 = rows().map(|(row, form)| form.cost(row)).sum();
        (new + 2) as usize <= cases * (1 + rows().count())
    }

    fn apply(self, func: &mut Function, block: Block, inst: Inst, tables: &mut Tables) {
        let value = func.args(inst)[0];
        let default = func.branch_target(inst, 0).zip(Some(func.branch_args(inst, 0).to_vec()));
        let loc = func.insts[inst].loc;
        func.remove_terminator(block);
        let mut code = Code { func, block, loc, tables };
        let index = code.minus(value, self.lo);
        if self.elsewhere
            && let Some((to, args)) = default
        {
            let inside = code.within(index, self.count);
            let then = code.func.add_block();
            let args: Vec<Value> = std::iter::once(inside).chain(args).collect();
            code.func.push(block, Op::Br { then, otherwise: to, then_args: 0 }, &args, loc);
            code.block = then;
        }
        let mut at = Index { value: index, ty: self.ty, count: self.count, clamped: None, inside: None };
        let args: Vec<Value> = self
            .columns
            .iter()
            .map(|column| match column {
                Column::Same(value) => code.edge_value(*value),
                Column::Row(row, form) => form.write(row, &mut at, &mut code),
            })
            .collect();
        code.func.push(code.block, Op::Jump(self.to), &args, loc);
    }
}

/// Index into a row, with the forms of it that have been computed so far.
struct Index {
    value: Value,
    ty: Type,
    count: u64,
    /// The minimum of the index and `count`, as `i32`.
    clamped: Option<Value>,
    /// Whether the index is less than `count`.
    inside: Option<Value>,
}

impl Index {
    /// Returns the index as `i32`. The index must be less than `count`.
    fn plain(&self, code: &mut Code<'_>) -> Value {
        code.low(self.value)
    }

    /// Returns the minimum of the index and `count`, as `i32`.
    fn clamped(&mut self, code: &mut Code<'_>) -> Value {
        if let Some(value) = self.clamped {
            return value;
        }
        let most = code.konst(self.ty, self.count);
        let least = code.bin(BinOp::UMin, self.value, most);
        *self.clamped.insert(code.low(least))
    }

    /// Returns whether the index is less than `count`.
    fn inside(&mut self, code: &mut Code<'_>) -> Value {
        *self.inside.get_or_insert_with(|| code.within(self.value, self.count))
    }
}

/// Position where new code is appended.
struct Code<'a> {
    func: &'a mut Function,
    block: Block,
    loc: SrcLoc,
    tables: &'a mut Tables,
}

impl Code<'_> {
    fn push(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.func.push1(self.block, op, args, ty, self.loc)
    }

    fn konst(&mut self, ty: Type, bits: u64) -> Value {
        self.push(Op::Const(bits & type_max(ty)), &[], ty)
    }

    /// Returns a value that an edge passes. A constant of a switch arm is created again, because the arm may
    /// be bypassed.
    fn edge_value(&mut self, value: Value) -> Value {
        match self.func.const_bits(value) {
            Some(bits) => self.konst(self.func.ty(value), bits),
            None => value,
        }
    }

    fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.push(Op::Bin(op), &[a, b], ty)
    }

    fn bin_k(&mut self, op: BinOp, a: Value, k: u64) -> Value {
        let ty = self.func.ty(a);
        let k = self.konst(ty, k);
        self.bin(op, a, k)
    }

    fn minus(&mut self, value: Value, k: u64) -> Value {
        if k == 0 { value } else { self.bin_k(BinOp::Sub, value, k) }
    }

    /// Returns whether an index is less than `count`.
    fn within(&mut self, index: Value, count: u64) -> Value {
        let last = self.konst(self.func.ty(index), count - 1);
        self.push(Op::Icmp(IntCc::Ule), &[index, last], Type::Bool)
    }

    /// Returns the low 32 bits.
    fn low(&mut self, value: Value) -> Value {
        match self.func.ty(value) {
            Type::I64 => self.push(Op::Cast(CastOp::Trunc), &[value], Type::I32),
            _ => value,
        }
    }

    fn select(&mut self, cond: Value, then: Value, otherwise: Value) -> Value {
        let ty = self.func.ty(then);
        self.push(Op::Select, &[cond, then, otherwise], ty)
    }

    /// Returns whether the lowest bit is set.
    fn bit(&mut self, value: Value) -> Value {
        let bit = self.bin_k(BinOp::And, value, 1);
        let zero = self.konst(Type::I32, 0);
        self.push(Op::Icmp(IntCc::Ne), &[bit, zero], Type::Bool)
    }

    /// Converts an index to type `ty`; returns `None` if it would be multiplied by a step of 0.
    fn extended(&mut self, index: Value, ty: Type, step: u64) -> Option<Value> {
        match ty {
            _ if step == 0 => None,
            Type::I64 => Some(self.push(Op::Cast(CastOp::Zext), &[index], ty)),
            _ => Some(index),
        }
    }

    /// Loads number `index` from a table in constant memory.
    fn load(&mut self, ty: Type, numbers: &[u64], index: Value) -> Value {
        let global = self.tables.table(ty, numbers);
        let base = self.push(Op::GlobalAddr(global), &[], Type::Ptr(Space::Constant));
        let stored = stored(ty);
        let shift = u64::from(stored.bits().trailing_zeros() - 3);
        let offset = self.bin_k(BinOp::Shl, index, shift);
        let address = self.push(Op::PtrAddZ, &[base, offset], Type::Ptr(Space::Constant));
        let mem = Mem {
            ty: match stored.bits() {
                16 => MemTy::U16,
                64 => MemTy::B64,
                _ => MemTy::B32,
            },
            space: Space::Constant,
            align: (stored.bits() / 8) as u8,
            flags: MemFlags::INVARIANT,
            order: Order::NotAtomic,
            scope: Scope::default(),
            offset: 0,
            alias: 0,
        };
        let loaded = self.push(Op::Load { mem, count: 1 }, &[address], stored);
        if ty == Type::Bool { self.bit(loaded) } else { loaded }
    }
}
