//! Values in memory, each given by its location, size and type. A location can be written as text and parsed
//! again, because a front end that asks to watch a value later has only the text.

use crate::waves::WaveId;
use sim::{FlatAddress, Stopped};
use std::fmt;
use std::str::FromStr;

/// A location in memory: an address, and the wave, lane or group whose memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLocation {
    /// An address of global memory.
    Global(u64),
    /// Offset in the LDS of a group.
    Lds([u32; 3], u64),
    /// Offset in the private memory of a lane of a wave.
    Private(WaveId, u32, u64),
}

impl MemoryLocation {
    /// Returns the memory location to which a flat address of a lane refers.
    pub(crate) fn from_flat(address: u64, who: WaveId, lane: u32) -> MemoryLocation {
        match FlatAddress::from_address(address) {
            FlatAddress::Global(address) => MemoryLocation::Global(address),
            FlatAddress::Lds(offset) => MemoryLocation::Lds(who.group, offset),
            FlatAddress::Private(offset) => MemoryLocation::Private(who, lane, offset),
        }
    }

    /// Reads the content of the memory location into `bytes`. Returns whether the stopped wave can access it.
    pub(crate) fn read(self, at: &Stopped<'_>, bytes: &mut [u8]) -> bool {
        match self {
            MemoryLocation::Global(address) => at.read(address, bytes),
            MemoryLocation::Lds(group, address) => at.group() == group && at.read_lds(address, bytes),
            MemoryLocation::Private(who, lane, address) => {
                WaveId::from_stop(at) == who && at.read_private(lane, address, bytes)
            }
        }
    }
}

/// Largest number of bytes that can be watched at once.
pub const MOST: usize = 1 << 16;

/// A value in memory: its location, size and type. Its text is `global:ADDRESS:BYTES`,
/// `lds:X,Y,Z:OFFSET:BYTES` or `private:X,Y,Z:WAVE:LANE:OFFSET:BYTES`, followed by `:TYPE` if the type is
/// known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryValue {
    /// Where the value is.
    pub place: MemoryLocation,
    /// Size of the value in bytes.
    pub bytes: usize,
    /// Type of the value, as the offset of its entry in the debug information.
    pub ty: Option<u64>,
}

impl fmt::Display for MemoryValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            MemoryLocation::Global(address) => write!(f, "global:{address:#x}")?,
            MemoryLocation::Lds([x, y, z], offset) => write!(f, "lds:{x},{y},{z}:{offset:#x}")?,
            MemoryLocation::Private(WaveId { group: [x, y, z], wave }, lane, offset) => {
                write!(f, "private:{x},{y},{z}:{wave}:{lane}:{offset:#x}")?;
            }
        }
        write!(f, ":{}", self.bytes)?;
        self.ty.map_or(Ok(()), |ty| write!(f, ":{ty:#x}"))
    }
}

impl FromStr for MemoryValue {
    type Err = ();

    fn from_str(text: &str) -> Result<MemoryValue, ()> {
        let mut parts = text.split(':');
        let mut next = || parts.next().ok_or(());
        let place = match next()? {
            "global" => MemoryLocation::Global(number(next()?)?),
            "lds" => MemoryLocation::Lds(group(next()?)?, number(next()?)?),
            "private" => {
                let who = WaveId { group: group(next()?)?, wave: small(next()?)? };
                MemoryLocation::Private(who, small(next()?)?, number(next()?)?)
            }
            _ => return Err(()),
        };
        let bytes =
            usize::try_from(number(next()?)?).ok().filter(|bytes| (1..=MOST).contains(bytes)).ok_or(())?;
        let ty = parts.next().map(number).transpose()?;
        if parts.next().is_some() { Err(()) } else { Ok(MemoryValue { place, bytes, ty }) }
    }
}

fn number(text: &str) -> Result<u64, ()> {
    crate::program::parse_address(text).ok_or(())
}

fn small(text: &str) -> Result<u32, ()> {
    number(text)?.try_into().map_err(|_| ())
}

fn group(text: &str) -> Result<[u32; 3], ()> {
    let parts = text.split(',').map(small).collect::<Result<Vec<_>, _>>()?;
    parts.try_into().map_err(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let who = WaveId { group: [1, 2, 3], wave: 4 };
        let places = [
            MemoryLocation::Global(0x4_ffff_f000),
            MemoryLocation::Lds([0, 7, 0], 16),
            MemoryLocation::Private(who, 63, 0),
        ];
        for place in places {
            for ty in [None, Some(0x2a)] {
                let memory_value = MemoryValue { place, bytes: 12, ty };
                assert_eq!(memory_value.to_string().parse(), Ok(memory_value), "{memory_value}");
            }
        }
        assert_eq!(MemoryValue { place: places[1], bytes: 4, ty: None }.to_string(), "lds:0,7,0:0x10:4");
    }

    #[test]
    fn what_is_none() {
        let wrong = [
            "",
            "global",
            "global:",
            "global:x:4",
            "global:1:0",
            "global:1:65537",
            "lds:1,2:0:4",
            "lds:1,2,3,4:0:4",
        ];
        for text in wrong.into_iter().chain([
            "private:0,0,0:0:0:0",
            "global:1:4:5:6",
            "private:0,0,0:4294967296:0:0:4",
        ]) {
            assert_eq!(text.parse::<MemoryValue>(), Err(()), "{text}");
        }
    }
}
