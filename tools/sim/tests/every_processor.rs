//! The 21 example kernels as two versions of clang compile them, for processors of every generation, at three levels, as
//! code objects V2 to V5: right results in fast, strict and weak mode, and no report of strict mode
//! or of the static checker.
//!
//! Each combination of processor, version and level runs one of the kernels by default. `KERNC_EVERY=all` runs every
//! kernel of every combination; any other text runs those whose description contains all of its words, like
//! `KERNC_EVERY="gfx600 -O0 reduce"`. `KERNC_SEEDS` is the number of schedules in weak mode (1).

use crate::common::{compile, link, present, twins};
use rayon::prelude::*;
use sim::{Device, Mode};
use std::collections::BTreeMap;
use std::fmt;

/// Processor and further options; whether clang-14 writes V2 for it.
const PROCESSORS: [(&str, &[&str], bool); 9] = [
    ("gfx600", &[], true),
    ("gfx700", &[], true),
    ("gfx803", &[], true),
    ("gfx900", &[], true),
    ("gfx906", &[], true),
    ("gfx908", &[], false),
    ("gfx1010", &[], false),
    ("gfx1010", &["-mwavefrontsize64"], false),
    ("gfx1030", &[], false),
];
const LEVELS: [&str; 3] = ["-O3", "-O1", "-O0"];
const VERSIONS: [(&str, u32); 4] = [("clang-19", 5), ("clang-19", 4), ("clang-14", 3), ("clang-14", 2)];

/// One object to be built and run.
#[derive(Clone, Copy)]
struct Build {
    clang: &'static str,
    version: u32,
    processor: &'static str,
    options: &'static [&'static str],
    level: &'static str,
    kernel: &'static str,
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Build { clang, version, processor, options, level, kernel } = self;
        write!(f, "{clang} V{version} {processor}{} {level} {kernel}", options.concat())
    }
}

impl Build {
    /// Builds it, and runs it in every mode: a report on a compiler's correct code is a false alarm.
    fn check(&self, seeds: u64) -> Result<(), String> {
        let (version, processor) =
            (format!("-mcode-object-version={}", self.version), format!("-mcpu={}", self.processor));
        let options = [&[version.as_str(), &processor, self.level][..], self.options].concat();
        // The older clang knows the function, not the builtin.
        let older = ["-D__builtin_amdgcn_exp2f=__builtin_exp2f"];
        let options = [&options[..], if self.clang == "clang-14" { &older } else { &[] }].concat();
        let source = twins().join(format!("{}.cl", self.kernel));
        let object = link(&[compile(self.clang, &source, &options)?])?;
        nothing_is_reported(&object)?;
        let weak = (1..=seeds).map(|seed| Mode::Weak { seed });
        for mode in [Mode::Fast, Mode::STRICT].into_iter().chain(weak) {
            let mut device = Device::with_threads(1);
            device.set_mode(mode);
            let checked = testkit::check_kernel_on(&mut device, &object, self.kernel);
            checked.map_err(|why| format!("{mode:?}: {why}"))?;
        }
        Ok(())
    }
}

/// What the static checker says of an object.
fn nothing_is_reported(object: &[u8]) -> Result<(), String> {
    let object = codeobj::CodeObject::parse(object).map_err(|error| format!("{error:?}"))?;
    let report = check::object::check(&object, &Default::default()).map_err(|why| format!("{why:?}"))?;
    match report.findings.is_empty() && report.instructions > 10 {
        true => Ok(()),
        false => Err(check::report::human(&report, "the object", false)),
    }
}

/// All combinations with all kernels, and the number of the combination.
fn builds() -> Vec<(usize, Build)> {
    let mut all = Vec::new();
    let mut combination = 0;
    for (clang, version) in VERSIONS {
        for (processor, options, v2) in PROCESSORS {
            if version == 2 && !v2 {
                continue;
            }
            for level in LEVELS {
                for kernel in &testkit::KERNELS {
                    let kernel = kernel.name;
                    all.push((combination, Build { clang, version, processor, options, level, kernel }));
                }
                combination += 1;
            }
        }
    }
    all
}

/// Those that are asked for, and whose tools there are.
fn selected() -> Vec<Build> {
    let clangs = ["clang-19", "clang-14"].map(|clang| present(clang).then_some(clang));
    let wanted = std::env::var("KERNC_EVERY").ok();
    let is_wanted = |at: usize, combination: usize, build: &Build| match wanted.as_deref() {
        // Another kernel for each combination.
        None => at % testkit::KERNELS.len() == combination * 5 % testkit::KERNELS.len(),
        Some("all") => true,
        Some(words) => {
            let text = build.to_string();
            words.split_whitespace().all(|word| text.contains(word))
        }
    };
    let all = builds().into_iter().enumerate();
    let all = all.filter(|(_, (_, build))| clangs.contains(&Some(build.clang)));
    all.filter(|(at, (combination, build))| is_wanted(*at, *combination, build))
        .map(|(_, (_, build))| build)
        .collect()
}

#[test]
fn right_results_without_reports() {
    if !present("ld.lld-19") {
        return;
    }
    let builds = selected();
    assert!(builds.is_empty() || builds.len() > 20 || std::env::var_os("KERNC_EVERY").is_some());
    let seeds = std::env::var("KERNC_SEEDS").map_or(1, |count| count.parse().expect("a number"));
    let results: Vec<_> = builds.par_iter().map(|build| (build, build.check(seeds))).collect();
    let mut table: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for (build, result) in &results {
        let row = format!("{} {}{}", build.clang, build.processor, build.options.concat());
        let counts = table.entry(row).or_default();
        counts.0 += u32::from(result.is_ok());
        counts.1 += 1;
    }
    for (row, (right, all)) in &table {
        eprintln!("{row}: {right} of {all} right");
    }
    let failures: Vec<String> = results
        .iter()
        .filter_map(|(build, result)| Some(format!("{build}: {}", result.as_ref().err()?)))
        .collect();
    assert!(failures.is_empty(), "{} of {} failed\n{}", failures.len(), results.len(), failures.join("\n"));
}
