//! Plain data and call trees: windows that were sampled, and sessions that were read back.

pub(crate) mod blocked;
pub(crate) mod builder;
pub(crate) mod call_tree;
pub(crate) mod collection;
pub(crate) mod cpu_use;
pub(crate) mod ending;
pub(crate) mod frame;
pub(crate) mod frame_table;
pub(crate) mod gap;
pub(crate) mod idle;
pub(crate) mod order;
pub(crate) mod owner;
pub(crate) mod package;
pub(crate) mod path_ids;
pub(crate) mod position;
pub(crate) mod program;
pub(crate) mod replay;
pub(crate) mod session;
pub(crate) mod task;
#[cfg(test)]
pub(crate) mod test_windows;
pub(crate) mod thinner;
pub(crate) mod thread_profile;
pub(crate) mod time_shift;
pub(crate) mod timeline;
pub(crate) mod window;
