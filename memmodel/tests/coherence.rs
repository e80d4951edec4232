//! What orders and scopes become in code, with the waits that data flow leaves of them.

use crate::common::build::*;
use isa::{MachInst, ModFlags, Operand, Subtarget, op};
use memmodel::sequences::{Kind, Steps, lookup};
use memmodel::{Context, Model, Options, proof};
use mir::{MachFunc, MemRef, Note, SPACE_GLOBAL, SPACE_PRIVATE, SPACE_SHARED, SyncOrder, SyncScope};

fn run_with(func: &mut MachFunc, opts: Options) -> memmodel::Stats {
    memmodel::run(func, &model(), &opts, &mut Context::default())
}

#[track_caller]
fn run(mut func: MachFunc, expected: &str) -> MachFunc {
    run_with(&mut func, Options::default());
    expect(&func, expected);
    let faults = proof::check(&func, &model());
    assert!(faults.is_empty(), "{}", faults[0]);
    func
}

/// Every inserted instruction is noticed when it is missing.
#[track_caller]
fn each_needed(func: &MachFunc) {
    for (block, data) in func.blocks.iter() {
        for (index, inst) in data.insts.iter().enumerate() {
            if inst.op == op::S_WAITCNT || inst.op == op::BUFFER_WBINVL1_VOL {
                let mut broken = func.clone();
                broken.blocks[block].insts.remove(index);
                assert!(
                    !proof::check(&broken, &model()).is_empty(),
                    "{block}.{index} {}",
                    inst.op.row().name
                );
            }
        }
    }
}

fn is(op: isa::Opcode) -> impl Fn(&MachInst) -> bool {
    move |inst| inst.op == op
}

fn fence() -> MachInst {
    inst(op::FENCE, &[])
}

fn barrier() -> MachInst {
    inst(op::S_BARRIER, &[])
}

#[test]
fn acquire_load_at_agent_scope() {
    let mut func = straight(&[
        load(0),
        mov(10, v(50)),
        inst(op::GLOBAL_LOAD_DWORDX2, &[vs(2, 2), vs(100, 2), Operand::None]),
        end(),
    ]);
    with_mem(&mut func, mem(SyncOrder::Acquire, SyncScope::Agent, SPACE_GLOBAL), is(op::GLOBAL_LOAD_DWORD));
    let func = run(
        func,
        "global_load_dword v0, v[100:101], off glc
        s_waitcnt vmcnt(0)
        buffer_wbinvl1_vol
        v_mov_b32_e32 v10, v50
        global_load_dwordx2 v[2:3], v[100:101], off
        s_endpgm",
    );
    each_needed(&func);
}

#[test]
fn release_store_at_agent_scope() {
    let flag = inst(op::GLOBAL_STORE_SHORT, &[vs(100, 2), v(6), Operand::None]);
    let mut func = straight(&[lds_write(4), store(5), flag, end()]);
    with_mem(&mut func, mem(SyncOrder::Release, SyncScope::Agent, SPACE_GLOBAL), is(op::GLOBAL_STORE_SHORT));
    let func = run(
        func,
        "ds_write_b32 v102, v4
        global_store_dword v[100:101], v5, off
        s_waitcnt vmcnt(0) lgkmcnt(0)
        global_store_short v[100:101], v6, off
        s_endpgm",
    );
    each_needed(&func);
}

/// `_one_as`: LDS is not ordered with global memory.
#[test]
fn release_within_one_address_space() {
    let flag = inst(op::GLOBAL_STORE_SHORT, &[vs(100, 2), v(6), Operand::None]);
    let mut func = straight(&[lds_write(4), store(5), flag, end()]);
    let one = mir::MemRef { one_as: true, ..mem(SyncOrder::Release, SyncScope::Agent, SPACE_GLOBAL) };
    with_mem(&mut func, one, is(op::GLOBAL_STORE_SHORT));
    let func = run(
        func,
        "ds_write_b32 v102, v4
        global_store_dword v[100:101], v5, off
        s_waitcnt vmcnt(0)
        global_store_short v[100:101], v6, off
        s_endpgm",
    );
    each_needed(&func);
}

