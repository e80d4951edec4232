//! Scope, address space, placement, processor: every case of a shape.

use crate::shape::{Shape, Statement};
use isa::Target;
use isa::target::Generation;
use sim::weak::Place;

/// Synchronization scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Scope {
    Wavefront,
    Workgroup,
    Agent,
    System,
}

impl Scope {
    /// All, narrowest first.
    pub const ALL: [Scope; 4] = [Scope::Wavefront, Scope::Workgroup, Scope::Agent, Scope::System];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Wavefront => "wavefront",
            Scope::Workgroup => "workgroup",
            Scope::Agent => "agent",
            Scope::System => "system",
        }
    }
}

/// Address space of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Space {
    Global,
    Local,
    Generic,
}

/// Where variables are and how they are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// All in global memory.
    Global,
    /// All in LDS.
    Local,
    /// All in global memory, by flat instructions.
    GenericGlobal,
    /// All in LDS, by flat instructions.
    GenericLocal,
    /// The first in global memory, the others in LDS.
    GlobalThenLocal,
    /// The first in LDS, the others in global memory.
    LocalThenGlobal,
}

impl Layout {
    /// All.
    pub const ALL: [Layout; 6] = [
        Layout::Global,
        Layout::Local,
        Layout::GenericGlobal,
        Layout::GenericLocal,
        Layout::GlobalThenLocal,
        Layout::LocalThenGlobal,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Global => "global",
            Layout::Local => "local",
            Layout::GenericGlobal => "generic global",
            Layout::GenericLocal => "generic local",
            Layout::GlobalThenLocal => "global, local",
            Layout::LocalThenGlobal => "local, global",
        }
    }

    /// The space by which a variable is accessed.
    pub fn space(self, variable: usize) -> Space {
        match (self, variable) {
            (Layout::Global, _) | (Layout::GlobalThenLocal, 0) => Space::Global,
            (Layout::Local, _) | (Layout::LocalThenGlobal, 0) => Space::Local,
            (Layout::GenericGlobal | Layout::GenericLocal, _) => Space::Generic,
            (Layout::GlobalThenLocal, _) => Space::Local,
            (Layout::LocalThenGlobal, _) => Space::Global,
        }
    }

    /// Whether a variable is in LDS.
    pub fn is_local(self, variable: usize) -> bool {
        self == Layout::GenericLocal || self.space(variable) == Space::Local
    }

    fn has_local(self) -> bool {
        !matches!(self, Layout::Global | Layout::GenericGlobal)
    }
}

/// A processor and how it runs groups.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Processor.
    pub target: &'static Target,
    /// Whether the waves of a group share a compute unit: always before GFX10.
    pub cu_mode: bool,
}

impl Machine {
    /// Name of the processor, and of the mode where there are two.
    pub fn name(&self) -> String {
        match (self.target.generation, self.cu_mode) {
            (Generation::Gfx10, true) => format!("{} CU", self.target.name),
            (Generation::Gfx10, false) => format!("{} WGP", self.target.name),
            _ => self.target.name.to_string(),
        }
    }
}

/// The processors, GFX10 in both modes.
pub fn machines(names: &[&str]) -> Vec<Machine> {
    let targets = names.iter().filter_map(|name| Target::by_name(name));
    let modes = |target: &'static Target| match target.generation {
        Generation::Gfx10 => vec![Machine { target, cu_mode: true }, Machine { target, cu_mode: false }],
        _ => vec![Machine { target, cu_mode: true }],
    };
    targets.flat_map(modes).collect()
}

/// A shape with everything decided but the schedule.
#[derive(Clone, Debug)]
pub struct Case {
    /// Processor.
    pub machine: Machine,
    /// Scope of all operations.
    pub scope: Scope,
    /// Variables.
    pub layout: Layout,
    /// Where each thread runs.
    pub places: Vec<Place>,
    /// Wavefront scope: the threads run in one wave, in this order.
    pub sequence: Option<Vec<usize>>,
}

impl Case {
    /// Placement for people: threads of one unit together, units of one array in one pair of brackets.
    pub fn placement(&self) -> String {
        if let Some(sequence) = &self.sequence {
            let order: Vec<String> = sequence.iter().map(usize::to_string).collect();
            return format!("one wave: {}", order.join(" then "));
        }
        let place = |place: &Place| format!("{}.{}.{}/{}", place.agent, place.array, place.unit, place.group);
        self.places.iter().map(place).collect::<Vec<_>>().join(" ")
    }
}

