//! The 21 example kernels, with arguments in several sizes, results computed on the CPU, and error bounds.
//!
//! [`check_kernel`] checks a code object by running it in the emulator. Arguments are matched by name if the
//! object has names, otherwise by position.

#![allow(clippy::missing_errors_doc, reason = "only tests call these functions, and print every error")]

mod arrays;
mod data;
mod images;
mod integers;
mod matrices;
mod run;
pub mod shapes;

pub use data::{Arg, Case, Data, Expected, Rng, Value};
pub use run::{Prepared, check_case, check_kernel, check_kernel_on, execute, prepare};

/// An example kernel.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Name of the kernel and of its source file.
    pub name: &'static str,
    /// Size of a work-group in work-items.
    pub group: [u32; 3],
    /// Returns argument sets with their results.
    pub cases: fn() -> Vec<Case>,
}

/// All example kernels, by name.
pub const KERNELS: [Kernel; 21] = [
    Kernel { name: "bitonic", group: [256, 1, 1], cases: integers::bitonic },
    Kernel { name: "conv3x3", group: [16, 16, 1], cases: images::conv3x3 },
    Kernel { name: "daxpy", group: [256, 1, 1], cases: arrays::daxpy },
    Kernel { name: "dgemv", group: [64, 1, 1], cases: matrices::dgemv },
    Kernel { name: "hashloop", group: [256, 1, 1], cases: integers::hashloop },
    Kernel { name: "histogram", group: [256, 1, 1], cases: integers::histogram },
    Kernel { name: "mandelbrot", group: [16, 16, 1], cases: images::mandelbrot },
    Kernel { name: "msgpass", group: [64, 1, 1], cases: integers::msgpass },
    Kernel { name: "nbody", group: [256, 1, 1], cases: arrays::nbody },
    Kernel { name: "reduce", group: [256, 1, 1], cases: arrays::reduce },
    Kernel { name: "saxpy", group: [256, 1, 1], cases: arrays::saxpy },
    Kernel { name: "scan", group: [256, 1, 1], cases: integers::scan },
    Kernel { name: "sgemm_lds", group: [16, 16, 1], cases: matrices::sgemm_lds },
    Kernel { name: "sgemm_naive", group: [16, 16, 1], cases: matrices::sgemm_naive },
    Kernel { name: "sgemm_reg", group: [256, 1, 1], cases: matrices::sgemm_reg },
    Kernel { name: "sha256", group: [64, 1, 1], cases: integers::sha256 },
    Kernel { name: "softmax", group: [256, 1, 1], cases: arrays::softmax },
    Kernel { name: "spmv", group: [256, 1, 1], cases: matrices::spmv },
    Kernel { name: "stencil5", group: [32, 8, 1], cases: images::stencil5 },
    Kernel { name: "transpose", group: [32, 8, 1], cases: images::transpose },
    Kernel { name: "vadd4", group: [256, 1, 1], cases: arrays::vadd4 },
];

/// Returns the kernel called `name`.
pub fn kernel(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}
