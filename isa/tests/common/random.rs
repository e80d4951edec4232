//! Random instructions that are right by construction, from a seed.

use super::graphics::{has_scc, is_graphics};
use isa::encode::has_form;
use isa::table::{Caps, Family, Flags, Kind, Num, OpSpec, Role};
use isa::{Feature, Form, Lane, MachInst, ModFlags, Opcode, Operand, Reg, SdwaSel, Target, op};

/// xorshift64*
pub struct Rng {
    state: u64,
    /// Literals that have the value of an inline constant, which no assembler makes.
    pub odd_literals: bool,
}

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, odd_literals: false }
    }

    pub fn next(&mut self) -> u32 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(limit)) >> 32) as u32
    }

    pub fn chance(&mut self, one_in: u32) -> bool {
        self.below(one_in) == 0
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }
}

/// Every instruction and form the processor has, but for those of `common::graphics`.
pub fn all_forms(target: &'static Target) -> impl Iterator<Item = (Opcode, Form)> {
    isa::table::opcodes().filter(|op| !is_graphics(op.family())).flat_map(move |op| {
        let row = op.row();
        // An alias is decoded under its other name.
        let there = row.code(target).is_some() && !row.flags.contains(Flags::ALIAS);
        let several = matches!(row.family, Family::Vop1 | Family::Vop2 | Family::Vopc);
        let forms: &[Form] = match (there, several) {
            (false, _) => &[],
            (true, false) => &[Form::Full],
            (true, true) if row.flags.contains(Flags::NO_E64) => &[Form::Full, Form::Sdwa, Form::Dpp],
            (true, true) => &[Form::Full, Form::E32, Form::Sdwa, Form::Dpp],
        };
        forms.iter().filter(move |&&form| has_form(target, op, form)).map(move |&form| (op, form))
    })
}

/// One instruction.
pub fn inst(rng: &mut Rng, target: &Target, op: Opcode, form: Form) -> MachInst {
    let row = op.row();
    let mut inst = MachInst::new(op, &[]);
    inst.form = form;
    inst.len = row.ops.len() as u8;
    modifiers(rng, target, &mut inst);
    let mut literal = None;
    let mut sources = 0;
    let based = rng.chance(2);
    for (index, spec) in row.ops.iter().enumerate() {
        inst.ops[index] = operand(rng, target, &inst, spec, index, &mut sources, &mut literal, based);
    }
    if target.has(Feature::EVEN_VGPRS) {
        if rng.chance(2) {
            use_other_file(&mut inst);
        }
        let sync = row.flags.contains(Flags::GDS_ONLY);
        inst.operands_mut().iter_mut().for_each(|operand| *operand = even(*operand, sync));
    }
    if row.requires.contains(Feature::ATOMIC_FADD) && !target.has(Feature::FLOAT_ATOMIC_RESULTS) {
        // gfx908's atomics on floats return nothing.
        inst.mods.flags -= ModFlags::GLC;
        if row.family == Family::Global {
            inst.ops[0] = Operand::None;
        }
    }
    if row.has_no_scope(target) {
        inst.mods.flags -= ModFlags::SCC;
    }
    if row.name.starts_with("v_accvgpr_write")
        && !target.has(Feature::ACC_FROM_SGPR)
        && is_scalar(inst.ops[1])
    {
        inst.ops[1] = vgprs(rng, 1);
    }
    let has_offset = row.ops.last().is_some_and(|spec| spec.kind == Kind::SmemOffset);
    let beside_register = has_offset && matches!(inst.operands().last(), Some(Operand::Reg(_)));
    if beside_register && rng.chance(2) && target.version.0 >= 9 {
        inst.mods.offset = smem_offset(rng, target, inst.op);
    }
    inst
}

fn is_scalar(operand: Operand) -> bool {
    matches!(operand, Operand::Reg(range) if range.first.0 < 256)
}

/// gfx90a: all data of a memory access in accumulation VGPRs, the sums of a matrix instruction in VGPRs.
fn use_other_file(inst: &mut MachInst) {
    let row = inst.op.row();
    let memory = row.is_vmem() || row.family == Family::Ds;
    let has_address = row.family == Family::Ds && !row.flags.contains(Flags::NO_ADDR);
    let address = row.ops.iter().position(|spec| has_address && spec.role == Role::Use);
    for (index, (spec, operand)) in row.ops.iter().zip(inst.operands_mut()).enumerate() {
        if let Operand::Reg(range) = operand {
            let is_data = memory && matches!(spec.kind, Kind::Vgpr) && address != Some(index);
            if is_data && range.first.is_vgpr() || spec.kind == Kind::Acc {
                range.first.0 ^= 0x300;
            }
        }
    }
}

