//! Recovers the values that registers had on entry to a function, from the call site entries of its caller
//! (DWARF 5, 2.5.1.7 and 3.4.2).
//!
//! After a function has overwritten an argument, the argument is no longer in the function's registers and
//! memory. But the caller may have passed a constant, or the contents of a register that calls preserve. The
//! compiler of the caller records this in a call site entry, as an expression to be evaluated in the state of
//! the caller. The caller's registers can be found with call frame information.

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

/// Largest number of callers that are visited to find one value. More than one caller is visited if each
/// caller has received the value from its own caller.
const DEPTH: u32 = 32;

/// Program that is being debugged: its debug information, and the address at which it was loaded.
#[derive(Clone, Copy)]
pub struct LoadedProgram<'a> {
    /// Entries of `.debug_info`.
    pub info: &'a DebugInfo,
    /// Call frame information.
    pub frames: &'a Frames,
    /// Difference between an address in memory and the address of the same byte in the file.
    pub base: u64,
}

/// State of a function on entry. Only those registers are known for which the function's caller has recorded
/// what it passed.
///
/// In standard DWARF, a vector register stands for the dword of the current lane, also in the expressions of
/// callers.
pub struct EntryState<'a> {
    program: LoadedProgram<'a>,
    /// Current state in the function.
    now: &'a dyn Machine,
    /// Current address in the function, as an address of the file.
    address: u64,
    /// Current lane, if it differs from the machine's.
    lane: Option<u32>,
    depth: u32,
    /// Row of call frame information at the current address, with the common information entry to which it
    /// belongs. Cached because each register and lane needs it.
    row: OnceCell<Option<(Row, &'a Common)>>,
}

impl<'a> EntryState<'a> {
    /// Creates the entry state of the function that contains `address`, an address of the file. `now` is the
    /// current state of the machine at this address.
    pub fn new(program: LoadedProgram<'a>, now: &'a dyn Machine, address: u64) -> EntryState<'a> {
        EntryState { program, now, address, lane: None, depth: 0, row: OnceCell::new() }
    }

    fn row(&self) -> Option<&(Row, &'a Common)> {
        let row = self.row.get_or_init(|| {
            let frames = self.program.frames;
            let row = frames.row(self.address).ok().flatten()?;
            Some((row, frames.common_of(frames.around(self.address)?)))
        });
        row.as_ref()
    }

    /// Returns the dword that a register held in lane `lane` on entry to the function.
    ///
    /// # Errors
    /// The caller does not describe the register, or the description needs something unknown.
    pub fn dword(&self, register: Register, lane: u32) -> Result<u32, Reason> {
        let missing = || Reason::Need(Need::EntryValue);
        if self.depth == DEPTH {
            return Err(Reason::Limit("callers of callers"));
        }
        let LoadedProgram { info, base, .. } = self.program;
        let (row, common) = self.row().ok_or_else(missing)?;
        let caller = Caller::new(self.now, row, common)?;
        let ReturnAddress::At(back) = caller.return_address()? else { return Err(missing()) };
        let back = back.wrapping_sub(base);
        if info.calls.may_jump_to(self.address) {
            return Err(missing());
        }
        let (value, encoding) = self.program.passed_expression(back, register).ok_or_else(missing)?;
        let address = back.wrapping_sub(1);
        let depth = self.depth + 1;
        let outer = || EntryState {
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
        let site = CallSiteState { caller: &caller, given: outer(), lane };
        let outcome = evaluate(value, encoding, Goal::Value, &site, &[]).map_err(|error| error.reason)?;
        let value = outcome.value().ok_or(Reason::NoValue)?;
        // An argument's register contains the low bits of the value.
        Ok(value.unsigned()? as u32)
    }
}

