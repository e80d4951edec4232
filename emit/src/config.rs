//! The section `.AMDGPU.config`, which states the resources of kernels for drivers that read no descriptor. For
//! each kernel, in the order of the code, the section has five pairs of a register's number and its value.
//!
//! # Source
//! The objects that LLVM 19 writes for `amdgcn--` and `amdgcn-mesa-mesa3d`.

use crate::{EmitError, Kernel, Program, descriptor};
use std::fmt::Write;

/// Name of the section.
pub(crate) const NAME: &str = ".AMDGPU.config";

/// Numbers of the registers `COMPUTE_PGM_RSRC1`, `COMPUTE_PGM_RSRC2` and `COMPUTE_TMPRING_SIZE`.
const REGISTERS: [u32; 3] = [0xb848, 0xb84c, 0xb860];
/// Numbers under which the counts of spilled SGPRs and VGPRs are stated.
const SPILLED: [u32; 2] = [4, 8];
/// Unit of the field `WAVESIZE` of `COMPUTE_TMPRING_SIZE` in bytes, and the lowest bit of the field.
const SCRATCH_UNIT: u32 = 1024;
const WAVE_SIZE_BIT: u32 = 12;

/// Returns the pairs of a kernel.
fn pairs(program: &Program, kernel: &Kernel) -> Result<[(u32, u32); 5], EmitError> {
    let (target, func) = (program.target_of(kernel), kernel.func);
    let bytes = descriptor::bytes(program, kernel)?;
    let word = |at: usize| bytes[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let scratch = (func.scratch_size * target.wave_size).div_ceil(SCRATCH_UNIT) << WAVE_SIZE_BIT;
    let [rsrc1, rsrc2, tmpring] = REGISTERS;
    let [sgprs, vgprs] = SPILLED;
    Ok([
        (rsrc1, word(descriptor::RSRC1)),
        (rsrc2, word(descriptor::RSRC2)),
        (tmpring, scratch),
        (sgprs, func.spilled.sgprs),
        (vgprs, func.spilled.vgprs),
    ])
}

/// Returns the contents of the section.
pub(crate) fn bytes(program: &Program) -> Result<Vec<u8>, EmitError> {
    let mut out = Vec::new();
    for kernel in program.kernels {
        for (register, value) in pairs(program, kernel)? {
            out.extend_from_slice(&register.to_le_bytes());
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
    Ok(out)
}

/// Writes the section as assembler directives.
pub(crate) fn text(program: &Program, out: &mut String) -> Result<(), EmitError> {
    let _ = writeln!(out, "\t.section\t{NAME},\"\",@progbits");
    for kernel in program.kernels {
        for (register, value) in pairs(program, kernel)? {
            let _ = write!(out, "\t.long\t{register}\n\t.long\t{value}\n");
        }
    }
    out.push_str("\t.text\n");
    Ok(())
}
