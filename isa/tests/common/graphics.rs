//! Random instructions of the graphics families.

use super::random::Rng;
use isa::table::{Caps, Family, Flags, Kind};
use isa::{Feature, Form, Generation, Lane, MachInst, ModFlags, Opcode, Operand, Reg, Target};

/// Every instruction and form of these families that the processor has.
pub fn all_forms(target: &'static Target) -> impl Iterator<Item = (Opcode, Form)> {
    let rows = isa::table::opcodes().filter(|op| is_graphics(op.family()));
    let rows = rows.filter(|op| op.row().code(target).is_some() && !op.row().flags.contains(Flags::ALIAS));
    rows.flat_map(move |op| [Form::Full, Form::E32].map(|form| (op, form))).filter(move |&(op, form)| {
        let short_only = op.family() == Family::Vintrp && target.generation < Generation::Gfx8;
        isa::encode::has_form(target, op, form) && !(short_only && form == Form::Full)
    })
}

pub fn is_graphics(family: Family) -> bool {
    matches!(family, Family::Mtbuf | Family::Exp | Family::Vintrp)
}

/// One instruction.
pub fn inst(rng: &mut Rng, target: &Target, op: Opcode, form: Form) -> MachInst {
    let mut inst = match op.family() {
        Family::Mtbuf => typed_buffer(rng, target, op),
        Family::Exp => export(rng, target, op),
        _ => interpolation(rng, op, form),
    };
    inst.form = form;
    inst
}

/// A group of VGPRs; gfx90a wants them to begin at even registers.
fn vgprs(rng: &mut Rng, target: &Target, width: u8) -> Operand {
    let mut first = rng.below(257 - u32::from(width)) as u16;
    if target.has(Feature::GFX90A) && width > 1 {
        first &= !1;
    }
    Operand::regs(Reg::vgpr(first), width)
}

/// VGPRs, or on gfx90a perhaps accumulation VGPRs.
fn data(rng: &mut Rng, target: &Target, width: u8) -> Operand {
    match vgprs(rng, target, width) {
        Operand::Reg(range) if target.has(Feature::GFX90A) && rng.chance(2) => {
            Operand::regs(Reg::agpr(range.first.number()), width)
        }
        vgprs => vgprs,
    }
}

/// A resource in SGPRs.
fn sgprs(rng: &mut Rng, width: u8) -> Operand {
    let first = rng.below((102 - u32::from(width)) / 4 + 1) * 4;
    Operand::regs(Reg::sgpr(first as u16), width)
}

fn flags(rng: &mut Rng, candidates: &[ModFlags]) -> ModFlags {
    candidates.iter().copied().filter(|_| rng.chance(3)).collect()
}

fn typed_buffer(rng: &mut Rng, target: &Target, op: Opcode) -> MachInst {
    let mut set = flags(rng, &[ModFlags::OFFEN, ModFlags::IDXEN, ModFlags::GLC, ModFlags::SLC]);
    match target.generation {
        Generation::Gfx6 | Generation::Gfx7 if rng.chance(4) => {
            set = (set - ModFlags::OFFEN - ModFlags::IDXEN) | ModFlags::ADDR64
        }
        Generation::Gfx10 => set |= flags(rng, &[ModFlags::DLC]),
        _ if target.has(Feature::GFX90A) => set |= flags(rng, &[ModFlags::SCC]),
        _ => {}
    }
    let parts = [(ModFlags::OFFEN, 1), (ModFlags::IDXEN, 1), (ModFlags::ADDR64, 2)];
    let width = parts.iter().filter(|(flag, _)| set.contains(*flag)).map(|(_, dwords)| dwords).sum();
    let address = if width == 0 { Operand::None } else { vgprs(rng, target, width) };
    let last_inline = if target.has(Feature::INV_2PI) { 248 } else { 247 };
    let offset = match rng.below(3) {
        0 => Operand::Inline(128 + rng.below(81) as u16),
        1 => Operand::Inline(240 + rng.below(last_inline - 239) as u16),
        _ => Operand::reg(Reg(rng.pick(&[0, 7, 101, 106, 107, 124, 126, 127]))),
    };
    let data = data(rng, target, op.row().ops[0].width);
    let mut inst = MachInst::new(op, &[data, address, sgprs(rng, 4), offset]);
    inst.mods.flags = set;
    inst.mods.offset = rng.pick(&[0, 1, 4, 4095]);
    inst.mods.lane = Lane::Format(rng.below(128) as u8);
    inst
}

/// What LLVM assembles: known targets, compressed sources in pairs.
fn export(rng: &mut Rng, target: &Target, op: Opcode) -> MachInst {
    let more: &[u32] = if target.generation == Generation::Gfx10 { &[16, 20] } else { &[] };
    let targets: Vec<u32> = (0..=9).chain(12..=15).chain(32..64).chain(more.iter().copied()).collect();
    let compressed = rng.chance(3);
    let mut ops = [Operand::Imm(rng.pick(&targets) as i32); 5];
    let mut last = Operand::None;
    for (n, operand) in ops[1..].iter_mut().enumerate() {
        if !compressed || n % 2 == 0 {
            last = if rng.chance(3) { Operand::None } else { vgprs(rng, target, 1) };
        }
        *operand = last;
    }
    let mut inst = MachInst::new(op, &ops);
    inst.mods.flags = flags(rng, &[ModFlags::DONE, ModFlags::VM]);
    inst.mods.flags.set(ModFlags::COMPR, compressed);
    inst
}

fn interpolation(rng: &mut Rng, op: Opcode, form: Form) -> MachInst {
    let row = op.row();
    let mut inst = MachInst::new(op, &[]);
    inst.len = row.ops.len() as u8;
    for (operand, spec) in inst.ops.iter_mut().zip(row.ops) {
        *operand = match spec.kind {
            // The field has room for 64 attributes, LLVM's assembler takes 33.
            Kind::Attribute => Operand::Imm(rng.below(4 * 33) as i32),
            Kind::Parameter => Operand::Imm(rng.below(3) as i32),
            _ => Operand::reg(Reg::vgpr(rng.below(256) as u16)),
        };
    }
    if form == Form::Full {
        let sources = row.ops[1..].iter().filter(|spec| spec.kind == Kind::Vgpr).count();
        let all = (1u8 << sources) - 1;
        inst.mods.neg = rng.next() as u8 & all;
        inst.mods.abs = rng.next() as u8 & all;
        inst.mods.flags = flags(rng, &[ModFlags::CLAMP]);
        if row.flags.contains(Flags::NO_E32) {
            inst.mods.flags |= flags(rng, &[ModFlags::HIGH]);
        }
        if row.caps.contains(Caps::OMOD) {
            inst.mods.omod = rng.below(4) as u8;
        }
    }
    inst
}
