//! Combines two operations on the 16-bit halves of a 32-bit word into one packed operation, in the IR, if the
//! processor has packed 16-bit instructions.
//!
//! If a word is assembled from two halves, `low | high << 16`, and both halves are results of the same
//! operation, the operation can be done on whole words: `(a + b) | (c + d) << 16` is `(a | c << 16) + (b | d
//! << 16)`, computed separately in each half. An operand word costs nothing if its halves were loaded
//! together as a vector. It also costs nothing if both halves are the same value, or are the halves of one
//! word in swapped order, because the instruction itself can select halves. Any other operand word has to be
//! assembled from its halves. If assembling operands would cost more instructions than the packed operation
//! saves, the code stays unchanged.
//!
//! # Requires
//! IR that selection can process, before operations are expanded.
//! # Guarantees
//! The operations that packed operations replace may remain without users. They cost nothing, because
//! selection emits only operations whose results are requested.

use crate::lower::{Context, Lower};
use crate::roles::Role;
use cranelift_entity::SecondaryMap;
use ir::{BinOp, CastOp, Function, Inst, Op, SrcLoc, TernOp, Type, UnOp, Value};
use isa::Operand;
use rustc_hash::FxHashMap;

/// Packed operations, and the roles of their instructions.
const ROLES: &[(Op, Role)] = &[
    (Op::Tern(TernOp::PkFma), Role::VPkFmaF16),
    (Op::Bin(BinOp::PkFAdd), Role::VPkAddF16),
    (Op::Bin(BinOp::PkFMul), Role::VPkMulF16),
    (Op::Bin(BinOp::PkFMin), Role::VPkMinF16),
    (Op::Bin(BinOp::PkFMax), Role::VPkMaxF16),
    (Op::Bin(BinOp::PkAdd), Role::VPkAddU16),
    (Op::Bin(BinOp::PkSub), Role::VPkSubU16),
    (Op::Bin(BinOp::PkMul), Role::VPkMulLoU16),
    (Op::Bin(BinOp::PkShl), Role::VPkShlB16),
    (Op::Bin(BinOp::PkLShr), Role::VPkShrB16),
    (Op::Bin(BinOp::PkAShr), Role::VPkAshrI16),
    (Op::Bin(BinOp::PkUMin), Role::VPkMinU16),
    (Op::Bin(BinOp::PkUMax), Role::VPkMaxU16),
    (Op::Bin(BinOp::PkSMin), Role::VPkMinI16),
    (Op::Bin(BinOp::PkSMax), Role::VPkMaxI16),
];

/// Returns the role (operation that selection requests) of the instruction that computes a packed operation.
pub(crate) fn role(op: Op) -> Option<Role> {
    ROLES.iter().find(|(have, _)| *have == op).map(|&(_, role)| role)
}

/// Operations on halves, each with the packed operation that does it on both halves of a word. A float
/// difference becomes a packed sum whose second operand is negated.
const PACKED: &[(Op, Op)] = &[
    (Op::Tern(TernOp::Fma), Op::Tern(TernOp::PkFma)),
    (Op::Bin(BinOp::FAdd), Op::Bin(BinOp::PkFAdd)),
    (Op::Bin(BinOp::FSub), Op::Bin(BinOp::PkFAdd)),
    (Op::Bin(BinOp::FMul), Op::Bin(BinOp::PkFMul)),
    (Op::Bin(BinOp::FMin), Op::Bin(BinOp::PkFMin)),
    (Op::Bin(BinOp::FMax), Op::Bin(BinOp::PkFMax)),
    (Op::Bin(BinOp::Add), Op::Bin(BinOp::PkAdd)),
    (Op::Bin(BinOp::Sub), Op::Bin(BinOp::PkSub)),
    (Op::Bin(BinOp::Mul), Op::Bin(BinOp::PkMul)),
    (Op::Bin(BinOp::Shl), Op::Bin(BinOp::PkShl)),
    (Op::Bin(BinOp::LShr), Op::Bin(BinOp::PkLShr)),
    (Op::Bin(BinOp::AShr), Op::Bin(BinOp::PkAShr)),
    (Op::Bin(BinOp::UMin), Op::Bin(BinOp::PkUMin)),
    (Op::Bin(BinOp::UMax), Op::Bin(BinOp::PkUMax)),
    (Op::Bin(BinOp::SMin), Op::Bin(BinOp::PkSMin)),
    (Op::Bin(BinOp::SMax), Op::Bin(BinOp::PkSMax)),
    (Op::Bin(BinOp::And), Op::Bin(BinOp::And)),
    (Op::Bin(BinOp::Or), Op::Bin(BinOp::Or)),
    (Op::Bin(BinOp::Xor), Op::Bin(BinOp::Xor)),
];

