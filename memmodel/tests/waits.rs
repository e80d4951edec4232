//! What the waits pass writes, idea by idea. Every result is also put to the checker, and every wait is taken away once.

use crate::common::build::*;
use isa::{ModFlags, Operand, op};
use memmodel::{Context, Options, proof, waits};
use mir::{MachFunc, Note, SPACE_GLOBAL, SPACE_PRIVATE, SyncOrder, SyncScope};

fn point(mask: i32) -> isa::MachInst {
    inst(op::WAIT_POINT, &[Operand::Imm(mask)])
}

#[track_caller]
fn run(mut func: MachFunc, expected: &str) -> MachFunc {
    waits::run(&mut func, &model(), &Options::default(), &mut Context::default());
    expect(&func, expected);
    let faults = proof::check(&func, &model());
    assert!(faults.is_empty(), "{}", faults[0]);
    func
}

/// Each wait of the result is there for a register: without it the checker objects.
#[track_caller]
fn each_needed(func: &MachFunc) {
    for (block, data) in func.blocks.iter() {
        for (index, inst) in data.insts.iter().enumerate().filter(|(_, inst)| inst.op == op::S_WAITCNT) {
            let mut broken = func.clone();
            broken.blocks[block].insts.remove(index);
            assert!(!proof::check(&broken, &model()).is_empty(), "{block}.{index} {:?}", inst.ops[0]);
        }
    }
}

#[test]
fn loads_return_in_order() {
    let func = straight(&[load(0), load(1), load(2), mov(10, v(0)), mov(11, v(2)), end()]);
    let func = run(
        func,
        "global_load_dword v0, v[100:101], off
        global_load_dword v1, v[100:101], off
        global_load_dword v2, v[100:101], off
        s_waitcnt vmcnt(2)
        v_mov_b32_e32 v10, v0
        s_waitcnt vmcnt(0)
        v_mov_b32_e32 v11, v2
        s_endpgm",
    );
    each_needed(&func);
}

#[test]
fn stores_count_too() {
    let func = straight(&[load(0), store(5), store(6), mov(10, v(0)), end()]);
    let func = run(
        func,
        "global_load_dword v0, v[100:101], off
        global_store_dword v[100:101], v5, off
        global_store_dword v[100:101], v6, off
        s_waitcnt vmcnt(2)
        v_mov_b32_e32 v10, v0
        s_endpgm",
    );
    each_needed(&func);
}

#[test]
fn scalar_loads_return_in_any_order() {
    let func = straight(&[s_load(0), s_load(1), mov(10, s(0)), end()]);
    let func = run(
        func,
        "s_load_dword s0, s[60:61], 0x0
        s_load_dword s1, s[60:61], 0x0
        s_waitcnt lgkmcnt(0)
        v_mov_b32_e32 v10, s0
        s_endpgm",
    );
    each_needed(&func);
}

/// Were the first read incomplete, so would be the second, and the counter at least 2.
#[test]
fn lds_keeps_its_order_among_scalar_loads() {
    let func = straight(&[lds_read(0), s_load(1), lds_read(2), mov(10, v(0)), mov(11, v(2)), end()]);
    let func = run(
        func,
        "ds_read_b32 v0, v102
        s_load_dword s1, s[60:61], 0x0
        ds_read_b32 v2, v102
        s_waitcnt lgkmcnt(1)
        v_mov_b32_e32 v10, v0
        s_waitcnt lgkmcnt(0)
        v_mov_b32_e32 v11, v2
        s_endpgm",
    );
    each_needed(&func);
}

#[test]
fn flat_needs_both_counters() {
    let flat = inst(op::FLAT_LOAD_DWORD, &[v(0), vs(100, 2)]);
    let func = straight(&[flat, load(1), mov(10, v(0)), end()]);
    let func = run(
        func,
        "flat_load_dword v0, v[100:101]
        global_load_dword v1, v[100:101], off
        s_waitcnt vmcnt(0) lgkmcnt(0)
        v_mov_b32_e32 v10, v0
        s_endpgm",
    );
    each_needed(&func);
}

/// A load after a load of the same register needs no wait; an ALU instruction does, as does a load by another path.
#[test]
fn overwriting_what_is_in_flight() {
    let func = straight(&[load(0), load(0), lds_read(0), mov(0, v(50)), end()]);
    let func = run(
        func,
        "global_load_dword v0, v[100:101], off
        global_load_dword v0, v[100:101], off
        s_waitcnt vmcnt(0)
        ds_read_b32 v0, v102
        s_waitcnt lgkmcnt(0)
        v_mov_b32_e32 v0, v50
        s_endpgm",
    );
    each_needed(&func);
}

/// An address that is still being loaded; and the store's data may be overwritten at once.
#[test]
fn store_data_is_free_after_issue() {
    let func = straight(&[load(100), store(5), mov(5, v(50)), end()]);
    let func = run(
        func,
        "global_load_dword v100, v[100:101], off
        s_waitcnt vmcnt(0)
        global_store_dword v[100:101], v5, off
        v_mov_b32_e32 v5, v50
        s_endpgm",
    );
    each_needed(&func);
}

