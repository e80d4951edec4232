//! Writes a graph in DOT.

use petgraph::dot::{Config, Dot};
use petgraph::graph::DiGraph;
use std::fmt::{self, Display, Formatter};

/// Returns a graph in the language DOT. The labels of the nodes are the texts of the node weights. `node` and
/// `edge` return the other attributes of a node or an edge.
pub(crate) fn write<N: Display, E>(
    name: &str,
    graph: &DiGraph<N, E>,
    nodes: &str,
    node: impl Fn(&N) -> &'static str,
    edge: impl Fn(&E) -> &'static str,
) -> String {
    let config = [Config::EdgeNoLabel, Config::GraphContentOnly];
    let edge = |_, each: petgraph::graph::EdgeReference<'_, E>| edge(each.weight()).to_owned();
    let node = |_, (_, each): (_, &N)| node(each).to_owned();
    let dot = Dot::with_attr_getters(graph, &config, &edge, &node);
    let content = fmt::from_fn(|f: &mut Formatter<'_>| dot.graph_fmt(f, Display::fmt, |_, _| Ok(())));
    let name = name.replace('\\', r"\\").replace('"', r#"\""#);
    format!(
        "digraph \"{name}\" {{\n    label=\"{name}\"\n    node [{nodes} fontname=monospace]\n{content}}}\n"
    )
}
