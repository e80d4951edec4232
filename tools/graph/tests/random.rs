//! The compiler's graph analyses against petgraph's.

use fastrand::Rng;
use graph::verify;
use ir::analysis::{CallGraph, Cfg, DomTree};
use ir::parse::parse_module;
use ir::{Block, Function, Module, Op, SrcLoc, Type};
use kernc::{Compiler, Observer, Options, Target};

/// Returns a function whose blocks have up to two random successors, none of which is the entry.
fn random_function(rng: &mut Rng, blocks: usize) -> Function {
    let mut func = Function::new("f");
    (0..blocks).for_each(|_| {
        func.add_block();
    });
    let entry = func.entry();
    let cond = func.push1(entry, Op::Const(1), &[], Type::Bool, SrcLoc(0));
    for n in 0..blocks {
        let block = Block::from_u32(n as u32);
        let [then, otherwise] = [0; 2].map(|_| Block::from_u32(rng.u32(1..blocks as u32)));
        match rng.usize(..8) {
            0 => func.push(block, Op::Ret, &[], SrcLoc(0)),
            1..4 => func.push(block, Op::Jump(then), &[], SrcLoc(0)),
            _ => func.push(block, Op::Br { then, otherwise, then_args: 0 }, &[cond], SrcLoc(0)),
        };
    }
    func
}

#[test]
fn dominators_of_random_graphs() {
    let mut rng = Rng::with_seed(1);
    let (mut irreducible, mut noticed) = (0, 0);
    let mut earlier: Option<(usize, DomTree)> = None;
    for round in 0..3000 {
        let blocks = 2 + rng.usize(..if round % 100 == 0 { 400 } else { 24 });
        let func = random_function(&mut rng, blocks);
        let cfg = Cfg::new(&func);
        irreducible += usize::from(cfg.is_irreducible());
        let tree = DomTree::new(&cfg);
        verify::dominators(&func, &tree).unwrap_or_else(|error| panic!("graph {round}: {error}"));
        // The tree of another graph is wrong for this graph.
        if let Some((_, tree)) = earlier.filter(|&(count, _)| count == blocks) {
            noticed += usize::from(verify::dominators(&func, &tree).is_err());
        }
        earlier = Some((blocks, tree));
    }
    assert!(irreducible > 500 && noticed > 50, "{irreducible} irreducible, {noticed} wrong trees noticed");
}

/// Returns a module of functions that call each other, some through addresses.
fn random_module(rng: &mut Rng) -> Module {
    let count = rng.usize(1..13);
    let mut text = "sig0 = ()\n".to_owned();
    for n in 0..count {
        let linkage = if rng.usize(..12) == 0 { "export " } else { "" };
        text += &format!("{linkage}func @f{n} {{\nb0:\n    v0 = const.i64 1\n");
        for _ in 0..rng.usize(..3) {
            text += &format!("    call @f{}()\n", rng.usize(..count));
        }
        if rng.usize(..6) == 0 {
            text += "    call_indirect sig0 v0()\n";
        }
        if rng.usize(..6) == 0 {
            text += &format!("    v1 = func_addr.i64 @f{}\n", rng.usize(..count));
        }
        text += "    ret\n}\n";
    }
    parse_module(&text).unwrap_or_else(|error| panic!("{text}\n{error:?}"))
}

#[test]
fn call_graphs_of_random_modules() {
    let mut rng = Rng::with_seed(2);
    let (mut recursive, mut noticed) = (0, 0);
    let mut earlier: Option<(usize, CallGraph)> = None;
    for round in 0..3000 {
        let module = random_module(&mut rng);
        let calls = CallGraph::new(&module);
        recursive += module.funcs.keys().filter(|&id| calls.is_recursive(id)).count();
        verify::call_graph(&module, &calls)
            .unwrap_or_else(|error| panic!("{error} in module {round}\n{module}"));
        // The call graph of another module is wrong for this module.
        if let Some((_, calls)) = earlier.filter(|&(count, _)| count == module.funcs.len()) {
            noticed += usize::from(verify::call_graph(&module, &calls).is_err());
        }
        earlier = Some((module.funcs.len(), calls));
    }
    assert!(
        recursive > 1000 && noticed > 50,
        "{recursive} recursive functions, {noticed} wrong graphs noticed"
    );
}

/// Checks the analyses of the IR after each pass.
#[derive(Default)]
struct Checks {
    passes: usize,
}

impl Observer for Checks {
    fn ir(&mut self, pass: &'static str, module: &Module) {
        verify::module(module).unwrap_or_else(|error| panic!("after pass `{pass}`: {error}\n{module}"));
        self.passes += 1;
    }
}

#[test]
fn programs_between_passes() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut checks = Checks::default();
    for folder in ["examples", "tests/data/run"] {
        for entry in std::fs::read_dir(format!("{root}/{folder}")).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.extension().is_none_or(|extension| extension != "k") {
                continue;
            }
            let source = std::fs::read_to_string(&path).expect("readable");
            let target = Target::by_name("gfx906").expect("a known processor");
            // Some of the programs need another processor or other options.
            let _ = Compiler::new(target).compile_observed(&source, &Options::default(), &mut checks);
        }
    }
    assert!(checks.passes > 1000, "{} passes", checks.passes);
}
