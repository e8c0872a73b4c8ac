//! File formats: one folder or file a format, and the parts that several formats share.

pub mod ascii_json;
pub mod collapsed;
pub mod cpuprofile;
pub mod deltas;
pub mod frame_json;
pub mod json_walk;
pub mod node_json;
pub mod number;
pub mod script_id;
pub mod source_map;
pub mod speedscope;
pub mod trace;
pub mod url;
