//! LLVM's verifier, and its symbolizer beside the line table and the inlined calls as kernc reads them.

use crate::debug_info::objects::{Judged, objects, paths, tool, tool_with_input};
use dwarf::{Content, Die};
use std::fmt::Write;

#[test]
fn the_verifier_finds_nothing() {
    for dumper in ["llvm-dwarfdump-14", "llvm-dwarfdump-19"] {
        let paths = paths();
        let args: Vec<&str> = std::iter::once("--verify").chain(paths.iter().copied()).collect();
        let Some(said) = tool(dumper, &args) else { continue };
        let is_wrong = |line: &&str| line.contains("error:") || line.contains("warning:");
        let wrong: Vec<&str> = said.out.lines().chain(said.err.lines()).filter(is_wrong).take(20).collect();
        assert!(said.good && wrong.is_empty(), "{dumper}: {wrong:#?}");
        assert_eq!(said.out.matches("No errors").count(), paths.len(), "{dumper}");
    }
}

/// A frame: the function, and where in the source it is.
type Frame = (String, String);

/// The frames at an address, the innermost first, as the line table and the entries have them.
fn frames(lines: &codeobj::disasm::Lines, info: &dwarf::DebugInfo, address: u64) -> Option<Vec<Frame>> {
    let place = lines.of_address(address)?;
    let mut place = format!("{}:{}:{}", place.file, place.line, place.column);
    let is_function = |die: &&Die| matches!(&*die.tag, "DW_TAG_subprogram" | "DW_TAG_inlined_subroutine");
    let has = |die: &&Die| die.ranges().iter().any(|&(from, to)| (from..to).contains(&address));
    let mut around: Vec<&Die> = info.entries.iter().filter(is_function).filter(has).collect();
    around.sort_by_key(|die| std::cmp::Reverse(die.depth));
    let mut frames = Vec::new();
    for die in around {
        let number = |name: &str| match die.get(name) {
            Some(Content::Number(number)) => *number,
            _ => 0,
        };
        let (line, column) = (number("DW_AT_call_line"), number("DW_AT_call_column"));
        let call = format!("{}:{line}:{column}", die.text("DW_AT_call_file").unwrap_or("?"));
        let name = info.name_of(die).unwrap_or("?").to_owned();
        frames.push((name, std::mem::replace(&mut place, call)));
    }
    Some(frames)
}

/// Addresses where rows begin and that are of a line, with their frames.
fn expected(judged: &Judged) -> Vec<(u64, Vec<Frame>)> {
    let (lines, info) = (judged.lines(), judged.info());
    let mut addresses: Vec<u64> = lines.rows().map(|(address, _)| address).collect();
    addresses.dedup();
    let with_frames = |address| Some((address, frames(&lines, &info, address)?));
    addresses.into_iter().filter_map(with_frames).collect()
}

#[test]
fn the_symbolizer_says_the_same() {
    let expected: Vec<(&Judged, u64, Vec<Frame>)> = objects()
        .iter()
        .flat_map(|judged| expected(judged).into_iter().map(move |(at, frames)| (judged, at, frames)))
        .collect();
    let mut input = String::new();
    for (judged, address, _) in &expected {
        let _ = writeln!(input, "CODE {} {address:#x}", judged.path);
    }
    assert!(expected.iter().any(|(.., frames)| frames.len() == 3), "calls are inlined in inlined ones");
    for symbolizer in ["llvm-symbolizer-14", "llvm-symbolizer-19"] {
        let Some(said) = tool_with_input(symbolizer, &["--inlines"], &input) else { continue };
        assert!(said.good && said.err.is_empty(), "{symbolizer}: {}", said.err);
        let mut answers = said.out.split("\n\n");
        for (judged, address, frames) in &expected {
            let answer = answers.next().unwrap_or_default();
            let lines: Vec<&str> = answer.lines().collect();
            let pairs = lines.chunks_exact(2).map(|pair| (pair[0], pair[1].trim_start_matches("./")));
            let found: Vec<Frame> = pairs.map(|(name, place)| (name.to_owned(), place.to_owned())).collect();
            assert_eq!(&found, frames, "{symbolizer}: {} at {address:#x}", judged.path);
        }
    }
    println!("{} places", expected.len());
}
