//! Builds a comparison of two sets of runs.

use std::cmp::Reverse;
use std::path::PathBuf;

use super::compare_error::CompareError;
use super::items::{ComparedItem, ItemKind, Items, Measure};
use super::json::{ComparedPlace, ComparedRow, ComparedSide, Comparison};
use super::matching::{MatchedItems, matched};
use super::noise::{Difference, RowValues, SPREAD_OF_WAITING, SPREAD_OF_WORK, differences};
use super::run_costs::{RunCosts, main_callers, read_runs};
use crate::read::selection::Selection;
use cpu_prof_core::base::cold_sort::ColdSort;

/// Rows with less than this part of the work, on both sides, are not tested.
const TESTED: f64 = 0.005;
/// Measures of the whole run.
const TOTALS: [Measure; 9] = [
    Measure::Wall,
    Measure::Work,
    Measure::Cpu,
    Measure::Gc,
    Measure::Idle,
    Measure::Waiting,
    Measure::Blocked,
    Measure::Memory,
    Measure::Processes,
];

/// What a comparison contains.
#[derive(Debug, Clone, Default)]
pub struct CompareOptions {
    /// Kinds and names of items that are tested, however little time they have.
    pub wanted: Vec<(String, String)>,
    /// Whether times of functions, files, packages and owners are parts of the work.
    pub shares: bool,
    /// What is read of each run.
    pub selection: Selection,
}

/// A measure of a row, with its values.
struct TestedRow {
    /// Index of the matched items.
    row: usize,
    measure: Measure,
    values: RowValues,
}

