//! Reads the sound events of a file: each is valid, keeps the rules, and has its head.

use std::io::Read;
use std::ops::Range;

use super::error::ScanError;
use super::scanner::{FoundItem, Scanner, as_utf8};
use crate::formats::trace::event::edit::EventEdit;
use crate::formats::trace::event::head::EventHead;
use crate::formats::trace::event::rules;
use crate::formats::trace::samples::{GlobalSamples, SampleProblems};

/// The count of events that are left out at a file's start until the file is taken for other data than
/// a trace, and read no further.
const MOST_OTHER: u64 = 10_000;

/// An item of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum SoundItem<'a> {
    /// An event. The arguments of a part of a profile in a trace of ours are not checked: its reader
    /// checks them.
    Event {
        /// Text, an object on one line.
        text: &'a [u8],
        /// Its members.
        head: &'a EventHead,
    },
    /// A top-level member, except for the list of events. Its value is not checked.
    Member {
        /// Name as it is written, without the quotes.
        key: &'a str,
        /// Text of the value.
        value: &'a [u8],
    },
}

/// Reads a Trace Event file of any size. Repairs events that break a rule, or leaves them out.
#[derive(Debug)]
pub struct SoundItems<R> {
    scanner: Scanner<R>,
    /// Count of events that were left out.
    left_out: u64,
    /// Whether an event stayed.
    has_events: bool,
    edit: EventEdit,
    /// The last item, if it had to be changed.
    changed: Vec<u8>,
    is_changed: bool,
    /// The samples of another tool's trace, which become events at its end.
    samples: GlobalSamples,
    /// Events that are made of them, the last first; none before the end of the file.
    made: Option<Vec<Vec<u8>>>,
}

impl<R: Read> SoundItems<R> {
    /// Returns a reader that has read nothing yet.
    pub fn new(reader: R) -> Self {
        Self {
            scanner: Scanner::with_heads(reader),
            left_out: 0,
            has_events: false,
            edit: EventEdit::default(),
            changed: Vec::new(),
            is_changed: false,
            samples: GlobalSamples::default(),
            made: None,
        }
    }

    /// Returns whether the next events are those of a trace of ours.
    #[inline]
    pub fn is_ours(&self) -> bool {
        self.scanner.is_ours()
    }

    /// Returns whether the file was cut off, or events were left out. Known at the end of the file.
    pub fn is_damaged(&self) -> bool {
        self.scanner.is_torn() || self.left_out > 0
    }

    /// Returns whether the file was cut off or torn. Known at the end of the file.
    pub fn is_torn(&self) -> bool {
        self.scanner.is_torn()
    }

    /// Returns the count of events that were left out so far.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the next item; none at the end of the file. The item is valid until the next call.
    #[allow(clippy::should_implement_trait)] // An iterator's items cannot be lent.
    pub fn next(&mut self) -> Result<Option<SoundItem<'_>>, ScanError> {
        loop {
            let is_ours = self.scanner.is_ours();
            match self.scanner.find()? {
                None => return Ok(self.made()),
                Some(FoundItem::Event(place)) => {
                    // Some writers end their list with an empty event.
                    let is_empty = place.len() <= 2;
                    if self.check(place.clone()) {
                        self.has_events = true;
                        if !is_ours {
                            self.note_samples(&place);
                        }
                        return Ok(self.event(place));
                    }
                    self.left_out += u64::from(!is_empty);
                    if self.left_out >= MOST_OTHER && !self.has_events {
                        return Ok(None);
                    }
                }
                Some(FoundItem::Member { key, value }) => return Ok(Some(self.member(key, value))),
            }
        }
    }

    /// Returns what is wrong with the samples. Known at the end of the file.
    pub fn sample_problems(&self) -> SampleProblems {
        self.samples.problems
    }

    /// Returns the next event that is made of samples; none after the last.
    fn made(&mut self) -> Option<SoundItem<'_>> {
        let Self { samples, made, .. } = self;
        let event = made.get_or_insert_with(|| samples.take_events()).pop()?;
        self.change(event);
        Some(SoundItem::Event { text: &self.changed, head: self.scanner.head.as_ref()? })
    }

    /// Reads the event that was checked, as far as samples need it.
    fn note_samples(&mut self, place: &Range<usize>) {
        let text = if self.is_changed { &self.changed } else { self.scanner.text(place.clone()) };
        if let Some(head) = &self.scanner.head {
            self.samples.event(head, text);
        }
    }

    /// Returns the event that was checked.
    fn event(&self, place: Range<usize>) -> Option<SoundItem<'_>> {
        let text = if self.is_changed { &self.changed } else { self.scanner.text(place) };
        Some(SoundItem::Event { text, head: self.scanner.head.as_ref()? })
    }

    fn member(&mut self, key: Range<usize>, value: Range<usize>) -> SoundItem<'_> {
        let key = str::from_utf8(self.scanner.text(key)).unwrap_or_default();
        let value = as_utf8(self.scanner.text(value), &mut self.changed);
        self.samples.member(key, value);
        SoundItem::Member { key, value }
    }

    /// Checks and repairs an event. Returns false for an event that has to be left out.
    fn check(&mut self, place: Range<usize>) -> bool {
        let text = self.scanner.text(place.clone());
        self.is_changed = false;
        let walked = self.scanner.walked;
        if !walked.is_ascii && str::from_utf8(text).is_err() {
            // A name in another encoding must not cost the event.
            let text = String::from_utf8_lossy(text).into_owned().into_bytes();
            self.change(on_one_line(text));
        } else if walked.has_line_ends {
            // All members stay in their places.
            self.changed = on_one_line(text.to_owned());
            self.is_changed = true;
        } else if self.scanner.head.is_none() {
            let own = EventHead::of_our_chunk(text).filter(|_| self.scanner.is_ours());
            self.scanner.head = own.or_else(|| EventHead::of_any(text));
        }
        let Some(head) = &self.scanner.head else { return false };
        self.edit.clear();
        let text = if self.is_changed { &self.changed } else { self.scanner.text(place.clone()) };
        if !rules::keep(head, text, &mut self.edit) {
            return false;
        }
        if !self.edit.is_empty() {
            let mut repaired = Vec::with_capacity(text.len() + 8);
            self.edit.apply(text, &mut repaired);
            self.change(repaired);
        }
        self.scanner.head.is_some()
    }

    fn change(&mut self, text: Vec<u8>) {
        self.scanner.head = EventHead::of_any(&text);
        self.changed = text;
        self.is_changed = true;
    }
}

