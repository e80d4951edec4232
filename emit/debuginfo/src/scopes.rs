//! Scopes of a function: blocks of its source and inlined calls, with the code of each scope.

use crate::final_code::Line;
use ir::track::{Site, Variable};
use rustc_hash::{FxBuildHasher, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;

/// Kind of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The whole function.
    Function,
    /// Block of the source that declares variables. The range is in bytes of the source text, from the
    /// block's first declaration to the end of the block.
    Block(Range<u32>),
    /// Inlined call, by its number.
    Site(u32),
}

/// Scope of a function.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Kind of the scope.
    pub kind: Kind,
    /// Index of the enclosing scope.
    pub parent: Option<usize>,
    /// Code of the scope, as ranges of byte offsets.
    pub code: SmallVec<[(u32, u32); 4]>,
    /// Numbers of the variables that the scope declares.
    pub variables: SmallVec<[u32; 8]>,
    /// Indices of the scopes nested directly in this scope.
    pub children: SmallVec<[usize; 4]>,
}

/// All scopes of a function, outer scopes before inner ones. The first scope is the function itself.
pub struct Scopes {
    /// All scopes.
    pub list: Vec<Scope>,
    /// The blocks of source text in each function body: `sites[0]` is for the function itself, and the others
    /// are for its inlined calls. Each element has the scope of the whole body, and the blocks in it, outer
    /// blocks before inner ones. Each block has the source offset at which it begins, and its scope. Scopes
    /// are given by their index in `list`.
    sites: Vec<(usize, Vec<(u32, usize)>)>,
}

impl Scopes {
    /// Creates the scopes of a function; code is assigned to them later. `sites` are the inlined calls.
    /// `ends` has the source offsets at which function bodies end: first for the function itself, then for
    /// the function of each inlined call.
    pub fn new(variables: &[Variable], sites: &[Site], ends: &[u32]) -> Scopes {
        let function = Scope {
            kind: Kind::Function,
            parent: None,
            code: SmallVec::new(),
            variables: SmallVec::new(),
            children: SmallVec::new(),
        };
        let mut scopes = Scopes { list: Vec::with_capacity(8), sites: Vec::with_capacity(1 + sites.len()) };
        scopes.list.push(function);
        scopes.sites.push((0, Vec::new()));
        // A site is an inlined call. If code was inlined into an inlined function, the site of the outer call
        // comes first in the list, so outer scopes are created before inner ones.
        for site in 0..=sites.len() as u32 {
            if let Some(own) = site.checked_sub(1).map(|n| &sites[n as usize]) {
                let parent = scopes.innermost(own.parent, own.call.0.wrapping_sub(1));
                let number = scopes.add(Kind::Site(site), parent);
                scopes.sites.push((number, Vec::new()));
            }
            scopes.blocks(site, variables, ends.get(site as usize).copied().unwrap_or(0));
        }
        scopes
    }

    fn add(&mut self, kind: Kind, parent: usize) -> usize {
        let number = self.list.len();
        let scope = Scope {
            kind,
            parent: Some(parent),
            code: SmallVec::new(),
            variables: SmallVec::new(),
            children: SmallVec::new(),
        };
        self.list.push(scope);
        self.list[parent].children.push(number);
        number
    }

