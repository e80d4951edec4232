//! Reads machine functions.

use super::cursor::{Cursor, Result};
use super::names::{ABI, FLAGS, HIDDEN, OMODS, ORDERS, SCOPES, SDWA_SELS, SIZES, SPACES, by_name};
use super::operand::{Reading, entity};
use super::print::Names;
use crate::{
    CALL_PINS, CallSite, Callee, Edge, Edges, FuncRole, MachBlock, MachFunc, MemRef, Note, Referent,
};
use cranelift_entity::EntityRef;
use isa::inst::MAX_OPERANDS;
use isa::table::{self, Family, Flags};
use isa::{
    Form, Lane, MBlock, MachInst, MemId, Mods, Opcode, Operand, Reg, RegClass, RegSet, SdwaSel, Target, VReg,
    op,
};
use std::collections::HashMap;
use std::iter::Enumerate;
use std::str::Lines;

/// Limit for the numbers of virtual registers and blocks in a text, so that a text with a huge number does
/// not make the reader allocate huge lists.
const MAX_NUMBER: u32 = 1 << 22;

/// Reads the machine functions in a text and ignores everything else in the text. `target` returns the
/// processor for the function with a given number, counted from 0.
///
/// # Errors
/// The first position at which the text is not machine IR of this processor.
pub fn read_functions<'a>(
    text: &str,
    target: impl Fn(usize) -> &'a Target,
    names: &Names<'_>,
) -> Result<Vec<MachFunc>> {
    let globals = (0..).zip(names.globals).map(|(index, &name)| (name, Referent::Global(index)));
    let funcs = (0..).zip(names.funcs).map(|(index, &name)| (name, Referent::Func(index)));
    let names = funcs.chain(globals).collect();
    let mut lines = text.lines().enumerate();
    let mut funcs = Vec::new();
    while let Some((number, line)) = lines.next() {
        if line.starts_with(BEGIN) {
            let body = Body {
                target: target(funcs.len()),
                names: &names,
                func: MachFunc::default(),
                classes: Vec::new(),
                used: Vec::new(),
            };
            funcs.push(body.read(&mut Cursor::new(number as u32 + 1, line), &mut lines)?);
        }
    }
    Ok(funcs)
}

/// Beginning of the first line of a function; the function ends at the next line that begins with `}`.
pub(super) const BEGIN: &str = "machine ";
/// Words that start a part of a block.
pub(super) const PARTS: [&str; 3] = ["prologue", "body", "terminators"];
/// Words that start the successors of a block.
pub(super) const EDGES: [&str; 2] = ["linear", "logical"];

/// Returns a text with the lines of machine functions made empty, so that only the module's text is left.
pub fn without_functions(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.lines() {
        inside |= line.starts_with(BEGIN);
        out.push_str(if inside { "" } else { line });
        out.push('\n');
        inside &= !line.starts_with('}');
    }
    out
}

/// A part of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Prologue,
    Body,
    Terminators,
}

/// A function that is being read.
pub(super) struct Body<'a> {
    pub target: &'a Target,
    /// Variables and functions of the module by name.
    pub names: &'a HashMap<&'a str, Referent>,
    pub func: MachFunc,
    /// For each virtual register, by its number in the text: its class, if the text has mentioned the
    /// register so far.
    classes: Vec<Option<RegClass>>,
    /// Blocks that have been mentioned.
    used: Vec<(u32, Cursor<'a>)>,
}

impl<'a> Body<'a> {
    fn read(mut self, at: &mut Cursor<'a>, lines: &mut Enumerate<Lines<'a>>) -> Result<MachFunc> {
        at.expect("machine")?;
        at.expect("@")?;
        self.func.name = at.word("a name")?.to_owned();
        at.expect("{")?;
        at.end()?;
        let mut block: Option<(MBlock, Part)> = None;
        for (number, line) in lines {
            let mut at = Cursor::new(number as u32 + 1, line);
            if at.at_end() {
                continue;
            }
            if at.accept("}") {
                at.end()?;
                close(&mut self.func, block);
                return self.finish();
            }
            if entity(at.peek_word(), "bb").is_some() {
                close(&mut self.func, block);
                block = Some((self.block_head(&mut at)?, Part::Body));
            } else {
                match &mut block {
                    None => self.head(&mut at)?,
                    Some((id, part)) => self.line(&mut at, *id, part)?,
                }
            }
            at.end()?;
        }
        at.error("this function has no closing `}`")
    }

