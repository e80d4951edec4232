//! Implements `--time-passes`, `--dump-after`, and the checks of the IR's analyses that `--verify` adds.

use super::Failure;
use kernc::{Observer, Subtarget};
use std::time::{Duration, Instant};

/// What a [`Watch`] does.
pub struct Wanted {
    /// Whether to print the times of passes.
    pub times: bool,
    /// Passes after which the program is printed.
    pub dumps: Vec<String>,
    /// Whether to keep the optimised IR.
    pub module: bool,
    /// Whether to check the analyses of the IR after each pass.
    pub checks: bool,
}

/// Observer that records the times of passes and prints the requested dumps between passes.
pub struct Watch {
    wanted: Wanted,
    since: Instant,
    times: Vec<(&'static str, Duration)>,
    module: Option<ir::Module>,
    /// Result of the checks.
    checked: Result<(), String>,
    pub warnings: Option<kernc::Diagnostics>,
}

impl Watch {
    /// Starts the clock.
    pub fn new(wanted: Wanted) -> Watch {
        Watch {
            wanted,
            since: Instant::now(),
            times: Vec::new(),
            module: None,
            checked: Ok(()),
            warnings: None,
        }
    }

    fn lap(&mut self, pass: &'static str, dump: impl FnOnce() -> String) {
        let spent = self.since.elapsed();
        match self.times.iter_mut().find(|(name, _)| *name == pass) {
            Some((_, total)) => *total += spent,
            None => self.times.push((pass, spent)),
        }
        if self.wanted.dumps.iter().any(|wanted| wanted == pass || wanted == "all") {
            outln!("; after {pass}\n{}", dump());
        }
        self.since = Instant::now();
    }

    /// Prints the times, and a warning about passes whose dump was requested but that did not run. Returns
    /// the optimised IR if it was requested and a pass has worked on IR.
    ///
    /// # Errors
    /// A check has found that an analysis is wrong.
    pub fn finish(self) -> Result<Option<ir::Module>, Failure> {
        self.checked
            .map_err(|message| Failure::Internal(kernc::Error::Internal { message }.render(false)))?;
        for wanted in self.wanted.dumps.iter().filter(|wanted| *wanted != "all") {
            if !self.times.iter().any(|(name, _)| name == wanted) {
                let names: Vec<_> = self.times.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                super::complain(&format!("warning: no pass `{wanted}` ran; these did: {names}\n"));
            }
        }
        if !self.wanted.times {
            return Ok(self.module);
        }
        let total: Duration = self.times.iter().map(|(_, time)| *time).sum();
        for (pass, time) in &self.times {
            let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
            outln!("{:>10.1} us  {share:5.1} %  {pass}", time.as_secs_f64() * 1e6);
        }
        outln!("{:>10.1} us  100.0 %  total", total.as_secs_f64() * 1e6);
        Ok(self.module)
    }
}

impl Observer for Watch {
    fn warnings(&mut self, warnings: kernc::Diagnostics) {
        self.warnings.get_or_insert_default().append(warnings);
    }

    fn ir(&mut self, pass: &'static str, module: &ir::Module) {
        self.lap(pass, || module.to_string());
        if self.wanted.module && pass == "optimize" {
            self.module = Some(module.clone());
        }
        if self.wanted.checks && self.checked.is_ok() {
            self.checked =
                graph::verify::module(module).map_err(|error| format!("after pass `{pass}`: {error}"));
        }
    }

    fn mir(&mut self, pass: &'static str, target: &Subtarget, func: &kernc::mir::MachFunc) {
        self.lap(pass, || func.dump(target));
    }

    fn done(&mut self, pass: &'static str) {
        self.lap(pass, String::new);
    }
}
