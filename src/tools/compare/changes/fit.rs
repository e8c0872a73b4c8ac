//! The values of one row as steps: what is left beside them, and the clearest further step.

use std::ops::Range;

use super::super::noise::SAMPLING_VARIANCE;
use super::design::Design;
use super::windows::{FittedWindow, Windows};

/// Part of the measured likeness of neighbours that counts: the measure itself is noisy.
const LIKENESS: f64 = 0.6;
/// Fewest blocks that tell whether neighbours are alike.
const LEAST_BLOCKS: usize = 8;
/// Fewest atoms of a segment that tell their own spread.
const LEAST_ATOMS: usize = 8;
/// Chance that the candidates have the right commit.
const CANDIDATES: f64 = 0.95;

/// What is left of a row beside its steps.
#[derive(Debug, Clone, Default)]
pub(super) struct RowFit {
    /// Atoms that begin a level: 0, the changes, and the count of atoms.
    pub borders: Vec<usize>,
    /// Sums of the atoms around the levels.
    pub sums: Vec<f64>,
    /// Variance of a value with the weight 1.
    pub variance: f64,
    /// How much larger the variance of a mean is because neighbours are alike.
    pub inflation: f64,
}

/// A step that may be in a segment.
#[derive(Debug, Clone)]
pub(super) struct FittedStep {
    pub segment: Range<usize>,
    /// The first atom after the step.
    pub at: usize,
    /// How far both sides are apart, in standard errors.
    pub distance: f64,
    /// Squares that the step takes away, and those that a straight line takes away.
    pub squares: f64,
    pub squares_of_line: f64,
    /// Rise of the line from one atom to the next.
    pub slope: f64,
}

impl RowFit {
    /// Returns what is left of values beside steps before the atoms `changes`.
    pub(super) fn of(design: &Design, values: &[f64], changes: &[usize], sampled: f64) -> Self {
        let atoms = design.atoms();
        let borders: Vec<usize> =
            [0].into_iter().chain(changes.iter().copied()).chain([atoms]).collect();
        let mut sums = Vec::with_capacity(atoms);
        for pair in borders.windows(2) {
            sums.extend(design.sums(values, pair[0]..pair[1]));
        }
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let least = SAMPLING_VARIANCE * sampled * mean.abs();
        let variance = variance(design, &sums, 0..atoms).max(least);
        let inflation = inflation(design, &sums);
        Self { borders, sums, variance, inflation }
    }

    /// Returns the sums in standard deviations.
    pub(super) fn standard(&self) -> Vec<f32> {
        let deviation = (self.variance * self.inflation).sqrt();
        let standard = |sum: &f64| if deviation > 0.0 { (sum / deviation) as f32 } else { 0.0 };
        self.sums.iter().map(standard).collect()
    }

