//! Parses instructions of the text form.

use super::lexer::Token;
use super::{Body, CallSite, Parser, Result, entity_number, integer};
use crate::entity::{Block, FuncId, Global, Inst, SigId, Slot, Value};
use crate::func::{Case, InstData, SrcLoc, SwitchData, SwitchEdge, ValueData, ValueDef, ValueList};
use crate::half::Half;
use crate::op::{
    BinOp, CastOp, FloatCc, IntCc, Mem, MemFlags, Op, Order, Pos, RmwOp, Scope, Spaces, TernOp, UnOp, WaveOp,
};
use crate::text::FLAGS;
use crate::types::{MemTy, Space, Type};

/// The definition of one result in the text. The type is part of the text only for results of calls.
struct Defined {
    value: Value,
    ty: Option<Type>,
    offset: usize,
}

impl<'a> Parser<'a> {
    /// Parses an instruction and appends it to `block`.
    pub(super) fn inst(&mut self, body: &mut Body, block: Block) -> Result<()> {
        let results = self.results()?;
        let offset = self.lexer.start;
        let word = self.word("an operation")?;
        let (base, suffix) = word.split_once('.').unwrap_or((word, ""));
        let mut args = Vec::new();
        let inst: Inst = body.func.insts.next_key();
        let (op, ty) = match self.valued(body, base, suffix, results.len(), &mut args)? {
            Some(found) => found,
            None => match self.plain(body, inst, word, &mut args)? {
                Some(op) => (op, None),
                None => return Err(self.lexer.error_at(offset, format!("unknown operation `{word}`"))),
            },
        };
        let loc = if self.accept('!')? { SrcLoc(self.number()?) } else { SrcLoc(0) };
        for (n, result) in results.iter().enumerate() {
            let first = results[0].value.as_u32();
            if result.value.as_u32() != first + n as u32 {
                let message = format!("results are consecutive values, expected v{}", first + n as u32);
                return Err(self.lexer.error_at(result.offset, message));
            }
            let Some(ty) = result.ty.or(ty) else {
                let message = format!("`{word}` has no result, or its results need types");
                return Err(self.lexer.error_at(result.offset, message));
            };
            let def = ValueDef::Result(inst, n as u16);
            self.define(body, result.value, ValueData { ty, def }, result.offset)?;
        }
        let func = &mut body.func;
        let args = ValueList::from_slice(&args, &mut func.pool);
        let first = results.first().map_or(Value::from_u32(0), |r| r.value);
        func.insts.push(InstData { op, args, first, results: results.len() as u16, block, loc });
        func.append(block, inst);
        Ok(())
    }

    /// Parses `v1, v2 = ` if the instruction starts with results.
    fn results(&mut self) -> Result<Vec<Defined>> {
        let mut results = Vec::new();
        while let Token::Word(word) = self.lexer.token
            && entity_number(word, "v").is_some()
        {
            let offset = self.lexer.start;
            let value = Value::from_u32(self.entity("v", "a value")?);
            let ty = if self.accept(':')? { Some(self.ty()?) } else { None };
            results.push(Defined { value, ty, offset });
            if !self.accept(',')? {
                break;
            }
        }
        if results.len() > usize::from(u8::MAX) {
            return self.error("too many results");
        }
        if !results.is_empty() {
            self.expect('=')?;
        }
        Ok(results)
    }