/// Compares the runs of both sides, each a list of files and folders. Returns JSON, or the reason why a
/// run cannot be read.
pub fn compare(
    sides: [&[Vec<PathBuf>]; 2],
    options: &CompareOptions,
) -> Result<String, CompareError> {
    let mut inputs = [0, 0];
    let mut finds_leaves = [true, true];
    let (mut repaired, mut failed, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let (items, runs) = read_runs(sides, &options.selection, |side, loaded, _| {
        inputs[side] += loaded.inputs;
        finds_leaves[side] &= loaded.session.processes.iter().all(|process| process.finds_leaves);
        repaired.extend_from_slice(&loaded.repaired);
        failed.extend_from_slice(&loaded.failed);
        for note in &loaded.notes {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
    })?;
    notes.extend(note_of_leaves(finds_leaves));
    let rows = matched(&items, &runs);
    let tested = tested_rows(&rows, &items, &runs, options);
    let values: Vec<RowValues> = tested.iter().map(|row| row.values.clone()).collect();
    let (differences, noise) = differences(&values);
    let mut found: Vec<(&TestedRow, &Difference)> = tested.iter().zip(&differences).collect();
    found.cold_sort_by_key(|(tested, difference)| {
        let kind = kind_of(&rows[tested.row], &items);
        // Shares are below 1.
        let size = (1e6 * (difference.head - difference.base).abs()) as u64;
        (kind, !difference.is_change(), Reverse(size))
    });
    let callers = runs.each_ref().map(|runs| main_callers(runs.iter().map(|run| &run.callers)));
    let caller = |row: &MatchedItems| {
        let of_side = |side: usize| row[side].iter().find_map(|item| callers[side].get(item));
        let ComparedItem { name, file, line, .. } = &items[*of_side(1).or_else(|| of_side(0))?];
        Some(ComparedPlace { name, file, line: Some(*line) })
    };
    let shown = |(tested, difference): (&TestedRow, &Difference)| {
        let row = &rows[tested.row];
        let shown = shown(tested, row, difference, &items, options.shares);
        ComparedRow { caller: caller(row), ..shown }
    };
    let [base, head] =
        [0, 1].map(|side| ComparedSide { runs: runs[side].len(), inputs: inputs[side] });
    let comparison = Comparison {
        version: 1,
        base,
        head,
        noise,
        rows: found.into_iter().map(shown).collect(),
        repaired: &repaired,
        failed: &failed,
        notes: &notes,
    };
    Ok(serde_json::to_string(&comparison)?)
}

/// Returns a note if V8 has left out callers on one side only. The flags say of both whether V8 was shown them.
fn note_of_leaves(finds_leaves: [bool; 2]) -> Option<String> {
    let side = match finds_leaves {
        [false, true] => "base",
        [true, false] => "head",
        _ => return None,
    };
    Some(format!(
        "the {side} has V8's leaves: V8 gives a part of a function's samples to its caller, so functions differ \
         that have not changed; record both sides with this version on Linux to compare functions"
    ))
}

/// Returns the rows that have enough time to say something about, and those that are wanted.
fn tested_rows(
    rows: &[MatchedItems],
    items: &Items,
    runs: &[Vec<RunCosts>; 2],
    options: &CompareOptions,
) -> Vec<TestedRow> {
    let nothing = MatchedItems::default();
    let total = rows.iter().find(|row| kind_of(row, items) == ItemKind::Total).unwrap_or(&nothing);
    let largest = |sides: &[Vec<f64>; 2]| mean(&sides[0]).max(mean(&sides[1]));
    let works = values(total, runs, Measure::Work);
    let least_wall = TESTED * largest(&values(total, runs, Measure::Wall));
    let work = largest(&works);
    let least_work = TESTED * if options.shares { 1.0 } else { work };
    let all: Vec<f64> = runs.iter().flatten().map(|run| run.interval_ms).collect();
    let interval_ms = mean(&all);
    let mut tested = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let kind = kind_of(row, items);
        let is_wanted = row.iter().flatten().any(|item| is_wanted(&items[*item], &options.wanted));
        let measures: &[Measure] = match kind {
            ItemKind::Total => &TOTALS,
            ItemKind::Process => &[Measure::Duration],
            ItemKind::Label => &[Measure::SelfTime],
            // One of several functions can call another, so that their total times have a part in common.
            ItemKind::Function if count(row) > 1 => &[Measure::SelfTime],
            _ => &[Measure::SelfTime, Measure::TotalTime],
        };
        for measure in measures {
            let is_share = options.shares && measure.is_sampled();
            let mut sides = values(row, runs, *measure);
            if is_share {
                for (value, work) in sides.iter_mut().flatten().zip(works.iter().flatten()) {
                    *value = if *work > 0.0 { *value / work } else { 0.0 };
                }
            }
            let most = largest(&sides);
            let is_tested = match kind {
                ItemKind::Total => is_known(row, runs, *measure),
                ItemKind::Process => most > 0.0 && (is_wanted || most >= least_wall),
                _ => most > 0.0 && (is_wanted || most >= least_work),
            };
            if !is_tested {
                continue;
            }
            let [base, head] = sides;
            let assumed_spread =
                if measure.is_waiting() { SPREAD_OF_WAITING } else { SPREAD_OF_WORK };
            let sampled = match measure.is_sampled() {
                true if is_share => interval_ms / work.max(1.0),
                true => interval_ms,
                false => 0.0,
            };
            let values = RowValues { base, head, sampled, assumed_spread };
            tested.push(TestedRow { row: number, measure: *measure, values });
        }
    }
    tested
}

fn shown<'a>(
    tested: &TestedRow,
    row: &MatchedItems,
    found: &Difference,
    items: &'a Items,
    shares: bool,
) -> ComparedRow<'a> {
    // Head has the names that a user knows now.
    let item = &items[*row[1].first().or(row[0].first()).unwrap_or(&0)];
    let was = row[0].first().map(|number| &items[*number]);
    let was = was.filter(|was| was.name != item.name || was.file != item.file);
    let is_function = item.kind == ItemKind::Function;
    let has_package = is_function || item.kind == ItemKind::File;
    let functions = count(row);
    let difference = found.head - found.base;
    ComparedRow {
        kind: item.kind.name(),
        owner: item.owner,
        name: &item.name,
        file: is_function.then_some(item.file.as_str()),
        line: (is_function && functions == 1).then_some(item.line),
        package: has_package.then_some(item.package.as_str()),
        functions,
        was: was.map(|was| ComparedPlace { name: &was.name, file: &was.file, line: None }),
        caller: None,
        measure: tested.measure,
        unit: if shares && tested.measure.is_sampled() { "share" } else { tested.measure.unit() },
        base: found.base,
        head: found.head,
        difference,
        low: found.low,
        high: found.high,
        relative: (found.base > 0.0).then(|| difference / found.base),
        changed: found.is_change(),
    }
}

fn kind_of(row: &MatchedItems, items: &Items) -> ItemKind {
    row.iter().flatten().next().map_or(ItemKind::Total, |item| items[*item].kind)
}

/// Returns the count of functions that count together.
fn count(row: &MatchedItems) -> usize {
    row[0].len().max(row[1].len()).max(1)
}

/// Returns the sum of the items' values in each run of both sides.
fn values(row: &MatchedItems, runs: &[Vec<RunCosts>; 2], measure: Measure) -> [Vec<f64>; 2] {
    [0, 1].map(|side| {
        let of = |run: &RunCosts| {
            row[side].iter().filter_map(|item| run.values.get(&(*item, measure))).sum()
        };
        runs[side].iter().map(of).collect()
    })
}

/// Returns whether all runs have a value.
fn is_known(row: &MatchedItems, runs: &[Vec<RunCosts>; 2], measure: Measure) -> bool {
    row.iter().zip(runs).all(|(numbers, runs)| {
        let has = |run: &RunCosts| numbers.iter().any(|n| run.values.contains_key(&(*n, measure)));
        runs.iter().all(has)
    })
}

fn is_wanted(item: &ComparedItem, wanted: &[(String, String)]) -> bool {
    wanted.iter().any(|(kind, name)| {
        let has_kind = item.kind.name() == kind || item.owner == kind.as_str();
        has_kind && item.name == *name
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
