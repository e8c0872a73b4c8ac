//! Whole numbers with a unit, such as `200M` and `10m`.

use std::str::FromStr;
use std::time::Duration;

/// Returns the bytes that a size names; none if the text is not a size.
pub(super) fn bytes(text: &str) -> Option<u64> {
    in_units(text, &[('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30)])
}

/// Returns the duration that a text names; none if the text is not a duration.
pub(super) fn duration(text: &str) -> Option<Duration> {
    in_units(text, &[('s', 1), ('m', 60), ('h', 3600)]).map(Duration::from_secs)
}

/// Returns the number that a text of digits names; none if the text has other characters, or if the
/// number is too large.
pub(crate) fn whole_number<T: FromStr>(text: &str) -> Option<T> {
    // `parse` alone would accept a leading plus sign.
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_digits)
}

fn in_units(text: &str, units: &[(char, u64)]) -> Option<u64> {
    let (digits, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(*unit)?, *factor)))?;
    let number: u64 = whole_number(digits)?;
    // A limit that no recording reaches is as good as a larger one.
    Some(number.saturating_mul(factor).min(u64::MAX >> 24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit() {
        assert_eq!(bytes("3K"), Some(3072));
        assert_eq!(bytes("200M"), Some(200 << 20));
        assert_eq!(bytes("4G"), Some(4 << 30));
        assert_eq!(duration("30s"), Some(Duration::from_secs(30)));
        assert_eq!(duration("10m"), Some(Duration::from_secs(600)));
        assert_eq!(duration("2h"), Some(Duration::from_secs(7200)));
    }

    #[test]
    fn other_texts_are_no_amounts() {
        for text in ["", "K", "10", "+1K", "-1K", "1.5G", "1k", "1MB", " 1M", "1 M", "é"] {
            assert_eq!(bytes(text), None, "{text:?}");
        }
        assert_eq!(duration("1d"), None);
        assert_eq!(duration("99999999999999999999h"), None);
    }

    #[test]
    fn huge_amounts_do_not_overflow() {
        let age = duration("9999999999999999999h").unwrap();
        assert!(i64::try_from(age.as_micros()).is_ok());
    }
}
