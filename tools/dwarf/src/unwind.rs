//! Unwinds one frame: computes the state of the machine in the calling function from a row of call frame
//! information (LLVM's AMDGPU guide, seed 000, lines 1535-1580 and 1838).

use crate::error::Reason;
use crate::eval::{Entry, Goal, evaluate};
use crate::frame::{Cfa, Common, Row, Rule};
use crate::llvm::marked;
use crate::location::Location;
use crate::machine::Machine;
use crate::names::{AddressSpace, Bank, Register};
use crate::op::{Encoding, Opcode, Ops};
use crate::value::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Operations that are not allowed in call frame information, because it must not depend on other sections,
/// on an object, or on itself (LLVM's AMDGPU guide, seed 000, lines 1687-1699).
const NOT_IN_FRAMES: [Opcode; 14] = [
    Opcode::ADDRX,
    Opcode::CALL2,
    Opcode::CALL4,
    Opcode::CALL_REF,
    Opcode::CONST_TYPE,
    Opcode::CONSTX,
    Opcode::CONVERT,
    Opcode::DEREF_TYPE,
    Opcode::REGVAL_TYPE,
    Opcode::REINTERPRET,
    Opcode::PUSH_OBJECT_ADDRESS,
    Opcode::CALL_FRAME_CFA,
    Opcode::ENTRY_VALUE,
    Opcode::GNU_ENTRY_VALUE,
];

/// Largest nesting depth of frame rules. A rule may use the value that a register had on entry to the
/// function, and another rule gives this value. A greater depth means that rules depend on each other in a
/// circle, which LLVM's AMDGPU guide forbids (seed 000, line 1687).
const DEPTH: u32 = 8;

/// Return address of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnAddress {
    /// This is the outermost frame, so there is no return address.
    Outermost,
    /// The row has no rule for the return address.
    Unknown,
    /// Address to which the function returns. The call instruction precedes this address, so the address
    /// minus one is within that instruction (LLVM's AMDGPU guide, seed 000, line 1860).
    At(u64),
}

/// State of the machine as the caller of a function sees it. Registers have the values that a row of call
/// frame information gives by its rules. Memory is the same as in the called function.
///
/// `Caller` implements [`Machine`], so the next frame can be unwound from it.
pub struct Caller<'m> {
    callee: &'m dyn Machine,
    row: &'m Row,
    encoding: Encoding,
    return_address: Register,
    cfa: Option<Location>,
    /// Whether the frame information is standard DWARF without the heterogeneous extensions. Locations in
    /// private memory then end with LLVM's mark for an address space (see module `llvm`).
    is_plain: bool,
    /// Current nesting depth of rules that use registers on entry.
    depth: Cell<u32>,
    /// Cache of the scalar registers that have been read, because masks and addresses in them are needed for
    /// each vector register and in each outer frame.
    known: RefCell<BTreeMap<Register, Result<Vec<u8>, Reason>>>,
    /// The register that was read last, with its location. Kept because consecutive requests often read parts
    /// of the same register.
    last: RefCell<Option<(Register, Rc<Location>)>>,
}

