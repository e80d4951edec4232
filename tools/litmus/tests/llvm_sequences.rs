//! The guide's sequences against those of LLVM 19: each operation of the table goes through `llc-19` up to the pass that puts
//! the waits and invalidations in. Where the two are not the same, [`Difference`] says how and why, and that is checked too.

use crate::common::processors;
use litmus::{Machine, Operation, Order, Scope, Space, Token, What, operations, tokens};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use support::Tool;

/// An operation's sequence, in an order that makes equal what is: waits, operation, waits, invalidations.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Sequence {
    before: Vec<String>,
    operation: Option<String>,
    after: Vec<String>,
    invalidates: Vec<String>,
}

impl Sequence {
    fn add(&mut self, word: &str) {
        let place = match (word.starts_with("inv"), &self.operation) {
            (true, _) => &mut self.invalidates,
            (_, None) => &mut self.before,
            (_, Some(_)) => &mut self.after,
        };
        place.push(word.to_owned());
        place.sort();
    }

    /// A fence has no before and after.
    fn text(&self) -> String {
        let all = self.before.iter().chain(&self.operation).chain(&self.after).chain(&self.invalidates);
        all.map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// `op` with bits.
fn operation(glc: bool, dlc: bool) -> String {
    format!("op{}{}", if glc { "+glc" } else { "" }, if dlc { "+dlc" } else { "" })
}

/// The table's.
fn ours(machine: &Machine, meant: Operation) -> Sequence {
    let mut sequence = Sequence::default();
    for (token, _) in tokens(machine, meant) {
        match token {
            Token::Op { glc, dlc } => sequence.operation = Some(operation(glc, dlc)),
            Token::Word(word) => sequence.add(word),
        }
    }
    sequence
}

/// A function that does one operation.
fn function(number: usize, meant: Operation) -> String {
    let order = match meant.order {
        Order::Plain => "",
        Order::Relaxed => "monotonic",
        other => other.name(),
    };
    let scope = match meant.scope {
        _ if meant.order == Order::Plain => String::new(),
        Scope::System => String::new(),
        scope => format!("syncscope(\"{}\")", scope.name()),
    };
    let atomic = if meant.order == Order::Plain { "" } else { "atomic" };
    let pointer = match meant.space {
        Some(Space::Global) => "ptr addrspace(1)",
        Some(Space::Local) => "ptr addrspace(3)",
        _ => "ptr",
    };
    let (result, body) = match meant.what {
        What::Load => ("i32", format!("%v = load {atomic} i32, {pointer} %p {scope} {order}, align 4")),
        What::Store => ("void", format!("store {atomic} i32 1, {pointer} %p {scope} {order}, align 4")),
        What::Rmw => {
            let result = if meant.silent { "void" } else { "i32" };
            (result, format!("%v = atomicrmw add {pointer} %p, i32 1 {scope} {order}"))
        }
        What::Fence => ("void", format!("fence {scope} {order}")),
    };
    // Without an order there is no comma before the alignment's.
    let body = body.replace("%p  ,", "%p,");
    let returned = if result == "i32" { "ret i32 %v" } else { "ret void" };
    format!("define {result} @f{number}({pointer} %p) {{\n  {body}\n  {returned}\n}}\n")
}

/// LLVM's machine code of a module after the pass.
fn machine_ir(tool: &Path, machine: &Machine, module: String) -> String {
    let mode = if machine.cu_mode && machine.target.version.0 == 10 { "+cumode" } else { "" };
    let output = Tool::new(tool)
        .args(["-mtriple=amdgcn-amd-amdhsa", "-stop-after=si-memory-legalizer", "-o", "-"])
        .arg(format!("-mcpu={}", machine.target.name))
        .arg(format!("-mattr={mode}"))
        .input(module)
        .output()
        .expect("the tool starts");
    assert!(output.status.success(), "llc refuses the module for {}", machine.name());
    String::from_utf8(output.stdout).expect("text")
}

/// Adds an instruction of LLVM's to a sequence.
fn read(sequence: &mut Sequence, generation: u32, what: What, line: &str) {
    let line = line.split(" :: ").next().unwrap_or("");
    let line = line.rsplit(" = ").next().unwrap_or("").trim();
    let (name, operands) = line.split_once(' ').unwrap_or((line, ""));
    let numbers: Vec<u32> = operands
        .split(", ")
        .take_while(|operand| !operand.starts_with("implicit"))
        .filter_map(|operand| operand.parse().ok())
        .collect();
    match name {
        "S_WAITCNT_soft" => {
            let bits = numbers[0];
            let lgkm = if generation == 10 { 0x3f } else { 0xf };
            if bits & 0xf == 0 && (generation < 9 || bits >> 14 & 3 == 0) {
                sequence.add("vm");
            }
            if bits >> 8 & lgkm == 0 {
                sequence.add("lgkm");
            }
        }
        "S_WAITCNT_VSCNT_soft" => sequence.add("vs"),
        "BUFFER_WBINVL1" | "BUFFER_WBINVL1_VOL" => sequence.add("inv"),
        "BUFFER_GL0_INV" => sequence.add("inv0"),
        "BUFFER_GL1_INV" => {
            assert!(!sequence.invalidates.contains(&"inv0".into()), "LLVM invalidates GL1 before L0");
            sequence.add("inv1");
        }
        _ if ["GLOBAL_", "FLAT_", "BUFFER_", "DS_"].iter().any(|kind| name.starts_with(kind)) => {
            // Buffer instructions have one more number after the cache bits, and those of LDS no such bits.
            let at = if name.starts_with("BUFFER_") { 2 } else { 1 };
            let bits = numbers.len().checked_sub(at).map_or(0, |at| numbers[at]);
            let bits = if name.starts_with("DS_") || what == What::Rmw { 0 } else { bits };
            sequence.operation = Some(operation(bits & 1 != 0, bits & 4 != 0));
        }
        _ => {}
    }
}

/// LLVM's sequence of each operation.
fn theirs(tool: &Path, machine: &Machine, all: &[Operation]) -> Vec<Sequence> {
    let mut module = String::new();
    for (number, meant) in all.iter().enumerate() {
        let _ = writeln!(module, "{}", function(number, *meant));
    }
    let text = machine_ir(tool, machine, module);
    let mut sequences = vec![Sequence::default(); all.len()];
    let mut current = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("name:") {
            current = name.trim().strip_prefix('f').and_then(|digits| digits.parse::<usize>().ok());
        }
        if let (Some(number), true) = (current, line.starts_with("    ")) {
            read(&mut sequences[number], machine.target.version.0, all[number].what, line);
        }
    }
    sequences
}

/// The operations of the table and those that are as others.
fn all_operations(machine: &Machine) -> Vec<Operation> {
    let mut all = operations();
    for operation in operations() {
        let same = matches!(
            (operation.what, operation.order),
            (What::Store, Order::Release) | (What::Rmw | What::Fence, Order::AcqRel)
        );
        if same {
            all.push(Operation { order: Order::SeqCst, ..operation });
        }
    }
    let flat = machine.target.version.0 != 6;
    all.retain(|operation| flat || operation.space != Some(Space::Generic));
    all
}

/// What LLVM 19 does otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// It waits for earlier LDS operations before one that releases or is a sequentially consistent load. The guide does not:
    /// LDS operations of one wave need no such wait (line 3081). More than enough.
    EarlierLds,
    /// In CU mode it does not invalidate L0 after an LDS atomic that acquires; the guide forgets to say "omit" in this row
    /// (line 3368) and says it in those beside it. Enough, because a group has one L0 there (line 3138).
    OneL0,
}

