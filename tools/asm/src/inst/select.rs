//! Finds the row of the instruction table and the encoding form (such as VOP3 or SDWA) that match a line of
//! source text.

use super::constant::{self, Constant};
use super::modifier::Written;
use super::operand::{Arg, ArgValue};
use super::{Instructions, Line, Pending, graphics};
use crate::error::{Error, Result, error};
use crate::expr::Value;
use isa::encode::{Problem, has_form};
use isa::table::{Caps, Family, Flags, Kind, OpSpec};
use isa::{Form, Lane, MachInst, ModFlags, Opcode, Operand, Role, Row, SdwaSel, Target};
use std::ops::Range;

/// The reason why a row of the instruction table, or an encoding form, does not match the line. Of all
/// reasons, the one with the highest rank is reported: the rank says how far matching got.
struct Mismatch {
    rank: u8,
    /// Index of the line's operand that does not match.
    arg: Option<usize>,
    message: String,
}

impl Mismatch {
    #[cold]
    fn new(rank: u8, arg: Option<usize>, message: impl Into<String>) -> Mismatch {
        Mismatch { rank, arg, message: message.into() }
    }
}

/// Encodes the line into `known.words`.
pub(super) fn select(
    known: &mut Instructions,
    rows: (u32, u32),
    asked: Option<Form>,
    name: &str,
    span: Range<usize>,
) -> Result<Option<Pending>> {
    let mut best: Option<Mismatch> = None;
    for n in rows.0..rows.1 {
        let op = known.opcodes[n as usize];
        let row = op.row();
        for form in forms(known.target, op, row, asked, &known.line.mods) {
            match attempt(known, op, row, form) {
                Ok(pending) => return Ok(pending),
                // SDWA is also tried if nothing in the source requests it. If it does not match, its error is
                // ignored, because the errors of the other forms help the user more.
                Err(_) if form == Form::Sdwa && asked.is_none() && known.line.mods.sdwa.is_none() => {}
                Err(mismatch) => {
                    if best.as_ref().is_none_or(|best| best.rank < mismatch.rank) {
                        best = Some(mismatch);
                    }
                }
            }
        }
    }
    Err(describe(known, best, asked, name, span))
}

/// Returns the encoding forms to try, shortest first. SDWA comes last, as in LLVM. SDWA is tried even if
/// nothing in the source requests it, because some lines match no other form. These are lines with `sext`,
/// and on GFX10 lines such as `v_cndmask_b32 v1, 0, 1`, in which the mask is omitted.
fn forms(
    target: &'static isa::Target,
    op: Opcode,
    row: &Row,
    wanted: Option<Form>,
    mods: &Written,
) -> impl Iterator<Item = Form> + use<> {
    const NONE: Form = Form::Full;
    let (sdwa, dpp, omod) = (mods.sdwa.is_some(), mods.dpp.is_some(), mods.has("mul"));
    let is_vop3 = matches!(row.family, Family::Vop3 | Family::Vop3p);
    let vop = matches!(row.family, Family::Vop1 | Family::Vop2 | Family::Vopc | Family::Vintrp);
    let (list, count) = match wanted {
        // A suffix may request the form that is the only one anyway.
        Some(Form::E32) if !vop && !is_vop3 => ([Form::Full, NONE, NONE], 1),
        Some(Form::Full) if is_vop3 => ([Form::Full, NONE, NONE], 1),
        Some(_) if !vop => ([NONE, NONE, NONE], 0),
        // An instruction without a 64-bit encoding has only one form. It is called `Full`, and it is the
        // 32-bit encoding.
        Some(Form::E32) if row.flags.contains(Flags::NO_E64) && vop => ([Form::Full, NONE, NONE], 1),
        Some(Form::Full) if row.flags.contains(Flags::NO_E64) => ([NONE, NONE, NONE], 0),
        Some(form) => ([form, NONE, NONE], 1),
        None if !vop => ([Form::Full, NONE, NONE], 1),
        None if sdwa => ([Form::Sdwa, NONE, NONE], 1),
        None if dpp => ([Form::Dpp, NONE, NONE], 1),
        // Only the long form has a field for `mul:1`.
        None if omod => ([Form::Full, NONE, NONE], 1),
        None => ([Form::E32, Form::Full, Form::Sdwa], 3),
    };
    list.into_iter().take(count).filter(move |&form| has_form(target, op, form))
}

