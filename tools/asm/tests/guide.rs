//! Every example of the guide's assembler chapter assembles, to the words LLVM gives it or its modern spelling.

/// Processors on which an example may be at home, the likeliest first.
const PROCESSORS: [&str; 5] = ["gfx900", "gfx803", "gfx700", "gfx600", "gfx1010"];

/// What LLVM 19 does not take, and who takes what instead (docs/isa-errata.md).
const RESPELT: [(&str, &str, &str); 3] = [
    ("ds_write_src2_b64 v2 offset0:4 offset1:8", "llvm-mc-19", "ds_write_src2_b64 v2 offset:2052"),
    (TFE, "llvm-mc-14", TFE),
    ("s_cbranch_join s[4:5]", "llvm-mc-19", "s_cbranch_join s4"),
];
const TFE: &str = "buffer_store_dwordx4 v[1:4], v2, ttmp[4:7], s1 offen offset:4 glc tfe";

fn examples() -> impl Iterator<Item = &'static str> {
    include_str!("guide.s").lines().filter(|line| !line.starts_with(';'))
}

/// The first processor that takes the text, and the words.
fn assemble(text: &str) -> Result<(&'static str, Vec<u8>), String> {
    let mut complaints = String::new();
    for cpu in PROCESSORS {
        match asm::assemble(text, &crate::common::options(cpu)) {
            Ok(object) => return Ok((cpu, crate::common::section(&object, ".text").to_vec())),
            Err(list) => complaints += &format!("\n  {cpu}: {}", list[0].message),
        }
    }
    Err(format!("{text}{complaints}"))
}

#[test]
fn examples_of_the_guide() {
    assert!(examples().count() > 70);
    let refused: Vec<String> = examples().filter_map(|text| assemble(text).err()).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn examples_of_the_guide_as_llvm_has_them() {
    for text in examples() {
        let (cpu, words) = assemble(text).expect("assembles");
        let respelt = RESPELT.iter().find(|(old, ..)| *old == text);
        let (judge, spelt) = respelt.map_or(("llvm-mc-19", text), |&(_, judge, new)| (judge, new));
        let Some(tool) = crate::common::tool(judge, "guide") else { continue };
        let object = crate::common::llvm_mc(&tool, &[&format!("-mcpu={cpu}")], &format!("{spelt}\n"))
            .unwrap_or_else(|why| panic!("{cpu}: {why}"));
        assert_eq!(words, crate::common::section(&object, ".text"), "{cpu}: {text}");
    }
}
