//! Where a lane that is followed stops, beside the lines that a work-item runs by a model of the program: in objects of kernc and of clang.

mod program;

use codeobj::CodeObject;
use debug::{Action, FrontEnd, Session, Step, Stop};
use kernc::sim::{self, Arg, Device, Dispatch, Mode};
use kernc::{Compiler, DebugInfo, OptLevel, Options, Subtarget};
use program::{Language, Program};
use std::sync::{Arc, Mutex, PoisonError};
use support::{Folder, Tool};

const LANES: [u32; 4] = [0, 1, 6, 21];
/// Stops of a session at most.
const STOPS: usize = 2000;

/// Lines at which a lane has stopped.
type Stops = Arc<Mutex<Vec<usize>>>;

/// Follows a lane: steps, or runs from breakpoint to breakpoint.
struct Follower {
    lane: u32,
    breakpoints: Vec<usize>,
    stops: Stops,
}

impl FrontEnd for Follower {
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action {
        if stop.ordinal() == 1 {
            stop.choose_lane(Some(self.lane)).expect("the wave has the lane");
            for line in &self.breakpoints {
                // Optimised code need not have all.
                let _ = stop.add_breakpoint(&line.to_string(), None);
            }
        } else {
            let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
            stops.push(stop.line().map_or(0, |line| line.line as usize));
            if stops.len() > STOPS {
                return Action::Quit;
            }
        }
        if self.breakpoints.is_empty() { Action::Step(Step::Line) } else { Action::Continue }
    }
}

/// A program, compiled.
struct Case {
    program: Program,
    object: Vec<u8>,
    name: String,
    wave: u32,
    is_clangs: bool,
    is_optimized: bool,
}

fn kernc(program: &Program, target: Subtarget, level: OptLevel) -> Vec<u8> {
    let file_name = "test.k".to_owned();
    let options = Options { opt_level: level, debug: DebugInfo::Full, file_name, ..Options::default() };
    let source = program.text(Language::Kernc);
    let compiled = Compiler::new(target).compile(source, &options);
    compiled.unwrap_or_else(|error| panic!("{error:?}\n{source}")).bytes().to_vec()
}

/// clang's object; nothing where clang is missing.
fn clang(program: &Program, seed: u64, processor: &str, level: &str) -> Option<Vec<u8>> {
    let folder = Folder::new("followed");
    let stem = format!("followed-{seed}-{processor}{level}");
    let (source, object) = (folder.join(format!("{stem}.cl")), folder.join(format!("{stem}.co")));
    std::fs::write(&source, program.text(Language::OpenCl)).expect("a folder that can be written");
    let mut command = Tool::new("clang-19");
    command.args("-target amdgcn-amd-amdhsa -x cl -cl-std=CL2.0 -g -nogpulib -w".split(' '));
    command.arg(level).arg(format!("-mcpu={processor}")).arg(&source).arg("-o").arg(&object);
    let status = command.status().ok()?;
    assert!(status.success(), "{}", source.display());
    Some(std::fs::read(&object).expect("what clang wrote"))
}

impl Case {
    /// The lines at which a lane stops, and what the kernel has stored.
    fn run(&self, lane: u32, breakpoints: Vec<usize>) -> (Vec<usize>, Vec<u32>) {
        let parsed = CodeObject::parse(&self.object).expect("an object");
        let stops = Stops::default();
        let follower = Follower { lane, breakpoints, stops: Arc::clone(&stops) };
        let session = Session::new(debug::Program::read(&parsed, |_| None), Box::new(follower));
        let code = sim::CodeObject::load(&self.object).expect("it loads");
        let kernel = code.kernel("k").expect("the kernel");
        let mut device = Device::new();
        device.set_mode(Mode::Fast);
        let module = device.load(&code).expect("it loads");
        let out = device.alloc(4 * u64::from(self.wave)).expect("there is room");
        let kernarg = kernel.pack(&[Arg::from(out)]).expect("its argument");
        let size = [self.wave, 1, 1];
        let debugger = Some(&session as &dyn sim::Debugger);
        let dispatch =
            Dispatch { kernel: "k", grid: size, group: size, kernarg, debugger, ..Dispatch::default() };
        device.run(module, &dispatch).expect("it runs");
        let mut bytes = vec![0; 4 * self.wave as usize];
        device.read(out, &mut bytes).expect("it is there");
        let values = bytes.chunks_exact(4).map(|one| u32::from_le_bytes([one[0], one[1], one[2], one[3]]));
        let stops = stops.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (stops, values.collect())
    }

