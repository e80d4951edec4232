//! Size of our code beside clang's on each generation: instructions and VGPRs of the 21 kernels at -O2 and -O3. Prints the tables of
//! which docs/performance.md quotes some (`cargo test --test kernc code_size:: -- --nocapture`), and holds the project to them.

use crate::common::{KERNELS, compile_as, have, root, tool};
use kernc::{Language, OptLevel, Subtarget};

/// Most that our geometric means may be of clang's.
const BOUND: f64 = 0.85;

/// A kernel of which we need more than this many times what clang needs has its reason in [`REASONS`].
const NOTABLE: f64 = 1.2;

/// A processor, in waves of its default size or of 64 lanes.
struct Column {
    processor: &'static str,
    wave64: bool,
}

const fn column(processor: &'static str) -> Column {
    Column { processor, wave64: false }
}

/// One for each kind of code that differs much.
const COLUMNS: [Column; 8] = [
    column("gfx600"),
    column("gfx700"),
    column("gfx803"),
    column("gfx906"),
    column("gfx90a"),
    column("gfx1010"),
    Column { processor: "gfx1010", wave64: true },
    column("gfx1030"),
];

/// Processor, kernel, and why it needs so much.
const REASONS: [(&str, &str, &str); 2] =
    [("gfx1010", "sgemm_lds", EARLY_LOADS), ("gfx1030", "sgemm_lds", EARLY_LOADS)];
const EARLY_LOADS: &str = "VGPRs hold more LDS loads in flight, as many as cost no wave of occupancy";

/// Instructions and VGPRs of a kernel.
#[derive(Clone, Copy)]
struct Size {
    instructions: u32,
    vgprs: u32,
}

impl Column {
    fn name(&self) -> String {
        format!("{}{}", self.processor, if self.wave64 { ", wave64" } else { "" })
    }

    fn our_size(&self, kernel: &str) -> Size {
        let mut target = Subtarget::by_name(self.processor).unwrap();
        if self.wave64 {
            target = target.with_wave_size(64).unwrap();
        }
        let object = compile_as(kernel, OptLevel::O2, target, Language::default());
        let resources = object.kernels()[0].resources;
        Size { instructions: resources.instructions, vgprs: resources.vgprs }
    }

    /// By clang's listing: llvm-objdump does not read the code of GFX6 and GFX7.
    fn clangs(&self, kernel: &str) -> Size {
        let source = root().join("tests/cl").join(format!("{kernel}.cl"));
        let cpu = format!("-mcpu={}", self.processor);
        let mut args = vec!["-x", "cl", "-target", "amdgcn-amd-amdhsa", &cpu];
        args.extend(self.wave64.then_some("-mwavefrontsize64"));
        args.extend(["-nogpulib", "-O3", "-cl-std=CL2.0", "-S", "-o", "-", source.to_str().unwrap()]);
        let listing = tool("clang-19", &args);
        let (_, behind) = listing.split_once(&format!("\n{kernel}:")).unwrap();
        // What follows the code is in another section.
        let (code, _) = behind.split_once("\t.section").unwrap();
        let instruction = |line: &&str| {
            line.strip_prefix('\t').is_some_and(|text| text.starts_with(|c: char| c.is_ascii_lowercase()))
        };
        let vgprs = listing.lines().find_map(|line| line.trim().strip_prefix(".vgpr_count:")).unwrap();
        Size {
            instructions: code.lines().filter(instruction).count() as u32,
            vgprs: vgprs.trim().parse().unwrap(),
        }
    }

    /// Prints the table; what is beyond the bars.
    fn compare(&self) -> Vec<String> {
        let name = self.name();
        println!(
            "| {name} | instructions | clang -O3 | ratio | VGPRs | clang -O3 | ratio |\n|-|-|-|-|-|-|-|"
        );
        let mut sums = [0.0; 2];
        let mut beyond = Vec::new();
        for kernel in KERNELS {
            let (ours, theirs) = (self.our_size(kernel), self.clangs(kernel));
            let ratios = [(ours.instructions, theirs.instructions), (ours.vgprs, theirs.vgprs)]
                .map(|(ours, theirs)| f64::from(ours) / f64::from(theirs));
            let [by_count, by_vgprs] = ratios;
            println!(
                "| {kernel} | {} | {} | {by_count:.2} | {} | {} | {by_vgprs:.2} |",
                ours.instructions, theirs.instructions, ours.vgprs, theirs.vgprs
            );
            (0..2).for_each(|n| sums[n] += ratios[n].ln());
            if ratios.into_iter().any(|ratio| ratio > NOTABLE) {
                match REASONS.iter().find(|row| (row.0, row.1) == (self.processor, kernel)) {
                    Some((.., reason)) => println!("| | {reason} |"),
                    None => beyond
                        .push(format!("{name}, {kernel}: {by_count:.2}, {by_vgprs:.2}, no reason known")),
                }
            }
        }
        let [instructions, vgprs] = sums.map(|sum| (sum / KERNELS.len() as f64).exp());
        println!("| geometric mean | | | **{instructions:.3}** | | | **{vgprs:.3}** |\n");
        if instructions > BOUND || vgprs > BOUND {
            beyond.push(format!("{name}: geometric means {instructions:.3} and {vgprs:.3}"));
        }
        beyond
    }
}

#[test]
fn beside_clang() {
    if !have(&["clang-19"], "beside_clang") {
        return;
    }
    let beyond: Vec<String> = COLUMNS.iter().flat_map(Column::compare).collect();
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

/// saxpy with a promise about offsets (`#[small_buffers]`), with a bound on `n`, and without either.
#[test]
fn saxpy_addressing() {
    let count = |source: &str| {
        let target = kernc::Target::by_name("gfx906").unwrap();
        let object = kernc::Compiler::new(target).compile(source, &kernc::Options::default()).unwrap();
        object.kernels()[0].resources.instructions
    };
    let source = |attribute: &str, promise: &str| {
        format!(
            "#[workgroup_size(256)]\n{attribute}\n\
             kernel saxpy(x: *const restrict global f32, y: *restrict global f32, a: f32, n: u32) {{\n\
             {promise}\nlet i = global_id(0);\nif i < n {{ y[i] = a * x[i] + y[i]; }} }}"
        )
    };
    let asserted = count(&source("#[small_buffers]", ""));
    let proven = count(&source("", "assume(n <= 1 << 30);"));
    let general = count(&source("", ""));
    println!("saxpy: {asserted} instructions asserted, {proven} proven, {general} in general");
    assert!(asserted <= 16 && proven <= 16 && general <= 22, "{asserted} {proven} {general}");
}
