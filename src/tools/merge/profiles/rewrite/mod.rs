//! Rewrites the profile of one thread: from several recordings into one, or a slice of one, with all
//! samples or fewer.
//!
//! A path of the call tree has one id. The nodes that samples need are announced before these samples.

mod rewriter;
mod thread_output;
mod tree;

pub use self::rewriter::{ProfileRewriter, SourceSample};
