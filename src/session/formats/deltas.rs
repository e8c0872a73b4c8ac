//! The times of samples, which are written as the time before each, or not at all.

use crate::model::builder::ProfileBuilder;
use cpu_prof_core::format::number::{NodeNumber, PlainNumber};
use cpu_prof_core::profile::label_table::NO_LABELS;
use cpu_prof_core::profile::position::SourcePosition;

/// Adds samples to a profile, with the positions that `position` returns by their indices, and with the numbers of
/// their label sets; samples behind the end of `labels` have none. Samples without times are spread evenly
/// between the last sample, or the start, and `until_us`.
pub(crate) fn push_samples(
    profile: &mut ProfileBuilder,
    samples: &[NodeNumber],
    deltas: &[PlainNumber],
    position: impl Fn(usize) -> SourcePosition,
    labels: &[u32],
    until_us: i64,
) {
    let span_us = until_us.saturating_sub(profile.last_us());
    let deltas = deltas_or_even(samples.len(), deltas, !profile.has_samples(), span_us);
    let InOrder { list, rest_us } = InOrder::of(deltas);
    for (index, delta) in list {
        let labels = labels.get(index).copied().unwrap_or(NO_LABELS);
        profile.labelled_sample(samples[index].0, delta, position(index), labels);
    }
    profile.run_back(rest_us);
}

/// Samples in the order of their times. V8 takes samples in two ways, and writes them in the order in
/// which it reads them.
#[derive(Debug, PartialEq, Eq)]
pub struct InOrder {
    /// Index of each sample, and the microseconds before it.
    pub list: Vec<(usize, i64)>,
    /// Time from the last of these to the sample that was written last, from which the next time
    /// counts: microseconds, 0 or less.
    pub rest_us: i64,
}

impl InOrder {
    /// Orders samples by the time before each, microseconds.
    pub fn of(deltas: impl Iterator<Item = i64>) -> Self {
        let mut list: Vec<(usize, i64)> = deltas.enumerate().collect();
        // The first delta counts from a sample that was placed already.
        if list.iter().skip(1).all(|(_, delta)| *delta >= 0) {
            return Self { list, rest_us: 0 };
        }
        let mut time_us = 0_i64;
        for (_, delta) in &mut list {
            time_us = time_us.saturating_add(*delta);
            *delta = time_us;
        }
        list.sort_by_key(|(_, time_us)| *time_us);
        let mut last_us = 0;
        for (_, time) in &mut list {
            *time = time.saturating_sub(std::mem::replace(&mut last_us, *time));
        }
        Self { list, rest_us: time_us.saturating_sub(last_us) }
    }
}

/// Returns the time before each of `count` samples, microseconds. Without given times, the samples
/// are spread evenly in `span_us`; the first sample of a profile is at the start of the span.
pub fn deltas_or_even(
    count: usize,
    given: &[PlainNumber],
    is_first: bool,
    span_us: i64,
) -> impl Iterator<Item = i64> {
    let even = span_us.max(0) / i64::try_from(count).unwrap_or(i64::MAX).max(1);
    (0..count).map(move |index| match given.get(index) {
        Some(delta) => delta.0,
        None if given.is_empty() && !(is_first && index == 0) => even,
        None => 0,
    })
}

/// Returns the sum of times, microseconds.
pub fn sum(deltas: &[PlainNumber]) -> i64 {
    deltas.iter().fold(0, |sum: i64, delta| sum.saturating_add(delta.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_put_in_order() {
        let in_order = |deltas: &[i64]| {
            let InOrder { list, rest_us } = InOrder::of(deltas.iter().copied());
            (list, rest_us)
        };
        assert_eq!(in_order(&[5, 3, 0]), (vec![(0, 5), (1, 3), (2, 0)], 0));
        assert_eq!(in_order(&[-5, 3]), (vec![(0, -5), (1, 3)], 0));
        // Times 10, 14, 11, 20.
        assert_eq!(in_order(&[10, 4, -3, 9]), (vec![(0, 10), (2, 1), (1, 3), (3, 6)], 0));
        // Times 10, 14, 11: the next time counts from 11.
        assert_eq!(in_order(&[10, 4, -3]), (vec![(0, 10), (2, 1), (1, 3)], -3));
        assert_eq!(in_order(&[]), (vec![], 0));
        in_order(&[i64::MAX, i64::MIN, i64::MAX]);
    }
}
