//! What is said of lanes grows with the regions that they wait for.

use crate::objects::{Source, compile};
use kernc::{DebugInfo, Dialect, Dwarf, OptLevel};
use object::{Object, ObjectSection};

/// Bytes that say where lanes are, of a kernel with so many branches in each other, each of which has another side.
fn lane_bytes(depth: u32) -> u64 {
    let open = |n: u32| format!("if x[i + {n}] > {n} {{ sum += {n} * x[i]; ");
    let close = |n: u32| format!(" x[i] = sum; }} else {{ sum ^= x[{n}]; }}");
    let inner: String = (0..depth).map(open).chain((0..depth).rev().map(close)).collect();
    let text = format!(
        "#[workgroup_size(64)]\nkernel k(x: *global u32) {{ let i = global_id(0); let mut sum = i; {inner} x[i] = sum; }}"
    );
    let source = Source { name: "nested.k".to_owned(), text };
    let size = |dialect| {
        let dwarf = Dwarf { dialect, ..Dwarf::default() };
        let object = compile(&source, "gfx906", OptLevel::O2, (DebugInfo::Full, dwarf));
        let file = object::File::parse(object.bytes()).expect("sound");
        let sections = [".debug_info", ".debug_loclists", ".debug_addr"];
        sections
            .map(|name| file.section_by_name(name).map_or(0, |section| section.size()))
            .iter()
            .sum::<u64>()
    };
    size(Dialect::Heterogeneous) - size(Dialect::Standard)
}

/// A region names the one around it, and does not say it again.
#[test]
fn what_is_said_of_lanes_grows_with_the_regions() {
    let [small, twice, four_times] = [10, 20, 40].map(lane_bytes);
    println!("{small}, {twice} and {four_times} bytes");
    let (first, second) = (twice - small, four_times - twice);
    assert!(second < 3 * first, "{first} bytes for ten more, {second} for twenty more");
}
