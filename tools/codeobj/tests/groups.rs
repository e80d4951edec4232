//! Sections in groups: read from an object that LLVM's assembler wrote, and assembled again.

#![allow(missing_docs)]

use codeobj::{CodeObject, disasm};

const OBJECT: &[u8] = include_bytes!("../../asm/tests/data/library_groups.o");

#[test]
fn groups_are_said() {
    let object = CodeObject::parse(OBJECT).unwrap();
    let text = disasm::disassemble(&object, &disasm::Options::default()).unwrap();
    let sections: Vec<&str> = text.lines().filter(|line| line.contains(",\"a")).map(str::trim).collect();
    let wanted = [
        r#".section .text.x,"axG",@progbits,grp,comdat"#,
        r#".section .text.xx,"axG",@progbits,grp,comdat"#,
        r#".section .text.x2,"axG",@progbits,g2"#,
        r#".section .text.z,"axR",@progbits"#,
        r#".section .rodata.s,"aMSG",@progbits,1,grp,comdat"#,
    ];
    for line in wanted {
        assert!(sections.contains(&line), "{line} is not in\n{text}");
    }
    let options = asm::Options { kind: asm::Kind::Relocatable, ..asm::Options::default() };
    let again = asm::assemble(&text, &options)
        .unwrap_or_else(|list| panic!("{}", asm::render(&list, "text", &text, false)));
    let again = CodeObject::parse(&again).unwrap();
    let groups = again.sections.iter().filter(|section| section.name == ".group");
    let members: Vec<usize> = groups.map(|group| group.data.len() / 4 - 1).collect();
    assert_eq!(members, [3, 1]);
}
