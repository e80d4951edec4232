//! Every hazard rule, on every processor: two instructions with one wait state too few, and with just enough.
//! LLVM's hazard recognizer is the judge of the number, where `llc-19` is installed; the numbers are recorded
//! in the cases.

#[path = "common/cases.rs"]
mod cases;

use crate::common::{assembles, straight};
use cases::{CASES, Case, EVENTS, Letters, SCALAR_CLAUSES, VECTOR_CLAUSES, is_on};
use check::hazards::RULES;
use isa::{Feature, PROCESSORS, Target};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use support::Tool;

/// Waves of 64 lanes, so that masks are the same everywhere.
fn processors() -> impl Iterator<Item = &'static Target> {
    PROCESSORS.iter().map(|target| target.with_wave_size(64).expect("all have it"))
}

/// What is expected of a case on a processor: the rule and wait states.
fn expected(case: &Case, target: &Target) -> (&'static str, u32) {
    let found = case.expected.iter().find(|(on, _, _)| is_on(target.name, on));
    found.map_or(("", 0), |&(_, id, states)| (id, states))
}

/// The text with so many wait states before its last instruction.
fn with_nops(text: &str, states: u32) -> String {
    let (before, last) = text.rsplit_once('\n').expect("two instructions at least");
    let nops: String = (0..states).map(|_| "s_nop 0\n").collect();
    format!("{before}\n{nops}{last}")
}

