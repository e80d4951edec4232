//! What is said of lanes grows with the regions that they wait for.

use crate::debug_info::objects::{Source, compile};
use ::dwarf::Content;
use kernc::{DebugInfo, Dialect, Dwarf, OptLevel};

/// Bytes that say where lanes are, of a kernel with so many branches in each other, each of which has another side.
fn lane_bytes(depth: u32) -> usize {
    let open = |n: u32| format!("if x[i + {n}] > {n} {{ sum += {n} * x[i]; ");
    let close = |n: u32| format!(" x[i] = sum; }} else {{ sum ^= x[{n}]; }}");
    let inner: String = (0..depth).map(open).chain((0..depth).rev().map(close)).collect();
    let text = format!(
        "#[workgroup_size(64)]\nkernel k(x: *global u32) {{ let i = global_id(0); let mut sum = i; {inner} x[i] = sum; }}"
    );
    let source = Source { name: "nested.k".to_owned(), text };
    let dwarf = Dwarf { dialect: Dialect::Heterogeneous, ..Dwarf::default() };
    let object = compile(&source, "gfx1030", OptLevel::O2, (DebugInfo::Full, dwarf));
    let object = codeobj::CodeObject::parse(object.bytes()).expect("sound");
    let info = ::dwarf::DebugInfo::read(&object).expect("sound");
    let bytes =
        info.entries.iter().map(|entry| match (entry.tag.as_str(), entry.get("DW_AT_LLVM_lane_pc")) {
            (_, Some(Content::Locations(list))) => list.iter().map(|one| one.expression.len() + 4).sum(),
            ("DW_TAG_dwarf_procedure", _) => match entry.get("DW_AT_location") {
                Some(Content::Expression(expression)) => expression.len() + 1,
                _ => 0,
            },
            _ => 0,
        });
    bytes.sum()
}

/// A region names the one around it, and does not say it again: as long as masks stay where they are, which 40 of them do in waves of 32 lanes.
#[test]
fn what_is_said_of_lanes_grows_with_the_regions() {
    let [small, twice, four_times] = [10, 20, 40].map(lane_bytes);
    println!("{small}, {twice} and {four_times} bytes");
    let (first, second) = (twice - small, four_times - twice);
    assert!(second < 3 * first, "{first} bytes for ten more, {second} for twenty more");
}
