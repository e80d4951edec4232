//! `kernc run FILE --list`: lists the kernels of a file with their parameters.

use super::load::{Dynamic, Loaded};
use kernc::sim::{ArgInfo, ArgKind, KernelInfo};

/// Prints each kernel with its parameters.
pub fn print(loaded: &Loaded) {
    for kernel in loaded.object.kernels() {
        outln!("kernel {}", kernel.name);
        if kernel.untyped {
            outln!(
                "  the object does not say what its {} bytes of arguments are; `--params` does",
                kernel.kernarg_size
            );
        }
        let rows: Vec<[String; 3]> =
            kernel.explicit_args().enumerate().map(|(at, arg)| row(at, arg)).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (names, types) = (width(0), width(1));
        for [name, ty, what] in &rows {
            outln!("  {name:names$}  {ty:types$}  {what}");
        }
        if let Dynamic::Variable(name) = loaded.dynamic(kernel) {
            outln!("  {name:names$}  {:types$}  size with `--dynamic-lds BYTES`", "shared dyn");
        }
        outln!("  group {}", group(kernel));
    }
}

/// Returns a parameter's row of the table: its name or position, its type, and the form of its argument on
/// the command line.
fn row(at: usize, arg: &ArgInfo) -> [String; 3] {
    let ty = match (&arg.type_name, arg.element, &arg.kind) {
        (Some(name), ..) => name.clone(),
        (None, Some(scalar), ArgKind::ByValue) => scalar.name().to_owned(),
        (None, Some(scalar), _) => format!("*{}", scalar.name()),
        (None, None, ArgKind::ByValue) => "?".to_owned(),
        (None, None, _) => "*?".to_owned(),
    };
    let what = match &arg.kind {
        ArgKind::ByValue => format!("{} bytes at {}", arg.size, arg.offset),
        ArgKind::GlobalBuffer if arg.is_const => "buffer, read only".to_owned(),
        ArgKind::GlobalBuffer => "buffer".to_owned(),
        ArgKind::DynamicShared => "`lds:BYTES`".to_owned(),
        ArgKind::Hidden(kind) | ArgKind::Other(kind) => format!("{kind}: cannot be given"),
    };
    [arg.name.clone().unwrap_or_else(|| at.to_string()), ty, what]
}

/// Returns a text with the group size that the kernel requires.
fn group(kernel: &KernelInfo) -> String {
    match (kernel.reqd_group, kernel.max_group) {
        (Some([x, y, z]), _) => format!("{x},{y},{z} required"),
        (None, 0) => "of any size".to_owned(),
        (None, most) => format!("of at most {most} work-items"),
    }
}
