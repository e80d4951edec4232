//! Random code of every processor goes through the passes, and the crate `check`, whose tables of counters and hazards are
//! its own and which reads the bytes, finds nothing in it. So does the proof. Where code goes bad for want of one
//! instruction that a pass put in, the two are asked as well.

#[path = "../../isa/tests/common/graphics.rs"]
#[allow(dead_code)]
mod graphics;
#[path = "../../isa/tests/common/random.rs"]
#[allow(dead_code)]
mod random;

use check::program::{Program, Root};
use isa::subtarget::Setting;
use isa::table::{Family, Flags};
use isa::{Feature, Form, MBlock, MachInst, Opcode, Operand, Reg, Subtarget, op};
use memmodel::{Context, Model, Options, proof};
use mir::{ArgRange, Edge, MachBlock, MachFunc};
use random::Rng;

/// A processor in each of its wave sizes, and with XNACK where it exists.
fn subtargets() -> Vec<Subtarget> {
    let mut all = Vec::new();
    for target in &isa::PROCESSORS {
        let sizes = [64, 32].into_iter().filter_map(|lanes| Subtarget::new(target).with_wave_size(lanes));
        for subtarget in sizes {
            all.push(subtarget);
            if target.has(Feature::XNACK) {
                let mut replays = subtarget;
                replays.xnack = Setting::On;
                all.push(replays);
            }
        }
    }
    all
}

/// What waits and hazards are about, so often that such instructions meet.
fn is_interesting(op: Opcode) -> bool {
    let row = op.row();
    let names = [
        "v_accvgpr",
        "v_cmp",
        "v_readl",
        "v_readf",
        "v_writel",
        "v_permlane",
        "v_div",
        "s_setreg",
        "s_getreg",
        "s_setv",
    ];
    row.is_vmem()
        || matches!(row.family, Family::Ds | Family::Smem | Family::Exp)
        || matches!(op, op::S_MOV_B32 | op::S_SENDMSG | op::S_DENORM_MODE | op::V_MOV_B32)
        || names.iter().any(|name| row.name.starts_with(name))
}

/// Control flow is written by hand; matrix instructions and dot products have no rows; and what is wrong by itself is.
fn is_left_out(op: Opcode) -> bool {
    let row = op.row();
    row.flags.intersects(Flags::BRANCH | Flags::NO_FALLTHROUGH)
        || row.family == Family::Pseudo
        || ["v_mfma", "v_dot", "s_inst_prefetch"].iter().any(|name| row.name.starts_with(name))
}

/// Few registers, so that they meet.
fn squeeze(inst: &mut MachInst) {
    for operand in inst.operands_mut() {
        let Operand::Reg(range) = operand else { continue };
        match range.first.0 {
            0..100 => {
                range.first.0 =
                    (range.first.0 % 12) & !if range.len > 2 { 3 } else { u16::from(range.len) - 1 }
            }
            256..512 => range.first.0 = 256 + (range.first.0 & 6),
            512..768 => range.first.0 = 512 + (range.first.0 & 6),
            _ => {}
        }
    }
}

struct Pool {
    any: Vec<(Opcode, Form)>,
    interesting: Vec<(Opcode, Form)>,
}

fn pool(subtarget: &Subtarget) -> Pool {
    let any: Vec<_> = random::all_forms(subtarget.target).filter(|(op, _)| !is_left_out(*op)).collect();
    let interesting = any.iter().copied().filter(|(op, _)| is_interesting(*op)).collect();
    Pool { any, interesting }
}

fn instruction(rng: &mut Rng, subtarget: &Subtarget, pool: &Pool) -> Option<MachInst> {
    // Halves of VCC, EXEC and M0 are written seldom by themselves.
    if rng.chance(12) {
        let dst = rng.pick(&[Reg::VCC, Reg::VCC.offset(1), Reg::M0, Reg::EXEC]);
        return Some(MachInst::new(
            op::S_MOV_B32,
            &[Operand::reg(dst), Operand::reg(Reg(rng.below(8) as u16))],
        ));
    }
    let list = if rng.chance(4) { &pool.any } else { &pool.interesting };
    let (op, form) = rng.pick(list);
    let mut inst = random::inst(rng, subtarget, op, form);
    squeeze(&mut inst);
    let sound = check::Code::new(subtarget.target, subtarget.xnack).single(&inst).is_none();
    let mut words = Vec::new();
    (sound && isa::encode(subtarget, &inst, &mut words).is_ok()).then_some(inst)
}

fn function(rng: &mut Rng, subtarget: &Subtarget, pool: &Pool) -> MachFunc {
    let mut func = MachFunc::default();
    let count = 1 + rng.below(5);
    for block in 0..count {
        let length = rng.below(10);
        let mut insts: Vec<MachInst> =
            (0..length).filter_map(|_| instruction(rng, subtarget, pool)).collect();
        let term = insts.len() as u32;
        let to = MBlock::from_u32(rng.below(count));
        let edge = |to| Some(Edge { to, args: ArgRange::default() });
        let next = MBlock::from_u32(block + 1);
        let branches = [op::S_BRANCH, op::S_CBRANCH_VCCZ, op::S_CBRANCH_SCC0, op::S_CBRANCH_EXECZ];
        let linear = match rng.pick(&branches) {
            _ if block + 1 == count => {
                insts.push(MachInst::new(op::S_ENDPGM, &[Operand::Imm(0)]));
                [None, None]
            }
            _ if rng.chance(3) => [edge(next), None],
            branch => {
                insts.push(MachInst::new(branch, &[Operand::Block(to)]));
                [edge(to), if branch == op::S_BRANCH { None } else { edge(next) }]
            }
        };
        func.blocks.push(MachBlock { insts, linear, term, ..MachBlock::default() });
    }
    func
}