/// The hazards that are found; what is about counters does not count here.
fn hazards(target: &'static Target, text: &str) -> Vec<&'static str> {
    let found = straight(target, false, text);
    let ids = found.iter().filter(|finding| finding.counter().is_none()).map(|finding| finding.id());
    ids.filter(|&id| !EVENTS.iter().any(|event| event.id == id)).collect()
}

#[test]
fn wait_states() {
    let mut seen = BTreeSet::new();
    for target in processors() {
        for case in CASES.iter().filter(|case| assembles(target, case.asm)) {
            let (id, states) = expected(case, target);
            let enough = hazards(target, &with_nops(case.asm, states));
            assert!(enough.is_empty(), "{}: {} with {states}: {enough:?}", target.name, case.asm);
            if states > 0 {
                let few = hazards(target, &with_nops(case.asm, states - 1));
                assert!(few.contains(&id), "{}: {} with {}: {few:?}", target.name, case.asm, states - 1);
                let rule = |rule: &&check::hazards::Rule| rule.id == id && rule.processors.contains(target);
                RULES.iter().filter(rule).for_each(|rule| {
                    _ = seen.insert((rule.id, rule.processors.contains(target), target.name))
                });
            }
        }
    }
    // Each rule of each processor has its case; the one about images needs an address of many registers.
    for target in processors() {
        for rule in RULES.iter().filter(|rule| rule.processors.contains(target) && rule.id != "nsa-buffer") {
            let only_graphics = rule.id == "salu-m0-message" && target.has(Feature::UNIFIED_VGPRS);
            assert!(
                only_graphics || seen.contains(&(rule.id, true, target.name)),
                "no case for {} on {}",
                rule.id,
                target.name
            );
        }
    }
}

#[test]
fn events() {
    for target in processors() {
        for event in EVENTS.iter().filter(|event| assembles(target, event.asm)) {
            let ids = |text: &str| -> Vec<&str> {
                straight(target, false, text)
                    .iter()
                    .map(|finding| finding.id())
                    .filter(|id| *id == event.id)
                    .collect()
            };
            let is = is_on(target.name, event.on);
            assert_eq!(ids(event.asm).len(), usize::from(is), "{}: {}", target.name, event.asm);
            if is {
                let (before, last) = event.asm.rsplit_once('\n').expect("two instructions");
                assert_eq!(
                    ids(&format!("{before}\n{}\n{last}", event.mitigation)).len(),
                    0,
                    "{}: {}",
                    target.name,
                    event.id
                );
            }
        }
    }
}

#[test]
fn an_address_of_many_registers() {
    let text = |offset| {
        format!(
            "image_sample_d_o v[0:3], [v4, v6, v8, v10, v12, v14, v16], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D\nbuffer_load_dword v20, off, s[0:3], 0 offset:{offset}"
        )
    };
    for target in processors().filter(|target| target.name.starts_with("gfx10")) {
        let is = !target.name.starts_with("gfx103");
        assert_eq!(hazards(target, &text(4)).contains(&"nsa-buffer"), is, "{}", target.name);
        assert!(!hazards(target, &text(8)).contains(&"nsa-buffer"), "{}", target.name);
        assert!(!hazards(target, &with_nops(&text(4), 1)).contains(&"nsa-buffer"), "{}", target.name);
    }
}

/// `vccz` after a partial write of VCC, and after a scalar load on GFX6 and GFX7.
#[test]
fn vccz() {
    let partial = "s_mov_b32 vcc_lo, 0\ns_cbranch_vccz .Lnext\n.Lnext:\ns_endpgm";
    let load = "s_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_cbranch_vccz .Lnext\n.Lnext:\ns_endpgm";
    let mended = |text: &str| text.replace("s_cbranch", "s_mov_b64 vcc, vcc\ns_cbranch");
    for target in processors() {
        let stale =
            |text: &str| straight(target, false, text).iter().any(|finding| finding.id() == "vccz-stale");
        assert_eq!(stale(partial), !target.name.starts_with("gfx10"), "{}", target.name);
        assert_eq!(stale(load), is_on(target.name, "gfx6 gfx7"), "{}", target.name);
        assert!(!stale(&mended(partial)) && !stale(&mended(load)), "{}", target.name);
    }
}

/// Reports of clauses under XNACK.
fn clauses(target: &'static Target, xnack: bool, text: &str) -> usize {
    let glc = if target.has(Feature::SCOPES) { " sc0" } else { " glc" };
    let found = straight(target, xnack, &text.replace(" glc", glc));
    found.iter().filter(|finding| finding.id().starts_with("xnack-clause")).count()
}

/// The instructions of a word, in both languages.
fn spelled(letters: Letters, word: &str) -> [String; 2] {
    let rows = word.chars().map(|letter| letters.iter().find(|row| row.0 == letter).expect("a letter"));
    let (asm, mir): (Vec<_>, Vec<_>) = rows.map(|row| (row.1, row.2)).unzip();
    [asm.join("\n"), mir.join("\n")]
}

/// All words of two and three letters.
fn words(letters: Letters) -> Vec<String> {
    let longer = |words: &[String]| -> Vec<String> {
        words.iter().flat_map(|word| letters.iter().map(move |row| format!("{word}{}", row.0))).collect()
    };
    let pairs = longer(&letters.iter().map(|row| row.0.to_string()).collect::<Vec<_>>());
    let triples = longer(&pairs);
    pairs.into_iter().chain(triples).collect()
}

/// Loads in a clause that overwrite an address, another's or their own, and stores behind loads. A load alone
/// may do so.
#[test]
fn clauses_under_xnack() {
    let found = |processor: &str, xnack, letters, word: &str| {
        clauses(crate::common::target(processor), xnack, &spelled(letters, word)[0])
    };
    for processor in ["gfx801", "gfx900", "gfx90a", "gfx1010"] {
        for (word, count) in [("ab", 1), ("oa", 1), ("ao", 1), ("o", 0), ("ad", 0), ("aob", 2)] {
            assert_eq!(found(processor, true, SCALAR_CLAUSES, word), count, "{processor}: {word}");
        }
        let forms = usize::from(processor != "gfx1010");
        for (word, count) in [("ab", 1), ("oa", 1), ("ao", 1), ("o", 0), ("as", 1), ("sa", 0), ("rn", 1)] {
            assert_eq!(found(processor, true, VECTOR_CLAUSES, word), count * forms, "{processor}: {word}");
        }
    }
    for (processor, xnack) in [("gfx900", false), ("gfx803", true), ("gfx1030", true)] {
        assert_eq!(found(processor, xnack, SCALAR_CLAUSES, "ab"), 0, "{processor}");
    }
    let [asm, _] = spelled(SCALAR_CLAUSES, "ab");
    assert_eq!(clauses(crate::common::target("gfx900"), true, &with_nops(&asm, 1)), 0);
}

/// Instructions that are wrong wherever they stand.
#[test]
fn defects() {
    let single = |processor: &str, text: &str| {
        let target = crate::common::target(processor);
        let code = check::Code::new(target, isa::Setting::Off);
        code.single(&crate::common::instructions(target, text)[0]).map(|rule| rule.id)
    };
    for processor in ["gfx1010", "gfx1011", "gfx1012", "gfx1013"] {
        assert_eq!(single(processor, "s_branch 63"), Some("offset-3f-branch"));
        assert_eq!(single(processor, "s_branch 62"), None);
        assert_eq!(single(processor, "s_inst_prefetch 1"), Some("inst-prefetch"));
        assert_eq!(single(processor, "flat_load_dword v0, v[2:3]"), None);
        assert_eq!(
            single(processor, "scratch_load_dword v0, v1, off offset:-3"),
            Some("scratch-negative-offset")
        );
        assert_eq!(single(processor, "scratch_load_dword v0, v1, off offset:-4"), None);
    }
    let replayed = |processor: &str, xnack, text: &str| {
        let target = crate::common::target(processor);
        let code = check::Code::new(target, isa::Setting::from_bool(xnack));
        code.single(&crate::common::instructions(target, text)[0]).map(|rule| rule.id)
    };
    for processor in ["gfx801", "gfx902", "gfx90a", "gfx1010"] {
        let own = |text: &str| replayed(processor, true, text);
        assert_eq!(own("s_load_dwordx2 s[0:1], s[0:1], 0x4"), Some("xnack-own-address"), "{processor}");
        assert_eq!(own("s_load_dwordx4 s[0:3], s[2:3], 0x8"), Some("xnack-own-address"), "{processor}");
        assert_eq!(own("s_load_dwordx2 s[0:1], s[0:1], 0x8"), None, "{processor}");
        assert_eq!(own("s_load_dwordx2 s[2:3], s[0:1], 0x4"), None, "{processor}");
        assert_eq!(own("s_load_dword s0, s[0:1], 0x4"), None, "{processor}");
        assert_eq!(replayed(processor, false, "s_load_dwordx2 s[0:1], s[0:1], 0x4"), None, "{processor}");
    }
    assert_eq!(single("gfx1030", "s_branch 63"), None);
    assert_eq!(single("gfx1030", "s_inst_prefetch 1"), None);
}

/// Words that no assembler writes; `llvm-mc -disassemble` prints them as the comments say.
#[test]
fn impossible() {
    let single = |processor: &str, words: [u32; 2]| {
        let target = crate::common::target(processor);
        let (inst, _) = isa::Decoder::new(target)
            .expect("a known processor")
            .decode_tolerant(&words)
            .expect("it decodes");
        check::Code::new(target, isa::Setting::Off).single(&inst).map(|rule| rule.id)
    };
    // v_add_f32_e64 v0, s1, s2; the same with s1 twice; with v2.
    let adds = |opcode: u32, second: u32| [opcode << 16, 1 | second << 9];
    for (processor, opcode, limit) in
        [("gfx600", 0xd206, 1), ("gfx803", 0xd101, 1), ("gfx906", 0xd101, 1), ("gfx1010", 0xd503, 2)]
    {
        let two = single(processor, adds(opcode, 2));
        assert_eq!(two, (limit < 2).then_some("constant-bus"), "{processor}");
        assert_eq!(single(processor, adds(opcode, 1)), None, "{processor}");
        assert_eq!(single(processor, adds(opcode, 0x102)), None, "{processor}");
    }
    // v_fma_f32 v0, s1, s2, s3: three values.
    assert_eq!(single("gfx1010", [0xd54b_0000, 0x000c_0401]), Some("constant-bus"));
    // v_div_fmas_f32 v5, s3, v3, v2 (reads vcc); v_div_fmas_f32 v5, v3, v3, v2.
    assert_eq!(single("gfx906", [0xd1e2_0005, 0x040a_0603]), Some("constant-bus"));
    assert_eq!(single("gfx906", [0xd1e2_0005, 0x040a_0703]), None);
    // v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[2:33]; the same with a[0:31].
    assert_eq!(single("gfx908", [0xd3c0_0000, 0x040a_0300]), Some("matrix-sum-overlap"));
    assert_eq!(single("gfx908", [0xd3c0_0000, 0x0402_0300]), None);
}

/// LLVM's compiler, if it is on the PATH.
fn llc() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("llc-19")).find(|file| file.is_file());
    assert!(found.is_some() || std::env::var_os("KERNC_REQUIRE_ORACLES").is_none(), "llc-19 is missing");
    found
}

