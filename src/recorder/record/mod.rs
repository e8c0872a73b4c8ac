//! Recording: one folder for each side of the hand-over of windows.

mod conditions;
mod files;
mod link;
pub(crate) mod observers;
mod output;
pub(crate) mod process;
pub(crate) mod thread;
pub(crate) mod window;
mod writer;
