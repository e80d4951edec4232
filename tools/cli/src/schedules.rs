//! `kernc run --schedules N`: runs a kernel in many schedules. In strict mode, a schedule is an order in
//! which waves and work-groups run. In weak mode, it is also an order of memory operations.

use super::Failure;
use clap::Args;
use kernc::sim::{Buffer, Mode, Number};

#[derive(Args, Clone)]
pub struct ScheduleArgs {
    /// Seed of the schedule in strict and weak mode. The same seed gives the same run. In strict mode, seed 0
    /// runs waves and groups in order. Other seeds give other orders, and let waves run for other lengths of
    /// time.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// In strict and weak mode, run with this many seeds from `--seed` on, and report the first seed that
    /// fails. In strict mode, a seed also fails if it has findings or other buffers than `--expect` asks for.
    /// In weak mode, a seed also fails if it has other buffers than fast mode.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    schedules: u64,
}

impl ScheduleArgs {
    /// Returns whether there is more than one schedule.
    pub fn explores(&self) -> bool {
        self.schedules > 1
    }

    /// Returns the first seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns arguments for the single schedule with this seed.
    fn with_seed(&self, seed: u64) -> ScheduleArgs {
        ScheduleArgs { seed, schedules: 1 }
    }

    /// Returns all seeds.
    fn seeds(&self) -> impl Iterator<Item = u64> {
        let first = self.seed;
        (0..self.schedules).map(move |more| first.wrapping_add(more))
    }

    /// Runs the kernel once in each requested schedule. Does nothing if only one is requested. `run` runs the
    /// kernel once, in a mode and with a seed for the schedule, and returns the final buffers.
    pub fn explore(
        &self,
        mode: Mode,
        run: impl Fn(Mode, ScheduleArgs) -> Result<Vec<Buffer>, Failure>,
    ) -> Result<(), Failure> {
        if self.schedules <= 1 {
            return Ok(());
        }
        match mode {
            Mode::Fast => {
                Err(Failure::Usage("`--schedules` is for strict and weak mode: fast mode has one".to_owned()))
            }
            Mode::Strict { .. } => self.explore_strict(|seed| run(mode, self.with_seed(seed))),
            Mode::Weak { .. } => self.explore_weak(|mode| run(mode, self.clone())),
        }
    }

    fn explore_strict(&self, run: impl Fn(u64) -> Result<Vec<Buffer>, Failure>) -> Result<(), Failure> {
        for seed in self.seeds() {
            let told = |why: String| format!("seed {seed}: {why}again with `--seed {seed}`\n");
            run(seed).map_err(|failure| match failure {
                Failure::Found(why) => Failure::Found(told(why)),
                Failure::Fault(why) => Failure::Fault(told(why)),
                Failure::Differs(why) => Failure::Differs(told(why)),
                other => other,
            })?;
        }
        outln!("{} schedules: nothing found", self.schedules);
        Ok(())
    }

    fn explore_weak(&self, run: impl Fn(Mode) -> Result<Vec<Buffer>, Failure>) -> Result<(), Failure> {
        let wanted = run(Mode::Fast)?;
        for seed in self.seeds() {
            let again = format!("again with `--mode weak --seed {seed}`\n");
            match run(Mode::Weak { seed }) {
                Ok(buffers) if buffers == wanted => {}
                Ok(buffers) => {
                    let why = difference(&wanted, &buffers);
                    return Err(Failure::Found(format!("seed {seed}: {why}\n{again}")));
                }
                Err(Failure::Fault(why)) => {
                    return Err(Failure::Fault(format!("seed {seed}: {why}{again}")));
                }
                Err(other) => return Err(other),
            }
        }
        outln!("{} schedules leave what fast mode leaves", self.schedules);
        Ok(())
    }
}

/// Returns a text about the first element that differs.
fn difference(wanted: &[Buffer], found: &[Buffer]) -> String {
    for (number, (wanted, found)) in wanted.iter().zip(found).enumerate() {
        let mut elements = wanted.numbers().zip(found.numbers()).enumerate();
        if let Some((at, (wanted, found))) = elements.find(|(_, (wanted, found))| wanted != found) {
            return format!(
                "element {at} of buffer {number} is {}, and {} in fast mode",
                text(found),
                text(wanted)
            );
        }
    }
    "the buffers differ in NaNs".to_owned()
}

fn text(number: Number) -> String {
    match number {
        Number::Int(value) => value.to_string(),
        Number::Float(value) => value.to_string(),
    }
}
