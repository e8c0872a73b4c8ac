//! Finishes the recordings before a signal, or an event of the console on Windows, ends the process.

#[cfg(unix)]
mod posix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use self::posix as platform;
#[cfg(windows)]
use self::windows as platform;

pub(crate) use self::platform::{arm, is_pending};
pub(super) use self::platform::{pending_name, watch};
