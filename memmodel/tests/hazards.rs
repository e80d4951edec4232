//! Each hazard with what it needs, one wait state short of it, and free of it.
//!
//! Judge: `llc-19`, which runs its own pass over the same pairs; left out if that is not installed.

use crate::common::build::*;
use crate::common::pairs::*;
use isa::{MachInst, op};
use memmodel::{Context, Options, hazards, proof};

/// An instruction that concerns no rule, so many times.
fn filler(count: u8) -> Vec<MachInst> {
    vec![inst(op::S_MOV_B32, &[s(90), s(91)]); usize::from(count)]
}

#[test]
fn every_rule() {
    for Pair { what, first, second, states, .. } in pairs() {
        for between in 0..=states {
            let mut insts = vec![first];
            insts.extend(filler(between));
            insts.extend([second, end()]);
            let mut func = straight(&insts);
            let mut faults = Vec::new();
            proof::hazards(&func, &model(), &mut faults);
            let missing = states - between;
            assert_eq!(faults.is_empty(), missing == 0, "{what}, {between} between");
            hazards::run(&mut func, &model(), &Options::default(), &mut Context::default());
            if missing != 0 {
                insts.insert(insts.len() - 2, nop(i32::from(missing) - 1));
            }
            assert_eq!(text(&func), text(&straight(&insts)), "{what}, {between} between");
            let mut faults = Vec::new();
            proof::hazards(&func, &model(), &mut faults);
            assert!(faults.is_empty(), "{what}: {}", faults[0]);
        }
    }
}

/// The worst path counts, and empty blocks on the way count nothing.
#[test]
fn across_blocks() {
    let mut func = func(&[
        (&[read_first_lane(s(20)), branch(op::S_CBRANCH_SCC0, 2)], &[2, 1]),
        (&[mov(9, v(8)), mov(9, v(8))], &[2]),
        (&[], &[3]),
        (&[based_load(20), end()], &[]),
    ]);
    hazards::run(&mut func, &model(), &Options::default(), &mut Context::default());
    expect(
        &func,
        "v_readfirstlane_b32 s20, v0
        s_cbranch_scc0 .Ltest_bb2

        v_mov_b32_e32 v9, v8
        v_mov_b32_e32 v9, v8


        s_nop 3
        global_load_dword v2, v100, s[20:21]
        s_endpgm",
    );
    let mut faults = Vec::new();
    proof::hazards(&func, &model(), &mut faults);
    assert!(faults.is_empty());
}

/// The end of a loop's body meets its head.
#[test]
fn around_a_loop() {
    let mut func = func(&[
        (&[nop(0)], &[1]),
        (&[based_load(20), read_first_lane(s(20)), branch(op::S_CBRANCH_SCC0, 1)], &[1, 2]),
        (&[end()], &[]),
    ]);
    hazards::run(&mut func, &model(), &Options::default(), &mut Context::default());
    expect(
        &func,
        "s_nop 0

        s_nop 3
        global_load_dword v2, v100, s[20:21]
        v_readfirstlane_b32 s20, v0
        s_cbranch_scc0 .Ltest_bb1

        s_endpgm",
    );
}

#[test]
fn a_nop_grows() {
    let mut func = straight(&[read_first_lane(s(20)), nop(1), based_load(20), end()]);
    let stats = hazards::run(&mut func, &model(), &Options::default(), &mut Context::default());
    expect(
        &func,
        "v_readfirstlane_b32 s20, v0
        s_nop 4
        global_load_dword v2, v100, s[20:21]
        s_endpgm",
    );
    assert_eq!(stats.nops, 0);
}

#[test]
fn nops_say_why() {
    let mut func = straight(&[read_first_lane(s(20)), based_load(20), end()]);
    hazards::run(&mut func, &model(), &Options::default(), &mut Context::default());
    let rule = "VALU writes SGPR, VMEM reads it";
    assert_eq!(func.notes, [mir::Note::Hazard { rule, states: 5 }]);
}

/// LLVM asks for the same number of wait states wherever it knows the rule.
#[test]
fn llvm_asks_for_as_many() {
    let Some(mut llc) = crate::common::tool("llc-19") else {
        eprintln!("left out: llc-19 is not installed");
        return;
    };
    let judged: Vec<Pair> = pairs().into_iter().filter(|pair| pair.mir.is_some()).collect();
    let mut source = String::new();
    for (index, pair) in judged.iter().enumerate() {
        let [first, second] = pair.mir.unwrap();
        let head = format!("---\nname: pair{index}\nbody: |\n  bb.0:\n");
        source += &format!("{head}    {first}\n    {second}\n    S_ENDPGM 0\n...\n");
    }
    let folder = support::Folder::new("hazards");
    let path = folder.write("pairs.mir", source);
    let output = llc
        .args(["-march=amdgcn", "-mcpu=gfx906", "-run-pass=post-RA-hazard-rec", "-o", "-"])
        .arg(&path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    for (index, pair) in judged.iter().enumerate() {
        let start = text.find(&format!("name:            pair{index}\n")).unwrap();
        let body = &text[start..start + text[start..].find("S_ENDPGM").unwrap()];
        let nops = body.lines().filter_map(|line| line.trim().strip_prefix("S_NOP "));
        let states: u8 = nops.map(|count| count.parse::<u8>().unwrap() + 1).sum();
        assert_eq!(states, pair.states, "{}", pair.what);
    }
}