fn smem_offset(rng: &mut Rng, target: &Target, op: Opcode) -> i32 {
    match target.version.0 {
        6 => return rng.below(256) as i32,
        7 => return rng.next() as i32 & rng.pick(&[0xff, 0x7fff_ffff]),
        8 => return rng.below(1 << 20) as i32 & rng.pick(&[-1, 0xff]),
        _ => {}
    }
    let offset = (rng.next() as i32) >> rng.pick(&[11, 20, 28]);
    // The hardware takes negative offsets from buffers too, assemblers refuse them.
    if op.row().ops.iter().any(|spec| spec.width == 4 && spec.kind == Kind::Sgpr && spec.role == Role::Use)
        && op.row().name.contains("buffer")
    {
        offset & 0xf_ffff
    } else {
        offset
    }
}

#[allow(clippy::too_many_arguments)]
fn operand(
    rng: &mut Rng,
    target: &Target,
    inst: &MachInst,
    spec: &OpSpec,
    index: usize,
    sources: &mut u32,
    literal: &mut Option<u32>,
    based: bool,
) -> Operand {
    let row = inst.op.row();
    let vop = matches!(row.family, Family::Vop1 | Family::Vop2 | Family::Vopc);
    let only = inst.form == Form::Full && row.flags.contains(Flags::NO_E64);
    let short = vop && (inst.form == Form::E32 || only);
    let returns = !row.flags.contains(Flags::ATOMIC)
        || row.family == Family::Ds
        || inst.mods.flags.contains(ModFlags::GLC);
    let has = |flag| inst.mods.flags.contains(flag);
    let tfe = row.family == Family::Mubuf && index == 0 && !row.flags.contains(Flags::LDS_ONLY);
    let masks = (target.wave_size / 32) as u8;
    let vcc = Operand::regs(Reg::VCC, masks);
    let old_sdwa = target.version.0 == 8;
    match spec.kind {
        _ if tfe && has(ModFlags::LDS) => Operand::None,
        _ if index == 0 && spec.role == Role::Def && !returns => Operand::None,
        Kind::Sgpr if row.family == Family::Smem && index == 0 => {
            no_exec(sgprs(rng, target, spec.width), spec)
        }
        Kind::Sgpr => sgprs(rng, target, spec.width),
        Kind::Vgpr => vgprs(rng, spec.width + u8::from(tfe && has(ModFlags::TFE))),
        Kind::Mask if vop && (short || inst.form == Form::Dpp) => vcc,
        Kind::Mask if inst.form == Form::Sdwa && (index > 0 || row.family != Family::Vopc || old_sdwa) => vcc,
        Kind::Mask if spec.role == Role::Use => no_exec(sgprs(rng, target, masks), spec),
        Kind::Mask => sgprs(rng, target, masks),
        Kind::Lit => Operand::Literal(rng.next() >> if spec.num == Num::F16 { 16 } else { 0 }),
        Kind::Imm | Kind::Label => Operand::Imm(immediate(rng, target, inst.op, spec)),
        Kind::SmemOffset if rng.chance(2) => Operand::Imm(smem_offset(rng, target, inst.op)),
        Kind::SmemOffset => sgprs(rng, target, 1),
        Kind::Saddr => {
            if based {
                no_exec(sgprs(rng, target, spec.width), spec)
            } else {
                Operand::None
            }
        }
        Kind::Vaddr => vaddr(rng, inst, based),
        Kind::Agpr => agprs(rng, spec.width),
        Kind::Avgpr if rng.chance(2) => even(vgprs(rng, spec.width), false),
        Kind::Avgpr => agprs(rng, spec.width),
        // Assemblers refuse constants on gfx908, which has a defect there.
        Kind::Acc if spec.role == Role::Use && rng.chance(3) && target.has(Feature::MATRIX_CONSTANTS) => {
            Operand::Inline(128 + rng.below(65) as u16)
        }
        Kind::Acc if spec.role == Role::Use => other_sum(rng, inst.ops[0]),
        Kind::Acc => agprs(rng, spec.width),
        Kind::ExportTarget
        | Kind::Channel
        | Kind::Attribute
        | Kind::Parameter
        | Kind::Texels
        | Kind::ImageAddress(_) => {
            unreachable!("see common::graphics")
        }
        Kind::Ssrc => {
            let vop3_room = row.family != Family::Vop3 || target.version.0 == 10;
            // LLVM's assembler takes no literal for a lane number.
            let lane_number = matches!(row.name, "v_readlane_b32" | "v_writelane_b32") && vop3_room;
            let room = row.family != Family::Mubuf && vop3_room && !lane_number;
            source(rng, target, inst.op, spec, false, room, literal)
        }
        Kind::Vsrc => {
            *sources += 1;
            let vgpr_only = short && *sources == 2 || inst.form == Form::Dpp;
            if vgpr_only {
                return vgprs(rng, spec.width);
            }
            if inst.form == Form::Sdwa && old_sdwa {
                return vgprs(rng, 1);
            }
            // LLVM's assembler refuses literals of mixed precision and of 64 bits there.
            let long_room = inst.form == Form::Full
                && target.version.0 == 10
                && !row.caps.contains(Caps::MIX)
                && spec.width == 1;
            if inst.form == Form::Sdwa {
                return match rng.below(6) {
                    // Of how many bits that exponent is LLVM is of two minds.
                    0 if row.name != "v_ldexp_f16" => inline(rng, target, inst.op, spec),
                    1 | 2 => sgprs(rng, target, 1),
                    _ => vgprs(rng, 1),
                };
            }
            source(rng, target, inst.op, spec, true, short || long_room, literal)
        }
    }
}