fn attempt(
    known: &mut Instructions,
    op: Opcode,
    row: &'static Row,
    form: Form,
) -> std::result::Result<Option<Pending>, Mismatch> {
    let mut inst = MachInst::new(op, &[]);
    inst.form = form;
    let mut pending = None;
    let mut sources = Sources::default();
    let mut next = 0;
    let missing = row.ops.len().saturating_sub(known.line.len);
    // For each operand of the row, the index of the operand in the source from which it was converted. Error
    // messages point to this operand.
    let mut origin = [None; isa::inst::MAX_OPERANDS];
    for (index, spec) in row.ops.iter().enumerate() {
        let left = row.ops.len() - index;
        let given = known.line.args().get(next).copied();
        let lacking = missing > 0 && left > known.line.len - next.min(known.line.len);
        if let Some(operand) = absent(known, row, spec, index, form, given.as_ref(), lacking) {
            inst.ops[index] = operand;
            inst.len = index as u8 + 1;
            continue;
        }
        let Some(arg) = given else {
            if let Some(operand) = implied(spec, index, row) {
                inst.ops[index] = operand;
                inst.len = index as u8 + 1;
                continue;
            }
            return Err(Mismatch::new(1, None, "too few operands"));
        };
        origin[index] = Some(next);
        // In VOP3 and SDWA, the sign before a float source becomes a bit of the encoding, even before a
        // constant. In other forms, the sign changes the constant itself.
        let signed = matches!(form, Form::Full | Form::Sdwa) && row.is_valu() && spec.num.is_float();
        let operand = convert(known, row, spec, &arg, signed, &mut pending)
            .map_err(|message| Mismatch::new(2, Some(next), message))?;
        sources.add(spec, &arg, signed || matches!(operand, Operand::Reg(_)));
        inst.ops[index] = operand;
        inst.len = index as u8 + 1;
        next += 1;
    }
    if next < known.line.len {
        return Err(Mismatch::new(1, Some(next), "too many operands"));
    }
    modifiers(known.target, &mut inst, row, form, &known.line, &sources)
        .map_err(|message| Mismatch::new(3, None, message))?;
    if let Operand::Scattered(_) = inst.ops[1] {
        let behind = &mut inst.ops[usize::from(inst.len)..];
        for (slot, rest) in behind.iter_mut().zip(known.line.addresses.operands().skip(1)) {
            *slot = rest;
            inst.len += 1;
        }
    }
    known.words.clear();
    match isa::encode(known.target, &inst, &mut known.words) {
        Ok(()) if !isa::legal::constant_bus_ok(known.target, &inst, None) => {
            Err(Mismatch::new(5, None, "more scalar values and literals than the instruction can read"))
        }
        Ok(()) if isa::legal::sum_overlaps(row, &inst) => {
            Err(Mismatch::new(5, None, "the sum overlaps the destination in part"))
        }
        Ok(()) if mixes_files(known.target, row, &inst) => {
            Err(Mismatch::new(5, origin[3], "not of the destination's kind, VGPRs or accumulation VGPRs"))
        }
        Ok(()) => Ok(pending),
        Err(failure) => Err(explain(failure.problem, &origin)),
    }
}

/// Returns whether the addend of a matrix instruction is in another register file than its destination. If
/// both kinds of VGPRs are in one file, this has no encoding, because a single bit selects the kind of both.
fn mixes_files(target: &Target, row: &Row, inst: &MachInst) -> bool {
    let one_bit = row.caps.contains(Caps::MFMA) && target.has(isa::Feature::UNIFIED_VGPRS);
    match inst.operands() {
        [Operand::Reg(to), _, _, Operand::Reg(sum)]
            if one_bit && (sum.first.is_agpr() || sum.first.is_vgpr()) =>
        {
            to.first.is_agpr() != sum.first.is_agpr()
        }
        _ => false,
    }
}

/// `neg`, `abs` and `sext` of the sources so far.
#[derive(Clone, Copy, Default)]
struct Sources {
    count: u8,
    neg: u8,
    abs: u8,
    sext: u8,
}

