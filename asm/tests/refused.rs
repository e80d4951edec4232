//! Directives that LLVM's assembler refuses, and what kernc says about them.

mod common;

/// Sources and the first message.
const SOURCES: &[(&str, &str)] = &[
    (".subsection -1", "there is no subsection -1"),
    (".text 2147483648", "there is no subsection 2147483648"),
    (".data undefined", "the value of this expression must be known here"),
    (".subsection 1, 2", "unexpected text after the statement"),
    (".section .list, 1", "expected a string"),
    (".pushsection .list, \"a\", @progbits, 1", "unexpected text after the statement"),
    (".previous", "`.previous` without a section before this one"),
    (".data 1\n.byte 1\n.org 0", "`.org` cannot go backwards"),
    (".data\n.byte 1\n.data 1\n.balignw 4, 1", "3 bytes of padding are no multiple of 2"),
    (".weakref alias target", "expected `,`"),
    (".weakref alias, 4", "expected a symbol"),
    (".weakref alias, target+4", "unexpected text after the statement"),
    (".weakref alias, target\nalias:", "`alias` is already defined"),
    (".weakref alias, target\n.equiv alias, 4", "`alias` is already defined"),
    (".weakref alias, alias\n.quad alias", "the expression is too large, or a symbol is defined by itself"),
    (".comm area, 4\n.set other, area", "`other` is set to something that is not defined"),
    (".symver f, g", "`g` has no version"),
    (".symver f", "expected `,`"),
    (".symver f, f@V1, local", "expected `remove`"),
    (".quad f\n.symver f, f@@V1", "`f@@V1` is a default version, but `f` is not defined"),
    (".quad f\n.symver f, f@V1\n.symver f, f@V2", "`f` has several versions, but is not defined"),
    (".comm f, 4\n.symver f, f@V1", "`f` has no place yet, so it can have no version"),
    (".cg_profile f, g, 32", "a call-graph profile cannot be written for AMD GPUs"),
    (".lto_discard f,", "expected a symbol"),
    (".lto_set_conditional f, 4", "expected a symbol"),
    ("f:\n.lto_set_conditional f, g", "`f` is already defined"),
    (".addrsig 1", "unexpected text after the statement"),
    (".addrsig_sym f, g", "unexpected text after the statement"),
];

#[test]
fn messages() {
    let options = common::options("gfx906");
    for (source, message) in SOURCES {
        match asm::assemble(source, &options) {
            Ok(_) => panic!("accepted: {source}"),
            Err(list) => assert_eq!(&list[0].message, message, "{source}"),
        }
    }
}

#[test]
fn llvm_refuses_them_too() {
    let Some(tool) = common::tool("llvm-mc-19", "llvm_refuses_them_too") else { return };
    for (source, _) in SOURCES {
        assert!(common::llvm_mc(&tool, &["-mcpu=gfx906"], source).is_err(), "{source}");
    }
}
