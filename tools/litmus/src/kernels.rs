//! Litmus shapes in the kernel language: each thread is a kernel, and comments say which outcomes are
//! forbidden.
//!
//! Parameters are identified by name: a parameter `x` of several threads is one variable. Variables are
//! dwords with the initial value 0, each in its own cache line. A variable that only one thread uses is a
//! result of this thread. `docs/litmus.md` describes the directives in comments.

use crate::emit::STRIDE;
use crate::matrix::{Machine, Scope, grouped_places, places};
use crate::run::{MAX_STATES, Verdict};
use crate::shape::{MAX, ParseError};
use isa::{op, table};
use sim::weak::{End, Exploration, Grain, Outcome, Place, Range, Search, Thread};
use sim::{ArgInfo, ArgKind, CodeObject, Device};

/// Prefix of the comments that are directives.
const MARK: &str = "// litmus:";

/// Values of variables at the end of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    values: Vec<(String, u32)>,
    text: String,
}

/// The directives of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernels {
    /// Name of the shape.
    pub name: String,
    /// Whether the kernels are in OpenCL's dialect. In this dialect, atomics weaker than sequentially
    /// consistent order accesses to only one address space.
    pub opencl: bool,
    /// Name of each thread's kernel; if empty, each kernel of the object is one thread.
    threads: Vec<String>,
    /// Work-group of each thread; empty if the source does not say.
    groups: Vec<u32>,
    /// Widest scope in which the threads may be placed.
    scope: Option<Scope>,
    /// Variables in coarse-grained memory.
    coarse: Vec<String>,
    forbidden: Vec<Condition>,
    allowed: Vec<Condition>,
}

/// Where the threads of a test run: on which agent and compute unit each thread is, and which agent has the
/// coarse-grained memory.
#[derive(Clone, Debug)]
pub struct Placement {
    places: Vec<Place>,
    home: Option<Option<u32>>,
}

impl Placement {
    /// Formats the placement for people: `agent.array.unit/group` of each thread.
    pub fn name(&self) -> String {
        let place = |place: &Place| format!("{}.{}.{}/{}", place.agent, place.array, place.unit, place.group);
        let places = self.places.iter().map(place).collect::<Vec<_>>().join(" ");
        match self.home {
            None => places,
            Some(None) => format!("{places}, coarse-grained memory of the host"),
            Some(Some(agent)) => format!("{places}, coarse-grained memory of agent {agent}"),
        }
    }
}

/// A variable: the parameters with one name.
struct Variable<'a> {
    name: &'a str,
    is_local: bool,
    /// Threads that use the variable.
    users: Vec<usize>,
}

impl Kernels {
    /// Parses the directives of a source. `name` is the shape's name if the source gives none.
    ///
    /// # Errors
    /// The first directive that cannot be parsed.
    pub fn parse(text: &str, name: &str) -> Result<Kernels, ParseError> {
        let mut kernels = Kernels { name: name.into(), ..Kernels::default() };
        for (number, line) in text.lines().enumerate() {
            let Some(directive) = line.trim().strip_prefix(MARK) else { continue };
            kernels.directive(directive).map_err(|message| ParseError { line: number + 1, message })?;
        }
        match kernels.forbidden.is_empty() && kernels.allowed.is_empty() {
            true => Err(ParseError {
                line: 1,
                message: format!("no `{MARK} forbidden NAME=VALUE...` says what must not come out"),
            }),
            false => Ok(kernels),
        }
    }

