//! An in-process CPU profiler for Node.js.

mod base;
mod exports;
mod files;
mod format;
mod profile;
mod read;
mod record;
mod sampler;
mod tools;
