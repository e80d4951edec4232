//! How much of the stack a kernel's calls take.

use crate::code::Stack;
use crate::reach::{Callee, Graph};
use crate::resources::Declared;
use rustc_hash::{FxHashMap, FxHashSet};

/// Why it cannot be told how much a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// It computes addresses above the stack pointer, which it does not move.
    Unbounded,
    /// It moves the stack pointer by what is not constant.
    Dynamic,
    /// It calls what a register says.
    Indirect,
    /// It is called again before it returns.
    Recursive,
    /// Its code cannot be followed.
    Code,
}

/// What a function takes with all that it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Bytes of each lane: all, or, if something is unknown, at least.
    pub bytes: u64,
    /// The first function that is not known.
    pub unknown: Option<(usize, Unknown)>,
    /// What it calls at the deepest.
    pub next: Option<usize>,
    /// Its own part of that.
    pub own: u64,
}

/// Depths of one kind of wave.
pub struct Depths<'g, 's, 'a> {
    graph: &'g Graph<'s, 'a>,
    /// What objects say themselves, by node.
    declared: &'g dyn Fn(usize) -> Option<Declared>,
    /// Units of the stack pointer in a byte of a lane.
    scale: i64,
    known: FxHashMap<usize, Depth>,
}

/// A function whose callees are being looked at.
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

    /// Of a kernel or a function. Deepest first, without recursion: chains of calls may be long.
    pub fn of(&mut self, root: usize) -> Depth {
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
            // What it calls is part of that.
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

/// Adds a call to what a function takes; `stack` is what lies below the callee's frame.
fn add(known: &mut Depth, node: usize, callee: usize, depth: Depth, stack: Option<i64>) {
    // Without a frame it does not matter where that would be.
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

/// What a function takes itself, as far as its code says so.
fn frame(stack: &Stack, scale: i64) -> u64 {
    let access = |(&moved, &end): (&i64, &u64)| u64::try_from(moved / scale).unwrap_or(0).saturating_add(end);
    let accessed = stack.accesses.iter().map(access).max().unwrap_or(0);
    accessed.max(u64::try_from(stack.moved / scale).unwrap_or(0))
}
