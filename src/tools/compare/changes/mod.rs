//! The commits at which values over many runs have changed.

pub mod change_points;
mod clean;
mod composition;
mod critical;
mod design;
mod fit;
pub mod json;
mod memory;
mod points;
#[cfg(test)]
mod simulated;
mod windows;