/// Sign bits of both halves.
pub(crate) const SIGNS: u64 = 0x8000_8000;
/// Largest depth of nested operations that is considered.
const DEPTH: u32 = 12;

/// Runs the pass.
pub(crate) fn run(func: &mut Function, ctx: &mut Context) {
    let roles = ctx.current_roles();
    if roles.opcode(Role::VPkAddU16).is_none() {
        return;
    }
    let roots = |func: &Function, inst: &Inst| root(func, *inst).is_some();
    if !func.layout.iter().any(|&block| func.blocks[block].insts().iter().any(|inst| roots(func, inst))) {
        return;
    }
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::new();
    for &block in &func.layout {
        for &inst in func.blocks[block].insts() {
            for &arg in func.args(inst) {
                uses[arg] += 1;
            }
        }
    }
    let permutes = roles.opcode(Role::VPermB32).is_some();
    ctx.analyses.compute(func);
    let mut old = Vec::new();
    for n in 0..func.layout.len() {
        let block = func.layout[n];
        func.take_insts(block, &mut old);
        let mut pass = Pass { func, uses: &uses, permutes, words: FxHashMap::default(), loc: SrcLoc(0) };
        for &inst in &old {
            pass.loc = pass.func.insts[inst].loc;
            // Packed instructions exist only on the vector unit, so words of integers that the scalar unit
            // can compute stay unchanged.
            let scalar = |pass: &Pass<'_>, [low, _]: Pair| {
                let word = pass.func.insts[inst].first;
                pass.func.ty(low) == Type::I32 && ctx.analyses.uniformity.is_uniform(word)
            };
            if let Some(pair) = root(pass.func, inst)
                && !scalar(&pass, pair)
                && pass.gain(pair, 0) > 0
                && let Some(packed) = pass.packed(pair)
            {
                pass.word_of(pair, block, Some((inst, packed)));
            } else {
                pass.func.append(block, inst);
            }
        }
    }
}

/// The two halves of a word: low and high. Each half is an `f16`, or the low 16 bits of an `i32`.
type Pair = [Value; 2];

/// If an instruction combines two halves to a word, by `low | high << 16`, returns the two halves.
fn root(func: &Function, inst: Inst) -> Option<Pair> {
    let data = &func.insts[inst];
    if data.op != Op::Bin(BinOp::Or) || func.ty(data.first) != Type::I32 {
        return None;
    }
    let args = func.args(inst);
    [[args[0], args[1]], [args[1], args[0]]].into_iter().find_map(|[low, high]| {
        let (shift, by) = bin(func, high, BinOp::Shl)?;
        if func.const_bits(by) != Some(16) || !is_half(func, low) {
            return None;
        }
        Some([half(func, low), half(func, shift)])
    })
}

/// Returns whether the upper half of a value is zero.
fn is_half(func: &Function, value: Value) -> bool {
    let is = |op: CastOp| cast(func, value, op).is_some();
    let masked = bin(func, value, BinOp::And).and_then(|(_, mask)| func.const_bits(mask));
    is(CastOp::HalfBits) || is(CastOp::Zext16) || masked.is_some_and(|mask| mask <= 0xffff)
}

