//! The tables of one run for the lake: what of many runs is kept for questions about all of them.

mod facts;
mod file_identity;
mod groups;
mod output;
mod rows;
mod run_id;
mod run_start;
mod stack_times;
pub(crate) mod tables;
mod tables_error;
#[cfg(test)]
mod tests;
