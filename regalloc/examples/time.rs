//! Time per instruction of allocation, on random functions: `cargo run --release -p kernc-regalloc --example time`.

#[path = "../tests/generate/mod.rs"]
mod generate;

use generate::{Shape, generate};
use isa::Subtarget;
use regalloc::{Context, Options};
use std::time::{Duration, Instant};

fn main() {
    let Some(target) = Subtarget::by_name("gfx906") else { return };
    println!("{:>8} {:>8} {:>8} {:>8} {:>9} {:>9}", "insts", "blocks", "VGPRs", "moves", "us", "ns/inst");
    let only: Option<usize> = std::env::args().nth(1).and_then(|count| count.parse().ok());
    for (insts, reach, depth) in [
        (20, 6, 0),
        (100, 8, 2),
        (500, 10, 3),
        (2000, 10, 0),
        (2000, 10, 4),
        (8000, 10, 3),
        (20000, 10, 0),
        (20001, 10, 2),
    ] {
        if only.is_some_and(|only| only != insts) {
            continue;
        }
        let original = generate(7, Shape { insts, reach, depth });
        let mut ctx = Context::default();
        let mut best = Duration::MAX;
        let mut outcome = Ok(regalloc::Stats::default());
        let mut vgprs = 0;
        for _ in 0..(40_000 / insts).clamp(5, 500) {
            let mut func = original.clone();
            let start = Instant::now();
            outcome = regalloc::run(&mut func, &target, &Options::default(), &mut ctx);
            best = best.min(start.elapsed());
            vgprs = func.vgprs;
        }
        let count: usize = original.blocks.values().map(|block| block.insts.len()).sum();
        let stats = match outcome {
            Ok(stats) => stats,
            Err(error) => {
                println!("{count:>8} {error}");
                continue;
            }
        };
        let (us, blocks) = (best.as_secs_f64() * 1e6, original.blocks.len());
        println!(
            "{count:>8} {blocks:>8} {vgprs:>8} {:>8} {us:>9.1} {:>9.0}   {:?}",
            stats.moves,
            us * 1e3 / count as f64,
            (stats.pressure, stats.rounds)
        );
    }
}
