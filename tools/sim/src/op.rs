//! Decoded code. It has one [`Op`] (decoded instruction) for each dword of a code range, so that a program
//! counter can be used as an index.
//!
//! Every dword is decoded as if an instruction began there. An [`Op`] for a dword in the middle of an
//! instruction is never executed.

use crate::exec::atomic::Atomic;
use crate::exec::rules::{Denormals, Rules, rules};
use crate::exec::{self, Handler};
use isa::decode::{DecodeError, Decoder};
use isa::table::{Family, Flags, Num, Role, Row};
use isa::{Feature, Form, Lane, MachInst, ModFlags, Operand, Target};

/// A decoded source operand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Src {
    /// No operand.
    #[default]
    None,
    /// A vector register, by its index in `Wave::vgpr`. VGPRs have indices from 0 on, and accumulation VGPRs
    /// from 256 on. This is the first register of an operand that is wider than one dword.
    V(u16),
    /// A scalar register, by its index in `Wave::sgpr`, which is also its code in a source field. SGPRs and
    /// special registers have indices below 128.
    S(u8),
    /// A constant of up to 64 bits. Immediate fields of an instruction are constants, too; they are
    /// sign-extended.
    K(u64),
    /// A register that has no stored value; its value is computed when an instruction reads it. The number is
    /// its code in a source field (235 to 254).
    Special(u16),
}

/// Register code that stands for "no register".
pub(crate) const NONE: u16 = u16::MAX;
/// Code of the first VGPR.
pub(crate) const VGPR0: u16 = 256;
/// Code of the first accumulation VGPR.
pub(crate) const AGPR0: u16 = 512;
/// Index of an element of `Wave::sgpr` that receives results which a program cannot read, such as those
/// written to `null`. It is the first index that no operand can name.
pub(crate) const SINK: u16 = 128;

/// Classes of instructions that the statistics count separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    Salu,
    Valu,
    Smem,
    Vmem,
    Lds,
    Flow,
}

/// One decoded instruction.
#[derive(Clone)]
pub(crate) struct Op {
    pub(crate) run: Handler,
    /// The handler of the instruction itself. The handler in `run` may be a wrapper that prepares a source or
    /// checks the result; the wrapper then calls `inner`.
    pub(crate) inner: Handler,
    /// The source operands. The sources that the assembler lists come first. Then come the tied destinations,
    /// whose old values the instruction also reads.
    pub(crate) src: [Src; 4],
    /// Code of the first register of the first destination, with the same numbers as in a source field.
    pub(crate) dst: u16,
    /// Code of the first register of the second destination, with the same numbers as in a source field.
    pub(crate) dst2: u16,
    /// Number of VGPRs that the wave must have, which is one more than the highest VGPR number among the
    /// operands.
    pub(crate) vgprs: u16,
    /// Number of accumulation VGPRs that the wave must have.
    pub(crate) agprs: u16,
    /// Number of SGPRs that the wave must have.
    pub(crate) sgprs: u16,
    /// Number of VGPRs of the widest operand.
    pub(crate) widest: u8,
    /// Length of the encoded instruction in dwords.
    pub(crate) len: u8,
    pub(crate) class: Class,
    /// What the instruction does with memory, if it is an atomic.
    pub(crate) atomic: Atomic,
    pub(crate) atomic64: bool,
    /// Whether the instruction reads a clock. Its result then differs each time. A loop that contains the
    /// instruction therefore never comes back to the same state.
    pub(crate) reads_clock: bool,
    /// Offset field of a memory instruction.
    pub(crate) offset: i32,
    pub(crate) flags: ModFlags,
    pub(crate) neg: u8,
    pub(crate) abs: u8,
    pub(crate) omod: u8,
    pub(crate) op_sel: u8,
    pub(crate) op_sel_hi: u8,
    /// Whether a source has modifiers, such as negation.
    pub(crate) src_modified: bool,
    /// Whether the sources can be used as they are in the registers: no source has modifiers, and none has to
    /// be changed for another reason. Denormals are still flushed, if MODE says so.
    pub(crate) src_plain: bool,
    /// Whether the result is changed after the computation, for example clamped, before it is written to the
    /// destination.
    pub(crate) dst_modified: bool,
    pub(crate) lane: Lane,
    pub(crate) rules: Rules,
}

