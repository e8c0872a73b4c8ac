//! What a merge writes: its files, and what stands in them once.

pub(crate) mod labels;
pub(crate) mod linked_ids;
pub(crate) mod mapped_frames;
pub(crate) mod merge_output;
pub(crate) mod metadata;
pub(crate) mod process_track;
pub(crate) mod profile_ids;
pub(crate) mod slice;
pub(crate) mod stack_frames;
pub(crate) mod trace;
