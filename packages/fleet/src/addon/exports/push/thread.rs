//! The function that the recorder calls, on a thread of its own, to send what it records.
#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::slice;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::slices::pusher::Pusher;
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::push_request::{PushFunction, PushRequest};
use cpu_prof_core::base::stderr::warn;
use cpu_prof_remote::push::environment::PushEnvironment;

/// What sends the recordings of this process, since the first call.
static PUSHER: Mutex<Option<Pusher>> = Mutex::new(None);

/// Sends the slices that are complete. Takes a `PushRequest` as JSON. Returns the time to the next call,
/// milliseconds, or -1 if another call is in vain; the reason is on stderr by then.
///
/// # Safety
///
/// `request` points to so many bytes, which stay as they are during the call.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cpu_prof_push(request: *const u8, length: usize) -> i64 {
    // SAFETY: the caller vouches for the bytes.
    let request = unsafe { slice::from_raw_parts(request, length) };
    // Unwinding into the recorder would end the program.
    match catch_unwind(AssertUnwindSafe(|| step(request))) {
        Ok(Ok(wait)) => i64::try_from(wait.as_millis()).unwrap_or(i64::MAX),
        Ok(Err(reason)) => give_up(reason),
        Err(_) => give_up("an internal error happened; please report it".into()),
    }
}

const _: PushFunction = cpu_prof_push;

/// Returns the time to the next call.
fn step(request: &[u8]) -> Result<Duration, String> {
    let request: PushRequest = serde_json::from_slice(request).map_err(|_| {
        "the addons are of different versions; install the package again".to_owned()
    })?;
    let PushRequest { version, variables, slice_ms, files } = request;
    if version != env!("CARGO_PKG_VERSION") {
        return Err(format!(
            "the addon that records is {version}, and the other {}; install the package again",
            env!("CARGO_PKG_VERSION")
        ));
    }
    let mut pusher = PUSHER.lock().unwrap_or_else(PoisonError::into_inner);
    let pusher = match &mut *pusher {
        Some(pusher) => pusher,
        none => {
            let environment = PushEnvironment::read(|name| variables.get(name).cloned())?;
            let opened = Pusher::open(environment, Duration::from_millis(slice_ms))?;
            none.insert(opened.ok_or("no server is named; set CPU_PROF_PUSH")?)
        }
    };
    let step = pusher.step(files.into_iter().map(PathBuf::from).collect());
    if let Some(message) = step.message {
        warn(&Error::Push(message));
    }
    Ok(step.wait)
}

/// Tells the reason.
fn give_up(reason: String) -> i64 {
    warn(&Error::Push(reason));
    -1
}
