//! The effects of an instruction, as far as waits and hazards depend on them. They are computed once for each
//! instruction of a program.

use crate::counters::{self, Classes, FlatPath};
use crate::hazards::{self, Consumer, Producer};
use crate::mai::Mai;
use crate::regset::RegSet;
pub use isa::Counts as Waits;
use isa::table::{Family, Flags, Implicit, Role};
use isa::{Form, Lane, MachInst, ModFlags, Operand, Reg, RegRange, Target, op};

bitflags::bitflags! {
    /// Kinds of instructions, as a set of bits.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Kinds: u64 {
        /// Vector ALU instruction. Matrix instructions and interpolation are included.
        const VALU = 1;
        /// Scalar ALU.
        const SALU = 1 << 1;
        /// Instruction of program flow, or wait, in the SOPP encoding.
        const SOPP = 1 << 2;
        /// Scalar memory instruction.
        const SMEM = 1 << 3;
        /// Vector memory instruction with a descriptor: buffers, typed buffers, images.
        const VMEM = 1 << 4;
        /// Vector memory instruction without a descriptor: flat, global, scratch.
        const FLAT = 1 << 5;
        /// FLAT instruction that may access all address spaces.
        const FLAT_ANY = 1 << 6;
        /// LDS or GDS instruction.
        const DS = 1 << 7;
        /// DS instruction that accesses GDS.
        const GDS = 1 << 8;
        /// Export.
        const EXPORT = 1 << 9;
        /// The instruction `s_sendmsg`.
        const MESSAGE = 1 << 10;
        /// Instruction that writes memory. Atomics are included.
        const STORES = 1 << 11;
        /// Branch that stays within its function. Calls and returns are not branches here, because of the
        /// only rule that uses this kind (`lds-branch-vmem-war`). The rule comes from LLVM, which looks at
        /// one function at a time and itself generates code that breaks the rule at calls.
        const BRANCH = 1 << 12;
        /// Instruction that calls a function.
        const CALL = 1 << 13;
        /// The instruction `s_setpc_b64`.
        const SETPC = 1 << 14;
        /// Branch that reads `vccz`.
        const VCCZ_BRANCH = 1 << 15;
        /// Image instruction of GFX10 that needs a third dword in its encoding to name all address registers.
        const LONG_NSA = 1 << 16;
        /// Image instruction of GFX10 whose address is in non-consecutive registers (NSA).
        const NSA = 1 << 17;
        /// Float atomic in memory.
        const FP_ATOMIC = 1 << 18;
        /// `v_cmpx_*`.
        const CMPX = 1 << 19;
        /// `v_nop`.
        const V_NOP = 1 << 20;
        /// The `v_permlane*` instructions.
        const PERMLANE = 1 << 21;
        /// DPP.
        const DPP = 1 << 22;
        /// A wait instruction.
        const WAIT = 1 << 23;
        /// Scalar ALU instruction that does not mitigate the hazard [`crate::rdna::SMEM_VECTOR_WRITE`] of
        /// GFX10. All other scalar ALU instructions do.
        const NO_SALU_CHAIN = 1 << 24;
        /// VALU instruction that is not a matrix instruction.
        const PLAIN_VALU = 1 << 25;
        /// The instruction `s_barrier`.
        const BARRIER = 1 << 26;
        /// Instruction that ends the wave.
        const END = 1 << 27;
        /// Scalar instruction that writes EXEC in addition to its destination.
        const SAVEEXEC = 1 << 28;
        /// The instructions `v_readlane_b32` and `v_writelane_b32`.
        const LANE_SELECT = 1 << 29;
        /// The `v_div_fmas_*` instructions.
        const DIV_FMAS = 1 << 30;
        /// Instruction that takes an index from M0.
        const M0_INDEX = 1 << 31;
        /// Vector memory instruction that loads to LDS or stores from LDS.
        const TRANSFER = 1 << 32;
        /// LDS instruction that reads LDS.
        const READS_LDS = 1 << 33;
        /// Scalar store. Scalar atomics are not included, because they operate on the L2 cache and leave
        /// nothing in the scalar cache.
        const SCALAR_STORE = 1 << 34;
        /// Instruction that writes the scalar cache back.
        const WRITE_BACK = 1 << 35;
    }
}

