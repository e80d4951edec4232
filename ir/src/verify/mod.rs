//! Checks that a module is well-formed. A function that passes has the following properties, on which all
//! later stages rely:
//!
//! **Structure.** The layout has at least one block, and no block twice. Every block in it ends in a
//! terminator and has no other terminator. Branches lead to blocks of the layout. An instruction is in one
//! place only, and `InstData::block` names its block. The definitions recorded for results and parameters are
//! correct. No edge leads to the entry; a kernel's entry has no parameters. No loop has a second entry (the
//! graph is reducible).
//!
//! **Values.** A definition dominates each of its uses. An argument of a branch counts as used at the branch.
//! In unreachable blocks any value may be used. Arguments agree with parameters in number and type, at
//! branches, calls and returns.
//!
//! **Operations.** Operands and results have types that the operation permits, see `docs/ir.md`; a constant
//! has no bits beyond its type; dimensions are 0, 1 or 2; referenced variables, slots and functions exist.
//!
//! **Memory.** An access and its pointer have the same address space. The alignment is a power of two up to
//! 16. The element type fits the value's type. A load is not a release; a store is not an acquire and not
//! `invariant`. An atomic access has an order, a single element of 32 or 64 bits, and natural alignment.
//!
//! **Module.** Names are unique, and so are signatures. The initial bytes and function addresses of a
//! variable are within its size. Only work-group variables are dynamic. Work-group variables and variables of
//! other objects have no initial bytes. A function of another object has no code. Kernels are neither
//! exported nor called. Kernel arguments are aligned and inside the kernarg segment. A work-group has 1 to
//! 1024 work-items.
//!
//! The verifier collects all errors, each with the entity that it concerns.

mod ops;

use crate::analysis::{Cfg, DomTree};
use crate::entity::{Block, FuncId, Global, Inst, Slot, Switch, Value};
use crate::func::{Case, Function, GlobalData, Linkage, Module, ValueDef};
use crate::op::Op;
use crate::semantics::mask;
use crate::state::InitialState;
use crate::text;
use crate::types::Space;
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashSet;
use std::fmt;

/// Number of work-items of the largest work-group (LLVM's AMDGPU guide, seed 000, line 2450).
const MAX_WORKGROUP: u32 = 1024;

/// Entity that an error concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A global variable.
    Global(Global),
    /// A function as a whole.
    Function,
    /// A private variable.
    Slot(Slot),
    /// A block or its parameters.
    Block(Block),
    /// An instruction.
    Inst(Inst),
}