/// With the old value returned or not, the access keeps its glc bit: there it means "return".
#[test]
fn acq_rel_atomic() {
    for returns in [false, true] {
        let dst = if returns { v(0) } else { Operand::None };
        let mut atomic = inst(op::GLOBAL_ATOMIC_ADD, &[dst, vs(100, 2), v(5), Operand::None]);
        atomic.mods.flags.set(ModFlags::GLC, returns);
        let mut func = straight(&[store(4), atomic, load(1), end()]);
        with_mem(
            &mut func,
            mem(SyncOrder::AcqRel, SyncScope::System, SPACE_GLOBAL),
            is(op::GLOBAL_ATOMIC_ADD),
        );
        let (operand, glc) = if returns { ("v0, ", " glc") } else { ("", "") };
        let func = run(
            func,
            &format!(
                "global_store_dword v[100:101], v4, off
                s_waitcnt vmcnt(0)
                global_atomic_add {operand}v[100:101], v5, off{glc}
                s_waitcnt vmcnt(0)
                buffer_wbinvl1_vol
                global_load_dword v1, v[100:101], off
                s_endpgm"
            ),
        );
        each_needed(&func);
    }
}

#[test]
fn compare_and_swap_does_both_orders() {
    let swap = inst(op::GLOBAL_ATOMIC_CMPSWAP, &[Operand::None, vs(100, 2), vs(4, 2), Operand::None]);
    let mut func = straight(&[store(3), swap, load(1), end()]);
    let orders =
        mir::MemRef { fail: SyncOrder::Acquire, ..mem(SyncOrder::Release, SyncScope::Agent, SPACE_GLOBAL) };
    with_mem(&mut func, orders, is(op::GLOBAL_ATOMIC_CMPSWAP));
    run_with(&mut func, Options::default());
    let text = text(&func);
    assert!(text.contains("s_waitcnt vmcnt(0)\nbuffer_wbinvl1_vol"), "{text}");
    assert!(text.contains("s_waitcnt vmcnt(0)\nglobal_atomic_cmpswap"), "{text}");
}

/// LDS is seen by the work-group only, whatever the scope says.
#[test]
fn wide_scope_on_lds() {
    let mut func = straight(&[store(4), lds_read(0), load(1), end()]);
    with_mem(&mut func, mem(SyncOrder::Acquire, SyncScope::System, SPACE_SHARED), is(op::DS_READ_B32));
    let func = run(
        func,
        "global_store_dword v[100:101], v4, off
        ds_read_b32 v0, v102
        s_waitcnt lgkmcnt(0)
        global_load_dword v1, v[100:101], off
        s_endpgm",
    );
    each_needed(&func);
}

/// `barrier()`: LDS must be done, global memory need not be; with nothing in LDS it costs nothing.
#[test]
fn barriers() {
    let everything = mem(SyncOrder::AcqRel, SyncScope::Workgroup, SPACE_GLOBAL | SPACE_SHARED);
    let mut func = straight(&[store(4), lds_write(5), fence(), barrier(), lds_read(0), end()]);
    with_mem(&mut func, everything, is(op::FENCE));
    let func = run(
        func,
        "global_store_dword v[100:101], v4, off
        ds_write_b32 v102, v5
        s_waitcnt lgkmcnt(0)
        s_barrier
        ds_read_b32 v0, v102
        s_endpgm",
    );
    let mut faults = Vec::new();
    proof::barriers(&func, &model(), &mut faults);
    assert!(faults.is_empty());

    let mut func = straight(&[store(4), s_load(0), fence(), barrier(), load(1), end()]);
    with_mem(&mut func, everything, is(op::FENCE));
    run(
        func,
        "global_store_dword v[100:101], v4, off
        s_load_dword s0, s[60:61], 0x0
        s_barrier
        global_load_dword v1, v[100:101], off
        s_endpgm",
    );
}

/// Where a wave may release to the agent what others of its group have written, their stores are done at the barrier.
#[test]
fn barrier_before_a_release_to_the_agent() {
    let group = mem(SyncOrder::AcqRel, SyncScope::Workgroup, SPACE_GLOBAL | SPACE_SHARED);
    let flag = inst(op::GLOBAL_STORE_SHORT, &[vs(100, 2), v(6), Operand::None]);
    let mut func = straight(&[store(4), lds_write(5), fence(), barrier(), flag, end()]);
    with_mem(&mut func, group, is(op::FENCE));
    with_mem(&mut func, mem(SyncOrder::Release, SyncScope::Agent, SPACE_GLOBAL), is(op::GLOBAL_STORE_SHORT));
    let alone = func.clone();
    run(
        func,
        "global_store_dword v[100:101], v4, off
        ds_write_b32 v102, v5
        s_waitcnt vmcnt(0) lgkmcnt(0)
        s_barrier
        global_store_short v[100:101], v6, off
        s_endpgm",
    );

    // A fence of LDS alone promises nothing of global memory.
    let mut func = alone.clone();
    with_mem(&mut func, MemRef { spaces: SPACE_SHARED, ..group }, is(op::FENCE));
    run(
        func,
        "global_store_dword v[100:101], v4, off
        ds_write_b32 v102, v5
        s_waitcnt lgkmcnt(0)
        s_barrier
        s_waitcnt vmcnt(0)
        global_store_short v[100:101], v6, off
        s_endpgm",
    );
}

