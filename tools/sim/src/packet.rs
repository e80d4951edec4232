//! The structures in memory that the packet processor, host programs and kernels share. There are three:
//! packets (HSA Platform System Architecture, "AQL packets"), queues (`amd_queue_t`; ROCm's code object ABI,
//! seed 002, line 1629) and signals (`amd_signal_t`; seed 002, line 1864).

use crate::device::DevicePtr;
use crate::wave::{PRIVATE_APERTURE, SHARED_APERTURE};

/// Size of a packet in bytes.
pub(crate) const PACKET_BYTES: usize = 64;
/// Size of a queue in bytes.
pub(crate) const QUEUE_BYTES: usize = 256;
/// Size of a signal in bytes.
pub(crate) const SIGNAL_BYTES: usize = 64;
/// Number of signals that a barrier packet can wait for.
pub(crate) const DEPENDENCIES: usize = 5;

/// Offsets of the fields of a queue in memory. ROCm's code object ABI (seed 002) describes the fields up to
/// `read_dispatch_id` and its offset. The later fields are taken from ROCm's header.
pub(crate) mod queue_at {
    pub(crate) const WRITE_INDEX: u64 = 56;
    pub(crate) const READ_INDEX: u64 = 128;
    pub(crate) const SCRATCH: u64 = 144;
}

/// Offsets of the fields of a signal.
pub(crate) mod signal_at {
    pub(crate) const VALUE: u64 = 8;
    pub(crate) const MAILBOX: u64 = 16;
    pub(crate) const EVENT: u64 = 24;
}

/// `AMD_SIGNAL_KIND_USER`: a signal that programs wait for.
pub(crate) const SIGNAL_USER: i64 = 1;
/// Kind of a signal that belongs to a doorbell (`AMD_SIGNAL_KIND_DOORBELL`). The second word of the signal is
/// the address of the doorbell.
const SIGNAL_DOORBELL: i64 = -1;

/// Scope of a memory fence: the set of observers for which the fence orders earlier and later accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fence {
    /// No fence.
    None,
    /// The agent on which the kernel runs.
    Agent,
    /// All agents and the host.
    #[default]
    System,
}

impl Fence {
    const ALL: [Fence; 3] = [Fence::None, Fence::Agent, Fence::System];
}

/// A packet of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Whether the packet may start only after all earlier packets are complete. In the emulator, every
    /// packet does so.
    pub barrier: bool,
    /// Scope of the acquire fence at the start of the packet.
    pub acquire: Fence,
    /// Scope of the release fence at the end of the packet.
    pub release: Fence,
    /// What the packet asks for.
    pub kind: PacketKind,
    /// Address of the signal that is decremented when the packet ends. 0 means that there is no signal.
    pub completion: DevicePtr,
}

/// What a packet asks the packet processor to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PacketKind {
    /// Runs a kernel.
    Kernel(KernelPacket),
    /// A packet that waits until all of its signals are 0. A null address counts as a signal that is 0.
    BarrierAnd([DevicePtr; DEPENDENCIES]),
    /// A packet that waits until one of its signals is 0. A null address counts as a signal that is not 0.
    BarrierOr([DevicePtr; DEPENDENCIES]),
}

/// A packet that runs a kernel, with the kernel's arguments and grid.
/// [`Device::kernel_packet`](crate::Device::kernel_packet) creates it from a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelPacket {
    /// Number of work-items of a group in each dimension.
    pub group: [u16; 3],
    /// Number of work-items in each dimension.
    pub grid: [u32; 3],
    /// Bytes of scratch of a work-item.
    pub private_bytes: u32,
    /// Bytes of LDS of a group.
    pub lds_bytes: u32,
    /// Address of the kernel's descriptor, as [`Device::kernel_object`](crate::Device::kernel_object) returns
    /// it.
    pub object: DevicePtr,
    /// Address of the argument segment, which includes the hidden arguments.
    pub kernarg: DevicePtr,
}

/// Numbers of the types of packets.
pub(crate) mod kind {
    pub(crate) const VENDOR: u16 = 0;
    pub(crate) const INVALID: u16 = 1;
    pub(crate) const KERNEL: u16 = 2;
    pub(crate) const BARRIER_AND: u16 = 3;
    pub(crate) const AGENT: u16 = 4;
    pub(crate) const BARRIER_OR: u16 = 5;
}