/// What LLVM makes of a function of MIR for each body: its lines. LLVM 19 dies of some instructions on some
/// processors; halving finds them.
fn llvm(llc: &Path, target: &Target, xnack: bool, bodies: &[&str]) -> Vec<Option<Vec<String>>> {
    let mut text = String::new();
    for (number, body) in bodies.iter().enumerate() {
        text += &format!("---\nname: case_{number}\nbody: |\n  bb.0:\n");
        if body.contains("\n#\n") {
            text += "    successors: %bb.1\n\n";
        }
        for line in body.lines() {
            text += &if line == "#" { "\n  bb.1:\n".to_owned() } else { format!("    {line}\n") };
        }
        text += "    S_ENDPGM 0\n...\n";
    }
    let wave = if target.has(Feature::WAVE32) { "-wavefrontsize32,+wavefrontsize64," } else { "" };
    let features = format!("-mattr={wave}{}", if xnack { "+xnack" } else { "" });
    let output = Tool::new(llc)
        .args(["-mtriple=amdgcn-amd-amdhsa", "-run-pass=post-RA-hazard-rec", "-o", "-", "-x", "mir", "-"])
        .arg(features.trim_end_matches(','))
        .arg(format!("-mcpu={}", target.name))
        .input(text)
        .output()
        .expect("llc starts");
    if !output.status.success() && bodies.len() < 2 {
        return vec![None; bodies.len()];
    }
    if !output.status.success() {
        let (first, second) = bodies.split_at(bodies.len() / 2);
        let mut found = llvm(llc, target, xnack, first);
        found.extend(llvm(llc, target, xnack, second));
        return found;
    }
    let output = String::from_utf8(output.stdout).expect("text");
    let functions: Vec<_> = output.split("\nname: ").skip(1).collect();
    assert_eq!(functions.len(), bodies.len());
    let lines = |function: &&str| Some(function.lines().map(|line| line.trim().to_owned()).collect());
    functions.iter().map(lines).collect()
}

