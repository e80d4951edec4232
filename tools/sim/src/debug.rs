//! A debugger's way into a dispatch: it is asked before each instruction of each wave, sees all that the wave has, and says whether to
//! go on.
//!
//! A dispatch with a debugger runs on one thread, so that its instructions come in the same order each time: whoever counts them can
//! get to the same place again.

use crate::exec::{Cx, Flow};
use crate::fault::{Fault, Location, Trap};
use crate::flight::{InFlight, Operation};
use crate::group::fault;
use crate::launch::Launch;
use crate::memory::Memory;
use crate::op::Op;
use crate::strict::Report;
use crate::watch::{CacheOp, MemAccess, OutOfRange, Watch};
use crate::wave::{Lanes, PRIVATE_APERTURE, SHARED_APERTURE, Wave, WaveState};
use crate::write::Write;
use isa::{ModFlags, Target};
use std::fmt;

/// Whether a dispatch goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// It does.
    On,
    /// It ends here.
    End,
    /// What [`Debugger::writes`] has is written, and the debugger is asked again: in front of an instruction, where [`Stopped::takes_writes`].
    Write,
}

/// Who is asked.
pub trait Debugger: Sync {
    /// A wave is about to execute an instruction.
    fn before(&self, at: &Stopped<'_>) -> Go;

    /// What is to be written where it has asked for that.
    fn writes(&self) -> Vec<Write> {
        Vec::new()
    }

    /// It is written; the wave stands in front of the same instruction.
    fn written(&self, at: &Stopped<'_>) -> Go {
        let _ = at;
        Go::On
    }

    /// Strict mode has found something wrong with the instruction that a wave has just executed. The dispatch ends soon.
    fn found(&self, at: &Stopped<'_>, what: &Report) -> Go;

    /// An instruction has not come off well: the dispatch ends.
    fn trapped(&self, at: &Stopped<'_>, why: &Fault);

    /// The schedule of weak mode has done something that no instruction asks for now: in words, with the wave that it concerns.
    fn chosen(&self, at: &Stopped<'_>, what: &str) -> Go {
        let _ = (at, what);
        Go::On
    }
}

impl fmt::Debug for dyn Debugger + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Debugger")
    }
}

/// Where a flat address leads: which memory, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flat {
    /// An address of global memory.
    Global(u64),
    /// Bytes from the beginning of the group's LDS.
    Lds(u64),
    /// Bytes from the beginning of the lane's private memory.
    Private(u64),
}

impl Flat {
    /// That of an address.
    pub fn of(address: u64) -> Flat {
        let low = u64::from(address as u32);
        match (address >> 32) as u32 {
            SHARED_APERTURE => Flat::Lds(low),
            PRIVATE_APERTURE => Flat::Private(low),
            _ => Flat::Global(address),
        }
    }

    /// The flat address that leads there.
    pub fn address(self) -> u64 {
        let within = |aperture: u32, low: u64| u64::from(aperture) << 32 | u64::from(low as u32);
        match self {
            Flat::Global(address) => address,
            Flat::Lds(offset) => within(SHARED_APERTURE, offset),
            Flat::Private(offset) => within(PRIVATE_APERTURE, offset),
        }
    }
}

/// The waves of a group around the one that runs.
#[derive(Clone, Copy)]
pub(crate) struct Others<'a> {
    pub(crate) before: &'a [Wave],
    pub(crate) behind: &'a [Wave],
}

/// A dword that a wave has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dword {
    /// A scalar register by its code.
    Scalar(u16),
    /// A VGPR and a lane; accumulation VGPRs are from 256 on.
    Vector(u16, u32),
    /// A dword of the group's LDS.
    Lds(usize),
    /// A lane and a dword of its private memory.
    Private(u32, usize),
    /// A dword of the wave's private memory as it lies in memory.
    Scratch(usize),
}

