//! Encoded events, one a line, with separators between them.

use serde::Serialize;

use crate::format::ascii_json::encode;
use crate::format::trace::lines::SEPARATOR;

/// Encoded events that wait to be written.
#[derive(Default)]
pub struct Events {
    bytes: Vec<u8>,
    /// Length of the events before the provisional ones, bytes; none if there are none.
    lasting: Option<usize>,
}

impl Events {
    /// Appends one event.
    pub fn push(&mut self, event: &impl Serialize) {
        self.push_with(|bytes| encode(bytes, event));
    }

    /// Appends one event, which `write` encodes.
    pub(super) fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.separate();
        write(&mut self.bytes);
    }

    /// Adds the separator before the next event.
    fn separate(&mut self) {
        if !self.bytes.is_empty() {
            self.bytes.extend_from_slice(SEPARATOR);
        }
    }

    /// Appends events that are encoded already, with separators between them.
    pub fn push_encoded(&mut self, events: &[u8]) {
        if !events.is_empty() {
            self.separate();
            self.bytes.extend_from_slice(events);
        }
    }

    /// Makes all later events provisional: the next flush replaces them.
    pub fn begin_provisional(&mut self) {
        self.lasting.get_or_insert(self.bytes.len());
    }

    /// Returns the length of the events that last, bytes, without a separator after them.
    pub fn lasting_bytes(&self) -> usize {
        self.lasting.unwrap_or(self.bytes.len())
    }

    /// Returns the events, without a separator before the first or after the last.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the count of the events.
    pub fn count(&self) -> u64 {
        let separators = memchr::memchr_iter(b'\n', &self.bytes).count();
        (separators + usize::from(!self.bytes.is_empty())) as u64
    }

    /// Removes the events. Keeps memory for the next flush, but not as much as an unusually large
    /// flush needed.
    pub fn clear(&mut self) {
        const KEPT_BYTES: usize = 256 << 10;
        self.lasting = None;
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::trace::write::event::{At, Event};
    use crate::format::trace::write::event_args::Args;

    const AT: At = At { pid: 1, tid: 2, ts: 3 };

    #[test]
    fn every_phase_has_its_letter_and_fields() {
        let none = || Args::Empty {};
        for (event, fields, dur) in [
            (Event::moment("c", "n", AT, none()), r#""ph":"I","s":"t""#, ""),
            (Event::counter("c", "n", AT, none()), r#""ph":"C""#, ""),
            (Event::complete("c", "n", AT, 7, none()), r#""ph":"X""#, r#","dur":7"#),
            (Event::begin("c", "n", AT, "0x9", none()), r#""ph":"b","id2":{"local":"0x9"}"#, ""),
            (Event::end("c", "n", AT, "0x9"), r#""ph":"e","id2":{"local":"0x9"}"#, ""),
        ] {
            let mut events = Events::default();
            events.push(&event);
            let expected = format!(
                r#"{{"cat":"c","name":"n",{fields},"pid":1,"tid":2,"ts":3{dur},"args":{{}}}}"#
            );
            assert_eq!(String::from_utf8(events.bytes).unwrap(), expected);
        }
        let mut events = Events::default();
        events.push(&Event::profile("0x9", AT));
        let text = String::from_utf8(events.bytes).unwrap();
        assert!(text.contains(r#""ph":"P","id":"0x9","pid":1,"tid":2,"ts":3,"args":{"#), "{text}");
    }

    #[test]
    fn one_event_a_line() {
        let event = Event::thread_name(AT, "a\nb");
        let mut events = Events::default();
        events.push(&event);
        events.push(&event);
        let text = std::str::from_utf8(events.as_bytes()).unwrap();
        assert_eq!(text.split(",\n").count(), 2);
        assert_eq!(text.matches('\n').count(), 1);
        assert_eq!((events.count(), Events::default().count()), (2, 0));
    }
}
