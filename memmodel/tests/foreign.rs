//! A foreign compiler's code is right, so the checker must not object to it; with a wait or a nop taken away it is
//! wrong, so the checker should.
//!
//! The code comes from `clang-19` for `foreign.cl`, if that is installed, and from every object in the directory that
//! `KERNC_FOREIGN_OBJECTS` names.

use isa::{Operand, Subtarget, op};
use memmodel::{Model, proof};
use mir::MachFunc;

/// (object and function, code)
fn corpus(target: &Subtarget) -> Vec<(String, MachFunc)> {
    let mut objects = Vec::new();
    match crate::common::tool("clang-19") {
        Some(mut clang) => {
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign.cl");
            let output = clang
                .args(["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-O3", "-cl-std=CL2.0", "-c"])
                .arg(format!("-mcpu={}", target.name))
                .args([source, "-o", "-"])
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            objects.push(("foreign.cl".to_owned(), output.stdout));
        }
        None => eprintln!("left out: clang-19 is not installed"),
    }
    if let Some(directory) = std::env::var_os("KERNC_FOREIGN_OBJECTS") {
        objects.extend(crate::common::objects(directory.as_ref()));
    }
    let functions = objects.iter().flat_map(|(name, bytes)| {
        let functions = crate::common::functions(target, bytes);
        functions.into_iter().map(move |(function, code)| (format!("{name}:{function}"), code))
    });
    functions.collect()
}

fn violations(func: &MachFunc, model: &Model) -> Vec<proof::Violation> {
    let mut faults = proof::check(func, model);
    proof::barriers(func, model, &mut faults);
    faults
}

#[test]
fn foreign_code_has_no_violation() {
    let target = Subtarget::by_name("gfx906").unwrap();
    let model = Model::for_subtarget(&target).unwrap();
    let mut text = String::new();
    for (name, func) in corpus(&target) {
        for fault in violations(&func, &model) {
            text += &format!("{name}: {fault}\n");
        }
    }
    assert!(text.is_empty(), "{text}");
}

#[test]
fn a_deleted_wait_is_noticed() {
    let target = Subtarget::by_name("gfx906").unwrap();
    let model = Model::for_subtarget(&target).unwrap();
    let (mut all, mut noticed) = (0, 0);
    for (name, func) in corpus(&target) {
        for (block, index) in places(&func, |op| op == op::S_WAITCNT || op == op::S_NOP) {
            let mut broken = func.clone();
            let removed = broken.blocks[block].insts.remove(index);
            let found = !violations(&broken, &model).is_empty();
            all += 1;
            noticed += usize::from(found);
            if !found {
                eprintln!("{name}: {block}.{index} {} {:?} unnoticed", removed.op.row().name, removed.ops[0]);
            }
        }
    }
    eprintln!("{noticed} of {all} deletions noticed");
    // What goes unnoticed: fences of the source that no register shows (the code keeps no trace of them), nops a
    // scheduler left where nothing needs them, and the wait for stores that LLVM puts before every s_barrier.
    assert!(noticed * 100 >= all * 80, "{noticed} of {all}");
}

/// Without its waits and nops, foreign code is input for the passes: what they put in satisfies the checker, every piece
/// of it is needed, and the foreign compiler needed no fewer.
#[test]
fn our_waits_for_foreign_code() {
    let target = Subtarget::by_name("gfx906").unwrap();
    let model = Model::for_subtarget(&target).unwrap();
    let mut ctx = memmodel::Context::default();
    let (mut ours, mut theirs, mut text) = (0, 0, String::new());
    for (name, mut func) in corpus(&target) {
        let mut waits = 0;
        for block in func.blocks.values_mut() {
            let before = block.insts.len();
            block.insts.retain(|inst| inst.op != op::S_WAITCNT && inst.op != op::S_NOP);
            waits += before - block.insts.len();
            // What the fences of the source asked for is lost with the waits; say it again where it can be seen.
            let point = |mask| isa::MachInst::new(op::WAIT_POINT, &[Operand::Imm(mask)]);
            let insts = std::mem::take(&mut block.insts);
            block.insts = insts
                .into_iter()
                .flat_map(|inst| match inst.op {
                    op::S_BARRIER => vec![point(2), inst],
                    op::BUFFER_WBINVL1_VOL => vec![point(1), inst],
                    _ => vec![inst],
                })
                .collect();
        }
        let stats = memmodel::run(&mut func, &model, &memmodel::Options::default(), &mut ctx);
        for fault in violations(&func, &model) {
            text += &format!("{name}: {fault}\n");
        }
        for (block, index) in places(&func, |op| op == op::S_WAITCNT || op == op::S_NOP) {
            let mut broken = func.clone();
            let removed = broken.blocks[block].insts.remove(index);
            if violations(&broken, &model).is_empty()
                && broken.blocks[block].insts[index].op != op::BUFFER_WBINVL1_VOL
            {
                text +=
                    &format!("{name}: {block}.{index} {:?} {:?} is not needed\n", removed.op, removed.ops[0]);
            }
        }
        eprintln!("{name}: {} waits and nops, theirs {waits}", stats.waits + stats.nops);
        ours += (stats.waits + stats.nops) as usize;
        theirs += waits;
    }
    assert!(text.is_empty(), "{text}");
    eprintln!("ours {ours}, theirs {theirs}");
    assert!(ours <= theirs, "{ours} > {theirs}");
}

fn places(func: &MachFunc, wanted: impl Fn(isa::Opcode) -> bool) -> Vec<(isa::MBlock, usize)> {
    let mut places = Vec::new();
    for (block, data) in func.blocks.iter() {
        for (index, inst) in data.insts.iter().enumerate() {
            let void = matches!((inst.op, inst.ops[0]), (op::S_NOP, Operand::Imm(0)) if data.insts.len() == index + 1);
            if wanted(inst.op) && !void {
                places.push((block, index));
            }
        }
    }
    places
}
