//! `kernc inspect` and `kernc disasm` on binaries of AMD's older OpenCL drivers and of clover. The tests
//! write the binaries.

use crate::common::scratch;
use crate::models;
use legacy::Binary;
use legacy::elf::Class;
use std::path::PathBuf;

/// Writes a file and returns its path.
fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = scratch("older_drivers");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name.replace(' ', "-"));
    std::fs::write(&path, bytes).expect("a file");
    path
}

/// Runs a command on a file that has to end with `code`, and returns its standard output and standard error.
fn run(command: &str, path: &std::path::Path, more: &[&str], code: i32) -> String {
    let output = crate::kernc().arg(command).arg(path).args(more).output().expect("kernc");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "kernc {command} {}\n{text}", path.display());
    text.into_owned()
}

/// Returns the number of records with a heading that starts with a text.
fn count(record: &serde_json::Value, heading: &str) -> usize {
    let own = usize::from(record["record"].as_str().is_some_and(|text| text.starts_with(heading)));
    own + record["records"].as_array().map_or(0, |list| list.iter().map(|one| count(one, heading)).sum())
}

/// Text and JSON have the records of each binary: kernels, and for OpenCL 2.0 one record for an argument.
#[test]
fn inspect_shows_the_records_of_every_format() {
    for (name, binary) in models::all() {
        let path = written(&format!("inspect-{name}"), &binary.write());
        let tree: serde_json::Value =
            serde_json::from_str(&run("inspect", &path, &["--json"], 0)).expect("JSON");
        let (kernels, arguments) = match &binary {
            Binary::OpenCl1(binary) => (binary.kernels.len(), 0),
            Binary::OpenCl2(binary) => (binary.kernels.len(), models::arguments().len()),
            Binary::Gallium(container) => {
                let arguments = container.kernels.iter().map(|kernel| kernel.arguments.len()).sum();
                (container.kernels.len(), arguments)
            }
            _ => unreachable!("a format without a test"),
        };
        assert_eq!(count(&tree, "Kernel "), kernels, "{name}");
        assert_eq!(count(&tree, "Argument"), arguments, "{name}");
        let text = run("inspect", &path, &[], 0);
        assert_eq!(text.matches("\n  Kernel ").count(), kernels, "{name}: {text}");
    }
}

/// The notes of a kernel are printed with the names of registers, and AMDIL metadata with the broken rules.
#[test]
fn inspect_explains_opencl1() {
    let mut binary = models::opencl1(Class::Elf32);
    binary.kernels[0].metadata = Some(
        b";ARGSTART:__OpenCL_first_kernel\n;version:3:1:111\n;device:tahiti\n;uniqueid:1024\n\
        ;value:n:u32:1:1:16\n;ARGEND:__OpenCL_first_kernel\n",
    );
    binary.kernels[1].metadata = Some(b";ARGSTART:__OpenCL_second_kernel\n;value:n:u33:1:1:0\n");
    let text = run("inspect", &written("explained", &binary.write()), &[], 0);
    for line in ["(tahiti)", "Argument n", "COMPUTE_PGM_RSRC2", "AMU_ABI_SI_NUM_VGPRS", "User data"] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    // `u33` is no type of data.
    assert!(text.contains("Metadata that cannot be read"), "{text}");
    assert!(text.contains("line 2, column 10"), "{text}");
}

/// Damage is an error with the file and the place.
#[test]
fn damaged_binaries_are_errors() {
    let bytes = models::opencl1(Class::Elf32).write();
    let path = written("damaged", &bytes[..bytes.len() / 2]);
    assert!(run("inspect", &path, &[], 3).contains("damaged: "));
    assert!(run("disasm", &path, &[], 3).contains("damaged: "));
}

/// Returns the file of a relocatable object that `as` makes of a text.
fn assembled(name: &str, text: &str) -> PathBuf {
    let source = written(&format!("{name}.s"), text.as_bytes());
    let object = source.with_extension("o");
    let mut command = crate::kernc();
    let output = command.args(["as", "--obj", "-o"]).arg(&object).arg(&source).output().expect("kernc");
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    object
}

