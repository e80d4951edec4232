//! Registers of a wave as GDB sees them: their numbers in the protocol, their description, and their
//! contents.

use super::packets::hex;
use debug::Stopped;
use std::fmt::Write;

/// A sequence of consecutive register numbers in the protocol: the number of the first register, the largest
/// number of registers, and the name. If there are several registers, their names are this name followed by
/// an index.
struct Run {
    first: u32,
    count: u32,
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pc,
    /// The EXEC mask, which has as many bits as the wave has lanes.
    Exec,
    Vcc,
    M0,
    Scc,
    Mode,
    Scalar,
    /// A vector register, with one dword for each lane. VGPRs and accumulation VGPRs are numbered together;
    /// the field is the number of the first register of this sequence.
    Vector(u16),
    /// A register that only another architecture has. A wave has no value for it. The field is the size of
    /// the register in bytes.
    Foreign(usize),
}

/// `docs/debugger.md` documents this table.
const RUNS: [Run; 9] = [
    Run { first: 0, count: 1, name: "pc", kind: Kind::Pc },
    Run { first: 1, count: 1, name: "exec", kind: Kind::Exec },
    Run { first: 2, count: 1, name: "vcc", kind: Kind::Vcc },
    Run { first: 3, count: 1, name: "m0", kind: Kind::M0 },
    Run { first: 4, count: 1, name: "scc", kind: Kind::Scc },
    Run { first: 5, count: 1, name: "mode", kind: Kind::Mode },
    Run { first: 32, count: 106, name: "s", kind: Kind::Scalar },
    Run { first: 256, count: 256, name: "v", kind: Kind::Vector(0) },
    Run { first: 512, count: 256, name: "a", kind: Kind::Vector(256) },
];

/// Registers of the 64-bit ARM architecture, besides `pc`, that GDB requires when it is told to debug such a
/// processor.
const ARM: [Run; 3] = [
    Run { first: 1024, count: 31, name: "x", kind: Kind::Foreign(8) },
    Run { first: 1055, count: 1, name: "sp", kind: Kind::Foreign(8) },
    Run { first: 1056, count: 1, name: "cpsr", kind: Kind::Foreign(4) },
];

/// Operand codes of the scalar registers that have names of their own (RDNA and Vega ISA manuals, "SGPR
/// operands").
const VCC: u16 = 106;
const M0: u16 = 124;

/// The processor architecture that GDB is told to debug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Architecture {
    /// The processor, for a GDB that knows AMD's GPUs.
    Amdgcn,
    /// 64-bit ARM, for a GDB that does not know AMD's GPUs. Another architecture would do as well if it has
    /// 64-bit addresses and GDB accepts additional registers for it.
    Aarch64,
}

/// Returns the contents of a register in the form of GDB's packets: hexadecimal digits, or `x` instead of
/// each digit if the register has no value. Returns `None` if there is no register with this number.
pub fn read(at: &Stopped<'_>, number: u32) -> Option<String> {
    let of = |run: &&Run| (run.first..run.first + run.count).contains(&number);
    let run = RUNS.iter().chain(&ARM).find(of)?;
    let index = (number - run.first) as u16;
    let mask = |mask: u64| hex(mask.to_le_bytes().get(..at.lanes() as usize / 8).unwrap_or(&[]));
    let scalar = |code: u16| at.scalar(code).unwrap_or(0);
    Some(match run.kind {
        Kind::Pc => hex(&at.base().wrapping_add(at.address()).to_le_bytes()),
        Kind::Exec => mask(at.exec()),
        Kind::Vcc => mask(u64::from(scalar(VCC)) | u64::from(scalar(VCC + 1)) << 32),
        Kind::M0 => hex(&scalar(M0).to_le_bytes()),
        Kind::Scc => hex(&u32::from(at.scc()).to_le_bytes()),
        Kind::Mode => hex(&at.mode().to_le_bytes()),
        Kind::Scalar if !at.target().is_sgpr(isa::Reg(index)) => return None,
        Kind::Scalar => hex(&scalar(index).to_le_bytes()),
        Kind::Vector(first) => {
            let lanes = at.vector(first + index)?.iter().take(at.lanes() as usize);
            lanes.map(|dword| hex(&dword.to_le_bytes())).collect()
        }
        Kind::Foreign(bytes) => "xx".repeat(bytes),
    })
}

/// Returns the contents of the registers before the vector registers, in the order of their numbers. GDB
/// reads these registers with one request, and all others one at a time.
pub fn scalars(at: &Stopped<'_>) -> String {
    let runs = RUNS.iter().filter(|run| !matches!(run.kind, Kind::Vector(_)));
    runs.flat_map(|run| run.first..run.first + run.count).filter_map(|number| read(at, number)).collect()
}

/// Returns the target description (GDB manual, appendix "Target Descriptions") with the registers that this
/// wave has.
pub fn description(at: &Stopped<'_>, architecture: Architecture) -> String {
    let name = match architecture {
        Architecture::Amdgcn => format!("amdgcn:{}", at.target().name),
        Architecture::Aarch64 => "aarch64".to_owned(),
    };
    let mut out = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n<architecture>{name}</architecture>\n"
    );
    let (pc, own) = RUNS.split_at(1);
    let mut feature = |name: &str, head: String, runs: &mut dyn Iterator<Item = &Run>| {
        let _ = writeln!(out, "<feature name=\"{name}\">\n{head}");
        runs.for_each(|run| describe(at, run, &mut out));
        out.push_str("</feature>\n");
    };
    if architecture == Architecture::Aarch64 {
        feature("org.gnu.gdb.aarch64.core", String::new(), &mut ARM.iter().chain(pc));
    }
    let lanes = format!("<vector id=\"lanes\" type=\"uint32\" count=\"{}\"/>", at.lanes());
    let pc = pc.iter().filter(|_| architecture == Architecture::Amdgcn);
    feature("org.kernc.wave", lanes, &mut pc.chain(own));
    out.push_str("</target>\n");
    out
}

fn describe(at: &Stopped<'_>, run: &Run, out: &mut String) {
    let lanes = at.lanes();
    let (bits, ty) = match run.kind {
        Kind::Pc => (64, "code_ptr"),
        Kind::Exec | Kind::Vcc => (lanes, if lanes == 64 { "uint64" } else { "uint32" }),
        Kind::Vector(_) => (32 * lanes, "lanes"),
        Kind::Foreign(bytes) => (8 * bytes as u32, if bytes == 8 { "uint64" } else { "uint32" }),
        Kind::M0 | Kind::Scc | Kind::Mode | Kind::Scalar => (32, "uint32"),
    };
    for index in 0..run.count {
        let number = run.first + index;
        if read(at, number).is_none() {
            continue;
        }
        let count = if run.count == 1 { String::new() } else { index.to_string() };
        let _ = writeln!(
            out,
            "<reg name=\"{}{count}\" bitsize=\"{bits}\" type=\"{ty}\" regnum=\"{number}\"/>",
            run.name
        );
    }
}
