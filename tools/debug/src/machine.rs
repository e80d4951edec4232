//! The state of a stopped wave (registers, memory, call frames), in the form that the evaluation of location
//! expressions needs.

use crate::pending::register_of;
use dwarf::{
    AddressSpace, Bank, Caller, Common, DebugInfo, EntryState, Frames, Known, LoadedProgram, Location,
    Machine, Need, Opcode, Ops, Procedure, Reason, Register, ReturnAddress, Row, Storage,
};
use isa::Reg;
use sim::{Dword, FlatAddress, Stopped};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};

/// A lane of a wave, in one function of its call stack.
pub(crate) struct Frame<'a> {
    pub at: &'a Stopped<'a>,
    pub lane: u32,
    /// Debug information of the file, if there is any.
    known: Option<Known<'a>>,
    /// `DW_AT_frame_base` of the function.
    pub base: Option<(&'a [u8], dwarf::Encoding)>,
    /// Call frame information of the object, from which the address of the call frame is computed.
    pub frames: Option<&'a Frames>,
    /// Whether a read of a vector register returns only the current lane's dword. This is so for location
    /// expressions without the DWARF extensions for lanes, because these expressions cannot say which lane
    /// they mean.
    pub has_own_dword: bool,
    /// Row of the call frame information for the wave's address. `None` if it has not been looked up yet.
    pub row: Option<&'a Row>,
    /// Records the registers that are read, if it is given.
    pub read: Option<&'a RefCell<Vec<Reg>>>,
    state_use: Cell<StateUse>,
    /// State of the lane when the function was entered.
    entry: Entry<'a>,
}

/// The kinds of state that the evaluation of a location expression has read so far. They tell whether the
/// location is the same in all lanes, and whether it is the same at all stops.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StateUse {
    /// Whether state that can differ from lane to lane was read.
    pub lane: bool,
    /// Whether registers, memory or call frames were read. Their contents can differ from stop to stop.
    pub state: bool,
}

/// A lane of a wave at the entry of its function.
struct Entry<'a> {
    at: &'a Stopped<'a>,
    lane: u32,
    program: Option<LoadedProgram<'a>>,
}

impl Entry<'_> {
    /// Calls the function `look` with a state in which registers have the values that they had on entry to
    /// the debugged function.
    fn with_entry_state<T>(
        &self,
        look: impl FnOnce(&EntryState<'_>) -> Result<T, Reason>,
    ) -> Result<T, Reason> {
        let program = self.program.ok_or(Reason::Need(Need::EntryValue))?;
        let now = Frame::registers_of(self.at, self.lane);
        look(&EntryState::new(program, &now, self.at.address()))
    }
}

impl Machine for Entry<'_> {
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        self.with_entry_state(|given| given.register(register, bytes))
    }

    fn register_part(&self, register: Register, first: usize, bytes: &mut [u8]) -> Result<(), Reason> {
        self.with_entry_state(|given| given.register_part(register, first, bytes))
    }

    fn lane(&self) -> Result<u32, Reason> {
        Ok(self.lane)
    }
}

