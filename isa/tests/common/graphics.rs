//! Random instructions of the graphics families.

use super::random::Rng;
use isa::table::{AddressParts, Caps, Family, Flags, Kind, Num};
use isa::{Feature, Form, Lane, MachInst, ModFlags, Opcode, Operand, Reg, Scattered, Target};

/// Every instruction and form of these families that the processor has.
pub fn all_forms(target: &'static Target) -> impl Iterator<Item = (Opcode, Form)> {
    let rows = isa::table::opcodes().filter(|op| is_graphics(op.family()));
    let rows = rows.filter(|op| op.row().code(target).is_some() && !op.row().flags.contains(Flags::ALIAS));
    rows.flat_map(move |op| [Form::Full, Form::E32].map(|form| (op, form))).filter(move |&(op, form)| {
        let short_only = op.family() == Family::Vintrp && target.version.0 < 8;
        isa::encode::has_form(target, op, form) && !(short_only && form == Form::Full)
    })
}

pub fn is_graphics(family: Family) -> bool {
    matches!(family, Family::Mtbuf | Family::Mimg | Family::Exp | Family::Vintrp)
}

/// Whether memory instructions have the bit `scc`, in the place of `tfe`.
pub fn has_scc(target: &Target) -> bool {
    target.has(Feature::UNIFIED_VGPRS)
}

/// One instruction.
pub fn inst(rng: &mut Rng, target: &Target, op: Opcode, form: Form) -> MachInst {
    let mut inst = match op.family() {
        Family::Mtbuf => typed_buffer(rng, target, op),
        Family::Mimg => image(rng, target, op),
        Family::Exp => export(rng, target, op),
        _ => interpolation(rng, op, form),
    };
    inst.form = form;
    inst
}

/// A group of VGPRs; gfx90a wants them to begin at even registers.
fn vgprs(rng: &mut Rng, target: &Target, width: u8) -> Operand {
    let mut first = rng.below(257 - u32::from(width)) as u16;
    if target.has(Feature::EVEN_VGPRS) && width > 1 {
        first &= !1;
    }
    Operand::regs(Reg::vgpr(first), width)
}

/// VGPRs, or on gfx90a perhaps accumulation VGPRs.
fn data(rng: &mut Rng, target: &Target, width: u8) -> Operand {
    match vgprs(rng, target, width) {
        Operand::Reg(range) if target.has(Feature::UNIFIED_VGPRS) && rng.chance(2) => {
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
    match target.version.0 {
        6 | 7 if rng.chance(4) => set = (set - ModFlags::OFFEN - ModFlags::IDXEN) | ModFlags::ADDR64,
        10 => set |= flags(rng, &[ModFlags::DLC]),
        _ if has_scc(target) => set |= flags(rng, &[ModFlags::SCC]),
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

fn image(rng: &mut Rng, target: &Target, op: Opcode) -> MachInst {
    let row = op.row();
    let Kind::ImageAddress(address) = row.ops[1].kind else { panic!("an image instruction") };
    let gfx10 = target.version.0 == 10;
    let ray = address.parts.contains(AddressParts::RAY);
    let mut inst = MachInst::new(op, &[]);
    inst.len = row.ops.len() as u8;
    inst.mods.flags = image_flags(rng, target, op);
    let has = |flag| inst.mods.flags.contains(flag);
    let width = row.ops[0].width;
    let dmask = match width {
        0 => rng.below(16) as u8,
        _ if row.flags.contains(Flags::ATOMIC) => (1 << (width * rng.pick(&[1, 2]))) - 1,
        _ => 1 << rng.below(4),
    };
    let samples = address.parts.contains(AddressParts::SAMPLES);
    let mut dim =
        if !gfx10 { 0 } else { rng.below(if samples { 2 } else { 8 }) as u8 + if samples { 6 } else { 0 } };
    // No instruction has room for the longest place and a level.
    if gfx10 && address.len(dim, has(ModFlags::A16)) > address.len_range().1 {
        dim = 0;
    }
    if !ray {
        inst.mods.lane = Lane::Image { dmask, dim };
    }
    let values = if width == 0 || row.flags.contains(Flags::ATOMIC) { dmask.count_ones().max(1) } else { 4 };
    let packed = has(ModFlags::D16) && !target.has(Feature::UNPACKED_D16);
    let dwords = if packed { values.div_ceil(2) } else { values } as u8 + u8::from(has(ModFlags::TFE));
    inst.ops[0] = data(rng, target, dwords);
    inst.ops[2] = sgprs(rng, row.ops[2].width);
    if let Some(sampler) = row.ops.get(3) {
        inst.ops[3] = sgprs(rng, sampler.width);
    }
    let count = if gfx10 { address.len(dim, has(ModFlags::A16)) } else { address.len_range().0 };
    inst.ops[1] = vgprs(rng, target, count);
    let room = row.ops.len() < 4 || count <= address.most();
    if gfx10 && count > 1 && room && rng.chance(2) {
        let numbers: Vec<u8> = (0..count).map(|_| rng.below(256) as u8).collect();
        let mut parts = numbers.chunks(Scattered::MAX).map(|part| Scattered::new(part).expect("few enough"));
        inst.ops[1] = Operand::Scattered(parts.next().expect("a register"));
        for part in parts {
            inst.ops[usize::from(inst.len)] = Operand::Scattered(part);
            inst.len += 1;
        }
    }
    inst
}

fn image_flags(rng: &mut Rng, target: &Target, op: Opcode) -> ModFlags {
    let row = op.row();
    let gfx10 = target.version.0 == 10;
    if row.name.ends_with("intersect_ray") {
        return flags(rng, &[ModFlags::A16]);
    }
    let mut set = flags(rng, &[ModFlags::UNORM, ModFlags::GLC, ModFlags::SLC, ModFlags::LWE]);
    match target.version.0 {
        10 => set |= flags(rng, &[ModFlags::R128, ModFlags::A16, ModFlags::DLC]),
        9 => set |= flags(rng, &[ModFlags::A16, ModFlags::DA]),
        _ => set |= flags(rng, &[ModFlags::R128, ModFlags::DA]),
    }
    set |= flags(rng, &[if has_scc(target) { ModFlags::SCC } else { ModFlags::TFE }]);
    if target.version.0 >= 8 && row.ops[0].num != Num::B32 {
        set |= flags(rng, &[ModFlags::D16]);
    }
    let packed = set.contains(ModFlags::D16) && !target.has(Feature::UNPACKED_D16);
    if row.ops[0].width == 4 && packed {
        set -= ModFlags::TFE;
    }
    debug_assert!(gfx10 || !set.contains(ModFlags::DLC));
    set
}

/// What LLVM assembles: known targets, compressed sources in pairs.
fn export(rng: &mut Rng, target: &Target, op: Opcode) -> MachInst {
    let more: &[u32] = if target.version.0 == 10 { &[16, 20] } else { &[] };
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
