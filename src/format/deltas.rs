//! The times of samples, which are written as the time before each, or not at all.

use super::number::Number;
use crate::profile::builder::ProfileBuilder;

/// Adds samples to a profile, with the lines that `line` returns by their indices. Samples without
/// times are spread evenly between the last sample, or the start, and `until_us`.
pub(crate) fn push_samples(
    profile: &mut ProfileBuilder,
    samples: &[Number],
    deltas: &[Number],
    line: impl Fn(usize) -> u32,
    until_us: i64,
) {
    let span_us = until_us.saturating_sub(profile.last_us());
    let deltas = deltas_or_even(samples.len(), deltas, !profile.has_samples(), span_us);
    for (index, (sample, delta)) in samples.iter().zip(deltas).enumerate() {
        profile.sample(sample.node_id(), delta, line(index));
    }
}

/// Returns the time before each of `count` samples, microseconds. Without given times, the samples
/// are spread evenly in `span_us`; the first sample of a profile is at the start of the span.
pub(crate) fn deltas_or_even(
    count: usize,
    given: &[Number],
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
pub(crate) fn sum(deltas: &[Number]) -> i64 {
    deltas.iter().fold(0, |sum: i64, delta| sum.saturating_add(delta.0))
}
