//! What has changed between two sets of runs.

pub(crate) mod changes;
pub(crate) mod compare;
mod compare_error;
pub(crate) mod given;
mod items;
pub(crate) mod json;
mod matching;
mod noise;
pub(crate) mod page;
mod run_costs;
mod short_path;
