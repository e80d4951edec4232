//! The call graph: which functions call which, directly or through an address.
//!
//! A call through an address may reach each function of the module that has the signature of the call and
//! whose address is taken somewhere. It may also reach code of another object (another file that the linker
//! adds), if the module may have received an address of a function from that object. Code of other objects
//! may in turn call the module's exported functions, and its functions whose address is taken.
//!
//! # Method
//! The nodes of the graph are the functions, the signatures, and one node for all code outside of the module.
//! A call through an address is an edge to the node of its signature, so the size of the graph is linear in
//! the size of the module.

use crate::entity::{FuncId, SigId};
use crate::func::{Function, Linkage, Module};
use crate::op::Op;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};

/// The call graph of a module.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    bottom_up: Vec<FuncId>,
    recursive: EntitySet<FuncId>,
    taken: EntitySet<FuncId>,
    /// Functions whose address is taken, grouped by signature.
    by_signature: Vec<FuncId>,
    /// For each signature, the index in `by_signature` of the first function with this signature. The last
    /// element is the length of `by_signature`.
    signature_begin: Vec<usize>,
    foreign: bool,
    edges: Edges,
    search: Search,
}

/// A way in which a function uses another function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Calls the function.
    Call(FuncId),
    /// Calls a function with this signature through an address.
    Through(SigId),
    /// Takes the address of the function.
    Address(FuncId),
}

/// Possible targets of a call through an address.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    /// Functions of the module.
    pub known: &'a [FuncId],
    /// Whether code of other objects is also a possible target.
    pub foreign: bool,
}

impl CallGraph {
    /// Computes the graph of a module.
    pub fn new(module: &Module) -> Self {
        let mut graph = CallGraph::default();
        graph.compute(module);
        graph
    }

