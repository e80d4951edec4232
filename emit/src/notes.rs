//! Notes of an object: since V3 one note with the metadata, in V2 four notes. Objects for Mesa and for no
//! operating system have one note, which names the processor. Objects for PAL have this note and one with the
//! metadata of the pipeline. They are written either as note records or as assembler directives that produce
//! the same records.

use crate::{EmitError, Program, metadata, pal};
use isa::{CodeObjectVersion, Subtarget};
use objwriter::note::{self, NT_ISA_NAME, NT_ISA_VERSION, NT_METADATA, NT_METADATA_V2, NT_VERSION};
use std::fmt::Write;

/// Code object version that the notes of V2 state: 2.1, as LLVM 14 writes it.
const V2: [u32; 2] = [2, 1];

/// Vendor and architecture in the notes of V2.
const VENDOR: &str = "AMD";
const ARCH: &str = "AMDGPU";

/// Returns the version of the processor, as V2 spells it.
fn isa_version(target: &Subtarget) -> [u32; 3] {
    let (major, minor, stepping) = target.version;
    let version = [major, minor, stepping];
    if target.xnack.may_be_on() { note::replaying(version) } else { version }
}

/// Returns the version of the processor as a target id.
fn isa_name(target: &Subtarget) -> String {
    let [major, minor, stepping] = isa_version(target);
    format!("{}--gfx{major}{minor}{stepping:x}", target.system().triple)
}

/// Returns the name of the processor for the note of systems without metadata: a target id without features,
/// as LLVM 19 writes it.
fn processor(target: &Subtarget) -> String {
    format!("{}--{}", target.system().triple, target.name)
}

/// Appends the records.
///
/// # Errors
/// The metadata cannot state what the program needs.
pub fn write(program: &Program, out: &mut Vec<u8>) -> Result<(), EmitError> {
    let target = &program.target;
    if target.system().has_container {
        return Ok(());
    }
    if !target.system().has_metadata {
        let name = processor(target);
        note::write("AMD", NT_ISA_NAME, |out| out.extend_from_slice(name.as_bytes()), out);
    }
    if program.has_pipeline() {
        let metadata = pal::contents(program)?;
        note::write("AMDGPU", NT_METADATA, |out| out.extend_from_slice(&metadata), out);
    }
    if !target.system().has_metadata {
        return Ok(());
    }
    if target.code_object != CodeObjectVersion::V2 {
        note::write("AMDGPU", NT_METADATA, |out| metadata::write_message_pack(program, out), out);
        return Ok(());
    }
    let isa = note::isa_version(isa_version(target), VENDOR.as_bytes(), ARCH.as_bytes());
    let mut record = |kind, desc: &[u8]| note::write("AMD", kind, |out| out.extend_from_slice(desc), out);
    record(NT_VERSION, &note::version(V2[0], V2[1]));
    record(NT_ISA_VERSION, &isa);
    record(NT_ISA_NAME, isa_name(target).as_bytes());
    record(NT_METADATA_V2, metadata::text(program).as_bytes());
    Ok(())
}

/// Appends to a listing the directives that come first: the code object version and the processor.
pub fn prologue(program: &Program, out: &mut String) {
    let target = &program.target;
    // Writing to a string cannot fail.
    if program.is_v2() {
        let [major, minor, stepping] = isa_version(target);
        let _ = writeln!(out, "\t.hsa_code_object_version {},{}", V2[0], V2[1]);
        let _ = writeln!(out, "\t.hsa_code_object_isa {major},{minor},{stepping},\"{VENDOR}\",\"{ARCH}\"");
        let _ = writeln!(out, "\t.amd_amdgpu_isa \"{}\"", isa_name(target));
        return;
    }
    let _ = writeln!(out, "\t.amdgcn_target \"{}\"", program.target_id());
    // Only V6 needs this directive. For the other versions the assembler takes the version from the metadata,
    // and LLVM 14 does not know the directive.
    if target.system().has_metadata && target.code_object == CodeObjectVersion::V6 {
        out.push_str("\t.amdhsa_code_object_version 6\n");
    }
}

/// Appends the metadata at the end of a listing.
///
/// # Errors
/// The metadata cannot state what the program needs.
pub fn epilogue(program: &Program, out: &mut String) -> Result<(), EmitError> {
    if program.target.system().has_container {
        return Ok(());
    }
    if !program.target.system().has_metadata {
        let _ = writeln!(out, "\t.amd_amdgpu_isa \"{}\"", processor(&program.target));
        if program.has_pipeline() {
            out.push_str(&pal::text(program)?);
        }
        return Ok(());
    }
    let directive = match program.target.code_object {
        CodeObjectVersion::V2 => "amd_amdgpu_hsa_metadata",
        _ => "amdgpu_metadata",
    };
    let _ = write!(out, "\t.{directive}\n{}\t.end_{directive}\n", metadata::text(program));
    Ok(())
}
