//! Checks the arguments of the built-in functions.

use super::infer::Question;
use super::item::Literal;
use super::{Checker, Res};
use crate::argument_words;
use crate::ast::{ExprId, GenericArg, List, Name};
use crate::builtins::{Builtin, Class, LIBRARY, Lane, Rmw, Row, Two, Wide};
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::{Pointer, Qualifiers, Ty, TyKind};
use ir::{Order, Pos, Space, TernOp};
use isa::spelling::nearest;

/// Returns the smallest and the largest number of arguments.
fn arity(builtin: Builtin) -> (usize, usize) {
    use Builtin::*;
    match builtin {
        Pos(_) | Barrier | BarrierOnly | WaveBarrier | Unreachable | Trap | DebugTrap | Sleep => (0, 0),
        Dim(_) | IsNan | IsInf | FrexpExp | Ilogb | Length | Normalize | Bitcast | Ballot | Any | All => {
            (1, 1)
        }
        ReadFirstLane
        | Interrupt
        | Mbcnt
        | WaveMatch
        | Assume
        | Row(crate::builtins::Row::Mirror | crate::builtins::Row::HalfMirror) => (1, 1),
        WaveReduce(_) | WaveScan(..) => (1, 2),
        QuadPermute => (5, 5),
        Row(_) => (2, 2),
        Two(crate::builtins::Two::Remquo) => (3, 3),
        Ldexp | Two(_) | Dot | Cross | Distance | ReadLane | Shuffle | Permute | ShuffleXor | ShuffleUp
        | ShuffleDown => (2, 2),
        Select => (3, 3),
        Fence => (2, 5),
        AtomicLoad => (3, 3),
        AtomicStore | AtomicRmw(_) => (4, 4),
        AtomicCas | AtomicCasWeak => (6, 6),
        Load => (1, 2),
        Store => (2, 3),
        Lanes(_, _, count) => (count as usize, count as usize),
        Assert => (1, 2),
        Printf => (1, usize::MAX),
    }
}

/// Returns whether argument `n` of an element-wise function is a shift count, a number of bits or a similar
/// integer. This argument may have any integer type, and need not have the type of the other arguments.
fn is_count(lane: Lane, n: usize) -> bool {
    match lane {
        Lane::Rotl | Lane::Rotr => n == 1,
        Lane::Bfe => n >= 1,
        Lane::Tern(TernOp::Fshr) => n == 2,
        Lane::Library(number) => LIBRARY[usize::from(number)].1.as_bytes().get(n) == Some(&b'i'),
        _ => false,
    }
}

/// Kind of access that an atomic operation makes. It decides which memory orders are allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Load,
    Store,
    ReadWrite,
    Failure,
    Fence,
}

impl Access {
    fn allows(self, order: Order) -> bool {
        match self {
            Access::Load => !matches!(order, Order::Release | Order::AcqRel),
            Access::Failure => matches!(order, Order::Relaxed | Order::Acquire | Order::SeqCst),
            Access::Store => !matches!(order, Order::Acquire | Order::AcqRel),
            Access::ReadWrite => order != Order::Unordered,
            Access::Fence => !matches!(order, Order::Unordered | Order::Relaxed),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Access::Load => "an atomic load",
            Access::Store => "an atomic store",
            Access::ReadWrite => "an atomic read-modify-write",
            Access::Failure => "the failing side of a compare-and-swap",
            Access::Fence => "a fence",
        }
    }
}

