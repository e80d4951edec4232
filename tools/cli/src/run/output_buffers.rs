//! `--print` and `--out`: print and write buffers when the kernel has ended.

use super::{RunArgs, failure, split};
use crate::{Failure, check_output, write};
use kernc::sim::{self, Device, Placed};
use std::path::Path;

/// Buffers to print and to write, by the positions of their arguments.
pub struct Shown {
    print: Vec<(String, usize)>,
    out: Vec<(String, usize)>,
}

/// Returns the position of the argument with this name. Returns an error if the argument is not a buffer.
pub fn buffer_at(kernel: &sim::KernelInfo, values: &[sim::ArgValue], name: &str) -> Result<usize, Failure> {
    let at = sim::args::position(kernel, name).map_err(Failure::Usage)?;
    match values.get(at) {
        Some(sim::ArgValue::Buffer(_)) => Ok(at),
        _ => {
            let is_buffer = |at: &usize| matches!(values.get(*at), Some(sim::ArgValue::Buffer(_)));
            let names = kernel.explicit_args().enumerate().filter(|(at, _)| is_buffer(at));
            let names: Vec<String> = names.map(|(at, arg)| sim::args::name_of(at, arg)).collect();
            Err(Failure::Usage(format!(
                "argument `{name}` is not a buffer; buffers are: {}",
                names.join(", ")
            )))
        }
    }
}

impl Shown {
    pub fn new(args: &RunArgs, kernel: &sim::KernelInfo, values: &[sim::ArgValue]) -> Result<Shown, Failure> {
        let print = args.print.iter().map(|name| Ok((name.clone(), buffer_at(kernel, values, name)?)));
        let out = args.out.iter().map(|out| {
            let (name, file) = split(out, "--out", "NAME=FILE")?;
            check_output(Path::new(&file))?;
            Ok((file, buffer_at(kernel, values, &name)?))
        });
        Ok(Shown { print: print.collect::<Result<_, _>>()?, out: out.collect::<Result<_, _>>()? })
    }

    pub fn show(&self, kernel: &sim::KernelInfo, device: &Device, placed: &Placed) -> Result<(), Failure> {
        // `new` has checked that all these arguments are buffers.
        let buffer = |at| placed.read(device, at).map_err(failure);
        for (name, at) in &self.print {
            if let (Some(buffer), Some(info)) = (buffer(*at)?, kernel.explicit_args().nth(*at)) {
                outln!("{name}: {}", sim::args::contents_text(info, &buffer));
            }
        }
        for (file, at) in &self.out {
            let Some(buffer) = buffer(*at)? else { continue };
            write_array(file, &buffer)?;
        }
        Ok(())
    }
}

/// Writes a buffer to a `.npy` file.
pub fn write_array(file: &str, buffer: &sim::Buffer) -> Result<(), Failure> {
    write(Path::new(file), &sim::write_npy(buffer))
}
