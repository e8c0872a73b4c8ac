//! Labels of work: what a program said its samples were for, such as the route of a request.

use std::collections::BTreeMap;
use std::fmt;

use indexmap::set::Slice;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::base::numbering::{FxIndexSet, number_of};
use crate::base::outside_text::event_name;

/// The number of the set without labels.
pub const NO_LABELS: u32 = 0;
/// The key of the label that requests get: their method and path. In older recordings a path can have secrets.
const REQUEST: &str = "http";
/// The most labels of a set.
const MAX_LABELS: usize = 16;
/// The longest key, in UTF-16 units.
const MAX_KEY: usize = 64;
/// The longest value, in UTF-16 units.
const MAX_VALUE: usize = 256;

/// Labels, in the order of their keys. A program can have thousands of sets, each with a label or two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LabelSet(Box<[(Box<str>, Box<str>)]>);

/// Label sets with their numbers. Equal sets of several processes have one number.
#[derive(Debug, Default, Clone)]
pub struct LabelTable {
    /// Sets by their numbers less one.
    sets: FxIndexSet<LabelSet>,
}

impl LabelSet {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find_map(|(known, value)| (known == key).then_some(value))
    }

    /// Returns the keys with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// Returns the memory of the set, bytes.
    pub fn bytes(&self) -> usize {
        let texts: usize = self.iter().map(|(key, value)| key.len() + value.len()).sum();
        size_of_val(&*self.0) + texts
    }

    /// Returns whether there is no label.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns whether a recording may have the value of a label.
pub fn is_clean(key: &[u8], value: &[u8]) -> bool {
    key != REQUEST.as_bytes() || str::from_utf8(value).is_ok_and(|value| event_name(value) == value)
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for LabelSet {
    /// Returns a set of as many labels as a recording writes, with texts as long as it writes.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(labels: I) -> Self {
        let short = |(key, value): (K, V)| {
            let value = value.as_ref();
            let request = (key.as_ref() == REQUEST).then(|| event_name(value));
            (cut(key.as_ref(), MAX_KEY), cut(request.as_deref().unwrap_or(value), MAX_VALUE))
        };
        let labels: BTreeMap<String, String> =
            labels.into_iter().take(MAX_LABELS).map(short).collect();
        let boxed = |(key, value): (String, String)| (key.into(), value.into());
        Self(labels.into_iter().map(boxed).collect())
    }
}

impl Serialize for LabelSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// `route=/users/:id · tenant=t1`
impl fmt::Display for LabelSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.iter().enumerate() {
            let separator = if index > 0 { " · " } else { "" };
            write!(f, "{separator}{key}={value}")?;
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for LabelSet {
    /// Reads what is sound of a set: values that are texts, numbers or booleans.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Value::Object(labels) = Value::deserialize(deserializer)? else {
            return Ok(Self::default());
        };
        let text = |(key, value)| match value {
            Value::String(text) => Some((key, text)),
            Value::Number(_) | Value::Bool(_) => Some((key, value.to_string())),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        };
        Ok(labels.into_iter().filter_map(text).collect())
    }
}

impl LabelTable {
    /// Returns the number of a set, which is added if it is new.
    pub fn number(&mut self, set: &LabelSet) -> u32 {
        if set.is_empty() {
            return NO_LABELS;
        }
        number_of(&mut self.sets, set, LabelSet::clone) + 1
    }

    /// Returns the set of a number; none for [`NO_LABELS`].
    pub fn get(&self, number: u32) -> Option<&LabelSet> {
        self.sets.get_index(number.checked_sub(1)? as usize)
    }

    /// Returns all sets, from that of the number 1 on.
    pub fn list(&self) -> &Slice<LabelSet> {
        self.sets.as_slice()
    }
}

/// Returns a text of at most `most` UTF-16 units, with a mark where something is missing.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most || text.encode_utf16().count() <= most {
        return text.to_owned();
    }
    let mut units = 0;
    let fits = |c: &char| {
        units += c.len_utf16();
        units < most
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> LabelSet {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn equal_sets_have_one_number_in_any_order_of_their_keys() {
        let mut table = LabelTable::default();
        let one = table.number(&read(r#"{"route":"/x","tenant":"t1"}"#));
        assert_eq!(table.number(&read(r#"{"tenant":"t1","route":"/x"}"#)), one);
        assert_eq!(table.number(&read(r#"{"route":"/y"}"#)), one + 1);
        assert_eq!(table.number(&LabelSet::default()), NO_LABELS);
        assert_eq!(table.get(one).unwrap().to_string(), "route=/x · tenant=t1");
        assert_eq!(table.get(NO_LABELS), None);
        assert_eq!(table.get(u32::MAX), None);
    }

    #[test]
    fn what_is_sound_of_a_set_is_read() {
        let set = read(r#"{"a":1,"b":true,"c":null,"d":[1],"e":{"f":"g"},"h":"x"}"#);
        assert_eq!(set.to_string(), "a=1 · b=true · h=x");
        for text in ["null", "[]", "5", "\"x\"", "{}"] {
            assert!(read(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_documentation_has_the_limits() {
        let labels = format!(
            "A label set keeps {MAX_LABELS} labels, {MAX_KEY} characters of a name and {MAX_VALUE} of a value"
        );
        let types =
            format!("{MAX_LABELS} labels are kept, {MAX_KEY} characters of a name, {MAX_VALUE} of");
        for (page, text) in [("docs/labels.md", labels), ("index.d.ts", types)] {
            let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
            let found = std::fs::read_to_string(&page).unwrap();
            assert!(found.contains(&text), "{}: {text}", page.display());
        }
    }

    #[test]
    fn huge_sets_are_cut() {
        let many: LabelSet = (0..1000).map(|n| (format!("k{n}"), "v".to_owned())).collect();
        assert_eq!(many.iter().count(), MAX_LABELS);
        let long: LabelSet = [("k".repeat(100), "😀".repeat(1000))].into_iter().collect();
        let (key, value) = long.iter().next().unwrap();
        assert!(key.ends_with('…') && value.ends_with('…'));
        assert!(key.encode_utf16().count() == MAX_KEY);
        assert!((MAX_VALUE - 2..=MAX_VALUE).contains(&value.encode_utf16().count()));
        assert_eq!(cut(&"é".repeat(MAX_VALUE), MAX_VALUE), "é".repeat(MAX_VALUE));
    }
}
