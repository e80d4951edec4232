//! What the scoreboard costs: `cargo test --release -p kernc-check --test check speed:: -- --nocapture` prints it.

use check::{Code, Scoreboard};
use isa::Setting;
use std::time::Instant;

const LOOP: &str = "
    ds_read_b32 v5, v0
    global_load_dword v1, v[2:3], off
    global_load_dword v4, v[2:3], off
    v_add_u32_e32 v6, v7, v8
    v_lshlrev_b32_e32 v9, 2, v6
    v_mul_f32_e32 v10, v9, v9
    s_waitcnt vmcnt(1)
    v_fma_f32 v11, v1, v10, v11
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_fma_f32 v12, v4, v5, v12
    v_fma_f32 v13, v4, v9, v13
    v_fma_f32 v14, v4, v9, v14
    s_add_u32 s0, s0, 1
    v_cmp_lt_u32_e32 vcc, v6, v0
    s_cbranch_scc1 .Lnext
.Lnext:
    global_store_dword v[2:3], v11, off
";

#[test]
fn speed() {
    for processor in ["gfx906", "gfx90a", "gfx1010", "gfx1030"] {
        let target = crate::common::target(processor);
        let text = match processor.starts_with("gfx10") {
            true => LOOP.replace("v_add_u32", "v_add_nc_u32").replace("vcc, ", "vcc_lo, "),
            false => LOOP.to_owned(),
        };
        let mut code = Code::new(target, Setting::Off);
        for inst in crate::common::instructions(target, &text) {
            code.add(&inst);
        }
        let (mut board, mut found) = (Scoreboard::new(), 0);
        const TURNS: u32 = 20_000;
        let begin = Instant::now();
        for _ in 0..TURNS {
            for site in 0..code.len() as u32 {
                board.issue(&code, site, &mut |_| found += 1);
            }
        }
        let per_issue = begin.elapsed().as_nanos() / u128::from(TURNS) / code.len() as u128;
        println!("{processor}: {per_issue} ns an instruction, {found} findings");
        assert_eq!(found, 0);
    }
}