/// Replaces line ends by spaces. A JSON string has no raw line ends, so they stand between tokens.
fn on_one_line(mut event: Vec<u8>) -> Vec<u8> {
    for byte in &mut event {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &[u8]) -> (Vec<String>, u64) {
        let mut items = SoundItems::new(file);
        let mut texts = Vec::new();
        while let Some(item) = items.next().unwrap() {
            if let SoundItem::Event { text, head } = item {
                assert_eq!(EventHead::of_any(text).as_ref(), Some(head));
                texts.push(String::from_utf8(text.to_vec()).unwrap());
            }
        }
        (texts, items.left_out())
    }

    #[test]
    fn events_are_sound_or_left_out() {
        let file = b"[{\"name\":\"\xff\",\"ph\":\"B\",\"ts\":1},{},{\"ph\":\"E\",\"ts\":\"2\"},
            {\"ph\":\"X\"},{\"name\":\"a\",\"ph\":\"B\",\"ts\":[1 2]},{\"ph\":\"X\",\"ts\":01},
            {\"name\":\"b\",\"ph\":\"B\",\"ts\":3}]";
        let (texts, left_out) = texts(file);
        assert_eq!(
            texts,
            [
                "{\"name\":\"\u{fffd}\",\"ph\":\"B\",\"ts\":1}",
                "{\"name\":\"\",\"ph\":\"E\",\"ts\":2}",
                "{\"name\":\"b\",\"ph\":\"B\",\"ts\":3}",
            ]
        );
        assert_eq!(left_out, 3);
    }

    #[test]
    fn an_event_has_one_line() {
        let file = b"[{\n\"name\":\"a\\n\",\r\n\"ph\":\"B\",\"ts\":1},{\n\"name\":\"\xff\",\"ph\":\"B\",\"ts\":1}]";
        let (texts, left_out) = texts(file);
        let expected = [
            r#"{ "name":"a\n",  "ph":"B","ts":1}"#,
            "{ \"name\":\"\u{fffd}\",\"ph\":\"B\",\"ts\":1}",
        ];
        assert_eq!((&texts[..], left_out), (&expected.map(String::from)[..], 0));
    }

    #[test]
    fn other_data_is_not_read_to_its_end() {
        const OTHER: &[u8] = b"{\"a\":1},";
        struct Endless;
        impl Read for Endless {
            fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
                let pieces = out.chunks_exact_mut(OTHER.len());
                Ok(pieces.map(|piece| piece.copy_from_slice(OTHER)).count() * OTHER.len())
            }
        }
        let mut items = SoundItems::new(b"[".chain(Endless));
        assert_eq!(items.next().unwrap(), None);
        assert_eq!(items.left_out(), MOST_OTHER);
    }

    #[test]
    fn own_traces_are_read_as_those_of_other_tools() {
        let golden = cpu_prof_core::testing::traces::MERGED;
        let as_other = golden.replacen("\"source\":\"cpu-prof\"", "\"source\":\"x\"", 1);
        let (own, left_out) = texts(golden.as_bytes());
        assert_eq!((own.len() > 20, left_out), (true, 0));
        assert_eq!(own, texts(as_other.as_bytes()).0);
        // Two events in one line, and a line that is no event.
        let two = golden.replacen("},\n{", "},{", 1);
        assert_eq!(texts(two.as_bytes()).0, own);
        let broken = golden.replacen("{\"cat\":\"__metadata\",", "{\"cat\":", 1);
        let (rest, left_out) = texts(broken.as_bytes());
        assert_eq!((rest.len(), left_out), (own.len() - 1, 1));
    }
}
