//! The names of functions: original sources behind source maps, and symbols of native modules.

pub mod originals;
pub mod symbols;
