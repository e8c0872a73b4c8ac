//! The contents of a file, which pass through a parser item by item.

use std::fmt;
use std::io::{self, Read};
use std::rc::Rc;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::cpuprofile::ProfileChecks;
use super::events::EventChecks;
use super::list::{List, TakeItems};
use super::strict_text::{TextFault, TextPosition, strict_text};
use cpu_prof_core::format::trace::check::problems::Problems;
use cpu_prof_core::format::trace::scan::MAX_VALUE_BYTES;

/// What a file contains.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub kind: Option<&'static str>,
    pub events: u64,
    pub profiles: usize,
    pub samples: u64,
}

/// Reads a file, and checks its contents.
pub(super) fn contents(file: impl Read, to: &mut Problems) -> Contents {
    let position = Rc::new(TextPosition::default());
    let text = match strict_text(file, MAX_VALUE_BYTES, Rc::clone(&position)) {
        Ok(text) => text,
        Err(error) => {
            to.fatal(0, unreadable(&error));
            return Contents::default();
        }
    };
    let mut json = serde_json::Deserializer::from_reader(text);
    let mut checks = FileChecks { position: &position, events: None, profile: None, to };
    let parsed = checks.deserialize(&mut json).and_then(|()| json.end());
    let FileChecks { events, profile, .. } = checks;
    if let Err(error) = parsed {
        broken(&error, &position, to);
        return Contents::default();
    }
    match (events, profile) {
        (Some(events), _) => {
            let (events, profiles, samples) = events.finish(to);
            Contents { kind: Some("trace"), events, profiles, samples }
        }
        (None, Some(profile)) if profile.is_profile() => {
            let samples = profile.finish(to);
            Contents { kind: Some("cpuprofile"), profiles: 1, samples, events: 0 }
        }
        _ => {
            to.fatal(1, "the file is neither a trace (traceEvents) nor a profile (nodes)");
            Contents::default()
        }
    }
}

/// Returns why a file cannot be read.
pub(super) fn unreadable(error: &io::Error) -> String {
    format!("the file cannot be read: {error}")
}

fn broken(error: &serde_json::Error, position: &TextPosition, to: &mut Problems) {
    const CUT: &str = "the file is cut off; cpu-prof merge writes a whole trace of what is there";
    match position.fault() {
        Some(TextFault::NotUtf8) => to.fatal(position.line(), "the file is not UTF-8"),
        Some(TextFault::TooLarge) => to.fatal(
            position.line(),
            format!(
                "an event or a member of the file is larger than {} MB: no tool of cpu-prof reads it",
                MAX_VALUE_BYTES >> 20
            ),
        ),
        // The rest of compressed data is missing.
        Some(TextFault::Io) if is_cut(error) => to.fatal(position.line(), CUT),
        Some(TextFault::Io) => to.fatal(position.line(), format!("the file cannot be read: {error}")),
        None if error.is_eof() => to.fatal(error.line(), CUT),
        None => to.fatal(error.line(), format!("the file is not JSON: {error}")),
    }
}

fn is_cut(error: &serde_json::Error) -> bool {
    error.io_error_kind() == Some(io::ErrorKind::UnexpectedEof)
}

/// The checks of a file, whose kind is known only from its members.
struct FileChecks<'a> {
    position: &'a TextPosition,
    events: Option<EventChecks>,
    profile: Option<ProfileChecks>,
    to: &'a mut Problems,
}

impl TakeItems for FileChecks<'_> {
    type Item<'de> = Box<RawValue>;

    fn take(&mut self, event: Box<RawValue>) {
        let text = event.get();
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let line = self.position.line_of_end(text) - lines;
        self.events.get_or_insert_default().event(text, line, self.to);
        self.position.begin_item();
    }
}

impl FileChecks<'_> {
    /// Notes that the file has a list of events, which can be empty.
    fn has_events(&mut self, has_list: bool) {
        if has_list {
            self.events.get_or_insert_default();
        }
    }
}

impl<'de> DeserializeSeed<'de> for &mut FileChecks<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, file: D) -> Result<(), D::Error> {
        file.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut FileChecks<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, events: A) -> Result<(), A::Error> {
        let has_list = List(&mut *self).visit_seq(events)?;
        self.has_events(has_list);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut file: A) -> Result<(), A::Error> {
        loop {
            self.position.begin_item();
            let Some(key) = file.next_key::<String>()? else { return Ok(()) };
            let profile = self.profile.get_or_insert_default();
            match &*key {
                "traceEvents" => {
                    let has_list = file.next_value_seed(List(&mut *self))?;
                    self.has_events(has_list);
                }
                "nodes" => {
                    profile.nodes.are_there |= file.next_value_seed(List(&mut profile.nodes))?
                }
                "samples" => drop(file.next_value_seed(List(&mut profile.samples))?),
                "timeDeltas" => drop(file.next_value_seed(List(&mut profile.deltas))?),
                "startTime" | "endTime" => {
                    let time = file.next_value::<Box<RawValue>>()?;
                    profile.time(&key, time.get());
                }
                _ => {
                    profile.has_head |= key == "head";
                    file.next_value::<IgnoredAny>()?;
                }
            }
        }
    }
}
