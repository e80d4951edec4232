//! What a function was given: registers as they were when it was entered, as its caller's entries of call sites say (DWARF 5, 2.5.1.7 and
//! 3.4.2).
//!
//! A call leaves nothing behind of an argument that the function has overwritten. But the compiler of the caller may know what it has put there: a
//! constant, or what is in a register that calls keep. It says so as an expression of the caller's, whose registers call frame information finds.

use crate::error::{Need, Reason};
use crate::eval::{Goal, evaluate};
use crate::frame::{Common, Frames, Row};
use crate::info::{Content, DebugInfo, Die};
use crate::machine::Machine;
use crate::names::{AddressSpace, Bank, Register};
use crate::op::{Encoding, Opcode, Ops};
use crate::unwind::{Caller, ReturnAddress};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Callers that are asked what they were given themselves.
const DEPTH: u32 = 32;

/// A program: its debug information, and where it was loaded.
#[derive(Clone, Copy)]
pub struct Loaded<'a> {
    /// Entries.
    pub info: &'a DebugInfo,
    /// Call frame information.
    pub frames: &'a Frames,
    /// What addresses of memory are more than those of the file.
    pub base: u64,
}

/// A function as it was when it was entered: of registers that its caller says, what they held.
///
/// In plain DWARF a vector register stands for the dword of the lane that is looked at, and so it does in what callers say of it.
pub struct Given<'a> {
    program: Loaded<'a>,
    /// The state in the function now.
    now: &'a dyn Machine,
    /// Where it stands: an address of the file.
    address: u64,
    /// The lane that is looked at, if it is not the machine's.
    lane: Option<u32>,
    depth: u32,
    /// The row that is in force there, once it has been asked for: each register and lane does.
    row: OnceCell<Option<(Row, &'a Common)>>,
}

impl<'a> Given<'a> {
    /// Of the function around an address of the file; `now`: the state of the machine there.
    pub fn new(program: Loaded<'a>, now: &'a dyn Machine, address: u64) -> Given<'a> {
        Given { program, now, address, lane: None, depth: 0, row: OnceCell::new() }
    }

    fn row(&self) -> Option<&(Row, &'a Common)> {
        let row = self.row.get_or_init(|| {
            let frames = self.program.frames;
            let row = frames.row(self.address).ok().flatten()?;
            Some((row, frames.common_of(frames.around(self.address)?)))
        });
        row.as_ref()
    }

    /// The dword that a register held in a lane.
    ///
    /// # Errors
    /// The caller does not say it, or what it says asks for what nobody knows.
    pub fn dword(&self, register: Register, lane: u32) -> Result<u32, Reason> {
        let missing = || Reason::Need(Need::EntryValue);
        if self.depth == DEPTH {
            return Err(Reason::Limit("callers of callers"));
        }
        let Loaded { info, base, .. } = self.program;
        let (row, common) = self.row().ok_or_else(missing)?;
        let caller = Caller::new(self.now, row, common)?;
        let ReturnAddress::At(back) = caller.return_address()? else { return Err(missing()) };
        let back = back.wrapping_sub(base);
        if info.calls.may_jump_to(self.address) {
            return Err(missing());
        }
        let (value, encoding) = self.program.passed(back, register).ok_or_else(missing)?;
        let address = back.wrapping_sub(1);
        let depth = self.depth + 1;
        let outer = || Given {
            program: self.program,
            now: &caller,
            address,
            lane: Some(lane),
            depth,
            row: OnceCell::new(),
        };
        if common.augmentation.is_empty()
            && let Some(register) = of_lane(value, encoding)
        {
            return dword_of(&caller, register, lane);
        }
        if let Some(register) = entry_of_lane(value, encoding) {
            return outer().dword(register, lane);
        }
        let site = Site { caller: &caller, given: outer(), lane };
        let outcome = evaluate(value, encoding, Goal::Value, &site, &[]).map_err(|error| error.reason)?;
        let value = outcome.value().ok_or(Reason::NoValue)?;
        // An argument's register has the low bits of what was passed.
        Ok(value.unsigned()? as u32)
    }
}

/// A dword of a scalar register, or a lane's of a vector register.
fn dword_of(machine: &dyn Machine, register: Register, lane: u32) -> Result<u32, Reason> {
    let is_vector = matches!(register.facts(), Some((Bank::Vgpr | Bank::Agpr, ..)));
    let mut bytes = [0; 4];
    machine.register_part(register, if is_vector { 4 * lane as usize } else { 0 }, &mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// The only operation of an expression.
fn single(expression: &[u8], encoding: Encoding) -> Option<crate::op::Op<'_>> {
    let mut ops = Ops::new(expression, encoding);
    ops.next()?.ok().filter(|_| ops.next().is_none())
}

/// The vector register whose contents an expression is.
fn of_lane(expression: &[u8], encoding: Encoding) -> Option<Register> {
    let op = single(expression, encoding).filter(|op| op.opcode == Opcode::BREGX && op.signed(1) == 0)?;
    let register = Register(op.unsigned(0));
    matches!(register.facts(), Some((Bank::Vgpr | Bank::Agpr, ..))).then_some(register)
}

/// The register whose value on entry an expression is.
fn entry_of_lane(expression: &[u8], encoding: Encoding) -> Option<Register> {
    let op = single(expression, encoding)
        .filter(|op| matches!(op.opcode, Opcode::ENTRY_VALUE | Opcode::GNU_ENTRY_VALUE))?;
    let of = single(op.bytes(0), encoding)?;
    (of.opcode == Opcode::REGX).then(|| Register(of.unsigned(0)))
}

impl Machine for Given<'_> {
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        self.register_part(register, 0, bytes)
    }

    /// Dwords of lanes, each as the caller says.
    fn register_part(&self, register: Register, first: usize, bytes: &mut [u8]) -> Result<(), Reason> {
        if !first.is_multiple_of(4) {
            return Err(Reason::Outside);
        }
        for (lane, dword) in (first as u32 / 4..).zip(bytes.chunks_mut(4)) {
            let known = self.dword(register, lane)?.to_le_bytes();
            dword.copy_from_slice(&known[..dword.len()]);
        }
        Ok(())
    }

    fn lane(&self) -> Result<u32, Reason> {
        self.lane.map_or_else(|| self.now.lane(), Ok)
    }

    fn passed(&self, register: Register, lane: u32) -> Result<u32, Reason> {
        self.dword(register, lane)
    }
}

