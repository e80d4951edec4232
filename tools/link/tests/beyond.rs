//! What `ld.lld` does not know: relocations of other systems, LDS, registers and metadata of several objects. Expected are numbers that
//! the sources say.

use crate::common::{assemble, link_files};
use codeobj::elf::CodeObject;
use codeobj::note::Meaning;
use link::{Kind, Options};
use objwriter::descriptor::{GROUP_SEGMENT_FIXED_SIZE, SGPR_BLOCKS, SIZE, VGPR_BLOCKS};
use objwriter::value::Value;

fn linked(sources: &[&str]) -> Result<Vec<u8>, Vec<String>> {
    let name = |n: usize| format!("{}.o", ["a", "b", "c"][n]);
    let inputs: Vec<_> = sources.iter().enumerate().map(|(n, source)| (name(n), assemble(source))).collect();
    link_files(&inputs, &Options::default())
}

fn words(file: &[u8], section: &str) -> Vec<u32> {
    let object = CodeObject::parse(file).expect("an object");
    let data = object.section(section).expect("it is there").data;
    data.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four"))).collect()
}

/// A kernel with so many registers and so much LDS, which calls functions.
fn kernel(name: &str, vgprs: u32, sgprs: u32, lds: u32, calls: &[&str]) -> String {
    let call = |callee: &&str| {
        format!(
            "\ts_getpc_b64 s[4:5]\n\ts_add_u32 s4, s4, {callee}@rel32@lo+4\n\ts_addc_u32 s5, s5, {callee}@rel32@hi+12\n\ts_swappc_b64 s[30:31], s[4:5]\n"
        )
    };
    let calls: String = calls.iter().map(call).collect();
    format!(
        "\t.section .text.{name},\"ax\",@progbits\n\t.globl {name}\n\t.protected {name}\n\t.p2align 8\n\t.type {name},@function\n{name}:\n{calls}\ts_endpgm
.L{name}_end:\n\t.size {name}, .L{name}_end-{name}
\t.rodata
\t.amdhsa_kernel {name}\n\t.amdhsa_next_free_vgpr {vgprs}\n\t.amdhsa_next_free_sgpr {sgprs}
\t.amdhsa_group_segment_fixed_size {lds}\n\t.end_amdhsa_kernel\n"
    )
}

/// Metadata of kernels, with the numbers that linking may raise.
fn metadata(kernels: &[(&str, u32, u32, u32)]) -> String {
    let mut out = "\t.amdgpu_metadata\n---\namdhsa.version:\n  - 1\n  - 2\namdhsa.target: amdgcn-amd-amdhsa--gfx906\namdhsa.kernels:\n".to_owned();
    for (name, vgprs, sgprs, lds) in kernels {
        out += &format!(
            "  - .name: {name}\n    .symbol: {name}.kd\n    .group_segment_fixed_size: {lds}\n    .kernarg_segment_align: 4
    .kernarg_segment_size: 0\n    .max_flat_workgroup_size: 64\n    .private_segment_fixed_size: 0\n    .sgpr_count: {sgprs}
    .vgpr_count: {vgprs}\n    .wavefront_size: 64\n"
        );
    }
    out + "...\n\t.end_amdgpu_metadata\n"
}

fn function(name: &str, body: &str) -> String {
    format!(
        "\t.section .text.{name},\"ax\",@progbits\n\t.globl {name}\n\t.hidden {name}\n{name}:\n{body}\ts_setpc_b64 s[30:31]\n"
    )
}

/// VGPR blocks, SGPR blocks and LDS of a kernel's descriptor.
fn descriptor(file: &[u8], kernel: &str) -> (u64, u64, u64) {
    let object = CodeObject::parse(file).expect("an object");
    let found = object.descriptors().find(|descriptor| descriptor.kernel == kernel).expect("it is there");
    let bytes: [u8; SIZE] = found.bytes;
    (VGPR_BLOCKS.get(&bytes), SGPR_BLOCKS.get(&bytes), GROUP_SEGMENT_FIXED_SIZE.get(&bytes))
}