    /// Recomputes the graph for a module.
    pub fn compute(&mut self, module: &Module) {
        self.compute_of(module, |id, each| {
            let func = &module.funcs[id];
            for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
                match func.insts[inst].op {
                    Op::Call(callee) => each(Use::Call(callee)),
                    Op::CallIndirect(sig) => each(Use::Through(sig)),
                    Op::FuncAddr(func) => each(Use::Address(func)),
                    _ => {}
                }
            }
        });
    }

    /// Computes the call graph for code that is not in the module's IR, such as machine code. The closure
    /// `uses` describes this code: `uses(f, each)` must call `each` for every function that `f` calls and for
    /// every function whose address `f` takes.
    pub fn compute_of(&mut self, module: &Module, uses: impl Fn(FuncId, &mut dyn FnMut(Use))) {
        self.find_addresses(module, &uses);
        self.find_edges(module, &uses);
        let CallGraph { bottom_up, recursive, edges, search, .. } = self;
        bottom_up.clear();
        recursive.clear();
        edges.components(search, |component| {
            for &node in component.iter().filter(|&&node| node < module.funcs.len()) {
                let func = FuncId::new(node);
                bottom_up.push(func);
                if component.len() > 1 || edges.targets_of(node).contains(&node) {
                    recursive.insert(func);
                }
            }
        });
    }

    /// Returns all functions, callees before their callers except where there is recursion.
    pub fn bottom_up(&self) -> &[FuncId] {
        &self.bottom_up
    }

    /// Returns whether a function may call itself, directly or through other functions.
    pub fn is_recursive(&self, func: FuncId) -> bool {
        self.recursive.contains(func)
    }

    /// Returns whether the address of a function is taken, in code or in a variable.
    pub fn is_address_taken(&self, func: FuncId) -> bool {
        self.taken.contains(func)
    }

    /// Returns the possible targets of a call through an address with this signature.
    pub fn targets(&self, sig: SigId) -> Targets<'_> {
        let range = self.signature_begin[sig.index()]..self.signature_begin[sig.index() + 1];
        Targets { known: &self.by_signature[range], foreign: self.foreign }
    }

    /// Returns whether all calls of a function are direct calls in this module.
    pub fn has_known_callers(&self, module: &Module, func: FuncId) -> bool {
        let data = &module.funcs[func];
        data.linkage == Linkage::Local && data.kernel.is_none() && !self.is_address_taken(func)
    }

    /// Returns, for each function, the smallest of certain values: the function's own value, and the values
    /// of all functions that may call it, directly or through other functions. For example, a limit of a
    /// kernel also applies to the functions that the kernel calls. `own` returns a function's own value, or
    /// `None` if it has none.
    pub fn least_of_callers<T: Copy + Ord>(&self, own: impl Fn(FuncId) -> Option<T>) -> Vec<Option<T>> {
        let mut roots: Vec<(T, FuncId)> =
            self.bottom_up.iter().filter_map(|&id| Some((own(id)?, id))).collect();
        roots.sort_by_key(|&root| root);
        let mut least = vec![None; self.edges.begin.len() - 1];
        let mut work = Vec::new();
        // Values are propagated from callers to callees in ascending order. The first value that reaches a
        // function is therefore the smallest one for this function.
        for (value, root) in roots {
            work.push(root.index());
            while let Some(node) = work.pop() {
                if least[node].is_none() {
                    least[node] = Some(value);
                    work.extend(self.edges.targets_of(node));
                }
            }
        }
        least.truncate(self.bottom_up.len());
        least
    }

    fn find_addresses(&mut self, module: &Module, uses: &impl Fn(FuncId, &mut dyn FnMut(Use))) {
        let CallGraph { taken, by_signature, signature_begin, foreign, .. } = self;
        taken.clear();
        for id in module.funcs.keys() {
            uses(id, &mut |one| {
                if let Use::Address(func) = one {
                    taken.insert(func);
                }
            });
        }
        taken.extend(module.globals.values().flat_map(|global| &global.funcs).map(|&(_, func)| func));
        *foreign = module.funcs.values().any(|func| func.linkage != Linkage::Local)
            || module.globals.values().any(|global| global.external);
        let mut found: Vec<(SigId, FuncId)> =
            taken.keys().filter_map(|id| Some((module.signature_of(module.funcs.get(id)?)?, id))).collect();
        found.sort_by_key(|&(sig, _)| sig);
        by_signature.clear();
        by_signature.extend(found.iter().map(|&(_, func)| func));
        signature_begin.clear();
        signature_begin.extend(
            (0..=module.sigs.len()).map(|sig| found.partition_point(|&(other, _)| other.index() < sig)),
        );
    }

    fn find_edges(&mut self, module: &Module, uses: &impl Fn(FuncId, &mut dyn FnMut(Use))) {
        let outside = module.funcs.len() + module.sigs.len();
        let of_sig = |sig: SigId| module.funcs.len() + sig.index();
        let mut edges = std::mem::take(&mut self.edges);
        edges.clear();
        for (id, func) in module.funcs.iter() {
            uses(id, &mut |one| match one {
                Use::Call(callee) if module.funcs.is_valid(callee) => edges.list.push(callee.index()),
                Use::Through(sig) if module.sigs.is_valid(sig) => edges.list.push(of_sig(sig)),
                _ => {}
            });
            if func.linkage == Linkage::Extern {
                edges.list.push(outside);
            }
            edges.end_node();
        }
        for sig in module.sigs.keys() {
            edges.list.extend(self.targets(sig).known.iter().map(|func| func.index()));
            if self.foreign {
                edges.list.push(outside);
            }
            edges.end_node();
        }
        if self.foreign {
            let called = |id: FuncId, linkage| linkage == Linkage::Export || self.taken.contains(id);
            let funcs = module.funcs.iter().filter(|(id, func)| called(*id, func.linkage));
            edges.list.extend(funcs.map(|(id, _)| id.index()));
        }
        edges.end_node();
        self.edges = edges;
    }
}

/// Returns, for each function, the functions that call it directly.
pub fn callers(module: &Module) -> SecondaryMap<FuncId, Vec<FuncId>> {
    let mut callers: SecondaryMap<FuncId, Vec<FuncId>> = SecondaryMap::new();
    for (caller, func) in module.funcs.iter() {
        for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
            if let Op::Call(callee) = func.insts[inst].op
                && callers[callee].last() != Some(&caller)
            {
                callers[callee].push(caller);
            }
        }
    }
    callers
}

