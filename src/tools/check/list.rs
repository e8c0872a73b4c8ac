//! Reads a list item by item, from a file or a text, whatever stands in its place.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// Takes the items of a list.
pub(super) trait TakeItems {
    /// The form in which items are read.
    type Item<'de>: Deserialize<'de>;

    /// Takes an item.
    fn take(&mut self, item: Self::Item<'_>);
}

/// Reads a list into something that takes its items. Any other value is passed over.
pub(super) struct List<'t, T>(pub &'t mut T);

/// A number in a list, or anything else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ListNumber {
    /// A whole number that is not negative.
    Whole(u64),
    /// Any other number.
    Other(f64),
    None,
}

impl<T: TakeItems> List<'_, T> {
    /// Reads the list in a text.
    pub(super) fn read(self, text: &str) {
        // The text is valid JSON: its file was parsed.
        let _ = self.deserialize(&mut serde_json::Deserializer::from_str(text));
    }
}

impl<'de, T: TakeItems> DeserializeSeed<'de> for List<'_, T> {
    type Value = bool;

    /// Returns whether there was a list.
    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<bool, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de, T: TakeItems> Visitor<'de> for List<'_, T> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        while let Some(item) = list.next_element::<T::Item<'de>>()? {
            self.0.take(item);
        }
        Ok(true)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }
}

impl<'de> Deserialize<'de> for ListNumber {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        value.deserialize_any(ListNumberVisitor)
    }
}

struct ListNumberVisitor;

impl<'de> Visitor<'de> for ListNumberVisitor {
    type Value = ListNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<ListNumber, E> {
        Ok(ListNumber::Whole(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<ListNumber, E> {
        Ok(ListNumber::Other(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<ListNumber, E> {
        Ok(ListNumber::Other(number))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<ListNumber, E> {
        Ok(ListNumber::None)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<ListNumber, E> {
        Ok(ListNumber::None)
    }

    fn visit_unit<E: Error>(self) -> Result<ListNumber, E> {
        Ok(ListNumber::None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ListNumber, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(ListNumber::None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ListNumber, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(ListNumber::None)
    }
}

impl fmt::Display for ListNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Other(number) => number.fmt(f),
            Self::None => f.write_str("that is no number"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lists_have_items() {
        struct Numbers(Vec<ListNumber>);
        impl TakeItems for Numbers {
            type Item<'de> = ListNumber;
            fn take(&mut self, item: ListNumber) {
                self.0.push(item);
            }
        }
        let numbers = |text: &str| {
            let mut numbers = Numbers(Vec::new());
            List(&mut numbers).read(text);
            numbers.0
        };
        assert_eq!(
            numbers("[1,-2,0.5,\"3\",null,[4],{\"a\":5}]"),
            [
                ListNumber::Whole(1),
                ListNumber::Other(-2.0),
                ListNumber::Other(0.5),
                ListNumber::None,
                ListNumber::None,
                ListNumber::None,
                ListNumber::None,
            ]
        );
        for other in ["{\"a\":[1]}", "\"x\"", "1", "-1.5", "null", "true"] {
            assert_eq!(numbers(other), []);
        }
    }
}
