//! File formats: one folder or file a format, and what several of them share.

pub(crate) mod ascii_json;
pub(crate) mod collapsed;
pub(crate) mod cpuprofile;
pub(crate) mod node_json;
pub(crate) mod speedscope;
pub(crate) mod trace;
pub(crate) mod url;
