//! Lists of *wakes*. A wake is a place in the code at which inactive lanes become active again and resume.
//! The list at an instruction has the wakes after the instruction for which lanes wait, the nearest wake
//! first.
//!
//! The list inside a region of the code is the list of the enclosing region with one more wake at the front.
//! The lists at two consecutive instructions therefore mostly differ only at the front. To save memory and
//! time, lists share their tails, and equal lists are stored once.

use super::masks::{self, Dwords, Lost, Place, Value};
use isa::Reg;
use rustc_hash::FxHashMap;

/// A place in the code where inactive lanes resume: the first instruction that they execute after they have
/// become active again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wake {
    /// Byte offset of the instruction.
    pub at: u32,
    /// Whether the program ends there.
    pub is_end: bool,
}

/// Mask of the lanes that wait for a wake.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mask {
    /// All lanes that were active when the kernel began.
    Entry,
    /// The lanes are unknown.
    Lost,
    /// The lanes in these registers.
    Of(Dwords),
}

/// Reference to a list. The default is the empty list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct List(u32);

impl List {
    /// The empty list: no lane waits.
    pub const EMPTY: List = List(0);
}

/// Registers that an instruction writes.
#[derive(Default)]
pub struct Writes {
    /// The scalar registers and the single lanes of vector registers that the instruction writes, each with
    /// what is known about the value.
    pub places: Vec<(Place, Value)>,
    /// Whole vector registers.
    pub vectors: Vec<Reg>,
    uses: Uses,
}

impl Writes {
    /// Removes all writes.
    pub fn clear(&mut self) {
        self.places.clear();
        self.vectors.clear();
        self.uses = Uses::default();
    }

    /// Adds a write of a scalar register or of a single lane.
    pub fn add(&mut self, place: Place, value: Value) {
        self.uses.add(place);
        self.places.push((place, value));
    }

    /// Adds a write of a whole vector register.
    pub fn add_vector(&mut self, reg: Reg) {
        self.uses.add(Place::Lane(reg, 0));
        self.vectors.push(reg);
    }

    fn value_in(&self, place: Place) -> Option<Value> {
        let known = self.places.iter().find(|(own, _)| *own == place).map(|&(_, value)| value);
        known.or(match place {
            Place::Lane(reg, _) => self.vectors.contains(&reg).then_some(Value::OTHER),
            Place::Scalar(_) => None,
        })
    }
}

/// An approximate set of registers. With it, most tests whether two sets have a register in common end
/// quickly. Several registers share a bit: those of the same kind (scalar or vector) whose numbers have the
/// same remainder.
#[derive(Clone, Copy, Debug, Default)]
struct Uses(u128);

impl Uses {
    fn add(&mut self, place: Place) {
        self.0 |= 1
            << match place {
                Place::Scalar(reg) => reg.0 % 108,
                Place::Lane(reg, _) => 108 + reg.0 % 20,
            };
    }
}

#[derive(Clone, Debug)]
struct Cell {
    wake: Wake,
    mask: u32,
    next: List,
    /// Registers on which the list depends.
    uses: Uses,
    /// See [`Lists::is_known`].
    is_known: bool,
}

/// Storage of all lists.
#[derive(Clone, Debug)]
pub struct Lists {
    cells: Vec<Cell>,
    known: FxHashMap<(Wake, u32, List), List>,
    masks: Vec<Mask>,
    numbers: FxHashMap<Mask, u32>,
    meets: FxHashMap<(List, List), List>,
}

impl Default for Lists {
    fn default() -> Lists {
        // The first list cell stands for the empty list. It gets a wake (place where lanes resume) after all
        // code, so that this wake is farther away than those of all other lists.
        let nowhere = Wake { at: u32::MAX, is_end: true };
        let first = Cell { wake: nowhere, mask: 0, next: List::EMPTY, uses: Uses::default(), is_known: true };
        Lists {
            cells: vec![first],
            known: FxHashMap::default(),
            masks: vec![Mask::Lost],
            numbers: FxHashMap::from_iter([(Mask::Lost, 0)]),
            meets: FxHashMap::default(),
        }
    }
}

impl Lists {
    /// Returns the first element of a list and the rest of the list: the nearest wake (place where lanes
    /// resume), the mask of the lanes that wait for it, and the tail. Returns `None` for the empty list.
    pub fn first(&self, list: List) -> Option<(Wake, &Mask, List)> {
        let cell = &self.cells[list.0 as usize];
        (list != List::EMPTY).then(|| (cell.wake, &self.masks[cell.mask as usize], cell.next))
    }

