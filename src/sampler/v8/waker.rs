//! Runs callbacks on the thread of a Node environment, asked for by other threads.

use std::ptr::{self, NonNull};

use parking_lot::Mutex;

use super::symbols::{self, Callback};
use crate::base::error::Error;

/// Reaches a Node environment from other threads, as long as the environment lives.
pub(crate) struct Waker {
    api: &'static symbols::Api,
    /// None once the waker is closed.
    environment: Mutex<Option<EnvironmentPtr>>,
}

struct EnvironmentPtr(NonNull<symbols::Environment>);

// SAFETY: other threads only pass the pointer to `node::RequestInterrupt`, which any thread may
// call.
unsafe impl Send for EnvironmentPtr {}

impl Waker {
    /// Creates a waker for the environment of the current context. The waker must be closed before
    /// the environment is destroyed.
    pub(crate) fn new() -> Result<Self, Error> {
        let api = symbols::api()?;
        // SAFETY: this is the isolate's own thread, inside a call from JavaScript, and so inside a
        // context and a handle scope.
        let environment = unsafe {
            let isolate = (api.isolate_try_get_current)();
            if isolate.is_null() {
                ptr::null_mut()
            } else {
                (api.get_current_environment)((api.isolate_get_current_context)(isolate))
            }
        };
        let environment = NonNull::new(environment)
            .ok_or_else(|| Error::Unavailable("the thread has no Node environment".into()))?;
        Ok(Self { api, environment: Mutex::new(Some(EnvironmentPtr(environment))) })
    }

    /// Requests that `callback` runs on the environment's thread: by V8's interrupt in busy code or
    /// by a wake-up of an idle event loop, whichever comes first. The loop is not kept alive.
    /// Returns false if the waker is closed.
    pub(crate) fn wake(&self, callback: Callback) -> bool {
        let environment = self.environment.lock();
        let Some(EnvironmentPtr(raw)) = &*environment else { return false };
        // SAFETY: may be called on any thread. The environment lives as long as the lock is held.
        unsafe { (self.api.request_interrupt)(raw.as_ptr(), callback, ptr::null_mut()) };
        true
    }

    /// Requests that `callback` runs after the `exit` listeners, also at `process.exit()`. Must be
    /// called on the environment's thread.
    pub(crate) fn at_exit(&self, callback: Callback) {
        if let Some(EnvironmentPtr(raw)) = &*self.environment.lock() {
            // SAFETY: the environment lives as long as the lock is held.
            unsafe { (self.api.at_exit)(raw.as_ptr(), callback, ptr::null_mut()) }
        }
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
        let error = Waker::new().err().unwrap();
        assert!(!error.is_wrong_setting());
        let line = error.line();
        assert!(line.contains("does not export V8's profiler (no symbol _ZN"), "{line}");
    }
}
