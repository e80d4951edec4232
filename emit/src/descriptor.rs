//! The 64-byte kernel descriptor (seed 000, line 2567), as bytes and as `.amdhsa_` directives.
//!
//! One table, [`directives`], names each field with its bit position, so that bytes and text cannot disagree.

use crate::Kernel;
use isa::Subtarget;

/// Size of a descriptor in bytes.
pub const SIZE: usize = 64;
/// Byte offset of the 64-bit distance from descriptor to entry point.
pub const ENTRY_OFFSET: usize = 16;

/// Unit of the SGPR field of `compute_pgm_rsrc1`.
const SGPR_BLOCK: u32 = 8;

/// Where the bits of a field live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Whole 32-bit word at a byte offset.
    Word(usize),
    /// Bit of `compute_pgm_rsrc1`.
    Rsrc1(u32),
    /// Bit of `compute_pgm_rsrc2`.
    Rsrc2(u32),
    /// Bit of the kernel code properties.
    Property(u32),
    /// Text only: the bits are derived from several directives.
    Text,
}

/// A directive: its name without `.amdhsa_`, its value, its bits, and the value an assembler assumes.
struct Directive {
    name: &'static str,
    value: u32,
    default: Option<u32>,
    place: Place,
}

/// SGPRs that a wave occupies, VCC included, as `.sgpr_count` counts them (seed 000, line 2437).
pub fn sgpr_count(kernel: &Kernel) -> u32 {
    kernel.func.sgprs + if kernel.func.uses_vcc { 2 } else { 0 }
}

/// Number of user SGPRs.
fn user_sgprs(kernel: &Kernel) -> u32 {
    let abi = &kernel.func.abi;
    let sizes = [
        (abi.private_segment_buffer, 4),
        (abi.dispatch_ptr, 2),
        (abi.queue_ptr, 2),
        (abi.kernarg_ptr, 2),
        (abi.dispatch_id, 2),
        (abi.flat_scratch_init, 2),
    ];
    sizes.iter().map(|&(on, size)| if on { size } else { 0 }).sum()
}

fn directives(kernel: &Kernel) -> Vec<Directive> {
    let func = kernel.func;
    let abi = &func.abi;
    let entry = |name, value, default, place| Directive { name, value, default, place };
    let flag = |name, on: bool, default, place| entry(name, u32::from(on), Some(default), place);
    vec![
        entry("group_segment_fixed_size", func.lds_size, Some(0), Place::Word(0)),
        entry("private_segment_fixed_size", func.scratch_size, Some(0), Place::Word(4)),
        flag("user_sgpr_private_segment_buffer", abi.private_segment_buffer, 0, Place::Property(0)),
        flag("user_sgpr_dispatch_ptr", abi.dispatch_ptr, 0, Place::Property(1)),
        flag("user_sgpr_queue_ptr", abi.queue_ptr, 0, Place::Property(2)),
        flag("user_sgpr_kernarg_segment_ptr", abi.kernarg_ptr, 0, Place::Property(3)),
        flag("user_sgpr_dispatch_id", abi.dispatch_id, 0, Place::Property(4)),
        flag("user_sgpr_flat_scratch_init", abi.flat_scratch_init, 0, Place::Property(5)),
        flag(
            "system_sgpr_private_segment_wavefront_offset",
            abi.private_segment_wave_offset,
            0,
            Place::Rsrc2(0),
        ),
        flag("system_sgpr_workgroup_id_x", abi.workgroup_id[0], 1, Place::Rsrc2(7)),
        flag("system_sgpr_workgroup_id_y", abi.workgroup_id[1], 0, Place::Rsrc2(8)),
        flag("system_sgpr_workgroup_id_z", abi.workgroup_id[2], 0, Place::Rsrc2(9)),
        entry("system_vgpr_workitem_id", u32::from(abi.workitem_ids), Some(0), Place::Rsrc2(11)),
        entry("next_free_vgpr", func.vgprs, None, Place::Text),
        entry("next_free_sgpr", func.sgprs, None, Place::Text),
        flag("reserve_vcc", func.uses_vcc, 1, Place::Text),
        flag("reserve_flat_scratch", abi.flat_scratch_init, 1, Place::Text),
        // IEEE arithmetic with denormals in every precision: full speed on these processors.
        entry("float_denorm_mode_32", 3, Some(0), Place::Rsrc1(16)),
        entry("float_denorm_mode_16_64", 3, Some(3), Place::Rsrc1(18)),
        entry("dx10_clamp", 1, Some(1), Place::Rsrc1(21)),
        entry("ieee_mode", 1, Some(1), Place::Rsrc1(23)),
    ]
}

/// Registers in allocation blocks, as `compute_pgm_rsrc1` wants them (seed 000, line 2640).
fn granulated(target: &Subtarget, kernel: &Kernel) -> u32 {
    let vgprs = kernel.func.vgprs.max(1).div_ceil(target.vgpr_granule) - 1;
    let special = if kernel.func.abi.flat_scratch_init {
        target.extra_sgprs
    } else if kernel.func.uses_vcc {
        2
    } else {
        0
    };
    // LLVM counts blocks of 8 SGPRs; seed 000, line 2660 gives 2 * (ceil(n / 16) - 1). The hardware allots 16 at a
    // time, so both reserve the same registers; we write what the assembler writes.
    let sgprs = (kernel.func.sgprs + special).max(1).div_ceil(SGPR_BLOCK) - 1;
    vgprs | sgprs << 6
}

/// The descriptor of a kernel whose code begins `entry` bytes after the descriptor.
pub fn bytes(target: &Subtarget, kernel: &Kernel, entry: i64) -> [u8; SIZE] {
    let mut out = [0; SIZE];
    let mut rsrc1 = granulated(target, kernel);
    let mut rsrc2 = user_sgprs(kernel) << 1;
    let mut properties = 0;
    for directive in directives(kernel) {
        match directive.place {
            Place::Word(at) => out[at..at + 4].copy_from_slice(&directive.value.to_le_bytes()),
            Place::Rsrc1(bit) => rsrc1 |= directive.value << bit,
            Place::Rsrc2(bit) => rsrc2 |= directive.value << bit,
            Place::Property(bit) => properties |= directive.value << bit,
            Place::Text => {}
        }
    }
    out[ENTRY_OFFSET..ENTRY_OFFSET + 8].copy_from_slice(&entry.to_le_bytes());
    out[48..52].copy_from_slice(&rsrc1.to_le_bytes());
    out[52..56].copy_from_slice(&rsrc2.to_le_bytes());
    out[56..60].copy_from_slice(&properties.to_le_bytes());
    out
}

/// The descriptor as the `.amdhsa_kernel` block of an assembler source; values an assembler assumes are left out.
pub fn text(kernel: &Kernel, out: &mut String) {
    use std::fmt::Write;
    let name = &kernel.func.name;
    let _ = writeln!(out, "\t.amdhsa_kernel {name}");
    for directive in directives(kernel).iter().filter(|directive| directive.default != Some(directive.value))
    {
        let _ = writeln!(out, "\t\t.amdhsa_{} {}", directive.name, directive.value);
    }
    out.push_str("\t.end_amdhsa_kernel\n");
}