/// The kernels of the one record of metadata: name, VGPRs, SGPRs, LDS.
fn kernels(file: &[u8]) -> Vec<(String, u64, u64, u64)> {
    let object = CodeObject::parse(file).expect("an object");
    let mut trees = Vec::new();
    for (n, section) in
        object.sections.iter().enumerate().filter(|(_, section)| section.kind == objwriter::elf::SHT_NOTE)
    {
        let (records, fault) = codeobj::note::records(n, section.data);
        assert!(fault.is_none());
        trees.extend(records.iter().filter_map(|record| match record.meaning() {
            Meaning::Metadata(tree) => Some(tree),
            _ => None,
        }));
    }
    assert_eq!(trees.len(), 1);
    let number = |kernel: &Value, key: &str| match kernel.get(key) {
        Some(Value::Uint(number)) => *number,
        other => panic!("{key}: {other:?}"),
    };
    let row = |kernel: &Value| {
        let name = kernel.get(".name").and_then(Value::as_str).expect("a name").to_owned();
        (
            name,
            number(kernel, ".vgpr_count"),
            number(kernel, ".sgpr_count"),
            number(kernel, ".group_segment_fixed_size"),
        )
    };
    trees[0].get("amdhsa.kernels").expect("kernels").items().iter().map(row).collect()
}

/// Seed 000, line 531.
#[test]
fn addresses_of_numbers_and_relocations_to_nothing() {
    let user = "\t.data\n\t.long number@abs32@lo\n\t.long number@abs32@hi\n\t.reloc ., R_AMDGPU_NONE, number\n\t.long 7\n\t.quad number\n";
    let definer = "\t.globl number\n\t.protected number\n\t.set number, 0x123456789a\n\t.text\n\ts_nop 0\n";
    let file = linked(&[user, definer]).expect("it links");
    assert_eq!(words(&file, ".data"), [0x3456_789a, 0x12, 7, 0x3456_789a, 0x12]);
}

/// A distance to a number is another one wherever the object is loaded; `ld.lld` says the same.
#[test]
fn distances_to_numbers_are_refused() {
    let user = "\t.data\n\t.long number-.\n";
    let definer = "\t.globl number\n\t.hidden number\n\t.set number, 16\n\t.text\n\ts_nop 0\n";
    let expected = ["the distance to `number`, a number, depends on where the object is loaded"];
    assert_eq!(linked(&[user, definer]).expect_err("a number"), expected);
}

/// v40 and s50 are named by a function two objects away: 41 VGPRs are 11 blocks of 4 less one, 51 + 6 SGPRs 8 blocks of 8 less one
/// (seed 000, line 2660). A kernel that calls nothing, and one that has enough, keep what they have; so does one whose
/// callee only shares its section with a kernel.
#[test]
fn registers_of_other_objects() {
    let a = [
        kernel("caller", 4, 8, 0, &["f"]),
        kernel("alone", 4, 8, 0, &[]),
        kernel("rich", 64, 90, 0, &["f"]),
        metadata(&[("caller", 4, 14, 0), ("alone", 4, 14, 0), ("rich", 64, 96, 0)]),
    ];
    let b = function("f", "\tv_mov_b32 v9, s50\n\ts_getpc_b64 s[4:5]\n\ts_add_u32 s4, s4, g@rel32@lo+4\n")
        + &kernel("other", 128, 60, 0, &[])
        + &metadata(&[("other", 128, 66, 0)]);
    let c = function("g", "\tv_mov_b32 v40, 0\n");
    let file = linked(&[&a.concat(), &b, &c]).expect("it links");
    assert_eq!(descriptor(&file, "caller"), (10, 7, 0));
    assert_eq!(descriptor(&file, "alone"), (0, 1, 0));
    assert_eq!(descriptor(&file, "rich"), (15, 11, 0));
    assert_eq!(descriptor(&file, "other"), (31, 8, 0));
    let row = |name: &str, vgprs, sgprs| (name.to_owned(), vgprs, sgprs, 0);
    assert_eq!(
        kernels(&file),
        [row("caller", 41, 57), row("alone", 4, 14), row("rich", 64, 96), row("other", 128, 66)]
    );
}

