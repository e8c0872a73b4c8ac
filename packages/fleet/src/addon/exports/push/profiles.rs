//! Functions that JavaScript calls to encode recordings for servers of profiles.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::slices::names::ProfileNames;
use crate::slices::payload::EncodedProfile;
use crate::slices::reader::{PushReader, PushStep, SliceBegin, SliceOptions};
use cpu_prof_core::files::input::Failed;
use cpu_prof_remote::push::environment::PushEnvironment;
use cpu_prof_remote::push::options::ServerKind;
use cpu_prof_remote::push::query::PushMeta;
use cpu_prof_tools::border::selection::JsSelection;
use cpu_prof_tools::border::work::{WorkError, error_for_user};
use cpu_prof_tools::read::selection::Selection;

/// What is known of a profile.
#[napi(object)]
pub(crate) struct JsPushMeta {
    /// Name of the service.
    pub name: String,
    /// Labels of the profile.
    pub labels: HashMap<String, String>,
    /// Start, milliseconds of Unix time.
    pub from_ms: f64,
    /// End, milliseconds of Unix time.
    pub until_ms: f64,
    /// Samples in a second.
    pub sample_rate: f64,
}

impl From<PushMeta> for JsPushMeta {
    fn from(meta: PushMeta) -> Self {
        let PushMeta { name, labels, from_ms, until_ms, sample_rate } = meta;
        Self { name, labels: labels.into_iter().collect(), from_ms, until_ms, sample_rate }
    }
}

impl From<JsPushMeta> for PushMeta {
    fn from(meta: JsPushMeta) -> Self {
        let JsPushMeta { name, labels, from_ms, until_ms, sample_rate } = meta;
        Self { name, labels: labels.into_iter().collect(), from_ms, until_ms, sample_rate }
    }
}

/// A profile for a server.
#[napi(object)]
pub(crate) struct JsPayload {
    /// What is known of the profile.
    pub meta: JsPushMeta,
    /// The gzipped body.
    pub body: Buffer,
}

/// What a reader of slices has next.
#[napi(object)]
pub(crate) struct JsPushStep {
    /// Profiles of the next slice.
    pub payloads: Vec<JsPayload>,
    /// Time before which there is nothing more, milliseconds; missing if the next slice can be read.
    pub wait_ms: Option<f64>,
    /// Whether there is nothing more.
    pub is_end: bool,
    /// What the user has not seen so far.
    pub news: JsPushNews,
}

/// What the user has to know.
#[napi(object)]
pub(crate) struct JsPushNews {
    /// Remarks, a sentence each.
    pub notes: Vec<String>,
    /// Files that could not be read.
    pub failed: Vec<JsFailed>,
}

/// A file that could not be read.
#[napi(object)]
pub(crate) struct JsFailed {
    /// Path, as it was given or found.
    pub file: String,
    /// The end of a sentence that begins with the file.
    pub reason: String,
}

/// A step for JavaScript, before the JavaScript objects are made.
pub(crate) struct ReadStep {
    step: PushStep,
    news: JsPushNews,
}

/// The reading of a slice on a thread of libuv's pool.
pub(crate) struct PushWork(Arc<Mutex<PushReader>>);

impl Task for PushWork {
    type Output = ReadStep;
    type JsValue = JsPushStep;

    fn compute(&mut self) -> Result<ReadStep> {
        // A panic here would end the program.
        let result = catch_unwind(AssertUnwindSafe(|| -> std::result::Result<_, WorkError> {
            let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let step = reader.next()?;
            let failed = |Failed { path, reason }| JsFailed {
                file: path.to_string_lossy().into_owned(),
                reason,
            };
            let failed = reader.failed().into_iter().map(failed).collect();
            let news = JsPushNews { notes: reader.notes(), failed };
            Ok(ReadStep { step, news })
        }));
        result.map_err(panic_to_error)?.map_err(error_for_user)
    }

    fn resolve(&mut self, _env: Env, ReadStep { step, news }: ReadStep) -> Result<JsPushStep> {
        let (payloads, wait_ms, is_end) = match step {
            PushStep::Slice(payloads) => (payloads, None, false),
            PushStep::Wait(ms) => (Vec::new(), Some(ms as f64), false),
            PushStep::End => (Vec::new(), None, true),
        };
        let payload = |EncodedProfile { meta, body }: EncodedProfile| JsPayload {
            meta: meta.into(),
            body: body.into(),
        };
        let payloads = payloads.into_iter().map(payload).collect();
        Ok(JsPushStep { payloads, wait_ms, is_end, news })
    }
}

/// The settings of a reader of slices.
#[napi(object)]
pub(crate) struct JsReaderOptions {
    /// Kind of the server.
    #[napi(ts_type = "'pyroscope' | 'otlp'")]
    pub kind: String,
    /// Name of the service; missing for the one of the environment, or of the process.
    pub service: Option<String>,
    /// Tags beside those of the environment.
    pub tags: HashMap<String, String>,
    /// Length of a slice, milliseconds.
    pub slice_ms: i64,
    /// Whether the recordings grow.
    pub follows: bool,
}

/// Returns a reader of the slices of files and folders. `options` take precedence over the variables of the
/// environment. The slice of the selection is of no use.
#[napi(js_name = "cpuProfPushReader", catch_unwind)]
pub(crate) fn push_reader(
    inputs: Vec<String>,
    options: JsReaderOptions,
    variables: HashMap<String, String>,
    selection: JsSelection,
) -> Result<External<Arc<Mutex<PushReader>>>> {
    let kind = ServerKind::named(&options.kind)
        .ok_or_else(|| Error::from_reason(format!("no server is of the kind {}", options.kind)))?;
    let environment = PushEnvironment::read(|name| variables.get(name).cloned());
    let PushEnvironment { service, mut tags, .. } = environment.map_err(error_for_user)?;
    tags.extend(options.tags);
    let options = SliceOptions {
        kind,
        names: ProfileNames { service: options.service.or(service), tags }.with_host(),
        slice_ms: options.slice_ms,
        begin: if options.follows { SliceBegin::Now } else { SliceBegin::Ended },
    };
    let inputs: Vec<PathBuf> = inputs.into_iter().map(PathBuf::from).collect();
    let reader = PushReader::new(inputs, options, Selection::from(selection));
    Ok(External::new(Arc::new(Mutex::new(reader))))
}

/// Reads the next slice.
#[napi(js_name = "cpuProfPushNext", catch_unwind)]
pub(crate) fn push_next(reader: &External<Arc<Mutex<PushReader>>>) -> AsyncTask<PushWork> {
    AsyncTask::new(PushWork(Arc::clone(reader)))
}
