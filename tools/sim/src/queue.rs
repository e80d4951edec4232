//! Queues, which are rings of packets in memory. Host programs and kernels add packets, and the device takes
//! packets in order.
//!
//! To add a packet, a program takes an index from `write_dispatch_id`. It fills the slot of this index, with
//! the packet's header last, and stores the index to the doorbell. The packet processor takes packets up to
//! the index in the doorbell, as long as their headers are valid. When a packet is complete, the processor
//! marks its slot as invalid and advances `read_dispatch_id` (ROCm's code object ABI, seed 002, "AMD Queue").
//! This implementation starts a packet when the previous packet is complete, which the specification allows
//! regardless of the barrier bit.

use crate::debug::Debugger;
use crate::device::{Device, DevicePtr};
use crate::fault::Fault;
use crate::launch::Limits;
use crate::memory::Memory;
use crate::observe::Observe;
use crate::packet::{self, PACKET_BYTES, Packet, PacketKind, QUEUE_BYTES, SIGNAL_BYTES, queue_at, signal_at};
use crate::progress::Progress;
use crate::stats::RunStats;
use std::fmt;

/// Number of packets that fit in the queue that [`Device::run`] creates for a dispatch. The kernel of the
/// dispatch may add packets of its own to this queue.
pub(crate) const OWN_PACKETS: u32 = 64;
/// Maximum number of packets of a queue.
const MAX_PACKETS: u32 = 1 << 20;
/// Offset of the doorbell's signal in the memory of a queue. It is the end of the queue structure. The next
/// constant is the offset of the doorbell itself.
const DOORBELL_SIGNAL: u64 = QUEUE_BYTES as u64;
const DOORBELL: u64 = DOORBELL_SIGNAL + SIGNAL_BYTES as u64;
const BLOCK_BYTES: u64 = DOORBELL + 8;

/// Identifies a queue of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueId(usize);

impl QueueId {
    /// Returns the queue with this id, if it has not been destroyed.
    pub(crate) fn find_in(self, queues: &[Option<Queue>]) -> Option<&Queue> {
        queues.get(self.0)?.as_ref()
    }
}

/// Why a queue has failed. A failed queue runs no more packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueError {
    /// Index of the packet that failed.
    pub packet: u64,
    /// HSA's name for the error.
    pub status: &'static str,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::Packet { .. } => write!(f, "{} ({})", self.fault, self.status),
            fault => write!(f, "packet {}: {fault} ({})", self.packet, self.status),
        }
    }
}

impl std::error::Error for QueueError {}

/// State of a queue, for the host program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueState {
    /// The queue is empty: all packets for which the doorbell was rung are complete.
    Idle,
    /// A program has rung the doorbell for the packet with this index, but the packet's header is still
    /// invalid.
    Unfilled(u64),
    /// The barrier packet with this index waits for signals.
    Waiting(u64),
    /// The queue has failed and runs no more packets.
    Failed(Box<QueueError>),
}

/// What the packet processor knows about a queue. The structure is kept outside of emulated memory, because a
/// kernel may overwrite the queue structure (`amd_queue_t`) there.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    /// Address of the queue structure (`amd_queue_t`).
    pub(crate) address: DevicePtr,
    ring: DevicePtr,
    packets: u32,
    /// Index of the next packet.
    pub(crate) read: u64,
    /// Highest index that was stored to the doorbell, plus one.
    rung: u64,
    error: Option<Box<QueueError>>,
}

impl Queue {
    /// Creates an empty queue whose next packet has the index `next`. Returns `None` if there is no room in
    /// memory. The ring of packets is an allocation of its own, so that a kernel faults if it forgets to
    /// reduce an index modulo the ring's size.
    pub(crate) fn create(memory: &mut Memory, packets: u32, next: u64) -> Option<Queue> {
        let ring = memory.alloc(u64::from(packets) * PACKET_BYTES as u64)?;
        let address = memory.alloc(BLOCK_BYTES)?;
        let (signal, doorbell) = (address + DOORBELL_SIGNAL, address + DOORBELL);
        memory.write(address, &packet::queue(ring, packets, signal, next));
        memory.write(signal, &packet::doorbell_signal(doorbell, address));
        memory.write(doorbell, &next.wrapping_sub(1).to_le_bytes());
        for slot in 0..u64::from(packets) {
            memory.write(ring + slot * PACKET_BYTES as u64, &packet::kind::INVALID.to_le_bytes());
        }
        Some(Queue { address, ring, packets, read: next, rung: next, error: None })
    }

