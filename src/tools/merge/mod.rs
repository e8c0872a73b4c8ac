//! Merges many files into one trace that DevTools shows well, without holding the files in memory.
//!
//! The start of each file tells the kind of the file (`read::sniff`), and the processes are known
//! before anything is written ([`inputs`]). Slices and filters need a first reading ([`plan`]), which
//! chooses the parts and the threads. Then file after file passes through:
//! - the only recording of a thread line by line, unchanged ([`recordings`]);
//! - several recordings of a thread, or a slice of one, sample by sample, and a `.cpuprofile` as the
//!   events of a thread ([`profiles`]);
//! - any other trace event by event ([`foreign`]).
//!
//! What is not sound in a profile that is copied is repaired ([`profiles`]). The labels of processes
//! ([`output`]) and the metadata ([`metadata`]) come at the end.

mod foreign;
pub(crate) mod inputs;
pub(crate) mod merge;
mod merger;
mod metadata;
pub(crate) mod outcome;
pub(crate) mod output;
pub(crate) mod plan;
pub(crate) mod profiles;
mod recordings;
#[cfg(test)]
mod tests;
