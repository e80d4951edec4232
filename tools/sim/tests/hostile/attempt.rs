//! What is done with an object: checked, loaded, and each of its kernels dispatched in every mode.

use isa::Target;
use sim::weak::{Place, Register, Search, Thread};
use sim::{ArgKind, CodeObject, Device, Dispatch, Fault, KernelInfo, Limits, Mode, ModuleId};
use std::fmt;
use std::time::Instant;
use testkit::Rng;

/// Instructions that a dispatch may execute.
const BUDGET: u64 = 3000;
/// Bytes of each buffer.
const BYTES: u64 = 4096;

/// How a part of an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Neither checked nor loaded.
    Refused,
    /// The static checker looked at it; whether it found something.
    Checked(bool),
    /// Ended well in a mode.
    Ran(&'static str),
    /// Stopped in a mode, for a reason.
    Faulted(&'static str, &'static str),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Refused => f.write_str("refused by the loader"),
            Outcome::Checked(found) => {
                write!(f, "checked, {}", if *found { "findings" } else { "nothing found" })
            }
            Outcome::Ran(mode) => write!(f, "{mode}: ran"),
            Outcome::Faulted(mode, class) => write!(f, "{mode}: {class}"),
        }
    }
}

/// An object and the choices that are to be made.
pub struct Attempt<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// Where choices come from.
    pub rng: &'a mut Rng,
    /// Check it for this processor, too.
    pub processor: Option<&'static Target>,
}

const MODES: [(&str, Mode); 4] = [
    ("fast", Mode::Fast),
    ("strict", Mode::STRICT),
    ("strict, keep going", Mode::Strict { keep_going: true }),
    ("weak", Mode::Weak { seed: 7 }),
];

/// A device with a module, buffers that kernels get, and others that they do not.
struct Stage {
    device: Device,
    module: ModuleId,
    given: [u64; 2],
    /// Address and contents of what no kernel is told of.
    guards: Vec<(u64, Vec<u8>)>,
}

impl Stage {
    fn new(object: &CodeObject, threads: usize) -> Result<Stage, Fault> {
        let mut device = Device::with_threads(threads);
        // The upper halves of addresses count allocations: guards are at numbers that no slip of a carry leads to.
        let mut all = Vec::new();
        for number in 0..46u64 {
            let address = device.alloc(if (2..44).contains(&number) { 4 } else { BYTES })?;
            all.push(address);
        }
        let given = [all[0], all[1]];
        let mut guards = Vec::new();
        for (at, address) in [all[44], all[45]].into_iter().enumerate() {
            let contents: Vec<u8> = (0..BYTES).map(|byte| (byte as u8).wrapping_mul(37) ^ at as u8).collect();
            device.write(address, &contents)?;
            guards.push((address, contents));
        }
        for address in &all[2..44] {
            device.free(*address);
        }
        for address in given {
            let contents: Vec<u8> = (0..BYTES).map(|byte| (byte % 251) as u8).collect();
            device.write(address, &contents)?;
        }
        let module = device.load(object)?;
        Ok(Stage { device, module, given, guards })
    }

    /// Runs in a mode, and looks whether the promises are kept.
    fn run(&mut self, mode: Mode, threads: u64, dispatch: &Dispatch<'_>) -> Result<(), Fault> {
        self.device.set_mode(mode);
        let started = Instant::now();
        let result = self.device.run(self.module, dispatch);
        if std::env::var_os("KERNC_HOSTILE_CASE").is_some() {
            let text = result.as_ref().map_or_else(ToString::to_string, |stats| format!("{stats:?}"));
            eprintln!(
                "{mode:?}, {:?} of {:?}, {:?}: {text}",
                dispatch.grid,
                dispatch.group,
                started.elapsed()
            );
        }
        for report in self.device.reports() {
            assert!(!report.to_string().is_empty());
        }
        self.look();
        match &result {
            // Each thread may finish a turn that began within the budget.
            Ok(stats) => {
                assert!(stats.instructions <= (threads + 1) * BUDGET, "{} instructions", stats.instructions)
            }
            Err(fault) => assert!(!fault.to_string().is_empty()),
        }
        self.device.take_printed();
        result.map(|_| ())
    }

