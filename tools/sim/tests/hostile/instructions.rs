//! Random instructions that the encoder takes, from the tests of the table.

#![allow(dead_code)]

#[path = "../../../../isa/tests/common/graphics.rs"]
pub mod graphics;
#[path = "../../../../isa/tests/common/random.rs"]
pub mod random;
