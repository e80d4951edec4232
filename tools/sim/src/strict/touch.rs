//! The "touch" of an instruction: which registers and memory the instruction accesses, in the form that
//! strict mode needs. The touch of each instruction is computed once.

use super::calls::Transfer;
use super::flight::Left;
use crate::op::{VGPR0, cache_flags};
use isa::decode::Decoder;
use isa::table::{Family, Flags, Implicit, Kind, Role, Row};
use isa::{MachInst, ModFlags, Operand, Reg, RegRange, Target};

/// A range of consecutive VGPRs, given by their indices in `Wave::vgpr`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: u16,
    pub(super) len: u8,
}

impl Run {
    pub(super) fn registers(self) -> impl Iterator<Item = usize> {
        usize::from(self.first)..usize::from(self.first) + usize::from(self.len)
    }
}

/// A short list of ranges of VGPRs, without heap allocation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Runs {
    len: u8,
    runs: [Run; 6],
}

impl Runs {
    fn push(&mut self, run: Run) {
        if let Some(place) = self.runs.get_mut(usize::from(self.len)) {
            *place = run;
            self.len += 1;
        }
    }

    pub(super) fn as_slice(&self) -> &[Run] {
        &self.runs[..usize::from(self.len)]
    }

    /// Returns each register of the ranges, with its index in its range. A range holds one operand, so the
    /// index says which dword of the operand the register holds: the first register holds dword 0.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, usize)> {
        self.as_slice()
            .iter()
            .flat_map(|run| run.registers().enumerate().map(|(part, register)| (register, part)))
    }

    pub(super) fn registers(&self) -> impl Iterator<Item = usize> {
        self.as_slice().iter().flat_map(|run| run.registers())
    }
}

/// How the checks treat an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// The results depend only on registers. To find out which results depend on undefined bits, the module
    /// `defined` may therefore run the handler again with other inputs.
    Pure,
    /// A branch whose direction depends on registers.
    Branch,
    /// A jump to an address in registers.
    Jump,
    /// M0 selects some registers of the instruction (register indexing). The checks do not know which, so
    /// they do not follow the values of these registers.
    Indexed,
    /// The instruction reads or writes memory.
    Memory(Memory),
    /// A wait instruction, such as `s_waitcnt`.
    Wait,
    Barrier,
    /// Any other instruction. Its results count as defined.
    Other,
}

/// Kind of a memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Load,
    Store,
    Atomic,
}

/// The wait counters that count a memory operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Queues {
    /// `vmcnt`.
    pub(super) vm: bool,
    /// `vscnt`.
    pub(super) vs: bool,
    /// `lgkmcnt`.
    pub(super) lgkm: bool,
    /// Whether the instruction may complete before older instructions that the same counter counts. Scalar
    /// and FLAT memory instructions may.
    pub(super) unordered: bool,
    /// Whether the instruction is a transfer: a vector memory instruction that loads to LDS or stores from
    /// LDS. `vmcnt` counts it although it accesses LDS.
    pub(super) transfer: bool,
}

/// The bits of a register that a load writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The load writes whole dwords.
    Whole,
    /// The load writes the whole register. It extends the loaded bytes to 32 bits, with their sign or with
    /// zeros.
    Extended { bytes: u8, signed: bool },
    /// The load writes the low half of the register. The high half keeps its old value.
    Low { bytes: u8, signed: bool },
    /// The load writes the high half of the register. The low half keeps its old value.
    High { bytes: u8, signed: bool },
}

/// How an instruction reads values from other lanes. Strict mode reports a read from an inactive lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shuffle {
    /// The instruction reads no values from other lanes, or may read them from inactive lanes as well.
    None,
    /// The instruction is `ds_bpermute_b32`.
    Backward,
    /// The instruction is `ds_swizzle_b32`.
    Swizzle,
    /// The instruction uses data-parallel primitives (DPP).
    Dpp {
        /// Whether the instruction is `v_mov_b32`.
        is_move: bool,
    },
}