/// The function as words, with branches to blocks resolved.
fn words(subtarget: &Subtarget, func: &MachFunc) -> Vec<u32> {
    let mut starts = vec![0];
    for data in func.blocks.values() {
        let size: usize = data.insts.iter().map(|inst| isa::size_in_words(subtarget, inst)).sum();
        starts.push(starts.last().unwrap() + size);
    }
    let mut words = Vec::new();
    for inst in func.blocks.values().flat_map(|data| &data.insts) {
        let mut inst = *inst;
        if let Operand::Block(to) = inst.ops[0] {
            let from = words.len() as i32 + 1;
            inst.ops[0] = Operand::Imm(starts[to.as_u32() as usize] as i32 - from);
        }
        isa::encode(subtarget, &inst, &mut words).unwrap();
    }
    words
}

/// What the other crate has to say of it.
fn findings(subtarget: &Subtarget, func: &MachFunc) -> Vec<String> {
    let words = words(subtarget, func);
    let mut roots = vec![Root { address: 0, is_function: false }];
    let xnack = subtarget.xnack;
    let program = Program::read(subtarget.target, xnack, &words, 0, &mut roots).unwrap();
    assert!(program.unknown.is_empty(), "{:?}", program.unknown);
    let found = check::solve::solve(&program, &roots, false);
    let name = |site: u32| program.insts.get(site as usize).map_or("?", |placed| placed.inst.op.row().name);
    // The compiler writes no scalar stores, and no pass writes the scalar cache back.
    let concerns_passes = |finding: &&check::Finding| finding.id() != "scalar-store-not-written-back";
    found
        .iter()
        .filter(concerns_passes)
        .map(|finding| format!("{}: {} and {}", finding.name(), name(finding.first), name(finding.second)))
        .collect()
}

fn text(subtarget: &Subtarget, func: &MachFunc) -> String {
    let mut text = String::new();
    for (block, data) in func.blocks.iter() {
        text += &format!("{block}:\n");
        for inst in &data.insts {
            isa::write_inst(subtarget, inst, Some(func), &mut text);
            text.push('\n');
        }
    }
    text
}

/// Whether a pass put it there.
fn is_inserted(inst: &MachInst) -> bool {
    inst.note.index().is_some()
}

#[test]
fn another_reader_finds_nothing() {
    let (mut ctx, mut stats) = (Context::default(), memmodel::Stats::default());
    let (mut removed, mut noticed, mut proved) = (0, 0, 0);
    for subtarget in subtargets() {
        let model = Model::for_subtarget(&subtarget).unwrap();
        let pool = pool(&subtarget);
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let mut func = function(&mut rng, &subtarget, &pool);
            stats += memmodel::run(&mut func, &model, &Options::default(), &mut ctx);
            let found = findings(&subtarget, &func);
            assert!(found.is_empty(), "{subtarget}, seed {seed}: {found:?}\n{}", text(&subtarget, &func));
            let faults = proof::check(&func, &model);
            assert!(
                faults.is_empty(),
                "{subtarget}, seed {seed}: {}\n{}",
                faults[0],
                text(&subtarget, &func)
            );
            if seed >= 12 {
                continue;
            }
            for block in func.blocks.keys() {
                for index in 0..func.blocks[block].insts.len() {
                    let inst = func.blocks[block].insts[index];
                    if !is_inserted(&inst) {
                        continue;
                    }
                    let mut broken = func.clone();
                    broken.blocks[block].insts.remove(index);
                    removed += 1;
                    proved += usize::from(!proof::check(&broken, &model).is_empty());
                    noticed += usize::from(!findings(&subtarget, &broken).is_empty());
                }
            }
        }
    }
    println!(
        "{stats:?}; of {removed} that were taken away the proof notices {proved}, the other reader {noticed}"
    );
    assert!(
        stats.waits > 1000 && stats.nops > 1000 && stats.mitigations > 100 && stats.clauses > 50,
        "{stats:?}"
    );
    assert!(removed > 1000 && proved * 100 >= removed * 95 && noticed * 100 >= removed * 80);
}

/// What an instruction mends is mended by it alone: nothing is put in twice.
#[test]
fn mended_code_stays_as_it_is() {
    let mut ctx = Context::default();
    for subtarget in subtargets() {
        let model = Model::for_subtarget(&subtarget).unwrap();
        let pool = pool(&subtarget);
        for seed in 0..40 {
            let mut func = function(&mut Rng::new(1000 + seed), &subtarget, &pool);
            memmodel::run(&mut func, &model, &Options::default(), &mut ctx);
            let before = text(&subtarget, &func);
            let stats = memmodel::hazards::run(&mut func, &model, &Options::default(), &mut ctx);
            assert_eq!(text(&subtarget, &func), before, "{subtarget}, seed {seed}: {stats:?}");
        }
    }
}