/// vmcnt has six bits, and 63 waits for nothing.
#[test]
fn a_counter_saturates() {
    let mut insts: Vec<_> = (0..70).map(load).collect();
    insts.push(mov(200, v(0)));
    insts.push(end());
    let mut func = straight(&insts);
    waits::run(&mut func, &model(), &Options::default(), &mut Context::default());
    let text = text(&func);
    assert!(text.contains("s_waitcnt vmcnt(62)\nv_mov_b32_e32 v200, v0"), "{text}");
    assert!(proof::check(&func, &model()).is_empty());
}

/// GDS reads its data registers until expcnt says so.
#[test]
fn gds_data_waits_for_expcnt() {
    let mut gds = lds_write(5);
    gds.mods.flags |= ModFlags::GDS;
    let func = straight(&[gds, mov(10, v(5)), mov(5, v(50)), end()]);
    let func = run(
        func,
        "ds_write_b32 v102, v5 gds
        v_mov_b32_e32 v10, v5
        s_waitcnt expcnt(0)
        v_mov_b32_e32 v5, v50
        s_endpgm",
    );
    each_needed(&func);
}

/// The demand of a wait point goes down to the next memory operation, and joins what is wanted there.
#[test]
fn a_wait_point_is_placed_late() {
    let func = straight(&[store(5), load(0), point(1), mov(10, v(50)), mov(11, v(50)), store(11), end()]);
    run(
        func,
        "global_store_dword v[100:101], v5, off
        global_load_dword v0, v[100:101], off
        v_mov_b32_e32 v10, v50
        v_mov_b32_e32 v11, v50
        s_waitcnt vmcnt(0)
        global_store_dword v[100:101], v11, off
        s_endpgm",
    );
    let func = straight(&[lds_write(5), load(0), point(2), mov(10, v(0)), store(10), end()]);
    run(
        func,
        "ds_write_b32 v102, v5
        global_load_dword v0, v[100:101], off
        s_waitcnt vmcnt(0) lgkmcnt(0)
        v_mov_b32_e32 v10, v0
        global_store_dword v[100:101], v10, off
        s_endpgm",
    );
}

/// What fences do not order costs nothing at a wait point: scalar loads, private memory, nothing at all, the end.
#[test]
fn a_wait_point_knows_what_is_outstanding() {
    run(straight(&[point(7), store(5), end()]), "global_store_dword v[100:101], v5, off\ns_endpgm");
    run(straight(&[store(5), point(7), end()]), "global_store_dword v[100:101], v5, off\ns_endpgm");
    let func = straight(&[s_load(0), point(7), store(5), end()]);
    run(func, "s_load_dword s0, s[60:61], 0x0\nglobal_store_dword v[100:101], v5, off\ns_endpgm");
    let private = inst(op::SCRATCH_STORE_DWORD, &[v(100), v(5), Operand::None]);
    let mut func = straight(&[private, point(7), store(6), end()]);
    let attributes = mem(SyncOrder::NotAtomic, SyncScope::SingleThread, SPACE_PRIVATE);
    with_mem(&mut func, attributes, |inst| inst.op == op::SCRATCH_STORE_DWORD);
    run(func, "scratch_store_dword v100, v5, off\nglobal_store_dword v[100:101], v6, off\ns_endpgm");
}

/// Private accesses that came after are younger: the wait need not be for them.
#[test]
fn a_wait_point_counts_what_came_after() {
    let private = inst(op::SCRATCH_STORE_DWORD, &[v(100), v(5), Operand::None]);
    let func = straight(&[store(4), private, point(1), store(6), end()]);
    run(
        func,
        "global_store_dword v[100:101], v4, off
        scratch_store_dword v100, v5, off
        s_waitcnt vmcnt(1)
        global_store_dword v[100:101], v6, off
        s_endpgm",
    );
}

/// A wait of the input stays where something is outstanding, merges, and goes where nothing is.
#[test]
fn existing_waits_merge() {
    let wait = |imm| inst(op::S_WAITCNT, &[Operand::Imm(imm)]);
    let func = straight(&[wait(0x0f70), load(0), lds_read(1), wait(0x0f70), mov(10, v(1)), end()]);
    run(
        func,
        "global_load_dword v0, v[100:101], off
        ds_read_b32 v1, v102
        s_waitcnt vmcnt(0) lgkmcnt(0)
        v_mov_b32_e32 v10, v1
        s_endpgm",
    );
}

/// Where paths meet, an operation is as young as on the path that knows least.
#[test]
fn paths_meet() {
    let func = func(&[
        (&[load(0), branch(op::S_CBRANCH_SCC0, 2)], &[2, 1]),
        (&[load(1), load(2)], &[2]),
        (&[mov(10, v(0)), end()], &[]),
    ]);
    let func = run(
        func,
        "global_load_dword v0, v[100:101], off
        s_cbranch_scc0 .Ltest_bb2

        global_load_dword v1, v[100:101], off
        global_load_dword v2, v[100:101], off

        s_waitcnt vmcnt(0)
        v_mov_b32_e32 v10, v0
        s_endpgm",
    );
    each_needed(&func);
}

