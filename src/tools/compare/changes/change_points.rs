//! Finds the commits at which rows have changed beyond the noise.
//!
//! For each row and each commit, the mean of the runs before is compared with that of the runs after.
//! The largest distance of any row at any commit is compared with the largest ones of the same runs in
//! other orders, where no commit means anything (Westfall and Young's max-T): so one search in fifty
//! finds a change where there is none, however many rows and commits there are. A change that is found
//! is taken out of its row, its effect on the shares of all others too, and the search goes on. A step that was
//! taken back is a window, which is searched in shares in the same way.
//!
//! Shares and times are apart. A machine that is slow for hours changes all times and no share, so a
//! change of a time has to be clearer than those of such machines.

use std::ops::Range;

use super::super::noise::{CONFIDENCE, DRIFT};
use super::clean::pull_in;
use super::composition::ratio_of_rest;
use super::critical::{Maxima, Orders, orders};
use super::design::{Design, LEAST_RUNS};
use super::fit::{FittedStep, RowFit};
use super::json::{ChangeInput, ChangePoint, Drift, FoundChanges};
use super::memory::may_be_memory;
use super::points::{FoundStep, grouped};
use super::windows::{FittedWindow, Windows};

/// The chance that runs of one program have a change at any commit: all, the part of the times where there are
/// shares too, and the part of windows of shares.
const FALSE_CHANGES: f64 = 0.02;
const FALSE_TIMES: f64 = 0.005;
const FALSE_WINDOWS: f64 = 0.005;
/// Searches with a new critical distance, after changes were taken out.
const SEARCHES: usize = 4;
/// Most changes of one row.
const MOST_CHANGES: usize = 12;
/// Rounds in which the changes of a row are moved to their best places.
const MOVES: usize = 4;
/// Standard errors within which nine of ten values are on one side.
const NINE_OF_TEN: f64 = 1.28;

/// The rows while changes are taken out.
struct Search {
    design: Design,
    rows: Vec<SearchedRow>,
    /// Information of a change before each atom of a row without changes.
    whole: Vec<f64>,
    /// Windows of a row without changes.
    whole_windows: Windows,
    /// Largest distances of steps of the rows that are shares, of those that are times, and of windows of shares.
    shares: Maxima,
    times: Maxima,
    windows: Maxima,
    drifts: Vec<Drift>,
}

struct SearchedRow {
    /// Values without the effect of other rows and without drift.
    values: Vec<f64>,
    sampled: f64,
    is_share: bool,
    is_part: bool,
    /// First atoms after each change, in their order.
    changes: Vec<usize>,
    /// Whether it has a step that can come from a machine with memory.
    is_unclear: bool,
    fit: RowFit,
    /// The clearest step that is not a change yet.
    step: Option<FittedStep>,
    /// The clearest window that is not two changes yet, of a share.
    window: Option<FittedWindow>,
}

/// Finds the changes of rows over runs. An input whose lists have different lengths is an error.
pub fn change_points(input: &ChangeInput) -> Result<FoundChanges, String> {
    check(input)?;
    let least_runs = LEAST_RUNS;
    let design = Design::of(input);
    let order: Vec<usize> = (0..design.atoms()).collect();
    let whole = design.information(&order, 0);
    if whole.iter().all(|information| *information <= 0.0) {
        return Ok(FoundChanges { least_runs, ..FoundChanges::default() });
    }
    let orders = orders(&design);
    let mut search = Search::of(design, whole, input);
    for _ in 0..SEARCHES {
        if !search.round(&orders) {
            break;
        }
    }
    search.settle();
    let detectable = search.rows.iter().map(|row| search.detectable(row)).collect();
    let commits = grouped(search.points());
    let unclear = (0..search.rows.len()).filter(|row| search.rows[*row].is_unclear).collect();
    let drifts = search.drifts;
    Ok(FoundChanges { commits, drifts, unclear, detectable, least_runs, enough: true })
}

