//! `kernc run --mode weak --schedules N`: a kernel under many schedules of its memory operations.

use super::Failure;
use clap::Args;
use kernc::sim::{Buffer, Mode, Number};

#[derive(Args, Clone)]
pub struct WeakArgs {
    /// In weak mode: the seed of all choices. The same seed gives the same run.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// In weak mode: run under this many seeds from `--seed` on, and report the first that fails or leaves other
    /// buffers than fast mode does.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    schedules: u64,
}

impl WeakArgs {
    /// Whether there is more than one schedule.
    pub fn explores(&self) -> bool {
        self.schedules > 1
    }

    /// The first seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Runs all schedules, where there is more than one; `run` gives the buffers that a mode leaves.
    pub fn explore(
        &self,
        mode: Mode,
        run: impl Fn(Mode) -> Result<Vec<Buffer>, Failure>,
    ) -> Result<(), Failure> {
        if self.schedules <= 1 || !matches!(mode, Mode::Weak { .. }) {
            return Ok(());
        }
        let wanted = run(Mode::Fast)?;
        for seed in (0..self.schedules).map(|more| self.seed.wrapping_add(more)) {
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

/// The first element that differs.
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
