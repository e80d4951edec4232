//! Records what the waves of a dispatch do to memory. The record is a [`Log`].

use super::waits::Text;
use super::{Log, Wave};
use crate::exec::{Cx, Flow};
use crate::fault::Access;
use crate::launch::Launch;
use crate::op::Code;
use crate::watch::{CacheOp, MemAccess, Space};
use check::effects::Waits;
use check::{Class, Effects, Kinds};
use isa::decode::Decoder;
use isa::{ModFlags, Target};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Facts about an instruction that the replay of the log needs. They are the same each time the instruction
/// runs, in contrast to its accesses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// The counts for which the instruction waits, if it is a wait instruction.
    pub(super) waits: Option<Waits>,
    /// Classes of wait counters that count the instruction until it is complete. A flat instruction has two
    /// classes, because it may access memory or LDS: first the class for memory, then the class for LDS.
    pub(super) classes: [Option<Class>; 2],
    pub(super) barrier: bool,
    /// Whether the instruction writes registers when it completes.
    returns: bool,
}

impl Facts {
    const NONE: Facts = Facts { waits: None, classes: [None; 2], barrier: false, returns: false };

    fn from_words(target: &'static Target, decoder: Option<&Decoder>, words: &[u32]) -> Facts {
        let read = decoder
            .and_then(|decoder| decoder.decode(words).or_else(|_| decoder.decode_tolerant(words)).ok());
        let Some((inst, _)) = read else { return Facts::NONE };
        let effects = Effects::from_inst(target, &inst);
        Facts {
            waits: effects.kinds.contains(Kinds::WAIT).then_some(effects.waits),
            classes: effects.classes.done,
            barrier: effects.kinds.contains(Kinds::BARRIER),
            returns: (effects.returns || effects.kinds.contains(Kinds::DS)) && !effects.writes.is_empty(),
        }
    }
}

/// How an instruction accesses a cell (dword).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Manner {
    Read,
    /// A load with `glc`, which bypasses the first-level cache. Programs read flags of other waves with such
    /// loads.
    SyncRead,
    Write,
    Atomic,
    /// An atomic that returns the old value.
    Exchange,
}

impl Manner {
    pub(super) fn writes(self) -> bool {
        !matches!(self, Manner::Read | Manner::SyncRead)
    }

    pub(super) fn is_atomic(self) -> bool {
        matches!(self, Manner::Atomic | Manner::Exchange)
    }

    pub(super) fn acquires(self) -> bool {
        matches!(self, Manner::SyncRead | Manner::Exchange)
    }
}

/// One access of an instruction to a dword.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// Number of the accessed cell (dword). While the log is recorded, the number is a quarter of the
    /// address. For LDS, the number also contains the group, and has bit 63 set.
    pub(super) cell: u64,
    pub(super) manner: Manner,
    /// Mask of the accessed bytes.
    pub(super) mask: u8,
    pub(super) scalar: bool,
    pub(super) lds: bool,
    /// Whether the access is a load that bypasses GL1 (bit `dlc`).
    pub(super) dlc: bool,
    /// The stored value; `None` if lanes store different values.
    pub(super) value: Option<u32>,
}

/// Kind of an event of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Memory,
    Wait,
    Barrier,
    Cache(CacheOp),
    End,
}

/// One executed instruction of a wave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) wave: u32,
    pub(super) place: (u32, u32),
    pub(super) what: What,
    /// Index of the first touch of this event. A touch is the access to one dword. The touches of an event
    /// end where those of the next event begin.
    pub(super) first: u32,
    /// Whether the instruction accessed LDS. The next field is the same for memory or scratch.
    pub(super) lds: bool,
    pub(super) memory: bool,
}

/// The log while it is being recorded.
pub(crate) struct Recorder {
    facts: Vec<Vec<OnceLock<Facts>>>,
    target: &'static Target,
    decoder: Option<Decoder>,
    raw: Mutex<Raw>,
}

#[derive(Default)]
struct Raw {
    waves: HashMap<([u32; 3], u32), u32>,
    groups: HashMap<[u32; 3], u32>,
    list: Vec<Wave>,
    events: Vec<Event>,
    touches: Vec<Touch>,
    /// Index of the first touch of the current instruction. A touch is the access to one dword.
    open: usize,
    lds: bool,
    memory: bool,
    cache: Option<CacheOp>,
}

