//! How many variables debug information knows the places of, beside clang's: for each example kernel and its OpenCL twin in `tests/cl`, at -O2 for
//! gfx906, counts the variables that are in scope where a statement begins, and those of them that are anywhere there:
//! `cargo bench --bench availability`. Needs clang 19 and lld 19.
//!
//! Both are counted alike, by what their line tables call statements and by what their entries call scopes; whether a variable is still needed is
//! not asked, as clang's objects do not tell.

use codeobj::CodeObject;
use codeobj::disasm::Lines;
use dwarf::{Content, DebugInfo, Die};
use kernc::{Compiler, Options, Target};
use std::path::Path;
use std::process::{Command, Stdio};

/// Variables at statements.
#[derive(Clone, Copy, Default)]
struct Count {
    all: u32,
    there: u32,
}

impl Count {
    fn share(self) -> f64 {
        f64::from(self.there) / f64::from(self.all.max(1))
    }
}

fn main() {
    let mut sums = [Count::default(); 2];
    println!("| kernel | kernc | clang 19 | |\n|-|-|-|-|");
    let mut kernels: Vec<String> = std::fs::read_dir("tests/cl")
        .expect("the twins")
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".cl")?.to_owned()))
        .filter(|name| Path::new(&format!("examples/{name}.k")).exists())
        .collect();
    kernels.sort();
    for name in kernels {
        let both = [our_code(&name), clangs(&name)].map(|object| count(&object));
        for (sum, one) in sums.iter_mut().zip(both) {
            sum.all += one.all;
            sum.there += one.there;
        }
        row(&name, both);
    }
    row("all", sums);
}

fn row(name: &str, counts: [Count; 2]) {
    let [ours, clangs] =
        counts.map(|count| format!("{} of {} ({:.1} %)", count.there, count.all, 100.0 * count.share()));
    println!("| {name} | {ours} | {clangs} | {:.2} |", counts[0].share() / counts[1].share());
}

fn our_code(name: &str) -> Vec<u8> {
    let source = std::fs::read_to_string(format!("examples/{name}.k")).expect("an example");
    let target = Target::by_name("gfx906").expect("a known processor");
    let options = Options { debug: kernc::DebugInfo::Full, ..Options::default() };
    Compiler::new(target).compile(&source, &options).expect("compiles").into_bytes()
}

fn clangs(name: &str) -> Vec<u8> {
    let [object, linked] =
        ["o", "co"].map(|end| std::env::temp_dir().join(format!("kernc-availability.{end}")));
    let run = |command: &mut Command| {
        let ran = command.stderr(Stdio::null()).status().expect("clang 19 and lld 19 are installed");
        assert!(ran.success(), "{command:?}");
    };
    run(Command::new("clang-19")
        .args(["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx906", "-nogpulib"])
        .args(["-O2", "-g", "-c", &format!("tests/cl/{name}.cl"), "-o"])
        .arg(&object));
    run(Command::new("ld.lld-19").arg("-shared").arg(&object).arg("-o").arg(&linked));
    std::fs::read(linked).expect("written")
}

fn count(object: &[u8]) -> Count {
    let object = CodeObject::parse(object).expect("sound");
    let info = DebugInfo::read(&object).expect("debug information");
    let mut count = Count::default();
    for (address, _) in Lines::read(&object).rows_of_statements() {
        for variable in in_scope(&info, address) {
            count.all += 1;
            count.there += u32::from(is_there(&info, variable, address));
        }
    }
    count
}

/// Variables of the innermost function around an address, also of one that is inlined there.
fn in_scope(info: &DebugInfo, address: u64) -> Vec<&Die> {
    let mut found = Vec::new();
    for at in info.around(address).into_iter().rev() {
        let is_variable =
            |die: &&Die| matches!(die.tag.as_str(), "DW_TAG_variable" | "DW_TAG_formal_parameter");
        match info.entries[at].tag.as_str() {
            "DW_TAG_compile_unit" => break,
            "DW_TAG_inlined_subroutine" => {
                found.extend(info.children(at).filter(is_variable));
                break;
            }
            _ => found.extend(info.children(at).filter(is_variable)),
        }
    }
    found
}

/// Whether a variable is anywhere: not where an expression is empty, or has empty parts alone.
fn is_there(info: &DebugInfo, variable: &Die, address: u64) -> bool {
    if variable.get("DW_AT_const_value").is_some() {
        return true;
    }
    let located = match variable.get("DW_AT_location") {
        Some(_) => variable,
        None => match variable.get("DW_AT_abstract_origin") {
            Some(&Content::Reference(offset)) => info.entry(offset).unwrap_or(variable),
            _ => variable,
        },
    };
    let encoding = info.units[located.unit].encoding;
    info.location_at(located, address).is_some_and(|expression| {
        let mut operations = dwarf::Ops::new(expression, encoding).flatten();
        operations.any(|operation| operation.opcode != dwarf::Opcode::PIECE)
    })
}
