//! What the tests of all packages share: the runner of foreign tools ([`Tool`]), random numbers ([`Random`])
//! and temporary folders ([`Folder`]). The crate has no dependencies.

mod cache;
mod folder;
mod hash;
mod inputs;
mod named;
mod random;
mod tool;

pub use folder::{Folder, root};
pub use random::Random;
pub use tool::{Tool, find, have, is_there};
