//! What a step of a row tells: its size with an interval, and the commits that it can be.

use std::ops::Range;

use super::super::noise::{CONFIDENCE, DRIFT, SAMPLING_VARIANCE};
use super::critical::Maxima;
use super::design::Design;
use super::fit::{RowFit, likeliest};
use super::json::{Candidate, ChangePoint, ChangedCommit};

/// A step of a row that was found.
pub(super) struct FoundStep<'a> {
    /// Index of the row.
    pub index: usize,
    /// Values without the effect of other rows and without drift.
    pub values: &'a [f64],
    pub fit: &'a RowFit,
    /// The value of one sample.
    pub sampled: f64,
    /// First atom of the level before.
    pub start: usize,
    /// First atom of the level after.
    pub at: usize,
    /// First atom beyond.
    pub end: usize,
}

impl FoundStep<'_> {
    /// Returns the change, if it is more than 0 for sure. `maxima` are the largest distances of rows like this one.
    pub(super) fn point(&self, design: &Design, maxima: &Maxima) -> Option<ChangePoint> {
        let &Self { values, fit, start, at, end, .. } = self;
        let likelihoods = fit.likelihoods(design, values, start..end);
        let candidates = likeliest(&likelihoods)
            .into_iter()
            .map(|(at, chance)| Candidate { commit: design.commit_of[at], chance });
        let order: Vec<usize> = (start..end).collect();
        let information = design.information(&order, start)[at - start];
        let sums = design.sums(values, start..end);
        let before_step: f64 = sums[..at - start].iter().sum();
        let size = -before_step / information.max(f64::MIN_POSITIVE);
        let sides = [start..at, at..end].map(|atoms| Side::of(design, values, atoms));
        let mean = sides[0].mean;
        // Machines that ran on one side only tell less about the difference.
        let uneven = 1.0 / information / (1.0 / sides[0].weight + 1.0 / sides[1].weight);
        let of_side = |side: &Side| {
            let of_samples = SAMPLING_VARIANCE * self.sampled * side.mean.abs();
            side.variance.max(of_samples) / side.weight
        };
        let of_runs = fit.inflation * uneven.max(1.0) * (of_side(&sides[0]) + of_side(&sides[1]));
        let drift = (DRIFT * mean.abs().max((mean + size).abs())).powi(2);
        let width = CONFIDENCE * (of_runs + drift).sqrt();
        let (low, high) = (size - width, size + width);
        let deviation = (fit.variance * fit.inflation / information).sqrt();
        let distance = size.abs() / deviation.max(f64::MIN_POSITIVE);
        (low > 0.0 || high < 0.0).then(|| ChangePoint {
            row: self.index,
            commit: design.commit_of[at],
            candidates: candidates.collect(),
            before: mean.max(0.0),
            after: (mean + size).max(0.0),
            low,
            high,
            runs_before: design.runs_of(start..at).len(),
            runs_after: design.runs_of(at..end).len(),
            chance: maxima.chance(distance),
            distance,
        })
    }
}

/// One side of a change.
struct Side {
    mean: f64,
    /// Variance of a value with the weight 1.
    variance: f64,
    weight: f64,
}

impl Side {
    fn of(design: &Design, values: &[f64], atoms: Range<usize>) -> Self {
        let runs = design.runs_of(atoms.clone());
        let weight: f64 = design.weights[runs.clone()].iter().sum();
        let sum: f64 = runs.clone().map(|run| design.weights[run] * values[run]).sum();
        let mean = sum / weight.max(f64::MIN_POSITIVE);
        let squares: f64 = design.sums(values, atoms.clone()).iter().map(|sum| sum * sum).sum();
        let count = atoms.len() as f64;
        let variance = squares / weight.max(f64::MIN_POSITIVE) * count / (count - 1.0).max(1.0);
        Self { mean, variance, weight }
    }
}

/// Puts changes together whose commits can be the same. The changes have the clearest first.
pub(super) fn grouped(points: Vec<ChangePoint>) -> Vec<ChangedCommit> {
    let mut commits: Vec<ChangedCommit> = Vec::new();
    for point in points {
        let has = |list: &[Candidate], commit: usize| list.iter().any(|one| one.commit == commit);
        let is_same = |commit: &&mut ChangedCommit| {
            has(&point.candidates, commit.commit) || has(&commit.candidates, point.commit)
        };
        match commits.iter_mut().find(is_same) {
            Some(commit) => commit.changes.push(point),
            None => commits.push(ChangedCommit {
                commit: point.commit,
                candidates: point.candidates.clone(),
                changes: vec![point],
            }),
        }
    }
    commits
}
