//! Writes a case as input for the compiler: the text of its intermediate representation.
//!
//! All threads are one kernel, whose first argument is the number of the thread that a wave executes. The
//! further arguments are the addresses of the variables and, for each register of the shape, the address to
//! which its value is stored at the end.
//!
//! The source location of each instruction is the number of its statement. Instructions that the compiler
//! inserts can thus be traced to their statement.

use crate::matrix::{Case, Home, Space};
use crate::shape::{Change, Order, Semantics, Shape, Statement};
use std::fmt::Write;

/// Name of the kernel.
pub(crate) const KERNEL: &str = "threads";
/// Size of an argument in bytes.
const ARGUMENT: usize = 8;

/// Returns the offset of a variable's argument in the kernel argument segment.
pub(crate) fn variable_argument(variable: usize) -> usize {
    ARGUMENT * (1 + variable)
}

/// Returns the offset of the argument that has the address for a register's result.
pub(crate) fn result_argument(shape: &Shape, register: usize) -> usize {
    ARGUMENT * (1 + shape.variables.len() + register)
}

/// Returns the size of all arguments in bytes.
pub(crate) fn arguments(shape: &Shape) -> usize {
    result_argument(shape, shape.registers.len())
}

struct Writer<'a> {
    shape: &'a Shape,
    case: &'a Case,
    text: String,
    values: usize,
    blocks: usize,
    /// What the current thread uses: the SSA values that are the addresses of the variables, the SSA values
    /// of the registers, and the blocks of the labels.
    addresses: Vec<usize>,
    registers: Vec<Option<usize>>,
    labels: Vec<(String, usize)>,
    /// Number of the current statement.
    at: usize,
}

