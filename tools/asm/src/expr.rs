//! Parses and evaluates expressions. The operator precedence is that of LLVM's assembler.
//!
//! An expression whose value is known while it is read becomes a number immediately. Only expressions with
//! symbols are stored, as trees of nodes in an arena.

use crate::assembler::Assembler;
use crate::cursor::{Cursor, begins_name};
use crate::error::{Error, Result, error};
use crate::number::{self, Number};
use crate::symbol::{Definition, SymbolId};

/// Names for the operand of `s_version`.
const VERSIONS: [(&str, i64); 7] = [
    ("UC_VERSION_GFX7", 0),
    ("UC_VERSION_GFX10", 4),
    ("UC_VERSION_GFX11", 6),
    ("UC_VERSION_GFX12", 9),
    ("UC_VERSION_W64_BIT", 0x2000),
    ("UC_VERSION_W32_BIT", 0x4000),
    ("UC_VERSION_MDP_BIT", 0x8000),
];

/// Index of an expression in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExprId(u32);

impl ExprId {
    /// Returns the index in the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Number, or expression with symbols.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Abs(i64),
    Expr(ExprId),
}

/// A specifier after a symbol, such as `@rel32@lo`, by which the source chooses the type of the relocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Specifier {
    #[default]
    None,
    GotPcRel,
    GotPcRel32Lo,
    GotPcRel32Hi,
    Rel32Lo,
    Rel32Hi,
    Rel64,
    Abs32Lo,
    Abs32Hi,
}

/// Names of the specifiers, in lower case.
const SPECIFIERS: [(&str, Specifier); 8] = [
    ("gotpcrel", Specifier::GotPcRel),
    ("gotpcrel32@lo", Specifier::GotPcRel32Lo),
    ("gotpcrel32@hi", Specifier::GotPcRel32Hi),
    ("rel32@lo", Specifier::Rel32Lo),
    ("rel32@hi", Specifier::Rel32Hi),
    ("rel64", Specifier::Rel64),
    ("abs32@lo", Specifier::Abs32Lo),
    ("abs32@hi", Specifier::Abs32Hi),
];

#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    Const(i64),
    Symbol(SymbolId, Specifier),
    /// The current position (`.`) at the point where the expression was read, as a section and an offset.
    Place(u32, u64),
    Unary(Unary, ExprId),
    Binary(Binary, ExprId, ExprId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Minus,
    Not,
    LogicalNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Shl,
    Shr,
    And,
    Or,
    OrNot,
    Xor,
    LogicalAnd,
    LogicalOr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Max,
    /// Next multiple of the right operand.
    AlignTo,
    /// Computes how many VGPRs are needed if VGPRs and accumulation VGPRs share a register file: the
    /// accumulation VGPRs follow at the next multiple of four. The operands are the two numbers.
    JoinFiles,
}

/// The binary operators: text, precedence, operation. Operators with longer texts come first. As in GNU's
/// assembler, bit operators bind more tightly than `+`, and shifts as tightly as `*`.
const OPERATORS: [(&[u8], u8, Binary); 20] = [
    (b"<<", 6, Binary::Shl),
    (b">>", 6, Binary::Shr),
    (b"&&", 2, Binary::LogicalAnd),
    (b"||", 1, Binary::LogicalOr),
    (b"==", 3, Binary::Eq),
    (b"!=", 3, Binary::Ne),
    (b"<>", 3, Binary::Ne),
    (b"<=", 3, Binary::Le),
    (b">=", 3, Binary::Ge),
    (b"<", 3, Binary::Lt),
    (b">", 3, Binary::Gt),
    (b"+", 4, Binary::Add),
    (b"-", 4, Binary::Sub),
    (b"|", 5, Binary::Or),
    (b"!", 5, Binary::OrNot),
    (b"^", 5, Binary::Xor),
    (b"&", 5, Binary::And),
    (b"*", 6, Binary::Mul),
    (b"/", 6, Binary::Div),
    (b"%", 6, Binary::Mod),
];

/// Largest nesting depth of parentheses, so that no source text overflows the stack.
const MAX_DEPTH: u32 = 100;
/// Largest depth of expression trees, in which a variable (`.set a, b`) is replaced by its own tree. Deeper
/// trees are reported as cycles. Trees with more than `MAX_STEPS` nodes are rejected, too: if each of many
/// variables uses the one before it twice, the tree grows exponentially.
const MAX_TREE: u32 = 1000;
const MAX_STEPS: u32 = 100_000;