/// All cases of a shape on a machine.
pub fn cases(shape: &Shape, machine: Machine) -> Vec<Case> {
    let family = format!("gfx{}", machine.target.generation as u8 + 6);
    let names = [family.as_str(), machine.target.name];
    if !shape.processors.is_empty() && !shape.processors.iter().any(|name| names.contains(&name.as_str())) {
        return Vec::new();
    }
    let statements = || shape.threads.iter().flatten();
    let barrier = statements().any(|statement| matches!(statement, Statement::Barrier));
    let spins = statements().any(|statement| matches!(statement, Statement::Until { .. }));
    let mut cases = Vec::new();
    for scope in Scope::ALL {
        if !shape.scopes.is_empty() && !shape.scopes.iter().any(|name| name == scope.name()) {
            continue;
        }
        // Threads of one wave cannot wait for one another.
        if scope == Scope::Wavefront && (barrier || spins) || scope > Scope::Workgroup && barrier {
            continue;
        }
        for layout in Layout::ALL {
            let flat = matches!(layout, Layout::GenericGlobal | Layout::GenericLocal);
            let mixed = matches!(layout, Layout::GlobalThenLocal | Layout::LocalThenGlobal);
            if flat && machine.target.generation == Generation::Gfx6
                || layout == Layout::Local && scope > Scope::Workgroup
                || mixed && shape.variables.len() < 2
            {
                continue;
            }
            let case = |places, sequence| Case { machine, scope, layout, places, sequence };
            if scope == Scope::Wavefront {
                for order in permutations(shape.threads.len()) {
                    cases.push(case(vec![Place::default()], Some(order)));
                }
            } else {
                // LDS is one group's, whatever the scope of the operations.
                let spread = if layout.has_local() { Scope::Workgroup } else { scope };
                let places = places(spread, machine, shape.threads.len());
                cases.extend(places.into_iter().map(|places| case(places, None)));
            }
        }
    }
    cases
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let longer = all.iter().flat_map(|order: &Vec<usize>| {
            let rest = (0..count).filter(|next| !order.contains(next));
            rest.map(|next| order.iter().copied().chain([next]).collect()).collect::<Vec<Vec<usize>>>()
        });
        all = longer.collect();
    }
    all
}

/// All ways of putting threads together: the number of its set for each thread, new numbers in order.
fn partitions(count: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let longer = all.iter().flat_map(|sets: &Vec<u32>| {
            let new = sets.iter().max().map_or(0, |most| most + 1);
            (0..=new).map(|set| sets.iter().copied().chain([set]).collect()).collect::<Vec<Vec<u32>>>()
        });
        all = longer.collect();
    }
    all
}

/// Where the threads may be when their operations have a scope.
fn places(scope: Scope, machine: Machine, threads: usize) -> Vec<Vec<Place>> {
    let sets = partitions(threads);
    if scope == Scope::Workgroup {
        let together = |set: &Vec<u32>| {
            set.iter().map(|&unit| Place { unit, ..Place::default() }).collect::<Vec<Place>>()
        };
        // A group has one compute unit, or the two of a WGP.
        let most = if machine.cu_mode { 0 } else { 1 };
        return sets.iter().filter(|set| set.iter().all(|&unit| unit <= most)).map(together).collect();
    }
    let gfx10 = machine.target.generation == Generation::Gfx10;
    let mut all = Vec::new();
    for set in &sets {
        let place = |wide: fn(u32) -> (u32, u32)| {
            let place = |(group, &unit): (usize, &u32)| {
                let (agent, array) = wide(unit);
                Place { agent, array, unit, group: group as u32 }
            };
            set.iter().enumerate().map(place).collect::<Vec<Place>>()
        };
        let apart = set.iter().any(|&unit| unit > 0);
        all.push(place(|_| (0, 0)));
        if gfx10 && apart {
            all.push(place(|unit| (0, unit)));
        }
        if scope == Scope::System && apart {
            all.push(place(|unit| (unit, 0)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        // Bell numbers and factorials.
        assert_eq!([1, 2, 3, 4].map(|n| partitions(n).len()), [1, 2, 5, 15]);
        assert_eq!([1, 2, 3, 4].map(|n| permutations(n).len()), [1, 2, 6, 24]);
    }
}