impl Sources {
    fn add(&mut self, spec: &OpSpec, arg: &Arg, signed: bool) {
        if spec.role != Role::Use {
            return;
        }
        if signed {
            self.neg |= u8::from(arg.neg) << self.count;
            self.abs |= u8::from(arg.abs) << self.count;
        }
        self.sext |= u8::from(arg.sext) << self.count;
        self.count += u8::from(!matches!(spec.kind, Kind::Lit | Kind::Attribute | Kind::Parameter));
    }
}

/// Returns the value of an operand that the text omits although operands follow after it. `spec` describes
/// the operand in the table's row. Returns `None` if the text does not omit it.
fn absent(
    known: &Instructions,
    row: &Row,
    spec: &OpSpec,
    index: usize,
    form: Form,
    given: Option<&Arg>,
    lacking: bool,
) -> Option<Operand> {
    let flags = known.line.mods.flags;
    let returns = !row.flags.contains(Flags::ATOMIC) || flags.contains(ModFlags::GLC);
    let flat = matches!(row.family, Family::Flat | Family::Global | Family::Scratch);
    match spec.kind {
        // The destination of an atomic operation that returns nothing, or of a load to LDS, may be omitted.
        _ if index == 0 && lacking && spec.role == Role::Def && flat && !returns => Some(Operand::None),
        _ if index == 0
            && lacking
            && (row.family == Family::Mubuf || flat)
            && flags.contains(ModFlags::LDS) =>
        {
            Some(Operand::None)
        }
        // The 32-bit forms imply VCC.
        Kind::Mask if lacking && form != Form::Full && implies_mask(known, row, form, given) => {
            Some(Operand::regs(isa::Reg::VCC, known.target.mask_dwords()))
        }
        _ => None,
    }
}

/// Returns whether the text may omit a lane mask, which is then VCC. On GFX10, this is possible in all short
/// forms. If an instruction of GFX10 has two masks, both or none are omitted. On other generations,
/// comparisons and selections may omit the mask. On GFX9, additions that write a carry may omit it as well,
/// because they have a name of their own there (`v_add_co_u32`).
fn implies_mask(known: &Instructions, row: &Row, form: Form, given: Option<&Arg>) -> bool {
    let target = known.target;
    let is_mask =
        matches!(given, Some(Arg { value: ArgValue::Reg(range), .. }) if range.first == isa::Reg::VCC);
    let masks = row.ops.iter().filter(|spec| spec.kind == Kind::Mask).count();
    let carries = masks > 1;
    match row.family {
        Family::Vopc => form == Form::E32,
        _ if is_mask => false,
        _ if target.arch.layout.omits_masks_together() => row.ops.len() - known.line.len == masks,
        _ if row.ops[1].kind == Kind::Mask => {
            !carries && form == Form::E32 && target.has(isa::Feature::ADD_NO_CARRY)
        }
        _ => form == Form::E32,
    }
}

/// Returns the value of a last operand that is not written.
fn implied(spec: &OpSpec, index: usize, row: &Row) -> Option<Operand> {
    match spec.kind {
        Kind::SmemOffset => Some(Operand::Imm(0)),
        Kind::Imm if index == 0 && row.name == "s_endpgm" => Some(Operand::Imm(0)),
        _ => None,
    }
}

