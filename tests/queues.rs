//! `use "std/hsa.k"`: kernels that read their packet and their queue, that change signals, and that enqueue
//! other kernels. The emulator's packet processor runs what they enqueue.

use isa::CodeObjectVersion::{self, V3, V4, V5};
use kernc::{Compiler, OptLevel, Options, Subtarget};
use sim::{Arg, Device, DevicePtr, Dispatch, Limits, Mode, ModuleId, Packet, PacketKind, QueueId};

const PROCESSORS: [&str; 6] = ["gfx700", "gfx803", "gfx906", "gfx90a", "gfx1010", "gfx1030"];
const LEVELS: [OptLevel; 4] = [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3];
const VERSIONS: [CodeObjectVersion; 3] = [V3, V4, V5];
const MODES: [Mode; 3] = [Mode::Fast, Mode::STRICT, Mode::Weak { seed: 3 }];

const KERNELS: &str = r#"
use "std/hsa.k";

#[inline(never)]
fn from_a_function(out: *global u32) {
    out[7] = dispatch_packet().grid_size_x;
    out[8] = dispatch_queue().size;
    out[9] = (implicitarg_ptr() as u64 & 7) as u32;
}

kernel facts(out: *global u32, argument: u32) {
    shared tile: [u32; 64];
    let mut own: [u32; 64];
    own[argument] = 5;
    let packet = dispatch_packet();
    let queue = dispatch_queue();
    out[0] = packet.grid_size_x + packet.workgroup_size_y as u32;
    out[1] = queue.size;
    out[2] = (kernarg_ptr() as *const constant u32)[2];
    out[3] = (implicitarg_ptr() as u64 - kernarg_ptr() as u64) as u32;
    out[4] = (packet.kernarg_address == kernarg_ptr() as u64 && dispatch_ptr() as u64 == packet as u64
        && queue_ptr() as u64 == queue as u64) as u32;
    out[5] = is_global(out as *u8) as u32 | (is_shared(&tile[argument] as *u8) as u32) << 1
        | (is_private(&own[argument] as *u8) as u32) << 2 | (is_shared(out as *u8) as u32) << 3;
    out[6] = (&queue_packet(queue, 1).header as u64 - &queue_packet(queue, 0).header as u64) as u32
        + (&queue.queue_inactive_signal as u64 - queue as u64) as u32 * 1000;
    from_a_function(out);
    (&tile[argument] as *u32)[0] = own[argument];
    out[10] = tile[argument];
}

kernel signals(signal: *global Signal, out: *global i64) {
    out[0] = signal_add_acq_rel(signal, 5);
    out[1] = signal_sub_relaxed(signal, 1);
    out[2] = signal_or_release(signal, 3);
    out[3] = signal_and_acquire(signal, 6);
    out[4] = signal_xor_acq_rel(signal, 15);
    out[5] = signal_exchange_relaxed(signal, -4);
    out[6] = signal_min_acq_rel(signal, -9);
    out[7] = signal_max_acq_rel(signal, 20);
    out[8] = signal_cas_acq_rel(signal, 20, 30);
    out[9] = signal_cas_relaxed(signal, 20, 40);
    out[10] = signal_load_acquire(signal);
    signal_store_release(signal, 50);
    out[11] = signal_load_relaxed(signal);
    out[12] = signal_wait_acquire(signal, SIGNAL_GREATER_EQUALS, 50, 100000);
    out[13] = signal_wait_relaxed(signal, SIGNAL_LESSER, 50, 200);
}

kernel indices(queue: *global Queue, out: *global u64) {
    out[0] = queue_add_write_index_acq_rel(queue, 3);
    out[1] = queue_cas_write_index_release(queue, 3, 10);
    out[2] = queue_load_write_index_acquire(queue);
    queue_store_write_index_release(queue, 12);
    queue_store_read_index_relaxed(queue, 5);
    out[3] = queue_load_read_index_relaxed(queue) + queue_load_write_index_relaxed(queue) * 100;
}

kernel ring(signal: *global Signal, value: i64) {
    signal_store_release(signal, value);
}

