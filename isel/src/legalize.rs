//! Changes operands that the processor cannot encode, with additional moves and additions.
//!
//! Selection emits operands that are legal on the processors for which it is tuned (`operands.rs`). This pass
//! makes the operands of all other processors legal. [`mir::legal::problem`] says what is illegal in an
//! instruction, and the pass fixes it by moves and additions before the instruction. A problem that cannot be
//! fixed is an error. Legal code is not changed.
//!
//! # Requires
//! SSA form.
//! # Guarantees
//! SSA form; no instruction has a problem; inserted instructions do not write SCC or VCC.

use crate::lower::{Context, Options, Unsupported};
use crate::roles::{Expansion, Resolution, Role, Roles};
use isa::table::{self, Family, Kind, Num, OpSpec};
use isa::{MBlock, MachInst, ModFlags, Operand, RegClass, Subtarget, op};
use mir::MachFunc;
use mir::legal::{Illegal, problem};

/// Largest number of repairs of one instruction. It is larger than the number of operands, and stops the pass
/// from trying repairs forever that do not help.
const MOST_REPAIRS: usize = 12;

/// Makes every instruction of a function legal.
///
/// # Errors
/// Returns an error for an instruction that no repair makes legal.
pub fn legalize(
    func: &mut MachFunc,
    target: &Subtarget,
    opts: &Options,
    ctx: &mut Context,
) -> Result<(), Unsupported> {
    let out = std::mem::take(&mut ctx.legalized);
    let roles = ctx.roles(target, opts);
    let blocks = func.blocks.len() as u32;
    let mut legalizer = Legalizer { func, target, roles, out, loc: 0 };
    let legalized = (0..blocks).try_for_each(|block| legalizer.block(MBlock::from_u32(block)));
    ctx.legalized = legalizer.out;
    legalized
}

struct Legalizer<'a> {
    func: &'a mut MachFunc,
    target: &'a Subtarget,
    roles: &'a Roles,
    /// The new instruction list of the current block. It is filled only if some instruction of the block has
    /// an illegal operand.
    out: Vec<MachInst>,
    loc: u32,
}