    fn look(&self) {
        for (address, contents) in &self.guards {
            let mut now = vec![0; contents.len()];
            self.device.read(*address, &mut now).expect("it is there");
            assert!(now == *contents, "what the kernel did not get is changed");
        }
    }

    /// What kernels may have changed.
    fn contents(&self) -> Vec<u8> {
        let mut all = vec![0; 2 * BYTES as usize];
        let (one, two) = all.split_at_mut(BYTES as usize);
        self.device.read(self.given[0], one).expect("it is there");
        self.device.read(self.given[1], two).expect("it is there");
        all
    }
}

impl Attempt<'_> {
    /// Checks, loads and dispatches.
    pub fn everything(mut self) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        if let Ok(object) = codeobj::CodeObject::parse(self.bytes) {
            outcomes.extend(check(&object, None));
            if let Some(target) = self.processor {
                outcomes.extend(check(&object, Some(target)));
            }
        }
        match CodeObject::load(self.bytes) {
            Ok(object) => self.dispatch_all(&object, &mut outcomes),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        if outcomes.is_empty() {
            outcomes.push(Outcome::Refused);
        }
        outcomes
    }

    fn dispatch_all(&mut self, object: &CodeObject, outcomes: &mut Vec<Outcome>) {
        let Ok(mut stage) = Stage::new(object, 1) else { return };
        let count = object.kernels().len() as u32;
        for _ in 0..count.min(2) {
            let kernel = &object.kernels()[self.rng.below(count) as usize];
            let dispatch = self.dispatch(kernel, &mut stage);
            for (name, mode) in MODES {
                outcomes.push(match stage.run(mode, 1, &dispatch) {
                    Ok(()) => Outcome::Ran(name),
                    Err(fault) => Outcome::Faulted(name, fault.class().name()),
                });
            }
            outcomes.push(explore(&mut stage, kernel));
            if self.rng.below(4) == 0 {
                self.again(object, &dispatch);
            }
        }
    }

    /// The same once more gives the same, on one thread and on four.
    fn again(&mut self, object: &CodeObject, dispatch: &Dispatch<'_>) {
        let (name, mode) = MODES[self.rng.below(4) as usize];
        let run = |threads: usize, dispatch: &Dispatch<'_>| {
            let mut stage = Stage::new(object, threads).ok()?;
            let result = stage.run(mode, threads as u64, dispatch).map_err(|fault| fault.to_string());
            let reports = stage.device.reports().to_vec();
            Some((result, reports, stage.contents()))
        };
        let dispatch = Dispatch { signal: None, ..dispatch.clone() };
        let first = run(1, &dispatch);
        assert!(first == run(1, &dispatch), "{name}: not the same twice");
        // Groups may meet in memory, and where one is when the budget is used up depends on the others. One alone has
        // nobody to race with but its own waves, which take turns.
        let alone = Dispatch { grid: dispatch.group, ..dispatch };
        assert!(run(1, &alone) == run(4, &alone), "{name}: threads make a difference");
    }

    fn dispatch<'a>(&mut self, kernel: &'a KernelInfo, stage: &mut Stage) -> Dispatch<'a> {
        let usual = kernel.reqd_group.unwrap_or([64, 1, 1]);
        let group = match self.rng.below(12) {
            0 => [[1, 1, 1], [1024, 1, 1], [33, 3, 2], [16, 16, 4], [0, 1, 1], [u32::MAX; 3]]
                [self.rng.below(6) as usize],
            _ => usual,
        };
        // Large grids are dear: as many groups as there is room for are set up before one of them ends the dispatch.
        let grid = match self.rng.below(40) {
            0 => [u32::MAX; 3],
            1 => [self.edge(), self.edge(), self.edge()],
            2 => [u32::MAX, 1, 1],
            _ => [
                group[0].saturating_mul(1 + self.rng.below(3)).saturating_sub(self.rng.below(2)),
                group[1],
                group[2],
            ],
        };
        let dynamic_lds = match self.rng.below(16) {
            0 => self.edge(),
            1 => self.rng.below(1 << 16),
            2 => self.rng.below(1 << 12),
            _ => 0,
        };
        let signal = match self.rng.below(8) {
            0 => stage.device.signal(1).ok(),
            1 => Some(self.wild(stage)),
            _ => None,
        };
        let stack = if self.rng.below(8) == 0 { self.edge() } else { 0 };
        Dispatch {
            kernel: &kernel.name,
            grid,
            group,
            kernarg: self.arguments(kernel, stage),
            dynamic_lds,
            global_offset: [0, self.edge().into(), u64::MAX][..].try_into().unwrap_or_default(),
            signal,
            limits: Limits { instructions: BUDGET, stack },
            ..Dispatch::default()
        }
    }

    fn edge(&mut self) -> u32 {
        match self.rng.below(3) {
            0 => [0, 1, 2, 63, 64, 65, 1024, 65536, u32::MAX, 1 << 31][self.rng.below(10) as usize],
            1 => 1 << self.rng.below(32),
            _ => self.rng.bits() >> self.rng.below(32),
        }
    }

    /// An address that may be right, or nearly, or not at all.
    fn wild(&mut self, stage: &Stage) -> u64 {
        let given = stage.given[self.rng.below(2) as usize];
        match self.rng.below(6) {
            0 => u64::from(self.rng.bits()) << 32 | u64::from(self.rng.bits()),
            1 => [0, 4, u64::MAX, u64::MAX - 3, 1 << 63, 0x0001_0000_0000_0000, 0x7000_0000_0000]
                [self.rng.below(7) as usize],
            2 => given + BYTES - 4,
            3 => given.wrapping_add(u64::from(self.rng.below(64))).wrapping_sub(32),
            _ => given,
        }
    }

    fn arguments(&mut self, kernel: &KernelInfo, stage: &Stage) -> Vec<u8> {
        let mut bytes = vec![0; (kernel.kernarg_size as usize).min(4096)];
        match self.rng.below(16) {
            0 => bytes.fill_with(|| self.rng.bits() as u8),
            1 => bytes.truncate(self.rng.below(bytes.len() as u32 + 1) as usize),
            2 => bytes.resize(bytes.len() + 8, 1),
            _ => {}
        }
        if kernel.untyped {
            bytes.resize(64, 0);
            let addresses = [stage.given[0], stage.given[1], self.wild(stage), self.wild(stage)];
            for (place, address) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(addresses) {
                *place = address.to_le_bytes();
            }
        }
        for arg in kernel.explicit_args() {
            let value = match arg.kind {
                ArgKind::GlobalBuffer => self.wild(stage),
                _ if self.rng.below(2) == 0 => u64::from(self.rng.below(200)),
                _ => u64::from(self.edge()),
            };
            let (start, size) = (arg.offset as usize, (arg.size as usize).min(8));
            if let Some(place) = bytes.get_mut(start..start.saturating_add(size)) {
                place.copy_from_slice(&value.to_le_bytes()[..size]);
            }
        }
        bytes
    }
}

