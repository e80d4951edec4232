//! Machine code that loads inputs, executes single instructions and stores what they leave; run on the emulator.

use super::cases::{CASES, literal};
use super::harness::Harness;
use super::variant::{Variant, names_mask, writes_mask};
use super::{INPUT, Input, Mode, OUTPUT};
use isa::table::{Family, Flags, Kind, OpSpec, Role, Row};
use isa::{Form, Target};
use std::fmt::Write as _;

/// An instruction to be tried.
#[derive(Clone)]
pub struct Trial<'a> {
    /// Row.
    pub row: &'static Row,
    /// Encoding and modifiers.
    pub variant: Variant,
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
        let suffix = match (self.variant.form, self.row.family) {
            (Form::E32, _) => "_e32",
            (Form::Sdwa, _) => "_sdwa",
            (Form::Dpp, _) => "_dpp",
            (_, Family::Vop1 | Family::Vop2 | Family::Vopc) if !self.row.flags.contains(Flags::NO_E64) => {
                "_e64"
            }
            _ => "",
        };
        let mut sources = SOURCES.into_iter().enumerate();
        let operands: Vec<String> =
            self.row.ops.iter().map(|spec| self.operand(spec, &mut sources, target)).collect();
        format!("{}{suffix} {}{}", self.row.name, operands.join(", "), self.variant.suffix(self.row))
    }

    fn operand(
        &self,
        spec: &OpSpec,
        sources: &mut impl Iterator<Item = (usize, u32)>,
        target: &Target,
    ) -> String {
        let range = |first: u32| match spec.width {
            1 => format!("v{first}"),
            width => format!("v[{first}:{}]", first + u32::from(width) - 1),
        };
        match (spec.kind, spec.role) {
            (Kind::Mask, role) => {
                let named = role != Role::Use && names_mask(self.row, self.variant.form, target);
                match (named, target.wave_size == 32) {
                    (false, true) => "vcc_lo".into(),
                    (false, _) => "vcc".into(),
                    (_, true) => "s24".into(),
                    _ => "s[24:25]".into(),
                }
            }
            (Kind::Lit, _) => {
                let _ = sources.next();
                format!("{:#x}", literal(self.row))
            }
            (_, Role::Use) => {
                let (number, register) = sources.next().expect("at most three sources");
                self.variant.wrap(self.row, number, &range(register))
            }
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
        let named = names_mask(self.row, self.variant.form, target);
        let result = if writes_mask(self.row) && !named { vcc } else { mask };
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

/// Runs the trials in one kernel.
pub fn run(target: &'static Target, mode: Mode, trials: &[Trial<'_>]) -> Result<Vec<Vec<Found>>, String> {
    let add = match target.version.0 {
        6 | 7 => "v_add_i32_e32 v1, vcc,",
        8 => "v_add_u32_e32 v1, vcc,",
        9 => "v_add_u32_e32 v1,",
        _ => "v_add_nc_u32_e32 v1,",
    };
    let mut body = format!(
        "s_lshl_b32 s14, s2, 6\n{add} s14, v0\nv_lshlrev_b32_e32 v2, 6, v1\nv_lshlrev_b32_e32 v3, 5, v1\n"
    );
    for (at, trial) in trials.iter().enumerate() {
        trial.kernel(at, target, &mut body);
    }
    let input: Vec<u32> =
        trials.iter().flat_map(|trial| trial.inputs.iter().flat_map(Input::dwords)).collect();
    let harness = Harness { groups: CASES as u32 / 64, ..Harness::new(target, mode) };
    let words = harness.run(&body, &input, trials.len() * CASES * OUTPUT)?;
    let lane =
        |out: &[u32]| Found { words: [out[0], out[1], out[2], out[3]], mask: out[4] != 0, exec: out[5] != 0 };
    Ok(words
        .chunks_exact(CASES * OUTPUT)
        .map(|trial| trial.chunks_exact(OUTPUT).map(lane).collect())
        .collect())
}
