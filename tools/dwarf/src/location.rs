//! Location descriptions: each consists of a storage (a register, memory or bytes) and the first bit in this
//! storage (LLVM's AMDGPU guide, seed 000, lines 860-1300).

use crate::error::{Need, Reason};
use crate::machine::Machine;
use crate::names::{AddressSpace, Bank, Register};
use std::fmt;
use std::sync::Arc;

/// Maximum number of parts of a composite.
const PARTS: usize = 1 << 16;

/// Implicit pointer (`DW_OP_implicit_pointer`): the optimised program does not contain the pointer any more,
/// but the location of the object to which it pointed is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImplicitPointer {
    /// Address space of the pointer.
    pub space: AddressSpace,
    /// Offset in `.debug_info` of the entry of the object.
    pub entry: u64,
    /// Displacement from the beginning of the object, in bytes.
    pub displacement: i64,
}

impl fmt::Display for ImplicitPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pointer to the entry at {:#x}", self.entry)?;
        if self.displacement != 0 { write!(f, " {:+}", self.displacement) } else { Ok(()) }
    }
}

/// Storage of bits.
#[derive(Clone, Debug)]
pub enum Storage {
    /// No storage: the bits do not exist.
    Undefined,
    /// Memory of an address space.
    Memory(AddressSpace),
    /// Register. A vector register includes all of its lanes.
    Register(Register),
    /// Known bits without a location in the program.
    Implicit {
        /// Little-endian bytes.
        bytes: Arc<[u8]>,
        /// Number of bits.
        bits: u64,
    },
    /// Implicit pointer, without a location in the program.
    Pointer(ImplicitPointer),
    /// Concatenated parts of other storages.
    Composite(Arc<Composite>),
}

impl Storage {
    /// Returns the size in bits; `None` for undefined storage.
    pub fn bits(&self) -> Option<u128> {
        Some(match self {
            Storage::Undefined => return None,
            Storage::Memory(space) => 8 << space.address_bits()?,
            Storage::Register(register) => u128::from(register.bits()?),
            Storage::Implicit { bits, .. } => u128::from(*bits),
            Storage::Pointer(pointer) => u128::from(pointer.space.address_bits()?),
            Storage::Composite(composite) => composite.bits,
        })
    }

    /// Reads bits from a storage that is not composite. `bit` is the first bit in the storage, `bits` the
    /// number of bits. The bits are written to `out` from bit number `at` on.
    fn read_bits(
        &self,
        (bit, bits): (u128, u128),
        machine: &dyn Machine,
        (out, at): (&mut [u8], usize),
    ) -> Result<(), Reason> {
        let (first, end) = ((bit / 8) as u64, (bit + bits).div_ceil(8));
        if [bit, bits, at as u128].iter().all(|bits| bits.is_multiple_of(8)) {
            return self.read_bytes(first, machine, &mut out[at / 8..][..(bits / 8) as usize]);
        }
        let mut around = vec![0; (end - u128::from(first)) as usize];
        self.read_bytes(first, machine, &mut around)?;
        copy_bits(out, at, &around, (bit % 8) as usize, bits as usize);
        Ok(())
    }

    /// Reads bytes of a storage that is not composite.
    fn read_bytes(&self, first: u64, machine: &dyn Machine, out: &mut [u8]) -> Result<(), Reason> {
        match self {
            Storage::Memory(space) => machine.memory(*space, first, out),
            Storage::Register(register) => machine.register_part(*register, first as usize, out),
            Storage::Implicit { bytes, .. } => {
                let from = first as usize;
                out.copy_from_slice(bytes.get(from..from + out.len()).ok_or(Reason::Outside)?);
                Ok(())
            }
            Storage::Pointer(_) => Err(Reason::ImplicitPointer),
            Storage::Undefined | Storage::Composite(_) => Err(Reason::Undefined),
        }
    }