fn check(object: &codeobj::CodeObject<'_>, target: Option<&'static Target>) -> Option<Outcome> {
    let options = check::object::Options { target, ..Default::default() };
    let report = check::object::check(object, &options).ok()?;
    let found = !report.findings.is_empty();
    assert!(!check::report::human(&report, "hostile", false).is_empty());
    Some(Outcome::Checked(found))
}

/// Two threads of the kernel in every schedule, as far as a few states go.
fn explore(stage: &mut Stage, kernel: &KernelInfo) -> Outcome {
    let thread = |unit| Thread {
        kernel: kernel.name.clone(),
        place: Place { unit, group: unit, ..Place::default() },
        ..Thread::default()
    };
    let search = Search {
        threads: vec![thread(0), thread(1)],
        warm: stage.given.to_vec(),
        memory: stage.given.to_vec(),
        registers: vec![
            Register { thread: 0, lane: 0, vgpr: 0 },
            Register { thread: 1, lane: 99, vgpr: 300 },
        ],
        lds: vec![(0, 0), (1, u32::MAX)],
        lanes: kernel.reqd_group.map_or(2, |[lanes, ..]| lanes),
        max_states: 6,
        ..Search::default()
    };
    let result = stage.device.explore(stage.module, search);
    stage.look();
    match result {
        Ok(_) => Outcome::Ran("explored"),
        Err(fault) => Outcome::Faulted("explored", fault.class().name()),
    }
}
