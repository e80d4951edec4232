//! Strict mode's checks of memory instructions. They find wrong addresses and undefined data, and track which
//! bits of LDS and scratch are undefined.

use super::calls::Rules;
use super::cells::Stamp;
use super::defined::Origin;
use super::findings::{scalar_name, vector_name};
use super::touch::{Class, Memory as Kind, Part, Touch};
use super::{FaultClass, Watcher};
use crate::exec::Cx;
use crate::watch::{MemAccess, Space};
use crate::wave::reg;
use check::Level;
use isa::{FlatScratch, Setting};

/// Number that scalar accesses have in place of a lane number.
pub(super) const SCALAR: u32 = u32::MAX;

impl Watcher<'_> {
    pub(super) fn before_memory(&mut self, cx: &Cx<'_>, touch: &Touch) {
        let exec = cx.wave.exec();
        let now = &mut self.group.now;
        let wave = &mut self.group.waves[now.wave];
        now.number = wave.order.flight.issue(touch.queues);
        now.m0 = cx.wave.sgpr[reg::M0];
        now.changes = cx.wave.changes;
        now.cursor = [0; 64];
        now.first_read = None;
        now.loaded.clear();
        now.reads.clear();
        now.stamp = Stamp::new(wave.order.wave, now.number, wave.order.flight.memory_done(), 15)
            .transfer(touch.queues.transfer);
        now.ordered = Stamp::default();
        now.stored.clear();
        now.exec = exec;
        let is_atomic =
            touch.class == Class::Memory(Kind::Atomic) || touch.glc || self.shared.marks.has(now.place);
        wave.together.issue(now.number, exec, is_atomic);
        let scalar = touch.address.as_slice().is_empty() && touch.reads.as_slice().is_empty() && !touch.lds;
        now.data_defined = wave.defined.undefined_vector(&touch.reads, exec).is_none();
        if exec == 0 && !scalar {
            return;
        }
        let undefined_scalar = wave.defined.undefined_scalar(touch.scalar_address);
        let undefined_vector = wave.defined.undefined_vector(&touch.address, exec);
        let undefined_data = wave.defined.undefined_scalar(touch.scalar_reads);
        if let Some(code) = undefined_scalar {
            self.undefined_address(scalar_name(code), None);
        } else if let Some((register, lane)) = undefined_vector {
            self.undefined_address(vector_name(register), Some(lane));
        } else if let Some(code) = undefined_data {
            self.undefined_store(&scalar_name(code), None);
        }
    }

    #[cold]
    fn undefined_address(&mut self, register: String, lane: Option<u32>) {
        let (rule, message) = match register.as_str() {
            "m0" => {
                ("uninitialised-m0", "the access depends on m0, which nothing has initialised".to_owned())
            }
            _ => (
                "uninitialised-address",
                format!("the address depends on {register}, which nothing has initialised"),
            ),
        };
        let mut finding = self.finding(FaultClass::Uninitialised, rule, message);
        finding.label = format!("uses {register}");
        finding.lane = lane;
        self.report_undefined(finding, lane.map_or(0, |lane| 1 << lane));
    }

    #[cold]
    fn undefined_store(&mut self, register: &str, lane: Option<u32>) {
        let message = format!("{register}, which nothing has initialised, is stored to global memory");
        let mut finding = self.finding(FaultClass::Uninitialised, "uninitialised-store", message);
        finding.label = format!("stores {register}");
        finding.lane = lane;
        self.report_undefined(finding, lane.map_or(0, |lane| 1 << lane));
    }

    /// Checks that an access is aligned, and that M0 and FLAT_SCRATCH have been set up as the access needs.
    #[inline]
    pub(super) fn check_access(&mut self, access: &MemAccess) {
        let Some(touch) = self.touch else { return };
        match access.space {
            Space::Lds if self.shared.target.arch.addressing.lds_needs_m0 => self.check_old_lds(access),
            Space::Scratch if touch.flat_scratch => self.check_flat_scratch(),
            Space::Global if !self.shared.target.arch.addressing.unaligned => {
                let aligned = access.bytes.min(4);
                if !access.address.is_multiple_of(aligned.into()) {
                    self.misaligned(access, aligned);
                }
            }
            _ => {}
        }
    }

    /// Checks an access to LDS on GFX6 to GFX8. On these processors, addresses beyond the limit in M0 are out
    /// of range, and wide accesses must be fully aligned.
    fn check_old_lds(&mut self, access: &MemAccess) {
        let wave = &self.group.waves[self.group.now.wave];
        if wave.defined.undefined_scalar(1 << reg::M0).is_some() {
            let message =
                "LDS is accessed, but m0 was never set: on GFX6 to GFX8 it bounds the addresses".into();
            let mut finding = self.finding(FaultClass::Uninitialised, "lds-without-m0", message);
            finding.label = "needs m0".into();
            finding.fix = Some("`s_mov_b32 m0, -1` before the first access".into());
            self.report(finding);
            return;
        }
        let m0 = self.group.now.m0;
        if access.address + u64::from(access.bytes) > u64::from(m0 & 0x1ffff) && m0 != u32::MAX {
            let message = format!("LDS address {:#x} is not below the limit in m0, {m0:#x}", access.address);
            let mut finding = self.finding(FaultClass::Fault, "lds-beyond-m0", message);
            finding.label = "loads zero, or stores nothing".into();
            finding.lane = lane_of(access);
            self.report(finding);
        }
    }

    #[cold]
    fn misaligned(&mut self, access: &MemAccess, align: u32) {
        let element = self.shared.names.describe(access.address, access.bytes);
        let element = element.map_or(String::new(), |element| format!(", {element},"));
        let message = format!("address {:#x}{element} is not a multiple of {align}", access.address);
        let mut finding = self.finding(FaultClass::Fault, "misaligned", message);
        finding.label = "needs alignment on this processor".into();
        finding.lane = lane_of(access);
        self.report(finding);
    }

    /// Reports a load whose destination registers overlap its own address registers. With XNACK, the hardware
    /// executes a load again after a page fault. A part of the load may already have overwritten the address
    /// then, so that the second execution reads from a wrong address.
    #[cold]
    fn replayed_address(&mut self, address: u64) {
        let is_open = self.shared.reading.program.code.xnack() == Setting::Any;
        let level = if is_open { Level::Manual } else { Level::Certain };
        if level < self.shared.level {
            return;
        }
        let message = format!(
            "a load of {address:#x}, no multiple of its size, overwrites its own address, though XNACK may replay a part of it"
        );
        let mut finding = self.finding(FaultClass::Hazard, "xnack-own-address", message);
        finding.level = level;
        finding.label = "overwrites its address".into();
        finding.fix = Some("load to other registers".into());
        self.report(finding);
    }

    fn check_flat_scratch(&mut self) {
        let wave = &self.group.waves[self.group.now.wave];
        let arch = self.shared.target.arch;
        let missing = match (arch.addressing.flat_scratch, arch.registers.flat_scratch) {
            (FlatScratch::HardwareRegisters, _) => !wave.flat_scratch,
            (_, Some(register)) => wave.defined.undefined_scalar(3 << register.0).is_some(),
            (_, None) => false,
        };
        if missing {
            let message = "scratch is accessed through FLAT_SCRATCH, which nothing has set up".into();
            let mut finding = self.finding(FaultClass::Uninitialised, "missing-flat-scratch", message);
            finding.label = "needs FLAT_SCRATCH".into();
            finding.fix = Some(
                "add the scratch wave offset to the flat scratch init registers and move the sum to FLAT_SCRATCH"
                    .into(),
            );
            self.report(finding);
        }
    }

    /// Returns the position of an access in the data of its lane, and advances the position for the lane's
    /// next access. An instruction makes several accesses for a lane if its data has several dwords.
    fn advance(&mut self, access: &MemAccess) -> u16 {
        let Some(cursor) = self.group.now.cursor.get_mut(access.lane as usize) else { return 0 };
        let at = *cursor;
        *cursor += access.bytes as u16;
        at
    }

    /// Records which bits of the loaded memory are undefined, so that the same bits of the load's result
    /// become undefined.
    #[inline]
    pub(super) fn note_loaded(&mut self, access: &MemAccess) {
        if access.bytes == 8 {
            // An atomic of 8 bytes consists of two dwords.
            for half in 0..2 {
                self.note_loaded(&MemAccess { address: access.address + 4 * half, bytes: 4, ..*access });
            }
            return;
        }
        let at = self.advance(access);
        let now = &mut self.group.now;
        let bits = match access.space {
            Space::Lds => get_bits(&self.group.lds_bits, access),
            Space::Scratch => get_bits(&self.group.waves[now.wave].scratch, access),
            _ => 0,
        };
        if bits != 0 && access.lane != SCALAR {
            let mut origin = Origin::Load(now.place);
            if access.space == Space::Scratch {
                origin = self.group.waves[now.wave].scratch_origin(access, now.place, &self.shared.rules);
            }
            now.loaded.push((access.lane as u8, at, access.bytes as u8, bits, origin));
        }
    }

    /// Records which bits of LDS or scratch a store makes undefined or defined: a bit becomes undefined if
    /// the stored bit is undefined.
    #[inline]
    pub(super) fn note_stored(&mut self, access: &MemAccess) {
        let at = self.advance(access);
        let bits = if self.group.now.data_defined { 0 } else { self.stored_bits(access, at) };
        match access.space {
            Space::Lds => set_bits(&mut self.group.lds_bits, access, bits),
            Space::Scratch => {
                let wave = &mut self.group.waves[self.group.now.wave];
                set_bits(&mut wave.scratch, access, bits);
                if bits != 0 || !wave.lost_scratch.is_empty() {
                    self.note_lost(access, at, bits);
                }
            }
            Space::Global if bits != 0 => self.report_store(access, at),
            _ => {}
        }
    }

    fn report_store(&mut self, access: &MemAccess, at: u16) {
        let register = self.touch.and_then(|touch| touch.reads.registers().nth(usize::from(at / 4)));
        self.undefined_store(&vector_name(register.unwrap_or(0)), lane_of(access));
    }

    /// Returns a mask of the undefined bits in the part of a lane's data that one access stores. The part
    /// starts at byte `at` of the data. It has as many bytes as the access.
    #[cold]
    fn stored_bits(&self, access: &MemAccess, at: u16) -> u32 {
        let (Some(touch), true) = (self.touch, access.lane < 64) else { return 0 };
        let defined = &self.group.waves[self.group.now.wave].defined;
        let register = touch.reads.registers().nth(usize::from(at / 4)).unwrap_or(usize::MAX);
        let bits = defined.vector_bits(register, access.lane as usize);
        let shift = u32::from(at % 4) * 8 + if matches!(touch.part, Part::High { .. }) { 16 } else { 0 };
        bits >> shift.min(31) & ones(access.bytes)
    }

    /// If a store to scratch saves a register that a call has changed, records this. An error about a later
    /// load of the scratch location can then name the call.
    #[cold]
    fn note_lost(&mut self, access: &MemAccess, at: u16, bits: u32) {
        let word = (access.address / 4) as u32;
        let register = self.touch.and_then(|touch| touch.reads.registers().nth(usize::from(at / 4)));
        let wave = &mut self.group.waves[self.group.now.wave];
        let origin = register.map(|register| wave.defined.vector_origin(register)).unwrap_or_default();
        match origin {
            Origin::Call(_) if bits != 0 => _ = wave.lost_scratch.insert(word, origin),
            _ => _ = wave.lost_scratch.remove(&word),
        }
    }

    /// Tracks undefined bits through an atomic instruction. The result is undefined if the old contents of
    /// memory are undefined. Memory becomes undefined if the atomic's data operand is undefined.
    pub(super) fn note_atomic(&mut self, access: &MemAccess) {
        self.note_loaded(access);
        let now = &self.group.now;
        let lane = access.lane as usize;
        let undefined = !now.data_defined
            && lane < 64
            && self.touch.is_some_and(|touch| {
                let defined = &self.group.waves[now.wave].defined;
                touch.reads.registers().any(|register| defined.vector_bits(register, lane) != 0)
            });
        if !undefined {
            return;
        }
        match access.space {
            Space::Lds => set_bits(&mut self.group.lds_bits, access, u32::MAX),
            Space::Scratch => {
                set_bits(&mut self.group.waves[self.group.now.wave].scratch, access, u32::MAX);
            }
            Space::Global => self.report_store(access, 0),
            #[allow(unreachable_patterns)]
            _ => {}
        }
    }

    /// Updates the shadow state after a memory instruction has run. Marks the result registers as defined,
    /// except for bits that were undefined in memory. Also checks that the instruction's reads are ordered
    /// after the writes by other waves.
    pub(super) fn after_memory(&mut self, cx: &Cx<'_>, touch: &Touch, _: Kind) {
        let exec = cx.wave.exec();
        let now = &mut self.group.now;
        let defined = &mut self.group.waves[now.wave].defined;
        let keep = match touch.part {
            Part::Low { .. } => 0xffff_0000,
            Part::High { .. } => 0x0000_ffff,
            _ => 0,
        };
        if keep == 0 {
            defined.define_results(touch, exec);
        } else {
            for register in touch.writes.registers() {
                for lane in crate::wave::ActiveLanes(exec) {
                    let bits = defined.vector_bits(register, lane) & keep;
                    defined.set_vector_bits(register, lane, bits);
                }
            }
        }
        for &(lane, at, bytes, bits, origin) in &now.loaded {
            let lane = usize::from(lane);
            let Some(register) = touch.writes.registers().nth(usize::from(at / 4)) else { continue };
            let bits = spread(touch.part, bits, at, bytes);
            defined.loaded(register, origin);
            let old = defined.vector_bits(register, lane);
            defined.set_vector_bits(register, lane, old | bits);
        }
        if let Some(first) = now.first_read
            && touch.own_address != 0
            && !first.is_multiple_of(touch.own_address.into())
        {
            self.replayed_address(first);
        }
        self.note_change(cx);
        self.label_arguments(touch);
        self.order_reads(cx.memory);
        if !self.group.now.stored.is_empty() {
            self.compare_lanes(cx.memory);
        }
    }
}

