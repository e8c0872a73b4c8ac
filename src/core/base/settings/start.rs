//! When a process is recorded.

mod condition;

pub use self::condition::{Condition, Share, StartSignal, Trigger};