const BARRIER_BIT: u16 = 1 << 8;
const ACQUIRE_SHIFT: u16 = 9;
const RELEASE_SHIFT: u16 = 11;
const RESERVED_SHIFT: u16 = 13;

/// Returns the number of dimensions that a dispatch uses. The last dimension with more than one work-item is
/// the last one that counts.
pub(crate) fn dimensions(grid: [u32; 3], group: [u32; 3]) -> u16 {
    let used = |dim: &usize| grid[*dim] != 1 || group[*dim] != 1;
    (0..3).rfind(used).map_or(1, |last| last as u16 + 1)
}

fn put(bytes: &mut [u8], at: usize, value: u64, size: usize) {
    bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
}

fn get(bytes: &[u8], at: usize, size: usize) -> u64 {
    let mut wide = [0; 8];
    wide[..size].copy_from_slice(&bytes[at..at + size]);
    u64::from_le_bytes(wide)
}

impl Packet {
    /// Creates a packet with the settings that runtimes use: fences have system scope, the barrier bit is
    /// set, and there is no completion signal.
    pub fn new(kind: PacketKind) -> Packet {
        Packet { barrier: true, acquire: Fence::System, release: Fence::System, kind, completion: 0 }
    }

    /// Returns the packet as it is stored in the ring.
    pub fn bytes(&self) -> [u8; PACKET_BYTES] {
        let mut bytes = [0; PACKET_BYTES];
        let kind = match &self.kind {
            PacketKind::Kernel(kernel) => {
                kernel.write(&mut bytes);
                kind::KERNEL
            }
            PacketKind::BarrierAnd(signals) | PacketKind::BarrierOr(signals) => {
                for (at, signal) in signals.iter().enumerate() {
                    put(&mut bytes, 8 + 8 * at, *signal, 8);
                }
                if matches!(self.kind, PacketKind::BarrierAnd(_)) {
                    kind::BARRIER_AND
                } else {
                    kind::BARRIER_OR
                }
            }
        };
        let barrier = if self.barrier { BARRIER_BIT } else { 0 };
        let fences = (self.acquire as u16) << ACQUIRE_SHIFT | (self.release as u16) << RELEASE_SHIFT;
        put(&mut bytes, 0, (kind | barrier | fences).into(), 2);
        put(&mut bytes, 56, self.completion, 8);
        bytes
    }

    /// Parses the bytes of a packet. Returns `None` if no program has filled in the packet yet, and an error
    /// message if the packet is invalid.
    pub fn parse(bytes: &[u8; PACKET_BYTES]) -> Option<Result<Packet, String>> {
        let header = get(bytes, 0, 2) as u16;
        (header & 0xff != kind::INVALID).then(|| Packet::from_bytes(header, bytes))
    }

    fn from_bytes(header: u16, bytes: &[u8; PACKET_BYTES]) -> Result<Packet, String> {
        let fence = |shift: u16, what: &str| {
            let scope = header >> shift & 3;
            let fence = Fence::ALL.get(usize::from(scope)).copied();
            fence.ok_or_else(|| format!("its {what} fence scope is 3, which is reserved"))
        };
        let zero = |at: usize, size: usize| match get(bytes, at, size) {
            0 => Ok(()),
            value => Err(format!("its reserved bytes at {at} are {value:#x}, not 0")),
        };
        let kind = match header & 0xff {
            kind::KERNEL => PacketKind::Kernel(KernelPacket::read(bytes)?),
            barrier @ (kind::BARRIER_AND | kind::BARRIER_OR) => {
                zero(2, 2)?;
                zero(4, 4)?;
                let signals = std::array::from_fn(|at| get(bytes, 8 + 8 * at, 8));
                match barrier {
                    kind::BARRIER_AND => PacketKind::BarrierAnd(signals),
                    _ => PacketKind::BarrierOr(signals),
                }
            }
            kind::AGENT => {
                return Err("it is an agent dispatch, which asks for a function of an agent's: this agent is a GPU, and has none"
                    .to_owned());
            }
            kind::VENDOR => {
                return Err("it is vendor-specific: none of those packets are emulated".to_owned());
            }
            other => return Err(format!("its type is {other}, which no packet has")),
        };
        zero(48, 8)?;
        if header >> RESERVED_SHIFT != 0 {
            return Err(format!("reserved bits of its header {header:#06x} are set"));
        }
        Ok(Packet {
            barrier: header & BARRIER_BIT != 0,
            acquire: fence(ACQUIRE_SHIFT, "acquire")?,
            release: fence(RELEASE_SHIFT, "release")?,
            kind,
            completion: get(bytes, 56, 8),
        })
    }
}

