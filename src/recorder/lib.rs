//! An in-process CPU profiler for Node.js: the addon that a recorded program loads.

// napi's macros leave the exports out of a test build, so all that only they use looks dead there.
// The library build reports dead code.
#![cfg_attr(test, allow(dead_code))]

mod exports;
mod record;
mod sampler;
