//! What reports, comparisons and pages show: costs, states, owners, and the first sentence.

pub mod built_ins;
pub mod costs;
pub mod frame_index;
pub mod heap;
pub mod in_flight;
pub mod json;
pub mod label_costs;
pub mod lines;
pub mod met_conditions;
pub mod native;
pub mod owner;
pub mod owners;
pub mod path_tree;
pub mod process;
pub mod samples;
pub mod sentence;
pub mod session_costs;
