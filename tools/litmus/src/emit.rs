//! Writes the assembler source of a test case.
//!
//! In each thread, `v[2n:2n+1]` has the address of variable `n`, and `v(8+n)` is register `rn` of the shape.
//! Constants are in registers from `v16` on. GFX6 and GFX7 access global memory through a buffer descriptor
//! in `s[4:7]` that covers all memory.

use crate::matrix::{Case, Home, Space};
use crate::sequences::{Deletion, Operation, Token, What, opencl_omits, tokens};
use crate::shape::{Change, Order, Semantics, Shape, Statement};
use isa::{Feature, ModFlags, Target};
use std::fmt::Write;

/// Distance between variables in bytes. It is large enough that no two variables share a cache line.
pub(crate) const STRIDE: u64 = 256;
const RESULTS: usize = 8;
const CONSTANTS: usize = 16;
const NEXT: usize = 31;
const VGPRS: usize = 32;

/// Returns the constants for which a statement needs registers, in the order of these registers. Most
/// statements need at most one. A compare-and-swap needs two: the new value and the expected value.
fn constants(statement: &Statement) -> Vec<u32> {
    match statement {
        Statement::Rmw { change: Change::Cas { expected }, value, .. } => vec![*value, *expected],
        Statement::Store { value, .. } | Statement::Rmw { value, .. } => vec![*value],
        _ => Vec::new(),
    }
}

/// Returns the address of a variable. `base` is the address of the first global variable.
pub(crate) fn address(case: &Case, base: u64, variable: usize) -> u64 {
    let offset = variable as u64 * STRIDE;
    match case.layout.home(variable) {
        Home::GenericLocal => u64::from(sim::weak::LDS_APERTURE) << 32 | offset,
        Home::Local => offset,
        Home::Global | Home::GenericGlobal => base + offset,
    }
}

struct Emitter<'a> {
    shape: &'a Shape,
    case: &'a Case,
    base: u64,
    deleted: Option<Deletion>,
    /// The words that can be left out of the sequences in this source.
    words: Vec<Deletion>,
    text: String,
    constants: usize,
    labels: String,
    /// Address space that the current fence names.
    fence_space: Option<Space>,
}

/// Returns the assembler source of all threads, as kernels `t0`, `t1`, and so on, and the words of the
/// guide's sequences that the source contains. A word is one wait, invalidation or cache bit of a sequence.
/// Global variables start at address `base`. The word `deleted`, if given, is left out of the sequences, to
/// test whether the word is necessary.
pub fn source(shape: &Shape, case: &Case, base: u64, deleted: Option<Deletion>) -> (String, Vec<Deletion>) {
    let mut emitter = Emitter {
        shape,
        case,
        base,
        deleted,
        words: Vec::new(),
        text: String::new(),
        constants: 0,
        labels: String::new(),
        fence_space: None,
    };
    let waves = waves(shape, case);
    for (number, steps) in waves.iter().enumerate() {
        emitter.wave(number, steps);
    }
    for number in 0..waves.len() {
        emitter.descriptor(number);
    }
    let Emitter { mut words, text, .. } = emitter;
    words.sort();
    words.dedup();
    (text, words)
}

/// The kind of instruction that accesses a variable.
enum Access {
    /// LDS instructions.
    Ds,
    /// FLAT instructions.
    Flat,
    /// `global_*` instructions.
    Global,
    /// `buffer_*` instructions with a 64-bit address.
    Buffer,
}

/// A step of a wave: the active lane, and the statement that it executes.
type Step<'a> = (u32, &'a Statement);

/// Returns the steps of each wave.
fn waves<'a>(shape: &'a Shape, case: &Case) -> Vec<Vec<Step<'a>>> {
    let Some(sequence) = &case.sequence else {
        let all = |thread: &'a Vec<Statement>| thread.iter().map(|statement| (0, statement)).collect();
        return shape.threads.iter().map(all).collect();
    };
    let mut threads: Vec<_> = shape.threads.iter().map(|thread| thread.iter()).collect();
    let next = |&thread: &usize| Some((thread as u32, threads[thread].next()?));
    vec![sequence.iter().filter_map(next).collect()]
}

