//! Machine code that loads inputs, executes single instructions and stores what they leave; run on the emulator.

use super::cases::{CASES, literal};
use super::{INPUT, Input, Mode, OUTPUT};
use isa::table::{Flags, Kind, OpSpec, Role, Row};
use isa::{Form, Generation, Target};
use sim::{CodeObject, Device, Dispatch};
use std::fmt::Write as _;

/// An instruction to be tried.
#[derive(Clone)]
pub struct Trial<'a> {
    /// Row.
    pub row: &'static Row,
    /// 32-bit or 64-bit encoding.
    pub form: Form,
    /// What is written behind the operands.
    pub modifiers: String,
    /// The lanes that are active.
    pub exec: u64,
    /// Inputs.
    pub inputs: &'a [Input],
}

/// What a lane holds afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Destination.
    pub words: [u32; 4],
    /// Its bit of the mask that was written.
    pub mask: bool,
    /// Whether it is active.
    pub exec: bool,
}

/// First VGPR of each source, and of the destination.
const SOURCES: [u32; 3] = [4, 6, 8];
const DESTINATION: u32 = 12;

impl Trial<'_> {
    /// The instruction's text.
    pub fn text(&self, target: &Target) -> String {
        let suffix = match (self.form, self.row.family) {
            (Form::E32, _) => "_e32",
            (_, isa::table::Family::Vop1 | isa::table::Family::Vop2 | isa::table::Family::Vopc)
                if !self.row.flags.contains(Flags::NO_E64) =>
            {
                "_e64"
            }
            _ => "",
        };
        let mut sources = SOURCES.into_iter();
        let operands: Vec<String> =
            self.row.ops.iter().map(|spec| self.operand(spec, &mut sources, target)).collect();
        format!("{}{suffix} {}{}", self.row.name, operands.join(", "), self.modifiers)
    }

    fn operand(&self, spec: &OpSpec, sources: &mut impl Iterator<Item = u32>, target: &Target) -> String {
        let range = |first: u32| match spec.width {
            1 => format!("v{first}"),
            width => format!("v[{first}:{}]", first + u32::from(width) - 1),
        };
        match (spec.kind, spec.role) {
            (Kind::Mask, role) => {
                let wave32 = target.wave_size == 32;
                match (self.form, role, wave32) {
                    (Form::E32, _, true) | (_, Role::Use, true) => "vcc_lo".into(),
                    (Form::E32, ..) | (_, Role::Use, _) => "vcc".into(),
                    (.., true) => "s24".into(),
                    _ => "s[24:25]".into(),
                }
            }
            (Kind::Lit, _) => {
                let _ = sources.next();
                format!("{:#x}", literal(self.row))
            }
            (_, Role::Use) => range(sources.next().expect("at most three sources")),
            _ => range(DESTINATION),
        }
    }

    fn kernel(&self, at: usize, target: &Target, source: &mut String) {
        let b = if target.wave_size == 32 { "b32" } else { "b64" };
        let (exec, vcc, mask, out) = if target.wave_size == 32 {
            ("exec_lo", "vcc_lo", "s24", "s22")
        } else {
            ("exec", "vcc", "s[24:25]", "s[22:23]")
        };
        let (from, to) = (at * CASES * INPUT * 4, at * CASES * OUTPUT * 4);
        let written = self.row.has_kind(Kind::Mask)
            && self.row.ops.iter().any(|spec| spec.kind == Kind::Mask && spec.role == Role::Def);
        let result = if self.form == Form::E32 && written { vcc } else { mask };
        let lanes = if target.wave_size == 32 { "0xffffffff".into() } else { "-1".to_owned() };
        let _ = write!(source, "s_mov_b32 s12, {from:#x}\ns_mov_b32 s13, {to:#x}\n");
        for quarter in 0..4 {
            let first = 4 + 4 * quarter;
            let _ = writeln!(
                source,
                "buffer_load_dwordx4 v[{first}:{}], v2, s[4:7], s12 offen offset:{}",
                first + 3,
                16 * quarter
            );
        }
        let active = if target.wave_size == 32 { self.exec & 0xffff_ffff } else { self.exec };
        let _ = write!(
            source,
            "s_waitcnt 0\nv_cmp_ne_u32_e32 {vcc}, 0, v16\ns_mov_{b} {mask}, 0\n\
             s_mov_b32 exec_lo, {:#x}\n",
            active as u32
        );
        if target.wave_size == 64 {
            let _ = writeln!(source, "s_mov_b32 exec_hi, {:#x}", (active >> 32) as u32);
        }
        let _ = write!(
            source,
            "s_nop 7\n{}\ns_nop 7\ns_mov_{b} {out}, {exec}\ns_mov_{b} {exec}, {lanes}\n\
             v_cndmask_b32_e64 v20, 0, 1, {result}\nv_cndmask_b32_e64 v21, 0, 1, {out}\n\
             buffer_store_dwordx4 v[12:15], v3, s[8:11], s13 offen\n\
             buffer_store_dwordx2 v[20:21], v3, s[8:11], s13 offen offset:16\n",
            self.text(target)
        );
    }
}

