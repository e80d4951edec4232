//! Objects for other systems than HSA's: Mesa (`mesa3d`), and no operating system. These objects have no
//! metadata, so this module knows what their runtime, Mesa's clover, passes to kernels.
//!
//! # Source
//! * The words before and after the arguments, and the user SGPRs: Mesa's `si_upload_compute_input`, libclc's
//!   `amdgcn` functions (`get_local_size`, `get_global_offset`, ...) and clover's `make_kernel_args`.
//! * `.AMDGPU.config`: Mesa's `ac_parse_shader_binary_config`, which reads the pairs. Registers: the manuals of
//!   Southern Islands to RDNA.
//! * `SCRATCH_RSRC_DWORD0` and `SCRATCH_RSRC_DWORD1`: Mesa's `si_shader_apply_scratch_relocs`.

use super::image::Image;
use super::{KernelInfo, LoadError};
use crate::descriptor::{Descriptor, UserSgprs};
use crate::metadata::{ArgInfo, ArgKind};
use crate::scratch;
use codeobj::{CodeObject, OsAbi};
use isa::Target;
use isa::target::Feature;
use object::elf::{STB_GLOBAL, STT_FUNC};

/// Register numbers in `.AMDGPU.config`.
const PGM_RSRC1: u32 = 0xb848;
const PGM_RSRC2: u32 = 0xb84c;
const TMPRING_SIZE: u32 = 0xb860;
/// Number of bytes that describe a kernel in `.AMDGPU.config`: five pairs.
const CONFIG_BYTES: usize = 40;
/// Names of the words in front of the arguments, three of each, if there is no operating system.
const LEADING: [&str; 3] = ["num_groups", "global_size", "local_size"];
/// Names of the words after the arguments.
const TRAILING: [&str; 4] = ["grid_dims", "global_offset_x", "global_offset_y", "global_offset_z"];
/// The user SGPRs that LLVM's kernels expect, by their number. `.AMDGPU.config` states only the number. Mesa
/// passes the address of the arguments alone. LLVM adds the others to kernels about which it knows less.
const USER_SGPRS: [(u32, &[UserSgprs]); 4] = [
    (0, &[]),
    (2, &[UserSgprs::KernargPtr]),
    (4, &[UserSgprs::DispatchPtr, UserSgprs::KernargPtr]),
    (6, &[UserSgprs::DispatchPtr, UserSgprs::KernargPtr, UserSgprs::DispatchId]),
];

fn hidden(name: String, offset: u32) -> ArgInfo {
    ArgInfo {
        name: None,
        offset,
        size: 4,
        kind: ArgKind::Hidden(name),
        address_space: None,
        type_name: None,
        element: None,
        is_const: false,
        is_restrict: false,
        pointee_align: 0,
    }
}

/// Returns the words in front of the arguments.
fn leading() -> Vec<ArgInfo> {
    let names = LEADING.iter().flat_map(|name| ["x", "y", "z"].map(|dim| format!("{name}_{dim}")));
    (0..).step_by(4).zip(names).map(|(offset, name)| hidden(name, offset)).collect()
}

/// Places the arguments `args` of a kernel that the object does not describe: after the words that precede
/// them, and before the words that follow them.
pub(super) fn place_arguments(system: OsAbi, args: Vec<ArgInfo>) -> Vec<ArgInfo> {
    let mut all = if system == OsAbi::None { leading() } else { Vec::new() };
    let begin = all.len() as u32 * 4;
    let own_end = args.iter().map(|arg| arg.offset.saturating_add(arg.size)).max().unwrap_or(0);
    all.extend(args.into_iter().map(|arg| ArgInfo { offset: begin.saturating_add(arg.offset), ..arg }));
    if matches!(system, OsAbi::None | OsAbi::Mesa3d) {
        let end = begin.saturating_add(own_end).saturating_add(3) & !3;
        let words = (0..).zip(TRAILING);
        all.extend(words.map(|(n, name)| hidden(name.to_owned(), end.saturating_add(4 * n))));
    }
    all
}

