//! The tables of `docs/memory-model.md` are the tables of the code.

use isa::{CacheLevels, Counter, ModFlags, PROCESSORS, Target};
use memmodel::counters::{CLASSES, Event, Tells, events as classes_of_events, indices};
use memmodel::rules::{Insert, Mitigation, RULES};
use memmodel::sequences::{Place, ROWS, Sequence, Steps, What, When};
use std::fmt::Write as _;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/memory-model.md");

/// Returns the families of the table of processors with their names on the page, each with its first processor.
fn families() -> Vec<(String, &'static Target)> {
    let mut families: Vec<(String, &Target)> = Vec::new();
    for target in &PROCESSORS {
        let name = format!("{:?}", target.arch).to_uppercase().replace('_', ".").replace("GFX90A", "gfx90a");
        if families.iter().all(|(other, _)| *other != name) {
            families.push((name, target));
        }
    }
    families
}

/// Returns the heading of a table with a column for each family.
fn heading(first: &str, rest: &[&str]) -> String {
    let families = families();
    let names = families.iter().map(|(name, _)| name.as_str());
    let cells: Vec<&str> = [first].into_iter().chain(names).chain(rest.iter().copied()).collect();
    format!("| {} |\n|{}\n", cells.join(" | "), "---|".repeat(cells.len()))
}

/// A word as the page has it: `(x)` if address spaces are ordered with each other, `[x]` where a group is split, `{x}` at
/// system scope.
fn word(what: &str, when: When) -> String {
    let mut text = what.to_owned();
    let marks = [(When::ACROSS | When::GLOBAL, '(', ')'), (When::SPLIT, '[', ']'), (When::SYSTEM, '{', '}')];
    for (mark, open, close) in marks {
        if when.intersects(mark) {
            text = format!("{open}{text}{close}");
        }
    }
    text
}

/// The three cells of a sequence: before, bits, after.
fn cells(sequence: &Sequence) -> [String; 3] {
    let mut cells: [Vec<String>; 3] = Default::default();
    let mut past = false;
    for &memmodel::sequences::Word { what, when } in sequence.words() {
        let (cell, text) = match what {
            What::Access => {
                past = true;
                continue;
            }
            What::Glc => (1, "glc"),
            What::Dlc => (1, "dlc"),
            What::Own => (2 * usize::from(past), "own"),
            What::Step(step) => (2 * usize::from(past), step_name(step)),
        };
        cells[cell].push(word(text, when));
    }
    cells.map(|words| if words.is_empty() { "-".into() } else { words.join(", ") })
}

fn step_name(step: Steps) -> &'static str {
    let names = [
        (Steps::WRITE_BACK, "write back"),
        (Steps::VM, "vmcnt"),
        (Steps::VS, "vscnt"),
        (Steps::LGKM, "lgkmcnt"),
        (Steps::INVALIDATE_OUTER, "invalidate outer"),
        (Steps::INVALIDATE, "invalidate"),
    ];
    names.iter().find(|(other, _)| *other == step).expect("one step").1
}

fn space_name(place: &Place) -> &'static str {
    match place {
        Place::Global => "global",
        Place::Local => "local",
        Place::Generic => "generic",
        Place::None => "-",
    }
}

fn sequences(caches: CacheLevels) -> String {
    let mut text = String::from(
        "| | order | scopes | spaces | before | access | after | line |\n|---|---|---|---|---|---|---|---|\n",
    );
    for row in ROWS {
        let [before, bits, after] = cells(&row.cells[caches as usize]);
        let scopes: Vec<String> =
            row.scopes.iter().map(|scope| format!("{scope:?}").to_lowercase()).collect();
        let scopes = if scopes.len() == 5 { "any".into() } else { scopes.join(", ") };
        let places: Vec<&str> = row.places.iter().map(space_name).collect();
        let order = row.name.strip_prefix(row.kind.name()).unwrap().split_whitespace().next().unwrap();
        writeln!(
            text,
            "| {} | {order} | {scopes} | {} | {before} | {bits} | {after} | {} |",
            row.kind.name(),
            places.join(", "),
            row.line
        )
        .unwrap();
    }
    text
}

fn caches_name(caches: CacheLevels) -> &'static str {
    match caches {
        CacheLevels::SharedL2 => "L1, coherent L2",
        CacheLevels::OwnL2 => "L1, own L2",
        CacheLevels::Gl0Gl1L2 => "GL0, GL1, coherent L2",
    }
}

fn caches() -> String {
    let mut text = String::from(
        "| family | caches | invalidate | invalidate outer | write back | volatile load | nontemporal load | nontemporal store |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (family, target) in families() {
        let name = |op: Option<isa::Opcode>| op.map_or("-".into(), |op| format!("`{}`", op.row().name));
        let bits = |flags: ModFlags| {
            let bits = [(ModFlags::GLC, "glc"), (ModFlags::SLC, "slc"), (ModFlags::DLC, "dlc")];
            let bits: Vec<&str> =
                bits.iter().filter(|(bit, _)| flags.contains(*bit)).map(|(_, bit)| *bit).collect();
            bits.join(" ")
        };
        let facts = &target.arch.memory_model;
        writeln!(
            text,
            "| {family} | {} | {} | {} | {} | {} | {} | {} |",
            caches_name(facts.caches),
            name(Some(facts.invalidate)),
            name(facts.invalidate_outer),
            name(facts.write_back),
            bits(facts.volatile_load),
            bits(facts.nontemporal_load),
            bits(facts.nontemporal_store)
        )
        .unwrap();
    }
    text
}

