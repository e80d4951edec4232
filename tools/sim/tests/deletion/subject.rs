//! A kernel in an object, and the ways to look at it.

use check::object::{Entries, Options};
use check::{Kinds, solve};
use isa::Target;
use sim::idle_waits::{Change, Verdict};
use sim::{CodeObject, Device, Dispatch, Fault, FaultClass, Limits, Mode, Observe};

use super::changes::Mutation;
use std::fmt;
use testkit::Case;

/// Wave instructions of the cases that every change runs: the first, and others as long as all of them are below this.
const SMALL: u64 = 40_000;
/// Wave instructions of the first case at most.
const LONG: u64 = 3_000_000;
/// Seeds of weak mode that have to find what nothing else has.
const SEEDS: u64 = 24;
/// Seeds that must not find anything where a proof says so.
const DOUBTS: u64 = 1;

/// A kernel and its object.
pub struct Subject<'a> {
    pub kernel: &'a testkit::Kernel,
    pub object: &'a [u8],
    pub target: &'static Target,
    /// Its cases, made once: their references take longer than many a run.
    all: Vec<Case>,
    /// Those that are short enough, and their wave instructions.
    cases: Vec<(usize, u64)>,
    logs: Vec<sim::idle_waits::Log>,
}

/// How a change was found, or why it changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    Strict,
    Check,
    Weak,
    /// On no path is there a register for it.
    Registers,
    /// Nothing is ever under way there.
    Idle,
    /// What is under way is the wave's own.
    Private,
    /// Another wait, barrier or the kernel's end keeps the order.
    Ordered,
    /// An `s_nop` that puts code on a cache line, or more of it than any rule asks.
    Placement,
    Missed,
}

enum Why {
    Fault(Box<Fault>),
    Wrong(String),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Fault(fault) => write!(f, "{fault}"),
            Why::Wrong(why) => write!(f, "{why}"),
        }
    }
}

