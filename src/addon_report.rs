//! Reports and conversions, as JavaScript asks for them: off its thread.
#![allow(unsafe_code)] // napi's macros write it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::convert;
use crate::load::{load, load_window};
use crate::profile::Wanted;
use crate::report;

/// Work for another thread, that gives text.
pub struct Work(Option<Box<dyn FnOnce() -> std::result::Result<String, String> + Send>>);

impl Work {
    fn task(
        work: impl FnOnce() -> std::result::Result<String, String> + Send + 'static,
    ) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(work))))
    }
}

impl Task for Work {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        let work = self.0.take().ok_or_else(|| Error::from_reason("it was done already"))?;
        // A panic here would end the program.
        let done = catch_unwind(AssertUnwindSafe(work));
        done.unwrap_or_else(|_| Err("something unforeseen happened; please report it".into()))
            .map_err(Error::from_reason)
    }

    fn resolve(&mut self, _env: Env, text: String) -> Result<String> {
        Ok(text)
    }
}

/// Gives a report as JSON. `top`, `from_ms` and `to_ms` may be infinite.
#[napi(catch_unwind)]
pub fn report(inputs: Vec<String>, top: f64, from_ms: f64, to_ms: f64) -> AsyncTask<Work> {
    Work::task(move || {
        let paths: Vec<PathBuf> = inputs.into_iter().map(PathBuf::from).collect();
        let loaded = if from_ms <= 0.0 && to_ms == f64::INFINITY {
            load(&paths, Wanted::TIMES)
        } else {
            load_window(&paths, from_ms, to_ms)
        };
        loaded.check()?;
        // Saturates.
        report::report(&loaded, top as usize).map_err(|error| error.to_string())
    })
}

/// Converts a file: gives those that were written, as a JSON list.
#[napi(catch_unwind)]
pub fn convert(input: String, output: String) -> AsyncTask<Work> {
    Work::task(move || {
        let files = convert::convert(input.as_ref(), output.as_ref())?;
        let files: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
        serde_json::to_string(&files).map_err(|error| error.to_string())
    })
}
