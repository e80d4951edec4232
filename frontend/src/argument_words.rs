//! Words that have a meaning only as arguments of certain built-in functions: memory orders, scopes, address
//! spaces, hints.

use crate::ast::{Ast, BinaryOp, ExprId, ExprKind};
use ir::{MemFlags, Order, Scope, Spaces};

/// The words for memory orders. Each entry has the word and the order in the IR.
pub const ORDERS: [(&str, Order); 6] = [
    ("unordered", Order::Unordered),
    ("relaxed", Order::Relaxed),
    ("acquire", Order::Acquire),
    ("release", Order::Release),
    ("acq_rel", Order::AcqRel),
    ("seq_cst", Order::SeqCst),
];

/// The words for synchronisation scopes. Each entry has the word, the scope in the IR, and a flag. The flag
/// is true for words that end in `_one_as`, which order only the accesses to one address space.
pub const SCOPES: [(&str, Scope, bool); 10] = [
    ("singlethread", Scope::SingleThread, false),
    ("wavefront", Scope::Wavefront, false),
    ("workgroup", Scope::Workgroup, false),
    ("agent", Scope::Agent, false),
    ("system", Scope::System, false),
    ("singlethread_one_as", Scope::SingleThread, true),
    ("wavefront_one_as", Scope::Wavefront, true),
    ("workgroup_one_as", Scope::Workgroup, true),
    ("agent_one_as", Scope::Agent, true),
    ("system_one_as", Scope::System, true),
];

/// The words for address spaces that the argument of a `fence` may name, with the set of address spaces in
/// the IR.
pub const SPACES: [(&str, Spaces); 3] =
    [("global", Spaces::GLOBAL), ("shared", Spaces::SHARED), ("private", Spaces::PRIVATE)];

/// The words for hints in the arguments of `load` and `store`, with the flag of the access in the IR.
pub const HINTS: [(&str, MemFlags); 2] =
    [("volatile", MemFlags::VOLATILE), ("nontemporal", MemFlags::NONTEMPORAL)];

/// Returns whether a name is one of the words of this module.
pub fn is_word(name: &str) -> bool {
    order(name).is_some() || scope(name).is_some() || space(name).is_some() || hint(name).is_some()
}

pub fn order(word: &str) -> Option<Order> {
    ORDERS.iter().find(|row| row.0 == word).map(|row| row.1)
}

pub fn scope(word: &str) -> Option<(Scope, bool)> {
    SCOPES.iter().find(|row| row.0 == word).map(|row| (row.1, row.2))
}

pub fn space(word: &str) -> Option<Spaces> {
    SPACES.iter().find(|row| row.0 == word).map(|row| row.1)
}

pub fn hint(word: &str) -> Option<MemFlags> {
    HINTS.iter().find(|row| row.0 == word).map(|row| row.1)
}

/// Returns the access flags for the hint argument of a `load` or `store`: `volatile`, `nontemporal`, or both
/// joined by `|`. If a part of the argument is not one of these two words, returns that part as the error.
pub fn hints(ast: &Ast<'_>, arg: ExprId) -> Result<MemFlags, ExprId> {
    let one = |arg: ExprId| match ast.expr(arg).kind {
        ExprKind::Name(sym) => hint(ast.name(sym)).ok_or(arg),
        _ => Err(arg),
    };
    let (mut all, mut first) = (MemFlags::empty(), arg);
    while let ExprKind::Binary(BinaryOp::Or, left, right) = ast.expr(first).kind {
        all |= one(right)?;
        first = left;
    }
    Ok(all | one(first)?)
}

/// Returns the text of an argument if it is a single name and not a larger expression.
pub fn word<'a>(ast: &Ast<'a>, arg: ExprId) -> Option<&'a str> {
    match ast.expr(arg).kind {
        ExprKind::Name(sym) => Some(ast.name(sym)),
        _ => None,
    }
}
