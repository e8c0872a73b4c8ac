//! The first sentence: why the run took that long, chosen by rule from the evidence. No rule says more than
//! the numbers of the report do, and where no rule holds there is no sentence.

mod culprit;
mod death;
mod elsewhere;
mod evidence;
mod native_code;
mod outside;
mod rules;
mod thresholds;
mod words;
mod work;
mod work_label;

pub use evidence::Evidence;
pub use rules::sentence;
