//! The table of docs/processors.md, which is made of the processors' facts: `KERNC_BLESS=1 cargo test --test
//! kernc processor_table::` writes it.

use crate::common::{have, root};
use kernc::{Modes, PROCESSORS, Target, combinations};
use std::fmt::Write;
use support::Tool;

/// What stands around the table.
const BEGIN: &str = "<!-- made by tests/processor_table.rs -->\n";
const END: &str = "<!-- end -->\n";
/// The processors that are newer than LLVM 14.
const UNKNOWN_TO_LLVM_14: [&str; 4] = ["gfx940", "gfx941", "gfx942", "gfx1036"];

fn table() -> String {
    let mut out = String::from(
        "| processor | other names | sold as | lanes | SGPRs | VGPRs | waves a SIMD | LDS a group | device memory by | modes | bytes judged by LLVM |\n\
         |-|-|-|-|-|-|-|-|-|-|-|\n",
    );
    for target in &PROCESSORS {
        let judges = if UNKNOWN_TO_LLVM_14.contains(&target.name) { "19" } else { "14, 19" };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} KiB | {} | {} | {judges} |",
            target.name,
            target.alternatives.join(", "),
            isa::products::products(target.name).join(", "),
            lanes(target),
            target.addressable_sgprs,
            target.addressable_vgprs,
            target.max_waves,
            target.max_lds_per_group / 1024,
            device_memory(target),
            modes(target),
        );
    }
    out
}

fn lanes(target: &Target) -> String {
    let sizes = [32, 64].into_iter().filter_map(|lanes| target.with_wave_size(lanes));
    sizes.map(|target| target.wave_size.to_string()).collect::<Vec<_>>().join(", ")
}

/// What a processor has is in its addressing: there is no offset where there is no such instruction.
fn device_memory(target: &Target) -> &'static str {
    match (target.has(isa::Feature::FLAT), target.has(isa::Feature::GLOBAL_INSTS)) {
        (false, _) => "buffer",
        (true, false) => "FLAT, buffer",
        (true, true) => "global",
    }
}

/// Modes of which a processor has both settings.
fn modes(target: &'static Target) -> String {
    type Setting = fn(&Modes) -> Option<bool>;
    let named: [(&str, Setting); 4] = [
        ("xnack", |modes| modes.xnack),
        ("sramecc", |modes| modes.sramecc),
        ("cumode", |modes| modes.cumode),
        ("tgsplit", |modes| modes.tgsplit),
    ];
    let all = combinations(target);
    let has_both =
        |of: Setting| [true, false].iter().all(|&on| all.iter().any(|modes| of(modes) == Some(on)));
    named.iter().filter(|(_, of)| has_both(*of)).map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

#[test]
fn docs_have_the_table() {
    let path = root().join("docs/processors.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let begin = text.find(BEGIN).expect("where the table begins") + BEGIN.len();
    let end = text.find(END).expect("where the table ends");
    if std::env::var_os("KERNC_BLESS").is_some() {
        std::fs::write(&path, format!("{}{}{}", &text[..begin], table(), &text[end..])).unwrap();
        return;
    }
    assert_eq!(&text[begin..end], table(), "KERNC_BLESS=1 writes it");
}

#[test]
fn llvm_14_knows_the_others() {
    if !have(&["llvm-mc-14"], "llvm_14_knows_the_others") {
        return;
    }
    let help = Tool::new("llvm-mc-14").args(["-triple=amdgcn", "-mcpu=help"]).output().unwrap();
    let known = String::from_utf8_lossy(&help.stderr).into_owned();
    for target in &PROCESSORS {
        let is_known = known.contains(&format!(" {} ", target.name));
        assert_eq!(is_known, !UNKNOWN_TO_LLVM_14.contains(&target.name), "{}", target.name);
    }
}