    fn directive(&mut self, text: &str) -> Result<(), String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let rest = || words[1..].iter().map(|word| (*word).to_owned()).collect();
        match words[..] {
            ["name", name] => self.name = name.into(),
            ["language", "opencl"] => self.opencl = true,
            ["threads", ..] => self.threads = rest(),
            ["coarse", ..] => self.coarse = rest(),
            ["groups", ..] => {
                self.groups = words[1..].iter().map(|word| number(word)).collect::<Result<_, _>>()?
            }
            ["scope", scope] => {
                let found = Scope::ALL.into_iter().find(|known| known.name() == scope);
                self.scope = Some(found.ok_or(format!("`{scope}` is no scope"))?);
            }
            ["forbidden", ..] => self.forbidden.push(condition(&words[1..])?),
            ["allowed", ..] => self.allowed.push(condition(&words[1..])?),
            _ => {
                return Err(format!(
                    "`{}` is none of name, language, threads, groups, scope, coarse, forbidden, allowed",
                    text.trim()
                ));
            }
        }
        Ok(())
    }

    /// Returns the kernel of each thread.
    fn threads<'a>(&'a self, object: &'a CodeObject) -> Result<Vec<&'a sim::KernelInfo>, String> {
        let all: Vec<&sim::KernelInfo> = match self.threads.is_empty() {
            true => object.kernels().iter().collect(),
            false => {
                let find = |name: &String| {
                    let found = object.kernels().iter().find(|kernel| kernel.name == *name);
                    found.ok_or(format!("no kernel `{name}`"))
                };
                self.threads.iter().map(find).collect::<Result<_, _>>()?
            }
        };
        if all.is_empty() || all.len() > MAX {
            return Err(format!("{} threads, and there may be 1 to {MAX}", all.len()));
        }
        if !self.groups.is_empty() && self.groups.len() != all.len() {
            return Err(format!("`groups` has {} numbers for {} threads", self.groups.len(), all.len()));
        }
        Ok(all)
    }

    /// Returns all placements of the threads.
    ///
    /// # Errors
    /// The threads or variables are inconsistent; the error says how.
    pub fn placements(&self, object: &CodeObject, machine: Machine) -> Result<Vec<Placement>, String> {
        let threads = self.threads(object)?;
        let variables = variables(&threads)?;
        let is_local = variables.iter().any(|variable| variable.is_local);
        let all = match (self.groups.is_empty(), is_local) {
            (false, _) => grouped_places(&self.groups, machine),
            (_, true) => places(Scope::Workgroup, machine, threads.len()),
            _ => places(self.scope.unwrap_or(Scope::Agent).max(Scope::Workgroup), machine, threads.len()),
        };
        let homes = |places: Vec<Place>| {
            let agents = places.iter().map(|place| place.agent).max().unwrap_or(0);
            let homes: Vec<Option<Option<u32>>> = match self.coarse.is_empty() {
                true => vec![None],
                false => (0..=agents).map(|agent| Some(Some(agent))).chain([Some(None)]).collect(),
            };
            homes.into_iter().map(move |home| Placement { places: places.clone(), home }).collect::<Vec<_>>()
        };
        Ok(all.into_iter().flat_map(homes).collect())
    }

    /// Explores all schedules of the threads in one placement.
    ///
    /// # Errors
    /// The threads, the variables or the object are wrong; the error says how.
    pub fn run(&self, object: &CodeObject, placement: &Placement) -> Result<Verdict, String> {
        let threads = self.threads(object)?;
        let variables = variables(&threads)?;
        let mut device = Device::with_threads(1);
        let bytes = STRIDE * variables.len().max(1) as u64;
        let base = device.alloc(bytes).map_err(|fault| fault.to_string())?;
        let module = device.load(object).map_err(|fault| fault.to_string())?;
        let search = self.search(&threads, &variables, placement, base);
        let found = device.explore(module, search).map_err(|fault| fault.to_string())?;
        self.judge(&variables, &found)
    }

    fn search(
        &self,
        threads: &[&sim::KernelInfo],
        variables: &[Variable<'_>],
        placement: &Placement,
        base: u64,
    ) -> Search {
        let global = |variable: usize| base + variable as u64 * STRIDE;
        let number = |name: &str| variables.iter().position(|variable| variable.name == name);
        let kernarg = |thread: usize, kernel: &sim::KernelInfo| {
            let mut bytes = vec![0; kernel.kernarg_size as usize];
            for arg in kernel.explicit_args() {
                let value = match arg.name.as_deref().and_then(number) {
                    None => thread as u64,
                    Some(variable) if variables[variable].is_local => variable as u64 * STRIDE,
                    Some(variable) => global(variable),
                };
                let place = arg.offset as usize..(arg.offset + arg.size) as usize;
                if let Some(place) = bytes.get_mut(place) {
                    place.copy_from_slice(&value.to_le_bytes()[..arg.size as usize]);
                }
            }
            bytes
        };
        let thread = |(at, (kernel, place)): (usize, (&&sim::KernelInfo, &Place))| Thread {
            kernel: kernel.name.clone(),
            place: *place,
            kernarg: kernarg(at, kernel),
        };
        let of = |shared: bool| {
            let fits = move |(_, variable): &(usize, &Variable<'_>)| {
                !variable.is_local && (variable.users.len() > 1) == shared
            };
            variables.iter().enumerate().filter(fits).map(|(at, _)| global(at)).collect::<Vec<u64>>()
        };
        let range = |name: &String| {
            let start = global(number(name)?);
            Some(Range { start, bytes: STRIDE, home: placement.home?, grain: Grain::Coarse })
        };
        let locals = variables.iter().enumerate().filter(|(_, variable)| variable.is_local);
        let group = placement.places.first().map_or(0, |place| place.group);
        Search {
            threads: threads.iter().zip(&placement.places).enumerate().map(thread).collect(),
            dynamic_lds: variables.len() as u32 * STRIDE as u32,
            warm: of(true),
            memory: of(true),
            results: of(false),
            ranges: self.coarse.iter().filter_map(range).collect(),
            constants: true,
            lds: locals.map(|(at, _)| (group, (at as u64 * STRIDE) as u32)).collect(),
            lanes: 1,
            max_states: MAX_STATES,
            ..Search::default()
        }
    }

    fn judge(&self, variables: &[Variable<'_>], found: &Exploration) -> Result<Verdict, String> {
        let (forbidden, allowed) = (resolve(&self.forbidden, variables)?, resolve(&self.allowed, variables)?);
        let mut verdict = Verdict {
            outcomes: found.outcomes.len(),
            states: found.states,
            bounded: found.bounded,
            ..Verdict::default()
        };
        for (outcome, schedule) in &found.outcomes {
            if outcome.end != End::Done {
                verdict.broken.push(schedule.clone());
                continue;
            }
            for (values, text) in forbidden.iter().filter(|(values, _)| meets(values, variables, outcome)) {
                debug_assert!(!values.is_empty());
                verdict.forbidden.push(((*text).to_owned(), schedule.clone()));
            }
        }
        let missing = |(values, _): &&Resolved<'_>| {
            let seen = |outcome: &Outcome| outcome.end == End::Done && meets(values, variables, outcome);
            !found.outcomes.keys().any(seen)
        };
        verdict.missing = allowed.iter().filter(missing).map(|(_, text)| (*text).to_owned()).collect();
        Ok(verdict)
    }

    /// Returns whether the machine can run the shape. A shape that uses coarse-grained memory needs a
    /// processor that can keep this memory coherent.
    pub fn suits(&self, machine: Machine) -> bool {
        self.coarse.is_empty() || table::available(op::BUFFER_WBL2, machine.target)
    }
}

