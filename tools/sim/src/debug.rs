//! Connects a debugger to a dispatch. The debugger is called before each instruction of each wave, can
//! inspect the whole state of the wave, and decides whether the dispatch continues.
//!
//! A dispatch with a debugger runs on one host thread, so that its instructions run in the same order each
//! time. A debugger that counts the instructions can therefore run the dispatch again to the same point.

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

/// The debugger's decision about how the dispatch goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// The dispatch continues.
    On,
    /// The dispatch ends here.
    End,
    /// Changes registers or memory of the stopped wave. The emulator makes the changes that
    /// [`Debugger::writes`] returns, and then calls [`Debugger::written`], which decides how the wave goes
    /// on. Only [`Debugger::before`] and [`Debugger::written`] may return this value, and only if
    /// [`Stopped::takes_writes`] returns true.
    Write,
}

/// The functions of a debugger that the emulator calls.
pub trait Debugger: Sync {
    /// Called when a wave is about to execute an instruction.
    fn before(&self, at: &Stopped<'_>) -> Go;

    /// Returns the registers and memory to change. Called after the debugger has returned [`Go::Write`].
    fn writes(&self) -> Vec<Write> {
        Vec::new()
    }

    /// Called after the emulator has made the changes. The wave has not yet executed the instruction before
    /// which it stopped.
    fn written(&self, at: &Stopped<'_>) -> Go {
        let _ = at;
        Go::On
    }

    /// Called when strict mode has found an error in the instruction that a wave has just executed. The
    /// emulator ends the dispatch soon after this call.
    fn found(&self, at: &Stopped<'_>, what: &Report) -> Go;

    /// Called when an instruction has failed. The dispatch ends.
    fn trapped(&self, at: &Stopped<'_>, why: &Fault);

    /// Called when the schedule of weak mode has taken a step that no instruction requires at this point,
    /// such as completing a load early. `what` describes the step in words. `at` is the wave that the step
    /// concerns.
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

/// A flat address, split into the kind of memory that it refers to and the position in this memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlatAddress {
    /// An address of global memory.
    Global(u64),
    /// Byte offset in the work-group's LDS.
    Lds(u64),
    /// Byte offset in the lane's private memory.
    Private(u64),
}

impl FlatAddress {
    /// Returns the kind of memory and the position that a flat address refers to.
    pub fn from_address(address: u64) -> FlatAddress {
        let low = u64::from(address as u32);
        match (address >> 32) as u32 {
            SHARED_APERTURE => FlatAddress::Lds(low),
            PRIVATE_APERTURE => FlatAddress::Private(low),
            _ => FlatAddress::Global(address),
        }
    }

    /// Returns the flat address of this position.
    pub fn address(self) -> u64 {
        let within = |aperture: u32, low: u64| u64::from(aperture) << 32 | u64::from(low as u32);
        match self {
            FlatAddress::Global(address) => address,
            FlatAddress::Lds(offset) => within(SHARED_APERTURE, offset),
            FlatAddress::Private(offset) => within(PRIVATE_APERTURE, offset),
        }
    }
}

/// The waves of a work-group other than the running wave, as two slices: the waves with lower numbers, and
/// the waves with higher numbers.
#[derive(Clone, Copy)]
pub(crate) struct Others<'a> {
    pub(crate) before: &'a [Wave],
    pub(crate) behind: &'a [Wave],
}

/// A dword of the state that belongs to a wave: in a register, LDS or private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dword {
    /// A scalar register, given by its code.
    Scalar(u16),
    /// A lane's dword of a VGPR: the number of the VGPR and the lane. Accumulation VGPRs have numbers from
    /// 256 on.
    Vector(u16, u32),
    /// A dword of the work-group's LDS, given by its index.
    Lds(usize),
    /// A dword of a lane's private memory: the lane, and the index of the dword.
    Private(u32, usize),
    /// A dword of the wave's scratch memory, by its index there. The scratch memory of a wave consists of the
    /// private memory of all its lanes, interleaved by dwords.
    Scratch(usize),
}

impl Dword {
    /// Converts a position in a lane's private memory to a position in the wave's scratch memory, where the
    /// dwords of all lanes are interleaved. Leaves dwords of other kinds unchanged.
    fn in_memory(self, lanes: u32) -> Dword {
        match self {
            Dword::Private(lane, number) => {
                Dword::Scratch(number.saturating_mul(lanes as usize).saturating_add(lane as usize))
            }
            dword => dword,
        }
    }
}

/// What a debugger can see besides the wave that has stopped.
pub(crate) trait Surroundings {
    /// Returns another wave of the work-group, given its number.
    fn wave(&self, number: u32) -> Option<&Wave>;

    /// Returns the outstanding operations of a wave of the work-group.
    fn in_flight(&self, wave: u32) -> Option<InFlight>;

