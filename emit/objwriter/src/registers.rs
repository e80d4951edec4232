//! DWARF numbers of the registers of AMD GPUs.

use isa::Reg;
use std::fmt;

/// Kind of register that a DWARF number names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bank {
    /// The program counter.
    Pc,
    /// EXEC, with one bit for each lane of the wave.
    Exec,
    /// Scalar registers `s0`, ...
    Sgpr,
    /// Vector registers. A DWARF vector register contains the dwords of all lanes, beginning with lane 0.
    Vgpr,
    /// Accumulation registers, in the same form.
    Agpr,
}

/// A register, identified by its DWARF number (LLVM's AMDGPU guide, seed 000, line 624).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u64);

/// Rows of the AMDGPU guide's table of DWARF registers. Each row has the first DWARF number, the number of
/// registers, their bank, the number of the first register in the bank, and the size of a register in bits.
const REGISTERS: [(u64, u64, Bank, u32, u32); 10] = [
    (0, 1, Bank::Pc, 0, 32),
    (1, 1, Bank::Exec, 0, 32),
    (16, 1, Bank::Pc, 0, 64),
    (17, 1, Bank::Exec, 0, 64),
    (32, 64, Bank::Sgpr, 0, 32),
    (1088, 42, Bank::Sgpr, 64, 32),
    (1536, 256, Bank::Vgpr, 0, 32 * 32),
    (2048, 256, Bank::Agpr, 0, 32 * 32),
    (2560, 256, Bank::Vgpr, 0, 64 * 32),
    (3072, 256, Bank::Agpr, 0, 64 * 32),
];

impl Register {
    /// Returns the bank of the register, its number in the bank, and its size in bits. Returns `None` if the
    /// DWARF number is reserved.
    pub fn facts(self) -> Option<(Bank, u32, u32)> {
        REGISTERS.iter().find_map(|&(first, count, bank, number, bits)| {
            let at = self.0.checked_sub(first).filter(|&at| at < count)?;
            Some((bank, number + at as u32, bits))
        })
    }

    /// Returns the size in bits; `None` for reserved numbers.
    pub fn bits(self) -> Option<u32> {
        self.facts().map(|(.., bits)| bits)
    }

    /// Returns register `number` of a bank in waves of `lanes` lanes; `None` if it has no DWARF number.
    pub fn in_bank(bank: Bank, number: u32, lanes: u32) -> Option<Register> {
        REGISTERS.iter().find_map(|&(first, count, of, low, bits)| {
            let sized = match bank {
                // The process has 64-bit addresses (seed 000, line 1904).
                Bank::Pc => bits == 64,
                Bank::Exec => bits == lanes,
                Bank::Sgpr => true,
                Bank::Vgpr | Bank::Agpr => bits == 32 * lanes,
            };
            let at = u64::from(number.checked_sub(low)?);
            (of == bank && sized && at < count).then_some(Register(first + at))
        })
    }

    /// Returns the DWARF register of a hardware register in waves of `lanes` lanes; `None` for registers
    /// without a number, such as VCC.
    pub fn named(reg: Reg, lanes: u32) -> Option<Register> {
        let bank = match reg {
            Reg::EXEC => return Register::in_bank(Bank::Exec, 0, lanes),
            reg if reg.is_vgpr() => Bank::Vgpr,
            reg if reg.is_agpr() => Bank::Agpr,
            // No generation has more SGPRs.
            reg if reg.0 < 106 => Bank::Sgpr,
            _ => return None,
        };
        Register::in_bank(bank, reg.number().into(), lanes)
    }

    /// Parses the name of a register, such as `s33` or `pc`, as [`fmt::Display`] writes it or as instructions
    /// spell it. The wave size may follow after a dot, as in `exec.64` and `v7.32`; without it the wave has
    /// 64 lanes. Returns `None` if the text is not the name of a register.
    pub fn parse(text: &str) -> Option<Register> {
        if let Ok(number) = text.parse() {
            return Some(Register(number));
        }
        let (name, lanes) = match text.split_once('.') {
            Some((name, lanes)) => (name, lanes.parse().ok()?),
            None => (text, 64),
        };
        match name {
            "pc" => return Register::in_bank(Bank::Pc, 0, lanes),
            "exec" => return Register::in_bank(Bank::Exec, 0, lanes),
            _ => {}
        }
        let (bank, number) = name.split_at_checked(1)?;
        let bank = match bank {
            "s" => Bank::Sgpr,
            "v" => Bank::Vgpr,
            "a" => Bank::Agpr,
            _ => return None,
        };
        Register::in_bank(bank, number.parse().ok()?, lanes)
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.facts() {
            Some((Bank::Pc, ..)) => write!(f, "pc"),
            Some((Bank::Exec, ..)) => write!(f, "exec"),
            Some((Bank::Sgpr, number, _)) => write!(f, "s{number}"),
            Some((Bank::Vgpr, number, _)) => write!(f, "v{number}"),
            Some((Bank::Agpr, number, _)) => write!(f, "a{number}"),
            None => write!(f, "register {}", self.0),
        }
    }
}
