//! An object is for a processor: a text that names none is refused, even if it holds no instruction.

#[test]
fn a_text_without_instructions_needs_a_processor() {
    for source in ["", ".data\n.long 1\n"] {
        let wrong = asm::assemble(source, &asm::Options::default()).expect_err("no processor");
        assert_eq!(wrong[0].message, "the processor is not known", "{source:?}");
    }
    let named = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx906\"\n";
    assert!(asm::assemble(named, &asm::Options::default()).is_ok());
}