/// A kernel calls a function of another object, which calls a function of the kernel's object that the kernel does not call itself.
#[test]
fn registers_of_functions_called_back() {
    let a = [
        kernel("caller", 4, 8, 0, &["f"]),
        kernel("alone", 4, 8, 0, &[]),
        function("home", "\tv_mov_b32 v72, s60\n"),
        metadata(&[("caller", 4, 14, 0), ("alone", 4, 14, 0)]),
    ];
    let b = function("f", "\ts_getpc_b64 s[4:5]\n\ts_add_u32 s4, s4, home@rel32@lo+4\n");
    let file = linked(&[&a.concat(), &b]).expect("it links");
    assert_eq!(descriptor(&file, "caller"), (18, 8, 0));
    assert_eq!(descriptor(&file, "alone"), (0, 1, 0));
    let row = |name: &str, vgprs, sgprs| (name.to_owned(), vgprs, sgprs, 0);
    assert_eq!(kernels(&file), [row("caller", 73, 67), row("alone", 4, 14)]);
}

/// What is joined first has its registers raised then, and its LDS when it is linked.
#[test]
fn joined_and_linked() {
    let a = kernel("user", 4, 40, 20, &["f"]) + &metadata(&[("user", 4, 46, 20)]);
    let b = function("f", "\tv_mov_b32 v40, big@abs32@lo\n") + "\t.amdgpu_lds big, 100, 16\n";
    let inputs = vec![("a.o".to_owned(), assemble(&a)), ("b.o".to_owned(), assemble(&b))];
    let options = Options { kind: Kind::Relocatable, ..Options::default() };
    let joined = link_files(&inputs, &options).expect("it can be joined");
    assert_eq!(descriptor(&joined, "user"), (10, 5, 20));
    let linked = link_files(&[("joined.o".to_owned(), joined)], &Options::default()).expect("it links");
    assert_eq!(descriptor(&linked, "user"), (10, 5, 132));
    assert_eq!(kernels(&linked), [("user".to_owned(), 41, 46, 132)]);
}

/// Names that are given and kernels stay seen, others do not; a name that nobody has is an error.
#[test]
fn exported_names() {
    let source = kernel("k", 4, 40, 0, &[])
        + "\t.data\n\t.globl seen\nseen:\n\t.long 1\n\t.globl other\nother:\n\t.long 2\n";
    let inputs = vec![("a.o".to_owned(), assemble(&source))];
    let export = |name: &str| Options { export: vec![name.to_owned()], ..Options::default() };
    let file = link_files(&inputs, &export("seen")).expect("it links");
    let object = CodeObject::parse(&file).expect("an object");
    let table = object.symbol_tables.iter().find(|table| table.name == ".dynsym").expect("it is there");
    let mut names: Vec<&str> = table.symbols.iter().skip(1).map(|symbol| symbol.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["k", "k.kd", "seen"]);
    let missing = link_files(&inputs, &export("nobody")).expect_err("nobody has it");
    assert_eq!(missing, ["`nobody` is to be exported, and is not defined"]);
}

/// Constructors in the order of their priorities, between the names that code which runs them asks for; those of destructors, which there
/// are none of, and the image's handle are the beginning of the image.
#[test]
fn constructors() {
    let user = "\t.text\n\t.globl go\n\t.protected go\ngo:\n\ts_nop 0\n\t.data\n\t.globl ends\n\t.protected ends\nends:\n\t.quad __init_array_start, __init_array_end, __fini_array_start, __fini_array_end, __dso_handle
\t.long __init_array_end-.\n\t.hidden __dso_handle\n";
    let list = |section: &str, name: &str| {
        format!(
            "\t.section .text.{name},\"ax\",@progbits\n{name}:\n\ts_nop 1\n\t.section {section},\"aw\",@init_array\n\t.quad {name}\n"
        )
    };
    let a = user.to_owned() + &list(".init_array", "last") + &list(".init_array.200", "second");
    let b = list(".init_array.100", "first") + "\t.text\n\ts_nop 2\n";
    let inputs = vec![("a.o".to_owned(), assemble(&a)), ("b.o".to_owned(), assemble(&b))];
    for gc_sections in [false, true] {
        let file = link_files(&inputs, &Options { gc_sections, ..Options::default() }).expect("it links");
        let object = CodeObject::parse(&file).expect("an object");
        let address = |name: &str| {
            object.symbols().iter().find(|symbol| symbol.name == name).expect("it is there").value
        };
        let section = |name: &str| object.section(name).expect("it is there");
        let (array, data) = (section(".init_array"), section(".data"));
        let filled = |at: u64| {
            object.relocation_tables[0]
                .records
                .iter()
                .find(|record| record.offset == at)
                .expect("it is there")
                .addend as u64
        };
        let listed: Vec<u64> = (0..3).map(|n| filled(array.address + n * 8)).collect();
        assert_eq!(listed, ["first", "second", "last"].map(address));
        let ends: Vec<u64> = (0..5).map(|n| filled(data.address + n * 8)).collect();
        assert_eq!(ends, [array.address, array.address + 24, 0, 0, 0]);
        let distance = u32::from_le_bytes(data.data[40..44].try_into().expect("four"));
        assert_eq!(data.address.wrapping_add(40).wrapping_add(distance as i32 as u64), array.address + 24);
    }
}

