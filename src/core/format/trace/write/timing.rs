//! User timings as events, which DevTools draws in its track 'Timings' or in tracks of their own.

use super::event::Event;
use super::event_args::{Args, Data, TimingArgs};
use super::events::Events;

/// The category by which DevTools finds them.
const USER_TIMING: &str = "blink.user_timing";

/// A moment or a time that the program has named.
#[derive(Debug, Clone, Copy)]
pub struct Timing<'a> {
    /// Name.
    pub name: &'a str,
    /// Start by the trace's clock, microseconds.
    pub start_us: i64,
    /// Start by a clock of the program or of the recording, milliseconds.
    pub start_ms: f64,
    /// Further facts: JSON as a text, as DevTools expects it.
    pub detail: Option<&'a str>,
}

/// The thread of a timing.
#[derive(Debug, Clone, Copy)]
pub struct TimingThread {
    /// Process id.
    pub pid: u32,
    /// Node's thread id.
    pub tid: u32,
}

impl<'a> Timing<'a> {
    fn args(&self) -> TimingArgs<'a> {
        TimingArgs { start_time: self.start_ms, detail: self.detail }
    }

    /// Adds a mark.
    pub fn mark(&self, events: &mut Events, TimingThread { pid, tid }: TimingThread) {
        let args = Args::Data { data: Data::Mark(self.args()) };
        events.push(&Event::new("I", USER_TIMING, self.name, pid, tid, self.start_us, args));
    }

    /// Adds the start of a span. `id` is that of [`span_id`].
    pub fn begin(&self, events: &mut Events, thread: TimingThread, id: &'a str) {
        let TimingThread { pid, tid } = thread;
        let args = Args::Timing(self.args());
        let event = Event::new("b", USER_TIMING, self.name, pid, tid, self.start_us, args);
        events.push(&event.with_id(id));
    }
}

/// Adds the end of a span.
pub fn end(
    events: &mut Events,
    TimingThread { pid, tid }: TimingThread,
    name: &str,
    id: &str,
    end_us: i64,
) {
    let event = Event::new("e", USER_TIMING, name, pid, tid, end_us, Args::Empty {});
    events.push(&event.with_id(id));
}

/// Returns the id of a thread's `n`th span: unique in the whole trace, and no more than 64 bits.
pub fn span_id(TimingThread { pid, tid }: TimingThread, n: u32) -> String {
    let thread = u64::from(pid) << 10 | u64::from(tid & 0x3ff);
    format!("0x{:x}", thread << 32 | u64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timings_have_the_form_that_devtools_reads() {
        let thread = TimingThread { pid: 42, tid: 1 };
        let timing =
            Timing { name: "ready", start_us: 80_500, start_ms: 80.5, detail: Some(r#"{"a":1}"#) };
        let mut events = Events::default();
        timing.mark(&mut events, thread);
        let id = span_id(thread, 7);
        Timing { detail: None, ..timing }.begin(&mut events, thread, &id);
        end(&mut events, thread, "ready", &id, 90_000);
        let text = std::str::from_utf8(events.as_bytes()).unwrap();
        let expected = [
            r#"{"cat":"blink.user_timing","name":"ready","ph":"I","s":"t","pid":42,"tid":1,"ts":80500,"args":{"data":{"startTime":80.5,"detail":"{\"a\":1}"}}}"#,
            r#"{"cat":"blink.user_timing","name":"ready","ph":"b","id2":{"local":"0xa80100000007"},"pid":42,"tid":1,"ts":80500,"args":{"startTime":80.5}}"#,
            r#"{"cat":"blink.user_timing","name":"ready","ph":"e","id2":{"local":"0xa80100000007"},"pid":42,"tid":1,"ts":90000,"args":{}}"#,
        ];
        assert_eq!(text, expected.join(",\n"));
    }
}