/// Returns the functions that contain an operation for which `is` returns true, and their direct and indirect
/// callers. Calls through addresses are not followed. Kernels are not included.
pub fn reaching(module: &Module, is: impl Fn(Op) -> bool) -> EntitySet<FuncId> {
    let mut found = EntitySet::new();
    if module.funcs.values().all(|func| func.kernel.is_some()) {
        return found;
    }
    let has = |func: &Function| {
        let mut insts = func.layout.iter().flat_map(|&block| func.blocks[block].insts());
        insts.any(|&inst| is(func.insts[inst].op))
    };
    let callers = callers(module);
    let mut work: Vec<FuncId> = module.funcs.iter().filter(|(_, func)| has(func)).map(|(id, _)| id).collect();
    while let Some(id) = work.pop() {
        if module.funcs[id].kernel.is_none() && found.insert(id) {
            work.extend_from_slice(&callers[id]);
        }
    }
    found
}

/// Successors of each node, stored one node after the other.
#[derive(Clone, Debug, Default)]
struct Edges {
    list: Vec<usize>,
    /// Start of each node's successors in `list`; the last element is the length of the list.
    begin: Vec<usize>,
}

/// State of the search for strongly connected components.
#[derive(Clone, Debug, Default)]
struct Search {
    /// For each node, 0 before it is visited, then its 1-based visiting number.
    number: Vec<usize>,
    /// For each node, the least visiting number that it can reach.
    low: Vec<usize>,
    open: Vec<usize>,
    path: Vec<(usize, usize)>,
}

impl Edges {
    fn clear(&mut self) {
        self.list.clear();
        self.begin.clear();
        self.begin.push(0);
    }

    fn end_node(&mut self) {
        self.begin.push(self.list.len());
    }

    fn targets_of(&self, node: usize) -> &[usize] {
        &self.list[self.begin[node]..self.begin[node + 1]]
    }