/// Converts an operand to what the row requires.
fn convert(
    known: &Instructions,
    row: &Row,
    spec: &OpSpec,
    arg: &Arg,
    signed: bool,
    pending: &mut Option<Pending>,
) -> std::result::Result<Operand, &'static str> {
    let packed = row.family == Family::Vop3p;
    if packed && (arg.neg || arg.abs) && !row.caps.contains(Caps::MIX) {
        return Err("packed sources have `neg_lo` and `neg_hi` behind the operands");
    }
    let value = match arg.value {
        ArgValue::Reg(range) if range.first.is_agpr() && !takes_accumulators(spec.kind) => {
            return Err("an accumulation VGPR cannot stand here");
        }
        // Half of an aperture register is not allowed as an offset.
        ArgValue::Reg(range) if spec.kind == Kind::SmemOffset && matches!(range.first.0, 235..=239) => {
            return Err("this register cannot stand here");
        }
        ArgValue::Reg(range) => return Ok(Operand::Reg(widened(known.target, row, spec, range))),
        ArgValue::Off => {
            return match spec.kind {
                Kind::Vaddr | Kind::Saddr | Kind::Vgpr | Kind::Channel => Ok(Operand::None),
                _ => Err("`off` cannot stand here"),
            };
        }
        ArgValue::Field(bits) => {
            return match spec.kind {
                Kind::Imm => Ok(Operand::Imm(i32::from(bits))),
                _ => Err("this cannot stand here"),
            };
        }
        ArgValue::Named(kind, number) if kind == spec.kind => return Ok(Operand::Imm(number.into())),
        ArgValue::Named(..) => return Err("this cannot stand here"),
        ArgValue::Scattered => return Ok(known.line.addresses.operands().next().unwrap_or_default()),
        ArgValue::Expr(id) => return symbolic(spec, arg, Value::Expr(id), pending),
        ArgValue::Int(value) => Constant::Int(value),
        ArgValue::Float(value) => Constant::Float(value),
    };
    match spec.kind {
        // A constant sum of a matrix instruction.
        Kind::Acc if spec.role == Role::Use => {
            constant::operand(value, spec.num, packed, known.target.has(isa::Feature::INV_2PI))
        }
        Kind::Ssrc | Kind::Vsrc => {
            let value = if signed { value } else { value.modified(arg.neg, arg.abs, spec.num) };
            constant::operand(value, spec.num, packed, known.target.has(isa::Feature::INV_2PI))
        }
        Kind::Lit => {
            constant::literal(value.modified(arg.neg, arg.abs, spec.num), spec.num).map(Operand::Literal)
        }
        Kind::Imm | Kind::SmemOffset => match value {
            Constant::Int(..0) if is_unsigned(known.target, row, spec) => Err("the number is below 0"),
            Constant::Int(value) => immediate(value).map(Operand::Imm),
            Constant::Float(_) => Err("an integer is expected"),
        },
        Kind::Label => match value {
            // Distances have 16 bits and may be written as signed or unsigned numbers.
            Constant::Int(value) => match (i16::try_from(value), u16::try_from(value)) {
                (Ok(value), _) => Ok(Operand::Imm(value.into())),
                (_, Ok(value)) => Ok(Operand::Imm((value as i16).into())),
                _ => Err("the branch distance does not fit 16 bits"),
            },
            Constant::Float(_) => Err("a label or a distance is expected"),
        },
        Kind::Vgpr => Err("a VGPR is expected"),
        Kind::Sgpr => Err("a scalar register is expected"),
        Kind::Mask => Err("a lane mask is expected"),
        Kind::Vaddr => Err("an address in VGPRs or `off` is expected"),
        Kind::Saddr => Err("an address in SGPRs or `off` is expected"),
        _ => Err("a register is expected"),
    }
}

/// Returns whether an operand of this kind may be an accumulation VGPR on a processor that allows it.
const fn takes_accumulators(kind: Kind) -> bool {
    matches!(kind, Kind::Agpr | Kind::Avgpr | Kind::Acc | Kind::Vgpr | Kind::Texels)
}

/// Gives a register the width that the operand has, if the register may have any width. These are `null`,
/// apertures and status bits.
fn widened(target: &Target, row: &Row, spec: &OpSpec, range: isa::RegRange) -> isa::RegRange {
    let is_descriptor = spec.kind == Kind::Sgpr && spec.role == Role::Use && spec.width >= 4;
    let any_width = match range.first.0 {
        _ if target.arch.registers.null == Some(range.first) => !is_descriptor,
        235..=239 => true,
        // Status bits. LLVM accepts them in `s_movrels_b32`, but not in `s_movrels_b64`. They are accepted in
        // both here, because the hardware and the decoder accept the same sources for both.
        251..=253 => matches!(spec.kind, Kind::Ssrc | Kind::Vsrc) || row.name == "s_movrels_b64",
        _ => false,
    };
    // The addend of a matrix instruction has the size of a whole matrix. Such a register would be used for
    // all its elements, so it is not widened.
    if !any_width || spec.kind == Kind::Acc {
        return range;
    }
    isa::RegRange { len: spec.dwords(target).max(1), ..range }
}