#[test]
fn llvm_pads_as_much() {
    let Some(llc) = llc() else {
        eprintln!("left out: hazards beside LLVM (llc-19 is not on the PATH)");
        return;
    };
    let (mut judged, mut left) = (0, Vec::new());
    for target in processors() {
        let cases: Vec<&Case> =
            CASES.iter().filter(|case| !case.mir.is_empty() && assembles(target, case.asm)).collect();
        let functions = llvm(&llc, target, false, &cases.iter().map(|case| case.mir).collect::<Vec<_>>());
        for (case, lines) in cases.iter().zip(functions) {
            let Some(lines) = lines else {
                left.push(format!("{}: {}", target.name, case.asm.replace('\n', "; ")));
                continue;
            };
            let nops = lines.iter().filter_map(|line| line.strip_prefix("S_NOP ")?.parse::<u32>().ok());
            let states: u32 = nops.map(|count| count + 1).sum();
            assert_eq!(states, expected(case, target).1, "{}: {}", target.name, case.asm);
            judged += 1;
        }
        let events: Vec<_> = EVENTS.iter().filter(|event| assembles(target, event.asm)).collect();
        let functions = llvm(&llc, target, false, &events.iter().map(|event| event.mir).collect::<Vec<_>>());
        for (event, lines) in events.iter().zip(functions) {
            let lines = lines.unwrap_or_default();
            let inserted = lines.iter().any(|line| line.starts_with(event.inserted));
            assert_eq!(inserted, is_on(target.name, event.on), "{}: {}\n{lines:?}", target.name, event.asm);
            judged += 1;
        }
    }
    println!("{judged} pairs judged by LLVM; it dies of {}", left.len());
    left.iter().for_each(|line| println!("  {line}"));
    assert!(judged > 400 && left.len() * 10 < judged, "{judged} judged, {left:?}");
}

/// LLVM breaks each clause as often as something is reported of it.
#[test]
fn llvm_breaks_the_same_clauses() {
    let Some(llc) = llc() else {
        eprintln!("left out: clauses beside LLVM (llc-19 is not on the PATH)");
        return;
    };
    let (mut judged, mut broken) = (0, 0);
    for target in processors().filter(|target| target.has(Feature::XNACK)) {
        for letters in [SCALAR_CLAUSES, VECTOR_CLAUSES] {
            let words = words(letters);
            let texts: Vec<[String; 2]> = words.iter().map(|word| spelled(letters, word)).collect();
            let bodies: Vec<&str> = texts.iter().map(|[_, mir]| mir.as_str()).collect();
            let functions = llvm(&llc, target, true, &bodies);
            for ((word, [asm, _]), lines) in words.iter().zip(&texts).zip(functions) {
                let lines = lines.unwrap_or_else(|| panic!("{}: {word}: LLVM dies of it", target.name));
                let nops = lines.iter().filter(|line| line.starts_with("S_NOP")).count();
                assert_eq!(clauses(target, true, asm), nops, "{}: {word}\n{lines:?}", target.name);
                (judged, broken) = (judged + 1, broken + nops);
            }
        }
    }
    println!("{judged} clauses judged by LLVM, which breaks them in {broken} places");
    assert!(judged > 5000 && broken > 1000, "{judged} judged, {broken} broken");
}