    /// Reads a line before the first block.
    fn head(&mut self, at: &mut Cursor<'a>) -> Result<()> {
        let before = *at;
        let word = at.word("an attribute of the function")?;
        if let Some((_, place)) = SIZES.iter().find(|(name, _)| *name == word) {
            *place(&mut self.func) = at.number()?;
            return Ok(());
        }
        match word {
            "abi" => {
                while !at.at_end() {
                    let before = *at;
                    let word = at.word("what a kernel is given")?;
                    match ABI.iter().find(|(name, _)| *name == word) {
                        Some((_, place)) => *place(&mut self.func.abi) = true,
                        None => return before.error(format!("`{word}` is nothing that a kernel is given")),
                    }
                }
            }
            "hidden" => {
                while !at.at_end() {
                    let before = *at;
                    let word = at.word("a hidden argument")?;
                    match by_name(HIDDEN, word) {
                        Some(hidden) => self.func.hidden |= hidden,
                        None => {
                            return before.error(format!("`{word}` is no hidden argument that code reads"));
                        }
                    }
                }
            }
            "workitem_ids" => self.func.abi.workitem_ids = at.number()?,
            "uses_vcc" => self.func.uses_vcc = true,
            "callee" => self.func.role = FuncRole::Callee,
            "dynamic_stack" => self.func.dynamic_stack = true,
            "wave_size" => self.func.wave_size = Some(at.number()?),
            "site" => self.site(at)?,
            "input" => {
                at.expect("%")?;
                let vreg = self.vreg_name(at)?;
                at.expect("=")?;
                let reg = self.regs(at)?.first;
                self.func.inputs.push((vreg, reg));
            }
            _ => return before.error(format!("`{word}` is no attribute of a function, and no block")),
        }
        Ok(())
    }

    /// Reads the rest of a line that describes a call, such as `@name pins v0 v0 v31 s4 stack local clobbers
    /// s[4:31] v[0:39]`.
    fn site(&mut self, at: &mut Cursor<'a>) -> Result<()> {
        let before = *at;
        let callee = match entity(at.peek_word(), "sig") {
            Some(sig) => {
                at.word("a signature")?;
                Callee::Pointer(sig)
            }
            None => match self.referent(at)? {
                Referent::Func(index) => Callee::Func(index),
                Referent::Global(_) | Referent::Scratch(_) => {
                    return before.error("a variable cannot be called");
                }
            },
        };
        at.expect("pins")?;
        let mut pins = [Reg(0); CALL_PINS];
        for pin in &mut pins {
            *pin = self.regs(at)?.first;
        }
        let stack = at.accept_word("stack");
        let local = at.accept_word("local");
        at.expect("clobbers")?;
        let mut clobbers = RegSet::EMPTY;
        while !at.at_end() {
            clobbers.insert(self.regs(at)?);
        }
        self.func.calls.push(CallSite { callee, pins, clobbers, stack, local });
        Ok(())
    }

    /// Reads `bb3(%s4, %v5) depth 1:`.
    fn block_head(&mut self, at: &mut Cursor<'a>) -> Result<MBlock> {
        let before = *at;
        let number = entity(at.word("a block")?, "bb").unwrap_or(0);
        if number as usize != self.func.blocks.len() {
            return before.error("blocks are numbered in order, from 0");
        }
        let params = at.list(|at| {
            at.expect("%")?;
            self.vreg_name(at)
        })?;
        let of = |class| -> Vec<VReg> {
            params.iter().copied().filter(|param| self.classes[param.index()] == Some(class)).collect()
        };
        let mut block = MachBlock {
            sgpr_params: of(RegClass::Sgpr),
            vgpr_params: of(RegClass::Vgpr),
            term: u32::MAX,
            ..MachBlock::default()
        };
        if at.accept_word("depth") {
            block.depth = at.number()?;
        }
        at.expect(":")?;
        Ok(self.func.blocks.push(block))
    }