    /// Returns the clearest step in any segment. `whole` is the information of the row as one segment.
    pub(super) fn clearest(&self, design: &Design, whole: &[f64]) -> Option<FittedStep> {
        let of_segment = |pair: &[usize]| {
            let segment = pair[0]..pair[1];
            if segment.len() == design.atoms() {
                return self.step(design, segment, whole);
            }
            let order: Vec<usize> = segment.clone().collect();
            self.step(design, segment.clone(), &design.information(&order, segment.start))
        };
        let steps = self.borders.windows(2).filter_map(of_segment);
        steps.max_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    /// Returns the clearest window in any segment. `whole` are the windows of the row as one segment.
    pub(super) fn clearest_window(&self, design: &Design, whole: &Windows) -> Option<FittedWindow> {
        let sums = self.standard();
        let of_segment = |pair: &[usize]| {
            let segment = pair[0]..pair[1];
            let sums = &sums[segment.clone()];
            if segment.len() == design.atoms() {
                return whole.clearest(sums, segment);
            }
            let order: Vec<usize> = segment.clone().collect();
            Windows::of(design, &order, segment.clone()).clearest(sums, segment)
        };
        let windows = self.borders.windows(2).filter_map(of_segment);
        windows.max_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    fn step(
        &self,
        design: &Design,
        segment: Range<usize>,
        information: &[f64],
    ) -> Option<FittedStep> {
        let sums = &self.sums[segment.clone()];
        let mut own = self.variance;
        if segment.len() >= LEAST_ATOMS {
            own = own.max(variance(design, sums, segment.clone()));
        }
        let deviation = (own * self.inflation).sqrt();
        if deviation <= 0.0 {
            return None;
        }
        let (mut before, mut best) = (0.0, None);
        for (place, (sum, information)) in sums.iter().zip(information).enumerate() {
            if *information > 0.0 {
                let distance = f64::abs(before) / information.sqrt() / deviation;
                if best.is_none_or(|(_, largest, _, _)| distance > largest) {
                    best = Some((place, distance, before, *information));
                }
            }
            before += sum;
        }
        let (place, distance, before, information) = best?;
        let squares = design.squares_of_time(segment.clone()).max(f64::MIN_POSITIVE);
        let along: f64 = sums.iter().enumerate().map(|(place, sum)| place as f64 * sum).sum();
        Some(FittedStep {
            at: segment.start + place,
            distance,
            squares: before * before / information,
            squares_of_line: along * along / squares,
            slope: along / squares,
            segment,
        })
    }

    /// Returns how likely each place of a segment is that of its step, on a logarithmic scale, beside
    /// the first atoms after the step.
    pub(super) fn likelihoods(
        &self,
        design: &Design,
        values: &[f64],
        segment: Range<usize>,
    ) -> Vec<(usize, f64)> {
        let sums = design.sums(values, segment.clone());
        let order: Vec<usize> = segment.clone().collect();
        let information = design.information(&order, segment.start);
        let squares = |(sum, atom): (&f64, usize)| sum * sum / design.weight_of(atom);
        let count = segment.len() as f64;
        let all: f64 = sums.iter().zip(segment.clone()).map(squares).sum();
        let all = all.max(self.variance * count).max(f64::MIN_POSITIVE);
        let mut before = 0.0;
        let mut found = Vec::new();
        for (place, (sum, information)) in sums.iter().zip(&information).enumerate() {
            if *information > 0.0 {
                let told = (before * before / information / all).min(0.999_999);
                let likelihood = -(count - 2.0).max(1.0) / 2.0 / self.inflation * (1.0 - told).ln();
                found.push((segment.start + place, likelihood));
            }
            before += sum;
        }
        found
    }
}

/// Returns the places that together have the right one with a given chance, the likeliest first, with
/// their chances.
pub(super) fn likeliest(likelihoods: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let best = likelihoods.iter().map(|(_, one)| *one).fold(f64::NEG_INFINITY, f64::max);
    let mut chances: Vec<(usize, f64)> =
        likelihoods.iter().map(|(at, one)| (*at, (one - best).exp())).collect();
    let sum: f64 = chances.iter().map(|(_, chance)| chance).sum();
    chances.iter_mut().for_each(|(_, chance)| *chance /= sum);
    chances.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut reached = 0.0;
    let is_needed = |(_, chance): &(usize, f64)| {
        let is_needed = reached < CANDIDATES;
        reached += chance;
        is_needed
    };
    chances.into_iter().take_while(is_needed).collect()
}

/// Returns the variance of a value with the weight 1, from the sums of atoms.
fn variance(design: &Design, sums: &[f64], atoms: Range<usize>) -> f64 {
    let weights: f64 = atoms.map(|atom| design.weight_of(atom)).sum();
    sums.iter().map(|sum| sum * sum).sum::<f64>() / weights.max(f64::MIN_POSITIVE)
}

/// Returns how much larger the variance of a mean is than that of equally many unlike values: blocks
/// of neighbours differ from the next block by more than single neighbours tell.
fn inflation(design: &Design, sums: &[f64]) -> f64 {
    let length = design.block();
    if length < 2 || sums.len() / length < LEAST_BLOCKS {
        return 1.0;
    }
    let of = |atoms: Range<usize>| {
        let weight: f64 = atoms.clone().map(|atom| design.weight_of(atom)).sum();
        sums[atoms].iter().sum::<f64>() / weight.max(f64::MIN_POSITIVE).sqrt()
    };
    let single: Vec<f64> = (0..sums.len()).map(|atom| of(atom..atom + 1)).collect();
    let blocks: Vec<f64> =
        (0..sums.len() / length).map(|block| of(block * length..(block + 1) * length)).collect();
    let singles = mean_of_squares(&single);
    if singles > 0.0 {
        (LIKENESS * mean_of_squares(&blocks) / singles).clamp(1.0, length as f64)
    } else {
        1.0
    }
}

/// Returns the mean of squared distances of neighbours, without the largest, which can be a step.
fn mean_of_squares(values: &[f64]) -> f64 {
    let squares = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
    let (sum, largest) =
        squares.fold((0.0, 0.0_f64), |(sum, largest), one| (sum + one, largest.max(one)));
    (sum - largest) / values.len().saturating_sub(2).max(1) as f64
}