// Each kernel enqueues two of its kind, until `depth` is 0. The arguments of kernel n stand at n. Arguments
// are aligned to 16 bytes.
struct Node { pool: *global Node, counts: *global u32, number: u32, depth: u32, unused: u64 }

kernel tree(pool: *global Node, counts: *global u32, number: u32, depth: u32) {
    if local_id(0) == 0 {
        atomic_add(&counts[depth], 1, relaxed, system);
        if depth > 0 {
            for child in 2 * number..2 * number + 2 {
                pool[child] = Node { pool, counts, number: child, depth: depth - 1, unused: 0 };
                enqueue(dispatch_queue(), dispatch_packet().kernel_object, &pool[child] as u64,
                        u32x3(64, 1, 1), u32x3(64, 1, 1), dispatch_packet().private_segment_size,
                        dispatch_packet().group_segment_size, true, 0);
            }
        }
    }
}
"#;

struct Stage {
    device: Device,
    object: sim::CodeObject,
    module: ModuleId,
    queue: QueueId,
    what: String,
}

impl Stage {
    fn new(cpu: &str, level: OptLevel, version: CodeObjectVersion, mode: Mode) -> Stage {
        let what = format!("{cpu} {level:?} {version:?} {mode:?}");
        let target = Subtarget::by_name(cpu).expect("a processor").with_version(version);
        let options = Options { opt_level: level, verify: true, ..Options::default() };
        let compiled = Compiler::new(target).compile(KERNELS, &options);
        let compiled = compiled.unwrap_or_else(|error| panic!("{what}: {}", error.render(false)));
        let object = sim::CodeObject::load(compiled.bytes()).expect("it loads");
        let mut device = Device::with_threads(1);
        device.set_mode(mode);
        let module = device.load(&object).expect("it loads");
        let queue = device.create_queue(256).expect("a queue");
        Stage { device, object, module, queue, what }
    }

    /// Submits one work-group of a kernel, and processes the queue until it is empty.
    fn run(&mut self, kernel: &str, args: &[Arg]) {
        self.run_items(kernel, 64, args);
    }

    fn run_items(&mut self, kernel: &str, items: u32, args: &[Arg]) {
        let kernarg = self.object.kernel(kernel).expect("a kernel").pack(args).expect("the arguments");
        let shape = [items, 1, 1];
        let dispatch = Dispatch { kernel, kernarg, grid: shape, group: shape, ..Dispatch::default() };
        let packet = self.device.kernel_packet(self.module, &dispatch, self.queue).expect("a packet");
        self.device.submit(self.queue, &Packet::new(PacketKind::Kernel(packet))).expect("room");
        self.device.process(Limits::default()).unwrap_or_else(|why| panic!("{} {kernel}: {why}", self.what));
        assert!(self.device.reports().is_empty(), "{} {kernel}: {:?}", self.what, self.device.reports());
    }

    fn words<const N: usize>(&self, at: DevicePtr) -> [u32; N] {
        let mut bytes = vec![0; 4 * N];
        self.device.read(at, &mut bytes).expect("memory");
        std::array::from_fn(|n| u32::from_le_bytes(bytes[4 * n..][..4].try_into().expect("four bytes")))
    }

    fn long<const N: usize>(&self, at: DevicePtr) -> [i64; N] {
        let mut bytes = vec![0; 8 * N];
        self.device.read(at, &mut bytes).expect("memory");
        std::array::from_fn(|n| i64::from_le_bytes(bytes[8 * n..][..8].try_into().expect("eight bytes")))
    }

    fn zeros(&mut self, bytes: u64) -> DevicePtr {
        let at = self.device.alloc(bytes).expect("memory");
        self.device.fill(at, 0, bytes).expect("memory");
        at
    }
}

/// Runs a check for each processor in each mode; levels and versions take turns.
fn for_each(check: fn(&mut Stage)) {
    for (n, cpu) in PROCESSORS.into_iter().enumerate() {
        for (m, mode) in MODES.into_iter().enumerate() {
            check(&mut Stage::new(cpu, LEVELS[(n + m) % 4], VERSIONS[(n + 2 * m) % 3], mode));
        }
    }
}

