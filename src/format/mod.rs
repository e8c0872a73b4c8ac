//! File formats: one folder or file a format, and the parts that several formats share.

pub(crate) mod ascii_json;
pub(crate) mod collapsed;
pub(crate) mod cpuprofile;
pub(crate) mod deltas;
pub(crate) mod frame_json;
pub(crate) mod json_walk;
pub(crate) mod node_json;
pub(crate) mod number;
pub(crate) mod script_id;
pub(crate) mod source_map;
pub(crate) mod speedscope;
pub(crate) mod trace;
pub(crate) mod url;
