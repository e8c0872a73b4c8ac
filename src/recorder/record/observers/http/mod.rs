//! Requests of HTTP. JavaScript notes those that have ended in memory (`lib/observed/requests.js`), from which the
//! thread takes them with each window.

mod request_log;

use std::cell::RefCell;
use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;

use self::request_log::RequestLog;
use super::observer::{Halves, ObservedThread, Observer, Start, ThreadObserver, WriterObserver};
use crate::record::files::appender::Appender;
use crate::sampler::v8::{NotedRequest, RequestNotes};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::categories::Category;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::write::request::HttpRequest;

/// The tracks of requests, in the order of their numbers in JavaScript.
const TRACKS: [&str; 3] = ["HTTP server", "HTTP requests", "fetch"];

/// The observer of requests.
pub(super) const OBSERVER: Observer =
    Observer { categories: &[Category::Http], is_always_on: false, begin };

fn begin(start: &Start<'_>) -> Halves {
    let waiting: Arc<Mutex<RequestLog>> = Arc::default();
    let thread = start.thread.clone();
    let requests =
        HttpRequests { thread, notes: RefCell::default(), waiting: Arc::clone(&waiting) };
    Halves::both(requests, RequestWriter { waiting })
}

/// Where JavaScript notes requests, and the time of Node's clock at which the program's clock was 0, microseconds.
type Notes = (RequestNotes, i64);

/// The requests of a thread.
pub(crate) struct HttpRequests {
    thread: ObservedThread,
    /// None until JavaScript has offered the memory.
    notes: RefCell<Option<Notes>>,
    waiting: Arc<Mutex<RequestLog>>,
}

impl HttpRequests {
    /// Lets requests that have ended be taken from notes.
    pub(crate) fn use_notes(&self, notes: RequestNotes, clock_offset_us: i64) {
        self.notes.replace(Some((notes, clock_offset_us)));
    }

    /// Makes sure that the requests are taken with a next window.
    pub(crate) fn has_some(&self) {
        self.thread.link.has_notes.set(true);
    }

    /// Takes the requests that JavaScript has noted. May be called in V8's interrupts.
    pub(crate) fn take(&self) {
        let Self { thread, notes, waiting } = self;
        let mut notes = notes.borrow_mut();
        let Some((notes, offset_us)) = notes.as_mut() else { return };
        let offset_us = *offset_us - system::node_clock_lead_us();
        let mut is_much = false;
        notes.take(|NotedRequest { kind, status, start_ms, duration_ms, name }| {
            let ts = offset_us + (start_ms * 1e3) as i64;
            let duration_us = (duration_ms * 1e3) as i64;
            // A recording that has just started finds requests that ended before.
            let is_wanted = !thread.link.has_failed.get() && ts + duration_us >= thread.start_us;
            let Some(track) = TRACKS.get(kind).filter(|_| is_wanted) else { return };
            let (number, at) = (thread.next_span(), thread.at(ts));
            let request = HttpRequest { number, track, status, at, start_ms, duration_us };
            is_much |= waiting.lock().add(name, request);
        });
        if is_much {
            thread.write_soon();
        }
    }
}

impl ThreadObserver for HttpRequests {
    fn end_window(&self) {
        self.take();
    }

    fn end(&self) {
        self.take();
    }
}

/// Writes the requests.
struct RequestWriter {
    waiting: Arc<Mutex<RequestLog>>,
}

impl WriterObserver for RequestWriter {
    fn write_waiting(&mut self, trace: &mut Appender<'_>) {
        /// These need a quarter of a megabyte, which the buffers keep.
        const PER_WRITE: usize = 500;
        let requests = mem::take(&mut *self.waiting.lock());
        if requests.dropped > 0 {
            *trace.dropped_events += requests.dropped;
            warn_once(&Error::DroppedEvents);
        }
        let mut requests = requests.iter();
        while requests.len() > 0 {
            let chunk = requests.by_ref().take(PER_WRITE);
            let count = chunk.len() as u64;
            let is_written = trace.append(|_, events| {
                chunk.for_each(|(name, request)| request.add_to(events, &name));
            });
            if !is_written {
                *trace.dropped_events += count;
            }
        }
    }
}
