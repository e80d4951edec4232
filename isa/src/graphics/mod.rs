//! Encodings that kernels rarely use: those of typed buffers, images, exports and attribute interpolation.
//!
//! The positions of their fields differ between generations, and the sizes of operands depend on modifiers,
//! so each family has its own encoder and decoder here. [`Encoding`](crate::layout::Encoding) does not
//! include them.

mod exp;
pub(crate) mod formats;
pub(crate) mod image;
mod interp;
pub(crate) mod mtbuf;
pub mod names;
mod operands;

use crate::decode::{DecodeError, Meaningless};
use crate::encode::Problem;
use crate::inst::{Form, MachInst};
use crate::layout::Layout;
use crate::operand::Operand;
use crate::table::{Family, Flags, Opcode, opcodes};
use crate::target::{PROCESSORS, Target};
use std::sync::OnceLock;

/// Returns whether this module handles the instructions of a family. The modules `encode` and `decode` handle
/// the other families.
pub(crate) const fn handles(family: Family) -> bool {
    matches!(family, Family::Mtbuf | Family::Mimg | Family::Exp | Family::Vintrp)
}

/// Maximum number of dwords of a graphics instruction.
const MAX_WORDS: usize = 5;

/// The words of an encoded graphics instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    words: [u32; MAX_WORDS],
    len: usize,
}

impl Code {
    fn one_word(word: u32) -> Code {
        Code { words: [word, 0, 0, 0, 0], len: 1 }
    }

    fn two(bits: u64) -> Code {
        Code { words: [bits as u32, (bits >> 32) as u32, 0, 0, 0], len: 2 }
    }

    fn push(&mut self, word: u32) {
        self.words[self.len] = word;
        self.len += 1;
    }

    /// Returns the words of the instruction.
    pub fn words(&self) -> &[u32] {
        &self.words[..self.len]
    }
}

/// Encodes an instruction of one of the families that this module handles.
pub(crate) fn assemble(target: &Target, inst: &MachInst) -> Result<Code, Problem> {
    let row = inst.op.row();
    let code = u32::from(row.code(target).ok_or(Problem::Unavailable)?);
    if !has_form(inst.op, inst.form) {
        return Err(Problem::Form);
    }
    // An image instruction may have more operands than its row in the instruction table describes. The
    // additional operands hold the rest of a long address in non-consecutive registers.
    let more = usize::from(row.family == Family::Mimg);
    if !(row.ops.len()..=row.ops.len() + more).contains(&inst.len.into()) {
        return Err(Problem::Count);
    }
    match row.family {
        Family::Mtbuf => mtbuf::encode(target, row, code, inst).map(Code::two),
        Family::Mimg => image::encode(target, row, code, inst),
        Family::Exp => exp::encode(target, inst).map(Code::two),
        _ if inst.form == Form::E32 => interp::encode_short(target, row, code, inst).map(Code::one_word),
        _ => interp::encode_vop3(target, row, code, inst).map(Code::two),
    }
}

/// Returns the number of dwords of a graphics instruction.
pub(crate) fn size_in_words(inst: &MachInst) -> usize {
    match inst.op.family() {
        Family::Mimg => 2 + image::further_words(inst),
        _ if inst.form == Form::E32 => 1,
        _ => 2,
    }
}

/// Returns whether a graphics instruction can have the form (encoding).
pub(crate) fn has_form(op: Opcode, form: Form) -> bool {
    match form {
        Form::Full => true,
        Form::E32 => op.family() == Family::Vintrp && !op.row().flags.contains(Flags::NO_E32),
        _ => false,
    }
}

/// Decodes a graphics instruction of the given encoding. Returns the instruction and its length in words.
pub(crate) fn decode(
    target: &Target,
    words: &[u32],
    rest: Meaningless,
) -> Result<(MachInst, usize), DecodeError> {
    let &first = words.first().ok_or(DecodeError::Truncated)?;
    let encoding = encoding_of(target, first).ok_or(DecodeError::Unknown)?;
    let second = match (encoding, words.get(1)) {
        (Encoding::Interp, _) => 0,
        (_, Some(&word)) => word,
        (_, None) => return Err(DecodeError::Truncated),
    };
    let bits = u64::from(first) | u64::from(second) << 32;
    let maps = Maps::for_target(target);
    let inst = match encoding {
        Encoding::Mtbuf => mtbuf::decode(target, find(&maps.mtbuf, mtbuf::opcode(target, bits))?, bits)?,
        Encoding::Mimg => {
            let op = find(&maps.mimg, image::opcode(target, bits))?;
            let words = words.get(..image::words_of(target, first)).ok_or(DecodeError::Truncated)?;
            image::decode(target, op, words, rest)?
        }
        Encoding::Exp => exp::decode(target, bits)?,
        Encoding::Interp => interp::decode_short(find(&maps.interp, interp::opcode(first))?, first)?,
        Encoding::Vop3 => interp::decode_vop3(maps.vop3(interp::opcode_vop3(bits))?, bits)?,
    };
    if rest == Meaningless::Refused && !names::are_known(target, &inst) {
        return Err(DecodeError::Reserved);
    }
    // To check bits that have no meaning, the decoded instruction is encoded again, and the words are
    // compared. Such bits must be as an assembler sets them, except those that LLVM's disassembler is known
    // to ignore.
    let (again, other) = match assemble(target, &inst) {
        Ok(again) => (again, 0),
        // LLVM's disassembler accepts component masks (`dmask`) that LLVM's assembler refuses.
        Err(_) if rest == Meaningless::Ignored && inst.op.family() == Family::Mimg => {
            let (plain, other) = image::plain(target, &inst);
            (assemble(target, &plain).map_err(|_| DecodeError::Reserved)?, other)
        }
        Err(_) => return Err(DecodeError::Reserved),
    };
    let len = match encoding {
        Encoding::Mimg => image::words_of(target, first),
        _ => again.len,
    };
    let given = words.get(..len).ok_or(DecodeError::Truncated)?;
    if len != again.len && (rest == Meaningless::Refused || !image::takes_words(&inst, len)) {
        return Err(DecodeError::Reserved);
    }
    let ignored = match rest {
        Meaningless::Refused => 0,
        Meaningless::Ignored => ignored(target, encoding, &inst) | other,
    };
    // Mask of the bits that may differ in the dwords after the first two. These dwords hold the register
    // numbers of a non-consecutive address. If bits without meaning are ignored, all bits may differ.
    // Otherwise no bit may differ, so the bytes after the last register number must be 0.
    let unused = if rest == Meaningless::Ignored { u32::MAX } else { 0 };
    let masks = [ignored as u32, (ignored >> 32) as u32];
    let differs = |n: usize| (given[n] ^ again.words[n]) & !masks.get(n).copied().unwrap_or(unused) != 0;
    if (0..len.min(again.len)).any(differs) { Err(DecodeError::Reserved) } else { Ok((inst, len)) }
}

