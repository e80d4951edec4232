//! Why a dispatch stopped, or never started.

use crate::strict::{FaultClass, Report};
use codeobj::disasm::SourcePlace;
use std::fmt;

/// A call under way: who was called, and from where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// The function.
    pub function: String,
    /// Who has called it.
    pub caller: String,
    /// Address of the call in the ELF file.
    pub offset: u64,
    /// Its place in the source, where the object says.
    pub source: Option<SourcePlace>,
    /// How many such calls there are, one in the other.
    pub count: u64,
    /// How many others follow that are left out.
    pub skipped: u64,
}

impl fmt::Display for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Called { function, caller, offset, source, count, skipped } = self;
        write!(f, "in `{function}`, called at {offset:#x} of `{caller}`")?;
        if let Some(source) = source {
            write!(f, ", {source}")?;
        }
        if *count > 1 {
            write!(f, "; ... {} more such calls", grouped(count - 1))?;
        }
        if *skipped > 0 {
            write!(f, "; ... {} more", grouped(*skipped))?;
        }
        Ok(())
    }
}

/// `1,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Where a wave was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// Emulated address of the instruction.
    pub pc: u64,
    /// Its address in the ELF file.
    pub offset: u64,
    /// The instruction.
    pub text: String,
    /// Kernel.
    pub kernel: String,
    /// Work-group.
    pub group: [u32; 3],
    /// Wave of the group.
    pub wave: u32,
    /// Lane, where one is to blame.
    pub lane: Option<u32>,
    /// Global id of the work-item in that lane.
    pub item: Option<[u32; 3]>,
    /// The place in the source, where the object says.
    pub source: Option<SourcePlace>,
    /// The calls under way, innermost first, where they are known: strict mode follows them.
    pub calls: Vec<Called>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.group;
        write!(
            f,
            "`{}` at {:#x} of {}, group ({x}, {y}, {z}), wave {}",
            self.text, self.offset, self.kernel, self.wave
        )?;
        if let Some(lane) = self.lane {
            write!(f, ", lane {lane}")?;
        }
        if let Some(source) = &self.source {
            write!(f, ", {source}")?;
        }
        self.calls.iter().try_for_each(|call| write!(f, "\n    {call}"))
    }
}

/// What a memory access wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Load.
    Read,
    /// Store.
    Write,
    /// Read-modify-write.
    Atomic,
}

impl Access {
    const fn noun(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Atomic => "atomic access",
        }
    }
}

/// Why an access of private memory fails.
pub(crate) const OUTSIDE: &str = "outside of the wave's scratch";
/// Why an access fails where there is no memory.
pub(crate) const NOWHERE: &str = "no allocation holds all of it";

