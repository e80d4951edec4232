//! Integration tests of this package, in one executable: a file is a module, `cargo test --test cli FILE::`
//! runs one.

#![allow(missing_docs)]

mod call_sites;
mod calls;
mod cli;
#[path = "../../../tests/common/mod.rs"]
mod common;
mod containers;
mod diagnostics;
mod editor;
mod gdb;
mod golden;
#[path = "../../../tests/language/harness.rs"]
mod harness;
mod hostile;
mod line_tables;
mod link;
#[path = "../../../emit/legacy/tests/models.rs"]
mod models;
mod older_drivers;
mod output_files;
mod page;
#[path = "../../../tests/common/run_file.rs"]
mod run_file;
mod traps;
mod weak_sessions;

use std::process::Command;

/// Returns a command that runs `kernc` in the workspace's folder, where tests and docs name their files from.
fn kernc() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kernc"));
    command.current_dir(common::root());
    command
}
