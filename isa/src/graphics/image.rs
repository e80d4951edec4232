//! Image instructions (family MIMG). Modifiers determine the sizes of operands. `dmask`, `d16` and `tfe`
//! determine the size of the data. On GFX10, the dimension of the image (`dim`) and `a16` determine the size
//! of the address.
//!
//! On GFX10, the VGPRs of an address need not be consecutive (NSA, "non-sequential address"). The number of
//! the first VGPR is in the second dword of the instruction. The numbers of the other VGPRs are in up to
//! three further dwords, with one byte for each.

use super::operands::*;
use super::{Code, Encoding, prefix_bits};
use crate::decode::{DecodeError, Meaningless};
use crate::encode::Problem;
use crate::inst::{Lane, MachInst, ModFlags};
use crate::layout::{Field, Layout};
use crate::operand::{Operand, Scattered};
use crate::reg::Reg;
use crate::table::{AddressParts, FIRST_MSAA_DIM, Flags, ImageAddress, Kind, Num, Opcode, Row};
use crate::target::{Feature, Target};

const OP: Field = Field::new(18, 7);
/// Field for bit 7 of the opcode on GFX10.
const OP_HIGH: Field = Field::new(0, 1);
/// Field for the number of additional dwords with address registers (GFX10).
const NSA: Field = Field::new(1, 2);
const DIM: Field = Field::new(3, 3);
pub(super) const DMASK: Field = Field::new(8, 4);
const VADDR: Field = Field::new(32, 8);
const VDATA: Field = Field::new(40, 8);
const SRSRC: Field = Field::new(48, 5);
const SSAMP: Field = Field::new(53, 5);
/// Bit on gfx90a that says whether the data is in accumulation VGPRs. On other processors, this bit is `tfe`.
const ACC: Field = Field::new(16, 1);

pub(crate) const UNORM: (ModFlags, Field) = (ModFlags::UNORM, Field::new(12, 1));
pub(crate) const GLC: (ModFlags, Field) = (ModFlags::GLC, Field::new(13, 1));
pub(crate) const DA: (ModFlags, Field) = (ModFlags::DA, Field::new(14, 1));
pub(crate) const R128: (ModFlags, Field) = (ModFlags::R128, Field::new(15, 1));
pub(crate) const TFE: (ModFlags, Field) = (ModFlags::TFE, Field::new(16, 1));
pub(crate) const LWE: (ModFlags, Field) = (ModFlags::LWE, Field::new(17, 1));
pub(crate) const SLC: (ModFlags, Field) = (ModFlags::SLC, Field::new(25, 1));
pub(crate) const D16: (ModFlags, Field) = (ModFlags::D16, Field::new(63, 1));
/// Modifier `a16` on GFX9, which selects 16-bit addresses. In instructions that have it, it takes the bit of
/// `r128`. GFX10 has a separate bit for `a16`.
pub(crate) const A16_GFX9: (ModFlags, Field) = (ModFlags::A16, Field::new(15, 1));
pub(crate) const A16: (ModFlags, Field) = (ModFlags::A16, Field::new(62, 1));
pub(crate) const DLC: (ModFlags, Field) = (ModFlags::DLC, Field::new(7, 1));
pub(crate) const SCC: (ModFlags, Field) = (ModFlags::SCC, Field::new(7, 1));

/// Mask of the bits that LLVM's disassembler ignores.
pub(crate) const SPARE: u64 = DMASK.bits() | 3 << 1 | 1 << 6 | 1 << 14 | 0xf << 58;
pub(crate) const SPARE_GFX8: u64 = DMASK.bits() | 0xfe | 0x1f << 58;

/// Returns the positions of the flags of image instructions.
fn flags(target: &Target) -> &'static [(ModFlags, Field)] {
    Layout::for_target(target).graphics.image_flags
}

fn has_dims(target: &Target) -> bool {
    Layout::for_target(target).graphics.image_dims
}

/// Returns the modifier bits that every ray-tracing instruction must have: all components, `unorm` and
/// `r128`.
fn ray_bits() -> u64 {
    DMASK.put(15) | UNORM.1.put(1) | R128.1.put(1)
}

/// Maximum number of VGPRs of an address in non-consecutive registers. One is in the instruction's second
/// dword, and four are in each of the three further dwords.
const MAX_ADDRESSES: usize = 13;

/// Returns the opcode number of an image instruction.
pub(super) fn opcode(target: &Target, bits: u64) -> u32 {
    let high = if has_dims(target) { OP_HIGH.get(bits) } else { 0 };
    OP.get(bits) | high << 7
}

/// Returns the number of dwords of an image instruction. Its first dword determines this.
pub(super) fn words_of(target: &Target, first: u32) -> usize {
    2 + if target.has(Feature::NSA) { NSA.get(first.into()) as usize } else { 0 }
}

