//! What `llc` makes of a text, function by function.

use callconv::Convention;
use isa::{Counter, Subtarget};
use std::collections::{BTreeMap, HashMap};
use std::process::Output;
use support::Tool;

/// Processor, lanes.
pub const TARGETS: [(&str, u32); 11] = [
    ("gfx600", 64),
    ("gfx700", 64),
    ("gfx803", 64),
    ("gfx900", 64),
    ("gfx906", 64),
    ("gfx908", 64),
    ("gfx90a", 64),
    ("gfx1010", 32),
    ("gfx1010", 64),
    ("gfx1030", 32),
    ("gfx1030", 64),
];

/// An instruction as `llc` prints it; `ASM` stands for inline assembly.
#[derive(Debug)]
pub struct Line<'a> {
    pub op: &'a str,
    pub args: Vec<&'a str>,
}

impl<'a> Line<'a> {
    fn new(text: &'a str) -> Option<Line<'a>> {
        let text = text.trim();
        if text == ";;#ASMSTART" {
            return Some(Line { op: "ASM", args: Vec::new() });
        }
        let text = text.split(';').next()?.trim();
        if text.is_empty() || text.starts_with('.') || text.ends_with(':') {
            return None;
        }
        let (op, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        Some(Line { op, args: rest.split([',', ' ']).filter(|arg| !arg.is_empty()).collect() })
    }

    pub fn is(&self, op: &str, args: &[&str]) -> bool {
        self.op == op && self.args == args
    }

    pub fn is_memory(&self) -> bool {
        ["buffer_", "flat_", "global_", "ds_"].iter().any(|start| self.op.starts_with(start))
    }

    pub fn writes_exec(&self) -> bool {
        self.op.contains("saveexec") || self.args.first().is_some_and(|first| first.starts_with("exec"))
    }

    /// What is added to a register, if that is what it does.
    pub fn added_to(&self, reg: &str) -> Option<i64> {
        if self.args.first() != Some(&reg) || !self.op.starts_with("s_add") && !self.op.starts_with("s_sub") {
            return None;
        }
        let last = self.args.last()?;
        let number = last
            .strip_prefix("0x")
            .map_or_else(|| last.parse().ok(), |hex| i64::from_str_radix(hex, 16).ok());
        let number = number.unwrap_or_else(|| panic!("{self:?}"));
        let signed =
            if self.op == "s_addk_i32" { i64::from(number as i16) } else { i64::from(number as i32) };
        Some(if self.op.starts_with("s_sub") { -signed } else { signed })
    }
}

/// The numbers of `s5` or `s[4:7]`.
pub fn sgprs(text: &str) -> std::ops::Range<u32> {
    let number = |text: &str| text.parse::<u32>().ok();
    let range = match text.strip_prefix("s[").and_then(|text| text.strip_suffix(']')) {
        Some(pair) => pair.split_once(':').and_then(|(from, to)| Some(number(from)?..number(to)? + 1)),
        None => text.strip_prefix('s').and_then(number).map(|n| n..n + 1),
    };
    range.unwrap_or(0..0)
}

/// Counters that instructions wait for, in order.
pub fn waited<'a>(lines: impl Iterator<Item = &'a Line<'a>>) -> Vec<Counter> {
    let mut found: Vec<Counter> = Vec::new();
    for line in lines.filter(|line| line.op.starts_with("s_waitcnt") && !line.op.ends_with("depctr")) {
        for counter in Counter::ALL {
            let by_name = line.args.iter().any(|arg| *arg == format!("{}(0)", counter.name()));
            if by_name || line.op == format!("s_waitcnt_{}", counter.name()) {
                found.push(counter);
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// A function whose inline assembly writes a register.
pub fn clobbering(register: &str) -> String {
    format!(
        "define void @write_{register}() nounwind {{\n  call void asm sideeffect \"\", \"~{{{register}}}\"()\n  ret void\n}}\n"
    )
}

/// Functions.
pub struct Code<'a> {
    functions: BTreeMap<&'a str, Vec<Line<'a>>>,
}

impl<'a> Code<'a> {
    fn new(text: &'a str) -> Code<'a> {
        let (mut functions, mut name) = (BTreeMap::<&str, Vec<Line>>::new(), None);
        for line in text.lines() {
            if line.starts_with(".Lfunc_end") {
                name = None;
            } else if let Some((label, _)) = line.split_once(':').filter(|_| line.contains("; @")) {
                name = Some(label);
            } else if let (Some(name), Some(line)) = (name, Line::new(line)) {
                functions.entry(name).or_default().push(line);
            }
        }
        Code { functions }
    }

    pub fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.functions.keys().copied().filter(|name| *name != "kernel")
    }

    pub fn lines_of(&self, name: &str) -> impl Iterator<Item = &Line<'a>> + Clone {
        self.functions.get(name).unwrap_or_else(|| panic!("no function {name}")).iter()
    }

    pub fn lines(&self) -> impl Iterator<Item = (&'a str, &Line<'a>)> {
        self.functions.iter().flat_map(|(name, lines)| lines.iter().map(move |line| (*name, line)))
    }

    /// Whether a function ends with what an SGPR had when it began, and has saved it, so that it may be written.
    pub fn gives_back(&self, name: &str, reg: &str) -> bool {
        let mut values = Values::default();
        self.lines_of(name).for_each(|line| values.step(line));
        values.value_in(reg) == reg
    }

    pub fn ends_with_the_lanes_it_had(&self, name: &str) -> bool {
        let mut values = Values::default();
        self.lines_of(name).for_each(|line| values.step(line));
        values.value_in("exec") == "exec"
    }
}

/// What SGPRs, lanes of VGPRs and EXEC hold, by the name of what held it on entry.
#[derive(Default)]
struct Values {
    known: HashMap<String, String>,
    count: usize,
}

impl Values {
    fn value_in(&self, place: &str) -> String {
        self.known.get(place).cloned().unwrap_or_else(|| place.to_owned())
    }

    fn new_value(&mut self) -> String {
        self.count += 1;
        format!("?{}", self.count)
    }

    /// A register is written: so are those that it is a part of, or that are a part of it.
    fn write(&mut self, place: &str, value: String) {
        let (mine, n) = (sgprs(place), self.count);
        let overlapping = self.known.iter_mut().filter(|(other, _)| {
            let theirs = sgprs(other);
            mine.start < theirs.end && theirs.start < mine.end
        });
        overlapping.for_each(|(_, held)| *held = format!("?{n}"));
        self.known.insert(place.to_owned(), value);
    }

    fn step(&mut self, line: &Line<'_>) {
        let args: Vec<&str> =
            line.args.iter().map(|arg| if *arg == "exec_lo" { "exec" } else { *arg }).collect();
        let Some(&first) = args.first() else { return };
        if line.op.contains("saveexec") {
            let had = self.value_in("exec");
            self.write(first, had);
            let other = self.new_value();
            self.write("exec", other);
        } else if line.op == "v_writelane_b32" {
            let value = self.value_in(args[1]);
            self.known.insert(format!("{first} {}", args[2]), value);
        } else if line.op == "v_readlane_b32" {
            let value = self.value_in(&format!("{} {}", args[1], args[2]));
            self.write(first, value);
        } else if line.op.starts_with("s_mov_b") {
            let value = self.value_in(args[1]);
            self.write(first, value);
        } else if line.op.starts_with("s_or_b") && args[..2] == ["exec", "exec"] {
            // Lanes that were taken out come back: what was saved holds them all.
            let value = self.value_in(args[2]);
            self.write(first, value);
        } else if line.op.starts_with("s_") && (first == "exec" || !sgprs(first).is_empty()) {
            let value = self.new_value();
            self.write(first, value);
        }
    }
}

fn run(name: &str, target: &Subtarget, text: &str) -> Output {
    run_with(name, target, text, &[])
}

fn run_with(name: &str, target: &Subtarget, text: &str, options: &[&str]) -> Output {
    let mut command = Tool::new(name);
    command.args(options).args(["-o", "-"]).arg(format!("-mcpu={}", target.name));
    if name.ends_with("14") {
        command.arg("-opaque-pointers");
    }
    if target.has(isa::Feature::WAVE32) {
        command.arg(format!("-mattr=+wavefrontsize{}", target.wave_size));
    }
    command.input(text).output().unwrap()
}

fn llc(name: &str, target: &Subtarget, text: &str) -> String {
    let output = run(name, target, text);
    let says = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {target}: {}", &says[..says.len().min(2000)]);
    String::from_utf8(output.stdout).unwrap()
}

fn exists(name: &str) -> bool {
    let found = support::is_there(name);
    if !found {
        eprintln!("left out: there is no {name}");
    }
    found
}

/// Asks LLVM 19 something for a processor that is not among those of [`for_each_processor`].
pub fn for_new_processor(cpu: &str, text: &str, ask: impl Fn(&Code<'_>, &Subtarget)) {
    if exists("llc-19") {
        let target = Subtarget::by_name(cpu).unwrap();
        ask(&Code::new(&llc("llc-19", &target, text)), &target);
    }
}

/// What a compiler that does not take a text says; nothing if there is no such compiler.
pub fn refusal(name: &str, target: &Subtarget, text: &str) -> Option<String> {
    if !exists(name) {
        return None;
    }
    let output = run(name, target, text);
    assert!(!output.status.success());
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// All that `llc` prints for a version of code objects; nothing if there is no such compiler.
pub fn text_of_version(name: &str, target: &Subtarget, text: &str, version: u32) -> Option<String> {
    exists(name).then(|| {
        let output = run_with(name, target, text, &[&format!("--amdhsa-code-object-version={version}")]);
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    })
}

/// LLVM IR that clang makes of a source for gfx906; nothing if there is no such compiler.
pub fn clang_ir(name: &str, language: &str, text: &str) -> Option<String> {
    if !exists(name) {
        return None;
    }
    let mut command = Tool::new(name);
    command.args([
        "-target",
        "amdgcn-amd-amdhsa",
        "-mcpu=gfx906",
        "-nogpulib",
        "-S",
        "-emit-llvm",
        "-o",
        "-",
    ]);
    let output = command.args(["-x", language, "-"]).input(text).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Asks something of both LLVMs, for each of the processors that `wanted` takes. LLVM 14 is not asked what it does not know.
pub fn for_each_processor(
    text: &str,
    wanted: impl Fn(&Subtarget) -> bool,
    ask: impl Fn(&Code<'_>, Convention, &Subtarget),
) {
    for (name, convention) in [("llc-19", Convention::Today), ("llc-14", Convention::Llvm14)] {
        let new = ["lds.kernel.id", "..."].iter().any(|what| text.contains(what));
        if new && convention == Convention::Llvm14 || !exists(name) {
            continue;
        }
        for (cpu, lanes) in TARGETS {
            let target = Subtarget::by_name(cpu).and_then(|target| target.with_wave_size(lanes)).unwrap();
            if wanted(&target) {
                eprintln!("{name} {cpu}, {lanes} lanes");
                ask(&Code::new(&llc(name, &target, text)), convention, &target);
            }
        }
    }
}
