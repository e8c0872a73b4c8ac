//! Functions that JavaScript calls to encode recordings for servers of profiles.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde::{Deserialize, Serialize};

use crate::slices::names::ProfileNames;
use crate::slices::payload::EncodedProfile;
use crate::slices::reader::{PushReader, PushStep, WindowBegin, WindowOptions};
use cpu_prof_core::files::input::Failed;
use cpu_prof_remote::push::environment::PushEnvironment;
use cpu_prof_remote::push::options::ServerKind;
use cpu_prof_tools::border::selection::JsSelection;
use cpu_prof_tools::border::work::{WorkError, error_for_user};
use cpu_prof_tools::read::selection::Selection;

/// A profile for a server.
#[napi(object)]
pub(crate) struct JsPayload {
    /// `PushMeta` as JSON.
    pub meta: String,
    /// The gzipped body.
    pub body: Buffer,
}

/// What a reader of windows has next.
#[napi(object)]
pub(crate) struct JsPushStep {
    /// Profiles of the next window.
    pub payloads: Vec<JsPayload>,
    /// Time before which there is nothing more, milliseconds; missing if the next window can be read.
    pub wait_ms: Option<f64>,
    /// Whether there is nothing more.
    pub is_end: bool,
    /// What the user has to know, `PushNews` as JSON.
    pub news: String,
}

/// What the user has not seen so far.
#[derive(Debug, Serialize)]
struct PushNews {
    notes: Vec<String>,
    failed: Vec<Failed>,
}

/// A step for JavaScript, before the JavaScript objects are made.
pub(crate) struct ReadStep {
    step: PushStep,
    news: String,
}

/// The reading of a window on a thread of libuv's pool.
pub(crate) struct PushWork(Arc<Mutex<PushReader>>);

impl Task for PushWork {
    type Output = ReadStep;
    type JsValue = JsPushStep;

    fn compute(&mut self) -> Result<ReadStep> {
        // A panic here would end the program.
        let result = catch_unwind(AssertUnwindSafe(|| -> std::result::Result<_, WorkError> {
            let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let step = reader.next()?;
            let news = PushNews { notes: reader.notes(), failed: reader.failed() };
            let news = serde_json::to_string(&news)?;
            Ok(ReadStep { step, news })
        }));
        result.map_err(panic_to_error)?.map_err(error_for_user)
    }

    fn resolve(&mut self, _env: Env, ReadStep { step, news }: ReadStep) -> Result<JsPushStep> {
        let (payloads, wait_ms, is_end) = match step {
            PushStep::Window(payloads) => (payloads, None, false),
            PushStep::Wait(ms) => (Vec::new(), Some(ms as f64), false),
            PushStep::End => (Vec::new(), None, true),
        };
        let payload = |EncodedProfile { meta, body }: EncodedProfile| {
            let meta = serde_json::to_string(&meta).unwrap_or_default();
            JsPayload { meta, body: body.into() }
        };
        let payloads = payloads.into_iter().map(payload).collect();
        Ok(JsPushStep { payloads, wait_ms, is_end, news })
    }
}

/// The settings of a reader of windows.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReaderOptions {
    kind: ServerKind,
    service: Option<String>,
    tags: BTreeMap<String, String>,
    window_ms: i64,
    follows: bool,
}

/// Returns a reader of the windows of files and folders. `options` are `ReaderOptions` as JSON, which take
/// precedence over the variables of the environment. The slice of the selection is of no use.
#[napi(js_name = "cpuProfPushReader", catch_unwind)]
pub(crate) fn push_reader(
    inputs: Vec<String>,
    options: String,
    variables: HashMap<String, String>,
    selection: JsSelection,
) -> Result<External<Arc<Mutex<PushReader>>>> {
    let options: ReaderOptions =
        serde_json::from_str(&options).map_err(|error| Error::from_reason(error.to_string()))?;
    let environment = PushEnvironment::read(|name| variables.get(name).cloned());
    let PushEnvironment { service, mut tags, .. } = environment.map_err(error_for_user)?;
    tags.extend(options.tags);
    let options = WindowOptions {
        kind: options.kind,
        names: ProfileNames { service: options.service.or(service), tags }.with_host(),
        window_ms: options.window_ms,
        begin: if options.follows { WindowBegin::Now } else { WindowBegin::Ended },
    };
    let inputs: Vec<PathBuf> = inputs.into_iter().map(PathBuf::from).collect();
    let reader = PushReader::new(inputs, options, Selection::from(selection));
    Ok(External::new(Arc::new(Mutex::new(reader))))
}

/// Reads the next window.
#[napi(js_name = "cpuProfPushNext", catch_unwind)]
pub(crate) fn push_next(reader: &External<Arc<Mutex<PushReader>>>) -> AsyncTask<PushWork> {
    AsyncTask::new(PushWork(Arc::clone(reader)))
}