impl Dword {
    /// The same, with private memory as it lies in memory.
    fn in_memory(self, lanes: u32) -> Dword {
        match self {
            Dword::Private(lane, number) => {
                Dword::Scratch(number.saturating_mul(lanes as usize).saturating_add(lane as usize))
            }
            dword => dword,
        }
    }
}

/// What a run knows beside the wave that has stopped.
pub(crate) trait Surroundings {
    /// Another wave of the group.
    fn wave(&self, number: u32) -> Option<&Wave>;

    /// What a wave of the group has under way.
    fn in_flight(&self, wave: u32) -> Option<InFlight>;

    /// Bits of a dword that nothing has written; none where no account of that is kept.
    fn undefined(&self, wave: u32, dword: Dword) -> u32 {
        let _ = (wave, dword);
        0
    }

    /// Whether registers and memory can be written here.
    fn takes_writes(&self) -> bool {
        false
    }
}

/// The registers of a wave as they were at an instruction.
pub struct Registers {
    wave: Wave,
    next: u32,
}

/// A wave at an instruction that it has not executed yet.
pub struct Stopped<'a> {
    wave: &'a Wave,
    /// The instruction, by its number in the code.
    next: u32,
    /// The wave that has stopped, and its instruction.
    running: (&'a Wave, u32),
    scratch: &'a [u32],
    around: &'a dyn Surroundings,
    /// Whether this is another instruction than the wave stands at.
    is_earlier: bool,
    lds: &'a [u32],
    lds_bytes: u32,
    group: [u32; 3],
    launch: &'a Launch<'a>,
}

impl<'a> Stopped<'a> {
    /// A wave of a group at an instruction.
    pub(crate) fn new(
        (wave, next): (&'a Wave, u32),
        (lds, lds_bytes): (&'a [u32], u32),
        group: [u32; 3],
        launch: &'a Launch<'a>,
        around: &'a dyn Surroundings,
    ) -> Stopped<'a> {
        let scratch = &wave.scratch;
        let running = (wave, next);
        Stopped { wave, next, running, scratch, around, is_earlier: false, lds, lds_bytes, group, launch }
    }

    /// A wave of the same group where it will go on, by its number; the wave that runs is one of them. None if it has ended.
    pub fn wave_of_group(&self, number: u32) -> Option<Stopped<'a>> {
        let (running, next) = self.running;
        let (wave, next) = match running.id == number {
            true => (running, next),
            false => self.around.wave(number).map(|wave| (wave, wave.pc))?,
        };
        let is_there = wave.state != WaveState::Done;
        is_there.then_some(Stopped { wave, next, scratch: &wave.scratch, is_earlier: false, ..*self })
    }

    /// The registers, to be looked at later.
    pub fn registers(&self) -> Registers {
        Registers { wave: self.wave.without_scratch(), next: self.next }
    }

