//! The code sequences of LLVM's AMDGPU guide as a table (seed 000, lines 3144-4020).
//!
//! A sequence is a list of words in their order:
//!
//! | word | stands for |
//! |---|---|
//! | `op` | the load, store or atomic itself, `+glc`, `+dlc` with these bits |
//! | `vm`, `lgkm`, `vs` | `s_waitcnt vmcnt(0)`, `s_waitcnt lgkmcnt(0)`, `s_waitcnt_vscnt null, 0` |
//! | `inv` | `buffer_wbinvl1_vol`; on GFX6, which does not have it, `buffer_wbinvl1` |
//! | `va` | `vm` after an atomic that returns, `vs` after an atomic that does not (`vm/vscnt` in the guide) |
//! | `inv0`, `inv1` | `buffer_gl0_inv`, `buffer_gl1_inv` |
//!
//! A word or bit with a `~` before it is omitted in CU mode. The table includes the words that only OpenCL
//! may omit; [`opencl_omits`] returns whether a word is one of them.

use crate::matrix::{Machine, Scope, Space};
use crate::shape::Order;
use isa::{CacheLevels, op, table};
use std::fmt;

/// Kind of operation of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum What {
    Load,
    Store,
    Rmw,
    Fence,
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    what: What,
    order: Order,
    scopes: &'static [Scope],
    spaces: &'static [Space],
    gfx6: &'static str,
    gfx10: &'static str,
    /// Line of the row in LLVM's AMDGPU guide (seed 000).
    pub line: u32,
}

use Order::*;
use Scope::*;
use What::*;

const ANY: &[Space] = &[Space::Global, Space::Local, Space::Generic];
const GLOBAL: &[Space] = &[Space::Global];
const LOCAL: &[Space] = &[Space::Local];
const GENERIC: &[Space] = &[Space::Generic];
const VECTOR: &[Space] = &[Space::Global, Space::Generic];
const NARROW: &[Scope] = &[Wavefront];
const GROUP: &[Scope] = &[Workgroup];
const WIDE: &[Scope] = &[Agent, System];
const ALL: &[Scope] = &[Wavefront, Workgroup, Agent, System];

const fn row(
    what: What,
    order: Order,
    scopes: &'static [Scope],
    spaces: &'static [Space],
    gfx6: &'static str,
    gfx10: &'static str,
    line: u32,
) -> Row {
    Row { what, order, scopes, spaces, gfx6, gfx10, line }
}

