//! Queues that host programs and kernels fill: order, signals, barriers, wrap-around, refusals; and traps, which put them into
//! error. Kernels are compiled by clang for several generations and versions.

use crate::common::{compile, link, present, test_file};
use sim::{
    Arg, CodeObject, Device, DevicePtr, Dispatch, Fault, Fence, KernelPacket, Limits, Mode, ModuleId, Packet,
    PacketKind, QueueId, QueueState,
};

const MODES: [Mode; 3] = [Mode::Fast, Mode::STRICT, Mode::Weak { seed: 5 }];
const TARGETS: [(&str, u32, &str); 11] = [
    ("clang-19", 5, "gfx700"),
    ("clang-19", 5, "gfx803"),
    ("clang-19", 5, "gfx906"),
    ("clang-19", 5, "gfx90a"),
    ("clang-19", 5, "gfx1010"),
    ("clang-19", 4, "gfx803"),
    ("clang-19", 4, "gfx906"),
    ("clang-19", 4, "gfx1030"),
    ("clang-14", 3, "gfx906"),
    ("clang-14", 3, "gfx1010"),
    ("clang-14", 2, "gfx803"),
];

/// The kernels, as each compiler that is there makes them.
fn objects() -> impl Iterator<Item = (String, CodeObject)> {
    let linker = present("ld.lld-19");
    let targets = TARGETS.into_iter().filter(move |(clang, ..)| linker && present(clang));
    targets.map(|(clang, version, processor)| {
        let options = [
            &format!("-DV5={}", u32::from(version >= 5)),
            &format!("-mcode-object-version={version}"),
            &format!("-mcpu={processor}"),
            "-O2",
            "-g",
        ];
        let object = link(&[compile(clang, &test_file("queue.cl"), &options).unwrap()]).unwrap();
        (format!("{clang} V{version} {processor}"), CodeObject::load(&object).unwrap())
    })
}