    /// Parses an operation whose name in the text ends with the type of its result: `base.suffix`.
    fn valued(
        &mut self,
        body: &mut Body,
        base: &str,
        suffix: &str,
        count: usize,
        args: &mut Vec<Value>,
    ) -> Result<Option<(Op, Option<Type>)>> {
        let compare = match base {
            "icmp" => IntCc::from_mnemonic(suffix).map(Op::Icmp),
            "fcmp" => FloatCc::from_mnemonic(suffix).map(Op::Fcmp),
            _ => None,
        };
        if let Some(op) = compare {
            self.values(body, args)?;
            return Ok(Some((op, Some(Type::Bool))));
        }
        let Some(ty) = Type::from_name(suffix) else { return Ok(None) };
        if let Some(op) = arithmetic(base) {
            self.values(body, args)?;
            return Ok(Some((op, Some(ty))));
        }
        if let Some(pos) = Pos::from_mnemonic(base) {
            let pos = match pos {
                Ok(pos) => pos,
                Err(make) => make(self.number()?),
            };
            return Ok(Some((Op::Pos(pos), Some(ty))));
        }
        let op = match base {
            "const" => Op::Const(self.constant(ty)?),
            "global_addr" => Op::GlobalAddr(self.global_ref()?),
            "func_addr" => {
                let inst = body.func.insts.next_key();
                Op::FuncAddr(self.function_ref(inst)?)
            }
            "slot_addr" => Op::SlotAddr(self.slot_ref(body)?),
            "load" => Op::Load { mem: self.memory(body, args)?, count: count as u8 },
            "atomic_cas" => {
                let mem = self.memory(body, args)?;
                self.expect_word("fail")?;
                Op::AtomicCas { mem, fail: self.order()? }
            }
            _ => match RmwOp::from_mnemonic(base) {
                Some(op) => Op::AtomicRmw { op, mem: self.memory(body, args)? },
                None => return Ok(None),
            },
        };
        Ok(Some((op, Some(ty))))
    }

    /// Parses operations whose name contains no type.
    fn plain(
        &mut self,
        body: &mut Body,
        inst: Inst,
        word: &str,
        args: &mut Vec<Value>,
    ) -> Result<Option<Op>> {
        Ok(Some(match word {
            "store" => {
                let mem = self.memory(body, args)?;
                let count = u8::try_from(args.len() - 1).or_else(|_| self.error("too many values"))?;
                Op::Store { mem, count }
            }
            "fence" => {
                let (order, scope) = (self.order()?, self.scope()?);
                Op::Fence { order, scope, spaces: self.spaces()? }
            }
            "barrier" => Op::Barrier { fence: true },
            "barrier_only" => Op::Barrier { fence: false },
            "wave_barrier" => Op::WaveBarrier,
            "call" => {
                let callee = self.function_ref(inst)?;
                self.in_brackets(body, args)?;
                Op::Call(callee)
            }
            "call_indirect" => {
                let sig = SigId::from_u32(self.entity("sig", "a signature")?);
                let address = self.value(body)?;
                args.push(address);
                self.in_brackets(body, args)?;
                Op::CallIndirect(sig)
            }
            "trap" => Op::Trap { debug: false },
            "debug_trap" => Op::Trap { debug: true },
            "sleep" => Op::Sleep,
            "assume" | "interrupt" | "ret" => {
                self.values(body, args)?;
                match word {
                    "assume" => Op::Assume,
                    "interrupt" => Op::Interrupt,
                    _ => Op::Ret,
                }
            }
            "jump" => Op::Jump(self.target(body, args)?),
            "br" => {
                let cond = self.value(body)?;
                args.push(cond);
                self.expect(',')?;
                let then = self.target(body, args)?;
                let then_args =
                    u16::try_from(args.len() - 1).or_else(|_| self.error("too many arguments"))?;
                self.expect(',')?;
                Op::Br { then, otherwise: self.target(body, args)?, then_args }
            }
            "switch" => self.switch(body, args)?,
            "unreachable" => Op::Unreachable,
            _ => return Ok(None),
        }))
    }

