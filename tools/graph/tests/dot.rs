//! The graphs of compiled programs, and their text in DOT.

use graph::{Calls, Edge, Flow, Role, Way};
use kernc::mir::MachFunc;
use kernc::mir::text::{Names, read_functions};
use kernc::{CodeObject, Compiler, KeepIr, Options, Target};
use std::collections::BTreeSet;

fn target() -> &'static Target {
    Target::by_name("gfx906").expect("a known processor")
}

fn compiled(source: &str) -> (CodeObject, ir::Module) {
    let mut module = KeepIr::default();
    let object = Compiler::new(target()).compile_observed(source, &Options::default(), &mut module);
    (object.expect("a correct program"), module.0)
}

fn flow(source: &str) -> Flow {
    let (object, _) = compiled(source);
    let code = object.machine_functions();
    Flow::new(&code[0].0, &code[0].1)
}

/// Returns the numbers of uniform edges, divergent edges and edges back to a loop header.
fn count(flow: &Flow) -> (usize, usize, usize) {
    let count = |wanted: Edge| flow.graph.edge_weights().filter(|&&edge| edge == wanted).count();
    let logical = |is_divergent| count(Edge::Logical { is_divergent });
    (logical(false), logical(true), count(Edge::Linear { is_back: true }))
}

#[test]
fn branches_are_uniform_or_divergent() {
    let body = "let mut sum = 0; for i in 0..END { sum = sum * 3 + y[i]; } y[global_id(0)] = sum;";
    let kernel = |end: &str| format!("kernel k(y: *global u32, n: u32) {{ {} }}", body.replace("END", end));
    let (uniform, divergent) = (flow(&kernel("n")), flow(&kernel("global_id(0)")));
    let (edges, parted, back) = count(&uniform);
    assert!(edges >= 4 && parted == 0 && back == 1, "{}", uniform.dot());
    let (_, parted, back) = count(&divergent);
    assert!(parted >= 2 && back == 1, "{}", divergent.dot());
    let headers = |flow: &Flow| flow.graph.node_weights().filter(|block| block.is_header).count();
    assert_eq!([headers(&uniform), headers(&divergent)], [1, 1]);
}

#[test]
fn pressure_follows_both_graphs() {
    // The lanes of bb2 read the v1 that bb0 writes; bb1 overwrites v1 in the other lanes. s4 is read at the
    // end.
    let text = "machine @k {
    vgprs 3
    sgprs 5

bb0:
    v_mov_b32_e32 v0, 1
    v_mov_b32_e32 v1, 2
    s_mov_b32 s4, 3
  terminators:
    s_and_saveexec_b64 s[2:3], vcc
  linear -> bb1
  logical -> bb1, bb2

bb1:
    v_mov_b32_e32 v1, 5
    v_add_u32_e32 v0, v0, v1
  linear -> bb2
  logical -> bb3

bb2:
  prologue:
    s_andn2_b64 exec, s[2:3], exec
  body:
    v_mov_b32_e32 v0, v1
  linear -> bb3
  logical -> bb3

bb3:
    v_add_u32_e32 v2, s4, v0
    v_add_u32_e32 v2, v2, v2
  terminators:
    s_endpgm 0
}
";
    let code = read_functions(text, |_| target(), &Names { globals: &[], funcs: &[] }).expect("machine IR");
    let flow = Flow::new(&code[0], target());
    let pressure: Vec<_> =
        flow.graph.node_weights().map(|block| (block.pressure.sgprs, block.pressure.vgprs)).collect();
    // bb0: s[2:3] and s4, v0 and v1. bb1: the same, v0 and the new v1. bb2: one VGPR.
    assert_eq!(pressure, [(3, 2), (3, 2), (3, 1), (1, 1)]);
    assert_eq!(count(&flow), (2, 2, 0));
}

/// Reads the lines of a graph in DOT: the labels of the nodes, and the edges.
fn read(dot: &str) -> (Vec<String>, BTreeSet<(usize, usize, bool)>) {
    let (mut labels, mut edges) = (Vec::new(), BTreeSet::new());
    let lines: Vec<&str> = dot.lines().collect();
    assert!(lines[0].starts_with("digraph \"") && lines[0].ends_with("\" {"), "{dot}");
    assert_eq!(lines.last(), Some(&"}"), "{dot}");
    for line in &lines[3..lines.len() - 1] {
        let (head, attributes) = line.trim().split_once(" [ ").expect("attributes");
        assert!(attributes.ends_with(']') && attributes.matches('"').count() % 2 == 0, "{line}");
        match head.split_once(" -> ") {
            Some((from, to)) => {
                let number = |text: &str| text.parse::<usize>().expect("a node");
                edges.insert((number(from), number(to), attributes.contains("#1f6fb5")));
            }
            None => {
                assert_eq!(head.parse(), Ok(labels.len()), "{line}");
                let label = attributes.strip_prefix("label = \"").and_then(|rest| rest.split_once('"'));
                labels.push(label.expect("a label").0.to_owned());
            }
        }
    }
    (labels, edges)
}