static ROWS: &[Row] = &[
    row(Load, Plain, ALL, ANY, "op", "op", 3147),
    row(Store, Plain, ALL, ANY, "op", "op", 3168),
    row(Load, Relaxed, NARROW, VECTOR, "op", "op", 3192),
    row(Load, Relaxed, GROUP, VECTOR, "op", "op+~glc", 3199),
    row(Load, Relaxed, ALL, LOCAL, "op", "op", 3206),
    row(Load, Relaxed, WIDE, VECTOR, "op+glc", "op+glc+dlc", 3213),
    row(Store, Relaxed, ALL, VECTOR, "op", "op", 3220),
    row(Store, Relaxed, ALL, LOCAL, "op", "op", 3230),
    row(Rmw, Relaxed, ALL, VECTOR, "op", "op", 3237),
    row(Rmw, Relaxed, ALL, LOCAL, "op", "op", 3247),
    row(Load, Acquire, NARROW, ANY, "op", "op", 3255),
    row(Load, Acquire, GROUP, GLOBAL, "op", "op+~glc ~vm ~inv0", 3263),
    row(Load, Acquire, GROUP, LOCAL, "op lgkm", "op lgkm ~inv0", 3275),
    row(Load, Acquire, GROUP, GENERIC, "op lgkm", "op+~glc lgkm ~vm ~inv0", 3292),
    row(Load, Acquire, WIDE, GLOBAL, "op+glc vm inv", "op+glc+dlc vm inv0 inv1", 3310),
    row(Load, Acquire, WIDE, GENERIC, "op+glc vm lgkm inv", "op+glc+dlc vm lgkm inv0 inv1", 3328),
    row(Rmw, Acquire, NARROW, ANY, "op", "op", 3348),
    row(Rmw, Acquire, GROUP, GLOBAL, "op", "op ~va ~inv0", 3356),
    row(Rmw, Acquire, GROUP, LOCAL, "op lgkm", "op lgkm inv0", 3368),
    row(Rmw, Acquire, GROUP, GENERIC, "op lgkm", "op lgkm ~va ~inv0", 3384),
    row(Rmw, Acquire, WIDE, GLOBAL, "op vm inv", "op va inv0 inv1", 3402),
    row(Rmw, Acquire, WIDE, GENERIC, "op vm lgkm inv", "op va lgkm inv0 inv1", 3421),
    row(Fence, Acquire, NARROW, ANY, "", "", 3442),
    row(Fence, Acquire, GROUP, ANY, "lgkm", "lgkm ~vm ~vs ~inv0", 3446),
    row(Fence, Acquire, WIDE, ANY, "lgkm vm inv", "lgkm vm vs inv0 inv1", 3469),
    row(Store, Release, NARROW, ANY, "op", "op", 3498),
    row(Store, Release, GROUP, GLOBAL, "lgkm op", "lgkm ~vm ~vs op", 3506),
    row(Store, Release, GROUP, LOCAL, "op", "~vm ~vs op", 3525),
    row(Store, Release, GROUP, GENERIC, "lgkm op", "lgkm ~vm ~vs op", 3538),
    row(Store, Release, WIDE, VECTOR, "lgkm vm op", "lgkm vm vs op", 3557),
    row(Rmw, Release, NARROW, ANY, "op", "op", 3579),
    row(Rmw, Release, GROUP, GLOBAL, "lgkm op", "lgkm ~vm ~vs op", 3587),
    row(Rmw, Release, GROUP, LOCAL, "op", "~vm ~vs op", 3605),
    row(Rmw, Release, GROUP, GENERIC, "lgkm op", "lgkm ~vm ~vs op", 3618),
    row(Rmw, Release, WIDE, VECTOR, "lgkm vm op", "lgkm vm vs op", 3637),
    row(Fence, Release, NARROW, ANY, "", "", 3660),
    row(Fence, Release, GROUP, ANY, "lgkm", "lgkm ~vm ~vs", 3664),
    row(Fence, Release, WIDE, ANY, "lgkm vm", "lgkm vm vs", 3684),
    row(Rmw, AcqRel, NARROW, ANY, "op", "op", 3708),
    row(Rmw, AcqRel, GROUP, GLOBAL, "lgkm op", "lgkm ~vm ~vs op ~va ~inv0", 3716),
    row(Rmw, AcqRel, GROUP, LOCAL, "op lgkm", "~vm ~vs op lgkm ~inv0", 3744),
    row(Rmw, AcqRel, GROUP, GENERIC, "lgkm op lgkm", "lgkm ~vm ~vs op lgkm ~va ~inv0", 3769),
    row(Rmw, AcqRel, WIDE, GLOBAL, "lgkm vm op vm inv", "lgkm vm vs op va inv0 inv1", 3800),
    row(Rmw, AcqRel, WIDE, GENERIC, "lgkm vm op vm lgkm inv", "lgkm vm vs op va lgkm inv0 inv1", 3834),
    row(Fence, AcqRel, NARROW, ANY, "", "", 3870),
    row(Fence, AcqRel, GROUP, ANY, "lgkm", "lgkm ~vm ~vs ~inv0", 3874),
    row(Fence, AcqRel, WIDE, ANY, "lgkm vm inv", "lgkm vm vs inv0 inv1", 3903),
    row(Load, SeqCst, NARROW, ANY, "op", "op", 3934),
    row(Load, SeqCst, GROUP, GLOBAL, "lgkm op", "lgkm ~vm ~vs op+~glc ~vm ~inv0", 3941),
    row(Load, SeqCst, GROUP, GENERIC, "lgkm op lgkm", "lgkm ~vm ~vs op+~glc lgkm ~vm ~inv0", 3941),
    row(Load, SeqCst, GROUP, LOCAL, "op lgkm", "~vm ~vs op lgkm ~inv0", 3957),
    row(Load, SeqCst, WIDE, GLOBAL, "lgkm vm op+glc vm inv", "lgkm vm vs op+glc+dlc vm inv0 inv1", 3968),
    row(
        Load,
        SeqCst,
        WIDE,
        GENERIC,
        "lgkm vm op+glc vm lgkm inv",
        "lgkm vm vs op+glc+dlc vm lgkm inv0 inv1",
        3968,
    ),
];

/// Returns the rows of the table.
pub fn rows() -> &'static [Row] {
    ROWS
}

/// A word of a sequence on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// The operation itself, with these bits.
    Op {
        /// Whether the `glc` bit is set.
        glc: bool,
        /// Whether the `dlc` bit is set.
        dlc: bool,
    },
    /// A separate instruction, by its word in the table.
    Word(&'static str),
}

/// An operation as the table describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operation {
    /// Kind of operation.
    pub what: What,
    /// Memory order.
    pub order: Order,
    /// Scope.
    pub scope: Scope,
    /// Address space; `None` for a fence, which orders all spaces.
    pub space: Option<Space>,
    /// Whether the operation is an atomic without a result.
    pub silent: bool,
}