    /// Reads a line of a block.
    fn line(&mut self, at: &mut Cursor<'a>, id: MBlock, part: &mut Part) -> Result<()> {
        let block = &mut self.func.blocks[id];
        let count = block.insts.len() as u32;
        match at.peek_word() {
            "prologue" if count == 0 => {
                *part = Part::Prologue;
                at.expect("prologue:")
            }
            "body" if *part == Part::Prologue => {
                block.prologue = count;
                *part = Part::Body;
                at.expect("body:")
            }
            "terminators" if *part != Part::Terminators => {
                if *part == Part::Prologue {
                    block.prologue = count;
                }
                block.term = count;
                *part = Part::Terminators;
                at.expect("terminators:")
            }
            word if PARTS.contains(&word) => at.error("this part cannot begin here"),
            word if EDGES.contains(&word) => {
                let before = *at;
                at.expect(word)?;
                let edges = self.edges(at)?;
                let block = &mut self.func.blocks[id];
                let place = if word == EDGES[0] { &mut block.linear } else { &mut block.logical };
                match std::mem::replace(place, edges) {
                    [None, None] => Ok(()),
                    _ => before.error("the block has these successors already"),
                }
            }
            _ => {
                let inst = self.inst(at)?;
                self.func.blocks[id].insts.push(inst);
                Ok(())
            }
        }
    }

    fn edges(&mut self, at: &mut Cursor<'a>) -> Result<Edges> {
        at.expect("->")?;
        let mut edges = [None; 2];
        for (n, edge) in edges.iter_mut().enumerate() {
            if n > 0 && !at.accept(",") {
                break;
            }
            if at.accept_word("none") {
                continue;
            }
            let before = *at;
            let Some(number) = entity(at.word("a block")?, "bb") else {
                return before.error("expected a block or `none`");
            };
            let to = self.use_block(number, before)?;
            let args = at.list(|at| {
                at.expect("%")?;
                self.vreg_name(at)
            })?;
            *edge = Some(Edge { to, args: self.func.arg_range(&args) });
        }
        Ok(edges)
    }

    /// Returns the block with a number that the text mentions. Whether the text defines the block is checked
    /// at the end of the function.
    pub fn use_block(&mut self, number: u32, at: Cursor<'a>) -> Result<MBlock> {
        if number >= MAX_NUMBER {
            return at.error("the number of this block is too large");
        }
        self.used.push((number, at));
        Ok(MBlock::from_u32(number))
    }

    /// Reads `s5` or `v5` after the `%`.
    pub fn vreg_name(&mut self, at: &mut Cursor<'a>) -> Result<VReg> {
        let before = *at;
        let word = at.word("a virtual register")?;
        match (entity(word, "s"), entity(word, "v")) {
            (Some(number), _) => self.vreg_number(number, RegClass::Sgpr, before),
            (_, Some(number)) => self.vreg_number(number, RegClass::Vgpr, before),
            _ => before.error("expected a virtual register, like `%s1` or `%v2`"),
        }
    }

    pub fn vreg_number(&mut self, number: u32, class: RegClass, at: Cursor<'a>) -> Result<VReg> {
        if number >= MAX_NUMBER {
            return at.error("the number of this register is too large");
        }
        let index = number as usize;
        if self.classes.len() <= index {
            self.classes.resize(index + 1, None);
        }
        match self.classes[index].replace(class) {
            Some(other) if other != class => {
                at.error(format!("register {number} is of the other class elsewhere"))
            }
            _ => Ok(VReg::new(index)),
        }
    }

    fn inst(&mut self, at: &mut Cursor<'a>) -> Result<MachInst> {
        let before = *at;
        let name = at.word("an instruction")?;
        let mut operands = Vec::new();
        let Some((candidates, form)) = opcodes(self.target, name) else {
            return before.error(format!("{} has no instruction `{name}`", self.target.name));
        };
        let first = candidates[0];
        let no_operands = at.at_end() || is_modifier(at) || matches!(at.peek(), Some('"' | '!'));
        while !no_operands && (operands.is_empty() || at.accept(",")) {
            operands.push(self.operand(at, Reading::for_operand(first, operands.len()))?);
        }
        if operands.len() > MAX_OPERANDS {
            return before.error("too many operands");
        }
        let op = self.choose(&candidates, &operands);
        if op.family() != Family::Pseudo && operands.len() < op.row().ops.len() {
            return before.error(format!("`{name}` has {} operands", op.row().ops.len()));
        }
        let mut inst = MachInst::new(op, &operands);
        inst.form = form;
        self.modifiers(at, &mut inst)?;
        Ok(inst)
    }