/// A dispatch that did not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access outside of every allocation, or one the memory does not allow.
    Memory {
        /// Emulated address (LDS: the offset).
        address: u64,
        /// Size of the access in bytes.
        bytes: u32,
        /// Kind of access.
        access: Access,
        /// What is wrong with it.
        reason: &'static str,
        /// The place in an allocation that has a name, like `x[1000]`.
        element: Option<String>,
        /// By whom.
        at: Box<Location>,
    },
    /// An access of private memory that the wave does not have.
    Scratch {
        /// The byte of the work-item's private memory that was wanted.
        offset: i64,
        /// Size of the access in bytes.
        bytes: u32,
        /// Kind of access.
        access: Access,
        /// Bytes that there are.
        size: u32,
        /// Whether the stack has grown out of it.
        overflow: bool,
        /// Where the size comes from, and whose the stack is.
        notes: Vec<String>,
        /// By whom.
        at: Box<Location>,
    },
    /// An instruction the emulator has no meaning for.
    Unsupported {
        /// Address in the ELF file.
        address: u64,
        /// The instruction or the word that is none.
        text: String,
    },
    /// The program counter left the code.
    Fetch {
        /// Emulated address.
        address: u64,
        /// The last instruction.
        at: Box<Location>,
    },
    /// A register beyond those that the descriptor asks for.
    Register {
        /// Which.
        register: String,
        /// By whom.
        at: Box<Location>,
    },
    /// The instruction budget is used up: an endless loop, or waves waiting for one another.
    Budget {
        /// The budget.
        limit: u64,
        /// A wave that still runs.
        at: Box<Location>,
    },
    /// `s_trap`.
    Trap {
        /// Its number.
        id: u32,
        /// The active lanes, a bit for each.
        lanes: u64,
        /// What the trap handler would have to do with it otherwise.
        note: Option<String>,
        /// By whom.
        at: Box<Location>,
    },
    /// A call of the host that it cannot answer.
    Hostcall {
        /// Why.
        reason: &'static str,
        /// A wave that waits.
        at: Box<Location>,
    },
    /// A packet that says nothing which can be done.
    Packet {
        /// Its index in the queue.
        packet: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Found by strict mode.
    Found(Box<Report>),
    /// Waves wait for one another, or run without end.
    Stuck {
        /// The budget.
        limit: u64,
        /// Whether it is certain that none of the waves goes on.
        deadlock: bool,
        /// In a deadlock: whether the waves are those of one group, and other groups may go on.
        of_group: bool,
        /// In a deadlock: whether lanes of a wave wait for another lane of the same wave.
        own_lane: bool,
        /// Where the waves are that have not ended; not all of them if there are many.
        waves: Vec<Location>,
        /// In a deadlock: for each of these, what it waits for, and who has written that last.
        waits: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// The kernel descriptor contradicts itself or asks for what is not there.
    Descriptor(String),
    /// The dispatch does not fit the kernel.
    Dispatch(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Memory { at, .. } => write!(f, "{}; by {at}", self.headline()),
            Fault::Scratch { at, notes, .. } => {
                write!(f, "{}; by {at}", self.headline())?;
                notes.iter().try_for_each(|note| write!(f, "\n    {note}"))
            }
            Fault::Fetch { at, .. } => write!(f, "{}, reached from {at}", self.headline()),
            Fault::Register { at, .. } => write!(f, "{}; by {at}", self.headline()),
            Fault::Budget { at, .. } => write!(f, "{}; still running: {at}", self.headline()),
            Fault::Found(report) => write!(f, "{report}"),
            Fault::Stuck { waves, waits, count, .. } if waits.is_empty() => {
                write_stuck(f, &self.headline(), waves, *count)
            }
            Fault::Stuck { waits, count, .. } => write_stuck(f, &self.headline(), waits, *count),
            Fault::Trap { at, note, .. } => {
                write!(f, "{}; raised by {at}", self.headline())?;
                note.as_ref().map_or(Ok(()), |note| write!(f, "; {note}"))
            }
            Fault::Hostcall { at, .. } => write!(f, "{}; waiting: {at}", self.headline()),
            Fault::Unsupported { .. } | Fault::Descriptor(_) | Fault::Dispatch(_) | Fault::Packet { .. } => {
                f.write_str(&self.headline())
            }
        }
    }
}

impl std::error::Error for Fault {}

/// What the number of a trap means to the runtime's trap handler (seed 000, line 4041).
fn trap_name(id: u32) -> &'static str {
    match id {
        0 => "which the hardware reserves",
        1 => "a debugtrap with an argument, which no trap handler implements",
        2 => "llvm.trap",
        7 => "a debugger's breakpoint",
        _ => "which is reserved",
    }
}

fn not_ended(waves: usize) -> String {
    if waves == 1 { "1 wave has not ended".to_owned() } else { format!("{waves} waves have not ended") }
}

fn write_stuck(
    f: &mut fmt::Formatter<'_>,
    headline: &str,
    waves: &[impl fmt::Display],
    count: usize,
) -> fmt::Result {
    write!(f, "{headline}:")?;
    for at in waves {
        write!(f, "\n  {at}")?;
    }
    if waves.len() < count {
        write!(f, "\n  and {} more", count - waves.len())?;
    }
    Ok(())
}