impl Checker<'_, '_> {
    pub(super) fn builtin(
        &mut self,
        id: ExprId,
        builtin: Builtin,
        callee: Name,
        list: List,
        given: List,
        expect: Ty,
    ) -> Ty {
        let (min, max) = arity(builtin);
        let ast = self.ast;
        let args = ast.list(list);
        if args.len() < min || args.len() > max {
            self.wrong_count(callee, args.len(), (min, max), None);
            return Ty::ERROR;
        }
        match builtin {
            Builtin::Dim(dim) => self.dimension(id, dim, args[0]),
            Builtin::Pos(pos) => self.position_type(pos),
            Builtin::Barrier | Builtin::BarrierOnly | Builtin::WaveBarrier => Ty::UNIT,
            Builtin::Fence => self.fence(args),
            Builtin::AtomicLoad
            | Builtin::AtomicStore
            | Builtin::AtomicRmw(_)
            | Builtin::AtomicCas
            | Builtin::AtomicCasWeak => self.atomic(builtin, args),
            Builtin::Load | Builtin::Store => self.hinted(builtin, args),
            Builtin::Lanes(lane, class, _) => self.lanes(lane, class, callee, args, expect),
            Builtin::IsNan | Builtin::IsInf => {
                let ty = self.of_class(args[0], Class::Float, callee, Ty::NONE);
                if ty == Ty::ERROR { ty } else { self.s.checked.types.with_scalar(ty, Scalar::Bool) }
            }
            Builtin::Ldexp => {
                let ty = self.of_class(args[0], Class::Float, callee, expect);
                self.count(args[1], true, ty);
                ty
            }
            Builtin::FrexpExp | Builtin::Ilogb => {
                let ty = self.of_class(args[0], Class::Float, callee, Ty::NONE);
                if ty == Ty::ERROR { ty } else { self.s.checked.types.with_scalar(ty, Scalar::I32) }
            }
            Builtin::Two(two) => self.two(two, callee, args, expect),
            Builtin::Cross => self.cross(callee, args, expect),
            Builtin::Dot | Builtin::Distance | Builtin::Length | Builtin::Normalize => {
                self.geometric(builtin, callee, args)
            }
            Builtin::Select => self.select(args, expect),
            Builtin::Bitcast => self.bitcast(callee, args[0], given),
            Builtin::Ballot
            | Builtin::Any
            | Builtin::All
            | Builtin::ReadFirstLane
            | Builtin::ReadLane
            | Builtin::Shuffle
            | Builtin::Permute
            | Builtin::ShuffleXor
            | Builtin::ShuffleUp
            | Builtin::ShuffleDown
            | Builtin::Mbcnt
            | Builtin::WaveReduce(_)
            | Builtin::WaveScan(..)
            | Builtin::WaveMatch
            | Builtin::QuadPermute
            | Builtin::Row(_) => self.cross_lane(builtin, callee, args, expect),
            Builtin::Assume => {
                self.condition(args[0]);
                Ty::UNIT
            }
            Builtin::Unreachable | Builtin::Trap => Ty::NEVER,
            Builtin::DebugTrap | Builtin::Sleep => Ty::UNIT,
            Builtin::Interrupt => {
                self.argument(args[0], Ty::U32);
                Ty::UNIT
            }
            Builtin::Printf => self.printf(args),
            Builtin::Assert => self.assert(args),
        }
    }

    /// Returns the type of an id, a clock or a pointer of the dispatch. Pointers point to bytes.
    fn position_type(&mut self, pos: Pos) -> Ty {
        match pos.ty() {
            ir::Type::Ptr(space) => {
                let is_constant = space == Space::Constant;
                let qualifiers = if is_constant { Qualifiers::CONST } else { Qualifiers::empty() };
                self.s.checked.types.pointer(Pointer { to: Ty::scalar(Scalar::U8), space, qualifiers })
            }
            ir::Type::I64 => Ty::U64,
            _ => Ty::U32,
        }
    }

