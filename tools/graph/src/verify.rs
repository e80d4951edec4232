//! Checks the compiler's own graph analyses with the algorithms of the crate petgraph.
//!
//! The compiler computes dominators and strongly connected components with code of its own, in memory that
//! passes reuse. petgraph's functions `simple_fast` and `kosaraju_scc` share no code with it.

use ir::analysis::callgraph::CallGraph;
use ir::analysis::cfg::Cfg;
use ir::analysis::dominance::DomTree;
use ir::{Block, FuncId, Function, Linkage, Module, Op};
use petgraph::algo::dominators::simple_fast;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// Checks the dominator trees of all functions of a module, and its call graph.
///
/// # Errors
/// A description of the first difference.
pub fn module(module: &Module) -> Result<(), String> {
    let mut funcs = module.funcs.values().filter(|func| !func.layout.is_empty());
    funcs.try_for_each(|func| dominators(func, &DomTree::new(&Cfg::new(func))))?;
    call_graph(module, &CallGraph::new(module))
}

/// Checks that `ours` is the dominator tree of a function.
///
/// # Errors
/// A description of the first difference.
pub fn dominators(func: &Function, ours: &DomTree) -> Result<(), String> {
    let node = |block: Block| NodeIndex::new(block.as_u32() as usize);
    let edges = func.layout.iter().flat_map(|&from| func.succs(from).map(move |to| (node(from), node(to))));
    let mut graph = DiGraph::<(), ()>::new();
    func.blocks.keys().for_each(|_| {
        graph.add_node(());
    });
    graph.extend_with_edges(edges);
    let theirs = simple_fast(&graph, node(func.entry()));
    for &block in &func.layout {
        let expected = theirs.immediate_dominator(node(block));
        let found = ours.idom(block).map(node);
        if expected != found {
            let name =
                |node: Option<NodeIndex>| node.map_or("none".to_owned(), |node| format!("b{}", node.index()));
            let (expected, found) = (name(expected), name(found));
            return Err(format!("@{}: the dominator of {block} is {expected}, not {found}", func.name));
        }
    }
    Ok(())
}

/// Checks the call graph `ours` of a module: which functions are recursive, and that callees come before
/// their callers in its order.
///
/// # Errors
/// A description of the first difference.
pub fn call_graph(module: &Module, ours: &CallGraph) -> Result<(), String> {
    let graph = function_graph(module, ours);
    let mut component_of = vec![0; graph.node_count()];
    let components = kosaraju_scc(&graph);
    for (number, component) in components.iter().enumerate() {
        component.iter().for_each(|node| component_of[node.index()] = number);
    }
    let order = ours.bottom_up();
    if order.len() != module.funcs.len() {
        return Err(format!("the call graph has {} of {} functions", order.len(), module.funcs.len()));
    }
    let mut position = vec![0; graph.node_count()];
    (0..).zip(order).for_each(|(at, id)| position[id.as_u32() as usize] = at);
    for (id, func) in module.funcs.iter() {
        let node = NodeIndex::new(id.as_u32() as usize);
        let is_alone = components[component_of[node.index()]].len() == 1;
        let expected = !is_alone || graph.contains_edge(node, node);
        if ours.is_recursive(id) != expected {
            return Err(format!("recursive: @{} is {expected}, not {}", func.name, !expected));
        }
        let is_early = |callee: NodeIndex| {
            let is_same = component_of[callee.index()] == component_of[node.index()];
            is_same || position[callee.index()] < position[node.index()]
        };
        let late =
            graph.neighbors(node).find(|&callee| callee.index() < module.funcs.len() && !is_early(callee));
        if let Some(late) = late {
            let callee = &module.funcs[FuncId::from_u32(late.index() as u32)].name;
            return Err(format!("@{} precedes @{callee}, which it calls", func.name));
        }
    }
    Ok(())
}

/// Returns the graph of all possible calls. It has one node for each function, followed by one node that
/// stands for all code of other object files.
fn function_graph(module: &Module, calls: &CallGraph) -> DiGraph<(), ()> {
    let mut graph = DiGraph::new();
    let nodes: Vec<NodeIndex> = module.funcs.values().map(|_| graph.add_node(())).collect();
    let node = |id: FuncId| nodes[id.as_u32() as usize];
    let outside = graph.add_node(());
    let mut connect = |from, to| {
        graph.update_edge(from, to, ());
    };
    let mut is_foreign = module.globals.values().any(|global| global.external);
    for (id, func) in module.funcs.iter() {
        is_foreign |= func.linkage != Linkage::Local;
        if func.linkage == Linkage::Extern {
            connect(node(id), outside);
        }
        for &inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
            match func.insts[inst].op {
                Op::Call(callee) => connect(node(id), node(callee)),
                Op::CallIndirect(sig) => {
                    let targets = calls.targets(sig);
                    targets.known.iter().for_each(|&callee| connect(node(id), node(callee)));
                    if targets.foreign {
                        connect(node(id), outside);
                    }
                }
                _ => {}
            }
        }
    }
    let is_called =
        |(id, func): &(FuncId, &Function)| func.linkage == Linkage::Export || calls.is_address_taken(*id);
    if is_foreign {
        module.funcs.iter().filter(is_called).for_each(|(id, _)| connect(outside, node(id)));
    }
    graph
}