/// A thin archive, a linked file, a text.
#[test]
fn wrong_files() {
    let object = assemble("\t.text\n\ts_nop 0\n");
    let linked = link_files(&[("a.o".to_owned(), object.clone())], &Options::default()).expect("it links");
    let refused = |name: &str, data: Vec<u8>| {
        link_files(&[(name.to_owned(), data)], &Options::default()).expect_err("refused")
    };
    let thin = b"!<thin>\n".to_vec();
    assert_eq!(
        refused("t.a", thin),
        ["t.a: a thin archive holds no objects, only their names: who reads it has to read them"]
    );
    let again = "a.co: it is linked already: only relocatable objects (`--obj`, `clang -c`) can be linked";
    assert_eq!(refused("a.co", linked), [again]);
    assert_eq!(refused("a.s", b"text".to_vec()), ["a.s: not an ELF file"]);
    assert_eq!(
        refused("e.a", b"!<arch>\n".to_vec()),
        ["there is nothing to link: no member of an archive is needed"]
    );
    let mut other = object.clone();
    other[18] = 62;
    assert_eq!(
        refused("x.o", other),
        ["x.o: an ELF file for machine 62, not an AMD GPU code object (machine 224)"]
    );
    let cut = refused("c.o", object[..object.len() - 64].to_vec());
    assert!(cut[0].starts_with("c.o: the file is damaged: section headers:"), "{cut:?}");
}

/// Sized symbols behind the 20 bytes that the kernel has of its own, each at its alignment, then the one whose size a launch
/// decides; the kernel that reaches none keeps its 4 bytes.
#[test]
fn lds_of_several_objects() {
    let a = kernel("user", 4, 40, 20, &["f"])
        + &kernel("alone", 4, 40, 4, &[])
        + "\t.amdgpu_lds small, 4, 4\n\t.globl small\n"
        + &metadata(&[("user", 4, 46, 20), ("alone", 4, 46, 4)]);
    let b = function(
        "f",
        "\tv_mov_b32 v0, small@abs32@lo\n\tv_mov_b32 v1, big@abs32@lo\n\tv_mov_b32 v2, dynamic@abs32@lo+4\n",
    ) + "\t.globl big\n\t.amdgpu_lds big, 100, 16\n\t.globl small\n\t.amdgpu_lds small, 8, 8\n\t.globl dynamic\n\t.amdgpu_lds dynamic, 0, 32\n";
    let file = linked(&[&a, &b]).expect("it links");
    // small: 8 bytes at 24; big: at 32; dynamic: at 132, aligned 160.
    let text = words(&file, ".text");
    let literals: Vec<u32> = text
        .windows(2)
        .filter(|pair| [0x7e00_02ff, 0x7e02_02ff, 0x7e04_02ff].contains(&pair[0]))
        .map(|pair| pair[1])
        .collect();
    assert_eq!(literals, [24, 32, 164]);
    assert_eq!(descriptor(&file, "user").2, 160);
    assert_eq!(descriptor(&file, "alone").2, 4);
    let lds: Vec<u64> = kernels(&file).into_iter().map(|(.., lds)| lds).collect();
    assert_eq!(lds, [160, 4]);
    let object = CodeObject::parse(&file).expect("an object");
    let at = |name: &str| {
        object
            .symbols()
            .iter()
            .find(|symbol| symbol.name == name)
            .map(|symbol| (symbol.section, symbol.value))
    };
    assert_eq!(
        [at("small"), at("big"), at("dynamic")],
        [Some((0xfff1, 24)), Some((0xfff1, 32)), Some((0xfff1, 160))]
    );
}