const LDS: u64 = 1 << 63;

impl Recorder {
    pub(crate) fn new(target: &'static Target, code: &[Code]) -> Recorder {
        Recorder {
            facts: code.iter().map(|code| code.ops.iter().map(|_| OnceLock::new()).collect()).collect(),
            target,
            decoder: Decoder::new(target),
            raw: Mutex::default(),
        }
    }

    fn raw(&self) -> MutexGuard<'_, Raw> {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the numbers of a wave and of its group.
    pub(crate) fn wave(&self, group: [u32; 3], wave: u32) -> (u32, u32) {
        let raw = &mut *self.raw();
        let groups = raw.groups.len() as u32;
        let group_number = *raw.groups.entry(group).or_insert(groups);
        let number = *raw.waves.entry((group, wave)).or_insert_with(|| {
            raw.list.push(Wave { group: group_number });
            raw.list.len() as u32 - 1
        });
        (number, group_number)
    }

    pub(crate) fn access(&self, group: u32, access: &MemAccess, value: u32) {
        let raw = &mut *self.raw();
        let lds = access.space == Space::Lds;
        *(if lds { &mut raw.lds } else { &mut raw.memory }) = true;
        if access.space == Space::Scratch {
            return;
        }
        let glc = access.flags.contains(ModFlags::GLC);
        let manner = match access.kind {
            Access::Read if glc && !access.scalar => Manner::SyncRead,
            Access::Read => Manner::Read,
            Access::Write => Manner::Write,
            Access::Atomic => Manner::Atomic,
        };
        let shift = access.address % 4;
        let mask = ((1u32 << access.bytes) - 1) << shift;
        let data = u64::from(value) << (8 * shift);
        for part in 0..3 {
            let (mask, value) =
                ((mask >> (4 * part) & 15) as u8, (data.checked_shr(32 * part).unwrap_or(0)) as u32);
            if mask != 0 {
                let base = if lds { LDS | u64::from(group) << 32 } else { 0 };
                raw.touches.push(Touch {
                    cell: base | (access.address / 4 + u64::from(part)),
                    manner,
                    mask,
                    scalar: access.scalar,
                    lds,
                    dlc: access.flags.contains(ModFlags::DLC),
                    value: (manner == Manner::Write).then_some(value),
                });
            }
        }
    }

    pub(crate) fn cache(&self, operation: CacheOp) {
        self.raw().cache = Some(operation);
    }

    /// Called after each instruction. Adds an event to the log if the instruction matters for the order of
    /// memory.
    pub(crate) fn after(&self, wave: u32, cx: &Cx<'_>, flow: Flow) {
        let place = (cx.wave.range, cx.wave.last);
        let Some(facts) = self.facts.get(place.0 as usize).and_then(|facts| facts.get(place.1 as usize))
        else {
            return;
        };
        let facts = facts.get_or_init(|| {
            let words = cx.code[place.0 as usize].words.get(place.1 as usize..).unwrap_or(&[]);
            Facts::from_words(self.target, self.decoder.as_ref(), words)
        });
        let raw = &mut *self.raw();
        let what = match raw.cache.take() {
            Some(operation) => What::Cache(operation),
            None if flow == Flow::End => What::End,
            None if facts.waits.is_some() => What::Wait,
            None if facts.barrier => What::Barrier,
            None if facts.classes[0].is_some() || raw.lds || raw.memory => What::Memory,
            None => return,
        };
        raw.close(facts.returns);
        let (first, lds, memory) = (raw.open as u32, raw.lds, raw.memory);
        raw.events.push(Event { wave, place, what, first, lds, memory });
        raw.open = raw.touches.len();
        (raw.lds, raw.memory) = (false, false);
    }

    /// Returns the log of a dispatch that has ended.
    pub(crate) fn finish(self, launch: &Launch<'_>) -> Log {
        let Recorder { facts, target, raw, .. } = self;
        let raw = raw.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut log = Log {
            facts: facts
                .into_iter()
                .map(|range| {
                    range.into_iter().map(|facts| facts.into_inner().unwrap_or(Facts::NONE)).collect()
                })
                .collect(),
            bases: launch.code.iter().map(|code| code.file_base).collect(),
            groups: raw.groups.len(),
            waves: raw.list,
            split: target.arch.device.workgroup_processors && launch.kernel.descriptor.wgp_mode(),
            gl1: target.arch.emulation.caches.gl1,
            events: raw.events,
            touches: raw.touches,
            acquired: Vec::new(),
            base: OnceLock::new(),
            text: Text::new(target, launch.code, launch.entry),
        };
        log.keep_shared();
        log
    }
}

