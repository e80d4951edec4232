//! Writes code sections.
//!
//! The text is written in one pass into one string, without allocations for single instructions. Labels are
//! inserted into this string afterwards, at the targets of the branches that were written.

use super::marks::{Marks, Relocations};
use super::{Listing, expr};
use crate::elf::{Relocation, Section};
use crate::kernel_code::{self, KEYS, KernelCode, Key};
use crate::names;
use isa::table::{Family, Kind, Num};
use isa::{Decoder, MachInst, Operand, Reg, Target, op};
use std::fmt::{self, Write};

/// Words that fill gaps between functions: zeros from loaders and linkers, `s_nop 0`, and `s_code_end`. A
/// long run of one of these words is printed as `.fill`.
const PADDING: [u32; 3] = [0, 0xbf80_0000, 0xbf9f_0000];
/// Minimum number of padding words that become a `.fill`.
const RUN: usize = 8;
/// Column of comments.
const COMMENT: usize = 60;
/// Estimated number of bytes of text for one word of code: without comments, and with the address and the
/// bytes as a comment. Used to allocate memory for the text.
const LINE: usize = 28;
const RAW_LINE: usize = 64;

/// State while a section is written.
struct Printer<'a, 'b, 'data> {
    listing: &'a Listing<'b, 'data>,
    section: usize,
    /// Address of the section, for comments.
    base: u64,
    /// Number of this section in the names of labels, so that labels of different sections have different
    /// names. It is 0 for `.text` (see [`expr::Names::label`]).
    label_section: usize,
    /// Branch targets, in words from the beginning of the section.
    targets: Vec<i64>,
    /// Offset in the text at which the section begins.
    begin: usize,
    /// Where the lines of instructions are in the section's text, so that labels can be inserted before them.
    /// For each word of code at which an instruction begins, this is the offset of the instruction's line,
    /// plus 1. For other words it is 0.
    starts: Vec<u32>,
    lines: super::lines::Cursor<'a>,
    /// Registers that the last `s_getpc_b64` wrote, and the address that it wrote there.
    program_counter: Option<(Reg, u64)>,
    /// Headers before V2's kernels, sorted by address.
    headers: Vec<KernelCode<'data>>,
    /// Processor with the wave size of the current code.
    target: &'static Target,
}

impl Listing<'_, '_> {
    pub(super) fn code(
        &self,
        index: usize,
        section: &Section<'_>,
        marks: &mut Marks,
        relocations: &mut Relocations,
        out: &mut String,
    ) -> fmt::Result {
        let words: Vec<u32> = section
            .data
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let headers = self.headers.iter().filter(|header| header.section == index).copied().collect();
        let mut printer = Printer {
            listing: self,
            section: index,
            base: section.address,
            label_section: if section.name == ".text" { 0 } else { index },
            targets: Vec::new(),
            begin: out.len(),
            starts: vec![0; words.len() + 1],
            lines: self.lines.cursor(index, section, self.object.header.is_relocatable()),
            program_counter: None,
            headers,
            target: self.target,
        };
        out.reserve(words.len().saturating_mul(if self.raw { RAW_LINE } else { LINE }));
        printer.words(&words, marks, relocations, out)?;
        let rest = &section.data[words.len() * 4..];
        self.marks(index, marks, words.len() as u64 * 4, out)?;
        if !rest.is_empty() {
            super::data::numbers(rest, 0, out)?;
        }
        self.marks(index, marks, section.size, out)?;
        printer.put_labels(out)
    }
}