impl Legalizer<'_> {
    fn block(&mut self, block: MBlock) -> Result<(), Unsupported> {
        let data = &self.func.blocks[block];
        let legal = |inst: &MachInst| problem(self.target, inst, self.func).is_none();
        let Some(first) = data.insts.iter().position(|inst| !legal(inst)) else { return Ok(()) };
        let (prologue, term) = (data.prologue as usize, data.term as usize);
        let mut old = std::mem::take(&mut self.func.blocks[block].insts);
        self.out.clear();
        self.out.extend_from_slice(&old[..first]);
        let mut parts = [prologue, term];
        for (n, &inst) in old.iter().enumerate().skip(first) {
            // An inserted instruction belongs to the same part of the block (prologue, body or terminators)
            // as the instruction for which it is inserted.
            for (part, start) in parts.iter_mut().zip([prologue, term]) {
                if n == start {
                    *part = self.out.len();
                }
            }
            self.loc = inst.loc;
            self.put(inst)?;
        }
        for (part, start) in parts.iter_mut().zip([prologue, term]) {
            if start == old.len() {
                *part = self.out.len();
            }
        }
        let data = &mut self.func.blocks[block];
        old.clone_from(&self.out);
        data.insts = old;
        [data.prologue, data.term] = parts.map(|part| part as u32);
        Ok(())
    }

    /// Appends an instruction, preceded by the instructions that make it legal.
    fn put(&mut self, mut inst: MachInst) -> Result<(), Unsupported> {
        for _ in 0..MOST_REPAIRS {
            let Some(problem) = problem(self.target, &inst, self.func) else {
                self.out.push(inst);
                return Ok(());
            };
            let repaired = match problem {
                Illegal::Kind(n) | Illegal::Literal(n) | Illegal::ConstantBus(n) => {
                    self.move_operand(&mut inst, usize::from(n))?
                }
                Illegal::Offset => self.take_offset_out(&mut inst)?,
                Illegal::Unavailable | Illegal::Count | Illegal::Width(_) => false,
            };
            if !repaired {
                return Err(self.refuse(&inst, &problem.to_string()));
            }
        }
        Err(self.refuse(&inst, "its operands cannot be made legal"))
    }

    #[cold]
    fn refuse(&self, inst: &MachInst, why: &str) -> Unsupported {
        let what = format!("`{}` as it stands here ({why})", inst.op.row().name);
        Unsupported { what, target: self.target.name, loc: inst.loc }
    }

    /// Replaces operand number `n`, which is illegal, by registers. Their class is one that the instruction
    /// allows for this operand. Emits the move to these registers. Returns false if the instruction allows no
    /// registers as this operand.
    fn move_operand(&mut self, inst: &mut MachInst, n: usize) -> Result<bool, Unsupported> {
        let spec = &inst.op.row().ops[n];
        let class = match spec.kind {
            _ if spec.role != table::Role::Use => return Ok(false),
            Kind::Vgpr | Kind::Vsrc | Kind::Vaddr => RegClass::Vgpr,
            Kind::Ssrc | Kind::Sgpr | Kind::Saddr => RegClass::Sgpr,
            _ => return Ok(false),
        };
        let operand = inst.ops[n];
        if class == RegClass::Sgpr && self.is_vgpr(operand) {
            return Ok(false);
        }
        let Some(dwords) = self.dwords(spec, operand) else { return Ok(false) };
        let copy = self.temp(class, dwords.len() as u8);
        for (n, dword) in (0..).zip(dwords) {
            let to = copy.dword(n);
            self.put(MachInst { loc: self.loc, ..MachInst::new(op::COPY, &[to, dword]) })?;
        }
        inst.ops[n] = copy;
        Ok(true)
    }

    /// Returns the dwords of an operand, each as an operand.
    fn dwords(&self, spec: &OpSpec, operand: Operand) -> Option<Vec<Operand>> {
        let parts =
            |bits: u64| [bits as u32, (bits >> 32) as u32].map(|half| Operand::int(half as i32)).to_vec();
        match operand {
            Operand::Virt(tuple) => Some((0..tuple.len).map(|n| operand.dword(n)).collect()),
            Operand::Reg(range) => Some((0..range.len).map(|n| operand.dword(n)).collect()),
            // 1/(2*pi), on processors where it is not an inline constant.
            Operand::Inline(code @ 248) if spec.width == 1 => {
                Some(vec![Operand::Literal(isa::operand::inline_value(code)?)])
            }
            Operand::Inline(_) | Operand::Literal(_) if spec.width == 1 => Some(vec![operand]),
            Operand::Inline(code @ 128..=208) if spec.width == 2 && spec.num != Num::F64 => {
                let value = isa::operand::inline_value(code)? as i32;
                Some(parts(i64::from(value) as u64))
            }
            _ => None,
        }
    }

    /// Sets the offset field of a memory instruction to 0, and emits an addition of the offset to the
    /// address. Returns false if the instruction has no address operand to which the offset can be added.
    fn take_offset_out(&mut self, inst: &mut MachInst) -> Result<bool, Unsupported> {
        let row = inst.op.row();
        let find = |kind| {
            row.ops.iter().position(|spec: &OpSpec| spec.kind == kind && spec.role == table::Role::Use)
        };
        let offset = inst.mods.offset;
        match row.family {
            Family::Smem => {
                let Some(n) = find(Kind::SmemOffset) else { return Ok(false) };
                let Operand::Imm(field @ 0..) = inst.ops[n] else { return Ok(false) };
                // An offset register counts bytes on every processor.
                let Ok(bytes) = u32::try_from(self.target.addressing.scalar_bytes(field)) else {
                    return Ok(false);
                };
                inst.ops[n] = self.temp(RegClass::Sgpr, 1);
                let copy = MachInst::new(op::COPY, &[inst.ops[n], Operand::int(bytes as i32)]);
                self.put(MachInst { loc: self.loc, ..copy })?;
                return Ok(true);
            }
            Family::Ds => {
                let Some(n) = find(Kind::Vgpr) else { return Ok(false) };
                inst.ops[n] = self.add(inst.ops[n], Operand::int(offset))?;
            }
            Family::Mubuf => {
                let Some(n) = find(Kind::Vaddr) else { return Ok(false) };
                if inst.mods.flags.intersects(ModFlags::IDXEN | ModFlags::ADDR64) {
                    return Ok(false);
                }
                let base = if inst.ops[n] == Operand::None { Operand::int(0) } else { inst.ops[n] };
                inst.ops[n] = self.add(base, Operand::int(offset))?;
                inst.mods.flags |= ModFlags::OFFEN;
            }
            Family::Flat | Family::Global => {
                let Some(n) = find(Kind::Vaddr) else { return Ok(false) };
                let bytes = [Operand::int(offset), Operand::int(offset >> 31)];
                let mut address = [inst.ops[n].dword(0), inst.ops[n].dword(1)];
                if let Some(s) = find(Kind::Saddr).filter(|&s| inst.ops[s] != Operand::None) {
                    // The VGPR holds a 32-bit offset from the base.
                    let base = [inst.ops[s].dword(0), inst.ops[s].dword(1)];
                    let sum = self.add64(base, [address[0], Operand::int(0)])?;
                    address = [sum.dword(0), sum.dword(1)];
                    inst.ops[s] = Operand::None;
                }
                inst.ops[n] = self.add64(address, bytes)?;
            }
            _ => return Ok(false),
        }
        inst.mods.offset = 0;
        Ok(true)
    }

    /// Emits `a + b` in a VGPR.
    fn add(&mut self, a: Operand, b: Operand) -> Result<Operand, Unsupported> {
        let sum = self.temp(RegClass::Vgpr, 1);
        match self.roles.get(Role::VAddU32) {
            Resolution::Expansion(Expansion::DropCarryOfAdd) => {
                let carry = self.temp(RegClass::Sgpr, self.target.mask_dwords());
                self.play(Role::VAddCarryOut, &[sum, carry, a, b])?;
            }
            _ => self.play(Role::VAddU32, &[sum, a, b])?,
        }
        Ok(sum)
    }

    /// Emits the 64-bit sum `a + b` in VGPRs.
    fn add64(&mut self, a: [Operand; 2], b: [Operand; 2]) -> Result<Operand, Unsupported> {
        let sum = self.temp(RegClass::Vgpr, 2);
        let [carry, last] = [(); 2].map(|()| self.temp(RegClass::Sgpr, self.target.mask_dwords()));
        let halves = [sum.dword(0), sum.dword(1)];
        self.play(Role::VAddCarryOut, &[halves[0], carry, a[0], b[0]])?;
        self.play(Role::VAddCarryInOut, &[halves[1], last, a[1], b[1], carry])?;
        Ok(sum)
    }

    /// Appends the instruction that implements a role.
    fn play(&mut self, role: Role, operands: &[Operand]) -> Result<(), Unsupported> {
        match self.roles.get(role) {
            Resolution::Opcode(op) => self.put(MachInst { loc: self.loc, ..MachInst::new(op, operands) }),
            _ => Err(Unsupported {
                what: format!("`{}` in place of an offset", role.name()),
                target: self.target.name,
                loc: self.loc,
            }),
        }
    }

    fn temp(&mut self, class: RegClass, len: u8) -> Operand {
        let regs: smallvec::SmallVec<[isa::VReg; 4]> = (0..len).map(|_| self.func.new_vreg(class)).collect();
        self.func.tuple(&regs)
    }

    fn is_vgpr(&self, operand: Operand) -> bool {
        match operand {
            Operand::Virt(tuple) => {
                self.func.regs(tuple).iter().any(|&reg| self.func.vregs[reg] == RegClass::Vgpr)
            }
            Operand::Reg(range) => range.first.is_vgpr(),
            _ => false,
        }
    }
}