/// The value of an expression in the form `plus + constant - minus`, where `plus` and `minus` are symbols.
/// Either symbol may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Reduced {
    pub plus: Option<Term>,
    pub minus: Option<Term>,
    pub constant: i64,
    pub specifier: Specifier,
    /// If the expression names an alias, that is, a symbol that `.set` defines by the symbol `plus`: the
    /// alias, and the number that is added to `plus` in its definition.
    pub alias: Option<(SymbolId, i64)>,
    /// Whether `plus` is reached through `.weakref`.
    pub weak: bool,
}

/// Symbolic part of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    Symbol(SymbolId),
    Place(u32, u64),
}

impl Assembler {
    /// Reads an expression.
    pub fn expression(&mut self, cur: &mut Cursor) -> Result<Value> {
        self.expression_from(cur, 1, 0, false)
    }

    /// Reads an expression in an operand of an instruction. `|` and `&` end the expression, because they
    /// belong to the syntax of operands.
    pub fn operand_expression(&mut self, cur: &mut Cursor) -> Result<Value> {
        self.expression_from(cur, 1, 0, true)
    }

    /// Reads a single number, symbol or expression in parentheses.
    pub fn one_value(&mut self, cur: &mut Cursor) -> Result<Value> {
        self.primary(cur, 0)
    }

    fn expression_from(&mut self, cur: &mut Cursor, min: u8, depth: u32, operand: bool) -> Result<Value> {
        let mut left = self.primary(cur, depth)?;
        loop {
            cur.blank();
            if cur.at_end() {
                return Ok(left);
            }
            let rest = &cur.text.as_bytes()[cur.pos..];
            let found = OPERATORS.iter().find(|&&(text, ..)| rest.starts_with(text));
            let Some(&(text, precedence, op)) = found.filter(|operator| operator.1 >= min) else {
                return Ok(left);
            };
            if operand && text == b"|" {
                return Ok(left);
            }
            let at = cur.pos;
            cur.pos += text.len();
            let right = self.expression_from(cur, precedence + 1, depth + 1, operand)?;
            left = self.binary(op, left, right).map_err(|message| error(cur.span_from(at), message))?;
        }
    }

    fn primary(&mut self, cur: &mut Cursor, depth: u32) -> Result<Value> {
        if depth > MAX_DEPTH {
            return Err(error(cur.span_here(), "the expression is nested too deeply"));
        }
        cur.blank();
        let start = cur.pos;
        match cur.peek() {
            b'0'..=b'9' | b'.' if number::begins(cur) => match number::number(cur)? {
                Number::Int(value) => Ok(Value::Abs(value)),
                Number::Float(_) => Err(error(cur.span_from(start), "a float where an integer is expected")
                    .label("not an integer")),
                Number::Before(label) => self.local_label(label, false, cur.span_from(start)),
                Number::After(label) => self.local_label(label, true, cur.span_from(start)),
            },
            open @ (b'(' | b'[') => {
                cur.pos += 1;
                let value = self.expression_from(cur, 1, depth + 1, false)?;
                cur.expect(if open == b'(' { b')' } else { b']' })?;
                Ok(value)
            }
            b'-' => self.prefixed(cur, Unary::Minus, depth),
            b'~' => self.prefixed(cur, Unary::Not, depth),
            b'!' => self.prefixed(cur, Unary::LogicalNot, depth),
            b'+' => {
                cur.pos += 1;
                self.primary(cur, depth + 1)
            }
            b'\'' => character(cur),
            b'.' if !begins_name(cur.peek_at(1)) => {
                cur.pos += 1;
                Ok(self.place_value())
            }
            b'"' => {
                let name = cur.expect_name("a symbol")?;
                self.symbol_value(&name, cur, start)
            }
            _ => match cur.name() {
                Some(name) => match self.call(cur, name, start, depth)? {
                    Some(value) => Ok(value),
                    None => self.symbol_value(name, cur, start),
                },
                None => Err(cur.unexpected("an expression")),
            },
        }
    }