/// Returns whether a 16-bit number must not be negative. There are two cases: operands of unsigned
/// comparisons, and offsets on processors whose scalar offsets are unsigned.
fn is_unsigned(target: &Target, row: &Row, spec: &OpSpec) -> bool {
    match spec.kind {
        Kind::SmemOffset => !target.arch.layout.has_signed_scalar_offsets(),
        _ => row.family == Family::Sopk && row.name.ends_with("_u32"),
    }
}

fn immediate(value: i64) -> std::result::Result<i32, &'static str> {
    i32::try_from(value)
        .or(u32::try_from(value).map(|value| value as i32))
        .map_err(|_| "the number is too large")
}

fn symbolic(
    spec: &OpSpec,
    arg: &Arg,
    value: Value,
    pending: &mut Option<Pending>,
) -> std::result::Result<Operand, &'static str> {
    let branch = spec.kind == Kind::Label;
    if !branch && !matches!(spec.kind, Kind::Ssrc | Kind::Vsrc | Kind::Lit) {
        return Err("neither a register nor a known number");
    }
    if pending.is_some() {
        return Err("a second symbol in one instruction");
    }
    if arg.neg || arg.abs || arg.sext {
        return Err("signs and bars cannot stand around a symbol");
    }
    if !branch && (spec.num.is_wide() || spec.num.is_half()) {
        return Err("a symbol that is not known yet stands for 32 bits");
    }
    *pending = Some(Pending { value, branch, span: arg.span() });
    Ok(if branch { Operand::Imm(0) } else { Operand::Reloc(0) })
}

fn modifiers(
    target: &Target,
    inst: &mut MachInst,
    row: &Row,
    form: Form,
    line: &Line,
    sources: &Sources,
) -> std::result::Result<(), &'static str> {
    let written = &line.mods;
    let has_offset_register =
        row.family == Family::Smem && matches!(inst.operands().last(), Some(Operand::Reg(_)));
    let mods = &mut inst.mods;
    mods.flags = written.flags;
    if !written.names_caches_as(target, row) {
        return Err("the instruction has other cache modifiers on this processor");
    }
    if row.has_no_scope(target) && target.arch.layout.has_flag(ModFlags::SCC) {
        // The flag is accepted but has no meaning.
        mods.flags -= ModFlags::SCC;
    }
    if row.flags.contains(Flags::TO_LDS) {
        if mods.flags.contains(ModFlags::LDS) {
            return Err("the name of the instruction says that it loads to LDS");
        }
        mods.flags |= ModFlags::LDS;
    }
    if row.has_mask_out() && !target.has(isa::Feature::INT_CLAMP) && !row.caps.contains(Caps::INT_CLAMP) {
        // The field of this bit contains the mask.
        mods.flags -= ModFlags::CLAMP;
    }
    if has_offset_register && written.offset == Some(0) && target.arch.layout.marks_sums_of_scalar_offsets() {
        // If the source gives both an SGPR and an offset, the encoding has a field of its own for the offset,
        // even if it is 0.
        mods.flags |= ModFlags::OFFEN;
    }
    mods.omod = written.omod;
    mods.neg = sources.neg;
    mods.abs = sources.abs;
    if sources.sext != 0 && form != Form::Sdwa {
        return Err("`sext` needs the SDWA form");
    }
    if written.op_sel.is_some() && !target.arch.layout.has_op_sel() {
        return Err("`op_sel` is GFX9's and later");
    }
    let halves = [written.op_sel, written.op_sel_hi, written.neg_lo, written.neg_hi];
    if row.caps.contains(Caps::MFMA) && halves.iter().any(Option::is_some) {
        return Err("matrix instructions select no halves");
    }
    if written.op_sel.is_some()
        && row.family != Family::Vop3p
        && !row.caps.intersects(Caps::OP_SEL | Caps::PERMLANE)
    {
        return Err("the instruction does not take op_sel here");
    }
    if let Some(bits) = written.op_sel {
        // `op_sel` has a bit for each source, and may have one more bit at the end. This last bit is that of
        // the destination, whatever the number of sources is.
        let below = bits.bits & ((1u16 << sources.count) as u8).wrapping_sub(1);
        let destination = bits.count > sources.count && bits.bits >> sources.count & 1 != 0;
        if bits.count > sources.count + 1 {
            return Err("too many numbers in `op_sel`");
        }
        mods.op_sel = below | u8::from(destination) << 3;
    }
    packed_modifiers(mods, row, written, sources)?;
    let is_whole =
        target.has(isa::Feature::WHOLE_DOTS) && row.family == Family::Vop3p && row.name.starts_with("v_dot");
    if is_whole && (mods.op_sel != 0 || mods.op_sel_hi != (1 << sources.count) - 1) {
        return Err("dot products select no halves on this processor");
    }
    if let Some([cbsz, abid, blgp]) = written.matrix {
        if !row.caps.contains(Caps::MFMA) {
            return Err("`cbsz`, `abid` and `blgp` are for matrix instructions");
        }
        (mods.abs, mods.op_sel, mods.neg) = (cbsz, abid, blgp);
    }
    offsets(mods, row, written)?;
    if form == Form::Sdwa && written.dpp.is_some() {
        return Err("DPP controls need the DPP form");
    }
    if form == Form::Dpp && written.sdwa.is_some() {
        return Err("SDWA selections need the SDWA form");
    }
    mods.lane = match form {
        Form::Sdwa => sdwa(row, written, sources),
        Form::Dpp => dpp(written)?,
        _ if written.sdwa.is_some() => return Err("SDWA selections need the SDWA form"),
        _ if written.dpp.is_some() => return Err("DPP controls need the DPP form"),
        _ => graphics::lane(target, row, line)?,
    };
    graphics::pair_sources(inst);
    Ok(())
}