/// Follows `value` back through operations that do not change its low 16 bits (masks, extensions, and casts
/// to another type). Returns the value before these operations.
fn half(func: &Function, mut value: Value) -> Value {
    loop {
        let inner = [CastOp::HalfBits, CastOp::BitsHalf, CastOp::Zext16, CastOp::Sext16]
            .into_iter()
            .find_map(|op| cast(func, value, op));
        let masked = || {
            let (x, mask) = bin(func, value, BinOp::And)?;
            (func.const_bits(mask)? & 0xffff == 0xffff).then_some(x)
        };
        match inner.or_else(masked) {
            Some(inner) => value = inner,
            None => return value,
        }
    }
}

fn cast(func: &Function, value: Value, op: CastOp) -> Option<Value> {
    let inst = func.def_inst(value)?;
    (func.insts[inst].op == Op::Cast(op)).then(|| func.args(inst)[0])
}

fn bin(func: &Function, value: Value, op: BinOp) -> Option<(Value, Value)> {
    let inst = func.def_inst(value)?;
    (func.insts[inst].op == Op::Bin(op)).then(|| (func.args(inst)[0], func.args(inst)[1]))
}

/// Returns the word of which the value is the upper half.
fn upper(func: &Function, value: Value) -> Option<Value> {
    let (word, by) = bin(func, value, BinOp::LShr).or_else(|| bin(func, value, BinOp::AShr))?;
    (func.const_bits(by) == Some(16) && func.ty(word) == Type::I32).then_some(word)
}

/// Returns whether the low half of the result of `inst` depends only on the low halves of its operands.
/// Minima, maxima and right shifts read the upper halves too; they qualify only if their operands are sign-
/// or zero-extended halves.
fn reads_halves(func: &Function, inst: Inst, args: &[Value]) -> bool {
    let Op::Bin(op) = func.insts[inst].op else { return true };
    let small = |n: usize| func.const_bits(args[n]).is_some_and(|count| count < 16);
    match op {
        BinOp::Shl => func.ty(args[0]) == Type::I32 && small(1),
        BinOp::LShr => small(1) && is_extended(func, args[0], false),
        BinOp::AShr => small(1) && is_extended(func, args[0], true),
        BinOp::UMin | BinOp::UMax => args.iter().all(|&arg| is_extended(func, arg, false)),
        BinOp::SMin | BinOp::SMax => args.iter().all(|&arg| is_extended(func, arg, true)),
        _ => true,
    }
}

/// Returns whether the upper 16 bits of a value are all zero or, with `signed`, all equal to the sign bit of
/// the lower 16 bits.
fn is_extended(func: &Function, value: Value, signed: bool) -> bool {
    if let Some(bits) = func.const_bits(value) {
        let bits = bits as u32;
        return if signed { bits == bits as u16 as i16 as u32 } else { bits <= 0xffff };
    }
    let Some(inst) = func.def_inst(value) else { return false };
    let args = func.args(inst);
    let count = |n: usize| args.get(n).and_then(|&arg| func.const_bits(arg)).unwrap_or(0);
    match (func.insts[inst].op, signed) {
        (Op::Cast(CastOp::Sext16 | CastOp::Sext8), true) => true,
        (Op::Bin(BinOp::AShr), true) => count(1) >= 16,
        (Op::Bin(BinOp::SMin | BinOp::SMax), true) => {
            args.iter().all(|&arg| is_leaf_extended(func, arg, true))
        }
        (Op::Bin(BinOp::LShr), false) => count(1) >= 16,
        (Op::Bin(BinOp::UMin | BinOp::UMax), false) => {
            args.iter().all(|&arg| is_leaf_extended(func, arg, false))
        }
        (_, true) => false,
        (_, false) => is_half(func, value),
    }
}

/// Returns the same as [`is_extended`] for most values, but always false for minima and maxima. The recursion
/// of `is_extended` therefore ends.
fn is_leaf_extended(func: &Function, value: Value, signed: bool) -> bool {
    let again = func.def_inst(value).map(|inst| func.insts[inst].op);
    let choice = matches!(again, Some(Op::Bin(BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::UMax)));
    !choice && is_extended(func, value, signed)
}