fn edges_of(func: &MachFunc) -> BTreeSet<(usize, usize, bool)> {
    let number = |block: isa::MBlock| block.as_u32() as usize;
    let edges = func.blocks.iter().flat_map(|(id, block)| {
        let linear = block.linear.iter().flatten().map(|edge| (edge.to, false));
        let logical = block.logical.iter().flatten().map(|edge| (edge.to, true));
        let own: Vec<_> =
            linear.chain(logical).map(|(to, is_logical)| (number(id), number(to), is_logical)).collect();
        own
    });
    edges.collect()
}

#[test]
fn dot_has_the_blocks_and_edges_of_the_examples() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let source = std::fs::read_to_string(entry.expect("a file").path()).expect("readable");
        let (object, _) = compiled(&source);
        for (func, target) in object.machine_functions() {
            let flow = Flow::new(&func, &target);
            let (labels, edges) = read(&flow.dot());
            assert_eq!(edges, edges_of(&func), "{}", func.name);
            for (label, (id, block)) in labels.iter().zip(func.blocks.iter()) {
                assert!(
                    label.starts_with(&id.to_string())
                        && label.contains(&format!("l{} instruction", block.insts.len()))
                );
            }
            let most = flow.graph.node_weights().map(|block| block.pressure.vgprs).max();
            assert!(most <= Some(func.vgprs as usize), "{}: {most:?} of {} VGPRs", func.name, func.vgprs);
            count += labels.len();
        }
    }
    assert!(count > 100, "{count} blocks");
}

#[test]
fn calls_are_direct_or_through_addresses() {
    let source = "
#[inline(never)] fn once(x: u32) -> u32 { x + 1 }
#[inline(never)] fn twice(x: u32) -> u32 { x * 2 }
#[inline(never)] fn even(n: u32) -> u32 { if n == 0 { 1 } else { odd(n - 1) } }
#[inline(never)] fn odd(n: u32) -> u32 { if n == 0 { 0 } else { even(n - 1) } }
constant static TABLE: [fn(u32) -> u32; 2] = [once, twice];
kernel k(y: *global u32) {
    let i = global_id(0);
    let f = TABLE[y[i] & 1];
    y[i] = f(i) + even(i);
}";
    let (object, module) = compiled(source);
    let code: Vec<MachFunc> = object.machine_functions().into_iter().map(|(func, _)| func).collect();
    let calls = Calls::new(&module, &code);
    let graph = &calls.graph;
    let ways = [(Way::Direct, "calls"), (Way::Indirect, "calls through"), (Way::Reached, "reaches")];
    let mut edges: Vec<String> = graph
        .edge_indices()
        .map(|edge| {
            let (from, to) = graph.edge_endpoints(edge).expect("an edge");
            let way = ways.iter().find(|row| row.0 == graph[edge]).expect("a way").1;
            format!("{} {way} {}", graph[from].name, graph[to].name)
        })
        .collect();
    edges.sort();
    let expected = [
        "(i32) -> i32 reaches once",
        "(i32) -> i32 reaches twice",
        "even calls odd",
        "k calls even",
        "k calls through (i32) -> i32",
        "odd calls even",
    ];
    assert_eq!(edges, expected);
    let recursive: Vec<&str> =
        graph.node_weights().filter(|node| node.is_recursive).map(|node| node.name.as_str()).collect();
    assert_eq!(recursive, ["even", "odd"]);
    let kernel = graph.node_weights().find(|node| node.role == Role::Kernel).expect("a kernel");
    let resources = kernel.resources.expect("code");
    assert_eq!((resources.sgprs, resources.vgprs), (code[0].sgprs, code[0].vgprs));
    let (labels, _) = read(&calls.dot("k.k"));
    assert!(labels.iter().any(|label| label.starts_with("kernel k\\l")), "{labels:?}");
}
