//! Rematerialisation: constants, kernel arguments and addresses of module variables are computed again where
//! they are needed, instead of being kept.
//!
//! A register has a *recipe*, a way to compute its value anywhere, if every instruction that writes the
//! register computes the same value from inputs that do not change. When such a register is spilled, it needs
//! no slot: its definition is removed, and each reload becomes the recipe.

use cranelift_entity::EntityRef;
use isa::table::{Implicit, Role};
use isa::{Addressing, MachInst, MemId, Mods, Operand, Subtarget, VReg, op};
use mir::{MachBlock, MachFunc, SyncOrder};

use crate::rewrite::constant_part;

/// How a dword is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Recipe {
    /// No instruction that writes the register has been seen yet.
    #[default]
    Unknown,
    /// The register has no recipe, so its value must be kept.
    Varies,
    /// A constant.
    Const(Operand),
    /// A load of a dword of constant memory, which is `bytes` after a pointer that is an input of the
    /// function.
    Load { pointer: [VReg; 2], bytes: i32, mem: MemId },
    /// One half of the address of a module variable, or of the program counter from which the distance to the
    /// variable is counted.
    Address { index: u32, part: AddressPart },
}

/// Part of an address computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressPart {
    Counter,
    Low,
    High,
}

/// The sequence `s_getpc_b64`, `s_add_u32`, `s_addc_u32`, which computes an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    /// Result of `s_getpc_b64`.
    pub counter: [VReg; 2],
    /// Results of the two additions.
    pub result: [Option<VReg>; 2],
    /// Distances, as `Operand::Reloc`.
    pub distance: [Operand; 2],
}

/// The recipes of a function.
#[derive(Default)]
pub(crate) struct Recipes {
    of: Vec<Recipe>,
    /// Addresses of module variables.
    pub addresses: Vec<Address>,
    is_input: Vec<bool>,
    addressing: Option<Addressing>,
}

impl Recipes {
    /// Returns the recipe of a register, if it has one.
    pub fn get(&self, reg: u32) -> Option<Recipe> {
        self.of
            .get(reg as usize)
            .copied()
            .filter(|recipe| !matches!(recipe, Recipe::Unknown | Recipe::Varies))
    }

    /// Returns the offset operand of a rematerialised load.
    pub fn load_offset(&self, bytes: i32) -> Operand {
        Operand::Imm(
            self.addressing.and_then(|addressing| addressing.scalar_field(bytes.into())).unwrap_or(0),
        )
    }

    /// Finds the recipes of a function.
    pub fn find(&mut self, func: &MachFunc, target: &Subtarget) {
        self.addressing = Some(*target.addressing);
        self.of.clear();
        self.of.resize(func.vregs.len(), Recipe::Unknown);
        self.is_input.clear();
        self.is_input.resize(func.vregs.len(), false);
        self.addresses.clear();
        for &(vreg, _) in &func.inputs {
            self.is_input[vreg.index()] = true;
            self.of[vreg.index()] = Recipe::Varies;
        }
        for block in func.blocks.values() {
            for param in block.sgpr_params.iter().chain(&block.vgpr_params) {
                self.of[param.index()] = Recipe::Varies;
            }
            for inst in &block.insts {
                self.inst(func, inst);
            }
        }
        self.drop_partial_addresses(func);
    }

    fn inst(&mut self, func: &MachFunc, inst: &MachInst) {
        for (i, operand) in inst.operands().iter().enumerate() {
            let Operand::Virt(tuple) = *operand else { continue };
            let role = inst.role(i);
            if role == Role::Use {
                continue;
            }
            for (n, &reg) in func.regs(tuple).iter().enumerate() {
                let recipe = match role {
                    Role::Def => self.recipe(func, inst, n as u8, tuple.len),
                    _ => Recipe::Varies,
                };
                let known = &mut self.of[reg.index()];
                *known = if *known == Recipe::Unknown || *known == recipe { recipe } else { Recipe::Varies };
            }
        }
    }

    /// Returns the recipe (a way to compute a value anywhere) for dword `n` of an instruction's result, which
    /// has `len` dwords.
    fn recipe(&mut self, func: &MachFunc, inst: &MachInst, n: u8, len: u8) -> Recipe {
        match inst.op {
            op::COPY if inst.ops[1].is_const() => Recipe::Const(constant_part(inst.ops[1], n, len)),
            op::S_LOAD_DWORD
            | op::S_LOAD_DWORDX2
            | op::S_LOAD_DWORDX4
            | op::S_LOAD_DWORDX8
            | op::S_LOAD_DWORDX16 => self.load(func, inst, n),
            op::S_GETPC_B64 => {
                if n == 0
                    && let Operand::Virt(tuple) = inst.ops[0]
                    && let &[low, high] = func.regs(tuple)
                {
                    let (counter, result) = ([low, high], [None; 2]);
                    self.addresses.push(Address { counter, result, distance: [Operand::None; 2] });
                }
                self.address(AddressPart::Counter)
            }
            op::S_ADD_U32 => self.sum(func, inst, 0),
            op::S_ADDC_U32 => self.sum(func, inst, 1),
            _ => Recipe::Varies,
        }
    }

