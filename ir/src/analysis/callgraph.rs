//! Who calls whom.

use crate::entity::FuncId;
use crate::func::Module;
use crate::op::Op;
use cranelift_entity::{EntityRef, EntitySet};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// The call graph of a module.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    bottom_up: Vec<FuncId>,
    recursive: EntitySet<FuncId>,
}

impl CallGraph {
    /// The graph of a module.
    pub fn new(module: &Module) -> Self {
        let mut graph = DiGraph::<FuncId, ()>::with_capacity(module.funcs.len(), 0);
        for id in module.funcs.keys() {
            graph.add_node(id);
        }
        for (id, func) in module.funcs.iter() {
            let insts = func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
            for &inst in insts {
                if let Op::Call(callee) = func.insts[inst].op
                    && module.funcs.is_valid(callee)
                {
                    graph.update_edge(NodeIndex::new(id.index()), NodeIndex::new(callee.index()), ());
                }
            }
        }
        let mut result = CallGraph::default();
        // Components come callees first.
        for component in tarjan_scc(&graph) {
            let cyclic = component.len() > 1 || graph.contains_edge(component[0], component[0]);
            for node in component {
                result.bottom_up.push(graph[node]);
                if cyclic {
                    result.recursive.insert(graph[node]);
                }
            }
        }
        result
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
}