impl<'m> Caller<'m> {
    /// Unwinds one frame. `callee` is the state in the called function. `row` is the row that applies at the
    /// current address of this function.
    ///
    /// # Errors
    /// The definition of the frame is ill-formed, or needs something that the machine does not know.
    pub fn new(callee: &'m dyn Machine, row: &'m Row, common: &Common) -> Result<Caller<'m>, Reason> {
        let is_plain = common.augmentation.is_empty();
        let (encoding, return_address) = (common.encoding, common.return_address);
        let cfa = row.cfa.as_ref().map(|cfa| frame_address(cfa, encoding, is_plain, callee)).transpose()?;
        let (depth, known, last) = Default::default();
        Ok(Caller { callee, row, encoding, return_address, cfa, is_plain, depth, known, last })
    }

    /// Returns the canonical frame address of the function; `None` if the row does not define it.
    pub fn frame(&self) -> Option<&Location> {
        self.cfa.as_ref()
    }

    /// Returns the row of call frame information that applies in the called function.
    pub fn row(&self) -> &'m Row {
        self.row
    }

    /// Returns where the caller's value of a register is in the state of the called function. A value that is
    /// not stored anywhere becomes an implicit location, which consists of the value's bytes.
    ///
    /// # Errors
    /// The rule is ill-formed, or needs something that the machine does not know.
    pub fn location(&self, register: Register) -> Result<Location, Reason> {
        let bits = register.bits().ok_or(Reason::Register(register.0))?;
        let cfa = || self.cfa.as_ref().ok_or(Reason::NoLocation);
        match self.row.rule(register) {
            Rule::Undefined => Ok(Location::undefined()),
            Rule::Same => Location::register(register),
            Rule::Offset(offset) => cfa()?.moved(8 * i128::from(*offset)),
            Rule::ValueOffset(offset) => {
                let (space, address) =
                    cfa()?.moved(8 * i128::from(*offset))?.address().ok_or(Reason::NoLocation)?;
                // The register must have as many bits as an address (LLVM's AMDGPU guide, seed 000, line
                // 1553).
                if space.address_bits() != Some(bits) {
                    return Err(Reason::Size);
                }
                Ok(Location::implicit(&address.to_le_bytes()[..bits as usize / 8], bits.into()))
            }
            Rule::Register(other) if other.bits() != Some(bits) => Err(Reason::Size),
            Rule::Register(other) => Location::register(*other),
            Rule::Expression(bytes) if self.mark(bytes).is_some() => self.marked(bytes, cfa()?),
            Rule::Expression(bytes) => {
                let outcome = self.evaluate(bytes, Goal::Location, cfa()?)?;
                outcome.location().cloned().ok_or(Reason::NoLocation)
            }
            Rule::ValueExpression(bytes) => {
                let outcome = self.evaluate(bytes, Goal::Value, cfa()?)?;
                let value = outcome.value().ok_or(Reason::NoValue)?;
                // Standard DWARF does not require that the value is as large as the register. If the value is
                // larger, the register gets its low bits.
                let is_cut = self.is_plain && value.ty.bits() > u64::from(bits);
                if value.ty.bits() != u64::from(bits) && !is_cut {
                    return Err(Reason::Size);
                }
                Ok(Location::implicit(&value.bytes, bits.into()))
            }
        }
    }

    /// Evaluates the expression of a rule. The frame address is on the stack at first.
    fn evaluate(&self, bytes: &[u8], goal: Goal, cfa: &Location) -> Result<crate::Outcome, Reason> {
        allowed(bytes, self.encoding)?;
        let stack = [Entry::Location(cfa.clone())];
        evaluate(bytes, self.encoding, goal, &Entered(self), &stack).map_err(|error| error.reason)
    }

    /// Returns an expression without LLVM's mark for an address space at its end (see module `llvm`), and
    /// that address space. `None` if the frame information uses the extensions or the expression has no such
    /// mark.
    fn mark<'b>(&self, bytes: &'b [u8]) -> Option<(&'b [u8], AddressSpace)> {
        if self.is_plain { marked(bytes, self.encoding) } else { None }
    }

    /// Evaluates the expression of a location that ends with LLVM's mark for an address space (see module
    /// `llvm`). As standard DWARF requires, the frame address is on the stack as a number.
    fn marked(&self, bytes: &[u8], cfa: &Location) -> Result<Location, Reason> {
        let (bytes, space) = self.mark(bytes).ok_or(Reason::NoLocation)?;
        allowed(bytes, self.encoding)?;
        let (_, address) = cfa.address().ok_or(Reason::NoLocation)?;
        let stack = [Entry::Value(Value::generic(address, 8 * u32::from(self.encoding.address_size)))];
        Location::memory(space, number(bytes, self.encoding, &Entered(self), &stack)?)
    }

    /// Reads dwords of a vector register, starting with the dword of `lane`. This is for frame information
    /// without the heterogeneous extensions, whose rules describe the dword of a single lane. All
    /// lanes have their dwords at the same address, each in its own private memory, or the dwords are lost.
    ///
    /// A rule that is an expression, or that says "undefined", applies only to lanes that were active on
    /// entry to the function. The dwords of other lanes are still in the register.
    ///
    /// Returns a mask of the dwords that exist.
    fn lanes(&self, register: Register, lane: u32, bytes: &mut [u8]) -> Result<u64, Reason> {
        if lane as usize + bytes.len() / 4 > 64 {
            return Err(Reason::Outside);
        }
        let location = self.location(register)?;
        let address = location.address().filter(|&(space, _)| space == AddressSpace::PRIVATE_LANE);
        let mask = match self.row.rule(register) {
            Rule::Expression(_) | Rule::Undefined => self.active(register)?,
            _ => u64::MAX,
        };
        let (mut there, count) = (0, bytes.len() / 4);
        let is_in_frame = |n: usize| mask >> (lane as usize + n) & 1 == 1;
        let mut n = 0;
        while n < count {
            let end = (n..count).find(|&end| is_in_frame(end) != is_in_frame(n)).unwrap_or(count);
            match (is_in_frame(n), address) {
                (false, _) => {
                    let first = 4 * (lane as usize + n);
                    self.callee.register_part(register, first, &mut bytes[4 * n..4 * end])?;
                }
                (true, None) => {
                    n = end;
                    continue;
                }
                (true, Some((_, address))) => {
                    for (lane, dword) in (lane + n as u32..).zip(bytes[4 * n..4 * end].chunks_mut(4)) {
                        let space = AddressSpace::private_lane(lane).ok_or(Reason::Size)?;
                        self.callee.memory(space, address, dword)?;
                    }
                }
            }
            (n..end).for_each(|n| there |= 1 << n);
            n = end;
        }
        Ok(there)
    }

    /// Reads a vector register. Returns a mask of the dwords that exist. If the register is lost for active
    /// lanes, the dwords of other lanes still exist.
    ///
    /// # Errors
    /// As for [`Caller::location`] and for reading the location. If the called function has overwritten the
    /// register, nothing is known.
    pub fn register_there(&self, register: Register, bytes: &mut [u8]) -> Result<u64, Reason> {
        let all = (0..bytes.len() / 4).fold(0, |all, n| all | 1 << n);
        if matches!(self.row.rule(register), Rule::Same) {
            return self.register_part(register, 0, bytes).map(|()| all);
        }
        if self.is_of_lanes(register) {
            return self.lanes(register, 0, bytes);
        }
        let bits = 8 * bytes.len() as u64;
        let (found, there) = self.location(register)?.read_what_is_there(bits, self.callee)?;
        bytes.copy_from_slice(&found);
        let is_there = |n: &usize| there[4 * n..4 * n + 4].iter().all(|&is_there| is_there);
        Ok((0..bytes.len() / 4).filter(is_there).fold(0, |all, n| all | 1 << n))
    }

    /// Returns the mask of the lanes that were active on entry to the function. The size of the vector
    /// register says whether the mask has 32 or 64 bits.
    fn active(&self, register: Register) -> Result<u64, Reason> {
        let lanes = register.bits().ok_or(Reason::Register(register.0))? / 32;
        let exec = Register::in_bank(Bank::Exec, 0, lanes).ok_or(Reason::Size)?;
        let mut mask = [0; 8];
        self.register(exec, &mut mask[..lanes as usize / 8])?;
        Ok(u64::from_le_bytes(mask))
    }

    /// Returns whether the rule of a register describes the dword of a single lane. [`Caller::lanes`] must
    /// then read the register.
    fn is_of_lanes(&self, register: Register) -> bool {
        let is_vector = matches!(register.facts(), Some((Bank::Vgpr | Bank::Agpr, ..)));
        let is_meant = match self.row.rule(register) {
            Rule::Undefined => true,
            // If the frame is in the private memory of a lane, the rule describes this lane's dword. If the
            // frame is in the wave's scratch memory instead, the rule describes the dwords of all lanes
            // together, which are contiguous.
            Rule::Offset(_) => {
                let frame = self.cfa.as_ref().and_then(Location::address);
                frame.is_some_and(|(space, _)| space == AddressSpace::PRIVATE_LANE)
            }
            Rule::Expression(bytes) => self.mark(bytes).is_some(),
            _ => false,
        };
        self.is_plain && is_vector && is_meant
    }

    /// Returns the address to which the function returns.
    ///
    /// # Errors
    /// As for [`Caller::location`] and for reading the location.
    pub fn return_address(&self) -> Result<ReturnAddress, Reason> {
        match self.row.rule(self.return_address) {
            Rule::Undefined => Ok(ReturnAddress::Outermost),
            Rule::Same => Ok(ReturnAddress::Unknown),
            _ => {
                let bits = self.return_address.bits().ok_or(Reason::Register(self.return_address.0))?;
                let bytes = self.location(self.return_address)?.read(bits.into(), self.callee)?;
                Ok(ReturnAddress::At(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))))
            }
        }
    }
}

