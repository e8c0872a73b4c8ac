//! Recording: one thread from start to stop, and the writer thread that fills its files.

pub(crate) mod coverage;
mod ending;
mod event_buffer;
mod exit_code;
pub(crate) mod finish;
mod heap_trim;
pub(crate) mod lifecycle;
mod link;
mod output;
mod overlap;
pub(crate) mod own_frames;
pub(crate) mod process;
pub(crate) mod program_events;
mod rotation;
mod script_maps;
mod segments;
mod side_events;
mod signals;
mod sink;
pub(crate) mod state;
mod taken_window;
pub(crate) mod thread;
mod totals;
pub(crate) mod worker_name;
mod writer;
mod writer_loop;
mod written_time;
