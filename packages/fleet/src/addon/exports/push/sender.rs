//! Functions that JavaScript calls to send profiles. Waiting runs on threads of libuv's pool.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::profiles::JsPushMeta;
use cpu_prof_remote::push::environment::{ADDRESS, PushEnvironment};
use cpu_prof_remote::push::options::PushOptions;
use cpu_prof_remote::push::sender::Sender;
use cpu_prof_tools::border::work::{Work, error_for_user, json};

/// Opens a sender, which has a thread until it is finished or dropped. Takes `PushOptions`, which take
/// precedence over the variables of the environment, as the address does.
#[napi(js_name = "cpuProfPushOpen", catch_unwind)]
pub(crate) fn open(
    url: Option<String>,
    options: String,
    variables: HashMap<String, String>,
) -> Result<External<Arc<Sender>>> {
    // An error of serde could have a part of a header.
    let mut options: PushOptions = serde_json::from_str(&options)
        .map_err(|_| Error::from_reason("the options of the sender have a wrong form"))?;
    let environment = PushEnvironment::read(|name| variables.get(name).cloned());
    let environment = environment.map_err(error_for_user)?;
    environment.complete(&mut options);
    let url = url.or(environment.url).ok_or_else(|| {
        error_for_user(format!(
            "no server is named: use --to http://localhost:4040, or set {ADDRESS}"
        ))
    })?;
    let sender = Sender::open(&url, &options).map_err(error_for_user)?;
    Ok(External::new(Arc::new(sender)))
}

/// Returns the kind of the server: `pyroscope` or `otlp`.
#[napi(js_name = "cpuProfPushKind", catch_unwind, ts_return_type = "'pyroscope' | 'otlp'")]
pub(crate) fn kind(sender: &External<Arc<Sender>>) -> &'static str {
    sender.kind().name()
}

/// Offers a payload. Returns whether the payload was taken.
#[napi(js_name = "cpuProfPushOffer", catch_unwind)]
pub(crate) fn offer(
    sender: &External<Arc<Sender>>,
    meta: JsPushMeta,
    body: Buffer,
    waits: bool,
) -> AsyncTask<Work> {
    let (sender, body, meta) = (Arc::clone(sender), body.to_vec(), meta.into());
    Work::task(move || Ok(sender.offer(&meta, body, waits).to_string()))
}

/// Returns `PushCounts`.
#[napi(js_name = "cpuProfPushState", catch_unwind)]
pub(crate) fn state(sender: &External<Arc<Sender>>) -> Result<String> {
    serde_json::to_string(&sender.counts()).map_err(|error| Error::from_reason(error.to_string()))
}

/// Sends what waits until the time is over, and ends the thread. Returns `PushCounts`.
#[napi(js_name = "cpuProfPushFinish", catch_unwind)]
pub(crate) fn finish(sender: &External<Arc<Sender>>, timeout_ms: f64) -> AsyncTask<Work> {
    let most = Duration::from_millis(timeout_ms.max(0.0) as u64);
    let sender = Arc::clone(sender);
    Work::task(move || json(&sender.finish(most)))
}
