//! An in-process CPU profiler for Node.js.

// napi's macros leave the exports out of a test build, so all that only they use looks dead there.
// The library build reports dead code.
#![cfg_attr(test, allow(dead_code))]

#[cfg(test)]
mod architecture;
mod base;
mod exports;
mod files;
mod format;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod profile;
mod read;
mod record;
mod sampler;
mod tools;
