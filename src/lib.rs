//! An in-process CPU profiler for Node.js.

pub mod addon;
pub mod call_tree;
pub mod collapsed;
pub mod config;
pub mod convert;
pub mod cpuprofile;
pub mod error;
pub mod filename;
pub mod input;
pub mod load;
pub mod model;
pub mod output;
pub mod process;
pub mod profile;
pub mod program;
pub mod recorded;
pub mod recording;
pub mod report;
pub mod signals;
pub mod source;
pub mod speedscope;
pub mod system;
pub mod trace;
pub mod track;
pub mod worker_script;
pub mod writer;