    /// Parses `v, default [ 1, 3 to 5 -> b1(args), … ]`.
    fn switch(&mut self, body: &mut Body, args: &mut Vec<Value>) -> Result<Op> {
        let operand = self.value(body)?;
        args.push(operand);
        self.expect(',')?;
        let mut data = SwitchData::default();
        let to = self.target(body, args)?;
        data.edges.push(SwitchEdge { to, args_end: args.len() as u32 });
        let mut more = self.accept('[')?;
        while more {
            let edge = data.edges.len() as u32;
            while matches!(self.lexer.token, Token::Number(_)) {
                let lo = self.number()?;
                let hi = if self.accept_word("to")? { self.number()? } else { lo };
                data.cases.push(Case { lo, hi, edge });
                self.accept(',')?;
            }
            if self.lexer.token != Token::Arrow {
                return self.error("expected `->`");
            }
            self.advance()?;
            let to = self.target(body, args)?;
            data.edges.push(SwitchEdge { to, args_end: args.len() as u32 });
            more = self.accept(',')?;
            if !more {
                self.expect(']')?;
            }
        }
        data.cases.sort_by_key(|case| case.lo);
        Ok(Op::Switch(body.func.switches.push(data)))
    }

    fn value(&mut self, body: &mut Body) -> Result<Value> {
        let offset = self.lexer.start;
        let value = Value::from_u32(self.entity("v", "a value")?);
        body.used.push((value, offset));
        Ok(value)
    }

    /// Parses a comma-separated list of values, which may be empty.
    fn values(&mut self, body: &mut Body, args: &mut Vec<Value>) -> Result<()> {
        if !matches!(self.lexer.token, Token::Word(word) if entity_number(word, "v").is_some()) {
            return Ok(());
        }
        loop {
            let value = self.value(body)?;
            args.push(value);
            if !self.accept(',')? {
                return Ok(());
            }
        }
    }

    fn target(&mut self, body: &mut Body, args: &mut Vec<Value>) -> Result<Block> {
        let offset = self.lexer.start;
        let block = Block::from_u32(self.entity("b", "a block")?);
        body.have_block(block);
        body.used_blocks.push((block, offset));
        if self.accept('(')? {
            self.values(body, args)?;
            self.expect(')')?;
        }
        Ok(block)
    }

    /// Parses a reference to a function, which may be defined later in the text.
    fn function_ref(&mut self, inst: Inst) -> Result<FuncId> {
        let Token::Name(name) = self.lexer.token else {
            return Ok(FuncId::from_u32(self.entity("fn", "a function")?));
        };
        let func = self.module.funcs.next_key();
        self.calls.push(CallSite { func, inst, name, offset: self.lexer.start });
        self.advance()?;
        Ok(FuncId::from_u32(0))
    }

    fn in_brackets(&mut self, body: &mut Body, args: &mut Vec<Value>) -> Result<()> {
        self.expect('(')?;
        self.values(body, args)?;
        self.expect(')')
    }

    /// Parses the bits of a constant of type `ty`. Floating-point numbers are written in decimal, or as their
    /// bits in hexadecimal.
    fn constant(&mut self, ty: Type) -> Result<u64> {
        if ty == Type::Bool && self.accept_word("true")? {
            return Ok(1);
        }
        if ty == Type::Bool && self.accept_word("false")? {
            return Ok(0);
        }
        let Token::Number(text) = self.lexer.token else { return self.error("expected a constant") };
        let is_bits = text.trim_start_matches('-').starts_with("0x");
        let bits = match ty {
            Type::F16 if !is_bits => text.parse::<f64>().ok().map(|x| u64::from(Half::nearest(x).0)),
            Type::F32 if !is_bits => text.parse::<f32>().ok().map(|x| u64::from(x.to_bits())),
            Type::F64 if !is_bits => text.parse::<f64>().ok().map(f64::to_bits),
            _ => integer(text).and_then(|n| match ty.bits() {
                32 if n < 0 => i32::try_from(n).ok().map(|n| u64::from(n as u32)),
                _ if n < 0 => i64::try_from(n).ok().map(|n| n as u64),
                _ => u64::try_from(n).ok(),
            }),
        };
        let Some(bits) = bits else {
            return self.error(format!("`{text}` is no constant of type {ty}"));
        };
        self.advance()?;
        Ok(bits)
    }