    /// Checks the arguments of an operation across the lanes of a wave, and returns the type of the result.
    /// `expect` is the type that the context expects of the result.
    fn cross_lane(&mut self, builtin: Builtin, callee: Name, args: &[ExprId], expect: Ty) -> Ty {
        match builtin {
            Builtin::Ballot => {
                self.condition(args[0]);
                Ty::U64
            }
            Builtin::Any | Builtin::All => {
                self.condition(args[0]);
                Ty::BOOL
            }
            Builtin::ReadFirstLane => self.register_value(args[0], expect),
            Builtin::ReadLane
            | Builtin::Shuffle
            | Builtin::Permute
            | Builtin::ShuffleXor
            | Builtin::ShuffleUp
            | Builtin::ShuffleDown => {
                let ty = self.register_value(args[0], expect);
                self.argument(args[1], Ty::U32);
                ty
            }
            Builtin::Mbcnt => {
                self.argument(args[0], Ty::U64);
                Ty::U32
            }
            Builtin::WaveReduce(op) | Builtin::WaveScan(op, _) => {
                let bits = matches!(op, Wide::And | Wide::Or | Wide::Xor);
                let ty =
                    self.of_class(args[0], if bits { Class::Whole } else { Class::Number }, callee, expect);
                if let Some(&lanes) = args.get(1) {
                    self.argument(lanes, Ty::U64);
                }
                ty
            }
            Builtin::WaveMatch => {
                self.register_value(args[0], Ty::NONE);
                Ty::U64
            }
            Builtin::QuadPermute => {
                let ty = self.register_value(args[0], expect);
                for &lane in &args[1..] {
                    self.argument(lane, Ty::U32);
                    self.lane_below(4, lane);
                }
                ty
            }
            Builtin::Row(row) => {
                let ty = self.register_value(args[0], expect);
                if let Some(&count) = args.get(1) {
                    self.argument(count, Ty::U32);
                    if row == Row::Share {
                        self.lane_below(16, count);
                    }
                }
                ty
            }
            _ => unreachable!("`{builtin:?}` is no operation across lanes"),
        }
    }

    /// Checks an argument that must have one particular type. Returns whether its type is right.
    fn argument(&mut self, arg: ExprId, wanted: Ty) -> bool {
        let found = self.expr(arg, wanted);
        self.require(arg, found, wanted) && found != Ty::ERROR
    }

    /// Reports a constant lane number that is not below `count`.
    fn lane_below(&mut self, count: u64, lane: ExprId) {
        if let Some(value) = self.constant_value(lane).filter(|&value| value >= count) {
            let message = format!("lane {value} is out of range");
            self.error("E0044", message, self.ast.span(lane), format!("lanes are 0 to {}", count - 1));
        }
    }

    fn dimension(&mut self, id: ExprId, dim: crate::builtins::Dim, arg: ExprId) -> Ty {
        let found = self.any_integer(arg, Ty::U32);
        let is_int = self.s.checked.types.as_scalar(found).is_some_and(Scalar::is_int);
        if !is_int {
            self.require(arg, found, Ty::U32);
        } else if let Some(value) = self.eval(arg).and_then(|fragments| fragments.first().copied()) {
            if value > 2 {
                let span = self.ast.span(arg);
                self.error("E0052", "a dimension is 0, 1 or 2", span, "no such dimension");
            }
            self.s.checked.res[id.at()] = Res::Dim(dim, value.min(2) as u8);
        }
        Ty::U32
    }

    fn is_class(&self, ty: Ty, class: Class) -> bool {
        self.s.checked.types.lanes(ty).is_some_and(|(scalar, _)| class.has(scalar))
    }

    /// Checks a numeric argument and returns its type, which must be in the class. A literal without a suffix
    /// gets the type `expect` if the class contains this type. If it does not, and the class consists of
    /// floats, the literal becomes a float.
    fn of_class(&mut self, arg: ExprId, class: Class, callee: Name, expect: Ty) -> Ty {
        let expect = match class {
            _ if self.is_class(expect, class) => expect,
            Class::F32 => Ty::F32,
            Class::Float => self.s.checked.types.open(true),
            _ => Ty::NONE,
        };
        let found = self.expr(arg, expect);
        let ty = self.in_class(found, arg, class, callee);
        // If the type comes from a literal, the type is not final yet: it may turn out to be too small, too
        // wide or unsigned for the class. The argument is therefore tested again when the type is known.
        if self.s.checked.types.is_undecided(ty) && !matches!(class, Class::Number | Class::Float) {
            self.ask_later(ty, Question::Class(arg, class, callee));
        }
        ty
    }