/// What LLVM is expected to make of the guide's sequence.
fn expected(machine: &Machine, meant: Operation, guide: &Sequence) -> (Sequence, Option<Difference>) {
    let mut sequence = guide.clone();
    let gfx10 = machine.target.version.0 == 10;
    let local = meant.space == Some(Space::Local) && meant.scope == Scope::Workgroup;
    match (meant.what, meant.order) {
        (What::Load, Order::SeqCst)
        | (What::Store | What::Rmw, Order::Release | Order::AcqRel | Order::SeqCst)
            if local =>
        {
            sequence.before.push("lgkm".into());
            sequence.before.sort();
            (sequence, Some(Difference::EarlierLds))
        }
        (What::Rmw, Order::Acquire) if local && gfx10 && machine.cu_mode => {
            sequence.invalidates.clear();
            (sequence, Some(Difference::OneL0))
        }
        _ => (sequence, None),
    }
}

#[test]
fn llvm_has_the_same_sequences() {
    let Some(tool) = crate::llvm::tool("llc-19", "sequences of the memory model") else { return };
    let mut failures = Vec::new();
    for machine in processors(&["gfx600", "gfx700", "gfx803", "gfx906", "gfx1010"]) {
        let all = all_operations(&machine);
        let mut differences: BTreeMap<Difference, usize> = BTreeMap::new();
        for (operation, theirs) in all.iter().zip(theirs(&tool, &machine, &all)) {
            let guide = ours(&machine, *operation);
            let (expected, difference) = expected(&machine, *operation, &guide);
            if let Some(difference) = difference {
                *differences.entry(difference).or_default() += 1;
            }
            if expected != theirs {
                let (name, guide, theirs) = (machine.name(), guide.text(), theirs.text());
                failures.push(format!("{name} {operation}: guide `{guide}`, LLVM `{theirs}`"));
            }
        }
        println!("{}: {} operations, differences {differences:?}", machine.name(), all.len());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
