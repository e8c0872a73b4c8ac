//! Which runs belong together, and how much each position of a change can tell.
//!
//! The runs of one commit move together when an order is drawn: they often ran on one machine in one
//! hour. With few commits, single runs move. Each machine with enough runs is compared with itself only.

use std::ops::Range;

use super::json::ChangeInput;

/// Runs that each side of a change needs.
pub(super) const LEAST_RUNS: usize = 8;
/// Fewer commits have too few orders, and single runs are put in other orders instead.
const LEAST_COMMITS: usize = 10;
/// Least information about a difference, in runs: that of eight runs against eight.
const LEAST_INFORMATION: f64 = 4.0;
/// Groups of commits that move together, about: neighbours are alike where a machine changes slowly.
const BLOCKS: usize = 24;
const LONGEST_BLOCK: usize = 10;

/// The runs in atoms, which are commits or single runs.
#[derive(Debug, Default)]
pub(super) struct Design {
    /// Weight of each run; 1 on average.
    pub weights: Vec<f64>,
    /// First run of each atom, and the count of runs.
    pub first_run: Vec<usize>,
    /// Index of the commit of each atom.
    pub commit_of: Vec<usize>,
    /// Group of machines of each run.
    host_of: Vec<usize>,
    hosts: usize,
    /// Weight of each group of machines in each atom.
    atom_weights: Vec<f64>,
}

/// What comes before a place in an order of atoms.
#[derive(Debug, Clone)]
pub(super) struct Before {
    /// Weight of each group of machines.
    pub weights: Vec<f64>,
    pub runs: usize,
}

impl Design {
    pub(super) fn of(input: &ChangeInput) -> Self {
        let runs = input.commits.len();
        let mut sorted: Vec<f64> = input.samples.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let middle = sorted.get(runs / 2).copied().unwrap_or_default().max(1.0);
        // Between weights by samples and equal ones: a part of the spread is the program's own.
        let weight = |samples: f64| 2.0 * samples.max(1.0) / (samples.max(1.0) + middle);
        let weights: Vec<f64> = input.samples.iter().copied().map(weight).collect();
        let (host_of, hosts) = groups_of_hosts(&input.hosts, runs);
        let starts = |run: &usize| *run == 0 || input.commits[*run] != input.commits[*run - 1];
        let mut first_run: Vec<usize> = (0..runs).filter(starts).collect();
        if first_run.len() < LEAST_COMMITS {
            first_run = (0..runs).collect();
        }
        let commit_of: Vec<usize> = first_run.iter().map(|run| input.commits[*run]).collect();
        first_run.push(runs);
        let mut design =
            Self { weights, first_run, commit_of, host_of, hosts, atom_weights: Vec::new() };
        design.atom_weights = vec![0.0; design.atoms() * hosts];
        for atom in 0..design.atoms() {
            for run in design.runs_of(atom..atom + 1) {
                design.atom_weights[atom * hosts + design.host_of[run]] += design.weights[run];
            }
        }
        design
    }

    pub(super) fn atoms(&self) -> usize {
        self.commit_of.len()
    }

    /// Returns the runs of atoms.
    pub(super) fn runs_of(&self, atoms: Range<usize>) -> Range<usize> {
        self.first_run[atoms.start]..self.first_run[atoms.end]
    }

    pub(super) fn weight_of(&self, atom: usize) -> f64 {
        self.of_hosts(atom).iter().sum()
    }

    fn of_hosts(&self, atom: usize) -> &[f64] {
        &self.atom_weights[atom * self.hosts..(atom + 1) * self.hosts]
    }

    /// Returns how many neighbours move together.
    pub(super) fn block(&self) -> usize {
        (self.atoms() / BLOCKS).clamp(1, LONGEST_BLOCK)
    }

    /// Returns, for each place in an order of atoms, the information about a change before it; 0 where
    /// no change can be told. `start` is the place of the first atom.
    pub(super) fn information(&self, order: &[usize], start: usize) -> Vec<f64> {
        let (_, Before { weights: all, runs }) = self.before(order, &[]);
        let mut before = vec![0.0; self.hosts];
        let mut runs_before = 0;
        let mut of_place = |(place, atom): (usize, &usize)| {
            let at = start + place;
            let is_border = at > 0 && self.commit_of[at] != self.commit_of[at - 1];
            let has_runs = runs_before >= LEAST_RUNS && runs - runs_before >= LEAST_RUNS;
            let information = if is_border && has_runs {
                information_of(before.iter().copied(), &all)
            } else {
                0.0
            };
            self.of_hosts(*atom).iter().zip(&mut before).for_each(|(weight, sum)| *sum += weight);
            runs_before += self.first_run[atom + 1] - self.first_run[*atom];
            information
        };
        order.iter().enumerate().map(&mut of_place).collect()
    }