/// Returns how many dwords follow the first two dwords of an instruction. These dwords hold the numbers of
/// address registers.
pub(super) fn further_words(inst: &MachInst) -> usize {
    let count = |operand: &Operand| match operand {
        Operand::Scattered(scattered) => scattered.numbers().len(),
        _ => 0,
    };
    inst.operands().iter().map(count).sum::<usize>().saturating_sub(1).div_ceil(4)
}

/// Returns the components that the address of an instruction has.
fn address_of(row: &Row) -> ImageAddress {
    match row.ops[1].kind {
        Kind::ImageAddress(address) => address,
        _ => ImageAddress { dwords: 0, parts: AddressParts::empty() },
    }
}

/// Returns `dmask` and `dim`, if the instruction accepts them.
fn components(target: &Target, row: &Row, lane: Lane) -> Result<(u8, u8), Problem> {
    let address = address_of(row);
    if address.parts.contains(AddressParts::RAY) {
        return if lane == Lane::None { Ok((15, 0)) } else { Err(Problem::Modifier("dmask or dim")) };
    }
    let (dmask, dim) = match lane {
        Lane::None => (0, 0),
        Lane::Image { dmask: dmask @ 0..=15, dim: dim @ 0..=7 } => (dmask, dim),
        _ => return Err(Problem::Modifier("this dmask or dim")),
    };
    if dim != 0 && !has_dims(target) {
        return Err(Problem::Modifier("dim"));
    }
    if address.parts.contains(AddressParts::SAMPLES) && dim < FIRST_MSAA_DIM {
        return Err(Problem::Modifier("a dim without samples"));
    }
    let whole = |bits: u8| dmask == (1u8 << bits) - 1;
    let width = row.ops[0].width;
    let fits = match width {
        0 => true,
        _ if row.flags.contains(Flags::ATOMIC) => whole(width) || whole(2 * width),
        _ => dmask.is_power_of_two(),
    };
    if fits { Ok((dmask, dim)) } else { Err(Problem::Modifier("this dmask")) }
}

/// Returns the size of the data in dwords.
fn data_len(target: &Target, row: &Row, dmask: u8, flags: ModFlags) -> Result<u8, Problem> {
    let spec = &row.ops[0];
    let (d16, tfe) = (flags.contains(ModFlags::D16), flags.contains(ModFlags::TFE));
    let values = match spec.width {
        width if width > 0 && !row.flags.contains(Flags::ATOMIC) => width,
        _ => (dmask.count_ones() as u8).max(1),
    };
    let packed = d16 && !target.has(Feature::UNPACKED_D16);
    match () {
        _ if d16 && spec.num == Num::B32 => Err(Problem::Modifier("d16")),
        // LLVM has no instruction with data of this size.
        _ if packed && tfe && spec.width == 4 => Err(Problem::Modifier("tfe beside d16")),
        _ if packed => Ok(values.div_ceil(2) + u8::from(tfe)),
        _ => Ok(values + u8::from(tfe)),
    }
}

/// Returns the size in dwords of an image instruction's address on GFX10. Returns `None` if the dimension has
/// no meaning in the instruction; multisampled images, for example, have no levels of detail. Such a
/// dimension is recognised by a size that is larger than the size for every dimension with a meaning. A size
/// of eight is an exception and is accepted.
fn exact_len(address: ImageAddress, dim: u8, a16: bool) -> Option<u8> {
    let len = address.len(dim, a16);
    let most = address.len_range().1;
    (len <= most || len == 8 && most >= 5).then_some(len)
}

/// Returns whether an address of `len` dwords suits the instruction. If the address has five to seven dwords,
/// `len` may also be eight, because assemblers may have no register groups of five to seven. Before GFX10,
/// the dimension is not known, so `len` is accepted if it suits any dimension.
fn address_fits(target: &Target, address: ImageAddress, dim: u8, a16: bool, len: u8) -> bool {
    if has_dims(target) {
        let Some(exact) = exact_len(address, dim, a16) else { return false };
        return len == exact
            || len == 8 && (5..=7).contains(&exact) && !address.parts.contains(AddressParts::RAY);
    }
    let (least, most) = address.len_range();
    (least..=most).contains(&len) || len == 8 && (5..=7).contains(&most)
}

