//! Work on other threads, whose result is JSON.
#![allow(unsafe_code)] // napi's macros write it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use napi::bindgen_prelude::*;

/// JSON, or a message for the user.
type WorkResult = std::result::Result<String, String>;

/// Work for a thread of libuv's pool.
pub(crate) struct Work(Option<Box<dyn FnOnce() -> WorkResult + Send>>);

impl Work {
    pub(crate) fn task(work: impl FnOnce() -> WorkResult + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(work))))
    }
}

impl Task for Work {
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

/// Returns the paths that texts are.
pub(crate) fn paths(texts: Vec<String>) -> Vec<PathBuf> {
    texts.into_iter().map(PathBuf::from).collect()
}

/// Returns a value as JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> WorkResult {
    serde_json::to_string(value).map_err(|error| error.to_string())
}