    fn global_ref(&mut self) -> Result<Global> {
        let Token::Name(name) = self.lexer.token else {
            return Ok(Global::from_u32(self.entity("g", "a variable's name")?));
        };
        let Some(&global) = self.globals.get(name) else {
            return self.error(format!("there is no variable `@{name}` above"));
        };
        self.advance()?;
        Ok(global)
    }

    fn slot_ref(&mut self, body: &Body) -> Result<Slot> {
        let offset = self.lexer.start;
        let slot = Slot::from_u32(self.entity("slot", "a slot")?);
        if !body.func.slots.is_valid(slot) {
            return Err(self.lexer.error_at(offset, format!("{slot} is not defined")));
        }
        Ok(slot)
    }

    fn order(&mut self) -> Result<Order> {
        let offset = self.lexer.start;
        let word = self.word("a memory order")?;
        Order::from_mnemonic(word)
            .ok_or_else(|| self.lexer.error_at(offset, format!("`{word}` is no memory order")))
    }

    fn scope(&mut self) -> Result<Scope> {
        let offset = self.lexer.start;
        let word = self.word("a scope")?;
        Scope::from_mnemonic(word).ok_or_else(|| self.lexer.error_at(offset, format!("`{word}` is no scope")))
    }

    fn spaces(&mut self) -> Result<Spaces> {
        let mut spaces = Spaces::empty();
        while let Token::Word(word) = self.lexer.token {
            spaces |= match word {
                "global" => Spaces::GLOBAL,
                "shared" => Spaces::SHARED,
                "private" => Spaces::PRIVATE,
                _ => break,
            };
            self.advance()?;
        }
        Ok(spaces)
    }

    /// Parses `b32 global [v1 + 16], v2 align 4 …`.
    fn memory(&mut self, body: &mut Body, args: &mut Vec<Value>) -> Result<Mem> {
        let offset = self.lexer.start;
        let ty = self.word("a memory element")?;
        let ty = MemTy::from_name(ty)
            .ok_or_else(|| self.lexer.error_at(offset, format!("`{ty}` is no memory element")))?;
        let start = self.lexer.start;
        let space = self.word("an address space")?;
        let space = Space::from_name(space)
            .ok_or_else(|| self.lexer.error_at(start, format!("`{space}` is no address space")))?;
        self.expect('[')?;
        let pointer = self.value(body)?;
        args.push(pointer);
        let offset = if self.accept('+')? { self.number()? } else { 0 };
        self.expect(']')?;
        if self.accept(',')? {
            self.values(body, args)?;
        }
        let mut mem = Mem {
            ty,
            space,
            align: self.field("align")?,
            flags: MemFlags::empty(),
            order: Order::NotAtomic,
            scope: Scope::default(),
            offset,
            alias: 0,
        };
        while let Token::Word(word) = self.lexer.token {
            if let Some(&(flag, _)) = FLAGS.iter().find(|row| row.1 == word) {
                mem.flags |= flag;
                self.advance()?;
            } else if self.accept_word("alias")? {
                mem.alias = self.number()?;
            } else if self.accept_word("atomic")? {
                mem.order = self.order()?;
                mem.scope = self.scope()?;
            } else {
                break;
            }
        }
        Ok(mem)
    }
}

/// Returns the operation with this name if it is an arithmetic operation, whose operands are all values.
fn arithmetic(base: &str) -> Option<Op> {
    let named = match base {
        "select" => Some(Op::Select),
        "ptr_add" => Some(Op::PtrAdd),
        "ptr_add_z" => Some(Op::PtrAddZ),
        _ => None,
    };
    named
        .or_else(|| BinOp::from_mnemonic(base).map(Op::Bin))
        .or_else(|| UnOp::from_mnemonic(base).map(Op::Un))
        .or_else(|| CastOp::from_mnemonic(base).map(Op::Cast))
        .or_else(|| TernOp::from_mnemonic(base).map(Op::Tern))
        .or_else(|| WaveOp::from_mnemonic(base).map(Op::Wave))
}
