//! The call graph of a module.
//!
//! Each function is a node. A call through an address leads to a node for the signature of the call. From
//! this node, edges lead to the functions that the call may reach.

use crate::dot;
use ir::analysis::callgraph::CallGraph;
use ir::{FuncId, Linkage, Module, SigId};
use mir::{Callee, MachFunc};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// Registers and memory of a kernel or function. The numbers of a kernel include those of the functions that
/// it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Number of SGPRs, without VCC and other special registers.
    pub sgprs: u32,
    /// Number of VGPRs.
    pub vgprs: u32,
    /// Number of accumulation VGPRs.
    pub agprs: u32,
    /// Bytes of stack or scratch memory per work-item.
    pub stack: u32,
    /// Whether the stack that calls need is unknown.
    pub is_stack_unknown: bool,
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A kernel.
    Kernel,
    /// A function.
    Function,
    /// A function of another object.
    Extern,
    /// The calls through addresses with one signature.
    Signature {
        /// Whether these calls may reach code of other objects.
        is_foreign: bool,
    },
}

/// A node of the call graph.
#[derive(Clone, Debug)]
pub struct Member {
    /// Name; the types of a signature.
    pub name: String,
    /// What the node stands for.
    pub role: Role,
    /// Registers and memory of code in this object.
    pub resources: Option<Resources>,
    /// Whether the member is part of a cycle.
    pub is_recursive: bool,
}

/// What an edge of the call graph stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Direct calls.
    Direct,
    /// Calls through an address, to the node of their signature.
    Indirect,
    /// From a signature to a function that such a call may reach.
    Reached,
}

/// The call graph of a module.
pub struct Calls {
    /// The graph. Several calls of the same function are one edge.
    pub graph: DiGraph<Member, Way>,
}

impl Calls {
    /// Builds the call graph of the final code of a module's kernels and functions.
    pub fn new(module: &Module, code: &[MachFunc]) -> Calls {
        let mut calls = Calls { graph: DiGraph::new() };
        let code: HashMap<&str, &MachFunc> = code.iter().map(|func| (func.name.as_str(), func)).collect();
        let nodes: Vec<NodeIndex> =
            module.funcs.values().map(|func| calls.graph.add_node(member(func, &code))).collect();
        let node_of = |id: FuncId| nodes[id.as_u32() as usize];
        let targets = CallGraph::new(module);
        let mut signatures = BTreeMap::new();
        for (id, func) in module.funcs.iter() {
            for site in code.get(func.name.as_str()).iter().flat_map(|func| &func.calls) {
                let (to, way) = match site.callee {
                    Callee::Func(callee) => (node_of(FuncId::from_u32(callee)), Way::Direct),
                    Callee::Pointer(sig) => {
                        let sig = SigId::from_u32(sig);
                        let node =
                            signatures.entry(sig).or_insert_with(|| calls.signature(module, &targets, sig));
                        (*node, Way::Indirect)
                    }
                };
                calls.graph.update_edge(node_of(id), to, way);
            }
        }
        for (sig, node) in signatures {
            for &func in targets.targets(sig).known {
                calls.graph.add_edge(node, node_of(func), Way::Reached);
            }
        }
        calls.find_cycles();
        calls
    }

    fn signature(&mut self, module: &Module, targets: &CallGraph, sig: SigId) -> NodeIndex {
        let types = |list: &[ir::Type]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let ir::Signature { params, results } = &module.sigs[sig];
        let mut name = format!("({})", types(params));
        if !results.is_empty() {
            name += &format!(" -> {}", types(results));
        }
        let role = Role::Signature { is_foreign: targets.targets(sig).foreign };
        self.graph.add_node(Member { name, role, resources: None, is_recursive: false })
    }

    fn find_cycles(&mut self) {
        for component in kosaraju_scc(&self.graph) {
            let is_cycle = |&node: &NodeIndex| component.len() > 1 || self.graph.contains_edge(node, node);
            let cyclic: Vec<NodeIndex> = component.iter().copied().filter(is_cycle).collect();
            cyclic.into_iter().for_each(|node| self.graph[node].is_recursive = true);
        }
    }

    /// Returns the graph in the language DOT. Kernels and functions are boxes, signatures are ellipses. Edges
    /// of calls through addresses are dashed, and edges from a signature to a function are dotted. Functions
    /// in cycles of calls are red.
    pub fn dot(&self, name: &str) -> String {
        let node = |member: &Member| match (member.role, member.is_recursive) {
            (Role::Kernel, _) => "shape=box penwidth=2.5",
            (Role::Function, false) => "shape=box",
            (Role::Function, true) => r##"shape=box color="#c0262d""##,
            (Role::Extern, false) => "shape=box style=dashed",
            (Role::Extern, true) => r##"shape=box style=dashed color="#c0262d""##,
            (Role::Signature { .. }, false) => "shape=ellipse",
            (Role::Signature { .. }, true) => r##"shape=ellipse color="#c0262d""##,
        };
        let edge = |way: &Way| match way {
            Way::Direct => "",
            Way::Indirect => "style=dashed",
            Way::Reached => "style=dotted",
        };
        dot::write(name, &self.graph, "", node, edge)
    }
}

fn member(func: &ir::Function, code: &HashMap<&str, &MachFunc>) -> Member {
    let role = match func.linkage {
        _ if func.kernel.is_some() => Role::Kernel,
        Linkage::Extern => Role::Extern,
        _ => Role::Function,
    };
    let resources = code.get(func.name.as_str()).map(|code| Resources {
        sgprs: code.sgprs,
        vgprs: code.vgprs,
        agprs: code.agprs,
        stack: code.scratch_size,
        is_stack_unknown: code.dynamic_stack,
    });
    Member { name: func.name.clone(), role, resources, is_recursive: false }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.role {
            Role::Kernel => "kernel ",
            Role::Function => "fn ",
            Role::Extern => "extern fn ",
            Role::Signature { .. } => "call through address\n",
        };
        writeln!(f, "{kind}{}", self.name)?;
        if self.role == (Role::Signature { is_foreign: true }) {
            writeln!(f, "may reach other objects")?;
        }
        let Some(Resources { sgprs, vgprs, agprs, stack, is_stack_unknown }) = self.resources else {
            return Ok(());
        };
        write!(f, "{sgprs} SGPRs, {vgprs} VGPRs")?;
        if agprs > 0 {
            write!(f, ", {agprs} AGPRs")?;
        }
        let more = if is_stack_unknown { " or more" } else { "" };
        writeln!(f, "\n{stack} bytes of stack{more}")
    }
}
