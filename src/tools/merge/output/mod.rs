//! What a merge writes: its files, and what stands in them once.

pub mod linked_ids;
pub mod mapped_frames;
pub mod merge_output;
pub mod metadata;
pub mod process_labels;
pub mod process_track;
pub mod profile_ids;
pub mod slice;
pub mod stack_frames;
pub mod trace;