fn vgprs(rng: &mut Rng, width: u8) -> Operand {
    Operand::regs(Reg::vgpr(rng.below(257 - u32::from(width)) as u16), width)
}

/// Groups of accumulation registers begin at even numbers on gfx90a.
fn agprs(rng: &mut Rng, width: u8) -> Operand {
    even(Operand::regs(Reg::agpr(rng.below(257 - u32::from(width)) as u16), width), false)
}

/// The same registers, or others that do not overlap them.
fn other_sum(rng: &mut Rng, sum: Operand) -> Operand {
    match sum {
        Operand::Reg(range) if rng.chance(2) => {
            let len = u16::from(range.len);
            let above = range.first.number() + len;
            let first = if above + len <= 256 { above } else { range.first.number().saturating_sub(len) };
            Operand::regs(Reg::agpr(first & !1), range.len)
        }
        other => other,
    }
}

fn even(operand: Operand, single: bool) -> Operand {
    match operand {
        Operand::Reg(range) if single || range.len > 1 => Operand::regs(Reg(range.first.0 & !1), range.len),
        other => other,
    }
}

/// EXEC and M0 are replaced.
fn no_exec(operand: Operand, spec: &OpSpec) -> Operand {
    match operand {
        Operand::Reg(range) if (124..=127).contains(&range.first.0) => {
            Operand::regs(Reg::sgpr(4), range.len.max(spec.width.min(1)))
        }
        other => other,
    }
}

fn sgprs(rng: &mut Rng, target: &Target, width: u8) -> Operand {
    if rng.chance(4) && width <= 2 {
        let specials: &[u16] = match (target.version.0, width) {
            (6 | 7, 2) => &[102, 106, 126, 108, 122],
            (6 | 7, _) => &[102, 103, 106, 107, 124, 126, 127, 114],
            // No xnack_mask: not every processor has one.
            (8, 2) => &[102, 106, 126, 108, 122],
            (8, _) => &[102, 103, 106, 107, 124, 126, 127, 114],
            (_, 2) => &[102, 104, 106, 126, 108, 122],
            _ => &[102, 105, 106, 107, 124, 126, 127, 110],
        };
        return Operand::regs(Reg(rng.pick(specials)), width);
    }
    let align = match width {
        1 => 1,
        2 => 2,
        _ => 4,
    };
    let first = rng.below((102 - u32::from(width)) / align + 1) * align;
    Operand::regs(Reg::sgpr(first as u16), width)
}

