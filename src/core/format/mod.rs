//! File formats: one folder or file a format, and the parts that several formats share.

pub mod ascii_json;
mod collapsed;
pub mod cpuprofile;
pub mod deltas;
pub mod elf;
pub mod frame_json;
pub mod json_walk;
pub mod label_json;
pub mod node_json;
pub mod number;
pub mod otlp;
pub mod pprof;
pub mod registry;
pub mod script_id;
pub mod source_map;
mod speedscope;
mod stack_tables;
pub mod trace;
pub mod url;