/// The registers and memory that one instruction accesses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) class: Class,
    /// VGPRs that the instruction reads as data, such as the data operands of a store or an atomic. VGPRs
    /// that hold an address are in `address`.
    pub(super) reads: Runs,
    /// VGPRs from which the instruction takes an address.
    pub(super) address: Runs,
    pub(super) writes: Runs,
    /// Mask of the SGPRs and special registers below 128 that the instruction reads.
    pub(super) scalar_reads: u128,
    pub(super) scalar_address: u128,
    pub(super) scalar_writes: u128,
    pub(super) reads_scc: bool,
    pub(super) writes_scc: bool,
    pub(super) writes_exec: bool,
    /// Whether the lanes of the instruction are not independent: lanes read the values of other lanes, or the
    /// instruction acts on inactive lanes as well. The registers of all lanes then count as read.
    pub(super) across: bool,
    pub(super) shuffle: Shuffle,
    /// Whether the instruction is an `s_or_saveexec_b64`, and the instruction after it deactivates some of
    /// the lanes again. Compilers use this pair to switch to the other side of a branch.
    pub(super) adds_lanes_to_flip: bool,
    /// Whether the instruction writes every lane, regardless of EXEC.
    pub(super) ignores_exec: bool,
    pub(super) queues: Queues,
    pub(super) part: Part,
    /// Whether this is a DS instruction that accesses LDS.
    pub(super) lds: bool,
    /// Whether the instruction reads the register FLAT_SCRATCH. A FLAT instruction reads it only if its
    /// address is in scratch.
    pub(super) flat_scratch: bool,
    pub(super) glc: bool,
    /// Whether this is an atomic that returns the old value.
    pub(super) returns: bool,
    /// Whether this is a FLAT instruction, whose address decides which kind of memory it accesses.
    pub(super) is_flat: bool,
    /// A rule that this instruction breaks by itself, whatever comes before and after it. `None` if it breaks
    /// no such rule.
    pub(super) single: Option<&'static check::EventRule>,
    /// Not 0 for a scalar load that is an error because its destination overlaps its address registers. After
    /// a page fault, the hardware may replay a part of this load, with an address that the first part has
    /// overwritten. The value is the number of bytes that the instruction loads.
    pub(super) own_address: u8,
    /// Whether the instruction writes FLAT_SCRATCH with `s_setreg`, on a processor where FLAT_SCRATCH is not
    /// an SGPR.
    pub(super) sets_flat_scratch: bool,
    /// Whether the instruction uses the scalar cache.
    pub(super) is_scalar: bool,
    /// Whether the instruction ends the wave.
    pub(super) ends: bool,
    /// If the instruction is a wait, how many operations it leaves in flight.
    pub(super) left: Left,
    /// Whether and how the instruction calls or returns.
    pub(super) transfer: Transfer,
    /// The registers in the short form that the fast path uses. Only present if this is a plain instruction.
    pub(super) plain: Option<Plain>,
}

/// Maximum number of VGPRs that a plain instruction may read. The next constant is the maximum number that it
/// may write. An instruction with more VGPRs is not plain, and does not get the fast path.
const PLAIN_READS: usize = 4;
const PLAIN_WRITES: usize = 2;

/// Value that stands for no VGPR.
const NO_VGPR: u16 = u16::MAX;

/// The registers of a plain instruction, for a fast path. Most instructions are plain: they access only
/// registers, act on each active lane separately, do not change EXEC, and neither call nor return. The
/// structure fits in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Plain {
    pub(super) scalar_reads: u128,
    pub(super) scalar_writes: u128,
    /// VGPRs that the instruction reads. Unused elements are [`NO_VGPR`].
    pub(super) reads: [u16; PLAIN_READS],
    pub(super) writes: [u16; PLAIN_WRITES],
    pub(super) reads_scc: bool,
    pub(super) writes_scc: bool,
}

impl Plain {
    fn from_touch(touch: &Touch) -> Option<Plain> {
        let is_unusual = touch.across
            || touch.writes_exec
            || touch.ends
            || touch.sets_flat_scratch
            || touch.is_flat
            || touch.single.is_some()
            || touch.shuffle != Shuffle::None
            || touch.transfer != Transfer::None;
        let is_plain = matches!(touch.class, Class::Pure | Class::Branch) && !is_unusual;
        is_plain.then_some(())?;
        Some(Plain {
            scalar_reads: touch.scalar_reads,
            scalar_writes: touch.scalar_writes,
            reads: few(&touch.reads)?,
            writes: few(&touch.writes)?,
            reads_scc: touch.reads_scc,
            writes_scc: touch.writes_scc,
        })
    }
}

