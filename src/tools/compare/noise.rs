//! Tells changes from noise: whether two sets of runs differ by more than runs of one program do.
//!
//! All rows are tested together. With enough runs, the runs are divided in all other ways than into
//! base and head: the largest difference of any row in such a division is noise by definition. A row
//! has changed if it differs more than the largest row of 97 % of the divisions does (Westfall and
//! Young's max-T). So in thirty comparisons of equal programs, one has a false change, however many
//! rows there are, however they depend on each other, and however uneven the noise is. With few runs
//! there are too few divisions, and an assumed spread takes their place.

use std::borrow::Cow;

use serde::Serialize;

/// The chance that a comparison of equal programs has a false change: below one in twenty, because a
/// machine also drifts from one set of runs to the next.
const FALSE_CHANGES: f64 = 0.03;
/// The most divisions that are tried. There are 3432 divisions of 14 runs in halves.
const MAX_DIVISIONS: usize = 4000;
/// Divisions that may have a larger row, at least: the runs as they are, and with base and head
/// exchanged.
const LEAST_ALLOWED: usize = 2;
/// Standard deviation of a machine's speed between two sets of runs, as a part of the value: a shared
/// machine becomes some percent slower or faster within minutes, which the spread within a set does not
/// tell.
pub(super) const DRIFT: f64 = 0.01;
/// Standard errors of a confidence interval of 95 %.
pub(super) const CONFIDENCE: f64 = 1.96;
/// Least variance of a time that samples tell, as a part of the time times the interval: calls that last
/// a half of the interval have this, and shorter ones up to twice as much.
pub(super) const SAMPLING_VARIANCE: f64 = 0.5;
/// How far beyond the middle half of the values a value may be, in widths of the middle half.
const FENCE: f64 = 1.5;
/// Spread between runs that is assumed where the runs are too few to know theirs, as a part of the
/// mean: of work, and of waiting.
pub(super) const SPREAD_OF_WORK: f64 = 0.1;
pub(super) const SPREAD_OF_WAITING: f64 = 0.5;

/// The values of one row, one for each run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RowValues {
    /// Values of the base runs.
    pub base: Vec<f64>,
    /// Values of the head runs.
    pub head: Vec<f64>,
    /// Time between two samples, in the unit of the values; 0 for values without sampling error.
    pub sampled: f64,
    /// The spread between runs that is assumed where the runs are few, as a part of the mean.
    pub assumed_spread: f64,
}

/// How far head is from base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    /// Mean of the base runs.
    pub base: f64,
    /// Mean of the head runs.
    pub head: f64,
    /// Lower limit of the difference.
    pub low: f64,
    /// Upper limit of the difference.
    pub high: f64,
}

impl Difference {
    /// Returns whether the difference is more than noise.
    pub(super) fn is_change(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// How the noise was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NoiseModel {
    /// By dividing the runs in other ways.
    Measured,
    /// By an assumed spread, because the runs are few.
    Assumed,
}

/// Returns the difference of each row, in their order, and how the noise was found.
pub(super) fn differences(rows: &[RowValues]) -> (Vec<Difference>, NoiseModel) {
    let (base_runs, head_runs) =
        rows.first().map_or((0, 0), |row| (row.base.len(), row.head.len()));
    let divisions = divisions(base_runs + head_runs, base_runs);
    let allowed = (FALSE_CHANGES * divisions.len() as f64) as usize;
    let (rows, critical, model) = if allowed >= LEAST_ALLOWED {
        let rows: Vec<RowValues> = rows.iter().map(pulled_in).collect();
        let critical = critical_by_divisions(&rows, &divisions, allowed);
        (Cow::Owned(rows), critical, NoiseModel::Measured)
    } else {
        let chance = FALSE_CHANGES / 2.0 / rows.len().max(1) as f64;
        (Cow::Borrowed(rows), normal_quantile(chance), NoiseModel::Assumed)
    };
    let of = |row: &RowValues| {
        let (base, head) = (Moments::of(&row.base), Moments::of(&row.head));
        let error = match model {
            NoiseModel::Measured => error(base, head, row.sampled),
            NoiseModel::Assumed => assumed_error(row, base, head),
        };
        let (base, head) = (base.mean(), head.mean());
        let (difference, width) = (head - base, critical * error);
        Difference { base, head, low: difference - width, high: difference + width }
    };
    (rows.iter().map(of).collect(), model)
}

/// Returns a row whose values that are far from the others are pulled in to Tukey's fences. A machine
/// that does something else now and then makes single runs slow. The fences are those of all runs
/// together, so that they do not depend on the division. A side of less than a third could be outside
/// of the fences as a whole, so the values then stay.
fn pulled_in(row: &RowValues) -> RowValues {
    let mut all = [&row.base[..], &row.head].concat();
    if 3 * row.base.len().min(row.head.len()) < all.len() {
        return row.clone();
    }
    all.sort_unstable_by(f64::total_cmp);
    let (low, high) = (quantile(&all, 0.25), quantile(&all, 0.75));
    let reach = FENCE * (high - low);
    let pull = |values: &[f64]| {
        values.iter().map(|value| value.clamp(low - reach, high + reach)).collect()
    };
    RowValues { base: pull(&row.base), head: pull(&row.head), ..*row }
}

/// Returns a quantile of sorted values; 0 without values.
pub(super) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = part * sorted.len().saturating_sub(1) as f64;
    let below = sorted.get(at as usize).copied().unwrap_or_default();
    let above = sorted.get(at.ceil() as usize).copied().unwrap_or(below);
    below + (above - below) * at.fract()
}