    /// Returns a mask of the bits of a dword that the program has never written. Returns 0 if the mode does
    /// not track undefined bits.
    fn undefined(&self, wave: u32, dword: Dword) -> u32 {
        let _ = (wave, dword);
        0
    }

    /// Returns whether the debugger can write registers and memory here.
    fn takes_writes(&self) -> bool {
        false
    }
}

/// Registers of a wave that were saved before an instruction.
pub struct Registers {
    wave: Wave,
    next: u32,
}

/// A wave that is about to execute an instruction.
pub struct Stopped<'a> {
    wave: &'a Wave,
    /// Index of the instruction in the code.
    next: u32,
    /// The wave before whose instruction the dispatch has stopped, and the index of this instruction. The
    /// view may show another wave of the group than this one.
    running: (&'a Wave, u32),
    scratch: &'a [u32],
    around: &'a dyn Surroundings,
    /// Whether this view shows registers that the debugger saved earlier, before another instruction of the
    /// same wave.
    is_earlier: bool,
    lds: &'a [u32],
    lds_bytes: u32,
    group: [u32; 3],
    launch: &'a Launch<'a>,
}

impl<'a> Stopped<'a> {
    /// Creates the view of a wave that is about to execute instruction `next`.
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

    /// Returns a view of a wave of the same work-group, at the instruction where the wave will continue.
    /// `number` may be the number of the running wave. Returns `None` if the wave has ended.
    pub fn wave_of_group(&self, number: u32) -> Option<Stopped<'a>> {
        let (running, next) = self.running;
        let (wave, next) = match running.id == number {
            true => (running, next),
            false => self.around.wave(number).map(|wave| (wave, wave.pc))?,
        };
        let is_there = wave.state != WaveState::Done;
        is_there.then_some(Stopped { wave, next, scratch: &wave.scratch, is_earlier: false, ..*self })
    }

    /// Saves the registers for later inspection.
    pub fn registers(&self) -> Registers {
        Registers { wave: self.wave.without_scratch(), next: self.next }
    }