    /// Returns the type of an argument if the class contains that type. Otherwise, reports the argument and
    /// returns the error type.
    pub(super) fn in_class(&mut self, found: Ty, arg: ExprId, class: Class, callee: Name) -> Ty {
        if found == Ty::ERROR || self.is_class(found, class) {
            return found;
        }
        let (name, text) = (self.type_name(found), self.ast.name(callee.sym));
        let diagnostic = Diagnostic::error("E0052", format!("`{text}` takes {}", class.text()))
            .label(self.ast.span(arg), format!("this is `{name}`"))
            .help_opt(match class {
                Class::Float | Class::F32 => Some("convert it with `as f32`".to_owned()),
                _ if found == Ty::BOOL => Some("convert it with `as u32`".to_owned()),
                _ => None,
            });
        self.sink.push(diagnostic);
        Ty::ERROR
    }

    /// Checks a call of an element-wise function and returns the type of the result. All operands must have
    /// the same type. A scalar may take the place of a vector and is then used for each element.
    fn lanes(&mut self, lane: Lane, class: Class, callee: Name, args: &[ExprId], expect: Ty) -> Ty {
        let mut result = Ty::NONE;
        let mut failed = false;
        let is_float = |&arg: &ExprId| self.untyped(arg) == Some(Literal::Float);
        let expect = if expect == Ty::NONE && args.iter().any(is_float) {
            self.s.checked.types.open(true)
        } else {
            expect
        };
        // Operands that are not literals decide the common type, so they are checked first. The literals are
        // checked afterwards and get this type.
        for literals in [false, true] {
            for (n, &arg) in args.iter().enumerate() {
                if is_count(lane, n) || self.untyped(arg).is_some() != literals {
                    continue;
                }
                let wish = if result == Ty::NONE { expect } else { result };
                let found = self.of_class(arg, class, callee, wish);
                failed |= found == Ty::ERROR;
                if !failed {
                    result = self.widest(result, found, arg, &mut failed);
                }
            }
        }
        for (n, &arg) in args.iter().enumerate().filter(|&(n, _)| is_count(lane, n)) {
            let of = if failed { Ty::ERROR } else { result };
            failed |= !self.count(arg, matches!(lane, Lane::Library(_)), of) || n == 0;
        }
        if failed { Ty::ERROR } else { result }
    }

    /// Checks a shift count or similar operand of a function on values of type `of`. The operand is either
    /// one number for all elements, or a vector with one number for each element. If the function computes
    /// with the number (`is_number`), the operand must be an `i32`. Otherwise, it may be an integer of any
    /// type.
    fn count(&mut self, arg: ExprId, is_number: bool, of: Ty) -> bool {
        let wanted = if is_number { Scalar::I32 } else { Scalar::U32 };
        let ty = Ty::scalar(wanted);
        let found = if is_number { self.expr(arg, ty) } else { self.any_integer(arg, ty) };
        if of == Ty::ERROR {
            return true;
        }
        let types = &mut self.s.checked.types;
        let lanes = types.lanes(of).map_or(1, |(_, lanes)| lanes);
        let shape = match types.lanes(found) {
            Some((scalar, 1)) if scalar.is_int() && !is_number => return true,
            Some((scalar, n))
                if n > 1 && n == lanes && (scalar == wanted || scalar.is_int() && !is_number) =>
            {
                return true;
            }
            Some((_, n)) if n > 1 && lanes > 1 => types.with_scalar(of, wanted),
            _ => Ty::scalar(wanted),
        };
        found == Ty::ERROR || self.require(arg, found, shape)
    }

