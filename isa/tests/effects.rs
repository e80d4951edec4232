//! What instructions read and write on processors of every generation, by hand from the manuals.

use isa::{MachInst, ModFlags, Operand, Reg, RegRange, Role, Target, op};

fn target(name: &str) -> &'static Target {
    Target::by_name(name).expect("a processor")
}

fn v(n: u16, len: u8) -> Operand {
    Operand::regs(Reg::vgpr(n), len)
}

/// What comes beside the operands: (whether written, first register, dwords).
fn beside(target: &Target, inst: &MachInst) -> Vec<(bool, Reg, u8)> {
    let mut all = Vec::new();
    inst.for_each_implicit(target, |role, RegRange { first, len }| all.push((role == Role::Def, first, len)));
    all
}

const EXEC: Reg = Reg::EXEC;

#[test]
fn lane_masks_have_a_bit_for_each_lane() {
    let div = MachInst::new(op::V_DIV_FMAS_F32, &[v(0, 1); 4]);
    let branch = MachInst::new(op::S_CBRANCH_EXECZ, &[Operand::Imm(0)]);
    let wave32 = target("gfx1010");
    let wave64 = wave32.with_wave_size(64).expect("both sizes");
    for (target, dwords) in [(target("gfx600"), 2), (target("gfx906"), 2), (wave32, 1), (wave64, 2)] {
        assert_eq!(
            beside(target, &div),
            [(false, Reg::VCC, dwords), (false, EXEC, dwords)],
            "{}",
            target.name
        );
        assert_eq!(beside(target, &branch), [(false, EXEC, dwords)]);
    }
}

/// How much of EXEC a scalar instruction takes and sets is its own affair, not the wave's.
#[test]
fn saveexec_is_as_wide_as_its_name() {
    let wave32 = target("gfx1010");
    let wave64 = wave32.with_wave_size(64).expect("both sizes");
    for target in [wave32, wave64] {
        for (op, dwords) in [(op::S_AND_SAVEEXEC_B32, 1), (op::S_AND_SAVEEXEC_B64, 2)] {
            let inst = MachInst::new(op, &[Operand::regs(Reg(0), dwords), Operand::regs(Reg(2), dwords)]);
            let expected = [(false, EXEC, dwords), (true, Reg::SCC, 1), (true, EXEC, dwords)];
            assert_eq!(beside(target, &inst), expected);
        }
    }
}

/// As the table of named registers has it; GFX6 has none, on GFX10 it is a hardware register.
#[test]
fn flat_scratch_moves_about() {
    let flat = MachInst::new(op::FLAT_LOAD_DWORD, &[v(0, 1), v(2, 2)]);
    for target in &isa::PROCESSORS {
        let mut special = isa::special::special_registers(target);
        let named = special.find(|row| row.name == "flat_scratch").map(|row| row.range);
        assert_eq!(target.flat_scratch(), named, "{}", target.name);
        let read = beside(target, &flat).into_iter().find(|read| read.1 != EXEC);
        assert_eq!(read, named.map(|range| (false, range.first, range.len)), "{}", target.name);
    }
}

#[test]
fn m0_limits_lds_before_gfx9_and_selects_gds() {
    let reads_m0 = |name, inst: &MachInst| inst.reads(target(name), RegRange { first: Reg::M0, len: 1 });
    let mut read = MachInst::new(op::DS_READ_B32, &[v(0, 1), v(1, 1)]);
    assert!(reads_m0("gfx601", &read) && reads_m0("gfx700", &read) && reads_m0("gfx803", &read));
    assert!(!reads_m0("gfx906", &read) && !reads_m0("gfx1030", &read));
    read.mods.flags |= ModFlags::GDS;
    assert!(reads_m0("gfx906", &read) && reads_m0("gfx1030", &read));
}

/// `vccz`, `execz` and `lds_direct` are other registers by another name.
#[test]
fn aliases_are_followed() {
    let target = target("gfx906");
    let from = |first| beside(target, &MachInst::new(op::V_MOV_B32, &[v(0, 1), Operand::reg(first)]));
    assert_eq!(from(Reg::VCCZ), [(false, EXEC, 2), (false, Reg::VCC, 2)]);
    assert_eq!(from(Reg::EXECZ), [(false, EXEC, 2), (false, EXEC, 2)]);
    assert_eq!(from(Reg::LDS_DIRECT), [(false, EXEC, 2), (false, Reg::M0, 1)]);
    assert_eq!(from(Reg::VCC), [(false, EXEC, 2)]);
}
