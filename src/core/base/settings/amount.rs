//! Whole numbers, also with a unit of size, such as `200M`.

use std::str::FromStr;

/// Returns the bytes that a size names; none if the text is not a size.
pub(super) fn bytes(text: &str) -> Option<u64> {
    const UNITS: [(char, u64); 3] = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    let (digits, factor) =
        UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(*unit)?, *factor)))?;
    let number: u64 = whole_number(digits)?;
    // A limit that no recording reaches is as good as a larger one.
    Some(number.saturating_mul(factor).min(u64::MAX >> 24))
}

/// Returns the number that a text of digits names; none if the text has other characters, or if the
/// number is too large.
pub(crate) fn whole_number<T: FromStr>(text: &str) -> Option<T> {
    // `parse` alone would accept a leading plus sign.
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit() {
        assert_eq!(bytes("3K"), Some(3072));
        assert_eq!(bytes("200M"), Some(200 << 20));
        assert_eq!(bytes("4G"), Some(4 << 30));
    }

    #[test]
    fn other_texts_are_no_amounts() {
        for text in ["", "K", "10", "+1K", "-1K", "1.5G", "1k", "1MB", " 1M", "1 M", "é"] {
            assert_eq!(bytes(text), None, "{text:?}");
        }
    }

    #[test]
    fn huge_sizes_do_not_overflow() {
        assert!(i64::try_from(bytes("9999999999999999999G").unwrap()).is_ok());
    }
}