fn packed_modifiers(
    mods: &mut isa::Mods,
    row: &Row,
    written: &Written,
    sources: &Sources,
) -> std::result::Result<(), &'static str> {
    if row.family != Family::Vop3p {
        return match (written.op_sel_hi, written.neg_lo, written.neg_hi) {
            (None, None, None) => Ok(()),
            _ => Err("`op_sel_hi`, `neg_lo` and `neg_hi` are for packed instructions"),
        };
    }
    let all = (1 << sources.count) - 1;
    if row.caps.contains(Caps::MIX) && (written.neg_lo.is_some() || written.neg_hi.is_some()) {
        return Err("signs of mixed precision stand before the operands");
    }
    // By default, packed instructions select the high halves of their sources for the second result.
    // Mixed-precision instructions and instructions with accumulation registers do not select halves by
    // default.
    let halves = !row.caps.intersects(Caps::MIX | Caps::MFMA) && !row.has_kind(Kind::Agpr);
    let default = if halves { all } else { 0 };
    mods.op_sel_hi = written.op_sel_hi.map_or(default, |bits| bits.bits & all);
    if let Some(bits) = written.neg_lo {
        mods.neg ^= bits.bits;
    }
    if let Some(bits) = written.neg_hi {
        mods.abs |= bits.bits;
    }
    Ok(())
}

fn offsets(mods: &mut isa::Mods, row: &Row, written: &Written) -> std::result::Result<(), &'static str> {
    if let Some(offset) = written.offset {
        mods.offset = i32::try_from(offset).map_err(|_| "the offset does not fit its field")?;
    }
    if written.offsets != [None, None] {
        if !row.flags.contains(Flags::OFFSET2) {
            return Err("`offset0` and `offset1` are for instructions with two offsets");
        }
        let [first, second] = written.offsets.map(|offset| i32::from(offset.unwrap_or(0)));
        mods.offset = first | second << 8;
    } else if row.flags.contains(Flags::OFFSET2) && written.offset.is_some() {
        return Err("the instruction has two offsets: `offset0` and `offset1`");
    }
    Ok(())
}

fn sdwa(row: &Row, written: &Written, sources: &Sources) -> Lane {
    let sdwa = written.sdwa.unwrap_or_default();
    let dword = |sel: Option<SdwaSel>| sel.unwrap_or(SdwaSel::Dword);
    let compare = row.family == Family::Vopc;
    Lane::Sdwa {
        dst: dword(sdwa.dst),
        // Unused bits are preserved unless the text says otherwise.
        unused: if compare { 0 } else { sdwa.unused.unwrap_or(2) },
        src0: dword(sdwa.src0),
        src1: dword(sdwa.src1),
        sext: sources.sext,
    }
}