/// Returns the registers of `runs` as an array. Unused elements are [`NO_VGPR`]. Returns `None` if there are
/// more than `MOST` registers.
fn few<const MOST: usize>(runs: &Runs) -> Option<[u16; MOST]> {
    let mut few = [NO_VGPR; MOST];
    for (at, register) in runs.registers().enumerate() {
        *few.get_mut(at)? = register as u16;
    }
    Some(few)
}

const M0_BIT: u128 = 1 << Reg::M0.0;
pub(super) const EXEC_BITS: u128 = 3 << Reg::EXEC.0;

impl Touch {
    fn nothing() -> Touch {
        Touch {
            class: Class::Other,
            reads: Runs::default(),
            address: Runs::default(),
            writes: Runs::default(),
            scalar_reads: 0,
            scalar_address: 0,
            scalar_writes: 0,
            reads_scc: false,
            writes_scc: false,
            writes_exec: false,
            across: false,
            shuffle: Shuffle::None,
            adds_lanes_to_flip: false,
            ignores_exec: false,
            queues: Queues::default(),
            part: Part::Whole,
            lds: false,
            flat_scratch: false,
            glc: false,
            returns: false,
            is_flat: false,
            single: None,
            own_address: 0,
            sets_flat_scratch: false,
            is_scalar: false,
            ends: false,
            left: Left::default(),
            transfer: Transfer::None,
            plain: None,
        }
    }

    pub(super) fn from_inst(target: &Target, inst: &MachInst) -> Touch {
        let row = inst.op.row();
        let class = class(row, inst);
        let mut touch = Touch { class, ..Touch::nothing() };
        let is_memory = matches!(class, Class::Memory(_));
        let mut first_vgpr = true;
        for (index, &operand) in inst.operands().iter().enumerate() {
            let Operand::Reg(range) = operand else { continue };
            let kind = row.ops.get(index).map(|spec| spec.kind);
            let role = inst.role(index);
            // In DS instructions the address is the first VGPR operand.
            let is_ds_address = row.family == Family::Ds
                && role == Role::Use
                && std::mem::take(&mut first_vgpr)
                && !row.flags.contains(Flags::NO_ADDR);
            let is_address = is_memory
                && role == Role::Use
                && (is_ds_address
                    || matches!(
                        kind,
                        Some(Kind::Vaddr | Kind::Saddr | Kind::SmemOffset | Kind::Sgpr | Kind::Ssrc)
                    ));
            // Operand 0 of a scalar store is an SGPR, too, but it holds the data to store and is not part of
            // the address.
            let is_address = is_address && !(row.family == Family::Smem && index == 0 && stores_data(row));
            touch.add(role, range, is_address);
        }
        touch.transfer = transfer(row, inst);
        touch.implicit(target, row, inst);
        touch.memory(target, row, inst);
        let immediate = inst.operands().iter().find_map(|operand| match operand {
            Operand::Imm(value) => Some(*value as u32),
            _ => None,
        });
        if class == Class::Wait {
            touch.left = Left::from_wait(target, row.name, immediate.unwrap_or(0));
        }
        // The instruction sets FLAT_SCRATCH if it writes the hardware register HW_REG_FLAT_SCR_LO or
        // HW_REG_FLAT_SCR_HI.
        touch.sets_flat_scratch =
            row.name.starts_with("s_setreg") && matches!(immediate.unwrap_or(0) & 63, 20 | 21);
        touch
    }

    /// Returns the mask of the lanes whose registers the instruction reads.
    pub(super) fn lanes_read(&self, exec: u64) -> u64 {
        if self.across { u64::MAX } else { exec }
    }