/// Returns the register numbers of an address in non-consecutive registers, and how many there are. Returns
/// `None` if the registers are consecutive.
fn scattered(inst: &MachInst, row: &Row) -> Result<Option<([u8; MAX_ADDRESSES], usize)>, Problem> {
    let rest = inst.operands().get(row.ops.len()..).unwrap_or_default();
    if !matches!(inst.ops[1], Operand::Scattered(_)) {
        return if rest.is_empty() { Ok(None) } else { Err(Problem::Count) };
    }
    let (mut numbers, mut count) = ([0; MAX_ADDRESSES], 0);
    for (n, part) in inst.ops[1..2].iter().chain(rest).enumerate() {
        // If the address takes several operands, only the last of them may have unused room.
        let (Operand::Scattered(part), true) = (part, count == n * Scattered::MAX) else {
            return Err(Problem::Count);
        };
        let end = count + part.numbers().len();
        numbers.get_mut(count..end).ok_or(Problem::Count)?.copy_from_slice(part.numbers());
        count = end;
    }
    Ok(Some((numbers, count)))
}

/// Returns the words of an image instruction.
pub(super) fn encode(target: &Target, row: &Row, code: u32, inst: &MachInst) -> Result<Code, Problem> {
    let mods = &inst.mods;
    no_source_mods(mods)?;
    if mods.offset != 0 {
        return Err(Problem::Offset);
    }
    let (dmask, dim) = components(target, row, mods.lane)?;
    let address = address_of(row);
    let ray = address.parts.contains(AddressParts::RAY);
    if ray && !(mods.flags - ModFlags::A16).is_empty() {
        return Err(Problem::Modifier("a flag"));
    }
    let (data, acc) = data(target, inst.ops[0], data_len(target, row, dmask, mods.flags)?, ACC, 0)?;
    let mut bits = prefix_bits(target, Encoding::Mimg)
        | OP.put(code & 0x7f)
        | flag_bits(mods, flags(target))?
        | DMASK.put(dmask.into())
        | VDATA.put(data)
        | acc
        | SRSRC.put(sgprs(target, inst.ops[2], row.ops[2].width, 4, 2)?);
    if has_dims(target) {
        bits |= OP_HIGH.put(code >> 7) | DIM.put(dim.into());
    }
    if ray {
        bits |= ray_bits();
    }
    if let Some(sampler) = row.ops.get(3) {
        bits |= SSAMP.put(sgprs(target, inst.ops[3], sampler.width, 4, 3)?);
    }
    let fits = |len: u8| address_fits(target, address, dim, mods.flags.contains(ModFlags::A16), len);
    let Some((numbers, count)) = scattered(inst, row)? else {
        let len = match inst.ops[1] {
            Operand::Reg(range) if fits(range.len) => range.len,
            Operand::Virt(_) => return Err(Problem::Unresolved(1)),
            _ => return Err(Problem::Register(1)),
        };
        return Ok(Code::two(bits | VADDR.put(vgprs(target, inst.ops[1], len, 1)?)));
    };
    let len = exact_len(address, dim, mods.flags.contains(ModFlags::A16));
    // Sampling instructions have no fourth coordinate.
    let len = len.filter(|&len| row.ops.len() < 4 || len <= address.most());
    if !target.has(Feature::NSA) || count < 2 || len.map(usize::from) != Some(count) {
        return Err(Problem::Register(1));
    }
    let further = further_words(inst);
    let mut words = Code::two(bits | VADDR.put(numbers[0].into()) | NSA.put(further as u32));
    for chunk in numbers[1..=4 * further].chunks_exact(4) {
        words.push(u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]));
    }
    Ok(words)
}

/// Returns the sizes that LLVM's disassembler shows for an image atomic, in dwords: the size of the data, and
/// the size of the address if it differs from `address`. Usually LLVM shows the encoded sizes. If LLVM's
/// table has no instruction with these sizes, it shows the instruction with the smallest data. The address
/// then has four registers if its registers are not consecutive, and one otherwise (`docs/isa-errata.md`).
fn atomic_sizes(row: &Row, asked: u8, address: u8, nsa: usize) -> (u8, Option<u8>) {
    let width = row.ops[0].width;
    match asked {
        _ if nsa > 0 && address == 1 => {}
        asked if asked == width || asked == 2 * width => return (asked, None),
        4 => return (5, None),
        _ => {}
    }
    (width, Some(if nsa > 0 { 4 } else { 1 }))
}

