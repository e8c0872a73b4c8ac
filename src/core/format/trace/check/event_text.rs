//! The members of an event as they are written. An event can be large, and most of it need not be
//! kept.

use std::borrow::Cow;

use crate::format::json_walk::{find_member, walk_list, walk_object};

/// A value as it is written; none if it is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct WrittenValue<'a>(Option<&'a str>);

/// The members of an event, with their keys as they are written.
#[derive(Debug)]
pub struct EventText<'a>(Vec<(&'a str, WrittenValue<'a>)>);

impl<'a> EventText<'a> {
    /// Reads an event; none if the text is not an object.
    pub fn read(text: &'a str) -> Option<Self> {
        let mut members = Vec::new();
        let walked = walk_object(text.as_bytes(), |key, value| {
            members.push((&text[key], WrittenValue(Some(&text[value]))));
        });
        walked.is_ok().then_some(Self(members))
    }

    /// Returns the value of a member. Of equal members the last counts, as in a browser.
    pub fn get(&self, key: &str) -> WrittenValue<'a> {
        let member = self.0.iter().rfind(|(name, _)| *name == key);
        member.map(|(_, value)| *value).unwrap_or_default()
    }
}

impl<'a> WrittenValue<'a> {
    /// Returns a value by its text.
    pub fn of(text: &'a str) -> Self {
        Self(Some(text))
    }

    /// Returns whether the value is missing or `null`.
    pub fn is_null(self) -> bool {
        self.0.is_none_or(|text| text == "null")
    }

    pub(super) fn is_text(self) -> bool {
        self.starts_with(b"\"")
    }

    pub fn is_list(self) -> bool {
        self.starts_with(b"[")
    }

    pub fn is_object(self) -> bool {
        self.starts_with(b"{")
    }

    pub fn is_number(self) -> bool {
        self.starts_with(b"-0123456789")
    }

    /// Returns whether the value is a number without a fraction or an exponent.
    pub(super) fn is_whole(self) -> bool {
        self.is_number() && !self.as_written().contains(['.', 'e', 'E'])
    }

    /// Returns the number, if the value is one.
    pub fn number(self) -> Option<f64> {
        if self.is_number() { self.as_written().parse().ok() } else { None }
    }

    /// Returns the number, if the value is one that is whole and not negative.
    pub fn id(self) -> Option<u64> {
        self.as_written().parse().ok()
    }

    /// Returns the text, if the value is one. Lone surrogates, which JavaScript has, are replaced.
    pub fn text(self) -> Option<Cow<'a, str>> {
        if !self.is_text() {
            return None;
        }
        let written = self.as_written();
        let inside = &written[1..written.len() - 1];
        if !inside.contains('\\') {
            return Some(inside.into());
        }
        Some(serde_json::from_str::<String>(written).unwrap_or_else(|_| inside.to_owned()).into())
    }

    /// Returns the value as it is written; nothing if it is missing.
    pub fn as_written(self) -> &'a str {
        self.0.unwrap_or_default()
    }

    /// Returns the value of an object's member.
    pub fn member(self, key: &str) -> Self {
        let text = self.as_written();
        Self(find_member(text.as_bytes(), key).map(|value| &text[value]))
    }

    /// Calls `f` for each member of an object, with its key as it is written.
    pub fn each_member(self, mut f: impl FnMut(&'a str, Self)) {
        if let Some(text) = self.0 {
            // Anything but an object has no members.
            let _ = walk_object(text.as_bytes(), |key, value| {
                f(&text[key], Self(Some(&text[value])));
            });
        }
    }

    /// Calls `f` for each item of a list.
    pub fn each_item(self, mut f: impl FnMut(Self)) {
        if let Some(text) = self.0 {
            // Anything but a list has no items.
            let _ = walk_list(text.as_bytes(), |item| f(Self(Some(&text[item]))));
        }
    }

    fn starts_with(self, bytes: &[u8]) -> bool {
        self.as_written().as_bytes().first().is_some_and(|first| bytes.contains(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_apart() {
        let text = r#"{"name":"a\u00fc","ph":"X","ts":1.5,"pid":-7,"tid":null,"args":{"x":{"y":1}},"ts":2e1}"#;
        let event = EventText::read(text).unwrap();
        assert_eq!(event.get("name").text().unwrap(), "aü");
        assert_eq!((event.get("ts").number(), event.get("ts").is_whole()), (Some(20.0), false));
        assert!(
            event.get("pid").is_whole() && event.get("tid").is_null() && event.get("dur").is_null()
        );
        assert_eq!(event.get("args").member("x").member("y").number(), Some(1.0));
        assert!(event.get("args").member("z").is_null() && event.get("name").member("x").is_null());
        assert_eq!(event.get("ph").number(), None);
        let mut items = Vec::new();
        WrittenValue::of("[1, -2,\"3\",[4],{\"a\":[5]}]").each_item(|item| items.push(item));
        let written: Vec<&str> = items.iter().map(|item| item.as_written()).collect();
        assert_eq!(written, ["1", "-2", "\"3\"", "[4]", "{\"a\":[5]}"]);
        assert_eq!((items[0].id(), items[1].id(), items[2].id()), (Some(1), None, None));
        for other in ["[]", "{\"a\":[1]}", "\"x\"", "1", "null"] {
            WrittenValue::of(other).each_item(|item| panic!("{item:?} of {other}"));
        }
        assert!(EventText::read("[1]").is_none() && EventText::read("{\"a\":1,}").is_none());
        let lone = EventText::read(r#"{"name":"\ud800"}"#).unwrap();
        assert_eq!(lone.get("name").text().unwrap(), "\\ud800");
    }
}
