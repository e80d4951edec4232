//! Size of our code beside clang's: instructions and VGPRs of the 21 kernels at -O2 and -O3. Prints the table that
//! docs/performance.md quotes (`cargo test --test code_size -- --nocapture`), and holds the project to it.

mod common;

use common::{KERNELS, clang, compile, have, scratch, tool};
use kernc::OptLevel;

/// Most that our geometric mean may be of clang's.
const BOUND: f64 = 1.15;

/// Instructions of the kernel's symbol, without the padding behind it, and VGPRs of the metadata.
fn clangs(kernel: &str, dir: &std::path::Path) -> (u32, u32) {
    let path = clang(kernel, "-O3", dir);
    let path = path.to_str().unwrap();
    let bytes = std::fs::read(path).unwrap();
    let size = {
        use object::{Object, ObjectSymbol};
        let file = object::File::parse(bytes.as_slice()).unwrap();
        file.symbols().find(|symbol| symbol.name() == Ok(kernel)).unwrap().size()
    };
    let listing = tool("llvm-objdump-19", &["-d", "--mcpu=gfx906", "--no-leading-addr", path]);
    // `// 000000001600: BF810000`: address and words follow the text.
    let lines = listing.lines().filter_map(|line| line.split_once("//")?.1.trim().split_once(':'));
    let lines: Vec<(u64, u64)> = lines
        .map(|(address, words)| {
            let words = words.split_whitespace().take_while(|word| word.len() == 8).count() as u64;
            (u64::from_str_radix(address, 16).unwrap(), words * 4)
        })
        .collect();
    let start = lines[0].0;
    let instructions = lines.iter().filter(|(address, _)| *address < start + size).count() as u32;
    let notes = tool("llvm-readelf-19", &["--notes", path]);
    let vgprs = notes.lines().find_map(|line| line.trim().strip_prefix(".vgpr_count:")).unwrap();
    (instructions, vgprs.trim().parse().unwrap())
}

#[test]
fn beside_clang() {
    if !have(&["clang-19", "llvm-objdump-19", "llvm-readelf-19"], "beside_clang") {
        return;
    }
    let dir = scratch("code_size");
    println!("| kernel | instructions | clang -O3 | ratio | VGPRs | clang -O3 | ratio |\n|-|-|-|-|-|-|-|");
    let (mut sum_instructions, mut sum_vgprs) = (0.0, 0.0);
    for kernel in KERNELS {
        let (instructions, vgprs) = clangs(kernel, &dir);
        let object = compile(kernel, OptLevel::O2);
        let ours = object.kernels()[0].resources;
        let ratio = |ours: u32, theirs: u32| f64::from(ours) / f64::from(theirs);
        let (by_count, by_vgprs) = (ratio(ours.instructions, instructions), ratio(ours.vgprs, vgprs));
        println!(
            "| {kernel} | {} | {instructions} | {by_count:.2} | {} | {vgprs} | {by_vgprs:.2} |",
            ours.instructions, ours.vgprs
        );
        sum_instructions += by_count.ln();
        sum_vgprs += by_vgprs.ln();
    }
    let mean = |sum: f64| (sum / KERNELS.len() as f64).exp();
    let (instructions, vgprs) = (mean(sum_instructions), mean(sum_vgprs));
    println!("| geometric mean | | | **{instructions:.3}** | | | **{vgprs:.3}** |");
    assert!(instructions <= BOUND, "instructions: {instructions}");
    assert!(vgprs <= BOUND, "VGPRs: {vgprs}");
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
