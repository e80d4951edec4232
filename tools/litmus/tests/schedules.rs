//! Seeded runs of a whole dispatch: one group passes a message to another one.

use sim::{CodeObject, Device, Dispatch, Mode};

const SEEDS: u64 = 200;

/// Group 0 writes data and then a flag; group 1 has read the data before, waits for the flag and reads them again.
fn source(base: u64, release: &str, acquire: &str) -> String {
    let (low, high) = (base as u32, base >> 32);
    format!(
        "
.text
.p2align 8
.type pass,@function
pass:
  v_mov_b32 v0, {low:#x}
  v_mov_b32 v1, {high:#x}
  v_mov_b32 v4, 7
  v_mov_b32 v5, 1
  s_cmp_eq_u32 s0, 0
  s_cbranch_scc0 reader
  global_store_dword v[0:1], v4, off
  {release}
  global_store_dword v[0:1], v5, off offset:256
  s_endpgm
reader:
  global_load_dword v6, v[0:1], off
  s_waitcnt vmcnt(0)
again:
  global_load_dword v2, v[0:1], off offset:256 glc
  s_waitcnt vmcnt(0)
  v_cmp_ne_u32 vcc, 1, v2
  s_nop 4
  s_cbranch_vccnz again
  {acquire}
  global_load_dword v3, v[0:1], off
  s_waitcnt vmcnt(0)
  global_store_dword v[0:1], v3, off offset:512
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel pass
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
"
    )
}

/// What the reader has read with each seed.
fn read(release: &str, acquire: &str) -> Vec<u32> {
    let run = |seed| {
        let mut device = Device::with_threads(1);
        let base = device.alloc(4096).expect("there is room");
        let target = isa::Target::by_name("gfx906");
        let options = asm::Options { target, ..asm::Options::default() };
        let bytes = asm::assemble(&source(base, release, acquire), &options).expect("it assembles");
        let module = device.load(&CodeObject::load(&bytes).expect("it loads")).expect("there is room");
        device.set_mode(Mode::Weak { seed });
        let dispatch =
            Dispatch { kernel: "pass", grid: [128, 1, 1], group: [64, 1, 1], ..Dispatch::default() };
        let stats = device.run(module, &dispatch).expect("it runs to its end");
        assert_eq!((stats.groups, stats.waves), (2, 2));
        let mut word = [0; 4];
        device.read(base + 512, &mut word).expect("it is there");
        u32::from_le_bytes(word)
    };
    (0..SEEDS).map(run).collect()
}

#[test]
fn the_sequences_of_the_guide_are_enough() {
    assert_eq!(read("s_waitcnt vmcnt(0)", "buffer_wbinvl1_vol"), [7; SEEDS as usize]);
}

#[test]
fn a_missing_wait_shows() {
    let seen = read("", "buffer_wbinvl1_vol");
    assert!(seen.contains(&0) && seen.contains(&7), "{seen:?}");
}

#[test]
fn a_missing_invalidate_shows() {
    let seen = read("s_waitcnt vmcnt(0)", "");
    assert!(seen.contains(&0), "{seen:?}");
}

#[test]
fn a_seed_replays() {
    assert_eq!(read("", ""), read("", ""));
}
