//! `--report`: prints the resources that each kernel occupies.

use kernc::CodeObject;
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Row<'a> {
    kernel: &'a str,
    target: &'a str,
    instructions: u32,
    code_bytes: u32,
    vgprs: u32,
    agprs: u32,
    sgprs: u32,
    lds_bytes: u32,
    scratch_bytes: u32,
    spilled_vgprs: u32,
    spilled_sgprs: u32,
    waves_per_simd: u32,
    limited_by: String,
    vgpr_limit: u32,
    vgpr_limit_reason: String,
}

fn rows(object: &CodeObject) -> Vec<Row<'_>> {
    let row = |kernel: &'_ kernc::KernelInfo| (kernel.resources, kernel.resources.occupancy);
    object
        .kernels()
        .iter()
        .map(|kernel| {
            let (resources, occupancy) = row(kernel);
            Row {
                kernel: &kernel.name,
                target: object.target().name,
                instructions: resources.instructions,
                code_bytes: resources.code_bytes,
                vgprs: resources.vgprs,
                agprs: resources.agprs,
                sgprs: resources.sgprs,
                lds_bytes: resources.lds,
                scratch_bytes: resources.scratch,
                spilled_vgprs: resources.spilled_vgprs,
                spilled_sgprs: resources.spilled_sgprs,
                waves_per_simd: occupancy.waves,
                limited_by: occupancy.limit.to_string(),
                vgpr_limit: resources.vgpr_limit.vgprs,
                vgpr_limit_reason: resources.vgpr_limit.reason.to_string(),
            }
        })
        .collect()
}

/// Returns the report as text for people.
pub fn human(object: &CodeObject) -> String {
    let mut out = String::new();
    for row in rows(object) {
        let _ = writeln!(out, "kernel {} ({})", row.kernel, row.target);
        let _ = writeln!(out, "  code        {} instructions, {} bytes", row.instructions, row.code_bytes);
        let agprs = if row.agprs == 0 { String::new() } else { format!(", {} AGPRs", row.agprs) };
        let _ = writeln!(out, "  registers   {} VGPRs, {} SGPRs{agprs}", row.vgprs, row.sgprs);
        let _ =
            writeln!(out, "  memory      {} bytes LDS, {} bytes scratch", row.lds_bytes, row.scratch_bytes);
        let _ = writeln!(out, "  spills      {} VGPRs, {} SGPRs", row.spilled_vgprs, row.spilled_sgprs);
        let _ = writeln!(
            out,
            "  occupancy   {} waves per SIMD, limited by {}",
            row.waves_per_simd, row.limited_by
        );
        let _ = writeln!(out, "  at most     {} VGPRs: {}", row.vgpr_limit, row.vgpr_limit_reason);
    }
    out
}

/// Returns the report as JSON.
pub fn json(object: &CodeObject) -> String {
    serde_json::to_string_pretty(&rows(object)).unwrap_or_default()
}
