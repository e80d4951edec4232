//! Evaluation: what the guide says, and gimli's for standard expressions.

mod gimli;
mod guide;
mod machine;