/// Count, sum and sum of squares of values.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn of(values: &[f64]) -> Self {
        let mut moments = Self::default();
        for value in values {
            moments.add(*value);
        }
        moments
    }

    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn without(self, part: Self) -> Self {
        Self {
            count: self.count - part.count,
            sum: self.sum - part.sum,
            squares: self.squares - part.squares,
        }
    }

    fn mean(self) -> f64 {
        self.sum / self.count.max(1.0)
    }

    /// Returns the variance of the values; 0 for one value.
    fn variance(self) -> f64 {
        let around_mean = self.squares - self.sum * self.mean();
        (around_mean / (self.count - 1.0).max(1.0)).max(0.0)
    }
}

/// Returns the standard error of the difference of two means. Values that are alike by chance do not
/// make the error smaller than samples allow.
fn error(base: Moments, head: Moments, sampled: f64) -> f64 {
    let drift = (DRIFT * base.mean().abs().max(head.mean().abs())).powi(2);
    let of = |side: Moments| {
        let of_samples = SAMPLING_VARIANCE * sampled * side.mean().abs();
        side.variance().max(of_samples) / side.count.max(1.0)
    };
    (of(base) + of(head) + drift).sqrt()
}

/// Returns the standard error of the difference of two means of few values: the spread of the values
/// is at least the sampling error with the assumed spread.
fn assumed_error(row: &RowValues, base: Moments, head: Moments) -> f64 {
    let mean = (base.sum + head.sum) / (base.count + head.count).max(1.0);
    let least = mean.abs() * row.sampled + (row.assumed_spread * mean).powi(2);
    let of = |side: Moments| side.variance().max(least) / side.count.max(1.0);
    (of(base) + of(head)).sqrt()
}

/// Returns the difference, in standard errors, that the largest row exceeds in `allowed` of the
/// divisions.
fn critical_by_divisions(rows: &[RowValues], divisions: &[Vec<usize>], allowed: usize) -> f64 {
    let pool = |row: &RowValues| {
        let values = [&row.base[..], &row.head].concat();
        (Moments::of(&values), values, row.sampled)
    };
    let all: Vec<_> = rows.iter().map(pool).collect();
    let largest_in = |division: &Vec<usize>| {
        let of = |(moments, values, sampled): &(Moments, Vec<f64>, f64)| {
            let mut base = Moments::default();
            division.iter().for_each(|run| base.add(values[*run]));
            let head = moments.without(base);
            let error = error(base, head, *sampled);
            if error > 0.0 { (head.mean() - base.mean()).abs() / error } else { 0.0 }
        };
        all.iter().map(of).fold(0.0, f64::max)
    };
    let mut largest: Vec<f64> = divisions.iter().map(largest_in).collect();
    largest.sort_by(|a, b| b.total_cmp(a));
    largest.get(allowed).copied().unwrap_or(f64::INFINITY)
}

