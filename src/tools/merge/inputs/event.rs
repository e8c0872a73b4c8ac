//! An event on its way from an input to the output.

use std::ops::Range;

use serde_json::Value;

use cpu_prof_core::format::ascii_json::encode;
use cpu_prof_core::format::trace::event_names::{COUNTERS, PROFILE_EVENTS};
use cpu_prof_session::formats::trace::event::edit::EventEdit;
use cpu_prof_session::formats::trace::event::head::{EventHead, Member};

/// An event, as the sound items of an input give it.
#[derive(Debug, Clone, Copy)]
pub struct SoundEvent<'a> {
    /// Text, an object on one line.
    pub text: &'a [u8],
    /// Members of the event, by their places in the text.
    pub head: &'a EventHead,
}

impl<'a> SoundEvent<'a> {
    pub fn name(self) -> &'a [u8] {
        self.head.name(self.text)
    }

    /// Returns the time, microseconds; none for events without one.
    pub fn ts(self) -> Option<i64> {
        self.head.ts(self.text)
    }

    /// Returns the place of a member's value; none if the event does not have the member.
    pub fn place(self, member: Member) -> Option<Range<usize>> {
        self.head.place(member)
    }

    /// Returns the arguments as a text; none if they are missing or not UTF-8.
    pub fn arguments(self) -> Option<&'a str> {
        self.head.text(Member::Arguments, self.text)
    }

    /// Returns the id as it is written, with its quotes if it has quotes.
    pub fn id(self) -> Option<&'a [u8]> {
        self.head.id(self.text)
    }

    /// Returns whether the event names a process or a thread, whatever the time.
    pub(crate) fn is_metadata(self) -> bool {
        self.head.phase == b'M'
    }

    /// Returns whether the event is a part of a profile.
    pub fn is_profile(self) -> bool {
        PROFILE_EVENTS.contains(&self.name())
    }

    /// Returns whether the event has the counters of its thread.
    pub(crate) fn is_counter(self) -> bool {
        COUNTERS.contains(&self.name())
    }
}

/// The changes of an event. One value serves all events of an input, and keeps its memory.
#[derive(Debug, Default)]
pub struct EventChange {
    /// Replacements in the event's text.
    pub edit: EventEdit,
    changed: Vec<u8>,
}

impl EventChange {
    /// Returns the event's text with the replacements.
    pub fn apply<'t>(&'t mut self, event: SoundEvent<'t>) -> &'t [u8] {
        if self.edit.is_empty() {
            return event.text;
        }
        self.changed.clear();
        self.edit.apply(event.text, &mut self.changed);
        &self.changed
    }

    /// Returns the text of a value that takes the place of the event.
    pub fn encode(&mut self, value: &Value) -> &[u8] {
        self.changed.clear();
        encode(&mut self.changed, value);
        &self.changed
    }
}
