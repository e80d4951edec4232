//! Writes the attributes that give the program counter of each lane of a function: `DW_AT_LLVM_lanes`,
//! `DW_AT_LLVM_active_lane` and `DW_AT_LLVM_lane_pc`.
//!
//! The program counter of a waiting lane is the place at which the lane waits. The example of LLVM's AMDGPU
//! guide (seed 000, line 1915) has one DWARF procedure for each of these places, and so has this module. The
//! procedure of a place first calls the procedure of the enclosing region, which gives the locations of the
//! lanes that wait farther away. Then it sets the locations of the lanes that wait at its own place. The
//! expression for an instruction calls the procedure of the innermost region, and then sets the location of
//! active lanes to the program counter.
//!
//! There is one difference. In the guide's example, lanes wait before the branch that they will take later;
//! here, lanes wait at the instruction where they will resume.

use super::{Unit, lists};
use crate::Function;
use crate::entries::Shape;
use crate::expression::Writer;
use crate::lanes::{Lanes, List, Mask, Place};
use crate::sections::Version;
use isa::Reg;
use objwriter::leb::unsigned;
use objwriter::operations::*;
use rustc_hash::FxHashMap;

/// Offsets of a function's location lists for the attributes `DW_AT_LLVM_active_lane` and
/// `DW_AT_LLVM_lane_pc`, as [`crate::sections::Lists::begin`] returned them.
#[derive(Clone, Copy)]
pub(super) struct Attributes {
    active_lane: u32,
    lane_pc: u32,
}

/// The DWARF procedures that have been written for a function, as offsets of their entries. `waiting` has the
/// procedures for waiting lanes, by the list of places where lanes wait. `active` has the procedures for
/// active lanes, by the register with the mask of active lanes.
#[derive(Default)]
struct Procedures {
    waiting: FxHashMap<List, u32>,
    active: FxHashMap<Option<Reg>, u32>,
}

impl Unit<'_> {
    /// Writes the DWARF procedures and location lists that say where a function's lanes are. `start` is the
    /// offset of the function's code in the unit's code. Returns the offsets of the lists, to which the lane
    /// attributes of the function refer. Returns `None` if the locations of the lanes cannot be described.
    pub(super) fn lanes(&mut self, function: &Function, start: u32) -> Option<Attributes> {
        let lanes = function.lanes_at.as_ref().filter(|lanes| !lanes.ranges.is_empty())?;
        let writer = self.writer(function);
        let active_lane = self.active_lane(lanes, writer, start);
        let mut procedures = Procedures::default();
        let mut places = Vec::new();
        for range in &lanes.ranges {
            let is_said = range.active.is_none_or(|reg| Place::Scalar(reg).has_number());
            if !is_said || !lanes.lists.is_known(range.list) {
                continue;
            }
            let waiting = self.waiting(lanes, range.list, (writer, start), &mut procedures.waiting);
            let active = *procedures.active.entry(range.active).or_insert_with(|| {
                self.scratch.clear();
                writer.at_program_counter(range.active, &mut self.scratch);
                self.procedure(None)
            });
            places.push((range.start, range.end, [waiting, active]));
        }
        let lane_pc = self.places.begin();
        for (from, to, calls) in places {
            let bytes: Vec<u8> = calls.into_iter().flat_map(call).collect();
            self.places.range(self.version, start + from, start + to);
            self.places.expression(self.version, &bytes);
        }
        self.places.end(self.version);
        Some(Attributes { active_lane, lane_pc })
    }

    /// Writes the lane attributes into the entry of a function, in the order that the entry's shape
    /// prescribes.
    pub(super) fn lane_attributes(&mut self, function: &Function, attributes: Attributes) {
        self.entries.bytes(&[function.lanes as u8]);
        for list in [attributes.active_lane, attributes.lane_pc] {
            self.list(lists(self.version)[1], list);
        }
    }

    fn active_lane(&mut self, lanes: &Lanes, writer: Writer, start: u32) -> u32 {
        let list = self.places.begin();
        for ranges in lanes.ranges.chunk_by(|a, b| a.active == b.active) {
            let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { continue };
            let mut bytes = Vec::new();
            writer.active(first.active, &mut bytes);
            self.places.range(self.version, start + first.start, start + last.end);
            self.places.expression(self.version, &bytes);
        }
        self.places.end(self.version);
        list
    }

    /// Returns the entry of the DWARF procedure that gives the locations of waiting lanes. `list` has the
    /// wakes, which are the places where the lanes wait. If the list has no procedure yet, writes it. The
    /// procedure calls that of the list's tail, which is therefore written first.
    fn waiting(
        &mut self,
        lanes: &Lanes,
        list: List,
        (writer, start): (Writer, u32),
        known: &mut FxHashMap<List, u32>,
    ) -> u32 {
        let mut front = Vec::new();
        let mut rest = list;
        let mut entry = loop {
            match (known.get(&rest), lanes.lists.first(rest)) {
                (Some(&entry), _) => break entry,
                (None, None) => {
                    self.scratch.clear();
                    writer.nowhere(&mut self.scratch);
                    let entry = self.procedure(None);
                    known.insert(rest, entry);
                    break entry;
                }
                (None, Some((wake, mask, next))) => {
                    front.push((rest, wake, mask));
                    rest = next;
                }
            }
        };
        while let Some((list, wake, mask)) = front.pop() {
            self.scratch.clear();
            self.scratch.extend(call(entry));
            let address = self.base + u64::from(start) + u64::from(wake.at);
            let at = self.scratch.len();
            self.push_address(address);
            let lanes = match mask {
                Mask::Of(dwords) => Some(dwords),
                Mask::Entry | Mask::Lost => None,
            };
            writer.at_location(lanes, &mut self.scratch);
            entry = self.procedure(Some((at, address)));
            known.insert(list, entry);
        }
        entry
    }

    /// Appends to the expression in `scratch` an operation that pushes a code address.
    fn push_address(&mut self, address: u64) {
        match self.version {
            Version::V4 => {
                self.scratch.push(DW_OP_ADDR);
                self.scratch.extend_from_slice(&address.to_le_bytes());
            }
            Version::V5 => {
                let number = self.address_number(self.image.text, address);
                self.scratch.push(DW_OP_ADDRX);
                unsigned(&mut self.scratch, number);
            }
        }
    }

    /// Returns the DWARF procedure whose expression is in `scratch`, as the offset of its entry. Writes the
    /// entry only if no procedure with an equal expression exists. If the expression pushes a code address,
    /// `address` has the position of this operation and the code address, because DWARF 4 needs a relocation
    /// for it.
    fn procedure(&mut self, address: Option<(usize, u64)>) -> u32 {
        if let Some(&known) = self.procedures.get(&self.scratch) {
            return known;
        }
        let entry = self.entries.begin(Shape::Procedure);
        let bytes = std::mem::take(&mut self.scratch);
        match address.filter(|_| self.version == Version::V4) {
            Some((at, address)) => {
                self.entries.number(bytes.len() as u64);
                self.entries.bytes(&bytes[..=at]);
                self.entries.contents.field(8, self.image.text, address);
                self.entries.bytes(&bytes[at + 9..]);
            }
            None => self.entries.location_expression(&bytes),
        }
        self.procedures.insert(bytes, entry);
        entry
    }
}

/// Returns the encoding of the operation `DW_OP_call4`, which calls a DWARF procedure of the unit.
fn call(entry: u32) -> [u8; 5] {
    let [a, b, c, d] = entry.to_le_bytes();
    [DW_OP_CALL4, a, b, c, d]
}