fn classes() -> String {
    let mut text =
        String::from("| counter | class | in order | ordered by fences | tells |\n|---|---|---|---|---|\n");
    for class in &CLASSES {
        let yes = |value| if value { "yes" } else { "no" };
        let tells = match class.tells {
            Tells::Done => "completion",
            Tells::SourcesRead => "sources read",
            Tells::DataRead => "data read",
        };
        writeln!(
            text,
            "| {} | {} | {} | {} | {tells} |",
            class.counter.name(),
            class.name,
            yes(class.in_order),
            yes(class.ordered_by_fences)
        )
        .unwrap();
    }
    text
}

/// Events by family, and how far each counter counts.
fn events() -> String {
    let families = families();
    let mut text = heading("", &[]);
    const ALL: [Event; 12] = [
        Event::Load,
        Event::Store,
        Event::Exchange,
        Event::FlatLoad,
        Event::FlatStore,
        Event::FlatExchange,
        Event::Lds,
        Event::Gds,
        Event::WaveSync,
        Event::Scalar,
        Event::Message,
        Event::Export,
    ];
    for event in ALL {
        let mut name = String::new();
        for (index, letter) in format!("{event:?}").chars().enumerate() {
            if letter.is_uppercase() && index > 0 {
                name.push(' ');
            }
            name.extend(letter.to_lowercase());
        }
        let cells: Vec<String> = families
            .iter()
            .map(|(_, target)| {
                let classes = indices(classes_of_events(&target.arch.memory_model)[event as usize]);
                let names: Vec<String> = classes
                    .map(|class| format!("{} ({})", CLASSES[class].counter.name(), CLASSES[class].name))
                    .collect();
                if names.is_empty() { "-".into() } else { names.join(", ") }
            })
            .collect();
        writeln!(text, "| {name} | {} |", cells.join(" | ")).unwrap();
    }
    for counter in Counter::ALL {
        let max = families.iter().map(|(_, target)| match counter.max(target) {
            0 => "-".into(),
            max => format!("up to {max}"),
        });
        let max: Vec<String> = max.collect();
        writeln!(text, "| `{}` | {} |", counter.name(), max.join(" | ")).unwrap();
    }
    text
}

fn hazards() -> String {
    let (families, mut text) = (families(), heading("first, then second", &["mitigated by"]));
    for rule in &RULES {
        let states = families.iter().map(|(_, target)| match target.arch.hazards.states(rule.hazard) {
            0 => "-".to_owned(),
            states => states.to_string(),
        });
        let states: Vec<String> = states.collect();
        let mitigation = match rule.mitigation {
            Mitigation::States => "wait states".to_owned(),
            Mitigation::Instruction { insert, .. } => insert_name(insert),
        };
        writeln!(text, "| {} | {} | {mitigation} |", rule.name, states.join(" | ")).unwrap();
    }
    text
}

/// Each hazard that a family can have is detected and mitigated by exactly one rule.
#[test]
fn each_hazard_has_one_rule() {
    let mut hazards: Vec<usize> = RULES.iter().map(|rule| rule.hazard as usize).collect();
    hazards.sort_unstable();
    assert!(hazards.into_iter().eq(0..isa::Hazard::COUNT));
}

fn insert_name(insert: Insert) -> String {
    match insert {
        Insert::Depctr(mask) => format!("`s_waitcnt_depctr {mask:#x}`"),
        Insert::MoveNull => "`s_mov_b32 null, 0`".into(),
        Insert::MoveOwn => "`v_mov_b32` of its destination to itself".into(),
        Insert::WaitVs => "`s_waitcnt_vscnt null, 0`".into(),
        Insert::MoveVcc => "`s_mov_b64 vcc, vcc`".into(),
        Insert::WaitAndMoveVcc => "`s_waitcnt lgkmcnt(0)`, `s_mov_b64 vcc, vcc`".into(),
        Insert::Nop => "`s_nop 0`".into(),
    }
}

#[test]
fn tables_are_up_to_date() {
    let old = std::fs::read_to_string(PATH).unwrap();
    let mut new = old.clone();
    for (name, table) in [
        ("sequences", sequences(CacheLevels::SharedL2)),
        ("sequences of gfx90a", sequences(CacheLevels::OwnL2)),
        ("sequences of GFX10", sequences(CacheLevels::Gl0Gl1L2)),
        ("caches", caches()),
        ("classes", classes()),
        ("events", events()),
        ("hazards", hazards()),
    ] {
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
            assert!(scope || row.places.iter().any(|it| space_name(it) == word), "{}: {word}", row.name);
        }
    }
}

/// Every combination that can be asked for has exactly one row.
#[test]
fn rows_cover_all_and_do_not_overlap() {
    use memmodel::sequences::{self, Kind};
    use mir::{MemRef, SyncOrder, SyncScope};
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
                    assert_eq!(sequences::lookup(kind, &mem).is_some(), wanted, "{kind:?} {mem:?}");
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