    /// Reads a nested expression.
    pub fn nested(&mut self, cur: &mut Cursor, depth: u32) -> Result<Value> {
        self.expression_from(cur, 1, depth + 1, false)
    }

    fn prefixed(&mut self, cur: &mut Cursor, op: Unary, depth: u32) -> Result<Value> {
        cur.pos += 1;
        Ok(match self.primary(cur, depth + 1)? {
            Value::Abs(value) => Value::Abs(unary(op, value)),
            Value::Expr(id) => self.node(Node::Unary(op, id)),
        })
    }

    /// Returns the value of a name. If the name is a variable whose current value is a number, this is the
    /// number, and otherwise a reference to the symbol.
    pub fn symbol_value(&mut self, name: &str, cur: &mut Cursor, start: usize) -> Result<Value> {
        if let Some((_, value)) = VERSIONS.iter().find(|(known, _)| *known == name) {
            return Ok(Value::Abs(*value));
        }
        let specifier = if cur.peek() == b'@' { specifier(cur)? } else { Specifier::None };
        let id = self.symbols.get_or_add(name, self.place_of(start));
        if let Definition::Value { value: Value::Abs(value), .. } = self.symbols[id].definition {
            return Ok(Value::Abs(value));
        }
        Ok(self.node(Node::Symbol(id, specifier)))
    }

    fn node(&mut self, node: Node) -> Value {
        self.nodes.push(node);
        Value::Expr(ExprId(self.nodes.len() as u32 - 1))
    }

    fn id_of(&mut self, value: Value) -> ExprId {
        match value {
            Value::Expr(id) => id,
            Value::Abs(number) => {
                self.nodes.push(Node::Const(number));
                ExprId(self.nodes.len() as u32 - 1)
            }
        }
    }

    /// Returns a position as a value.
    pub fn place_node(&mut self, section: u32, offset: u64) -> Value {
        self.node(Node::Place(section, offset))
    }

    /// Returns the current position as a value.
    pub fn place_value(&mut self) -> Value {
        let (section, offset) = self.here();
        self.place_node(section, offset)
    }

    /// Returns a symbol as a value.
    pub fn symbol_node(&mut self, id: SymbolId, specifier: Specifier) -> Value {
        self.node(Node::Symbol(id, specifier))
    }