/// The caller, as an expression of its entry of the call site sees it.
struct Site<'a> {
    caller: &'a Caller<'a>,
    given: Given<'a>,
    lane: u32,
}

impl Machine for Site<'_> {
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        self.caller.register(register, bytes)
    }

    fn register_part(&self, register: Register, first: usize, bytes: &mut [u8]) -> Result<(), Reason> {
        self.caller.register_part(register, first, bytes)
    }

    fn memory(&self, space: AddressSpace, address: u64, bytes: &mut [u8]) -> Result<(), Reason> {
        self.caller.memory(space, address, bytes)
    }

    fn lane(&self) -> Result<u32, Reason> {
        Ok(self.lane)
    }

    fn entered(&self) -> Result<&dyn Machine, Reason> {
        Ok(&self.given)
    }

    fn passed(&self, register: Register, lane: u32) -> Result<u32, Reason> {
        self.given.dword(register, lane)
    }
}

/// The calls of a program, by its entries of call sites.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// By the address that a call returns to, its entry: numbers of [`DebugInfo::entries`].
    sites: BTreeMap<u64, usize>,
    /// Code of functions that others jump to instead of calling them.
    jumped_to: Vec<(u64, u64)>,
    /// A jump may lead to any function.
    jumps_anywhere: bool,
}

impl Calls {
    /// Those of a file.
    pub fn of(info: &DebugInfo) -> Calls {
        let mut calls = Calls::default();
        for (at, die) in info.entries.iter().enumerate() {
            let back = match die.tag.as_str() {
                "DW_TAG_call_site" => die.get("DW_AT_call_return_pc"),
                "DW_TAG_GNU_call_site" => die.get("DW_AT_low_pc"),
                _ => continue,
            };
            if is_tail(die) {
                let callee = match die.get("DW_AT_call_origin").or(die.get("DW_AT_abstract_origin")) {
                    Some(&Content::Reference(callee)) => info.entry(callee),
                    _ => None,
                };
                let ranges = callee.map(Die::ranges).unwrap_or_default();
                calls.jumps_anywhere |= ranges.is_empty();
                calls.jumped_to.extend(ranges);
            } else if let Some(&Content::Address(back)) = back {
                calls.sites.insert(back, at);
            }
        }
        calls
    }

    /// The entry of the call that returns to an address of the file: its number.
    pub fn site(&self, back: u64) -> Option<usize> {
        self.sites.get(&back).copied()
    }

    /// Whether the function around an address may have been entered by a jump from another one: then whoever is returned to has not called it, and
    /// what that one has passed is lost.
    fn may_jump_to(&self, address: u64) -> bool {
        self.jumps_anywhere || self.jumped_to.iter().any(|&(from, to)| (from..to).contains(&address))
    }
}

impl Loaded<'_> {
    /// What the call that returns to an address has put into a register: an expression of the caller's.
    fn passed(&self, back: u64, register: Register) -> Option<(&[u8], Encoding)> {
        let site = self.info.calls.site(back)?;
        let encoding = self.info.units[self.info.entries[site].unit].encoding;
        let mut parameters = self.info.children(site);
        let parameter = parameters.find(|die| parameter(die, encoding) == Some(register))?;
        match parameter.get("DW_AT_call_value").or(parameter.get("DW_AT_GNU_call_site_value"))? {
            Content::Expression(bytes) => Some((bytes, encoding)),
            _ => None,
        }
    }
}

/// Whether an entry is of a call that is a jump: what is called returns to the caller's caller.
fn is_tail(die: &Die) -> bool {
    ["DW_AT_call_tail_call", "DW_AT_GNU_tail_call"].iter().any(|name| die.get(name).is_some())
}

/// The register that an entry of a call site's parameter is about.
pub fn parameter(die: &Die, encoding: Encoding) -> Option<Register> {
    match die.get("DW_AT_location")? {
        Content::Expression(bytes) if die.tag.ends_with("call_site_parameter") => {
            let op = single(bytes, encoding)?;
            (op.opcode == Opcode::REGX).then(|| Register(op.unsigned(0)))
        }
        _ => None,
    }
}
