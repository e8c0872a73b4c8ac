//! Plain data and call trees: what was sampled, and what was read back.

pub mod builder;
pub mod call_tree;
pub mod frame_table;
pub mod order;
pub mod program;
pub mod replay;
pub mod session;
pub mod window;
