//! Follows recordings that grow: what their threads did in the last seconds.

mod appended;
pub(crate) mod follower;
mod json;
mod needed_nodes;
mod recent;
mod recording_head;
pub(crate) mod view;

#[cfg(test)]
mod tests;