    fn number(&mut self, mask: Mask) -> u32 {
        if let Some(&known) = self.numbers.get(&mask) {
            return known;
        }
        let number = self.masks.len() as u32;
        self.masks.push(mask.clone());
        self.numbers.insert(mask, number);
        number
    }

    fn cell(&mut self, wake: Wake, mask: u32, next: List) -> List {
        let Cell { mut uses, mut is_known, .. } = self.cells[next.0 as usize];
        match &self.masks[mask as usize] {
            Mask::Of(dwords) => {
                for place in dwords.iter().flatten().flat_map(|term| term.places()) {
                    uses.add(place);
                    is_known &= place.has_number();
                }
            }
            Mask::Entry => {}
            Mask::Lost => is_known = false,
        }
        *self.known.entry((wake, mask, next)).or_insert_with(|| {
            self.cells.push(Cell { wake, mask, next, uses, is_known });
            List(self.cells.len() as u32 - 1)
        })
    }

    /// Returns the list before a wake, given the list after it.
    pub fn with(&mut self, list: List, wake: Wake, mask: Mask) -> List {
        let mask = self.number(mask);
        let behind = self.after_wake(list, wake);
        self.cell(wake, mask, behind)
    }

    /// Returns the tail of a list whose wakes are after `wake`.
    pub fn after_wake(&self, mut list: List, wake: Wake) -> List {
        while list != List::EMPTY && self.cells[list.0 as usize].wake <= wake {
            list = self.cells[list.0 as usize].next;
        }
        list
    }

    /// Returns the list of wakes (places where lanes resume) before an instruction, given the list after it.
    /// What the instruction writes changes the masks of the lanes that wait.
    pub fn before(&mut self, list: List, writes: &Writes) -> List {
        let mut front = Vec::new();
        let mut rest = list;
        while self.cells[rest.0 as usize].uses.0 & writes.uses.0 != 0 {
            front.push(rest);
            rest = self.cells[rest.0 as usize].next;
        }
        while let Some(list) = front.pop() {
            let Cell { wake, mask, .. } = self.cells[list.0 as usize];
            let new = match &self.masks[mask as usize] {
                Mask::Of(dwords) => {
                    let before = masks::before(dwords, &|place| writes.value_in(place));
                    before.map_or(Mask::Lost, Mask::Of)
                }
                other => other.clone(),
            };
            // If the mask is empty, no lane waits for the wake yet.
            if new == Mask::Of(Dwords::default()) {
                continue;
            }
            let mask = self.number(new);
            rest = self.cell(wake, mask, rest);
        }
        rest
    }

    /// Returns the list of wakes (places where lanes resume) before a branch, given the lists at its two
    /// successors. The list contains the wakes of both. A wake may be in only one of the two lists. This is
    /// correct even if control goes to the other successor, because the mask of the wake contains no lane
    /// then.
    pub fn meet(&mut self, a: List, b: List) -> List {
        let key = (List(a.0.min(b.0)), List(a.0.max(b.0)));
        if let Some(&known) = self.meets.get(&key) {
            return known;
        }
        let (mut left, mut right) = key;
        let mut front = Vec::new();
        while left != right {
            let (one, other) = (&self.cells[left.0 as usize], &self.cells[right.0 as usize]);
            let (is_left, is_right) = (one.wake <= other.wake, other.wake <= one.wake);
            let mask = match (is_left, is_right) {
                (true, true) if one.mask != other.mask => 0,
                (true, _) => one.mask,
                _ => other.mask,
            };
            front.push((one.wake.min(other.wake), mask));
            (left, right) =
                (if is_left { one.next } else { left }, if is_right { other.next } else { right });
        }
        let mut list = left;
        while let Some((wake, mask)) = front.pop() {
            list = self.cell(wake, mask, list);
        }
        self.meets.insert(key, list);
        list
    }

    /// Returns whether DWARF can describe the waiting lanes of a list. It can if, for each wake (place where
    /// lanes resume), the mask of the lanes that wait is known and has a description in DWARF.
    pub fn is_known(&self, list: List) -> bool {
        self.cells[list.0 as usize].is_known
    }
}

impl From<Result<Dwords, Lost>> for Mask {
    fn from(lanes: Result<Dwords, Lost>) -> Mask {
        lanes.map_or(Mask::Lost, Mask::Of)
    }
}