/// Decodes an image instruction. All its words must be given.
pub(super) fn decode(
    target: &Target,
    op: Opcode,
    words: &[u32],
    rest: Meaningless,
) -> Result<MachInst, DecodeError> {
    let bits = u64::from(words[0]) | u64::from(words[1]) << 32;
    let row = op.row();
    let address = address_of(row);
    let mut inst = MachInst::new(op, &[]);
    inst.len = row.ops.len() as u8;
    inst.mods.flags = flags_at(bits, flags(target));
    let has_dims = has_dims(target);
    let dmask = DMASK.get(bits) as u8;
    let dim = if has_dims { DIM.get(bits) as u8 } else { 0 };
    if address.parts.contains(AddressParts::RAY) {
        inst.mods.flags -= ModFlags::UNORM | ModFlags::R128;
    } else {
        inst.mods.lane = Lane::Image { dmask, dim };
    }
    let len = data_len(target, row, dmask, inst.mods.flags).map_err(|_| DecodeError::Reserved)?;
    // Before GFX10, the instruction does not contain the dimension of the image, so the size of the address
    // is not known. LLVM's disassembler shows the smallest possible size.
    let address_len = match has_dims {
        true => address.len(dim, inst.mods.flags.contains(ModFlags::A16)),
        false => address.len_range().0,
    };
    let (len, address_len) = match rest {
        Meaningless::Ignored if row.flags.contains(Flags::ATOMIC) => {
            let (len, other) = atomic_sizes(row, len, address_len, words.len() - 2);
            (len, other.unwrap_or(address_len))
        }
        _ => (len, address_len),
    };
    inst.ops[0] = data_at(target, VDATA.get(bits), len, ACC.get(bits))?;
    inst.ops[2] = sgprs_at(target, SRSRC.get(bits) * 4, row.ops[2].width)?;
    if let Some(sampler) = row.ops.get(3) {
        inst.ops[3] = sgprs_at(target, SSAMP.get(bits) * 4, sampler.width)?;
    }
    if words.len() == 2 {
        inst.ops[1] = vgprs_at(VADDR.get(bits), address_len)?;
    } else {
        scatter(&mut inst, VADDR.get(bits), &words[2..], usize::from(address_len))?;
    }
    Ok(inst)
}

/// Returns whether `len` dwords are a possible length of the instruction. It is not possible if there are
/// more dwords with address registers than the largest address of this instruction needs.
pub(super) fn takes_words(inst: &MachInst, len: usize) -> bool {
    let most = usize::from(address_of(inst.op.row()).len_range().1);
    len <= 2 + most.saturating_sub(1).div_ceil(4)
}

/// Returns an instruction that is like `inst` but that assemblers accept. Also returns a mask of the bits in
/// the first two dwords in which the two instructions differ. The decoder uses the result to check all other
/// bits. In the returned instruction, the component mask (`dmask`) is a valid one. The data and address of an
/// atomic are registers of the sizes that belong to this mask.
pub(super) fn plain(target: &Target, inst: &MachInst) -> (MachInst, u64) {
    let row = inst.op.row();
    let mut plain = *inst;
    let Lane::Image { dmask, dim } = &mut plain.mods.lane else { return (plain, 0) };
    let (address, a16) = (address_of(row), inst.mods.flags.contains(ModFlags::A16));
    if !row.flags.contains(Flags::ATOMIC) {
        let is_flat = address.parts.contains(AddressParts::SAMPLES) && *dim < FIRST_MSAA_DIM;
        if !is_flat || !matches!(plain.ops[1], Operand::Reg(_)) {
            *dmask = 1;
            return (plain, DMASK.bits());
        }
        // The instruction needs an image with multisampling. LLVM's disassembler also accepts a dimension
        // without multisampling, which is replaced here because the assembler refuses it.
        *dim = FIRST_MSAA_DIM;
        plain.ops[1] = Operand::regs(Reg::vgpr(0), address.len(FIRST_MSAA_DIM, a16));
        return (plain, DIM.bits() | VADDR.bits());
    }
    let width = row.ops[0].width;
    *dmask = (1 << width) - 1;
    let len = match has_dims(target) {
        true => address.len(*dim, a16),
        _ => address.len_range().0,
    };
    plain.mods.flags -= ModFlags::TFE;
    plain.ops[0] = Operand::regs(Reg::vgpr(0), width);
    plain.ops[1] = Operand::regs(Reg::vgpr(0), len);
    plain.len = row.ops.len() as u8;
    (plain, DMASK.bits() | ACC.bits() | VADDR.bits() | VDATA.bits())
}

/// Sets the address of an instruction to `len` non-consecutive registers. `first` is the number of the first
/// register. The bytes of `further` are the numbers of the other registers.
fn scatter(inst: &mut MachInst, first: u32, further: &[u32], len: usize) -> Result<(), DecodeError> {
    let mut numbers = [0; MAX_ADDRESSES];
    numbers[0] = first as u8;
    for (to, from) in numbers[1..].iter_mut().zip(further.iter().flat_map(|word| word.to_le_bytes())) {
        *to = from;
    }
    let numbers = numbers.get(..len).filter(|_| len <= 1 + 4 * further.len()).ok_or(DecodeError::Reserved)?;
    let (head, tail) = numbers.split_at(len.min(Scattered::MAX));
    let scattered = |numbers| Scattered::new(numbers).map(Operand::Scattered).ok_or(DecodeError::Reserved);
    inst.ops[1] = scattered(head)?;
    for part in tail.chunks(Scattered::MAX) {
        inst.ops[usize::from(inst.len)] = scattered(part)?;
        inst.len += 1;
    }
    Ok(())
}
