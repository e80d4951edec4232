//! What a wave's registers hold, for models of instructions that move values between lanes and registers.

use super::Mode;
use super::harness::Harness;
use isa::Target;
use std::fmt::Write as _;
use testkit::Rng;

/// First VGPR and SGPR that a model knows, and how many.
const VGPRS: (usize, usize) = (4, 16);
const SGPRS: (usize, usize) = (16, 32);

/// Registers of a wave.
#[derive(Clone)]
pub struct State {
    /// VGPRs by number; 4 to 19 are stored.
    pub v: Vec<[u32; 64]>,
    /// SGPRs by number; 16 to 47 are stored.
    pub s: [u32; 64],
    /// M0 when the code begins.
    pub m0: u32,
    /// Active lanes.
    pub exec: u64,
    /// Lanes of the wave.
    pub lanes: usize,
    /// LDS when the code begins and ends, in dwords.
    pub lds: Vec<u32>,
}

impl State {
    fn random(target: &Target, rng: &mut Rng, number: u32) -> State {
        let lanes = target.wave_size as usize;
        let mut v = vec![[0; 64]; 32];
        v[VGPRS.0..VGPRS.0 + VGPRS.1].iter_mut().flatten().for_each(|value| *value = rng.bits());
        let s = std::array::from_fn(|_| rng.bits());
        let all = u64::MAX >> (64 - lanes);
        let any = u64::from(rng.bits()) << 32 | u64::from(rng.bits());
        let exec =
            [all, any & all, 1, 0, any & all, all << (lanes / 2) & all, any & all, all][number as usize % 8];
        State { v, s, m0: rng.bits(), exec, lanes, lds: (0..LDS).map(|_| rng.bits()).collect() }
    }

    /// Whether a lane is active.
    pub fn active(&self, lane: usize) -> bool {
        self.exec >> lane & 1 != 0
    }

    /// Writes a VGPR's active lanes; what the function does not name stays.
    pub fn set(&mut self, register: usize, value: impl Fn(&State, usize) -> Option<u32>) {
        let before = self.clone();
        for lane in (0..self.lanes).filter(|&lane| before.active(lane)) {
            if let Some(value) = value(&before, lane) {
                self.v[register][lane] = value;
            }
        }
    }
}

/// Dwords of LDS that are set and compared.
pub const LDS: usize = 256;

/// Changes registers at random.
type Change = dyn Fn(&mut State, &mut Rng);

/// Machine code with what it does to the registers.
pub struct Snippet {
    /// The code.
    pub code: String,
    /// Changes the registers before, so that they mean something.
    pub before: Box<Change>,
    /// What the code does.
    pub model: Box<dyn Fn(&mut State)>,
}

impl Snippet {
    /// Of any registers.
    pub fn new(code: impl Into<String>, model: impl Fn(&mut State) + 'static) -> Snippet {
        Snippet::prepared(code, |_, _| (), model)
    }

    /// Of registers that are made fit.
    pub fn prepared(
        code: impl Into<String>,
        before: impl Fn(&mut State, &mut Rng) + 'static,
        model: impl Fn(&mut State) + 'static,
    ) -> Snippet {
        Snippet { code: code.into(), before: Box::new(before), model: Box::new(model) }
    }
}

/// Dwords of a state in memory: registers by lane, scalars with M0 and EXEC, LDS.
fn size(lanes: usize) -> usize {
    lanes * VGPRS.1 + SGPRS.1 + 16 + LDS
}

fn dwords(state: &State) -> Vec<u32> {
    let registers = &state.v[VGPRS.0..VGPRS.0 + VGPRS.1];
    let mut all: Vec<u32> =
        (0..state.lanes).flat_map(|lane| registers.iter().map(move |register| register[lane])).collect();
    all.extend(&state.s[SGPRS.0..SGPRS.0 + SGPRS.1]);
    all.extend([state.m0, 0, state.exec as u32, (state.exec >> 32) as u32]);
    all.extend([0; 12]);
    all.extend(&state.lds);
    all
}

