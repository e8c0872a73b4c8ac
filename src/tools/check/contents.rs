//! The contents of a file, which pass through a parser item by item.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufReader, Cursor, ErrorKind, Read};

use memchr::memchr_iter;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::cpuprofile::ProfileChecks;
use super::events::{Contents, EventChecks};
use cpu_prof_core::files::input::first_bytes;
use cpu_prof_core::format::trace::check::event_text::WrittenValue;
use cpu_prof_core::format::trace::check::problems::Problems;
use cpu_prof_core::format::trace::ours;
use cpu_prof_session::formats::trace::event::head::EventHead;
use cpu_prof_session::formats::trace::samples::GlobalSamples;
use cpu_prof_session::formats::trace::scan::MAX_VALUE_BYTES;

/// Reads a file, and checks its contents.
pub(super) fn contents(file: impl Read, to: &mut Problems) -> Contents {
    let position = TextPosition::default();
    let text = match counted(file, &position) {
        Ok(text) => text,
        Err(error) => {
            to.fatal(unreadable(&error));
            return Contents::default();
        }
    };
    let mut json = serde_json::Deserializer::from_reader(text);
    let samples = GlobalSamples::default();
    let (events, profile, is_ours) = (None, None, false);
    let mut checks = FileChecks { position: &position, events, profile, samples, is_ours, to };
    let parsed = json.deserialize_any(&mut checks).and_then(|()| json.end());
    let FileChecks { events, profile, samples, .. } = checks;
    if let Err(error) = parsed {
        to.line = if error.is_io() { position.line.get() + 1 } else { error.line() };
        to.fatal(broken(&error));
        return Contents::default();
    }
    to.line = 0;
    match (events, profile) {
        (Some(events), _) => events.finish(samples, to),
        (None, Some(profile)) if profile.is_profile() => {
            let samples = profile.finish(to);
            Contents { kind: Some("cpuprofile"), profiles: 1, samples, ..Contents::default() }
        }
        (None, _) if samples.count() > 0 => EventChecks::default().finish(samples, to),
        (None, profile) => {
            to.line = 1;
            to.fatal(profile.and_then(|profile| profile.other()).unwrap_or(NEITHER));
            Contents::default()
        }
    }
}

const NEITHER: &str = "the file is neither a trace (traceEvents) nor a profile (nodes)";

/// Returns why a file cannot be read.
pub(super) fn unreadable(error: &dyn fmt::Display) -> String {
    format!("the file cannot be read: {error}")
}

/// Returns what is wrong with a file that cannot be parsed.
fn broken(error: &serde_json::Error) -> String {
    match error.io_error_kind() {
        Some(ErrorKind::FileTooLarge) => format!(
            "an event or a member of the file is larger than {} MB: no tool of cpu-prof reads it",
            MAX_VALUE_BYTES >> 20
        ),
        // The rest of compressed data is missing.
        Some(kind) if kind != ErrorKind::UnexpectedEof => unreadable(error),
        None if error.is_data() => NEITHER.to_owned(),
        None if error.to_string().starts_with("invalid unicode") => {
            "the file is not UTF-8".to_owned()
        }
        None if !error.is_eof() => format!("the file is not JSON: {error}"),
        _ => "the file is cut off; cpu-prof merge writes a whole trace of what is there".to_owned(),
    }
}

/// What was read so far.
#[derive(Debug, Default)]
struct TextPosition {
    /// Line of the last byte, from 0.
    line: Cell<usize>,
    /// Whether the last byte is a line end.
    is_line_end: Cell<bool>,
    /// Bytes since the start of an event, or of a member of the file.
    item_bytes: Cell<usize>,
}

/// A text that counts its lines, and limits the size of each item.
struct CountedText<'a, R> {
    reader: R,
    position: &'a TextPosition,
}

/// Returns the text of a file, without a mark of its byte order.
fn counted(file: impl Read, position: &TextPosition) -> io::Result<CountedText<'_, impl Read>> {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    let (mut start, rest) = first_bytes(file, BYTE_ORDER_MARK.len())?;
    if start == BYTE_ORDER_MARK {
        start.clear();
    }
    Ok(CountedText { reader: BufReader::new(Cursor::new(start).chain(rest)), position })
}

