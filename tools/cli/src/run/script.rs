//! `kernc run --script FILE.toml`: runs several dispatches one after the other on shared buffers.

use super::arguments::{Texts, conversion};
use super::expect::{ExpectedBuffer, unmet};
use super::launch::{Launch, device, extents, failure, found, mode, offset, spoken, stopped};
use super::load::Loaded;
use super::output_buffers::write_array;
use super::{RunArgs, print_stats};
use crate::rules::Policy;
use crate::{Failure, check_output, complain, read_source};
use kernc::sim::{self, ArgError, ArgInfo, ArgKind, ArgValue, Buffer, Device, DevicePtr, Scalar};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use toml::Value;

/// The script file. Paths are relative to the working directory of the command.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    /// Kernel source or code object of the dispatches that do not name a file of their own.
    file: Option<PathBuf>,
    /// Values for the command-line options `--mcpu`, `--mode` and `-P`. Options that are on the command line
    /// take precedence.
    mcpu: Option<String>,
    mode: Option<String>,
    #[serde(default)]
    params: BTreeMap<String, Value>,
    /// Initial contents of buffers, in the syntax of arguments.
    #[serde(default)]
    buffers: BTreeMap<String, Value>,
    dispatch: Vec<Step>,
}

/// A dispatch of the script.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    file: Option<PathBuf>,
    kernel: Option<String>,
    /// One to three numbers: a single number or a list.
    grid: Value,
    group: Option<Value>,
    offset: Option<Value>,
    dynamic_lds: Option<u32>,
    /// Arguments: a table with parameter names, or a list in the order of the parameters. Each argument is
    /// the name of a buffer, or a text as for the option `--arg`.
    args: Option<Value>,
    /// What to do after the dispatch: buffers to print, to write to files and to compare, and whether to
    /// print statistics.
    #[serde(default)]
    print: Vec<String>,
    #[serde(default)]
    out: BTreeMap<String, PathBuf>,
    #[serde(default)]
    expect: BTreeMap<String, Value>,
    #[serde(default)]
    stats: bool,
}

/// A buffer of the script on the device.
struct Shared {
    address: DevicePtr,
    /// Initial contents of the buffer.
    first: Buffer,
    /// The parameter that was first given this buffer. Its type decides how the buffer is printed.
    info: ArgInfo,
}

/// A code object that is loaded on the device.
struct Module {
    loaded: Loaded,
    id: sim::ModuleId,
}

/// A dispatch that is ready to run.
struct Ready<'a> {
    step: &'a Step,
    module: &'a Module,
    launch: Launch<'a>,
    wanted: Vec<ExpectedBuffer>,
}

/// Runs a script. Everything is read and checked before the first dispatch.
pub fn run(path: &Path, args: &RunArgs) -> Result<(), Failure> {
    if args.observe.is_active() || args.schedule.explores() {
        let why = "`--script` does not go together with `--profile`, `--trace`, `--coverage`, `--idle-waits` and `--schedules`";
        return Err(Failure::Usage(why.to_owned()));
    }
    let name = path.display().to_string();
    let script: Script = toml::from_str(&read_source(path)?)
        .map_err(|error| Failure::File(format!("{name}: {}", error.to_string().trim_end())))?;
    let args = &with_options(&script, args).map_err(|failure| at_place(&name, failure))?;
    let policy = args.rules.policy()?;
    let mut device = device(args, mode(args, &policy)?);
    let modules = load(&script, args, &mut device, &name)?;
    let mut planner =
        Planner { script: &script, device: &mut device, buffers: BTreeMap::new(), cast: args.cast };
    let steps = script.dispatch.iter().zip(&modules).enumerate().map(|(at, (step, module))| {
        planner
            .ready(step, module)
            .map_err(|failure| at_place(&format!("{name}: dispatch {}", at + 1), failure))
    });
    let ready = steps.collect::<Result<Vec<_>, _>>()?;
    let buffers = planner.buffers;
    let done = execute(&ready, &mut device, &buffers, (args, &policy));
    let files: BTreeSet<&Path> = modules.iter().map(|module| module.loaded.file.as_path()).collect();
    files.into_iter().for_each(|file| complain(&policy.unused(file)));
    done
}

/// Returns the options of the command line. Options that are missing there are taken from the script.
fn with_options(script: &Script, args: &RunArgs) -> Result<RunArgs, Failure> {
    let mut args = args.clone();
    args.common.target.or(script.mcpu.as_deref());
    if let Some(mode) = script.mode.as_deref().filter(|mode| !matches!(*mode, "strict" | "weak" | "fast")) {
        return Err(Failure::Usage(format!("mode `{mode}` is none of strict, weak, fast")));
    }
    args.mode = args.mode.or_else(|| script.mode.clone());
    let given = |name: &str| args.common.params.iter().any(|param| param.split('=').next() == Some(name));
    let params: Vec<String> = script
        .params
        .iter()
        .filter(|(name, _)| !given(name))
        .map(|(name, value)| format!("{name}={}", text_of(value)))
        .collect();
    args.common.params.extend(params);
    Ok(args)
}