    /// Chooses one of several rows of the instruction table with the same name: the first row that has as
    /// many operands as the text.
    fn choose(&self, candidates: &[Opcode], operands: &[Operand]) -> Opcode {
        let fits = |op: &&Opcode| op.row().ops.len() == operands.len();
        *candidates.iter().find(fits).unwrap_or(&candidates[0])
    }

    fn modifiers(&mut self, at: &mut Cursor<'a>, inst: &mut MachInst) -> Result<()> {
        let two_offsets = inst.op.row().flags.contains(Flags::OFFSET2);
        while !at.at_end() {
            if at.peek() == Some('"') {
                let note = Note::Read(at.quoted()?);
                inst.note = self.func.note(note);
            } else if at.accept("!") {
                inst.loc = at.number()?;
            } else if at.peek_word() == "mem" {
                inst.mem = self.mem(at)?;
            } else if matches!(inst.op, op::CALL | op::TAIL_CALL) {
                let before = *at;
                at.expect("site")?;
                inst.mods.offset = value(at)?;
                if self.func.call_of(inst).is_none() {
                    return before.error("the function has no such call");
                }
            } else {
                modifier(at, &mut inst.mods, two_offsets)?;
            }
        }
        Ok(())
    }

    fn mem(&mut self, at: &mut Cursor<'a>) -> Result<MemId> {
        at.expect("mem")?;
        at.expect("(")?;
        let mut mem = MemRef::default();
        while !at.accept(")") {
            let before = *at;
            let word = at.word("an attribute of the access")?;
            if let Some(order) = by_name(ORDERS, word) {
                mem.order = order;
            } else if let Some(scope) = by_name(SCOPES, word) {
                mem.scope = scope;
            } else if let Some(space) = by_name(SPACES, word) {
                mem.spaces |= space;
            } else {
                match word {
                    "one_as" => mem.one_as = true,
                    "volatile" => mem.volatile = true,
                    "nontemporal" => mem.nontemporal = true,
                    "spaces" => mem.spaces |= value::<u8>(at)?,
                    "alias" => mem.alias = value(at)?,
                    "fail" => {
                        at.expect(":")?;
                        mem.fail = named(at, ORDERS, "an order")?;
                    }
                    _ => return before.error(format!("`{word}` is no attribute of an access")),
                }
            }
        }
        Ok(self.func.mem_ref(mem))
    }

    fn finish(mut self) -> Result<MachFunc> {
        for (number, at) in &self.used {
            if *number as usize >= self.func.blocks.len() {
                return at.error(format!("bb{number} is not defined"));
            }
        }
        for class in self.classes {
            // The numbers of the virtual registers in a text may have gaps. A number that the text does not
            // mention becomes an SGPR that no instruction uses.
            self.func.vregs.push(class.unwrap_or(RegClass::Sgpr));
        }
        Ok(self.func)
    }
}

/// Completes a block when its text ends. Without the line `terminators:`, the terminator group is empty. With
/// the line `prologue:` and no later part, all instructions belong to the prologue.
fn close(func: &mut MachFunc, block: Option<(MBlock, Part)>) {
    let Some((id, part)) = block else { return };
    let block = &mut func.blocks[id];
    let count = block.insts.len() as u32;
    block.term = block.term.min(count);
    if part == Part::Prologue {
        block.prologue = count;
    }
}

/// Returns the rows of the instruction table with a mnemonic, and the encoding that the mnemonic's suffix
/// requests.
fn opcodes(target: &Target, name: &str) -> Option<(Vec<Opcode>, Form)> {
    let rows = |name: &str| -> Vec<Opcode> {
        let known = |op: &Opcode| op.family() == Family::Pseudo || table::available(*op, target);
        table::by_name_anywhere(name).filter(known).collect()
    };
    let endings = [
        ("_e64", Form::Full),
        ("_e32", Form::E32),
        ("_sdwa", Form::Sdwa),
        ("_dpp", Form::Dpp),
        ("", Form::Full),
    ];
    endings.into_iter().find_map(|(ending, form)| {
        let rows = rows(name.strip_suffix(ending)?);
        (!rows.is_empty()).then_some((rows, form))
    })
}