/// The effects of an instruction, as far as waits and hazards depend on them.
#[derive(Clone, Debug)]
pub struct Effects {
    /// Registers that the instruction reads, including implicit ones.
    pub reads: RegSet,
    /// Registers that the instruction writes, including implicit ones.
    pub writes: RegSet,
    /// The registers of `reads` that the instruction reads when it is issued. A register is in `reads` but
    /// not here if a load writes only one half of it: the load preserves the other half when its result
    /// arrives.
    pub(crate) reads_at_issue: RegSet,
    held: ReadAfterIssue,
    /// Kind.
    pub kinds: Kinds,
    /// Whether the instruction is a memory operation with result registers.
    pub returns: bool,
    /// Whether the instruction is a memory operation that a wait counter counts.
    pub counts: bool,
    /// Number of the target of an export.
    pub export: u8,
    /// Classes of wait counters to which the operation belongs.
    pub classes: Classes,
    /// Counts for which the instruction waits.
    pub waits: Waits,
    /// The fields of `s_waitcnt_depctr` that hazards depend on: whether `vm_vsrc` is 0, and whether `sa_sdst`
    /// is 0.
    pub depctr: (bool, bool),
    /// Number of wait states that the instruction provides.
    pub states: u8,
    /// Additional wait states that the instruction provides because it takes long. The first number holds if
    /// any instruction follows, and the second if the next instruction on the matrix unit follows.
    pub(crate) extra: [u8; 2],
    /// Mask of the roles that the instruction has as the first instruction of a hazard. The bits are the
    /// numbers of [`Producer`].
    pub(crate) produces: u64,
    /// Mask of the roles that the instruction has as the second instruction of a hazard. The bits are the
    /// numbers of [`Consumer`].
    pub(crate) consumes: u64,
    /// Mask of the roles of first instructions that can cause a hazard with this instruction on the
    /// processor. The bits are the numbers of [`Producer`].
    pub(crate) fears: u64,
    /// Operand that matters for some hazards only: the lane select, the first source of DPP, or the data of a
    /// wide store.
    pub(crate) aux: RegRange,
    /// Hardware register that the instruction accesses, if it is `s_setreg` or `s_getreg`.
    hw: HwReg,
    /// What the instruction is and which operands it has, if it is a matrix instruction or a related
    /// instruction.
    pub(crate) mai: Mai,
    /// Whether the instruction may change or read `vccz`.
    pub(crate) vccz: bool,
    /// Opcode of the instruction.
    pub op: isa::Opcode,
}

/// Source registers that an operation reads after its issue. `expcnt` counts the operation until it has read
/// these registers.
#[derive(Clone, Copy, Debug)]
enum ReadAfterIssue {
    None,
    /// All VGPRs of the instruction are read after its issue.
    Vectors,
    /// The operation reads the data of a store after its issue.
    Data(RegRange),
}

/// Hardware register of `s_setreg` or `s_getreg`.
#[derive(Clone, Copy, Debug)]
struct HwReg {
    id: Option<u16>,
    /// Whether the bit field that the instruction accesses includes bit `vskip` of MODE.
    vskip: bool,
}

/// A range without registers.
const NO_REGISTER: RegRange = RegRange { first: Reg(0), len: 0 };

/// Returns the code that stands for hardware register `id` in sets of registers. With such a code, the hazard
/// rules treat a hardware register of `s_setreg` like an ordinary register.
pub(crate) const fn hw_reg(id: u16) -> RegRange {
    RegRange { first: Reg(192 + (id & 31)), len: 1 }
}
/// Register code that stands for bit `vskip` of MODE in sets of registers.
pub(crate) const VSKIP: RegRange = RegRange { first: Reg(224), len: 1 };
/// Register code for hazards that do not depend on a register. Both instructions of such a hazard have this
/// code among their registers, because a hazard needs a register that both access.
pub(crate) const ANYTHING: RegRange = RegRange { first: Reg(225), len: 1 };

