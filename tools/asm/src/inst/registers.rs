//! Names of registers without numbers.

use isa::{Reg, RegRange, Target};
use rustc_hash::FxHashMap;

/// Names of registers that assemblers accept in addition to those that the printer uses. Each has the code of
/// the register and the number of dwords.
const ALIASES: [(&str, u16, u8); 12] = [
    ("shared_base", 235, 2),
    ("shared_limit", 236, 2),
    ("private_base", 237, 2),
    ("private_limit", 238, 2),
    ("pops_exiting_wave_id", 239, 1),
    ("src_pops_exiting_wave_id", 239, 1),
    ("vccz", 251, 1),
    ("execz", 252, 1),
    ("scc", 253, 1),
    ("lds_direct", 254, 1),
    ("src_lds_direct", 254, 1),
    ("src_scc", 253, 1),
];

/// Returns all names of registers with the registers for which they stand: the names that the printer uses on
/// this processor, and the aliases.
pub(super) fn names(target: &Target) -> FxHashMap<Box<str>, RegRange> {
    let mut names: FxHashMap<Box<str>, RegRange> = FxHashMap::default();
    let mut name = String::new();
    for len in 1..=2u8 {
        for code in 102..256u16 {
            let range = RegRange { first: Reg(code), len };
            name.clear();
            if range.exists(target) && isa::print::write_reg(target, range, &mut name).is_ok() {
                let is_named =
                    !name.contains('[') && !name.ends_with(|c: char| c.is_ascii_digit()) || name == "m0";
                if is_named {
                    names.entry(name.as_str().into()).or_insert(range);
                }
            }
        }
    }
    for (alias, code, len) in ALIASES {
        let range = RegRange { first: Reg(code), len };
        if range.exists(target) {
            names.entry(alias.into()).or_insert(range);
        }
    }
    names
}

/// Returns whether any processor has a register with this name. Such a name cannot be a symbol, even on a
/// processor without the register.
pub(super) fn is_name(name: &str) -> bool {
    isa::special::named().any(|register| register.name == name)
        || ALIASES.iter().any(|(alias, ..)| *alias == name)
        || name.strip_prefix("ttmp").is_some_and(|rest| rest.parse::<u8>().is_ok())
        || half_of_vgpr(name)
        || is_accumulator(name)
}

/// Returns whether a name is that of an accumulation VGPR, such as `a5` or `acc5`.
fn is_accumulator(name: &str) -> bool {
    let number = name.strip_prefix("acc").or_else(|| name.strip_prefix('a')).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a name is that of a half of a VGPR, such as `v5.l`. GFX11 has such 16-bit registers.
fn half_of_vgpr(name: &str) -> bool {
    let whole = name.strip_suffix(".l").or_else(|| name.strip_suffix(".h"));
    whole.and_then(|name| name.strip_prefix('v')).is_some_and(|number| number.parse::<u8>().is_ok())
}

/// Returns the first trap temporary register.
pub(super) fn first_ttmp(target: &Target) -> Reg {
    let mut name = String::new();
    let found = (102..128).map(Reg).find(|&first| {
        name.clear();
        isa::print::write_reg(target, RegRange { first, len: 1 }, &mut name).is_ok() && name == "ttmp0"
    });
    found.unwrap_or(Reg(108))
}

/// Returns the DWARF number of a register, or `None` if it has no number. The number is that for waves of 64
/// lanes, because LLVM's assembler uses no others.
pub(super) fn dwarf_number(target: &Target, range: RegRange) -> Option<u32> {
    let mut name = String::new();
    let _ = isa::print::write_reg(target, range, &mut name);
    let is_numbered = name.bytes().last().is_some_and(|byte| byte.is_ascii_digit());
    let n = u32::from(range.first.0);
    match (range.first, range.len) {
        (Reg::EXEC, 1) => Some(1),
        (Reg::EXEC, 2) => Some(17),
        (_, 1) if is_numbered => match n {
            0..64 => Some(32 + n),
            64..106 => Some(1088 + n - 64),
            256..512 => Some(2560 + n - 256),
            512.. => Some(3072 + n - 512),
            _ => None,
        },
        _ => None,
    }
}