impl KernelPacket {
    fn write(&self, bytes: &mut [u8]) {
        put(bytes, 2, dimensions(self.grid, self.group.map(u32::from)).into(), 2);
        for dim in 0..3 {
            put(bytes, 4 + 2 * dim, self.group[dim].into(), 2);
            put(bytes, 12 + 4 * dim, self.grid[dim].into(), 4);
        }
        put(bytes, 24, self.private_bytes.into(), 4);
        put(bytes, 28, self.lds_bytes.into(), 4);
        put(bytes, 32, self.object, 8);
        put(bytes, 40, self.kernarg, 8);
    }

    fn read(bytes: &[u8]) -> Result<KernelPacket, String> {
        let setup = get(bytes, 2, 2);
        if setup > 3 || setup == 0 {
            return Err(format!(
                "its setup is {setup:#x}: it asks for 1, 2 or 3 dimensions and nothing else"
            ));
        }
        if get(bytes, 10, 2) != 0 {
            return Err(format!("its reserved bytes at 10 are {:#x}, not 0", get(bytes, 10, 2)));
        }
        let packet = KernelPacket {
            group: std::array::from_fn(|dim| get(bytes, 4 + 2 * dim, 2) as u16),
            grid: std::array::from_fn(|dim| get(bytes, 12 + 4 * dim, 4) as u32),
            private_bytes: get(bytes, 24, 4) as u32,
            lds_bytes: get(bytes, 28, 4) as u32,
            object: get(bytes, 32, 8),
            kernarg: get(bytes, 40, 8),
        };
        let unused = setup as usize..3;
        if unused.clone().any(|dim| packet.group[dim] != 1 || packet.grid[dim] != 1) {
            let (group, grid) = (packet.group, packet.grid);
            return Err(format!(
                "it has {setup} dimensions, but groups of {group:?} in a grid of {grid:?}: unused ones are 1"
            ));
        }
        Ok(packet)
    }
}

/// How a queue describes scratch memory.
pub(crate) struct QueueScratch {
    pub(crate) resource: [u32; 4],
    pub(crate) base: u64,
    pub(crate) lane_bytes: u32,
}

impl QueueScratch {
    /// Returns the bytes that a queue has at [`queue_at::SCRATCH`]. They describe the scratch memory: buffer
    /// resource, address, size, and bytes for each lane.
    pub(crate) fn bytes(&self) -> [u8; 40] {
        let mut bytes = [0; 40];
        for (at, word) in self.resource.into_iter().enumerate() {
            put(&mut bytes, 4 * at, word.into(), 4);
        }
        put(&mut bytes, 16, self.base, 8);
        put(&mut bytes, 32, self.lane_bytes.into(), 4);
        bytes
    }
}

/// Returns the bytes of an empty queue. `ring` is the address of the ring of packets, which has room for
/// `packets` packets. `next` is the index of the first packet that will be added.
pub(crate) fn queue(ring: u64, packets: u32, doorbell: u64, next: u64) -> [u8; QUEUE_BYTES] {
    let mut bytes = [0; QUEUE_BYTES];
    let mut put = |at: u64, value, size| put(&mut bytes, at as usize, value, size);
    // The first fields are those of `hsa_queue_t`. The value 1 in the first line says that several producers
    // may add packets. The next fields are the base address of the ring, the doorbell, the size in packets,
    // and the id.
    put(4, 1, 4);
    put(8, ring, 8);
    put(16, doorbell, 8);
    put(24, packets.into(), 4);
    put(32, 1, 8);
    put(queue_at::WRITE_INDEX, next, 8);
    // The apertures of LDS and private memory.
    put(64, SHARED_APERTURE.into(), 4);
    put(68, PRIVATE_APERTURE.into(), 4);
    put(queue_at::READ_INDEX, next, 8);
    put(queue_at::READ_INDEX + 8, queue_at::READ_INDEX, 4);
    bytes
}

