//! `kernc abi`: prints the calling convention of functions for a processor: in general, or for one signature.

use super::modes::TargetArgs;
use super::{Failure, Format};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use callconv::{
    Assignment, Convention, Error, Group, How, Implicit, Language, Passed, Place, Prototype, Signature,
    assign, runs,
};
use clap::Args;
use kernc::Subtarget;
use serde_json::{Value, json};
use std::ops::Range;

#[derive(Args)]
pub struct AbiArgs {
    /// A signature, like 'fn f(a: u32, b: f64x2, s: {u32, f64}) -> u64'. Without a signature, everything that
    /// is known of the convention is printed.
    signature: Option<String>,
    #[command(flatten)]
    target: TargetArgs,
    /// The convention: `today` is what LLVM 19 does, `llvm14` what LLVM 14 does, `guide` what LLVM's AMDGPU
    /// guide says.
    #[arg(long, value_name = "CONVENTION", default_value = "today", value_parser = CONVENTIONS)]
    call_abi: String,
    /// Implicit arguments that the function uses. They matter for a convention in which implicit arguments
    /// have no registers of their own.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = IMPLICIT.map(|(name, _)| name))]
    uses: Vec<String>,
    /// Language of the caller and of the function; `hip` stands for C and C++ too. It matters for the address
    /// of a result in memory.
    #[arg(long, value_name = "LANGUAGE", default_value = "hip", value_parser = ["hip", "opencl"])]
    lang: String,
    /// How it is printed.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

/// Names of the calling conventions.
pub const CONVENTIONS: [&str; 3] = ["today", "llvm14", "guide"];

/// Returns the convention with this name.
pub fn convention(name: &str) -> Convention {
    Convention::ALL.into_iter().find(|convention| convention.name() == name).unwrap_or_default()
}

const IMPLICIT: [(&str, Implicit); 10] = [
    ("work-item-ids", Implicit::WorkitemIds),
    ("dispatch-ptr", Implicit::DispatchPtr),
    ("queue-ptr", Implicit::QueuePtr),
    ("kernarg-ptr", Implicit::KernargPtr),
    ("dispatch-id", Implicit::DispatchId),
    ("work-group-id-x", Implicit::WorkgroupId(0)),
    ("work-group-id-y", Implicit::WorkgroupId(1)),
    ("work-group-id-z", Implicit::WorkgroupId(2)),
    ("implicit-arg-ptr", Implicit::ImplicitArgPtr),
    ("lds-kernel-id", Implicit::LdsKernelId),
];

/// Runs the command.
pub fn run(args: &AbiArgs) -> Result<(), Failure> {
    let target = args.target.subtarget()?;
    let convention = convention(&args.call_abi);
    let named = |name: &String| IMPLICIT.iter().find(|(other, _)| other == name).map(|(_, what)| *what);
    let uses: Vec<Implicit> = args.uses.iter().filter_map(named).collect();
    let made = match &args.signature {
        Some(text) => {
            let language = if args.lang == "opencl" { Language::OpenCl } else { Language::C };
            Some(Made::new(text, &uses, language, &target, convention)?)
        }
        None => None,
    };
    let text = match args.format {
        Format::Human => human(made.as_ref(), &target, convention),
        Format::Json => {
            let text = serde_json::to_string_pretty(&tree(made.as_ref(), &target, convention));
            text.map_err(|error| Failure::Internal(format!("error: {error}\n")))? + "\n"
        }
    };
    super::write("-".as_ref(), text.as_bytes())
}

/// A function signature, with the registers and stack slots that the convention gives to its arguments and
/// its result.
struct Made<'a> {
    text: &'a str,
    prototype: Prototype,
    assignment: Assignment,
}

