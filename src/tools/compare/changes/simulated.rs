//! Simulated lakes: how often the search is wrong, and what it finds.

use super::super::noise::Random;
use super::change_points::change_points;
use super::json::{ChangeInput, FoundChanges, SeriesRow};
use super::memory::{normal, uniform};

/// How runs of a program differ.
#[derive(Debug, Clone)]
pub(super) struct SimulatedLake {
    pub commits: usize,
    /// Runs of each commit.
    pub runs: usize,
    pub rows: usize,
    /// Share of the first row, which changes.
    pub share: f64,
    /// Spread of a row between runs beside its samples, as a part.
    pub own: f64,
    /// Spread of a row between the runs of one commit and those of another.
    pub of_commit: f64,
    /// Machines, which take turns by commit, and how far each row is from its mean on each.
    pub hosts: usize,
    pub of_host: f64,
    /// Whether the machines are known.
    pub knows_hosts: bool,
    /// Commits from which on the first row takes a multiple of its time.
    pub steps: Vec<(usize, f64)>,
    /// Rise of the first row from the first to the last commit, as a part.
    pub drift: f64,
    /// Part of the runs in which each row is far off.
    pub outliers: f64,
    /// Spread and memory of the speed of machines.
    pub speed: f64,
    pub memory: f64,
    /// Commits at which the second row begins and the third row ends.
    pub begins: usize,
    pub ends: usize,
}

impl Default for SimulatedLake {
    fn default() -> Self {
        Self {
            commits: 50,
            runs: 4,
            rows: 300,
            share: 0.05,
            own: 0.03,
            of_commit: 0.0,
            hosts: 1,
            of_host: 0.0,
            knows_hosts: true,
            steps: Vec::new(),
            drift: 0.0,
            outliers: 0.0,
            speed: 0.15,
            memory: 0.0,
            begins: 0,
            ends: usize::MAX,
        }
    }
}

/// Returns a count of samples with a Poisson distribution.
fn count(random: &mut Random, mean: f64) -> f64 {
    if mean > 30.0 {
        return (mean + mean.sqrt() * normal(random)).round().max(0.0);
    }
    let (limit, mut product, mut count) = ((-mean).exp(), uniform(random), 0.0);
    while product > limit {
        product *= uniform(random);
        count += 1.0;
    }
    count
}

impl SimulatedLake {
    /// Returns the values of the rows and, last, the time of the whole.
    pub(super) fn input(&self, seed: u64) -> ChangeInput {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..10 {
            random.below(2);
        }
        // Few functions have most of the time.
        let weights: Vec<f64> = (0..self.rows).map(|row| 1.0 / (row + 3) as f64).collect();
        let others: f64 = weights[1..].iter().sum();
        let shares: Vec<f64> = weights
            .iter()
            .enumerate()
            .map(
                |(row, weight)| {
                    if row == 0 { self.share } else { (1.0 - self.share) * weight / others }
                },
            )
            .collect();
        let mut table = |count: usize, spread: f64| -> Vec<f64> {
            (0..count * self.rows).map(|_| (spread * normal(&mut random)).exp()).collect()
        };
        let of_hosts = table(self.hosts, self.of_host);
        let of_commits = table(self.commits, self.of_commit);
        let mut input = ChangeInput::default();
        let mut values = vec![Vec::new(); self.rows + 1];
        let mut speed = 0.0;
        for commit in 0..self.commits {
            let host = random.below(self.hosts);
            for _ in 0..self.runs {
                let position = commit as f64 / self.commits as f64;
                let mut times: Vec<f64> = (0..self.rows)
                    .map(|row| {
                        let own = (self.own * normal(&mut random)).exp();
                        let is_off = uniform(&mut random) < self.outliers;
                        shares[row]
                            * own
                            * of_hosts[host * self.rows + row]
                            * of_commits[commit * self.rows + row]
                            * if is_off { 3.0 } else { 1.0 }
                    })
                    .collect();
                let of_steps = self.steps.iter().filter(|(at, _)| commit >= *at);
                times[0] *= of_steps.map(|(_, factor)| factor).product::<f64>();
                times[0] *= 1.0 + self.drift * position;
                times[1] *= f64::from(u8::from(commit >= self.begins));
                times[2] *= f64::from(u8::from(commit < self.ends));
                let all: f64 = times.iter().sum();
                let samples = 2000.0 + 4000.0 * uniform(&mut random);
                let counts: Vec<f64> =
                    times.iter().map(|time| count(&mut random, samples * time / all)).collect();
                let samples: f64 = counts.iter().sum();
                counts.iter().zip(&mut values).for_each(|(count, row)| row.push(count / samples));
                let fresh = (1.0 - self.memory * self.memory).sqrt();
                speed = self.memory * speed + fresh * normal(&mut random);
                values[self.rows].push(4e6 * all * (self.speed * speed).exp());
                input.samples.push(samples);
                input.commits.push(commit);
                input.hosts.push(self.knows_hosts.then_some(host));
            }
        }
        let row_of = |(row, values): (usize, Vec<f64>)| {
            let is_share = row < self.rows;
            let sampled = if is_share { 1.0 / 4000.0 } else { 1000.0 };
            SeriesRow { values, sampled, share: is_share, part: is_share }
        };
        input.rows = values.into_iter().enumerate().map(row_of).collect();
        input
    }

    pub(super) fn found(&self, seed: u64) -> FoundChanges {
        change_points(&self.input(seed)).unwrap()
    }
}

/// What the search found in lakes with one step.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Lakes whose step was found in the first row, anywhere; at the commit, within one commit.
    pub found: usize,
    pub exact: usize,
    pub near: usize,
    /// Lakes where the candidates have the commit.
    pub covered: usize,
    /// Lakes with a change in another row, and commits that are not that of a step.
    pub other_rows: usize,
    pub false_commits: usize,
    pub drifts: usize,
}

/// Searches lakes with these seeds. The rows that may change are the first three and the whole.
pub(super) fn tally(lake: &SimulatedLake, seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    let steps: Vec<usize> =
        lake.steps.iter().map(|(at, _)| *at).chain([lake.begins, lake.ends]).collect();
    for seed in seeds {
        let found = lake.found(seed);
        tally.drifts += found.drifts.len();
        let all = || found.commits.iter().flat_map(|commit| &commit.changes);
        let nearest =
            |at: usize| all().filter(|one| one.row == 0).min_by_key(|one| one.commit.abs_diff(at));
        if let Some((at, _)) = lake.steps.first()
            && let Some(change) = nearest(*at)
        {
            tally.found += 1;
            tally.exact += usize::from(change.commit == *at);
            tally.near += usize::from(change.commit.abs_diff(*at) <= 1);
            tally.covered += usize::from(change.candidates.iter().any(|one| one.commit == *at));
        }
        tally.other_rows +=
            usize::from(all().any(|change| change.row > 2 && change.row < lake.rows));
        let is_false = |commit: &usize| steps.iter().all(|at| commit.abs_diff(*at) > 3);
        tally.false_commits +=
            found.commits.iter().filter(|commit| is_false(&commit.commit)).count();
    }
    tally
}
