//! The conditions under which an armed process is recorded.

mod share;
mod stall;
mod watch;
