//! An in-process CPU profiler for Node.js.

mod addon;
pub mod call_tree;
pub mod config;
pub mod error;
pub mod filename;
pub mod model;
pub mod output;
mod process;
pub mod program;
mod recording;
pub mod source;
pub mod trace;
mod writer;