    /// Returns the common type of the operands so far: `so_far` is the type of the earlier operands, `found`
    /// the type of the operand `arg`. A scalar and a vector of this scalar give the vector. Sets `failed` and
    /// reports an error if the types do not go together.
    fn widest(&mut self, so_far: Ty, found: Ty, arg: ExprId, failed: &mut bool) -> Ty {
        if so_far == Ty::NONE || so_far == found {
            return found;
        }
        match (self.s.checked.types.kind(so_far), self.s.checked.types.kind(found)) {
            (TyKind::Vector(a, _), TyKind::Scalar(_))
                if self.agree(found, Ty::scalar(a), self.ast.span(arg)) =>
            {
                so_far
            }
            (TyKind::Scalar(_), TyKind::Vector(b, _))
                if self.agree(so_far, Ty::scalar(b), self.ast.span(arg)) =>
            {
                found
            }
            _ => {
                *failed |= !self.require(arg, found, so_far);
                so_far
            }
        }
    }

    /// Checks a function with two results, such as `sincos`. The call returns the first result, and stores
    /// the second result to the pointer that is the last argument.
    fn two(&mut self, two: Two, callee: Name, args: &[ExprId], expect: Ty) -> Ty {
        let ty = self.of_class(args[0], Class::Float, callee, expect);
        let at = args[args.len() - 1];
        if let [_, second, _] = *args {
            let found = self.expr(second, ty);
            self.require(second, found, ty);
        }
        let pointer = self.expr(at, Ty::NONE);
        let stored = match (self.s.checked.types.lanes(ty), two) {
            (None, _) => return ty,
            (_, Two::Frexp | Two::Remquo) => self.s.checked.types.with_scalar(ty, Scalar::I32),
            (_, Two::Sincos | Two::Modf) => ty,
        };
        let pointee = self.s.checked.types.as_pointer(pointer).map(|p| p.to);
        let fits = pointee.is_some_and(|to| self.agree(to, stored, self.ast.span(at)));
        match self.s.checked.types.as_pointer(pointer) {
            Some(p) if fits && !p.qualifiers.contains(Qualifiers::CONST) => {}
            _ if pointer == Ty::ERROR => {}
            _ => {
                let (name, wanted) = (self.type_name(pointer), self.type_name(stored));
                let (text, what) = (self.ast.name(callee.sym), two.stored());
                let diagnostic =
                    Diagnostic::error("E0052", format!("`{text}` stores the {what} through a pointer"))
                        .label(self.ast.span(at), format!("this is `{name}`"))
                        .help(format!("give the address of a `{wanted}`: `&mut e`"));
                self.sink.push(diagnostic);
            }
        }
        ty
    }

    /// Checks the cross product `cross`. It takes vectors of three elements, or of four elements of which the
    /// last is treated as 0.
    fn cross(&mut self, callee: Name, args: &[ExprId], expect: Ty) -> Ty {
        let ty = self.of_class(args[0], Class::Float, callee, expect);
        let found = self.expr(args[1], ty);
        self.require(args[1], found, ty);
        match self.s.checked.types.lanes(ty) {
            None | Some((_, 3 | 4)) => ty,
            Some(_) => {
                let name = self.type_name(ty);
                let (span, message) = (self.ast.span(args[0]), "`cross` takes vectors of 3 or 4 lanes");
                self.error("E0052", message, span, format!("this is `{name}`"));
                Ty::ERROR
            }
        }
    }

    fn geometric(&mut self, builtin: Builtin, callee: Name, args: &[ExprId]) -> Ty {
        let first = self.of_class(args[0], Class::Float, callee, Ty::NONE);
        if let Some(&second) = args.get(1) {
            let found = self.expr(second, first);
            self.require(second, found, first);
        }
        match (builtin, self.s.checked.types.lanes(first)) {
            (_, None) => Ty::ERROR,
            (Builtin::Normalize, _) => first,
            (_, Some(_)) => self.lane_type(first),
        }
    }