fn check(input: &ChangeInput) -> Result<(), String> {
    let runs = input.commits.len();
    let is_list = |length: usize| length == runs;
    if !is_list(input.samples.len()) || !(input.hosts.is_empty() || is_list(input.hosts.len())) {
        return Err("commits, hosts and samples have different lengths".into());
    }
    if let Some(row) = input.rows.iter().position(|row| !is_list(row.values.len())) {
        return Err(format!("row {row} has not one value for each run"));
    }
    if input.commits.windows(2).any(|pair| pair[1] < pair[0]) {
        return Err("the runs are not in the order of commits".into());
    }
    let is_number = |value: &f64| value.is_finite();
    let numbers = input.samples.iter().chain(input.rows.iter().flat_map(|row| &row.values));
    if !numbers.into_iter().all(is_number) {
        return Err("a value is not a number".into());
    }
    let most = 4 * runs.max(1);
    if input.hosts.iter().flatten().any(|host| *host >= most) {
        return Err("a host has a number far above the count of runs".into());
    }
    Ok(())
}

impl SearchedRow {
    fn add_change(&mut self, at: usize) {
        let place = self.changes.partition_point(|change| *change < at);
        self.changes.insert(place, at);
    }
}

impl Search {
    fn of(design: Design, whole: Vec<f64>, input: &ChangeInput) -> Self {
        let row_of = |row: &super::json::SeriesRow| {
            let mut values = row.values.clone();
            pull_in(&mut values, row.sampled);
            let (sampled, is_share) = (row.sampled, row.share);
            let (changes, fit) = (Vec::new(), RowFit::default());
            let is_part = row.part;
            let (is_unclear, step, window) = (false, None, None);
            SearchedRow {
                values,
                sampled,
                is_share,
                is_part,
                changes,
                is_unclear,
                fit,
                step,
                window,
            }
        };
        let rows = input.rows.iter().map(row_of).collect();
        let order: Vec<usize> = (0..design.atoms()).collect();
        let whole_windows = Windows::of(&design, &order, 0..design.atoms());
        let [shares, times, windows] = [(); 3].map(|()| Maxima::default());
        let drifts = Vec::new();
        let mut search =
            Self { design, rows, whole, whole_windows, shares, times, windows, drifts };
        (0..search.rows.len()).for_each(|row| search.refit(row));
        search
    }

    fn refit(&mut self, row: usize) {
        let row = &mut self.rows[row];
        row.fit = RowFit::of(&self.design, &row.values, &row.changes, row.sampled);
        row.step = row.fit.clearest(&self.design, &self.whole);
        row.window = None;
        if row.is_share {
            row.window = row.fit.clearest_window(&self.design, &self.whole_windows);
        }
    }

    /// Takes out all changes beyond the noise. Returns whether there was one.
    fn round(&mut self, orders: &Orders) -> bool {
        let has_shares = self.rows.iter().any(|row| row.is_share);
        let standard = |is_share: bool| {
            let rows = self.rows.iter().filter(|row| row.is_share == is_share);
            rows.map(|row| row.fit.standard()).collect::<Vec<_>>()
        };
        let (shares, times) = (standard(true), standard(false));
        let of_times = if has_shares { FALSE_TIMES } else { FALSE_CHANGES };
        self.shares = orders.of_steps(&shares, FALSE_CHANGES - FALSE_TIMES - FALSE_WINDOWS);
        self.times = orders.of_steps(&times, of_times);
        self.windows = orders.of_windows(&shares, FALSE_WINDOWS);
        let mut has_found = false;
        while self.take_steps() || self.take_window() {
            has_found = true;
        }
        has_found
    }

    /// Takes out all steps beyond the noise. Returns whether there was one.
    fn take_steps(&mut self) -> bool {
        let mut has_found = false;
        while let Some((row, step)) = self.clearest() {
            has_found = true;
            if self.is_line(row, &step) {
                self.take_drift(row, &step);
                self.refit(row);
                continue;
            }
            if !self.rows[row].is_share
                && may_be_memory(&self.design, &self.rows[row].values, &step.segment)
            {
                self.rows[row].is_unclear = true;
                continue;
            }
            self.rows[row].add_change(step.at);
            if self.rows[row].is_share && self.take_composition(step.segment, step.at) {
                (0..self.rows.len()).for_each(|row| self.refit(row));
            } else {
                self.refit(row);
            }
        }
        has_found
    }

