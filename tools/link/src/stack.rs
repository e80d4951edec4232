//! Computes how much stack the calls of a kernel take.

use crate::code::Stack;
use crate::reach::{Callee, Graph};
use crate::resources::Declared;
use rustc_hash::{FxHashMap, FxHashSet};

/// Reason why the stack size of a function is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The frame of the function may have any size: the function accesses memory above the stack pointer at
    /// computed addresses, but does not move the stack pointer.
    Unbounded,
    /// The function moves the stack pointer by an amount that is not constant.
    Dynamic,
    /// The function calls through a register.
    Indirect,
    /// The function may be called again before it returns.
    Recursive,
    /// The code of the function cannot be analysed.
    Code,
}

/// Stack size of a function, including all functions that it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Bytes of each lane. A lower bound if `unknown` is set.
    pub bytes: u64,
    /// First function whose size is unknown, and the reason.
    pub unknown: Option<(usize, Unknown)>,
    /// Callee on the deepest chain of calls.
    pub next: Option<usize>,
    /// The function's own part of the size on that chain.
    pub own: u64,
}

/// Stack sizes of functions in waves of one kind.
pub struct Depths<'g, 's, 'a> {
    graph: &'g Graph<'s, 'a>,
    /// Returns the resources that the object with a node's function declares for the function. Returns `None`
    /// if it declares none.
    declared: &'g dyn Fn(usize) -> Option<Declared>,
    /// Number of stack pointer units in one byte of a lane.
    scale: i64,
    known: FxHashMap<usize, Depth>,
}

/// A function on the current path of the search, whose callees are being visited.
struct Open {
    node: usize,
    next: usize,
    depth: Depth,
}

impl<'g, 's, 'a> Depths<'g, 's, 'a> {
    pub fn new(
        graph: &'g Graph<'s, 'a>,
        scale: u32,
        declared: &'g dyn Fn(usize) -> Option<Declared>,
    ) -> Depths<'g, 's, 'a> {
        Depths { graph, declared, scale: scale.max(1).into(), known: FxHashMap::default() }
    }

    /// Returns the stack size of a kernel or function, with all its callees. The depth-first search uses a
    /// list instead of recursion, because chains of calls may be long.
    pub fn stack_size(&mut self, root: usize) -> Depth {
        let mut open: Vec<Open> = Vec::new();
        let mut is_open = FxHashSet::default();
        self.enter(root, &mut open, &mut is_open);
        while let Some(last) = open.last_mut() {
            let node = last.node;
            let Some(&Callee { node: callee, stack }) = self.graph.nodes[node].calls.get(last.next) else {
                self.known.insert(node, last.depth);
                is_open.remove(&node);
                open.pop();
                continue;
            };
            let Some(callee) = callee else {
                last.next += 1;
                last.depth.unknown.get_or_insert((node, Unknown::Indirect));
                continue;
            };
            if let Some(&depth) = self.known.get(&callee) {
                last.next += 1;
                add(&mut last.depth, node, callee, depth, stack.map(|units| units / self.scale));
            } else if is_open.contains(&callee) {
                last.next += 1;
                last.depth.unknown.get_or_insert((callee, Unknown::Recursive));
            } else {
                self.enter(callee, &mut open, &mut is_open);
            }
        }
        self.known.get(&root).copied().unwrap_or_default()
    }

    fn enter(&mut self, node: usize, open: &mut Vec<Open>, is_open: &mut FxHashSet<usize>) {
        let declared = (self.declared)(node);
        if let Some(Declared { scratch, is_all: true, .. }) = declared {
            self.known.insert(node, Depth { bytes: scratch, own: scratch, ..Depth::default() });
            // The object declares the stack size of this function with all its callees, so the search does
            // not visit the callees.
            open.push(Open { node, next: usize::MAX, depth: self.known[&node] });
            is_open.insert(node);
            return;
        }
        let facts = &self.graph.nodes[node].facts;
        let own = frame(&facts.stack, self.scale);
        let why = if !facts.is_followed {
            Some(Unknown::Code)
        } else if facts.stack.is_dynamic {
            Some(Unknown::Dynamic)
        } else if facts.stack.escapes && facts.stack.moved == 0 {
            Some(Unknown::Unbounded)
        } else {
            None
        };
        let unknown = why.map(|why| (node, why));
        open.push(Open { node, next: 0, depth: Depth { bytes: own, unknown, next: None, own } });
        is_open.insert(node);
    }
}

/// Adds a call to the stack size of its caller. `stack` is the distance by which the stack pointer has moved
/// at the call. The frame of the callee begins there.
fn add(known: &mut Depth, node: usize, callee: usize, depth: Depth, stack: Option<i64>) {
    // A callee that uses no stack adds nothing, even if the stack pointer at the call is unknown.
    if depth.bytes == 0 && depth.unknown.is_none() && stack.is_none() {
        return;
    }
    known.unknown = known.unknown.or(depth.unknown);
    let Some(below) = stack else {
        known.unknown.get_or_insert((node, Unknown::Dynamic));
        known.bytes = known.bytes.max(depth.bytes);
        return;
    };
    let below = u64::try_from(below).unwrap_or(0);
    let bytes = below.saturating_add(depth.bytes);
    if bytes > known.bytes || bytes == known.bytes && known.next.is_none() {
        *known = Depth { bytes, next: Some(callee), own: below, ..*known };
    }
}

/// Returns the size of a function's own frame in bytes per lane, as far as its code shows the size.
fn frame(stack: &Stack, scale: i64) -> u64 {
    let access = |(&moved, &end): (&i64, &u64)| u64::try_from(moved / scale).unwrap_or(0).saturating_add(end);
    let accessed = stack.accesses.iter().map(access).max().unwrap_or(0);
    accessed.max(u64::try_from(stack.moved / scale).unwrap_or(0))
}
