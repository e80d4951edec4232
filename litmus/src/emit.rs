//! Assembler source of a case.
//!
//! Registers of each thread: variable `n`'s address in `v[2n:2n+1]`, `rn` in `v(8+n)`, constants from `v16` on. GFX6 and
//! GFX7 reach global memory through a buffer of all memory in `s[4:7]`.

use crate::matrix::{Case, Layout, Space};
use crate::sequences::{Deletion, Token, What, tokens};
use crate::shape::{Change, Order, Shape, Statement};
use isa::target::Generation;
use std::fmt::Write;

/// Bytes between variables: no two share a cache line.
pub(crate) const STRIDE: u64 = 256;
const RESULTS: usize = 8;
const CONSTANTS: usize = 16;
const NEXT: usize = 31;
const VGPRS: usize = 32;

struct Emitter<'a> {
    shape: &'a Shape,
    case: &'a Case,
    base: u64,
    deleted: Option<Deletion>,
    /// What deletions there could be.
    words: Vec<Deletion>,
    text: String,
    constants: usize,
    labels: String,
}

/// The source of all threads, as kernels `t0`, `t1`, ..., with the words of the sequences that are in it. Global variables
/// are at `base`. `deleted` is left out wherever it would be.
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
    };
    let waves: Vec<Vec<usize>> = match &case.sequence {
        Some(sequence) => vec![sequence.clone()],
        None => (0..shape.threads.len()).map(|thread| vec![thread]).collect(),
    };
    for (number, threads) in waves.iter().enumerate() {
        emitter.wave(number, threads);
    }
    for number in 0..waves.len() {
        emitter.descriptor(number);
    }
    let Emitter { mut words, text, .. } = emitter;
    words.sort();
    words.dedup();
    (text, words)
}

