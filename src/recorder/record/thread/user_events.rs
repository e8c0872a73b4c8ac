//! The events that the program adds to its own recording: user timings, and what it emits.

use super::recording::{RECORDING, ThreadRecording};
use crate::record::writer::event_loop::RecordingMessage;
use crate::sampler::v8::RequestNotes;
use cpu_prof_core::base::outside_text::event_name;
use cpu_prof_core::base::settings::categories::Category;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::write::event::At;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::timing::{self, Timing};

/// Returns the calling thread and this moment; None if the thread is not being recorded.
pub(crate) fn now() -> Option<At> {
    with_recording(now_of)
}

/// Returns what the calling thread's recording wants, as bits: 1 for user timings, 2 for requests of
/// HTTP, 4 for what TypeScript's compiler works on.
pub(crate) fn wanted_timings() -> u32 {
    let wanted = with_recording(|recording| {
        let bits = [Category::Timings, Category::Http, Category::TypeScript];
        let categories = recording.config.categories;
        let wanted =
            (0..).zip(bits).map(|(bit, category)| u32::from(categories.has(category)) << bit).sum();
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
    let name = &*event_name(name);
    with_recording(|recording| {
        let timing = timing(recording, name, detail, start);
        add_to(recording, |events| timing.mark(events));
    });
}

/// Adds a span that has ended. `start` is as for a mark.
pub(crate) fn measure(name: &str, detail: Option<&str>, start: (i64, f64), duration_us: i64) {
    let name = &*event_name(name);
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
    with_recording(ThreadRecording::take_requests);
}

/// Adds the start of a span that begins now. Returns the span's number in the recording's thread.
pub(crate) fn begin_span(name: &str, detail: Option<&str>) -> Option<u32> {
    let name = &*event_name(name);
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
    let name = &*event_name(name);
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