impl Emitter<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text}");
    }

    fn target(&self) -> &'static Target {
        self.case.machine.target
    }

    /// Returns the kind of instruction that accesses a variable.
    fn access(&self, variable: usize) -> Access {
        match self.case.layout.space(variable) {
            Space::Local => Access::Ds,
            Space::Generic => Access::Flat,
            _ if self.target().has(Feature::GLOBAL_INSTS) => Access::Global,
            _ if self.target().arch.layout.has_flag(ModFlags::ADDR64) => Access::Buffer,
            _ => Access::Flat,
        }
    }

    /// Writes a wave that executes `steps`. In each step, only one lane is active.
    fn wave(&mut self, number: usize, steps: &[Step<'_>]) {
        let _ = writeln!(self.text, ".text\n.p2align 8\n.type t{number},@function\nt{number}:");
        for variable in 0..self.shape.variables.len() {
            self.address(variable);
        }
        if self.target().arch.addressing.lds_needs_m0 {
            // LDS accesses beyond the limit in M0 fail, so M0 is set to the largest value.
            self.line("s_mov_b32 m0, -1");
        }
        for (register, value) in [(4, "0"), (5, "0"), (6, "-1"), (7, "0xf000")] {
            self.line(&format!("s_mov_b32 s{register}, {value}"));
        }
        for register in 0..self.shape.registers.len() {
            self.line(&format!("v_mov_b32 v{}, -1", RESULTS + register));
        }
        self.constants = CONSTANTS;
        for (_, statement) in steps {
            for value in constants(statement) {
                self.line(&format!("v_mov_b32 v{}, {value:#x}", self.constants));
                self.constants = (self.constants + 1).min(NEXT - 1);
            }
        }
        self.constants = CONSTANTS;
        self.labels = format!("t{number}");
        let mut active = None;
        for (lane, statement) in steps {
            if self.case.sequence.is_some() && active.replace(lane) != Some(lane) {
                let (exec, size) = if self.wave32() { ("exec_lo", 32) } else { ("exec", 64) };
                self.line(&format!("s_mov_b{size} {exec}, {}", 1 << lane));
            }
            self.statement(statement);
        }
        self.line("s_endpgm");
    }

    fn wave32(&self) -> bool {
        self.case.machine.target.wave_size == 32
    }

    fn address(&mut self, variable: usize) {
        let address = address(self.case, self.base, variable);
        self.line(&format!("v_mov_b32 v{}, {:#x}", variable * 2, address as u32));
        self.line(&format!("v_mov_b32 v{}, {:#x}", variable * 2 + 1, address >> 32));
    }

    fn descriptor(&mut self, number: usize) {
        let _ = writeln!(self.text, ".rodata\n.p2align 6\n.amdhsa_kernel t{number}");
        for (name, value) in [
            ("group_segment_fixed_size", 2048),
            ("next_free_vgpr", VGPRS),
            ("next_free_sgpr", 16),
            ("system_sgpr_workgroup_id_x", 0),
        ] {
            self.line(&format!(".amdhsa_{name} {value}"));
        }
        if self.target().has(Feature::UNIFIED_VGPRS) {
            self.line(&format!(".amdhsa_accum_offset {VGPRS}"));
        }
        let _ = writeln!(self.text, ".end_amdhsa_kernel");
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Load { register, how, variable } => {
                let result = RESULTS + register;
                self.sequence(What::Load, *how, Some(*variable), false, |emitter, bits| {
                    emitter.load(result, *variable, bits)
                });
            }
            Statement::Store { how, variable, .. } => {
                let data = self.constant();
                self.sequence(What::Store, *how, Some(*variable), false, |emitter, bits| {
                    emitter.store(data, *variable, bits)
                });
            }
            Statement::StoreNext { how, variable, register } => {
                // The register is used next, so the load must be complete. The sequence of the load may not
                // contain a wait, so one is added.
                self.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
                self.line(&format!("v_mad_u32_u24 v{NEXT}, v{}, 1, 1", RESULTS + register));
                self.sequence(What::Store, *how, Some(*variable), false, |emitter, bits| {
                    emitter.store(NEXT, *variable, bits)
                });
            }
            Statement::Rmw { register, change, how, variable, .. } => {
                let (result, data) = (register.map(|register| RESULTS + register), self.constant());
                if let Change::Cas { .. } = change {
                    self.constant();
                }
                self.sequence(What::Rmw, *how, Some(*variable), result.is_none(), |emitter, _| {
                    emitter.rmw(*change, result, data, *variable)
                });
            }
            Statement::Fence { how, space } => {
                self.fence_space = *space;
                self.sequence(What::Fence, *how, None, false, |_, _| String::new());
            }
            Statement::Barrier => self.line("s_barrier"),
            Statement::Label(name) => {
                let label = format!("{}_{name}:", self.labels);
                self.line(&label);
            }
            Statement::Until { register, value, label } => {
                let vcc = if self.wave32() { "vcc_lo" } else { "vcc" };
                // The register is compared next, so the load must be complete. The sequence of the load may
                // not contain a wait, so one is added.
                self.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
                self.line(&format!("v_cmp_ne_u32 {vcc}, {value:#x}, v{}", RESULTS + register));
                self.line("s_nop 4");
                self.line(&format!("s_cbranch_vccnz {}_{label}", self.labels));
            }
            Statement::Code(text) => {
                let mut text = text.clone();
                for (number, name) in self.shape.variables.iter().enumerate() {
                    text = text.replace(&format!("{{{name}}}"), &self.pointer(number));
                }
                for register in 0..self.shape.registers.len() {
                    text = text.replace(&format!("{{r{register}}}"), &format!("v{}", RESULTS + register));
                }
                self.line(&text);
            }
        }
    }

    fn constant(&mut self) -> usize {
        self.constants = (self.constants + 1).min(NEXT);
        self.constants - 1
    }

    /// Returns the registers that hold a variable's address.
    fn pointer(&self, variable: usize) -> String {
        match self.case.layout.space(variable) {
            Space::Local => format!("v{}", variable * 2),
            _ => format!("v[{}:{}]", variable * 2, variable * 2 + 1),
        }
    }

    /// Writes an operation with the instructions that LLVM's AMDGPU guide requires around it. A fence has no
    /// variable. It orders accesses to global memory and to LDS, so it has no address space either.
    fn sequence(
        &mut self,
        what: What,
        how: Semantics,
        variable: Option<usize>,
        silent: bool,
        operation: impl Fn(&Self, &str) -> String,
    ) {
        let space = variable.map(|variable| self.case.layout.space(variable));
        let scope = how.scope.unwrap_or(self.case.scope);
        let meant = Operation { what, order: how.order, scope, space, silent };
        let separate = self.shape.one_as && how.order < Order::SeqCst;
        let ordered = if what == What::Fence { self.fence_space } else { space };
        for (token, deletion) in tokens(&self.case.machine, meant) {
            if separate && matches!(&token, Token::Word(word) if opencl_omits(what, ordered, word)) {
                continue;
            }
            if let Token::Op { glc, dlc } = token {
                let mut bits = String::new();
                for word in
                    [("glc", glc), ("dlc", dlc)].into_iter().filter_map(|(bit, set)| set.then_some(bit))
                {
                    let deletion = Deletion { word, ..deletion };
                    self.words.push(deletion);
                    if self.deleted != Some(deletion) {
                        bits = bits + " " + word;
                    }
                }
                let text = operation(self, &bits);
                self.line(&text);
                continue;
            }
            self.words.push(deletion);
            if self.deleted != Some(deletion) {
                self.line(deletion.instruction(&self.case.machine));
            }
        }
    }

    fn load(&self, result: usize, variable: usize, bits: &str) -> String {
        let pointer = self.pointer(variable);
        match self.access(variable) {
            Access::Ds => format!("ds_read_b32 v{result}, {pointer}"),
            Access::Flat => {
                format!("flat_load_dword v{result}, {pointer}{bits}")
            }
            Access::Buffer => {
                format!("buffer_load_dword v{result}, {pointer}, s[4:7], 0 addr64{bits}")
            }
            Access::Global => format!("global_load_dword v{result}, {pointer}, off{bits}"),
        }
    }

    fn store(&self, data: usize, variable: usize, bits: &str) -> String {
        let pointer = self.pointer(variable);
        match self.access(variable) {
            Access::Ds => format!("ds_write_b32 {pointer}, v{data}"),
            Access::Flat => {
                format!("flat_store_dword {pointer}, v{data}{bits}")
            }
            Access::Buffer => {
                format!("buffer_store_dword v{data}, {pointer}, s[4:7], 0 addr64{bits}")
            }
            Access::Global => format!("global_store_dword {pointer}, v{data}, off{bits}"),
        }
    }

    /// Returns the text of an atomic read-modify-write instruction. If `result` is given, the instruction
    /// returns the old value.
    fn rmw(&self, change: Change, result: Option<usize>, data: usize, variable: usize) -> String {
        let pointer = self.pointer(variable);
        let (name, operands) = match change {
            Change::Swap => ("swap", format!("v{data}")),
            Change::Add => ("add", format!("v{data}")),
            Change::Cas { .. } => ("cmpswap", format!("v[{data}:{}]", data + 1)),
        };
        let returned = result.map_or(String::new(), |result| format!("v{result}, "));
        let glc = if result.is_some() { " glc" } else { "" };
        match self.access(variable) {
            Access::Ds => {
                let form = if result.is_some() { "_rtn" } else { "" };
                let (name, data) = match change {
                    Change::Swap => (format!("wrxchg{form}_b32"), format!("v{data}")),
                    Change::Add => (format!("add{form}_u32"), format!("v{data}")),
                    Change::Cas { .. } => (format!("cmpst{form}_b32"), format!("v{}, v{data}", data + 1)),
                };
                format!("ds_{name} {returned}{pointer}, {data}")
            }
            Access::Flat => {
                format!("flat_atomic_{name} {returned}{pointer}, {operands}{glc}")
            }
            // A buffer atomic returns the old value in its data register.
            Access::Buffer => {
                let access = |operands: &str| {
                    format!("buffer_atomic_{name} {operands}, {pointer}, s[4:7], 0 addr64{glc}")
                };
                match (result, change) {
                    (None, _) => access(&operands),
                    (Some(result), Change::Cas { .. }) => {
                        format!("{}\n  s_waitcnt vmcnt(0)\n  v_mov_b32 v{result}, v{data}", access(&operands))
                    }
                    (Some(result), _) => {
                        format!("v_mov_b32 v{result}, v{data}\n  {}", access(&format!("v{result}")))
                    }
                }
            }
            Access::Global => format!("global_atomic_{name} {returned}{pointer}, {operands}, off{glc}"),
        }
    }
}
