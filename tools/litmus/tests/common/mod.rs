//! What the tests share: the shapes, the processors, and how much is run.
#![allow(dead_code)]

use litmus::{Machine, Shape, machines};
use std::path::{Path, PathBuf};

/// All shapes, those with fewer threads first: they are quicker.
pub fn shapes() -> Vec<Shape> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/litmus");
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("the shapes are there")
        .filter_map(|entry| {
            Some(entry.ok()?.path()).filter(|path| path.extension().is_some_and(|e| e == "litmus"))
        })
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a shape can be read");
        Shape::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let mut shapes: Vec<Shape> = files.iter().map(read).collect();
    shapes.sort_by_key(|shape| shape.threads.len());
    shapes
}

/// Whether `KERNC_LITMUS=full` asks for everything.
pub fn full() -> bool {
    std::env::var("KERNC_LITMUS").is_ok_and(|value| value == "full")
}

/// Processors of each generation, both modes of GFX10; a few of them in a short run.
pub fn processors(few: &[&str]) -> Vec<Machine> {
    let all = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx1010", "gfx1030"];
    machines(if full() { &all } else { few })
}