    fn load(&self, func: &MachFunc, inst: &MachInst, n: u8) -> Recipe {
        let plain = inst.mods == Mods::default()
            && inst.mem.index().is_none_or(|mem| {
                let mem = &func.mems[mem];
                mem.order == SyncOrder::NotAtomic && !mem.volatile
            });
        let (Operand::Virt(tuple), Operand::Imm(field), Some(addressing)) =
            (inst.ops[1], inst.ops[2], &self.addressing)
        else {
            return Recipe::Varies;
        };
        let bytes = addressing.scalar_bytes(field) + 4 * i64::from(n);
        match (func.regs(tuple), i32::try_from(bytes), addressing.scalar_field(bytes)) {
            (&[low, high], Ok(bytes), Some(_))
                if plain && self.is_input[low.index()] && self.is_input[high.index()] =>
            {
                Recipe::Load { pointer: [low, high], bytes, mem: inst.mem }
            }
            _ => Recipe::Varies,
        }
    }

    fn address(&self, part: AddressPart) -> Recipe {
        Recipe::Address { index: (self.addresses.len() as u32).wrapping_sub(1), part }
    }

    /// Returns the recipe (a way to compute a value anywhere) of an instruction that adds a distance to one
    /// half of the program counter. The preceding `s_getpc_b64` has read the program counter.
    fn sum(&mut self, func: &MachFunc, inst: &MachInst, half: usize) -> Recipe {
        let (Operand::Virt(dst), Operand::Virt(src), Operand::Reloc(_)) =
            (inst.ops[0], inst.ops[1], inst.ops[2])
        else {
            return Recipe::Varies;
        };
        let Some(address) = self.addresses.last_mut() else { return Recipe::Varies };
        if func.regs(src) != [address.counter[half]] || address.result[half].is_some() {
            return Recipe::Varies;
        }
        address.result[half] = Some(func.regs(dst)[0]);
        address.distance[half] = inst.ops[2];
        self.address([AddressPart::Low, AddressPart::High][half])
    }

    /// Removes the recipes of all parts of an address if one of its parts has no recipe, because the parts
    /// are only computed together. If SCC is live from one block to another anywhere in the function, all
    /// addresses lose their recipes. The instructions that compute an address write SCC, and there may then
    /// be no place for them.
    fn drop_partial_addresses(&mut self, func: &MachFunc) {
        if self.addresses.is_empty() {
            return;
        }
        let carried = func.blocks.values().any(|block| scc_before(block, 0));
        for index in 0..self.addresses.len() {
            let Address { counter, result, .. } = self.addresses[index];
            let parts = [
                (Some(counter[0]), AddressPart::Counter),
                (Some(counter[1]), AddressPart::Counter),
                (result[0], AddressPart::Low),
                (result[1], AddressPart::High),
            ];
            let whole = parts.iter().all(|&(reg, part)| {
                let recipe = Recipe::Address { index: index as u32, part };
                reg.is_some_and(|reg| self.of[reg.index()] == recipe)
            });
            if carried || !whole {
                parts.iter().filter_map(|part| part.0).for_each(|reg| self.of[reg.index()] = Recipe::Varies);
            }
        }
        // A register with a program counter can be rematerialised only if it serves for nothing but
        // additions. Otherwise it is an ordinary register.
        for inst in func.blocks.values().flat_map(|block| &block.insts) {
            for (i, operand) in inst.operands().iter().enumerate() {
                let Operand::Virt(tuple) = *operand else { continue };
                let adds = matches!(inst.ops[2], Operand::Reloc(_));
                if inst.role(i) == Role::Use && !adds {
                    for reg in func.regs(tuple) {
                        if let Recipe::Address { index, part: AddressPart::Counter } = self.of[reg.index()] {
                            self.forget(index);
                        }
                    }
                }
            }
        }
    }

    fn forget(&mut self, index: u32) {
        let Address { counter, result, .. } = self.addresses[index as usize];
        for reg in counter.into_iter().chain(result.into_iter().flatten()) {
            self.of[reg.index()] = Recipe::Varies;
        }
    }
}

/// Returns whether SCC is live before instruction `index` of a block.
fn scc_before(block: &MachBlock, index: usize) -> bool {
    let decides = block.insts[index..].iter().map(scc_needed).find(Option::is_some);
    decides.flatten().unwrap_or(false)
}

/// Returns whether an instruction reads SCC, or `None` if it neither reads nor writes SCC.
fn scc_needed(inst: &MachInst) -> Option<bool> {
    let implicit = inst.op.row().implicit;
    let reads = |operand: &Operand| matches!(operand, Operand::Reg(range) if range.first == isa::Reg::SCC);
    if implicit.contains(Implicit::READ_SCC) || inst.operands().iter().any(reads) {
        return Some(true);
    }
    implicit.contains(Implicit::WRITE_SCC).then_some(false)
}

/// Finds the instructions of a block before which an address can be computed. SCC must not be live there,
/// because computing an address overwrites SCC. The code also must not come between a read of the program
/// counter and the additions to it.
pub(crate) fn places_for_addresses(insts: &[MachInst], places: &mut Vec<bool>) {
    places.clear();
    places.resize(insts.len() + 1, false);
    let (mut scc, mut counting) = (false, false);
    places[insts.len()] = true;
    for (index, inst) in insts.iter().enumerate().rev() {
        scc = scc_needed(inst).unwrap_or(scc);
        counting |= inst.operands().iter().any(|operand| matches!(operand, Operand::Reloc(_)));
        counting &= inst.op != op::S_GETPC_B64;
        places[index] = !scc && !counting;
    }
}
