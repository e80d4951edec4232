//! The tables of `docs/memory-model.md` are the tables of the code.

use isa::target::Generation;
use memmodel::counters::CLASSES;
use memmodel::rules;
use memmodel::sequences::{HINTS, Place, ROWS, Sequence, Steps};
use std::fmt::Write as _;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/memory-model.md");

fn steps(steps: Steps) -> String {
    let words = [
        (Steps::VM, "vmcnt"),
        (Steps::LGKM, "lgkmcnt"),
        (Steps::LGKM_ACROSS, "(lgkmcnt)"),
        (Steps::INVALIDATE, "invalidate"),
    ];
    let words: Vec<&str> =
        words.iter().filter(|(step, _)| steps.contains(*step)).map(|(_, word)| *word).collect();
    if words.is_empty() { "-".into() } else { words.join(", ") }
}

fn place(place: &Place) -> &'static str {
    match place {
        Place::Global => "global",
        Place::Local => "local",
        Place::Generic => "generic",
        Place::None => "-",
    }
}

fn sequences() -> String {
    let mut text = String::from(
        "| | order | scopes | spaces | before | access | after | line |\n|---|---|---|---|---|---|---|---|\n",
    );
    for row in ROWS {
        let Sequence { before, glc, after } = row.sequence(Generation::Gfx9);
        let scopes: Vec<String> =
            row.scopes.iter().map(|scope| format!("{scope:?}").to_lowercase()).collect();
        let scopes = if scopes.len() == 5 { "any".into() } else { scopes.join(", ") };
        let places: Vec<&str> = row.places.iter().map(place).collect();
        let order = row.name.strip_prefix(row.kind.name()).unwrap().split_whitespace().next().unwrap();
        let (before, after, glc) = (steps(before), steps(after), if glc { "glc" } else { "-" });
        writeln!(
            text,
            "| {} | {order} | {scopes} | {} | {before} | {glc} | {after} | {} |",
            row.kind.name(),
            places.join(", "),
            row.line
        )
        .unwrap();
    }
    text
}

fn hints() -> String {
    let mut text = String::from("| access | hint | bits |\n|---|---|---|\n");
    for (kind, hint, glc, slc) in HINTS {
        let bits = [(glc, "glc"), (slc, "slc")];
        let bits: Vec<&str> = bits.iter().filter(|(set, _)| *set).map(|(_, bit)| *bit).collect();
        let kind = kind.name().split_whitespace().next().unwrap();
        writeln!(text, "| {kind} | {hint} | {} |", bits.join(" ")).unwrap();
    }
    text
}

fn classes() -> String {
    let mut text =
        String::from("| counter | class | in order | ordered by fences | counts |\n|---|---|---|---|---|\n");
    for class in &CLASSES {
        let yes = |value| if value { "yes" } else { "no" };
        let counts = if class.reads_sources { "sources read" } else { "completion" };
        writeln!(
            text,
            "| {} | {} | {} | {} | {counts} |",
            class.counter.name(),
            class.name,
            yes(class.in_order),
            yes(class.ordered_by_fences)
        )
        .unwrap();
    }
    text
}

fn hazards() -> String {
    let mut text = String::from("| first, then second | wait states |\n|---|---|\n");
    for rule in rules::rules(Generation::Gfx9) {
        writeln!(text, "| {} | {} |", rule.name, rule.states).unwrap();
    }
    text
}

#[test]
fn tables_are_up_to_date() {
    let old = std::fs::read_to_string(PATH).unwrap();
    let mut new = old.clone();
    for (name, table) in
        [("sequences", sequences()), ("hints", hints()), ("classes", classes()), ("hazards", hazards())]
    {
        let begin = format!("<!-- begin {name} -->\n");
        let start = new.find(&begin).unwrap() + begin.len();
        let end = start + new[start..].find(&format!("<!-- end {name} -->")).unwrap();
        new.replace_range(start..end, &table);
    }
    if std::env::var_os("KERNC_BLESS").is_some() {
        std::fs::write(PATH, &new).unwrap();
    } else {
        assert!(old == new, "docs/memory-model.md: run this test with KERNC_BLESS=1");
    }
}

/// Names say what the rows say.
#[test]
fn names_of_rows() {
    for row in ROWS {
        let order = match format!("{:?}", row.order).as_str() {
            "Relaxed" => "monotonic".to_owned(),
            "AcqRel" => "acq_rel".to_owned(),
            "SeqCst" => "seq_cst".to_owned(),
            order => order.to_lowercase(),
        };
        let prefix = format!("{} {order}", row.kind.name());
        assert!(row.name.starts_with(&prefix), "{}", row.name);
        let rest: Vec<&str> = row.name[prefix.len()..].split_whitespace().collect();
        for word in rest {
            let scope = row.scopes.iter().any(|scope| format!("{scope:?}").to_lowercase() == word);
            assert!(scope || row.places.iter().any(|it| place(it) == word), "{}: {word}", row.name);
        }
    }
}

/// Every combination that can be asked for has exactly one row.
#[test]
fn rows_cover_all_and_do_not_overlap() {
    use isa::{MemRef, SyncOrder, SyncScope};
    use memmodel::sequences::{self, Kind};
    let scopes = [
        SyncScope::SingleThread,
        SyncScope::Wavefront,
        SyncScope::Workgroup,
        SyncScope::Agent,
        SyncScope::System,
    ];
    let orders = [
        SyncOrder::Unordered,
        SyncOrder::Relaxed,
        SyncOrder::Acquire,
        SyncOrder::Release,
        SyncOrder::AcqRel,
        SyncOrder::SeqCst,
    ];
    for kind in [Kind::Load, Kind::Store, Kind::Rmw, Kind::Fence] {
        for order in orders {
            for scope in scopes {
                for spaces in [2u8, 8, 10, 42] {
                    let mem = MemRef { order, scope, spaces, ..MemRef::default() };
                    let wanted = sequences::normalise(kind, order).is_some();
                    assert_eq!(sequences::lookup(kind, &mem, false).is_some(), wanted, "{kind:?} {mem:?}");
                }
            }
        }
    }
    for (index, a) in ROWS.iter().enumerate() {
        for b in &ROWS[index + 1..] {
            let same = a.kind == b.kind
                && a.order == b.order
                && a.scopes.iter().any(|scope| b.scopes.contains(scope))
                && a.places.iter().any(|place| b.places.contains(place));
            assert!(!same, "{} and {}", a.name, b.name);
        }
    }
}
