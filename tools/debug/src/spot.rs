//! Locations of values in memory. A location can be written as text and parsed again, because a front end
//! that asks to watch a value later has only the text.

use crate::waves::Who;
use sim::{Flat, Stopped};
use std::fmt;
use std::str::FromStr;

/// A location in memory: an address, with the wave, lane or group to which the memory belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An address of global memory.
    Global(u64),
    /// Offset in the LDS of a group.
    Lds([u32; 3], u64),
    /// Offset in the private memory of a lane of a wave.
    Private(Who, u32, u64),
}

impl Place {
    /// Returns the place of a flat address of a lane.
    pub(crate) fn flat(address: u64, who: Who, lane: u32) -> Place {
        match Flat::of(address) {
            Flat::Global(address) => Place::Global(address),
            Flat::Lds(offset) => Place::Lds(who.group, offset),
            Flat::Private(offset) => Place::Private(who, lane, offset),
        }
    }

    /// Reads the content of the memory location into `bytes`. Returns whether the stopped wave can access it.
    pub(crate) fn read(self, at: &Stopped<'_>, bytes: &mut [u8]) -> bool {
        match self {
            Place::Global(address) => at.read(address, bytes),
            Place::Lds(group, address) => at.group() == group && at.read_lds(address, bytes),
            Place::Private(who, lane, address) => Who::of(at) == who && at.read_private(lane, address, bytes),
        }
    }
}

/// Largest number of bytes that can be watched at once.
pub const MOST: usize = 1 << 16;

/// A value in memory: location, size and type. Its text is `global:ADDRESS:BYTES`, `lds:X,Y,Z:OFFSET:BYTES`
/// or `private:X,Y,Z:WAVE:LANE:OFFSET:BYTES`, followed by `:TYPE` if the type is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Where the value is.
    pub place: Place,
    /// Size of the value in bytes.
    pub bytes: usize,
    /// Type of the value, as the offset of its entry in the debug information.
    pub ty: Option<u64>,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Global(address) => write!(f, "global:{address:#x}")?,
            Place::Lds([x, y, z], offset) => write!(f, "lds:{x},{y},{z}:{offset:#x}")?,
            Place::Private(Who { group: [x, y, z], wave }, lane, offset) => {
                write!(f, "private:{x},{y},{z}:{wave}:{lane}:{offset:#x}")?;
            }
        }
        write!(f, ":{}", self.bytes)?;
        self.ty.map_or(Ok(()), |ty| write!(f, ":{ty:#x}"))
    }
}

impl FromStr for Spot {
    type Err = ();

    fn from_str(text: &str) -> Result<Spot, ()> {
        let mut parts = text.split(':');
        let mut next = || parts.next().ok_or(());
        let place = match next()? {
            "global" => Place::Global(number(next()?)?),
            "lds" => Place::Lds(group(next()?)?, number(next()?)?),
            "private" => {
                let who = Who { group: group(next()?)?, wave: small(next()?)? };
                Place::Private(who, small(next()?)?, number(next()?)?)
            }
            _ => return Err(()),
        };
        let bytes =
            usize::try_from(number(next()?)?).ok().filter(|bytes| (1..=MOST).contains(bytes)).ok_or(())?;
        let ty = parts.next().map(number).transpose()?;
        if parts.next().is_some() { Err(()) } else { Ok(Spot { place, bytes, ty }) }
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
        let who = Who { group: [1, 2, 3], wave: 4 };
        let places = [Place::Global(0x4_ffff_f000), Place::Lds([0, 7, 0], 16), Place::Private(who, 63, 0)];
        for place in places {
            for ty in [None, Some(0x2a)] {
                let spot = Spot { place, bytes: 12, ty };
                assert_eq!(spot.to_string().parse(), Ok(spot), "{spot}");
            }
        }
        assert_eq!(Spot { place: places[1], bytes: 4, ty: None }.to_string(), "lds:0,7,0:0x10:4");
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
            assert_eq!(text.parse::<Spot>(), Err(()), "{text}");
        }
    }
}
