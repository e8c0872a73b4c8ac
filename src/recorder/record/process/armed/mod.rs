//! The armed threads of this process, and the recording of all of them that is started from outside or by
//! a condition.

mod recording;
mod threads;

pub(crate) use self::recording::*;
pub(crate) use self::threads::*;