fn assemble(target: &'static Target, mode: Mode, trials: &[Trial<'_>]) -> Result<Vec<u8>, String> {
    let mut source = String::from(
        ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\ns_load_dwordx8 s[4:11], s[0:1], 0x0\n\
         s_lshl_b32 s14, s2, 6\n",
    );
    let add = match target.generation {
        Generation::Gfx6 | Generation::Gfx7 => "v_add_i32_e32 v1, vcc,",
        Generation::Gfx8 => "v_add_u32_e32 v1, vcc,",
        Generation::Gfx9 => "v_add_u32_e32 v1,",
        _ => "v_add_nc_u32_e32 v1,",
    };
    let _ = write!(
        source,
        "{add} s14, v0\nv_lshlrev_b32_e32 v2, 6, v1\nv_lshlrev_b32_e32 v3, 5, v1\ns_waitcnt 0\n"
    );
    for (at, trial) in trials.iter().enumerate() {
        trial.kernel(at, target, &mut source);
    }
    source.push_str("s_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n");
    let keep = if mode.denormals { 3 } else { 0 };
    let _ = write!(
        source,
        ".amdhsa_kernarg_size 32\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_next_free_vgpr 32\n.amdhsa_next_free_sgpr 32\n\
         .amdhsa_float_round_mode_32 {0}\n.amdhsa_float_round_mode_16_64 {0}\n\
         .amdhsa_float_denorm_mode_32 {keep}\n.amdhsa_float_denorm_mode_16_64 {keep}\n\
         .amdhsa_ieee_mode {1}\n",
        mode.round,
        u32::from(mode.ieee),
    );
    if target.has(isa::Feature::GFX90A) {
        source.push_str(".amdhsa_accum_offset 32\n");
    }
    if target.generation == Generation::Gfx10 {
        let _ = writeln!(source, ".amdhsa_wavefront_size32 {}", u32::from(target.wave_size == 32));
    }
    source.push_str(".end_amdhsa_kernel\n");
    let options =
        asm::Options { target: Some(target), wave64: target.wave_size == 64, ..asm::Options::default() };
    asm::assemble(&source, &options).map_err(|wrong| {
        let first = &wrong[0];
        format!("{}: {}", first.message, source.get(first.span.clone()).unwrap_or_default())
    })
}

/// Words 2 and 3 of a buffer resource without format and swizzling.
fn resource(target: &Target, address: u64, bytes: usize) -> [u32; 4] {
    let format = match target.generation {
        Generation::Gfx10 => 0x3101_6fac,
        _ => 0x0002_7fac,
    };
    [address as u32, (address >> 32) as u32 & 0xffff, bytes as u32, format]
}

/// Runs the trials in one kernel.
pub fn run(target: &'static Target, mode: Mode, trials: &[Trial<'_>]) -> Result<Vec<Vec<Found>>, String> {
    let object = assemble(target, mode, trials)?;
    let object = CodeObject::load(&object).map_err(|error| error.to_string())?;
    let mut device = Device::new();
    let module = device.load(&object).map_err(|fault| fault.to_string())?;
    let bytes: Vec<u8> = trials
        .iter()
        .flat_map(|trial| trial.inputs.iter().flat_map(Input::dwords))
        .flat_map(u32::to_le_bytes)
        .collect();
    let mut answer = vec![0; trials.len() * CASES * OUTPUT * 4];
    let (from, to) = (device.alloc(bytes.len() as u64), device.alloc(answer.len() as u64));
    let (from, to) = (from.map_err(|fault| fault.to_string())?, to.map_err(|fault| fault.to_string())?);
    device.write(from, &bytes).map_err(|fault| fault.to_string())?;
    let kernarg = resource(target, from, bytes.len()).into_iter().chain(resource(target, to, answer.len()));
    let kernarg = kernarg.flat_map(u32::to_le_bytes).collect();
    let dispatch = Dispatch {
        kernel: "k",
        grid: [CASES as u32, 1, 1],
        group: [64, 1, 1],
        kernarg,
        ..Dispatch::default()
    };
    device.run(module, &dispatch).map_err(|fault| fault.to_string())?;
    device.read(to, &mut answer).map_err(|fault| fault.to_string())?;
    let words: Vec<u32> =
        answer.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let lane =
        |out: &[u32]| Found { words: [out[0], out[1], out[2], out[3]], mask: out[4] != 0, exec: out[5] != 0 };
    Ok(words
        .chunks_exact(CASES * OUTPUT)
        .map(|trial| trial.chunks_exact(OUTPUT).map(lane).collect())
        .collect())
}
