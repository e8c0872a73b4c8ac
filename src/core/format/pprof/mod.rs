//! pprof, the format of Google's profiler: <https://github.com/google/pprof/blob/main/proto/profile.proto>.

mod comments;
pub mod contents;
mod fields;
mod file_tables;
mod labels;
mod message;
pub mod read;
mod samples;
mod system_name;
mod thread_tree;
mod values;
mod wire;
pub mod write;

/// The sample types of our files, each with its unit.
const SAMPLE_TYPES: [(&str, &str); 3] =
    [("samples", "count"), (CPU, NANOSECONDS), ("wall", NANOSECONDS)];

/// The type of the time of work.
const CPU: &str = "cpu";

/// The unit of all times.
const NANOSECONDS: &str = "nanoseconds";