    pub(crate) fn binary(
        &mut self,
        op: Binary,
        left: Value,
        right: Value,
    ) -> std::result::Result<Value, &'static str> {
        if let (Value::Abs(left), Value::Abs(right)) = (left, right) {
            return binary(op, left, right).map(Value::Abs);
        }
        let (left, right) = (self.id_of(left), self.id_of(right));
        Ok(self.node(Node::Binary(op, left, right)))
    }

    /// Returns the number, if the value is known at this point.
    pub fn known_number(&self, value: Value) -> Option<i64> {
        match value {
            Value::Abs(number) => Some(number),
            Value::Expr(_) => match self.reduce(value) {
                Ok(Reduced { plus: None, minus: None, constant, .. }) => Some(constant),
                _ => None,
            },
        }
    }

    /// Reads an expression whose value must be known here, and reports an error if it is not.
    pub fn absolute(&mut self, cur: &mut Cursor) -> Result<i64> {
        cur.blank();
        let start = cur.pos;
        let value = self.expression(cur)?;
        self.known_number(value).ok_or_else(|| unknown(cur, start))
    }

    /// Reduces a value to symbol plus number.
    pub fn reduce(&self, value: Value) -> std::result::Result<Reduced, &'static str> {
        match value {
            Value::Abs(constant) => Ok(Reduced { constant, ..Reduced::default() }),
            Value::Expr(id) => self.reduce_node(id, 0, &mut 0),
        }
    }

    fn reduce_node(
        &self,
        id: ExprId,
        depth: u32,
        steps: &mut u32,
    ) -> std::result::Result<Reduced, &'static str> {
        *steps += 1;
        if depth > MAX_TREE || *steps > MAX_STEPS {
            return Err("the expression is too large, or a symbol is defined by itself");
        }
        let number = |constant| Reduced { constant, ..Reduced::default() };
        let absolute = |reduced: Reduced| match reduced {
            Reduced { plus: None, minus: None, constant, .. } => Ok(constant),
            _ => Err("the expression is no symbol plus a number"),
        };
        match self.nodes[id.0 as usize] {
            Node::Const(value) => Ok(number(value)),
            Node::Place(section, offset) => {
                Ok(Reduced { plus: Some(Term::Place(section, offset)), ..Reduced::default() })
            }
            Node::Symbol(symbol, specifier) => {
                let reduced = self.reduce_symbol(symbol, depth, steps)?;
                let specifier = if specifier == Specifier::None { reduced.specifier } else { specifier };
                Ok(Reduced { specifier, ..reduced })
            }
            Node::Unary(Unary::Minus, id) => {
                let inner = self.reduce_node(id, depth + 1, steps)?;
                let constant = inner.constant.wrapping_neg();
                let (plus, minus, specifier) = (inner.minus, inner.plus, inner.specifier);
                Ok(Reduced { plus, minus, constant, specifier, ..Reduced::default() })
            }
            Node::Unary(op, id) => Ok(number(unary(op, absolute(self.reduce_node(id, depth + 1, steps)?)?))),
            Node::Binary(op @ (Binary::Add | Binary::Sub), left, right) => {
                let left = self.reduce_node(left, depth + 1, steps)?;
                let right = self.reduce_node(right, depth + 1, steps)?;
                self.sum(left, right, op == Binary::Sub)
            }
            Node::Binary(op, left, right) => {
                let left = absolute(self.reduce_node(left, depth + 1, steps)?)?;
                let right = absolute(self.reduce_node(right, depth + 1, steps)?)?;
                binary(op, left, right).map(number)
            }
        }
    }

    fn reduce_symbol(
        &self,
        symbol: SymbolId,
        depth: u32,
        steps: &mut u32,
    ) -> std::result::Result<Reduced, &'static str> {
        match self.symbols[symbol].definition {
            Definition::Value { value: Value::Abs(constant), .. } => {
                Ok(Reduced { constant, ..Reduced::default() })
            }
            Definition::Value { value: Value::Expr(id), .. } => {
                let reduced = self.reduce_node(id, depth + 1, steps)?;
                let is_place =
                    reduced.minus.is_none() && reduced.plus.is_some_and(|term| self.locate(term).is_some());
                Ok(Reduced { alias: is_place.then_some((symbol, reduced.constant)), ..reduced })
            }
            Definition::WeakRef(id) => {
                let reduced = self.reduce_node(id, depth + 1, steps)?;
                Ok(Reduced { weak: true, ..reduced })
            }
            _ => Ok(Reduced { plus: Some(Term::Symbol(symbol)), ..Reduced::default() }),
        }
    }

    fn sum(&self, left: Reduced, right: Reduced, negate: bool) -> std::result::Result<Reduced, &'static str> {
        let (plus, minus, constant) = match negate {
            true => (right.minus, right.plus, right.constant.wrapping_neg()),
            false => (right.plus, right.minus, right.constant),
        };
        let specifier = if left.specifier == Specifier::None { right.specifier } else { left.specifier };
        let mut constant = left.constant.wrapping_add(constant);
        let mut pluses = [left.plus, plus];
        let mut minuses = [left.minus, minus];
        // If one term is added and another subtracted, and both are positions in the same section, the two
        // are replaced by their difference, which is a number.
        for p in &mut pluses {
            for m in &mut minuses {
                if let Some(distance) = p.zip(*m).and_then(|(p, m)| self.distance(p, m)) {
                    constant = constant.wrapping_add(distance);
                    (*p, *m) = (None, None);
                }
            }
        }
        let one = |terms: [Option<Term>; 2]| match terms {
            [Some(_), Some(_)] => Err("the expression adds two symbols"),
            [first, second] => Ok(first.or(second)),
        };
        let (alias, weak) = match (pluses, negate) {
            ([Some(_), _], _) => (left.alias, left.weak),
            ([None, Some(_)], false) => (right.alias, right.weak),
            _ => (None, false),
        };
        Ok(Reduced { plus: one(pluses)?, minus: one(minuses)?, constant, specifier, alias, weak })
    }

    /// Returns the section and offset of a defined position.
    pub fn locate(&self, term: Term) -> Option<(u32, u64)> {
        match term {
            Term::Place(section, offset) => Some((section, offset)),
            Term::Symbol(id) => match self.symbols[id].definition {
                Definition::Label { section, offset } => Some((section, offset)),
                _ => None,
            },
        }
    }

    fn distance(&self, to: Term, from: Term) -> Option<i64> {
        if to == from {
            return Some(0);
        }
        let (to, from) = (self.locate(to)?, self.locate(from)?);
        (to.0 == from.0).then(|| to.1.wrapping_sub(from.1) as i64)
    }
}