impl<'a> Made<'a> {
    fn new(
        text: &'a str,
        uses: &[Implicit],
        language: Language,
        target: &Subtarget,
        convention: Convention,
    ) -> Result<Made<'a>, Failure> {
        let prototype = callconv::parse(text).map_err(|wrong| {
            Failure::Source(render(text, wrong.range, &wrong.message, wrong.help.as_deref()))
        })?;
        let signature = Signature { language, ..prototype.signature(uses) };
        match assign(&prototype.types, &signature, target, convention) {
            Ok(assignment) => Ok(Made { text, prototype, assignment }),
            Err(error @ Error::Implicit(..)) => Err(Failure::Usage(error.to_string())),
            Err(error) => {
                let range = place_of(&error, &prototype, text, target, convention);
                Err(Failure::Source(render(text, range, &error.to_string(), help(&error))))
            }
        }
    }

    /// Yields the arguments and the result, each with its text in the signature and its size in memory.
    fn values(&self) -> impl Iterator<Item = (String, u64, &Passed)> {
        let types = &self.prototype.types;
        let texts = self.prototype.param_texts.iter().map(|range| self.text[range.clone()].to_owned());
        let sizes = self.prototype.params.iter().map(|param| types.size(param.ty));
        let params =
            texts.zip(sizes).zip(&self.assignment.params).map(|((text, size), passed)| (text, size, passed));
        let variable = self.assignment.variable.iter().map(|passed| ("...".to_owned(), 8, passed));
        params.chain(variable)
    }

    fn result(&self) -> Option<(String, u64, &Passed)> {
        let ty = self.prototype.result?;
        let text = self.text[self.prototype.result_text.clone()].to_owned();
        Some((text, self.prototype.types.size(ty), self.assignment.result.as_ref()?))
    }
}

/// Returns the argument or result type in the signature that causes an error, as a range of the text. To find
/// it, each type is tried alone, and the first one that causes the same error is returned.
fn place_of(
    error: &Error,
    prototype: &Prototype,
    text: &str,
    target: &Subtarget,
    convention: Convention,
) -> Range<usize> {
    let refused =
        |alone: Signature<'_>| assign(&prototype.types, &alone, target, convention).as_ref() == Err(error);
    for (param, range) in prototype.params.iter().zip(&prototype.param_texts) {
        if refused(Signature { params: std::slice::from_ref(param), ..Default::default() }) {
            return range.clone();
        }
    }
    if refused(Signature { result: prototype.result, ..Default::default() }) {
        return prototype.result_text.clone();
    }
    let dots = text.find("...").filter(|_| matches!(error, Error::Variadic(_)));
    dots.map_or(0..text.len(), |at| at..at + 3)
}

fn help(error: &Error) -> Option<&'static str> {
    match error {
        Error::Bf16(_) | Error::Variadic(_) => Some("`--call-abi today` has a form for it"),
        Error::Region(_) | Error::Inreg(_) => Some("`--call-abi guide` has a form for it"),
        Error::Huge | Error::Implicit(..) => None,
    }
}

/// Returns an error message that shows the signature with the range `range` marked.
fn render(text: &str, range: Range<usize>, message: &str, help: Option<&str>) -> String {
    let snippet = Snippet::source(text).path("signature").annotation(AnnotationKind::Primary.span(range));
    let mut group = Level::ERROR.primary_title(message).element(snippet);
    if let Some(help) = help {
        group = group.element(Level::HELP.message(help));
    }
    use std::io::IsTerminal;
    let renderer = if std::io::stderr().is_terminal() { Renderer::styled() } else { Renderer::plain() };
    format!("{}\n", renderer.render(&[group]))
}

/// Returns the text that says where a value is passed.
fn passing_text(assignment: &Assignment, passed: &Passed, size: u64) -> String {
    let list = runs(assignment.pieces_of(passed));
    let one = |run: &callconv::Run| match list.len() {
        1 => run.to_string(),
        _ if run.bytes == 1 => format!("{run} (byte {})", run.offset),
        _ => format!("{run} (bytes {}-{})", run.offset, run.offset + run.bytes - 1),
    };
    let text = list.iter().map(one).collect::<Vec<_>>().join(", ");
    match passed.how {
        How::Nothing => "nowhere: it has no bytes".into(),
        How::Value => text,
        How::Address if passed.pieces.len() == 2 => {
            format!("in the caller's memory; {text} has its flat address")
        }
        How::Address => format!("in the caller's memory; {text} has its private address"),
        How::Image => format!("{text}, {size} bytes as in memory"),
    }
}