/// The machine in the state of the called function, for expressions in frame rules. If an expression asks for
/// the value of a register on entry to the function, the frame rule of this register gives it.
struct Entered<'a, 'm>(&'a Caller<'m>);

impl Machine for Entered<'_, '_> {
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        self.0.callee.register(register, bytes)
    }

    fn register_part(&self, register: Register, first: usize, bytes: &mut [u8]) -> Result<(), Reason> {
        self.0.callee.register_part(register, first, bytes)
    }

    fn memory(&self, space: AddressSpace, address: u64, bytes: &mut [u8]) -> Result<(), Reason> {
        self.0.callee.memory(space, address, bytes)
    }

    fn lane(&self) -> Result<u32, Reason> {
        self.0.callee.lane()
    }

    fn entry_register(&self, register: Register) -> Result<Location, Reason> {
        let depth = &self.0.depth;
        if depth.get() == DEPTH {
            return Err(Reason::Limit("registers on entry"));
        }
        depth.set(depth.get() + 1);
        let location = self.0.location(register);
        depth.set(depth.get() - 1);
        location
    }
}

impl Caller<'_> {
    /// Returns the value of a scalar register, from the cache if possible. A read of a register in an outer
    /// frame may need several registers of the inner frame. Without the cache, the number of reads would
    /// therefore multiply with each frame.
    fn scalar(&self, register: Register, bits: u32) -> Result<Vec<u8>, Reason> {
        if let Some(known) = self.known.borrow().get(&register) {
            return known.clone();
        }
        let found = self.location(register).and_then(|location| location.read(bits.into(), self.callee));
        self.known.borrow_mut().insert(register, found.clone());
        found
    }
}