fn word(device: &Device, at: DevicePtr) -> u32 {
    let mut bytes = [0; 4];
    device.read(at, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

/// A device with the kernels, a queue and a place for results.
struct Stage {
    device: Device,
    module: ModuleId,
    object: CodeObject,
    queue: QueueId,
    out: DevicePtr,
}

impl Stage {
    fn new(object: &CodeObject, mode: Mode, packets: u32) -> Stage {
        let mut device = Device::with_threads(2);
        device.set_mode(mode);
        let module = device.load(object).unwrap();
        let queue = device.create_queue(packets).unwrap();
        let out = device.alloc(1024).unwrap();
        Stage { device, module, object: object.clone(), queue, out }
    }

    /// A packet for one work-item of a kernel.
    fn packet(&mut self, kernel: &str, args: &[Arg]) -> KernelPacket {
        let kernarg = self.object.kernel(kernel).unwrap().pack(args).unwrap();
        let dispatch = Dispatch { kernel, kernarg, ..Dispatch::default() };
        self.device.kernel_packet(self.module, &dispatch, self.queue).unwrap()
    }

    fn add(&mut self, value: u32) -> KernelPacket {
        self.packet("add", &[Arg::from(self.out), Arg::from(value)])
    }

    fn submit(&self, packet: &Packet) {
        self.device.submit(self.queue, packet).unwrap();
    }

    fn state(&mut self) -> QueueState {
        self.device.queue_state(self.queue).unwrap()
    }
}

fn kernel(packet: KernelPacket, completion: DevicePtr) -> Packet {
    Packet { completion, ..Packet::new(PacketKind::Kernel(packet)) }
}

#[test]
fn packets_run_in_order_and_wrap_around() {
    for (name, object) in objects() {
        for mode in MODES {
            let mut stage = Stage::new(&object, mode, 4);
            let signal = stage.device.signal(9).unwrap();
            for round in 0..3 {
                for value in 1..=3 {
                    let packet = stage.add(value);
                    stage.submit(&Packet { barrier: false, acquire: Fence::Agent, ..kernel(packet, signal) });
                }
                let stats = stage
                    .device
                    .process(Limits::default())
                    .unwrap_or_else(|why| panic!("{name} {mode:?}: {why}"));
                assert_eq!(stats.groups, 3, "{name} {mode:?}");
                assert_eq!(stage.device.signal_value(signal), Ok(9 - 3 * (round + 1)));
            }
            assert_eq!(word(&stage.device, stage.out), 123_123_123, "{name} {mode:?}");
            assert_eq!(stage.state(), QueueState::Idle);
            let queue = stage.device.queue_address(stage.queue).unwrap();
            assert_eq!((word(&stage.device, queue + 56), word(&stage.device, queue + 128)), (9, 9));
        }
    }
}

#[test]
fn a_full_ring_takes_no_more() {
    let Some((_, object)) = objects().next() else { return };
    let mut stage = Stage::new(&object, Mode::Fast, 2);
    let packet = kernel(stage.add(1), 0);
    stage.submit(&packet);
    stage.submit(&packet);
    let full = stage.device.submit(stage.queue, &packet).unwrap_err().to_string();
    assert_eq!(full, "cannot dispatch: the queue's 2 packets are all in use");
    stage.device.process(Limits::default()).unwrap();
    assert_eq!(stage.device.submit(stage.queue, &packet), Ok(2));
    assert!(stage.device.create_queue(3).is_err() && stage.device.create_queue(0).is_err());
}

#[test]
fn barriers_wait_for_signals() {
    let Some((_, object)) = objects().next() else { return };
    let mut stage = Stage::new(&object, Mode::Fast, 8);
    let other = stage.device.create_queue(8).unwrap();
    let [one, two, end] = [1, 1, 1].map(|value| stage.device.signal(value).unwrap());
    let first = stage.queue;

    // In one queue: both signals, then a packet. In the other one: what sets them.
    stage.submit(&Packet { completion: end, ..Packet::new(PacketKind::BarrierAnd([one, two, 0, 0, 0])) });
    let packet = stage.add(4);
    stage.submit(&kernel(packet, 0));
    stage.device.process(Limits::default()).unwrap();
    assert_eq!((stage.state(), stage.device.signal_value(end)), (QueueState::Waiting(0), Ok(1)));
    stage.queue = other;
    let packet = stage.add(5);
    stage.submit(&kernel(packet, one));
    stage.device.process(Limits::default()).unwrap();
    stage.queue = first;
    assert_eq!(stage.state(), QueueState::Waiting(0));
    stage.queue = other;
    let packet = stage.add(6);
    stage.submit(&kernel(packet, two));
    stage.device.process(Limits::default()).unwrap();
    stage.queue = first;
    assert_eq!((stage.state(), stage.device.signal_value(end)), (QueueState::Idle, Ok(0)));
    assert_eq!(word(&stage.device, stage.out), 564);

    // One of them is enough; null signals are not, for this kind.
    stage.submit(&Packet::new(PacketKind::BarrierOr([0, end, 0, 0, 0])));
    stage.submit(&Packet::new(PacketKind::BarrierAnd([0; 5])));
    stage.submit(&Packet::new(PacketKind::BarrierOr([0; 5])));
    stage.device.process(Limits::default()).unwrap();
    assert_eq!(stage.state(), QueueState::Waiting(4));
}

/// A host program that writes everything itself: the packet's body, its header, the index, the doorbell.
#[test]
fn by_plain_stores() {
    let Some((_, object)) = objects().next() else { return };
    let mut stage = Stage::new(&object, Mode::Fast, 4);
    let packet = kernel(stage.add(8), 0).bytes();
    let queue = stage.device.queue_address(stage.queue).unwrap();
    let pointer =
        |device: &Device, at: DevicePtr| u64::from(word(device, at)) | u64::from(word(device, at + 4)) << 32;
    let (ring, signal) = (pointer(&stage.device, queue + 8), pointer(&stage.device, queue + 16));
    assert_eq!(word(&stage.device, signal) as i32, -1, "the kind of a doorbell");
    let doorbell = pointer(&stage.device, signal + 8);
    assert_eq!(pointer(&stage.device, signal + 48), queue);
    stage.device.write(queue + 56, &1u64.to_le_bytes()).unwrap();
    stage.device.write(doorbell, &0u64.to_le_bytes()).unwrap();
    stage.device.process(Limits::default()).unwrap();
    assert_eq!(stage.state(), QueueState::Unfilled(0));
    stage.device.write(ring, &packet).unwrap();
    stage.device.process(Limits::default()).unwrap();
    assert_eq!((stage.state(), word(&stage.device, stage.out)), (QueueState::Idle, 8));
    assert_eq!(word(&stage.device, ring) & 0xff, 1, "the packet is invalid again");
}

#[test]
fn kernels_fill_their_own_queue() {
    for (name, object) in objects() {
        for mode in MODES {
            let mut stage = Stage::new(&object, mode, 4);
            let done = stage.device.signal(0).unwrap();
            let pool = stage.device.alloc(512 * 64).unwrap();
            let add = stage.device.kernel_object(stage.module, "add").unwrap();
            let args = [Arg::from(stage.out), Arg::from(pool), Arg::from(add), Arg::from(done), Arg::from(5)];
            let dispatch = Dispatch {
                kernel: "parent",
                group: [64, 1, 1],
                grid: [64, 1, 1],
                kernarg: object.kernel("parent").unwrap().pack(&args).unwrap(),
                ..Dispatch::default()
            };
            // In the queue that a dispatch has for itself: the children run after it.
            let stats = stage
                .device
                .run(stage.module, &dispatch)
                .unwrap_or_else(|why| panic!("{name} {mode:?}: {why}"));
            assert_eq!((stats.groups, word(&stage.device, stage.out)), (6, 712_345), "{name} {mode:?}");
            assert_eq!(stage.device.signal_value(done), Ok(-5));
            assert!(stage.device.reports().is_empty(), "{name}: {}", stage.device.reports()[0]);

            // In a queue of four packets, around it several times.
            let chain = stage.device.kernel_object(stage.module, "chain").unwrap();
            let args =
                [Arg::from(stage.out), Arg::from(pool), Arg::from(chain), Arg::from(done), Arg::from(20)];
            let packet = stage.packet("chain", &args);
            stage.submit(&kernel(packet, done));
            let stats = stage
                .device
                .process(Limits::default())
                .unwrap_or_else(|why| panic!("{name} {mode:?}: {why}"));
            assert_eq!((stats.groups, stage.device.signal_value(done)), (21, Ok(-26)), "{name} {mode:?}");
            assert!((0..21).all(|at| word(&stage.device, stage.out + 4 * u64::from(at)) == at + 1));
        }
        let mut stage = Stage::new(&object, Mode::Fast, 4);
        let why = stage.device.run(stage.module, &Dispatch { kernel: "forgets", ..Dispatch::default() });
        assert_eq!(
            why.unwrap_err().to_string(),
            "packet 1 of the queue is refused: the doorbell was rung for it, and nobody has filled it in"
        );
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let Some((_, object)) = objects().next() else { return };
    let expect = |expected: &str, spoil: &dyn Fn(&mut Stage, &mut [u8; 64])| {
        let mut stage = Stage::new(&object, Mode::Fast, 4);
        let good = kernel(stage.add(3), 0);
        let mut bytes = good.bytes();
        spoil(&mut stage, &mut bytes);
        // Behind a good one, and with one behind it.
        stage.submit(&good);
        let bad = stage.device.submit(stage.queue, &good).unwrap();
        stage.submit(&good);
        let queue = stage.device.queue_address(stage.queue).unwrap();
        let ring =
            u64::from(word(&stage.device, queue + 8)) | u64::from(word(&stage.device, queue + 12)) << 32;
        stage.device.write(ring + 64 * bad, &bytes).unwrap();
        let error = stage.device.process(Limits::default()).unwrap_err();
        assert_eq!(error.packet, 1);
        assert!(error.to_string().contains(expected), "{error}, not {expected}");
        // The queue takes nothing any more, and the error stays.
        assert_eq!(word(&stage.device, stage.out), 3);
        assert_eq!(stage.device.process(Limits::default()).map(|stats| stats.groups), Ok(0));
        assert_eq!(stage.state(), QueueState::Failed(error));
    };
    let put = |bytes: &mut [u8; 64], at: usize, value: u64, size: usize| {
        bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    };
    expect("its type is 77, which no packet has (HSA_STATUS_ERROR_INVALID_PACKET_FORMAT)", &|_, bytes| {
        bytes[0] = 77
    });
    expect("this agent is a GPU, and has none", &|_, bytes| bytes[0] = 4);
    expect("its kernel object 0x123 is no kernel that is loaded", &|_, bytes| put(bytes, 32, 0x123, 8));
    expect("aligned to 16", &|_, bytes| bytes[40] ^= 4);
    expect("its arguments at 0x0 are not", &|_, bytes| put(bytes, 40, 0, 8));
    expect("is no place of a signal: 64 bytes of memory, aligned to 64", &|stage, bytes| {
        put(bytes, 56, stage.out + 8, 8);
    });
    expect("is of kind 0, not 1, which programs wait for", &|stage, bytes| put(bytes, 56, stage.out + 64, 8));
    expect("is of kind -1, not 1", &|stage, bytes| {
        let queue = stage.device.queue_address(stage.queue).unwrap();
        put(bytes, 56, queue + 256, 8);
    });
    expect("a group of [0, 1, 1] work-items", &|_, bytes| put(bytes, 4, 0, 2));
    expect("the grid [0, 1, 1] is empty (HSA_STATUS_ERROR_INVALID_ARGUMENT)", &|_, bytes| {
        put(bytes, 12, 0, 4)
    });
    expect("bytes of LDS, but a group has at most", &|_, bytes| put(bytes, 28, 1 << 30, 4));
    expect("bytes of scratch for a wave", &|_, bytes| put(bytes, 24, 1 << 30, 4));
    expect("its dependent signal 0x40 is no place of a signal", &|_, bytes| {
        *bytes = Packet::new(PacketKind::BarrierOr([0, 64, 0, 0, 0])).bytes();
    });
}

/// Random bytes are refused or run, and nothing panics.
#[test]
fn random_packets() {
    let Some((_, object)) = objects().next() else { return };
    let mut state = 0x0123_4567_89ab_cdefu64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let count = std::env::var("KERNC_PACKETS").ok().and_then(|count| count.parse().ok()).unwrap_or(2000);
    let mut stage = Stage::new(&object, Mode::Fast, 8);
    let good = kernel(stage.add(1), 0).bytes();
    let (mut refused, mut ran) = (0, 0);
    for _ in 0..count {
        stage.queue = stage.device.create_queue(8).unwrap();
        let queue = stage.device.queue_address(stage.queue).unwrap();
        let ring =
            u64::from(word(&stage.device, queue + 8)) | u64::from(word(&stage.device, queue + 12)) << 32;
        for slot in 0..8 {
            let mut bytes = good;
            for _ in 0..next() % 4 {
                bytes[next() as usize % 64] = next() as u8;
            }
            if next() % 8 == 0 {
                bytes.fill_with(|| next() as u8);
            }
            stage.device.write(ring + 64 * slot, &bytes).unwrap();
        }
        // The queue itself, too.
        for _ in 0..next() % 3 {
            stage.device.write(queue + next() % 320, &[next() as u8]).unwrap();
        }
        stage.device.write(queue + 320, &(next() % 10).to_le_bytes()).unwrap();
        match stage.device.process(Limits { instructions: 10_000, stack: 0 }) {
            Ok(_) => ran += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
        assert!(stage.device.destroy_queue(stage.queue));
    }
    assert!(refused > 0 && ran > 0, "{refused} refused, {ran} not");
}

/// `s_trap`: what the guide's trap handler is handed is right, the fault says where, and the queue is in error.
#[test]
fn traps_end_the_dispatch() {
    for (name, object) in objects() {
        for mode in MODES {
            let mut stage = Stage::new(&object, mode, 4);
            let args = [Arg::from(stage.out), Arg::from(70)];
            let dispatch = Dispatch {
                kernel: "gives_up",
                group: [64, 1, 1],
                grid: [128, 1, 1],
                kernarg: object.kernel("gives_up").unwrap().pack(&args).unwrap(),
                ..Dispatch::default()
            };
            let fault = stage.device.run(stage.module, &dispatch).unwrap_err();
            let text = fault.to_string();
            let Fault::Trap { id: 2, lanes, note, at } = fault else { panic!("{name} {mode:?}: {text}") };
            assert_eq!(note, None, "{name} {mode:?}: {text}");
            // Of the second group all lanes but six; waves of 32 have one of each.
            let lost = if at.wave == 0 { 6 } else { 0 };
            assert_eq!((at.group, lanes.trailing_zeros()), ([1, 0, 0], lost), "{name} {mode:?}: {text}");
            assert_eq!(at.item, Some([64 + 32 * at.wave + lost, 0, 0]));
            let told = stage.device.debug_trap().unwrap();
            assert!(told.text == "s_trap 3" && at.text == "s_trap 2", "{text}");
            let line = |at: &sim::Location| at.source.as_ref().map(|place| place.line);
            assert_eq!((line(told), line(&at)), (Some(TRAP_LINE - 2), Some(TRAP_LINE)), "{name}: {text}");

            let mut packet = stage.packet("gives_up", &args);
            (packet.group, packet.grid) = ([64, 1, 1], [128, 1, 1]);
            stage.submit(&kernel(packet, 0));
            let error = stage.device.process(Limits::default()).unwrap_err();
            assert_eq!(error.status, "HSA_STATUS_ERROR_EXCEPTION");
            assert_eq!(stage.state(), QueueState::Failed(error), "{name} {mode:?}");
        }
    }
}

/// The line of `__builtin_trap()` in the kernels' source.
const TRAP_LINE: u32 = 115;
