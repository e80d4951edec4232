//! Stack machine that evaluates DWARF expressions as LLVM's AMDGPU guide defines them (seed 000, lines
//! 757-1349).

use crate::error::{Error, Reason};
use crate::location::{Composite, ImplicitPointer, Location, Storage};
use crate::machine::{Found, Machine, Procedure};
use crate::names::{AddressSpace, Register};
use crate::op::{Encoding, Op, Opcode, Ops};
use crate::value::{BaseType, Binary, Type, Value};
use std::cmp::Ordering;

/// Largest number of operations in an evaluation, including the operations of called expressions. The limit
/// ends the evaluation of damaged expressions that loop.
const STEPS: u32 = 1 << 18;
/// Maximum nesting depth of calls.
const DEPTH: u32 = 32;
/// Maximum number of stack entries.
const STACK: usize = 1 << 12;
/// Maximum number of parts that one operation creates.
const COUNT: u64 = 1 << 12;

/// Kind of result that an expression should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Location.
    Location,
    /// Value.
    Value,
}

/// Initial entry of the stack.
#[derive(Clone, Debug)]
pub enum Entry {
    /// Value.
    Value(Value),
    /// Location.
    Location(Location),
}

/// Result of an expression.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Location.
    Location(Location),
    /// Value.
    Value(Value),
}

impl Outcome {
    /// Returns the location, if the result is a location.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Outcome::Location(location) => Some(location),
            Outcome::Value(_) => None,
        }
    }

    /// Returns the value, if the result is a value.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Outcome::Value(value) => Some(value),
            Outcome::Location(_) => None,
        }
    }
}

/// Evaluates an expression in the state of `machine`. `stack` is the initial stack, with its top last.
///
/// # Errors
/// Says where the expression is ill-formed, or what it needs that the machine does not know.
pub fn evaluate(
    expression: &[u8],
    encoding: Encoding,
    goal: Goal,
    machine: &dyn Machine,
    stack: &[Entry],
) -> Result<Outcome, Error> {
    let mut steps = 0;
    let stack = stack.iter().cloned().map(|entry| match entry {
        Entry::Value(value) => Slot::Value(value),
        Entry::Location(location) => Slot::Location(location),
    });
    let mut eval = Eval { machine, encoding, stack: stack.collect(), steps: &mut steps, depth: 0 };
    eval.run(expression)?;
    let end = |reason| Error { offset: expression.len(), reason };
    match goal {
        Goal::Location => eval.result().map(Outcome::Location).map_err(end),
        Goal::Value => eval.value().map(Outcome::Value).map_err(end),
    }
}

/// Returns the frame base that the expression of a `DW_AT_frame_base` gives. If the expression is a register,
/// the frame base is the address in that register (LLVM's AMDGPU guide, seed 000, line 1392).
///
/// # Errors
/// As for [`evaluate`].
pub fn frame_base(expression: &[u8], encoding: Encoding, machine: &dyn Machine) -> Result<Location, Error> {
    let outcome = evaluate(expression, encoding, Goal::Location, machine, &[])?;
    let end = |reason| Error { offset: expression.len(), reason };
    match outcome.location() {
        Some(location) if matches!(location.storage, Storage::Register(_)) => {
            let address = address_in(location, encoding, machine).map_err(end)?;
            Location::memory(AddressSpace::GLOBAL, address).map_err(end)
        }
        Some(location) => Ok(location.clone()),
        None => Err(end(Reason::NoLocation)),
    }
}

/// Reads an address from a location in a register. If the register has fewer bits than an address, the
/// missing bits are 0.
fn address_in(location: &Location, encoding: Encoding, machine: &dyn Machine) -> Result<u64, Reason> {
    let left = location.storage.bits().map_or(0, |bits| bits.saturating_sub(location.bit));
    let bits = u128::from(encoding.address_size) * 8;
    let bytes = location.read(left.min(bits) as u64, machine)?;
    Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

/// Entry of the stack.
#[derive(Clone, Debug)]
enum Slot {
    Value(Value),
    Location(Location),
    /// Composite to which parts may still be added.
    Incomplete(Composite),
}

struct Eval<'m> {
    machine: &'m dyn Machine,
    encoding: Encoding,
    stack: Vec<Slot>,
    steps: &'m mut u32,
    depth: u32,
}

