//! The control-flow graphs of the HTML page. Only the compiler knows them, so the page of another command has
//! none.

use graph::{Edge, Flow};
use serde::Serialize;

/// The control-flow graph of a function.
#[derive(Serialize)]
pub struct Graph {
    /// Name of the function.
    name: String,
    /// Blocks in the order of the layout.
    blocks: Vec<Block>,
    edges: Vec<ShownEdge>,
}

/// A block of the machine code.
#[derive(Serialize)]
struct Block {
    /// Name, number of instructions and register pressure, a line each.
    lines: Vec<String>,
    is_header: bool,
}

/// An edge between two blocks, which are indices in [`Graph::blocks`].
#[derive(Serialize)]
struct ShownEdge {
    from: usize,
    to: usize,
    /// Classes of the edge in `page.css`.
    classes: &'static str,
}

/// Returns the graphs that `--emit cfg` writes in DOT.
pub fn graphs(flows: &[Flow]) -> Vec<Graph> {
    let shown = |flow: &Flow| {
        let block = |block: &graph::Block| Block {
            lines: block.to_string().lines().map(str::to_owned).collect(),
            is_header: block.is_header,
        };
        let edges = flow.graph.raw_edges().iter().map(|edge| ShownEdge {
            from: edge.source().index(),
            to: edge.target().index(),
            classes: classes(edge.weight),
        });
        Graph {
            name: flow.name.clone(),
            blocks: flow.graph.node_weights().map(block).collect(),
            edges: edges.collect(),
        }
    };
    flows.iter().map(shown).collect()
}

fn classes(edge: Edge) -> &'static str {
    match edge {
        Edge::Linear { is_back: false } => "linear",
        Edge::Linear { is_back: true } => "linear back",
        Edge::Logical { is_divergent: false } => "logical",
        Edge::Logical { is_divergent: true } => "logical divergent",
    }
}
