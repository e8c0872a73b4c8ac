//! Numbers in traces and `.cpuprofile` files, which writers put in several ways.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, Visitor};

/// A number, written as an integer, a fraction or a string. Fractions are rounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Number(pub i64);

impl Number {
    /// Returns the id of a node that is written so.
    pub(crate) fn node_id(self) -> u64 {
        self.0 as u64
    }

    /// Returns the number, or the nearest that is neither negative nor too large.
    pub(crate) fn small(self) -> u32 {
        self.0.clamp(0, u32::MAX.into()) as u32
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Number, E> {
        Ok(Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
        Ok(Number(i64::try_from(number).unwrap_or(i64::MAX)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Number, E> {
        // The conversion saturates.
        Ok(Number(number.round() as i64))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        let number = match text.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16),
            None => text.parse(),
        };
        number.map(Number).map_err(E::custom)
    }
}

/// Reads a number, or none from any other value.
pub(crate) fn or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum NumberOrOther {
        Number(Number),
        Other(IgnoredAny),
    }
    Ok(match NumberOrOther::deserialize(deserializer)? {
        NumberOrOther::Number(number) => Some(number.0),
        NumberOrOther::Other(IgnoredAny) => None,
    })
}

/// Reads a number of a few digits, as almost all times and ids are.
pub(crate) fn digits(text: &[u8]) -> Option<i64> {
    const MOST_DIGITS: usize = 18;
    if text.is_empty() || text.len() > MOST_DIGITS || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_all_forms() {
        for (text, number) in [
            ("5", 5),
            ("-5", -5),
            ("5.6", 6),
            ("\"7\"", 7),
            ("\"0x1f\"", 31),
            ("1e300", i64::MAX),
            ("18446744073709551615", i64::MAX),
        ] {
            assert_eq!(serde_json::from_str::<Number>(text).unwrap(), Number(number), "{text}");
        }
        for text in ["null", "true", "\"x\"", "[]"] {
            assert!(serde_json::from_str::<Number>(text).is_err(), "{text}");
        }
    }
}
