//! Queues: rings of packets in memory, which host programs and kernels fill and the device empties in order.
//!
//! Who has a packet takes an index (`write_dispatch_id`), fills in the slot that it stands for, its header last, and stores the
//! index at the doorbell. The packet processor takes packets up to the one that was rung for, as far as their headers are
//! valid; when one is complete it is made invalid, and `read_dispatch_id` moves on (seed 002, "AMD Queue"). A packet begins
//! here when the one before it is complete, which the specification allows whatever the barrier bit says.

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

/// Packets of the queue that [`Device::run`] makes: room for those that its kernel adds.
pub(crate) const OWN_PACKETS: u32 = 64;
/// Most packets of a queue.
const MAX_PACKETS: u32 = 1 << 20;
/// Where the doorbell's signal and the doorbell itself are, behind the queue.
const DOORBELL_SIGNAL: u64 = QUEUE_BYTES as u64;
const DOORBELL: u64 = DOORBELL_SIGNAL + SIGNAL_BYTES as u64;
const BLOCK_BYTES: u64 = DOORBELL + 8;

/// A queue of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueId(usize);

impl QueueId {
    /// The queue, if it is still there.
    pub(crate) fn of(self, queues: &[Option<Queue>]) -> Option<&Queue> {
        queues.get(self.0)?.as_ref()
    }
}

/// Why a queue is in error. It takes no packet any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueError {
    /// The packet that failed, by its index.
    pub packet: u64,
    /// What HSA calls it.
    pub status: &'static str,
    /// What happened.
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

/// How a queue stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueState {
    /// All packets that were rung for are complete.
    Idle,
    /// The doorbell was rung for a packet that has not been filled in.
    Unfilled(u64),
    /// A barrier packet waits for signals.
    Waiting(u64),
    /// It takes no packet any more.
    Failed(Box<QueueError>),
}

/// The packet processor's side of a queue. What it needs to know it keeps for itself: kernels may write to the queue.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    /// `amd_queue_t`.
    pub(crate) address: DevicePtr,
    ring: DevicePtr,
    packets: u32,
    /// The next packet.
    pub(crate) read: u64,
    /// One more than the last packet that was rung for.
    rung: u64,
    error: Option<Box<QueueError>>,
}

impl Queue {
    /// An empty queue, whose next packet has the number `next`; `None` if there is no room. In two allocations: an index that
    /// is not reduced to the ring's size leaves the ring's.
    pub(crate) fn place(memory: &mut Memory, packets: u32, next: u64) -> Option<Queue> {
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

    /// What is to be given back.
    pub(crate) fn addresses(&self) -> [DevicePtr; 2] {
        [self.ring, self.address]
    }

    /// The address of a packet.
    pub(crate) fn slot(&self, index: u64) -> DevicePtr {
        self.ring + index % u64::from(self.packets) * PACKET_BYTES as u64
    }

    /// Adds a packet and rings the doorbell; its index, or `None` if the ring is full.
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

    /// The packet whose turn it is, as it stands in memory.
    fn next(&mut self, memory: &Memory) -> Option<Option<Result<Packet, String>>> {
        let rung = word(memory, self.address + DOORBELL).wrapping_add(1);
        // Several may ring, and the first packet's doorbell may come last.
        self.rung = self.rung.max(rung);
        let mut bytes = [0; PACKET_BYTES];
        (self.read < self.rung && memory.read(self.slot(self.read), &mut bytes))
            .then(|| Packet::parse(&bytes))
    }

    /// The packet is complete.
    fn retire(&mut self, memory: &Memory) {
        memory.write(self.slot(self.read), &packet::kind::INVALID.to_le_bytes());
        self.read += 1;
        memory.write(self.address + queue_at::READ_INDEX, &self.read.to_le_bytes());
    }

    /// Whether nothing is left that somebody rang for.
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

    /// How it stands.
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

/// Whether there is a signal that programs wait for.
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

/// Decrements a signal, and tells who waits for its event (seed 002, "Signal kernel machine code").
pub(crate) fn decrement(memory: &Memory, signal: DevicePtr) {
    let Some((buffer, offset)) = memory.find(signal + signal_at::VALUE, 8) else { return };
    memory.update64(buffer, offset, |value| value.wrapping_sub(1));
    let mailbox = word(memory, signal + signal_at::MAILBOX);
    if mailbox != 0 {
        let event = word(memory, signal + signal_at::EVENT) & u64::from(u32::MAX);
        memory.write(mailbox, &event.to_le_bytes());
    }
}

/// How packets are run.
#[derive(Clone, Copy)]
pub(crate) struct Watching<'a> {
    /// Instructions that are left.
    pub(crate) limit: u64,
    pub(crate) observe: &'a Observe,
    pub(crate) progress: Option<&'a Progress>,
    pub(crate) debugger: Option<&'a (dyn Debugger + 'a)>,
}

/// What a step of a queue did.
pub(crate) enum Step {
    Done(RunStats),
    /// Nothing is to be done, or nothing can be.
    Nothing,
}

/// What HSA calls it when a dispatch does not end well.
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
    /// A queue of that many packets, a power of two.
    pub fn create_queue(&mut self, packets: u32) -> Result<QueueId, Fault> {
        if !packets.is_power_of_two() || packets > MAX_PACKETS {
            return Err(Fault::Dispatch(format!(
                "a queue of {packets} packets: not a power of two up to {MAX_PACKETS}"
            )));
        }
        let queue = Queue::place(&mut self.memory, packets, 0);
        self.queues.push(Some(queue.ok_or_else(|| Fault::Dispatch("no room for a queue".into()))?));
        Ok(QueueId(self.queues.len() - 1))
    }

    /// Gives a queue's memory back; packets that have not begun are lost. Whether there was one.
    pub fn destroy_queue(&mut self, queue: QueueId) -> bool {
        let Some(queue) = self.queues.get_mut(queue.0).and_then(Option::take) else { return false };
        queue.addresses().into_iter().all(|address| self.memory.free(address))
    }

    /// The address of a queue (`amd_queue_t`): what kernels are told, and where host programs find ring and doorbell.
    pub fn queue_address(&self, queue: QueueId) -> Option<DevicePtr> {
        queue.of(&self.queues).map(|queue| queue.address)
    }

    /// Puts a packet into a queue and rings its doorbell; its index. Programs may as well write all of it to memory themselves.
    pub fn submit(&self, queue: QueueId, packet: &Packet) -> Result<u64, Fault> {
        let queue = queue.of(&self.queues).ok_or_else(|| Fault::Dispatch("no such queue".into()))?;
        let index = queue.submit(&self.memory, packet);
        index.ok_or_else(|| Fault::Dispatch(format!("the queue's {} packets are all in use", queue.packets)))
    }

    /// How a queue stands.
    pub fn queue_state(&mut self, queue: QueueId) -> Option<QueueState> {
        let memory = &self.memory;
        self.queues.get_mut(queue.0)?.as_mut().map(|queue| queue.state(memory))
    }

    /// Does what all queues ask for, in turn, until no packet can begin: each is done, not filled in, or waits for a signal that
    /// nobody sets. The first error ends it, and its queue; other queues go on with the next call.
    ///
    /// `limits`: instructions of all packets together; scratch is what each packet asks for.
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

    /// Takes packets of a queue as long as it can. Only the first one is observed.
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

    /// Takes one packet, if there is one that can begin.
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