impl Effects {
    /// Returns the effects of an instruction.
    pub fn from_inst(target: &Target, inst: &MachInst) -> Effects {
        let row = inst.op.row();
        let mut effects = Effects {
            reads: RegSet::EMPTY,
            writes: RegSet::EMPTY,
            reads_at_issue: RegSet::EMPTY,
            held: ReadAfterIssue::None,
            kinds: kinds(inst),
            returns: match row.flags.contains(Flags::ATOMIC) {
                true => inst.mods.flags.contains(ModFlags::GLC),
                false => !row.flags.contains(Flags::STORE),
            },
            counts: row.flags.intersects(Flags::VM.union(Flags::LGKM).union(Flags::EXP)),
            export: 0,
            classes: Classes::default(),
            waits: waits(target, inst),
            depctr: (false, false),
            states: states(target, inst),
            extra: [0; 2],
            produces: 0,
            consumes: 0,
            fears: 0,
            aux: NO_REGISTER,
            hw: HwReg { id: None, vskip: false },
            mai: Mai::from_inst(inst),
            vccz: false,
            op: inst.op,
        };
        effects.registers(target, inst);
        effects.auxiliary(target, inst);
        effects.extra = extra(&effects);
        let vcc = [Reg::VCC, Reg::VCC.offset(1)];
        effects.vccz = effects.kinds.intersects(Kinds::VCCZ_BRANCH | Kinds::SMEM)
            || effects.reads.contains(Reg::VCCZ)
            || vcc.iter().any(|&half| effects.writes.contains(half));
        if let (Family::Exp, Operand::Imm(export)) = (row.family, inst.ops[0]) {
            effects.export = export.clamp(0, 255) as u8;
        }
        if let (op::S_WAITCNT_DEPCTR, Operand::Imm(mask)) = (inst.op, inst.ops[0]) {
            effects.depctr = (mask >> 2 & 7 == 0, mask & 1 == 0);
        }
        effects.classes = counters::classes(target, &effects, FlatPath::Unknown);
        (effects.produces, effects.consumes) = hazards::roles(target, &effects, inst);
        effects
    }

    fn registers(&mut self, target: &Target, inst: &MachInst) {
        let loads = inst.op.row().flags.contains(Flags::LOAD) && !inst.op.row().flags.contains(Flags::ATOMIC);
        inst.for_each_hw_reg(target, |role, range| {
            self.touch(role, range);
            if role == Role::Use || role == Role::DefUse && !loads {
                self.reads_at_issue.insert(range);
            }
        });
        if self.kinds.intersects(Kinds::GDS | Kinds::EXPORT) {
            self.held = ReadAfterIssue::Vectors;
        }
    }

    fn touch(&mut self, role: Role, range: RegRange) {
        if role != Role::Def {
            self.reads.insert(range);
        }
        if role != Role::Use {
            self.writes.insert(range);
        }
    }

    fn auxiliary(&mut self, target: &Target, inst: &MachInst) {
        if self.kinds.contains(Kinds::LANE_SELECT) {
            if let Some(Operand::Reg(lane)) = inst.operands().get(2) {
                self.aux = *lane;
            }
        } else if self.kinds.contains(Kinds::DPP) {
            let first = inst.operands().iter().skip(1).find_map(|operand| match operand {
                Operand::Reg(range) if range.first.is_vgpr() => Some(*range),
                _ => None,
            });
            self.aux = first.unwrap_or(NO_REGISTER);
        } else if self.kinds.contains(Kinds::STORES) && self.kinds.intersects(Kinds::VMEM | Kinds::FLAT) {
            let data = store_data(inst);
            if target.arch.checks.store_data_counts {
                self.held = data.map_or(ReadAfterIssue::None, ReadAfterIssue::Data);
            }
            let wide = data.filter(|data| data.len > 2 && hazards::is_exposed_store(inst));
            self.aux = wide.unwrap_or(NO_REGISTER);
        }
        if matches!(inst.op, op::S_SETREG_B32 | op::S_SETREG_IMM32_B32 | op::S_GETREG_B32) {
            let field = inst.operands().iter().find_map(|operand| match operand {
                Operand::Imm(imm) => Some(*imm),
                _ => None,
            });
            let imm = field.unwrap_or(0);
            let (first, bits) = (imm >> 6 & 31, (imm >> 11 & 31) + 1);
            const MODE: i32 = 1;
            const VSKIP_BIT: i32 = 28;
            let vskip = imm & 63 == MODE && (first..first + bits).contains(&VSKIP_BIT);
            self.hw = HwReg { id: Some((imm & 63) as u16), vskip };
        }
    }

    /// Returns the source registers that the operation reads after its issue. `expcnt` counts the operation
    /// until it has read these registers.
    pub(crate) fn read_after_issue(&self) -> RegSet {
        match self.held {
            ReadAfterIssue::None => RegSet::EMPTY,
            ReadAfterIssue::Vectors => self.reads.and(&RegSet::VECTOR),
            ReadAfterIssue::Data(data) => RegSet::from_range(data),
        }
    }

    /// Returns the register code for the hardware register that the instruction accesses, if it is `s_setreg`
    /// or `s_getreg`.
    pub(crate) fn hw(&self) -> RegSet {
        let mut set = self.hw.id.map_or(RegSet::EMPTY, |id| RegSet::from_range(hw_reg(id)));
        if self.hw.vskip {
            set.insert(VSKIP);
        }
        set
    }