impl super::WaveShadow {
    /// Returns why a load from scratch loads an undefined value, for the report.
    #[cold]
    fn scratch_origin(&mut self, access: &MemAccess, load: u32, rules: &Rules) -> Origin {
        let word = (access.address / 4) as u32;
        if let Some(&origin) = self.lost_scratch.get(&word) {
            return origin;
        }
        let byte = word / rules.lanes * 4 + access.address as u32 % 4;
        self.calls.note_unwritten(load, byte, rules.scale);
        Origin::Load(load)
    }
}

/// Returns the mask of undefined bits in the destination register of a load. `bits` is the mask of undefined
/// bits in the loaded bytes. `part` says which bits of the register the load writes. If the sign bit of the
/// loaded bytes is undefined, its copies in the register are undefined as well.
fn spread(part: Part, bits: u32, at: u16, bytes: u8) -> u32 {
    let placed = bits << (u32::from(at % 4) * 8);
    let top = 1u32 << (u32::from(bytes.clamp(1, 4)) * 8 - 1);
    let sign = bits & top != 0;
    match part {
        Part::Whole => placed,
        Part::Extended { signed: true, .. } if sign => bits | !(top - 1),
        Part::Extended { .. } => placed,
        Part::Low { signed, .. } | Part::High { signed, .. } => {
            let half = if signed && sign { bits | 0xffff & !(top - 1) } else { bits };
            if matches!(part, Part::High { .. }) { half << 16 } else { half & 0xffff }
        }
    }
}