fn source(
    rng: &mut Rng,
    target: &Target,
    op: Opcode,
    spec: &OpSpec,
    vector: bool,
    room: bool,
    literal: &mut Option<u32>,
) -> Operand {
    // LLVM refuses inline constants of its half-precision source there, though not in the 32-bit form.
    let half_vop3 = op == op::V_CVT_F32_F16 && target.version.0 < 8 && !room;
    let wide = spec.width > 2 || half_vop3;
    let room = room && op.row().name != "s_cbranch_g_fork";
    let has_own_literal = op.row().ops.iter().any(|spec| spec.kind == Kind::Lit);
    match rng.below(8) {
        0..=2 if vector => vgprs(rng, spec.width),
        3 if !wide => inline(rng, target, op, spec),
        4 if !wide && room && !has_own_literal => {
            let half = matches!(spec.num, Num::F16 | Num::I16 | Num::U16 | Num::B16);
            // LLVM shows the low half only of what it takes for 16 bits there.
            let exponent = op.row().name == "v_ldexp_f16";
            let value = match *literal.get_or_insert_with(|| literal_value(rng, half || exponent)) {
                value if exponent => value & 0xeff | 0x1100,
                value => value,
            };
            *literal = Some(value);
            Operand::Literal(value)
        }
        _ => sgprs(rng, target, spec.width),
    }
}

/// Not a number that an assembler would make an inline constant.
fn literal_value(rng: &mut Rng, half: bool) -> u32 {
    if rng.odd_literals && rng.chance(2) {
        return rng.pick(&[
            0,
            1,
            64,
            65,
            0xffff_ffff,
            0xffff_fff0,
            0xffff_ffef,
            0x3f80_0000,
            0x3e22_f983,
            0x3118,
            0x4400,
            0xffff,
        ]);
    }
    let value = rng.next() | 0x0400_0100;
    if half { value & 0x7fff & !0x7000 | 0x1100 } else { value & !0x8000_0000 & !0x3800_0000 | 0x0800_0000 }
}

fn inline(rng: &mut Rng, target: &Target, _op: Opcode, _spec: &OpSpec) -> Operand {
    let floats = if target.has(Feature::INV_2PI) { 9 } else { 8 };
    Operand::Inline(match rng.below(3) {
        0 => 128 + rng.below(81) as u16,
        1 => 240 + rng.below(floats) as u16,
        _ => rng.pick(&[128, 129, 192, 193, 208, 240, 247, 239 + floats as u16]),
    })
}

fn immediate(rng: &mut Rng, target: &Target, op: Opcode, spec: &OpSpec) -> i32 {
    let value = rng.next();
    match op {
        _ if spec.kind == Kind::Label => i32::from(value as i16),
        op::S_SENDMSG | op::S_SENDMSGHALT => rng.pick(&[1, 0x22, 0x3, 0x112, 0x233, 4, 10, 0x1f, 0x4f]),
        op::S_WAITCNT => {
            let [vm, exp, lgkm] = [0, 8, 16].map(|shift| (value >> shift) as u8);
            i32::from(target.waitcnt(vm & target.max_vmcnt, exp & 7, lgkm & target.max_lgkmcnt))
        }
        op::S_SET_GPR_IDX_ON | op::S_SET_GPR_IDX_MODE => (value & 15) as i32,
        _ if op.family() == Family::Smem => (value & 127) as i32,
        op::S_SETPRIO => (value & 3) as i32,
        op::S_NOP => (value & 15) as i32,
        _ if spec.num == Num::I32 => i32::from(value as i16),
        _ => (value & 0xffff) as i32,
    }
}

fn vaddr(rng: &mut Rng, inst: &MachInst, based: bool) -> Operand {
    let width = match inst.op.family() {
        Family::Flat => 2,
        Family::Global => {
            if based {
                1
            } else {
                2
            }
        }
        Family::Scratch => u8::from(!based),
        _ if inst.mods.flags.contains(ModFlags::ADDR64) => 2,
        _ => {
            u8::from(inst.mods.flags.contains(ModFlags::OFFEN))
                + u8::from(inst.mods.flags.contains(ModFlags::IDXEN))
        }
    };
    if width == 0 { Operand::None } else { vgprs(rng, width) }
}

fn flags(rng: &mut Rng, candidates: &[ModFlags]) -> ModFlags {
    candidates.iter().copied().filter(|_| rng.chance(3)).collect()
}

/// The cache hints of a kind of memory access.
fn hints(target: &Target, family: Family) -> &'static [ModFlags] {
    use ModFlags as M;
    match (family, target.version.0) {
        (Family::Smem, 6 | 7) => &[],
        (Family::Smem, 8 | 9) => &const { [M::GLC] },
        (Family::Smem, 10) => &const { [M::GLC, M::DLC] },
        (_, 10) => &const { [M::GLC, M::SLC, M::DLC] },
        _ if has_scc(target) => &const { [M::GLC, M::SLC, M::SCC] },
        _ => &const { [M::GLC, M::SLC] },
    }
}

