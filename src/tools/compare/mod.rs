//! What has changed between two sets of runs.

pub(crate) mod build;
mod callers;
mod items;
mod matching;
mod noise;
pub(crate) mod page;
mod run_costs;
mod shape;
mod short_path;