/// Returns whether a modifier comes next, for instructions without operands.
fn is_modifier(at: &mut Cursor<'_>) -> bool {
    let word = at.peek_word();
    word == "mem" || by_name(FLAGS, word).is_some()
}

fn value<T: TryFrom<i64>>(at: &mut Cursor<'_>) -> Result<T> {
    at.expect(":")?;
    at.number()
}

fn named<K: Copy>(at: &mut Cursor<'_>, table: &[(K, &str)], what: &str) -> Result<K> {
    let before = *at;
    match by_name(table, at.word(what)?) {
        Some(key) => Ok(key),
        None => before.error(format!("expected {what}")),
    }
}

fn modifier(at: &mut Cursor<'_>, mods: &mut Mods, two_offsets: bool) -> Result<()> {
    if let Some(n) = OMODS.iter().position(|text| at.accept(text)) {
        mods.omod = n as u8 + 1;
        return Ok(());
    }
    let before = *at;
    let word = at.word("a modifier")?;
    if let Some(flag) = by_name(FLAGS, word) {
        mods.flags |= flag;
        return Ok(());
    }
    match word {
        "neg" => mods.neg = bits(at)?,
        "abs" => mods.abs = bits(at)?,
        "op_sel" => mods.op_sel = bits(at)?,
        "op_sel_hi" => mods.op_sel_hi = bits(at)?,
        "omod" => mods.omod = value(at)?,
        "offset" => mods.offset = value(at)?,
        "offset0" if two_offsets => mods.offset = mods.offset & !255 | i32::from(value::<u8>(at)?),
        "offset1" if two_offsets => mods.offset = mods.offset & 255 | i32::from(value::<u8>(at)?) << 8,
        "sdwa" | "dpp" | "format" | "dpp8" | "image" => mods.lane = lane(at, word)?,
        _ => return before.error(format!("`{word}` is no modifier")),
    }
    Ok(())
}

/// Reads `:[0,1]`, with bit 0 first.
fn bits(at: &mut Cursor<'_>) -> Result<u8> {
    at.expect(":")?;
    bit_list(at)
}

fn bit_list(at: &mut Cursor<'_>) -> Result<u8> {
    at.expect("[")?;
    let mut all = 0u8;
    for n in 0..8 {
        match at.number::<u8>()? {
            bit @ 0..=1 => all |= bit << n,
            _ => return at.error("expected 0 or 1 before this"),
        }
        if !at.accept(",") {
            break;
        }
    }
    at.expect("]")?;
    Ok(all)
}

fn lane(at: &mut Cursor<'_>, kind: &str) -> Result<Lane> {
    at.expect("(")?;
    let lane = match kind {
        "sdwa" => Lane::Sdwa {
            dst: sdwa_sel(at, "dst:")?,
            unused: field(at, "unused:")?,
            src0: sdwa_sel(at, "src0:")?,
            src1: sdwa_sel(at, "src1:")?,
            sext: {
                at.expect("sext:")?;
                bit_list(at)?
            },
        },
        "dpp" => Lane::Dpp {
            ctrl: field(at, "ctrl:")?,
            row_mask: field(at, "row_mask:")?,
            bank_mask: field(at, "bank_mask:")?,
        },
        "format" => Lane::Format(at.number()?),
        "dpp8" => Lane::Dpp8 { lanes: at.number()? },
        _ => Lane::Image { dmask: field(at, "dmask:")?, dim: field(at, "dim:")? },
    };
    at.expect(")")?;
    Ok(lane)
}

fn field<T: TryFrom<i64>>(at: &mut Cursor<'_>, name: &str) -> Result<T> {
    at.expect(name)?;
    at.number()
}

fn sdwa_sel(at: &mut Cursor<'_>, name: &str) -> Result<SdwaSel> {
    at.expect(name)?;
    let before = *at;
    let word = at.word("a part of a dword")?;
    let code = SDWA_SELS.iter().position(|name| *name == word);
    match code.and_then(|code| SdwaSel::from_code(code as u8)) {
        Some(sel) => Ok(sel),
        None => before.error("expected a part of a dword"),
    }
}
