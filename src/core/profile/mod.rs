//! Plain data and call trees: windows that were sampled, and sessions that were read back.

pub mod compilation;
pub mod cpu_use;
pub mod ending;
pub mod frame;
pub mod frame_table;
pub mod gap;
pub mod gc;
pub mod label;
pub mod package;
pub mod position;
pub mod program;
pub mod session;
pub mod timeline;
pub mod wall_time;
pub mod window;
