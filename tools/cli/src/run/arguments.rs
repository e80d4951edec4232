//! Launch parameters of a kernel: arguments and dynamic LDS.

use super::load::{Dynamic, Loaded};
use super::{RunArgs, split};
use crate::Failure;
use kernc::sim::{self, ArgError, ArgInfo, ArgValue, Conversion, KernelInfo};

/// Arguments of a launch as texts.
pub struct Texts {
    pub named: Vec<(String, String)>,
    pub positional: Vec<String>,
    pub dynamic_lds: Option<u32>,
    pub conversion: Conversion,
}

impl Texts {
    pub fn new(args: &RunArgs) -> Result<Texts, Failure> {
        let named = args.named.iter().map(|arg| split(arg, "--arg", "NAME=VALUE"));
        Ok(Texts {
            named: named.collect::<Result<_, _>>()?,
            positional: args.positional.clone(),
            dynamic_lds: args.dynamic_lds,
            conversion: conversion(args.cast),
        })
    }

    /// Returns the argument values in the order of the kernel's parameters, and the number of bytes of
    /// dynamic LDS.
    pub fn bind(&self, loaded: &Loaded, kernel: &KernelInfo) -> Result<(Vec<ArgValue>, u32), Failure> {
        self.bind_with(loaded, kernel, |text, info| sim::parse_arg(text, info, self.conversion))
    }

    /// Does the work of [`Texts::bind`], which returns the argument values of a kernel. `parse` parses the
    /// text of one argument.
    pub fn bind_with(
        &self,
        loaded: &Loaded,
        kernel: &KernelInfo,
        read: impl FnMut(&str, &ArgInfo) -> Result<ArgValue, ArgError>,
    ) -> Result<(Vec<ArgValue>, u32), Failure> {
        let (mut named, mut lds) = (self.named.clone(), self.dynamic_lds);
        if let Dynamic::Variable(variable) = loaded.dynamic(kernel) {
            let at = named.iter().position(|(name, _)| name == variable);
            if let Some((name, text)) = at.map(|at| named.remove(at)) {
                let bytes =
                    sim::args::parse_lds(&text).map_err(|why| Failure::Usage(format!("`{name}`: {why}")))?;
                if lds.replace(bytes).is_some() {
                    return Err(Failure::Usage(format!(
                        "`{name}` and `--dynamic-lds` give the same size twice"
                    )));
                }
            }
        }
        check_lds(lds, loaded, kernel)?;
        let values = sim::args::bind_with(kernel, &named, &self.positional, read).map_err(wrong)?;
        Ok((values, lds.unwrap_or(0)))
    }
}

/// Returns an error if a size is missing for a kernel with a `shared dyn` variable, or if a size is given for
/// a kernel without such a variable.
fn check_lds(given: Option<u32>, loaded: &Loaded, kernel: &KernelInfo) -> Result<(), Failure> {
    let name = &kernel.name;
    match (loaded.dynamic(kernel), given) {
        (Dynamic::Variable(variable), None) => Err(Failure::Usage(format!(
            "`shared dyn {variable}` of {name} has no size: give its bytes with `--dynamic-lds BYTES` or `--arg {variable}=lds:BYTES`"
        ))),
        (Dynamic::No, Some(_)) => Err(Failure::Usage(format!(
            "`--dynamic-lds`: {name} declares no `shared dyn` variable{}",
            if takes_lds(kernel) { "; sizes of its parameters are `lds:BYTES`" } else { "" }
        ))),
        _ => Ok(()),
    }
}

fn takes_lds(kernel: &KernelInfo) -> bool {
    kernel.explicit_args().any(|arg| arg.kind == sim::ArgKind::DynamicShared)
}

/// Returns the conversion that `--cast` selects.
pub fn conversion(cast: bool) -> Conversion {
    if cast { Conversion::Cast } else { Conversion::Refuse }
}

/// Converts an error about an argument to a failure.
pub fn wrong(error: ArgError) -> Failure {
    match error {
        ArgError::Text(why) => Failure::Usage(why),
        ArgError::File(why) => Failure::File(why),
    }
}