/// Returns the bytes of a signal that programs wait for.
pub(crate) fn signal(value: i64) -> [u8; SIGNAL_BYTES] {
    let mut bytes = [0; SIGNAL_BYTES];
    put(&mut bytes, 0, SIGNAL_USER as u64, 8);
    put(&mut bytes, signal_at::VALUE as usize, value as u64, 8);
    bytes
}

/// Returns the bytes of the signal that belongs to the doorbell of a queue. A program rings the doorbell by
/// storing the index of a packet at the address `doorbell`.
pub(crate) fn doorbell_signal(doorbell: u64, queue: u64) -> [u8; SIGNAL_BYTES] {
    let mut bytes = [0; SIGNAL_BYTES];
    put(&mut bytes, 0, SIGNAL_DOORBELL as u64, 8);
    put(&mut bytes, signal_at::VALUE as usize, doorbell, 8);
    put(&mut bytes, 48, queue, 8);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> Packet {
        let kernel = KernelPacket {
            group: [64, 2, 1],
            grid: [1000, 3, 1],
            private_bytes: 16,
            lds_bytes: 32,
            object: 0x1000,
            kernarg: 0x2000,
        };
        Packet { completion: 0x3000, release: Fence::Agent, ..Packet::new(PacketKind::Kernel(kernel)) }
    }

    #[test]
    fn packets_are_read_as_they_are_written() {
        let signals = [1, 2, 3, 4, 5];
        for packet in [
            kernel(),
            Packet::new(PacketKind::BarrierAnd(signals)),
            Packet { barrier: false, ..Packet::new(PacketKind::BarrierOr(signals)) },
        ] {
            assert_eq!(Packet::parse(&packet.bytes()), Some(Ok(packet)));
        }
        // The layout according to the specification: type 2, barrier, system acquire, agent release; two
        // dimensions.
        let bytes = kernel().bytes();
        assert_eq!(bytes[..4], [2, 1 | 2 << 1 | 1 << 3, 2, 0]);
        assert_eq!(bytes[4..24], [64, 0, 2, 0, 1, 0, 0, 0, 232, 3, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(bytes[24..32], [16, 0, 0, 0, 32, 0, 0, 0]);
        assert_eq!((bytes[33], bytes[41], bytes[57]), (0x10, 0x20, 0x30));
    }

    #[test]
    fn malformed_packets_say_why() {
        let with = |at: usize, value: u8| {
            let mut bytes = kernel().bytes();
            bytes[at] = value;
            match Packet::parse(&bytes) {
                Some(Err(why)) => why,
                other => format!("{other:?}"),
            }
        };
        assert_eq!(with(0, 1), "None");
        assert_eq!(with(0, 0), "it is vendor-specific: none of those packets are emulated");
        assert!(with(0, 4).starts_with("it is an agent dispatch"));
        assert_eq!(with(0, 6), "its type is 6, which no packet has");
        assert_eq!(with(1, 0x20), "reserved bits of its header 0x2002 are set");
        assert_eq!(with(1, 6), "its acquire fence scope is 3, which is reserved");
        assert_eq!(with(1, 0x18), "its release fence scope is 3, which is reserved");
        assert_eq!(with(2, 0), "its setup is 0x0: it asks for 1, 2 or 3 dimensions and nothing else");
        assert!(with(3, 1).starts_with("its setup is 0x102"));
        assert_eq!(
            with(2, 1),
            "it has 1 dimensions, but groups of [64, 2, 1] in a grid of [1000, 3, 1]: unused ones are 1"
        );
        assert_eq!(with(10, 1), "its reserved bytes at 10 are 0x1, not 0");
        assert_eq!(with(48, 9), "its reserved bytes at 48 are 0x9, not 0");
        assert_eq!(with(0, 3), "its reserved bytes at 2 are 0x2, not 0");
    }
}
