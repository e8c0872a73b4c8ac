//! Reaches a Node environment from other threads: runs callbacks there, and reads its loop's times.

use std::ptr::{self, NonNull};

use parking_lot::Mutex;

use crate::sampler::v8::event_loop::{EventLoop, RawLoop};
use crate::sampler::v8::symbols::{self, Callback, current_environment};
use cpu_prof_core::base::error::Error;

/// Reaches a Node environment from other threads, as long as the environment lives.
pub(crate) struct Waker {
    api: &'static symbols::Api,
    /// None once the waker is closed.
    environment: Mutex<Option<Environment>>,
}

struct Environment {
    raw: NonNull<symbols::Environment>,
    event_loop: Option<RawLoop>,
}

// SAFETY: other threads only pass the pointer to `node::RequestInterrupt`, which any thread may
// call.
unsafe impl Send for Environment {}

impl Waker {
    /// Creates a waker for the environment of the current context, whose loop is `event_loop`. The
    /// waker must be closed before the environment is destroyed.
    pub(crate) fn new(event_loop: Option<&EventLoop>) -> Result<Self, Error> {
        let api = symbols::api()?;
        let raw = current_environment(api)
            .ok_or_else(|| Error::Unavailable("the thread has no Node environment".into()))?;
        let event_loop = event_loop.map(EventLoop::shared);
        Ok(Self { api, environment: Mutex::new(Some(Environment { raw, event_loop })) })
    }

    /// Returns another waker of the environment, whose loop is `event_loop`. The same holds for it. On the
    /// environment's thread, inside an interrupt, the environment cannot be looked up: the running context
    /// can be one that Node does not know.
    pub(crate) fn again(&self, event_loop: Option<&EventLoop>) -> Result<Self, Error> {
        let event_loop = event_loop.map(EventLoop::shared);
        match &*self.environment.lock() {
            Some(Environment { raw, .. }) => Ok(Self {
                api: self.api,
                environment: Mutex::new(Some(Environment { raw: *raw, event_loop })),
            }),
            None => Err(Error::Terminated),
        }
    }

    /// Requests that `callback` runs on the environment's thread: by V8's interrupt in busy code or
    /// by a wake-up of an idle event loop, whichever comes first. The loop is not kept alive.
    /// Returns false if the waker is closed.
    pub(crate) fn wake(&self, callback: Callback) -> bool {
        let environment = self.environment.lock();
        let Some(Environment { raw, .. }) = &*environment else { return false };
        // SAFETY: may be called on any thread. The environment lives as long as the lock is held.
        unsafe { (self.api.request_interrupt)(raw.as_ptr(), callback, ptr::null_mut()) };
        true
    }

    /// Requests that `callback` runs after the `exit` listeners, also at `process.exit()`. Must be
    /// called on the environment's thread.
    pub(crate) fn at_exit(&self, callback: Callback) {
        if let Some(Environment { raw, .. }) = &*self.environment.lock() {
            // SAFETY: the environment lives as long as the lock is held.
            unsafe { (self.api.at_exit)(raw.as_ptr(), callback, ptr::null_mut()) }
        }
    }

    /// Returns the time that the event loop has waited for events, up to now: microseconds. Returns
    /// None if the waker is closed, or if the sampling signal ends the loop's waits.
    pub(crate) fn waited_us(&self) -> Option<i64> {
        let environment = self.environment.lock();
        let event_loop = environment.as_ref()?.event_loop.as_ref()?;
        // SAFETY: the environment lives as long as the lock is held.
        Some(unsafe { event_loop.waited_us() })
    }

    /// Closes the waker: once this has returned, the environment is not used again.
    pub(crate) fn close(&self) {
        *self.environment.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_v8_gets_a_line_that_says_so() {
        let error = Waker::new(None).err().unwrap();
        assert!(!error.is_wrong_setting());
        let line = error.line();
        assert!(line.contains("does not export V8's profiler (no symbol _ZN"), "{line}");
    }
}