impl<'a> Frame<'a> {
    pub(crate) fn new(
        (at, lane): (&'a Stopped<'a>, u32),
        (info, frames): (&'a DebugInfo, Option<&'a Frames>),
        unit: usize,
    ) -> Frame<'a> {
        let program = frames.map(|frames| LoadedProgram { info, frames, base: at.base() });
        let known = Some(info.requested_info(unit));
        Frame { known, frames, entry: Entry { at, lane, program }, ..Frame::registers_of(at, lane) }
    }

    /// Creates a frame from the registers and memory of a wave, without any debug information.
    pub(crate) fn registers_of(at: &'a Stopped<'a>, lane: u32) -> Frame<'a> {
        Frame {
            at,
            lane,
            known: None,
            base: None,
            frames: None,
            has_own_dword: false,
            row: None,
            read: None,
            state_use: Cell::default(),
            entry: Entry { at, lane, program: None },
        }
    }

    /// Returns which kinds of state have been read so far.
    pub(crate) fn state_use(&self) -> StateUse {
        self.state_use.get()
    }

    fn record_use(&self, asked: StateUse) {
        let StateUse { lane, state } = self.state_use.get();
        self.state_use.set(StateUse { lane: lane || asked.lane, state: state || asked.state });
    }

    fn own_lane(&self) -> u32 {
        self.record_use(StateUse { lane: true, state: false });
        self.lane
    }

    fn known_or(&self, need: Need) -> Result<&Known<'a>, Reason> {
        self.known.as_ref().ok_or(Reason::Need(need))
    }

    fn scalar(&self, number: u32) -> Option<u32> {
        self.at.scalar(u16::try_from(number).ok()?)
    }

    /// Returns the row of the call frame information for the wave's address.
    fn row(&self) -> Option<(Cow<'a, Row>, &'a Common)> {
        let (frames, address) = (self.frames?, self.at.address());
        let common = frames.around(address).map(|frame| frames.common_of(frame))?;
        match self.row {
            Some(row) => Some((Cow::Borrowed(row), common)),
            None => Some((Cow::Owned(frames.row(address).ok().flatten()?), common)),
        }
    }

    /// Sets, in the mask of a location in a register or in memory, the bits that no instruction has written.
    pub(crate) fn undefined(&self, location: &Location, mask: &mut [u8]) {
        let first = (location.bit / 8) as u64;
        for (at, byte) in (first..).zip(mask) {
            let number = usize::try_from(at / 4).unwrap_or(usize::MAX);
            let dword = match &location.storage {
                Storage::Register(register) => match register.facts() {
                    Some((Bank::Sgpr, code, _)) => Dword::Scalar(code as u16),
                    Some((Bank::Vgpr, code, _)) => Dword::Vector(code as u16, number as u32),
                    Some((Bank::Agpr, code, _)) => Dword::Vector(256 + code as u16, number as u32),
                    _ => return,
                },
                Storage::Memory(space) => match dword_of(*space, at, self.lane) {
                    Some(dword) => dword,
                    None => return,
                },
                _ => return,
            };
            *byte = self.at.undefined(dword).to_le_bytes()[at as usize % 4];
        }
    }

    /// Calls the function `ask` with a frame that has only registers and memory, without debug information,
    /// and returns its result. Records what `ask` has read, because the result depends on it.
    fn of_registers<T>(&self, ask: impl FnOnce(&Frame<'_>) -> Result<T, Reason>) -> Result<T, Reason> {
        let registers = Frame::registers_of(self.at, self.lane);
        let found = ask(&registers);
        self.record_use(StateUse { state: true, ..registers.state_use() });
        found
    }

    /// Returns the dwords of a register.
    fn dwords(&self, facts: (Bank, u32, u32)) -> Option<Dwords<'a>> {
        self.record_use(StateUse { lane: false, state: true });
        if let Some(read) = self.read {
            read.borrow_mut().extend(register_of(facts.0, facts.1));
        }
        let of = |value: u64| [value as u32, (value >> 32) as u32];
        Some(match facts {
            (Bank::Sgpr, number, _) => Dwords::Scalar([self.scalar(number)?, 0], 1),
            (Bank::Pc, ..) => Dwords::Scalar(of(self.at.address()), 2),
            (Bank::Exec, ..) => Dwords::Scalar(of(self.at.exec()), 2),
            (bank, number, _) => {
                let first = if bank == Bank::Agpr { 256 } else { 0 };
                let lanes = self.at.vector(u16::try_from(first + number).ok()?)?;
                match self.has_own_dword {
                    true => Dwords::Own(lanes.get(self.own_lane() as usize).copied().unwrap_or(0)),
                    false => Dwords::Lanes(lanes),
                }
            }
        })
    }
}