/// Loads the file of each dispatch on the device. A file that several dispatches name is loaded once.
fn load(
    script: &Script,
    args: &RunArgs,
    device: &mut Device,
    name: &str,
) -> Result<Vec<Rc<Module>>, Failure> {
    let mut known: BTreeMap<&Path, Rc<Module>> = BTreeMap::new();
    let steps = script.dispatch.iter().enumerate().map(|(at, step)| {
        let file = step.file.as_deref().or(script.file.as_deref()).ok_or_else(|| {
            Failure::Usage(format!(
                "{name}: dispatch {} has no `file`, and the script has none either",
                at + 1
            ))
        })?;
        if let Some(module) = known.get(file) {
            return Ok(Rc::clone(module));
        }
        let loaded = Loaded::new(file, args)?;
        let id = device.load(&loaded.object).map_err(failure)?;
        let module = Rc::new(Module { loaded, id });
        known.insert(file, Rc::clone(&module));
        Ok(module)
    });
    steps.collect()
}

/// Prepares the dispatches of a script. A buffer is created when the first dispatch uses it.
struct Planner<'d> {
    script: &'d Script,
    device: &'d mut Device,
    buffers: BTreeMap<String, Shared>,
    cast: bool,
}

impl Planner<'_> {
    fn ready<'a>(&mut self, step: &'a Step, module: &'a Module) -> Result<Ready<'a>, Failure> {
        let loaded = &module.loaded;
        let kernel = loaded.kernel(step.kernel.as_deref())?;
        let mut texts = Texts {
            named: Vec::new(),
            positional: Vec::new(),
            dynamic_lds: step.dynamic_lds,
            conversion: conversion(self.cast),
        };
        match &step.args {
            None => {}
            Some(Value::Array(list)) => texts.positional = list.iter().map(text_of).collect(),
            Some(Value::Table(table)) => {
                texts.named = table.iter().map(|(name, value)| (name.clone(), text_of(value))).collect();
            }
            Some(_) => return Err(Failure::Usage("`args` is neither a table nor an array".to_owned())),
        }
        let (values, dynamic_lds) = texts.bind_with(loaded, kernel, |text, info| self.value(text, info))?;
        let group = step.group.as_ref().map_or(Ok(Vec::new()), |group| numbers(group, "group"))?;
        let (grid, group) = extents(kernel, &numbers(&step.grid, "grid")?, &group)?;
        let given = step.offset.as_ref().map_or(Ok(Vec::new()), |offset| numbers(offset, "offset"))?;
        let offset = offset(kernel, &given)?;
        let object = &loaded.object;
        let launch = Launch { object, kernel, values, dynamic_lds, grid, group, offset, debugger: None };
        for name in step.print.iter().chain(step.out.keys()) {
            self.used(name)?;
        }
        step.out.values().try_for_each(|file| check_output(file))?;
        let wanted = step.expect.iter().map(|(name, value)| {
            let Shared { first, info, .. } = self.used(name)?;
            ExpectedBuffer::new(name, &text_of(value), first, info, conversion(self.cast))
        });
        let wanted = wanted.collect::<Result<_, _>>()?;
        Ok(Ready { step, module, launch, wanted })
    }

    /// Returns the value of an argument: the shared buffer with this name, or the value that the text
    /// describes.
    fn value(&mut self, text: &str, info: &ArgInfo) -> Result<ArgValue, ArgError> {
        if info.kind != ArgKind::GlobalBuffer {
            return sim::parse_arg(text, info, conversion(self.cast));
        }
        if let Some(contents) = self.script.buffers.get(text) {
            return self.shared(text, contents, info).map(ArgValue::Address);
        }
        if text.chars().all(|c| c.is_alphanumeric() || c == '_') {
            let names: Vec<&str> = self.script.buffers.keys().map(String::as_str).collect();
            let why = format!("there is no buffer `{text}`; `[buffers]` has: {}", names.join(", "));
            return Err(ArgError::Text(why));
        }
        sim::parse_arg(text, info, conversion(self.cast))
    }

    /// Returns the address of a shared buffer, which is created when it is first used. The type of its
    /// elements is that of the first parameter to which it is passed.
    fn shared(&mut self, name: &str, contents: &Value, info: &ArgInfo) -> Result<DevicePtr, ArgError> {
        if let Some(shared) = self.buffers.get(name) {
            let (has, wanted) = (shared.first.element, info.element);
            let fits = |wanted: Scalar| {
                wanted == has
                    || wanted.is_integer_as_wide_as(has)
                    || has == Scalar::U8
                    || wanted == Scalar::U8
            };
            if let Some(wanted) = wanted.filter(|wanted| !fits(*wanted)) {
                let (has, wanted) = (has.name(), wanted.name());
                let why = format!("buffer `{name}` holds {has}, but the parameter points to {wanted}");
                return Err(ArgError::Text(why));
            }
            return Ok(shared.address);
        }
        let value = sim::parse_arg(&text_of(contents), info, conversion(self.cast));
        let ArgValue::Buffer(first) = value.map_err(|why| why.with_prefix(&format!("buffer `{name}`")))?
        else {
            return Err(ArgError::Text(format!("buffer `{name}` is none")));
        };
        let address = self.create_buffer(name, &first).map_err(|fault| ArgError::Text(fault.to_string()))?;
        self.buffers.insert(name.to_owned(), Shared { address, first, info: info.clone() });
        Ok(address)
    }

    fn create_buffer(&mut self, name: &str, buffer: &Buffer) -> Result<DevicePtr, sim::Fault> {
        let address = self.device.alloc(buffer.bytes.len() as u64)?;
        self.device.write(address, &buffer.bytes)?;
        self.device.name(address, name, buffer.element.bytes() as u32);
        Ok(address)
    }

    /// Returns a buffer that an earlier dispatch has used.
    fn used(&self, name: &str) -> Result<&Shared, Failure> {
        self.buffers.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.buffers.keys().map(String::as_str).collect();
            let names = names.join(", ");
            Failure::Usage(format!("no dispatch so far uses a buffer `{name}`; used are: {names}"))
        })
    }
}

