//! pyelftools, beside the numbers of what kernc reads.

use crate::debug_info::objects::{Judged, objects, tool};
use dwarf::Content;

/// Whether there is one that knows DWARF 5: Debian's 0.29 does not know `DW_FORM_strx`.
const CHECK: &str = "import elftools; assert tuple(map(int, elftools.__version__.split('.'))) >= (0, 33)";

fn is_installed() -> bool {
    tool("python3", &["-c", CHECK]).is_some_and(|said| said.good)
}

/// Numbers of entries, places, parts of lists of ranges, and rows.
fn counts(judged: &Judged) -> [usize; 4] {
    let info = judged.info();
    let (mut places, mut parts) = (0, 0);
    for attribute in info.entries.iter().flat_map(|die| &die.attributes) {
        match &attribute.content {
            Content::Expression(_) => places += 1,
            Content::Locations(list) => places += list.len(),
            Content::Ranges(list) if attribute.name == "DW_AT_ranges" => parts += list.len(),
            _ => {}
        }
    }
    [info.entries.len(), places, parts, judged.lines().rows().count()]
}

#[test]
fn pyelftools_reads_as_much() {
    if !is_installed() {
        assert!(std::env::var_os("KERNC_PYELFTOOLS").is_none(), "pyelftools 0.33 has to be there");
        return println!("left out: python3 has no pyelftools 0.33");
    }
    let judged: Vec<&Judged> = objects().iter().collect();
    let script = "tests/debug_info/pyelftools.py";
    let args: Vec<&str> = std::iter::once(script).chain(judged.iter().map(|one| one.path.as_str())).collect();
    let said = tool("python3", &args).expect("just called");
    assert!(said.good && said.err.is_empty(), "{}", said.err);
    assert_eq!(said.out.lines().count(), judged.len());
    for (line, judged) in said.out.lines().zip(judged) {
        let numbers: Vec<usize> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        assert_eq!(numbers[..4], counts(judged), "{}: entries, places, ranges, rows", judged.path);
        assert!(numbers[4] >= 2, "{}: entries of call frame information", judged.path);
    }
}
