//! Numbers in traces and `.cpuprofile` files, which writers put in several ways.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, Visitor};

/// A number, written as an integer, a fraction or a string. Fractions are rounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Number(pub i64);

/// The limit of times, microseconds: JavaScript can tell all whole numbers below it apart, and sums of
/// a few of them do not overflow.
pub const MAX_US: i64 = 9_000_000_000_000_000;

/// Returns a time, microseconds; none if it is not below [`MAX_US`].
pub fn as_time(us: f64) -> Option<f64> {
    (us.abs() < MAX_US as f64).then_some(us)
}

/// A time, microseconds, written as an integer or a fraction, as a viewer needs it. Fractions are
/// rounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlainNumber(pub i64);

/// The id of a node: a whole number that JavaScript can tell from all others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct NodeNumber(pub u64);

impl NodeNumber {
    /// The largest whole number that JavaScript can tell from the next.
    pub const MAX: u64 = (1 << 53) - 1;
}

impl Number {
    /// Returns the number, or the nearest that is neither negative nor too large.
    pub fn small(self) -> u32 {
        self.0.clamp(0, u32::MAX.into()) as u32
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

impl<'de> Deserialize<'de> for PlainNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let us = as_time(f64::deserialize(deserializer)?);
        us.map(|us| Self(us.round() as i64)).ok_or_else(|| D::Error::custom("a time is too large"))
    }
}

impl<'de> Deserialize<'de> for NodeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        if number > Self::MAX {
            return Err(D::Error::custom("a node's id is too large"));
        }
        Ok(Self(number))
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
pub fn or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
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
pub fn digits(text: &[u8]) -> Option<i64> {
    const MOST_DIGITS: usize = 18;
    if text.is_empty() || text.len() > MOST_DIGITS {
        return None;
    }
    let add =
        |number, byte: &u8| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'));
    text.iter().try_fold(0, add)
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
        let plain = |text| serde_json::from_str::<PlainNumber>(text).ok();
        assert_eq!(
            [plain("5"), plain("-5.6"), plain("\"5\"")],
            [Some(PlainNumber(5)), Some(PlainNumber(-6)), None]
        );
        assert_eq!(plain("9000000000000001").or(plain("-1e300")), None);
        let id = |text| serde_json::from_str::<NodeNumber>(text).ok();
        assert_eq!(id("9007199254740991"), Some(NodeNumber(NodeNumber::MAX)));
        for text in ["9007199254740992", "-1", "1.0", "1e2", "\"1\"", "null"] {
            assert_eq!(id(text), None, "{text}");
        }
    }
}