    fn add(&mut self, role: Role, range: RegRange, is_address: bool) {
        let (reads, writes) = (role != Role::Def, role != Role::Use);
        if range.first == Reg::SCC {
            self.reads_scc |= reads;
            self.writes_scc |= writes;
        } else if range.first.0 >= VGPR0 {
            let run = Run { first: range.first.0 - VGPR0, len: range.len };
            if reads && is_address {
                self.address.push(run);
            } else if reads {
                self.reads.push(run);
            }
            if writes {
                self.writes.push(run);
            }
        } else if range.first == Reg::VCCZ || range.first == Reg::EXECZ {
            // A read of VCCZ counts as a read of VCC. A read of EXECZ needs no check, because EXEC is never
            // undefined: writing an undefined value to EXEC is an error that is reported at the write.
            self.scalar_reads |= if range.first == Reg::VCCZ { 3 << Reg::VCC.0 } else { 0 };
        } else if range.first.0 < 128 {
            let bits = bits(range);
            if reads && is_address {
                self.scalar_address |= bits;
            } else if reads {
                self.scalar_reads |= bits;
            }
            if writes {
                self.scalar_writes |= bits;
            }
        }
    }

    fn implicit(&mut self, target: &Target, row: &Row, inst: &MachInst) {
        let implicit = inst.implicit();
        self.reads_scc |= implicit.contains(Implicit::READ_SCC);
        self.writes_scc |= implicit.contains(Implicit::WRITE_SCC);
        // A lane mask of a wave of 32 lanes is only the low SGPR.
        let mask: u128 = if target.wave_size == 32 { 1 } else { 3 };
        if implicit.contains(Implicit::READ_VCC) {
            self.scalar_reads |= mask << Reg::VCC.0;
        }
        if implicit.contains(Implicit::WRITE_VCC) {
            self.scalar_writes |= mask << Reg::VCC.0;
        }
        if implicit.contains(Implicit::WRITE_EXEC) {
            self.scalar_writes |= mask << Reg::EXEC.0;
        }
        if implicit.contains(Implicit::WRITE_M0) {
            self.scalar_writes |= M0_BIT;
        }
        if implicit.contains(Implicit::READ_M0) {
            match self.class {
                Class::Memory(_) => self.scalar_address |= M0_BIT,
                _ => self.scalar_reads |= M0_BIT,
            }
        }
        self.shuffle = shuffle(row, inst);
        self.adds_lanes_to_flip = row.name.starts_with("s_or_saveexec");
        self.writes_exec = self.scalar_writes & EXEC_BITS != 0;
        let matrix = row.name.starts_with("v_mfma");
        self.ignores_exec = row.flags.contains(Flags::NO_EXEC) || matrix;
        self.across = self.ignores_exec
            || !matches!(inst.mods.lane, isa::Lane::None | isa::Lane::Sdwa { .. })
            || row.family == Family::Ds
            || row.name.contains("permlane");
    }

    fn memory(&mut self, target: &Target, row: &Row, inst: &MachInst) {
        let flags = cache_flags(target, row, inst.mods.flags);
        self.glc = flags.contains(ModFlags::GLC);
        self.lds = row.family == Family::Ds;
        self.flat_scratch = inst.implicit().contains(Implicit::READ_FLAT_SCRATCH);
        self.part = part(row.name);
        self.is_flat = row.family == Family::Flat;
        self.is_scalar = row.family == Family::Smem;
        self.ends = row.name.starts_with("s_endpgm");
        self.returns = match row.family {
            Family::Ds => self.writes.len != 0,
            _ => self.glc,
        };
        if self.class == Class::Memory(Memory::Atomic) && !self.returns {
            self.writes = Runs::default();
        }
        let counts_stores_apart = target.max_vscnt > 0;
        let no_result = match self.class {
            Class::Memory(Memory::Store) => true,
            Class::Memory(Memory::Atomic) => !self.returns,
            _ => false,
        };
        let vm = row.flags.contains(Flags::VM);
        let lgkm = row.flags.contains(Flags::LGKM);
        self.queues = Queues {
            vm: vm && !(counts_stores_apart && no_result),
            vs: vm && counts_stores_apart && no_result,
            lgkm,
            unordered: row.family == Family::Smem || row.family == Family::Flat,
            transfer: vm && flags.contains(ModFlags::LDS),
        };
    }
}

fn shuffle(row: &Row, inst: &MachInst) -> Shuffle {
    match (row.name, inst.mods.lane) {
        ("ds_bpermute_b32", _) => Shuffle::Backward,
        ("ds_swizzle_b32", _) => Shuffle::Swizzle,
        (name, isa::Lane::Dpp { .. } | isa::Lane::Dpp8 { .. }) => {
            Shuffle::Dpp { is_move: name.starts_with("v_mov_b32") }
        }
        _ => Shuffle::None,
    }
}