    /// Calls `each` for the strongly connected components, callees first. Uses Tarjan's algorithm with an
    /// explicit stack because chains of calls may be long.
    fn components(&self, search: &mut Search, mut each: impl FnMut(&[usize])) {
        const DONE: usize = usize::MAX;
        let count = self.begin.len() - 1;
        let Search { number, low, open, path } = search;
        for list in [&mut *number, &mut *low] {
            list.clear();
            list.resize(count, 0);
        }
        let mut seen = 0;
        for root in 0..count {
            if number[root] == 0 {
                path.push((root, self.begin[root]));
            }
            while let Some((func, at)) = path.pop() {
                if number[func] == 0 {
                    seen += 1;
                    number[func] = seen;
                    low[func] = seen;
                    open.push(func);
                }
                if at < self.begin[func + 1] {
                    path.push((func, at + 1));
                    let callee = self.list[at];
                    match number[callee] {
                        0 => path.push((callee, self.begin[callee])),
                        DONE => {}
                        earlier => low[func] = low[func].min(earlier),
                    }
                    continue;
                }
                if low[func] == number[func] {
                    let start = open.iter().rposition(|&other| other == func).unwrap_or(0);
                    each(&open[start..]);
                    open.drain(start..).for_each(|other| number[other] = DONE);
                }
                if let Some(&(caller, _)) = path.last() {
                    low[caller] = low[caller].min(low[func]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_module;

    #[test]
    fn callees_come_first_and_cycles_are_found() {
        let body = |name: &str, callees: &[&str]| {
            let calls: String = callees.iter().map(|c| format!(" call @{c}()\n")).collect();
            format!("func @{name} {{\nb0:\n{calls} ret\n}}\n")
        };
        let text = [
            body("top", &["a", "even", "a"]),
            body("a", &["leaf"]),
            body("leaf", &[]),
            body("even", &["odd"]),
            body("odd", &["even", "leaf"]),
            body("own", &["own"]),
        ]
        .concat();
        let module = parse_module(&text).unwrap();
        let graph = CallGraph::new(&module);
        let names: Vec<&str> = graph.bottom_up().iter().map(|&f| module.funcs[f].name.as_str()).collect();
        let at = |name: &str| names.iter().position(|&n| n == name).unwrap();
        assert_eq!(names.len(), 6);
        assert!(at("leaf") < at("a") && at("a") < at("top") && at("odd") < at("top"));
        let recursive: Vec<&str> = module
            .funcs
            .iter()
            .filter(|(id, _)| graph.is_recursive(*id))
            .map(|(_, f)| f.name.as_str())
            .collect();
        assert_eq!(recursive, ["even", "odd", "own"]);
    }

    #[test]
    fn long_chains_of_calls() {
        let mut text = "func @f0 {\nb0:\n ret\n}\n".to_owned();
        for n in 1..20_000 {
            text += &format!("func @f{n} {{\nb0:\n call @f{}()\n ret\n}}\n", n - 1);
        }
        let module = parse_module(&text).unwrap();
        let graph = CallGraph::new(&module);
        assert!(graph.bottom_up().iter().enumerate().all(|(at, func)| at == func.index()));
        // Repeats the test with calls in the other direction and a cycle, so that the search descends through
        // all functions at once.
        let chain: String = (0..20_000)
            .map(|n| format!("func @f{n} {{\nb0:\n call @f{}()\n ret\n}}\n", (n + 1) % 20_000))
            .collect();
        let graph = CallGraph::new(&parse_module(&chain).unwrap());
        assert!((0..20_000).all(|n| graph.is_recursive(FuncId::new(n))));
    }

    /// Functions that call through pointers: the address of `taken` is taken, the address of `free` is not.
    const POINTERS: &str = "sig0 = ()
sig1 = (i32)
constant @table size 8 align 8
    func_at 0 @listed
func @taken {
b0:
    ret
}
func @listed {
b0:
    v0 = const.i64 1
    call_indirect sig0 v0()
    ret
}
func @free {
b0:
    v0 = func_addr.i64 @taken
    call_indirect sig0 v0()
    v1 = const.i32 1
    call_indirect sig1 v0(v1)
    ret
}
";

    #[test]
    fn calls_through_addresses_reach_what_has_one() {
        let names = |module: &Module, list: &[FuncId]| -> Vec<String> {
            list.iter().map(|&func| module.funcs[func].name.clone()).collect()
        };
        let module = parse_module(POINTERS).unwrap();
        let graph = CallGraph::new(&module);
        let [sig0, sig1] = [0, 1].map(SigId::from_u32);
        assert_eq!(names(&module, graph.targets(sig0).known), ["taken", "listed"]);
        assert!(graph.targets(sig1).known.is_empty() && !graph.targets(sig0).foreign);
        let [taken, listed, free] = [0, 1, 2].map(FuncId::from_u32);
        assert_eq!([taken, listed, free].map(|func| graph.is_address_taken(func)), [true, true, false]);
        // `listed` may call itself through the table; `free` may call it, but is not called itself.
        assert_eq!([taken, listed, free].map(|func| graph.is_recursive(func)), [false, true, false]);
        assert_eq!(graph.bottom_up().last(), Some(&free));
        assert!(graph.has_known_callers(&module, free) && !graph.has_known_callers(&module, taken));
    }

    #[test]
    fn other_objects_call_back() {
        let text =
            format!("extern func @away()\n{POINTERS}export func @seen {{\nb0:\n call @away()\n ret\n}}\n");
        let module = parse_module(&text).unwrap();
        let graph = CallGraph::new(&module);
        assert!(graph.targets(SigId::from_u32(1)).foreign);
        let recursive = module.funcs.iter().filter(|(id, _)| graph.is_recursive(*id));
        let names: Vec<&str> = recursive.map(|(_, func)| func.name.as_str()).collect();
        assert_eq!(names, ["away", "listed", "seen"]);
    }
}