impl Fault {
    /// What happened, without where.
    pub fn headline(&self) -> String {
        match self {
            Fault::Memory { address, bytes, access, reason, element, .. } => {
                let verb = access.noun();
                let element = element.as_ref().map_or(String::new(), |element| format!(", {element}"));
                format!("memory fault: {verb} of {bytes} bytes at {address:#x}{element}: {reason}")
            }
            Fault::Scratch { offset, bytes, access, size, overflow, .. } => {
                let what = if *overflow { "stack overflow" } else { "scratch fault" };
                let (verb, sign) = (access.noun(), if *offset < 0 { "-" } else { "" });
                let offset = offset.unsigned_abs();
                format!(
                    "{what}: {verb} of {bytes} bytes at {sign}{offset:#x} of a work-item's private memory, which has {size} bytes"
                )
            }
            Fault::Unsupported { address, text } => {
                format!("unsupported instruction `{text}` at {address:#x}")
            }
            Fault::Fetch { address, .. } => format!("no code at {address:#x}"),
            Fault::Register { register, .. } => {
                format!("{register} is beyond the registers that the kernel descriptor allocates")
            }
            Fault::Budget { limit, .. } => format!("no end after {limit} wave instructions"),
            Fault::Trap { id, lanes, .. } => {
                let lanes = match lanes.count_ones() {
                    1 => "1 lane".to_owned(),
                    count => format!("{count} lanes"),
                };
                format!(
                    "trap {id} in {lanes}, {}: the dispatch ends, and its queue is in error",
                    trap_name(*id)
                )
            }
            Fault::Hostcall { reason, .. } => format!("a call of the host fails: {reason}"),
            Fault::Packet { packet, why } => format!("packet {packet} of the queue is refused: {why}"),
            Fault::Found(report) => report.message.clone(),
            Fault::Stuck { deadlock: true, own_lane: true, .. } => {
                "deadlock: lanes of a wave wait for another lane of their own wave, which waits for them"
                    .to_owned()
            }
            Fault::Stuck { deadlock: true, of_group, count, .. } => {
                let whose = if *of_group { "no wave of a group makes" } else { "no wave makes" };
                format!("deadlock: {whose} progress any more; {}", not_ended(*count))
            }
            Fault::Stuck { limit, count, .. } => {
                format!("no end after {limit} wave instructions; {}", not_ended(*count))
            }
            Fault::Descriptor(text) => format!("bad kernel descriptor: {text}"),
            Fault::Dispatch(text) => format!("cannot dispatch: {text}"),
        }
    }

    /// What else there is to say.
    pub fn notes(&self) -> &[String] {
        match self {
            Fault::Scratch { notes, .. } => notes,
            Fault::Trap { note, .. } => note.as_slice(),
            Fault::Stuck { waits, .. } => waits,
            _ => &[],
        }
    }

    /// The instructions at which it shows, where there are any.
    pub fn places(&self) -> &[Location] {
        match self {
            Fault::Memory { at, .. }
            | Fault::Scratch { at, .. }
            | Fault::Fetch { at, .. }
            | Fault::Register { at, .. }
            | Fault::Budget { at, .. }
            | Fault::Hostcall { at, .. }
            | Fault::Trap { at, .. } => std::slice::from_ref(at),
            Fault::Found(report) => std::slice::from_ref(&report.at),
            Fault::Stuck { waves, .. } => waves,
            Fault::Unsupported { .. } | Fault::Descriptor(_) | Fault::Dispatch(_) | Fault::Packet { .. } => {
                &[]
            }
        }
    }

    /// What kind of stop it is.
    pub fn class(&self) -> FaultClass {
        match self {
            Fault::Memory { .. } | Fault::Scratch { .. } | Fault::Fetch { .. } | Fault::Trap { .. } => {
                FaultClass::Fault
            }
            Fault::Unsupported { .. } | Fault::Hostcall { .. } => FaultClass::Unsupported,
            Fault::Register { .. } | Fault::Descriptor(_) | Fault::Dispatch(_) | Fault::Packet { .. } => {
                FaultClass::Resource
            }
            Fault::Budget { .. } | Fault::Stuck { deadlock: false, .. } => FaultClass::Budget,
            Fault::Stuck { deadlock: true, .. } => FaultClass::Deadlock,
            Fault::Found(report) => report.class,
        }
    }
}

/// What an instruction's execution ran into; becomes a [`Fault`] once the wave's position is added.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trap {
    Memory {
        address: u64,
        bytes: u32,
        access: Access,
        reason: &'static str,
        lane: u32,
    },
    Unsupported,
    Fetch(u64),
    /// By its code in a source field, as `isa::Reg` has it.
    Register(u16),
    Raised(u32),
    /// What the host says of a call.
    Hostcall(&'static str),
    /// The watcher has something to say.
    Watched,
    /// Something that an instruction is not emulated for.
    Refused(&'static str),
}
