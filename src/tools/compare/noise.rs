//! Tells changes from noise: whether two sets of runs differ by more than runs of one program do.
//!
//! All rows are tested together. With enough runs, the runs are divided in all other ways than into
//! base and head: the largest difference of any row in such a division is noise by definition. A row
//! has changed if it differs more than the largest row of 95 % of the divisions does (Westfall and
//! Young's max-T). So in twenty comparisons of equal programs, one has a false change, however many
//! rows there are, however they depend on each other, and however uneven the noise is. With few runs
//! there are too few divisions, and an assumed spread takes their place.

/// The chance that a comparison of equal programs has a false change.
const FALSE_CHANGES: f64 = 0.05;
/// The most divisions that are tried. There are 3432 divisions of 14 runs in halves.
const MAX_DIVISIONS: usize = 4000;
/// Divisions that may have a larger row, at least: the runs as they are, and with base and head
/// exchanged.
const LEAST_ALLOWED: usize = 2;
/// Differences below this part of a row say nothing to anybody, and a row without any spread would
/// make them changes.
const NO_INTEREST: f64 = 0.005;
/// Least variance of a time that samples tell, as a part of the time times the interval: calls that last
/// a half of the interval have this, and shorter ones up to twice as much.
const SAMPLING_VARIANCE: f64 = 0.5;
/// Of how many runs one is left out at either end. With fewer, too many other divisions would leave out
/// the runs by which they differ from base and head.
const TRIMMED: usize = 7;
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
    /// Trimmed mean of the base runs.
    pub base: f64,
    /// Trimmed mean of the head runs.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoiseModel {
    /// By dividing the runs in other ways.
    Divisions,
    /// By an assumed spread, because the runs are few.
    Assumed,
}

/// Returns the difference of each row, in their order, and how the noise was found.
pub(super) fn differences(rows: &[RowValues]) -> (Vec<Difference>, NoiseModel) {
    let (base_runs, head_runs) =
        rows.first().map_or((0, 0), |row| (row.base.len(), row.head.len()));
    let divisions = divisions(base_runs + head_runs, base_runs);
    let allowed = (FALSE_CHANGES * divisions.len() as f64) as usize;
    let (critical, model) = if allowed >= LEAST_ALLOWED {
        (critical_by_divisions(rows, &divisions, allowed), NoiseModel::Divisions)
    } else {
        let chance = FALSE_CHANGES / 2.0 / rows.len().max(1) as f64;
        (normal_quantile(chance), NoiseModel::Assumed)
    };
    let of = |row: &RowValues| {
        let (base, head) =
            (TrimmedMean::of(&mut row.base.clone()), TrimmedMean::of(&mut row.head.clone()));
        let error = match model {
            NoiseModel::Divisions => error(base, head, row.sampled),
            NoiseModel::Assumed => assumed_error(row, base, head),
        };
        let (base, head) = (base.mean, head.mean);
        let (difference, width) = (head - base, critical * error);
        Difference { base, head, low: difference - width, high: difference + width }
    };
    (rows.iter().map(of).collect(), model)
}

/// The mean of the runs of a side, and its error. A machine that does something else now and then
/// makes single runs slow, so of seven runs, the fastest and the slowest are left out (Yuen's test: trimmed
/// means with winsorized variances).
#[derive(Debug, Clone, Copy, Default)]
struct TrimmedMean {
    mean: f64,
    /// Square of the standard error of the mean.
    error2: f64,
    /// Variance of the values.
    variance: f64,
    /// Count of the values.
    count: f64,
}

