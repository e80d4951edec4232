//! `kernc targets`: lists the processors, and which parts of kernc support each of them. No part of the list
//! is written by hand: for each processor, an empty kernel is compiled, assembled, checked and run.

use isa::Feature;
use isa::products::products;
use kernc::{Compiler, Options, PROCESSORS, Target, sim};

/// Returns the assembly of a kernel that does nothing.
fn empty(target: &Target) -> String {
    let accumulation = if target.has(Feature::UNIFIED_VGPRS) { ".amdhsa_accum_offset 4" } else { "" };
    format!(
        "
.text
.globl empty
.p2align 8
.type empty,@function
empty:
  s_endpgm
.size empty, .-empty
.rodata
.p2align 6
.amdhsa_kernel empty
  .amdhsa_next_free_vgpr 1
  .amdhsa_next_free_sgpr 1
  {accumulation}
.end_amdhsa_kernel
"
    )
}

/// Runs the command.
pub fn run() {
    outln!(
        "{:10} {:9} {:10} {:9} {:8} {:26} sold as",
        "processor",
        "compiler",
        "assembler",
        "emulator",
        "checker",
        "other names"
    );
    for target in &PROCESSORS {
        let object = assembled(target);
        let known = |by: fn(&[u8]) -> bool| object.as_deref().is_some_and(by);
        let mark = |yes: bool| if yes { "yes" } else { "" };
        let line = format!(
            "{:10} {:9} {:10} {:9} {:8} {:26} {}",
            target.name,
            mark(compiles(target)),
            mark(known(disassembles)),
            mark(known(runs)),
            mark(known(is_checked)),
            target.alternatives.join(" "),
            products(target.name).join(", ")
        );
        outln!("{}", line.trim_end());
    }
    outln!("\nOnly the names are known of the architecture r600: {}", codeobj::R600.join(" "));
}

fn compiles(target: &'static Target) -> bool {
    Compiler::new(target).compile("kernel empty() {}", &Options::default()).is_ok()
}

fn assembled(target: &'static Target) -> Option<Vec<u8>> {
    asm::assemble(&empty(target), &asm::Options { target: Some(target), ..asm::Options::default() }).ok()
}

fn disassembles(object: &[u8]) -> bool {
    let parsed = codeobj::CodeObject::parse(object).ok();
    let text = parsed.and_then(|object| codeobj::disassemble(&object, &Default::default()).ok());
    text.is_some_and(|text| text.contains("s_endpgm"))
}

fn is_checked(object: &[u8]) -> bool {
    let parsed = codeobj::CodeObject::parse(object).ok();
    let report = parsed.and_then(|object| check::object::check(&object, &Default::default()).ok());
    report.is_some_and(|report| report.instructions == 1 && report.notes.is_empty())
}

fn runs(object: &[u8]) -> bool {
    let run = || {
        let object = sim::CodeObject::load(object).ok()?;
        let mut device = sim::Device::with_threads(1);
        let module = device.load(&object).ok()?;
        device.run(module, &sim::Dispatch { kernel: "empty", ..sim::Dispatch::default() }).ok()
    };
    run().is_some_and(|stats| stats.instructions == 1)
}