    fn select(&mut self, args: &[ExprId], expect: Ty) -> Ty {
        let cond = self.expr(args[0], Ty::BOOL);
        let (a, b) = self.pair(args[1], args[2], expect);
        let of_bools = |ty| self.s.checked.types.lanes(ty).is_some_and(|(scalar, _)| scalar == Scalar::Bool);
        if of_bools(b) && !of_bools(cond) && cond != Ty::ERROR {
            let (span, help) = (self.ast.span(args[0]), "write `select(c, a, b)`: a where c holds");
            self.error_help("E0052", "the condition comes first", span, "no condition", help);
            return Ty::ERROR;
        }
        if !self.require(args[2], b, a) || a == Ty::ERROR || cond == Ty::ERROR {
            return Ty::ERROR;
        }
        let fits = match (self.s.checked.types.lanes(cond), self.s.checked.types.lanes(a)) {
            (Some((Scalar::Bool, 1)), _) => true,
            (Some((Scalar::Bool, n)), Some((_, m))) => n == m,
            _ => false,
        };
        if !fits {
            self.require(args[0], cond, Ty::BOOL);
        }
        self.register_type(a, args[1])
    }

    fn bitcast(&mut self, callee: Name, arg: ExprId, given: List) -> Ty {
        let &[GenericArg { ty: Some(generic), .. }] = &self.ast.generic_args[given.range()] else {
            self.expr(arg, Ty::NONE);
            let diagnostic = Diagnostic::error("E0050", "`bitcast` needs the type to turn into")
                .label(callee.span, "without a type")
                .help("write `bitcast::<u32>(x)`");
            self.sink.push(diagnostic);
            return Ty::ERROR;
        };
        let to = self.resolve(generic);
        let from = self.expr(arg, Ty::NONE);
        match to {
            _ if to == Ty::ERROR || from == Ty::ERROR => {}
            _ if self.s.checked.types.is_undecided(from) => self.ask_later(from, Question::Bits(arg, to)),
            _ => self.same_bits(arg, from, to),
        }
        to
    }

    /// Reports a `bitcast` whose source and target type have different numbers of bits.
    pub(super) fn same_bits(&mut self, arg: ExprId, from: Ty, to: Ty) {
        let types = &self.s.checked.types;
        let bits = |ty| match types.lanes(ty) {
            Some((Scalar::Bool, _)) | None => None,
            Some((scalar, lanes)) => Some(scalar.bits() * u32::from(lanes)),
        };
        if bits(from).is_none() || bits(from) != bits(to) {
            let (from_name, to_name) = (self.type_name(from), self.type_name(to));
            let message = format!("`{from_name}` and `{to_name}` do not have the same number of bits");
            self.error("E0043", message, self.ast.span(arg), format!("this is `{from_name}`"));
        }
    }

    /// Checks a value that must fit in registers: a number or a vector of numbers.
    fn register_value(&mut self, arg: ExprId, expect: Ty) -> Ty {
        let found = self.expr(arg, expect);
        self.register_type(found, arg)
    }

    fn register_type(&mut self, ty: Ty, arg: ExprId) -> Ty {
        match self.s.checked.types.kind(ty) {
            TyKind::Error | TyKind::Scalar(_) | TyKind::Vector(..) => ty,
            _ => {
                let name = self.type_name(ty);
                let span = self.ast.span(arg);
                self.error("E0052", "a number or a vector is needed here", span, format!("this is `{name}`"));
                Ty::ERROR
            }
        }
    }

    /// Checks `load(p)` and `store(p, v)` with cache hints.
    fn hinted(&mut self, builtin: Builtin, args: &[ExprId]) -> Ty {
        let pointer_ty = self.expr(args[0], Ty::NONE);
        let hint = args.get(if builtin == Builtin::Load { 1 } else { 2 });
        if let Some(&hint) = hint
            && let Err(wrong) = argument_words::hints(self.ast, hint)
        {
            self.unknown_word(wrong, "hint", argument_words::HINTS.iter().map(|row| row.0));
        }
        let Some(pointer) = self.pointer_argument(args[0], pointer_ty) else { return Ty::ERROR };
        self.by_value(pointer.to, self.ast.span(args[0]));
        if builtin == Builtin::Load {
            return pointer.to;
        }
        self.writable(args[0], pointer);
        self.argument(args[1], pointer.to);
        Ty::UNIT
    }

