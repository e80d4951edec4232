//! Machine code that executes single scalar instructions, a wave for each input, and stores what they leave.

use super::cases::CASES;
use super::harness::Harness;
use super::{INPUT, Input, Mode, OUTPUT};
use isa::Target;
use isa::table::{Kind, Role, Row};
use std::fmt::Write as _;

/// A scalar instruction to be tried.
pub struct ScalarTrial {
    /// Row.
    pub row: &'static Row,
    /// The field of the instruction, if it has one; inputs hold it too.
    pub immediate: Option<i32>,
    /// Inputs.
    pub inputs: Vec<Input>,
}

/// What stands in the registers afterwards.
#[derive(Clone, Copy, Debug)]
pub struct ScalarFound {
    /// Destination.
    pub words: [u32; 2],
    /// EXEC.
    pub exec: [u32; 2],
    /// SCC.
    pub scc: bool,
}

impl ScalarTrial {
    /// The instruction's text.
    pub fn text(&self) -> String {
        let mut sources = ["16", "18"].into_iter();
        let operands = self.row.ops.iter().map(|spec| {
            let first = match (spec.kind, spec.role) {
                (Kind::Imm, _) => return format!("{:#x}", self.immediate.unwrap_or(0)),
                (_, Role::Use) => sources.next().expect("two sources"),
                _ => "40",
            };
            let number: u32 = first.parse().expect("a number");
            if spec.width == 2 { format!("s[{number}:{}]", number + 1) } else { format!("s{number}") }
        });
        format!("{} {}", self.row.name, operands.collect::<Vec<_>>().join(", "))
    }

    fn kernel(&self, at: usize, target: &Target, source: &mut String) {
        let exec = |to: &str, from: &str| match target.wave_size {
            32 => format!("s_mov_b32 {}, {}\n", half(to), half(from)),
            _ => format!("s_mov_b64 {to}, {from}\n"),
        };
        let sets_exec =
            if self.row.name.contains("exec_") { exec("exec", "s[20:21]") } else { String::new() };
        let _ = write!(
            source,
            "s_add_u32 s12, s14, {:#x}\ns_load_dwordx16 s[16:31], s[4:5], s12\ns_waitcnt 0\n\
             s_mov_b64 s[40:41], s[24:25]\ns_mov_b64 s[42:43], 0\n{sets_exec}s_cmp_lg_u32 s28, 0\n{}\n{}\
             s_cselect_b32 s44, 1, 0\n{}s_add_u32 s13, s15, {:#x}\n",
            at * CASES * INPUT * 4,
            self.text(),
            exec("s[42:43]", "exec"),
            exec("exec", "1"),
            at * CASES * OUTPUT * 4,
        );
        for word in 0..5 {
            let _ = writeln!(source, "v_mov_b32_e32 v{}, s{}", 4 + word, 40 + word);
        }
        source.push_str(
            "buffer_store_dwordx4 v[4:7], off, s[8:11], s13\nbuffer_store_dword v8, off, s[8:11], s13 offset:16\n\
             s_waitcnt expcnt(0)\n",
        );
        source.push_str(&exec("exec", "-1"));
    }
}

/// The first of a pair of registers.
fn half(name: &str) -> &str {
    match name {
        "exec" => "exec_lo",
        "s[20:21]" => "s20",
        "s[42:43]" => "s42",
        constant => constant,
    }
}

/// Runs the trials in one kernel.
pub fn run(target: &'static Target, trials: &[ScalarTrial]) -> Result<Vec<Vec<ScalarFound>>, String> {
    let mut body = String::from("s_lshl_b32 s14, s2, 6\ns_lshl_b32 s15, s2, 5\n");
    for (at, trial) in trials.iter().enumerate() {
        trial.kernel(at, target, &mut body);
    }
    let input: Vec<u32> =
        trials.iter().flat_map(|trial| trial.inputs.iter().flat_map(Input::dwords)).collect();
    let harness =
        Harness { group: target.wave_size, groups: CASES as u32, ..Harness::new(target, Mode::USUAL) };
    let words = harness.run(&body, &input, trials.len() * CASES * OUTPUT)?;
    let found =
        |out: &[u32]| ScalarFound { words: [out[0], out[1]], exec: [out[2], out[3]], scc: out[4] != 0 };
    Ok(words
        .chunks_exact(CASES * OUTPUT)
        .map(|trial| trial.chunks_exact(OUTPUT).map(found).collect())
        .collect())
}
