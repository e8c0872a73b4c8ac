//! Replaces parts of an event's text.

use cpu_prof_core::base::cold_sort::ColdSort;
use std::fmt::{Display, Write};
use std::ops::Range;

/// Parts of an event's text, and the texts that replace them. Keeps its memory from event to event.
#[derive(Debug, Default)]
pub struct EventEdit {
    /// Places in the event, and of the replacements in `texts`.
    places: Vec<(Range<usize>, Range<usize>)>,
    texts: String,
}

impl EventEdit {
    /// Forgets all replacements.
    #[inline]
    pub fn clear(&mut self) {
        self.places.clear();
        self.texts.clear();
    }

    /// Returns whether the event stays as it is.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Replaces a place. Of two replacements of one place the first counts.
    pub fn replace(&mut self, place: Range<usize>, text: impl Display) {
        let start = self.texts.len();
        // A string accepts everything.
        let _ = write!(self.texts, "{text}");
        self.places.push((place, start..self.texts.len()));
    }

    /// Appends the event to `out`, with the replacements.
    pub fn apply(&mut self, event: &[u8], out: &mut Vec<u8>) {
        self.places.cold_sort_by_key(|(place, _)| place.start);
        let mut from = 0;
        for (place, text) in &self.places {
            if place.start < from {
                continue;
            }
            out.extend_from_slice(&event[from..place.start]);
            out.extend_from_slice(&self.texts.as_bytes()[text.clone()]);
            from = place.end;
        }
        out.extend_from_slice(&event[from..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_replaced_in_any_order() {
        let mut edit = EventEdit::default();
        let mut out = Vec::new();
        edit.replace(6..7, "last");
        edit.replace(0..1, 12);
        edit.replace(6..7, "never");
        edit.apply(b"a-----b.", &mut out);
        assert_eq!(out, b"12-----last.");
        edit.clear();
        assert!(edit.is_empty());
    }
}