    /// Returns the addresses of the allocations that have to be freed with the queue.
    pub(crate) fn addresses(&self) -> [DevicePtr; 2] {
        [self.ring, self.address]
    }

    /// Returns the address of the slot in the ring where the packet with the given index belongs.
    pub(crate) fn slot(&self, index: u64) -> DevicePtr {
        self.ring + index % u64::from(self.packets) * PACKET_BYTES as u64
    }

    /// Adds a packet to the queue and rings the doorbell. Returns the packet's index, or `None` if the ring
    /// is full.
    pub(crate) fn submit(&self, memory: &Memory, packet: &Packet) -> Option<u64> {
        let (buffer, offset) = memory.find(self.address + queue_at::WRITE_INDEX, 8)?;
        let mut index = None;
        memory.update64(buffer, offset, |next| {
            let free = next.wrapping_sub(self.read) < u64::from(self.packets);
            index = free.then_some(next);
            if free { next.wrapping_add(1) } else { next }
        });
        let (index, bytes) = (index?, packet.bytes());
        memory.write(self.slot(index) + 2, &bytes[2..]);
        memory.write(self.slot(index), &bytes[..2]);
        memory.write(self.address + DOORBELL, &index.to_le_bytes());
        Some(index)
    }

    /// Reads the next packet from memory. Returns `None` if no program has rung the doorbell for the packet.
    /// Returns `Some(None)` if the packet has not been filled in.
    fn next(&mut self, memory: &Memory) -> Option<Option<Result<Packet, String>>> {
        let rung = word(memory, self.address + DOORBELL).wrapping_add(1);
        // Several programs may ring the doorbell, in another order than that of their packets. So the largest
        // index that was ever stored to the doorbell counts.
        self.rung = self.rung.max(rung);
        let mut bytes = [0; PACKET_BYTES];
        (self.read < self.rung && memory.read(self.slot(self.read), &mut bytes))
            .then(|| Packet::parse(&bytes))
    }

    /// Marks the current packet as complete.
    fn retire(&mut self, memory: &Memory) {
        memory.write(self.slot(self.read), &packet::kind::INVALID.to_le_bytes());
        self.read += 1;
        memory.write(self.address + queue_at::READ_INDEX, &self.read.to_le_bytes());
    }

    /// Checks that the queue is idle. Fails if there is a packet for which the doorbell was rung and that is
    /// not complete.
    pub(crate) fn check_idle(&mut self, memory: &Memory) -> Result<(), Fault> {
        let refuse = |packet, why: &str| Err(Fault::Packet { packet, why: why.to_owned() });
        match self.state(memory) {
            QueueState::Idle => Ok(()),
            QueueState::Unfilled(packet) => {
                refuse(packet, "the doorbell was rung for it, and nobody has filled it in")
            }
            QueueState::Waiting(packet) => {
                refuse(packet, "it waits for signals, and nobody is left to set them")
            }
            QueueState::Failed(error) => Err(error.fault),
        }
    }

    /// Returns the state of the queue.
    pub(crate) fn state(&mut self, memory: &Memory) -> QueueState {
        if let Some(error) = &self.error {
            return QueueState::Failed(error.clone());
        }
        match self.next(memory) {
            None => QueueState::Idle,
            Some(None) => QueueState::Unfilled(self.read),
            Some(Some(_)) => QueueState::Waiting(self.read),
        }
    }
}

fn word(memory: &Memory, address: u64) -> u64 {
    let mut bytes = [0; 8];
    memory.read(address, &mut bytes);
    u64::from_le_bytes(bytes)
}