/// A load at the end of a loop's body is in flight at its head; the store between may stay in flight.
#[test]
fn a_loop_carries_a_load() {
    let func = func(&[
        (&[load(0)], &[1]),
        (&[mov(10, v(0)), load(0), store(10), branch(op::S_CBRANCH_SCC1, 1)], &[1, 2]),
        (&[end()], &[]),
    ]);
    let func = run(
        func,
        "global_load_dword v0, v[100:101], off

        s_waitcnt vmcnt(0)
        v_mov_b32_e32 v10, v0
        global_load_dword v0, v[100:101], off
        global_store_dword v[100:101], v10, off
        s_cbranch_scc1 .Ltest_bb1

        s_endpgm",
    );
    each_needed(&func);
}

/// What was loaded before a loop is waited for before the loop, so that the loads of the loop stay in flight.
#[test]
fn a_wait_leaves_a_loop() {
    let body = [inst(op::V_ADD_F32, &[v(10), v(0), v(10)]), load(1), branch(op::S_CBRANCH_SCC1, 1)];
    let func = func(&[(&[load(0)], &[1]), (&body, &[1, 2]), (&[end()], &[])]);
    let func = run(
        func,
        "global_load_dword v0, v[100:101], off
        s_waitcnt vmcnt(0)

        v_add_f32_e32 v10, v0, v10
        global_load_dword v1, v[100:101], off
        s_cbranch_scc1 .Ltest_bb1

        s_endpgm",
    );
    each_needed(&func);
}

/// But not where the way into the loop is a way to elsewhere too.
#[test]
fn a_wait_stays_in_a_loop() {
    let body = [inst(op::V_ADD_F32, &[v(10), v(0), v(10)]), branch(op::S_CBRANCH_SCC1, 1)];
    let func =
        func(&[(&[load(0), branch(op::S_CBRANCH_SCC0, 2)], &[2, 1]), (&body, &[1, 2]), (&[end()], &[])]);
    run(
        func,
        "global_load_dword v0, v[100:101], off
        s_cbranch_scc0 .Ltest_bb2

        s_waitcnt vmcnt(0)
        v_add_f32_e32 v10, v0, v10
        s_cbranch_scc1 .Ltest_bb1

        s_endpgm",
    );
}

#[test]
fn blunt_waits() {
    let mut func = straight(&[load(0), point(1), lds_read(1), mov(10, v(50)), end()]);
    let opts = Options { blunt: true, ..Options::default() };
    waits::run(&mut func, &model(), &opts, &mut Context::default());
    expect(
        &func,
        "global_load_dword v0, v[100:101], off
        s_waitcnt vmcnt(0)
        ds_read_b32 v1, v102
        s_waitcnt lgkmcnt(0)
        v_mov_b32_e32 v10, v50
        s_endpgm",
    );
}

/// One note a counter, one after the other from the instruction's on.
#[test]
fn waits_say_why() {
    let mut func = straight(&[load(0), lds_read(1), inst(op::V_ADD_F32, &[v(2), v(0), v(1)]), end()]);
    waits::run(&mut func, &model(), &Options::default(), &mut Context::default());
    let wait =
        func.blocks.values().flat_map(|block| &block.insts).find(|inst| inst.op == op::S_WAITCNT).unwrap();
    let first = wait.note.index().unwrap();
    let note = |counter, producer, n| Note::Wait {
        counter,
        producer,
        reg: Some(isa::Reg::vgpr(n)),
        consumer: "v_add_f32",
    };
    assert_eq!(func.notes[first], note("vmcnt", "global_load_dword", 0));
    assert_eq!(func.notes[first + 1], note("lgkmcnt", "ds_read_b32", 1));
}

/// Parts of a block keep their borders.
#[test]
fn terminator_groups_stay() {
    let mut func =
        func(&[(&[load(0), mov(10, v(0)), branch(op::S_CBRANCH_SCC1, 1)], &[1, 1]), (&[end()], &[])]);
    let entry = isa::MBlock::from_u32(0);
    func.blocks[entry].term = 2;
    func.blocks[entry].prologue = 1;
    waits::run(&mut func, &model(), &Options::default(), &mut Context::default());
    let block = &func.blocks[entry];
    assert_eq!(block.insts.len(), 4);
    assert_eq!(block.insts[block.term as usize].op, op::S_CBRANCH_SCC1);
    assert_eq!(block.prologue, 1);
}

/// A store with attributes of global memory is ordered by fences.
#[test]
fn attributes_decide_what_fences_order() {
    let mut func = straight(&[store(5), point(1), store(6), end()]);
    with_mem(&mut func, mem(SyncOrder::NotAtomic, SyncScope::SingleThread, SPACE_GLOBAL), |inst| {
        inst.op == op::GLOBAL_STORE_DWORD
    });
    run(
        func,
        "global_store_dword v[100:101], v5, off
        s_waitcnt vmcnt(0)
        global_store_dword v[100:101], v6, off
        s_endpgm",
    );
}
