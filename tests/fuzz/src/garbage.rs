//! Damaged inputs: truncated, mixed and random bytes as source text, code object or `.npy` file. No input may
//! cause a panic.

use kernc::sim::{self, CodeObject, Device};
use kernc::{Compiler, Options, Target};
use support::Random;

/// Kind of input that is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Source text, which is compiled as far as possible.
    Source,
    /// Code object, which is loaded and run as far as possible.
    Object,
    /// Array file.
    Npy,
}

/// Limit of the number of wave instructions that a damaged code object may execute.
const INSTRUCTIONS: u64 = 2_000;

const SEED_SOURCE: &str = include_str!("../../../examples/histogram.k");

/// Returns a valid input of a kind, which is then damaged.
fn good(kind: Kind) -> Vec<u8> {
    match kind {
        Kind::Source => SEED_SOURCE.as_bytes().to_vec(),
        Kind::Object => {
            let target = Target::by_name("gfx906").expect("a known processor");
            let object = Compiler::new(target).compile(SEED_SOURCE, &Options::default());
            object.expect("the example compiles").bytes().to_vec()
        }
        Kind::Npy => {
            let buffer = sim::Buffer { element: sim::Scalar::F32, shape: vec![2, 3], bytes: vec![7; 24] };
            sim::write_npy(&buffer)
        }
    }
}

/// Damages an input by a few random changes: changed bytes, a removed piece, a copied piece, or a truncated
/// end. One input in ten becomes random bytes.
fn damage(bytes: &mut Vec<u8>, rng: &mut Random) {
    if rng.one_in(10) {
        *bytes = (0..rng.below(400)).map(|_| rng.bits() as u8).collect();
        return;
    }
    for _ in 0..1 + rng.below(4) {
        let (a, b) = (rng.below(bytes.len() + 1), rng.below(bytes.len() + 1));
        let (from, to) = (a.min(b), a.max(b));
        match rng.below(5) {
            0 => bytes.truncate(a),
            1 => drop(bytes.drain(from..to.min(from + 40))),
            2 => {
                let piece: Vec<u8> = bytes[from..to.min(from + 40)].to_vec();
                bytes.splice(a..a, piece);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(a) {
                    *byte = if rng.one_in(2) { rng.bits() as u8 } else { *byte ^ (1 << rng.below(8)) };
                }
            }
        }
    }
}

/// Runs `count` damaged inputs. Returns how many were processed without an error.
pub fn run(kind: Kind, seed: u64, count: u64) -> u64 {
    let good = good(kind);
    let passed = (seed..seed + count).filter(|&seed| {
        let mut bytes = good.clone();
        damage(&mut bytes, &mut Random::new(seed));
        feed(kind, &bytes)
    });
    passed.count() as u64
}

fn feed(kind: Kind, bytes: &[u8]) -> bool {
    match kind {
        Kind::Source => {
            let text = String::from_utf8_lossy(bytes);
            let target = Target::by_name("gfx906").expect("a known processor");
            let options = Options { verify: false, ..Options::default() };
            match Compiler::new(target).compile(&text, &options) {
                Ok(_) => true,
                Err(diagnostics) => {
                    assert!(!diagnostics.render(false).is_empty());
                    false
                }
            }
        }
        Kind::Object => CodeObject::load(bytes).is_ok_and(|object| dispatch(&object)),
        Kind::Npy => sim::read_npy(bytes).is_ok(),
    }
}

fn dispatch(object: &CodeObject) -> bool {
    let mut device = Device::with_threads(1);
    let (Ok(module), Ok(buffer)) = (device.load(object), device.alloc(4096)) else { return false };
    object.kernels().iter().all(|kernel| {
        let kernarg: Vec<u8> = buffer.to_le_bytes().into_iter().cycle().take(64).collect();
        let dispatch = sim::Dispatch {
            kernel: &kernel.name,
            grid: [256, 1, 1],
            group: kernel.reqd_group.unwrap_or([64, 1, 1]),
            kernarg,
            dynamic_lds: 0,
            limits: sim::Limits { instructions: INSTRUCTIONS, ..sim::Limits::default() },
            ..sim::Dispatch::default()
        };
        device.run(module, &dispatch).is_ok()
    })
}
