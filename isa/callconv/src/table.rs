//! Describes the calling conventions in words, as a table for terminal output and documents. It has one row
//! for each fact and one column for each convention.

use crate::assign::Place;
use crate::column::{
    Column, Convention, Implicit, Inreg, Large, Slots, SretPlace, Structs, column, has_16_bit,
};
use crate::state::{Source, Waits, preserved, states};
use isa::{Counter, Feature, Subtarget};
use std::fmt;

/// Group of facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// How arguments and results are passed.
    Values,
    /// Implicit arguments.
    Implicit,
    /// The stack.
    Stack,
    /// Other registers.
    State,
    /// Registers that a call preserves.
    Preserved,
    /// Which side of a call waits for what.
    Waits,
}

impl Group {
    /// All groups, in order.
    pub const ALL: [Group; 6] =
        [Group::Values, Group::Implicit, Group::Stack, Group::State, Group::Preserved, Group::Waits];

    /// Returns the group's heading.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Values => "arguments and results",
            Group::Implicit => "implicit arguments",
            Group::Stack => "stack",
            Group::State => "other registers: on entry; after a call",
            Group::Preserved => "preserved by a call",
            Group::Waits => "waits",
        }
    }
}

/// A fact of a convention, for one processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Group of the fact.
    pub group: Group,
    /// What the fact (one row of the table) is about, such as a register. The text is the same for every
    /// convention, so that the facts can be compared.
    pub what: String,
    /// The fact itself.
    pub value: String,
    /// How the fact is known.
    pub source: Source,
}

/// A fact about how values are passed.
struct Row {
    what: &'static str,
    value: fn(&Column, &Subtarget) -> String,
    /// Line of seed 000; 0 if the guide does not mention the fact.
    guide: u32,
    /// Name of the test.
    llvm: &'static str,
}

const VALUES: &[Row] = &[
    Row {
        what: "arguments",
        value: |c, _| range('v', &[c.argument_vgprs.clone().into_inner()]),
        guide: 4109,
        llvm: "interop",
    },
    Row {
        what: "results",
        value: |c, _| range('v', &[c.result_vgprs.clone().into_inner()]),
        guide: 4141,
        llvm: "interop",
    },
    Row { what: "arguments marked `inreg`", value: |c, _| inreg(c), guide: 4181, llvm: "inreg" },
    Row { what: "structs as values", value: |c, _| structs(c), guide: 4171, llvm: "interop" },
    Row { what: "other structs", value: |c, _| large(c), guide: 4173, llvm: "interop" },
    Row {
        what: "address of a result in memory",
        value: |c, _| sret(c),
        guide: 4175,
        llvm: "result_in_memory",
    },
    Row { what: "behind the registers, on the stack", value: |c, _| slots(c), guide: 4242, llvm: "interop" },
    Row {
        what: "integers of 8 and 16 bits, `bool`",
        value: |c, _| small(c),
        guide: 0,
        llvm: "small_integers",
    },
    Row { what: "`f16`", value: |_, target| half(target), guide: 0, llvm: "interop" },
    Row { what: "`bf16`", value: |c, target| bfloat(c, target), guide: 0, llvm: "interop" },
    Row { what: "variable arguments", value: |c, _| variadic(c), guide: 0, llvm: "variable_arguments" },
];

fn inreg(column: &Column) -> String {
    match column.inreg {
        Inreg::Sgprs(from, to) => format!("s{from}-s{to}, then the stack"),
        Inreg::Ignored => "like others".into(),
        Inreg::Disagree => "callers and callees do not agree".into(),
    }
}

fn structs(column: &Column) -> String {
    match column.structs {
        Structs::Bytes(most) => format!("of up to {most} bytes, a field at a time"),
        Structs::Registers { number, packed } => {
            format!(
                "of up to {packed} bytes, as dwords; others a field at a time, while all arguments take {number} registers at most"
            )
        }
    }
}

fn large(column: &Column) -> String {
    match column.large {
        Large::ByReference => "by reference: private address of the caller's copy, 32 bits".into(),
        Large::OnStack => "on the stack, as in memory".into(),
    }
}

fn sret(column: &Column) -> String {
    let place = match column.sret {
        SretPlace::First => "before all arguments",
        SretPlace::Last => "behind all arguments but implicit ones",
    };
    match column.sret_flat {
        true => format!("{place}; in C, C++ and HIP flat, 64 bits, in OpenCL private, 32 bits"),
        false => format!("{place}; private, 32 bits"),
    }
}

fn slots(column: &Column) -> String {
    match column.slots {
        Slots::Dwords => "dword by dword: a value may lie in both".into(),
        Slots::Values => "whole values, each at a multiple of its size".into(),
    }
}

fn small(column: &Column) -> String {
    match column.bool_byte_on_stack {
        true => "extended to a dword; `bool` alone in a struct: bit 0, on the stack a byte".into(),
        false => "extended to a dword; `bool` alone in a struct: bit 0".into(),
    }
}