    /// Returns whether both storages are the same register, memory or bytes. Two storages with equal contents
    /// are not necessarily the same.
    fn is(&self, other: &Storage) -> bool {
        match (self, other) {
            (Storage::Undefined, Storage::Undefined) => true,
            (Storage::Memory(a), Storage::Memory(b)) => a == b,
            (Storage::Register(a), Storage::Register(b)) => a == b,
            (Storage::Implicit { bytes: a, .. }, Storage::Implicit { bytes: b, .. }) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// Position in a storage.
#[derive(Clone, Debug)]
pub struct Location {
    /// Storage.
    pub storage: Storage,
    /// First bit.
    pub bit: u128,
}

/// Some bits at a location.
#[derive(Clone, Debug)]
pub struct Part {
    /// Location of the first bit.
    pub location: Location,
    /// Number of bits.
    pub bits: u128,
}

/// Maximum number of bits that are read at a time.
const MOST_BITS: u64 = 1 << 32;

/// Parts of a composite location description, in the canonical form of LLVM's AMDGPU guide: no part is itself
/// composite or empty, and neighbouring parts are not contiguous in the same storage.
#[derive(Clone, Debug, Default)]
pub struct Composite {
    parts: Vec<Part>,
    bits: u128,
}

impl Composite {
    /// Returns the parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the total number of bits.
    pub fn bits(&self) -> u128 {
        self.bits
    }

    /// Appends a part.
    pub(crate) fn push(&mut self, location: &Location, bits: u128) -> Result<(), Reason> {
        location.each_part(bits, |storage, bit, bits| {
            self.push_plain(Part { location: Location { storage: storage.clone(), bit }, bits })
        })?;
        // A composite must not be larger than the largest address space.
        if self.bits > 8 << 64 { Err(Reason::Outside) } else { Ok(()) }
    }

    fn push_plain(&mut self, part: Part) -> Result<(), Reason> {
        if part.bits == 0 {
            return Ok(());
        }
        self.bits += part.bits;
        if let Some(last) = self.parts.last_mut() {
            let follows = matches!(part.location.storage, Storage::Undefined)
                || last.location.bit + last.bits == part.location.bit;
            if follows && last.location.storage.is(&part.location.storage) {
                last.bits += part.bits;
                return Ok(());
            }
        }
        if self.parts.len() >= PARTS {
            return Err(Reason::Limit("parts"));
        }
        self.parts.push(part);
        Ok(())
    }
}

impl Location {
    /// Returns the undefined location.
    pub fn undefined() -> Location {
        Location { storage: Storage::Undefined, bit: 0 }
    }

    /// Returns the location of a byte of memory. The address is truncated to the size of addresses in the
    /// address space.
    ///
    /// # Errors
    /// The processor has no such address space.
    pub fn memory(space: AddressSpace, address: u64) -> Result<Location, Reason> {
        let bits = space.address_bits().ok_or(Reason::Space(space.0))?;
        let address = address & (u64::MAX >> (64 - bits));
        Ok(Location { storage: Storage::Memory(space), bit: 8 * u128::from(address) })
    }

    /// Returns the location of the beginning of a register.
    ///
    /// # Errors
    /// There is no register with this DWARF number.
    pub fn register(register: Register) -> Result<Location, Reason> {
        register.bits().ok_or(Reason::Register(register.0))?;
        Ok(Location { storage: Storage::Register(register), bit: 0 })
    }

    /// Returns an implicit location, which consists of known bytes.
    pub fn implicit(bytes: &[u8], bits: u64) -> Location {
        Location { storage: Storage::Implicit { bytes: Arc::from(bytes), bits }, bit: 0 }
    }

    pub(crate) fn composite(composite: Composite) -> Location {
        Location { storage: Storage::Composite(Arc::new(composite)), bit: 0 }
    }

    /// Returns the location that is `bits` bits after this one. The undefined location stays undefined.
    ///
    /// # Errors
    /// The location would be outside of its storage.
    pub fn moved(&self, bits: i128) -> Result<Location, Reason> {
        let Some(size) = self.storage.bits() else { return Ok(self.clone()) };
        let bit = self.bit.checked_add_signed(bits).filter(|&bit| bit < size).ok_or(Reason::Outside)?;
        Ok(Location { storage: self.storage.clone(), bit })
    }

    /// Returns the part of the location that belongs to lane `lane`. Used for expressions without the
    /// heterogeneous extensions, in which a vector register means the dword of the current lane.
    pub fn of_lane(&self, lane: u32) -> Location {
        match &self.storage {
            Storage::Register(register)
                if matches!(register.facts(), Some((Bank::Vgpr | Bank::Agpr, ..))) =>
            {
                let bit = self.bit + 32 * u128::from(lane);
                Location { storage: self.storage.clone(), bit }
            }
            Storage::Composite(composite) => {
                let own = |part: &Part| Part { location: part.location.of_lane(lane), bits: part.bits };
                let parts = composite.parts.iter().map(own).collect();
                let storage = Storage::Composite(Arc::new(Composite { parts, bits: composite.bits }));
                Location { storage, bit: self.bit }
            }
            _ => self.clone(),
        }
    }

    /// Returns the address space and the address if this is the location of a byte of memory.
    pub fn address(&self) -> Option<(AddressSpace, u64)> {
        match self.storage {
            Storage::Memory(space) if self.bit.is_multiple_of(8) => Some((space, (self.bit / 8) as u64)),
            _ => None,
        }
    }

    /// Checks that the `bits` bits from the start of the location on are within the storage. Returns the
    /// number of the bit after them.
    fn within(&self, bits: u128) -> Result<u128, Reason> {
        let end = self.bit.checked_add(bits).ok_or(Reason::Outside)?;
        match self.storage.bits() {
            Some(size) if end > size => Err(Reason::Outside),
            _ => Ok(end),
        }
    }

    /// Calls `what` for each part of the first `bits` bits of the location. Its arguments are the storage of
    /// the part, the first bit in that storage, and the number of bits. Composite location descriptions are
    /// split into their parts.
    fn each_part(
        &self,
        bits: u128,
        mut what: impl FnMut(&Storage, u128, u128) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        let end = self.within(bits)?;
        let Storage::Composite(composite) = &self.storage else {
            return what(&self.storage, self.bit, bits);
        };
        let mut start = 0;
        for part in &composite.parts {
            let (from, to) = (self.bit.max(start), end.min(start + part.bits));
            if from < to {
                let bit = match part.location.storage {
                    Storage::Undefined => 0,
                    _ => part.location.bit + (from - start),
                };
                what(&part.location.storage, bit, to - from)?;
            }
            start += part.bits;
        }
        Ok(())
    }

    /// Returns the locations of the first `bits` bits. A composite location description is split into its
    /// parts.
    ///
    /// # Errors
    /// Some of the bits are outside of the location's storage.
    pub fn parts(&self, bits: u128) -> Result<Vec<Part>, Reason> {
        let mut parts = Vec::new();
        self.each_part(bits, |storage, bit, bits| {
            parts.push(Part { location: Location { storage: storage.clone(), bit }, bits });
            Ok(())
        })?;
        Ok(parts)
    }

    /// Reads the first `bits` bits as little-endian bytes. All of these bits must exist. In the last byte,
    /// the bits beyond them are 0.
    ///
    /// # Errors
    /// Some of the bits do not exist or are too many, or the machine does not know them.
    pub fn read(&self, bits: u64, machine: &dyn Machine) -> Result<Vec<u8>, Reason> {
        self.within(u128::from(bits))?;
        if bits > MOST_BITS {
            return Err(Reason::Limit("bits"));
        }
        let mut bytes = vec![0; bits.div_ceil(8) as usize];
        self.read_whole(bits, machine, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads the first `bits` bits to `out`, whose bytes must be zero. All of these bits must exist.
    pub(crate) fn read_whole(&self, bits: u64, machine: &dyn Machine, out: &mut [u8]) -> Result<(), Reason> {
        let mut at = 0;
        self.each_part(bits.into(), |storage, bit, bits| {
            if bits > 0 {
                storage.read_bits((bit, bits), machine, (out, at))?;
            }
            at += bits as usize;
            Ok(())
        })
    }

    /// Reads the first `bits` bits, and returns for each byte whether it exists. Bytes of undefined parts,
    /// and bytes after the last part, are 0.
    ///
    /// # Errors
    /// The bits are too many, or the machine does not know them.
    pub fn read_what_is_there(
        &self,
        bits: u64,
        machine: &dyn Machine,
    ) -> Result<(Vec<u8>, Vec<bool>), Reason> {
        let (mut bytes, mut there) = (Vec::new(), Vec::new());
        self.read_into(bits, machine, (&mut bytes, &mut there))?;
        Ok((bytes, there))
    }

    /// Reads bits as [`Location::read_what_is_there`] does, but reuses the memory of `bytes` and `there`. For
    /// callers that read the same variable for each lane.
    ///
    /// # Errors
    /// As for [`Location::read_what_is_there`]. After an error, the contents of both vectors are meaningless.
    pub fn read_into(
        &self,
        bits: u64,
        machine: &dyn Machine,
        (bytes, there): (&mut Vec<u8>, &mut Vec<bool>),
    ) -> Result<(), Reason> {
        if bits > MOST_BITS {
            return Err(Reason::Limit("bits"));
        }
        let held = match &self.storage {
            Storage::Composite(composite) => composite.bits.saturating_sub(self.bit).min(bits.into()),
            _ => bits.into(),
        };
        let count = bits.div_ceil(8) as usize;
        bytes.clear();
        bytes.resize(count, 0);
        there.clear();
        there.resize(count, true);
        there[(held / 8) as usize..].fill(held == u128::from(bits));
        let mut at = 0;
        self.each_part(held, |storage, bit, bits| {
            let end = at + bits as usize;
            match storage {
                Storage::Undefined => there[at / 8..end.div_ceil(8)].fill(false),
                _ => storage.read_bits((bit, bits), machine, (bytes, at))?,
            }
            at = end;
            Ok(())
        })
    }

    /// If the first `bits` bits are exactly one implicit pointer, returns this pointer. Fails if they are
    /// only a part of one.
    pub(crate) fn pointer(&self, bits: u64) -> Result<Option<ImplicitPointer>, Reason> {
        if !matches!(self.storage, Storage::Pointer(_) | Storage::Composite(_)) {
            return self.within(u128::from(bits)).map(|_| None);
        }
        let parts = self.parts(u128::from(bits))?;
        let is_pointer = |part: &&Part| matches!(part.location.storage, Storage::Pointer(_));
        let Some(part) = parts.iter().find(is_pointer) else { return Ok(None) };
        match part.location.storage {
            Storage::Pointer(pointer)
                if parts.len() == 1 && part.location.bit == 0 && self.is_whole(&part.location) =>
            {
                let size = pointer.space.address_bits().ok_or(Reason::Need(Need::Entry(pointer.entry)))?;
                if u64::from(size) == bits { Ok(Some(pointer)) } else { Err(Reason::ImplicitPointer) }
            }
            _ => Err(Reason::ImplicitPointer),
        }
    }

    /// Returns whether this location contains a whole implicit pointer and not only a part of it. `of` is the
    /// part of this location whose storage is the implicit pointer.
    fn is_whole(&self, of: &Location) -> bool {
        let Storage::Composite(composite) = &self.storage else { return true };
        composite.parts.iter().any(|part| {
            matches!((&part.location.storage, &of.storage), (Storage::Pointer(a), Storage::Pointer(b)) if a == b)
                && part.location.bit == 0
                && part.location.storage.bits() == Some(part.bits)
        })
    }
}

/// Copies bits between little-endian bytes.
fn copy_bits(to: &mut [u8], to_bit: usize, from: &[u8], from_bit: usize, count: usize) {
    for n in 0..count {
        let bit = from[(from_bit + n) / 8] >> ((from_bit + n) % 8) & 1;
        to[(to_bit + n) / 8] |= bit << ((to_bit + n) % 8);
    }
}

/// Formats the location, for example as `v7 + 96 bits`, `local memory at 0x10`, or `[s4: 32 bits, nowhere: 32
/// bits]`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bit = self.bit;
        match &self.storage {
            Storage::Undefined => return write!(f, "nowhere"),
            Storage::Memory(space) => {
                write!(f, "{space} memory at {:#x}", bit / 8)?;
                bit %= 8;
            }
            Storage::Register(register) => write!(f, "{register}")?,
            Storage::Implicit { bytes, .. } => {
                write!(f, "the value")?;
                for byte in bytes.iter() {
                    write!(f, " {byte:02x}")?;
                }
            }
            Storage::Pointer(pointer) => write!(f, "{pointer}")?,
            Storage::Composite(composite) => {
                write!(f, "[")?;
                for (n, part) in composite.parts.iter().enumerate() {
                    write!(f, "{}{}: {} bits", if n > 0 { ", " } else { "" }, part.location, part.bits)?;
                }
                write!(f, "]")?;
            }
        }
        if bit > 0 { write!(f, " + {bit} bits") } else { Ok(()) }
    }
}
