//! Functions that JavaScript calls to send profiles. Waiting runs on threads of libuv's pool; options and
//! answers are JSON.
#![allow(unsafe_code)] // napi's macros write it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::push::options::PushOptions;
use crate::push::query::PushMeta;
use crate::push::sender::Sender;

/// The error of a panic.
const PANIC: &str = "an internal error happened; please report it";

/// A payload on its way to the line.
pub(crate) struct Offer {
    sender: Arc<Sender>,
    meta: PushMeta,
    body: Vec<u8>,
    waits: bool,
}

impl Task for Offer {
    type Output = bool;
    type JsValue = bool;

    fn compute(&mut self) -> Result<bool> {
        let body = std::mem::take(&mut self.body);
        let offer = AssertUnwindSafe(|| self.sender.offer(&self.meta, body, self.waits));
        catch_unwind(offer).map_err(|_| Error::from_reason(PANIC))
    }

    fn resolve(&mut self, _env: Env, taken: bool) -> Result<bool> {
        Ok(taken)
    }
}

/// The wait for the last payloads.
pub(crate) struct Finish {
    sender: Arc<Sender>,
    most: Duration,
}

impl Task for Finish {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        let counts = catch_unwind(AssertUnwindSafe(|| self.sender.finish(self.most)));
        let counts = counts.map_err(|_| Error::from_reason(PANIC))?;
        serde_json::to_string(&counts).map_err(|error| Error::from_reason(error.to_string()))
    }

    fn resolve(&mut self, _env: Env, json: String) -> Result<String> {
        Ok(json)
    }
}

/// Opens a sender, which has a thread until it is finished or dropped. Takes `PushOptions`.
#[napi(js_name = "cpuProfPushOpen", catch_unwind)]
pub(crate) fn open(url: String, options: String) -> Result<External<Arc<Sender>>> {
    // An error of serde could have a part of a header.
    let options: PushOptions = serde_json::from_str(&options)
        .map_err(|_| Error::from_reason("the options of the sender have a wrong form"))?;
    let sender = Sender::open(&url, &options).map_err(Error::from_reason)?;
    Ok(External::new(Arc::new(sender)))
}

/// Returns the kind of the server: `pyroscope` or `otlp`.
#[napi(js_name = "cpuProfPushKind", catch_unwind)]
pub(crate) fn kind(sender: &External<Arc<Sender>>) -> &'static str {
    sender.kind()
}

/// Offers a payload. Takes `PushMeta`, and returns whether the payload was taken.
#[napi(js_name = "cpuProfPushOffer", catch_unwind)]
pub(crate) fn offer(
    sender: &External<Arc<Sender>>,
    meta: String,
    body: Buffer,
    waits: bool,
) -> Result<AsyncTask<Offer>> {
    let meta = serde_json::from_str(&meta)
        .map_err(|error| Error::from_reason(format!("what is told of a profile: {error}")))?;
    Ok(AsyncTask::new(Offer { sender: Arc::clone(sender), meta, body: body.to_vec(), waits }))
}

/// Returns `PushCounts`.
#[napi(js_name = "cpuProfPushState", catch_unwind)]
pub(crate) fn state(sender: &External<Arc<Sender>>) -> Result<String> {
    serde_json::to_string(&sender.counts()).map_err(|error| Error::from_reason(error.to_string()))
}

/// Sends what waits until the time is over, and ends the thread. Returns `PushCounts`.
#[napi(js_name = "cpuProfPushFinish", catch_unwind)]
pub(crate) fn finish(sender: &External<Arc<Sender>>, timeout_ms: f64) -> AsyncTask<Finish> {
    let most = Duration::from_millis(timeout_ms.max(0.0) as u64);
    AsyncTask::new(Finish { sender: Arc::clone(sender), most })
}
