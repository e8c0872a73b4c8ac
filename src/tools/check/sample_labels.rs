//! The labels of samples: the id of a set for each, and the sets by their ids.

use cpu_prof_core::base::id_set::IdSet;
use cpu_prof_core::format::trace::check::event_text::WrittenValue;
use cpu_prof_core::format::trace::check::problems::Problems;

/// The label sets that a profile has announced, and the samples that have some.
#[derive(Debug, Default)]
pub(super) struct SampleLabels {
    announced: IdSet,
    /// Ids of the samples since the last check.
    used: IdSet,
    /// Count of these samples.
    samples: u64,
    has_other_values: bool,
}

impl SampleLabels {
    /// Reads `labelSets`.
    pub(super) fn sets(&mut self, sets: WrittenValue<'_>, to: &mut Problems) {
        if !sets.is_null() && !sets.is_object() {
            to.warn("sets", "labelSets", "label sets have to be an object, by their ids");
        }
        sets.each_member(|id, set| {
            match id.parse() {
                Ok(id) if id > 0 => drop(self.announced.insert(id)),
                _ => to.warn(
                    "set id",
                    "labelSets",
                    "the id of a label set has to be a number from 1",
                ),
            }
            if !set.is_object() {
                to.warn("set", "labelSets", "a label set has to be an object of texts");
            }
            set.each_member(|_, value| {
                if value.text().is_none() {
                    to.warn("label", "labelSets", "the value of a label has to be a text");
                }
            });
        });
    }

    /// Reads `labels`.
    pub(super) fn samples(&mut self, labels: WrittenValue<'_>) {
        self.has_other_values |= !labels.is_null() && !labels.is_list();
        labels.each_item(|label| {
            self.samples += 1;
            match label.id() {
                Some(0) => {}
                Some(id) => drop(self.used.insert(id)),
                None => self.has_other_values = true,
            }
        });
    }

    /// Adds what is wrong with the labels so far, of so many samples.
    pub(super) fn check(&mut self, samples: u64, to: &mut Problems) {
        let count = std::mem::take(&mut self.samples);
        if count > 0 && count != samples {
            to.warn("labels", "labels", format!("{count} labels for {samples} samples"));
        }
        if std::mem::take(&mut self.has_other_values) {
            to.warn("ids", "labels", "labels have to be a list of the ids of label sets");
        }
        for id in std::mem::take(&mut self.used).without(&self.announced) {
            to.warn("unknown", "labels", format!("no label set has the id {id}"));
        }
    }
}
