//! Operands that no encoding takes, made legal: one instruction at a time, on every processor.

use isa::{MBlock, MachInst, ModFlags, Opcode, Operand, PROCESSORS, Reg, RegClass, Subtarget, op};
use isel::roles::{Role, Roles};
use isel::{Context, Options, legalize};
use mir::legal::problem;
use mir::{MachBlock, MachFunc};

/// A function with registers to choose operands from: two SGPRs and two VGPRs of each width.
struct Sample {
    func: MachFunc,
    regs: Vec<Operand>,
}

impl Sample {
    fn new() -> Sample {
        let mut func = MachFunc::default();
        let mut regs = Vec::new();
        for (n, len) in (0..8).flat_map(|_| [1, 2, 3, 4, 8, 16]).enumerate() {
            let class = if n % 12 < 6 { RegClass::Sgpr } else { RegClass::Vgpr };
            let group: Vec<_> = (0..len).map(|_| func.new_vreg(class)).collect();
            for &reg in &group {
                func.inputs.push((reg, Reg(0)));
            }
            regs.push(func.tuple(&group));
        }
        func.blocks.push(MachBlock {
            insts: vec![MachInst::new(op::S_ENDPGM, &[Operand::Imm(0)])],
            ..MachBlock::default()
        });
        Sample { func, regs }
    }

    /// Legalizes one instruction; the text of what comes of it.
    fn legalize(&mut self, name: &str, inst: MachInst) -> Result<String, String> {
        let target = Subtarget::by_name(name).unwrap();
        self.func.blocks[MBlock::from_u32(0)].insts.insert(0, inst);
        legalize(&mut self.func, &target, &Options::default(), &mut Context::new())
            .map_err(|e| e.to_string())?;
        let insts = &self.func.blocks[MBlock::from_u32(0)].insts;
        for inst in insts {
            assert_eq!(problem(&target, inst, &self.func), None, "{inst:?}");
        }
        let mut text = String::new();
        for inst in &insts[..insts.len() - 1] {
            isa::print::write_inst(&target, inst, Some(&self.func), &mut text);
            text.push('\n');
        }
        Ok(text)
    }

    fn class(&mut self, class: RegClass, width: u8, skip: usize) -> Operand {
        let fits = |operand: &&Operand| match operand {
            Operand::Virt(tuple) => tuple.len == width && self.func.vregs[self.func.regs(*tuple)[0]] == class,
            _ => false,
        };
        *self.regs.iter().filter(fits).nth(skip).unwrap()
    }
}

fn count(text: &str, what: &str) -> usize {
    text.lines().filter(|line| line.trim_start().starts_with(what)).count()
}

#[test]
fn a_second_scalar_is_moved_where_the_bus_takes_one() {
    for (name, copies) in [("gfx803", 1), ("gfx906", 1), ("gfx1010", 0)] {
        let mut sample = Sample::new();
        let [a, b] = [0, 1].map(|n| sample.class(RegClass::Sgpr, 1, n));
        let dst = sample.class(RegClass::Vgpr, 1, 0);
        let text = sample.legalize(name, MachInst::new(op::V_AND_B32, &[dst, a, b])).unwrap();
        assert_eq!(count(&text, "copy"), copies, "{name}:\n{text}");
    }
}

#[test]
fn vop3_takes_literals_from_gfx10_on() {
    for (name, copies) in [("gfx906", 1), ("gfx1010", 0)] {
        let mut sample = Sample::new();
        let [dst, a, b] = [0, 1, 2].map(|n| sample.class(RegClass::Vgpr, 1, n));
        let inst = MachInst::new(op::V_FMA_F32, &[dst, a, b, Operand::Literal(0x1234_5678)]);
        let text = sample.legalize(name, inst).unwrap();
        assert_eq!(count(&text, "copy"), copies, "{name}:\n{text}");
    }
}

#[test]
fn one_over_two_pi_is_no_constant_before_gfx8() {
    for (name, copies) in [("gfx701", 1), ("gfx803", 0)] {
        let mut sample = Sample::new();
        let [dst, a] = [0, 1].map(|n| sample.class(RegClass::Vgpr, 1, n));
        let text =
            sample.legalize(name, MachInst::new(op::V_MUL_F32, &[dst, Operand::Inline(248), a])).unwrap();
        assert_eq!(count(&text, "copy"), copies, "{name}:\n{text}");
    }
}

#[test]
fn scalar_offsets_out_of_range_go_to_an_sgpr() {
    // The field of GFX6 counts dwords.
    for (name, field, copies) in [
        ("gfx600", 255, 0),
        ("gfx600", 256, 1),
        ("gfx700", 256, 0),
        ("gfx803", 1024, 0),
        ("gfx803", 1 << 20, 1),
    ] {
        let mut sample = Sample::new();
        let (dst, base) = (sample.class(RegClass::Sgpr, 1, 0), sample.class(RegClass::Sgpr, 2, 0));
        let inst = MachInst::new(op::S_LOAD_DWORD, &[dst, base, Operand::Imm(field)]);
        let text = sample.legalize(name, inst).unwrap();
        assert_eq!(count(&text, "copy"), copies, "{name} {field}:\n{text}");
    }
}

