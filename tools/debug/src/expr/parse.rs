//! Parses expressions with the operators of C or kernc and the precedence of that language.

use super::lex::{Literal, Token, tokens};
use super::{Language, Problem};
use dwarf::AddressSpace;
use std::cmp::Ordering;

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// `&&`
    Both,
    /// `||`
    Either,
}

/// Binary operators. Each row has the sign, the operator, the precedence in kernc and the precedence in C. An
/// operator with a higher number binds tighter.
const OPERATORS: [(&str, Binary, u8, u8); 18] = [
    ("||", Binary::Either, 1, 1),
    ("&&", Binary::Both, 2, 2),
    ("==", Binary::Eq, 3, 6),
    ("!=", Binary::Ne, 3, 6),
    ("<", Binary::Lt, 3, 7),
    ("<=", Binary::Le, 3, 7),
    (">", Binary::Gt, 3, 7),
    (">=", Binary::Ge, 3, 7),
    ("|", Binary::Or, 4, 3),
    ("^", Binary::Xor, 5, 4),
    ("&", Binary::And, 6, 5),
    ("<<", Binary::Shl, 7, 8),
    (">>", Binary::Shr, 7, 8),
    ("+", Binary::Add, 8, 9),
    ("-", Binary::Sub, 8, 9),
    ("*", Binary::Mul, 9, 10),
    ("/", Binary::Div, 9, 10),
    ("%", Binary::Rem, 9, 10),
];

/// Function that returns whether a comparison operator is true for two numbers with a given order. The order
/// is `None` if one of the numbers is NaN.
pub(crate) type Holds = fn(Option<Ordering>) -> bool;

impl Binary {
    /// Returns the operator's sign.
    pub(crate) fn sign(self) -> &'static str {
        OPERATORS.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }

    /// Returns the function that evaluates a comparison operator. `None` for other operators.
    pub(crate) fn comparison(self) -> Option<Holds> {
        Some(match self {
            Binary::Eq => |order| order == Some(Ordering::Equal),
            Binary::Ne => |order| order != Some(Ordering::Equal),
            Binary::Lt => |order| order == Some(Ordering::Less),
            Binary::Le => |order| matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Binary::Gt => |order| order == Some(Ordering::Greater),
            Binary::Ge => |order| matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            _ => return None,
        })
    }
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Plus,
    Minus,
    Not,
    Complement,
    /// `*`: the target of a pointer.
    Target,
    /// `&`: the address of a value in memory.
    Address,
}

const UNARY: [(&str, Unary); 6] = [
    ("+", Unary::Plus),
    ("-", Unary::Minus),
    ("!", Unary::Not),
    ("~", Unary::Complement),
    ("*", Unary::Target),
    ("&", Unary::Address),
];

/// A type as the user has written it: a name, and for each pointer to it the address space that it points to,
/// innermost pointer first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypeText {
    pub name: String,
    pub pointers: Vec<AddressSpace>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Literal(Literal),
    Name(String),
    Register(String),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Field(Box<Expr>, String),
    Index(Box<Expr>, Box<Expr>),
    Cast(Box<Expr>, TypeText),
    /// `sizeof` a value.
    SizeOf(Box<Expr>),
    /// `sizeof` a type.
    SizeOfType(TypeText),
}

/// Keywords of C, OpenCL and kernc that name the address space to which a pointer points.
const SPACES: [(&str, AddressSpace); 10] = [
    ("global", AddressSpace::GLOBAL),
    ("__global", AddressSpace::GLOBAL),
    ("constant", AddressSpace::GLOBAL),
    ("__constant", AddressSpace::GLOBAL),
    ("local", AddressSpace::LOCAL),
    ("__local", AddressSpace::LOCAL),
    ("shared", AddressSpace::LOCAL),
    ("private", AddressSpace::PRIVATE_LANE),
    ("__private", AddressSpace::PRIVATE_LANE),
    ("generic", AddressSpace::GENERIC),
];

/// Words of a type that do not change the value.
const QUALIFIERS: [&str; 6] = ["const", "volatile", "restrict", "struct", "union", "enum"];

/// Words that in combination form the name of a type in C.
const WORDS: [&str; 5] = ["unsigned", "signed", "long", "short", "int"];

/// Decides whether a name is that of a type.
pub(crate) type IsType<'a> = &'a dyn Fn(&str) -> bool;

