//! Tests of the readers and writers of older formats.

mod errors;
mod hostile;
mod layout;
mod models;
mod names;
mod public;
mod round_trip;
