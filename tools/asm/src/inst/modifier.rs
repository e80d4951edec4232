//! Reads modifiers: `offset:16`, `glc`, `quad_perm:[0,1,2,3]`, `dst_sel:BYTE_0`, ...

use super::{function, graphics};
use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use isa::{Feature, ModFlags, Row, SdwaSel, Target};

/// The modifiers of a line as the source gives them. They are read before the instruction is known, so they
/// have not been checked yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub flags: ModFlags,
    /// Flags that the text turns off.
    denied: ModFlags,
    /// Those modifiers that the line contains so far and that consist of one word (such as `glc`), as a bit
    /// set. Bit `n` stands for entry `n` of `FLAGS`.
    words: u32,
    /// The modifiers with a value that the line contains so far, as a bit set. Bit `n` stands for entry `n`
    /// of `KEYS`.
    seen: u32,
    pub omod: u8,
    pub offset: Option<i64>,
    /// Values of `offset0` and `offset1`.
    pub offsets: [Option<u8>; 2],
    pub op_sel: Option<Bits>,
    pub op_sel_hi: Option<Bits>,
    pub neg_lo: Option<Bits>,
    pub neg_hi: Option<Bits>,
    pub sdwa: Option<Sdwa>,
    pub dpp: Option<Dpp>,
    /// Values of `cbsz`, `abid` and `blgp`.
    pub matrix: Option<[u8; 3]>,
    pub graphics: graphics::Written,
}

/// List of bits, such as `[1,0,1]`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bits {
    pub bits: u8,
    pub count: u8,
}

/// SDWA selections of the line. `None` stands for the default, because the line does not give the selection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sdwa {
    pub dst: Option<SdwaSel>,
    pub unused: Option<u8>,
    pub src0: Option<SdwaSel>,
    pub src1: Option<SdwaSel>,
}

/// DPP control and masks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dpp {
    pub ctrl: Option<u16>,
    pub row_mask: Option<u8>,
    pub bank_mask: Option<u8>,
    /// `dpp8`: eight numbers of three bits.
    pub lanes: Option<u32>,
}

/// Modifiers that consist of a single word. The first `CACHE_FLAGS` of them are cache modifiers, of which a
/// processor has only some.
const FLAGS: [(&str, ModFlags); 24] = [
    ("glc", ModFlags::GLC),
    ("slc", ModFlags::SLC),
    ("dlc", ModFlags::DLC),
    ("scc", ModFlags::SCC),
    ("sc0", ModFlags::GLC),
    ("nt", ModFlags::SLC),
    ("sc1", ModFlags::SCC),
    ("clamp", ModFlags::CLAMP),
    ("offen", ModFlags::OFFEN),
    ("idxen", ModFlags::IDXEN),
    ("addr64", ModFlags::ADDR64),
    ("gds", ModFlags::GDS),
    ("lds", ModFlags::LDS),
    ("tfe", ModFlags::TFE),
    ("unorm", ModFlags::UNORM),
    ("da", ModFlags::DA),
    ("r128", ModFlags::R128),
    ("a16", ModFlags::A16),
    ("d16", ModFlags::D16),
    ("lwe", ModFlags::LWE),
    ("done", ModFlags::DONE),
    ("vm", ModFlags::VM),
    ("compr", ModFlags::COMPR),
    ("high", ModFlags::HIGH),
];

const CACHE_FLAGS: usize = 7;

fn flag_by_name(name: &str) -> Option<(usize, ModFlags)> {
    let at = FLAGS.iter().position(|(text, _)| *text == name)?;
    Some((at, FLAGS[at].1))
}

const SELECTIONS: [(&str, SdwaSel); 7] = [
    ("BYTE_0", SdwaSel::Byte0),
    ("BYTE_1", SdwaSel::Byte1),
    ("BYTE_2", SdwaSel::Byte2),
    ("BYTE_3", SdwaSel::Byte3),
    ("WORD_0", SdwaSel::Word0),
    ("WORD_1", SdwaSel::Word1),
    ("DWORD", SdwaSel::Dword),
];

impl Written {
    pub fn clear(&mut self) {
        *self = Written::default();
    }

    /// Returns whether a modifier of `KEYS` is written.
    pub fn has(&self, key: &str) -> bool {
        self.seen != 0
            && KEYS.iter().position(|known| *known == key).is_some_and(|at| self.seen >> at & 1 != 0)
    }

