//! The reasons why a dispatch stopped or did not start.

use crate::strict::{FaultClass, Report};
use codeobj::disasm::SourcePlace;
use std::fmt;

/// A call that has not returned yet: the called function and the location of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Name of the called function.
    pub function: String,
    /// Name of the calling function.
    pub caller: String,
    /// Address of the call in the ELF file.
    pub offset: u64,
    /// Position of the call in the source, if the code object has line numbers.
    pub source: Option<SourcePlace>,
    /// Number of equal calls, each nested in the previous one.
    pub count: u64,
    /// Number of calls that come after this one in the chain of calls, and that the report leaves out.
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

/// Formats a number with separators, such as `1,000`.
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

/// Where a wave is in the program and in the grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// Emulated address of the instruction.
    pub pc: u64,
    /// Address of the instruction in the ELF file.
    pub offset: u64,
    /// Text of the instruction.
    pub text: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Id of the work-group.
    pub group: [u32; 3],
    /// Number of the wave in the group.
    pub wave: u32,
    /// Lane that caused the event, if it is known.
    pub lane: Option<u32>,
    /// Global id of the work-item in this lane.
    pub item: Option<[u32; 3]>,
    /// Location in the source, if the object records it.
    pub source: Option<SourcePlace>,
    /// The calls that have not returned yet, innermost first. The list is empty outside of strict mode,
    /// because only strict mode tracks calls.
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

/// Kind of a memory access.
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

/// Reason for the failure of an access to private memory.
pub(crate) const OUTSIDE: &str = "outside of the wave's scratch";
/// Reason that error messages give for an access if no allocation contains all its bytes.
pub(crate) const NOWHERE: &str = "no allocation holds all of it";

/// The reason why a dispatch has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// An access to an address outside of every allocation, or an access of a kind that the memory at this
    /// address does not allow.
    Memory {
        /// Emulated address of the access. For LDS, it is the offset.
        address: u64,
        /// Size of the access in bytes.
        bytes: u32,
        /// Kind of access.
        access: Access,
        /// Description of the error.
        reason: &'static str,
        /// The accessed element as text, such as `x[1000]`, if the allocation has a name.
        element: Option<String>,
        /// Location of the wave that made the access.
        at: Box<Location>,
    },
    /// An access to private memory that the wave does not have.
    Scratch {
        /// Offset in bytes of the access from the start of the work-item's private memory.
        offset: i64,
        /// Size of the access in bytes.
        bytes: u32,
        /// Kind of access.
        access: Access,
        /// Number of bytes of private memory.
        size: u32,
        /// Whether the access is a stack overflow.
        overflow: bool,
        /// Notes for the message. They say where the size of private memory comes from, and which functions
        /// use the stack.
        notes: Vec<String>,
        /// Location of the wave that made the access.
        at: Box<Location>,
    },
    /// An instruction that the emulator does not support.
    Unsupported {
        /// Address of the instruction in the ELF file.
        address: u64,
        /// The instruction, or the word if it is not an instruction.
        text: String,
    },
    /// The program counter left the code.
    Fetch {
        /// Emulated address to which control went.
        address: u64,
        /// Location of the last instruction that the wave executed. After this instruction, the program
        /// counter was outside of the code.
        at: Box<Location>,
    },
    /// An instruction uses a register beyond the number of registers that the kernel descriptor asks for.
    Register {
        /// Name of the register.
        register: String,
        /// Location of the wave that used the register.
        at: Box<Location>,
    },
    /// The dispatch has executed the maximum number of instructions, because of an endless loop or because
    /// waves wait for one another.
    Budget {
        /// The budget.
        limit: u64,
        /// Location of a wave that has not ended.
        at: Box<Location>,
    },
    /// The wave executed `s_trap`.
    Trap {
        /// Number of the trap.
        id: u32,
        /// Mask of the active lanes.
        lanes: u64,
        /// Explains why the trap handler of a real device would not find the queue to which the trap belongs.
        /// `None` if the handler would find it.
        note: Option<String>,
        /// Location of the wave that executed the trap.
        at: Box<Location>,
    },
    /// A call of the host that the host cannot answer.
    Hostcall {
        /// Reason.
        reason: &'static str,
        /// Location of a wave that waits for the host.
        at: Box<Location>,
    },
    /// A packet that is not valid.
    Packet {
        /// Index of the packet in the queue.
        packet: u64,
        /// Description of the error.
        why: String,
    },
    /// Strict mode has found an error.
    Found(Box<Report>),
    /// Waves wait for one another, or run without end.
    Stuck {
        /// The budget.
        limit: u64,
        /// Whether it is certain that none of the waves can make progress any more.
        deadlock: bool,
        /// Whether the waiting waves are those of one group, so that other groups may continue. Only set for
        /// a deadlock.
        of_group: bool,
        /// Whether some lanes of a wave wait for another lane of the same wave, so that they can never
        /// continue. Only set for a deadlock.
        own_lane: bool,
        /// Locations of the waves that have not ended. If there are many such waves, only some are listed.
        waves: Vec<Location>,
        /// Text for each wave in `waves` that says what the wave waits for, and which instruction wrote the
        /// awaited location last. Only filled for a deadlock.
        waits: Vec<String>,
        /// Total number of waves that have not ended.
        count: usize,
    },
    /// The kernel descriptor contradicts itself or asks for features that the processor does not have.
    Descriptor(String),
    /// The dispatch does not fit the kernel, for example because its groups are too large.
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

/// Returns the meaning that the runtime's trap handler gives to a trap number (LLVM's AMDGPU guide, seed 000,
/// line 4041).
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
    /// Returns a description of the fault without the location of the instruction.
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

    /// Returns additional notes on the fault.
    pub fn notes(&self) -> &[String] {
        match self {
            Fault::Scratch { notes, .. } => notes,
            Fault::Trap { note, .. } => note.as_slice(),
            Fault::Stuck { waits, .. } => waits,
            _ => &[],
        }
    }

    /// Returns the locations of the instructions that the fault is about. The list is empty if the fault is
    /// about no instruction.
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

    /// Returns the class of the fault.
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

/// A failure during the execution of an instruction. It becomes a [`Fault`] when the location of the
/// instruction is added.
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
    /// A register that the wave does not have, given by its code in a source field, as in `isa::Reg`.
    Register(u16),
    Raised(u32),
    /// The host cannot answer a host call of the kernel. The text is the reason.
    Hostcall(&'static str),
    /// The watcher has found an error, which it reports by itself.
    Watched,
    /// The emulator does not support this use of the instruction. The text is the reason.
    Refused(&'static str),
}
