//! Source maps: which place of a source each place of generated code comes from.

pub(crate) mod comment;
pub(crate) mod data_url;
pub(crate) mod decode;
pub(crate) mod map;
pub(crate) mod recorded;
pub(crate) mod source_name;