    /// Returns whether all cache modifiers of the line have the names that the instruction accepts on the
    /// processor.
    pub fn names_caches_as(&self, target: &Target, row: &Row) -> bool {
        let known = row.cache_modifiers(target);
        let written = FLAGS[..CACHE_FLAGS].iter().enumerate().filter(|(at, _)| self.words >> at & 1 != 0);
        written.map(|(_, &(name, flag))| (flag, name)).all(|modifier| known.contains(&modifier))
    }

    fn sdwa(&mut self) -> &mut Sdwa {
        self.sdwa.get_or_insert_default()
    }

    fn dpp(&mut self) -> &mut Dpp {
        self.dpp.get_or_insert_default()
    }
}

/// Reads the modifier whose name was just read. Returns `false` if the name is not a modifier.
#[inline]
pub(super) fn modifier(
    asm: &mut Assembler,
    mods: &mut Written,
    cur: &mut Cursor,
    name: &str,
    start: usize,
) -> Result<bool> {
    let mut behind = *cur;
    behind.blank();
    if behind.peek() == b':' {
        cur.pos = behind.pos + 1;
        return once(asm, mods, cur, name, start).map(|()| true);
    }
    if let Some((at, flag)) = flag_by_name(name) {
        if (mods.flags | mods.denied).contains(flag) {
            return Err(error(start..cur.pos, format!("`{name}` is given twice")));
        }
        mods.flags |= flag;
        mods.words |= 1 << at;
        return Ok(true);
    }
    // A flag can be turned off with the prefix `no`.
    if let Some(rest) = name.strip_prefix("no")
        && let Some((at, flag)) = flag_by_name(rest)
    {
        let is_twice = (mods.flags | mods.denied).contains(flag);
        if is_twice || !asm.settings.target.is_some_and(|target| has_flag(target, flag)) {
            return Err(error(start..cur.pos, format!("`{name}` cannot stand here")));
        }
        mods.denied |= flag;
        mods.words |= 1 << at;
        return Ok(true);
    }
    match name {
        "row_mirror" => mods.dpp().ctrl = Some(0x140),
        "row_half_mirror" => mods.dpp().ctrl = Some(0x141),
        // These DPP modifiers need a distance after a colon, so the name alone is an error. For the mirror
        // modifiers, the name alone is valid.
        "row_shl" | "row_shr" | "row_ror" => return Err(cur.unexpected("`:` and a distance")),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Returns whether instructions of the processor can have the flag.
fn has_flag(target: &Target, flag: ModFlags) -> bool {
    match flag {
        ModFlags::DLC | ModFlags::A16 | ModFlags::R128 | ModFlags::SCC => target.arch.layout.has_flag(flag),
        _ => true,
    }
}

/// The modifiers that have a value. The index of a modifier identifies it in `Written::seen`.
const KEYS: [&str; 25] = [
    "offset",
    "inst_offset",
    "offset0",
    "offset1",
    "mul",
    "op_sel",
    "op_sel_hi",
    "neg_lo",
    "neg_hi",
    "dst_sel",
    "src0_sel",
    "src1_sel",
    "dst_unused",
    "cbsz",
    "abid",
    "blgp",
    "dpp8",
    "fi",
    "row_mask",
    "bank_mask",
    "bound_ctrl",
    "dmask",
    "dim",
    "dfmt",
    "nfmt",
];

/// Reads a modifier as [`keyed`] does. Returns an error if the line contains a modifier of the same kind
/// already.
fn once(asm: &mut Assembler, mods: &mut Written, cur: &mut Cursor, name: &str, start: usize) -> Result<()> {
    // `mul` and `div` set the same field.
    let field = if name == "div" { "mul" } else { name };
    if let Some(at) = KEYS.iter().position(|key| *key == field) {
        if mods.seen >> at & 1 != 0 {
            return Err(error(start..cur.pos, format!("`{name}` is given twice")));
        }
        mods.seen |= 1 << at;
    }
    keyed(asm, mods, cur, name, start)
}

fn keyed(asm: &mut Assembler, mods: &mut Written, cur: &mut Cursor, name: &str, start: usize) -> Result<()> {
    let span = start..cur.pos;
    match name {
        "offset" | "inst_offset" => mods.offset = Some(offset(asm, cur)?),
        "offset0" => mods.offsets[0] = Some(small(asm, cur, 255)? as u8),
        "offset1" => mods.offsets[1] = Some(small(asm, cur, 255)? as u8),
        "mul" => {
            mods.omod = match small(asm, cur, 4)? {
                1 => 0,
                2 => 1,
                4 => 2,
                _ => return Err(error(span, "the multiplier is 2 or 4")),
            }
        }
        "div" => {
            mods.omod = match small(asm, cur, 2)? {
                1 => 0,
                2 => 3,
                _ => return Err(error(span, "the divisor is 2")),
            }
        }
        "op_sel" => mods.op_sel = Some(bits(asm, cur)?),
        "op_sel_hi" => mods.op_sel_hi = Some(bits(asm, cur)?),
        "neg_lo" => mods.neg_lo = Some(bits(asm, cur)?),
        "neg_hi" => mods.neg_hi = Some(bits(asm, cur)?),
        "dst_sel" => mods.sdwa().dst = Some(selection(cur)?),
        "src0_sel" => mods.sdwa().src0 = Some(selection(cur)?),
        "src1_sel" => mods.sdwa().src1 = Some(selection(cur)?),
        "dst_unused" => mods.sdwa().unused = Some(unused(cur)?),
        "cbsz" => mods.matrix.get_or_insert_default()[0] = small(asm, cur, 7)? as u8,
        "abid" => mods.matrix.get_or_insert_default()[1] = small(asm, cur, 15)? as u8,
        "blgp" => mods.matrix.get_or_insert_default()[2] = small(asm, cur, 7)? as u8,
        "dpp8" => mods.dpp().lanes = Some(lanes(asm, cur)?),
        "fi" => mods.flags.set(ModFlags::FETCH_INACTIVE, small(asm, cur, 1)? == 1),
        "row_mask" => mods.dpp().row_mask = Some(small(asm, cur, 15)? as u8),
        "bank_mask" => mods.dpp().bank_mask = Some(small(asm, cur, 15)? as u8),
        // `bound_ctrl:0` is the older spelling of `bound_ctrl:1`, so both set the field to 1 (LLVM's AMDGPU
        // guide, seed 000, line 4521).
        "bound_ctrl" => {
            small(asm, cur, 1)?;
            mods.flags |= ModFlags::BOUND_CTRL;
        }
        _ if graphics::modifier(asm, &mut mods.graphics, cur, name)? => {}
        _ => match dpp_control(asm, cur, name)? {
            Some(ctrl) => mods.dpp().ctrl = Some(ctrl),
            None => return Err(error(span, format!("unknown modifier `{name}`")).label("not a modifier")),
        },
    }
    Ok(())
}

/// Control words of DPP: `row_xmask:0` and `wave_shl:1`.
const ROW_XMASK: u16 = 0x160;
const WAVE_SHL: u16 = 0x130;

fn dpp_control(asm: &mut Assembler, cur: &mut Cursor, name: &str) -> Result<Option<u16>> {
    cur.blank();
    let start = cur.pos;
    if name == "quad_perm" {
        let lanes = list(asm, cur, 3)?;
        let ctrl = lanes.0.iter().enumerate().fold(0, |ctrl, (n, &lane)| ctrl | u16::from(lane) << (2 * n));
        return match lanes.1 {
            4 => Ok(Some(ctrl)),
            _ => Err(error(cur.span_from(start), "`quad_perm` takes four lanes")),
        };
    }
    let target = asm.settings.target;
    let has_ctrl = |ctrl| target.is_some_and(|target| target.arch.layout.has_dpp_ctrl(ctrl));
    let known = match name {
        "row_share" | "row_xmask" => has_ctrl(ROW_XMASK),
        "row_newbcast" => target.is_some_and(|target| target.has(Feature::ROW_NEWBCAST)),
        // Without a processor, or if the processor has no DPP, the instruction is refused later.
        "wave_shl" | "wave_rol" | "wave_shr" | "wave_ror" | "row_bcast" => {
            has_ctrl(WAVE_SHL) || !target.is_some_and(|target| target.has(Feature::DPP))
        }
        _ => true,
    };
    if !known {
        return Ok(None);
    }
    // For each DPP modifier with a distance: the smallest and the largest distance, and a base. The DPP
    // control word is the base plus the distance.
    let (first, last, base) = match name {
        "row_shl" => (1, 15, 0x100),
        "row_shr" => (1, 15, 0x110),
        "row_ror" => (1, 15, 0x120),
        "wave_shl" => (1, 1, WAVE_SHL - 1),
        "wave_rol" => (1, 1, 0x133),
        "wave_shr" => (1, 1, 0x137),
        "wave_ror" => (1, 1, 0x13b),
        "row_share" => (0, 15, 0x150),
        "row_xmask" => (0, 15, ROW_XMASK),
        "row_newbcast" => (0, 15, 0x150),
        "row_bcast" => {
            return match asm.absolute(cur)? {
                15 => Ok(Some(0x142)),
                31 => Ok(Some(0x143)),
                _ => Err(error(cur.span_from(start), "`row_bcast` takes 15 or 31")),
            };
        }
        _ => return Ok(None),
    };
    let distance = asm.absolute(cur)?;
    if !(first..=last).contains(&distance) {
        let message = format!("`{name}` takes a number from {first} to {last}");
        return Err(error(cur.span_from(start), message));
    }
    Ok(Some(base + distance as u16))
}

fn offset(asm: &mut Assembler, cur: &mut Cursor) -> Result<i64> {
    cur.blank();
    if cur.text.as_bytes()[cur.pos..].starts_with(b"swizzle") {
        return function::swizzle(asm, cur).map(i64::from);
    }
    asm.absolute(cur)
}

/// Reads a number from 0 to `max`.
pub(super) fn small(asm: &mut Assembler, cur: &mut Cursor, max: i64) -> Result<i64> {
    cur.blank();
    let start = cur.pos;
    let value = asm.absolute(cur)?;
    match (0..=max).contains(&value) {
        true => Ok(value),
        false => Err(error(cur.span_from(start), format!("a number from 0 to {max} is expected"))),
    }
}

/// Reads a list `[a,b,...]` of up to eight small numbers.
fn list(asm: &mut Assembler, cur: &mut Cursor, max: i64) -> Result<([u8; 8], u8)> {
    let mut values = [0; 8];
    let mut count = 0;
    cur.expect(b'[')?;
    loop {
        let value = small(asm, cur, max)?;
        if count == values.len() {
            return Err(error(cur.span_here(), "too many numbers in the list"));
        }
        values[count] = value as u8;
        count += 1;
        if !cur.eat(b',') {
            break;
        }
    }
    cur.expect(b']')?;
    Ok((values, count as u8))
}

/// Reads the lanes of `dpp8`, such as `[7,6,5,4,3,2,1,0]`.
fn lanes(asm: &mut Assembler, cur: &mut Cursor) -> Result<u32> {
    cur.blank();
    let start = cur.pos;
    let (values, count) = list(asm, cur, 7)?;
    match count {
        8 => Ok(values.iter().enumerate().fold(0, |lanes, (n, &lane)| lanes | u32::from(lane) << (3 * n))),
        _ => Err(error(cur.span_from(start), "`dpp8` takes eight lanes")),
    }
}

fn bits(asm: &mut Assembler, cur: &mut Cursor) -> Result<Bits> {
    let start = cur.pos;
    let (values, count) = list(asm, cur, 1)?;
    if count > 4 {
        return Err(error(cur.span_from(start), "at most four numbers are expected"));
    }
    let bits = values.iter().enumerate().fold(0, |bits, (n, &value)| bits | value << n);
    Ok(Bits { bits, count })
}

fn selection(cur: &mut Cursor) -> Result<SdwaSel> {
    cur.blank();
    let start = cur.pos;
    let name = cur.name().unwrap_or_default();
    let found = SELECTIONS.iter().find(|(text, _)| *text == name);
    found.map(|&(_, selection)| selection).ok_or_else(|| {
        error(cur.span_from(start), "unknown selection")
            .label("expected BYTE_0, BYTE_1, BYTE_2, BYTE_3, WORD_0, WORD_1 or DWORD")
    })
}

fn unused(cur: &mut Cursor) -> Result<u8> {
    cur.blank();
    let start = cur.pos;
    match cur.name().unwrap_or_default() {
        "UNUSED_PAD" => Ok(0),
        "UNUSED_SEXT" => Ok(1),
        "UNUSED_PRESERVE" => Ok(2),
        _ => Err(error(cur.span_from(start), "unknown value of dst_unused")
            .label("expected UNUSED_PAD, UNUSED_SEXT or UNUSED_PRESERVE")),
    }
}