impl Printer<'_, '_, '_> {
    fn words(
        &mut self,
        words: &[u32],
        marks: &mut Marks,
        relocations: &mut Relocations,
        out: &mut String,
    ) -> fmt::Result {
        let targets = [self.listing.target, self.listing.waves.target];
        let [Some(decoder), Some(other)] = targets.map(Decoder::new) else {
            return super::data::numbers(&[], 0, out);
        };
        let decoders = [decoder, other];
        let mut is_other = false;
        let mut at = 0;
        // The number of the word at which the next symbol begins. The next instruction must end before it.
        let mut limit = words.len();
        let mut stop = 0;
        while at < words.len() {
            if at >= stop {
                self.listing.marks(self.section, marks, at as u64 * 4, out)?;
                let word_of = |place: u64| usize::try_from(place / 4).unwrap_or(usize::MAX).min(words.len());
                stop = marks.next_place().map_or(words.len(), |place| word_of(place).max(at + 1));
                limit =
                    marks.next_start(at as u64 * 4).map_or(words.len(), |place| word_of(place).max(at + 1));
                is_other = self.listing.waves.is_other(self.section, at as u64 * 4);
                self.target = targets[usize::from(is_other)];
                if let Some(end) = self.kernel_header(at, limit, out)? {
                    at = end;
                    continue;
                }
            }
            self.line_begins(at, out);
            let rest = &words[at..limit];
            if PADDING.contains(&rest[0]) && relocations.next_place() >= stop as u64 * 4 {
                let run = rest[..stop - at].iter().take_while(|word| **word == rest[0]).count();
                if run >= RUN {
                    writeln!(out, "\t.fill {run}, 4, {:#x}", rest[0])?;
                    at += run;
                    continue;
                }
            }
            let place = self.base.wrapping_add(at as u64 * 4);
            self.lines.comment(place, self.listing.beside, out);
            let start = out.len();
            out.push('\t');
            let length = match decoders[usize::from(is_other)].decode(rest) {
                Ok((inst, length)) if is_other && self.is_said_otherwise(&inst, &decoders[0], rest) => {
                    isa::write_inst(self.target, &inst, None, out);
                    self.as_words(start + 1, &rest[..length], out)?;
                    self.unsaid(at, length, relocations, out)?;
                    length
                }
                Ok((inst, length)) => {
                    self.instruction(&inst, rest, at, length, relocations, out)?;
                    length
                }
                Err(_) => match decoder.decode_tolerant(rest) {
                    // The hardware and LLVM accept these words as an instruction, but its text does not
                    // express all their bits. So the words are written as `.long`, with the instruction as a
                    // comment.
                    Ok((inst, length)) if relocations.next_place() >= (at + length) as u64 * 4 => {
                        let start = out.len();
                        isa::write_inst(self.listing.target, &inst, None, out);
                        self.as_words(start, &rest[..length], out)?;
                        length
                    }
                    _ => {
                        write!(out, ".long {:#010x}", rest[0])?;
                        self.unsaid(at, 1, relocations, out)?;
                        1
                    }
                },
            };
            if self.listing.raw {
                raw(start, place, &rest[..length], out)?;
            }
            out.push('\n');
            at += length;
        }
        self.line_begins(words.len(), out);
        Ok(())
    }

    /// Returns whether the text of an instruction depends on the wave size. The instruction is in a kernel
    /// whose wave size differs from the one for which the file is read, and an assembler would read the text
    /// for that other size.
    fn is_said_otherwise(&self, inst: &MachInst, decoder: &Decoder, words: &[u32]) -> bool {
        let (mut here, mut there) = (String::new(), String::new());
        isa::write_inst(self.target, inst, None, &mut here);
        if let Ok((inst, _)) = decoder.decode(words) {
            isa::write_inst(self.listing.target, &inst, None, &mut there);
        }
        here != there
    }

    fn instruction(
        &mut self,
        inst: &MachInst,
        words: &[u32],
        at: usize,
        length: usize,
        relocations: &mut Relocations,
        out: &mut String,
    ) -> fmt::Result {
        let target = self.target;
        let end = (at + length) as u64 * 4;
        if relocations.next_place() < end {
            return self.relocated(inst, words, at, length, relocations, out);
        }
        let start = out.len();
        isa::write_inst(target, inst, None, out);
        let Some(spec) = inst.op.row().ops.last() else { return Ok(()) };
        if spec.kind == Kind::Label {
            return self.branch(inst, at + length, out);
        }
        if shows_half_bits(inst)
            || hides_bits(inst, &out[start..])
            || length > 1 && !says_literal(inst, &out[start..])
        {
            self.as_words(start, &words[..length], out)?;
        }
        self.address(inst, at + length, out)
    }

    /// If code computes the address of a symbol relative to the program counter, writes the name of the
    /// symbol as a comment. A linker leaves only a distance in the code, which a reader does not understand.
    /// The address is the result of an `s_getpc_b64` plus the distance, which an `s_add_u32` adds.
    fn address(&mut self, inst: &MachInst, next: usize, out: &mut String) -> fmt::Result {
        match *inst.operands() {
            [Operand::Reg(to)] if inst.op == op::S_GETPC_B64 => {
                self.program_counter = Some((to.first, self.base.wrapping_add(next as u64 * 4)));
            }
            [Operand::Reg(to), Operand::Reg(from), Operand::Literal(distance)]
                if inst.op == op::S_ADD_U32 =>
            {
                let here =
                    self.program_counter.take().filter(|(low, _)| *low == to.first && *low == from.first);
                let found = here.and_then(|(_, address)| {
                    self.listing.names.name_at(address.wrapping_add_signed(i64::from(distance as i32)))
                });
                if let Some(name) = found {
                    out.push_str(" ; ");
                    expr::name(name, out);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Replaces the distance at the end of a branch with a label.
    fn branch(&mut self, inst: &MachInst, next: usize, out: &mut String) -> fmt::Result {
        let Some(&Operand::Imm(distance)) = inst.operands().last() else { return Ok(()) };
        let target = next as i64 + i64::from(distance);
        let Some(space) = out.rfind(' ') else { return Ok(()) };
        out.truncate(space + 1);
        self.targets.push(target);
        self.listing.names.label(self.label_section, target * 4, out)
    }

    /// Replaces the text of an instruction by `.long` words, with the text as a comment. This is necessary if
    /// an assembler would encode the text differently.
    fn as_words(&self, start: usize, words: &[u32], out: &mut String) -> fmt::Result {
        let text = out.split_off(start);
        out.push_str(".long ");
        for (n, word) in words.iter().enumerate() {
            write!(out, "{}{word:#010x}", if n == 0 { "" } else { ", " })?;
        }
        write!(out, " ; {text}")
    }

    /// Writes an instruction whose literal or branch distance has a relocation.
    fn relocated(
        &mut self,
        inst: &MachInst,
        words: &[u32],
        at: usize,
        length: usize,
        relocations: &mut Relocations,
        out: &mut String,
    ) -> fmt::Result {
        let start = out.len();
        let begin = at as u64 * 4;
        let taken = relocations.remaining_before(begin + length as u64 * 4).next().copied();
        let literal_at = begin + (length as u64 - 1) * 4;
        let literal = inst.operands().iter().position(|operand| matches!(operand, Operand::Literal(_)));
        if let (Some((place, record, table)), Some(literal)) = (taken, literal)
            && place == literal_at
            && words[length - 1] == 0
            && relocations.remaining_before(begin + length as u64 * 4).nth(1).is_none()
        {
            // The instruction is printed with a placeholder as its operand. Then the expression of the
            // relocation replaces the placeholder.
            let mut inst = *inst;
            inst.ops[literal] = Operand::Reloc(0);
            isa::write_inst(self.target, &inst, None, out);
            if let Some(found) = out[start..].find(PLACEHOLDER) {
                let tail = out.split_off(start + found);
                if self.expression(&record, table, out)? {
                    out.push_str(&tail[PLACEHOLDER.len()..]);
                    relocations.take(begin + length as u64 * 4);
                    return Ok(());
                }
            }
            out.truncate(start);
        }
        isa::write_inst(self.target, inst, None, out);
        self.as_words(start, &words[..length], out)?;
        self.unsaid(at, length, relocations, out)
    }

    fn expression(&self, record: &Relocation, table: usize, out: &mut String) -> Result<bool, fmt::Error> {
        expr::relocation(self.listing.object, &self.listing.names, record, table, true, out)
    }

    /// Writes a comment for each relocation of an instruction that is lost in the text, because no assembler
    /// expression can produce it.
    fn unsaid(
        &self,
        at: usize,
        length: usize,
        relocations: &mut Relocations,
        out: &mut String,
    ) -> fmt::Result {
        while let Some((place, record, _)) = relocations.take((at + length) as u64 * 4) {
            write!(out, " ; {place:#x}: {} is lost", names::relocation(record.kind))?;
        }
        Ok(())
    }

    /// Writes the 256-byte header of a kernel of a code object V2, if one begins here.
    fn kernel_header(
        &mut self,
        at: usize,
        limit: usize,
        out: &mut String,
    ) -> Result<Option<usize>, fmt::Error> {
        const WORDS: usize = kernel_code::SIZE / 4;
        if !self.listing.identity.has_kernel_code() || limit - at < WORDS {
            return Ok(None);
        }
        let offset = at as u64 * 4;
        let place =
            if self.listing.object.header.is_relocatable() { offset } else { self.base.wrapping_add(offset) };
        let Ok(index) = self.headers.binary_search_by_key(&place, |header| header.address) else {
            return Ok(None);
        };
        let header = self.headers[index];
        self.line_begins(at, out);
        // An assembler accepts only one wave size in the header: the size that it derives from the processor.
        let wave_size = u64::from(self.listing.target.wave_size.trailing_zeros());
        let is_expressible = kernel_code::unnamed(&header.bytes).next().is_none()
            && Key::by_name("wavefront_size").is_some_and(|key| key.get(&header.bytes) == wave_size);
        if !is_expressible {
            out.push_str("\t; an amd_kernel_code_t that keys cannot say\n");
            super::data::numbers(&header.bytes, 0, out)?;
            return Ok(Some(at + WORDS));
        }
        out.push_str("\t.amd_kernel_code_t\n");
        for key in KEYS.iter().chain(header.abi_keys()) {
            // LLVM 14 does not print this key either if it is 0.
            let value = key.get(&header.bytes);
            if key.is_signed() {
                writeln!(out, "\t\t{} = {}", key.name, key.get_signed(&header.bytes))?;
            } else if value != 0 || key.name != "max_scratch_backing_memory_byte_size" {
                writeln!(out, "\t\t{} = {value}", key.name)?;
            }
        }
        out.push_str("\t.end_amd_kernel_code_t\n");
        Ok(Some(at + WORDS))
    }

    /// Records that the line of the instruction at word number `at` begins at the end of `out`. An offset
    /// beyond 4 GB of text does not fit and is not recorded; a label at this instruction is then defined by
    /// an expression.
    fn line_begins(&mut self, at: usize, out: &str) {
        self.starts[at] = u32::try_from(out.len() - self.begin + 1).unwrap_or(0);
    }

    /// Inserts labels at branch targets. A target that is inside an instruction or outside the section is
    /// defined by an expression at the end of the text instead.
    fn put_labels(mut self, out: &mut String) -> fmt::Result {
        let names = &self.listing.names;
        self.targets.sort_unstable();
        self.targets.dedup();
        let mut labels = String::new();
        // Where the labels are inserted. Each element has the offset in the text at which a label is
        // inserted, and the end of this label in the string `labels`.
        let mut places = Vec::new();
        for &target in &self.targets {
            let start = usize::try_from(target).ok().and_then(|target| self.starts.get(target).copied());
            match start.filter(|&start| start > 0) {
                Some(start) => {
                    names.label(self.label_section, target * 4, &mut labels)?;
                    labels.push_str(":\n");
                    places.push((self.begin + start as usize - 1, labels.len()));
                }
                None => {
                    out.push_str("\t.set ");
                    names.label(self.label_section, target * 4, out)?;
                    out.push_str(", ");
                    names.section(self.section, out)?;
                    writeln!(out, "{:+}", target * 4)?;
                }
            }
        }
        insert(&places, &labels, out);
        Ok(())
    }
}

/// Inserts pieces of text into a text. The string `pieces` contains all pieces, one after the other. For each
/// piece, in ascending order, `places` contains the offset in the text at which it is inserted, and the end
/// of the piece in `pieces`. The text is moved in place, because a second copy of a huge text would cost
/// more.
fn insert(places: &[(usize, usize)], pieces: &str, out: &mut String) {
    let mut bytes = std::mem::take(out).into_bytes();
    let (mut from, mut to) = (bytes.len(), bytes.len() + pieces.len());
    bytes.resize(to, 0);
    let mut end = pieces.len();
    for (n, &(place, _)) in places.iter().enumerate().rev() {
        let begin = n.checked_sub(1).map_or(0, |before| places[before].1);
        to -= from - place;
        bytes.copy_within(place..from, to);
        from = place;
        to -= end - begin;
        bytes[to..to + end - begin].copy_from_slice(&pieces.as_bytes()[begin..end]);
        end = begin;
    }
    // Only whole lines were moved, so the text is still UTF-8.
    *out = String::from_utf8(bytes).unwrap_or_default();
}

/// What the crate `isa` prints for a reference to a variable if it gets no program in which to look up the
/// variable's name.
const PLACEHOLDER: &str = "reloc0";

/// Returns whether an assembler would encode the number in the text as the literal that the instruction has.
/// If the number looks like an inline constant, or does not fit in 16 bits where only these are encoded, the
/// assembler would not.
fn says_literal(inst: &MachInst, text: &str) -> bool {
    let row = inst.op.row();
    let mut literals = row.ops.iter().zip(inst.operands()).filter_map(|(spec, operand)| match *operand {
        Operand::Literal(value) if spec.kind != Kind::Lit => Some(value),
        _ => None,
    });
    literals.next().is_none_or(|value| {
        let mut hex = [0; 10];
        text.contains(hexadecimal(value, &mut hex))
    })
}

/// Returns whether the text shows the half-precision bits of an inline constant, which an assembler would
/// take for a literal. LLVM prints float constants of 16-bit integer operands in this way.
fn shows_half_bits(inst: &MachInst) -> bool {
    let row = inst.op.row();
    let is_float = |operand: &Operand| matches!(operand, Operand::Inline(240..));
    row.family != Family::Vop3p
        && row
            .ops
            .iter()
            .zip(inst.operands())
            .any(|(spec, operand)| is_float(operand) && spec.num.is_half() && spec.num != Num::F16)
}

/// Returns whether the text shows the name of a message, but not all bits of the operand. This is so if bits
/// are set that belong neither to the message nor to its operation or stream.
fn hides_bits(inst: &MachInst, text: &str) -> bool {
    matches!(inst.op, op::S_SENDMSG | op::S_SENDMSGHALT)
        && matches!(inst.ops[0], Operand::Imm(bits) if bits & 0xfc80 != 0)
        && text.contains('(')
}

/// Writes a number such as `0x1f` to `buffer`, without allocating a string.
fn hexadecimal(value: u32, buffer: &mut [u8; 10]) -> &str {
    let digits = (8 - value.leading_zeros() as usize / 4).max(1);
    buffer[..2].copy_from_slice(b"0x");
    for n in 0..digits {
        buffer[2 + n] = b"0123456789abcdef"[(value >> (4 * (digits - 1 - n)) & 15) as usize];
    }
    std::str::from_utf8(&buffer[..2 + digits]).unwrap_or_default()
}

/// Writes the address and words of a line as a comment.
fn raw(start: usize, place: u64, words: &[u32], out: &mut String) -> fmt::Result {
    let width = out.len() - start;
    write!(out, "{:pad$}// {place:012X}:", "", pad = COMMENT.saturating_sub(width).max(1))?;
    words.iter().try_for_each(|word| write!(out, " {word:08X}"))
}
