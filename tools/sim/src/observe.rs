//! Observes a dispatch without checking it. Counts how often each instruction is executed and with how many
//! active lanes, and how many bytes are transferred. For the waves of a chosen group, also records which
//! registers change.

use crate::banks::Accesses;
use crate::exec::{Cx, Flow};
use crate::fault::{Access, Trap};
use crate::idle_waits::Recorder;
use crate::memory::Memory;
use crate::op::{Class, Code, Op};
use crate::watch::{CacheOp, MemAccess, Space, Watch};
use crate::wave::{ActiveLanes, Wave};
use isa::Target;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What to observe in a dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observe {
    /// Whether to count instructions, lanes and bytes.
    pub profile: bool,
    /// The work-group whose instructions are traced, and the number of the wave to trace. If the number is
    /// `None`, all waves of the group are traced.
    pub trace: Option<([u32; 3], Option<u32>)>,
    /// Whether to record the order of memory operations. [`Device::log`](crate::Device::log) returns the
    /// record, which shows which waits were needed. A dispatch with this record runs on one thread.
    pub order: bool,
}

/// Maximum number of bytes of a trace; the rest is left out.
const MAX_TRACE: usize = 64 << 20;
/// Maximum number of lanes of one register that a trace shows, if the lanes have different values. The values
/// of the other lanes are left out.
const SHOWN_LANES: usize = 4;

/// Number of bytes transferred to and from one kind of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes that were read.
    pub read: u64,
    /// Bytes that were written.
    pub written: u64,
    /// Bytes that were changed by atomics.
    pub atomic: u64,
}

/// How often one instruction was executed, and with how many active lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Address of the instruction in the file.
    pub offset: u64,
    /// Text of the instruction.
    pub text: String,
    /// Number of executions. An execution by one wave counts once.
    pub count: u64,
    /// Number of active lanes, summed over all executions.
    pub lanes: u64,
    /// Number of additional passes that LDS bank conflicts cause, summed over all executions. The number
    /// comes from a model of the banks (docs/emulator.md).
    pub bank_conflicts: u64,
    pub(crate) class: Class,
}

impl Executed {
    /// Returns the average number of active lanes over all executions of the instruction. Returns `None` for
    /// scalar instructions.
    pub fn mean_lanes(&self) -> Option<f64> {
        is_vector(self.class).then(|| self.lanes as f64 / self.count.max(1) as f64)
    }
}

fn is_vector(class: Class) -> bool {
    matches!(class, Class::Valu | Class::Vmem | Class::Lds)
}

/// The counts of a dispatch for each instruction. Instructions that were never executed are not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Instructions in the order of their addresses.
    pub instructions: Vec<Executed>,
    /// Bytes that vector memory instructions have transferred from and to memory other than scratch.
    pub global: Traffic,
    /// Bytes transferred by scalar loads and stores.
    pub scalar: Traffic,
    /// Bytes transferred from and to LDS.
    pub lds: Traffic,
    /// Bytes transferred from and to private memory.
    pub scratch: Traffic,
    /// Number of lanes of a wave.
    pub wave_size: u32,
    /// The processor; `None` if nothing was counted.
    pub target: Option<&'static Target>,
}

impl Profile {
    /// Returns the number of waves that have ended.
    pub fn waves(&self) -> u64 {
        let ends = self.instructions.iter().filter(|inst| inst.text.starts_with("s_endpgm"));
        ends.map(|inst| inst.count).sum()
    }

    /// Returns the number of executed instructions. An instruction counts once for each wave that executes
    /// it.
    pub fn executed(&self) -> u64 {
        self.instructions.iter().map(|inst| inst.count).sum()
    }

    /// Returns the number of additional passes that LDS bank conflicts have caused.
    pub fn bank_conflicts(&self) -> u64 {
        self.instructions.iter().map(|inst| inst.bank_conflicts).sum()
    }