impl Op {
    fn blank(run: Handler) -> Op {
        Op {
            run,
            inner: run,
            src: [Src::None; 4],
            dst: NONE,
            dst2: NONE,
            vgprs: 0,
            agprs: 0,
            sgprs: 0,
            widest: 0,
            len: 1,
            class: Class::Flow,
            atomic: Atomic::default(),
            atomic64: false,
            reads_clock: false,
            offset: 0,
            flags: ModFlags::empty(),
            neg: 0,
            abs: 0,
            omod: 0,
            op_sel: 0,
            op_sel_hi: 0,
            src_modified: false,
            src_plain: true,
            dst_modified: false,
            lane: Lane::None,
            rules: Rules::default(),
        }
    }

    pub(crate) fn clamp(&self) -> bool {
        self.flags.contains(ModFlags::CLAMP)
    }

    /// Returns source `at` if it is an immediate, and 0 otherwise.
    pub(crate) fn imm(&self, at: usize) -> i64 {
        match self.src[at] {
            Src::K(value) => value as i64,
            _ => 0,
        }
    }

    fn decode(decoder: &Decoder, words: &[u32]) -> Op {
        match read(decoder, words) {
            Ok((inst, len)) => Op::from_inst(decoder.target(), &inst, len),
            Err(_) => Op::blank(exec::unsupported),
        }
    }

    fn from_inst(target: &'static Target, inst: &MachInst, len: usize) -> Op {
        let row = inst.op.row();
        let handler = exec::handler(target, row, inst);
        let mut op = Op::blank(handler.unwrap_or(exec::unsupported));
        op.len = len as u8;
        op.class = class(row);
        op.reads_clock =
            matches!(row.name, "s_memtime" | "s_memrealtime") || row.name.starts_with("s_getreg");
        let mut sources = 0;
        for tied in [false, true] {
            for (operand, spec) in inst.operands().iter().zip(row.ops) {
                if !tied && spec.role != Role::Use {
                    op.set_destination(target, *operand);
                }
                let here = if tied { spec.role == Role::DefUse } else { spec.role == Role::Use };
                if here && sources < op.src.len() {
                    // In a packed integer instruction, a float constant is encoded as an f32, of which
                    // `op_sel` selects one half. For example, clang 19 writes the pair of halves 0 and 0x3f80
                    // as `1.0`.
                    let packed =
                        row.family == Family::Vop3p && matches!(spec.num, Num::I16 | Num::U16 | Num::B16);
                    let num = if packed { Num::B32 } else { spec.num };
                    op.src[sources] = source(target, *operand, num, spec.width);
                    sources += 1;
                }
            }
        }
        // The emulator refuses an instruction without handler when it would execute it. The registers of such
        // an instruction are not counted. Otherwise the emulator might report a missing register instead of
        // the refusal.
        if handler.is_some() {
            inst.operands().iter().for_each(|operand| op.count_registers(*operand, target));
        }
        op.widest = inst.operands().iter().map(|operand| vgpr_count(*operand)).max().unwrap_or(0);
        op.rules = rules(target, row);
        exec::lds_direct::prepare(&mut op);
        op.set_modifiers(inst);
        op.flags = cache_flags(target, row, op.flags);
        if row.flags.contains(Flags::ATOMIC) {
            op.atomic = Atomic::of_name(row.name).unwrap_or_default();
            let in_memory = row.family != Family::Ds;
            op.atomic64 = in_memory && (row.name.ends_with("_x2") || row.name.ends_with("_f64"));
            if in_memory && !inst.mods.flags.contains(ModFlags::GLC) {
                op.dst = NONE;
            }
        }
        exec::poll::prepare(&mut op, row.flags.contains(Flags::ATOMIC));
        op
    }

    fn set_destination(&mut self, target: &Target, operand: Operand) {
        if let Operand::Reg(range) = operand {
            let code = if discards(target, range.first.0) { SINK } else { range.first.0 };
            if self.dst == NONE {
                self.dst = code;
            } else if self.dst2 == NONE {
                self.dst2 = code;
            }
        }
    }

