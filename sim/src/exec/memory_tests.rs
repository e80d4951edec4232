//! Memory instructions one by one: written in assembler, on a machine of one wave.

mod complete;
mod machine;
mod watched;
