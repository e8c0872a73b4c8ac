//! pprof, the format of Google's profiler: <https://github.com/google/pprof/blob/main/proto/profile.proto>.

mod comments;
pub mod contents;
mod fields;
mod file_tables;
mod message;
mod own_code;
pub mod read;
pub mod recognize;
mod samples;
mod thread_tree;
mod values;
mod wire;
pub mod write;
