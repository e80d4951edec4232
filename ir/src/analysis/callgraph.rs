//! Who calls whom.

use crate::entity::FuncId;
use crate::func::Module;
use crate::op::Op;
use cranelift_entity::{EntityRef, EntitySet};

/// The call graph of a module.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    bottom_up: Vec<FuncId>,
    recursive: EntitySet<FuncId>,
    callees: Callees,
    search: Search,
}

impl CallGraph {
    /// The graph of a module.
    pub fn new(module: &Module) -> Self {
        let mut graph = CallGraph::default();
        graph.compute(module);
        graph
    }

    /// Makes it the graph of a module.
    pub fn compute(&mut self, module: &Module) {
        let CallGraph { bottom_up, recursive, callees, search } = self;
        bottom_up.clear();
        recursive.clear();
        callees.find(module);
        callees.components(search, |component| {
            for &func in component {
                bottom_up.push(func);
                if component.len() > 1 || callees.of_func(func).contains(&func) {
                    recursive.insert(func);
                }
            }
        });
    }

    /// All functions, callees before their callers (as far as there is no recursion).
    pub fn bottom_up(&self) -> &[FuncId] {
        &self.bottom_up
    }

    /// Whether a function may call itself, directly or through others.
    pub fn is_recursive(&self, func: FuncId) -> bool {
        self.recursive.contains(func)
    }
}

/// Whom each function calls, one function after the other.
#[derive(Clone, Debug, Default)]
struct Callees {
    list: Vec<FuncId>,
    /// Where in `list` a function begins, and where the last one ends.
    begin: Vec<usize>,
}

/// State of the search for components.
#[derive(Clone, Debug, Default)]
struct Search {
    /// By function: 0 before it is seen, then its number, counted from 1.
    number: Vec<usize>,
    /// The least number it can go back to.
    low: Vec<usize>,
    open: Vec<FuncId>,
    path: Vec<(usize, usize)>,
}

impl Callees {
    fn find(&mut self, module: &Module) {
        let callees = self;
        callees.list.clear();
        callees.begin.clear();
        callees.begin.push(0);
        for func in module.funcs.values() {
            let insts = func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
            callees.list.extend(insts.filter_map(|&inst| match func.insts[inst].op {
                Op::Call(callee) if module.funcs.is_valid(callee) => Some(callee),
                _ => None,
            }));
            callees.begin.push(callees.list.len());
        }
    }

    fn of_func(&self, func: FuncId) -> &[FuncId] {
        &self.list[self.begin[func.index()]..self.begin[func.index() + 1]]
    }

    /// The strongly connected components, callees first: Tarjan's algorithm, with a stack of its own, as chains of calls
    /// may be long.
    fn components(&self, search: &mut Search, mut each: impl FnMut(&[FuncId])) {
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
                    open.push(FuncId::new(func));
                }
                if at < self.begin[func + 1] {
                    path.push((func, at + 1));
                    let callee = self.list[at].index();
                    match number[callee] {
                        0 => path.push((callee, self.begin[callee])),
                        DONE => {}
                        earlier => low[func] = low[func].min(earlier),
                    }
                    continue;
                }
                if low[func] == number[func] {
                    let start = open.iter().rposition(|other| other.index() == func).unwrap_or(0);
                    each(&open[start..]);
                    open.drain(start..).for_each(|other| number[other.index()] = DONE);
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
        // And from above, in one dive.
        let chain: String = (0..20_000)
            .map(|n| format!("func @f{n} {{\nb0:\n call @f{}()\n ret\n}}\n", (n + 1) % 20_000))
            .collect();
        let graph = CallGraph::new(&parse_module(&chain).unwrap());
        assert!((0..20_000).all(|n| graph.is_recursive(FuncId::new(n))));
    }
}
