//! Merges many files into one trace that DevTools shows well, without holding the files in memory.
//!
//! The start of each file tells the kind of the file (`read::sniff`), and the processes are known
//! before anything is written ([`processes`]). Then file after file passes through:
//! - the only recording of a thread line by line, unchanged ([`recordings`]);
//! - several recordings of a thread, or a slice of one, sample by sample ([`rewrite`]);
//! - a `.cpuprofile` as the events of a thread ([`cpuprofile`]);
//! - any other trace event by event ([`foreign`]).
//!
//! The labels of processes ([`labels`]) and the metadata ([`metadata`]) come at the end.

mod choose_slices;
mod cpuprofile;
mod foreign;
mod labels;
mod members;
mod merger;
mod metadata;
pub(crate) mod notes;
pub(crate) mod outcome;
mod part;
mod processes;
mod recordings;
mod rewrite;
pub(crate) mod run;
mod slices;
#[cfg(test)]
mod tests;