/// Returns the text of a module with one kernel; `None` if a statement is machine code.
pub fn ir(shape: &Shape, case: &Case) -> Option<String> {
    if shape.threads.iter().flatten().any(|statement| matches!(statement, Statement::Code(_))) {
        return None;
    }
    let mut writer = Writer {
        shape,
        case,
        text: format!("kernel @{KERNEL} {{\n"),
        values: 2,
        blocks: 1,
        addresses: Vec::new(),
        registers: Vec::new(),
        labels: Vec::new(),
        at: 0,
    };
    for argument in 0..arguments(shape) / ARGUMENT {
        let (at, name) = (argument * ARGUMENT, format!("a{argument}"));
        writer
            .line(&format!("param {name:?} \"u64\" u64 x 1 by_value at {at} size 8 align 8 pointee_align 0"));
    }
    writer.line(&format!("kernarg_size {}", arguments(shape)));
    let _ = writeln!(writer.text, "b0:");
    writer.line("v0 = kernarg_ptr.ptr.constant");
    match &case.sequence {
        Some(sequence) => writer.lanes(sequence),
        None => writer.waves(),
    }
    writer.text += "}\n";
    Some(writer.text)
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "    {text}");
    }

    /// Writes an instruction of the current statement.
    fn inst(&mut self, text: &str) {
        let _ = writeln!(self.text, "    {text} !{}", self.at);
    }

    /// Writes an instruction with a result. Returns the number of the result value.
    fn value(&mut self, text: &str) -> usize {
        let value = self.values;
        self.values += 1;
        self.inst(&format!("v{value} = {text}"));
        value
    }

    fn constant(&mut self, value: u32) -> usize {
        self.value(&format!("const.i32 {value}"))
    }

    fn new_block(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    fn begin(&mut self, block: usize) {
        let _ = writeln!(self.text, "b{block}:");
    }

    /// Writes the threads as waves; the first kernel argument selects the thread.
    fn waves(&mut self) {
        let shape = self.shape;
        let blocks: Vec<usize> = shape.threads.iter().map(|_| self.new_block()).collect();
        self.line("v1 = load.i32 b32 constant [v0] align 16 invariant");
        let arms: Vec<String> =
            blocks.iter().enumerate().map(|(thread, block)| format!("{thread} -> b{block}")).collect();
        self.line(&format!("switch v1, b{} [ {} ]", blocks[0], arms.join(", ")));
        for (thread, statements) in shape.threads.iter().enumerate() {
            self.begin(blocks[thread]);
            self.start();
            for statement in statements {
                self.at += 1;
                self.statement(statement);
            }
            self.results(thread);
            self.line("ret");
        }
    }

    /// Writes the threads as lanes of one wave. `sequence` has, for each statement in the order of execution,
    /// the lane that executes it.
    fn lanes(&mut self, sequence: &[usize]) {
        let shape = self.shape;
        self.start();
        let lane = self.value("lane_id.i32");
        let mut threads: Vec<_> = shape.threads.iter().map(|thread| thread.iter()).collect();
        for &thread in sequence {
            let Some(statement) = threads[thread].next() else { continue };
            self.at += 1;
            let after = self.only(lane, thread);
            self.statement(statement);
            self.join(after);
        }
        for thread in 0..shape.threads.len() {
            let after = self.only(lane, thread);
            self.results(thread);
            self.join(after);
        }
        self.line("ret");
    }

    /// Begins a block that only lane number `thread` executes. Returns the block in which all lanes continue
    /// afterwards.
    fn only(&mut self, lane: usize, thread: usize) -> usize {
        let number = self.constant(thread as u32);
        let there = self.value(&format!("icmp.eq v{lane}, v{number}"));
        let (inside, after) = (self.new_block(), self.new_block());
        let passed = arguments_of(&self.registers);
        self.inst(&format!("br v{there}, b{inside}, b{after}{passed}"));
        self.begin(inside);
        after
    }

    /// Begins the block in which all lanes continue. Its parameters are the new values of the registers: the
    /// values of the lane that executed the last block, or the previous values.
    fn join(&mut self, after: usize) {
        let passed = arguments_of(&self.registers);
        self.inst(&format!("jump b{after}{passed}"));
        let mut parameters = Vec::new();
        for register in &mut self.registers {
            *register = Some(self.values);
            parameters.push(format!("v{}: i32", self.values));
            self.values += 1;
        }
        let parameters =
            if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
        let _ = writeln!(self.text, "b{after}{parameters}:");
    }

    /// Starts a thread: loads the addresses of the variables, and resets the registers. If the threads are
    /// lanes, registers start as 0, because a lane may skip the statement that defines them.
    fn start(&mut self) {
        self.addresses.clear();
        self.labels.clear();
        for variable in 0..self.shape.variables.len() {
            let from = variable_argument(variable);
            let load = match self.case.layout.home(variable) {
                Home::Global => format!("load.ptr.global b64 constant [v0 + {from}]"),
                Home::Local => format!("load.ptr.shared b32 constant [v0 + {from}]"),
                _ => format!("load.ptr.generic b64 constant [v0 + {from}]"),
            };
            let address = self.value(&format!("{load} align 8 invariant"));
            self.addresses.push(address);
        }
        let lanes = self.case.sequence.is_some();
        let count = self.shape.registers.len();
        self.registers = (0..count).map(|_| lanes.then(|| self.constant(0))).collect();
    }

    /// Stores the registers of a thread to memory, the last register first. The wait before this first store
    /// also covers all other registers. So if an acquire is wrong, the test shows a wrong order of memory
    /// accesses, and not a register that has not been written.
    fn results(&mut self, thread: usize) {
        for register in (0..self.registers.len()).rev() {
            if self.shape.registers[register] != thread {
                continue;
            }
            let Some(value) = self.registers[register] else { continue };
            let from = result_argument(self.shape, register);
            let to = self.value(&format!("load.ptr.global b64 constant [v0 + {from}] align 8 invariant"));
            self.inst(&format!("store b32 global [v{to}], v{value} align 4"));
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Load { register, how, variable } => {
                let (place, order) = (self.space_and_address(*variable), self.order(*how));
                self.registers[*register] = Some(self.value(&format!("load.i32 b32 {place} align 4{order}")));
            }
            Statement::Store { how, variable, value } => {
                let value = self.constant(*value);
                self.store(*how, *variable, value);
            }
            Statement::StoreNext { how, variable, register } => {
                let one = self.constant(1);
                let Some(old) = self.registers[*register] else { return };
                let next = self.value(&format!("add.i32 v{old}, v{one}"));
                self.store(*how, *variable, next);
            }
            Statement::Rmw { register, change, how, variable, value } => {
                let (place, order) = (self.space_and_address(*variable), self.order(*how));
                let value = self.constant(*value);
                let (name, operands) = match change {
                    Change::Swap => ("xchg", format!("v{value}")),
                    Change::Add => ("add", format!("v{value}")),
                    Change::Cas { expected } => {
                        let expected = self.constant(*expected);
                        ("cas", format!("v{expected}, v{value}"))
                    }
                };
                let fail =
                    if name == "cas" { format!(" fail {}", failing(how.order)) } else { String::new() };
                let access = format!("atomic_{name}.i32 b32 {place}, {operands} align 4{order}{fail}");
                let old = self.value(&access);
                if let Some(register) = register {
                    self.registers[*register] = Some(old);
                }
            }
            Statement::Fence { how, space } => {
                let scope = how.scope.unwrap_or(self.case.scope);
                let spaces = match space {
                    Some(Space::Global) => "global",
                    Some(Space::Local) => "shared",
                    _ => "global shared",
                };
                self.inst(&format!("fence {} {} {spaces}", how.order.name(), scope.name()));
            }
            Statement::Barrier => self.inst("barrier_only"),
            Statement::Label(name) => {
                let block = self.new_block();
                self.inst(&format!("jump b{block}"));
                self.begin(block);
                self.labels.push((name.clone(), block));
            }
            Statement::Until { register, value, label } => {
                let wanted = self.constant(*value);
                let Some(value) = self.registers[*register] else { return };
                let head =
                    self.labels.iter().rev().find(|(name, _)| name == label).map_or(0, |(_, head)| *head);
                let found = self.value(&format!("icmp.eq v{value}, v{wanted}"));
                let after = self.new_block();
                self.inst(&format!("br v{found}, b{after}, b{head}"));
                self.begin(after);
            }
            // [`ir`] returns `None` for such shapes.
            Statement::Code(_) => {}
        }
    }

    fn store(&mut self, how: Semantics, variable: usize, value: usize) {
        let (place, order) = (self.space_and_address(variable), self.order(how));
        self.inst(&format!("store b32 {place}, v{value} align 4{order}"));
    }

    /// Returns the address space and address of a variable.
    fn space_and_address(&self, variable: usize) -> String {
        let space = match self.case.layout.space(variable) {
            Space::Global => "global",
            Space::Local => "shared",
            Space::Generic => "generic",
        };
        format!("{space} [v{}]", self.addresses[variable])
    }

    fn order(&self, how: Semantics) -> String {
        let scope = how.scope.unwrap_or(self.case.scope);
        match how.order {
            Order::Plain => String::new(),
            order => {
                let separate = self.shape.one_as && order < Order::SeqCst;
                let flag = if separate { " one_as" } else { "" };
                format!("{flag} atomic {} {}", order.name(), scope.name())
            }
        }
    }
}

/// Returns the memory order that a compare-and-swap has if it fails. It then only loads, so the release part
/// of `order` is dropped.
fn failing(order: Order) -> &'static str {
    match order {
        Order::Acquire | Order::AcqRel => "acquire",
        Order::SeqCst => "seq_cst",
        _ => "relaxed",
    }
}

/// Returns the block arguments that pass the registers that have a value.
fn arguments_of(registers: &[Option<usize>]) -> String {
    let values: Vec<String> = registers.iter().flatten().map(|value| format!("v{value}")).collect();
    if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) }
}
