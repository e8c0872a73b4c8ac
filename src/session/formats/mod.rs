//! File formats: one folder or file a format, and the parts that several formats share.

mod collapsed;
pub mod cpuprofile;
pub mod deltas;
pub mod label_json;
pub mod node_json;
pub mod otlp;
pub mod pprof;
pub mod registry;
pub mod source_map;
mod speedscope;
mod stack_tables;
pub mod trace;
