//! What selection does on processors that lack an instruction, tried on one that has it: the kernels compile without,
//! and compute the same.

use kernc::{Compiler, Observer, OptLevel, Options, Subtarget, Target};

use crate::common::{KERNELS, source};
use isa::{Opcode, op};

/// Three-operand integer instructions, additions without carry, comparisons of half a register.
static FUSED: [Opcode; 13] = [
    op::V_ADD_U32,
    op::V_SUB_U32,
    op::V_ADD3_U32,
    op::V_LSHL_ADD_U32,
    op::V_ADD_LSHL_U32,
    op::V_XAD_U32,
    op::V_LSHL_OR_B32,
    op::V_AND_OR_B32,
    op::V_OR3_B32,
    op::V_MAD_U64_U32,
    op::V_MAD_I64_I32,
    op::V_CMP_EQ_U16,
    op::V_CMP_NE_U16,
];

/// Products and comparisons of 64 bits on the scalar unit.
static SCALAR: [Opcode; 4] = [op::S_MUL_HI_U32, op::S_MUL_HI_I32, op::S_CMP_EQ_U64, op::S_CMP_LG_U64];

/// Wide LDS accesses.
static WIDE_LDS: [Opcode; 4] = [op::DS_READ_B96, op::DS_READ_B128, op::DS_WRITE_B96, op::DS_WRITE_B128];

/// Machine code is well formed and legal behind each pass that selection consists of.
struct Verified;

impl Observer for Verified {
    fn mir(&mut self, pass: &'static str, target: &Subtarget, func: &mir::MachFunc) {
        if matches!(pass, "isel" | "legalize" | "schedule") {
            let faults =
                isel::verify::verify(func, target, isel::verify::State::Legal).err().unwrap_or_default();
            assert!(faults.is_empty(), "{} after {pass}: {faults:#?}", func.name);
        }
    }
}

fn without(lacks: &'static [Opcode], level: OptLevel) {
    let mut compiler = Compiler::new(Target::by_name("gfx906").unwrap()).lacking(lacks);
    let mut failures = Vec::new();
    for kernel in KERNELS {
        let source = source(kernel);
        let options = Options { opt_level: level, verify: true, ..Options::default() };
        let object = compiler
            .compile_observed(&source, &options, &mut Verified)
            .unwrap_or_else(|error| panic!("{kernel}: {}", error.render(false)));
        let text = object.assembly(None).unwrap();
        let used = lacks.iter().find(|op| text.split_whitespace().any(|word| names(word, op.row().name)));
        assert_eq!(used, None, "{kernel}");
        if let Err(error) = testkit::check_kernel(object.bytes(), kernel) {
            failures.push(format!("{kernel}: {error}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Whether a word of the assembly is that mnemonic, with or without its encoding.
fn names(word: &str, mnemonic: &str) -> bool {
    word.strip_prefix(mnemonic).is_some_and(|rest| matches!(rest, "" | "_e32" | "_e64"))
}

#[test]
fn nothing_is_lacking() {
    for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
        without(&[], level);
    }
}

#[test]
fn additions_with_carry_and_in_two() {
    without(&FUSED, OptLevel::O2);
    without(&FUSED, OptLevel::O0);
}

#[test]
fn wide_scalars_in_parts() {
    without(&SCALAR, OptLevel::O2);
}

#[test]
fn lds_in_narrower_accesses() {
    without(&WIDE_LDS, OptLevel::O2);
}

/// FLAT instructions reach device memory where there are no GLOBAL ones.
#[test]
fn flat_in_place_of_global() {
    let global = isa::table::opcodes().filter(|op| op.family() == isa::table::Family::Global);
    let lacks: &'static [Opcode] = Vec::leak(global.collect());
    without(lacks, OptLevel::O2);
    without(lacks, OptLevel::O0);
}