/// Returns the dword of LDS or private memory that contains the byte at an address. `None` for other kinds of
/// memory, for which it is not known which bits have been written.
fn dword_of(space: AddressSpace, at: u64, lane: u32) -> Option<Dword> {
    let number = |at: u64| usize::try_from(at / 4).unwrap_or(usize::MAX);
    match space {
        AddressSpace::LOCAL => Some(Dword::Lds(number(at))),
        AddressSpace::PRIVATE_LANE => Some(Dword::Private(lane, number(at))),
        AddressSpace::PRIVATE_WAVE => Some(Dword::Scratch(number(at))),
        AddressSpace::GENERIC => match FlatAddress::from_address(at) {
            FlatAddress::Lds(offset) => Some(Dword::Lds(number(offset))),
            FlatAddress::Private(offset) => Some(Dword::Private(lane, number(offset))),
            FlatAddress::Global(_) => None,
        },
        space => space.lane().map(|lane| Dword::Private(lane, number(at))),
    }
}

/// The dwords of a register.
enum Dwords<'a> {
    /// Dwords of a scalar register, and their number.
    Scalar([u32; 2], usize),
    /// One dword per lane.
    Lanes(&'a [u32; 64]),
    /// A vector register of which only the current lane's dword is known. This dword is at index 0; the
    /// others read as 0.
    Own(u32),
}

impl Dwords<'_> {
    fn get(&self, at: usize) -> Option<u32> {
        match self {
            Dwords::Scalar(dwords, count) => dwords[..*count].get(at).copied(),
            Dwords::Lanes(lanes) => lanes.get(at).copied(),
            Dwords::Own(own) => Some(if at == 0 { *own } else { 0 }),
        }
    }

    /// Copies bytes of the register from byte `first` on. Returns `None` if the register has too few bytes.
    fn copy(&self, first: usize, bytes: &mut [u8]) -> Option<()> {
        let (mut at, mut rest) = (first, bytes);
        while !rest.is_empty() {
            let own = &self.get(at / 4)?.to_le_bytes()[at % 4..];
            let (bytes, behind) = rest.split_at_mut(own.len().min(rest.len()));
            bytes.copy_from_slice(&own[..bytes.len()]);
            at += bytes.len();
            rest = behind;
        }
        Some(())
    }
}

