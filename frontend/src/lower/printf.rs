//! `printf`, `assert` and `trap`.
//!
//! A call of `printf` leaves its number and its arguments, dword by dword, in OpenCL's buffer. Where, `printf_place` of the library
//! finds; how the arguments lie there is LLVM's way (its pass `AMDGPUPrintfRuntimeBinding`, by its output): one behind the other, each
//! in whole dwords, a vector of three as one of four, texts with their zero.

use super::{Lower, Val};
use crate::ast::{ExprId, ExprKind};
use crate::diag::SourceText;
use crate::format::{Format, Kind, Literal, Piece, Record};
use crate::scalar::Scalar;
use crate::types::Ty;
use ir::{CastOp, Mem, MemTy, Op, Order, Pos, Scope, Space, Spaces, SrcLoc, Type, Value};
use smallvec::SmallVec;
use std::sync::Arc;

/// Where the lines of a program begin.
#[derive(Debug)]
pub struct Lines {
    files: Arc<SourceText>,
    ends: Vec<usize>,
}

impl Lines {
    fn new(files: Arc<SourceText>) -> Lines {
        let ends = files.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at);
        Lines { ends: ends.collect(), files }
    }

    /// `file.k:12`
    fn place(&self, at: usize) -> String {
        let (name, range) = self.files.file(at);
        let before = |at: usize| self.ends.partition_point(|&end| end < at);
        format!("{name}:{}", 1 + before(at) - before(range.start))
    }
}

/// A call while it is put together: what is printed, bytes of each argument, and their dwords.
#[derive(Default)]
struct Call {
    record: Record,
    sizes: Vec<u32>,
    dwords: SmallVec<[Value; 16]>,
}

impl Lower<'_, '_> {
    pub(super) fn printf(&mut self, args: &[ExprId]) -> Val {
        let literal = self.literal(args[0]);
        let format = Format::parse(&literal).unwrap_or_default();
        let mut call = Call::default();
        let mut given = args[1..].iter();
        for piece in &format.pieces {
            let (conversion, &arg) = match (piece, given.as_slice().first()) {
                (Piece::Conversion(conversion), Some(arg)) => (conversion, arg),
                (Piece::Text(text), _) => {
                    self.plain(&mut call, text);
                    continue;
                }
                (Piece::Conversion(_), None) => continue,
            };
            given.next();
            let scalar = if conversion.kind() == Kind::Text {
                let text = self.literal(arg).text;
                self.text(&mut call, &text);
                None
            } else {
                let number = self.checked.types.lanes(self.ty_of(arg));
                let values = self.expr(arg);
                self.argument(&mut call, number, &values);
                number.map(|(scalar, _)| scalar)
            };
            call.record.convert(conversion, scalar);
        }
        self.print(call);
        Val::new()
    }

    /// What the checker has read before.
    fn literal(&self, arg: ExprId) -> Literal {
        let expr = self.ast.expr(arg);
        match expr.kind {
            ExprKind::Str(written) => {
                Literal::read(self.ast.name(written), expr.span.start).unwrap_or_default()
            }
            _ => Literal::default(),
        }
    }

    /// What is printed as it is.
    fn plain(&mut self, call: &mut Call, text: &str) {
        for _ in 0..call.record.push(text) {
            call.sizes.push(4);
            call.dwords.push(self.constant(Type::I32, u64::from(b'\\')));
        }
    }

    fn text(&mut self, call: &mut Call, text: &str) {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        call.sizes.push(bytes.len() as u32);
        for dword in bytes.as_chunks().0 {
            call.dwords.push(self.constant(Type::I32, u32::from_le_bytes(*dword).into()));
        }
    }

    /// A number, the elements of a vector, or a pointer.
    fn argument(&mut self, call: &mut Call, number: Option<(Scalar, u8)>, values: &[Value]) {
        let (scalar, lanes) = number.unwrap_or((Scalar::U32, 1));
        let mut elements: Val = values.iter().map(|&value| self.printable(scalar, value)).collect();
        if lanes == 3 {
            let ty = self.func.ty(elements[0]);
            elements.push(self.zero(ty));
        }
        let before = call.dwords.len();
        let bits = scalar.bits();
        // Elements that do not fill a dword, two bytes, have each one of their own.
        let fills = elements.len() as u32 * bits >= 32;
        if lanes > 1 && bits < 32 && scalar.is_int() && fills {
            for chunk in elements.chunks(32 / bits as usize) {
                call.dwords.push(self.packed(chunk, bits));
            }
        } else {
            elements.iter().for_each(|&value| self.dwords(value, &mut call.dwords));
        }
        call.sizes.push(4 * (call.dwords.len() - before) as u32);
    }

