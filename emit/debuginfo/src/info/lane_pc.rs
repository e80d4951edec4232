//! Where each lane of a function is: `DW_AT_LLVM_lanes`, `DW_AT_LLVM_active_lane` and `DW_AT_LLVM_lane_pc`.
//!
//! As in the guide's example (seed 000, line 1915) there is a procedure for each place where lanes wait, which says of those in a mask that they are
//! there, and takes the others from the procedure of the region around. What is in force at an instruction is the procedure of the innermost region, and on top of
//! it, that active lanes are at the program counter. The example's lanes wait in front of the branch that they will take otherwise; ours where they will go on.

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

/// The lists of a function: numbers as [`crate::sections::Lists::begin`] gives them.
#[derive(Clone, Copy)]
pub(super) struct Attributes {
    active_lane: u32,
    lane_pc: u32,
}

/// Procedures of lists of a function, and those that add active lanes.
#[derive(Default)]
struct Procedures {
    waiting: FxHashMap<List, u32>,
    active: FxHashMap<Option<Reg>, u32>,
}

impl Unit<'_> {
    /// Writes procedures and lists of a function that begins at that byte of the unit's code.
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

    /// Writes the attributes of a function's entry, in the order of its shape.
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

    /// The procedure of a list, with those of its rest before it.
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

    /// Adds the operation that pushes an address of the code to the expression at hand.
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

    /// The entry of the expression at hand, written once; `address`: where in it one of the code is pushed.
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
            None => self.entries.place(&bytes),
        }
        self.procedures.insert(bytes, entry);
        entry
    }
}

/// Goes on with a procedure of the unit.
fn call(entry: u32) -> [u8; 5] {
    let [a, b, c, d] = entry.to_le_bytes();
    [DW_OP_CALL4, a, b, c, d]
}