/// A violated property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// Name of the function or of the variable.
    pub name: String,
    /// The entity.
    pub place: Place,
    /// Text of the instruction, if the error concerns an instruction.
    pub text: String,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.name)?;
        match self.place {
            Place::Global(_) | Place::Function => {}
            Place::Slot(slot) => write!(f, ", {slot}")?,
            Place::Block(block) => write!(f, ", {block}")?,
            Place::Inst(_) => write!(f, ", `{}`", self.text)?,
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Checks a module and everything in it.
///
/// # Errors
/// All violated properties.
pub fn verify(module: &Module) -> Result<(), Vec<VerifyError>> {
    verify_with(module, Checker::run)
}

/// Checks the declarations of a module: its variables and the properties of kernels, but not their code.
///
/// # Errors
/// All violated properties.
pub fn verify_declarations(module: &Module) -> Result<(), Vec<VerifyError>> {
    verify_with(module, Checker::kernel)
}

fn verify_with<'a>(module: &'a Module, check: fn(&mut Checker<'a>)) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    verify_globals(module, &mut errors);
    verify_signatures(module, &mut errors);
    let mut names = FxHashSet::default();
    for func in module.funcs.values() {
        let mut checker = Checker::new(func, Some(module));
        if !names.insert(func.name.as_str()) {
            checker.error(Place::Function, "another function has this name");
        }
        check(&mut checker);
        errors.append(&mut checker.errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Checks one function. Without its module, referenced functions and variables are not checked.
///
/// # Errors
/// All violated properties.
pub fn verify_function(func: &Function, module: Option<&Module>) -> Result<(), Vec<VerifyError>> {
    let mut checker = Checker::new(func, module);
    checker.run();
    if checker.errors.is_empty() { Ok(()) } else { Err(checker.errors) }
}

fn verify_globals(module: &Module, errors: &mut Vec<VerifyError>) {
    let mut names = FxHashSet::default();
    for (global, data) in module.globals.iter() {
        let shared = data.space == Space::Shared;
        let checks = [
            (names.insert(data.name.as_str()), "another variable has this name"),
            (data.align.is_power_of_two(), "the alignment is not a power of two"),
            (data.init.len() <= data.size as usize, "there are more initial bytes than the size"),
            (!data.dynamic || shared, "only work-group memory is dynamic"),
            (!shared || data.init.is_empty(), "work-group memory has no initial bytes"),
            (
                !data.external || (data.init.is_empty() && data.funcs.is_empty()),
                "a variable of another object has no initial bytes",
            ),
            (
                holds_functions(module, data),
                "an address of a function in it is unaligned, not in order, outside, or of no function",
            ),
            (
                matches!(data.space, Space::Shared | Space::Constant | Space::Global),
                "a variable is shared, constant or global",
            ),
        ];
        for (_, message) in checks.iter().filter(|check| !check.0) {
            errors.push(VerifyError {
                name: data.name.to_string(),
                place: Place::Global(global),
                text: String::new(),
                message: (*message).into(),
            });
        }
    }
}

/// Returns whether all function addresses in a variable are at valid offsets and belong to functions of the
/// module.
fn holds_functions(module: &Module, data: &GlobalData) -> bool {
    let sound = |&(at, func): &(u32, FuncId)| {
        let func = module.funcs.get(func);
        at.is_multiple_of(8)
            && at.checked_add(8).is_some_and(|end| end <= data.size)
            && func.is_some_and(|func| func.kernel.is_none())
    };
    data.funcs.iter().all(sound)
        && data.funcs.is_sorted_by(|a, b| a.0 < b.0)
        && (data.funcs.is_empty() || data.space != Space::Shared && data.align >= 8)
}

fn verify_signatures(module: &Module, errors: &mut Vec<VerifyError>) {
    let mut known = FxHashSet::default();
    for (id, _) in module.sigs.iter().filter(|(_, sig)| !known.insert(*sig)) {
        errors.push(VerifyError {
            name: id.to_string(),
            place: Place::Function,
            text: String::new(),
            message: "another signature is the same".into(),
        });
    }
}

struct Checker<'a> {
    func: &'a Function,
    module: Option<&'a Module>,
    errors: Vec<VerifyError>,
    /// Position of each instruction in its block. `u32::MAX` if the instruction is in no block of the layout.
    order: SecondaryMap<Inst, u32>,
    in_layout: SecondaryMap<Block, bool>,
}

impl<'a> Checker<'a> {
    fn new(func: &'a Function, module: Option<&'a Module>) -> Self {
        Checker {
            func,
            module,
            errors: Vec::new(),
            order: SecondaryMap::with_default(u32::MAX),
            in_layout: SecondaryMap::new(),
        }
    }

    fn error(&mut self, place: Place, message: impl Into<String>) {
        let text = match place {
            Place::Inst(inst) => text::instruction(self.func, inst, self.module),
            _ => String::new(),
        };
        self.errors.push(VerifyError { name: self.func.name.clone(), place, text, message: message.into() });
    }

    /// Records an error unless `ok`.
    fn check(&mut self, ok: bool, place: Place, message: &str) {
        if !ok {
            self.error(place, message);
        }
    }

    /// Runs the groups of checks one after the other. Stops after a group that finds errors if later groups
    /// rely on what this group checks.
    fn run(&mut self) {
        self.kernel();
        self.slots();
        if self.func.linkage == Linkage::Extern {
            let ok = self.func.layout.is_empty() && self.func.slots.is_empty();
            self.check(ok, Place::Function, "a function of another object has no code");
            return;
        }
        self.structure();
        if !self.errors.is_empty() {
            return;
        }
        let cfg = Cfg::new(self.func);
        self.check(!cfg.is_irreducible(), Place::Function, "a loop has a second entry");
        let entry = self.func.entry();
        self.check(cfg.preds(entry).is_empty(), Place::Block(entry), "a branch goes back to the entry");
        self.uses(&cfg);
        if !self.errors.is_empty() {
            return;
        }
        for &block in &self.func.layout {
            for &inst in self.func.blocks[block].insts() {
                self.operation(inst);
            }
        }
    }

    fn kernel(&mut self) {
        let Some(kernel) = &self.func.kernel else { return };
        self.check(self.func.results.is_empty(), Place::Function, "a kernel has no results");
        self.check(self.func.linkage == Linkage::Local, Place::Function, "a kernel is visible as it is");
        if let Some(&entry) = self.func.layout.first() {
            let params = self.func.blocks.get(entry).map_or(0, |b| b.params.len(&self.func.pool));
            self.check(params == 0, Place::Block(entry), "a kernel's entry has no parameters");
        }
        for param in &kernel.params {
            let inside = param.offset.checked_add(param.size).is_some_and(|end| end <= kernel.kernarg_size);
            let aligned = param.align.is_power_of_two() && param.offset.is_multiple_of(param.align);
            if !inside || !aligned {
                let message =
                    format!("argument `{}` is unaligned or outside the kernarg segment", param.name);
                self.error(Place::Function, message);
            }
        }
        let product = |size: [u32; 3]| size.into_iter().try_fold(1, u32::checked_mul).unwrap_or(u32::MAX);
        let required = kernel.reqd_workgroup_size.map(product);
        let fits = |size: &u32| (1..=MAX_WORKGROUP).contains(size);
        if !required.iter().chain(&kernel.max_workgroup_size).all(fits) {
            let message = format!("a work-group has 1 to {MAX_WORKGROUP} work-items");
            self.error(Place::Function, message);
        }
        let state = kernel.state;
        let lanes = state.wave_size.is_none_or(|lanes| matches!(lanes, 32 | 64));
        self.check(lanes, Place::Function, "a wavefront has 32 or 64 lanes");
        let implicit = state.implicit_args.is_none_or(|bytes| bytes <= InitialState::MAX_IMPLICIT_ARGS);
        self.check(implicit, Place::Function, "no code object has so many hidden arguments");
    }

    fn slots(&mut self) {
        for (slot, data) in self.func.slots.iter() {
            self.check(
                data.align.is_power_of_two(),
                Place::Slot(slot),
                "the alignment is not a power of two",
            );
        }
    }

    fn structure(&mut self) {
        let func = self.func;
        self.check(!func.layout.is_empty(), Place::Function, "there is no entry block");
        for &block in &func.layout {
            if !func.blocks.is_valid(block) {
                self.error(Place::Block(block), "the layout names a block that does not exist");
            } else if std::mem::replace(&mut self.in_layout[block], true) {
                self.error(Place::Block(block), "the layout names the block twice");
            }
        }
        if !self.errors.is_empty() {
            return;
        }
        for &block in &func.layout {
            for (n, &param) in func.params(block).iter().enumerate() {
                let ok =
                    func.values.is_valid(param) && func.values[param].def == ValueDef::Param(block, n as u16);
                self.check(ok, Place::Block(block), "a parameter does not know its place");
            }
            let count = func.blocks[block].insts().len();
            self.check(count > 0, Place::Block(block), "the block is empty");
            for (n, &inst) in func.blocks[block].insts().iter().enumerate() {
                self.placement(block, inst, n as u32, n + 1 == count);
            }
        }
    }

    fn placement(&mut self, block: Block, inst: Inst, n: u32, last: bool) {
        let func = self.func;
        if !func.insts.is_valid(inst) {
            return self.error(Place::Block(block), "the block holds an instruction that does not exist");
        }
        let place = Place::Inst(inst);
        let data = &func.insts[inst];
        self.check(data.block == block, place, "the instruction names another block as its place");
        self.check(self.order[inst] == u32::MAX, place, "the instruction is in two places");
        self.order[inst] = n;
        for (n, value) in func.results_of(inst).enumerate() {
            let ok =
                func.values.is_valid(value) && func.values[value].def == ValueDef::Result(inst, n as u16);
            self.check(ok, place, "a result does not know its instruction");
        }
        match (data.op.is_terminator(), last) {
            (true, false) => self.error(place, "a terminator is not the last instruction"),
            (false, true) => self.error(place, "the block does not end in a terminator"),
            _ => {}
        }
        if let Op::Switch(switch) = data.op
            && !self.switch(inst, switch)
        {
            return;
        }
        for which in 0..func.branch_count(inst) {
            let ok = func
                .branch_target(inst, which)
                .is_some_and(|to| func.blocks.is_valid(to) && self.in_layout[to]);
            self.check(ok, place, "the target is not in the layout");
        }
        if let Op::Br { then_args, .. } = data.op {
            let ok = func.args(inst).len() > usize::from(then_args);
            self.check(ok, place, "the branch has fewer arguments than it says");
        }
    }

    /// Returns whether the parts of a switch (cases, edges and arguments) are consistent with each other.
    /// Records an error if they are not. The other checks rely on this consistency.
    fn switch(&mut self, inst: Inst, switch: Switch) -> bool {
        let func = self.func;
        let place = Place::Inst(inst);
        let Some(data) = func.switches.get(switch) else {
            self.error(place, "the switch has no cases");
            return false;
        };
        let count = func.args(inst).len() as u32;
        let ok = data.edges.first().is_some_and(|first| first.args_end >= 1)
            && data.edges.is_sorted_by_key(|edge| edge.args_end)
            && data.edges.last().is_some_and(|last| last.args_end == count);
        self.check(ok, place, "the arguments are not those of the successors");
        let max = func.args(inst).first().and_then(|&v| func.values.get(v)).map_or(0, |v| mask(v.ty));
        let ordered = data.cases.is_sorted_by(|a, b| a.hi < b.lo);
        let sound =
            |case: &Case| case.lo <= case.hi && case.hi <= max && (case.edge as usize) < data.edges.len();
        let ok = ordered && data.cases.iter().all(sound);
        self.check(ok, place, "the cases are not in order, overlap, or do not fit the operand");
        true
    }

    fn uses(&mut self, cfg: &Cfg) {
        let func = self.func;
        let dom = DomTree::new(cfg);
        for &block in &func.layout {
            for &inst in func.blocks[block].insts() {
                for &value in func.args(inst) {
                    if !func.values.is_valid(value) {
                        self.error(Place::Inst(inst), format!("{value} does not exist"));
                    } else if cfg.is_reachable(block) && !self.dominates(&dom, value, block, inst) {
                        let message = format!("the definition of {value} does not come before this use");
                        self.error(Place::Inst(inst), message);
                    }
                }
            }
        }
    }

    fn dominates(&self, dom: &DomTree, value: Value, block: Block, user: Inst) -> bool {
        match self.func.values[value].def {
            ValueDef::Param(home, n) => {
                self.func.blocks.is_valid(home)
                    && self.in_layout[home]
                    && self.func.params(home).get(usize::from(n)) == Some(&value)
                    && dom.dominates(home, block)
            }
            ValueDef::Result(inst, _) => {
                let at = self.order[inst];
                if at == u32::MAX {
                    return false;
                }
                let home = self.func.insts[inst].block;
                if home == block { at < self.order[user] } else { dom.dominates(home, block) }
            }
        }
    }

    /// Returns the callee, if there is a module. Records an error if the module does not contain the callee.
    fn callee(&mut self, inst: Inst, callee: FuncId) -> Option<&'a Function> {
        let module = self.module?;
        let found = module.funcs.get(callee);
        self.check(found.is_some(), Place::Inst(inst), "the callee does not exist");
        found
    }
}