/// `as` makes the same code of the text, and `check` looks at the code of each kernel and says what is left out.
#[test]
fn the_text_is_assembled_and_the_code_is_checked() {
    for (name, binary) in models::all() {
        let path = written(&format!("check-{name}"), &binary.write());
        let more: &[&str] = match &binary {
            Binary::OpenCl1(_) => &[],
            _ => &["--mcpu", "gfx803"],
        };
        let text = run("disasm", &path, more, 0);
        assert!(!text.contains(".kernc_elf_header"), "{name}: {text}");
        let object = assembled(&name.replace(' ', "-"), &text);
        let bytes = std::fs::read(object).expect("the object");
        let code = codeobj::CodeObject::parse(&bytes).expect("an object").section(".text").map(|it| it.data);
        // Two times `s_nop 0`, then `s_endpgm`.
        let kernel: Vec<u8> = [0xbf80_0000_u32, 0xbf80_0000, 0xbf81_0000].map(u32::to_le_bytes).concat();
        if matches!(binary, Binary::Gallium(_)) {
            // The code of these models has headers that are no instructions.
            assert!(code.is_some_and(|code| code.ends_with(&kernel)), "{name}: {text}");
            continue;
        }
        assert_eq!(code, Some(&*kernel.repeat(text.matches("s_endpgm").count())), "{name}: {text}");
        let report = run("check", &path, more, 0);
        assert!(report.contains("only the code of kernels is looked at"), "{name}: {report}");
    }
}

/// The code of each kernel (two times `s_nop 0`, then `s_endpgm`) is disassembled for the binary's processor.
#[test]
fn disasm_prints_the_code_of_every_format() {
    for (name, binary) in models::all() {
        let path = written(&format!("disasm-{name}"), &binary.write());
        let (kernels, processor): (&[&str], _) = match &binary {
            Binary::OpenCl1(_) => (&["first", "second"], Some("gfx600")),
            // Code 18 of driver 15.7 is no known device.
            Binary::OpenCl2(_) if name.ends_with("Old") => (&["k"], None),
            Binary::OpenCl2(_) if name.ends_with("Middle") => (&["k"], None),
            Binary::OpenCl2(_) => (&["k"], Some("gfx803")),
            _ => (&["first", "second"], None),
        };
        let text = match processor {
            Some(processor) => {
                let text = run("disasm", &path, &[], 0);
                assert!(text.contains(processor), "{name}: {text}");
                text
            }
            None => {
                assert!(run("disasm", &path, &[], 3).contains("try `--mcpu`"), "{name}");
                run("disasm", &path, &["--mcpu", "gfx803"], 0)
            }
        };
        assert!(text.starts_with("; The text holds only the code of the kernels."), "{name}: {text}");
        for kernel in kernels {
            assert!(text.contains(&format!("\n{kernel}:\n")), "{name}: {text}");
        }
        assert_eq!(text.matches("s_nop 0").count(), 2 * kernels.len(), "{name}: {text}");
        assert_eq!(text.matches("s_endpgm").count(), kernels.len(), "{name}: {text}");
    }
}

/// A binary that the compiler writes for the OpenCL 2.0 driver is inspected, disassembled to text that `as` turns
/// into the same code, and run with the arguments that its records describe.
#[test]
fn binaries_of_the_compiler_are_read_and_run() {
    for cpu in ["gfx701", "gfx803", "gfx906"] {
        let path = written(&format!("saxpy-{cpu}.bin"), b"");
        let text = path.to_str().expect("a path");
        let compiled = ["examples/saxpy.k", "--mcpu", cpu, "--os", "catalyst", "-o", text];
        let output = crate::kernc().args(compiled).output().expect("kernc");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes = std::fs::read(&path).expect("the binary");
        let read = legacy::read(&bytes).expect("a binary");
        let Binary::OpenCl2(binary) = &read.binary else { panic!("another format") };
        let kernels = binary.code.kernels().expect("kernels");

        let shown = run("inspect", &path, &[], 0);
        assert!(shown.contains("Kernel saxpy") && shown.contains("Argument x"), "{shown}");
        let listing = written(&format!("saxpy-{cpu}.s"), run("disasm", &path, &[], 0).as_bytes());
        let object = written(&format!("saxpy-{cpu}.o"), b"");
        run("as", &listing, &["--obj", "-o", object.to_str().expect("a path")], 0);
        let object = std::fs::read(&object).expect("the object");
        let object = codeobj::CodeObject::parse(&object).expect("an object");
        let code = object.sections.iter().find(|section| section.name == ".text").expect("code").data;
        assert!(code == kernels[0].code, "{cpu}: other code");

        let arguments = ["--arg", "x=[1, 2, 3]", "--arg", "y=[10, 20, 30]", "--arg", "a=2", "--arg", "n=3"];
        let launch = ["--kernel", "saxpy", "--grid", "256", "--expect", "y=[12, 24, 36]"];
        run("run", &path, &[&arguments[..], &launch].concat(), 0);
    }
}