/// Returns a mask of the bits in the first two dwords that LLVM's disassembler ignores for this instruction.
fn ignored(target: &Target, encoding: Encoding, inst: &MachInst) -> u64 {
    let graphics = &Layout::for_target(target).graphics;
    match encoding {
        // In exports, LLVM ignores the bits between the flags and the opcode, and the register numbers of
        // components that are not exported.
        Encoding::Exp => 0xffff_ffff_03ff_e000,
        Encoding::Mtbuf => {
            let address = if inst.ops[1] == Operand::None { 0xff << 32 } else { 0 };
            address | graphics.typed_spare
        }
        Encoding::Mimg => graphics.image_spare,
        Encoding::Vop3 => 0xf << 11,
        Encoding::Interp => 0,
    }
}

/// The encodings that this module handles.
#[derive(Clone, Copy)]
enum Encoding {
    Mtbuf,
    Mimg,
    Exp,
    Interp,
    Vop3,
}

/// Returns the top six bits that the first dword has in an encoding.
fn prefix(target: &Target, encoding: Encoding) -> u32 {
    let graphics = &Layout::for_target(target).graphics;
    match encoding {
        Encoding::Mtbuf => 0b11_1010,
        Encoding::Mimg => 0b11_1100,
        Encoding::Exp => graphics.export,
        Encoding::Interp => graphics.interp,
        Encoding::Vop3 => graphics.vop3,
    }
}

fn prefix_bits(target: &Target, encoding: Encoding) -> u64 {
    u64::from(prefix(target, encoding)) << 26
}

fn encoding_of(target: &Target, word: u32) -> Option<Encoding> {
    let all = [Encoding::Mtbuf, Encoding::Mimg, Encoding::Exp, Encoding::Interp, Encoding::Vop3];
    // GFX6 and GFX7 have only the first four of these instructions, because they have interpolation only in
    // the 32-bit encoding.
    let all = if Layout::for_target(target).graphics.interp_in_vop3.is_none() { &all[..4] } else { &all };
    all.iter().copied().find(|&encoding| prefix(target, encoding) == word >> 26)
}

/// Maps opcode numbers to graphics instructions.
struct Maps {
    mtbuf: [Option<Opcode>; 16],
    mimg: [Option<Opcode>; 256],
    interp: [Option<Opcode>; 4],
    /// Pairs of an opcode number of VOP3 and its instruction. The list is short.
    vop3: Vec<(u32, Opcode)>,
}

static MAPS: [OnceLock<Box<Maps>>; PROCESSORS.len()] = [const { OnceLock::new() }; PROCESSORS.len()];

impl Maps {
    fn for_target(target: &Target) -> &'static Maps {
        MAPS[usize::from(target.number)].get_or_init(|| Box::new(Maps::build(target)))
    }

    fn build(target: &Target) -> Maps {
        let mut maps = Maps { mtbuf: [None; 16], mimg: [None; 256], interp: [None; 4], vop3: Vec::new() };
        for op in opcodes() {
            let row = op.row();
            let Some(code) = row.code(target) else { continue };
            if row.flags.contains(Flags::ALIAS) {
                continue;
            }
            match row.family {
                Family::Mimg => maps.mimg[usize::from(code)] = Some(op),
                Family::Mtbuf => maps.mtbuf[usize::from(code)] = Some(op),
                Family::Vintrp => {
                    maps.vop3.push((interp::vop3_code(target, row, code.into()), op));
                    if has_form(op, Form::E32) {
                        maps.interp[usize::from(code)] = Some(op);
                    }
                }
                _ => {}
            }
        }
        maps
    }

    fn vop3(&self, code: u32) -> Result<Opcode, DecodeError> {
        let found = self.vop3.iter().find(|(other, _)| *other == code);
        found.map(|&(_, op)| op).ok_or(DecodeError::Unknown)
    }
}

fn find(map: &[Option<Opcode>], code: u32) -> Result<Opcode, DecodeError> {
    map.get(code as usize).copied().flatten().ok_or(DecodeError::Unknown)
}
