//! Metadata of a compute pipeline, which states the resources of a kernel for AMD's Platform Abstraction
//! Library (PAL): an object has one kernel, and no descriptor.
//!
//! # Source
//! LLVM's AMDGPU guide (seed 000, lines 4297 to 4365), and the objects that LLVM 19 writes for
//! `amdgcn-amd-amdpal`.

use crate::{EmitError, Kernel, Program, code, descriptor, metadata};
use isa::Subtarget;
use objwriter::Value;
use palmeta::user_data::{APPLICATION_REGISTERS, NO_SPILL, Parameter, layout};
use palmeta::{Metadata, Spelling, Stage, fields, register};

/// Version of the metadata.
const VERSION: [u32; 2] = [2, 6];
/// Unit in which LLVM states the size of scratch memory, in bytes.
const SCRATCH_UNIT: u32 = 16;
/// Key of the arguments, which PAL does not know. The value is the same as that of `.args` in the metadata of
/// HSA.
const ARGS: &str = ".kernc_args";

/// The symbol of the kernel's code, for which PAL looks.
pub(crate) fn entry_point() -> &'static str {
    Stage::Cs.entry_point()
}

/// Returns the only kernel of a program.
///
/// # Errors
/// The program has no kernel, or several.
pub(crate) fn kernel<'p>(program: &'p Program) -> Result<&'p Kernel<'p>, EmitError> {
    match program.kernels {
        [kernel] => Ok(kernel),
        kernels => Err(EmitError::Unsupported(format!(
            "an object with {} kernels, in place of an object for each kernel as the system `{}` requires,",
            kernels.len(),
            program.target.system().name
        ))),
    }
}

/// Returns the directives of an assembly file.
pub(crate) fn text(program: &Program) -> Result<String, EmitError> {
    Ok(tree(program)?.to_directives(Spelling::Llvm19))
}

/// Returns the contents of the note.
pub(crate) fn contents(program: &Program) -> Result<Vec<u8>, EmitError> {
    Ok(tree(program)?.write())
}

/// Returns the metadata.
fn tree(program: &Program) -> Result<Metadata, EmitError> {
    let kernel = kernel(program)?;
    let (target, func) = (program.target_of(kernel), kernel.func);
    let bytes = descriptor::bytes(program, kernel)?;
    let word = |at: usize| bytes[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let mut metadata = Metadata::new();
    metadata.set_version(VERSION);
    metadata.set(".type", "Cs".into());
    metadata.set(".name", func.name.clone().into());
    let [code, whole] = hashes(program, &bytes)?;
    metadata.set(".internal_pipeline_hash", Value::Seq(vec![Value::Uint(code), Value::Uint(whole)]));
    let shader = Value::Map(vec![
        (".api_shader_hash".into(), Value::Seq(vec![Value::Uint(code), Value::Uint(0)])),
        (".hardware_mapping".into(), Value::Seq(vec![Stage::Cs.key().into()])),
    ]);
    metadata.set(".shaders", Value::Map(vec![(".compute".into(), shader)]));
    let registers = descriptor::registers(&target, func);
    let group = kernel.reqd_workgroup_size.unwrap_or([1; 3]);
    let group_value = Value::Seq(group.map(Value::from).to_vec());
    for (key, value) in [
        (".entry_point", entry_point().into()),
        (".lds_size", kernel.lds.into()),
        (".scratch_memory_size", func.scratch_size.next_multiple_of(SCRATCH_UNIT).into()),
        (".sgpr_count", registers.total_sgprs(&target).into()),
        (".threadgroup_dimensions", group_value),
        (".vgpr_count", registers.vgprs.into()),
        (".wavefront_size", target.wave_size.into()),
    ] {
        metadata.set_in_stage(Stage::Cs, key, value);
    }
    metadata.set_register(Stage::Cs.rsrc1(), word(descriptor::RSRC1));
    metadata.set_register(Stage::Cs.rsrc2(), word(descriptor::RSRC2));
    if objwriter::descriptor::ACCUM_OFFSET.on.has(&target) {
        metadata.set_in_stage(Stage::Cs, ".agpr_count", func.agprs.into());
        metadata.set_register(number("COMPUTE_PGM_RSRC3"), word(descriptor::RSRC3));
    }
    for (name, items) in
        ["COMPUTE_NUM_THREAD_X", "COMPUTE_NUM_THREAD_Y", "COMPUTE_NUM_THREAD_Z"].into_iter().zip(group)
    {
        metadata.set_register(number(name), field(&target, name, "NUM_THREAD_FULL", items));
    }
    if target.wave_size == 32 {
        let name = "COMPUTE_DISPATCH_INITIATOR";
        metadata.set_register(number(name), field(&target, name, "CS_W32_EN", 1));
    }
    user_data(kernel, &mut metadata)?;
    metadata.set(ARGS, metadata::args(program, kernel));
    Ok(metadata)
}

/// Returns the number of a register, which palmeta's tables have.
fn number(name: &str) -> u32 {
    register::number(name).expect("the register is in the table")
}

/// Returns the value of a register with one field.
fn field(target: &Subtarget, register: &str, name: &str, value: u32) -> u32 {
    let (major, minor, stepping) = target.version;
    let field = fields::field(number(register), name, [major, minor, stepping]);
    field.expect("the field is in the table").set(0, value)
}

/// Describes the user SGPRs. Where the kernel reads its arguments from the spill table, the runtime writes the
/// whole table.
fn user_data(kernel: &Kernel, metadata: &mut Metadata) -> Result<(), EmitError> {
    let parameters: Vec<Parameter> =
        kernel.args.iter().map(|arg| Parameter { size: arg.size, align: arg.align }).collect();
    let mut layout = layout(&parameters).map_err(|(index, rule)| {
        EmitError::Unsupported(format!("the parameter `{}`: {rule}; this program", kernel.args[index].name))
    })?;
    layout.spill_threshold = if kernel.func.abi.kernarg_ptr { 0 } else { NO_SPILL };
    layout.in_registers = layout.limit.min(APPLICATION_REGISTERS);
    metadata.set_user_data(&layout);
    Ok(())
}

/// Returns two hashes: of the code alone, and of the code and the resources.
fn hashes(program: &Program, descriptor: &[u8]) -> Result<[u64; 2], EmitError> {
    let mut hash = Hash::default();
    let mut encoded = code::Code::default();
    let kernels = program.kernels.iter().map(|kernel| (program.target_of(kernel), kernel.func));
    let functions =
        program.functions.iter().map(|function| (program.target_of_function(function), function.func));
    for (target, func) in kernels.chain(functions) {
        encoded.encode(&target, func)?;
        encoded.words.iter().for_each(|word| hash.add(&word.to_le_bytes()));
    }
    let code = hash.0;
    hash.add(descriptor);
    Ok([code, hash.0])
}

/// FNV-1a with 64 bits.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
