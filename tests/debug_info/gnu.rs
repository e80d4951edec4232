//! GNU's readers, and GDB for an architecture that is not theirs.

use crate::debug_info::objects::{Judged, objects, scratch, tool};
use dwarf::Die;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::hash::Hasher;

/// All that readelf can show of sections that there are.
const SHOWN: &str = "--debug-dump=info,abbrev,decodedline,rawline,loc,Ranges,str,str-offsets,addr";

#[test]
fn readelf_does_not_complain() {
    // One after the other: readelf 2.40 takes what it knows of a file for the next one's.
    for judged in objects() {
        let Some(said) = tool("readelf", &[SHOWN, &judged.path]) else { return };
        let complains = said.out.to_lowercase().contains("warning") || !said.err.is_empty();
        assert!(said.good && !complains, "{}: {}", judged.path, said.err);
        assert!(said.out.contains("(DW_TAG_compile_unit)"), "{}", judged.path);
    }
}

/// What GDB prints between two marks.
const MARK: &str = "-- kernc";

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// One of GDB's answers for each command, by file; none where it is not installed.
fn gdb(asked: &[(&Judged, Vec<String>)]) -> Option<Vec<Vec<String>>> {
    let mut script = "set pagination off\nset width 0\n".to_owned();
    for (judged, commands) in asked {
        // GDB's answers are kept by the contents of the script, so the script names the contents of the file.
        let bytes = std::fs::read(&judged.path).expect("readable");
        let _ = writeln!(script, "# {:x}\nfile {}", hash_of(&bytes), judged.path);
        for command in commands {
            let _ = writeln!(script, "echo {MARK}\\n\n{command}");
        }
        let _ = writeln!(script, "echo {MARK}\\n");
    }
    let file = scratch("gdb.commands");
    std::fs::write(&file, script).expect("written");
    let said = tool("gdb-multiarch", &["-nx", "-q", "--batch", "-x", &file])?;
    assert!(said.good, "{}", said.err);
    let mut answers = said.out.split(MARK).skip(1).map(str::trim);
    let mut all = Vec::new();
    for (_, commands) in asked {
        all.push(answers.by_ref().take(commands.len()).map(str::to_owned).collect());
        // What it says of the next file.
        answers.next();
    }
    Some(all)
}

/// `info line` has the statements that begin in each line, `info scope` the variables, `info address` the function, `list` its source.
#[test]
fn gdb_finds_lines_variables_and_functions() {
    let of_one = objects().iter().filter(|judged| judged.processor == "gfx906");
    let asked: Vec<(&Judged, Vec<String>)> = of_one.map(|judged| (judged, questions(judged))).collect();
    let Some(answers) = gdb(&asked) else { return };
    for ((judged, questions), answers) in asked.iter().zip(&answers) {
        let what = |n: usize| format!("{}: {}: {}", judged.path, questions[n], answers[n]);
        let (name, start) = kernel(judged);
        assert!(answers[0].contains(&format!("function at address {start:#x}")), "{}", what(0));
        let (own, all) = variables(judged);
        let found = scope(&answers[1]);
        assert!(found.is_superset(&own) && found.is_subset(&all), "{own:?}, {}", what(1));
        let text = std::fs::read_to_string(source(judged)).expect("the source");
        let heads = text.lines().filter(|line| line.contains(&format!("kernel {name}(")));
        assert!(heads.into_iter().all(|head| answers[2].contains(head.trim())), "{}", what(2));
        let statements = statements(judged);
        assert_eq!(questions.len(), 3 + statements.len());
        for (n, (_, address)) in (3..).zip(&statements) {
            assert!(answers[n].contains(&format!("starts at address {address:#x}")), "{}", what(n));
        }
    }
}

fn questions(judged: &Judged) -> Vec<String> {
    let (name, _) = kernel(judged);
    let file = source(judged);
    let of_function = ["info address", "info scope", "list"].map(|what| format!("{what} {name}"));
    let lines = statements(judged).into_iter().map(|(line, _)| format!("info line {file}:{line}"));
    of_function.into_iter().chain(lines).collect()
}

/// Name and address of the first kernel.
fn kernel(judged: &Judged) -> (String, u64) {
    let object = judged.object();
    let functions = object.symbols().iter().filter(|symbol| symbol.kind == 2 && symbol.size > 0);
    let first = functions.min_by_key(|symbol| symbol.value).expect("a kernel");
    (first.name.to_owned(), first.value)
}

/// The file that is compiled.
fn source(judged: &Judged) -> String {
    let info = judged.info();
    let unit = info.entries.first().expect("a unit");
    unit.text("DW_AT_name").expect("named").to_owned()
}

/// Lines of the file in which statements begin in one place only, with the address.
fn statements(judged: &Judged) -> Vec<(u32, u64)> {
    let file = source(judged);
    let lines = judged.lines();
    let rows: Vec<_> = lines.rows_of_statements().filter(|(_, place)| place.file == file).collect();
    let once = |line: u32| rows.iter().filter(|(_, place)| place.line == line).count() == 1;
    rows.iter().map(|(address, place)| (place.line, *address)).filter(|&(line, _)| once(line)).collect()
}

/// Names of variables in the first kernel's own scope, and in all that are in it: GDB looks where the prologue ends, which may be in a block.
fn variables(judged: &Judged) -> (BTreeSet<String>, BTreeSet<String>) {
    let info = judged.info();
    let (name, _) = kernel(judged);
    let is_it = |die: &Die| die.get("DW_AT_low_pc").is_some() && info.name_of(die) == Some(&name);
    let at = info.entries.iter().position(|die| die.tag == "DW_TAG_subprogram" && is_it(die)).expect("there");
    let depth = info.entries[at].depth;
    let inside = info.entries[at + 1..].iter().take_while(|die| die.depth > depth);
    let is_variable = |die: &&Die| matches!(&*die.tag, "DW_TAG_formal_parameter" | "DW_TAG_variable");
    let variables: Vec<&Die> = inside.filter(is_variable).collect();
    let names = |own: &dyn Fn(&Die) -> bool| {
        let chosen = variables.iter().filter(|die| own(die));
        chosen.filter_map(|die| info.name_of(die)).map(str::to_owned).collect()
    };
    (names(&|die| die.depth == depth + 1), names(&|_| true))
}

/// The names in GDB's answer.
fn scope(answer: &str) -> BTreeSet<String> {
    let symbols = answer.lines().filter_map(|line| line.strip_prefix("Symbol ")?.split(' ').next());
    symbols.map(str::to_owned).collect()
}
