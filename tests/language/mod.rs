//! Every feature of the language, from source text to results.
//!
//! Programs run five ways: the frontend's IR and the optimised IR in the interpreter, and the code objects of `-O0` and
//! `-O2` in the emulator ([`harness`]). `files` runs `tests/data/run/*.k`, which say themselves what they compute; the
//! other modules compare with Rust over many values.

mod arithmetic;
mod atomics;
mod files;
mod halves;
mod math;
mod waves;
