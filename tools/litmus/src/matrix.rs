//! All cases of a shape: combinations of scope, address spaces, placement and processor.

use crate::shape::{Order, Shape, Statement};
use isa::{Feature, Target, op, table};
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
    /// All scopes, narrowest first.
    pub const ALL: [Scope; 4] = [Scope::Wavefront, Scope::Workgroup, Scope::Agent, Scope::System];

    /// Returns the name of the scope.
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

impl Space {
    /// Returns the name of the address space.
    pub fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Local => "local",
            Space::Generic => "generic",
        }
    }
}

/// Where a variable is, and how it is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Home {
    /// Global memory, accessed by instructions for global memory.
    Global,
    /// LDS, accessed by LDS instructions.
    Local,
    /// Global memory, accessed by flat instructions.
    GenericGlobal,
    /// LDS, accessed by flat instructions.
    GenericLocal,
}

impl Home {
    /// All combinations of memory and instructions.
    pub const ALL: [Home; 4] = [Home::Global, Home::Local, Home::GenericGlobal, Home::GenericLocal];

    fn name(self) -> &'static str {
        match self {
            Home::Global => "global",
            Home::Local => "local",
            Home::GenericGlobal => "generic global",
            Home::GenericLocal => "generic local",
        }
    }

    fn is_local(self) -> bool {
        matches!(self, Home::Local | Home::GenericLocal)
    }

    fn is_flat(self) -> bool {
        matches!(self, Home::GenericGlobal | Home::GenericLocal)
    }
}

/// Address spaces of a case. The first variable, which in most shapes is the data, has one address space; the
/// other variables, which are flags, have another or the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layout {
    /// Home of the first variable.
    pub first: Home,
    /// Home of the other variables.
    pub others: Home,
}

impl Layout {
    /// Returns all pairs of homes.
    pub fn all() -> impl Iterator<Item = Layout> {
        Home::ALL.into_iter().flat_map(|first| Home::ALL.map(|others| Layout { first, others }))
    }

    /// Returns the name of the layout.
    pub fn name(self) -> String {
        match self.first == self.others {
            true => self.first.name().into(),
            false => format!("{}, {}", self.first.name(), self.others.name()),
        }
    }

    /// Returns the home of a variable.
    pub fn home(self, variable: usize) -> Home {
        if variable == 0 { self.first } else { self.others }
    }

    /// Returns the address space in which a variable is accessed.
    pub fn space(self, variable: usize) -> Space {
        match self.home(variable) {
            Home::Global => Space::Global,
            Home::Local => Space::Local,
            _ => Space::Generic,
        }
    }

    /// Returns whether a variable is in LDS.
    pub fn is_local(self, variable: usize) -> bool {
        self.home(variable).is_local()
    }

    fn has_local(self) -> bool {
        self.first.is_local() || self.others.is_local()
    }

    /// Returns whether a case with this layout and scope is useful for a shape on a machine: it must be
    /// possible, and no other combination may give the same case.
    fn counts(self, shape: &Shape, machine: Machine, scope: Scope) -> bool {
        if !shape.layouts.is_empty() && !shape.layouts.contains(&self.name()) {
            return false;
        }
        let flat = self.first.is_flat() || self.others.is_flat();
        let local = self == Layout { first: Home::Local, others: Home::Local };
        // Three kinds of cases are left out. GFX6 has no flat instructions. A work-group that is split over
        // compute units cannot use LDS. For LDS, a scope wider than the work-group means the work-group, so
        // it would only repeat a case.
        !(flat && !machine.target.has(Feature::FLAT)
            || self.has_local() && machine.splits_groups()
            || local && scope > Scope::Workgroup
            || self.first != self.others && shape.variables.len() < 2
            || self.has_local() && !shape.groups.is_empty())
    }
}

/// A processor, and the mode in which it runs work-groups.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Processor.
    pub target: &'static Target,
    /// Whether all waves of a work-group run on the same compute unit. Always true before GFX10, except for
    /// gfx90a with `tgsplit`.
    pub cu_mode: bool,
}

impl Machine {
    /// Returns whether the waves of a work-group may be on different compute units because of `tgsplit`, a
    /// mode of gfx90a.
    pub fn splits_groups(&self) -> bool {
        !self.cu_mode && self.target.has(Feature::TGSPLIT)
    }

    /// Returns whether a name in a shape's list `processors` stands for this machine. The name may be that of
    /// the processor, of its family or of its mode.
    fn answers_to(&self, name: &str) -> bool {
        let family = format!("gfx{}", self.target.version.0);
        let mode = if self.cu_mode { "-cu" } else { "-wgp" };
        let name = name.strip_suffix(mode).unwrap_or(name);
        name == family || name == self.target.name
    }