fn dpp(written: &Written) -> std::result::Result<Lane, &'static str> {
    let dpp = written.dpp.unwrap_or_default();
    if let Some(lanes) = dpp.lanes {
        return match (dpp.ctrl, dpp.row_mask, dpp.bank_mask) {
            (None, None, None) => Ok(Lane::Dpp8 { lanes }),
            _ => Err("`dpp8` stands alone"),
        };
    }
    let mask = |mask: Option<u8>| mask.unwrap_or(15);
    let ctrl = dpp.ctrl.unwrap_or(0xe4);
    Ok(Lane::Dpp { ctrl, row_mask: mask(dpp.row_mask), bank_mask: mask(dpp.bank_mask) })
}

#[cold]
fn explain(problem: Problem, origin: &[Option<usize>]) -> Mismatch {
    let at = |n: u8| origin.get(usize::from(n)).copied().flatten();
    match problem {
        Problem::Unavailable => Mismatch::new(0, None, "not on this processor"),
        Problem::Form => Mismatch::new(0, None, "the instruction has no such form"),
        Problem::Count => Mismatch::new(1, None, "wrong number of operands"),
        Problem::Operand(n) => Mismatch::new(4, at(n), "this kind of operand cannot stand here"),
        Problem::Register(n) => {
            Mismatch::new(4, at(n), "not a register group of the size and alignment that is needed here")
        }
        Problem::Literal(n) => Mismatch::new(5, at(n), "the encoding has no room for this literal"),
        Problem::Unresolved(n) => Mismatch::new(4, at(n), "unresolved"),
        Problem::Range(n) => Mismatch::new(5, at(n), "the number does not fit its field"),
        Problem::Offset => Mismatch::new(5, None, "the offset does not fit its field"),
        Problem::Modifier(what) => {
            Mismatch::new(5, None, format!("the instruction does not take {what} here"))
        }
    }
}

#[cold]
fn describe(
    known: &Instructions,
    best: Option<Mismatch>,
    form: Option<Form>,
    name: &str,
    span: Range<usize>,
) -> Error {
    let Some(mismatch) = best else {
        let what = match form {
            Some(Form::Sdwa) => "SDWA",
            Some(Form::Dpp) => "DPP",
            Some(Form::E32) => "32-bit",
            _ => "such",
        };
        return error(span, format!("`{name}`: the instruction has no {what} form on {}", known.target.name));
    };
    let place = match mismatch.arg.and_then(|n| known.line.args().get(n)) {
        Some(arg) => arg.span(),
        None => span,
    };
    let op = known.opcodes[known.lookup(name).map_or(0, |(rows, _)| rows.0 as usize)];
    error(place, format!("invalid operands for `{name}`"))
        .label(mismatch.message)
        .note(format!("it is written `{}`", pattern(name, op.row())))
}

/// Returns the operands that a row of the instruction table expects, as text for messages, such as `v_add_f32
/// VGPR, source, source`.
fn pattern(name: &str, row: &Row) -> String {
    let mut text = name.to_owned();
    for (n, spec) in row.ops.iter().enumerate() {
        text.push_str(if n == 0 { " " } else { ", " });
        let kind = match spec.kind {
            Kind::Sgpr => "SGPR",
            Kind::Ssrc => "SGPR-or-constant",
            Kind::Vgpr => "VGPR",
            Kind::Vsrc => "register-or-constant",
            Kind::Mask => "mask",
            Kind::Imm => "number",
            Kind::Label => "label",
            Kind::Lit => "literal",
            Kind::SmemOffset => "offset",
            Kind::Vaddr => "vaddr",
            Kind::Saddr => "saddr",
            Kind::Agpr => "AGPR",
            _ => "register",
        };
        text.push_str(kind);
        if spec.width > 1 && !matches!(spec.kind, Kind::Vaddr) {
            text.push_str(&format!("[{}]", spec.width));
        }
    }
    text
}