    /// Increases the numbers of registers that the wave must have, if the registers of an operand are beyond
    /// them.
    fn count_registers(&mut self, operand: Operand, target: &Target) {
        let Operand::Reg(range) = operand else { return };
        let end = range.first.0 + u16::from(range.len);
        match range.first.0 {
            AGPR0.. => self.agprs = self.agprs.max(end - AGPR0),
            VGPR0.. => self.vgprs = self.vgprs.max(end - VGPR0),
            _ if target.is_sgpr(range.first) => self.sgprs = self.sgprs.max(end),
            _ => {}
        }
    }

    fn set_modifiers(&mut self, inst: &MachInst) {
        let mods = &inst.mods;
        self.offset = mods.offset;
        self.flags = mods.flags;
        (self.neg, self.abs, self.omod) = (mods.neg, mods.abs, mods.omod);
        (self.op_sel, self.op_sel_hi) = (mods.op_sel, mods.op_sel_hi);
        if inst.op.family() == Family::Mtbuf {
            self.lane = mods.lane;
        }
        if inst.op.row().is_valu() {
            self.lane = mods.lane;
            let lanes = !matches!(mods.lane, Lane::None) || matches!(inst.form, Form::Sdwa | Form::Dpp);
            self.src_modified = lanes || mods.neg != 0 || mods.abs != 0 || mods.op_sel & 7 != 0;
            self.dst_modified =
                lanes || mods.omod != 0 || mods.op_sel & 8 != 0 || self.clamp() || self.rules.keep_high;
        }
        self.src_plain = !self.src_modified && self.rules.denormals != Denormals::Flush;
    }
}

/// Returns the flags of an instruction with the cache bits in the meaning that they have without scopes. On
/// processors with scopes, a load or store whose scope is wider than the wave bypasses the first-level cache
/// (CDNA 3 ISA, "Memory Scopes"), as `glc` makes a load do on other processors.
pub(crate) fn cache_flags(target: &Target, row: &Row, flags: ModFlags) -> ModFlags {
    let has_scope = target.has(Feature::SCOPES)
        && row.is_vmem()
        && !row.flags.contains(Flags::ATOMIC)
        && flags.intersects(ModFlags::GLC | ModFlags::SCC);
    if has_scope { flags | ModFlags::GLC } else { flags }
}

/// Returns the number of VGPRs of an operand.
fn vgpr_count(operand: Operand) -> u8 {
    match operand {
        Operand::Reg(range) if range.first.0 >= VGPR0 => range.len,
        _ => 0,
    }
}

/// Returns whether a register is always zero: reads return zero, and writes are discarded. This holds for
/// `null`, and for the registers of the trap handler, which no other code can access (Vega ISA, "Trap and
/// Exception registers").
fn discards(target: &Target, code: u16) -> bool {
    match code {
        108..=123 => true,
        _ => target.arch.registers.null.is_some_and(|null| null.0 == code),
    }
}

fn class(row: &Row) -> Class {
    match row.family {
        Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc => Class::Salu,
        Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 | Family::Vop3p => Class::Valu,
        Family::Smem => Class::Smem,
        Family::Mubuf | Family::Mtbuf | Family::Flat | Family::Global | Family::Scratch => Class::Vmem,
        Family::Ds => Class::Lds,
        Family::Pseudo | Family::Sopp => Class::Flow,
        #[allow(unreachable_patterns)]
        _ => Class::Flow,
    }
}

fn source(target: &Target, operand: Operand, num: Num, width: u8) -> Src {
    // Whether the two dwords of the operand are a single value of 64 bits. If they are two f32 or two untyped
    // dwords instead, a constant gives each of the two the value that it has for one dword.
    let wide = num.is_wide() || width == 2 && !matches!(num, Num::F32 | Num::B32);
    match operand {
        Operand::Reg(range) => match range.first.0 {
            code if discards(target, code) => Src::K(0),
            code @ 0..128 => Src::S(code as u8),
            code @ VGPR0.. => Src::V(code - VGPR0),
            code => Src::Special(code),
        },
        Operand::Inline(code) => Src::K(inline(code, num, wide)),
        Operand::Literal(bits) => Src::K(match num {
            // For an operand of type f64, a 32-bit literal is the high half of the value, and the low half is
            // zero (Vega ISA, "Instruction Encodings", literal constants).
            Num::F64 => u64::from(bits) << 32,
            Num::I64 => i64::from(bits as i32) as u64,
            _ => u64::from(bits),
        }),
        Operand::Imm(value) => Src::K(i64::from(value) as u64),
        _ => Src::None,
    }
}

