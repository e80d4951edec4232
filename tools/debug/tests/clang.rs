//! Variables of clang's objects, lane by lane, beside what they have to be; and the same again on the way back.

use debug::{Action, FrontEnd, Program, Session, Step, Stop};
use sim::{Arg, CodeObject, Device, Dispatch, Fault};
use std::sync::{Arc, Mutex};
use support::{Folder, Tool};

const SOURCE: &str = "\
typedef struct { int a; float b[3]; } S;
__attribute__((noinline)) int helper(int x, int y) {
  int z = x * 3;
  z += y;
  return z;
}
__kernel void k(__global int *out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  __local int tile[64];
  S s;
  s.a = i - 5; s.b[2] = i * 0.5f;
  tile[i] = helper(i, n);
  int sum = 0;
  for (int j = 0; j < n; ++j) {
    if ((i + j) % 2) sum += i * j;
    else sum -= j;
  }
  out[i] = sum + s.a + (int)s.b[2] + tile[i];
}
";
const N: i64 = 4;

/// `sum` before turn `j` of the loop.
fn sum(i: i64, j: i64) -> i64 {
    (0..j).map(|j| if (i + j) % 2 != 0 { i * j } else { -j }).sum()
}

/// An object of clang's; `None` where clang is missing.
fn compile(clang: &str, processor: &str, level: &str) -> Option<Vec<u8>> {
    let folder = Folder::new("clang");
    let stem = format!("debug-{clang}-{processor}{level}");
    let (source, object) = (folder.join(format!("{stem}.cl")), folder.join(format!("{stem}.co")));
    std::fs::write(&source, SOURCE).expect("a folder that can be written");
    let mut command = Tool::new(clang);
    command.args([
        "-target",
        "amdgcn-amd-amdhsa",
        "-x",
        "cl",
        "-cl-std=CL2.0",
        "-g",
        "-nogpulib",
        "-w",
        level,
    ]);
    command.args(["-Xclang", "-finclude-default-header"]).arg(format!("-mcpu={processor}"));
    let status = command.arg(&source).arg("-o").arg(&object).status().ok()?;
    assert!(status.success(), "{clang} {processor} {level}");
    Some(std::fs::read(&object).expect("what clang wrote"))
}

/// What has been seen at a stop: the instruction, and a value of each lane.
type Seen = Vec<(u64, Vec<String>)>;

/// Checks variables at each stop in the loop, then goes back through the stops and looks again.
struct Checker {
    /// Variables that have no value are none of a mistake.
    is_optimized: bool,
    seen: Arc<Mutex<Seen>>,
    /// Stops that have been gone back to.
    again: usize,
    /// Values that were there.
    values: Arc<Mutex<usize>>,
}

impl Checker {
    /// A value of a lane is what it has to be, if it is there.
    fn check(&self, stop: &Stop<'_>, name: &str, lane: u32, wanted: &str) {
        match stop.value(name, lane) {
            Ok(shown) => {
                assert_eq!(shown.text, wanted, "{name} of lane {lane} at instruction {}", stop.ordinal());
                *self.values.lock().expect("nobody has panicked") += 1;
            }
            Err(why) => assert!(self.is_optimized, "{name}: {why}"),
        }
    }

    fn look(&self, stop: &Stop<'_>) {
        for lane in (0..stop.at.lanes()).filter(|lane| stop.at.exec() >> lane & 1 != 0) {
            let i = i64::from(lane) + i64::from(stop.who().wave * stop.at.lanes());
            self.check(stop, "i", lane, &i.to_string());
            self.check(stop, "n", lane, &N.to_string());
            self.check(stop, "s.a", lane, &(i - 5).to_string());
            self.check(stop, "s.b[2]", lane, &format!("{:?}", i as f32 * 0.5));
            self.check(stop, &format!("tile[{i}]"), lane, &(3 * i + N).to_string());
            if let Ok(j) = stop.value("j", lane) {
                let j: i64 = j.text.parse().expect("a number");
                assert!((0..=N).contains(&j), "{j}");
                // Where the loop's variable has been counted on already, the sum belongs to that turn.
                self.check(stop, "sum", lane, &sum(i, j).to_string());
            }
        }
    }

    fn values_of(stop: &Stop<'_>) -> Vec<String> {
        let one = |lane| stop.value("sum", lane).map_or_else(|why| why, |shown| shown.text);
        (0..stop.at.lanes()).map(one).collect()
    }
}

impl FrontEnd for Checker {
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action {
        let mut seen = self.seen.lock().expect("nobody has panicked");
        if stop.ordinal() == 1 && seen.is_empty() {
            stop.add_breakpoint("15", None).expect("the loop has code");
            return Action::Continue;
        }
        if self.again == 0 {
            if !self.is_optimized {
                self.look(stop);
            }
            seen.push((stop.ordinal(), Self::values_of(stop)));
            if seen.len() < N as usize {
                return Action::Continue;
            }
        } else {
            let (ordinal, values) = &seen[seen.len() - self.again];
            assert_eq!((stop.ordinal(), &Self::values_of(stop)), (*ordinal, values), "on the way back");
        }
        self.again += 1;
        match seen.len().checked_sub(self.again) {
            Some(at) => Action::To(seen[at].0),
            None => Action::Detach,
        }
    }
}

