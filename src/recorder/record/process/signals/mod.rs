//! Finishes the recordings before a signal, or an event of the console on Windows, ends the process.

#[cfg(unix)]
mod posix;
#[cfg(unix)]
mod start_signal;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use self::posix as platform;
#[cfg(windows)]
use self::windows as platform;

pub(crate) use self::platform::{arm, is_pending};
pub(super) use self::platform::{pending_name, watch};
#[cfg(unix)]
pub(in crate::record) use self::start_signal::listen;
#[cfg(windows)]
pub(in crate::record) use self::windows::listen;