/// Returns the value of an inline constant, which is a small integer or one of nine floats. A float is in the
/// format of the operand.
fn inline(code: u16, num: Num, wide: bool) -> u64 {
    const FLOATS: [(u16, u32, u64); 9] = [
        (0x3800, 0x3f00_0000, 0x3fe0_0000_0000_0000),
        (0xb800, 0xbf00_0000, 0xbfe0_0000_0000_0000),
        (0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000),
        (0xbc00, 0xbf80_0000, 0xbff0_0000_0000_0000),
        (0x4000, 0x4000_0000, 0x4000_0000_0000_0000),
        (0xc000, 0xc000_0000, 0xc000_0000_0000_0000),
        (0x4400, 0x4080_0000, 0x4010_0000_0000_0000),
        (0xc400, 0xc080_0000, 0xc010_0000_0000_0000),
        (0x3118, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
    ];
    match code {
        128..=192 => u64::from(code - 128),
        193..=208 => (192 - i64::from(code)) as u64,
        240..=248 => {
            let (half, single, double) = FLOATS[usize::from(code - 240)];
            match num {
                Num::F16 | Num::B16 | Num::I16 | Num::U16 | Num::V2F16 => u64::from(half),
                _ if wide => double,
                _ => u64::from(single),
            }
        }
        _ => 0,
    }
}

/// Decodes an instruction in the way of the hardware: the values of unused bits are ignored.
fn read(decoder: &Decoder, words: &[u32]) -> Result<(MachInst, usize), DecodeError> {
    decoder.decode(words).or_else(|_| decoder.decode_tolerant(words))
}

/// A range of code, with its decoded instructions.
pub(crate) struct Code {
    /// Emulated address of the first dword.
    pub(crate) base: u64,
    /// Address of the first dword in the file.
    pub(crate) file_base: u64,
    pub(crate) words: Vec<u32>,
    pub(crate) ops: Vec<Op>,
    /// Whether the code contains 64-bit atomics.
    pub(crate) atomic64: bool,
}

impl Code {
    pub(crate) fn new(target: &'static Target, base: u64, file_base: u64, words: Vec<u32>) -> Code {
        let Some(decoder) = Decoder::new(target) else {
            let ops = vec![Op::blank(exec::unsupported); words.len()];
            return Code { base, file_base, words, ops, atomic64: false };
        };
        let ops: Vec<Op> = (0..words.len()).map(|at| Op::decode(&decoder, &words[at..])).collect();
        let atomic64 = ops.iter().any(|op| op.atomic64);
        Code { base, file_base, words, ops, atomic64 }
    }

    /// Returns the index of the instruction at an address, or `None` if the address is not in this code
    /// range.
    pub(crate) fn index(&self, address: u64) -> Option<u32> {
        let distance = address.wrapping_sub(self.base);
        let index = distance / 4;
        (distance.is_multiple_of(4) && index < self.words.len() as u64).then_some(index as u32)
    }

    /// Returns why the emulator refuses to run the instruction at an index, or `None` if there is no
    /// particular reason.
    pub(crate) fn refusal(&self, target: &Target, index: u32) -> Option<&'static str> {
        let words = self.words.get(index as usize..).unwrap_or(&[]);
        let (inst, _) = read(&Decoder::new(target)?, words).ok()?;
        exec::refusal(inst.op.row(), inst.mods.flags)
    }

    /// Returns the instruction at an index as text.
    pub(crate) fn text(&self, target: &Target, index: u32) -> String {
        let words = self.words.get(index as usize..).unwrap_or(&[]);
        let read = Decoder::new(target).map(|decoder| read(&decoder, words));
        match read.unwrap_or(Err(DecodeError::Unknown)) {
            Ok((inst, _)) => {
                let mut text = String::new();
                isa::print::write_inst(target, &inst, None, &mut text);
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
            Err(_) => words.first().map_or("(end of code)".into(), |word| format!(".long {word:#010x}")),
        }
    }
}
