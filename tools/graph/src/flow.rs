//! The control-flow graph of a machine function.
//!
//! One graph of the crate petgraph has both control-flow graphs of the function. Each of its edges belongs to
//! the linear graph (of the program counter) or to the logical graph (of a lane). A logical edge is
//! *divergent* if some lanes may leave a block along this edge while other lanes leave it along the block's
//! other edge.

use crate::dot;
use crate::pressure::{self, Pressure};
use isa::table::Implicit;
use isa::{MBlock, MachInst, Operand, Reg, RegRange, Target};
use mir::{MachBlock, MachFunc};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeFiltered;
use std::fmt;

/// A block of a machine function.
#[derive(Clone, Debug)]
pub struct Block {
    /// The block.
    pub id: MBlock,
    /// Number of instructions.
    pub instructions: usize,
    /// Loop depth.
    pub depth: u8,
    /// Whether the block is the header of a loop.
    pub is_header: bool,
    /// Register pressure.
    pub pressure: Pressure,
}

/// An edge of the linear or of the logical control-flow graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The program counter may follow the edge.
    Linear {
        /// Whether the edge leads back to the header of a loop.
        is_back: bool,
    },
    /// A lane may follow the edge.
    Logical {
        /// Whether some lanes may leave the block along this edge while others leave it along the other edge.
        is_divergent: bool,
    },
}

/// The control-flow graph of a machine function.
pub struct Flow {
    /// Name of the function.
    pub name: String,
    /// The graph. The index of a node is the number of its block.
    pub graph: DiGraph<Block, Edge>,
}

impl Flow {
    /// Builds the graph of a function after register allocation.
    pub fn new(func: &MachFunc, target: &Target) -> Flow {
        let mut graph = DiGraph::new();
        for ((id, block), pressure) in func.blocks.iter().zip(pressure::of_blocks(func, target)) {
            let instructions = block.insts.len();
            graph.add_node(Block { id, instructions, depth: block.depth, is_header: false, pressure });
        }
        for (id, block) in func.blocks.iter() {
            for edge in block.linear.iter().flatten() {
                graph.add_edge(node(id), node(edge.to), Edge::Linear { is_back: false });
            }
            let is_divergent = is_divergent(func, block);
            for edge in block.logical.iter().flatten() {
                graph.add_edge(node(id), node(edge.to), Edge::Logical { is_divergent });
            }
        }
        let mut flow = Flow { name: func.name.clone(), graph };
        flow.find_loops();
        flow
    }

    /// Marks back edges and loop headers. A back edge leads to a block that dominates the block from which
    /// the edge comes.
    fn find_loops(&mut self) {
        if self.graph.node_count() == 0 {
            return;
        }
        let linear = EdgeFiltered::from_fn(&self.graph, |edge| matches!(edge.weight(), Edge::Linear { .. }));
        let tree = simple_fast(&linear, NodeIndex::new(0));
        let leads_back = |&edge: &petgraph::graph::EdgeIndex| {
            let Some((from, to)) = self.graph.edge_endpoints(edge) else { return false };
            let is_linear = matches!(self.graph[edge], Edge::Linear { .. });
            is_linear && tree.dominators(from).is_some_and(|mut above| above.any(|block| block == to))
        };
        let back: Vec<_> = self.graph.edge_indices().filter(leads_back).collect();
        for edge in back {
            self.graph[edge] = Edge::Linear { is_back: true };
            if let Some((_, header)) = self.graph.edge_endpoints(edge) {
                self.graph[header].is_header = true;
            }
        }
    }

    /// Returns the graph in the language DOT. Each block is a node, each linear edge is grey, and each
    /// logical edge is blue. Divergent edges are dashed, and edges back to a loop header are thick.
    pub fn dot(&self) -> String {
        let edge = |edge: &Edge| match edge {
            Edge::Linear { is_back: false } => r##"color="#808080""##,
            Edge::Linear { is_back: true } => r##"color="#808080" penwidth=2.5"##,
            Edge::Logical { is_divergent: false } => r##"color="#1f6fb5""##,
            Edge::Logical { is_divergent: true } => r##"color="#1f6fb5" style=dashed"##,
        };
        let node = |block: &Block| if block.is_header { "penwidth=2.5" } else { "" };
        dot::write(&self.name, &self.graph, "shape=box", node, edge)
    }
}

fn node(block: MBlock) -> NodeIndex {
    NodeIndex::new(block.as_u32() as usize)
}

/// Returns whether lanes may leave a block along different logical edges. The terminator group of a block
/// with such lanes changes or tests EXEC. In an exceptional case it does not: the code of one side may run
/// with the wrong lanes active, if none of its instructions depends on EXEC.
fn is_divergent(func: &MachFunc, block: &MachBlock) -> bool {
    let mut sides = block.logical.iter().flatten().map(|edge| edge.to);
    let (Some(first), Some(second)) = (sides.next(), sides.next()) else { return false };
    let is_linear = |side| block.linear.iter().flatten().any(|edge| edge.to == side);
    let is_apart = |side: MBlock| func.blocks[side].is_foreign || !is_linear(side);
    let terminators = &block.insts[(block.term as usize).min(block.insts.len())..];
    first != second && ([first, second].into_iter().any(is_apart) || terminators.iter().any(uses_exec))
}

/// Returns whether a terminator reads or writes EXEC.
fn uses_exec(inst: &MachInst) -> bool {
    let exec = RegRange { first: Reg::EXEC, len: 2 };
    let is_exec = |operand: &Operand| match operand {
        Operand::Reg(range) => range.overlaps(exec) || range.first == Reg::EXECZ,
        _ => false,
    };
    let is_scalar = inst.op.row().is_salu();
    let implicit = inst.op.row().implicit;
    is_scalar
        && (implicit.intersects(Implicit::READ_EXEC | Implicit::WRITE_EXEC)
            || inst.operands().iter().any(is_exec))
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        if self.depth > 0 {
            write!(f, ", depth {}", self.depth)?;
        }
        let Pressure { sgprs, vgprs, agprs } = self.pressure;
        let ending = if self.instructions == 1 { "" } else { "s" };
        write!(f, "\n{} instruction{ending}\n{sgprs} SGPRs, {vgprs} VGPRs", self.instructions)?;
        if agprs > 0 {
            write!(f, ", {agprs} AGPRs")?;
        }
        f.write_str("\n")
    }
}