fn half(target: &Subtarget) -> String {
    match has_16_bit(target) {
        true => "lower half of a dword; vectors two in a dword".into(),
        false => "the `f32` of the same value".into(),
    }
}

fn bfloat(column: &Column, target: &Subtarget) -> String {
    match (column.bf16, has_16_bit(target)) {
        (false, _) => "none".into(),
        (_, true) => "like `f16`".into(),
        (_, false) => "upper half of a dword".into(),
    }
}

fn variadic(column: &Column) -> String {
    match column.variadic {
        true => "address of them all, two VGPRs behind the other arguments".into(),
        false => "none".into(),
    }
}

/// Returns registers as ranges: `v40-v47, v56-v63`.
fn range(kind: char, ranges: &[(u16, u16)]) -> String {
    let one = |&(from, to): &(u16, u16)| match from == to {
        true => format!("{kind}{from}"),
        false => format!("{kind}{from}-{kind}{to}"),
    };
    match ranges {
        [] => "none".into(),
        ranges => ranges.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}

/// Returns the text of `count` registers from `from` on.
fn registers(kind: char, from: u16, count: u16) -> String {
    match count {
        1 => format!("{kind}{from}"),
        _ => format!("{kind}[{from}:{}]", from + count - 1),
    }
}

fn implicit(what: Implicit, column: &Column) -> String {
    let kind = if what == Implicit::WorkitemIds { 'v' } else { 's' };
    let found = column.implicit.iter().find(|(other, _)| *other == what);
    match found {
        Some((_, Some(from))) => registers(kind, *from, what.dwords()),
        Some((_, None)) if kind == 'v' => "next VGPR behind the arguments, if used".into(),
        Some((_, None)) => "next SGPRs in this order, if used".into(),
        None => "not passed".into(),
    }
}

fn counters(list: &'static [Counter], target: &Subtarget) -> String {
    let names: Vec<&str> = Waits::present_counters(list, target).map(Counter::name).collect();
    if names.is_empty() { "nothing".into() } else { names.join(", ") }
}

/// Returns all facts of a convention for a processor.
pub fn facts(convention: Convention, target: &Subtarget) -> Vec<Fact> {
    let column = column(convention);
    let source = |guide, llvm| match convention {
        Convention::Guide if guide == 0 => Source::Silent,
        Convention::Guide => Source::Guide(guide),
        _ => Source::Llvm(llvm),
    };
    let mut out = Vec::new();
    let mut add = |group, what: &str, value: String, source| {
        out.push(Fact { group, what: what.to_owned(), value, source });
    };
    for row in VALUES {
        add(Group::Values, row.what, (row.value)(column, target), source(row.guide, row.llvm));
    }
    for what in Implicit::ALL {
        add(Group::Implicit, what.name(), implicit(what, column), source(4183, "implicit_arguments"));
    }
    let stack = &column.stack;
    let unit = match target.stack_scale() {
        1 => "bytes of a lane".to_owned(),
        scale => format!("bytes of the wave: those of a lane, times {scale}"),
    };
    add(Group::Stack, "unit of stack pointer and frame pointer", unit, source(4119, "stack_pointer"));
    let align = format!("{} bytes of a lane: {:#x}", stack.align, stack.distance(stack.align, target));
    add(Group::Stack, "alignment", align, stack.source);
    for state in states(convention, target) {
        let place = state.subject.registers(convention);
        let value = format!("{place}: {}; {}", state.entry.text(), state.after.text());
        add(Group::State, state.subject.name(), value, state.source);
    }
    let kept = preserved(convention, target);
    let lists = [("VGPRs", 'v', &kept.vgprs), ("SGPRs", 's', &kept.sgprs), ("AGPRs", 'a', &kept.agprs)];
    for (name, kind, ranges) in
        lists.into_iter().filter(|(name, ..)| *name != "AGPRs" || target.has(Feature::MAI))
    {
        add(Group::Preserved, name, range(kind, ranges), source(4151, "preserved_registers"));
    }
    let waits = &column.waits;
    for (what, list, line) in [
        ("of the caller, before a call", waits.before_call, 4137),
        ("of the callee, on entry", waits.at_entry, 4137),
        ("of the callee for what it began, before it returns", waits.at_return, 4158),
    ] {
        add(Group::Waits, what, counters(list, target), source(line, "waits"));
    }
    out
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Guide(line) => write!(f, "seed 000, line {line}"),
            Source::Silent => write!(f, "not said in seed 000"),
            Source::Llvm(test) => write!(f, "test `{test}`"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Vgpr(reg) => write!(f, "v{reg}"),
            Place::Sgpr(reg) => write!(f, "s{reg}"),
            Place::Stack(at) => write!(f, "stack+{at}"),
        }
    }
}