impl Raw {
    /// Completes the touches of an instruction. A touch is the access to one dword. If several lanes have
    /// accessed one dword in the same manner, their touches are merged into one.
    fn close(&mut self, returns: bool) {
        let mut mine = self.touches.split_off(self.open);
        for touch in mine.iter_mut().filter(|touch| returns && touch.manner == Manner::Atomic) {
            touch.manner = Manner::Exchange;
        }
        mine.sort_by_key(|touch| (touch.cell, touch.manner));
        for touch in mine {
            match self.touches[self.open..].last_mut() {
                Some(last) if (last.cell, last.manner) == (touch.cell, touch.manner) => last.join(&touch),
                _ => self.touches.push(touch),
            }
        }
    }
}

/// Expands a mask of bytes to a mask of bits.
pub(super) fn bits(mask: u8) -> u32 {
    (0..4).fold(0, |bits, byte| bits | if mask >> byte & 1 != 0 { 0xff << (8 * byte) } else { 0 })
}

impl Touch {
    /// Returns whether two stores to a dword write the same values to the bytes that both stores write.
    /// `mask` selects these bytes.
    pub(super) fn agrees(mask: u8, one: Option<u32>, two: Option<u32>) -> bool {
        matches!((one, two), (Some(one), Some(two)) if (one ^ two) & bits(mask) == 0)
    }

    fn join(&mut self, other: &Touch) {
        let agree = Touch::agrees(self.mask & other.mask, self.value, other.value);
        let (mine, theirs) = (bits(self.mask), bits(other.mask));
        self.value =
            self.value.zip(other.value).filter(|_| agree).map(|(one, two)| one & mine | two & theirs);
        self.mask |= other.mask;
    }
}

/// Which waves access a cell (dword), and how.
struct Users {
    wave: u32,
    /// Whether accesses to the cell may have to be ordered. This is so if several waves access the cell, or
    /// if both scalar and vector instructions do.
    several: bool,
    scalar: bool,
    written: bool,
    acquired: bool,
}

impl Log {
    /// Removes the touches that cannot take part in a clash, and numbers the remaining cells. A touch is the
    /// access to one dword (cell). It cannot clash if no instruction writes the cell, or if only one wave
    /// uses the cell.
    fn keep_shared(&mut self) {
        let mut users: HashMap<u64, Users> = HashMap::new();
        self.for_each_touch(|wave, touch| {
            let user = users.entry(touch.cell).or_insert(Users {
                wave,
                several: false,
                scalar: touch.scalar,
                written: false,
                acquired: false,
            });
            user.several |= user.wave != wave || user.scalar != touch.scalar;
            user.written |= touch.manner.writes();
            user.acquired |= touch.manner.acquires();
        });
        let mut numbers: HashMap<u64, u64> = HashMap::new();
        let mut kept = Vec::new();
        for at in 0..self.events.len() {
            let (first, last) = self.range(at);
            self.events[at].first = kept.len() as u32;
            for touch in &self.touches[first..last] {
                let Some(user) = users.get(&touch.cell).filter(|user| user.several && user.written) else {
                    continue;
                };
                let next = numbers.len() as u64;
                let cell = *numbers.entry(touch.cell).or_insert(next);
                if cell == next {
                    self.acquired.push(user.acquired);
                }
                kept.push(Touch { cell, ..*touch });
            }
        }
        self.touches = kept;
    }

    fn for_each_touch(&self, mut each: impl FnMut(u32, &Touch)) {
        for (at, event) in self.events.iter().enumerate() {
            let (first, last) = self.range(at);
            self.touches[first..last].iter().for_each(|touch| each(event.wave, touch));
        }
    }

    /// Returns the range of indices of an event's touches. A touch is the access to one dword.
    pub(super) fn range(&self, at: usize) -> (usize, usize) {
        let next = self.events.get(at + 1).map_or(self.touches.len(), |next| next.first as usize);
        (self.events[at].first as usize, next)
    }
}
