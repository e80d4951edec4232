//! Scopes of a function: blocks of its source and calls that were inlined, with the code of each.

use crate::final_code::Line;
use ir::track::{Site, Variable};
use rustc_hash::{FxBuildHasher, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;

/// What a scope is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The function.
    Function,
    /// A part of the source, from the first declaration in it to its end: byte offsets.
    Block(Range<u32>),
    /// An inlined call, by its number.
    Site(u32),
}

/// A scope.
#[derive(Clone, Debug)]
pub struct Scope {
    /// What it is.
    pub kind: Kind,
    /// The scope that it is in.
    pub parent: Option<usize>,
    /// Its code, from byte to byte.
    pub code: SmallVec<[(u32, u32); 4]>,
    /// Variables, by their numbers.
    pub variables: SmallVec<[u32; 8]>,
    /// Scopes in it.
    pub children: SmallVec<[usize; 4]>,
}

/// The scopes of a function, the function first.
pub struct Scopes {
    /// All.
    pub list: Vec<Scope>,
    /// By site, the function being 0: its scope, and its blocks and where they begin, the larger ones first.
    sites: Vec<(usize, Vec<(u32, usize)>)>,
}

impl Scopes {
    /// Scopes without code. `ends` has the byte where the text of each site's function ends.
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
        // Callers come before what was copied into them.
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

    /// The blocks of a site, which are those that variables are declared in.
    fn blocks(&mut self, site: u32, variables: &[Variable], end: u32) {
        let own = || variables.iter().zip(0u32..).filter(|(variable, _)| variable.site == site);
        let mut blocks: Vec<Range<u32>> = Vec::new();
        let mut named: FxHashSet<(u32, &str)> = FxHashSet::with_capacity_and_hasher(16, FxBuildHasher);
        for (variable, _) in own() {
            // What has the name of another one hides it: from there on is a block of its own.
            if !named.insert((variable.scope.end, &variable.name)) {
                blocks.push(variable.scope.clone());
            } else if variable.scope.end < end {
                match blocks.iter_mut().find(|block| block.end == variable.scope.end) {
                    Some(block) => block.start = block.start.min(variable.scope.start),
                    None => blocks.push(variable.scope.clone()),
                }
            }
        }
        // What begins earlier or ends later is around the others.
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

    /// The innermost scope of a site around a byte of the source.
    fn innermost(&self, site: u32, at: u32) -> usize {
        let Some((root, blocks)) = self.sites.get(site as usize) else { return 0 };
        // Blocks are in each other or apart, in the order of their beginnings: of those that begin before, the last one or one that it is in.
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

    /// Gives scopes their code.
    pub fn code(&mut self, lines: &[Line], size: u32, split: impl Fn(u32) -> (u32, u32)) {
        let (mut scope, mut start) = (0, 0);
        // The site of that scope, and the bytes of the source around which there is no other one in it.
        let mut near = (u32::MAX, 0..0);
        for line in lines {
            // What comes from nowhere is where it stands.
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

    /// The bytes of the source of which a scope is the innermost one of its site, if it is a block without blocks in it.
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