    /// Takes out the clearest window beyond the noise: two steps. Returns whether there was one.
    fn take_window(&mut self) -> bool {
        let critical = self.windows.critical();
        let of_row = |(index, row): (usize, &SearchedRow)| {
            let is_done = row.changes.len() + 2 > MOST_CHANGES;
            let window = row.window.clone().filter(|window| window.distance > critical && !is_done);
            window.map(|window| (index, window))
        };
        let windows = self.rows.iter().enumerate().filter_map(of_row);
        let clearest = windows.max_by(|a, b| a.1.distance.total_cmp(&b.1.distance));
        let Some((row, FittedWindow { segment, from, to, .. })) = clearest else { return false };
        // The borders of windows are few: the best places are between them.
        let from = self.placed(row, from, to);
        let to = self.placed(row, to, from);
        self.rows[row].add_change(from);
        self.rows[row].add_change(to);
        let has_effect = self.take_composition(segment.start..to, from);
        if has_effect | self.take_composition(from..segment.end, to) {
            (0..self.rows.len()).for_each(|row| self.refit(row));
        } else {
            self.refit(row);
        }
        true
    }

    /// Returns the best place of a change, beside another one that is not taken out yet.
    fn placed(&mut self, row: usize, change: usize, other: usize) -> usize {
        self.rows[row].add_change(other);
        self.refit(row);
        let step = self.step_around(row, change);
        self.rows[row].changes.retain(|at| *at != other);
        step.map_or(change, |step| step.at)
    }

    /// Returns the largest distances of rows like a row.
    fn maxima(&self, row: &SearchedRow) -> &Maxima {
        if row.is_share { &self.shares } else { &self.times }
    }

    /// Returns the clearest step beyond the noise, with its row.
    fn clearest(&self) -> Option<(usize, FittedStep)> {
        let [of_shares, of_times] = [self.shares.critical(), self.times.critical()];
        let of_row = |(index, row): (usize, &SearchedRow)| {
            let is_done = row.is_unclear || row.changes.len() >= MOST_CHANGES;
            let critical = if row.is_share { of_shares } else { of_times };
            let step = row.step.clone().filter(|step| step.distance > critical && !is_done);
            step.map(|step| (index, step))
        };
        let steps = self.rows.iter().enumerate().filter_map(of_row);
        steps.max_by(|a, b| a.1.distance.total_cmp(&b.1.distance))
    }

    /// Returns whether a straight line is nearer to a segment than its clearest step, and than two steps.
    fn is_line(&mut self, row: usize, step: &FittedStep) -> bool {
        if step.squares_of_line <= step.squares {
            return false;
        }
        let before = self.rows[row].changes.clone();
        self.rows[row].add_change(step.at);
        self.refit(row);
        let sides = [step.segment.start, step.at].map(|atom| self.step_around(row, atom));
        let second = sides.iter().flatten().map(|step| step.squares).fold(0.0, f64::max);
        // The places of two steps were chosen, which alone takes squares away.
        let chosen = 2.0 * (step.segment.len() as f64).ln() * self.rows[row].fit.variance;
        self.rows[row].changes = before;
        self.refit(row);
        step.squares_of_line > step.squares + second - chosen
    }

    /// Takes a slow change out of a row.
    fn take_drift(&mut self, row: usize, step: &FittedStep) {
        let Range { start, end } = step.segment;
        let middle = (end - start - 1) as f64 / 2.0;
        let values = &mut self.rows[row].values;
        let runs = self.design.runs_of(start..end);
        let mean = values[runs.clone()].iter().sum::<f64>() / runs.len().max(1) as f64;
        for atom in start..end {
            let above = step.slope * ((atom - start) as f64 - middle);
            self.design.runs_of(atom..atom + 1).for_each(|run| values[run] -= above);
        }
        let half = step.slope * middle;
        let (from, to) = (self.design.commit_of[start], self.design.commit_of[end - 1]);
        self.drifts.push(Drift { row, from, to, before: mean - half, after: mean + half });
    }

    /// Takes the effect of a change on the shares of all rows out. Returns whether there is one.
    fn take_composition(&mut self, segment: Range<usize>, at: usize) -> bool {
        let parts = self.rows.iter().filter(|row| row.is_part).map(|row| &row.values[..]);
        let ratio = ratio_of_rest(&self.design, parts, segment, at);
        let first = self.design.first_run[at];
        for row in self.rows.iter_mut().filter(|row| row.is_share) {
            row.values[first..].iter_mut().for_each(|value| *value /= ratio);
        }
        ratio.to_bits() != 1.0_f64.to_bits()
    }