#[test]
fn too_much() {
    let lds = kernel("user", 4, 40, 4, &["f"]);
    let f = function("f", "\tv_mov_b32 v1, big@abs32@lo\n") + "\t.amdgpu_lds big, 65536, 4\n";
    assert_eq!(
        linked(&[&lds, &f]).expect_err("LDS"),
        ["user.kd: 65540 bytes of LDS are more than the 65536 there are"]
    );
    let memory = "\t.globl big\n\t.hidden big\n\t.data\nbig:\n\t.long 4\n";
    let expected = ["`big` is in LDS in a.o, and elsewhere in b.o"];
    assert_eq!(
        linked(&["\t.globl big\n\t.amdgpu_lds big, 4, 4\n", memory]).expect_err("two memories"),
        expected
    );
}

#[test]
fn objects_that_do_not_fit_together() {
    let source =
        |target: &str| format!("\t.amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\n\t.text\n\ts_nop 0\n");
    let both = |a: &str, b: &str| {
        linked(&[&source(a), &source(b)])
            .map(|file| CodeObject::parse(&file).expect("an object").header.flags)
    };
    let differ = |what: &str| Err(vec![format!("a.o and b.o are for different {what}")]);
    assert_eq!(both("gfx906", "gfx908"), differ("processors: gfx906 and gfx908"));
    assert_eq!(both("gfx906:xnack+", "gfx906:xnack-"), differ("settings of xnack: on and off"));
    assert_eq!(both("gfx906:sramecc-", "gfx906:sramecc+"), differ("settings of sramecc: off and on"));
    // Any goes with the other two (seed 000, line 31).
    assert_eq!(both("gfx906", "gfx906:xnack+"), both("gfx906:xnack+", "gfx906:xnack+"));
    assert_eq!(both("gfx906:xnack-", "gfx906"), both("gfx906:xnack-", "gfx906:xnack-"));
    let version = |version: u32| format!("{}\t.amdhsa_code_object_version {version}\n", source("gfx906"));
    assert_eq!(
        linked(&[&version(4), &version(5)]).expect_err("versions"),
        ["a.o and b.o are for different code object versions: V4 and V5"]
    );
}

/// Files that a thin archive names, for who reads it to offer: only what is needed is taken.
#[test]
fn members_of_thin_archives() {
    let row = |name: &str, size: usize| format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644);
    // Names behind a slash are offsets in a table of names.
    let names = "lib/one.o/\nlib/two.o/\n";
    let archive = format!("!<thin>\n{}{names}{}{}", row("//", names.len()), row("/0", 100), row("/11", 200));
    let members = link::thin_members(archive.as_bytes());
    assert_eq!(members, Ok(Some(vec!["lib/one.o".to_owned(), "lib/two.o".to_owned()])));
    assert_eq!(link::thin_members(b"!<arch>\n"), Ok(None));
    let main = assemble("\t.data\n\t.globl main\nmain:\n\t.quad one\n");
    let [one, two] =
        ["one", "two"].map(|name| assemble(&format!("\t.data\n\t.globl {name}\n{name}:\n\t.quad 7\n")));
    let lazy = |name, data| link::Input { name, data, is_lazy: true };
    let inputs = [
        lazy("t.a(two.o)", &two[..]),
        link::Input { name: "main.o", data: &main, is_lazy: false },
        lazy("t.a(one.o)", &one[..]),
    ];
    let file = link::link(&inputs, &Options::default()).expect("it links");
    let object = CodeObject::parse(&file).expect("an object");
    let has = |name: &str| object.symbols().iter().any(|symbol| symbol.name == name);
    assert!(has("one") && !has("two"));
    let damaged = [lazy("t.a(x.o)", &b"text"[..])];
    let errors = link::link(&damaged, &Options::default()).expect_err("a text");
    assert_eq!(errors[0].to_string(), "t.a(x.o): not an ELF file");
}

