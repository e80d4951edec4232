//! Objects for AMD's Platform Abstraction Library (`amdpal`): one compute pipeline, described by metadata.
//!
//! # Source
//! LLVM's AMDGPU guide (seed 000, lines 4297 to 4365), and AMD's PAL, `palPipelineAbi.h`. Registers: the
//! manuals of Southern Islands to RDNA.

use super::image::Image;
use super::kernels::notes;
use super::{KernelInfo, LoadError};
use crate::descriptor::Descriptor;
use crate::metadata::ArgMeta;
use crate::pal::UserData;
use codeobj::CodeObject;
use codeobj::note;
use isa::Target;
use isa::target::Feature;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Numbers of the registers that the emulator reads.
const DISPATCH_INITIATOR: u32 = 0x2e00;
const NUM_THREAD_X: u32 = 0x2e07;
const PGM_RSRC1: u32 = 0x2e12;
const PGM_RSRC2: u32 = 0x2e13;
const PGM_RSRC3: u32 = 0x2e28;
const USER_DATA_0: u32 = 0x2e40;
/// Value of `ACCUM_OFFSET` without accumulation registers, for gfx90a. LLVM's metadata does not state the field.
const ALL_VGPRS: u32 = 0x3f;
/// Bit `CS_W32_EN` of the dispatch initiator.
const WAVE32: u32 = 1 << 15;
/// Largest number of dwords of user data.
const MAX_LIMIT: u32 = 1 << 14;

/// The MessagePack document.
#[derive(Deserialize)]
struct Document {
    #[serde(rename = "amdpal.pipelines", default)]
    pipelines: Vec<Pipeline>,
}

#[derive(Deserialize)]
struct Pipeline {
    #[serde(rename = ".name", default)]
    name: Option<String>,
    #[serde(rename = ".hardware_stages", default)]
    stages: Stages,
    #[serde(rename = ".registers", default)]
    registers: BTreeMap<u32, u32>,
    #[serde(rename = ".user_data_limit", default)]
    limit: u32,
    #[serde(rename = ".spill_threshold", default)]
    spill_threshold: u32,
    #[serde(rename = ".kernc_args")]
    args: Option<Vec<ArgMeta>>,
}

#[derive(Default, Deserialize)]
struct Stages {
    #[serde(rename = ".cs")]
    compute: Option<Stage>,
}

#[derive(Deserialize)]
struct Stage {
    #[serde(rename = ".entry_point")]
    entry_point: Option<String>,
    #[serde(rename = ".scratch_memory_size", default)]
    scratch: u32,
    #[serde(rename = ".lds_size")]
    lds: Option<u32>,
    #[serde(rename = ".sgpr_count", default)]
    sgprs: u32,
    #[serde(rename = ".vgpr_count", default)]
    vgprs: u32,
}

/// Returns the compute kernel of the pipeline.
pub(super) fn kernels(
    file: &CodeObject<'_>,
    data: &[u8],
    target: &'static Target,
    image: &Image,
) -> Result<Vec<KernelInfo>, LoadError> {
    let mut kernels = Vec::new();
    for note in notes(file, data) {
        if (note.owner, note.kind) != ("AMDGPU", note::NT_METADATA) {
            continue;
        }
        let document: Document =
            rmp_serde::from_slice(note.desc).map_err(|error| LoadError::Metadata(error.to_string()))?;
        for pipeline in document.pipelines {
            kernels.extend(kernel(pipeline, target, image)?);
        }
    }
    Ok(kernels)
}

fn kernel(
    pipeline: Pipeline,
    target: &'static Target,
    image: &Image,
) -> Result<Option<KernelInfo>, LoadError> {
    let Some(stage) = &pipeline.stages.compute else { return Ok(None) };
    let entry_point = stage.entry_point.as_deref().unwrap_or("_amdgpu_cs_main");
    let bad = |why: String| LoadError::Descriptor(format!("{entry_point}: {why}"));
    let symbol = image.symbol(entry_point).ok_or_else(|| bad("no such symbol".to_owned()))?;
    let register = |number: u32| pipeline.registers.get(&number).copied();
    let rsrc =
        |number, name: &str| register(number).ok_or_else(|| bad(format!("the metadata has no {name}")));
    let mut descriptor = Descriptor {
        rsrc1: rsrc(PGM_RSRC1, "COMPUTE_PGM_RSRC1")?,
        rsrc2: rsrc(PGM_RSRC2, "COMPUTE_PGM_RSRC2")?,
        rsrc3: register(PGM_RSRC3).unwrap_or(ALL_VGPRS),
        private_segment: stage.scratch,
        ..Descriptor::default()
    };
    // `LDS_SIZE` counts 64 dwords on GFX6 and 128 dwords later.
    let lds = (descriptor.rsrc2 >> 15 & 0x1ff) * if target.has(Feature::FLAT) { 512 } else { 256 };
    descriptor.group_segment = stage.lds.unwrap_or(lds);
    if descriptor.group_segment > lds {
        return Err(bad(format!(
            "{} bytes of LDS, but COMPUTE_PGM_RSRC2 states {lds}",
            descriptor.group_segment
        )));
    }
    let is_wave32 = register(DISPATCH_INITIATOR).unwrap_or(0) & WAVE32 != 0;
    descriptor.set_wave32(is_wave32);
    let wave_size = if is_wave32 { 32 } else { 64 };
    if target.with_wave_size(wave_size).is_none() {
        return Err(bad(format!("{} has no wavefronts of {wave_size} lanes", target.name)));
    }
    let mapping: Vec<Option<u32>> = (USER_DATA_0..USER_DATA_0 + 16).map(register).collect();
    let user_data = match descriptor.user_sgprs() {
        _ if mapping.iter().any(Option::is_some) => UserData {
            mapping: std::array::from_fn(|n| mapping[n]),
            limit: pipeline.limit.min(MAX_LIMIT),
            spill_threshold: pipeline.spill_threshold,
        },
        0 => UserData::default(),
        16 => UserData::of_the_guide(),
        count => return Err(bad(format!("{count} user SGPRs, whose contents the metadata does not state"))),
    };
    let group: Vec<u32> =
        (NUM_THREAD_X..NUM_THREAD_X + 3).filter_map(register).map(|value| value & 0xffff).collect();
    let mut args: Vec<_> = pipeline.args.iter().flatten().map(ArgMeta::info).collect();
    args.sort_by_key(|arg| arg.offset);
    Ok(Some(KernelInfo {
        name: pipeline.name.clone().unwrap_or_else(|| entry_point.to_owned()),
        args,
        kernarg_size: 4 * user_data.limit.min(MAX_LIMIT),
        reqd_group: <[u32; 3]>::try_from(group).ok().filter(|group| !group.contains(&0)),
        max_group: 0,
        sgprs: stage.sgprs,
        vgprs: stage.vgprs,
        wave_size,
        untyped: pipeline.args.is_none(),
        descriptor,
        descriptor_address: symbol.address,
        entry: symbol.address,
        user_data: Some(user_data),
    }))
}