    /// Returns the weights of the machines and the runs before each of some places, and in all atoms. `places` are
    /// places in the order of atoms.
    pub(super) fn before(&self, order: &[usize], places: &[usize]) -> (Vec<Before>, Before) {
        let mut all = Before { weights: vec![0.0; self.hosts], runs: 0 };
        let mut found = Vec::with_capacity(places.len());
        let mut next = places.iter().peekable();
        for (place, atom) in order.iter().enumerate() {
            if next.next_if(|wanted| **wanted == place).is_some() {
                found.push(all.clone());
            }
            self.of_hosts(*atom)
                .iter()
                .zip(&mut all.weights)
                .for_each(|(weight, sum)| *sum += weight);
            all.runs += self.first_run[atom + 1] - self.first_run[*atom];
        }
        (found, all)
    }

    /// Returns the weighted sum of each atom of a segment, around the means of the machines.
    pub(super) fn sums(&self, values: &[f64], segment: Range<usize>) -> Vec<f64> {
        let mut sums = vec![0.0; self.hosts];
        let mut weights = vec![0.0; self.hosts];
        for run in self.runs_of(segment.clone()) {
            sums[self.host_of[run]] += self.weights[run] * values[run];
            weights[self.host_of[run]] += self.weights[run];
        }
        sums.iter_mut()
            .zip(&weights)
            .for_each(|(sum, weight)| *sum /= weight.max(f64::MIN_POSITIVE));
        let of_atom = |atom: usize| {
            let around = |run: usize| self.weights[run] * (values[run] - sums[self.host_of[run]]);
            self.runs_of(atom..atom + 1).map(around).sum()
        };
        segment.map(of_atom).collect()
    }

    /// Returns the weighted squares of the time around the means of the machines. The time is the
    /// place of an atom in the segment.
    pub(super) fn squares_of_time(&self, segment: Range<usize>) -> f64 {
        let mut moments = vec![[0.0; 3]; self.hosts];
        for (place, atom) in segment.enumerate() {
            let time = place as f64;
            for (weight, sums) in self.of_hosts(atom).iter().zip(&mut moments) {
                sums[0] += weight;
                sums[1] += weight * time;
                sums[2] += weight * time * time;
            }
        }
        let around = |[weight, sum, squares]: [f64; 3]| {
            if weight > 0.0 { squares - sum * sum / weight } else { 0.0 }
        };
        moments.into_iter().map(around).sum()
    }
}

/// Returns the information about a difference of a part from the rest; 0 if that is not enough. `part` and `all`
/// are the weights of the machines.
pub(super) fn information_of(part: impl Iterator<Item = f64>, all: &[f64]) -> f64 {
    let told = |(part, all): (f64, &f64)| {
        if *all > 0.0 { part * (all - part) / all } else { 0.0 }
    };
    let information: f64 = part.zip(all).map(told).sum();
    if information >= 0.9 * LEAST_INFORMATION { information } else { 0.0 }
}

/// Returns what makes a sum a distance; 0 without information.
pub(super) fn scale_of(information: f64) -> f32 {
    if information > 0.0 { (1.0 / information.sqrt()) as f32 } else { 0.0 }
}

/// Returns the group of each run, and the count of groups. A machine with enough runs is a group of its
/// own, and all others are one: a machine that lives for one run tells nothing about itself.
fn groups_of_hosts(hosts: &[Option<usize>], runs: usize) -> (Vec<usize>, usize) {
    let count = hosts.iter().flatten().max().map_or(0, |last| last + 1);
    let mut counts = vec![0; count];
    hosts.iter().flatten().for_each(|host| counts[*host] += 1);
    let mut groups = 1;
    let mut group_of = vec![0; count];
    for (host, count) in counts.iter().enumerate() {
        if *count >= 2 * LEAST_RUNS {
            group_of[host] = groups;
            groups += 1;
        }
    }
    let of = |run: usize| hosts.get(run).copied().flatten().map_or(0, |host| group_of[host]);
    ((0..runs).map(of).collect(), groups)
}
