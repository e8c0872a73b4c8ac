//! Labels of samples, as traces and `.cpuprofile` files have them: an id for each sample, 0 for none,
//! and the sets by their ids.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use cpu_prof_core::format::ascii_json::encode_raw;
use cpu_prof_core::format::number::Number;
use cpu_prof_core::profile::label_table::{LabelSet, LabelTable, NO_LABELS};

/// Returns `labelSets` as a recording may have them; none if they stay as they are.
pub fn cleaned_sets(written: &RawValue) -> Option<Box<RawValue>> {
    let sets: BTreeMap<u64, LabelSet> = serde_json::from_str(written.get()).unwrap_or_default();
    encode_raw(&sets).filter(|sets| sets.get() != written.get())
}

/// The label sets that a profile has announced: their numbers in a table, by their ids. A profile
/// announces each set that its samples have, so that profiles need not agree about ids.
#[derive(Debug, Default, Clone)]
pub struct AnnouncedLabels {
    numbers: FxHashMap<u64, u32>,
}

impl AnnouncedLabels {
    /// Reads `labelSets`. What is not sound is left out, and of several sets with one id the last counts.
    pub fn announce(&mut self, sets: Option<&RawValue>, table: &mut LabelTable) {
        let sets = sets.and_then(|sets| serde_json::from_str(sets.get()).ok());
        let sets: BTreeMap<String, LabelSet> = sets.unwrap_or_default();
        for (id, set) in sets {
            if let Ok(id) = id.parse() {
                self.numbers.insert(id, table.number(&set));
            }
        }
    }

    /// Returns the number of each sample's set; empty if `labels` is missing, or not a list of numbers.
    pub fn numbers(&self, labels: Option<&RawValue>) -> Vec<u32> {
        if self.numbers.is_empty() {
            return Vec::new();
        }
        let ids = labels.and_then(|labels| serde_json::from_str(labels.get()).ok());
        let ids: Vec<Number> = ids.unwrap_or_default();
        let number = |Number(id): Number| {
            let id = u64::try_from(id).ok()?;
            self.numbers.get(&id).copied()
        };
        ids.into_iter().map(|id| number(id).unwrap_or(NO_LABELS)).collect()
    }

    /// Forgets all sets, at the start of another profile.
    pub fn clear(&mut self) {
        self.numbers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn ids_without_a_set_and_wrong_types_are_no_labels() {
        let (mut labels, mut table) = (AnnouncedLabels::default(), LabelTable::default());
        labels.announce(Some(&raw("[1,2]")), &mut table);
        labels.announce(Some(&raw("null")), &mut table);
        assert!(labels.numbers(Some(&raw("[1,2]"))).is_empty());
        let sets = r#"{"7":{"a":"x"},"-1":{"a":"y"},"x":{"a":"z"},"8":5,"9":{"a":"x"}}"#;
        labels.announce(Some(&raw(sets)), &mut table);
        assert_eq!(table.list().len(), 1);
        assert_eq!(labels.numbers(Some(&raw("[0,7,-1,8,9,1e300,7]"))), [0, 1, 0, 0, 1, 0, 1]);
        for text in ["{}", "null", "5", "\"7\"", "[7,null]", "[[7]]"] {
            assert!(labels.numbers(Some(&raw(text))).is_empty(), "{text}");
        }
        assert!(labels.numbers(None).is_empty());
        labels.announce(Some(&raw(r#"{"7":{"a":"new"}}"#)), &mut table);
        assert_eq!(labels.numbers(Some(&raw("[7]"))), [2]);
    }
}