    /// Returns the destination registers of a memory operation, which are written when the operation
    /// completes.
    pub(crate) fn brought(&self) -> RegSet {
        match self.kinds.contains(Kinds::SMEM) {
            true => self.writes.and(&RegSet::SCALAR),
            false => self.writes.and(&RegSet::VECTOR),
        }
    }

    pub(crate) fn is(&self, producer: Producer) -> bool {
        self.produces >> producer as u32 & 1 != 0
    }

    pub(crate) fn is_consumer(&self, consumer: Consumer) -> bool {
        self.consumes >> consumer as u32 & 1 != 0
    }
}

/// Returns the registers with the data that a vector memory store writes to memory.
fn store_data(inst: &MachInst) -> Option<RegRange> {
    let row = inst.op.row();
    let buffer = matches!(row.family, Family::Mubuf | Family::Mtbuf | Family::Mimg);
    let mut vectors = inst.operands().iter().zip(row.ops).filter_map(|(operand, spec)| match operand {
        Operand::Reg(range) if range.first.is_vgpr() || range.first.is_agpr() => Some((spec, *range)),
        _ => None,
    });
    match buffer {
        true => match inst.ops[0] {
            Operand::Reg(range) if range.first.0 >= 256 => Some(range),
            _ => None,
        },
        false => vectors
            .find(|(spec, _)| spec.role == Role::Use && spec.kind == isa::table::Kind::Vgpr)
            .map(|(_, range)| range),
    }
}

fn kinds(inst: &MachInst) -> Kinds {
    let row = inst.op.row();
    let mut kinds = by_family(inst);
    let stores = row.flags.intersects(Flags::STORE.union(Flags::ATOMIC));
    kinds.set(Kinds::STORES, stores);
    let vector = kinds.intersects(Kinds::VMEM | Kinds::FLAT);
    kinds.set(Kinds::TRANSFER, vector && inst.mods.flags.contains(ModFlags::LDS));
    let reads_lds = row.flags.intersects(Flags::LOAD.union(Flags::ATOMIC));
    kinds.set(Kinds::READS_LDS, kinds.contains(Kinds::DS) && !kinds.contains(Kinds::GDS) && reads_lds);
    let scalar_store = kinds.contains(Kinds::SMEM) && row.flags.contains(Flags::STORE);
    kinds.set(Kinds::SCALAR_STORE, scalar_store && !row.flags.contains(Flags::ATOMIC));
    kinds.set(Kinds::WRITE_BACK, matches!(inst.op, op::S_DCACHE_WB | op::S_DCACHE_WB_VOL));
    kinds.set(Kinds::CALL, matches!(inst.op, op::S_SWAPPC_B64 | op::S_CALL_B64));
    let leaves = kinds.contains(Kinds::CALL) || crate::reader::is_return(inst);
    kinds.set(Kinds::BRANCH, row.flags.contains(Flags::BRANCH) && !leaves);
    let dpp = inst.form == Form::Dpp || matches!(inst.mods.lane, Lane::Dpp { .. } | Lane::Dpp8 { .. });
    kinds.set(Kinds::DPP, dpp);
    if kinds.intersects(Kinds::VMEM | Kinds::FLAT) && row.flags.contains(Flags::ATOMIC) {
        let float = ["_fadd", "_fmin", "_fmax", "_fcmpswap", "_add_f", "_min_f", "_max_f", "_pk_add"];
        kinds.set(Kinds::FP_ATOMIC, float.iter().any(|part| row.name.contains(part)));
    }
    kinds
}

