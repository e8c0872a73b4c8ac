//! The conditions under which this process is recorded, or its history is kept.

mod kept_recordings;
mod share;
mod stall;
mod watch;
mod watcher;

pub(super) use self::watcher::watch;
