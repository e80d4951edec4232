//! Damaged and random input: an error, never a panic.

use sim::{CodeObject, Device, Dispatch, Limits, read_npy};
use testkit::Rng;

/// `tests/cl/saxpy.cl` as clang 19 compiles and links it: `-O3 -mcpu=gfx906`.
const SAXPY: &[u8] = include_bytes!("data/saxpy.co");

fn flip(bytes: &mut [u8], rng: &mut Rng) {
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len() as u32) as usize;
        bytes[at] = rng.bits() as u8;
    }
}

/// Loads it, and runs what has loaded for a moment.
fn try_to_run(bytes: &[u8]) -> bool {
    let Ok(object) = CodeObject::load(bytes) else { return false };
    let mut device = Device::with_threads(1);
    let Ok(module) = device.load(&object) else { return false };
    for kernel in object.kernels() {
        let dispatch = Dispatch {
            kernel: &kernel.name,
            grid: [70, 1, 1],
            group: kernel.reqd_group.unwrap_or([64, 1, 1]),
            kernarg: Vec::new(),
            dynamic_lds: 64,
            limits: Limits { instructions: 2000, stack: 0 },
            ..Dispatch::default()
        };
        if let Err(fault) = device.run(module, &dispatch) {
            assert!(!fault.to_string().is_empty());
        }
    }
    true
}

#[test]
fn truncated_objects() {
    assert!(try_to_run(SAXPY));
    for end in (0..SAXPY.len()).step_by(7) {
        try_to_run(&SAXPY[..end]);
    }
}

#[test]
fn mutated_objects() {
    let mut rng = Rng::new(1);
    let mut loaded = 0;
    for _ in 0..5000 {
        let mut bytes = SAXPY.to_vec();
        flip(&mut bytes, &mut rng);
        loaded += u32::from(try_to_run(&bytes));
    }
    assert!(loaded > 1000, "the mutations reach the emulator: {loaded}");
}

/// The headers are left alone, and 16 dwords of the code replaced by random ones or ones with a bit flipped.
#[test]
fn random_code() {
    const S_ENDPGM: [u8; 4] = 0xbf81_0000u32.to_le_bytes();
    let end = SAXPY.windows(4).position(|window| window == S_ENDPGM).expect("an s_endpgm");
    let code = end - 64;
    let mut rng = Rng::new(2);
    for _ in 0..3000 {
        let mut bytes = SAXPY.to_vec();
        for at in (code..code + 64).step_by(4) {
            let word = match rng.below(4) {
                // s_set_gpr_idx_on s, 15
                3 => 0xbf11_0f00 | rng.below(8),
                0 => rng.bits(),
                1 => rng.bits() & 0x01ff_ffff | 0x7e00_0000,
                _ => {
                    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
                        ^ 1 << rng.below(32)
                }
            };
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        assert!(try_to_run(&bytes));
    }
}

#[test]
fn random_objects() {
    let mut rng = Rng::new(3);
    for length in 0..2000 {
        let mut bytes: Vec<u8> =
            rng.words(length / 4 + 1).iter().flat_map(|word| word.to_le_bytes()).collect();
        if length % 2 == 0 && bytes.len() > 64 {
            bytes[..64].copy_from_slice(&SAXPY[..64]);
        }
        try_to_run(&bytes);
    }
}

#[test]
fn damaged_npy_files() {
    let whole =
        sim::Buffer::generate(sim::Scalar::F32, 10, |at| sim::Number::Int(at.into())).expect("ten elements");
    let whole = sim::write_npy(&whole);
    assert!(read_npy(&whole).is_ok());
    let mut rng = Rng::new(4);
    for case in 0..10_000 {
        let mut bytes = whole.clone();
        match case % 3 {
            0 => bytes.truncate(rng.below(whole.len() as u32) as usize),
            1 => flip(&mut bytes[..128], &mut rng),
            _ => {
                bytes[10..128].fill_with(|| b"{}[]()',:0123456789 descrfortran_order"[rng.below(36) as usize])
            }
        }
        if let Err(error) = read_npy(&bytes) {
            assert!(error.to_string().starts_with("not a usable .npy file"));
        }
    }
}

/// What compute kernels do not contain is named, not misread: images, exports, interpolation.
#[test]
fn graphics_instructions_are_named() {
    const S_ENDPGM: [u8; 4] = 0xbf81_0000u32.to_le_bytes();
    let object = CodeObject::load(SAXPY).expect("an object");
    let kernel = &object.kernels()[0];
    let end = SAXPY.windows(4).position(|window| window == S_ENDPGM).expect("an s_endpgm");
    let is_branch = |at: &usize| SAXPY[at + 2..at + 4] == [0x88, 0xbf];
    let branch = (0..end).step_by(4).rfind(is_branch).expect("an s_cbranch_execz");
    let cases: [(&[u32], &str); 3] = [
        (&[0xf080_0700, 0x0082_0105], "image_sample v[1:3], v5, s[8:15], s[16:19] dmask:0x7"),
        (&[0xc400_180f, 0x0302_0100], "exp mrt0 v0, v1, v2, v3 done vm"),
        (&[0xd404_1502], "v_interp_p1_f32_e32 v1, v2, attr5.y"),
    ];
    for (words, text) in cases {
        let mut bytes = SAXPY.to_vec();
        // From the branch around the kernel's body on there is nothing but `s_nop 0`, the instruction, the end.
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        for at in (branch..end - code.len()).step_by(4) {
            bytes[at..at + 4].copy_from_slice(&0xbf80_0000u32.to_le_bytes());
        }
        bytes[end - code.len()..end].copy_from_slice(&code);
        let object = CodeObject::load(&bytes).expect("an object");
        let mut device = Device::with_threads(1);
        let module = device.load(&object).expect("a module");
        let dispatch = Dispatch {
            kernel: &kernel.name,
            grid: [256, 1, 1],
            group: [256, 1, 1],
            kernarg: Vec::new(),
            dynamic_lds: 0,
            limits: Limits { instructions: 2000, stack: 0 },
            ..Dispatch::default()
        };
        let fault = device.run(module, &dispatch).expect_err("no meaning").to_string();
        assert!(fault.contains("unsupported instruction") && fault.contains(text), "{fault}");
    }
}