/// Returns the rows as lines of two aligned columns.
fn columns(rows: &[(String, String)]) -> String {
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
    let line = |(left, right): &(String, String)| {
        format!("  {left}{}  {right}\n", " ".repeat(width - left.chars().count()))
    };
    rows.iter().map(line).collect()
}

fn human(made: Option<&Made<'_>>, target: &Subtarget, convention: Convention) -> String {
    let mut out = format!("{}, {} lanes, convention {}\n", target.name, target.wave_size, convention.name());
    if let Some(made) = made {
        let assignment = &made.assignment;
        let row =
            |(text, size, passed): (String, u64, &Passed)| (text, passing_text(assignment, passed, size));
        let mut rows: Vec<_> = made.values().map(row).collect();
        rows.extend(made.result().map(|(text, size, passed)| row((format!("-> {text}"), size, passed))));
        rows.push(("stack".into(), format!("{} bytes of a lane", assignment.stack_bytes)));
        out += &format!("\n{}\n{}", made.text.trim(), columns(&rows));
        let implicit: Vec<_> = assignment
            .implicit
            .iter()
            .map(|&(what, from)| (what.name().into(), registers(what, from)))
            .collect();
        if !implicit.is_empty() {
            out += &format!("\n{}\n{}", Group::Implicit.name(), columns(&implicit));
        }
    }
    let facts = callconv::facts(convention, target);
    let told = |group: &Group| made.is_none() || !matches!(group, Group::Values | Group::Implicit);
    for group in Group::ALL.into_iter().filter(told) {
        let of_group = facts.iter().filter(|fact| fact.group == group);
        let rows: Vec<_> = of_group.map(|fact| (fact.what.clone(), fact.value.clone())).collect();
        out += &format!("\n{}\n{}", group.name(), columns(&rows));
    }
    out
}

fn registers(what: Implicit, from: Place) -> String {
    match (from, what.dwords()) {
        (Place::Sgpr(from), 2) => format!("s[{from}:{}]", from + 1),
        (place, _) => place.to_string(),
    }
}

fn tree(made: Option<&Made<'_>>, target: &Subtarget, convention: Convention) -> Value {
    let fact = |fact: callconv::Fact| {
        json!({
            "group": fact.group.name(),
            "what": fact.what,
            "value": fact.value,
            "source": fact.source.to_string(),
        })
    };
    let facts: Vec<Value> = callconv::facts(convention, target).into_iter().map(fact).collect();
    json!({
        "processor": target.name,
        "lanes": target.wave_size,
        "convention": convention.name(),
        "signature": made.map(signature),
        "facts": facts,
    })
}

fn signature(made: &Made<'_>) -> Value {
    let value = |(text, size, passed): (String, u64, &Passed)| {
        let how = match passed.how {
            How::Nothing => "nothing",
            How::Value => "value",
            How::Address => "address",
            How::Image => "image",
        };
        let run = |run: &callconv::Run| {
            json!({
                "offset": run.offset,
                "bytes": run.bytes,
                "place": run.registers(),
                "dwords": run.dwords,
                "note": run.rest(),
            })
        };
        let places: Vec<Value> = runs(made.assignment.pieces_of(passed)).iter().map(run).collect();
        json!({ "text": text, "bytes": size, "how": how, "places": places })
    };
    let implicit =
        |&(what, from): &(Implicit, Place)| json!({ "what": what.name(), "place": registers(what, from) });
    json!({
        "params": made.values().map(value).collect::<Vec<_>>(),
        "result": made.result().map(value),
        "implicit": made.assignment.implicit.iter().map(implicit).collect::<Vec<_>>(),
        "stack_bytes": made.assignment.stack_bytes,
    })
}
