//! What a change of one part does to the shares of all others.
//!
//! Where one function takes a third more of the work, the shares of all others fall. Most functions do
//! not change at one commit, so what most shares do there together is this fall: the median of the
//! ratios of the functions, after to before.

use std::ops::Range;

use super::design::Design;

/// Fewest parts that tell what most parts do.
const LEAST_PARTS: usize = 3;
/// Largest weight of a part, as a part of the work: no single function decides.
const LARGEST: f64 = 0.01;
/// How far a median must be from 1, in standard errors.
const CLEAR: f64 = 2.5;
/// Standard error of a median, in median distances, for one value.
const ERROR_OF_MEDIAN: f64 = 1.253 * 1.483;

/// Returns the ratio of what did not change, after to before an atom of a segment; 1 if it is not clear.
pub(super) fn ratio_of_rest<'a>(
    design: &Design,
    parts: impl Iterator<Item = &'a [f64]>,
    segment: Range<usize>,
    at: usize,
) -> f64 {
    let (before, after) = (design.runs_of(segment.start..at), design.runs_of(at..segment.end));
    let mean = |values: &[f64], runs: Range<usize>| {
        let weight: f64 = design.weights[runs.clone()].iter().sum();
        let sum: f64 = runs.map(|run| design.weights[run] * values[run]).sum();
        sum / weight.max(f64::MIN_POSITIVE)
    };
    let mut ratios: Vec<(f64, f64)> = parts
        .map(|values| (mean(values, before.clone()), mean(values, after.clone())))
        .filter(|(before, after)| *before > 0.0 && *after > 0.0)
        .map(|(before, after)| (after / before, (before + after).min(2.0 * LARGEST)))
        .collect();
    if ratios.len() < LEAST_PARTS {
        return 1.0;
    }
    let middle = weighted_median(&mut ratios);
    let weight: f64 = ratios.iter().map(|(_, weight)| weight).sum();
    let squares: f64 = ratios.iter().map(|(_, weight)| weight * weight).sum();
    let mut distances: Vec<(f64, f64)> =
        ratios.iter().map(|(ratio, weight)| ((ratio - middle).abs(), *weight)).collect();
    let error = ERROR_OF_MEDIAN * weighted_median(&mut distances) * squares.sqrt() / weight;
    if (middle - 1.0).abs() > CLEAR * error { middle } else { 1.0 }
}

fn weighted_median(values: &mut [(f64, f64)]) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    let reaches = |(_, weight): &&(f64, f64)| {
        below += weight;
        2.0 * below >= all
    };
    values.iter().find(reaches).map_or(1.0, |(value, _)| *value)
}
