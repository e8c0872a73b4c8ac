//! Work on other threads, whose result is JSON, and the errors that JavaScript gets on purpose.
#![allow(unsafe_code)] // napi's macros write it.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use napi::bindgen_prelude::*;

/// An error whose text is a message for the user.
pub type WorkError = Box<dyn std::error::Error + Send + Sync>;

/// JSON, or a message for the user.
type WorkResult = std::result::Result<String, WorkError>;

/// Work for a thread of libuv's pool.
pub struct Work(Option<Box<dyn FnOnce() -> WorkResult + Send>>);

impl Work {
    pub fn task(work: impl FnOnce() -> WorkResult + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(work))))
    }
}

impl Task for Work {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        let work = self.0.take().ok_or_else(|| Error::from_reason("the work has run already"))?;
        // A panic here would end the program.
        catch_unwind(AssertUnwindSafe(work)).map_err(panic_to_error)?.map_err(error_for_user)
    }

    fn resolve(&mut self, _env: Env, json: String) -> Result<String> {
        Ok(json)
    }
}

/// Returns an error with a message for the user. By the beginning of the message, JavaScript knows the error from
/// a caught panic, which is a defect.
pub fn error_for_user(message: impl Display) -> Error {
    Error::from_reason(format!("cpu-prof: {message}"))
}

/// Returns the paths that texts are.
pub fn paths(texts: Vec<String>) -> Vec<PathBuf> {
    texts.into_iter().map(PathBuf::from).collect()
}

/// Returns a value as JSON.
pub fn json(value: &impl serde::Serialize) -> WorkResult {
    Ok(serde_json::to_string(value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn javascript_knows_a_panic_from_an_error_for_the_user() {
        let reason = |work: fn() -> WorkResult| {
            Work(Some(Box::new(work))).compute().map_err(|error| error.reason).unwrap_err()
        };
        assert_eq!(reason(|| Err("the disk is full".into())), "cpu-prof: the disk is full");
        assert_eq!(reason(|| panic!("a list is empty")), "a list is empty");
    }
}