#[test]
fn vector_offsets_out_of_range_are_added() {
    let mut sample = Sample::new();
    let (dst, addr) = (sample.class(RegClass::Vgpr, 1, 0), sample.class(RegClass::Vgpr, 2, 0));
    let mut load = MachInst::new(op::FLAT_LOAD_DWORD, &[dst, addr]);
    load.mods.offset = 16;
    assert_eq!(sample.legalize("gfx906", load).unwrap().lines().count(), 1);
    // GFX8 has no offsets there.
    let text = Sample::new().legalize("gfx803", load).unwrap();
    assert_eq!((count(&text, "v_add_u32"), count(&text, "v_addc_u32")), (1, 1), "{text}");

    let mut sample = Sample::new();
    let (dst, addr) = (sample.class(RegClass::Vgpr, 1, 0), sample.class(RegClass::Vgpr, 1, 1));
    let base = sample.class(RegClass::Sgpr, 2, 0);
    let mut load = MachInst::new(op::GLOBAL_LOAD_DWORD, &[dst, addr, base]);
    load.mods.offset = 3000;
    let text = sample.legalize("gfx1010", load).unwrap();
    assert_eq!(count(&text, "v_add_co_u32") + count(&text, "v_add_co_ci_u32"), 4, "{text}");
    assert!(text.contains("off"), "{text}");

    let mut sample = Sample::new();
    let [dst, addr] = [0, 1].map(|n| sample.class(RegClass::Vgpr, 1, n));
    let mut read = MachInst::new(op::DS_READ_B32, &[dst, addr]);
    read.mods.offset = 1 << 16;
    assert_eq!(count(&sample.legalize("gfx803", read).unwrap(), "v_add_u32"), 1);

    let mut sample = Sample::new();
    let (rsrc, wave) = (sample.class(RegClass::Sgpr, 4, 0), sample.class(RegClass::Sgpr, 1, 0));
    let dst = sample.class(RegClass::Vgpr, 1, 0);
    let mut load = MachInst::new(op::BUFFER_LOAD_DWORD, &[dst, Operand::None, rsrc, wave]);
    load.mods.offset = 4096;
    let text = sample.legalize("gfx906", load).unwrap();
    assert!(text.contains("offen"), "{text}");
    assert!(
        sample.func.blocks[MBlock::from_u32(0)].insts.iter().any(|i| i.mods.flags.contains(ModFlags::OFFEN))
    );
}

/// An instruction that a processor lacks is never silently encoded as another one.
#[test]
fn what_a_processor_lacks_is_refused() {
    let mut sample = Sample::new();
    let [a, b] = [0, 1].map(|n| sample.class(RegClass::Sgpr, 2, n));
    let save = MachInst::new(op::S_ANDN1_SAVEEXEC_B64, &[a, b]);
    let error = sample.legalize("gfx803", save).unwrap_err();
    assert!(error.contains("s_andn1_saveexec_b64") && error.contains("no such instruction"), "{error}");
    assert!(Sample::new().legalize("gfx906", save).is_ok());
}

/// A source of every kind in every place of every instruction that selection uses, on every processor: legal
/// afterwards, or refused with the instruction's name.
#[test]
fn whatever_stands_there_becomes_legal_or_is_refused() {
    let (mut legal, mut refused) = (0, 0);
    for target in &PROCESSORS {
        let roles = Roles::new(&Subtarget::new(target));
        let ops: Vec<Opcode> = Role::ALL.iter().filter_map(|&role| roles.opcode(role)).collect();
        for &op in &ops {
            for seed in 0..4 {
                let mut sample = Sample::new();
                let operands = sources(&mut sample, target.mask_dwords(), op, seed);
                let mut inst = MachInst::new(op, &operands);
                inst.mods.offset = if op.row().flags.intersects(isa::table::Flags::LOAD) {
                    [0, 8, 5000, 0][seed]
                } else {
                    0
                };
                match sample.legalize(target.name, inst) {
                    Ok(_) => legal += 1,
                    Err(error) => {
                        assert!(error.contains(op.row().name), "{error}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(legal > 20_000 && refused < legal / 4, "{legal} legal, {refused} refused");
}

/// Operands for a row: what must be there, and sources of any kind.
fn sources(sample: &mut Sample, mask: u8, op: Opcode, seed: usize) -> Vec<Operand> {
    use isa::table::{Kind, Role as Access};
    let mut operands = Vec::new();
    for (n, spec) in op.row().ops.iter().enumerate() {
        let width = if spec.kind == Kind::Mask { mask } else { spec.width };
        let is_def = spec.role != Access::Use;
        operands.push(match spec.kind {
            Kind::Imm => Operand::Imm(0),
            Kind::Label => Operand::Block(MBlock::from_u32(0)),
            Kind::SmemOffset => Operand::Imm([0, 4, 2048, 1 << 21][seed]),
            Kind::Sgpr | Kind::Mask => sample.class(RegClass::Sgpr, width, n % 2),
            Kind::Vgpr => sample.class(RegClass::Vgpr, width, n % 2),
            Kind::Saddr => sample.class(RegClass::Sgpr, 2, 0),
            Kind::Vaddr => {
                let has_base = op.row().has_kind(Kind::Saddr);
                let wide = op.family() == isa::table::Family::Flat;
                sample.class(RegClass::Vgpr, if wide && !has_base { 2 } else { 1 }, 0)
            }
            _ if is_def => sample.class(RegClass::Vgpr, width, 2),
            Kind::Ssrc if seed == 0 || width > 1 => sample.class(RegClass::Sgpr, width, n % 2),
            Kind::Ssrc => Operand::Literal(1000 + n as u32),
            _ => match (seed + n) % 4 {
                0 => sample.class(RegClass::Sgpr, width, n % 2),
                1 => sample.class(RegClass::Vgpr, width, n % 2),
                2 if width == 1 => Operand::Literal(1000 + n as u32),
                _ => Operand::Inline(128 + n as u16),
            },
        });
    }
    operands
}