/// Returns ways to choose `base` of `all` runs: every way if there are not too many, and otherwise
/// many of them. The choice is the same each time.
fn divisions(all: usize, base: usize) -> Vec<Vec<usize>> {
    if base == 0 || base >= all {
        return Vec::new();
    }
    if ways(all, base) <= MAX_DIVISIONS as f64 {
        return all_divisions(all, base);
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut runs: Vec<usize> = (0..all).collect();
    let mut draw = || {
        for place in 0..base {
            let other = place + random.below(all - place);
            runs.swap(place, other);
        }
        runs[..base].to_vec()
    };
    (0..MAX_DIVISIONS).map(|_| draw()).collect()
}

/// Returns the count of ways to choose `some` of `all`.
fn ways(all: usize, some: usize) -> f64 {
    (0..some).fold(1.0, |ways, taken| ways * (all - taken) as f64 / (taken + 1) as f64)
}

fn all_divisions(all: usize, base: usize) -> Vec<Vec<usize>> {
    (0..base).rev().fold(vec![Vec::new()], |lists, after| {
        let longer = |list: &Vec<usize>| -> Vec<Vec<usize>> {
            let next = list.last().map_or(0, |last| last + 1);
            (next..all - after).map(|run| [&list[..], &[run]].concat()).collect()
        };
        lists.iter().flat_map(longer).collect()
    })
}

/// Random numbers, the same each time (xorshift).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Returns the value that a standard normal variable exceeds with this chance, below a half. The
/// error is below 0.0005 (Abramowitz and Stegun 26.2.23).
fn normal_quantile(chance: f64) -> f64 {
    let t = (-2.0 * chance.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns values around a mean, from a fixed stream.
    fn values(random: &mut Random, runs: usize, mean: f64, spread: f64) -> Vec<f64> {
        let mut one = || {
            // A sum of twelve uniform numbers is nearly normal, with a variance of 1.
            let sum: f64 = (0..12).map(|_| random.below(1 << 20) as f64 / (1 << 20) as f64).sum();
            mean * (1.0 + spread * (sum - 6.0))
        };
        (0..runs).map(|_| one()).collect()
    }

    /// Returns the count of comparisons with a change among 200, of 20 rows each. The first row of
    /// head is `factor` times that of base.
    fn comparisons_with_change(runs: usize, spread: f64, factor: f64) -> (usize, usize) {
        let mut random = Random(7);
        let (mut first, mut others) = (0, 0);
        for _ in 0..200 {
            let rows: Vec<RowValues> = (0..20)
                .map(|row| RowValues {
                    base: values(&mut random, runs, 100.0, spread),
                    head: values(
                        &mut random,
                        runs,
                        if row == 0 { 100.0 * factor } else { 100.0 },
                        spread,
                    ),
                    sampled: 0.0,
                    assumed_spread: SPREAD_OF_WORK,
                })
                .collect();
            let (found, _) = differences(&rows);
            first += usize::from(found[0].is_change());
            others += usize::from(found[1..].iter().any(Difference::is_change));
        }
        (first, others)
    }

    #[test]
    fn equal_programs_have_false_changes_in_one_of_twenty_comparisons() {
        let (_, others) = comparisons_with_change(5, 0.05, 1.0);
        assert!(others <= 16, "{others} of 200");
        let (_, with_a_change) = comparisons_with_change(5, 0.05, 1.5);
        assert!(with_a_change <= 16, "{with_a_change} of 200");
    }

    #[test]
    fn a_tenth_is_found_in_the_noise_of_some_percent() {
        let (found, _) = comparisons_with_change(6, 0.02, 1.1);
        assert!(found >= 180, "{found} of 200");
        let (found, _) = comparisons_with_change(5, 0.2, 1.01);
        assert!(found <= 16, "{found} of 200");
    }

    #[test]
    fn single_runs_tell_a_doubled_row_only() {
        let row = |base: f64, head: f64| RowValues {
            base: vec![base],
            head: vec![head],
            sampled: 1.0,
            assumed_spread: SPREAD_OF_WORK,
        };
        let rows = [row(400.0, 800.0), row(400.0, 480.0), row(10.0, 20.0)];
        let (found, model) = differences(&rows);
        assert_eq!(model, NoiseModel::Assumed);
        let changes: Vec<bool> = found.iter().map(Difference::is_change).collect();
        assert_eq!(changes, [true, false, false]);
    }

    #[test]
    fn rows_without_spread_are_changes_where_they_matter() {
        let row = |base: f64, head: f64| RowValues {
            base: vec![base; 7],
            head: vec![head; 7],
            sampled: 0.0,
            assumed_spread: SPREAD_OF_WORK,
        };
        let (found, model) =
            differences(&[row(40.0, 41.0), row(40.0, 40.0), row(0.0, 0.0), row(0.0, 9.0)]);
        assert_eq!(model, NoiseModel::Measured);
        let changes: Vec<bool> = found.iter().map(Difference::is_change).collect();
        assert_eq!(changes, [true, false, false, true]);
        assert_eq!(differences(&[]).0, []);
    }

    #[test]
    fn divisions_are_each_way_once() {
        let few = all_divisions(5, 2);
        assert_eq!(few.len(), 10);
        assert_eq!((&few[0][..], &few[9][..]), (&[0, 1][..], &[3, 4][..]));
        assert_eq!(divisions(14, 7).len(), 3432);
        assert_eq!(divisions(40, 20).len(), MAX_DIVISIONS);
        assert!(divisions(3, 3).is_empty() && divisions(3, 0).is_empty());
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        for (chance, expected) in [(0.025, 1.960), (0.005, 2.576), (0.0001, 3.719)] {
            assert!((normal_quantile(chance) - expected).abs() < 0.001);
        }
    }
}