/// Returns the value of a symbol that the runtime defines: a dword of the descriptor of scratch memory.
pub(super) fn symbol(name: &str, target: &Target) -> Option<u32> {
    let dword = match name {
        "SCRATCH_RSRC_DWORD0" => 0,
        "SCRATCH_RSRC_DWORD1" => 1,
        _ => return None,
    };
    Some(scratch::resource(target)[dword])
}

/// Returns the kernels that the section `.AMDGPU.config` describes. Its entries are in the order of the code.
pub(super) fn kernels(
    file: &CodeObject<'_>,
    target: &'static Target,
    image: &Image,
) -> Result<Vec<KernelInfo>, LoadError> {
    let Some(config) = file.sections.iter().find(|section| section.name == ".AMDGPU.config") else {
        return Ok(Vec::new());
    };
    let is_kernel = |name: &str| {
        let mut symbols = file.symbols().iter().filter(|symbol| symbol.name == name);
        symbols.any(|symbol| symbol.kind == STT_FUNC.0 && symbol.binding == STB_GLOBAL.0)
    };
    let mut found: Vec<_> = image.symbols.iter().filter(|symbol| is_kernel(&symbol.name)).collect();
    found.sort_by_key(|symbol| symbol.address);
    let entries = config.data.chunks(CONFIG_BYTES);
    if entries.len() != found.len() || !config.data.len().is_multiple_of(CONFIG_BYTES) {
        return Err(LoadError::Descriptor(format!(
            ".AMDGPU.config has {} bytes, {CONFIG_BYTES} for a kernel, but {} functions may be kernels",
            config.data.len(),
            found.len()
        )));
    }
    let mut kernels = Vec::with_capacity(found.len());
    for (entry, symbol) in entries.zip(found) {
        let bad = |why: String| LoadError::Descriptor(format!("{}: {why}", symbol.name));
        let descriptor = descriptor(entry, target).map_err(bad)?;
        let args = leading();
        kernels.push(KernelInfo {
            name: symbol.name.clone(),
            kernarg_size: args.len() as u32 * 4,
            args,
            reqd_group: None,
            max_group: 0,
            sgprs: 0,
            vgprs: 0,
            wave_size: target.wave_size,
            untyped: true,
            descriptor,
            descriptor_address: symbol.address,
            entry: symbol.address,
            user_data: None,
        });
    }
    Ok(kernels)
}

/// Returns the start state that the pairs of a kernel describe.
fn descriptor(entry: &[u8], target: &Target) -> Result<Descriptor, String> {
    let mut out = Descriptor::default();
    let mut tmpring = 0;
    for pair in entry.chunks_exact(8) {
        let word = |at: usize| pair[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        match (word(0), word(4)) {
            (PGM_RSRC1, value) => out.rsrc1 = value,
            (PGM_RSRC2, value) => out.rsrc2 = value,
            (TMPRING_SIZE, value) => tmpring = value,
            // The numbers of spilled registers.
            (4 | 8, _) => {}
            (register, _) => return Err(format!(".AMDGPU.config names the unknown register {register:#x}")),
        }
    }
    // `WAVESIZE` counts 1024 bytes. `LDS_SIZE` counts 64 dwords on GFX6 and 128 dwords later.
    out.private_segment = (tmpring >> 12 & 0x1fff) * 1024 / target.wave_size;
    out.group_segment = (out.rsrc2 >> 15 & 0x1ff) * if target.has(Feature::FLAT) { 512 } else { 256 };
    let count = out.user_sgprs();
    let known = USER_SGPRS.iter().find(|(known, _)| *known == count);
    let (_, kinds) = known.ok_or_else(|| format!("{count} user SGPRs, whose contents are not known"))?;
    out.properties = kinds.iter().fold(0, |bits, &kind| bits | 1 << kind as u32);
    // The pairs do not state the wave size, so every kernel has the processor's default.
    out.set_wave32(target.wave_size == 32);
    Ok(out)
}
