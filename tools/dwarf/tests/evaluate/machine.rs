//! A machine with contents that tests choose.

use dwarf::{
    AddressSpace, Bank, BaseType, Encoding, Entry, Error, Found, Goal, Kind, Location, Machine, Need,
    Outcome, Procedure, Reason, Register, assemble, evaluate,
};
use std::borrow::Cow;
use std::collections::HashMap;

/// Contents by name.
#[derive(Default)]
pub struct State {
    pub lane: u32,
    pub registers: HashMap<u64, Vec<u8>>,
    pub memory: HashMap<(u64, u64), u8>,
    /// Expressions of entries of `.debug_info`; whether each is a procedure.
    pub entries: HashMap<u64, (Vec<u8>, bool)>,
    pub constants: HashMap<u64, Vec<u8>>,
    pub types: HashMap<u64, BaseType>,
    pub saved: HashMap<u64, Location>,
    pub cfa: Option<Location>,
    pub frame_base: Option<Location>,
    pub object: Option<Location>,
    pub entered: Option<Box<State>>,
}

pub const U64: u64 = 0x10;
pub const I32: u64 = 0x20;
pub const F32: u64 = 0x30;
pub const U8: u64 = 0x40;

impl State {
    pub fn new() -> State {
        let scalar = |kind, bits| BaseType { kind, bits, elements: 1 };
        let types = [
            (U64, scalar(Kind::Unsigned, 64)),
            (I32, scalar(Kind::Signed, 32)),
            (F32, scalar(Kind::Float, 32)),
            (U8, scalar(Kind::Unsigned, 8)),
        ];
        State { types: types.into(), ..State::default() }
    }

    pub fn set(&mut self, name: &str, bytes: &[u8]) {
        let register = Register::parse(name).expect("a register");
        self.registers.insert(register.0, bytes.to_vec());
    }

    /// Lane n of a vector register holds what `value` says.
    pub fn set_lanes(&mut self, name: &str, value: impl Fn(u32) -> u32) {
        let register = Register::parse(name).expect("a register");
        assert!(matches!(register.facts(), Some((Bank::Vgpr | Bank::Agpr, ..))));
        let lanes = register.bits().expect("a size") / 32;
        self.registers.insert(register.0, (0..lanes).flat_map(|lane| value(lane).to_le_bytes()).collect());
    }

    pub fn store(&mut self, space: AddressSpace, address: u64, bytes: &[u8]) {
        for (&byte, at) in bytes.iter().zip(address..) {
            self.memory.insert((space.0, at), byte);
        }
    }

    pub fn entry(&mut self, offset: u64, text: &str, is_procedure: bool) {
        self.entries.insert(offset, (code(text), is_procedure));
    }
}

impl Machine for State {
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        let contents = self.registers.get(&register.0).ok_or(Need::Register(register))?;
        bytes[..contents.len()].copy_from_slice(contents);
        Ok(())
    }

    fn memory(&self, space: AddressSpace, address: u64, bytes: &mut [u8]) -> Result<(), Reason> {
        let need = Need::Memory(space, address, bytes.len() as u64);
        for (byte, at) in bytes.iter_mut().zip(address..) {
            *byte = *self.memory.get(&(space.0, at)).ok_or(need)?;
        }
        Ok(())
    }

    fn lane(&self) -> Result<u32, Reason> {
        Ok(self.lane)
    }

    fn object(&self) -> Result<Location, Reason> {
        self.object.clone().ok_or(Reason::Need(Need::Object))
    }

    fn cfa(&self) -> Result<Location, Reason> {
        self.cfa.clone().ok_or(Reason::Need(Need::Cfa))
    }

    fn frame_base(&self) -> Result<Location, Reason> {
        self.frame_base.clone().ok_or(Reason::Need(Need::FrameBase))
    }

    fn entry_register(&self, register: Register) -> Result<Location, Reason> {
        match self.saved.get(&register.0) {
            Some(location) => Ok(location.clone()),
            None => Location::register(register),
        }
    }

    fn entered(&self) -> Result<&dyn Machine, Reason> {
        self.entered.as_deref().map(|state| state as &dyn Machine).ok_or(Reason::Need(Need::EntryValue))
    }

    fn call(&self, offset: u64) -> Result<Procedure<'_>, Reason> {
        self.call_ref(offset)
    }

    fn call_ref(&self, offset: u64) -> Result<Procedure<'_>, Reason> {
        let (expression, is_procedure) = self.entries.get(&offset).ok_or(Need::Entry(offset))?;
        let expression = Cow::Borrowed(expression.as_slice());
        Ok(Procedure { expression, encoding: Encoding::default(), is_procedure: *is_procedure })
    }

    fn pointee(&self, offset: u64) -> Result<Found<'_>, Reason> {
        match self.constants.get(&offset) {
            Some(bytes) => Ok(Found::Constant(Cow::Borrowed(bytes))),
            None => self.call_ref(offset).map(Found::At),
        }
    }

    fn base_type(&self, offset: u64) -> Result<BaseType, Reason> {
        self.types.get(&offset).copied().ok_or(Reason::Need(Need::Type(offset)))
    }

    fn address(&self, index: u64) -> Result<u64, Reason> {
        [0x1000, 0x2000].get(index as usize).copied().ok_or(Reason::Need(Need::Address(index)))
    }

    fn thread_local(&self, offset: u64) -> Result<u64, Reason> {
        Ok(0x7000 + offset)
    }
}

/// The bytes of a text, in the numbering of today.
pub fn code(text: &str) -> Vec<u8> {
    assemble(text, Encoding::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub fn run(text: &str, goal: Goal, state: &State, stack: &[Entry]) -> Result<Outcome, Error> {
    evaluate(&code(text), Encoding::default(), goal, state, stack)
}

/// The location that a text says, as text.
pub fn location_text(text: &str, state: &State) -> String {
    match run(text, Goal::Location, state, &[]) {
        Ok(outcome) => outcome.location().expect("a location").to_string(),
        Err(error) => error.to_string(),
    }
}

/// The value that a text says, as text.
pub fn value(text: &str, state: &State) -> String {
    match run(text, Goal::Value, state, &[]) {
        Ok(outcome) => outcome.value().expect("a value").to_string(),
        Err(error) => error.to_string(),
    }
}

/// The bytes where a text says something is.
pub fn bytes(text: &str, bits: u64, state: &State) -> Result<Vec<u8>, Reason> {
    let outcome = run(text, Goal::Location, state, &[]).map_err(|error| error.reason)?;
    outcome.location().expect("a location").read(bits, state)
}
