//! What has changed between two sets of runs.

pub mod changes;
pub mod compare;
mod compare_error;
pub mod given;
mod items;
pub mod json;
mod matching;
mod noise;
pub mod page;
mod run_costs;
mod short_path;