#[test]
fn packets_queues_and_segments() {
    for_each(|stage| {
        let out = stage.zeros(64);
        stage.run("facts", &[Arg::from(out), Arg::from(9u32)]);
        let expected = [65, 256, 9, 16, 1, 7, 192_064, 64, 256, 0, 5];
        assert_eq!(stage.words::<11>(out), expected, "{}", stage.what);
    });
}

#[test]
fn indices_of_queues() {
    for_each(|stage| {
        let (queue, out) = (stage.zeros(256), stage.zeros(32));
        stage.run_items("indices", 1, &[Arg::from(queue), Arg::from(out)]);
        assert_eq!(stage.long(out), [0, 3, 10, 1205], "{}", stage.what);
    });
}

#[test]
fn signals() {
    for_each(|stage| {
        let (signal, out) = (stage.device.signal(1).expect("a signal"), stage.zeros(14 * 8));
        // One work-item, so that each operation happens once.
        stage.run_items("signals", 1, &[Arg::from(signal), Arg::from(out)]);
        assert_eq!(stage.long(out), [1, 6, 5, 7, 6, 9, -4, -9, 20, 30, 30, 50, 50, 50], "{}", stage.what);
        assert_eq!(stage.device.signal_value(signal), Ok(50), "{}", stage.what);
    });
}

/// The lock, the wrap of GFX7's ring, and the rule that numbers never decrease.
#[test]
fn legacy_doorbells() {
    for_each(|stage| {
        let (signal, queue, doorbell) = (stage.zeros(64), stage.zeros(256), stage.zeros(8));
        let fields = [(signal, -2i64 as u64), (signal + 8, doorbell), (signal + 48, queue), (queue + 24, 8)];
        for (at, value) in fields {
            stage.device.write(at, &value.to_le_bytes()).expect("memory");
        }
        let wraps = stage.what.starts_with("gfx700");
        for (value, next) in [(3i64, 4u32), (20, 21), (5, 21)] {
            stage.run("ring", &[Arg::from(signal), Arg::from(value)]);
            let rung = if wraps { next % 16 * 16 } else { next };
            assert_eq!(stage.words::<1>(doorbell), [rung], "{} {value}", stage.what);
            let [last, _, lock] = stage.words::<3>(queue + 80);
            assert_eq!((last, lock), (next, 0), "{} {value}", stage.what);
        }
    });
}

/// A tree of kernels: each one enqueues two others, six levels deep.
#[test]
fn kernels_enqueue_kernels() {
    for_each(|stage| {
        let (pool, counts) = (stage.zeros(128 * 32), stage.zeros(28));
        let args = [Arg::from(pool), Arg::from(counts), Arg::from(1u32), Arg::from(6u32)];
        stage.run("tree", &args);
        assert_eq!(stage.words::<7>(counts), [64, 32, 16, 8, 4, 2, 1], "{}", stage.what);
    });
}

/// Functions do not receive the address of the arguments.
#[test]
fn functions_have_no_kernarg_ptr() {
    const SOURCE: &str = "#[inline(never)] fn f(out: *global u32) { out[0] = kernarg_ptr() as u64 as u32; }
        kernel k(out: *global u32) { f(out); }";
    for cpu in PROCESSORS {
        let mut compiler = Compiler::new(Subtarget::by_name(cpu).expect("a processor"));
        let error = compiler.compile(SOURCE, &Options::default()).expect_err("it is refused").render(false);
        assert!(error.contains("E0111") && error.contains("`kernarg_ptr` in a function"), "{cpu}: {error}");
    }
}

/// Only the files that come with the compiler have names that begin with `std/`.
#[test]
fn unknown_standard_files() {
    let mut compiler = Compiler::new(Subtarget::by_name("gfx906").expect("a processor"));
    let error = compiler.compile("use \"std/none.k\";", &Options::default()).expect_err("it is refused");
    assert!(error.render(false).contains("the compiler comes with `std/hsa.k`"), "{}", error.render(false));
}
