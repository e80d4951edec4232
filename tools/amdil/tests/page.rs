//! docs/amdil.md names every rule, every record and every word of the text.

use std::fs;

#[test]
fn the_page_names_everything() {
    let page = fs::read_to_string(support::root().join("docs/amdil.md")).expect("the page");
    let missing: Vec<_> = amdil::Rule::ALL
        .iter()
        .filter(|rule| !page.contains(&format!("| `{rule}` | {} |", rule.what())))
        .collect();
    let rows: String = missing.iter().map(|rule| format!("| `{rule}` | {} |\n", rule.what())).collect();
    assert!(rows.is_empty(), "the page has not these rows:\n{rows}");
    for (record, form) in amdil::forms() {
        assert!(page.contains(&format!("`{form}`")), "the page has not the form of ;{record}: {form}");
    }
    let words = [
        amdil::DataType::ALL.iter().map(|word| word.text()).collect::<Vec<_>>(),
        amdil::MemorySpace::ALL.iter().map(|word| word.text()).collect(),
        amdil::Flag::ALL.iter().map(|word| word.text()).collect(),
        amdil::PointerMemory::ALL.iter().map(|word| word.text()).collect(),
        amdil::Access::ALL.iter().map(|word| word.text()).collect(),
        amdil::Dimension::ALL.iter().map(|word| word.text()).collect(),
    ];
    for word in words.concat() {
        assert!(page.contains(&format!("`{word}`")), "the page has not the word {word}");
    }
}