/// Everything that is found in code that ends with it.
fn in_program(target: &'static Target, text: &str) -> Vec<(&'static str, u32, u32)> {
    let mut words = Vec::new();
    for inst in crate::common::instructions(target, text) {
        isa::encode(target, &inst, &mut words).expect("an instruction of the processor");
    }
    let mut roots = vec![check::program::Root { address: 0, is_function: false }];
    let program = check::program::Program::read(target, isa::Setting::Off, &words, 0, &mut roots).unwrap();
    let found = check::solve::solve(&program, &roots, false);
    found.iter().map(|finding| (finding.id(), finding.first, finding.second)).collect()
}

/// A clause and what may be in it.
#[test]
fn broken_clauses() {
    const LOADS: &str = "global_load_dword v0, v[2:3], off\n";
    let rows: [(&str, Option<u32>); 9] = [
        ("s_clause 1\nLOADLOADs_endpgm", None),
        ("s_clause 2\nLOADs_nop 0\nLOADs_endpgm", None),
        ("s_clause 1\nLOADbuffer_load_dword v1, off, s[0:3], 0\ns_endpgm", None),
        ("s_clause 2\nLOADLOADs_endpgm", Some(3)),
        ("s_clause 1\nLOADflat_load_dword v1, v[2:3]\ns_endpgm", Some(2)),
        ("s_clause 1\nLOADs_load_dword s0, s[2:3], 0x0\ns_endpgm", Some(2)),
        ("s_clause 1\nLOADv_mov_b32 v1, v2\ns_endpgm", Some(2)),
        ("s_clause 1\nLOADs_waitcnt vmcnt(0)\ns_endpgm", Some(2)),
        ("s_clause 1\ns_mov_b32 s0, s1\ns_mov_b32 s2, s1\ns_endpgm", Some(1)),
    ];
    for processor in ["gfx1010", "gfx1036"] {
        for (text, wrong) in rows {
            let found = in_program(crate::common::target(processor), &text.replace("LOAD", LOADS));
            let expected: Vec<_> = wrong.map(|site| ("broken-clause", 0, site)).into_iter().collect();
            assert_eq!(found, expected, "{processor}: {text}");
        }
    }
}

/// What stands between may take longer than the wait states that it counts for: a matrix instruction before
/// another one, and a product of 32 bits before anything.
#[test]
fn what_takes_longer_makes_a_matrix_hazard_less_certain() {
    let levels = |processor: &str, text: &str| -> Vec<String> {
        let found = straight(crate::common::target(processor), false, text);
        found.iter().map(|finding| format!("{} {}", finding.level().name(), finding.id())).collect()
    };
    for processor in ["gfx908", "gfx90a"] {
        let (write, matrix) = ("v_or_b32_e32 v4, v5, v6", "v_mfma_f32_32x32x2f32 a[0:15], v4, v7, a[0:15]");
        let after = |between: &str| levels(processor, &format!("{write}\n{between}\n{matrix}"));
        assert_eq!(
            after("v_mfma_f32_32x32x2f32 a[16:31], v8, v7, a[16:31]"),
            ["by the manual valu-vgpr-mai"]
        );
        assert_eq!(after("v_mov_b32 v9, v8"), ["certain valu-vgpr-mai"]);
        assert_eq!(after("s_nop 0"), ["certain valu-vgpr-mai"]);
        assert_eq!(after("s_nop 1"), [""; 0]);
    }
    let read = |between: &str| {
        let matrix = "v_mfma_f32_32x32x2f32 a[0:15], v4, v7, a[0:15]";
        levels("gfx90a", &format!("{matrix}\n{between}\ns_nop 15\nv_accvgpr_read_b32 v8, a0"))
    };
    assert_eq!(read("v_mul_lo_u32 v1, v2, v3\nv_mov_b32 v1, v2"), ["by the manual mfma-read"]);
    assert_eq!(read("v_mov_b32 v1, v3\nv_mov_b32 v1, v2"), ["certain mfma-read"]);
    assert_eq!(read("v_mov_b32 v1, v3\nv_mov_b32 v1, v2\nv_mov_b32 v1, v2"), [""; 0]);
}

/// The half of a register that a load keeps is no address: a replay brings both halves again.
#[test]
fn halves_of_a_register_may_share_a_clause() {
    let target = crate::common::target("gfx900");
    let load = |what: &str, to: &str, address: &str| {
        format!("buffer_load_{what} {to}, {address}, s[0:3], 0 offen\n")
    };
    let pair = load("short_d16", "v1", "v2") + &load("short_d16_hi", "v1", "v3");
    assert_eq!(clauses(target, true, &pair), 0);
    let address = load("dword", "v4", "v1") + &load("short_d16_hi", "v1", "v3");
    assert_eq!(clauses(target, true, &address), 1);
}
