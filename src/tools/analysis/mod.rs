//! What reports, comparisons and pages share.

pub(crate) mod built_ins;
pub(crate) mod costs;
pub(crate) mod frame_index;
pub(crate) mod heap;
pub(crate) mod in_flight;
pub(crate) mod json;
pub(crate) mod label_costs;
pub(crate) mod lines;
pub(crate) mod met_conditions;
pub(crate) mod native;
pub(crate) mod owner;
pub(crate) mod owners;
pub(crate) mod path_tree;
pub(crate) mod process;
pub(crate) mod samples;
pub(crate) mod sentence;
pub(crate) mod session_costs;