/// Returns the kinds that follow from an instruction's encoding and name. Within each encoding, only the
/// names of this encoding are compared, because comparing names is slow and programs have many instructions.
fn by_family(inst: &MachInst) -> Kinds {
    let row = inst.op.row();
    let named = |kind: Kinds, prefix: &str| if row.name.starts_with(prefix) { kind } else { Kinds::empty() };
    let is = |kind: Kinds, condition: bool| if condition { kind } else { Kinds::empty() };
    const VECTOR: Kinds = Kinds::VALU.union(Kinds::PLAIN_VALU);
    match row.family {
        Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc => {
            Kinds::SALU
                | is(Kinds::SETPC, inst.op == op::S_SETPC_B64)
                | is(Kinds::SAVEEXEC, row.implicit.contains(Implicit::WRITE_EXEC))
                | named(Kinds::M0_INDEX, "s_movrel")
                | named(Kinds::WAIT | Kinds::NO_SALU_CHAIN, "s_waitcnt")
                | is(Kinds::NO_SALU_CHAIN, inst.op == op::S_SETVSKIP)
        }
        Family::Sopp => {
            Kinds::SOPP
                | Kinds::NO_SALU_CHAIN
                | is(Kinds::MESSAGE, matches!(inst.op, op::S_SENDMSG | op::S_SENDMSGHALT))
                | is(Kinds::VCCZ_BRANCH, matches!(inst.op, op::S_CBRANCH_VCCZ | op::S_CBRANCH_VCCNZ))
                | is(Kinds::BARRIER, inst.op == op::S_BARRIER)
                | named(Kinds::WAIT, "s_wait")
                | named(Kinds::END, "s_endpgm")
        }
        Family::Smem => Kinds::SMEM,
        Family::Vop1 => VECTOR | is(Kinds::V_NOP, matches!(inst.op, op::V_NOP | op::V_NOP_E64)),
        Family::Vopc => VECTOR | named(Kinds::CMPX, "v_cmpx"),
        Family::Vop2 | Family::Vop3 => {
            VECTOR
                | is(Kinds::V_NOP, inst.op == op::V_NOP_E64)
                | is(Kinds::LANE_SELECT, is_lane_select(inst.op))
                | is(Kinds::DIV_FMAS, matches!(inst.op, op::V_DIV_FMAS_F32 | op::V_DIV_FMAS_F64))
                | named(Kinds::PERMLANE, "v_permlane")
        }
        Family::Vop3p if row.name.starts_with("v_mfma") => Kinds::VALU,
        Family::Vop3p => VECTOR,
        Family::Vintrp => VECTOR | Kinds::M0_INDEX,
        Family::Mubuf | Family::Mtbuf => Kinds::VMEM,
        Family::Mimg => Kinds::VMEM | scattered(inst),
        Family::Flat => Kinds::FLAT | Kinds::FLAT_ANY,
        Family::Global | Family::Scratch => Kinds::FLAT | is(Kinds::M0_INDEX, row.name.contains("_addtid_")),
        Family::Ds => {
            let gds = inst.mods.flags.contains(ModFlags::GDS) || row.flags.contains(Flags::GDS_ONLY);
            Kinds::DS | is(Kinds::GDS, gds) | is(Kinds::M0_INDEX, row.name.contains("_addtid_"))
        }
        Family::Exp => Kinds::EXPORT,
        Family::Pseudo => Kinds::empty(),
    }
}

fn is_lane_select(opcode: isa::Opcode) -> bool {
    let in_vop3 = matches!(opcode, op::V_READLANE_B32 | op::V_WRITELANE_B32);
    in_vop3 || matches!(opcode, op::V_READLANE_B32_VOP2 | op::V_WRITELANE_B32_VOP2)
}

/// Returns the kinds that apply to an image instruction because its address is in non-consecutive registers
/// (NSA).
fn scattered(inst: &MachInst) -> Kinds {
    let lists = inst.operands().iter().filter_map(|operand| match operand {
        Operand::Scattered(list) => Some(list.numbers().len()),
        _ => None,
    });
    match lists.sum::<usize>() {
        0 => Kinds::empty(),
        1..=5 => Kinds::NSA,
        // The encoding needs a third dword for the address registers. The first two dwords name only the
        // first address register, and each further dword names four more.
        _ => Kinds::NSA | Kinds::LONG_NSA,
    }
}

/// Returns the counts for which an instruction waits.
fn waits(target: &Target, inst: &MachInst) -> Waits {
    if inst.op == op::S_WAIT_IDLE { Waits::ALL } else { target.waited(inst).unwrap_or(Waits::NONE) }
}

/// Returns the additional wait states of an instruction: see [`Effects::extra`]. No manual states them. They
/// come from LLVM's schedules: `WriteQuarterRate32`, and the resource `HWXDL` of matrix instructions.
fn extra(effects: &Effects) -> [u8; 2] {
    // The next matrix instruction has to wait until the matrix unit is free. A pass of the unit takes four
    // cycles, which is also the length of a wait state.
    if effects.mai.is_matrix() {
        return [0, effects.mai.passes.saturating_sub(1)];
    }
    match effects.op {
        op::V_MUL_LO_U32 | op::V_MUL_HI_U32 | op::V_MUL_HI_I32 => [3; 2],
        _ => [0; 2],
    }
}

/// Returns how many wait states an instruction provides: `n + 1` for `s_nop n`, none for a
/// pseudo-instruction, and one for any other instruction.
fn states(target: &Target, inst: &MachInst) -> u8 {
    match (inst.op, inst.ops[0]) {
        (op::S_NOP, Operand::Imm(count)) => count as u8 % target.arch.checks.nop_states + 1,
        _ if inst.op.row().family == Family::Pseudo => 0,
        _ => 1,
    }
}