impl Machine for Frame<'_> {
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        let dwords = register.facts().and_then(|facts| self.dwords(facts));
        dwords.and_then(|dwords| dwords.copy(0, bytes)).ok_or(Reason::Need(Need::Register(register)))
    }

    /// Reads bytes of a register from byte `first` on. Only the dwords that contain these bytes are
    /// converted.
    fn register_part(&self, register: Register, first: usize, bytes: &mut [u8]) -> Result<(), Reason> {
        let facts = register.facts().ok_or(Reason::Register(register.0))?;
        let dwords = self.dwords(facts).ok_or(Reason::Need(Need::Register(register)))?;
        if first.checked_add(bytes.len()).is_none_or(|end| end > facts.2 as usize / 8) {
            return Err(Reason::Outside);
        }
        dwords.copy(first, bytes).ok_or(Reason::Need(Need::Register(register)))
    }

    fn memory(&self, space: AddressSpace, address: u64, bytes: &mut [u8]) -> Result<(), Reason> {
        self.record_use(StateUse { lane: false, state: true });
        let there = match space {
            AddressSpace::GLOBAL => self.at.read(address, bytes),
            AddressSpace::GENERIC => self.at.read_flat(self.own_lane(), address, bytes),
            AddressSpace::LOCAL => self.at.read_lds(address, bytes),
            AddressSpace::PRIVATE_WAVE => self.at.read_scratch(address, bytes),
            AddressSpace::PRIVATE_LANE => self.at.read_private(self.own_lane(), address, bytes),
            other => match other.lane() {
                Some(lane) => self.at.read_private(lane, address, bytes),
                None => false,
            },
        };
        match there {
            true => Ok(()),
            false => Err(Reason::Need(Need::Memory(space, address, bytes.len() as u64))),
        }
    }

    fn lane(&self) -> Result<u32, Reason> {
        Ok(self.own_lane())
    }

    /// Computes the canonical frame address from call frame information. Without the DWARF extensions, the
    /// address is a plain number without an address space. The operation that uses the address chooses the
    /// space.
    fn cfa(&self) -> Result<Location, Reason> {
        let missing = || Reason::Need(Need::Cfa);
        let (row, common) = self.row().ok_or_else(missing)?;
        self.of_registers(|registers| {
            let caller = Caller::new(registers, &row, common)?;
            let frame = caller.frame().ok_or_else(missing)?;
            match frame.address() {
                Some((_, address)) if common.augmentation.is_empty() => {
                    Location::memory(AddressSpace::GLOBAL, address)
                }
                _ => Ok(frame.clone()),
            }
        })
    }

    /// Finds the location that holds the value that a register had on entry to the function, with the call
    /// frame information. A kernel does not save such values. Of the registers at its start, only EXEC is
    /// known, because the emulator remembers with which lanes it has launched the wave.
    fn entry_register(&self, register: Register) -> Result<Location, Reason> {
        let missing = || Reason::Need(Need::EntryRegister(register));
        let (row, common) = self.row().ok_or_else(missing)?;
        self.of_registers(|registers| {
            let caller = Caller::new(registers, &row, common)?;
            match (caller.return_address()?, register.facts()) {
                (ReturnAddress::Outermost, Some((Bank::Exec, _, bits))) => {
                    let lanes = self.at.launched().to_le_bytes();
                    Ok(Location::implicit(&lanes[..bits as usize / 8], bits.into()))
                }
                (ReturnAddress::Outermost, _) => Err(missing()),
                _ => caller.location(register),
            }
        })
    }

    /// Converts the frame base to an address in the lane's private memory. LLVM's frame base is a scalar
    /// register with the offset of the call frame, in the unit of the stack pointer. An offset in the memory of
    /// the whole wave is the lane's offset times the number of lanes.
    fn frame_base(&self) -> Result<Location, Reason> {
        let (expression, encoding) = self.base.ok_or(Reason::Need(Need::FrameBase))?;
        let base = dwarf::frame_base(expression, encoding, self).map_err(|error| error.reason)?;
        let (lanes, scale) = (u64::from(self.at.lanes()), u64::from(self.at.stack_scale()));
        let is_cfa = matches!(Ops::new(expression, encoding).next(), Some(Ok(op)) if op.opcode == Opcode::CALL_FRAME_CFA);
        match base.address() {
            Some((AddressSpace::GLOBAL, address)) if !is_cfa => {
                Location::memory(AddressSpace::GLOBAL, address / scale)
            }
            Some((AddressSpace::PRIVATE_WAVE, address)) => {
                Location::memory(AddressSpace::PRIVATE_LANE, address / lanes)
            }
            _ => Ok(base),
        }
    }

    fn entered(&self) -> Result<&dyn Machine, Reason> {
        self.record_use(StateUse { lane: true, state: true });
        Ok(&self.entry)
    }

    fn passed_dword(&self, register: Register, lane: u32) -> Result<u32, Reason> {
        self.record_use(StateUse { lane: true, state: true });
        self.entry.with_entry_state(|given| given.dword(register, lane))
    }

    fn call(&self, offset: u64) -> Result<Procedure<'_>, Reason> {
        self.known_or(Need::Entry(offset))?.call(offset)
    }

    fn call_ref(&self, offset: u64) -> Result<Procedure<'_>, Reason> {
        self.known_or(Need::Entry(offset))?.call_ref(offset)
    }

    fn base_type(&self, offset: u64) -> Result<dwarf::BaseType, Reason> {
        self.known_or(Need::Type(offset))?.base_type(offset)
    }

    /// Returns an entry of the address table (`.debug_addr`) as an address in memory. The load base is added
    /// to code addresses. LLVM also puts LDS addresses into this table; these are small numbers and are
    /// returned as they are.
    fn address(&self, index: u64) -> Result<u64, Reason> {
        self.known_or(Need::Address(index))?.address(index)
    }
}
