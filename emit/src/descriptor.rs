//! Kernel descriptors, as bytes and as `.amdhsa_` directives. The fields are defined in
//! [`objwriter::descriptor`]. Other kinds of headers have the same register words, at the same places.

use crate::{EmitError, Kernel, Program};
use isa::{CodeObjectVersion, DescriptorFields, Subtarget};
use mir::MachFunc;
use objwriter::descriptor::{self as fields, Field, Registers};
pub use objwriter::descriptor::{ENTRY_OFFSET, SIZE};
use std::fmt::Write;

/// Alignment at which the command processor reads descriptors, in bytes.
pub const ALIGN: u64 = 64;

/// Offsets of the register words `compute_pgm_rsrc3`, `compute_pgm_rsrc1` and `compute_pgm_rsrc2`.
pub(crate) const RSRC3: usize = 44;
pub(crate) const RSRC1: usize = 48;
pub(crate) const RSRC2: usize = 52;

/// Suffix that turns the name of a kernel into the symbol of its descriptor.
pub const SUFFIX: &str = ".kd";

/// Returns the symbol of a kernel's descriptor.
pub fn symbol(kernel: &str) -> String {
    format!("{kernel}{SUFFIX}")
}

/// Returns the numbers of registers that a kernel occupies, as the descriptor needs them. XNACK_MASK is
/// included where the hardware has it: compiled code never accesses this register, but the hardware does when
/// it replays memory accesses.
pub fn registers(target: &Subtarget, func: &MachFunc) -> Registers {
    Registers {
        vgprs: target.vgprs_with(func.vgprs, func.agprs),
        sgprs: func.sgprs,
        vcc: func.uses_vcc,
        // GFX6 has no register FLAT_SCRATCH. For a descriptor, assemblers reserve two SGPRs for it there
        // anyway, and no directive can turn that off, so kernc does the same.
        flat_scratch: func.abi.flat_scratch_init
            || !DescriptorFields::RESERVE_FLAT_SCRATCH.has(target) && target.system().has_metadata,
        xnack_mask: target.xnack.may_be_on(),
    }
}