/// A condition on an outcome: indices of variables, the values that these variables must have, and the text
/// of the condition.
type Resolved<'a> = (Vec<(usize, u32)>, &'a str);

/// Replaces the names of variables in conditions by their indices.
fn resolve<'a>(conditions: &'a [Condition], variables: &[Variable<'_>]) -> Result<Vec<Resolved<'a>>, String> {
    let value = |(name, value): &(String, u32)| {
        let found = variables.iter().position(|variable| variable.name == name);
        found.map(|at| (at, *value)).ok_or(format!("no thread has a parameter `{name}`"))
    };
    let condition = |condition: &'a Condition| {
        let values = condition.values.iter().map(value).collect::<Result<_, _>>()?;
        Ok((values, condition.text.as_str()))
    };
    conditions.iter().map(condition).collect()
}

/// Returns whether the variables have the given values in an outcome. An outcome lists shared variables,
/// results and LDS variables apart from each other.
fn meets(values: &[(usize, u32)], variables: &[Variable<'_>], outcome: &Outcome) -> bool {
    let kind = |variable: &Variable<'_>| (variable.is_local, variable.users.len() > 1);
    values.iter().all(|&(at, wanted)| {
        let same = |other: &&Variable<'_>| match variables[at].is_local {
            true => other.is_local,
            false => kind(other) == kind(&variables[at]),
        };
        let index = variables[..at].iter().filter(same).count();
        let list = match kind(&variables[at]) {
            (true, _) => &outcome.lds,
            (false, true) => &outcome.memory,
            (false, false) => &outcome.results,
        };
        list.get(index) == Some(&wanted)
    })
}

/// Returns the variables of the threads in the order of their first use.
fn variables<'a>(threads: &[&'a sim::KernelInfo]) -> Result<Vec<Variable<'a>>, String> {
    let mut all: Vec<Variable<'a>> = Vec::new();
    for (thread, kernel) in threads.iter().enumerate() {
        for arg in kernel.explicit_args() {
            let name = arg.name.as_deref().ok_or("a parameter without a name")?;
            let Some(is_local) = is_local(arg)? else { continue };
            match all.iter_mut().find(|variable| variable.name == name) {
                Some(known) if known.is_local != is_local => {
                    return Err(format!("`{name}` is in global memory here and in shared memory there"));
                }
                Some(known) => known.users.push(thread),
                None => all.push(Variable { name, is_local, users: vec![thread] }),
            }
        }
    }
    Ok(all)
}

/// Returns whether an argument is a pointer to LDS. `None` if the argument is no variable but the number of
/// the thread.
fn is_local(arg: &ArgInfo) -> Result<Option<bool>, String> {
    match (&arg.kind, arg.name.as_deref()) {
        (ArgKind::GlobalBuffer, _) => Ok(Some(false)),
        (ArgKind::DynamicShared, _) => Ok(Some(true)),
        (_, Some("thread")) if arg.size == 4 => Ok(None),
        (_, name) => Err(format!("`{}` is neither a pointer nor `thread: u32`", name.unwrap_or("?"))),
    }
}

fn condition(words: &[&str]) -> Result<Condition, String> {
    let value = |word: &&str| {
        let (name, value) = word.split_once('=').ok_or(format!("`{word}` is no `name=value`"))?;
        Ok((name.to_owned(), number(value)?))
    };
    let values: Vec<(String, u32)> = words.iter().map(value).collect::<Result<_, String>>()?;
    match values.is_empty() {
        true => Err("a condition wants `name=value`".to_owned()),
        false => Ok(Condition { values, text: words.join(" ") }),
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}