impl<'m> Eval<'m> {
    fn run(&mut self, expression: &[u8]) -> Result<(), Error> {
        let mut at = 0;
        while let Some(op) = Ops::at(expression, at, self.encoding) {
            let failed = |reason| Error { offset: at, reason };
            let op = op.map_err(|error| failed(Reason::Parse(error)))?;
            *self.steps += 1;
            if *self.steps > STEPS {
                return Err(failed(Reason::Limit("steps")));
            }
            let taken = self.step(&op).map_err(failed)?;
            if self.stack.len() > STACK {
                return Err(failed(Reason::Limit("entries of the stack")));
            }
            at = match taken {
                Some(distance) => jump(op.end, distance, expression.len()).ok_or(failed(Reason::Branch))?,
                None => op.end,
            };
        }
        Ok(())
    }

    fn generic_bits(&self) -> u32 {
        u32::from(self.encoding.address_size) * 8
    }

    fn pop(&mut self) -> Result<Slot, Reason> {
        self.stack.pop().ok_or(Reason::Stack)
    }

    /// Pops a value. If the top of the stack is a location in global memory, its address is the value.
    fn value(&mut self) -> Result<Value, Reason> {
        match self.pop()? {
            Slot::Value(value) => Ok(value),
            Slot::Location(location) => match location.address() {
                Some((AddressSpace::GLOBAL, address)) => Ok(Value::generic(address, self.generic_bits())),
                _ => Err(Reason::NoValue),
            },
            Slot::Incomplete(_) => Err(Reason::NoValue),
        }
    }

    /// Pops a location. If the top of the stack is a value of the generic type, it is an address in global
    /// memory.
    fn location(&mut self) -> Result<Location, Reason> {
        let slot = self.pop()?;
        self.as_location(slot)
    }

    fn as_location(&mut self, slot: Slot) -> Result<Location, Reason> {
        match slot {
            Slot::Location(location) => Ok(location),
            Slot::Value(value) => match (value.pointer, value.ty) {
                (Some(pointer), _) if pointer.space == AddressSpace::GLOBAL => self.pointee(pointer),
                (None, Type::Generic(_)) => Location::memory(AddressSpace::GLOBAL, value.unsigned()? as u64),
                _ => Err(Reason::NoLocation),
            },
            Slot::Incomplete(_) => Err(Reason::NoLocation),
        }
    }

    /// Returns the result of the whole expression as a location.
    fn result(&mut self) -> Result<Location, Reason> {
        match self.stack.pop() {
            None => Ok(Location::undefined()),
            Some(Slot::Incomplete(composite)) => Ok(Location::composite(composite)),
            Some(slot) => self.as_location(slot),
        }
    }

    /// Returns the stack entry that is `index` entries below the top. Fails if this entry is a composite
    /// location description that is not complete.
    fn entry(&self, index: usize) -> Result<&Slot, Reason> {
        let at = self.stack.len().checked_sub(index + 1).ok_or(Reason::Stack)?;
        match &self.stack[at] {
            Slot::Incomplete(_) => Err(Reason::NoLocation),
            slot => Ok(slot),
        }
    }

    fn push(&mut self, value: Value) {
        self.stack.push(Slot::Value(value));
    }

    fn push_at(&mut self, location: Location) {
        self.stack.push(Slot::Location(location));
    }

    fn push_generic(&mut self, value: u64) {
        self.push(Value::generic(value, self.generic_bits()));
    }