impl TrimmedMean {
    /// Returns the mean of values, which it sorts.
    fn of(values: &mut [f64]) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len();
        let trimmed = count / TRIMMED;
        let Some(kept) = values.get(trimmed..count - trimmed).filter(|kept| !kept.is_empty())
        else {
            return Self::default();
        };
        let kept_count = kept.len() as f64;
        let mean = kept.iter().sum::<f64>() / kept_count;
        let (least, most) = (kept[0], kept[kept.len() - 1]);
        let winsorized = || values.iter().map(|value| value.clamp(least, most));
        let winsorized_mean = winsorized().sum::<f64>() / count as f64;
        let squares: f64 = winsorized().map(|value| (value - winsorized_mean).powi(2)).sum();
        let variance = squares / (count as f64 - 1.0).max(1.0);
        let error2 = squares / (kept_count * (kept_count - 1.0).max(1.0));
        Self { mean, error2, variance, count: count as f64 }
    }
}

/// Returns the standard error of the difference of two means. Values that are alike by chance do not
/// make the error smaller than samples allow.
fn error(base: TrimmedMean, head: TrimmedMean, sampled: f64) -> f64 {
    let no_interest = (NO_INTEREST * base.mean.abs().max(head.mean.abs())).powi(2);
    let of = |side: TrimmedMean| {
        side.error2.max(SAMPLING_VARIANCE * sampled * side.mean.abs() / side.count)
    };
    (of(base) + of(head) + no_interest).sqrt()
}

/// Returns the standard error of the difference of two means of few values: the spread of the values
/// is at least the sampling error with the assumed spread.
fn assumed_error(row: &RowValues, base: TrimmedMean, head: TrimmedMean) -> f64 {
    let (base_runs, head_runs) = (row.base.len() as f64, row.head.len() as f64);
    let mean = (base.mean * base_runs + head.mean * head_runs) / (base_runs + head_runs).max(1.0);
    let least = mean.abs() * row.sampled + (row.assumed_spread * mean).powi(2);
    let of = |side: TrimmedMean, runs: f64| side.variance.max(least) / runs.max(1.0);
    (of(base, base_runs) + of(head, head_runs)).sqrt()
}

/// Returns the difference, in standard errors, that the largest row exceeds in `allowed` of the
/// divisions.
fn critical_by_divisions(rows: &[RowValues], divisions: &[Vec<usize>], allowed: usize) -> f64 {
    let all: Vec<(Vec<f64>, f64)> =
        rows.iter().map(|row| ([&row.base[..], &row.head].concat(), row.sampled)).collect();
    let (mut base, mut head) = (Vec::new(), Vec::new());
    let mut largest: Vec<f64> = divisions
        .iter()
        .map(|division| {
            let mut largest: f64 = 0.0;
            for (values, sampled) in &all {
                base.clear();
                head.clear();
                let mut chosen = division.iter().copied().peekable();
                for (run, value) in values.iter().enumerate() {
                    let side =
                        if chosen.next_if_eq(&run).is_some() { &mut base } else { &mut head };
                    side.push(*value);
                }
                let (base, head) = (TrimmedMean::of(&mut base), TrimmedMean::of(&mut head));
                let error = error(base, head, *sampled);
                if error > 0.0 {
                    largest = largest.max((head.mean - base.mean).abs() / error);
                }
            }
            largest
        })
        .collect();
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
        let mut division = runs[..base].to_vec();
        division.sort_unstable();
        division
    };
    (0..MAX_DIVISIONS).map(|_| draw()).collect()
}

/// Returns the count of ways to choose `some` of `all`.
fn ways(all: usize, some: usize) -> f64 {
    (0..some).fold(1.0, |ways, taken| ways * (all - taken) as f64 / (taken + 1) as f64)
}

fn all_divisions(all: usize, base: usize) -> Vec<Vec<usize>> {
    let mut list = Vec::new();
    let mut chosen: Vec<usize> = (0..base).collect();
    loop {
        list.push(chosen.clone());
        // Moves the last run that can still move, and puts those after it right behind.
        let Some(place) = (0..base).rev().find(|place| chosen[*place] < all - base + place) else {
            return list;
        };
        chosen[place] += 1;
        for later in place + 1..base {
            chosen[later] = chosen[later - 1] + 1;
        }
    }
}

/// Random numbers, the same each time (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
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
        assert_eq!(model, NoiseModel::Divisions);
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