    /// Returns a view of the wave with registers that the debugger saved earlier, before another instruction.
    /// Memory in this view has its present contents. The outstanding operations of the earlier moment are not
    /// known.
    pub fn with_registers<'b>(&self, registers: &'b Registers) -> Stopped<'b>
    where
        'a: 'b,
    {
        Stopped { wave: &registers.wave, next: registers.next, is_earlier: true, ..*self }
    }

    /// Returns the processor, with the wave size of this wave.
    pub fn target(&self) -> &'static Target {
        self.launch.target.target
    }

    /// Returns the id of the work-group.
    pub fn group(&self) -> [u32; 3] {
        self.group
    }

    /// Returns the wave's number in its work-group.
    pub fn wave(&self) -> u32 {
        self.wave.id
    }

    /// Returns the number of waves of the work-group.
    pub fn waves(&self) -> u32 {
        self.wave.group_waves
    }

    /// Returns the number of lanes of the wave: 32 or 64.
    pub fn lanes(&self) -> u32 {
        self.wave.lanes
    }

    /// Returns how much the stack pointer counts for each byte of a lane's private memory.
    pub fn stack_scale(&self) -> u32 {
        self.launch.target.stack_scale()
    }

    /// Returns the file address of the wave's next instruction.
    pub fn address(&self) -> u64 {
        self.launch
            .code
            .get(self.wave.range as usize)
            .map_or(0, |code| code.file_base + u64::from(self.next) * 4)
    }

    /// Returns where the code object is loaded: the address in emulated memory of address 0 of the file.
    pub fn base(&self) -> u64 {
        self.launch
            .code
            .get(self.wave.range as usize)
            .map_or(0, |code| code.base.wrapping_sub(code.file_base))
    }

    /// Returns the length of the wave's next instruction in bytes.
    pub fn length(&self) -> u64 {
        let code = self.launch.code.get(self.wave.range as usize);
        code.and_then(|code| code.ops.get(self.next as usize)).map_or(4, |op| 4 * u64::from(op.len))
    }

    /// Returns the text of the wave's next instruction.
    pub fn text(&self) -> String {
        let code = self.launch.code.get(self.wave.range as usize);
        code.map_or_else(String::new, |code| code.text(self.target(), self.next))
    }

    /// Returns the text of the instruction at an address of the file, and its length in bytes.
    pub fn text_at(&self, address: u64) -> Option<(String, u64)> {
        self.launch.code.iter().find_map(|code| {
            let at = address.checked_sub(code.file_base)? / 4;
            let op = code.ops.get(usize::try_from(at).ok()?)?;
            Some((code.text(self.target(), at as u32), 4 * u64::from(op.len)))
        })
    }

    /// Returns whether the debugger can write registers and memory here. It cannot in weak mode.
    pub fn takes_writes(&self) -> bool {
        !self.is_earlier && self.around.takes_writes()
    }

    /// Returns the wave's outstanding operations. Returns `None` in modes that do not track them, such as
    /// fast mode.
    pub fn in_flight(&self) -> Option<InFlight> {
        if self.is_earlier { None } else { self.around.in_flight(self.wave.id) }
    }

    /// Returns a mask of the bits of a dword that the program has never written. Only strict mode tracks
    /// these bits. For registers that were saved at an earlier instruction they are not known, and the mask
    /// is 0.
    pub fn undefined(&self, dword: Dword) -> u32 {
        let is_register = matches!(dword, Dword::Scalar(_) | Dword::Vector(..));
        match self.is_earlier && is_register {
            true => 0,
            false => self.around.undefined(self.wave.id, dword.in_memory(self.wave.lanes)),
        }
    }

    /// Returns the file address of the instruction that started a memory operation. Returns `None` if the
    /// caller of the current function started the operation.
    pub fn address_of(&self, operation: &Operation) -> Option<u64> {
        let (range, index) = operation.at?;
        Some(self.launch.code.get(range as usize)?.file_base + 4 * u64::from(index))
    }

    /// Returns the location of the instruction, including its position in the source.
    pub fn location(&self, lane: Option<u32>) -> Location {
        self.launch.location(self.wave.range, self.next, self.group, self.wave.id, lane)
    }

    /// Returns the number of work-items of the grid, by dimension.
    pub fn grid(&self) -> [u32; 3] {
        self.launch.grid
    }

    /// Returns where a work-item runs: its work-group, the number of its wave, and its lane. `item` is the
    /// global id. Returns `None` if the work-item is outside the grid.
    pub fn place_of_item(&self, item: [u32; 3]) -> Option<([u32; 3], u32, u32)> {
        self.launch.place_of_item(item)
    }

    /// Returns the mask of active lanes.
    pub fn exec(&self) -> u64 {
        self.wave.exec()
    }

    /// Returns the mask of the lanes that have a work-item. These lanes were active when the wave began.
    pub fn launched(&self) -> u64 {
        self.launch.launched(self.group, self.wave.id)
    }

    /// Returns the value of a scalar register, given by its code. Codes 0 to 105 are `s0` to `s105`, 106 and
    /// 107 are VCC, 124 is M0, 126 and 127 are EXEC.
    pub fn scalar(&self, code: u16) -> Option<u32> {
        self.wave.sgpr.get(usize::from(code)).copied().filter(|_| code < 128)
    }

    /// Returns the values of a VGPR, one dword for each lane. Accumulation VGPRs have numbers from 256 on.
    pub fn vector(&self, number: u16) -> Option<&[u32; 64]> {
        self.wave.vgpr.get(usize::from(number))
    }

    /// Returns how many registers the wave has: scalar registers, vector registers, and accumulation
    /// registers.
    pub fn register_counts(&self) -> [u16; 3] {
        [self.wave.sgprs, self.wave.vgprs, self.wave.agprs]
    }

    /// Returns the number of bytes of the work-group's LDS.
    pub fn lds_bytes(&self) -> u64 {
        self.lds_bytes.into()
    }

    /// Returns the number of bytes of a lane's private memory.
    pub fn private_bytes(&self) -> u64 {
        self.wave.scratch.len() as u64 * 4 / u64::from(self.wave.lanes.max(1))
    }

    /// Returns the status bit SCC.
    pub fn scc(&self) -> bool {
        self.wave.scc
    }

    /// Returns the value of the MODE register.
    pub fn mode(&self) -> u32 {
        self.wave.mode()
    }

    /// Reads global memory. Returns whether all bytes exist.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        self.launch.memory.read(address, bytes)
    }

    /// Reads the memory that a lane's flat address refers to. Returns whether all bytes exist.
    pub fn read_flat(&self, lane: u32, address: u64, bytes: &mut [u8]) -> bool {
        match FlatAddress::from_address(address) {
            FlatAddress::Global(address) => self.read(address, bytes),
            FlatAddress::Lds(offset) => self.read_lds(offset, bytes),
            FlatAddress::Private(offset) => self.read_private(lane, offset, bytes),
        }
    }

    /// Reads the work-group's LDS. Returns whether all bytes exist.
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

    /// Reads the wave's private memory, in which the dwords of all lanes are interleaved. `address` is an
    /// offset in this memory. Returns whether all bytes exist.
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

    /// Reads the private memory of a lane. `address` is the byte offset that the lane's scratch instructions
    /// use. Returns whether all bytes exist.
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

/// A watcher that lets a debugger follow one wave. It passes all events on to the inner watcher (such as
/// strict mode), if there is one.
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
