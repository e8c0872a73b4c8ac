//! Ticks: the stacks of threads that run no JavaScript, each time that such a thread has used some CPU time.
#![allow(unsafe_code)]

mod slot;
mod watched_threads;

pub(crate) use self::watched_threads::{ThreadTicks, Tick, WatchedThreads};