/// Checks the address of a signal. It must be 0, or the address of a signal of the kind that programs wait
/// for. `what` names the signal in the message.
fn check_signal(memory: &Memory, signal: DevicePtr, what: &str) -> Result<(), String> {
    if signal == 0 {
        return Ok(());
    }
    if !signal.is_multiple_of(SIGNAL_BYTES as u64) || memory.find(signal, SIGNAL_BYTES as u64).is_none() {
        return Err(format!(
            "its {what} signal {signal:#x} is no place of a signal: 64 bytes of memory, aligned to 64"
        ));
    }
    match word(memory, signal) as i64 {
        packet::SIGNAL_USER => Ok(()),
        kind => {
            Err(format!("its {what} signal {signal:#x} is of kind {kind}, not 1, which programs wait for"))
        }
    }
}

/// Decrements a signal. Also writes the event id of the signal to its mailbox, which programs that wait for
/// the signal read (ROCm's code object ABI, seed 002, "Signal kernel machine code").
pub(crate) fn decrement(memory: &Memory, signal: DevicePtr) {
    let Some((buffer, offset)) = memory.find(signal + signal_at::VALUE, 8) else { return };
    memory.update64(buffer, offset, |value| value.wrapping_sub(1));
    let mailbox = word(memory, signal + signal_at::MAILBOX);
    if mailbox != 0 {
        let event = word(memory, signal + signal_at::EVENT) & u64::from(u32::MAX);
        memory.write(mailbox, &event.to_le_bytes());
    }
}

/// How the packets of a queue are run.
#[derive(Clone, Copy)]
pub(crate) struct Watching<'a> {
    /// Number of instructions that may still be executed.
    pub(crate) limit: u64,
    pub(crate) observe: &'a Observe,
    pub(crate) progress: Option<&'a Progress>,
    pub(crate) debugger: Option<&'a (dyn Debugger + 'a)>,
}

/// The result of one step of a queue.
pub(crate) enum Step {
    Done(RunStats),
    /// There is no packet to run, or the next packet cannot begin.
    Nothing,
}

/// Returns HSA's name for the failure of a dispatch.
fn status(fault: &Fault) -> &'static str {
    match fault {
        Fault::Packet { .. } => "HSA_STATUS_ERROR_INVALID_PACKET_FORMAT",
        Fault::Memory { .. } => "HSA_STATUS_ERROR_MEMORY_FAULT",
        Fault::Fetch { .. } | Fault::Unsupported { .. } => "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION",
        Fault::Dispatch(_) => "HSA_STATUS_ERROR_INVALID_ARGUMENT",
        Fault::Descriptor(_) => "HSA_STATUS_ERROR_INVALID_CODE_OBJECT",
        _ => "HSA_STATUS_ERROR_EXCEPTION",
    }
}

impl Device {
    /// Creates a queue with room for `packets` packets, which must be a power of two.
    ///
    /// # Errors
    /// The number is not a power of two, is too large, or the device has no room.
    pub fn create_queue(&mut self, packets: u32) -> Result<QueueId, Fault> {
        if !packets.is_power_of_two() || packets > MAX_PACKETS {
            return Err(Fault::Dispatch(format!(
                "a queue of {packets} packets: not a power of two up to {MAX_PACKETS}"
            )));
        }
        let queue = Queue::create(&mut self.memory, packets, 0);
        self.queues.push(Some(queue.ok_or_else(|| Fault::Dispatch("no room for a queue".into()))?));
        Ok(QueueId(self.queues.len() - 1))
    }

    /// Frees the memory of a queue. Packets that have not begun are lost. Returns false if the queue does not
    /// exist.
    pub fn destroy_queue(&mut self, queue: QueueId) -> bool {
        let Some(queue) = self.queues.get_mut(queue.0).and_then(Option::take) else { return false };
        queue.addresses().into_iter().all(|address| self.memory.free(address))
    }

    /// Returns the address of a queue (`amd_queue_t`). Kernels receive this address, and host programs find
    /// the ring and the doorbell through it.
    pub fn queue_address(&self, queue: QueueId) -> Option<DevicePtr> {
        queue.find_in(&self.queues).map(|queue| queue.address)
    }

    /// Adds a packet to a queue and rings the queue's doorbell. Returns the packet's index. A program may
    /// instead do the same by its own stores to memory.
    ///
    /// # Errors
    /// There is no such queue, or all its packets are in use.
    pub fn submit(&self, queue: QueueId, packet: &Packet) -> Result<u64, Fault> {
        let queue = queue.find_in(&self.queues).ok_or_else(|| Fault::Dispatch("no such queue".into()))?;
        let index = queue.submit(&self.memory, packet);
        index.ok_or_else(|| Fault::Dispatch(format!("the queue's {} packets are all in use", queue.packets)))
    }