fn modifiers(rng: &mut Rng, target: &Target, inst: &mut MachInst) {
    let row = inst.op.row();
    let sources =
        row.ops.iter().filter(|spec| matches!(spec.kind, Kind::Vsrc | Kind::Vgpr) && spec.role == Role::Use);
    let nums: Vec<Num> = sources.map(|spec| spec.num).collect();
    let all = (1u8 << nums.len()) - 1;
    let floats = nums.iter().enumerate().map(|(n, num)| u8::from(num.is_float()) << n).sum::<u8>();
    let mods = &mut inst.mods;
    match (row.family, inst.form) {
        (Family::Smem, _) if row.ops.len() == 3 && row.ops[0].kind == Kind::Sgpr => {
            mods.flags = flags(rng, hints(target, Family::Smem))
        }
        (Family::Ds, _) => {
            if inst.op == op::DS_SWIZZLE_B32 {
                // Others have several encodings of one meaning.
                mods.offset = rng.pick(&[0, 0x80e4, 0x041f, 0x1c1f, 0x001f, 0x001c, 0xc000]);
            } else if !row.ops.is_empty() {
                mods.offset = rng.pick(&[0, 0, 4, 255, 256, 4660, 65535, 0x80e4, 0x041f, 0x1c1f]);
            }
            if !row.flags.contains(Flags::NO_GDS) && target.has(Feature::GDS) {
                mods.flags = flags(rng, &[ModFlags::GDS]);
            }
            if row.flags.contains(Flags::GDS_ONLY) {
                mods.flags = ModFlags::GDS;
            }
            if mods.flags.contains(ModFlags::GDS) && row.flags.contains(Flags::GDS_ONLY) {
                mods.offset = rng.pick(&[0, 16, 65535]);
            }
        }
        (Family::Mubuf, _) if !row.ops.is_empty() => {
            mods.offset = rng.pick(&[0, 4, 4095]);
            let lds = row.flags.contains(Flags::CAN_LDS) && rng.chance(4);
            mods.flags =
                flags(rng, hints(target, Family::Mubuf)) | flags(rng, &[ModFlags::OFFEN, ModFlags::IDXEN]);
            let both = ModFlags::OFFEN | ModFlags::IDXEN;
            if target.version.0 < 8 && rng.chance(4) {
                mods.flags = (mods.flags - both) | ModFlags::ADDR64;
            }
            mods.flags.set(ModFlags::LDS, lds);
            if row.flags.contains(Flags::ATOMIC) {
                mods.flags -= ModFlags::DLC;
            }
            if row.flags.contains(Flags::LDS_ONLY) {
                mods.flags.remove(ModFlags::OFFEN | ModFlags::IDXEN);
                mods.flags |= ModFlags::LDS;
            }
            let tfe = !lds && !has_scc(target);
            mods.flags.set(ModFlags::TFE, tfe && row.flags.contains(Flags::LOAD) && rng.chance(4));
        }
        (Family::Flat, _) => {
            mods.offset =
                rng.pick(&[0, 4, (1 << target.flat_offset_bits) - 1]) & ((1 << target.flat_offset_bits) - 1);
            mods.flags = flags(rng, hints(target, Family::Flat));
        }
        (Family::Global | Family::Scratch, _) => {
            let limit = 1 << (target.global_offset_bits.max(1) - 1);
            mods.offset = rng.pick(&[0, 4, limit - 1, -limit, -1]);
            mods.flags = flags(rng, hints(target, Family::Flat));
            mods.flags.set(ModFlags::LDS, row.flags.contains(Flags::TO_LDS));
        }
        (Family::Vop3p, _) if row.caps.contains(Caps::MFMA) => {
            mods.abs = rng.pick(&[0, rng.state as u8 & 7]);
            mods.op_sel = rng.pick(&[0, rng.state as u8 & 15]);
            mods.neg = rng.pick(&[0, rng.state as u8 & 7]);
        }
        (Family::Vop3p, _) if row.has_kind(Kind::Agpr) => {}
        (Family::Vop3p, _) => {
            let mix = row.caps.contains(Caps::MIX);
            mods.op_sel = rng.next() as u8 & all;
            mods.op_sel_hi = rng.pick(&[if mix { 0 } else { all }, rng.state as u8 & all]);
            if target.has(Feature::WHOLE_DOTS) && row.name.starts_with("v_dot") {
                (mods.op_sel, mods.op_sel_hi) = (0, all);
            }
            let signs = if mix || floats == all { all } else { 0 };
            mods.neg = rng.next() as u8 & signs & (rng.next() as u8);
            mods.abs = rng.next() as u8 & signs & (rng.next() as u8);
            if row.caps.intersects(Caps::CLAMP | Caps::INT_CLAMP) {
                mods.flags = flags(rng, &[ModFlags::CLAMP]);
            }
        }
        (Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vop3, form) => {
            vop(rng, target, inst, form, floats, all)
        }
        _ => {}
    }
}

