//! The label that most of the work was for.

use super::evidence::Evidence;
use super::thresholds::{ENOUGH_WORK_US, LABEL_PART, MORE_THAN_LABEL, MOST_OF_LABEL, OTHER_LABELS};
use super::words;
use crate::analysis::label_costs::LabelBy;

/// `61 % of the work is for route /report/:id, mostly renderTable (table.js:12).`
pub(super) fn labelled(evidence: &Evidence<'_>) -> Option<String> {
    let work_us = evidence.work_us();
    let key = *evidence.costs.labels.keys().first()?;
    let by = LabelBy::Key(key.to_owned());
    let costs = evidence.costs.labels.by(&by);
    let first = costs.iter().find(|of| !of.labels.is_empty())?;
    let part_of = |us: u64| us as f64 / work_us.max(1.0);
    let part = part_of(first.cost.self_us);
    let others = 1.0 - part;
    // A function that explains more is the better sentence.
    let culprit = evidence.work.culprit.as_ref();
    let culprit_part = culprit.map_or(0.0, |culprit| part_of(culprit.work_us));
    if work_us < ENOUGH_WORK_US
        || part < LABEL_PART
        || others < OTHER_LABELS
        || culprit_part > MORE_THAN_LABEL * part
    {
        return None;
    }
    let hottest = first.hottest();
    let hottest = hottest.filter(|(_, us)| *us as f64 >= MOST_OF_LABEL * first.cost.self_us as f64);
    let hottest = hottest.map_or(String::new(), |(function, _)| {
        format!(", mostly {}", words::function(&evidence.view.index.place(function)))
    });
    let (key, value) = (words::shortened(key), words::shortened(&first.name(&by)));
    Some(format!("{} of the work is for {key} {value}{hottest}.", words::percent(part)))
}