    /// Executes an operation. If the operation is a branch that is taken, returns the distance of the branch
    /// in bytes.
    fn step(&mut self, op: &Op) -> Result<Option<i64>, Reason> {
        if let Some((first, number)) = op.opcode.run() {
            return self.numbered(first, number, op).map(|()| None);
        }
        match op.opcode {
            Opcode::SKIP => return Ok(Some(op.signed(0))),
            Opcode::BRA => return Ok(self.value()?.is_true()?.then(|| op.signed(0))),
            Opcode::NOP | Opcode::LLVM_NOP => {}
            Opcode::DUP | Opcode::DROP | Opcode::OVER | Opcode::PICK | Opcode::SWAP | Opcode::ROT => {
                self.arrange(op)?;
            }
            _ => {
                let done = self.constant(op)? || self.arithmetic(op)? || self.memory(op)?;
                if !done && !self.evaluate_other_info(op)? && !self.composite(op)? {
                    return Err(Reason::NotHere);
                }
            }
        }
        Ok(None)
    }

    /// Executes an operation with a number in its name.
    fn numbered(&mut self, first: Opcode, number: u8, op: &Op) -> Result<(), Reason> {
        match first {
            Opcode::LIT0 => self.push_generic(u64::from(number)),
            Opcode::REG0 => self.push_at(Location::register(Register(u64::from(number)))?),
            _ => {
                let location = self.based(u64::from(number), op.signed(0), AddressSpace::GLOBAL)?;
                self.push_at(location);
            }
        }
        Ok(())
    }

    /// Executes an operation that rearranges the stack.
    fn arrange(&mut self, op: &Op) -> Result<(), Reason> {
        let top = self.stack.len().wrapping_sub(1);
        match op.opcode {
            Opcode::DUP => self.stack.push(self.entry(0)?.clone()),
            Opcode::OVER => self.stack.push(self.entry(1)?.clone()),
            Opcode::PICK => self.stack.push(self.entry(op.unsigned(0) as usize)?.clone()),
            Opcode::DROP => {
                self.entry(0)?;
                self.stack.pop();
            }
            Opcode::SWAP => {
                self.entry(0).and(self.entry(1))?;
                self.stack.swap(top, top - 1);
            }
            _ => {
                self.entry(0).and(self.entry(1)).and(self.entry(2))?;
                self.stack[top - 2..].rotate_right(1);
            }
        }
        Ok(())
    }

