//! Which labels a user asks for: `route=/users/:id`.

use std::collections::BTreeMap;

use cpu_prof_core::profile::label_table::LabelSet;

/// Keys with the values of which a sample needs one, in lower case. A sample needs one of each key. The empty
/// value stands for no label of the key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelFilter {
    values: BTreeMap<String, Vec<String>>,
}

impl LabelFilter {
    /// Returns a filter by texts of the form `key=value`. Upper and lower case are equal. A text without `=` is a
    /// key without a value.
    pub fn new(texts: &[String]) -> Self {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for text in texts {
            let (key, value) = text.split_once('=').unwrap_or((text, ""));
            values.entry(key.to_lowercase()).or_default().push(value.to_lowercase());
        }
        Self { values }
    }

    /// Returns whether the filter excludes any samples.
    pub fn is_limited(&self) -> bool {
        !self.values.is_empty()
    }

    /// Returns whether samples with these labels pass; none for samples without labels.
    pub fn keeps(&self, labels: Option<&LabelSet>) -> bool {
        self.values.iter().all(|(key, wanted)| {
            let mut all = labels.into_iter().flat_map(LabelSet::iter);
            let value = all.find(|(known, _)| known.to_lowercase() == *key);
            let value = value.map(|(_, value)| value.to_lowercase()).unwrap_or_default();
            wanted.contains(&value)
        })
    }

    /// Returns the texts of the filter.
    pub(super) fn texts(&self) -> Vec<String> {
        let of_key = |(key, values): (&String, &Vec<String>)| {
            values.iter().map(|value| format!("{key}={value}")).collect::<Vec<_>>()
        };
        self.values.iter().flat_map(of_key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_of_each_key_is_needed() {
        let filter = |texts: &[&str]| {
            LabelFilter::new(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        };
        let set: LabelSet = [("route", "/Users/:id"), ("tenant", "a=b")].into_iter().collect();
        for (texts, is_kept) in [
            (&[][..], true),
            (&["route=/users/:id"], true),
            (&["ROUTE=/USERS/:ID"], true),
            (&["route=/users"], false),
            (&["route=/x", "route=/users/:id"], true),
            (&["route=/users/:id", "tenant=t2"], false),
            (&["tenant=a=b", "route=/users/:id"], true),
            (&["route="], false),
            (&["user="], true),
            (&["user", "tenant=a=b"], true),
        ] {
            assert_eq!(filter(texts).keeps(Some(&set)), is_kept, "{texts:?}");
        }
        assert!(filter(&["route="]).keeps(None) && !filter(&["route=/x"]).keeps(None));
        assert!(filter(&["route=", "route=/x"]).keeps(None));
        assert_eq!(filter(&["b=2", "a", "b=1"]).texts(), ["a=", "b=2", "b=1"]);
    }
}