fn commutes(op: Op) -> bool {
    use BinOp::{Add, And, FAdd, FMax, FMin, FMul, Mul, Or, SMax, SMin, UMax, UMin, Xor};
    let summands = |op| matches!(op, Add | Mul | And | Or | Xor | FAdd | FMul | FMin | FMax);
    match op {
        Op::Bin(bin) => summands(bin) || matches!(bin, SMax | SMin | UMax | UMin),
        _ => op == Op::Tern(TernOp::Fma),
    }
}

/// Word or half that an operand of a packed instruction reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// A word, unchanged.
    Whole(Value),
    /// A word with its halves swapped.
    Swapped(Value),
    /// The low half of this value, in both halves.
    Low(Value),
    /// The high half of this word, in both halves.
    High(Value),
    /// A constant.
    Known(u32),
}

/// Returns the operand through which a packed instruction can read these two halves as one word. Returns
/// `None` if another instruction would have to assemble the word first.
fn free(func: &Function, [low, high]: Pair) -> Option<Word> {
    let known = |value| func.const_bits(value).map(|bits| bits as u32 & 0xffff);
    if let (Some(low), Some(high)) = (known(low), known(high)) {
        return Some(Word::Known(low | high << 16));
    }
    match (upper(func, low), upper(func, high)) {
        (_, Some(word)) if word == low => Some(Word::Whole(word)),
        (Some(word), _) if word == high => Some(Word::Swapped(word)),
        (Some(word), _) if low == high => Some(Word::High(word)),
        _ if low == high => Some(Word::Low(low)),
        _ => None,
    }
}

/// A packed operation that replaces two operations on halves. Each of its operands is a pair of halves.
#[derive(Clone, Copy)]
struct Packed {
    op: Op,
    /// Whether the second operand is negated.
    minus: bool,
    args: [Option<Pair>; 3],
    /// Operand that is not a pair: the condition of a select.
    cond: Option<Value>,
}

struct Pass<'a> {
    func: &'a mut Function,
    uses: &'a SecondaryMap<Value, u32>,
    /// Whether one instruction (`v_perm_b32`) can assemble a word.
    permutes: bool,
    /// Words that have been made in the block.
    words: FxHashMap<Pair, Value>,
    loc: SrcLoc,
}

