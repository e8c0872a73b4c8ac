//! The source maps that recordings keep.

pub mod data_url;
pub mod recorded;