pub(super) fn lane_of(access: &MemAccess) -> Option<u32> {
    (access.lane != SCALAR).then_some(access.lane)
}

fn ones(bytes: u32) -> u32 {
    if bytes >= 4 { u32::MAX } else { (1 << (bytes * 8)) - 1 }
}

/// Extracts from `words` the bits of the bytes that an access covers. An access covers 1 to 4 bytes at any
/// offset.
fn get_bits(words: &[u32], access: &MemAccess) -> u32 {
    let (word, shift) = ((access.address / 4) as usize, access.address % 4 * 8);
    let low = words.get(word).copied().unwrap_or(0);
    if shift == 0 {
        return low & ones(access.bytes);
    }
    let high = words.get(word + 1).copied().unwrap_or(0);
    ((u64::from(low) | u64::from(high) << 32) >> shift) as u32 & ones(access.bytes)
}

fn set_bits(words: &mut [u32], access: &MemAccess, bits: u32) {
    let (word, shift) = ((access.address / 4) as usize, access.address % 4 * 8);
    let full = if access.bytes >= 8 { u64::MAX } else { u64::from(ones(access.bytes)) };
    let mask = u128::from(full) << shift;
    let value = (u128::from(bits) | if access.bytes >= 8 { u128::from(bits) << 32 } else { 0 }) << shift;
    for part in 0..3 {
        let (mask, value) = ((mask >> (32 * part)) as u32, (value >> (32 * part)) as u32);
        if let (Some(place), true) = (words.get_mut(word + part), mask != 0) {
            *place = *place & !mask | value & mask;
        }
    }
}
