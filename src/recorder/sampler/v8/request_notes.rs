//! Requests that JavaScript notes in memory which the thread takes them from: a call into the addon for each
//! request would cost as much as all the rest.

use std::ptr::NonNull;

use napi::bindgen_prelude::{Float64Array, Uint16Array};

/// Count of the numbers of a request.
const FIELDS: usize = 6;

/// The memory in which JavaScript notes requests that have ended. Used on the thread only.
pub(crate) struct RequestNotes {
    /// The count of the requests, the count of the used units, and the numbers of each request.
    numbers: NonNull<[f64]>,
    /// The names, UTF-16.
    units: NonNull<[u16]>,
}

/// A request that JavaScript has noted. Times are milliseconds by the clock of `performance.now()`.
pub(crate) struct NotedRequest<'a> {
    /// The number of the request's kind.
    pub kind: usize,
    /// Status of the response.
    pub status: Option<u32>,
    /// Start.
    pub start_ms: f64,
    /// Length.
    pub duration_ms: f64,
    /// Method and path, UTF-16.
    pub name: &'a [u16],
}

impl RequestNotes {
    /// Creates the notes in arrays that JavaScript keeps as long as the environment, each with a buffer of
    /// its own.
    pub(crate) fn new(mut numbers: Float64Array, mut units: Uint16Array) -> Self {
        // SAFETY: nobody else uses the memory during the call. Later both sides use the memory on this
        // thread, one at a time.
        let (numbers, units) = unsafe { (numbers.as_mut(), units.as_mut()) };
        Self { numbers: NonNull::from(numbers), units: NonNull::from(units) }
    }

    /// Takes all requests. May be called in V8's interrupts.
    pub(crate) fn take(&mut self, mut each: impl FnMut(NotedRequest<'_>)) {
        // SAFETY: the memory is there as long as the environment, which outlives the recording of its thread.
        // JavaScript is not running: this is called by JavaScript, or in an interrupt.
        let (numbers, units) = unsafe { (self.numbers.as_mut(), self.units.as_ref()) };
        let Some(([count, used], requests)) = numbers.split_first_chunk_mut() else { return };
        for request in requests.as_chunks::<FIELDS>().0.iter().take(*count as usize) {
            let [kind, status, from, length, start_ms, duration_ms] = *request;
            let name = units.get(from as usize..).and_then(|rest| rest.get(..length as usize));
            each(NotedRequest {
                kind: kind as usize,
                status: (status > 0.0).then_some(status as u32),
                start_ms,
                duration_ms,
                name: name.unwrap_or_default(),
            });
        }
        (*count, *used) = (0.0, 0.0);
    }
}
