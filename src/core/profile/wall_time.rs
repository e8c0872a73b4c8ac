//! Wall times as files have them: ISO 8601, UTC, with milliseconds.

use chrono::{DateTime, SecondsFormat};

/// Returns the text of a time, microseconds after 1970; none for a year that the format does not have.
pub fn to_iso(us: i64) -> Option<String> {
    let time = DateTime::from_timestamp_micros(us)?;
    let text = time.to_rfc3339_opts(SecondsFormat::Millis, true);
    text.starts_with(|start: char| start.is_ascii_digit()).then_some(text)
}

/// Returns the time of a text: microseconds after 1970; none if the text is not a time.
pub fn from_iso(text: &str) -> Option<i64> {
    Some(DateTime::parse_from_rfc3339(text).ok()?.timestamp_micros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_and_its_text_agree() {
        let text = "2026-03-04T05:06:07.089Z";
        let us = from_iso(text).unwrap();
        assert_eq!(us, 1_772_600_767_089_000);
        assert_eq!(to_iso(us + 999).as_deref(), Some(text));
        assert_eq!(from_iso("2026-03-04T06:06:07.089+01:00"), Some(us));
        for text in ["", "2026", "2026-03-04", "2026-13-04T05:06:07.089Z", "\u{1F600}"] {
            assert_eq!(from_iso(text), None, "{text}");
        }
        assert_eq!((to_iso(i64::MAX), to_iso(i64::MIN)), (None, None));
    }
}
