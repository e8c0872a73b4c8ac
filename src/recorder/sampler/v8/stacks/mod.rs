//! Copies of native stacks, taken in the signal handler.

mod javascript_code;
mod ring;

pub(crate) use self::javascript_code::JavaScriptCode;
pub(crate) use self::ring::{CopiedStack, StackRing};