    /// Returns the name of the processor. If the processor has several modes, the name includes the mode.
    pub fn name(&self) -> String {
        let wave64 = self.target.has(Feature::WAVE32) && self.target.wave_size == 64;
        let lanes = if wave64 { " wave64" } else { "" };
        match (self.target.arch.device.workgroup_processors, self.cu_mode) {
            (true, true) => format!("{} CU{lanes}", self.target.name),
            (true, false) => format!("{} WGP{lanes}", self.target.name),
            (false, true) => self.target.name.to_string(),
            (false, false) => format!("{} tgsplit", self.target.name),
        }
    }
}

/// Returns the processors in all variants that affect compiled code. GFX10 has both modes and both wave
/// sizes. gfx90a also has the variant with split work-groups, for which LLVM's AMDGPU guide has no sequences.
pub fn machines_and_waves(names: &[&str]) -> Vec<Machine> {
    let modes = |machine: Machine| {
        let split = Machine { cu_mode: false, ..machine };
        std::iter::once(machine).chain(Some(split).filter(Machine::splits_groups))
    };
    let waves = |machine: Machine| {
        let other = machine.target.with_wave_size(96 - machine.target.wave_size);
        let other = other.map(|target| Machine { target, ..machine });
        std::iter::once(machine).chain(other)
    };
    machines(names).into_iter().flat_map(modes).flat_map(waves).collect()
}

/// Returns the machines for these processor names: GFX10 processors in both modes (CU and WGP), other
/// processors once.
pub fn machines(names: &[&str]) -> Vec<Machine> {
    let targets = names.iter().filter_map(|name| Target::by_name(name));
    let modes = |target: &'static Target| match target.arch.device.workgroup_processors {
        true => vec![Machine { target, cu_mode: true }, Machine { target, cu_mode: false }],
        false => vec![Machine { target, cu_mode: true }],
    };
    targets.flat_map(modes).collect()
}

/// A shape of which everything is fixed except the schedule.
#[derive(Clone, Debug)]
pub struct Case {
    /// Processor.
    pub machine: Machine,
    /// Scope of the operations that name no scope.
    pub scope: Scope,
    /// Homes of the variables.
    pub layout: Layout,
    /// Where each thread runs.
    pub places: Vec<Place>,
    /// The agent that has the coarse-grained memory of the first variable; `Some(None)` if the host has it.
    /// `None` if the first variable is in fine-grained memory, as all other variables always are.
    pub coarse: Option<Option<u32>>,
    /// For wavefront scope, the threads are lanes of one wave. This list has, for each statement in the order
    /// of execution, the lane that executes it.
    pub sequence: Option<Vec<usize>>,
}

impl Case {
    /// Formats the placement for people: `agent.array.unit/group` of each thread, or the order of the lanes.
    pub fn placement(&self) -> String {
        if let Some(sequence) = &self.sequence {
            let order: Vec<String> = sequence.iter().map(usize::to_string).collect();
            return format!("one wave: {}", order.join(" "));
        }
        let place = |place: &Place| format!("{}.{}.{}/{}", place.agent, place.array, place.unit, place.group);
        let places = self.places.iter().map(place).collect::<Vec<_>>().join(" ");
        match self.coarse {
            None => places,
            Some(Some(agent)) => format!("{places}, data in coarse-grained memory of agent {agent}"),
            Some(None) => format!("{places}, data in coarse-grained memory of the host"),
        }
    }
}

/// Returns all cases of a shape on a machine.
pub fn cases(shape: &Shape, machine: Machine) -> Vec<Case> {
    if !shape.processors.is_empty() && !shape.processors.iter().any(|name| machine.answers_to(name)) {
        return Vec::new();
    }
    let statements = || shape.threads.iter().flatten();
    let barrier = statements().any(|statement| matches!(statement, Statement::Barrier));
    let spins = statements().any(|statement| matches!(statement, Statement::Until { .. }));
    let grouped = !shape.groups.is_empty();
    let mut cases = Vec::new();
    for scope in Scope::ALL {
        if !shape.scopes.is_empty() && !shape.scopes.iter().any(|name| name == scope.name()) {
            continue;
        }
        // Threads of one wave cannot wait for each other.
        if scope == Scope::Wavefront && (barrier || spins || grouped)
            || scope > Scope::Workgroup && barrier && !grouped
        {
            continue;
        }
        for layout in Layout::all().filter(|layout| layout.counts(shape, machine, scope)) {
            let case = |places, sequence| Case { machine, scope, layout, places, coarse: None, sequence };
            if scope == Scope::Wavefront {
                let lengths: Vec<usize> = shape.threads.iter().map(Vec::len).collect();
                let one = || vec![Place::default(); shape.threads.len()];
                cases.extend(merges(&lengths).into_iter().map(|order| case(one(), Some(order))));
            } else {
                // LDS belongs to one work-group. Threads that use LDS are therefore in one work-group,
                // whatever the scope of the operations is.
                let spread = if layout.has_local() { Scope::Workgroup } else { scope };
                let places = match grouped {
                    true => grouped_places(&shape.groups, machine),
                    false => places(spread, machine, shape.threads.len()),
                };
                cases.extend(places.into_iter().map(|places| case(places, None)));
            }
        }
    }
    cases
}