    /// The wave with registers that it had at another instruction, and memory as it is. What is under way is not known there.
    pub fn with_registers<'b>(&self, registers: &'b Registers) -> Stopped<'b>
    where
        'a: 'b,
    {
        Stopped { wave: &registers.wave, next: registers.next, is_earlier: true, ..*self }
    }

    /// The processor, with the size of this wave.
    pub fn target(&self) -> &'static Target {
        self.launch.target.target
    }

    /// The work-group.
    pub fn group(&self) -> [u32; 3] {
        self.group
    }

    /// The wave's number in its group.
    pub fn wave(&self) -> u32 {
        self.wave.id
    }

    /// Waves of the group.
    pub fn waves(&self) -> u32 {
        self.wave.group_waves
    }

    /// Lanes of the wave: 32 or 64.
    pub fn lanes(&self) -> u32 {
        self.wave.lanes
    }

    /// The address of the instruction in the file.
    pub fn address(&self) -> u64 {
        self.launch
            .code
            .get(self.wave.range as usize)
            .map_or(0, |code| code.file_base + u64::from(self.next) * 4)
    }

    /// Where the file's address 0 is in memory.
    pub fn base(&self) -> u64 {
        self.launch
            .code
            .get(self.wave.range as usize)
            .map_or(0, |code| code.base.wrapping_sub(code.file_base))
    }

    /// Bytes of the instruction.
    pub fn length(&self) -> u64 {
        let code = self.launch.code.get(self.wave.range as usize);
        code.and_then(|code| code.ops.get(self.next as usize)).map_or(4, |op| 4 * u64::from(op.len))
    }

    /// The instruction.
    pub fn text(&self) -> String {
        let code = self.launch.code.get(self.wave.range as usize);
        code.map_or_else(String::new, |code| code.text(self.target(), self.next))
    }

    /// The instruction at an address of the file, and its bytes.
    pub fn text_at(&self, address: u64) -> Option<(String, u64)> {
        self.launch.code.iter().find_map(|code| {
            let at = address.checked_sub(code.file_base)? / 4;
            let op = code.ops.get(usize::try_from(at).ok()?)?;
            Some((code.text(self.target(), at as u32), 4 * u64::from(op.len)))
        })
    }

    /// Whether registers and memory can be written here: not in weak mode.
    pub fn takes_writes(&self) -> bool {
        !self.is_earlier && self.around.takes_writes()
    }

    /// What is under way here, if somebody keeps account of it: strict mode does.
    pub fn in_flight(&self) -> Option<InFlight> {
        if self.is_earlier { None } else { self.around.in_flight(self.wave.id) }
    }

    /// The bits of a dword that nothing has written: strict mode knows them. Of registers at an earlier instruction they are not known.
    pub fn undefined(&self, dword: Dword) -> u32 {
        let is_register = matches!(dword, Dword::Scalar(_) | Dword::Vector(..));
        match self.is_earlier && is_register {
            true => 0,
            false => self.around.undefined(self.wave.id, dword.in_memory(self.wave.lanes)),
        }
    }

    /// The address in the file of a memory operation's instruction; none if it is one of a caller's.
    pub fn address_of(&self, operation: &Operation) -> Option<u64> {
        let (range, index) = operation.at?;
        Some(self.launch.code.get(range as usize)?.file_base + 4 * u64::from(index))
    }

    /// Where it is, with its place in the source.
    pub fn location(&self, lane: Option<u32>) -> Location {
        self.launch.location(self.wave.range, self.next, self.group, self.wave.id, lane)
    }

    /// Work-items of the grid, by dimension.
    pub fn grid(&self) -> [u32; 3] {
        self.launch.grid
    }

    /// The group, the wave of it and the lane that a work-item has, by its global id; none if the grid does not have the work-item.
    pub fn place_of_item(&self, item: [u32; 3]) -> Option<([u32; 3], u32, u32)> {
        self.launch.place_of_item(item)
    }

    /// Lanes that are active.
    pub fn exec(&self) -> u64 {
        self.wave.exec()
    }

    /// Lanes that have a work-item: those that were active when the wave began.
    pub fn launched(&self) -> u64 {
        self.launch.launched(self.group, self.wave.id)
    }

    /// A scalar register by its code: 0 to 105 are `s0` to `s105`, 106 and 107 VCC, 124 M0, 126 and 127 EXEC.
    pub fn scalar(&self, code: u16) -> Option<u32> {
        self.wave.sgpr.get(usize::from(code)).copied().filter(|_| code < 128)
    }

    /// A VGPR: a dword of each lane. Accumulation VGPRs are from 256 on.
    pub fn vector(&self, number: u16) -> Option<&[u32; 64]> {
        self.wave.vgpr.get(usize::from(number))
    }

    /// How many scalar registers, vector registers and accumulation registers it has.
    pub fn register_counts(&self) -> [u16; 3] {
        [self.wave.sgprs, self.wave.vgprs, self.wave.agprs]
    }

    /// Bytes of the group's LDS.
    pub fn lds_bytes(&self) -> u64 {
        self.lds_bytes.into()
    }

    /// Bytes of a lane's private memory.
    pub fn private_bytes(&self) -> u64 {
        self.wave.scratch.len() as u64 * 4 / u64::from(self.wave.lanes.max(1))
    }

    /// SCC.
    pub fn scc(&self) -> bool {
        self.wave.scc
    }

    /// The MODE register.
    pub fn mode(&self) -> u32 {
        self.wave.mode()
    }

    /// Reads memory. Whether it is all there.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        self.launch.memory.read(address, bytes)
    }

    /// Reads what a flat address of a lane leads to. Whether it is all there.
    pub fn read_flat(&self, lane: u32, address: u64, bytes: &mut [u8]) -> bool {
        match Flat::of(address) {
            Flat::Global(address) => self.read(address, bytes),
            Flat::Lds(offset) => self.read_lds(offset, bytes),
            Flat::Private(offset) => self.read_private(lane, offset, bytes),
        }
    }

    /// Reads the group's LDS. Whether it is all there.
    pub fn read_lds(&self, address: u64, bytes: &mut [u8]) -> bool {
        let end = address.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > u64::from(self.lds_bytes)) {
            return false;
        }
        for (at, byte) in (address as usize..).zip(bytes) {
            *byte = self.lds[at / 4].to_le_bytes()[at % 4];
        }
        true
    }

    /// Reads the wave's private memory as it lies in memory. Whether it is all there.
    pub fn read_scratch(&self, address: u64, bytes: &mut [u8]) -> bool {
        if address.checked_add(bytes.len() as u64).is_none() {
            return false;
        }
        for (at, byte) in (address as usize..).zip(bytes) {
            let Some(dword) = self.scratch.get(at / 4) else { return false };
            *byte = dword.to_le_bytes()[at % 4];
        }
        true
    }

    /// Reads the private memory of a lane: byte `n` of what scratch instructions reach at `n`. Whether it is all there.
    pub fn read_private(&self, lane: u32, address: u64, bytes: &mut [u8]) -> bool {
        if address.checked_add(bytes.len() as u64).is_none() {
            return false;
        }
        let lanes = self.wave.lanes as usize;
        let (mut at, mut rest) = (address as usize, bytes);
        while !rest.is_empty() {
            let place = (at / 4).checked_mul(lanes).and_then(|place| place.checked_add(lane as usize));
            let Some(dword) = place.and_then(|place| self.scratch.get(place)) else { return false };
            let own = &dword.to_le_bytes()[at % 4..];
            let (bytes, behind) = rest.split_at_mut(own.len().min(rest.len()));
            bytes.copy_from_slice(&own[..bytes.len()]);
            at += bytes.len();
            rest = behind;
        }
        true
    }
}

