//! File formats: one folder or file a format, and what several of them share.

pub mod ascii_json;
pub mod collapsed;
pub mod cpuprofile;
pub mod node_json;
pub mod speedscope;
pub mod trace;
pub mod url;
