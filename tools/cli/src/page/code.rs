//! The assembly part of the HTML page: the functions, with a row for each instruction.

use super::facts::{Fact, Step};
use check::object::{Entries, Part};
use check::{pressure, reasons};
use codeobj::disasm::Lines;
use isa::table::Kind;
use kernc::sim::{self, Executed, Profile};
use serde::Serialize;
use std::collections::HashMap;

/// A kernel or function on the HTML page. Empty fields are left out of the page's JSON.
#[derive(Serialize)]
pub struct Function {
    name: String,
    pub facts: Vec<Fact>,
    /// Whether this is a kernel other than the one that ran.
    pub did_not_run: bool,
    /// Number of waves per SIMD for each number of VGPRs.
    pub steps: Vec<Step>,
    rows: Vec<Row>,
}

/// An instruction.
#[derive(Serialize)]
struct Row {
    address: u64,
    text: String,
    /// Source position of the instruction: index of the file in the page's list of sources, line, and column.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<(usize, u32, u32)>,
    /// Address that the instruction may branch to.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<u64>,
    /// Numbers of registers that are live before the instruction: VGPRs, accumulation VGPRs, SGPRs.
    alive: (u16, u16, u16),
    /// Number of times that waves have executed the instruction. `None` if executions were not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    /// Average number of active lanes.
    #[serde(skip_serializing_if = "Option::is_none")]
    lanes: Option<f64>,
    /// Number of additional passes due to bank conflicts.
    #[serde(skip_serializing_if = "is_zero")]
    conflicts: u64,
    /// Reason for which the compiler inserted the instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Operations for which a wait instruction waits, found by analysing the code. The list is empty for a
    /// wait that is not needed. `None` for other instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<Vec<String>>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Returns all functions of an object in the order of the code. Appends the names of their source files to
/// `names`.
pub fn functions(
    entries: &Entries<'_, '_>,
    lines: &Lines,
    profile: Option<&Profile>,
    names: &mut Vec<String>,
) -> Vec<Function> {
    let counts: Option<HashMap<u64, &Executed>> =
        profile.map(|profile| profile.instructions.iter().map(|inst| (inst.offset, inst)).collect());
    let mut functions: Vec<Function> = Vec::new();
    for part in entries.parts() {
        let known = Known::new(&part);
        for site in 0..part.program.insts.len() {
            let mut row = known.row(site);
            let (name, offset) = entries.owner(&part, row.address).unwrap_or(("", u64::MAX));
            if offset == 0 || functions.last().is_none_or(|function| function.name != name) {
                functions.push(Function::new(name));
            }
            row.source = entries.source(lines, &part, row.address).map(|place| {
                let known = names.iter().position(|name| *name == place.file);
                let source = known.unwrap_or(names.len());
                names.extend(known.is_none().then_some(place.file));
                (source, place.line, place.column)
            });
            if let Some(counts) = &counts {
                row.count(counts.get(&row.address).copied());
            }
            let Some(function) = functions.last_mut() else { continue };
            function.rows.push(row);
        }
    }
    functions
}

impl Function {
    fn new(name: &str) -> Function {
        let name = name.to_owned();
        Function { name, facts: Vec::new(), did_not_run: false, steps: Vec::new(), rows: Vec::new() }
    }

    /// Returns whether the function begins at this address.
    pub fn begins_at(&self, address: u64) -> bool {
        self.rows.first().is_some_and(|row| row.address == address)
    }

    /// Adds the compiler's reasons to the rows.
    pub fn explain(&mut self, kernel: &sim::KernelInfo, reasons: &[kernc::Reason]) {
        for reason in reasons.iter().filter(|reason| reason.kernel == kernel.name) {
            let address = kernel.entry + u64::from(reason.offset);
            if let Ok(at) = self.rows.binary_search_by_key(&address, |row| row.address) {
                self.rows[at].reason = Some(reason.text.clone());
            }
        }
    }
}

impl Row {
    /// Sets the execution counts in the row of an instruction. They are zero for an instruction that was
    /// never executed.
    fn count(&mut self, executed: Option<&Executed>) {
        self.count = Some(executed.map_or(0, |executed| executed.count));
        self.lanes = executed.and_then(Executed::mean_lanes).map(|lanes| (lanes * 10.0).round() / 10.0);
        self.conflicts = executed.map_or(0, |executed| executed.bank_conflicts);
    }
}

/// Facts about a part that are derived from its code.
struct Known<'a> {
    part: &'a Part,
    alive: Vec<pressure::Alive>,
    waits: HashMap<check::Site, Vec<String>>,
}

impl Known<'_> {
    fn new(part: &Part) -> Known<'_> {
        let program = &part.program;
        let waits = reasons::find(program, &part.roots, false).into_iter();
        let text = |why: reasons::Why| why.reasons.iter().map(|reason| reason.text(program)).collect();
        Known {
            part,
            alive: pressure::alive(program),
            waits: waits.map(|why| (why.wait, text(why))).collect(),
        }
    }

    fn row(&self, site: usize) -> Row {
        let placed = &self.part.program.insts[site];
        let mut text = String::new();
        isa::write_inst(self.part.program.code.target(), &placed.inst, None, &mut text);
        let alive = self.alive[site];
        Row {
            address: placed.address,
            text,
            source: None,
            to: branch(placed),
            alive: (alive.vgprs, alive.agprs, alive.sgprs),
            count: None,
            lanes: None,
            conflicts: 0,
            reason: None,
            waits: self.waits.get(&(site as check::Site)).cloned(),
        }
    }
}

/// Returns the target of a branch with a relative distance.
fn branch(placed: &check::program::Placed) -> Option<u64> {
    let label = placed.inst.op.row().ops.iter().position(|spec| spec.kind == Kind::Label)?;
    let Some(isa::Operand::Imm(distance)) = placed.inst.operands().get(label) else { return None };
    let after = placed.address.wrapping_add(placed.bytes);
    Some(after.wrapping_add_signed(i64::from(*distance) * 4))
}