    /// Returns the transferred bytes, by kind of memory.
    pub fn traffic(&self) -> [(&'static str, Traffic); 4] {
        [
            ("vector memory", self.global),
            ("scalar memory", self.scalar),
            ("LDS", self.lds),
            ("scratch", self.scratch),
        ]
    }

    /// Returns the average fraction of lanes that are active in vector arithmetic instructions. Returns 1 if
    /// there were no such instructions.
    pub fn active_lanes(&self) -> f64 {
        let valu = || self.instructions.iter().filter(|inst| inst.class == Class::Valu);
        let (count, lanes): (u64, u64) =
            (valu().map(|inst| inst.count).sum(), valu().map(|inst| inst.lanes).sum());
        if count == 0 { 1.0 } else { lanes as f64 / (count * u64::from(self.wave_size)) as f64 }
    }
}

/// Counters of an observed dispatch, which all its waves share.
pub(crate) struct Observer {
    /// The counts for each dword of each code range, at which an instruction may begin: its executions, its
    /// active lanes, and its additional passes due to bank conflicts.
    counts: Vec<Vec<[AtomicU64; 3]>>,
    /// The number of bytes for each kind of memory: bytes that were read, bytes that were written, and bytes
    /// that atomics have changed.
    bytes: [[AtomicU64; 3]; 4],
    trace: Option<([u32; 3], Option<u32>)>,
    text: Mutex<String>,
    recorder: Option<Recorder>,
}

impl Observe {
    /// Returns whether there is anything to observe.
    pub(crate) fn is_active(&self) -> bool {
        self.profile || self.trace.is_some() || self.order
    }
}

impl Observer {
    pub(crate) fn new(what: &Observe, target: &'static Target, code: &[Code]) -> Option<Observer> {
        if !what.is_active() {
            return None;
        }
        let counters = |code: &Code| code.ops.iter().map(|_| Default::default()).collect();
        Some(Observer {
            counts: code.iter().map(counters).collect(),
            bytes: Default::default(),
            trace: what.trace,
            text: Mutex::default(),
            recorder: what.order.then(|| Recorder::new(target, code)),
        })
    }

    /// Returns the recorder of memory operations, if there is one, and removes it.
    pub(crate) fn take_recorder(&mut self) -> Option<Recorder> {
        self.recorder.take()
    }