    /// Moves the changes of each row to their best places between the others, and drops those that are
    /// within the noise there.
    fn settle(&mut self) {
        for row in 0..self.rows.len() {
            let critical = self.maxima(&self.rows[row]).critical();
            for _ in 0..MOVES {
                let before = self.rows[row].changes.clone();
                for change in before.iter().rev() {
                    self.rows[row].changes.retain(|at| at != change);
                    self.refit(row);
                    let is_here = |step: &FittedStep| step.segment.contains(change);
                    let Some(step) = self.step_around(row, *change) else { continue };
                    if step.distance > critical && is_here(&step) {
                        self.rows[row].add_change(step.at);
                    }
                }
                self.refit(row);
                if self.rows[row].changes == before {
                    break;
                }
            }
        }
    }

    /// Returns the clearest step of the segment that has an atom.
    fn step_around(&self, row: usize, atom: usize) -> Option<FittedStep> {
        let fit = &self.rows[row].fit;
        let pair = fit.borders.windows(2).find(|pair| (pair[0]..pair[1]).contains(&atom))?;
        let part = RowFit { borders: pair.to_vec(), ..fit.clone() };
        part.clearest(&self.design, &self.whole)
    }

    /// Returns the changes of all rows.
    fn points(&self) -> Vec<ChangePoint> {
        let mut points = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let maxima = self.maxima(row);
            let of = |borders: &[usize]| {
                let &[start, at, end] = borders else { return None };
                let (values, fit, sampled) = (&row.values[..], &row.fit, row.sampled);
                FoundStep { index, values, fit, sampled, start, at, end }
                    .point(&self.design, maxima)
            };
            points.extend(row.fit.borders.windows(3).filter_map(of));
        }
        points.sort_by(|a, b| b.distance.total_cmp(&a.distance));
        points
    }

    /// Returns the smallest step in the middle of the runs that would be found nearly always, as a part
    /// of the mean.
    fn detectable(&self, row: &SearchedRow) -> Option<f64> {
        let mean = row.values.iter().sum::<f64>() / row.values.len().max(1) as f64;
        let most = self.whole.iter().copied().fold(0.0, f64::max);
        let error = (row.fit.variance * row.fit.inflation / most).sqrt();
        let least = CONFIDENCE * DRIFT * mean;
        let size = (self.maxima(row).critical() + NINE_OF_TEN) * error;
        (mean > 0.0 && most > 0.0).then(|| size.max(least) / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{SimulatedLake, tally};
    use super::*;

    /// Lakes of each kind in which no commit may be found.
    const LAKES: u64 = 40;

    /// Lakes of few rows, which a slow build searches fast.
    fn small() -> SimulatedLake {
        SimulatedLake { rows: 24, commits: 40, runs: 3, ..SimulatedLake::default() }
    }

    #[test]
    fn lakes_without_a_step_have_a_false_commit_in_one_of_twenty_at_most() {
        let small = || SimulatedLake { rows: 14, ..small() };
        let noisy =
            SimulatedLake { hosts: 4, of_host: 0.05, of_commit: 0.03, outliers: 0.02, ..small() };
        let memory = |memory| SimulatedLake { memory, ..noisy.clone() };
        for lake in [small(), memory(0.9), memory(0.98)] {
            let found = tally(&lake, 1..LAKES + 1);
            assert!(found.false_commits <= LAKES as usize / 20, "{found:?} in {lake:?}");
        }
    }

    #[test]
    fn a_tenth_of_a_function_of_a_twentieth_is_found_within_200_runs() {
        let step = |commits, runs| SimulatedLake {
            commits,
            runs,
            rows: 60,
            steps: vec![(commits / 2, 1.1)],
            ..SimulatedLake::default()
        };
        let found = tally(&step(25, 8), 1..11);
        assert!(found.found >= 9 && found.near >= 8 && found.false_commits <= 1, "{found:?}");
        let found = tally(&step(50, 4), 1..11);
        assert!(found.found >= 9 && found.near >= 7 && found.covered >= 8, "{found:?}");
    }

    #[test]
    fn both_of_two_steps_are_found() {
        let lake = SimulatedLake { steps: vec![(12, 1.5), (28, 1.5)], ..small() };
        for seed in 1..6 {
            let found = lake.found(seed);
            let changes = || found.commits.iter().flat_map(|commit| &commit.changes);
            let mut at: Vec<usize> =
                changes().filter(|change| change.row == 0).map(|change| change.commit).collect();
            at.sort_unstable();
            assert_eq!(at.len(), 2, "{found:?}");
            assert!(at[0].abs_diff(12) <= 1 && at[1].abs_diff(28) <= 1, "{at:?}");
        }
    }

    #[test]
    fn a_step_that_was_taken_back_is_two_changes() {
        for (from, to) in [(16, 24), (10, 30)] {
            let lake = SimulatedLake { steps: vec![(from, 1.4), (to, 1.0 / 1.4)], ..small() };
            for seed in 1..6 {
                let found = lake.found(seed);
                let changes = found.commits.iter().flat_map(|commit| &commit.changes);
                let mut of_row: Vec<_> = changes
                    .filter(|change| change.row == 0)
                    .map(|change| (change.commit, change.after > change.before))
                    .collect();
                of_row.sort_unstable();
                let [(slower, true), (faster, false)] = of_row[..] else { panic!("{found:?}") };
                assert!(slower.abs_diff(from) <= 1 && faster.abs_diff(to) <= 1, "{of_row:?}");
            }
        }
    }

    #[test]
    fn a_slow_change_is_no_commit() {
        let found = tally(&SimulatedLake { drift: 0.5, ..small() }, 1..21);
        assert!(found.drifts >= 18 && found.false_commits <= 3, "{found:?}");
    }

    #[test]
    fn a_large_change_is_none_of_the_other_functions() {
        let lake = SimulatedLake { share: 0.5, steps: vec![(20, 1.5)], ..small() };
        let found = tally(&lake, 1..21);
        assert!(found.near >= 18 && found.other_rows <= 1, "{found:?}");
        let found = lake.found(1);
        let change = &found.commits[0].changes[0];
        assert_eq!(change.row, 0);
        let relative = change.after / change.before;
        assert!((1.4..1.6).contains(&relative), "{change:?}");
    }

    #[test]
    fn functions_that_begin_and_end_are_found_at_their_commits() {
        let found = SimulatedLake { begins: 12, ends: 31, ..small() }.found(3);
        let at = |row: usize| {
            let changes = found.commits.iter().flat_map(|commit| &commit.changes);
            let of_row = changes.filter(|change| change.row == row);
            of_row.map(|change| (change.commit, change.before > change.after)).collect::<Vec<_>>()
        };
        assert_eq!((at(1), at(2)), (vec![(12, false)], vec![(31, true)]));
    }

    #[test]
    fn a_change_of_machines_is_no_change_of_the_program() {
        let mut input = small().input(5);
        for run in 0..input.commits.len() {
            let is_new = run >= 60;
            input.hosts[run] = Some(usize::from(is_new));
            input.rows[0].values[run] *= if is_new { 1.5 } else { 1.0 };
        }
        assert!(change_points(&input).unwrap().commits.is_empty());
        input.hosts.clear();
        assert_eq!(change_points(&input).unwrap().commits[0].commit, 20);
    }

    #[test]
    fn few_runs_tell_nothing_and_wrong_input_is_an_error() {
        let few = SimulatedLake { commits: 5, runs: 3, ..small() }.input(1);
        let found = change_points(&few).unwrap();
        assert!(!found.enough && found.commits.is_empty() && found.least_runs == 8);
        assert!(!change_points(&ChangeInput::default()).unwrap().enough);
        let mut wrong = small().input(1);
        wrong.rows[1].values.pop();
        assert!(change_points(&wrong).unwrap_err().contains("row 1"));
        let mut wrong = small().input(1);
        wrong.commits.reverse();
        assert!(change_points(&wrong).unwrap_err().contains("order"));
        let mut wrong = small().input(1);
        wrong.rows[0].values[0] = f64::NAN;
        assert!(change_points(&wrong).is_err());
    }

    #[test]
    fn values_without_spread_have_changes_where_they_change() {
        let row = |values: Vec<f64>| super::super::json::SeriesRow { values, ..Default::default() };
        let step = (0..40).map(|run| if run < 20 { 5.0 } else { 6.0 }).collect();
        let input = ChangeInput {
            commits: (0..40).collect(),
            samples: vec![4000.0; 40],
            rows: vec![row(vec![5.0; 40]), row(step), row(vec![0.0; 40])],
            ..ChangeInput::default()
        };
        let found = change_points(&input).unwrap();
        let rows: Vec<(usize, usize)> =
            found.commits.iter().map(|one| (one.changes[0].row, one.commit)).collect();
        assert_eq!(rows, [(1, 20)]);
    }
}