/// Returns the error about a value that is not known yet.
pub(crate) fn unknown(cur: &Cursor, start: usize) -> Error {
    let span = start..cur.pos.max(start + 1);
    error(span, "the value of this expression must be known here").label("not a known number")
}

/// Reads a specifier such as `@rel32@lo`. The cursor is at `@`.
fn specifier(cur: &mut Cursor) -> Result<Specifier> {
    let start = cur.pos;
    let mut end = start + 1;
    let bytes = cur.text.as_bytes();
    while bytes.get(end).is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'@') {
        end += 1;
    }
    cur.pos = end;
    let text = &cur.text[start + 1..end];
    let found = SPECIFIERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    found.map(|&(_, specifier)| specifier).ok_or_else(|| {
        let names: Vec<&str> = SPECIFIERS.iter().map(|(name, _)| *name).collect();
        error(start..end, format!("unknown relocation specifier `@{text}`"))
            .note(format!("known are: {}", names.join(", ")))
    })
}

/// Reads a character constant such as `'a'`. The cursor is at the quote.
fn character(cur: &mut Cursor) -> Result<Value> {
    let start = cur.pos;
    cur.pos += 1;
    let byte = match cur.peek() {
        b'\\' => {
            cur.pos += 1;
            cur.escape()?
        }
        byte => {
            cur.pos += 1;
            byte
        }
    };
    if !byte.is_ascii() || cur.peek() != b'\'' {
        cur.pos = start + 1;
        return Err(error(start..start + 1, "a character constant is one character between quotes"));
    }
    cur.pos += 1;
    Ok(Value::Abs(i64::from(byte)))
}

fn unary(op: Unary, value: i64) -> i64 {
    match op {
        Unary::Minus => value.wrapping_neg(),
        Unary::Not => !value,
        Unary::LogicalNot => i64::from(value == 0),
    }
}

fn binary(op: Binary, left: i64, right: i64) -> std::result::Result<i64, &'static str> {
    // As in GNU's assembler, a comparison that holds is -1.
    let truth = |holds: bool| -i64::from(holds);
    let shift = |value: u64| u32::try_from(right).ok().filter(|&n| n < 64).map_or(0, |n| value >> n) as i64;
    Ok(match op {
        Binary::Add => left.wrapping_add(right),
        Binary::Sub => left.wrapping_sub(right),
        Binary::Mul => left.wrapping_mul(right),
        Binary::Div if right == 0 => return Err("division by zero"),
        Binary::Mod if right == 0 => return Err("division by zero"),
        Binary::Div => left.wrapping_div(right),
        Binary::Mod => left.wrapping_rem(right),
        Binary::Shl => u32::try_from(right).ok().filter(|&n| n < 64).map_or(0, |n| left << n),
        Binary::Shr => shift(left as u64),
        Binary::And => left & right,
        Binary::Or => left | right,
        Binary::OrNot => left | !right,
        Binary::Xor => left ^ right,
        Binary::LogicalAnd => i64::from(left != 0 && right != 0),
        Binary::LogicalOr => i64::from(left != 0 || right != 0),
        Binary::Eq => truth(left == right),
        Binary::Ne => truth(left != right),
        Binary::Lt => truth(left < right),
        Binary::Le => truth(left <= right),
        Binary::Gt => truth(left > right),
        Binary::Ge => truth(left >= right),
        Binary::Max => left.max(right),
        Binary::AlignTo if right <= 0 => return Err("an alignment must be above 0"),
        Binary::AlignTo => (left as u64).checked_next_multiple_of(right as u64).unwrap_or(0) as i64,
        Binary::JoinFiles if left == 0 => right,
        Binary::JoinFiles => {
            (right as u64).checked_next_multiple_of(4).unwrap_or(0).wrapping_add(left as u64) as i64
        }
    })
}
