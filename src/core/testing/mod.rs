//! Helpers for the tests of all crates.
#![allow(clippy::unwrap_used)]

pub mod names;
pub mod reader;
pub mod traces;
pub mod windows;
