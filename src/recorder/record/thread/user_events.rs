//! The events that the program adds to its own recording: user timings, and what it emits.

use super::recording::{RECORDING, ThreadRecording};
use crate::record::writer::event_loop::RecordingMessage;
use cpu_prof_core::base::settings::values::Categories;
use cpu_prof_core::base::system;
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::format::trace::write::timing::{self, Timing, TimingThread};

/// Returns the ids that the events of the calling thread get; None if the thread is not being
/// recorded.
pub(crate) fn thread() -> Option<TimingThread> {
    with_recording(thread_of)
}

/// Returns which entries the calling thread's recording wants: 1 for user timings, 2 for requests of
/// HTTP, 3 for both.
pub(crate) fn wanted_timings() -> u32 {
    let wanted = with_recording(|recording| {
        let Categories { timings, http, .. } = recording.config.categories;
        let wanted = u32::from(timings) | u32::from(http) << 1;
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
        add_to(recording, |events| timing.mark(events, thread_of(recording)));
    });
}

/// Adds a span that has ended. `start` is as for a mark.
pub(crate) fn measure(name: &str, detail: Option<&str>, start: (i64, f64), duration_us: i64) {
    with_recording(|recording| {
        let thread = thread_of(recording);
        let timing = timing(recording, name, detail, Some(start));
        let id = timing::span_id(thread, recording.link.program_events.next_span());
        add_to(recording, |events| {
            timing.begin(events, thread, &id);
            timing::end(events, thread, name, &id, timing.start_us + duration_us);
        });
    });
}

/// Adds the start of a span that begins now. Returns the span's number in the recording's thread.
pub(crate) fn begin_span(name: &str, detail: Option<&str>) -> Option<u32> {
    with_recording(|recording| {
        let number = recording.link.program_events.next_span();
        let id = timing::span_id(thread_of(recording), number);
        let timing = timing(recording, name, detail, None);
        add_to(recording, |events| timing.begin(events, thread_of(recording), &id));
        number
    })
}

/// Adds the end of a span, which ends now.
pub(crate) fn end_span(name: &str, number: u32) {
    with_recording(|recording| {
        let thread = thread_of(recording);
        let id = timing::span_id(thread, number);
        let end_us = system::now_us();
        add_to(recording, |events| timing::end(events, thread, name, &id, end_us));
    });
}

fn add_to(recording: &ThreadRecording, encode: impl FnOnce(&mut Events)) {
    if !recording.link.has_failed.get() && recording.link.program_events.add(encode) {
        recording.tell_writer(RecordingMessage::Events);
    }
}

/// Returns a timing that starts at a time by the trace's clock, microseconds, and by a clock of the
/// program, milliseconds; now if none is given.
fn timing<'a>(
    recording: &ThreadRecording,
    name: &'a str,
    detail: Option<&'a str>,
    start: Option<(i64, f64)>,
) -> Timing<'a> {
    let (start_us, start_ms) = start.unwrap_or_else(|| {
        let now_us = system::now_us();
        (now_us, (now_us - recording.start_us) as f64 / 1000.0)
    });
    Timing { name, start_us, start_ms, detail }
}

fn thread_of(recording: &ThreadRecording) -> TimingThread {
    TimingThread { pid: recording.process.program.pid, tid: recording.thread_id }
}

fn with_recording<T>(f: impl FnOnce(&ThreadRecording) -> T) -> Option<T> {
    if system::is_forked() {
        return None;
    }
    RECORDING.with_borrow(|recording| recording.as_ref().map(f))
}
