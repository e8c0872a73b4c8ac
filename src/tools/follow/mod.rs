//! Follows recordings that grow: what their threads did in the last seconds.

mod appended;
pub mod follower;
mod json;
mod needed_nodes;
mod recent;
mod recording_head;
pub mod view;

#[cfg(test)]
mod tests;