/// Reads the dword of a scalar register, or the dword of lane `lane` of a vector register.
fn dword_of(machine: &dyn Machine, register: Register, lane: u32) -> Result<u32, Reason> {
    let is_vector = matches!(register.facts(), Some((Bank::Vgpr | Bank::Agpr, ..)));
    let mut bytes = [0; 4];
    machine.register_part(register, if is_vector { 4 * lane as usize } else { 0 }, &mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Returns the operation of an expression that consists of a single operation. `None` for longer expressions.
fn single(expression: &[u8], encoding: Encoding) -> Option<crate::op::Op<'_>> {
    let mut ops = Ops::new(expression, encoding);
    ops.next()?.ok().filter(|_| ops.next().is_none())
}

/// If an expression stands for the contents of a vector register in the current lane, returns this register.
/// Returns `None` for other expressions.
fn of_lane(expression: &[u8], encoding: Encoding) -> Option<Register> {
    let op = single(expression, encoding).filter(|op| op.opcode == Opcode::BREGX && op.signed(1) == 0)?;
    let register = Register(op.unsigned(0));
    matches!(register.facts(), Some((Bank::Vgpr | Bank::Agpr, ..))).then_some(register)
}

/// If an expression stands for the value of a register on entry to the function, returns this register.
/// Returns `None` for other expressions.
fn entry_of_lane(expression: &[u8], encoding: Encoding) -> Option<Register> {
    let op = single(expression, encoding)
        .filter(|op| matches!(op.opcode, Opcode::ENTRY_VALUE | Opcode::GNU_ENTRY_VALUE))?;
    let of = single(op.bytes(0), encoding)?;
    (of.opcode == Opcode::REGX).then(|| Register(of.unsigned(0)))
}

impl Machine for EntryState<'_> {
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        self.register_part(register, 0, bytes)
    }

    /// Fills `bytes` with the dwords that the lanes of a vector register had on entry. `first` is the offset
    /// in bytes of the first lane's dword. Each dword comes from the caller's description.
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

    fn passed_dword(&self, register: Register, lane: u32) -> Result<u32, Reason> {
        self.dword(register, lane)
    }
}

/// State of the caller for expressions of its call site entry.
struct CallSiteState<'a> {
    caller: &'a Caller<'a>,
    given: EntryState<'a>,
    lane: u32,
}

impl Machine for CallSiteState<'_> {
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

    fn passed_dword(&self, register: Register, lane: u32) -> Result<u32, Reason> {
        self.given.dword(register, lane)
    }
}

/// Calls of a program, from its call site entries.
#[derive(Clone, Debug, Default)]
pub struct CallSites {
    /// Call site entries, as indices into [`DebugInfo::entries`]. The key is the return address of the call.
    sites: BTreeMap<u64, usize>,
    /// Code ranges of functions that may be entered by a tail call of another function.
    jumped_to: Vec<(u64, u64)>,
    /// Whether a tail call may lead to any function.
    jumps_anywhere: bool,
}

impl CallSites {
    /// Collects the calls of a file.
    pub fn from_info(info: &DebugInfo) -> CallSites {
        let mut calls = CallSites::default();
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

    /// Returns the index of the call site entry for the call whose return address is `back`.
    pub fn site(&self, back: u64) -> Option<usize> {
        self.sites.get(&back).copied()
    }

    /// Returns whether the function around an address may have been entered by a tail call. In that case, the
    /// function does not return to its caller but to the caller's caller. It is then unknown which call
    /// entered it and what was passed.
    fn may_jump_to(&self, address: u64) -> bool {
        self.jumps_anywhere || self.jumped_to.iter().any(|&(from, to)| (from..to).contains(&address))
    }
}

impl LoadedProgram<'_> {
    /// Returns the expression for the value that a call passed in `register`. `back` is the return address of
    /// the call. The expression must be evaluated in the state of the caller.
    fn passed_expression(&self, back: u64, register: Register) -> Option<(&[u8], Encoding)> {
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

/// Returns whether a call site entry describes a tail call. After a tail call, the callee returns to the
/// caller's caller.
fn is_tail(die: &Die) -> bool {
    ["DW_AT_call_tail_call", "DW_AT_GNU_tail_call"].iter().any(|name| die.get(name).is_some())
}

/// Returns the register whose passed value a call site parameter entry describes.
pub fn parameter(die: &Die, encoding: Encoding) -> Option<Register> {
    match die.get("DW_AT_location")? {
        Content::Expression(bytes) if die.tag.ends_with("call_site_parameter") => {
            let op = single(bytes, encoding)?;
            (op.opcode == Opcode::REGX).then(|| Register(op.unsigned(0)))
        }
        _ => None,
    }
}