/// A debugger's view of one wave, around whoever else watches it.
pub(crate) struct Debugging<'a> {
    pub(crate) debugger: &'a (dyn Debugger + 'a),
    pub(crate) group: [u32; 3],
    pub(crate) launch: &'a Launch<'a>,
    pub(crate) others: Others<'a>,
    pub(crate) inner: Option<&'a mut dyn Watch>,
}

impl Debugging<'_> {
    fn stopped<'s>(&'s self, cx: &'s Cx<'_>) -> Stopped<'s> {
        Stopped::new((cx.wave, cx.wave.last), (cx.lds, cx.lds_bytes), self.group, self.launch, self)
    }

    fn trapped(&self, cx: &Cx<'_>, trap: Trap) {
        let at = self.stopped(cx);
        let why = fault(trap, self.launch, cx.wave, |lane| Box::new(at.location(lane)));
        self.debugger.trapped(&at, &why);
    }
}

impl Surroundings for Debugging<'_> {
    fn wave(&self, number: u32) -> Option<&Wave> {
        let Others { before, behind } = self.others;
        before.iter().chain(behind).find(|wave| wave.id == number)
    }

    fn in_flight(&self, wave: u32) -> Option<InFlight> {
        self.inner.as_ref()?.in_flight(wave)
    }

    fn takes_writes(&self) -> bool {
        true
    }

    fn undefined(&self, wave: u32, dword: Dword) -> u32 {
        self.inner.as_ref().map_or(0, |inner| inner.undefined(wave, dword))
    }
}