    /// Returns the state of a queue.
    pub fn queue_state(&mut self, queue: QueueId) -> Option<QueueState> {
        let memory = &self.memory;
        self.queues.get_mut(queue.0)?.as_mut().map(|queue| queue.state(memory))
    }

    /// Runs the packets of all queues in turn, until no packet can begin. Each queue is then empty, or its
    /// next packet is not filled in, or it waits for a signal that no packet will set. The first error ends
    /// the function and disables the queue in which it occurred. The other queues continue when the function
    /// is called again.
    ///
    /// `limits` gives the number of instructions for all packets together. The stack size in `limits` is
    /// ignored, because each packet states its own scratch size.
    ///
    /// # Errors
    /// A packet is invalid, or its kernel fails. The error names the queue.
    pub fn process(&mut self, limits: Limits) -> Result<RunStats, Box<QueueError>> {
        let mut queues = std::mem::take(&mut self.queues);
        let mut total = RunStats::default();
        let mut result = Ok(());
        self.begin_run();
        let observe = Observe::default();
        let watching =
            Watching { limit: limits.instructions, observe: &observe, progress: None, debugger: None };
        let done = |queues: &[Option<Queue>]| queues.iter().flatten().map(|queue| queue.read).sum::<u64>();
        while result.is_ok() {
            let before = done(&queues);
            let mut healthy = queues.iter_mut().flatten().filter(|queue| queue.error.is_none());
            result = healthy.try_for_each(|queue| self.drain(queue, watching, &mut total));
            if done(&queues) == before {
                break;
            }
        }
        self.queues = queues;
        self.memory.sweep_heap();
        result.map(|()| total)
    }

    /// Runs the packets of a queue until no packet can begin. `watching` says what to observe; only the first
    /// packet is observed.
    pub(crate) fn drain(
        &mut self,
        queue: &mut Queue,
        watching: Watching<'_>,
        total: &mut RunStats,
    ) -> Result<(), Box<QueueError>> {
        let unobserved = Observe::default();
        let mut now = watching;
        loop {
            now.limit = watching.limit.saturating_sub(total.instructions);
            match self.step(queue, now) {
                Ok(Step::Nothing) => return Ok(()),
                Ok(Step::Done(stats)) => total.join(&stats),
                Err(fault) => {
                    let error = Box::new(QueueError { packet: queue.read, status: status(&fault), fault });
                    queue.error = Some(error.clone());
                    return Err(error);
                }
            }
            now.observe = &unobserved;
        }
    }

    /// Runs the next packet, if it can begin.
    fn step(&mut self, queue: &mut Queue, watching: Watching<'_>) -> Result<Step, Fault> {
        let Some(Some(packet)) = queue.next(&self.memory) else { return Ok(Step::Nothing) };
        let refuse = |why| Fault::Packet { packet: queue.read, why };
        let packet = packet.map_err(refuse)?;
        check_signal(&self.memory, packet.completion, "completion").map_err(refuse)?;
        let stats = match &packet.kind {
            PacketKind::Kernel(kernel) => self.run_packet(queue, kernel, watching)?,
            PacketKind::BarrierAnd(signals) | PacketKind::BarrierOr(signals) => {
                let known =
                    signals.iter().try_for_each(|&signal| check_signal(&self.memory, signal, "dependent"));
                known.map_err(refuse)?;
                let is_zero = |&signal: &u64| word(&self.memory, signal + signal_at::VALUE) == 0;
                let met = match packet.kind {
                    PacketKind::BarrierAnd(_) => signals.iter().all(|signal| *signal == 0 || is_zero(signal)),
                    _ => signals.iter().any(|signal| *signal != 0 && is_zero(signal)),
                };
                if !met {
                    return Ok(Step::Nothing);
                }
                RunStats::default()
            }
        };
        queue.retire(&self.memory);
        if packet.completion != 0 {
            decrement(&self.memory, packet.completion);
        }
        Ok(Step::Done(stats))
    }
}