impl<R: Read> Read for CountedText<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(out)?;
        let (text, position) = (&out[..length], self.position);
        if let [rest @ .., last] = text {
            let before = usize::from(position.is_line_end.replace(*last == b'\n'));
            let lines = before + memchr_iter(b'\n', rest).count();
            position.line.set(position.line.get() + lines);
        }
        position.item_bytes.set(position.item_bytes.get() + length);
        if position.item_bytes.get() > MAX_VALUE_BYTES {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok(length)
    }
}

/// The members by which recordings and merged traces of ours are known.
const OUR_MARKS: [&str; 2] = ["metadata", "source"];

/// The checks of a file, whose kind is known only from its members.
struct FileChecks<'a> {
    position: &'a TextPosition,
    events: Option<EventChecks>,
    profile: Option<ProfileChecks>,
    samples: GlobalSamples,
    /// Whether the trace is one of ours. A program can add any event to it, none of which is a sample.
    is_ours: bool,
    to: &'a mut Problems,
}

/// Reads the value of `traceEvents`.
impl<'de> DeserializeSeed<'de> for &mut FileChecks<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, events: D) -> Result<(), D::Error> {
        events.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for &mut FileChecks<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let events = self.events.get_or_insert_default();
        while let Some(event) = list.next_element::<Box<RawValue>>()? {
            let text = event.get();
            // A parser has read one byte more to find the end of a number.
            self.to.line =
                self.position.line.get() + 1 - memchr_iter(b'\n', text.as_bytes()).count();
            events.event(text, self.to);
            if !self.is_ours
                && text.contains("\"P\"")
                && let Some(head) = EventHead::of_any(text.as_bytes())
            {
                self.samples.event(&head, text.as_bytes());
            }
            self.position.item_bytes.set(0);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut file: A) -> Result<(), A::Error> {
        loop {
            self.position.item_bytes.set(0);
            // A key can have a half of a surrogate pair, which is no text for Rust.
            let Some(key) = file.next_key::<Box<RawValue>>()? else { return Ok(()) };
            let key = WrittenValue::of(key.get()).text().unwrap_or_default();
            if key == "traceEvents" {
                file.next_value_seed(&mut *self)?;
                continue;
            }
            if OUR_MARKS.contains(&&*key) {
                let value = file.next_value::<Box<RawValue>>()?;
                self.is_ours |= ours::is_ours(format!("\"{key}\":{}", value.get()).as_bytes());
                continue;
            }
            let profile = self.profile.get_or_insert_default();
            if ProfileChecks::reads(&key) {
                let value = file.next_value::<Box<RawValue>>()?;
                self.samples.member(&key, value.get().as_bytes());
                // A trace has samples too.
                if !GlobalSamples::is_list(&key, value.get().as_bytes()) {
                    profile.member(&key, WrittenValue::of(value.get()));
                }
            } else if key == "stackFrames" {
                let value = file.next_value::<Box<RawValue>>()?;
                self.samples.member(&key, value.get().as_bytes());
            } else {
                // Memory is for the members that are checked.
                file.next_value::<IgnoredAny>()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cpu_prof_core::testing::reader::Pieces;

    use super::*;

    #[test]
    fn lines_are_counted_and_items_limited() {
        for piece in 1..9 {
            let position = TextPosition::default();
            let text = Pieces("\u{feff}a\nü\n\nb\n".as_bytes(), piece);
            let read = io::read_to_string(counted(text, &position).unwrap()).unwrap();
            // The line of the last line end.
            assert_eq!((read.as_str(), position.line.get()), ("a\nü\n\nb\n", 3));
        }
        let item_bytes = Cell::new(MAX_VALUE_BYTES - 2);
        let position = TextPosition { item_bytes, ..TextPosition::default() };
        let error = io::read_to_string(counted(&b"abc"[..], &position).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }
}