    /// Holds the stops of a lane against the lines that it runs; how many stops there are, and how many of them are at other lines.
    fn check(&self, lane: u32) -> Result<(usize, usize), String> {
        let Some((ran, value)) = self.program.lines(lane) else { return Ok((0, 0)) };
        let lines: Vec<usize> = ran.iter().map(|one| one.line).collect();
        let wrong = |what: String| {
            let text = self.program.text(Language::Kernc);
            let text: String = text.lines().zip(1..).map(|(line, n)| format!("{n:3} {line}\n")).collect();
            Err(format!("{}, lane {lane}: {what}\nruns {lines:?}\n{text}", self.name))
        };
        let Program { simple, structural, conditions, .. } = &self.program;
        let (stops, values) = self.run(lane, Vec::new());
        if values[lane as usize] != value {
            return wrong(format!("{} for {value}", values[lane as usize]));
        }
        let (hits, _) = self.run(lane, simple.clone());
        let is_stray = |line: &&usize| !lines.contains(line) && !structural.contains(line);
        let strays = stops.iter().chain(&hits).filter(is_stray).count();
        if self.is_optimized {
            return Ok((stops.len() + hits.len(), strays));
        }
        if strays > 0 {
            return wrong(format!("steps stop at {stops:?}, breakpoints at {hits:?}"));
        }
        // clang jumps to the end of a block by code of its condition.
        let counts =
            |line: &&usize| !(structural.contains(line) || self.is_clangs && conditions.contains(line));
        let mut rest = lines.iter();
        for line in stops.iter().filter(counts) {
            if !rest.any(|other| other == line) {
                return wrong(format!("steps stop in another order: {stops:?}"));
            }
        }
        let begun = ran.iter().filter(|one| !one.goes_on).map(|one| one.line);
        let wanted: Vec<usize> = begun.filter(|line| simple.contains(line)).collect();
        if hits != wanted {
            return wrong(format!("breakpoints stop at {hits:?}, for {wanted:?}"));
        }
        Ok((stops.len() + hits.len(), 0))
    }
}

fn count() -> u64 {
    std::env::var("KERNC_FOLLOWED").ok().and_then(|count| count.parse().ok()).unwrap_or(4)
}

/// Checks programs, each for both sizes of waves and at two levels. Nothing where there is no compiler.
fn check(compile: impl Fn(&Program, u64, (&str, u32), bool) -> Option<Vec<u8>>, is_clangs: bool) {
    let (mut all, mut strays, mut wrong) = (0, 0, Vec::new());
    for seed in 0..count() {
        for ((processor, wave), is_optimized) in
            [("gfx906", 64), ("gfx1030", 32)].into_iter().flat_map(|target| [(target, false), (target, true)])
        {
            let program = Program::new(seed);
            let Some(object) = compile(&program, seed, (processor, wave), is_optimized) else {
                return println!("left out: no clang-19");
            };
            let name = format!("seed {seed}, {processor}, optimized: {is_optimized}");
            let case = Case { program, object, name, wave, is_clangs, is_optimized };
            for lane in LANES {
                match case.check(lane) {
                    Ok((stops, others)) => (all, strays) = (all + stops, strays + others),
                    Err(what) => wrong.push(what),
                }
            }
        }
    }
    println!("{all} stops, {strays} of them in optimised code at lines that were moved");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(3)].join("\n"));
    // Optimised code does some statements for all lanes that the source has for some.
    assert!(all > 500 && strays * 50 < all, "{all} stops, {strays} at other lines");
}

#[test]
fn lanes_stop_on_their_own_lines_in_our_objects() {
    let compile = |program: &Program, _: u64, (processor, wave): (&str, u32), is_optimized: bool| {
        let target = Subtarget::by_name(processor).and_then(|one| one.with_wave_size(wave)).expect("known");
        Some(kernc(program, target, if is_optimized { OptLevel::O2 } else { OptLevel::O0 }))
    };
    check(compile, false);
}

#[test]
fn lanes_stop_on_their_own_lines_in_clangs_objects() {
    let compile = |program: &Program, seed, (processor, _): (&str, u32), is_optimized| {
        clang(program, seed, processor, if is_optimized { "-O2" } else { "-O0" })
    };
    check(compile, true);
}
