//! Implements `--time-passes` and `--dump-after`.

use kernc::{Observer, Subtarget};
use std::time::{Duration, Instant};

/// Observer that records the times of passes and prints the requested dumps between passes.
pub struct Watch {
    timing: bool,
    dump_after: Vec<String>,
    since: Instant,
    times: Vec<(&'static str, Duration)>,
    /// Whether to keep the optimised IR, and its text.
    keep_ir: bool,
    ir: String,
    pub warnings: Option<kernc::Diagnostics>,
}

impl Watch {
    /// Starts the clock.
    pub fn new(timing: bool, dump_after: Vec<String>, keep_ir: bool) -> Watch {
        Watch {
            timing,
            dump_after,
            since: Instant::now(),
            times: Vec::new(),
            keep_ir,
            ir: String::new(),
            warnings: None,
        }
    }

    fn lap(&mut self, pass: &'static str, dump: impl FnOnce() -> String) {
        let spent = self.since.elapsed();
        match self.times.iter_mut().find(|(name, _)| *name == pass) {
            Some((_, total)) => *total += spent,
            None => self.times.push((pass, spent)),
        }
        if self.dump_after.iter().any(|wanted| wanted == pass || wanted == "all") {
            outln!("; after {pass}\n{}", dump());
        }
        self.since = Instant::now();
    }

    /// Prints the times, and a warning about passes that should be dumped but did not run. Returns the
    /// optimised IR if it was requested, otherwise an empty text.
    pub fn finish(self) -> String {
        for wanted in self.dump_after.iter().filter(|wanted| *wanted != "all") {
            if !self.times.iter().any(|(name, _)| name == wanted) {
                let names: Vec<_> = self.times.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                super::complain(&format!("warning: no pass `{wanted}` ran; these did: {names}\n"));
            }
        }
        if !self.timing {
            return self.ir;
        }
        let total: Duration = self.times.iter().map(|(_, time)| *time).sum();
        for (pass, time) in &self.times {
            let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
            outln!("{:>10.1} us  {share:5.1} %  {pass}", time.as_secs_f64() * 1e6);
        }
        outln!("{:>10.1} us  100.0 %  total", total.as_secs_f64() * 1e6);
        self.ir
    }
}

impl Observer for Watch {
    fn warnings(&mut self, warnings: kernc::Diagnostics) {
        self.warnings.get_or_insert_default().append(warnings);
    }

    fn ir(&mut self, pass: &'static str, module: &ir::Module) {
        self.lap(pass, || module.to_string());
        if self.keep_ir && pass == "optimize" {
            self.ir = module.to_string();
        }
    }

    fn mir(&mut self, pass: &'static str, target: &Subtarget, func: &kernc::mir::MachFunc) {
        self.lap(pass, || func.dump(target));
    }

    fn done(&mut self, pass: &'static str) {
        self.lap(pass, String::new);
    }
}