    fn pointer_argument(&mut self, arg: ExprId, ty: Ty) -> Option<Pointer> {
        let pointer = self.s.checked.types.as_pointer(ty);
        if pointer.is_none() && ty != Ty::ERROR {
            let name = self.type_name(ty);
            let diagnostic = Diagnostic::error("E0052", "a pointer is needed here")
                .label(self.ast.span(arg), format!("this is `{name}`"))
                .help("`&x[i]` is the address of an element");
            self.sink.push(diagnostic);
        }
        pointer
    }

    fn writable(&mut self, arg: ExprId, pointer: Pointer) {
        if pointer.qualifiers.contains(Qualifiers::CONST) {
            let span = self.ast.span(arg);
            self.error("E0047", "this memory is read-only", span, "a `const` or `constant` pointer");
        }
    }

    /// Checks an atomic operation. The arguments are a pointer, the values, the memory orders and the scope.
    fn atomic(&mut self, builtin: Builtin, args: &[ExprId]) -> Ty {
        let pointer_ty = self.expr(args[0], Ty::NONE);
        let (values, orders) = match builtin {
            Builtin::AtomicLoad => (0, 1),
            Builtin::AtomicCas | Builtin::AtomicCasWeak => (2, 2),
            _ => (1, 1),
        };
        let access = match builtin {
            Builtin::AtomicLoad => Access::Load,
            Builtin::AtomicStore => Access::Store,
            _ => Access::ReadWrite,
        };
        self.order(args[1 + values], access);
        if orders == 2 {
            self.order(args[2 + values], Access::Failure);
        }
        self.scope(args[1 + values + orders]);
        let element = self.atomic_element(builtin, args[0], pointer_ty);
        for &value in &args[1..1 + values] {
            match element {
                Some(element) => {
                    self.argument(value, element);
                }
                None => {
                    self.expr(value, Ty::NONE);
                }
            }
        }
        match (builtin, element) {
            (Builtin::AtomicStore, _) => Ty::UNIT,
            (Builtin::AtomicCasWeak, Some(element)) => {
                self.s.checked.types.tuple(&[element, Ty::BOOL]).unwrap_or(Ty::ERROR)
            }
            (_, Some(element)) => element,
            (_, None) => Ty::ERROR,
        }
    }

    /// Returns the type of the value in memory that an atomic operation works on. Reports an error and
    /// returns `None` if the pointer's address space or type does not allow the operation.
    fn atomic_element(&mut self, builtin: Builtin, arg: ExprId, ty: Ty) -> Option<Ty> {
        let pointer = self.pointer_argument(arg, ty)?;
        let span = self.ast.span(arg);
        let allowed = match pointer.space {
            Space::Global | Space::Shared | Space::Generic => true,
            Space::Constant => builtin == Builtin::AtomicLoad,
            _ => false,
        };
        if !allowed {
            let space = pointer.space.name();
            let message = format!("atomics work on `global` and `shared` memory, not on `{space}`");
            self.error("E0053", message, span, format!("points to `{space}` memory"));
            return None;
        }
        if builtin != Builtin::AtomicLoad {
            self.writable(arg, pointer);
        }
        let min_max = matches!(builtin, Builtin::AtomicRmw(Rmw::Min | Rmw::Max));
        let of_all = match builtin {
            Builtin::AtomicLoad | Builtin::AtomicStore => true,
            Builtin::AtomicRmw(Rmw::Plain(op)) => {
                matches!(op, ir::RmwOp::Xchg | ir::RmwOp::Add | ir::RmwOp::Sub)
            }
            _ => false,
        };
        match self.s.checked.types.lanes(pointer.to) {
            Some((Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64, 1)) => Some(pointer.to),
            Some((Scalar::F32 | Scalar::F64, 1)) if of_all || min_max => Some(pointer.to),
            Some((Scalar::F16, 2)) if of_all => Some(pointer.to),
            Some((scalar @ (Scalar::F32 | Scalar::F64), 1)) => {
                let to = if scalar == Scalar::F64 { Ty::U64 } else { Ty::U32 };
                self.no_such_atomic(span, pointer, to, "floats", ", min, max")
            }
            Some((Scalar::F16, 2)) => self.no_such_atomic(span, pointer, Ty::U32, "`f16x2`", ""),
            _ => {
                let name = self.type_name(pointer.to);
                let diagnostic =
                    Diagnostic::error("E0052", "atomics work on 32- and 64-bit numbers and `f16x2`")
                        .label(span, format!("points to `{name}`"));
                self.sink.push(diagnostic);
                None
            }
        }
    }