impl Operation {
    /// Returns the operation whose row of the table applies to this operation. For LDS, a scope wider than
    /// the work-group means the work-group (LLVM's AMDGPU guide, seed 000, line 3115). Sequentially
    /// consistent stores, atomics and fences have the sequences of release or acquire-release operations
    /// (lines 3986-4014).
    fn row(self) -> Operation {
        let scope = match (self.scope, self.space) {
            (Agent | System, Some(Space::Local)) => Workgroup,
            _ => self.scope,
        };
        let order = match (self.what, self.order) {
            (Store, SeqCst) => Release,
            (Rmw | Fence, SeqCst) => AcqRel,
            _ => self.order,
        };
        Operation { scope, order, ..self }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (self.what, self.silent) {
            (Load, _) => "load",
            (Store, _) => "store",
            (Rmw, false) => "atomic",
            (Rmw, true) => "silent atomic",
            (Fence, _) => "fence",
        };
        write!(f, "{what} {} {}", self.order.name(), self.scope.name())?;
        self.space.map_or(Ok(()), |space| write!(f, " {}", space.name()))
    }
}

/// A word or bit that a test leaves out of a sequence: a row of the table, and a position in its sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deletion {
    /// Line of the row in the AMDGPU guide.
    pub line: u32,
    /// The operation from whose sequence the word is left out. A row of the table may cover several scopes or
    /// address spaces, and so several operations; then this is one of them.
    pub operation: Operation,
    /// Position in the machine's sequence of the row.
    pub position: usize,
    /// The word; for the operation itself, `glc` or `dlc`.
    pub word: &'static str,
}

impl Deletion {
    /// Returns the instruction that the word stands for on a machine. If the word is a cache bit, returns a
    /// description.
    pub fn instruction(&self, machine: &Machine) -> &'static str {
        match self.word {
            "vm" => "s_waitcnt vmcnt(0)",
            "lgkm" => "s_waitcnt lgkmcnt(0)",
            "vs" => "s_waitcnt_vscnt null, 0x0",
            "inv" if table::available(op::BUFFER_WBINVL1_VOL, machine.target) => "buffer_wbinvl1_vol",
            "inv" => "buffer_wbinvl1",
            "inv0" => "buffer_gl0_inv",
            "inv1" => "buffer_gl1_inv",
            "glc" => "glc of a load",
            _ => "dlc of a load",
        }
    }
}

impl fmt::Display for Deletion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} {} word {} `{}`", self.line, self.operation, self.position, self.word)
    }
}

/// Returns all operations that have a row of their own.
pub fn operations() -> Vec<Operation> {
    let mut all = Vec::new();
    for row in ROWS {
        let spaces: Vec<Option<Space>> = match row.what {
            Fence => vec![None],
            _ => row.spaces.iter().copied().map(Some).collect(),
        };
        let kinds: &[bool] = if row.what == Rmw { &[false, true] } else { &[false] };
        for &scope in row.scopes {
            for &space in &spaces {
                let operation =
                    |&silent| Operation { what: row.what, order: row.order, scope, space, silent };
                all.extend(kinds.iter().map(operation).filter(|operation| operation.row() == *operation));
            }
        }
    }
    all
}

/// Returns whether OpenCL may omit a word of an operation in this address space, or of a fence that names
/// this address space. These are the words that order the other address space. The guide marks them with "If
/// OpenCL, omit", and for fences with "if OpenCL and address space is ...".
pub(crate) fn opencl_omits(what: What, space: Option<Space>, word: &str) -> bool {
    match (what, space) {
        (_, None) => false,
        // For a fence that names LDS, OpenCL may omit the waits for global memory. The compiler omits them,
        // too.
        (Fence, Some(Space::Local)) => matches!(word, "vm" | "vs"),
        (_, Some(Space::Local)) => true,
        _ => word == "lgkm",
    }
}

/// Returns the sequence of an operation on a machine. Each word comes with the [`Deletion`] that omits it.
pub fn tokens(machine: &Machine, operation: Operation) -> Vec<(Token, Deletion)> {
    let operation = operation.row();
    let fits = |row: &&Row| {
        row.what == operation.what
            && row.order == operation.order
            && row.scopes.contains(&operation.scope)
            && row.spaces.contains(&operation.space.unwrap_or(Space::Generic))
    };
    let Some(row) = ROWS.iter().find(fits) else { return Vec::new() };
    let text = match machine.target.arch.memory_model.caches {
        CacheLevels::Gl0Gl1L2 => row.gfx10,
        _ => row.gfx6,
    };
    let words = text.split_whitespace().enumerate().filter_map(|(position, word)| {
        let kept = match word.strip_prefix('~') {
            Some(_) if machine.cu_mode => return None,
            Some(rest) => rest,
            None => word,
        };
        let word = match kept {
            "va" if operation.silent => "vs",
            "va" => "vm",
            other => other,
        };
        let deletion = Deletion { line: row.line, operation, position, word };
        if !kept.starts_with("op") {
            return Some((Token::Word(word), deletion));
        }
        let has = |bit: &str| {
            kept.split('+').any(|part| part == bit || !machine.cu_mode && part.strip_prefix('~') == Some(bit))
        };
        Some((Token::Op { glc: has("glc"), dlc: has("dlc") }, deletion))
    });
    words.collect()
}
