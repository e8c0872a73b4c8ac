//! User timings as events, which DevTools draws in its track 'Timings' or in tracks of their own.

use super::event::{At, Event};
use super::event_args::{Args, Data, TimingArgs};
use super::events::Events;

/// The category by which DevTools finds them.
pub const USER_TIMING: &str = "blink.user_timing";

/// A moment or a time that the program has named.
#[derive(Debug, Clone, Copy)]
pub struct Timing<'a> {
    /// Name.
    pub name: &'a str,
    /// Thread and start.
    pub at: At,
    /// Start by a clock of the program or of the recording, milliseconds.
    pub start_ms: f64,
    /// Further facts: JSON as a text, as DevTools expects it.
    pub detail: Option<&'a str>,
}

impl<'a> Timing<'a> {
    fn args(&self) -> TimingArgs<'a> {
        TimingArgs { start_time: self.start_ms, detail: self.detail }
    }

    /// Adds a mark.
    pub fn mark(&self, events: &mut Events) {
        let args = Args::Data { data: Data::Mark(self.args()) };
        events.push(&Event::moment(USER_TIMING, self.name, self.at, args));
    }

    /// Adds the start of a span. `id` is that of [`span_id`].
    pub fn begin(&self, events: &mut Events, id: &'a str) {
        let args = Args::Timing(self.args());
        events.push(&Event::begin(USER_TIMING, self.name, self.at, id, args));
    }
}

/// Adds the end of a span.
pub fn end(events: &mut Events, at: At, name: &str, id: &str) {
    events.push(&Event::end(USER_TIMING, name, at, id));
}

/// Returns the id of a thread's `n`th span: unique in the whole trace, and no more than 64 bits.
pub fn span_id(At { pid, tid, .. }: At, n: u32) -> String {
    let thread = u64::from(pid) << 10 | u64::from(tid & 0x3ff);
    format!("0x{:x}", thread << 32 | u64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timings_have_the_form_that_devtools_reads() {
        let at = At { pid: 42, tid: 1, ts: 80_500 };
        let timing = Timing { name: "ready", at, start_ms: 80.5, detail: Some(r#"{"a":1}"#) };
        let mut events = Events::default();
        timing.mark(&mut events);
        let id = span_id(at, 7);
        Timing { detail: None, ..timing }.begin(&mut events, &id);
        end(&mut events, At { ts: 90_000, ..at }, "ready", &id);
        let text = std::str::from_utf8(events.as_bytes()).unwrap();
        let expected = [
            r#"{"cat":"blink.user_timing","name":"ready","ph":"I","s":"t","pid":42,"tid":1,"ts":80500,"args":{"data":{"startTime":80.5,"detail":"{\"a\":1}"}}}"#,
            r#"{"cat":"blink.user_timing","name":"ready","ph":"b","id2":{"local":"0xa80100000007"},"pid":42,"tid":1,"ts":80500,"args":{"startTime":80.5}}"#,
            r#"{"cat":"blink.user_timing","name":"ready","ph":"e","id2":{"local":"0xa80100000007"},"pid":42,"tid":1,"ts":90000,"args":{}}"#,
        ];
        assert_eq!(text, expected.join(",\n"));
    }
}