    /// Returns the counts of instructions, and the trace.
    pub(crate) fn finish(self, code: &[Code], target: &'static Target) -> (Profile, String) {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut instructions = Vec::new();
        for (code, counts) in code.iter().zip(&self.counts) {
            for (at, [count, lanes, conflicts]) in
                counts.iter().enumerate().filter(|(_, [count, ..])| get(count) > 0)
            {
                instructions.push(Executed {
                    offset: code.file_base + at as u64 * 4,
                    text: code.text(target, at as u32),
                    count: get(count),
                    lanes: get(lanes),
                    bank_conflicts: get(conflicts),
                    class: code.ops[at].class,
                });
            }
        }
        let traffic = |space: usize| {
            let [read, written, atomic] = self.bytes[space].each_ref().map(get);
            Traffic { read, written, atomic }
        };
        let profile = Profile {
            instructions,
            global: traffic(0),
            scalar: traffic(1),
            lds: traffic(2),
            scratch: traffic(3),
            wave_size: target.wave_size,
            target: Some(target),
        };
        (profile, self.text.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    fn traces(&self, group: [u32; 3], wave: u32) -> bool {
        self.trace.is_some_and(|(wanted, only)| wanted == group && only.is_none_or(|only| only == wave))
    }
}

/// Watcher that observes one wave.
pub(crate) struct Observing<'a> {
    observer: &'a Observer,
    group: [u32; 3],
    /// Registers before the current instruction, if it is traced.
    before: Option<Box<Before>>,
    traced: bool,
    /// Accesses of the current instruction to LDS.
    lds: Accesses,
    /// The recorder of memory operations, with its numbers for this wave and for the wave's group.
    recorded: Option<(&'a Recorder, u32, u32)>,
}

struct Before {
    range: u32,
    pc: u32,
    sgpr: [u32; 256],
    scc: bool,
    vgpr: Vec<[u32; 64]>,
}

impl<'a> Observing<'a> {
    pub(crate) fn new(observer: &'a Observer, group: [u32; 3], wave: u32) -> Observing<'a> {
        let recorded = observer.recorder.as_ref().map(|recorder| {
            let (wave, group) = recorder.wave(group, wave);
            (recorder, wave, group)
        });
        let traced = observer.traces(group, wave);
        Observing { observer, group, before: None, traced, lds: Accesses::default(), recorded }
    }

    fn counters(&self, cx: &Cx<'_>) -> Option<&'a [AtomicU64; 3]> {
        let (range, pc) = (cx.wave.range, cx.wave.last);
        self.observer.counts.get(range as usize)?.get(pc as usize)
    }

    fn count(&mut self, access: &MemAccess, way: usize, value: u32) {
        if access.space == Space::Lds {
            self.lds.add(access.lane, access.address, access.bytes, access.kind == Access::Atomic);
        }
        if let Some((recorder, _, group)) = self.recorded {
            recorder.access(group, access, value);
        }
        let space = match (access.space, access.scalar) {
            (Space::Global, false) => 0,
            (Space::Global, true) => 1,
            (Space::Lds, _) => 2,
            (Space::Scratch, _) => 3,
        };
        self.observer.bytes[space][way].fetch_add(access.bytes.into(), Ordering::Relaxed);
    }

    /// Appends a line to the trace. The line shows the instruction that has just run and the registers that
    /// it has changed.
    fn write_down(&self, before: &Before, cx: &Cx<'_>) {
        let wave = &cx.wave;
        let mut text = self.observer.text.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if text.len() >= MAX_TRACE {
            return;
        }
        let code = cx.code.get(before.range as usize);
        let offset = code.map_or(0, |code| code.file_base + u64::from(before.pc) * 4);
        let instruction = code.map_or_else(String::new, |code| code.text(cx.target, before.pc));
        let [x, y, z] = self.group;
        let _ = write!(text, "({x}, {y}, {z}) {:2}  {offset:#8x}  {instruction:<52}", wave.id);
        changes(before, wave, &mut text);
        while text.ends_with(' ') {
            text.pop();
        }
        text.push('\n');
    }
}

/// Returns the name of an SGPR. A register that is special on every processor, such as VCC, has a name of its
/// own.
fn name(code: u16) -> String {
    match code {
        106 => "vcc_lo".to_owned(),
        107 => "vcc_hi".to_owned(),
        124 => "m0".to_owned(),
        126 => "exec_lo".to_owned(),
        127 => "exec_hi".to_owned(),
        _ => format!("{:?}", isa::Reg(code)),
    }
}

fn changes(before: &Before, wave: &Wave, text: &mut String) {
    for code in 0..128usize {
        if before.sgpr[code] != wave.sgpr[code] {
            let _ = write!(text, "  {}={:#x}", name(code as u16), wave.sgpr[code]);
        }
    }
    if before.scc != wave.scc {
        let _ = write!(text, "  scc={}", u32::from(wave.scc));
    }
    for (number, (old, new)) in before.vgpr.iter().zip(&wave.vgpr).enumerate() {
        let changed = old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new);
        let changed = changed.fold(0u64, |mask, (lane, _)| mask | 1 << lane);
        if changed == 0 {
            continue;
        }
        let name = if number < 256 { format!("v{number}") } else { format!("a{}", number - 256) };
        let first = changed.trailing_zeros() as usize;
        if ActiveLanes(changed).all(|lane| new[lane] == new[first]) {
            let _ = write!(text, "  {name}={:#x} ({} lanes)", new[first], changed.count_ones());
            continue;
        }
        let _ = write!(text, "  {name}=[");
        for (at, lane) in ActiveLanes(changed).take(SHOWN_LANES).enumerate() {
            let separator = if at > 0 { ", " } else { "" };
            let _ = write!(text, "{separator}{lane}: {:#x}", new[lane]);
        }
        text.push_str(if changed.count_ones() as usize > SHOWN_LANES { ", ...]" } else { "]" });
    }
}

impl Watch for Observing<'_> {
    fn before(&mut self, cx: &mut Cx<'_>, op: &Op) -> Result<(), Trap> {
        if let Some([count, lanes, _]) = self.counters(cx) {
            count.fetch_add(1, Ordering::Relaxed);
            if is_vector(op.class) {
                lanes.fetch_add(cx.wave.exec().count_ones().into(), Ordering::Relaxed);
            }
        }
        if self.traced {
            let wave = &cx.wave;
            let (range, pc) = (wave.range, wave.last);
            let before = Before { range, pc, sgpr: wave.sgpr, scc: wave.scc, vgpr: wave.vgpr.clone() };
            self.before = Some(Box::new(before));
        }
        Ok(())
    }

    fn after(&mut self, cx: &mut Cx<'_>, _op: &Op, flow: Flow) -> Result<(), Trap> {
        if let Some((recorder, wave, _)) = self.recorded {
            recorder.after(wave, cx, flow);
        }
        if !self.lds.is_empty() {
            let extra = self.lds.take_extra();
            if let Some([.., conflicts]) = self.counters(cx) {
                conflicts.fetch_add(extra, Ordering::Relaxed);
            }
        }
        if let Some(before) = self.before.take() {
            self.write_down(&before, cx);
        }
        Ok(())
    }

    fn read(&mut self, _memory: &Memory, access: &MemAccess) -> Result<Option<u32>, Trap> {
        self.count(access, 0, 0);
        Ok(None)
    }

    fn write(&mut self, _memory: &Memory, access: &MemAccess, value: u32) -> Result<bool, Trap> {
        self.count(access, 1, value);
        Ok(false)
    }

    fn atomic(&mut self, _memory: &Memory, access: &MemAccess) -> Result<(), Trap> {
        debug_assert_eq!(access.kind, Access::Atomic);
        self.count(access, 2, 0);
        Ok(())
    }

    fn cache(&mut self, _memory: &Memory, operation: CacheOp) -> Result<(), Trap> {
        if let Some((recorder, ..)) = self.recorded {
            recorder.cache(operation);
        }
        Ok(())
    }
}