fn debug(bytes: &[u8], front_end: Box<dyn FrontEnd>) -> Result<Vec<i32>, Fault> {
    let object = CodeObject::load(bytes).expect("clang's objects load");
    let parsed = codeobj::CodeObject::parse(bytes).expect("an object");
    let session = Session::new(Program::read(&parsed, |_| Some(SOURCE.to_owned())), front_end);
    loop {
        let mut device = Device::new();
        let module = device.load(&object)?;
        let out = device.alloc(4 * 64)?;
        let kernel = object.kernel("k").expect("the kernel");
        let kernarg = kernel.pack(&[Arg::from(out), Arg::from(N as i32)]).expect("its arguments");
        let dispatch = Dispatch {
            kernel: "k",
            grid: [64, 1, 1],
            group: [64, 1, 1],
            kernarg,
            debugger: Some(&session),
            ..Dispatch::default()
        };
        let done = device.run(module, &dispatch);
        if session.wants_again() {
            continue;
        }
        done?;
        let mut bytes = vec![0; 4 * 64];
        device.read(out, &mut bytes)?;
        return Ok(bytes
            .chunks_exact(4)
            .map(|one| i32::from_le_bytes([one[0], one[1], one[2], one[3]]))
            .collect());
    }
}

#[test]
fn variables_of_all_lanes_are_what_they_have_to_be() {
    for (clang, processor) in [
        ("clang-19", "gfx906"),
        ("clang-19", "gfx90a"),
        ("clang-19", "gfx942"),
        ("clang-19", "gfx1030"),
        ("clang-19", "gfx803"),
    ] {
        let Some(bytes) = compile(clang, processor, "-O0") else { return };
        let (seen, values) = (Arc::default(), Arc::default());
        let checker =
            Checker { is_optimized: false, seen: Arc::clone(&seen), again: 0, values: Arc::clone(&values) };
        let out = debug(&bytes, Box::new(checker)).expect("the kernel runs");
        let wanted = (0..64).map(|i| (sum(i, N) + i - 5 + i / 2 + 3 * i + N) as i32);
        assert_eq!(out, wanted.collect::<Vec<_>>(), "{processor}");
        assert_eq!(seen.lock().expect("no panic").len(), N as usize, "{processor}: stops in the loop");
        assert!(*values.lock().expect("no panic") > 700, "{processor}");
    }
}

/// Steps through the whole kernel a line at a time, into the function, and keeps the names of functions under way.
struct Stepper {
    step: Step,
    stacks: Arc<Mutex<Vec<Vec<String>>>>,
}

impl FrontEnd for Stepper {
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action {
        let names: Vec<String> = stop.frames().into_iter().map(|frame| frame.function).collect();
        let mut stacks = self.stacks.lock().expect("nobody has panicked");
        if stacks.last() != Some(&names) {
            stacks.push(names);
        }
        Action::Step(self.step)
    }
}

#[test]
fn steps_go_into_functions_and_over_them() {
    for processor in ["gfx906", "gfx1030"] {
        let Some(bytes) = compile("clang-19", processor, "-O0") else { return };
        for (step, wanted) in [
            (Step::Line, vec![vec!["k"], vec!["helper", "k"], vec!["k"]]),
            (Step::Instruction, vec![vec!["k"], vec!["helper", "k"], vec!["k"]]),
            (Step::Over, vec![vec!["k"]]),
        ] {
            let stacks: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
            let stepper = Stepper { step, stacks: Arc::clone(&stacks) };
            debug(&bytes, Box::new(stepper)).expect("the kernel runs");
            let mut stacks = stacks.lock().expect("no panic").clone();
            // The second wave of 32 lanes does the same.
            stacks.truncate(wanted.len());
            assert_eq!(stacks, wanted, "{processor} {step:?}");
        }
    }
}

/// In the function: looks at the variables of the kernel that has called it.
struct Upward {
    values: Arc<Mutex<usize>>,
}

impl FrontEnd for Upward {
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action {
        if stop.ordinal() == 1 {
            stop.add_breakpoint("5", None).expect("the function has code");
            return Action::Continue;
        }
        for lane in 0..stop.at.lanes() {
            let i = i64::from(lane) + i64::from(stop.who().wave * stop.at.lanes());
            let own = stop.value("z", lane).expect("it is there");
            assert_eq!(own.text, (3 * i + N).to_string());
            let wanted = [("i", i.to_string()), ("n", N.to_string()), ("s.a", (i - 5).to_string())];
            for (name, wanted) in wanted {
                let shown = stop.on_frame(1, |stop| stop.value(name, lane)).expect("the kernel is under way");
                assert_eq!(shown.expect("it is there").text, wanted, "{name} of lane {lane}");
                *self.values.lock().expect("nobody has panicked") += 1;
            }
            assert!(stop.on_frame(1, |stop| stop.value("z", lane)).expect("it is there").is_err());
        }
        Action::Continue
    }
}

#[test]
fn callers_have_variables_too() {
    for processor in ["gfx906", "gfx90a", "gfx942", "gfx1030", "gfx803"] {
        let Some(bytes) = compile("clang-19", processor, "-O0") else { return };
        let values = Arc::default();
        debug(&bytes, Box::new(Upward { values: Arc::clone(&values) })).expect("the kernel runs");
        assert_eq!(*values.lock().expect("no panic"), 3 * 64, "{processor}");
    }
}