impl<'a> Subject<'a> {
    /// None where there is no case that is short enough.
    pub fn new(kernel: &'a testkit::Kernel, object: &'a [u8]) -> Option<Subject<'a>> {
        let loaded = CodeObject::load(object).expect("it loads");
        let target = loaded.target();
        let all = (kernel.cases)();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&case| all[case].grid.iter().product::<u32>());
        let mut subject = Subject { kernel, object, target, all, cases: Vec::new(), logs: Vec::new() };
        let object = &loaded;
        let mut left = LONG;
        for case in order {
            match subject.run(object, Mode::Fast, case, left, true) {
                Ok((instructions, log)) => {
                    subject.cases.push((case, instructions));
                    subject.logs.extend(log);
                    left = left.min(SMALL).saturating_sub(instructions);
                }
                Err(Why::Fault(fault)) if matches!(*fault, Fault::Budget { .. }) => {}
                Err(why) => panic!("{}: {why}", kernel.name),
            }
        }
        (!subject.cases.is_empty()).then_some(subject)
    }

    /// Says what is wrong with the object as it is.
    pub fn verify(&self) {
        let name = self.kernel.name;
        let loaded = CodeObject::load(self.object).expect("it loads");
        if let Some(fault) = self.strictly(&loaded) {
            panic!("{name} as it is: {fault}");
        }
        assert!(!self.checked(self.object), "{name} as it is: `kernc check` has something to report");
        let weak = self.weakly(&loaded, DOUBTS, usize::MAX);
        assert!(weak.is_none(), "{name} as it is: {weak:?}");
        for log in &self.logs {
            assert!(log.clash().is_none(), "{name} as it is: {:x?}", log.clash());
        }
    }

    /// One case, on a new device.
    fn run(
        &self,
        object: &CodeObject,
        mode: Mode,
        case: usize,
        limit: u64,
        order: bool,
    ) -> Result<(u64, Option<sim::idle_waits::Log>), Why> {
        let name = self.kernel.name;
        let mut device = Device::with_threads(1);
        device.set_mode(mode);
        let fault = |fault| Why::Fault(Box::new(fault));
        let module = device.load(object).map_err(fault)?;
        let info = object.kernel(name).expect("the kernel");
        let case = &self.all[case];
        let prepared = testkit::prepare(&mut device, info, case).expect("arguments");
        let dispatch = Dispatch {
            kernel: name,
            grid: case.grid,
            group: self.kernel.group,
            kernarg: prepared.kernarg().to_vec(),
            limits: Limits { instructions: limit, stack: 0 },
            observe: Observe { order, ..Observe::default() },
            ..Dispatch::default()
        };
        let stats = device.run(module, &dispatch).map_err(fault)?;
        prepared.check(&device).map_err(Why::Wrong)?;
        Ok((stats.instructions, device.take_log()))
    }

    /// What strict mode finds.
    fn strictly(&self, object: &CodeObject) -> Option<Fault> {
        self.cases.iter().find_map(|&(case, instructions)| {
            match self.run(object, Mode::STRICT, case, instructions * 4 + 10_000, false) {
                Err(Why::Fault(fault)) => Some(*fault),
                Err(Why::Wrong(why)) => panic!("{}: {why}", self.kernel.name),
                Ok(_) => None,
            }
        })
    }

    /// A seed of weak mode with another result.
    fn weakly(&self, object: &CodeObject, seeds: u64, cases: usize) -> Option<(u64, String)> {
        (0..seeds).find_map(|seed| {
            self.cases.iter().take(cases).find_map(|&(case, instructions)| {
                let limit = instructions * 16 + 1_000_000;
                match self.run(object, Mode::Weak { seed }, case, limit, false) {
                    Err(Why::Fault(fault)) => Some((seed, fault.to_string())),
                    Err(Why::Wrong(why)) => Some((seed, why)),
                    Ok(_) => None,
                }
            })
        })
    }

    /// Whether the static checker has something to report.
    fn checked(&self, object: &[u8]) -> bool {
        let parsed = codeobj::CodeObject::parse(object).expect("it parses");
        check::object::check(&parsed, &Options::default()).is_ok_and(|report| !report.findings.is_empty())
    }

    /// The same without the instruction at an address.
    fn checked_without(&self, address: u64) -> bool {
        let parsed = codeobj::CodeObject::parse(self.object).expect("it parses");
        let parts = Entries::new(&parsed, None).expect("a known processor").parts();
        parts.into_iter().any(|mut part| {
            let Some(site) = part.program.site_at(address) else { return false };
            part.program.code.replace(site, None);
            !solve::solve(&part.program, &part.roots, false).is_empty()
        })
    }

    /// What becomes of a change, and what there is to say about it.
    pub fn fate(&self, mutation: &Mutation) -> (Fate, String) {
        let Some(changed) = mutation.apply(self.object) else {
            return match self.checked_without(mutation.address) {
                true => (Fate::Check, String::new()),
                false => (self.surplus_nop(mutation), String::new()),
            };
        };
        let loaded = CodeObject::load(&changed).expect("it loads");
        // Where nothing is ever under way the run is the old one to the last counter.
        let idle = mutation.order.is_some_and(|change| self.is_idle(mutation, change));
        if !idle && let Some(fault) = self.strictly(&loaded) {
            let race = matches!(&fault, Fault::Found(report) if report.class == FaultClass::Race);
            let order = mutation.order.filter(|_| race).map(|change| self.order(mutation, change));
            return (Fate::Strict, cross_check(&order, &fault));
        }
        let order = mutation.order.map(|change| self.order(mutation, change));
        if self.checked(&changed) {
            return (Fate::Check, String::new());
        }
        let (fate, cases) = match order {
            None if mutation.kind.starts_with("s_nop") => (self.surplus_nop(mutation), 0),
            None => (Fate::Registers, 1),
            Some(Ok(Fate::Ordered)) => (Fate::Ordered, usize::MAX),
            Some(Ok(fate)) => (fate, 1),
            Some(Err(clash)) => return self.needed(&loaded, clash),
        };
        if let Some((seed, why)) = self.weakly(&loaded, DOUBTS, cases) {
            return (Fate::Missed, format!("{fate:?}, but weak mode with seed {seed}: {why}"));
        }
        (fate, String::new())
    }

    /// Where the record says that the order needs it, and nobody else has.
    fn needed(&self, changed: &CodeObject, clash: String) -> (Fate, String) {
        match self.weakly(changed, SEEDS, usize::MAX) {
            Some((seed, why)) => (Fate::Weak, format!("seed {seed}: {why}; {clash}")),
            None => (Fate::Missed, clash),
        }
    }

    /// Whether nothing is ever under way there, in any case, though a wave comes there.
    fn is_idle(&self, mutation: &Mutation, change: Change) -> bool {
        let verdicts: Vec<Option<bool>> =
            self.logs.iter().map(|log| log.is_idle(mutation.address, change)).collect();
        verdicts.contains(&Some(true)) && !verdicts.contains(&Some(false))
    }

    /// Why nothing in memory depends on it, in any case.
    fn order(&self, mutation: &Mutation, change: Change) -> Result<Fate, String> {
        let mut fate = None;
        for log in &self.logs {
            let here = match log.without(mutation.address, change) {
                Verdict::NotReached => continue,
                Verdict::Idle => Fate::Idle,
                Verdict::Private => Fate::Private,
                Verdict::Ordered => Fate::Ordered,
                verdict => return Err(format!("{verdict:x?}")),
            };
            fate = fate.max(Some(here));
        }
        fate.ok_or_else(|| "no wave comes there".to_owned())
    }

    /// Why no rule asks for a nop.
    fn surplus_nop(&self, mutation: &Mutation) -> Fate {
        let parsed = codeobj::CodeObject::parse(self.object).expect("it parses");
        let mut reachable = false;
        for part in Entries::new(&parsed, None).expect("a known processor").parts() {
            let program = &part.program;
            let Some(site) = program.site_at(mutation.address) else { continue };
            reachable = true;
            // The two rules of GFX10 about wait states need one of these; elsewhere an `s_nop` aligns a loop's head or
            // keeps a branch from going over 63 dwords.
            let counted =
                |site| program.code.effects(site).kinds.intersects(Kinds::FP_ATOMIC | Kinds::LONG_NSA);
            let placement = self.target.version.0 == 10 && !(0..program.code.len() as u32).any(counted);
            // LLVM 14 takes SGPRs that `v_writelane_b32` reads for written by it, and pads scalar loads that read them.
            let after = program.successors(site).next().map(|next| program.code.effects(next).reads);
            let spilled = (1..=5).filter_map(|back| site.checked_sub(back)).any(|before| {
                let effects = program.code.effects(before);
                let common = after.map(|after| after.and(&effects.reads).and(&check::RegSet::SCALAR));
                program.insts[before as usize].inst.op.row().name == "v_writelane_b32"
                    && common.is_some_and(|common| !common.is_empty())
            });
            let longer = mutation.kind == "s_nop one less" && self.checked_without(mutation.address);
            if placement || spilled || longer {
                return Fate::Placement;
            }
        }
        // Behind a branch that is always taken there is no path to it.
        if reachable { Fate::Missed } else { Fate::Placement }
    }
}

/// A race of strict mode that the record does not have: one of the two is wrong.
fn cross_check(order: &Option<Result<Fate, String>>, race: &Fault) -> String {
    match order {
        Some(Ok(fate)) => format!("the record says {fate:?}: {race}"),
        _ => String::new(),
    }
}
