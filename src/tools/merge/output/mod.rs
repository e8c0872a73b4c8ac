//! The files of a merge, and what stands in them once.

pub(crate) mod labels;
pub(crate) mod linked_ids;
pub(crate) mod members;
pub(crate) mod part;
pub(crate) mod process_track;
pub(crate) mod slices;