/// Returns the descriptor fields that depend on the kernel, each with its value.
fn settings(program: &Program, kernel: &Kernel) -> [(&'static Field, u32); 19] {
    let (func, state) = (kernel.func, &kernel.state);
    // This field is reserved in V2 and V3 (seed 000, line 2567).
    let has_kernarg_size = program.target.code_object >= CodeObjectVersion::V4;
    let abi = &func.abi;
    let flag = |field, on: bool| (field, u32::from(on));
    // Both fields are the same bit.
    let private_memory = match fields::PRIVATE_SEGMENT.on.has(&program.target) {
        true => flag(&fields::PRIVATE_SEGMENT, func.scratch_size > 0 || func.dynamic_stack),
        false => flag(&fields::PRIVATE_SEGMENT_WAVEFRONT_OFFSET, abi.private_segment_wave_offset),
    };
    // This field is reserved before V5 (seed 000, line 2613).
    let has_dynamic_stack = program.target.code_object >= CodeObjectVersion::V5;
    [
        (&fields::GROUP_SEGMENT_FIXED_SIZE, kernel.lds),
        (&fields::PRIVATE_SEGMENT_FIXED_SIZE, func.scratch_size),
        (&fields::KERNARG_SIZE, if has_kernarg_size { program.kernarg_size(kernel) } else { 0 }),
        flag(&fields::PRIVATE_SEGMENT_BUFFER, abi.private_segment_buffer),
        flag(&fields::DISPATCH_PTR, abi.dispatch_ptr),
        flag(&fields::QUEUE_PTR, abi.queue_ptr),
        flag(&fields::KERNARG_SEGMENT_PTR, abi.kernarg_ptr),
        flag(&fields::DISPATCH_ID, abi.dispatch_id),
        flag(&fields::FLAT_SCRATCH_INIT, abi.flat_scratch_init),
        private_memory,
        flag(&fields::WORKGROUP_ID_X, abi.workgroup_id[0]),
        flag(&fields::WORKGROUP_ID_Y, abi.workgroup_id[1]),
        flag(&fields::WORKGROUP_ID_Z, abi.workgroup_id[2]),
        (&fields::WORKITEM_ID, u32::from(abi.workitem_ids)),
        (&fields::USER_SGPR_COUNT, abi.user_sgpr_count()),
        (&fields::FLOAT_DENORM_MODE_32, if state.flush_denormals { 0 } else { 3 }),
        flag(&fields::DX10_CLAMP, state.dx10_clamp),
        flag(&fields::IEEE_MODE, state.ieee),
        flag(&fields::USES_DYNAMIC_STACK, func.dynamic_stack && has_dynamic_stack),
    ]
}

/// Descriptor fields that enable exceptions, in the order of the bits of
/// [`InitialState::exceptions`](crate::InitialState::exceptions).
const EXCEPTIONS: [&Field; 7] = [
    &fields::EXCEPTION_INVALID_OP,
    &fields::EXCEPTION_DENORM_SRC,
    &fields::EXCEPTION_DIV_ZERO,
    &fields::EXCEPTION_OVERFLOW,
    &fields::EXCEPTION_UNDERFLOW,
    &fields::EXCEPTION_INEXACT,
    &fields::EXCEPTION_INT_DIV_ZERO,
];

/// Returns the bytes of a kernel's descriptor. The field of the entry point is zero; a relocation fills it
/// in.
///
/// # Errors
/// The kernel uses more registers than the descriptor can express.
pub fn bytes(program: &Program, kernel: &Kernel) -> Result<[u8; SIZE], EmitError> {
    let (target, func) = (&program.target_of(kernel), kernel.func);
    let mut out = fields::defaults(target, target.cumode);
    for (field, value) in settings(program, kernel) {
        field.set(&mut out, value.into());
    }
    for (number, field) in EXCEPTIONS.iter().enumerate() {
        field.set(&mut out, u64::from(kernel.state.exceptions >> number & 1));
    }
    // Accumulation registers are allocated after the other vector registers, from the next multiple of four
    // on. The field counts blocks of four registers, minus one.
    let accumulation = (func.vgprs.max(1).div_ceil(4) - 1).into();
    for (field, value) in [(&fields::ACCUM_OFFSET, accumulation), (&fields::TG_SPLIT, target.tgsplit.into())]
    {
        if field.on.has(target) {
            field.set(&mut out, value);
        }
    }
    let too_many = |error: fields::TooMany| EmitError::Container(format!("{}: {error}", kernel.func.name));
    let registers = registers(target, kernel.func);
    registers.set(target, &mut out).map_err(too_many)?;
    if target.system().states_lds {
        state_all(target, (&registers, kernel.lds), &mut out);
    }
    Ok(out)
}

/// Fills in what the command processor of HSA computes itself or ignores, as LLVM 19 does for other systems:
/// the size of LDS, and the number of SGPRs on processors where every wave has all of them.
fn state_all(target: &Subtarget, (registers, lds): (&Registers, u32), out: &mut [u8; SIZE]) {
    let sgprs = registers.total_sgprs(target).max(1).div_ceil(target.sgpr_encoding_granule) - 1;
    if !target.arch.descriptor.known().counts_sgprs {
        fields::SGPR_BLOCKS.set(out, sgprs.into());
    }
    fields::GRANULATED_LDS_SIZE.set(out, lds.div_ceil(target.lds_granule).into());
}

/// Writes the descriptor as the `.amdhsa_kernel` block of an assembler source. Fields that have the
/// assembler's default value are omitted.
///
/// # Errors
/// The kernel uses more registers than the descriptor can express.
pub fn text(program: &Program, kernel: &Kernel, out: &mut String) -> Result<(), EmitError> {
    let (target, bytes) = (&program.target_of(kernel), bytes(program, kernel)?);
    let Registers { vgprs, sgprs, vcc, flat_scratch, .. } = registers(target, kernel.func);
    let _ = writeln!(out, "\t.amdhsa_kernel {}", kernel.func.name);
    for (name, field) in fields::directives(target) {
        let value = field.get(&bytes);
        // The default of LLVM 14 is waves of 64 lanes even on processors whose default is 32, so the wave
        // size is always written for waves of 32.
        let is_told = *field == fields::WAVEFRONT_SIZE32 && target.wave_size == 32;
        if is_told || value != field.default_for(target, target.cumode) {
            let _ = writeln!(out, "\t\t.amdhsa_{name} {value}");
        }
    }
    let _ = writeln!(out, "\t\t.amdhsa_next_free_vgpr {vgprs}\n\t\t.amdhsa_next_free_sgpr {sgprs}");
    if fields::ACCUM_OFFSET.on.has(target) {
        let _ = writeln!(out, "\t\t.amdhsa_accum_offset {}", (fields::ACCUM_OFFSET.get(&bytes) + 1) * 4);
    }
    // Both are reserved unless the source says otherwise.
    for (name, reserved) in [("vcc", vcc), ("flat_scratch", flat_scratch)] {
        if !reserved {
            let _ = writeln!(out, "\t\t.amdhsa_reserve_{name} 0");
        }
    }
    out.push_str("\t.end_amdhsa_kernel\n");
    Ok(())
}
