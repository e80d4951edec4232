//! DWARF numbers of address spaces and address classes of AMD GPUs. The numbers of registers are in another
//! package, because the writer of debug information uses them too.

pub use objwriter::registers::{Bank, Register};
use std::fmt;

/// Address space of DWARF expressions (LLVM's AMDGPU guide, seed 000, line 706).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressSpace(pub u64);

impl AddressSpace {
    /// Default address space: global memory.
    pub const GLOBAL: AddressSpace = AddressSpace(0);
    /// Flat addresses of the current lane.
    pub const GENERIC: AddressSpace = AddressSpace(1);
    /// GDS.
    pub const REGION: AddressSpace = AddressSpace(2);
    /// LDS of the work-group to which the current wave belongs.
    pub const LOCAL: AddressSpace = AddressSpace(3);
    /// Scratch memory of the current lane.
    pub const PRIVATE_LANE: AddressSpace = AddressSpace(5);
    /// Scratch memory of the whole wave. The dwords of its lanes are interleaved, as they are in memory.
    pub const PRIVATE_WAVE: AddressSpace = AddressSpace(6);

    /// Returns the scratch memory of a given lane.
    pub fn private_lane(lane: u32) -> Option<AddressSpace> {
        (lane < 64).then_some(AddressSpace(0x20 + u64::from(lane)))
    }

    /// Returns the lane if this address space is the scratch memory of one particular lane.
    pub fn lane(self) -> Option<u32> {
        (0x20..0x60).contains(&self.0).then(|| self.0 as u32 - 0x20)
    }

    /// Returns the number of bits of an address in this address space. `None` if no address space has this
    /// number.
    pub fn address_bits(self) -> Option<u32> {
        match self.0 {
            0 | 1 => Some(64),
            2 | 3 | 5 | 6 | 0x20..0x60 => Some(32),
            _ => None,
        }
    }
}

impl fmt::Display for AddressSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "global"),
            1 => write!(f, "generic"),
            2 => write!(f, "region"),
            3 => write!(f, "local"),
            5 => write!(f, "private"),
            6 => write!(f, "private_wave"),
            0x20..0x60 => write!(f, "private_lane{}", self.0 - 0x20),
            other => write!(f, "address space {other:#x}"),
        }
    }
}

/// Kind of memory to which a pointer of a type points (`DW_AT_address_class`; LLVM's AMDGPU guide, seed 000,
/// line 664).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressClass(pub u64);

impl AddressClass {
    /// Returns the address space that is accessed through a pointer with this address class. `None` for a
    /// class without meaning.
    pub fn space(self) -> Option<AddressSpace> {
        Some(match self.0 {
            0 => AddressSpace::GENERIC,
            1 | 4 => AddressSpace::GLOBAL,
            2 => AddressSpace::REGION,
            3 => AddressSpace::LOCAL,
            5 => AddressSpace::PRIVATE_LANE,
            _ => return None,
        })
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "generic"),
            1 => write!(f, "global"),
            2 => write!(f, "region"),
            3 => write!(f, "local"),
            4 => write!(f, "constant"),
            5 => write!(f, "private"),
            other => write!(f, "address class {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks rows of the guide's table with their numbers (seed 000, lines 626-645).
    #[test]
    fn registers_have_the_guides_numbers() {
        let rows = [
            (16, Bank::Pc, 0, 64, 64),
            (1, Bank::Exec, 0, 32, 32),
            (17, Bank::Exec, 0, 64, 64),
            (32, Bank::Sgpr, 0, 64, 32),
            (95, Bank::Sgpr, 63, 64, 32),
            (1088, Bank::Sgpr, 64, 64, 32),
            (1129, Bank::Sgpr, 105, 32, 32),
            (1536, Bank::Vgpr, 0, 32, 1024),
            (1791, Bank::Vgpr, 255, 32, 1024),
            (2815, Bank::Vgpr, 255, 64, 2048),
            (2303, Bank::Agpr, 255, 32, 1024),
            (3072, Bank::Agpr, 0, 64, 2048),
        ];
        for (dwarf, bank, number, lanes, bits) in rows {
            let register = Register(dwarf);
            assert_eq!(Register::in_bank(bank, number, lanes), Some(register), "{bank:?} {number}");
            assert_eq!(register.facts(), Some((bank, number, bits)));
        }
    }

    #[test]
    fn reserved_numbers_name_nothing() {
        for dwarf in [2, 15, 18, 31, 96, 127, 511, 1023, 1087, 1130, 1535, 1792, 2304, 2816, 3328, u64::MAX] {
            assert_eq!(Register(dwarf).bits(), None, "{dwarf}");
        }
        assert_eq!(Register::in_bank(Bank::Sgpr, 106, 64), None);
        assert_eq!(Register::in_bank(Bank::Vgpr, 256, 64), None);
        assert_eq!(Register::in_bank(Bank::Vgpr, 0, 48), None);
    }

    #[test]
    fn names_are_read_back() {
        for register in
            (0..3400).map(Register).filter(|register| register.bits().is_some_and(|bits| bits != 32))
        {
            let lanes = if matches!(register.bits(), Some(32 | 1024)) { 32 } else { 64 };
            let text = format!("{register}.{lanes}");
            assert_eq!(Register::parse(&text), Some(register), "{text}");
        }
        assert_eq!(Register::parse("s105"), Some(Register(1129)));
        for text in ["", "s", "s106", "x1", "v1.16", "v256", "ſ1"] {
            assert_eq!(Register::parse(text), None, "{text}");
        }
    }

    #[test]
    fn spaces_know_their_addresses() {
        let sizes = [(0, 64), (1, 64), (2, 32), (3, 32), (5, 32), (6, 32), (0x20, 32), (0x5f, 32)];
        for (space, bits) in sizes {
            assert_eq!(AddressSpace(space).address_bits(), Some(bits), "{space:#x}");
        }
        for space in [4, 7, 0x1f, 0x60, u64::MAX] {
            assert_eq!(AddressSpace(space).address_bits(), None, "{space:#x}");
        }
        assert_eq!(AddressSpace::private_lane(63).and_then(AddressSpace::lane), Some(63));
        assert_eq!(AddressSpace::private_lane(64), None);
    }
}