/// Returns the cases of a shape in which the first variable is in coarse-grained memory of an agent or of the
/// host. Only gfx90a has these cases, because only its instructions can keep such memory coherent. A shape
/// has none if its atomics access the first variable, because atomics require fine-grained memory.
pub fn coarse_cases(shape: &Shape, machine: Machine) -> Vec<Case> {
    if !table::available(op::BUFFER_WBL2, machine.target)
        || shape.threads.iter().flatten().any(reaches_first_atomically)
    {
        return Vec::new();
    }
    let several = |case: &Case| case.places.iter().any(|place| place.agent > 0);
    let global = |case: &Case| !case.layout.is_local(0);
    let all = cases(shape, machine).into_iter().filter(|case| several(case) && global(case));
    let homes = |case: Case| {
        let agents = case.places.iter().map(|place| place.agent).max().unwrap_or(0);
        let homes = (0..=agents).map(Some).chain([None]);
        homes.map(move |home| Case { coarse: Some(home), ..case.clone() }).collect::<Vec<Case>>()
    };
    all.flat_map(homes).collect()
}

/// Returns whether a statement accesses the first variable atomically.
fn reaches_first_atomically(statement: &Statement) -> bool {
    match statement {
        Statement::Load { how, variable, .. }
        | Statement::Store { how, variable, .. }
        | Statement::StoreNext { how, variable, .. } => *variable == 0 && how.order != Order::Plain,
        Statement::Rmw { variable, .. } => *variable == 0,
        _ => false,
    }
}

/// Returns all interleavings of the lanes' statements. The statements of each lane stay in order.
fn merges(lengths: &[usize]) -> Vec<Vec<usize>> {
    if lengths.iter().all(|length| *length == 0) {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for thread in (0..lengths.len()).filter(|&thread| lengths[thread] > 0) {
        let mut rest = lengths.to_vec();
        rest[thread] -= 1;
        all.extend(merges(&rest).into_iter().map(|order| [&[thread], &order[..]].concat()));
    }
    all
}

/// Returns all ways to divide `count` threads into sets. Each result gives, for each thread, the number of
/// its set. Sets are numbered in the order in which their first threads come.
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

/// Returns all placements of the threads of a shape that the scope of the operations covers.
pub(crate) fn places(scope: Scope, machine: Machine, threads: usize) -> Vec<Vec<Place>> {
    let sets = partitions(threads);
    if scope == Scope::Workgroup {
        let together = |set: &Vec<u32>| {
            set.iter().map(|&unit| Place { unit, ..Place::default() }).collect::<Vec<Place>>()
        };
        // Largest number of a compute unit on which a thread of the work-group may be. Units are numbered
        // from 0.
        let most = match machine.cu_mode {
            true => 0,
            false if machine.splits_groups() => u32::MAX,
            false => 1,
        };
        return sets.iter().filter(|set| set.iter().all(|&unit| unit <= most)).map(together).collect();
    }
    let has_gl1 = machine.target.arch.emulation.caches.gl1;
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
        if has_gl1 && apart {
            all.push(place(|unit| (0, unit)));
        }
        if scope == Scope::System && apart {
            all.push(place(|unit| (unit, 0)));
        }
    }
    all
}

/// Returns all placements of threads whose work-groups are given. A group is on one compute unit or on both
/// units of a WGP; different groups are on the same unit or on different units.
pub(crate) fn grouped_places(groups: &[u32], machine: Machine) -> Vec<Vec<Place>> {
    let halves = if machine.cu_mode { 1 } else { 1 << (groups.len() - 1) };
    let count = groups.iter().max().map_or(0, |most| *most as usize + 1);
    let mut all = Vec::new();
    for set in partitions(count) {
        for half in 0..halves {
            let place = |(thread, &group): (usize, &u32)| {
                // By symmetry, the first thread is always on the first unit.
                let unit = set[group as usize] * 2 + (half << 1 >> thread & 1);
                Place { unit, group, ..Place::default() }
            };
            all.push(groups.iter().enumerate().map(place).collect());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        // Bell numbers and multinomials.
        assert_eq!([1, 2, 3, 4].map(|n| partitions(n).len()), [1, 2, 5, 15]);
        assert_eq!([&[1, 1][..], &[2, 2], &[1, 1, 2, 2]].map(|lengths| merges(lengths).len()), [2, 6, 180]);
    }

    #[test]
    fn groups_stay_together() {
        for machine in machines(&["gfx906", "gfx1010"]) {
            let places = grouped_places(&[0, 0, 1], machine);
            assert_eq!(places.len(), if machine.cu_mode { 2 } else { 8 });
            for place in &places {
                assert_eq!(place[0].unit / 2, place[1].unit / 2);
                assert!(!machine.cu_mode || place[0].unit == place[1].unit);
            }
        }
    }
}
