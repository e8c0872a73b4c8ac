//! Lengths of time, such as `500ms` and `1.5h`: the only reader of them, for settings, options and rules.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::amount;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// The units, the shortest first, nanoseconds.
const UNITS: [(&str, u128); 6] = [
    ("ms", NANOS_PER_SECOND / 1000),
    ("s", NANOS_PER_SECOND),
    ("m", 60 * NANOS_PER_SECOND),
    ("h", 3600 * NANOS_PER_SECOND),
    ("d", 24 * 3600 * NANOS_PER_SECOND),
    ("w", 7 * 24 * 3600 * NANOS_PER_SECOND),
];

/// Decimals that count. The others of a week are less than a nanosecond.
const DECIMALS: usize = 18;

/// The longest length, a million days: its microseconds, and a moment so long before or after now, are
/// numbers everywhere.
pub(super) const MAX: Duration = Duration::from_secs(1_000_000 * 24 * 3600);

/// Returns the length that a text names, a decimal number and a unit; none if the text is something else,
/// or too long a length.
pub fn parse(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit_at);
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u64 = amount::whole_number(whole)?;
    if !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let decimals = &decimals[..decimals.len().min(DECIMALS)];
    let part: u64 = amount::whole_number(decimals)?;
    let nanos =
        u128::from(whole) * unit + u128::from(part) * unit / 10_u128.pow(decimals.len() as u32);
    (nanos <= MAX.as_nanos()).then(|| {
        Duration::new((nanos / NANOS_PER_SECOND) as u64, (nanos % NANOS_PER_SECOND) as u32)
    })
}

/// Returns the length that a text names, if it is allowed. The error says what is allowed, as a part of a
/// sentence, with the examples.
pub(super) fn within(
    text: &str,
    allowed: &RangeInclusive<Duration>,
    examples: &str,
) -> Result<Duration, String> {
    parse(text).filter(|length| allowed.contains(length)).ok_or_else(|| {
        let units: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
        let (last, others) = units.split_last().unwrap_or((&"", &[]));
        format!(
            "a time such as {examples} ({} or {last}), from {} to {}",
            others.join(", "),
            format(*allowed.start()),
            format(*allowed.end()),
        )
    })
}

/// Returns the shortest text of a length: in the largest unit in which the number is whole.
fn format(length: Duration) -> String {
    let nanos = length.as_nanos();
    let largest =
        UNITS.iter().rev().find(|(_, unit)| nanos >= *unit && nanos.is_multiple_of(*unit));
    match largest {
        Some((name, unit)) => format!("{}{name}", nanos / unit),
        None => {
            let (name, unit) = UNITS[0];
            let text = format!("{}.{:06}", nanos / unit, nanos % unit);
            format!("{}{name}", text.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn every_unit() {
        for (text, nanos) in [
            ("500ms", SECOND / 2),
            ("1.5s", 3 * SECOND / 2),
            ("10m", 600 * SECOND),
            ("2h", 7200 * SECOND),
            ("3d", 3 * 86_400 * SECOND),
            ("2w", 14 * 86_400 * SECOND),
            ("0.4ms", SECOND / 2500),
            ("0.1s", SECOND / 10),
            ("0.000001ms", 1),
            ("007s", 7 * SECOND),
            ("1.50s", 3 * SECOND / 2),
        ] {
            assert_eq!(parse(text), Some(Duration::from_nanos(nanos)), "{text}");
        }
        for text in ["0ms", "0.0d", "0.0000001ms"] {
            assert_eq!(parse(text), Some(Duration::ZERO), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_lengths() {
        for text in [
            "",
            "s",
            "ms",
            "10",
            "1.5",
            "1e3s",
            " 1s",
            "1s ",
            "1 s",
            "+1s",
            "-1s",
            ".5s",
            "1.s",
            ".s",
            "1.5.2s",
            "1,5s",
            "1_000s",
            "0x1s",
            "1S",
            "1Ms",
            "1sec",
            "1us",
            "1µs",
            "1y",
            "1s1",
            "1h30m",
            "infs",
            "NaNs",
            "１s",
            "١s",
            "1.٥s",
            "1.5е",
            "1\u{200b}s",
            "1s\0",
            "é",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn nothing_overflows() {
        assert_eq!(parse("1000000d"), Some(MAX));
        assert!(i64::try_from(MAX.as_micros()).is_ok());
        for text in [
            "1000000.000000000001d",
            "1000001d",
            "18446744073709551615w",
            "18446744073709551616ms",
            "99999999999999999999999999999999999999999h",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        let long = format!("1.{}s", "9".repeat(10_000));
        assert_eq!(parse(&long), Some(Duration::new(1, 999_999_999)));
    }

    #[test]
    fn the_message_has_the_bounds_and_the_units() {
        let allowed = Duration::from_millis(100)..=Duration::from_secs(86_400);
        let within = |text| within(text, &allowed, "500ms or 30s");
        assert_eq!(within("100ms"), Ok(*allowed.start()));
        assert_eq!(within("24h"), Ok(*allowed.end()));
        for text in ["99ms", "99.999999ms", "24.1h", "soon"] {
            assert_eq!(
                within(text).unwrap_err(),
                "a time such as 500ms or 30s (ms, s, m, h, d or w), from 100ms to 1d"
            );
        }
    }

    #[test]
    fn the_text_of_a_length_is_short() {
        for text in ["1ms", "90s", "1.5ms", "0.000001ms", "25h", "8d", "2w", "1000000d"] {
            assert_eq!(format(parse(text).unwrap()), text);
        }
        assert_eq!(format(parse("604800000ms").unwrap()), "1w");
        assert_eq!(format(Duration::ZERO), "0ms");
    }

    proptest! {
        #[test]
        fn a_text_of_a_length_is_read_as_the_same_length(nanos in 0..=MAX.as_nanos()) {
            let length = Duration::new(
                (nanos / NANOS_PER_SECOND) as u64,
                (nanos % NANOS_PER_SECOND) as u32,
            );
            prop_assert_eq!(parse(&format(length)), Some(length));
        }

        #[test]
        fn an_accepted_text_is_a_number_and_a_unit(
            text in "[0-9]{0,21}[.]?[0-9]{0,20}(ms|s|m|h|d|w)|[-+ .0-9a-zA-Z]{0,6}|\\PC{0,6}",
        ) {
            if let Some(length) = parse(&text) {
                prop_assert_eq!(parse(&format(length)), Some(length));
                let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                let exact: f64 = number.parse().unwrap();
                let (_, unit) = UNITS.iter().find(|(name, _)| *name == &text[number.len()..]).unwrap();
                let seconds = exact * *unit as f64 / NANOS_PER_SECOND as f64;
                prop_assert!((length.as_secs_f64() - seconds).abs() <= 2e-9 + seconds * 1e-12);
            }
        }
    }
}