/// Parses an expression.
///
/// # Errors
/// Something is missing or misplaced; the error says what.
pub(crate) fn expression(text: &str, language: Language, is_type: IsType<'_>) -> Result<Expr, Problem> {
    let mut parser = Parser::new(text, language, is_type)?;
    let expr = parser.binary(0)?;
    parser.end()?;
    Ok(expr)
}

/// Parses a type.
///
/// # Errors
/// The text is not a type.
pub(crate) fn type_text(text: &str, language: Language, is_type: IsType<'_>) -> Result<TypeText, Problem> {
    let mut parser = Parser::new(text, language, is_type)?;
    let ty = parser.ty(true)?;
    parser.end()?;
    Ok(ty)
}

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    language: Language,
    is_type: IsType<'a>,
}

impl<'a> Parser<'a> {
    fn new(text: &str, language: Language, is_type: IsType<'a>) -> Result<Parser<'a>, Problem> {
        let tokens = tokens(text, language)?;
        if tokens.is_empty() {
            return Err("an expression is missing".to_owned());
        }
        Ok(Parser { tokens, at: 0, language, is_type })
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += usize::from(token.is_some());
        token
    }

    fn is_at(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Sign(next)) if *next == sign)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is = self.is_at(sign);
        self.at += usize::from(is);
        is
    }

    fn needs(&mut self, sign: &str) -> Result<(), Problem> {
        if self.takes(sign) {
            return Ok(());
        }
        match self.tokens.get(self.at) {
            Some(token) => Err(format!("`{sign}` is missing in front of `{token}`")),
            None => Err(format!("`{sign}` is missing at the end")),
        }
    }

    /// Returns the error for a missing operand. The message names the token found in its place, or the last
    /// token if the expression ends there.
    fn no_operand(&self) -> Problem {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        match (before, self.tokens.get(self.at)) {
            (_, Some(token)) => format!("`{token}` stands where an operand is missing"),
            (Some(token), None) => format!("an operand is missing after `{token}`"),
            (None, None) => "an expression is missing".to_owned(),
        }
    }

    fn end(&self) -> Result<(), Problem> {
        match self.tokens.get(self.at) {
            None => Ok(()),
            Some(Token::Sign(sign)) if sign.ends_with('=') && !matches!(*sign, "==" | "!=" | "<=" | ">=") => {
                Err(format!(
                    "`{sign}` has no place in an expression: `==` compares, and the command `set` writes"
                ))
            }
            Some(token) => Err(format!("`{token}` has no place here: the expression ends before it")),
        }
    }

    fn operator(&self) -> Option<(Binary, u8)> {
        let Some(Token::Sign(sign)) = self.tokens.get(self.at) else { return None };
        let (_, op, kernc, c) = *OPERATORS.iter().find(|row| row.0 == *sign)?;
        Some((op, if self.language == Language::Kernc { kernc } else { c }))
    }

    /// Parses operators whose precedence is at least `least`.
    fn binary(&mut self, least: u8) -> Result<Expr, Problem> {
        let mut left = self.cast()?;
        let mut compared = false;
        while let Some((op, strength)) = self.operator().filter(|op| op.1 >= least) {
            let is_comparison = op.comparison().is_some();
            if compared && is_comparison && self.language == Language::Kernc {
                return Err("comparisons do not chain: `a < b && b < c`".to_owned());
            }
            self.at += 1;
            let right = self.binary(strength + 1)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
            compared = is_comparison;
        }
        Ok(left)
    }

    /// Parses a cast: `x as f32`.
    fn cast(&mut self) -> Result<Expr, Problem> {
        let mut value = self.unary()?;
        while self.tokens.get(self.at) == Some(&Token::Name("as".to_owned())) {
            self.at += 1;
            value = Expr::Cast(Box::new(value), self.ty(false)?);
        }
        Ok(value)
    }

    fn unary(&mut self) -> Result<Expr, Problem> {
        let sign = UNARY.iter().find(|(sign, _)| self.is_at(sign));
        if let Some((_, op)) = sign {
            self.at += 1;
            return Ok(Expr::Unary(*op, Box::new(self.unary()?)));
        }
        if self.tokens.get(self.at) == Some(&Token::Name("sizeof".to_owned())) {
            self.at += 1;
            return self.size();
        }
        if self.is_at("(") && self.begins_type(self.at + 1) {
            self.at += 1;
            let ty = self.ty(true)?;
            self.needs(")")?;
            return Ok(Expr::Cast(Box::new(self.unary()?), ty));
        }
        self.postfix()
    }

    /// Parses the operand of `sizeof`: a type in parentheses, or an expression.
    fn size(&mut self) -> Result<Expr, Problem> {
        let stars =
            self.tokens.iter().skip(self.at + 1).take_while(|token| **token == Token::Sign("*")).count();
        // kernc writes the stars of a pointer before the type.
        if self.is_at("(") && self.begins_type(self.at + 1 + stars) {
            self.at += 1;
            let ty = self.ty(true)?;
            self.needs(")")?;
            return Ok(Expr::SizeOfType(ty));
        }
        Ok(Expr::SizeOf(Box::new(self.unary()?)))
    }

    fn postfix(&mut self) -> Result<Expr, Problem> {
        let mut value = self.primary()?;
        loop {
            if self.takes(".") || self.takes("->") {
                let Some(Token::Name(name)) = self.next() else {
                    return Err("a field is missing".to_owned());
                };
                value = Expr::Field(Box::new(value), name);
            } else if self.takes("[") {
                let index = self.binary(0)?;
                self.needs("]")?;
                value = Expr::Index(Box::new(value), Box::new(index));
            } else if self.is_at("(") {
                return Err("functions cannot be called here".to_owned());
            } else {
                return Ok(value);
            }
        }
    }

    fn primary(&mut self) -> Result<Expr, Problem> {
        let missing = self.no_operand();
        match self.next() {
            Some(Token::Sign("(")) => {
                let value = self.binary(0)?;
                self.needs(")")?;
                Ok(value)
            }
            Some(Token::Literal(literal)) => Ok(Expr::Literal(literal)),
            Some(Token::Register(name)) => Ok(Expr::Register(name)),
            Some(Token::Name(name)) if name != "as" => Ok(Expr::Name(name)),
            _ => Err(missing),
        }
    }

    /// Returns whether a type begins at token `at`.
    fn begins_type(&self, at: usize) -> bool {
        match self.tokens.get(at) {
            Some(Token::Name(name)) => (self.is_type)(name),
            _ => false,
        }
    }

    /// Parses the name of a type, such as `f32`, `*global u32`, `unsigned int`, `struct S *` or `global float
    /// *`. Without `takes_stars`, a `*` after the name is a multiplication, as in `x as f32 * 2`.
    fn ty(&mut self, takes_stars: bool) -> Result<TypeText, Problem> {
        let mut pointers = Vec::new();
        while self.takes("*") {
            pointers.push(self.space().unwrap_or(AddressSpace::GENERIC));
        }
        // kernc's syntax has the outermost pointer first, but `pointers` begins with the innermost pointer.
        pointers.reverse();
        let space = self.space();
        let mut words: Vec<String> = Vec::new();
        while let Some(Token::Name(name)) = self.tokens.get(self.at) {
            let is_more =
                words.is_empty() || words.iter().all(|word| WORDS.contains(&word.as_str())) && is_more(name);
            if !is_more && !QUALIFIERS.contains(&name.as_str()) {
                break;
            }
            if !QUALIFIERS.contains(&name.as_str()) {
                words.push(name.clone());
            }
            self.at += 1;
        }
        if words.is_empty() {
            return Err(self.no_operand().replace("an operand", "a type"));
        }
        while takes_stars && self.takes("*") {
            pointers.push(if pointers.is_empty() {
                space.unwrap_or(AddressSpace::GENERIC)
            } else {
                AddressSpace::GENERIC
            });
            self.space();
        }
        Ok(TypeText { name: words.join(" "), pointers })
    }

    /// Skips qualifiers and names of address spaces in front of a type. Returns the last address space that
    /// it has skipped, if there is one.
    fn space(&mut self) -> Option<AddressSpace> {
        let mut space = None;
        while let Some(Token::Name(name)) = self.tokens.get(self.at) {
            let named = SPACES.iter().find(|row| row.0 == name);
            if named.is_none() && !QUALIFIERS.contains(&name.as_str()) {
                break;
            }
            space = named.map(|row| row.1).or(space);
            self.at += 1;
        }
        space
    }
}

/// Returns whether a word belongs to the name of a built-in type, which exists without a declaration in the
/// program.
pub(crate) fn is_word(name: &str) -> bool {
    QUALIFIERS.contains(&name) || WORDS.contains(&name) || SPACES.iter().any(|row| row.0 == name)
}

/// Returns whether a word can continue a type that begins with `unsigned` or `long`.
fn is_more(name: &str) -> bool {
    WORDS.contains(&name) || matches!(name, "char" | "double")
}
