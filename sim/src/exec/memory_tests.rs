//! Memory instructions one by one: written in assembler, on a machine of one wave.

mod machine;
mod watched;