    /// Reports an atomic operation that does not exist for floats. The message suggests the same operation on
    /// the integer type `to` of the same size.
    #[cold]
    fn no_such_atomic(&mut self, span: Span, pointer: Pointer, to: Ty, what: &str, more: &str) -> Option<Ty> {
        let name = self.type_name(pointer.to);
        let integer = self.s.checked.types.pointer(Pointer { to, ..pointer });
        let diagnostic = Diagnostic::error("E0052", format!("there is no such atomic on `{name}`"))
            .label(span, format!("points to `{name}`"))
            .help(format!(
                "of {what} there are: atomic_load, store, xchg, add, sub{more}; a compare-and-swap wants a pointer \
                 to the integer of the same size: `p as {}`",
                self.type_name(integer),
            ));
        self.sink.push(diagnostic);
        None
    }

    fn order(&mut self, arg: ExprId, access: Access) {
        let Some(order) = argument_words::word(self.ast, arg).and_then(argument_words::order) else {
            return self.unknown_word(arg, "memory order", argument_words::ORDERS.iter().map(|row| row.0));
        };
        if !access.allows(order) {
            let allowed: Vec<&str> =
                argument_words::ORDERS.iter().filter(|row| access.allows(row.1)).map(|row| row.0).collect();
            let message = format!("{} cannot have this order", access.text());
            let diagnostic = Diagnostic::error("E0087", message)
                .label(self.ast.span(arg), "not allowed here")
                .help(format!("allowed are: {}", allowed.join(", ")));
            self.sink.push(diagnostic);
        }
    }

    fn scope(&mut self, arg: ExprId) {
        if argument_words::word(self.ast, arg).and_then(argument_words::scope).is_none() {
            self.unknown_word(arg, "scope", argument_words::SCOPES.iter().map(|row| row.0));
        }
    }

    fn fence(&mut self, args: &[ExprId]) -> Ty {
        self.order(args[0], Access::Fence);
        self.scope(args[1]);
        for &arg in &args[2..] {
            if argument_words::word(self.ast, arg).and_then(argument_words::space).is_none() {
                self.unknown_word(arg, "address space", argument_words::SPACES.iter().map(|row| row.0));
            }
        }
        Ty::UNIT
    }

    /// Reports an argument that is none of the words in `known`, although it should be one. The words are the
    /// names of memory orders, for example.
    #[cold]
    fn unknown_word(&mut self, arg: ExprId, what: &str, known: impl Iterator<Item = &'static str> + Clone) {
        let found = argument_words::word(self.ast, arg);
        let help = match found.and_then(|word| nearest(word, known.clone())) {
            Some(close) => format!("a similar word exists: `{close}`"),
            None => format!("one of: {}", known.collect::<Vec<_>>().join(", ")),
        };
        let message = match found {
            Some(word) => format!("`{word}` is no {what}"),
            None => format!("a {what} is a word of its own, not a value"),
        };
        let message = message.replace("a address", "an address");
        let diagnostic = Diagnostic::error("E0029", message)
            .label(
                self.ast.span(arg),
                format!("expected a{} {what}", if what.starts_with('a') { "n" } else { "" }),
            )
            .help(help);
        self.sink.push(diagnostic);
    }
}
