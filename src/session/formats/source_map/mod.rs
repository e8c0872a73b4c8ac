//! Source maps: which place of a source each place of generated code comes from.

pub mod comment;
pub mod decode;
pub mod map;
pub mod recorded;
pub mod source_name;
