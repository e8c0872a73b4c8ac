//! Recording: one thread from start to stop, and the writer thread that fills its files.

pub(crate) mod coverage;
mod finish;
mod heap_trim;
mod lifecycle;
mod link;
mod output;
pub(crate) mod own_frames;
pub(crate) mod process;
mod segments;
mod signals;
mod sink;
pub(crate) mod state;
pub(crate) mod thread;
pub(crate) mod worker_name;
mod writer;
mod writer_loop;