    /// Executes an operation that pushes a constant or an address. Returns `false` for other operations.
    fn constant(&mut self, op: &Op) -> Result<bool, Reason> {
        match op.opcode {
            Opcode::CONST1U | Opcode::CONST2U | Opcode::CONST4U | Opcode::CONST8U | Opcode::CONSTU => {
                self.push_generic(op.unsigned(0));
            }
            Opcode::CONST1S | Opcode::CONST2S | Opcode::CONST4S | Opcode::CONST8S | Opcode::CONSTS => {
                self.push_generic(op.signed(0) as u64);
            }
            Opcode::ADDR => {
                let location = Location::memory(AddressSpace::GLOBAL, op.unsigned(0))?;
                self.push_at(location);
            }
            Opcode::ADDRX | Opcode::GNU_ADDR_INDEX => {
                let location = Location::memory(AddressSpace::GLOBAL, self.machine.address(op.unsigned(0))?)?;
                self.push_at(location);
            }
            Opcode::CONSTX | Opcode::GNU_CONST_INDEX => {
                let value = self.machine.address(op.unsigned(0))?;
                self.push_generic(value);
            }
            Opcode::CONST_TYPE => {
                let ty = self.machine.base_type(op.unsigned(0))?;
                let value = sized(ty, op.bytes(1).len() as u64, op.bytes(1))?;
                self.push(value);
            }
            Opcode::LLVM_PUSH_LANE => {
                let lane = self.machine.lane()?;
                self.push_generic(u64::from(lane));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn arithmetic(&mut self, op: &Op) -> Result<bool, Reason> {
        let value = match op.opcode {
            Opcode::ABS => self.value()?.abs()?,
            Opcode::NEG => self.value()?.neg()?,
            Opcode::NOT => self.value()?.not()?,
            Opcode::PLUS_UCONST => {
                let value = self.value()?;
                value.binary(Binary::Plus, &Value::generic(op.unsigned(0), 64).convert(value.ty)?)?
            }
            Opcode::CONVERT => {
                let ty = self.type_of(op.unsigned(0))?;
                self.value()?.convert(ty)?
            }
            Opcode::REINTERPRET => {
                let ty = self.type_of(op.unsigned(0))?;
                self.value()?.reinterpret(ty)?
            }
            _ => return self.binary(op),
        };
        self.push(value);
        Ok(true)
    }

    /// Returns the base type that is described at an offset of the unit. Offset 0 means the generic type.
    fn type_of(&self, offset: u64) -> Result<Type, Reason> {
        match offset {
            0 => Ok(Type::Generic(self.generic_bits())),
            _ => self.machine.base_type(offset).map(Type::Base),
        }
    }

    fn binary(&mut self, op: &Op) -> Result<bool, Reason> {
        let holds: Option<fn(Ordering) -> bool> = match op.opcode {
            Opcode::EQ | Opcode::NE => Some(Ordering::is_eq),
            Opcode::GE => Some(Ordering::is_ge),
            Opcode::GT => Some(Ordering::is_gt),
            Opcode::LE => Some(Ordering::is_le),
            Opcode::LT => Some(Ordering::is_lt),
            _ => None,
        };
        if let Some(holds) = holds {
            let (right, left) = (self.value()?, self.value()?);
            let holds = left.compare(&right)?.is_some_and(holds) != (op.opcode == Opcode::NE);
            self.push_generic(u64::from(holds));
            return Ok(true);
        }
        let binary = match op.opcode {
            Opcode::AND => Binary::And,
            Opcode::DIV => Binary::Div,
            Opcode::MINUS => Binary::Minus,
            Opcode::MOD => Binary::Mod,
            Opcode::MUL => Binary::Mul,
            Opcode::OR => Binary::Or,
            Opcode::PLUS => Binary::Plus,
            Opcode::SHL => Binary::Shl,
            Opcode::SHR => Binary::Shr,
            Opcode::SHRA => Binary::Shra,
            Opcode::XOR => Binary::Xor,
            _ => return Ok(false),
        };
        let (right, left) = (self.value()?, self.value()?);
        self.push(left.binary(binary, &right)?);
        Ok(true)
    }

    /// Executes an operation on locations in memory and registers. Returns `false` for other operations.
    fn memory(&mut self, op: &Op) -> Result<bool, Reason> {
        match op.opcode {
            Opcode::REGX => self.push_at(Location::register(Register(op.unsigned(0)))?),
            Opcode::BREGX => {
                let location = self.based(op.unsigned(0), op.signed(1), AddressSpace::GLOBAL)?;
                self.push_at(location);
            }
            Opcode::LLVM_ASPACE_BREGX => {
                let space = self.space()?;
                let location = self.based(op.unsigned(0), op.signed(1), space)?;
                self.push_at(location);
            }
            Opcode::FBREG => {
                let base = self.machine.frame_base()?;
                self.push_at(base.moved(8 * i128::from(op.signed(0)))?);
            }
            Opcode::LLVM_FORM_ASPACE_ADDRESS => {
                let location = self.form_address()?;
                self.push_at(location);
            }
            Opcode::LLVM_OFFSET | Opcode::LLVM_BIT_OFFSET => {
                let distance = self.value()?.signed()?;
                let scale = if op.opcode == Opcode::LLVM_OFFSET { 8 } else { 1 };
                let distance = distance.checked_mul(scale).ok_or(Reason::Outside)?;
                let location = self.location()?.moved(distance)?;
                self.push_at(location);
            }
            Opcode::LLVM_OFFSET_UCONST => {
                let location = self.location()?.moved(8 * i128::from(op.unsigned(0)))?;
                self.push_at(location);
            }
            Opcode::FORM_TLS_ADDRESS | Opcode::GNU_PUSH_TLS_ADDRESS => {
                let offset = self.value()?.unsigned()? as u64;
                let location = Location::memory(AddressSpace::GLOBAL, self.machine.thread_local(offset)?)?;
                self.push_at(location);
            }
            _ => return self.dereference(op),
        }
        Ok(true)
    }

    /// Pops an address space, which must exist.
    fn space(&mut self) -> Result<AddressSpace, Reason> {
        let space = AddressSpace(u64::try_from(self.value()?.unsigned()?).unwrap_or(u64::MAX));
        space.address_bits().map(|_| space).ok_or(Reason::Space(space.0))
    }

    /// Returns the location that is `distance` bytes after the address in a register.
    fn based(&self, register: u64, distance: i64, space: AddressSpace) -> Result<Location, Reason> {
        let base = address_in(&Location::register(Register(register))?, self.encoding, self.machine)?;
        Location::memory(space, base.wrapping_add_signed(distance))
    }

    /// Pops an address space from the top of the stack and an address below it, and returns the location that
    /// they form.
    fn form_address(&mut self) -> Result<Location, Reason> {
        let space = self.space()?;
        let address = self.value()?;
        match address.pointer {
            Some(pointer) if pointer.space == space => self.pointee(pointer),
            _ => Location::memory(space, address.unsigned()? as u64),
        }
    }

    fn dereference(&mut self, op: &Op) -> Result<bool, Reason> {
        let generic = self.generic_bits();
        let (is_x, size, ty) = match op.opcode {
            Opcode::DEREF => (false, generic / 8, None),
            Opcode::XDEREF => (true, generic / 8, None),
            Opcode::DEREF_SIZE => (false, op.unsigned(0) as u32, None),
            Opcode::XDEREF_SIZE => (true, op.unsigned(0) as u32, None),
            Opcode::DEREF_TYPE => (false, op.unsigned(0) as u32, Some(op.unsigned(1))),
            Opcode::XDEREF_TYPE => (true, op.unsigned(0) as u32, Some(op.unsigned(1))),
            Opcode::REGVAL_TYPE => {
                let ty = self.machine.base_type(op.unsigned(1))?;
                let bytes = Location::register(Register(op.unsigned(0)))?
                    .read(Type::Base(ty).bits(), self.machine)?;
                self.push(Value::new(Type::Base(ty), &bytes));
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let location = if is_x {
            // The address is on top of the stack, and the address space is below it.
            let address = self.pop()?;
            let space = self.pop()?;
            self.stack.extend([address, space]);
            self.form_address()?
        } else {
            self.location()?
        };
        let value = match ty {
            Some(offset) => {
                let ty = self.machine.base_type(offset)?;
                if Type::Base(ty).bits().div_ceil(8) != u64::from(size) {
                    return Err(Reason::Size);
                }
                self.fetch(&location, Type::Base(ty), Type::Base(ty).bits())?
            }
            None if 8 * size > generic => return Err(Reason::Size),
            None => self.fetch(&location, Type::Generic(generic), u64::from(8 * size))?,
        };
        self.push(value);
        Ok(true)
    }

    /// Reads a value of `bits` bits, or an implicit pointer.
    fn fetch(&self, location: &Location, ty: Type, bits: u64) -> Result<Value, Reason> {
        if let Some(pointer) = location.pointer(bits)? {
            return Ok(Value { pointer: Some(pointer), ..Value::new(ty, &[]) });
        }
        Ok(Value::new(ty, &location.read(bits, self.machine)?))
    }

    /// Executes an operation that uses other debug information. Returns `false` for other operations.
    fn evaluate_other_info(&mut self, op: &Op) -> Result<bool, Reason> {
        match op.opcode {
            Opcode::PUSH_OBJECT_ADDRESS => self.push_at(self.machine.object()?),
            Opcode::CALL_FRAME_CFA => self.push_at(self.machine.cfa()?),
            Opcode::LLVM_CALL_FRAME_ENTRY_REG => {
                let location = self.machine.entry_register(Register(op.unsigned(0)))?;
                self.push_at(location);
            }
            Opcode::CALL2 | Opcode::CALL4 => {
                let procedure = self.machine.call(op.unsigned(0))?;
                self.call(&procedure)?;
            }
            Opcode::CALL_REF => {
                let procedure = self.machine.call_ref(op.unsigned(0))?;
                self.call(&procedure)?;
            }
            Opcode::ENTRY_VALUE | Opcode::GNU_ENTRY_VALUE => self.entry_value(op.bytes(0))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns a nested evaluation with a stack of its own.
    fn nested<'n>(&'n mut self, machine: &'n dyn Machine, encoding: Encoding) -> Result<Eval<'n>, Reason> {
        if self.depth >= DEPTH {
            return Err(Reason::Limit("calls in calls"));
        }
        Ok(Eval { machine, encoding, stack: Vec::new(), steps: self.steps, depth: self.depth + 1 })
    }

    fn call(&mut self, procedure: &Procedure) -> Result<(), Reason> {
        let stack = if procedure.is_procedure { std::mem::take(&mut self.stack) } else { Vec::new() };
        let machine = self.machine;
        let mut inner = self.nested(machine, procedure.encoding)?;
        inner.stack = stack;
        inner.run(&procedure.expression).map_err(|error| error.reason)?;
        if procedure.is_procedure {
            self.stack = inner.stack;
        } else {
            let location = inner.result()?;
            self.push_at(location);
        }
        Ok(())
    }

    /// Pushes the value that an expression had on entry to the function. If the expression names a register,
    /// pushes the value that this register had on entry.
    fn entry_value(&mut self, expression: &[u8]) -> Result<(), Reason> {
        let generic = self.generic_bits();
        let mut ops = Ops::new(expression, self.encoding);
        let register = match (ops.next(), ops.next()) {
            (Some(Ok(op)), None) => match op.opcode.run() {
                Some((Opcode::REG0, number)) => Some(u64::from(number)),
                _ if op.opcode == Opcode::REGX => Some(op.unsigned(0)),
                _ => None,
            },
            _ => None,
        };
        if let Some(register) = register {
            // A vector register stands for the dword of the current lane.
            let lane = self.machine.lane().unwrap_or(0);
            if let Ok(dword) = self.machine.passed_dword(Register(register), lane) {
                self.push_generic(dword.into());
                return Ok(());
            }
            let location = self.machine.entry_register(Register(register))?;
            let bits = Register(register).bits().ok_or(Reason::Register(register))?.min(generic);
            let value = self.fetch(&location, Type::Generic(generic), u64::from(bits))?;
            self.push(value);
            return Ok(());
        }
        let machine = self.machine.entered()?;
        let encoding = self.encoding;
        let mut inner = self.nested(machine, encoding)?;
        inner.run(expression).map_err(|error| error.reason)?;
        let value = inner.value()?;
        self.push(value);
        Ok(())
    }

    /// Returns the location of the object to which an implicit pointer points.
    fn pointee(&mut self, pointer: ImplicitPointer) -> Result<Location, Reason> {
        let machine = self.machine;
        let location = match machine.pointee(pointer.entry)? {
            Found::At(procedure) => {
                let mut inner = self.nested(machine, procedure.encoding)?;
                inner.run(&procedure.expression).map_err(|error| error.reason)?;
                inner.result()?
            }
            Found::Constant(bytes) => Location::implicit(&bytes, 8 * bytes.len() as u64),
        };
        location.moved(8 * i128::from(pointer.displacement))
    }

    /// Executes an operation that makes an implicit or composite location description. Returns `false` for
    /// other operations.
    fn composite(&mut self, op: &Op) -> Result<bool, Reason> {
        match op.opcode {
            Opcode::IMPLICIT_VALUE => {
                let bytes = op.bytes(0);
                self.push_at(Location::implicit(bytes, 8 * bytes.len() as u64));
            }
            Opcode::STACK_VALUE => {
                let value = self.value()?;
                self.push_at(match value.pointer {
                    Some(pointer) => Location { storage: Storage::Pointer(pointer), bit: 0 },
                    None => Location::implicit(&value.bytes, value.ty.bits()),
                });
            }
            Opcode::IMPLICIT_POINTER => self.implicit_pointer(op, AddressSpace::GLOBAL),
            Opcode::LLVM_ASPACE_IMPLICIT_POINTER => {
                let space = self.space()?;
                self.implicit_pointer(op, space);
            }
            Opcode::LLVM_UNDEFINED => self.push_at(Location::undefined()),
            Opcode::PIECE => self.piece(8 * u128::from(op.unsigned(0)), 0)?,
            Opcode::BIT_PIECE => self.piece(u128::from(op.unsigned(0)), op.unsigned(1))?,
            Opcode::LLVM_PIECE_END => match self.pop()? {
                Slot::Incomplete(composite) => self.push_at(Location::composite(composite)),
                _ => return Err(Reason::NoLocation),
            },
            Opcode::LLVM_EXTEND => {
                let part = self.location()?;
                let (bits, count) = counted(op)?;
                let parts = std::iter::repeat_n(part, count);
                self.push_parts(bits, parts)?;
            }
            Opcode::LLVM_SELECT_BIT_PIECE => self.select(op)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn implicit_pointer(&mut self, op: &Op, space: AddressSpace) {
        let pointer = ImplicitPointer { space, entry: op.unsigned(0), displacement: op.signed(1) };
        self.push_at(Location { storage: Storage::Pointer(pointer), bit: 0 });
    }

    /// Adds a part to a composite, or begins one.
    fn piece(&mut self, bits: u128, displacement: u64) -> Result<(), Reason> {
        let location = match self.stack.last() {
            None | Some(Slot::Incomplete(_)) => Location::undefined(),
            Some(_) if bits == 0 && displacement == 0 => self.location()?,
            Some(_) => self.location()?.moved(i128::from(displacement))?,
        };
        let mut composite = match self.stack.pop() {
            Some(Slot::Incomplete(composite)) => composite,
            other => {
                self.stack.extend(other);
                Composite::default()
            }
        };
        composite.push(&location, bits)?;
        self.stack.push(Slot::Incomplete(composite));
        Ok(())
    }

    fn push_parts(&mut self, bits: u64, parts: impl Iterator<Item = Location>) -> Result<(), Reason> {
        let mut composite = Composite::default();
        for part in parts {
            composite.push(&part, u128::from(bits))?;
        }
        self.push_at(Location::composite(composite));
        Ok(())
    }

    /// Builds a composite location description from the parts of two locations. A mask has one bit for each
    /// part, which says from which of the two locations this part is taken.
    fn select(&mut self, op: &Op) -> Result<(), Reason> {
        let mask = self.value()?;
        let (one, zero) = (self.location()?, self.location()?);
        let (bits, count) = counted(op)?;
        if mask.ty.bits() < count as u64 {
            return Err(Reason::Size);
        }
        let mask = mask.unsigned()?;
        let is_one = |n: usize| mask >> n & 1 == 1;
        // Consecutive parts of the same location are joined.
        let mut composite = Composite::default();
        let mut n = 0;
        while n < count {
            let end = (n..count).find(|&end| is_one(end) != is_one(n)).unwrap_or(count);
            let of = if is_one(n) { &one } else { &zero };
            let of = of.moved(n as i128 * i128::from(bits))?;
            composite.push(&of, (end - n) as u128 * u128::from(bits))?;
            n = end;
        }
        self.push_at(Location::composite(composite));
        Ok(())
    }
}

/// Returns the operands of an operation that are a size and a number of parts. Fails if one of them is 0.
fn counted(op: &Op) -> Result<(u64, usize), Reason> {
    let (bits, count) = (op.unsigned(0), op.unsigned(1));
    if bits == 0 || count == 0 {
        return Err(Reason::Zero);
    }
    if count > COUNT || bits > u64::MAX / COUNT {
        return Err(Reason::Limit("parts"));
    }
    Ok((bits, count as usize))
}

/// Returns a value of a base type. Fails if the size of the type is not the size that the operation gives.
fn sized(ty: BaseType, bytes: u64, contents: &[u8]) -> Result<Value, Reason> {
    let ty = Type::Base(ty);
    if ty.bits().div_ceil(8) == bytes { Ok(Value::new(ty, contents)) } else { Err(Reason::Size) }
}

fn jump(from: usize, distance: i64, len: usize) -> Option<usize> {
    let to = usize::try_from(from as i64 + distance).ok()?;
    (to <= len).then_some(to)
}