impl Watch for Debugging<'_> {
    fn before(&mut self, cx: &mut Cx<'_>, op: &Op) -> Result<(), Trap> {
        let mut go = self.debugger.before(&self.stopped(cx));
        while go == Go::Write {
            for write in self.debugger.writes() {
                write.apply(cx);
                let wave = (cx.wave.id, cx.wave.lanes);
                let inner = self.inner.as_mut();
                if let Some(inner) = inner {
                    write
                        .dwords()
                        .for_each(|(dword, bits)| inner.define(wave.0, dword.in_memory(wave.1), bits));
                }
            }
            go = self.debugger.written(&self.stopped(cx));
        }
        if go == Go::End {
            return Err(Trap::Watched);
        }
        self.inner.as_mut().map_or(Ok(()), |inner| inner.before(cx, op))
    }

    fn after(&mut self, cx: &mut Cx<'_>, op: &Op, flow: Flow) -> Result<(), Trap> {
        let done = self.inner.as_mut().map_or(Ok(()), |inner| inner.after(cx, op, flow));
        if let Some(what) = self.inner.as_ref().and_then(|inner| inner.found(self.launch)) {
            let go = self.debugger.found(&self.stopped(cx), &what);
            return if go == Go::End { Err(Trap::Watched) } else { done };
        }
        match done {
            Err(trap) => self.trapped(cx, trap),
            Ok(()) if flow == Flow::Trap => self.trapped(cx, cx.trap.unwrap_or(Trap::Unsupported)),
            Ok(()) => {}
        }
        done
    }

    fn read(&mut self, memory: &Memory, access: &MemAccess) -> Result<Option<u32>, Trap> {
        self.inner.as_mut().map_or(Ok(None), |inner| inner.read(memory, access))
    }

    fn read_lds(&mut self, addresses: &[u32; 64], exec: u64, offsets: &[u32]) -> bool {
        self.inner.as_mut().is_none_or(|inner| inner.read_lds(addresses, exec, offsets))
    }

    fn read_memory(&mut self, addresses: &[u64; 64], exec: u64, dwords: u32, flags: ModFlags) -> bool {
        self.inner.as_mut().is_none_or(|inner| inner.read_memory(addresses, exec, dwords, flags))
    }

    fn write_memory(
        &mut self,
        memory: &Memory,
        addresses: &[u64; 64],
        exec: u64,
        data: &[Lanes],
        flags: ModFlags,
    ) -> bool {
        self.inner.as_mut().is_none_or(|inner| inner.write_memory(memory, addresses, exec, data, flags))
    }

    fn write_lds(&mut self, addresses: &Lanes, exec: u64, offset: u32, data: &[Lanes]) -> bool {
        self.inner.as_mut().is_none_or(|inner| inner.write_lds(addresses, exec, offset, data))
    }

    fn write(&mut self, memory: &Memory, access: &MemAccess, value: u32) -> Result<bool, Trap> {
        self.inner.as_mut().map_or(Ok(false), |inner| inner.write(memory, access, value))
    }

    fn atomic(&mut self, memory: &Memory, access: &MemAccess) -> Result<(), Trap> {
        self.inner.as_mut().map_or(Ok(()), |inner| inner.atomic(memory, access))
    }

    fn out_of_range(&mut self, memory: &Memory, access: &OutOfRange) -> Result<(), Trap> {
        self.inner.as_mut().map_or(Ok(()), |inner| inner.out_of_range(memory, access))
    }

    fn limited(&mut self, access: &MemAccess) -> Result<(), Trap> {
        self.inner.as_mut().map_or(Ok(()), |inner| inner.limited(access))
    }

    fn cache(&mut self, memory: &Memory, operation: CacheOp) -> Result<(), Trap> {
        self.inner.as_mut().map_or(Ok(()), |inner| inner.cache(memory, operation))
    }
}
