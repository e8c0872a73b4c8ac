//! The events that the program adds to its own recording: user timings, and what it emits.

use super::recording::{RECORDING, ThreadRecording};
use crate::record::writer::event_loop::RecordingMessage;
use crate::sampler::v8::{NotedRequest, RequestNotes};
use cpu_prof_core::base::settings::values::Categories;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::write::event::At;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::request::HttpRequest;
use cpu_prof_core::format::trace::write::timing::{self, Timing};

/// Returns the calling thread and this moment; None if the thread is not being recorded.
pub(crate) fn now() -> Option<At> {
    with_recording(now_of)
}

/// Returns what the calling thread's recording wants, as bits: 1 for user timings, 2 for requests of
/// HTTP, 4 for what TypeScript's compiler works on.
pub(crate) fn wanted_timings() -> u32 {
    let wanted = with_recording(|recording| {
        let Categories { timings, http, typescript, .. } = recording.config.categories;
        let wanted = u32::from(timings) | u32::from(http) << 1 | u32::from(typescript) << 2;
        if recording.config.formats.trace { wanted } else { 0 }
    });
    wanted.unwrap_or_default()
}

/// Adds events to the calling thread's recording, if there is one.
pub(crate) fn add(encode: impl FnOnce(&mut Events)) {
    with_recording(|recording| add_to(recording, encode));
}

/// Notes the beginning of a call that the program emits.
pub(crate) fn begin_call(name: &str) {
    with_recording(|recording| recording.link.program_events.begin_call(name));
}

/// Returns the name of the call whose end the program emits.
pub(crate) fn end_call() -> Option<String> {
    with_recording(|recording| recording.link.program_events.end_call()).flatten()
}

/// Adds a mark. `start` is its time, as `timing` takes it.
pub(crate) fn mark(name: &str, detail: Option<&str>, start: Option<(i64, f64)>) {
    with_recording(|recording| {
        let timing = timing(recording, name, detail, start);
        add_to(recording, |events| timing.mark(events));
    });
}

/// Adds a span that has ended. `start` is as for a mark.
pub(crate) fn measure(name: &str, detail: Option<&str>, start: (i64, f64), duration_us: i64) {
    with_recording(|recording| {
        let timing = timing(recording, name, detail, Some(start));
        let id = timing::span_id(timing.at, recording.link.program_events.next_span());
        let end = At { ts: timing.at.ts + duration_us, ..timing.at };
        add_to(recording, |events| {
            timing.begin(events, &id);
            timing::end(events, end, name, &id);
        });
    });
}

/// Lets requests that have ended be taken from notes.
pub(crate) fn use_request_notes(notes: RequestNotes, clock_offset_us: i64) {
    with_recording(|recording| {
        recording.request_notes.replace(Some((notes, clock_offset_us)));
    });
}

/// Makes sure that the calling thread's recording takes the requests with a next window.
pub(crate) fn has_requests() {
    with_recording(|recording| recording.link.has_requests.set(true));
}

/// Takes the requests of the calling thread that JavaScript has noted.
pub(crate) fn take_requests() {
    with_recording(take_requests_of);
}

/// The tracks of requests, in the order of their numbers in JavaScript.
const TRACKS: [&str; 3] = ["HTTP server", "HTTP requests", "fetch"];

/// Takes the requests of a recording of the calling thread. May be called in V8's interrupts.
pub(super) fn take_requests_of(recording: &ThreadRecording) {
    let link = &recording.link;
    link.has_requests.set(false);
    let mut notes = recording.request_notes.borrow_mut();
    let Some((notes, offset_us)) = notes.as_mut() else { return };
    let now = now_of(recording);
    let offset_us = *offset_us - system::node_clock_lead_us();
    let mut is_much = false;
    notes.take(|NotedRequest { kind, status, start_ms, duration_ms, name }| {
        let ts = offset_us + (start_ms * 1e3) as i64;
        let duration_us = (duration_ms * 1e3) as i64;
        // A recording that has just started finds requests that ended before.
        let is_earlier = ts + duration_us < recording.start_us;
        let Some(track) = TRACKS.get(kind).filter(|_| !is_earlier && !link.has_failed.get()) else {
            return;
        };
        let (number, at) = (link.program_events.next_span(), At { ts, ..now });
        let request = HttpRequest { number, track, status, at, start_ms, duration_us };
        is_much |= link.program_events.add_request(name, request);
    });
    if is_much {
        recording.tell_writer(RecordingMessage::Events);
    }
}

/// Adds the start of a span that begins now. Returns the span's number in the recording's thread.
pub(crate) fn begin_span(name: &str, detail: Option<&str>) -> Option<u32> {
    with_recording(|recording| {
        let number = recording.link.program_events.next_span();
        let timing = timing(recording, name, detail, None);
        let id = timing::span_id(timing.at, number);
        add_to(recording, |events| timing.begin(events, &id));
        number
    })
}

/// Adds the end of a span, which ends now.
pub(crate) fn end_span(name: &str, number: u32) {
    with_recording(|recording| {
        let at = now_of(recording);
        let id = timing::span_id(at, number);
        add_to(recording, |events| timing::end(events, at, name, &id));
    });
}

fn add_to(recording: &ThreadRecording, encode: impl FnOnce(&mut Events)) {
    if !recording.link.has_failed.get() && recording.link.program_events.add(encode) {
        recording.tell_writer(RecordingMessage::Events);
    }
}

/// Returns a timing that starts at a time by Node's clock, microseconds, and by a clock of the program,
/// milliseconds; now if none is given.
fn timing<'a>(
    recording: &ThreadRecording,
    name: &'a str,
    detail: Option<&'a str>,
    start: Option<(i64, f64)>,
) -> Timing<'a> {
    let now = now_of(recording);
    let since_start_ms = (now.ts - recording.start_us) as f64 / 1000.0;
    let start = start.map(|(us, ms)| (us - system::node_clock_lead_us(), ms));
    let (ts, start_ms) = start.unwrap_or((now.ts, since_start_ms));
    Timing { name, at: At { ts, ..now }, start_ms, detail }
}

fn now_of(recording: &ThreadRecording) -> At {
    At { pid: recording.process.program.pid, tid: recording.thread_id, ts: system::now_us() }
}

fn with_recording<T>(f: impl FnOnce(&ThreadRecording) -> T) -> Option<T> {
    if system::is_forked() {
        return None;
    }
    RECORDING.with_borrow(|recording| recording.as_ref().map(f))
}
