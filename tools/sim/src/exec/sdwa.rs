//! Sub-dword addressing (SDWA), by which instructions use a byte or a half of a register as source or
//! destination (GCN3 ISA, "SDWA").

use crate::wave::Lanes;
use isa::SdwaSel;

/// Returns the position and the width in bits of the part of a register that an SDWA selection names.
fn bits_of(select: SdwaSel) -> (u32, u32) {
    match select {
        SdwaSel::Dword => (0, 32),
        SdwaSel::Word0 => (0, 16),
        SdwaSel::Word1 => (16, 16),
        byte => (byte as u32 * 8, 8),
    }
}

/// Returns the selected part, extended to a dword.
pub(crate) fn extract(value: u32, select: SdwaSel, sext: bool) -> u32 {
    let (at, bits) = bits_of(select);
    let top = value << (32 - bits - at);
    if sext { (top as i32 >> (32 - bits)) as u32 } else { top >> (32 - bits) }
}

/// Moves each lane's result to the part of the register that `select` names. `unused` says what happens to
/// the other bits of the register. With 0, they become zero. With 1, the bits above the part become copies of
/// the result's sign bit, and the bits below it become zero. With 2, they keep their old value.
pub(crate) fn insert_results(select: SdwaSel, unused: u8, old: &Lanes, result: &mut Lanes) {
    let (at, bits) = bits_of(select);
    let mask = (u64::MAX >> (64 - bits)) as u32;
    for (value, old) in result.iter_mut().zip(old) {
        let placed = (*value & mask) << at;
        *value = match unused {
            1 => ((*value << (32 - bits)) as i32 >> (32 - bits - at)) as u32 & !(((1u64 << at) - 1) as u32),
            2 => placed | old & !(mask << at),
            _ => placed,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_extracted() {
        assert_eq!(extract(0x80ff_7f01, SdwaSel::Byte3, true), 0xffff_ff80);
        assert_eq!(extract(0x80ff_7f01, SdwaSel::Byte1, true), 0x7f);
        assert_eq!(extract(0x80ff_7f01, SdwaSel::Word1, false), 0x80ff);
    }

    #[test]
    fn parts_are_placed() {
        let placed = |select, unused| {
            let mut result = [0x1234_5680; 64];
            insert_results(select, unused, &[0xaaaa_bbbb; 64], &mut result);
            result[0]
        };
        assert_eq!(placed(SdwaSel::Byte1, 0), 0x8000);
        assert_eq!(placed(SdwaSel::Byte1, 1), 0xffff_8000);
        assert_eq!(placed(SdwaSel::Byte1, 2), 0xaaaa_80bb);
        assert_eq!(placed(SdwaSel::Word1, 2), 0x5680_bbbb);
        assert_eq!(placed(SdwaSel::Dword, 2), 0x1234_5680);
    }
}