impl Emitter<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text}");
    }

    fn generation(&self) -> Generation {
        self.case.machine.target.generation
    }

    /// A wave that does what these threads do, one after the other.
    fn wave(&mut self, number: usize, threads: &[usize]) {
        let _ = writeln!(self.text, ".text\n.p2align 8\n.type t{number},@function\nt{number}:");
        for variable in 0..self.shape.variables.len() {
            self.address(variable);
        }
        if self.generation() <= Generation::Gfx8 {
            // LDS beyond M0 cannot be reached.
            self.line("s_mov_b32 m0, -1");
        }
        for (register, value) in [(4, "0"), (5, "0"), (6, "-1"), (7, "0xf000")] {
            self.line(&format!("s_mov_b32 s{register}, {value}"));
        }
        for register in 0..self.shape.registers.len() {
            self.line(&format!("v_mov_b32 v{}, -1", RESULTS + register));
        }
        self.constants = CONSTANTS;
        let statements: Vec<Statement> =
            threads.iter().flat_map(|&thread| self.shape.threads[thread].clone()).collect();
        for statement in &statements {
            if let Statement::Store { value, .. } | Statement::Rmw { value, .. } = statement {
                self.line(&format!("v_mov_b32 v{}, {value:#x}", self.constants));
                self.constants = (self.constants + 1).min(NEXT - 1);
            }
        }
        self.constants = CONSTANTS;
        self.labels = format!("t{number}");
        for statement in &statements {
            self.statement(statement);
        }
        self.line("s_endpgm");
    }

    fn address(&mut self, variable: usize) {
        let offset = variable as u64 * STRIDE;
        let address = match (self.case.layout, self.case.layout.is_local(variable)) {
            (Layout::GenericLocal, _) => u64::from(sim::weak::LDS_APERTURE) << 32 | offset,
            (_, true) => offset,
            _ => self.base + offset,
        };
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
        let _ = writeln!(self.text, ".end_amdhsa_kernel");
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Load { register, order, variable } => {
                let result = RESULTS + register;
                self.sequence(What::Load, *order, Some(*variable), |emitter, bits| {
                    emitter.load(result, *variable, bits)
                });
            }
            Statement::Store { order, variable, .. } => {
                let data = self.constant();
                self.sequence(What::Store, *order, Some(*variable), |emitter, bits| {
                    emitter.store(data, *variable, bits)
                });
            }
            Statement::StoreNext { order, variable, register } => {
                // The register must be there before it is used, whatever the sequence says.
                self.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
                self.line(&format!("v_mad_u32_u24 v{NEXT}, v{}, 1, 1", RESULTS + register));
                self.sequence(What::Store, *order, Some(*variable), |emitter, bits| {
                    emitter.store(NEXT, *variable, bits)
                });
            }
            Statement::Rmw { register, change, order, variable, .. } => {
                let (result, data) = (RESULTS + register, self.constant());
                self.sequence(What::Rmw, *order, Some(*variable), |emitter, _| {
                    emitter.rmw(*change, result, data, *variable)
                });
            }
            Statement::Fence { order } => {
                self.sequence(What::Fence, *order, None, |_, _| String::new());
            }
            Statement::Barrier => self.line("s_barrier"),
            Statement::Label(name) => {
                let label = format!("{}_{name}:", self.labels);
                self.line(&label);
            }
            Statement::Until { register, value, label } => {
                let vcc = if self.case.machine.target.wave_size == 32 { "vcc_lo" } else { "vcc" };
                // The register must be there before it is looked at, whatever the sequence says.
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

    /// The registers of a variable's address.
    fn pointer(&self, variable: usize) -> String {
        match self.case.layout.space(variable) {
            Space::Local => format!("v{}", variable * 2),
            _ => format!("v[{}:{}]", variable * 2, variable * 2 + 1),
        }
    }

    /// An operation with what the guide puts around it. A fence has no address space: it is about both.
    fn sequence(
        &mut self,
        what: What,
        order: Order,
        variable: Option<usize>,
        operation: impl Fn(&Self, &str) -> String,
    ) {
        let space = variable.map_or(Space::Generic, |variable| self.case.layout.space(variable));
        for (token, deletion) in tokens(&self.case.machine, what, order, self.case.scope, space) {
            let word = match token {
                Token::Op { glc, dlc } => {
                    let bits = format!("{}{}", if glc { " glc" } else { "" }, if dlc { " dlc" } else { "" });
                    let text = operation(self, &bits);
                    self.line(&text);
                    continue;
                }
                Token::Word(word) => word,
            };
            self.words.push(deletion);
            if self.deleted == Some(deletion) {
                continue;
            }
            self.line(match word {
                "vm" => "s_waitcnt vmcnt(0)",
                "lgkm" => "s_waitcnt lgkmcnt(0)",
                "vs" => "s_waitcnt_vscnt null, 0x0",
                "inv" if self.generation() == Generation::Gfx6 => "buffer_wbinvl1",
                "inv" => "buffer_wbinvl1_vol",
                "inv0" => "buffer_gl0_inv",
                _ => "buffer_gl1_inv",
            });
        }
    }

    fn load(&self, result: usize, variable: usize, bits: &str) -> String {
        let pointer = self.pointer(variable);
        match (self.case.layout.space(variable), self.generation()) {
            (Space::Local, _) => format!("ds_read_b32 v{result}, {pointer}"),
            (Space::Generic, _) | (_, Generation::Gfx8) => {
                format!("flat_load_dword v{result}, {pointer}{bits}")
            }
            (_, Generation::Gfx6 | Generation::Gfx7) => {
                format!("buffer_load_dword v{result}, {pointer}, s[4:7], 0 addr64{bits}")
            }
            _ => format!("global_load_dword v{result}, {pointer}, off{bits}"),
        }
    }

    fn store(&self, data: usize, variable: usize, bits: &str) -> String {
        let pointer = self.pointer(variable);
        match (self.case.layout.space(variable), self.generation()) {
            (Space::Local, _) => format!("ds_write_b32 {pointer}, v{data}"),
            (Space::Generic, _) | (_, Generation::Gfx8) => {
                format!("flat_store_dword {pointer}, v{data}{bits}")
            }
            (_, Generation::Gfx6 | Generation::Gfx7) => {
                format!("buffer_store_dword v{data}, {pointer}, s[4:7], 0 addr64{bits}")
            }
            _ => format!("global_store_dword {pointer}, v{data}, off{bits}"),
        }
    }

    /// An atomic that returns what was there.
    fn rmw(&self, change: Change, result: usize, data: usize, variable: usize) -> String {
        let pointer = self.pointer(variable);
        let (name, local) = match change {
            Change::Swap => ("swap", "ds_wrxchg_rtn_b32"),
            Change::Add => ("add", "ds_add_rtn_u32"),
        };
        match (self.case.layout.space(variable), self.generation()) {
            (Space::Local, _) => format!("{local} v{result}, {pointer}, v{data}"),
            (Space::Generic, _) | (_, Generation::Gfx8) => {
                format!("flat_atomic_{name} v{result}, {pointer}, v{data} glc")
            }
            // Buffer atomics return into the register of their operand.
            (_, Generation::Gfx6 | Generation::Gfx7) => format!(
                "v_mov_b32 v{result}, v{data}\n  buffer_atomic_{name} v{result}, {pointer}, s[4:7], 0 addr64 glc"
            ),
            _ => format!("global_atomic_{name} v{result}, {pointer}, v{data}, off glc"),
        }
    }
}