fn code(target: &Target, snippet: &Snippet, at: usize) -> String {
    let lanes = target.wave_size as usize;
    let wide = lanes == 64;
    let (from, scalars) = (at * size(lanes) * 4, lanes * VGPRS.1 * 4);
    let (exec, all) = if wide { ("exec", "-1") } else { ("exec_lo", "-1") };
    let b = if wide { "b64" } else { "b32" };
    let mut text = format!("s_mov_b32 s12, {from:#x}\n");
    for quarter in 0..4 {
        let first = 4 + 4 * quarter;
        let _ = writeln!(
            text,
            "buffer_load_dwordx4 v[{first}:{}], v2, s[4:7], s12 offen offset:{}",
            first + 3,
            16 * quarter
        );
    }
    let _ = write!(
        text,
        "s_mov_b32 s13, {:#x}\ns_load_dwordx16 s[16:31], s[4:5], s13\n\
         s_mov_b32 s13, {:#x}\ns_load_dwordx16 s[32:47], s[4:5], s13\n\
         s_mov_b32 s13, {:#x}\ns_load_dwordx4 s[48:51], s[4:5], s13\n",
        from + scalars,
        from + scalars + 64,
        from + scalars + 128
    );
    // LDS: four dwords a lane, by lanes 0 to 63 or twice by 32.
    for part in 0..LDS / 4 / lanes {
        let _ = write!(
            text,
            "s_mov_b32 s13, {:#x}\nbuffer_load_dwordx4 v[20:23], v3, s[4:7], s13 offen\ns_mov_b32 m0, -1\ns_waitcnt 0\n",
            from + scalars + 192 + part * lanes * 16
        );
        for word in 0..4 {
            let _ = writeln!(text, "ds_write_b32 v3, v{} offset:{}", 20 + word, part * lanes * 16 + 4 * word);
        }
    }
    let _ = write!(
        text,
        "s_waitcnt 0\ns_mov_b32 m0, s48\ns_mov_{b} {exec}, {}\ns_nop 7\n{}\ns_nop 7\ns_waitcnt 0\ns_mov_{b} {exec}, {all}\n\
         s_mov_b32 m0, -1\n",
        if wide { "s[50:51]" } else { "s50" },
        snippet.code
    );
    for quarter in 0..4 {
        let first = 4 + 4 * quarter;
        let _ = writeln!(
            text,
            "buffer_store_dwordx4 v[{first}:{}], v2, s[8:11], s12 offen offset:{}",
            first + 3,
            16 * quarter
        );
    }
    for word in (0..SGPRS.1).step_by(4) {
        for part in 0..4 {
            let _ = writeln!(text, "v_mov_b32_e32 v{}, s{}", 20 + part, SGPRS.0 + word + part);
        }
        let _ = writeln!(
            text,
            "s_mov_b32 s13, {:#x}\nbuffer_store_dwordx4 v[20:23], off, s[8:11], s13\ns_waitcnt 0",
            from + scalars + 4 * word
        );
    }
    for part in 0..LDS / 4 / lanes {
        for word in 0..4 {
            let _ = writeln!(text, "ds_read_b32 v{}, v3 offset:{}", 20 + word, part * lanes * 16 + 4 * word);
        }
        let _ = writeln!(
            text,
            "s_waitcnt 0\ns_mov_b32 s13, {:#x}\nbuffer_store_dwordx4 v[20:23], v3, s[8:11], s13 offen\ns_waitcnt 0",
            from + scalars + 192 + part * lanes * 16
        );
    }
    text
}

/// What differs: each snippet with eight random states of the registers.
pub fn check(target: &'static Target, snippets: &[Snippet], wrong: &mut Vec<String>) -> usize {
    let lanes = target.wave_size as usize;
    let mut compared = 0;
    for batch in snippets.chunks(16) {
        let mut rng = Rng::new(5);
        let cases: Vec<(&Snippet, State)> = batch
            .iter()
            .flat_map(|snippet| (0..8).map(move |number| (snippet, number)))
            .map(|(snippet, number)| {
                let mut state = State::random(target, &mut rng, number);
                (snippet.before)(&mut state, &mut rng);
                (snippet, state)
            })
            .collect();
        let mut body = String::from("v_lshlrev_b32_e32 v2, 6, v0\nv_lshlrev_b32_e32 v3, 4, v0\n");
        cases.iter().enumerate().for_each(|(at, (snippet, _))| body += &code(target, snippet, at));
        let input: Vec<u32> = cases.iter().flat_map(|(_, state)| dwords(state)).collect();
        let harness =
            Harness { group: target.wave_size, lds: 4 * LDS as u32, ..Harness::new(target, Mode::USUAL) };
        let found = match harness.run(&body, &input, input.len()) {
            Ok(found) => found,
            Err(why) => {
                wrong.push(format!("{}: {why}", target.name));
                continue;
            }
        };
        for ((snippet, before), found) in cases.iter().zip(found.chunks(size(lanes))) {
            let mut after = before.clone();
            (snippet.model)(&mut after);
            let wanted = dwords(&after);
            compared += 1;
            // M0 and EXEC are not stored.
            let skipped = lanes * VGPRS.1 + SGPRS.1..lanes * VGPRS.1 + SGPRS.1 + 16;
            let differs = |&at: &usize| !skipped.contains(&at) && found[at] != wanted[at];
            if let Some(at) = (0..found.len()).find(differs) {
                let place = match at {
                    at if at < lanes * VGPRS.1 => {
                        format!("v{} of lane {}", VGPRS.0 + at % VGPRS.1, at / VGPRS.1)
                    }
                    at if at < skipped.start => format!("s{}", SGPRS.0 + at - lanes * VGPRS.1),
                    at => format!("dword {} of LDS", at - skipped.end),
                };
                let (found, wanted, exec) = (found[at], wanted[at], before.exec);
                wrong.push(format!(
                    "{} wave{lanes}: {} (exec {exec:#x}, m0 {:#x}): {place} is {found:#x}, not {wanted:#x}",
                    target.name, snippet.code, before.m0
                ));
            }
        }
    }
    compared
}
