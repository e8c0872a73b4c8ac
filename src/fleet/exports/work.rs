//! Work on a thread of libuv's pool, which can wait there.

use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::*;

/// JSON, or a message for the user.
type FleetResult = std::result::Result<String, String>;

/// Work for a thread of libuv's pool.
pub(crate) struct FleetWork(Option<Box<dyn FnOnce() -> FleetResult + Send>>);

impl Task for FleetWork {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        let work = self.0.take().ok_or_else(|| Error::from_reason("the work has run already"))?;
        // A panic here would end the program.
        let result = catch_unwind(AssertUnwindSafe(work));
        result
            .unwrap_or_else(|_| Err("an internal error happened; please report it".into()))
            .map_err(Error::from_reason)
    }

    fn resolve(&mut self, _env: Env, json: String) -> Result<String> {
        Ok(json)
    }
}

impl FleetWork {
    pub(super) fn task(work: impl FnOnce() -> FleetResult + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(work))))
    }
}
