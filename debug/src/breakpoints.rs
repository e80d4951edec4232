//! Where to stop.

use crate::waves::Who;
use sim::{Flat, Stopped};

/// A place in the code.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number.
    pub id: u32,
    /// As it was asked for.
    pub text: String,
    /// Addresses in the file.
    pub addresses: Vec<u64>,
    /// Holds in some lane, or the wave goes on.
    pub condition: Option<String>,
    /// How often waves have stopped here.
    pub hits: u64,
}

/// Memory that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// An address.
    Global(u64),
    /// LDS of a group.
    Lds([u32; 3], u64),
    /// Private memory of a lane.
    Private(Who, u32, u64),
}

impl Place {
    /// Where a flat address of a lane leads.
    pub(crate) fn flat(address: u64, who: Who, lane: u32) -> Place {
        match Flat::of(address) {
            Flat::Global(address) => Place::Global(address),
            Flat::Lds(offset) => Place::Lds(who.group, offset),
            Flat::Private(offset) => Place::Private(who, lane, offset),
        }
    }

    /// What is there, if the wave that stands somewhere can see it.
    pub(crate) fn read(self, at: &Stopped<'_>, bytes: &mut [u8]) -> bool {
        match self {
            Place::Global(address) => at.read(address, bytes),
            Place::Lds(group, address) => at.group() == group && at.read_lds(address, bytes),
            Place::Private(who, lane, address) => Who::of(at) == who && at.read_private(lane, address, bytes),
        }
    }
}

/// A place in memory.
#[derive(Clone, Debug)]
pub struct Watchpoint {
    /// Its number, of one count with breakpoints.
    pub id: u32,
    /// As it was asked for.
    pub text: String,
    pub(crate) place: Place,
    pub(crate) bytes: usize,
    /// What was there the last time.
    pub(crate) old: Option<Vec<u8>>,
    /// The type, by its entry in the debug information.
    pub(crate) ty: Option<u64>,
}

impl Watchpoint {
    /// Whether it has changed since it was looked at: what was there, and what is.
    pub(crate) fn look(&mut self, at: &Stopped<'_>) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut now = vec![0; self.bytes];
        if !self.place.read(at, &mut now) {
            return None;
        }
        if self.old.as_ref() == Some(&now) {
            return None;
        }
        let old = self.old.replace(now.clone())?;
        Some((old, now))
    }
}