impl Pass<'_> {
    /// Returns how many instructions are saved if these two halves are computed as one word. A negative
    /// number says how many instructions are added.
    fn gain(&self, pair: Pair, depth: u32) -> i32 {
        if self.words.contains_key(&pair) || free(self.func, pair).is_some() {
            return 0;
        }
        let Some(packed) = self.packed(pair).filter(|_| depth < DEPTH) else {
            return if self.permutes { -1 } else { -2 };
        };
        // A negation costs nothing, whether packed or not, because it becomes a source modifier of the
        // instruction that uses it.
        let saved = i32::from(packed.op != Op::Un(UnOp::FNeg));
        packed.args.into_iter().flatten().map(|arg| self.gain(arg, depth + 1)).sum::<i32>() + saved
    }

    /// Returns the packed operation that computes two halves. Both halves must be results of the same
    /// operation, and this operation must have a packed form.
    fn packed(&self, [low, high]: Pair) -> Option<Packed> {
        let (a, b) = (self.func.def_inst(low)?, self.func.def_inst(high)?);
        let op = self.func.insts[a].op;
        let ty = self.func.ty(low);
        let (x, y) = (self.func.args(a), self.func.args(b));
        let same = op == self.func.insts[b].op && ty == self.func.ty(high) && x.len() == y.len();
        // A half that has other users would be computed twice.
        if !same || a == b || self.uses[low] != self.uses[high] || !matches!(ty, Type::F16 | Type::I32) {
            return None;
        }
        let reads_all = [(a, x), (b, y)].iter().any(|&(inst, args)| !reads_halves(self.func, inst, args));
        if reads_all {
            return None;
        }
        let between = |m: usize, n: usize| [half(self.func, x[m]), half(self.func, y[n])];
        // If the operation is commutative, its operands may be in opposite orders in the two halves.
        let crossed = commutes(op) && !self.is_cheap_word(between(0, 0)) && self.is_cheap_word(between(0, 1));
        let pair = |n: usize| between(n, if crossed && n < 2 { 1 - n } else { n });
        if op == Op::Select && x[0] == y[0] {
            return Some(Packed {
                op,
                minus: false,
                args: [Some(pair(1)), Some(pair(2)), None],
                cond: Some(x[0]),
            });
        }
        let minus = op == Op::Bin(BinOp::FSub);
        let packed = match op {
            Op::Un(UnOp::FNeg) => op,
            _ => PACKED.iter().find(|(have, _)| *have == op)?.1,
        };
        let mut args = [None; 3];
        for (n, arg) in args[..x.len()].iter_mut().enumerate() {
            *arg = Some(pair(n));
        }
        Some(Packed { op: packed, minus, args, cond: None })
    }

    /// Returns whether these two halves can probably be read as one word without many instructions to
    /// assemble it.
    fn is_cheap_word(&self, pair: Pair) -> bool {
        let op = |half: Value| self.func.def_inst(half).map(|inst| self.func.insts[inst].op);
        free(self.func, pair).is_some()
            || op(pair[0]) == op(pair[1]) && PACKED.iter().any(|row| Some(row.0) == op(pair[0]))
    }

    fn push(&mut self, block: ir::Block, op: Op, args: &[Value]) -> Value {
        self.func.push1(block, op, args, Type::I32, self.loc)
    }

    fn constant(&mut self, block: ir::Block, bits: u32) -> Value {
        self.push(block, Op::Const(bits.into()), &[])
    }

    /// Returns a word that has the two halves of `pair`. Uses an existing word if there is one, and otherwise
    /// emits code for a new word. `at` is given if an instruction assembles this very word: the packed
    /// operation then replaces that instruction.
    fn word_of(&mut self, pair: Pair, block: ir::Block, at: Option<(Inst, Packed)>) -> Value {
        if at.is_none() {
            if let Some(&word) = self.words.get(&pair) {
                return word;
            }
            match free(self.func, pair) {
                Some(Word::Whole(word)) => return word,
                Some(Word::Known(bits)) => return self.constant(block, bits),
                _ => {}
            }
        }
        let packed = at.map(|(_, packed)| packed).or_else(|| match free(self.func, pair) {
            Some(_) => None,
            None => self.packed(pair),
        });
        let Some(packed) = packed else { return self.joined(pair, block) };
        let mut args: Vec<Value> = packed.cond.into_iter().collect();
        for arg in packed.args.into_iter().flatten() {
            args.push(self.word_of(arg, block, None));
        }
        if packed.minus {
            args[1] = self.negated(args[1], block);
        }
        let mut op = packed.op;
        if op == Op::Un(UnOp::FNeg) {
            op = Op::Bin(BinOp::Xor);
            args.push(self.constant(block, SIGNS as u32));
        }
        let word = match at {
            Some((inst, _)) => {
                self.func.replace(inst, op, &args);
                self.func.append(block, inst);
                self.func.insts[inst].first
            }
            None => self.push(block, op, &args),
        };
        self.words.insert(pair, word);
        word
    }

    fn negated(&mut self, word: Value, block: ir::Block) -> Value {
        let signs = self.constant(block, SIGNS as u32);
        self.push(block, Op::Bin(BinOp::Xor), &[word, signs])
    }

    /// Emits `low | high << 16`. If a packed instruction uses the word, it may still read the halves
    /// directly, because [`of_operand`] recognises this form.
    fn joined(&mut self, pair: Pair, block: ir::Block) -> Value {
        let [low, high] = pair.map(|half| match self.func.ty(half) {
            Type::F16 => self.push(block, Op::Cast(CastOp::HalfBits), &[half]),
            _ => half,
        });
        let mask = self.constant(block, 0xffff);
        let low = self.push(block, Op::Bin(BinOp::And), &[low, mask]);
        let sixteen = self.constant(block, 16);
        let high = self.push(block, Op::Bin(BinOp::Shl), &[high, sixteen]);
        let word = self.push(block, Op::Bin(BinOp::Or), &[low, high]);
        self.words.insert(pair, word);
        word
    }
}