/// Kernels and printf texts of V2's metadata, which is a text of its own in each object.
#[test]
fn texts_of_metadata() {
    let source = |kernel: &str, printf: &str| {
        format!(
            "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"\n\t.hsa_code_object_version 2,1\n\t.hsa_code_object_isa 9,0,0,\"AMD\",\"AMDGPU\"
\t.amd_amdgpu_hsa_metadata\n---\nVersion: [ 1, 0 ]\nPrintf:\n  - '{printf}'\nKernels:\n  - Name: {kernel}\n    SymbolName: '{kernel}@kd'
    Attrs:\n      ReqdWorkGroupSize: [ 64, 1, 1 ]\n    CodeProps:\n      KernargSegmentSize: 8\n      GroupSegmentFixedSize: 0\n      PrivateSegmentFixedSize: 0\n      KernargSegmentAlign: 8\n      WavefrontSize: 64\n...\n\t.end_amd_amdgpu_hsa_metadata\n\t.text\n\ts_nop 0\n"
        )
    };
    let texts = |sources: &[&str]| {
        let file = linked(sources)?;
        let object = CodeObject::parse(&file).expect("an object");
        let texts = object.notes().into_iter().filter_map(|note| match note.meaning() {
            Meaning::Yaml(text) => Some(text.to_owned()),
            _ => None,
        });
        Ok::<_, Vec<String>>(texts.collect::<Vec<_>>())
    };
    let (a, b) = (source("one", "1:1:4:%d\\n"), source("two", "2:0:%s"));
    let found = texts(&[&a, &b]).expect("they can be joined");
    assert_eq!(found.len(), 1);
    let tree = codeobj::yaml::v2_metadata(&found[0]).expect("it can be read");
    let names: Vec<_> =
        tree.get("Kernels").expect("kernels").items().iter().map(|kernel| kernel.get("Name")).collect();
    assert_eq!(names, [Some(&Value::from("one")), Some(&Value::from("two"))]);
    let printf: Vec<_> =
        tree.get("Printf").expect("texts").items().iter().filter_map(Value::as_str).collect();
    assert_eq!(printf, ["1:1:4:%d\\n", "2:0:%s"]);
    let again = texts(&[&a, &source("two", "1:0:%s")]).expect_err("two texts of one number");
    assert!(again[0].contains("its printf text 1 has a number that another object's has, too"), "{again:?}");
}

/// The default version of a name, and a reference to any, mean the name.
#[test]
fn versions_of_names() {
    let definer = "\t.data\n\t.globl f\nf:\n\t.long 5\n\t.symver f, f@@V2\n";
    let user = "\t.data\n\t.quad g\n\t.symver g, f@V1\n";
    let (definer, user) = (assemble(definer), assemble(user));
    let inputs = vec![("a.o".to_owned(), user), ("b.o".to_owned(), definer)];
    let file = link_files(&inputs, &Options::default()).expect("it links");
    let object = CodeObject::parse(&file).expect("an object");
    let names: Vec<&str> = object
        .symbol_tables
        .iter()
        .find(|table| table.name == ".dynsym")
        .expect("it is there")
        .symbols
        .iter()
        .skip(1)
        .map(|symbol| symbol.name)
        .collect();
    assert_eq!(names, ["f"]);
}

/// A number behind the table of addresses stands in the table, and no loader adds to it.
#[test]
fn numbers_in_the_table() {
    let user = "\t.text\n\t.globl k\n\t.protected k\nk:\n\ts_getpc_b64 s[4:5]\n\ts_add_u32 s4, s4, f@gotpcrel32@lo+4\n\ts_add_u32 s4, s4, number@gotpcrel32@lo+4\n\t.hidden f\n";
    let definer = "\t.globl number\n\t.protected number\n\t.set number, 0x123456789a\n\t.text\n\t.globl f\n\t.hidden f\nf:\n\ts_nop 0\n";
    let file = linked(&[user, definer]).expect("it links");
    let table = words(&file, ".got");
    assert_eq!(table[2..], [0x3456_789a, 0x12]);
    let object = CodeObject::parse(&file).expect("an object");
    assert_eq!(object.relocation_tables[0].records.len(), 1);
}
