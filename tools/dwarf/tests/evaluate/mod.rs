//! Evaluation: what the guide says, and gimli's for standard expressions.

mod frames;
mod gimli;
mod guide;
mod lane_pc;
mod machine;
