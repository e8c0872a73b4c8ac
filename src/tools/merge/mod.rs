//! Merges many files into one trace that DevTools shows well, without holding the files in memory.
//!
//! A merge has three parts: the [`inputs`], which stay as they are while events are written; the
//! [`output`], which grows; and the [`findings`], which the result tells. The start of each file tells
//! the kind of the file (`read::sniff`), and the processes are known before anything is written.
//! A filter by names needs a first reading (`choose_threads`). Then file after file passes through:
//! - the only recording of a thread line by line, unchanged (`recordings`);
//! - several recordings of a thread, or a slice of one, sample by sample ([`profiles::rewrite`]);
//! - a `.cpuprofile` as the events of a thread ([`profiles::cpuprofile`]);
//! - any other trace event by event (`foreign`).
//!
//! What is not sound in a profile that is copied is repaired ([`profiles::copied`]).
//!
//! The frames of a page pass with their trace. The labels of processes and the metadata come at the
//! end ([`output::metadata`]).

mod choose_threads;
pub mod findings;
mod foreign;
pub mod inputs;
pub mod merge;
pub mod options;
pub mod output;
pub mod profiles;
mod recordings;
pub mod result;
#[cfg(test)]
mod tests;