    /// A float in at least 32 bits, anything else as an integer.
    fn printable(&mut self, scalar: Scalar, value: Value) -> Value {
        match (self.func.ty(value), scalar) {
            (Type::F16, _) => self.widened(value, Type::F32),
            (_, Scalar::Bf16) => {
                let half = self.constant(Type::I32, 16);
                self.bin(ir::BinOp::Shl, value, half)
            }
            (ty @ Type::Ptr(_), _) => {
                let int = if ty.bits() == 64 { Type::I64 } else { Type::I32 };
                self.emit(Op::Cast(CastOp::PtrToInt), &[value], int)
            }
            _ => value,
        }
    }

    fn dwords(&mut self, value: Value, out: &mut SmallVec<[Value; 16]>) {
        match self.func.ty(value) {
            Type::F64 => {
                let bits = self.rebit(value, Type::I64);
                self.dwords(bits, out);
            }
            Type::I64 => {
                let (low, high) = self.halves(value);
                out.extend([low, high]);
            }
            _ => out.push(value),
        }
    }

    /// Small integers in one dword, the first lowest.
    fn packed(&mut self, elements: &[Value], bits: u32) -> Value {
        let mask = self.constant(Type::I32, (1 << bits) - 1);
        let mut word = self.bin(ir::BinOp::And, elements[0], mask);
        for (n, &element) in (1..).zip(&elements[1..]) {
            let low = self.bin(ir::BinOp::And, element, mask);
            let by = self.constant(Type::I32, n * u64::from(bits));
            let part = self.bin(ir::BinOp::Shl, low, by);
            word = self.bin(ir::BinOp::Or, word, part);
        }
        word
    }

    /// Leaves a call in the buffer, if there is room.
    fn print(&mut self, call: Call) {
        let format = ir::Format { sizes: call.sizes, text: call.record.text };
        let bytes = self.constant(Type::I32, format.bytes().into());
        self.module.formats.push(format);
        let number = self.constant(Type::I32, self.module.formats.len() as u64);
        let global = Type::Ptr(Space::Global);
        let buffer = self.emit(Op::Pos(Pos::PrintfBuffer), &[], global);
        let place = self.call_library("printf_place".into(), &[Type::Bool, global], &[buffer, bytes]);
        let (has_room, place) = (place[0], place[1]);
        let leave = |lower: &mut Self| {
            for (n, &dword) in (0..).zip([number].iter().chain(&call.dwords)) {
                let mem = Mem { ty: MemTy::B32, align: 4, offset: 4 * n, ..super::plain_mem(Space::Global) };
                lower.effect(Op::Store { mem, count: 1 }, &[place, dword]);
            }
            Val::new()
        };
        self.branch(has_room, Ty::UNIT, leave, |_| Val::new());
    }

    /// Ends the dispatch with an error.
    pub(super) fn abort(&mut self) {
        self.effect(Op::Trap { debug: false }, &[]);
        self.effect(Op::Unreachable, &[]);
        self.kill();
    }

    /// What is not so is printed, and ends the dispatch.
    pub(super) fn assert(&mut self, args: &[ExprId]) -> Val {
        if !self.asserts {
            return Val::new();
        }
        let holds = self.one(args[0]);
        let message = args.get(1).map(|&arg| self.literal(arg).text);
        let (loc, condition) = (self.loc, self.ast.span(args[0]));
        let fail = |lower: &mut Self| {
            lower.loc = SrcLoc(condition.start + 1);
            let files = lower.files;
            let place =
                lower.lines.get_or_insert_with(|| Lines::new(files())).place(condition.start as usize);
            let written: Vec<&str> = condition.text(lower.source).split_whitespace().collect();
            let mut call = Call::default();
            lower.plain(&mut call, &format!("{place}: `assert({})` failed", written.join(" ")));
            if let Some(message) = message {
                lower.plain(&mut call, &format!(": {message}"));
            }
            lower.plain(&mut call, " (work-group ");
            lower.ids(&mut call, Pos::GroupId);
            lower.plain(&mut call, ", work-item ");
            lower.ids(&mut call, Pos::LocalId);
            lower.plain(&mut call, ")\n");
            lower.print(call);
            // What was printed is to be read after all, though the wave does not come to its end.
            let spaces = Spaces::GLOBAL;
            lower.effect(Op::Fence { order: Order::Release, scope: Scope::System, spaces }, &[]);
            lower.abort();
            Val::new()
        };
        self.branch(holds, Ty::UNIT, |_| Val::new(), fail);
        self.loc = loc;
        Val::new()
    }

    /// Prints three numbers.
    fn ids(&mut self, call: &mut Call, id: fn(u8) -> Pos) {
        for d in 0..3 {
            if d > 0 {
                self.plain(call, ", ");
            }
            let value = self.emit(Op::Pos(id(d)), &[], Type::I32);
            self.argument(call, Some((Scalar::U32, 1)), &[value]);
            call.record.number();
        }
    }
}
