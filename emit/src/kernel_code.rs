//! `amd_kernel_code_t`, the header before a kernel's code in V2, as bytes and as an assembler block.
//!
//! Its register words are those of a kernel descriptor, at the same offsets. The other fields are defined in
//! [`objwriter::kernel_code`].

use crate::{EmitError, Kernel, Program, descriptor};
use objwriter::kernel_code::{KEYS, Key, SIZE};
use std::fmt::Write;

/// The bytes of this header that equal the same bytes of a kernel descriptor. They are `compute_pgm_rsrc1`,
/// `compute_pgm_rsrc2`, and the bits that say which SGPRs the hardware initialises.
const SHARED: std::ops::Range<usize> = 48..58;
/// Smallest value of the fields for the alignment of memory segments, as a base-2 logarithm: 16 bytes.
const LEAST_ALIGN: u32 = 4;

/// Returns the header of a kernel.
///
/// # Errors
/// The kernel uses more registers than the header can express.
pub fn bytes(program: &Program, kernel: &Kernel) -> Result<[u8; SIZE], EmitError> {
    let (target, func) = (&program.target_of(kernel), kernel.func);
    let mut out = [0; SIZE];
    let wgp = !target.cumode;
    KEYS.iter().for_each(|key| key.set(&mut out, key.default_for(target, wgp)));
    out[SHARED].copy_from_slice(&descriptor::bytes(program, kernel)?[SHARED]);
    let registers = descriptor::registers(target, func);
    let fields = [
        // Scratch is swizzled by dwords.
        ("private_element_size", 1),
        ("is_ptr64", 1),
        ("is_dynamic_callstack", u32::from(func.dynamic_stack)),
        ("is_xnack_enabled", u32::from(target.xnack.may_be_on())),
        ("workitem_private_segment_byte_size", func.scratch_size),
        ("workgroup_group_segment_byte_size", kernel.lds),
        ("kernarg_segment_byte_size", program.kernarg_size(kernel)),
        ("wavefront_sgpr_count", registers.total_sgprs(target)),
        ("workitem_vgpr_count", registers.vgprs),
        ("kernarg_segment_alignment", kernel.kernarg_align.trailing_zeros().max(LEAST_ALIGN)),
    ];
    // AMD's OpenCL 2.0 driver leaves the version of the processor to the note of the inner object, and counts
    // the registers of the code alone once more.
    let of_driver = [
        ("amd_machine_version_major", 0),
        ("amd_machine_version_minor", 0),
        ("amd_machine_version_stepping", 0),
        ("reserved_sgpr_first", registers.sgprs),
        ("reserved_vgpr_first", registers.vgprs),
    ];
    let of_driver = of_driver.into_iter().filter(|_| target.system().has_container);
    for (name, value) in fields.into_iter().chain(of_driver) {
        let key = Key::by_name(name);
        key.ok_or_else(|| EmitError::Container(format!("no field {name}")))?.set(&mut out, value.into());
    }
    Ok(out)
}

/// Writes the header as the `.amd_kernel_code_t` block of an assembler source. Fields that have the
/// assembler's default value are omitted.
///
/// # Errors
/// The kernel uses more registers than the header can express.
pub fn text(program: &Program, kernel: &Kernel, out: &mut String) -> Result<(), EmitError> {
    let bytes = bytes(program, kernel)?;
    let target = &program.target_of(kernel);
    let wgp = !target.cumode;
    out.push_str("\t.amd_kernel_code_t\n");
    for key in KEYS {
        let value = key.get(&bytes);
        if value != key.default_for(target, wgp) {
            let _ = writeln!(out, "\t\t{} = {value}", key.name);
        }
    }
    out.push_str("\t.end_amd_kernel_code_t\n");
    Ok(())
}
