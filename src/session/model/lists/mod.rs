//! Long lists of a profile, in little memory.

pub mod sample_list;
pub mod steps;