/// Runs the prepared dispatches and prints the requested results after each.
fn execute(
    ready: &[Ready<'_>],
    device: &mut Device,
    buffers: &BTreeMap<String, Shared>,
    (args, policy): (&RunArgs, &Policy),
) -> Result<(), Failure> {
    let mut unlike = String::new();
    for Ready { step, module, launch, wanted } in ready {
        let teller = &module.loaded.teller;
        let (_, stats) = launch.run_on(device, module.id, args, &sim::Observe::default())?;
        spoken(device, teller);
        let stats = stats.map_err(|fault| stopped(&fault, teller))?;
        for name in &step.print {
            if let Some(shared) = buffers.get(name) {
                outln!("{name}: {}", sim::args::contents_text(&shared.info, &shared.read(device)?));
            }
        }
        for (name, file) in &step.out {
            if let Some(shared) = buffers.get(name) {
                write_array(&file.display().to_string(), &shared.read(device)?)?;
            }
        }
        if step.stats || args.stats {
            outln!("{}:", launch.kernel.name);
            print_stats(&stats);
        }
        found(args, &module.loaded, launch.kernel, device.reports(), policy)?;
        for wanted in wanted {
            if let Some(shared) = buffers.get(&wanted.name) {
                unlike += &wanted.describe_differences(&shared.read(device)?);
            }
        }
    }
    unmet(unlike)
}

impl Shared {
    /// Returns the current contents of the buffer.
    fn read(&self, device: &Device) -> Result<Buffer, Failure> {
        let mut now = self.first.clone();
        device.read(self.address, &mut now.bytes).map_err(failure)?;
        Ok(now)
    }
}

/// Converts a value of the script to the text that the command line uses for it.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => format!("{number:?}"),
        Value::Array(list) => format!("[{}]", list.iter().map(text_of).collect::<Vec<_>>().join(", ")),
        Value::Table(table) => {
            let fields = table.iter().map(|(name, value)| format!("{name}: {}", text_of(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Integer(number) => number.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Datetime(time) => time.to_string(),
    }
}

/// Returns one number or several as a list.
fn numbers<T: TryFrom<i64>>(value: &Value, key: &str) -> Result<Vec<T>, Failure> {
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let number = |value: &Value| value.as_integer().and_then(|number| T::try_from(number).ok());
    let numbers: Option<Vec<T>> = list.iter().map(number).collect();
    numbers.ok_or_else(|| {
        Failure::Usage(format!("`{key}` is one to three numbers, like `{key} = 64` or `{key} = [64, 2]`"))
    })
}

/// Adds a position in the script to an error.
fn at_place(place: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Usage(why) => Failure::Usage(format!("{place}: {why}")),
        Failure::File(why) => Failure::File(format!("{place}: {why}")),
        other => other,
    }
}