impl Machine for Caller<'_> {
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        self.register_part(register, 0, bytes)
    }

    fn register_part(&self, register: Register, first: usize, bytes: &mut [u8]) -> Result<(), Reason> {
        if matches!(self.row.rule(register), Rule::Same) {
            let bits = register.bits().ok_or(Reason::Register(register.0))?;
            let is_within = first + bytes.len() <= bits as usize / 8;
            return if is_within {
                self.callee.register_part(register, first, bytes)
            } else {
                Err(Reason::Outside)
            };
        }
        if self.is_of_lanes(register) {
            let (lane, skip) = ((first / 4) as u32, first % 4);
            let mut dwords = vec![0; (skip + bytes.len()).next_multiple_of(4)];
            let there = self.lanes(register, lane, &mut dwords)?;
            if there.count_ones() as usize != dwords.len() / 4 {
                return Err(Reason::Undefined);
            }
            bytes.copy_from_slice(&dwords[skip..skip + bytes.len()]);
            return Ok(());
        }
        if let Some(bits) = register.bits().filter(|&bits| bits <= 64)
            && let Ok(whole) = self.scalar(register, bits)
        {
            bytes.copy_from_slice(whole.get(first..first + bytes.len()).ok_or(Reason::Outside)?);
            return Ok(());
        }
        let known = self.last.borrow().as_ref().filter(|last| last.0 == register).map(|last| last.1.clone());
        let location = match known {
            Some(location) => location,
            None => {
                let location = Rc::new(self.location(register)?);
                *self.last.borrow_mut() = Some((register, location.clone()));
                location
            }
        };
        bytes.fill(0);
        location.moved(8 * first as i128)?.read_whole(8 * bytes.len() as u64, self.callee, bytes)
    }

    fn memory(&self, space: AddressSpace, address: u64, bytes: &mut [u8]) -> Result<(), Reason> {
        self.callee.memory(space, address, bytes)
    }

    fn lane(&self) -> Result<u32, Reason> {
        self.callee.lane()
    }
}

/// Checks that all operations of an expression are allowed in call frame information.
fn allowed(bytes: &[u8], encoding: Encoding) -> Result<(), Reason> {
    for op in Ops::new(bytes, encoding) {
        if NOT_IN_FRAMES.contains(&op.map_err(Reason::Parse)?.opcode) {
            return Err(Reason::NotHere);
        }
    }
    Ok(())
}

/// Returns the canonical frame address, as a location of a byte of memory.
fn frame_address(
    cfa: &Cfa,
    encoding: Encoding,
    is_plain: bool,
    machine: &dyn Machine,
) -> Result<Location, Reason> {
    match cfa {
        Cfa::Register(register, offset, space) => {
            let bits = register.bits().filter(|&bits| bits <= 64).ok_or(Reason::Register(register.0))?;
            let bytes = Location::register(*register)?.read(bits.into(), machine)?;
            let base = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            Location::memory(*space, base.wrapping_add_signed(*offset))
        }
        Cfa::Expression(bytes) => {
            allowed(bytes, encoding)?;
            if let Some((address, space)) = marked(bytes, encoding).filter(|_| is_plain) {
                return Location::memory(space, number(address, encoding, machine, &[])?);
            }
            let outcome =
                evaluate(bytes, encoding, Goal::Location, machine, &[]).map_err(|error| error.reason)?;
            let location = outcome.location().ok_or(Reason::NoLocation)?;
            location.address().map(|_| location.clone()).ok_or(Reason::NoLocation)
        }
    }
}

/// Returns the number to which an expression evaluates.
fn number(bytes: &[u8], encoding: Encoding, machine: &dyn Machine, stack: &[Entry]) -> Result<u64, Reason> {
    let outcome = evaluate(bytes, encoding, Goal::Value, machine, stack).map_err(|error| error.reason)?;
    outcome.value().ok_or(Reason::NoValue)?.unsigned().map(|value| value as u64)
}