/// Returns how an operand of a packed instruction can read `word`. Usually this is the word itself. But the
/// word may have been assembled from halves of another word. The instruction can select these halves itself,
/// so it reads the other word, with the selection of the halves.
pub(crate) fn of_operand(func: &Function, word: Value) -> Word {
    if let Some(bits) = func.const_bits(word) {
        return Word::Known(bits as u32);
    }
    let halves = func.def_inst(word).and_then(|inst| root(func, inst));
    halves.and_then(|pair| free(func, pair)).unwrap_or(Word::Whole(word))
}

/// Returns an inline constant for a word with two equal halves. The instruction then reads the low half of
/// the constant for both results.
fn inline_twice(bits: u32, of_floats: bool) -> Option<Operand> {
    let half = bits as u16;
    let operand = if of_floats { Operand::f16(half) } else { Operand::int(half as i16 as i32) };
    (bits >> 16 == u32::from(half) && matches!(operand, Operand::Inline(_))).then_some(operand)
}

impl Lower<'_> {
    /// Emits a packed operation.
    pub fn packed(&mut self, role: Role, result: Value, args: &[Value], of_floats: bool) {
        let dst = self.vgpr_of(result);
        let mut inst = self.instruction(role, &[dst]);
        for (n, &arg) in args.iter().enumerate() {
            let mut word = arg;
            if let Some((x, signs)) = bin(self.func, arg, BinOp::Xor)
                && of_floats
                && self.func.const_bits(signs) == Some(SIGNS)
            {
                word = x;
                inst.mods.neg |= 1 << n;
                inst.mods.abs |= 1 << n;
            }
            let (operand, low, high) = match of_operand(self.func, word) {
                Word::Whole(word) => (self.source(word), 0, 1),
                Word::Swapped(word) => (self.source(word), 1, 0),
                Word::Low(half) => (self.source(half), 0, 0),
                Word::High(word) => (self.source(word), 1, 1),
                Word::Known(bits) => match inline_twice(bits, of_floats) {
                    Some(inline) => (inline, 0, 0),
                    None => (self.sgpr_const(bits), 0, 1),
                },
            };
            inst.ops[n + 1] = operand;
            inst.mods.op_sel |= low << n;
            inst.mods.op_sel_hi |= high << n;
        }
        inst.len = 1 + args.len() as u8;
        self.emit_inst(inst);
    }

    /// Emits `low | high << 16`, which assembles a word from two halves, as a single `v_perm_b32`. This is
    /// possible if no other instruction uses the mask and the shift in it. Returns whether it was.
    pub fn join_halves(&mut self, result: Value, a: Value, b: Value) -> bool {
        let Some(inst) = self.func.def_inst(result) else { return false };
        let [Some(_), Some(_)] = [a, b].map(|part| self.foldable(part)) else { return false };
        let (Some(pair), Some(_)) = (root(self.func, inst), self.s.roles.opcode(Role::VPermB32)) else {
            return false;
        };
        let [(low, at_low), (high, at_high)] = pair.map(|half| match upper(self.func, half) {
            Some(word) => (word, 0x0202),
            None => (half, 0),
        });
        let selector = self.sgpr_const((0x0100 + at_low) | (0x0504 + at_high) << 16);
        let (low, high, dst) = (self.source(low), self.source(high), self.vgpr_of(result));
        self.emit(Role::VPermB32, &[dst, high, low, selector]);
        true
    }
}