/// A fence orders the spaces it names.
#[test]
fn fences_of_one_space() {
    for (spaces, scope, expected) in [
        (SPACE_GLOBAL, SyncScope::Workgroup, ""),
        (SPACE_SHARED, SyncScope::Workgroup, "s_waitcnt lgkmcnt(0)\n"),
        (SPACE_SHARED, SyncScope::Agent, "s_waitcnt lgkmcnt(0)\n"),
        (SPACE_GLOBAL, SyncScope::Agent, "s_waitcnt vmcnt(0)\n"),
        (SPACE_GLOBAL | SPACE_SHARED, SyncScope::Agent, "s_waitcnt vmcnt(0) lgkmcnt(0)\n"),
        (0, SyncScope::System, "s_waitcnt vmcnt(0) lgkmcnt(0)\n"),
        (SPACE_GLOBAL | SPACE_SHARED, SyncScope::Wavefront, ""),
    ] {
        let mut func = straight(&[store(4), lds_write(5), fence(), store(6), end()]);
        with_mem(&mut func, mem(SyncOrder::Release, scope, spaces), is(op::FENCE));
        run(
            func,
            &format!(
                "global_store_dword v[100:101], v4, off
                ds_write_b32 v102, v5
                {expected}global_store_dword v[100:101], v6, off
                s_endpgm"
            ),
        );
    }
}

/// Lets nothing out, whatever the fence names: "must generate all instructions even for OpenCL" (seed 000, line 4014).
#[test]
fn sequentially_consistent_fences_of_one_space() {
    let step = |name: &str, cumode: bool, spaces: u8, scope: SyncScope| {
        let mut target = Subtarget::by_name(name).unwrap();
        target.cumode = cumode;
        let model = Model::for_subtarget(&target).unwrap();
        let (row, case) = lookup(Kind::Fence, &mem(SyncOrder::SeqCst, scope, spaces)).unwrap();
        model.around(row, case, &fence()).before
    };
    for name in ["gfx600", "gfx803", "gfx906", "gfx90a", "gfx1010", "gfx1030"] {
        for cumode in [true, false] {
            for scope in [SyncScope::Workgroup, SyncScope::Agent, SyncScope::System] {
                let all = step(name, cumode, SPACE_GLOBAL | SPACE_SHARED, scope);
                for spaces in [SPACE_GLOBAL, SPACE_SHARED, SPACE_PRIVATE | SPACE_SHARED] {
                    let one = step(name, cumode, spaces, scope);
                    assert_eq!(one, all, "{name} cumode {cumode} {scope:?} {spaces}");
                }
            }
        }
    }
    let counters = Steps::VM | Steps::VS | Steps::LGKM;
    assert!(step("gfx1010", false, SPACE_SHARED, SyncScope::Workgroup).contains(counters));
}

#[test]
fn hints_are_cache_bits() {
    let mut func = straight(&[load(0), store(5), lds_read(1), s_load(0), end()]);
    with_mem(
        &mut func,
        mir::MemRef { nontemporal: true, spaces: SPACE_GLOBAL, ..Default::default() },
        |_| true,
    );
    run_with(&mut func, Options::default());
    expect(
        &func,
        "global_load_dword v0, v[100:101], off glc slc
        global_store_dword v[100:101], v5, off glc slc
        ds_read_b32 v1, v102
        s_load_dword s0, s[60:61], 0x0
        s_endpgm",
    );
    let mut func = straight(&[load(0), store(5), end()]);
    with_mem(&mut func, mir::MemRef { volatile: true, spaces: SPACE_GLOBAL, ..Default::default() }, |_| true);
    run_with(&mut func, Options::default());
    expect(
        &func,
        "global_load_dword v0, v[100:101], off glc\nglobal_store_dword v[100:101], v5, off\ns_endpgm",
    );
}

#[test]
fn invalidations_say_why() {
    let mut func = straight(&[load(0), end()]);
    with_mem(&mut func, mem(SyncOrder::Acquire, SyncScope::Agent, SPACE_GLOBAL), |inst| {
        inst.op == op::GLOBAL_LOAD_DWORD
    });
    run_with(&mut func, Options::default());
    let insts = func.blocks.values().flat_map(|block| &block.insts);
    let notes: Vec<_> = insts.filter_map(|inst| inst.note.index()).map(|note| &func.notes[note]).collect();
    let row = "load atomic acquire agent global";
    assert_eq!(notes[1], &Note::Coherence(row));
    assert!(
        matches!(notes[0], Note::Wait { counter: "vmcnt", consumer, .. } if *consumer == row),
        "{:?}",
        notes[0]
    );
}