fn stores_data(row: &Row) -> bool {
    row.flags.intersects(Flags::STORE.union(Flags::ATOMIC))
}

fn bits(range: RegRange) -> u128 {
    let ones = if range.len >= 128 { u128::MAX } else { (1 << range.len) - 1 };
    ones << range.first.0
}

fn class(row: &Row, inst: &MachInst) -> Class {
    let name = row.name;
    if row.flags.contains(Flags::ATOMIC) {
        return Class::Memory(Memory::Atomic);
    }
    if row.flags.contains(Flags::STORE) {
        return Class::Memory(Memory::Store);
    }
    if row.flags.contains(Flags::LOAD) {
        return Class::Memory(Memory::Load);
    }
    match row.family {
        _ if name.starts_with("s_waitcnt") => Class::Wait,
        _ if name == "s_barrier" => Class::Barrier,
        _ if name.contains("movrel") => Class::Indexed,
        _ if matches!(name, "s_setpc_b64" | "s_swappc_b64") => Class::Jump,
        _ if row.implicit.contains(Implicit::WRITE_MODE) || name.starts_with("s_getreg") => Class::Other,
        _ if name.starts_with("s_getpc") || name.starts_with("s_call") => Class::Other,
        Family::Sopp if row.flags.contains(Flags::BRANCH) => Class::Branch,
        Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc => {
            match row.flags.contains(Flags::BRANCH) {
                true => Class::Branch,
                false => Class::Pure,
            }
        }
        Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3 | Family::Vop3p => Class::Pure,
        Family::Ds if !row.flags.contains(Flags::ORDERED) && !inst.mods.flags.contains(ModFlags::GDS) => {
            Class::Pure
        }
        _ => Class::Other,
    }
}

fn transfer(row: &Row, inst: &MachInst) -> Transfer {
    let first = |index: usize| match inst.operands().get(index) {
        Some(Operand::Reg(range)) => range.first.0,
        _ => u16::MAX,
    };
    match row.name {
        "s_swappc_b64" | "s_call_b64" => Transfer::Call(first(0)),
        "s_setpc_b64" => Transfer::Jump(first(0)),
        _ => Transfer::None,
    }
}

/// Returns which bits of its data registers a memory instruction accesses. The name of the instruction says
/// this.
fn part(name: &str) -> Part {
    let (stem, high) = match name.strip_suffix("_hi") {
        Some(stem) => (stem, true),
        None => (name, false),
    };
    let (stem, half) = match stem.strip_suffix("_d16") {
        Some(stem) => (stem, true),
        None => (stem, false),
    };
    let last = stem.rsplit('_').next().unwrap_or("");
    let (bytes, signed) = match last {
        "ubyte" | "u8" | "byte" | "b8" => (1, false),
        "sbyte" | "i8" => (1, true),
        "ushort" | "u16" | "short" | "b16" => (2, false),
        "sshort" | "i16" => (2, true),
        _ => return Part::Whole,
    };
    match (half, high) {
        (true, true) => Part::High { bytes, signed },
        (true, false) => Part::Low { bytes, signed },
        _ => Part::Extended { bytes, signed },
    }
}

/// Returns the registers and memory that an instruction accesses. `words` starts with the encoding of the
/// instruction.
pub(super) fn touch(decoder: Option<&Decoder>, words: &[u32], code: &check::Code) -> Touch {
    match decoder.map(|decoder| decoder.decode(words).or_else(|_| decoder.decode_tolerant(words))) {
        Some(Ok((inst, _))) => {
            let own_address = if code.xnack().may_be_on() { own_address(&inst) } else { 0 };
            let touch =
                Touch { single: code.single(&inst), own_address, ..Touch::from_inst(code.target(), &inst) };
            Touch { plain: Plain::from_touch(&touch), ..touch }
        }
        _ => Touch::nothing(),
    }
}

/// Returns the value for the field [`Touch::own_address`]: the size of a scalar load that may overwrite its
/// own address, or 0.
fn own_address(inst: &MachInst) -> u8 {
    match inst.ops[0] {
        Operand::Reg(result) if inst.is_replayed_in_parts() && inst.overwritten_source().is_some() => {
            4 * result.len
        }
        _ => 0,
    }
}