    /// Adds the scopes for the blocks of the source text of an inlined function, given the number of the
    /// inlined call (site). Only blocks that declare variables get a scope.
    fn blocks(&mut self, site: u32, variables: &[Variable], end: u32) {
        let own = || variables.iter().zip(0u32..).filter(|(variable, _)| variable.site == site);
        let mut blocks: Vec<Range<u32>> = Vec::new();
        let mut named: FxHashSet<(u32, &str)> = FxHashSet::with_capacity_and_hasher(16, FxBuildHasher);
        for (variable, _) in own() {
            // A variable hides an earlier variable with the same name in the same block. The later variable
            // then begins a block of its own, so that a debugger finds the right one of the two.
            if !named.insert((variable.scope.end, &variable.name)) {
                blocks.push(variable.scope.clone());
            } else if variable.scope.end < end {
                match blocks.iter_mut().find(|block| block.end == variable.scope.end) {
                    Some(block) => block.start = block.start.min(variable.scope.start),
                    None => blocks.push(variable.scope.clone()),
                }
            }
        }
        // Outer blocks come before the blocks in them: an outer block begins earlier or ends later.
        blocks.sort_unstable_by_key(|block| (block.start, u32::MAX - block.end));
        for block in blocks {
            let start = block.start;
            let parent = self.innermost(site, start);
            let number = self.add(Kind::Block(block), parent);
            self.sites[site as usize].1.push((start, number));
        }
        for (variable, number) in own() {
            let root = self.sites[site as usize].0;
            let blocks = self.sites[site as usize].1.iter().map(|block| block.1);
            let scope = blocks.rev().find(|&scope| match &self.list[scope].kind {
                Kind::Block(block) => block.end == variable.scope.end && block.start <= variable.scope.start,
                _ => false,
            });
            self.list[scope.unwrap_or(root)].variables.push(number);
        }
    }

    /// Returns the innermost scope that contains byte `at` of the source text, within the inlined call number
    /// `site`.
    fn innermost(&self, site: u32, at: u32) -> usize {
        let Some((root, blocks)) = self.sites.get(site as usize) else { return 0 };
        // Two blocks are either nested or disjoint, and they are sorted by their beginnings. So the last
        // block that begins at or before `at` is the innermost block that contains `at`, or lies inside it.
        let mut scope = match blocks.partition_point(|block| block.0 <= at).checked_sub(1) {
            Some(last) => blocks[last].1,
            None => return *root,
        };
        while scope != *root {
            match &self.list[scope].kind {
                Kind::Block(block) if block.contains(&at) => return scope,
                _ => scope = self.list[scope].parent.unwrap_or(*root),
            }
        }
        *root
    }

    /// Assigns the code to the scopes. `split` splits the location of an instruction into a source offset and
    /// the number of the inlined call (site) to which the instruction belongs.
    pub fn code(&mut self, lines: &[Line], size: u32, split: impl Fn(u32) -> (u32, u32)) {
        let (mut scope, mut start) = (0, 0);
        // The site (inlined call) of the current scope, and a range of source offsets that certainly belong
        // to this scope. For most rows, the range makes a search for the scope unnecessary.
        let mut near = (u32::MAX, 0..0);
        for line in lines {
            // Code without a source location belongs to the scope of the code before it.
            if line.loc == 0 {
                continue;
            }
            let (loc, site) = split(line.loc);
            let at = loc.wrapping_sub(1);
            if near.0 == site && near.1.contains(&at) {
                continue;
            }
            let next = self.innermost(site, at);
            near = (site, self.undivided(next));
            if next != scope {
                self.extend(scope, start, line.start);
                (scope, start) = (next, line.start);
            }
        }
        self.extend(scope, start, size);
    }

    /// Returns a range of source offsets for which `scope` is certainly the innermost scope. If the scope is
    /// a block without nested blocks, the range is the whole block. For other scopes, it is empty.
    fn undivided(&self, scope: usize) -> Range<u32> {
        let Scope { kind, children, .. } = &self.list[scope];
        match kind {
            Kind::Block(block)
                if !children.iter().any(|&child| matches!(self.list[child].kind, Kind::Block(_))) =>
            {
                block.clone()
            }
            _ => 0..0,
        }
    }

    fn extend(&mut self, scope: usize, start: u32, end: u32) {
        let mut at = Some(scope).filter(|_| start < end);
        while let Some(number) = at {
            let scope = &mut self.list[number];
            match scope.code.last_mut() {
                Some(last) if last.1 == start => last.1 = end,
                _ => scope.code.push((start, end)),
            }
            at = scope.parent;
        }
    }
}
