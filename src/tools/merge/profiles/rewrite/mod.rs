//! Rewrites the profile of one thread: from several recordings into one, or from one into several
//! parts, with all samples or fewer.
//!
//! A path of the call tree has one id. Each part announces the nodes that its samples need, before
//! these samples.

mod rewriter;
mod thread_output;
mod tree;

pub(crate) use self::rewriter::ProfileRewriter;
