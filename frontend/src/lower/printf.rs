//! Lowers `printf`, `assert` and `trap`.
//!
//! The output of a call is first split into parts: plain texts, strings and values. The parts are then sent
//! to the host in one of the two ways that [`Printf`] describes.

mod buffer;
mod hostcall;

use super::{Lower, Val};
use crate::Printf;
use crate::ast::{ExprId, ExprKind};
use crate::diag::SourceText;
use crate::format::{Conversion, Format, Kind, Literal, Piece};
use crate::scalar::Scalar;
use crate::types::Ty;
use ir::{CastOp, IntCc, Op, Order, Pos, Scope, Spaces, SrcLoc, Type, Value};
use std::sync::Arc;

/// Positions of the line ends of a program.
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

    /// Returns the file and line of a byte, such as `file.k:12`.
    fn file_and_line(&self, at: usize) -> String {
        let (name, range) = self.files.file(at);
        let before = |at: usize| self.ends.partition_point(|&end| end < at);
        format!("{name}:{}", 1 + before(at) - before(range.start))
    }
}

/// A part of the output of a call.
enum Part<'f> {
    /// Text that is printed unchanged.
    Plain(&'f str),
    /// A string literal, printed by a conversion.
    Text(&'f Conversion, String),
    /// A value that is printed: the conversion that prints it, its scalar type and number of elements (`None`
    /// for a pointer), and its values in the IR.
    Value(&'f Conversion, Option<(Scalar, u8)>, Val),
    /// A `u32`.
    Number(Value),
}

/// Output stream of the host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Output,
    Error,
}

impl Lower<'_, '_> {
    pub(super) fn printf(&mut self, args: &[ExprId]) -> Val {
        let literal = self.literal(args[0]);
        let format = Format::parse(&literal).unwrap_or_default();
        let mut parts = Vec::new();
        let mut given = args[1..].iter();
        for piece in &format.pieces {
            let conversion = match piece {
                Piece::Text(text) => {
                    parts.push(Part::Plain(text));
                    continue;
                }
                Piece::Conversion(conversion) => conversion,
            };
            let Some(&arg) = given.next() else { continue };
            parts.push(match conversion.kind() {
                Kind::Text => Part::Text(conversion, self.literal(arg).text),
                _ => {
                    let number = self.checked.types.lanes(self.ty_of(arg));
                    Part::Value(conversion, number, self.expr(arg))
                }
            });
        }
        self.print(&parts, Stream::Output);
        Val::new()
    }

    /// Returns the string literal that is the argument `arg`. The checker has already parsed it without
    /// errors.
    fn literal(&self, arg: ExprId) -> Literal {
        let expr = self.ast.expr(arg);
        match expr.kind {
            ExprKind::Str(written) => {
                Literal::read(self.ast.name(written), expr.span.start).unwrap_or_default()
            }
            _ => Literal::default(),
        }
    }

    fn print(&mut self, parts: &[Part<'_>], stream: Stream) {
        match self.printf {
            // The buffer has a single output stream.
            Printf::Buffer => self.print_to_buffer(parts),
            Printf::Hostcall => self.print_by_host(parts, stream),
        }
    }

    /// Converts a value to a type that can be printed: a float to at least 32 bits, any other value to an
    /// integer.
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

    /// Ends the dispatch with an error.
    pub(super) fn abort(&mut self) {
        self.effect(Op::Trap { debug: false }, &[]);
        self.effect(Op::Unreachable, &[]);
        self.kill();
    }

    /// Emits code that prints the source position, the error `wrong` and the work-item's ids, and then ends
    /// the whole dispatch.
    fn fail(&mut self, position: u32, wrong: &str) -> Val {
        let files = self.files;
        let place = self.lines.get_or_insert_with(|| Lines::new(files())).file_and_line(position as usize);
        let failed = format!("{place}: {wrong}");
        let mut parts = vec![Part::Plain(&failed), Part::Plain(" (work-group ")];
        self.ids(&mut parts, Pos::GroupId);
        parts.push(Part::Plain(", work-item "));
        self.ids(&mut parts, Pos::LocalId);
        parts.push(Part::Plain(")\n"));
        self.print(&parts, Stream::Error);
        if self.printf == Printf::Buffer {
            // The abort prevents the normal end of the kernel, which would make its stores visible. A release
            // fence therefore makes the printed text visible to the host here.
            let spaces = Spaces::GLOBAL;
            self.effect(Op::Fence { order: Order::Release, scope: Scope::System, spaces }, &[]);
        }
        self.abort();
        Val::new()
    }

    /// Emits a test whether the divisor of an integer division is zero, if the option `check_divisions` is
    /// set. If the divisor is zero, the code prints the position of the division and ends the dispatch.
    pub(super) fn check_divisor(&mut self, divisor: Value) {
        let is_known = self.func.const_bits(divisor).is_some_and(|bits| bits != 0);
        if !self.check_divisions || is_known {
            return;
        }
        let zero = self.constant(self.func.ty(divisor), 0);
        let holds = self.emit(Op::Icmp(IntCc::Ne), &[divisor, zero], Type::Bool);
        let position = self.loc.0.saturating_sub(1);
        self.branch(holds, Ty::UNIT, |_| Val::new(), |lower| lower.fail(position, "division by zero"));
    }

    /// Lowers `assert`: if the condition is false, the code prints the condition and ends the dispatch.
    pub(super) fn assert(&mut self, args: &[ExprId]) -> Val {
        if !self.asserts {
            return Val::new();
        }
        let holds = self.scalar_expr(args[0]);
        let message = args.get(1).map(|&arg| self.literal(arg).text);
        let (loc, condition) = (self.loc, self.ast.span(args[0]));
        let fail = |lower: &mut Self| {
            lower.loc = SrcLoc(condition.start + 1);
            let written: Vec<&str> = condition.text(lower.source).split_whitespace().collect();
            let mut failed = format!("`assert({})` failed", written.join(" "));
            if let Some(message) = message {
                failed += ": ";
                failed += &message;
            }
            lower.fail(condition.start, &failed)
        };
        self.branch(holds, Ty::UNIT, |_| Val::new(), fail);
        self.loc = loc;
        Val::new()
    }

    /// Appends the three components of a work-item's or work-group's id, for a message.
    fn ids(&mut self, parts: &mut Vec<Part<'_>>, id: fn(u8) -> Pos) {
        for d in 0..3 {
            if d > 0 {
                parts.push(Part::Plain(", "));
            }
            parts.push(Part::Number(self.emit(Op::Pos(id(d)), &[], Type::I32)));
        }
    }
}
