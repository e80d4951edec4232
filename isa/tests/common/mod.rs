//! What the tests share: random instructions and LLVM's tools.

#![allow(dead_code)]

pub mod graphics;
pub mod llvm;
pub mod random;