fn vop(rng: &mut Rng, target: &Target, inst: &mut MachInst, form: Form, floats: u8, all: u8) {
    let row = inst.op.row();
    let mods = &mut inst.mods;
    if form == Form::E32 || form == Form::Full && row.flags.contains(Flags::NO_E64) {
        return;
    }
    let signs = rng.pick(&[0, rng.state as u8]) & floats;
    mods.neg = signs & rng.next() as u8;
    mods.abs = if form == Form::Full && row.has_mask_out() { 0 } else { signs & rng.next() as u8 };
    let sel = |rng: &mut Rng| SdwaSel::from_code(rng.below(7) as u8).expect("there are seven");
    match form {
        Form::Full => {
            let room = target.version.0 >= 8 || !row.has_mask_out();
            if row.clamps(target) && room {
                mods.flags = flags(rng, &[ModFlags::CLAMP]);
            }
            if row.caps.contains(Caps::OMOD) {
                mods.omod = rng.pick(&[0, 0, 1, 2, 3]);
            }
            if row.caps.contains(Caps::OP_SEL) && target.version.0 >= 9 {
                mods.op_sel = rng.pick(&[0, rng.state as u8]) & (all | 8);
            }
        }
        Form::Sdwa => {
            let vopc = row.family == Family::Vopc;
            let dst = if vopc { SdwaSel::Dword } else { sel(rng) };
            // LLVM's assembler refuses GFX8's accumulations into a part.
            let whole = target.version.0 == 8 && row.name.starts_with("v_mac_");
            let dst = if whole { SdwaSel::Dword } else { dst };
            let unused = if vopc || whole { 0 } else { rng.below(3) as u8 };
            let src1 = if all & 2 == 0 { SdwaSel::Dword } else { sel(rng) };
            let sext = rng.next() as u8 & all & !floats;
            mods.lane = Lane::Sdwa { dst, unused, src0: sel(rng), src1, sext };
            if !vopc {
                mods.flags = flags(rng, &[ModFlags::CLAMP]);
                if row.ops[0].num.is_float() && target.version.0 >= 9 {
                    mods.omod = rng.pick(&[0, 0, 1, 2, 3]);
                }
            }
        }
        Form::Dpp => {
            let wide = row.flags.contains(Flags::DPP64);
            if target.version.0 == 10 && (wide || rng.chance(4)) {
                (mods.neg, mods.abs) = (0, 0);
                mods.lane = Lane::Dpp8 { lanes: rng.next() & 0xff_ffff };
                mods.flags = flags(rng, &[ModFlags::FETCH_INACTIVE]);
                return;
            }
            let old = [0xe4, 0x1b, 0x101, 0x10f, 0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143];
            let new = [0xe4, 0x1b, 0x101, 0x10f, 0x111, 0x12f, 0x140, 0x141, 0x150, 0x15f, 0x160, 0x16f];
            let ctrl = if wide {
                0x150 | rng.below(16) as u16
            } else {
                rng.pick(if target.version.0 == 10 { &new } else { &old })
            };
            mods.lane = Lane::Dpp { ctrl, row_mask: rng.below(16) as u8, bank_mask: rng.below(16) as u8 };
            mods.flags = flags(rng, &[ModFlags::BOUND_CTRL]);
            if target.version.0 == 10 {
                mods.flags |= flags(rng, &[ModFlags::FETCH_INACTIVE]);
            }
        }
        Form::E32 => {}
    }
}

/// LLVM prints a float constant of a 16-bit integer operand as a number that it reads back as a literal.
pub fn shows_half_bits(inst: &MachInst) -> bool {
    let row = inst.op.row();
    let half = |num| matches!(num, Num::I16 | Num::U16 | Num::B16);
    row.family != Family::Vop3p
        && row.ops.iter().zip(inst.operands()).any(|(spec, operand)| match operand {
            Operand::Inline(code) => half(spec.num) && *code >= 240,
            _ => false,
        })
}
